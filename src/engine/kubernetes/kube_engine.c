/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_engine_private.h"
#include "model/catalogue.h"
#include "model/offer_set.h"

enum {
    KUBE_TEXT = 512,
    LOOK_MS = 1000, /* how often what was placed, and nodes that leave, are looked at */
    ROOM_MS = 2000,
    LEAVE_MS = 45000,   /* a placement waits at most so long for pods that are to leave its node */
    YIELD_S = 2,        /* what a pod that yields to a service has to end */
    VANISHED_MS = 3000, /* a pod whose node is gone before it is bound is given up after it */
    /* Controllers create pods one after the other. Those that come together are decided together, on fewer and cheaper
     * machines: when none has come for a moment, or at the latest. Karpenter waits as long by default. Where controllers are slow the moment
     * is twice the longest time that lately passed between two pods of one. */
    QUIET_MS = 1000,
    QUIET_SLOW_MS = 5000, /* no longer, however slow */
    QUIET_MOST_MS = 10000,
};

/*
 * Nodes.
 */

static void tell_ready(struct kube_engine *engine, struct kube_node *node)
{
    node->is_told = true;
    node->told = kube_engine_room(node);
    kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                     .instance = node->instance,
                                                     .has_capacity = true,
                                                     .capacity = node->told });
}

static void on_node_gone(struct kube_engine *engine, struct kube_node *node)
{
    const uint64_t instance = node->instance;
    const bool is_told = node->is_told;
    const bool is_leaving = node->is_leaving;

    kube_services_node_gone(engine, instance);
    kube_engine_node_drop(engine, node);
    if (is_leaving)
        kube_engine_emit(engine,
                         &(struct engine_event){ .kind = ENGINE_NODE_LEFT, .instance = instance });
    else if (is_told)
        kube_engine_emit(engine,
                         &(struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = instance });
}

/* How many pods it takes, where it says so. */
static uint32_t most_of(const struct line *line)
{
    const int64_t pods = kube_engine_amount(line, "pods");

    return line_get(line, "pods") != NULL && pods < UINT32_MAX ? (uint32_t)pods : UINT32_MAX;
}

static bool take_node(struct kube_engine *engine, const struct line *line)
{
    const uint64_t instance = kube_engine_instance_of(engine, line_get(line, "slot"));
    const char *state = line_get(line, "state");
    const char *name = line_get(line, "name");
    struct kube_node *node;

    if (state == NULL || name == NULL)
        return false;
    if (instance == 0)
        return true;
    if (strcmp(state, "gone") == 0) {
        node = kube_engine_node_find(engine, instance);
        if (node != NULL)
            on_node_gone(engine, node);
        return true;
    }
    node = kube_engine_node_get(engine, instance);
    if (node->name == NULL)
        node->name = kube_engine_copy(name);
    node->is_there = true;
    node->is_seen = true;
    node->is_up = strcmp(state, "up") == 0;
    node->capacity = (struct res){ .amount = { [RES_CPU] = kube_engine_amount(line, "cpu"),
                                               [RES_MEM] = kube_engine_amount(line, "mem"),
                                               [RES_ACCEL] = kube_engine_amount(line, "accel") } };
    node->most = most_of(line);
    node->capacity.amount[RES_PODS] = node->most;
    kube_engine_tell_room(engine, node);
    if (node->is_up && node->is_admitted && !node->is_told && !node->is_leaving) {
        tell_ready(engine, node);
    } else if (!node->is_up && node->is_told && !node->is_leaving) {
        node->is_told = false;
        kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_NODE_LOST,
                                                         .instance = instance,
                                                         .runs_on = true });
    }
    return true;
}

/*
 * What pods of DaemonSets will take of machines that are not there yet.
 */

/* Of one DaemonSet: a type counts if one of its offers meets what the pods need. */
static bool take_overhead(struct kube_engine *engine, const struct line *line)
{
    const struct catalogue *catalogue = engine->config.catalogue;
    const char *needs = line_get(line, "needs");
    const struct res takes = kube_engine_asks_of(line);
    uint32_t last = UINT32_MAX;

    if (needs != NULL && !offer_text_is_valid(needs))
        return false;
    if (engine->telling == NULL)
        engine->telling = mem_alloc(catalogue->type_count, sizeof(*engine->telling));
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const uint32_t type = catalogue->offers[i].type;

        /* The offers of a type follow each other. */
        if (type == last || (needs != NULL && !offer_text_has(needs, catalogue, i)))
            continue;
        last = type;
        res_add(&engine->telling[type], &takes);
    }
    return true;
}

