/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_engine_private.h"

enum {
    LOOK_MS = 1000,     /* how often what was placed, and nodes that leave, are looked at */
    VANISHED_MS = 3000, /* a pod whose node is gone before it is bound is given up after it */
    /* Controllers create pods one after the other. Those that come together are decided together, on fewer and cheaper
     * machines: when none has come for a moment, or at the latest. Karpenter waits as long by default. Where controllers are slow the moment
     * is twice the longest time that lately passed between two pods of one. */
    QUIET_MS = 1000,
    QUIET_SLOW_MS = 5000, /* no longer, however slow */
    QUIET_MOST_MS = 10000,
};

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

void kube_engine_flush(struct kube_engine *engine, msec_t now)
{
    engine->now = now;
    if (!kube_engine_is_up(engine))
        return;
    kube_services_pace(engine);
    kube_requests_send(engine);
    if (engine->out.size > 0)
        engine->config.on_send(engine->config.context, engine->out.text, engine->out.size);
    line_text_reset(&engine->out);
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
            kube_nodes_gone(engine, &engine->nodes[i]);
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
        { "pod", kube_engine_take_pod },
        { "gone", kube_engine_take_gone },
        { "node", kube_nodes_take },
        { "done", kube_requests_take_done },
        { "sync", take_sync },
        { "synced", take_sync },
        { "refused", kube_requests_take_refused },
        { "alive", take_nothing },
        { "server", take_server },
        { "error", take_error },
        { "overhead", kube_nodes_take_overhead },
        { "overheads", kube_nodes_take_overheads },
        { "marks", kube_keeps_take_marks },
    };
    struct error error = { "" };
    struct line line;

    engine->now = now;
    if (length == SIZE_MAX || line_parse(text, length, &line, &error) < 0) {
        engine->config.on_say(engine->config.context, "an unreadable line");
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
    engine->config.on_say(engine->config.context, "a malformed line");
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
            kube_nodes_tell_ready(engine, &engine->nodes[i]);
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
            kube_requests_ask_room(engine, &engine->nodes[i]);
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

/* When all has come that came together, if nothing comes until then. */
static msec_t settled_at(const struct kube_engine *engine)
{
    msec_t quiet = QUIET_MS;

    if (engine->last_pending - engine->gap_at <= KUBE_GAP_KEPT_MS && 2 * engine->gap_ms > quiet)
        quiet = 2 * engine->gap_ms < QUIET_SLOW_MS ? 2 * engine->gap_ms : QUIET_SLOW_MS;
    return engine->last_pending + quiet;
}

/* When what has come is announced. */
static msec_t quiet_at(const struct kube_engine *engine)
{
    if (engine->first_pending == MSEC_NEVER)
        return MSEC_NEVER;
    return settled_at(engine) < engine->first_pending + QUIET_MOST_MS
               ? settled_at(engine)
               : engine->first_pending + QUIET_MOST_MS;
}

/* If more comes in time, it is announced so long after it at the latest. */
static void tell_pending(struct kube_engine *engine)
{
    const msec_t settled = settled_at(engine);

    kube_engine_tell_pending(engine, engine->now < settled ? settled + QUIET_MOST_MS : 0);
}

msec_t kube_engine_next_wake(const struct kube_engine *engine)
{
    msec_t wake;

    if (engine->later_count > 0 || (engine->list_count > 0 && kube_engine_is_up(engine)))
        return 0;
    if (!kube_engine_is_up(engine))
        return MSEC_NEVER;
    if (engine->is_freed && engine->held_count > 0)
        return 0;
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
    if (engine->is_freed)
        kube_engine_try_held(engine);
    if (quiet_at(engine) <= now)
        tell_pending(engine);
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
    map_init(&engine->by_like);
    map_init(&engine->in_zone);
    map_init(&engine->alike);
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
            mem_free(engine->pods[i].held);
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
    map_done(&engine->by_like);
    map_done(&engine->in_zone);
    mem_free(engine->zones);
    mem_free(engine->held);
    map_done(&engine->alike);
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
