/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines as nodes of Slurm. One that takes no work for a while, though nobody gave it back, is
 * lost; a while, because every node is silent for some seconds when slurmctld is restarted. While jobs
 * run there, that it is silent is not enough: Slurm would let them run on, and sets it down when it has
 * waited for long enough. Until then, and while it is drained, it is closed: what runs there goes on,
 * and nothing else begins.
 *
 * One that is to leave is drained, and reported as left when Slurm has nothing allocated there, ours or not:
 * a drained node gets nothing new, so that holds until it is resumed. One that the cloud has no more is
 * set down, so that Slurm puts what ran there back at once, and deleted; that is tried until Slurm has
 * forgotten it, and again if it comes back. A node that an earlier process drained to let it leave is
 * resumed when it is admitted.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"

enum {
    RETRY_MS = 1000,
    RETRY_DOUBLINGS = 5,
    SILENCE_MS = 25000, /* after so long slurmctld asks a dead node nothing any more */
    KEPT_MS = 3600000,  /* so long a node that is gone may come back and be known */
    NODE_NAME_SIZE = 96,
    NODES_PER_LINE = 256,
    DRAIN_RETRY_MS = 5000,
    JOIN_MS = 180000,         /* a machine that is to leave and has not joined by then will not */
    CODE_INVALID_NODE = 2018, /* ESLURM_INVALID_NODE_NAME */
};

/* A free row is like that of a node that is not there. */
static void free_node(struct slurm_engine *engine, struct slurm_node *node)
{
    (void)map_remove(&engine->by_instance, node->instance);
    *node = (struct slurm_node){
        .idle_since = MSEC_NEVER,
        .retry_at = MSEC_NEVER,
        .drain_at = MSEC_NEVER,
        .next_free = engine->node_free,
    };
    engine->node_free = (uint32_t)(node - engine->nodes);
}

/* Whether nobody will ask for it any more. */
static bool is_history(const struct slurm_engine *engine, const struct slurm_node *node)
{
    return node->instance != 0 && !node->is_there && !node->is_admitted && !node->is_told &&
           !node->is_drain_due && !node->is_dirty && node->running == 0 &&
           engine->now - node->left_at >= KEPT_MS;
}

static void wake_at(struct slurm_engine *engine, msec_t at)
{
    if (at < engine->nodes_wake)
        engine->nodes_wake = at;
}

static const char leaving_text[] = "stint: leaving";

static bool is_going(const struct slurm_node *node)
{
    return node->is_retired || node->is_leaving;
}

static bool takes_work(const struct slurm_node *node)
{
    return node->is_there && node->is_up && !node->is_drained && !is_going(node);
}

static void tell_node(struct slurm_engine *engine, enum engine_event_kind kind, uint64_t instance)
{
    slurm_engine_emit(
        engine, &(struct engine_event){ .kind = kind, .at = engine->now, .instance = instance });
}

static void mark_removal(struct slurm_engine *engine, struct slurm_node *node)
{
    node->retry_at = MSEC_NEVER;
    if (node->is_dirty || !node->is_there)
        return;
    node->is_dirty = true;
    slurm_rows_add(&engine->gone, (uint32_t)(node - engine->nodes));
}

/* After any change: tell it as ready, begin or end to count how long it takes no work. */
static void weigh(struct slurm_engine *engine, struct slurm_node *node)
{
    if (takes_work(node)) {
        node->idle_since = MSEC_NEVER;
        if (!node->is_told || node->is_closed) {
            node->is_told = true;
            node->is_closed = false;
            tell_node(engine, ENGINE_NODE_READY, node->instance);
        }
        return;
    }
    if (is_going(node)) {
        node->is_told = false;
        return;
    }
    if (node->idle_since == MSEC_NEVER)
        node->idle_since = engine->now;
    if (node->is_told)
        wake_at(engine,
                node->is_drained ? engine->now : node->idle_since + engine->config.node_lost_ms);
}