/* That was all of them. */
static bool take_overheads(struct kube_engine *engine, const struct line *line)
{
    const uint32_t count = engine->config.catalogue->type_count;
    struct res *now = engine->telling;
    bool is_new = engine->taken == NULL;

    (void)line;
    engine->telling = NULL;
    if (now == NULL)
        now = mem_alloc(count, sizeof(*now));
    for (uint32_t i = 0; i < count && !is_new; i++)
        is_new = memcmp(&now[i], &engine->taken[i], sizeof(*now)) != 0;
    mem_free(engine->taken);
    engine->taken = now;
    if (is_new && engine->config.on_taken != NULL)
        engine->config.on_taken(engine->config.context, now);
    return true;
}

/*
 * The port.
 */

static void on_admit(void *self, uint64_t instance)
{
    struct kube_engine *engine = self;
    struct kube_node *node = kube_engine_node_get(engine, instance);

    node->is_admitted = true;
    node->is_leaving = false;
    node->is_told = false;
    if (!node->is_up)
        return;
    node->is_told = true;
    node->told = kube_engine_room(node);
    kube_engine_emit_later(engine, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                           .instance = instance,
                                                           .has_capacity = true,
                                                           .capacity = node->told });
}

static void on_retire(void *self, uint64_t instance)
{
    struct kube_engine *engine = self;
    struct kube_node *node = kube_engine_node_find(engine, instance);

    if (node != NULL && node->is_there) {
        node->is_leaving = true;
        node->room_at = 0;
        return;
    }
    if (node != NULL)
        kube_engine_node_drop(engine, node);
    kube_engine_emit_later(
        engine, &(struct engine_event){ .kind = ENGINE_NODE_LEFT, .instance = instance });
}

/* Its pods are no more, whatever the API server thinks; what is asked of them is answered when it knows. */
static void on_forget(void *self, uint64_t instance)
{
    struct kube_engine *engine = self;
    struct kube_node *node = kube_engine_node_find(engine, instance);

    kube_services_node_gone(engine, instance);
    for (uint32_t i = 0; node != NULL && node->pods > 0 && i < engine->pod_count; i++) {
        if (engine->pods[i].is_used && engine->pods[i].instance == instance)
            kube_engine_ask(engine, &engine->pods[i], ASK_DELETE);
    }
    if (node != NULL)
        kube_engine_node_drop(engine, node);
}

/* The gates of a gang are opened when all its pods are placed. */
static void place_whole(struct kube_engine *engine, const struct kube_job *job)
{
    for (uint32_t i = 0; i < job->size; i++) {
        const struct kube_pod *pod = job->pods[i] != ROW_NONE ? &engine->pods[job->pods[i]] : NULL;

        if (pod != NULL && pod->state == POD_WAITING && pod->key == 0)
            return;
    }
    for (uint32_t i = 0; i < job->size; i++) {
        struct kube_pod *pod = job->pods[i] != ROW_NONE ? &engine->pods[job->pods[i]] : NULL;

        if (pod != NULL && pod->is_held) {
            pod->is_held = false;
            kube_engine_ask(engine, pod, ASK_PLACE);
        }
    }
}

static void on_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    struct kube_engine *engine = self;
    struct kube_pod *pod = kube_engine_pod_of_task(engine, task);
    const struct kube_node *node = kube_engine_node_find(engine, instance);

    if (kube_services_place(engine, task, key, instance))
        return;
    if (pod == NULL) {
        kube_engine_emit_later(
            engine, &(struct engine_event){ .kind = ENGINE_TASK_LOST, .task = task, .key = key });
        return;
    }
    if (pod->state == POD_RUNNING) {
        pod->key = key;
        pod->wanted = pod->instance;
        kube_engine_emit_later(engine, &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                                               .task = task,
                                                               .instance = pod->instance,
                                                               .key = key,
                                                               .started_at = pod->started_at });
        return;
    }
    if (pod->state == POD_WAITING && pod->counted != instance && node != NULL &&
        kube_engine_is_full(node)) {
        kube_engine_emit_later(
            engine, &(struct engine_event){
                        .kind = ENGINE_TASK_LOST, .task = task, .key = key, .is_faultless = true });
        return;
    }
    pod->key = key;
    pod->stop_key = 0;
    pod->wanted = instance;
    kube_engine_recount(engine, pod);
    if (pod->state != POD_WAITING) {
        kube_engine_ask(engine, pod, ASK_DELETE);
        return;
    }
    if (engine->jobs[pod->job].seats != NULL) {
        kube_engine_ask(engine, pod, ASK_PLACE);
        return;
    }
    pod->is_held = true;
    place_whole(engine, &engine->jobs[pod->job]);
}

