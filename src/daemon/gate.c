/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An action goes from 'fresh' to 'ready' (gate_note) to the real port (gate_pass); in mode advise it
 * may rest among the proposals in between.
 *
 * Open intents are rows. A rent is known by its machine; a return by the same number below zero, as
 * it has no key of its own and both may be open; what concerns a task by its key. Rows of one task
 * are a list, so that its end closes all of them. What was asked of a task in the same turn, before its
 * end was heard, is dropped: nobody would ever answer it.
 */
#include "daemon/gate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "daemon/offer_index.h"

struct open_intent {
    uint64_t key; /* 0: the row is free */
    uint64_t task;
    msec_t at;
    uint32_t next; /* of the same task, or free; MAP_NONE */
    enum store_intent_kind kind;
    bool is_old; /* of a previous run */
};

/* Actions, one after another. */
struct act_list {
    struct gate_act *acts;
    uint32_t count;
    uint32_t room;
};

struct gate {
    struct gate_config config;
    struct act_list fresh;
    struct act_list ready;
    uint32_t fresh_approved; /* so many of 'fresh' were approved and come first */
    uint32_t fresh_judged;   /* so many of 'fresh' make sense, the approved ones among them */
    struct map ended; /* tasks that ended since: actions of 'fresh' before this index are moot */

    struct gate_proposal *proposals;
    uint32_t proposal_count;
    uint32_t proposals_room;
    uint64_t next_proposal;

    struct open_intent *open;
    uint32_t open_rows;
    uint32_t open_room;
    uint32_t open_count;
    uint32_t free_row;
    struct map by_key;
    struct map by_task; /* its first row */
    bool has_old;
    msec_t listed_at; /* when the cloud first listed all machines; MSEC_NEVER: not yet */
};

static uint64_t return_key(uint64_t instance)
{
    return 0 - instance;
}

const char *gate_act_word(enum gate_act_kind kind)
{
    static const char *const words[] = {
        [GATE_ADMIT] = "admit",     [GATE_RETIRE] = "give-back",    [GATE_FORGET] = "forget",
        [GATE_PLACE] = "place",     [GATE_QUEUE] = "queue",         [GATE_CANCEL] = "cancel",
        [GATE_STOP] = "stop",       [GATE_LIST_ENGINE] = "list",    [GATE_RENT] = "rent",
        [GATE_LIST_CLOUD] = "list", [GATE_GIVE_BACK] = "give-back",
    };

    return words[kind];
}

/*
 * Open intents.
 */

static void remember(struct gate *gate, const struct open_intent *intent)
{
    if (map_get(&gate->by_key, intent->key) != MAP_NONE)
        return; /* asked for again */

    uint32_t row = gate->free_row;

    if (row != MAP_NONE) {
        gate->free_row = gate->open[row].next;
    } else {
        row = gate->open_rows++;
        MEM_ROOM(gate->open, gate->open_room, gate->open_rows);
    }
    gate->open[row] = *intent;
    gate->open[row].next = MAP_NONE;
    gate->open_count++;
    map_put(&gate->by_key, intent->key, row);
    if (intent->task != 0) {
        gate->open[row].next = map_get(&gate->by_task, intent->task);
        map_put(&gate->by_task, intent->task, row);
    }
}

/* Take the row out of the list of its task. */
static void unlink_row(struct gate *gate, uint32_t row)
{
    const struct open_intent *intent = &gate->open[row];
    uint32_t at = map_get(&gate->by_task, intent->task);

    if (at == row) {
        if (intent->next != MAP_NONE)
            map_put(&gate->by_task, intent->task, intent->next);
        else
            (void)map_remove(&gate->by_task, intent->task);
        return;
    }
    while (gate->open[at].next != row)
        at = gate->open[at].next;
    gate->open[at].next = intent->next;
}

static void close_row(struct gate *gate, uint32_t row, msec_t at, enum store_outcome outcome)
{
    struct open_intent *intent = &gate->open[row];

    journal_intent_close(gate->config.journal, intent->key, at, outcome);
    if (intent->task != 0)
        unlink_row(gate, row);
    (void)map_remove(&gate->by_key, intent->key);
    *intent = (struct open_intent){ .next = gate->free_row };
    gate->free_row = row;
    gate->open_count--;
}

