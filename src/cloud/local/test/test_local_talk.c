/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of the talk in one program and in virtual time: random actions, machines that boot, die, are
 * refused and revoked, and connections that end at any moment with lines under way in both
 * directions. However it went: nothing is rented twice, everything is answered, and what
 * the client was told of a machine's end is what the server's log says.
 */
#include "base/test/check.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "cloud/local/local_cloud.h"
#include "cloud/local/local_world.h"
#include "cloud/local/test/local_yard.h"

enum { IDS_MAX = 2048, STEPS = 400, LINES_A_STEP = 40 };

enum fate { NOT_HOSTED, BOOTING, UP, KILLED };

/* What the client was told of one machine. */
struct known {
    bool is_rented;
    bool is_refused;
    bool is_gone;
    uint32_t boots;
    msec_t from;
    msec_t to;
};

struct talk {
    struct catalogue catalogue;
    struct local_world *world;
    struct local_cloud *cloud;
    struct cloud_port port;
    struct rng rng;
    struct line_text to_server;
    struct line_text to_client;
    struct line_text answer;
    bool is_connected;
    bool is_greeted; /* by the client, as the server sees it */
    msec_t now;
    uint64_t next_key;
    uint64_t listed;
    struct known known[IDS_MAX];
    enum fate fate[IDS_MAX]; /* by row */
    uint32_t rows;
};

static struct talk talk;

static bool on_boot(void *context, uint32_t row)
{
    struct talk *here = context;

    assert_true(row < IDS_MAX);
    here->known[local_world_machine(here->world, row)->key].boots++;
    here->fate[row] = BOOTING;
    if (row >= here->rows)
        here->rows = row + 1;
    return true;
}

static void on_kill(void *context, uint32_t row)
{
    struct talk *here = context;

    here->fate[row] = KILLED;
}

static void on_tell(void *context, const char *cluster, const char *lines, uint32_t size)
{
    struct talk *here = context;

    assert_string_equal(cluster, "lab");
    if (here->is_connected && here->is_greeted)
        line_text_append(&here->to_client, lines, size);
}

static void on_note(void *context, const char *lines, uint32_t size)
{
    (void)context;
    assert_true(size > 0);
    assert_int_equal(lines[size - 1], '\n');
}

static void on_log(void *context, const char *line)
{
    (void)context;
    assert_true(line[0] != '\0');
}

static void on_send(void *context, const char *lines, size_t size)
{
    struct talk *here = context;

    assert_true(here->is_connected);
    line_text_append(&here->to_server, lines, (uint32_t)size);
}

static void on_event(void *context, const struct cloud_event *event)
{
    struct talk *here = context;
    struct known *known = &here->known[event->instance];

    if (event->kind == CLOUD_LISTED) {
        here->listed = event->key;
        return;
    }
    assert_true(event->instance < here->next_key);
    if (event->kind == CLOUD_REFUSED) {
        assert_false(known->is_gone);
        known->is_refused = true;
    } else if (event->kind == CLOUD_RUNNING) {
        assert_true(known->from < 0 || known->from == event->billed_from);
        known->from = event->billed_from;
    } else if (event->kind == CLOUD_GONE && !known->is_refused) {
        assert_true(!known->is_gone || known->to == event->billed_to);
        known->is_gone = true;
        known->from = event->billed_from;
        known->to = event->billed_to;
    }
}

static void serve_line(struct line *line)
{
    struct local_request request;

    assert_int_equal(local_request_read(line, &request, NULL), 0);
    if (request.verb == LOCAL_HELLO) {
        talk.is_greeted = true;
        line_text_begin(&talk.to_client, "hello");
        line_text_number(&talk.to_client, "protocol", LOCAL_PROTOCOL);
        line_text_end(&talk.to_client);
        return;
    }
    line_text_reset(&talk.answer);
    local_world_obey(talk.world, talk.now, "lab", &request, &talk.answer);
    if (talk.answer.size > 0)
        line_text_append(&talk.to_client, talk.answer.text, talk.answer.size);
}