static void later(struct slurm_engine *engine, enum engine_event_kind kind, uint64_t instance)
{
    MEM_ROOM(engine->later, engine->later_room, engine->later_count + 1);
    engine->later[engine->later_count++] =
        (struct engine_event){ .kind = kind, .instance = instance };
}

/* It stays drained while it leaves. An operator may resume the next moment what was drained by hand. */
static bool is_held(const struct slurm_node *node)
{
    return node->is_drained && (node->is_our_drain || node->is_drain_done);
}

/* Whether it must be drained, or resumed. One that no look has shown may be there by now, and take work:
 * Slurm is asked to drain it too, and only when it does not know it nothing is there. */
static bool wants_drain(const struct slurm_node *node)
{
    return node->is_leaving && !node->is_retired && !is_held(node) && !node->is_absent;
}

static bool wants_resume(const struct slurm_node *node)
{
    return node->is_there && node->is_admitted && !is_going(node) && node->is_our_drain;
}

/* After any change: let Slurm start nothing more there, and tell when nothing is left. */
static void weigh_leaving(struct slurm_engine *engine, struct slurm_node *node)
{
    /* One that only joins, or is down, may be up the next moment, and something started there. */
    const bool is_empty = node->is_absent || (is_held(node) && !node->is_busy);

    if (node->is_leaving && !node->is_retired && !node->is_left_told && is_empty) {
        node->is_left_told = true;
        later(engine, ENGINE_NODE_LEFT, node->instance);
    }
    if ((!wants_drain(node) && !wants_resume(node)) || node->is_drain_due || node->is_drain_sent ||
        node->drain_at != MSEC_NEVER)
        return;
    node->is_drain_due = true;
    slurm_rows_add(&engine->drains, (uint32_t)(node - engine->nodes));
}

/* Slurm saves power there, and wakes it up as soon as a job is placed; of what is rented, that is nobody's wish. */
static bool is_saving(const char *state)
{
    return strcmp(state, "asleep") == 0 || strcmp(state, "waking") == 0;
}

void slurm_nodes_on_node(struct slurm_engine *engine, const struct line *line)
{
    const char *name = line_get(line, "name");
    const char *state = line_get(line, "state");
    const char *drain = line_get(line, "drain");
    const char *busy = line_get(line, "busy");
    const char *reason = line_get(line, "reason");
    const uint64_t instance =
        name == NULL || state == NULL ? 0 : slurm_node_instance(engine, name, strlen(name));

    if (instance == 0)
        return; /* not managed by Stint */
    struct slurm_node *node = slurm_node_get(engine, instance);

    const bool is_up =
        strcmp(state, "up") == 0 || (slurm_node_is_owned(instance) && is_saving(state));

    if (!node->is_there) {
        engine->stats.nodes++;
        node->drain_at = MSEC_NEVER; /* if it was refused before, ask again at once */
    }
    node->is_there = true;
    node->is_absent = false;
    if (node->is_up && !is_up)
        node->idle_since = MSEC_NEVER; /* it is not only drained any more: count again */
    node->is_up = is_up;
    node->is_silent = strcmp(state, "silent") == 0;
    node->is_drained = drain != NULL && strcmp(drain, "1") == 0;
    node->is_drain_done = node->is_drain_done && node->is_drained;
    node->is_busy = busy != NULL && strcmp(busy, "1") == 0;
    node->is_our_drain = node->is_drained && reason != NULL &&
                         strncmp(reason, leaving_text, strlen(leaving_text)) == 0;
    node->seen = engine->round;
    if (node->is_retired && !node->is_removing && node->retry_at == MSEC_NEVER)
        mark_removal(engine, node); /* it came after it was returned */
    weigh(engine, node);
    weigh_leaving(engine, node);
}

static void forget_node(struct slurm_engine *engine, struct slurm_node *node)
{
    if (!node->is_there)
        return;
    engine->stats.nodes--;
    node->is_there = false;
    node->is_absent = true;
    node->left_at = engine->now;
    node->is_up = false;
    node->is_silent = false;
    node->is_busy = false;
    node->is_our_drain = false;
    node->is_removing = false;
    node->tries = 0;
    node->retry_at = MSEC_NEVER;
    weigh(engine, node);
    weigh_leaving(engine, node);
}