static void close_key(struct gate *gate, uint64_t key, msec_t at, enum store_outcome outcome)
{
    const uint32_t row = map_get(&gate->by_key, key);

    if (row != MAP_NONE)
        close_row(gate, row, at, outcome);
}

/* Close what is open about the task: to start it, or also to stop it. */
static void close_task(struct gate *gate, uint64_t task, bool stops, msec_t at,
                       enum store_outcome outcome)
{
    uint32_t row = map_get(&gate->by_task, task);

    while (row != MAP_NONE) {
        const uint32_t next = gate->open[row].next;

        if (stops || gate->open[row].kind != STORE_STOP)
            close_row(gate, row, at, outcome);
        row = next;
    }
}

static bool is_of_cloud(const struct open_intent *intent)
{
    return intent->kind == STORE_RENT || intent->kind == STORE_GIVE_BACK;
}

/* A list has ended: what a previous run left open and nobody spoke of will not be heard of, unless it
 * is a machine that the cloud may show later. */
static void close_old(struct gate *gate, bool of_cloud, msec_t at)
{
    bool any = false;

    if (!gate->has_old)
        return;
    if (of_cloud && gate->listed_at == MSEC_NEVER)
        gate->listed_at = at;

    const bool is_last = !of_cloud || at - gate->listed_at >= gate->config.settle_ms;

    for (uint32_t row = 0; row < gate->open_rows; row++) {
        const struct open_intent *intent = &gate->open[row];

        if (intent->key == 0 || !intent->is_old)
            continue;
        if (is_of_cloud(intent) != of_cloud || !is_last) {
            any = true;
            continue;
        }
        /* A machine that was not shown is not known to be none: the controller has it, and seeks it. */
        close_row(gate, row, at, intent->kind == STORE_GIVE_BACK ? STORE_DONE : STORE_OBSOLETE);
    }
    gate->has_old = any;
}

void gate_restore(struct gate *gate, const struct store_intent *intent)
{
    gate->has_old = true;
    remember(gate, &(struct open_intent){
                       .key = intent->key,
                       .task = intent->task,
                       .at = intent->at,
                       .kind = intent->kind,
                       .is_old = true,
                   });
}

bool gate_seeks(const struct gate *gate)
{
    for (uint32_t row = 0; gate->has_old && row < gate->open_rows; row++) {
        const struct open_intent *intent = &gate->open[row];

        if (intent->key != 0 && intent->is_old && is_of_cloud(intent))
            return true;
    }
    return false;
}

uint32_t gate_open_count(const struct gate *gate)
{
    return gate->open_count;
}

msec_t gate_oldest(const struct gate *gate)
{
    msec_t oldest = MSEC_NEVER;

    for (uint32_t row = 0; row < gate->open_rows; row++) {
        if (gate->open[row].key != 0 && gate->open[row].at < oldest)
            oldest = gate->open[row].at;
    }
    return oldest;
}

/*
 * The controller's side.
 */

static void collect(struct gate *gate, const struct gate_act *act)
{
    struct act_list *fresh = &gate->fresh;

    MEM_ROOM(fresh->acts, fresh->room, fresh->count + 1);
    fresh->acts[fresh->count++] = *act;
}

static void on_admit(void *self, uint64_t instance)
{
    collect(self, &(struct gate_act){ .kind = GATE_ADMIT, .instance = instance });
}

static void on_retire(void *self, uint64_t instance)
{
    collect(self, &(struct gate_act){ .kind = GATE_RETIRE, .instance = instance });
}

static void on_forget(void *self, uint64_t instance)
{
    collect(self, &(struct gate_act){ .kind = GATE_FORGET, .instance = instance });
}

static void on_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    collect(self, &(struct gate_act){
                      .kind = GATE_PLACE, .key = key, .task = task, .instance = instance });
}

static void on_queue(void *self, uint64_t key, uint64_t task)
{
    collect(self, &(struct gate_act){ .kind = GATE_QUEUE, .key = key, .task = task });
}

