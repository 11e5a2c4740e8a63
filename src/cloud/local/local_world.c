/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_world.c - see local_world.h.
 *
 * A machine's record is never removed. 'live' holds the rows of those that are neither gone nor
 * refused: the only ones that time can change.
 */
#include "cloud/local/local_world.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "cloud/local/local_offers.h"

enum { GONE_LISTED_MAX = 10000, LOG_LINE_SIZE = 1024 };

/* One stream of random numbers for each purpose. */
enum { RNG_REFUSE = 1, RNG_REVOKE = 2 };

static const char *const state_names[LOCAL_STATES] = {
    "asked", "booting", "running", "noticed", "leaving", "gone", "refused",
};

/* All reasons there are; a record points to one of them. */
static const char *const whys[] = {
    "returned", "revoked", "died", "capacity", "quota", "unknown-offer", "broken", "idle",
};

struct local_world {
    struct local_world_config config;
    struct local_offers offers;
    struct names clusters;
    struct local_machine *machines;
    uint32_t machine_count;
    uint32_t machines_room;
    uint32_t *live;
    uint32_t live_count;
    uint32_t live_room;
    struct map *of_key; /* one for each cluster: from a key to its row */
    uint32_t of_key_count;
    uint32_t of_key_room;
    uint32_t *capacity; /* by offer */
    uint32_t *lives;    /* by offer: how many live */
    uint32_t next_number;
    uint32_t fault[LOCAL_FAULT_KINDS];
    struct rng refuse_rng;
    struct rng revoke_rng;
    struct line_text out;
};

static uint32_t cluster_number(struct local_world *world, const char *name)
{
    const uint32_t number = names_add(&world->clusters, name, strlen(name));

    while (world->of_key_count <= number) {
        MEM_ROOM(world->of_key, world->of_key_room, world->of_key_count + 1);
        map_init(&world->of_key[world->of_key_count++]);
    }
    return number;
}

static uint32_t add_machine(struct local_world *world, const struct local_machine *machine)
{
    const uint32_t row = world->machine_count;

    MEM_ROOM(world->machines, world->machines_room, row + 1);
    world->machines[row] = *machine;
    world->machine_count++;
    map_put(&world->of_key[machine->cluster], machine->key, row);
    return row;
}

static void enliven(struct local_world *world, uint32_t row)
{
    MEM_ROOM(world->live, world->live_room, world->live_count + 1);
    world->live[world->live_count++] = row;
    if (world->machines[row].offer != OFFER_NONE)
        world->lives[world->machines[row].offer]++;
}

static void bury(struct local_world *world, uint32_t row)
{
    uint32_t at = 0;

    while (at < world->live_count && world->live[at] != row)
        at++;
    assert(at < world->live_count);
    memmove(&world->live[at], &world->live[at + 1],
            (world->live_count - at - 1) * sizeof(*world->live));
    world->live_count--;
    if (world->machines[row].offer != OFFER_NONE)
        world->lives[world->machines[row].offer]--;
}

static const char *offer_text(const struct local_world *world, uint32_t offer)
{
    return offer == OFFER_NONE ? NULL : local_offers_text(&world->offers, offer);
}

static void write_bill(struct line_text *out, const struct local_machine *machine)
{
    if (machine->billed_from >= 0)
        line_text_number(out, "billed_from", (uint64_t)machine->billed_from);
    if (machine->billed_from >= 0 && machine->billed_to >= 0)
        line_text_number(out, "billed_to", (uint64_t)machine->billed_to);
}

/* What became of a machine, as the event that says so; nothing while that is open. */
static void write_event(const struct local_world *world, const struct local_machine *machine,
                        struct line_text *out)
{
    switch (machine->state) {
    case LOCAL_RUNNING:
    case LOCAL_NOTICED:
        line_text_begin(out, "running");
        line_text_number(out, "id", machine->key);
        line_text_string(out, "offer", offer_text(world, machine->offer));
        write_bill(out, machine);
        line_text_end(out);
        if (machine->state == LOCAL_RUNNING)
            break;
        line_text_begin(out, "notice");
        line_text_number(out, "id", machine->key);
        line_text_number(out, "until", (uint64_t)machine->due);
        line_text_end(out);
        break;
    case LOCAL_REFUSED:
        line_text_begin(out, "refused");
        line_text_number(out, "id", machine->key);
        line_text_string(out, "reason", machine->why);
        line_text_end(out);
        break;
    case LOCAL_GONE:
        line_text_begin(out, "gone");
        line_text_number(out, "id", machine->key);
        line_text_string(out, "offer", offer_text(world, machine->offer));
        write_bill(out, machine);
        line_text_string(out, "why", machine->why);
        line_text_end(out);
        break;
    case LOCAL_ASKED:
    case LOCAL_BOOTING:
    case LOCAL_LEAVING:
    case LOCAL_STATES:
        break;
    }
}