/* Once the gate may be open, only a pod that is deleted does not start. */
static void on_cancel(void *self, uint64_t key, uint64_t task)
{
    struct kube_engine *engine = self;
    struct kube_pod *pod = kube_engine_pod_of_task(engine, task);

    if (pod != NULL && pod->state == POD_RUNNING) {
        kube_engine_emit_later(engine, &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                                               .task = task,
                                                               .instance = pod->instance,
                                                               .key = pod->key,
                                                               .started_at = pod->started_at });
    } else if (pod == NULL || pod->key == 0 || pod->is_held || (pod->asks & ASK_PLACE) != 0) {
        kube_services_cancel(engine, task);
        if (pod != NULL) {
            pod->asks = 0;
            pod->key = 0;
            pod->is_held = false;
            kube_engine_recount(engine, pod);
        }
        kube_engine_emit_later(engine, &(struct engine_event){
                                           .kind = ENGINE_TASK_STOPPED, .task = task, .key = key });
    } else {
        pod->stop_key = key;
        kube_engine_ask(engine, pod, ASK_DELETE);
    }
}

static void on_stop(void *self, uint64_t key, uint64_t task)
{
    struct kube_engine *engine = self;
    struct kube_pod *pod = kube_engine_pod_of_task(engine, task);

    if (pod == NULL || pod->state != POD_RUNNING) {
        on_cancel(self, key, task);
        return;
    }
    pod->stop_key = key;
    kube_services_move(engine, pod);
    kube_engine_ask(engine, pod, ASK_EVICT);
}

static void on_list(void *self, uint64_t key)
{
    struct kube_engine *engine = self;

    MEM_ROOM(engine->lists, engine->lists_room, engine->list_count + 1);
    engine->lists[engine->list_count++] = key;
}

struct engine_port kube_engine_port(struct kube_engine *engine)
{
    static const struct engine_ops ops = {
        .admit = on_admit,
        .retire = on_retire,
        .forget = on_forget,
        .place = on_place,
        .cancel = on_cancel,
        .stop = on_stop,
        .list = on_list,
    };

    return (struct engine_port){ .ops = &ops, .self = engine };
}

/*
 * Requests.
 */

static uint64_t request_new(struct kube_engine *engine, enum kube_ask kind, uint64_t subject)
{
    const uint64_t key = ++engine->next_request;

    MEM_ROOM(engine->requests, engine->requests_room, engine->request_count + 1);
    engine->requests[engine->request_count] =
        (struct kube_asked){ .subject = subject, .kind = kind };
    map_put(&engine->open, key, engine->request_count++);
    engine->open_count++;
    return key;
}

/* What an event on the pod says to people; "": nothing. */
static void print_event(const struct kube_engine *engine, const struct kube_pod *pod,
                        enum kube_ask kind, char *buf, size_t size)
{
    const long waited_s = (long)((engine->now - pod->met_at) / MSEC_PER_SEC);
    char machine[KUBE_TEXT] = "";

    buf[0] = '\0';
    if (kind == ASK_RELEASE && pod->why != NULL) {
        (void)snprintf(buf, size, "Stint leaves this pod to kube-scheduler: %s", pod->why);
    } else if (kind == ASK_NOTE) {
        kube_notes_text(engine, pod, buf, size);
    } else if (kind == ASK_PLACE && pod->is_noted) {
        if (engine->config.describe != NULL)
            (void)engine->config.describe(engine->config.context, pod->wanted, machine,
                                          sizeof(machine));
        (void)snprintf(buf, size, "After %ld s Stint placed it on %s%" PRIu64 "%s%s", waited_s,
                       engine->prefix, pod->wanted, machine[0] != '\0' ? ": " : "", machine);
    }
}