void slurm_nodes_on_gone(struct slurm_engine *engine, const struct line *line)
{
    const char *name = line_get(line, "name");
    const uint64_t instance = name == NULL ? 0 : slurm_node_instance(engine, name, strlen(name));
    const uint32_t row = instance == 0 ? MAP_NONE : map_get(&engine->by_instance, instance);

    if (row != MAP_NONE)
        forget_node(engine, &engine->nodes[row]);
}

void slurm_nodes_on_admit(void *self, uint64_t instance)
{
    struct slurm_engine *engine = self;
    struct slurm_node *node = slurm_node_get(engine, instance);

    node->is_admitted = true;
    node->is_retired = false;
    node->is_leaving = false;
    if (takes_work(node))
        later(engine, ENGINE_NODE_READY, instance);
    weigh_leaving(engine, node);
}

void slurm_nodes_on_retire(void *self, uint64_t instance)
{
    struct slurm_engine *engine = self;

    if (slurm_node_is_owned(instance))
        return; /* nobody asks for that, and nothing must come of it */

    struct slurm_node *node = slurm_node_get(engine, instance);

    if (!node->is_leaving)
        node->leaving_at = engine->now;
    node->is_leaving = true;
    node->is_drain_done = false;
    node->is_left_told = false;
    node->is_absent = false;
    node->is_told = false;
    node->is_closed = false;
    node->idle_since = MSEC_NEVER;
    weigh_leaving(engine, node);
}

void slurm_nodes_on_forget(void *self, uint64_t instance)
{
    struct slurm_engine *engine = self;

    if (slurm_node_is_owned(instance))
        return;

    struct slurm_node *node = slurm_node_get(engine, instance);

    node->is_admitted = false;
    node->is_leaving = false;
    node->is_retired = true;
    node->is_told = false;
    node->is_dead = node->running > 0;
    node->idle_since = MSEC_NEVER;
    node->left_at = engine->now;
    mark_removal(engine, node);
}

/* Those that are not down yet, in few requests. */
static void send_downs(struct slurm_engine *engine)
{
    const struct slurm_rows *gone = &engine->gone;
    struct line_text list = { .text = NULL };
    char name[NODE_NAME_SIZE];
    uint32_t listed = 0;

    for (uint32_t i = 0; i < gone->count; i++) {
        const struct slurm_node *node = &engine->nodes[gone->row[i]];

        if (node->tries == 0 || node->is_up) {
            const int length = slurm_engine_node_name(engine, node->instance, name, sizeof(name));

            if (listed++ > 0)
                line_text_append(&list, ",", 1);
            line_text_append(&list, name, (uint32_t)length);
        }
        if (listed == 0 || (listed < NODES_PER_LINE && i + 1 < gone->count))
            continue;
        line_text_append(&list, "", 1);
        (void)slurm_ask_begin(engine, "down");
        line_text_string(&engine->out, "nodes", list.text);
        line_text_string(&engine->out, "text", "stint: returned");
        slurm_ask_end(engine, ASK_DOWN, 0);
        line_text_reset(&list);
        listed = 0;
    }
    line_text_done(&list);
}

/* One request each: a node that Slurm does not know any more would keep the others. */
static void send_drains(struct slurm_engine *engine)
{
    char name[NODE_NAME_SIZE];

    for (uint32_t i = 0; i < engine->drains.count; i++) {
        struct slurm_node *node = &engine->nodes[engine->drains.row[i]];
        const bool drains = wants_drain(node);

        if (!node->is_drain_due)
            continue; /* the row was used again */
        node->is_drain_due = false;
        if (!drains && !wants_resume(node))
            continue;
        node->is_drain_sent = true;
        if (!drains)
            node->is_drained =
                false; /* from now on work may begin there, whatever the last look said */
        (void)slurm_engine_node_name(engine, node->instance, name, sizeof(name));
        (void)slurm_ask_begin(engine, drains ? "drain" : "resume");
        line_text_string(&engine->out, "nodes", name);
        if (drains)
            line_text_string(&engine->out, "text", leaving_text);
        slurm_ask_end(engine, drains ? ASK_DRAIN : ASK_RESUME, node->instance);
    }
    engine->drains.count = 0;
}