static void tell(struct local_world *world, const struct local_machine *machine)
{
    line_text_reset(&world->out);
    write_event(world, machine, &world->out);
    if (world->out.size > 0)
        world->config.tell(world->config.context, names_text(&world->clusters, machine->cluster),
                           world->out.text, world->out.size);
}

static void note(struct local_world *world, const struct local_machine *machine)
{
    struct line_text *out = &world->out;

    line_text_reset(out);
    line_text_begin(out, "machine");
    line_text_number(out, "key", machine->key);
    line_text_string(out, "cluster", names_text(&world->clusters, machine->cluster));
    line_text_string(out, "name", machine->name);
    line_text_string(out, "offer", offer_text(world, machine->offer));
    line_text_number(out, "number", machine->number);
    line_text_string(out, "state", state_names[machine->state]);
    write_bill(out, machine);
    line_text_string(out, "why", machine->why);
    line_text_end(out);
    world->config.note(world->config.context, out->text, out->size);
}

/* Commas would end a field: in what stands between quotes they do not, and a quote is doubled. */
static void quote(const char *text, char *ret, size_t size)
{
    size_t used = 0;

    if (strpbrk(text, ",\"\n\r") == NULL) {
        (void)snprintf(ret, size, "%s", text);
        return;
    }
    ret[used++] = '"';
    for (; *text != '\0' && used + 4 < size; text++) {
        if (*text == '"')
            ret[used++] = '"';
        ret[used] = *text;
        if (*text == '\n' || *text == '\r')
            ret[used] = ' ';
        used++;
    }
    ret[used++] = '"';
    ret[used] = '\0';
}

static void write_time(char text[24], msec_t at)
{
    text[0] = '\0';
    if (at >= 0)
        (void)snprintf(text, 24, "%" PRId64, at);
}

static void log_event(struct local_world *world, msec_t now, const char *event,
                      const struct local_machine *machine)
{
    const msec_t priced = machine->billed_from >= 0 ? machine->billed_from : now;
    char offer[LOG_LINE_SIZE / 2] = "";
    char price[24] = "";
    char from[24];
    char to[24];
    char line[LOG_LINE_SIZE];

    if (machine->offer != OFFER_NONE) {
        quote(offer_text(world, machine->offer), offer, sizeof(offer));
        write_time(price, price_at(&world->config.catalogue->offers[machine->offer].price, priced));
    }
    write_time(from, machine->billed_from);
    write_time(to, machine->billed_from >= 0 ? machine->billed_to : -1);
    (void)snprintf(line, sizeof(line), "%" PRId64 ",%s,%" PRIu64 ",%s,%s,%s,%s,%s,%s\n", now, event,
                   machine->key, machine->name, offer, price, from, to,
                   machine->why != NULL ? machine->why : "");
    world->config.log(world->config.context, line);
}

/* The machine came to its end, one way or the other. */
static void finish(struct local_world *world, uint32_t row, msec_t now, enum local_state state)
{
    struct local_machine *machine = &world->machines[row];

    machine->state = state;
    machine->due = MSEC_NEVER;
    bury(world, row);
    note(world, machine);
    log_event(world, now, state_names[state], machine);
    tell(world, machine);
}

static void finish_if_over(struct local_world *world, uint32_t row, msec_t now)
{
    const struct local_machine *machine = &world->machines[row];

    if (machine->state == LOCAL_LEAVING && !machine->is_hosted && machine->due <= now)
        finish(world, row, now, LOCAL_GONE);
}