static void on_cancel(void *self, uint64_t key, uint64_t task)
{
    collect(self, &(struct gate_act){ .kind = GATE_CANCEL, .key = key, .task = task });
}

static void on_stop(void *self, uint64_t key, uint64_t task)
{
    collect(self, &(struct gate_act){ .kind = GATE_STOP, .key = key, .task = task });
}

static void on_list_engine(void *self, uint64_t key)
{
    collect(self, &(struct gate_act){ .kind = GATE_LIST_ENGINE, .key = key });
}

static void on_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    collect(self, &(struct gate_act){
                      .kind = GATE_RENT, .instance = first, .count = count, .offer = offer });
}

static void on_give_back(void *self, uint64_t instance)
{
    collect(self, &(struct gate_act){ .kind = GATE_GIVE_BACK, .instance = instance });
}

static void on_list_cloud(void *self, uint64_t key)
{
    collect(self, &(struct gate_act){ .kind = GATE_LIST_CLOUD, .key = key });
}

static const struct engine_ops engine_ops = {
    .admit = on_admit,
    .retire = on_retire,
    .forget = on_forget,
    .place = on_place,
    .queue = on_queue,
    .cancel = on_cancel,
    .stop = on_stop,
    .list = on_list_engine,
};

/* For an engine that cannot queue. */
static const struct engine_ops engine_ops_no_queue = {
    .admit = on_admit,
    .retire = on_retire,
    .forget = on_forget,
    .place = on_place,
    .cancel = on_cancel,
    .stop = on_stop,
    .list = on_list_engine,
};

static const struct cloud_ops cloud_ops = {
    .rent = on_rent,
    .give_back = on_give_back,
    .list = on_list_cloud,
};

struct engine_port gate_engine_port(struct gate *gate)
{
    const bool queues = gate->config.engine.ops->queue != NULL;

    return (struct engine_port){ .ops = queues ? &engine_ops : &engine_ops_no_queue, .self = gate };
}

struct cloud_port gate_cloud_port(struct gate *gate)
{
    return (struct cloud_port){ .ops = &cloud_ops, .self = gate };
}

struct gate *gate_create(const struct gate_config *config)
{
    struct gate *gate = mem_alloc(1, sizeof(*gate));

    gate->config = *config;
    gate->next_proposal = 1;
    gate->free_row = MAP_NONE;
    gate->listed_at = MSEC_NEVER;
    map_init(&gate->by_key);
    map_init(&gate->by_task);
    map_init(&gate->ended);
    return gate;
}

void gate_destroy(struct gate *gate)
{
    if (gate == NULL)
        return;
    map_done(&gate->by_key);
    map_done(&gate->by_task);
    map_done(&gate->ended);
    mem_free(gate->fresh.acts);
    mem_free(gate->ready.acts);
    mem_free(gate->proposals);
    mem_free(gate->open);
    mem_free(gate);
}

/*
 * Note and pass.
 */

bool gate_has_acts(const struct gate *gate)
{
    return gate->fresh.count > 0 || gate->ready.count > 0;
}

static void note_rent(struct gate *gate, const struct gate_act *act, msec_t now)
{
    const struct catalogue *catalogue = gate->config.catalogue;
    const struct offer *offer = &catalogue->offers[act->offer];
    char words[3 * 256];
    char name[64];

    (void)offer_index_words(catalogue, act->offer, words, sizeof(words));
    for (uint32_t i = 0; i < act->count; i++) {
        const uint64_t id = act->instance + i;
        const struct store_intent intent = {
            .key = id, .kind = STORE_RENT, .instance = id, .offer = words, .at = now
        };

        (void)snprintf(name, sizeof(name), "%s%llu", gate->config.node_prefix,
                       (unsigned long long)id);
        journal_instance(gate->config.journal,
                         &(struct store_instance){
                             .id = id,
                             .name = name,
                             .offer = words,
                             .type = catalogue_offer_type_name(catalogue, act->offer),
                             .zone = offer->zone != NAME_NONE
                                         ? names_text(&catalogue->names, offer->zone)
                                         : NULL,
                             .market = market_name(offer->market),
                             .per_hour = price_at(&offer->price, now),
                             .asked_at = now,
                         });
        journal_intent_open(gate->config.journal, &intent);
        remember(gate, &(struct open_intent){ .key = id, .at = now, .kind = STORE_RENT });
    }
    journal_count(gate->config.journal, COUNT_LAUNCHES, act->count);
}