/* All that go are set down together, and deleted one by one: one that cannot be deleted yet would
 * keep the others. */
void slurm_nodes_send(struct slurm_engine *engine)
{
    struct slurm_rows *gone = &engine->gone;
    char name[NODE_NAME_SIZE];

    send_drains(engine);
    send_downs(engine);
    for (uint32_t i = 0; i < gone->count; i++) {
        struct slurm_node *node = &engine->nodes[gone->row[i]];

        node->is_dirty = false;
        if (node->is_dead && node->tries == 0) {
            /* It died with work on it, and slurmctld tries to reach it still; 22.05.8 crashes if it
             * is deleted meanwhile. Down is enough for its jobs. */
            node->tries = 1;
            node->retry_at = engine->now + SILENCE_MS;
            wake_at(engine, node->retry_at);
            continue;
        }
        node->is_removing = true;
        (void)slurm_engine_node_name(engine, node->instance, name, sizeof(name));
        (void)slurm_ask_begin(engine, "delete");
        line_text_string(&engine->out, "nodes", name);
        slurm_ask_end(engine, ASK_DELETE, node->instance);
    }
    gone->count = 0;
}

/* If it is not as it should be by then, it is asked again. */
static void drain_again(struct slurm_engine *engine, struct slurm_node *node)
{
    node->is_drain_sent = false;
    node->drain_at = engine->now + DRAIN_RETRY_MS;
    wake_at(engine, node->drain_at);
}

/* Slurm has taken it; the next look shows what came of it. */
void slurm_nodes_done(struct slurm_engine *engine, const struct slurm_ask *ask)
{
    const uint32_t row = map_get(&engine->by_instance, ask->subject);

    if ((ask->kind != ASK_DRAIN && ask->kind != ASK_RESUME) || row == MAP_NONE)
        return;
    engine->nodes[row].is_drain_done = ask->kind == ASK_DRAIN;
    drain_again(engine, &engine->nodes[row]);
}

/* A node that Slurm does not know yet may join before the cloud has ended its machine, and Slurm would start a job
 * there that may start anywhere. While there is such a job, a machine that boots is kept until it has joined and is
 * drained. */
static bool is_awaited(const struct slurm_engine *engine, const struct slurm_node *node)
{
    return engine->now - node->leaving_at < JOIN_MS && slurm_places_any_is_free(engine);
}

/* It is busy still, or not there at all. */
void slurm_nodes_refused(struct slurm_engine *engine, const struct slurm_ask *ask, uint64_t code)
{
    const uint32_t row = map_get(&engine->by_instance, ask->subject);

    if (ask->kind == ASK_DOWN || row == MAP_NONE)
        return;
    struct slurm_node *node = &engine->nodes[row];

    if (ask->kind != ASK_DELETE) {
        drain_again(engine, node);
        if (code == CODE_INVALID_NODE && !node->is_there && !is_awaited(engine, node)) {
            node->is_absent = true;
            weigh_leaving(engine, node);
        }
        return;
    }
    if (code == CODE_INVALID_NODE) {
        forget_node(engine, node);
        return;
    }
    const uint32_t doublings = node->tries < RETRY_DOUBLINGS ? node->tries : RETRY_DOUBLINGS;

    node->tries++;
    node->is_removing = false;
    node->retry_at = engine->now + ((msec_t)RETRY_MS << doublings);
    wake_at(engine, node->retry_at);
}

void slurm_nodes_reset(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->node_count; i++) {
        struct slurm_node *node = &engine->nodes[i];

        if (node->idle_since == MSEC_NEVER)
            continue;
        node->idle_since = engine->now;
        wake_at(engine, engine->now + engine->config.node_lost_ms);
    }
}