/* Its processes end now, its bill at 'until'. */
static void leave(struct local_world *world, uint32_t row, msec_t now, msec_t until,
                  const char *why)
{
    struct local_machine *machine = &world->machines[row];

    machine->state = LOCAL_LEAVING;
    machine->why = why;
    machine->due = machine->billed_from < 0 ? now : until;
    machine->billed_to = machine->billed_from < 0 ? -1 : until;
    if (machine->billed_to < machine->billed_from)
        machine->billed_to = machine->billed_from; /* the clock was set back meanwhile */
    if (machine->is_hosted)
        world->config.kill(world->config.context, row);
    finish_if_over(world, row, now);
}

/* Why a machine of the offer cannot be had, or NULL. */
static const char *refusal(struct local_world *world, uint32_t offer)
{
    if (offer == OFFER_NONE)
        return "unknown-offer";
    if (rng_below(&world->refuse_rng, 1000) < world->fault[LOCAL_FAULT_REFUSE])
        return "capacity";
    if (world->lives[offer] >= world->capacity[offer])
        return "capacity";
    return world->live_count >= world->fault[LOCAL_FAULT_QUOTA] ? "quota" : NULL;
}

static void rent_one(struct local_world *world, msec_t now, uint32_t cluster, uint64_t key,
                     const struct local_request *request)
{
    struct local_machine machine = {
        .key = key,
        .cluster = cluster,
        .offer = local_offers_find(&world->offers, request->offer),
        .state = LOCAL_ASKED,
        .due = MSEC_NEVER,
        .billed_from = -1,
        .billed_to = -1,
    };

    (void)snprintf(machine.name, sizeof(machine.name), "%.43s%" PRIu64, request->prefix, key);
    machine.why = refusal(world, machine.offer);
    machine.number = machine.why == NULL ? world->next_number++ : 0;
    if (machine.why == NULL)
        machine.due =
            now + machine_type_acquire_ms(catalogue_type_of(world->config.catalogue, machine.offer),
                                          request->count);
    const uint32_t row = add_machine(world, &machine);

    enliven(world, row);
    log_event(world, now, "rented", &machine);
    if (machine.why != NULL)
        finish(world, row, now, LOCAL_REFUSED);
    else
        note(world, &machine);
}

static void rent(struct local_world *world, msec_t now, uint32_t cluster,
                 const struct local_request *request, struct line_text *answer)
{
    for (uint32_t i = 0; i < request->count; i++) {
        const uint32_t row = map_get(&world->of_key[cluster], request->key + i);

        if (row != MAP_NONE)
            write_event(world, &world->machines[row], answer);
        else
            rent_one(world, now, cluster, request->key + i, request);
    }
}

/* A machine that is not known is gone: whoever asks will then forget it too. */
static void give_back(struct local_world *world, msec_t now, uint32_t cluster, uint64_t key,
                      struct line_text *answer)
{
    const uint32_t row = map_get(&world->of_key[cluster], key);

    if (row == MAP_NONE || world->machines[row].state == LOCAL_REFUSED) {
        line_text_begin(answer, "gone");
        line_text_number(answer, "id", key);
        line_text_string(answer, "why", "returned");
        line_text_end(answer);
        return;
    }
    const struct local_machine *machine = &world->machines[row];

    if (machine->state == LOCAL_GONE) {
        write_event(world, machine, answer);
    } else if (machine->state != LOCAL_LEAVING) {
        const struct machine_type *type =
            catalogue_type_of(world->config.catalogue, machine->offer);

        log_event(world, now, "returned", machine);
        leave(world, row, now, now + type->release_ms, "returned");
    }
}

/* The oldest row whose end is still listed: the last GONE_LISTED_MAX are. */
static uint32_t first_listed(const struct local_world *world, uint32_t cluster)
{
    uint32_t gone = 0;
    uint32_t row = world->machine_count;

    while (row > 0 && gone < GONE_LISTED_MAX) {
        row--;
        if (world->machines[row].cluster == cluster && world->machines[row].state == LOCAL_GONE)
            gone++;
    }
    return row;
}

static void list(const struct local_world *world, uint32_t cluster, uint64_t key,
                 struct line_text *answer)
{
    const uint32_t first = first_listed(world, cluster);
    uint32_t count = 0;