static void note_intent(struct gate *gate, const struct gate_act *act, msec_t now,
                        enum store_intent_kind kind)
{
    const uint64_t key = kind == STORE_GIVE_BACK ? return_key(act->instance) : act->key;
    const struct store_intent intent = {
        .key = key, .kind = kind, .instance = act->instance, .task = act->task, .at = now
    };

    if (act->task != 0) /* whatever was asked for before is overtaken */
        close_task(gate, act->task, true, now, STORE_OBSOLETE);
    journal_intent_open(gate->config.journal, &intent);
    remember(gate, &(struct open_intent){ .key = key, .task = act->task, .at = now, .kind = kind });
}

/* Proposals that nobody needs to answer any more. */
static void drop_proposals(struct gate *gate, uint64_t task, uint64_t instance)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < gate->proposal_count; i++) {
        const struct gate_act *act = &gate->proposals[i].act;
        const bool of_task = task != 0 && act->task == task;
        const bool of_instance = instance != 0 && act->instance == instance &&
                                 (act->kind == GATE_RETIRE || act->kind == GATE_PLACE);

        if (!of_task && !of_instance)
            gate->proposals[kept++] = gate->proposals[i];
    }
    gate->proposal_count = kept;
}

static void note_act(struct gate *gate, const struct gate_act *act, msec_t now)
{
    switch (act->kind) {
    case GATE_RENT:
        note_rent(gate, act, now);
        break;
    case GATE_GIVE_BACK:
        note_intent(gate, act, now, STORE_GIVE_BACK);
        break;
    case GATE_PLACE:
        note_intent(gate, act, now, STORE_PLACE);
        break;
    case GATE_QUEUE:
        note_intent(gate, act, now, STORE_QUEUE);
        break;
    case GATE_STOP:
        note_intent(gate, act, now, STORE_STOP);
        break;
    case GATE_CANCEL: /* whatever was asked for before is overtaken */
        close_task(gate, act->task, true, now, STORE_OBSOLETE);
        drop_proposals(gate, act->task, 0);
        break;
    case GATE_ADMIT:
    case GATE_RETIRE:
    case GATE_FORGET:
    case GATE_LIST_ENGINE:
    case GATE_LIST_CLOUD:
        break;
    }
}

static bool needs_leave(const struct gate_act *act)
{
    switch (act->kind) {
    case GATE_RENT:
    case GATE_PLACE:
    case GATE_QUEUE:
    case GATE_STOP:
    case GATE_RETIRE:
        return true;
    case GATE_GIVE_BACK: /* it was retired with leave */
    case GATE_ADMIT:
    case GATE_FORGET:
    case GATE_CANCEL:
    case GATE_LIST_ENGINE:
    case GATE_LIST_CLOUD:
        break;
    }
    return false;
}

static bool rents(const struct gate_act *act, uint64_t instance)
{
    return act->kind == GATE_RENT && instance >= act->instance &&
           instance - act->instance < act->count;
}

static void add_proposal(struct gate *gate, const struct gate_act *act, msec_t now)
{
    MEM_ROOM(gate->proposals, gate->proposals_room, gate->proposal_count + 1);
    gate->proposals[gate->proposal_count++] =
        (struct gate_proposal){ .id = gate->next_proposal++, .at = now, .act = *act };
}

/* Take the machine out of the rents that wait for leave; false: it is in none. */
static bool unpropose(struct gate *gate, uint64_t instance, msec_t now)
{
    uint32_t i = 0;

    while (i < gate->proposal_count && !rents(&gate->proposals[i].act, instance))
        i++;
    if (i == gate->proposal_count)
        return false;

    struct gate_act *act = &gate->proposals[i].act;
    struct gate_act after = *act;

    act->count = (uint32_t)(instance - act->instance);
    after.count -= act->count + 1;
    after.instance = instance + 1;
    if (act->count == 0 && after.count > 0) {
        *act = after;
    } else if (after.count > 0) {
        add_proposal(gate, &after, now);
    } else if (act->count == 0) {
        gate->proposal_count--;
        memmove(&gate->proposals[i], &gate->proposals[i + 1],
                (gate->proposal_count - i) * sizeof(*gate->proposals));
    }
    return true;
}