/* Take the first line of 'text' out of it, into a buffer of its own; NULL: there is none. */
static char *pop(struct line_text *text, size_t *ret_length)
{
    const char *end = text->size == 0 ? NULL : memchr(text->text, '\n', text->size);

    if (end == NULL)
        return NULL;
    const size_t length = (size_t)(end - text->text);
    char *line = mem_alloc(length + 1, 1);

    memcpy(line, text->text, length);
    text->size -= (uint32_t)length + 1;
    memmove(text->text, end + 1, text->size);
    *ret_length = length;
    return line;
}

static bool deliver_one(void)
{
    size_t length = 0;
    char *text = NULL;

    if (rng_below(&talk.rng, 2) == 0 && (text = pop(&talk.to_server, &length)) != NULL) {
        struct line line;

        assert_int_equal(line_parse(text, length, &line, NULL), 0);
        serve_line(&line);
    } else if ((text = pop(&talk.to_client, &length)) != NULL) {
        local_cloud_line(talk.cloud, talk.now, text, length);
    }
    mem_free(text);
    return talk.to_server.size + talk.to_client.size > 0;
}

static void hook_up(void)
{
    talk.is_connected = true;
    local_cloud_connected(talk.cloud, talk.now);
}

static void cut(void)
{
    talk.is_connected = false;
    talk.is_greeted = false;
    line_text_reset(&talk.to_server);
    line_text_reset(&talk.to_client);
    local_cloud_disconnected(talk.cloud, talk.now);
}

static void rent_some(void)
{
    const uint32_t count = (uint32_t)rng_below(&talk.rng, 4) + 1;

    if (talk.next_key + count >= IDS_MAX)
        return;
    for (uint32_t i = 0; i < count; i++)
        talk.known[talk.next_key + i].is_rented = true;
    talk.port.ops->rent(talk.port.self, talk.next_key, count, (uint32_t)rng_below(&talk.rng, 3));
    talk.next_key += count;
}

static void act(void)
{
    const uint64_t any = rng_below(&talk.rng, talk.next_key);
    const struct local_request revoke = {
        .verb = LOCAL_REVOKE,
        .notice_ms = (uint32_t)rng_below(&talk.rng, 3) * 10,
    };

    switch (rng_below(&talk.rng, 20)) {
    case 0:
    case 1:
        rent_some();
        break;
    case 2:
        if (any > 0 && talk.known[any].is_rented)
            talk.port.ops->give_back(talk.port.self, any);
        break;
    case 4:
        if (talk.is_connected && rng_below(&talk.rng, 4) == 0)
            talk.port.ops->list(talk.port.self, talk.next_key++);
        break;
    case 5:
        line_text_reset(&talk.answer);
        local_world_obey(talk.world, talk.now, "lab", &revoke, &talk.answer);
        break;
    case 6:
        if (talk.is_connected)
            cut();
        else
            hook_up();
        break;
    default:
        for (uint32_t i = 0; i < LINES_A_STEP && deliver_one(); i++)
            continue;
    }
}

static void turn(bool is_calm)
{
    talk.now += (msec_t)rng_below(&talk.rng, 60);
    for (uint32_t row = 0; row < talk.rows; row++) {
        const enum fate fate = talk.fate[row];

        if (fate == KILLED || (!is_calm && fate != NOT_HOSTED && rng_below(&talk.rng, 400) == 0)) {
            talk.fate[row] = NOT_HOSTED;
            local_world_down(talk.world, row, talk.now);
        } else if (fate == BOOTING) {
            talk.fate[row] = UP;
            local_world_up(talk.world, row, talk.now);
        }
    }
    local_world_tick(talk.world, talk.now);
    local_cloud_flush(talk.cloud, talk.now);
}