    for (uint32_t row = 0; row < world->machine_count; row++) {
        const struct local_machine *machine = &world->machines[row];

        if (machine->cluster != cluster || machine->state == LOCAL_REFUSED)
            continue;
        if (machine->state == LOCAL_GONE) {
            if (row >= first)
                write_event(world, machine, answer);
            continue;
        }
        line_text_begin(answer, "found");
        line_text_number(answer, "key", key);
        line_text_number(answer, "id", machine->key);
        line_text_string(answer, "name", machine->name);
        line_text_string(answer, "offer", offer_text(world, machine->offer));
        line_text_string(answer, "state", state_names[machine->state]);
        if (machine->billed_from >= 0)
            line_text_number(answer, "billed_from", (uint64_t)machine->billed_from);
        line_text_end(answer);
        count++;
    }
    line_text_begin(answer, "listed");
    line_text_number(answer, "key", key);
    line_text_number(answer, "count", count);
    line_text_end(answer);
}

/* The machine that a revocation means, or UINT32_MAX: the one that is named, else any that runs. */
static uint32_t choose_victim(struct local_world *world, uint32_t cluster,
                              const struct local_request *request)
{
    uint32_t running = 0;
    uint64_t skip = 0;

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < world->live_count; i++) {
            const struct local_machine *machine = &world->machines[world->live[i]];

            if (machine->cluster != cluster || machine->state != LOCAL_RUNNING ||
                (request->has_id && machine->key != request->id))
                continue;
            if (pass == 0)
                running++;
            else if (skip-- == 0)
                return world->live[i];
        }
        if (running == 0)
            return UINT32_MAX;
        skip = rng_below(&world->revoke_rng, running);
    }
    return UINT32_MAX;
}

static void answer_done(struct line_text *answer, uint64_t key)
{
    line_text_begin(answer, "done");
    line_text_number(answer, "key", key);
    line_text_end(answer);
}

static void answer_failed(struct line_text *answer, uint64_t key, const char *text)
{
    line_text_begin(answer, "failed");
    line_text_number(answer, "key", key);
    line_text_prose(answer, "text", text);
    line_text_end(answer);
}

static void revoke(struct local_world *world, msec_t now, uint32_t cluster,
                   const struct local_request *request, struct line_text *answer)
{
    const uint32_t row = choose_victim(world, cluster, request);

    if (row == UINT32_MAX) {
        answer_failed(answer, request->key, "no such machine runs");
        return;
    }
    struct local_machine *machine = &world->machines[row];

    line_text_begin(answer, "done");
    line_text_number(answer, "key", request->key);
    line_text_number(answer, "id", machine->key);
    line_text_end(answer);
    if (request->notice_ms == 0) {
        leave(world, row, now, now, "revoked");
        return;
    }
    machine->state = LOCAL_NOTICED;
    machine->due = now + request->notice_ms;
    log_event(world, now, "notice", machine);
    line_text_reset(&world->out);
    line_text_begin(&world->out, "notice");
    line_text_number(&world->out, "id", machine->key);
    line_text_number(&world->out, "until", (uint64_t)machine->due);
    line_text_end(&world->out);
    world->config.tell(world->config.context, names_text(&world->clusters, cluster),
                       world->out.text, world->out.size);
}

void local_world_obey(struct local_world *world, msec_t now, const char *cluster,
                      const struct local_request *request, struct line_text *answer)
{
    const uint32_t number = cluster_number(world, cluster);

    switch (request->verb) {
    case LOCAL_RENT:
        rent(world, now, number, request, answer);
        break;
    case LOCAL_GIVE_BACK:
        give_back(world, now, number, request->key, answer);
        break;
    case LOCAL_LIST:
        list(world, number, request->key, answer);
        break;
    case LOCAL_REVOKE:
        revoke(world, now, number, request, answer);
        break;
    case LOCAL_FAULT:
        for (int i = 0; i < LOCAL_FAULT_KINDS; i++) {
            if (request->is_fault_given[i])
                world->fault[i] = request->fault[i];
        }
        answer_done(answer, request->key);
        break;
    case LOCAL_CAPACITY:
        if (local_world_set_capacity(world, request->offer, request->count) == 0)
            answer_done(answer, request->key);
        else
            answer_failed(answer, request->key, "no such offer");
        break;
    case LOCAL_HELLO:
        assert(false);
    }
}