static void propose(struct gate *gate, const struct gate_act *act, msec_t now)
{
    if (act->kind == GATE_RETIRE && unpropose(gate, act->instance, now)) {
        gate->config.on_cloud(gate->config.context, &(struct cloud_event){
                                                        .kind = CLOUD_GONE,
                                                        .at = now,
                                                        .instance = act->instance,
                                                        .billed_from = -1,
                                                    });
        return; /* nobody was asked for it */
    }
    for (uint32_t i = 0; i < gate->proposal_count; i++) {
        struct gate_act *old = &gate->proposals[i].act;

        /* The controller has thought again, or asks again: the new wish takes the old one's place. */
        if ((act->task != 0 && old->task == act->task) ||
            (act->kind == GATE_RETIRE && old->kind == GATE_RETIRE &&
             old->instance == act->instance)) {
            *old = *act;
            return;
        }
    }
    add_proposal(gate, act, now);
}

/*
 * Sense.
 */

static void tell_refused(struct gate *gate, const struct gate_act *act, msec_t now)
{
    for (uint32_t i = 0; i < act->count; i++)
        gate->config.on_cloud(gate->config.context, &(struct cloud_event){
                                                        .kind = CLOUD_REFUSED,
                                                        .at = now,
                                                        .instance = act->instance + i,
                                                        .offer = act->offer,
                                                    });
}

/* The controller hears of a refusal by the world, and thinks again. */
static void withhold(void *context, const struct gate_act *act, enum sense_verdict why, msec_t now)
{
    struct gate *gate = context;
    struct engine_event event = {
        .kind = ENGINE_TASK_LOST, .at = now, .task = act->task, .key = act->key
    };

    if (act->kind == GATE_RENT)
        tell_refused(gate, act, now);
    if (act->kind == GATE_STOP) {
        event.kind = ENGINE_TASK_KEPT;
        event.until = now + MSEC_PER_HOUR;
    }
    if (act->kind == GATE_STOP || act->kind == GATE_PLACE || act->kind == GATE_QUEUE)
        gate->config.on_engine(gate->config.context, &event);
    gate->config.on_withheld(gate->config.context, act, why);
}

/* The orders since the last event, by the facts of that time. */
static void judge_fresh(struct gate *gate, msec_t now)
{
    struct act_list *fresh = &gate->fresh;
    const uint32_t first = gate->fresh_judged;

    if (gate->config.sense != NULL && fresh->count > first)
        fresh->count = first + sense_sift(gate->config.sense, &fresh->acts[first],
                                          fresh->count - first, now, withhold, gate);
    gate->fresh_judged = fresh->count;
}

/* Forget the rent. */
static void withdraw(struct gate *gate, uint64_t instance)
{
    if (gate->config.sense != NULL)
        sense_never(gate->config.sense, instance);
    gate->config.on_withdrawn(gate->config.context, instance);
}

/* Whether the task ended after this action of 'fresh' was asked for. */
static bool is_moot(const struct gate *gate, uint32_t index)
{
    const uint64_t task = gate->fresh.acts[index].task;
    const uint32_t before = task != 0 ? map_get(&gate->ended, task) : MAP_NONE;

    return before != MAP_NONE && index < before;
}

void gate_note(struct gate *gate, msec_t now)
{
    struct act_list *ready = &gate->ready;

    judge_fresh(gate, now);
    for (uint32_t i = 0; i < gate->fresh.count; i++) {
        const struct gate_act *act = &gate->fresh.acts[i];

        if (is_moot(gate, i))
            continue;
        if (gate->config.asks && i >= gate->fresh_approved && needs_leave(act)) {
            propose(gate, act, now);
            continue;
        }
        note_act(gate, act, now);
        MEM_ROOM(ready->acts, ready->room, ready->count + 1);
        ready->acts[ready->count++] = *act;
    }
    gate->fresh.count = 0;
    gate->fresh_approved = 0;
    gate->fresh_judged = 0;
    map_done(&gate->ended);
}

