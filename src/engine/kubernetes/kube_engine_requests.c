/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_requests.c - what is asked of stint-kubernetes, and what it answers.
 *
 * Each request has a key, under which the answer comes. What is to be asked of a pod is noted there (kube_engine_ask) and sent together with all
 * else; a placement is held back while pods that are to leave have the room.
 */
#include "engine/kubernetes/kube_engine_private.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

enum {
    KUBE_TEXT = 512,
    ROOM_MS = 2000,
    LEAVE_MS = 45000, /* a placement waits at most so long for pods that are to leave its node */
    YIELD_S = 2,      /* what a pod that yields to a service has to end */
};

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

void kube_requests_send(struct kube_engine *engine)
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

void kube_requests_ask_room(struct kube_engine *engine, struct kube_node *node)
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

bool kube_requests_take_done(struct kube_engine *engine, const struct line *line)
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

bool kube_requests_take_refused(struct kube_engine *engine, const struct line *line)
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