static void send_pod(struct kube_engine *engine, const struct kube_pod *pod, enum kube_ask kind,
                     const char *word)
{
    struct line_text *out = &engine->out;
    char text[2 * KUBE_TEXT];
    char slot[96];

    line_text_begin(out, word);
    line_text_number(out, "key", request_new(engine, kind, kube_engine_hash_of(pod->uid)));
    line_text_string(out, "space", pod->space);
    line_text_string(out, "name", pod->name);
    line_text_string(out, "uid", pod->uid);
    if (kind == ASK_PLACE) {
        (void)snprintf(slot, sizeof(slot), "%s%" PRIu64, engine->prefix, pod->wanted);
        line_text_string(out, "slot", slot);
    }
    if (kind == ASK_EVICT && pod->job != ROW_NONE && engine->jobs[pod->job].spec.yields)
        line_text_number(out, "grace", YIELD_S);
    print_event(engine, pod, kind, text, sizeof(text));
    line_text_prose(out, "text", text[0] != '\0' ? text : NULL);
    line_text_end(out);
}

static void send_asks(struct kube_engine *engine, struct kube_pod *pod)
{
    static const struct {
        enum kube_ask kind;
        const char *word;
    } words[] = { { ASK_RELEASE, "release" },
                  { ASK_PLACE, "place" },
                  { ASK_EVICT, "evict" },
                  { ASK_DELETE, "delete" },
                  { ASK_NOTE, "note" } };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if ((pod->asks & words[i].kind) != 0)
            send_pod(engine, pod, words[i].kind, words[i].word);
    }
    pod->asks = 0;
}

/* The node that the pod is to be placed on, if it counts there; else NULL. */
static struct kube_node *node_ahead(struct kube_engine *engine, const struct kube_pod *pod)
{
    if (!pod->is_used || (pod->asks & ASK_PLACE) == 0 || pod->counted != pod->wanted)
        return NULL;
    return kube_engine_node_find(engine, pod->wanted);
}

/* Whether pods that were asked to leave its node take the room still. The scheduler would try in vain, and wait longer after
 * each time. */
static bool waits_for_room(struct kube_engine *engine, struct kube_pod *pod)
{
    struct kube_node *node = node_ahead(engine, pod);
    struct res need;

    if (node == NULL)
        return false;
    need = node->used;
    res_sub(&need, &node->ahead);
    res_add(&need, &pod->takes);
    if (pod->crowded_at == 0)
        pod->crowded_at = engine->now;
    if (!res_fits(&need, &node->capacity) && engine->now - pod->crowded_at < LEAVE_MS)
        return true;
    pod->crowded_at = 0;
    res_sub(&node->ahead, &pod->takes);
    return false;
}

static void send_dirty(struct kube_engine *engine)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < engine->dirty_count; i++) {
        const struct kube_pod *pod = &engine->pods[engine->dirty[i]];
        struct kube_node *node = node_ahead(engine, pod);

        if (node != NULL)
            res_add(&node->ahead, &pod->takes);
    }
    for (uint32_t i = 0; i < engine->dirty_count; i++) {
        struct kube_pod *pod = &engine->pods[engine->dirty[i]];

        if (waits_for_room(engine, pod)) {
            engine->dirty[kept++] = engine->dirty[i];
            continue;
        }
        pod->is_dirty = false;
        if (pod->is_used)
            send_asks(engine, pod);
    }
    engine->dirty_count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        struct kube_node *node = node_ahead(engine, &engine->pods[engine->dirty[i]]);

        if (node != NULL)
            node->ahead = (struct res){ 0 };
    }
}

void kube_engine_flush(struct kube_engine *engine, msec_t now)
{
    engine->now = now;
    if (!kube_engine_is_up(engine))
        return;
    kube_services_pace(engine);
    send_dirty(engine);
    if (engine->out.size > 0)
        engine->config.on_send(engine->config.context, engine->out.text, engine->out.size);
    line_text_reset(&engine->out);
}

static void ask_room(struct kube_engine *engine, struct kube_node *node)
{
    line_text_begin(&engine->out, "room");
    line_text_number(&engine->out, "key", request_new(engine, ASK_ROOM, node->instance));
    line_text_string(&engine->out, "name", node->name);
    line_text_end(&engine->out);
    node->is_asked = true;
}

/* What was asked under the key; false: nothing was. */
static bool request_close(struct kube_engine *engine, const struct line *line,
                          struct kube_asked *ret)
{
    const char *text = line_get(line, "key");
    uint64_t key = 0;
    uint32_t row;