static void pass_act(const struct engine_port *engine, const struct cloud_port *cloud,
                     const struct gate_act *act)
{
    switch (act->kind) {
    case GATE_ADMIT:
        engine->ops->admit(engine->self, act->instance);
        break;
    case GATE_RETIRE:
        engine->ops->retire(engine->self, act->instance);
        break;
    case GATE_FORGET:
        engine->ops->forget(engine->self, act->instance);
        break;
    case GATE_CANCEL:
        engine->ops->cancel(engine->self, act->key, act->task);
        break;
    case GATE_PLACE:
        engine->ops->place(engine->self, act->key, act->task, act->instance);
        break;
    case GATE_QUEUE:
        engine->ops->queue(engine->self, act->key, act->task);
        break;
    case GATE_STOP:
        engine->ops->stop(engine->self, act->key, act->task);
        break;
    case GATE_LIST_ENGINE:
        engine->ops->list(engine->self, act->key);
        break;
    case GATE_RENT:
        cloud->ops->rent(cloud->self, act->instance, act->count, act->offer);
        break;
    case GATE_GIVE_BACK:
        cloud->ops->give_back(cloud->self, act->instance);
        break;
    case GATE_LIST_CLOUD:
        cloud->ops->list(cloud->self, act->key);
        break;
    }
}

/* Machines that wait for the operator's word are in no list of the cloud; they are not lost. */
static void tell_proposed(struct gate *gate)
{
    for (uint32_t i = 0; i < gate->proposal_count; i++) {
        const struct gate_act *act = &gate->proposals[i].act;

        for (uint32_t k = 0; act->kind == GATE_RENT && k < act->count; k++)
            gate->config.on_cloud(gate->config.context, &(struct cloud_event){
                                                            .kind = CLOUD_FOUND,
                                                            .at = gate->proposals[i].at,
                                                            .instance = act->instance + k,
                                                            .billed_from = -1,
                                                            .offer = act->offer,
                                                        });
    }
}

void gate_pass(struct gate *gate)
{
    for (uint32_t i = 0; i < gate->ready.count; i++) {
        pass_act(&gate->config.engine, &gate->config.cloud, &gate->ready.acts[i]);
        if (gate->ready.acts[i].kind == GATE_LIST_CLOUD)
            tell_proposed(gate);
    }
    gate->ready.count = 0;
}

/* An action that needs the journal is undone before it was done: as if nobody had wanted it. */
static void take_back(struct gate *gate, const struct gate_act *act, msec_t now)
{
    if (act->kind == GATE_PLACE || act->kind == GATE_QUEUE)
        gate->config.on_engine(gate->config.context, &(struct engine_event){
                                                         .kind = ENGINE_TASK_LOST,
                                                         .at = now,
                                                         .task = act->task,
                                                         .key = act->key,
                                                     });
    if (act->kind == GATE_STOP)
        close_key(gate, act->key, now, STORE_OBSOLETE); /* the next audit finds that it runs */
    for (uint32_t i = 0; act->kind == GATE_RENT && i < act->count; i++) {
        close_key(gate, act->instance + i, now, STORE_OBSOLETE);
        journal_instance_end(gate->config.journal, act->instance + i, now);
        withdraw(gate, act->instance + i);
    }
}

void gate_pass_unwritten(struct gate *gate, msec_t now)
{
    struct act_list ready = gate->ready;

    gate->ready = (struct act_list){ 0 };
    for (uint32_t i = 0; i < ready.count; i++) {
        const struct gate_act *act = &ready.acts[i];

        if (act->kind == GATE_RENT || act->kind == GATE_PLACE || act->kind == GATE_QUEUE ||
            act->kind == GATE_STOP)
            take_back(gate, act, now);
        else
            pass_act(&gate->config.engine, &gate->config.cloud, act);
        if (act->kind == GATE_LIST_CLOUD)
            tell_proposed(gate);
    }
    mem_free(ready.acts);
}

/*
 * Proposals.
 */