/* What runs on a machine that was only drained runs on there. */
static bool is_lost(const struct slurm_engine *engine, const struct slurm_node *node)
{
    const msec_t patience = node->is_silent && node->running > 0 ? engine->silence_ms : 0;

    return node->is_told && node->idle_since != MSEC_NEVER &&
           engine->now >= node->idle_since + engine->config.node_lost_ms &&
           engine->now >= node->idle_since + patience && (!node->is_up || node->running == 0);
}

/* Whether what runs there goes on, and nothing else begins. */
static bool is_closing(const struct slurm_engine *engine, const struct slurm_node *node)
{
    if (!node->is_there || is_going(node) || node->running == 0)
        return false;
    return node->is_up
               ? node->is_drained
               : node->is_silent && engine->now >= node->idle_since + engine->config.node_lost_ms;
}

static void tell_closed(struct slurm_engine *engine, struct slurm_node *node)
{
    node->is_closed = true;
    slurm_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_NODE_LOST,
                                                      .at = engine->now,
                                                      .instance = node->instance,
                                                      .runs_on = true });
}

static void tick_node(struct slurm_engine *engine, struct slurm_node *node)
{
    if (node->retry_at <= engine->now)
        mark_removal(engine, node);
    else
        wake_at(engine, node->retry_at);
    if (node->drain_at <= engine->now) {
        node->drain_at = MSEC_NEVER;
        weigh_leaving(engine, node);
    } else {
        wake_at(engine, node->drain_at);
    }
    if (!node->is_told || node->idle_since == MSEC_NEVER || engine->is_lost)
        return;
    if (is_lost(engine, node)) {
        node->is_told = false;
        node->is_closed = false;
        tell_node(engine, ENGINE_NODE_LOST, node->instance);
    } else {
        if (!node->is_closed && is_closing(engine, node))
            tell_closed(engine, node);

        const msec_t due = node->idle_since + engine->config.node_lost_ms;

        wake_at(engine, due > engine->now ? due : engine->now + RETRY_MS);
    }
}

void slurm_nodes_tick(struct slurm_engine *engine)
{
    if (engine->now < engine->nodes_wake)
        return;
    engine->nodes_wake = MSEC_NEVER;
    for (uint32_t i = 0; i < engine->node_count; i++)
        tick_node(engine, &engine->nodes[i]);
}

void slurm_nodes_end_list(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->node_count; i++) {
        if (engine->nodes[i].seen != engine->round)
            forget_node(engine, &engine->nodes[i]);
        if (is_history(engine, &engine->nodes[i]))
            free_node(engine, &engine->nodes[i]);
    }
}

void slurm_nodes_tell(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->node_count; i++) {
        if (takes_work(&engine->nodes[i]))
            tell_node(engine, ENGINE_NODE_READY, engine->nodes[i].instance);
    }
}

void slurm_nodes_tell_closed(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->node_count; i++) {
        if (is_closing(engine, &engine->nodes[i]))
            tell_closed(engine, &engine->nodes[i]);
    }
}

void slurm_engine_each_stray(const struct slurm_engine *engine,
                             void (*each)(void *context, uint64_t instance, bool is_up),
                             void *context)
{
    for (uint32_t i = 0; i < engine->node_count; i++) {
        const struct slurm_node *node = &engine->nodes[i];

        if (node->is_there && !node->is_admitted && !is_going(node))
            each(context, node->instance, node->is_up);
    }
}

static bool offers_gpu(const struct slurm_engine *engine)
{
    const struct catalogue *catalogue = engine->config.catalogue;

    for (uint32_t i = 0; catalogue != NULL && i < catalogue->type_count; i++) {
        if (catalogue->types[i].capacity.amount[RES_ACCEL] > 0)
            return true;
    }
    return false;
}

void slurm_engine_check_conf(const struct slurm_engine *engine, const struct finding_sink *to)
{
    slurm_conf_check(&engine->facts, offers_gpu(engine), engine->config.observes, to);
}