    if (text == NULL || line_number(text, UINT64_MAX, &key) < 0)
        return false;
    row = map_get(&engine->open, key);
    if (row == MAP_NONE)
        return false;
    (void)map_remove(&engine->open, key);
    *ret = engine->requests[row];
    if (--engine->open_count == 0)
        engine->request_count = 0;
    return true;
}

static void hear_room(struct kube_engine *engine, uint64_t instance, bool is_empty)
{
    struct kube_node *node = kube_engine_node_find(engine, instance);

    if (node == NULL)
        return;
    node->is_asked = false;
    node->room_at = engine->now + ROOM_MS;
    if (!is_empty || !node->is_leaving || node->pods > 0)
        return;
    node->is_leaving = false;
    node->is_admitted = false;
    node->is_told = false;
    kube_engine_emit(engine,
                     &(struct engine_event){ .kind = ENGINE_NODE_LEFT, .instance = instance });
}

static bool take_done(struct kube_engine *engine, const struct line *line)
{
    struct kube_asked request;
    uint32_t row;

    if (!request_close(engine, line, &request))
        return true;
    if (request.kind == ASK_ROOM)
        hear_room(engine, request.subject, kube_engine_amount(line, "pods") == 0);
    row = request.kind == ASK_EVICT ? map_get(&engine->by_uid, request.subject) : MAP_NONE;
    if (row != MAP_NONE)
        kube_services_evicted(engine, &engine->pods[row]);
    return true;
}

static void refuse_place(struct kube_engine *engine, struct kube_pod *pod, const char *text)
{
    const uint64_t key = pod->key;

    kube_engine_say(engine, "it cannot be placed", pod->space, pod->name, text);
    pod->key = 0;
    kube_engine_recount(engine, pod);
    if (kube_engine_is_announced(engine, pod) && key != 0 && pod->state == POD_WAITING)
        kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_TASK_LOST,
                                                         .task = kube_engine_task_of(engine, pod),
                                                         .key = key });
}

static bool take_refused(struct kube_engine *engine, const struct line *line)
{
    const char *text = line_get(line, "text");
    struct kube_asked request;
    struct kube_pod *pod;
    uint32_t row;

    if (!request_close(engine, line, &request))
        return true;
    if (request.kind == ASK_ROOM) {
        hear_room(engine, request.subject, false);
        return true;
    }
    row = map_get(&engine->by_uid, request.subject);
    pod = row != MAP_NONE ? &engine->pods[row] : NULL;
    if (pod == NULL)
        return true;
    if (request.kind == ASK_PLACE) {
        refuse_place(engine, pod, text != NULL ? text : "");
    } else if (request.kind == ASK_EVICT && pod->stop_key != 0 &&
               kube_engine_is_announced(engine, pod)) {
        kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_TASK_KEPT,
                                                         .task = kube_engine_task_of(engine, pod),
                                                         .key = pod->stop_key,
                                                         .until = engine->now + KUBE_KEPT_MS });
        pod->stop_key = 0;
        pod->is_asked = false;
        kube_services_stay(engine, pod);
    } else {
        kube_engine_say(engine, "the API server refuses", pod->space, pod->name,
                        text != NULL ? text : "");
    }
    return true;
}

/*
 * Lines.
 */

static bool is_synced(const struct kube_engine *engine)
{
    return engine->is_greeted && engine->has_pods && engine->has_nodes;
}

bool kube_engine_is_up(const struct kube_engine *engine)
{
    return is_synced(engine) && !engine->is_lost;
}

static void begin_sync(struct kube_engine *engine, bool is_pods)
{
    if (is_pods) {
        engine->has_pods = false;
        for (uint32_t i = 0; i < engine->pod_count; i++)
            engine->pods[i].is_seen = false;
    } else {
        engine->has_nodes = false;
        for (uint32_t i = 0; i < engine->node_count; i++)
            engine->nodes[i].is_seen = false;
    }
}

/* What was asked and may not have been heard is asked again: it does nothing twice. */
static void ask_again(struct kube_engine *engine, struct kube_pod *pod)
{
    if (pod->is_left)
        kube_engine_ask(engine, pod, ASK_RELEASE);
    else if (pod->state == POD_WAITING && pod->key != 0 && pod->stop_key == 0 && !pod->is_held)
        kube_engine_ask(engine, pod, ASK_PLACE);
    else if (pod->stop_key != 0)
        kube_engine_ask(engine, pod, pod->state == POD_RUNNING ? ASK_EVICT : ASK_DELETE);
}