uint32_t gate_proposal_count(const struct gate *gate)
{
    return gate->proposal_count;
}

const struct gate_proposal *gate_proposal(const struct gate *gate, uint32_t index)
{
    assert(index < gate->proposal_count);
    return &gate->proposals[index];
}

const struct gate_proposal *gate_proposal_about(const struct gate *gate, uint64_t task,
                                                uint64_t instance)
{
    for (uint32_t i = 0; i < gate->proposal_count; i++) {
        const struct gate_act *act = &gate->proposals[i].act;

        if (rents(act, instance) || (act->task != 0 && act->task == task))
            return &gate->proposals[i];
    }
    return NULL;
}

/* Put an action before all that were not approved. */
static void collect_approved(struct gate *gate, const struct gate_act *act)
{
    struct act_list *fresh = &gate->fresh;

    MEM_ROOM(fresh->acts, fresh->room, fresh->count + 1);
    memmove(&fresh->acts[gate->fresh_approved + 1], &fresh->acts[gate->fresh_approved],
            (fresh->count - gate->fresh_approved) * sizeof(*fresh->acts));
    fresh->acts[gate->fresh_approved++] = *act;
    fresh->count++;
    gate->fresh_judged++;
}

uint32_t gate_approve(struct gate *gate, uint64_t id)
{
    uint32_t kept = 0;
    uint32_t done = 0;

    for (uint32_t i = 0; i < gate->proposal_count; i++) {
        if (id == 0 || gate->proposals[i].id == id) {
            collect_approved(gate, &gate->proposals[i].act);
            done++;
        } else {
            gate->proposals[kept++] = gate->proposals[i];
        }
    }
    gate->proposal_count = kept;
    return done;
}

void gate_ask(struct gate *gate, bool asks)
{
    gate->config.asks = asks;
    if (asks)
        return;
    gate_withdraw_rents(gate);
    (void)gate_approve(gate, 0);
}

void gate_withdraw_rents(struct gate *gate)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < gate->proposal_count; i++) {
        const struct gate_act *act = &gate->proposals[i].act;

        if (act->kind != GATE_RENT) {
            gate->proposals[kept++] = gate->proposals[i];
            continue;
        }
        for (uint32_t k = 0; k < act->count; k++)
            withdraw(gate, act->instance + k);
    }
    gate->proposal_count = kept;
}

/* What the controller hears of a rejection. False: it stays a proposal. */
static bool reject_one(struct gate *gate, const struct gate_act *act, msec_t now)
{
    struct engine_event event = {
        .kind = ENGINE_TASK_LOST, .at = now, .task = act->task, .key = act->key
    };

    switch (act->kind) {
    case GATE_RENT:
        tell_refused(gate, act, now);
        return true;
    case GATE_PLACE:
    case GATE_QUEUE:
        gate->config.on_engine(gate->config.context, &event);
        return true;
    case GATE_STOP: /* it goes on, and nobody is asked again for a while */
        event.kind = ENGINE_TASK_KEPT;
        event.until = now + MSEC_PER_HOUR;
        gate->config.on_engine(gate->config.context, &event);
        return true;
    case GATE_RETIRE: /* nothing is left there, and it is paid for until someone agrees */
        return false;
    case GATE_GIVE_BACK:
    case GATE_ADMIT:
    case GATE_FORGET:
    case GATE_CANCEL:
    case GATE_LIST_ENGINE:
    case GATE_LIST_CLOUD:
        break;
    }
    return true;
}

uint32_t gate_reject(struct gate *gate, uint64_t id, msec_t now)
{
    uint32_t kept = 0;
    uint32_t done = 0;

    for (uint32_t i = 0; i < gate->proposal_count; i++) {
        const struct gate_proposal *proposal = &gate->proposals[i];

        if ((id == 0 || proposal->id == id) && reject_one(gate, &proposal->act, now))
            done++;
        else
            gate->proposals[kept++] = *proposal;
    }
    gate->proposal_count = kept;
    return done;
}

/*
 * Events.
 */