static void set_up(uint64_t seed)
{
    memset(&talk, 0, sizeof(talk));
    yard_make(&talk.catalogue);
    rng_init(&talk.rng, seed, 0);
    talk.next_key = 1;
    for (uint32_t i = 0; i < IDS_MAX; i++)
        talk.known[i].from = talk.known[i].to = -1;
    talk.world = local_world_create(&(struct local_world_config){
        .catalogue = &talk.catalogue,
        .seed = seed,
        .boot = on_boot,
        .kill = on_kill,
        .tell = on_tell,
        .note = on_note,
        .log = on_log,
        .context = &talk,
    });
    local_world_set_fault(talk.world, LOCAL_FAULT_REFUSE, 200);
    talk.cloud = local_cloud_create(&(struct local_cloud_config){
        .catalogue = &talk.catalogue,
        .cluster = "lab",
        .node_prefix = "st-",
        .on_event = on_event,
        .on_send = on_send,
        .context = &talk,
    });
    talk.port = local_cloud_port(talk.cloud);
}

static void tear_down(void)
{
    local_cloud_destroy(talk.cloud);
    local_world_destroy(talk.world);
    line_text_done(&talk.to_server);
    line_text_done(&talk.to_client);
    line_text_done(&talk.answer);
    catalogue_done(&talk.catalogue);
}

/* A fresh connection alone tells all that was missed. */
static void check_caught_up(void)
{
    const uint32_t rented = local_world_machine_count(talk.world);

    for (uint32_t row = 0; row < rented; row++) {
        const struct local_machine *machine = local_world_machine(talk.world, row);
        const struct known *known = &talk.known[machine->key];

        if (machine->state == LOCAL_GONE)
            assert_true(known->is_gone);
        if (machine->state == LOCAL_RUNNING || machine->state == LOCAL_NOTICED)
            assert_int_equal(known->from, machine->billed_from);
    }
}

/* One last connection that holds: give everything back, and let all lines arrive. */
static void calm_down(void)
{
    if (talk.is_connected)
        cut();
    hook_up();
    while (deliver_one())
        continue;
    check_caught_up();
    for (uint64_t id = 1; id < talk.next_key; id++) {
        if (talk.known[id].is_rented)
            talk.port.ops->give_back(talk.port.self, id);
    }
    for (uint32_t i = 0; i < 200; i++) {
        turn(true);
        while (deliver_one())
            continue;
    }
}

static void check_machine(uint32_t row)
{
    const struct local_machine *machine = local_world_machine(talk.world, row);
    const struct known *known = &talk.known[machine->key];

    assert_true(known->is_rented);
    assert_true(known->boots <= 1);
    assert_true(machine->state == LOCAL_GONE || machine->state == LOCAL_REFUSED);
    assert_true(known->is_refused == (machine->state == LOCAL_REFUSED));
    assert_true(known->is_gone == (machine->state == LOCAL_GONE));
    if (known->is_gone) {
        assert_int_equal(known->from, machine->billed_from);
        assert_int_equal(known->to, machine->billed_to);
    }
}

TEST(whatever_is_cut_nothing_is_rented_twice_and_all_is_answered)
{
    uint32_t rented = 0;
    uint32_t billed = 0;

    for (uint64_t seed = 1; seed <= 12; seed++) {
        set_up(seed);
        for (uint32_t i = 0; i < STEPS; i++) {
            act();
            turn(false);
        }
        calm_down();

        assert_int_equal(local_cloud_open_count(talk.cloud), 0);
        assert_int_equal(local_cloud_bad_lines(talk.cloud), 0);
        assert_int_equal(local_world_living(talk.world), 0);
        uint32_t row = 0;

        for (uint64_t id = 1; id < talk.next_key; id++) {
            if (!talk.known[id].is_rented)
                continue;
            assert_true(talk.known[id].is_refused || talk.known[id].is_gone);
            check_machine(row++);
            rented++;
            billed += talk.known[id].from >= 0;
        }
        tear_down();
    }
    print_message("# %u rented, %u billed\n", rented, billed);
    assert_true(rented > 500);
    assert_true(billed > 200);
}

CHECK_MAIN(RUN(whatever_is_cut_nothing_is_rented_twice_and_all_is_answered))