int local_world_set_capacity(struct local_world *world, const char *offer, uint32_t count)
{
    const uint32_t index = local_offers_find(&world->offers, offer);

    if (index == OFFER_NONE)
        return -ENOENT;
    world->capacity[index] = count;
    return 0;
}

void local_world_set_fault(struct local_world *world, enum local_fault fault, uint32_t value)
{
    world->fault[fault] = value;
}

uint32_t local_world_fault(const struct local_world *world, enum local_fault fault)
{
    return world->fault[fault];
}

void local_world_up(struct local_world *world, uint32_t row, msec_t now)
{
    struct local_machine *machine = &world->machines[row];

    if (machine->state != LOCAL_BOOTING)
        return;
    machine->state = LOCAL_RUNNING;
    machine->due = MSEC_NEVER;
    machine->billed_from = now;
    note(world, machine);
    log_event(world, now, "running", machine);
    tell(world, machine);
}

void local_world_down(struct local_world *world, uint32_t row, msec_t now)
{
    struct local_machine *machine = &world->machines[row];

    machine->is_hosted = false;
    if (machine->state == LOCAL_BOOTING) {
        machine->why = "broken";
        finish(world, row, now, LOCAL_REFUSED);
    } else if (machine->state == LOCAL_RUNNING || machine->state == LOCAL_NOTICED) {
        leave(world, row, now, now, "died");
    } else {
        finish_if_over(world, row, now);
    }
}

void local_world_end_idle(struct local_world *world, uint32_t row, msec_t now)
{
    const struct local_machine *machine = &world->machines[row];

    if (machine->state == LOCAL_RUNNING || machine->state == LOCAL_NOTICED)
        leave(world, row, now, now, "idle");
}

const char *local_world_cluster(const struct local_world *world, uint32_t row)
{
    return names_text(&world->clusters, world->machines[row].cluster);
}

msec_t local_world_next_wake(const struct local_world *world)
{
    msec_t wake = MSEC_NEVER;

    for (uint32_t i = 0; i < world->live_count; i++) {
        const struct local_machine *machine = &world->machines[world->live[i]];

        /* One that is still being killed has nothing to wait for but its end. */
        if (machine->state == LOCAL_LEAVING && machine->is_hosted)
            continue;
        if (machine->due < wake)
            wake = machine->due;
    }
    return wake;
}

static void boot(struct local_world *world, uint32_t row, msec_t now)
{
    struct local_machine *machine = &world->machines[row];

    machine->state = LOCAL_BOOTING;
    machine->due = MSEC_NEVER;
    machine->is_hosted = world->config.boot(world->config.context, row);
    if (machine->is_hosted)
        return;
    machine->why = "broken";
    finish(world, row, now, LOCAL_REFUSED);
}

void local_world_tick(struct local_world *world, msec_t now)
{
    uint32_t i = 0;

    while (i < world->live_count) {
        const uint32_t row = world->live[i];
        const struct local_machine *machine = &world->machines[row];

        if (machine->due <= now && machine->state == LOCAL_ASKED)
            boot(world, row, now);
        else if (machine->due <= now && machine->state == LOCAL_NOTICED)
            leave(world, row, now, now, "revoked");
        else
            finish_if_over(world, row, now);
        if (i < world->live_count && world->live[i] == row)
            i++;
    }
}

void local_world_close(struct local_world *world, msec_t now)
{
    uint32_t i = 0;

    while (i < world->live_count) {
        const uint32_t row = world->live[i];

        if (world->machines[row].state == LOCAL_LEAVING) {
            /* Its bill ends with the cloud. */
            if (world->machines[row].billed_to > now)
                world->machines[row].billed_to = now;
            world->machines[row].due = now;
            finish_if_over(world, row, now);
        } else {
            leave(world, row, now, now, "died");
        }
        if (i < world->live_count && world->live[i] == row)
            i++;
    }
}

static bool restore_number(const struct line *line, const char *key, uint64_t max, uint64_t *ret)
{
    const char *text = line_get(line, key);

    return text != NULL && line_number(text, max, ret) == 0;
}

static const char *find_why(const char *text)
{
    for (size_t i = 0; text != NULL && i < sizeof(whys) / sizeof(whys[0]); i++) {
        if (strcmp(text, whys[i]) == 0)
            return whys[i];
    }
    return NULL;
}