/* Nothing more will be heard of what was asked of the task. */
static void task_is_over(struct gate *gate, uint64_t task, msec_t at, enum store_outcome outcome)
{
    close_task(gate, task, true, at, outcome);
    drop_proposals(gate, task, 0);
    if (gate->fresh.count > 0)
        map_put(&gate->ended, task, gate->fresh.count);
}

void gate_heard_engine(struct gate *gate, const struct engine_event *event)
{
    judge_fresh(gate, event->at);
    if (gate->config.sense != NULL)
        sense_heard_engine(gate->config.sense, event);
    switch (event->kind) {
    case ENGINE_TASK_STARTED:
        close_key(gate, event->key, event->at, STORE_DONE);
        break;
    case ENGINE_TASK_FOUND:
        close_task(gate, event->task, false, event->at, STORE_DONE);
        break;
    case ENGINE_TASK_STOPPED:
        close_key(gate, event->key, event->at, STORE_DONE);
        break;
    case ENGINE_TASK_KEPT:
        close_key(gate, event->key, event->at, STORE_REFUSED);
        break;
    case ENGINE_TASK_LOST:
        close_key(gate, event->key, event->at, STORE_LOST);
        break;
    case ENGINE_TASK_FINISHED:
        task_is_over(gate, event->task, event->at, STORE_DONE);
        break;
    case ENGINE_TASK_WITHDRAWN:
        task_is_over(gate, event->task, event->at, STORE_OBSOLETE);
        break;
    case ENGINE_JOB_WITHDRAWN:
        for (uint32_t i = 0; i < event->job.task_count; i++)
            task_is_over(gate, event->job.first_task_id + i, event->at, STORE_OBSOLETE);
        break;
    case ENGINE_LISTED:
        close_old(gate, false, event->at);
        break;
    case ENGINE_JOB_ARRIVED:
    case ENGINE_JOB_CHANGED:
    case ENGINE_NODE_READY:
    case ENGINE_NODE_LOST:
    case ENGINE_NODE_LEFT:
    case ENGINE_TASK_RATE:
        break;
    }
}

/* A machine of ours is there. If a previous run wanted it back, the controller must not use it. */
static void heard_found(struct gate *gate, const struct cloud_event *event)
{
    const uint32_t row = map_get(&gate->by_key, return_key(event->instance));

    close_key(gate, event->instance, event->at, STORE_DONE);
    if (row == MAP_NONE || !gate->open[row].is_old)
        return;
    gate->open[row].is_old = false;
    if (event->offer >= gate->config.catalogue->offer_count) {
        /* The catalogue has lost its offer, so the controller will not take it over. The return is
         * meant and written down: it goes out once more. */
        gate->config.cloud.ops->give_back(gate->config.cloud.self, event->instance);
        return;
    }
    gate->config.on_cloud(gate->config.context,
                          &(struct cloud_event){ .kind = CLOUD_NOTICE,
                                                 .at = event->at,
                                                 .instance = event->instance,
                                                 .billed_from = event->billed_from,
                                                 .offer = event->offer,
                                                 .may_stay = true });
}

void gate_heard_cloud(struct gate *gate, const struct cloud_event *event)
{
    judge_fresh(gate, event->at);
    if (gate->config.sense != NULL)
        sense_heard_cloud(gate->config.sense, event);
    switch (event->kind) {
    case CLOUD_RUNNING:
        close_key(gate, event->instance, event->at, STORE_DONE);
        break;
    case CLOUD_FOUND:
        heard_found(gate, event);
        break;
    case CLOUD_REFUSED:
        close_key(gate, event->instance, event->at, STORE_REFUSED);
        journal_instance_end(gate->config.journal, event->instance, event->at);
        journal_count(gate->config.journal, COUNT_REFUSED, 1);
        break;
    case CLOUD_GONE:
        close_key(gate, event->instance, event->at, STORE_LOST);
        close_key(gate, return_key(event->instance), event->at, STORE_DONE);
        drop_proposals(gate, 0, event->instance);
        if (event->billed_from < 0)
            journal_instance_end(gate->config.journal, event->instance, event->at);
        break;
    case CLOUD_LISTED:
        close_old(gate, true, event->at);
        break;
    case CLOUD_NOTICE:
    case CLOUD_OUTDATED:
        break;
    }
}