static void end_pods(struct kube_engine *engine)
{
    engine->has_pods = true;
    for (uint32_t i = 0; i < engine->pod_count; i++) {
        if (engine->pods[i].is_used && !engine->pods[i].is_seen)
            kube_engine_on_gone(engine, &engine->pods[i]);
        else if (engine->pods[i].is_used)
            ask_again(engine, &engine->pods[i]);
    }
}

static void end_nodes(struct kube_engine *engine)
{
    engine->has_nodes = true;
    for (uint32_t i = engine->node_count; i-- > 0;) {
        engine->nodes[i].is_asked = false;
        if (engine->nodes[i].is_there && !engine->nodes[i].is_seen)
            on_node_gone(engine, &engine->nodes[i]);
    }
}

static bool take_sync(struct kube_engine *engine, const struct line *line)
{
    const char *what = line_get(line, "what");
    const bool is_pods = what != NULL && strcmp(what, "pods") == 0;

    if (strcmp(line->word, "sync") == 0)
        begin_sync(engine, is_pods);
    else if (is_pods)
        end_pods(engine);
    else
        end_nodes(engine);
    return what != NULL;
}

static bool take_hello(struct kube_engine *engine, const struct line *line)
{
    if (kube_engine_amount(line, "protocol") != KUBE_PROTOCOL)
        return false;
    engine->is_greeted = true;
    line_text_begin(&engine->out, "hello");
    line_text_number(&engine->out, "protocol", KUBE_PROTOCOL);
    if (engine->config.observes)
        line_text_number(&engine->out, "observes", 1);
    line_text_end(&engine->out);
    engine->config.on_send(engine->config.context, engine->out.text, engine->out.size);
    line_text_reset(&engine->out);
    return true;
}

static bool take_server(struct kube_engine *engine, const struct line *line)
{
    const char *state = line_get(line, "state");

    engine->is_lost = state != NULL && strcmp(state, "lost") == 0;
    return state != NULL;
}

static bool take_error(struct kube_engine *engine, const struct line *line)
{
    const char *text = line_get(line, "text");

    engine->config.on_say(engine->config.context, text != NULL ? text : "an error without a text");
    return true;
}

static bool take_nothing(struct kube_engine *engine, const struct line *line)
{
    (void)engine;
    (void)line;
    return true;
}

void kube_engine_line(struct kube_engine *engine, msec_t now, char *text, size_t length)
{
    static const struct {
        const char *word;
        bool (*take)(struct kube_engine *engine, const struct line *line);
    } words[] = {
        { "pod", kube_engine_take_pod }, { "gone", kube_engine_take_gone },
        { "node", take_node },           { "done", take_done },
        { "sync", take_sync },           { "synced", take_sync },
        { "refused", take_refused },     { "alive", take_nothing },
        { "server", take_server },       { "error", take_error },
        { "overhead", take_overhead },   { "overheads", take_overheads },
    };
    struct error error = { "" };
    struct line line;

    engine->now = now;
    if (length == SIZE_MAX || line_parse(text, length, &line, &error) < 0) {
        engine->config.on_say(engine->config.context, "a line that cannot be read");
        return;
    }
    if (strcmp(line.word, "hello") == 0) {
        if (!take_hello(engine, &line))
            engine->config.on_say(engine->config.context, "no common protocol");
        return;
    }
    for (size_t i = 0; engine->is_greeted && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(line.word, words[i].word) == 0 && words[i].take(engine, &line))
            return;
    }
    engine->config.on_say(engine->config.context, "a line that makes no sense");
}

void kube_engine_connected(struct kube_engine *engine, msec_t now)
{
    kube_engine_disconnected(engine, now);
    engine->is_connected = true;
}

void kube_engine_disconnected(struct kube_engine *engine, msec_t now)
{
    engine->now = now;
    engine->is_connected = false;
    engine->is_greeted = false;
    engine->has_pods = false;
    engine->has_nodes = false;
    engine->is_lost = false;
    mem_free(engine->telling);
    engine->telling = NULL;
    engine->request_count = 0;
    engine->open_count = 0;
    map_done(&engine->open);
    map_init(&engine->open);
    line_text_reset(&engine->out);
}

/*
 * Time.
 */