/* Fill what a line of the journal says; false: it is none. */
static bool restore_machine(const struct local_world *world, const struct line *line,
                            struct local_machine *ret)
{
    const char *name = line_get(line, "name");
    const char *offer = line_get(line, "offer");
    const char *state = line_get(line, "state");
    uint64_t number = 0;
    uint64_t at = 0;
    int found = 0;

    if (strcmp(line->word, "machine") != 0 || name == NULL || strlen(name) > LOCAL_NAME_MAX ||
        state == NULL || !restore_number(line, "key", UINT64_MAX, &ret->key) ||
        !restore_number(line, "number", UINT32_MAX - 1, &number))
        return false;
    while (found < LOCAL_STATES && strcmp(state, state_names[found]) != 0)
        found++;
    if (found == LOCAL_STATES)
        return false;
    ret->state = (enum local_state)found;
    ret->number = (uint32_t)number;
    ret->offer = offer == NULL ? OFFER_NONE : local_offers_find(&world->offers, offer);
    ret->why = find_why(line_get(line, "why"));
    (void)snprintf(ret->name, sizeof(ret->name), "%s", name);
    ret->due = MSEC_NEVER;
    ret->billed_from =
        restore_number(line, "billed_from", (uint64_t)LIMIT_TIME_MS, &at) ? (msec_t)at : -1;
    ret->billed_to =
        restore_number(line, "billed_to", (uint64_t)LIMIT_TIME_MS, &at) ? (msec_t)at : -1;
    return true;
}

int local_world_restore(struct local_world *world, const struct line *line, struct error *reterr)
{
    const char *cluster = line_get(line, "cluster");
    struct local_machine machine = { .key = 0 };

    if (cluster == NULL || cluster[0] == '\0' || strlen(cluster) > LOCAL_CLUSTER_MAX ||
        !restore_machine(world, line, &machine))
        return error_set(reterr, -EINVAL, "not a line of a journal");
    machine.cluster = cluster_number(world, cluster);
    if (machine.number >= world->next_number)
        world->next_number = machine.number + 1;
    const uint32_t row = map_get(&world->of_key[machine.cluster], machine.key);

    if (row == MAP_NONE)
        (void)add_machine(world, &machine);
    else
        world->machines[row] = machine;
    return 0;
}

void local_world_restored(struct local_world *world, msec_t now)
{
    for (uint32_t row = 0; row < world->machine_count; row++) {
        const enum local_state state = world->machines[row].state;

        if (state == LOCAL_GONE || state == LOCAL_REFUSED)
            continue;
        enliven(world, row);
        leave(world, row, now, now, "died");
    }
}

const struct local_machine *local_world_machine(const struct local_world *world, uint32_t row)
{
    assert(row < world->machine_count);
    return &world->machines[row];
}

uint32_t local_world_machine_count(const struct local_world *world)
{
    return world->machine_count;
}

uint32_t local_world_living(const struct local_world *world)
{
    return world->live_count;
}

struct local_world *local_world_create(const struct local_world_config *config)
{
    struct local_world *world = mem_alloc(1, sizeof(*world));
    const uint32_t offers = config->catalogue->offer_count;

    world->config = *config;
    local_offers_init(&world->offers, config->catalogue);
    names_init(&world->clusters);
    world->capacity = mem_alloc(offers, sizeof(*world->capacity));
    world->lives = mem_alloc(offers, sizeof(*world->lives));
    for (uint32_t i = 0; i < offers; i++)
        world->capacity[i] = LOCAL_NO_LIMIT;
    world->fault[LOCAL_FAULT_QUOTA] = LOCAL_NO_LIMIT;
    world->next_number = 1;
    rng_init(&world->refuse_rng, config->seed, RNG_REFUSE);
    rng_init(&world->revoke_rng, config->seed, RNG_REVOKE);
    return world;
}

void local_world_destroy(struct local_world *world)
{
    if (world == NULL)
        return;
    for (uint32_t i = 0; i < world->of_key_count; i++)
        map_done(&world->of_key[i]);
    mem_free(world->of_key);
    names_done(&world->clusters);
    local_offers_done(&world->offers);
    line_text_done(&world->out);
    mem_free(world->machines);
    mem_free(world->live);
    mem_free(world->capacity);
    mem_free(world->lives);
    mem_free(world);
}