static void tell_list(struct kube_engine *engine, uint64_t key)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        if (engine->jobs[i].is_used && engine->jobs[i].is_announced)
            kube_engine_tell_job(engine, &engine->jobs[i]);
    }
    for (uint32_t i = 0; i < engine->node_count; i++) {
        if (engine->nodes[i].is_up && engine->nodes[i].is_admitted && !engine->nodes[i].is_leaving)
            tell_ready(engine, &engine->nodes[i]);
    }
    for (uint32_t i = 0; i < engine->pod_count; i++) {
        struct kube_pod *pod = &engine->pods[i];

        if (pod->is_used && pod->state == POD_RUNNING && kube_engine_is_announced(engine, pod))
            kube_engine_tell_found(engine, pod);
    }
    kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_LISTED, .key = key });
}

/* If there is no such node any more, it never will. */
static msec_t patience(struct kube_engine *engine, const struct kube_pod *pod)
{
    const struct kube_node *node = kube_engine_node_find(engine, pod->instance);

    return pod->instance == 0 || (node != NULL && node->is_there) ? engine->config.start_timeout_ms
                                                                  : VANISHED_MS;
}

/* A pod that the scheduler does not bind in time is deleted; its controller creates another. */
static void look_at_placed(struct kube_engine *engine)
{
    for (uint32_t i = 0; engine->placed > 0 && i < engine->pod_count; i++) {
        struct kube_pod *pod = &engine->pods[i];

        if (!pod->is_used || pod->state != POD_PLACED || pod->is_left ||
            engine->now - pod->asked_at < patience(engine, pod))
            continue;
        kube_engine_say(engine, "the scheduler has not bound it in time", pod->space, pod->name,
                        "it is deleted, to be created again by its controller");
        pod->asked_at = engine->now;
        kube_engine_ask(engine, pod, ASK_DELETE);
    }
}

/* Whether it is to be asked what there is on a node that leaves. */
static bool is_to_be_asked(const struct kube_node *node)
{
    return node->is_leaving && node->pods == 0 && !node->is_asked;
}

static void look_at_nodes(struct kube_engine *engine)
{
    for (uint32_t i = 0; i < engine->node_count; i++) {
        if (is_to_be_asked(&engine->nodes[i]) && engine->nodes[i].room_at <= engine->now)
            ask_room(engine, &engine->nodes[i]);
    }
}

/* When to look again; MSEC_NEVER: there is nothing to look at. */
static msec_t look_again_at(const struct kube_engine *engine)
{
    const bool is_looking = engine->placed > 0 || engine->dirty_count > 0;
    msec_t at = is_looking ? engine->now + LOOK_MS : MSEC_NEVER;

    for (uint32_t i = 0; i < engine->node_count; i++) {
        const struct kube_node *node = &engine->nodes[i];
        const msec_t due = is_to_be_asked(node) ? node->room_at : engine->now + LOOK_MS;

        if (node->is_leaving && due < at)
            at = due;
    }
    return at;
}

/* When what has come is announced. */
static msec_t quiet_at(const struct kube_engine *engine)
{
    msec_t quiet = QUIET_MS;

    if (engine->first_pending == MSEC_NEVER)
        return MSEC_NEVER;
    if (engine->last_pending - engine->gap_at <= KUBE_GAP_KEPT_MS && 2 * engine->gap_ms > quiet)
        quiet = 2 * engine->gap_ms < QUIET_SLOW_MS ? 2 * engine->gap_ms : QUIET_SLOW_MS;
    return engine->last_pending + quiet < engine->first_pending + QUIET_MOST_MS
               ? engine->last_pending + quiet
               : engine->first_pending + QUIET_MOST_MS;
}

msec_t kube_engine_next_wake(const struct kube_engine *engine)
{
    msec_t wake;

    if (engine->later_count > 0 || (engine->list_count > 0 && kube_engine_is_up(engine)))
        return 0;
    if (!kube_engine_is_up(engine))
        return MSEC_NEVER;
    wake = look_again_at(engine);
    if (wake == MSEC_NEVER)
        wake = engine->note_at;
    if (kube_services_next(engine) < wake)
        wake = kube_services_next(engine);
    return quiet_at(engine) < wake ? quiet_at(engine) : wake;
}

void kube_engine_tick(struct kube_engine *engine, msec_t now)
{
    engine->now = now;
    for (uint32_t i = 0; i < engine->later_count; i++) {
        const struct engine_event event = engine->later[i];

        kube_engine_emit(engine, &event);
    }
    engine->later_count = 0;
    if (!kube_engine_is_up(engine))
        return;
    for (uint32_t i = 0; i < engine->list_count; i++)
        tell_list(engine, engine->lists[i]);
    engine->list_count = 0;
    if (quiet_at(engine) <= now)
        kube_engine_tell_pending(engine);
    look_at_placed(engine);
    kube_notes_tick(engine);
    look_at_nodes(engine);
    kube_services_tick(engine);
    kube_engine_flush(engine, now);
}

/*
 * Words and life.
 */

int kube_engine_label(const struct kube_engine *engine, uint64_t task, char *buf, size_t size)
{
    const uint32_t row = map_get(&engine->by_id, task & ~RANK_MASK);
    const uint32_t rank = (uint32_t)(task & RANK_MASK);
    const struct kube_pod *pod;

    if (row != MAP_NONE && rank < engine->jobs[row].size && engine->jobs[row].seats != NULL &&
        engine->jobs[row].pods[rank] == ROW_NONE)
        return kube_services_label(engine, &engine->jobs[row], rank, buf, size);
    if (row == MAP_NONE || rank >= engine->jobs[row].size ||
        engine->jobs[row].pods[rank] == ROW_NONE)
        return snprintf(buf, size, "%016" PRIx64, task);
    pod = &engine->pods[engine->jobs[row].pods[rank]];
    return snprintf(buf, size, "%s/%s", pod->space, pod->name);
}

uint64_t kube_engine_find(const struct kube_engine *engine, const char *label)
{
    const char *slash = strchr(label, '/');

    for (uint32_t i = 0; slash != NULL && i < engine->pod_count; i++) {
        const struct kube_pod *pod = &engine->pods[i];

        if (pod->is_used && pod->job != ROW_NONE && strcmp(pod->name, slash + 1) == 0 &&
            strlen(pod->space) == (size_t)(slash - label) &&
            strncmp(pod->space, label, (size_t)(slash - label)) == 0)
            return kube_engine_task_of(engine, pod);
    }
    return 0;
}

void kube_engine_each_stray(const struct kube_engine *engine,
                            void (*each)(void *context, uint64_t instance, bool is_up),
                            void *context)
{
    for (uint32_t i = 0; i < engine->node_count; i++) {
        const struct kube_node *node = &engine->nodes[i];

        if (node->is_there && !node->is_admitted && !node->is_leaving)
            each(context, node->instance, node->is_up);
    }
}

struct kube_engine *kube_engine_create(const struct engine_config *config)
{
    struct kube_engine *engine = mem_alloc(1, sizeof(*engine));

    engine->config = *config;
    (void)snprintf(engine->prefix, sizeof(engine->prefix), "%s", config->node_prefix);
    engine->pod_free = ROW_NONE;
    engine->job_free = ROW_NONE;
    engine->first_pending = MSEC_NEVER;
    engine->last_pending = MSEC_NEVER;
    engine->note_at = MSEC_NEVER;
    engine->vacant_at = MSEC_NEVER;
    map_init(&engine->by_uid);
    map_init(&engine->by_id);
    map_init(&engine->by_group);
    map_init(&engine->by_kind);
    map_init(&engine->by_instance);
    map_init(&engine->open);
    return engine;
}

void kube_engine_destroy(struct kube_engine *engine)
{
    if (engine == NULL)
        return;
    for (uint32_t i = 0; i < engine->pod_count; i++) {
        if (engine->pods[i].is_used) {
            mem_free(engine->pods[i].space);
            mem_free(engine->pods[i].name);
            mem_free(engine->pods[i].why);
        }
    }
    for (uint32_t i = 0; i < engine->job_count; i++) {
        if (engine->jobs[i].is_used) {
            mem_free(engine->jobs[i].pods);
            mem_free(engine->jobs[i].seats);
        }
    }
    for (uint32_t i = 0; i < engine->node_count; i++)
        mem_free(engine->nodes[i].name);
    map_done(&engine->by_uid);
    map_done(&engine->by_id);
    map_done(&engine->by_group);
    map_done(&engine->by_kind);
    map_done(&engine->by_instance);
    map_done(&engine->open);
    line_text_done(&engine->out);
    mem_free(engine->pods);
    mem_free(engine->jobs);
    mem_free(engine->nodes);
    mem_free(engine->requests);
    mem_free(engine->dirty);
    mem_free(engine->later);
    mem_free(engine->lists);
    mem_free(engine->taken);
    mem_free(engine->telling);
    mem_free(engine);
}
