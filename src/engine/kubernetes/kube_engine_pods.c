/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_pods.c - pods become tasks of jobs: what a line about a pod means to the controller.
 */
#include "engine/kubernetes/kube_engine_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/names.h"
#include "model/offer_set.h"
#include "model/shape.h"

/*
 * Small things.
 */

uint64_t kube_engine_hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return map_mix(hash);
}

char *kube_engine_copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *to = mem_alloc(size, 1);

    memcpy(to, text, size);
    return to;
}

void kube_engine_emit(struct kube_engine *engine, const struct engine_event *event)
{
    struct engine_event own = *event;

    own.at = engine->now;
    engine->config.on_event(engine->config.context, &own);
}

/* Told by the next tick: an action must not call back. */
void kube_engine_emit_later(struct kube_engine *engine, const struct engine_event *event)
{
    MEM_ROOM(engine->later, engine->later_room, engine->later_count + 1);
    engine->later[engine->later_count++] = *event;
}

void kube_engine_say(struct kube_engine *engine, const char *format, const char *a, const char *b,
                     const char *c)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "%s/%s: %.200s: %.200s", a, b, format, c);
    engine->config.on_say(engine->config.context, text);
}

/* The machine of a slot, "st-17"; 0: it is none. */
uint64_t kube_engine_instance_of(const struct kube_engine *engine, const char *slot)
{
    const size_t length = strlen(engine->prefix);
    uint64_t instance = 0;

    if (slot == NULL || strncmp(slot, engine->prefix, length) != 0 ||
        line_number(slot + length, UINT64_MAX, &instance) < 0)
        return 0;
    return instance;
}

struct kube_node *kube_engine_node_find(struct kube_engine *engine, uint64_t instance)
{
    const uint32_t row = map_get(&engine->by_instance, instance);

    return row != MAP_NONE ? &engine->nodes[row] : NULL;
}

struct kube_node *kube_engine_node_get(struct kube_engine *engine, uint64_t instance)
{
    struct kube_node *node = kube_engine_node_find(engine, instance);

    if (node != NULL)
        return node;
    MEM_ROOM(engine->nodes, engine->nodes_room, engine->node_count + 1);
    assert(engine->nodes != NULL);
    node = &engine->nodes[engine->node_count];
    *node = (struct kube_node){ .instance = instance, .most = UINT32_MAX };
    map_put(&engine->by_instance, instance, engine->node_count++);
    return node;
}

/* The last row takes its place. */
void kube_engine_node_drop(struct kube_engine *engine, struct kube_node *node)
{
    const uint32_t row = (uint32_t)(node - engine->nodes);

    mem_free(node->name);
    (void)map_remove(&engine->by_instance, node->instance);
    engine->node_count--;
    if (row != engine->node_count) {
        engine->nodes[row] = engine->nodes[engine->node_count];
        map_put(&engine->by_instance, engine->nodes[row].instance, row);
    }
}

struct kube_pod *kube_engine_pod_of_task(struct kube_engine *engine, uint64_t task)
{
    const uint32_t row = map_get(&engine->by_id, task & ~RANK_MASK);
    const uint32_t rank = (uint32_t)(task & RANK_MASK);

    if (row == MAP_NONE || rank >= engine->jobs[row].size ||
        engine->jobs[row].pods[rank] == ROW_NONE)
        return NULL;
    return &engine->pods[engine->jobs[row].pods[rank]];
}

uint64_t kube_engine_task_of(const struct kube_engine *engine, const struct kube_pod *pod)
{
    return engine->jobs[pod->job].id + pod->rank;
}

bool kube_engine_is_announced(const struct kube_engine *engine, const struct kube_pod *pod)
{
    return pod->job != ROW_NONE && engine->jobs[pod->job].is_announced;
}

void kube_engine_ask(struct kube_engine *engine, struct kube_pod *pod, enum kube_ask what)
{
    if (engine->config.observes)
        return;
    pod->asks |= (uint8_t)what;
    if (pod->is_dirty)
        return;
    pod->is_dirty = true;
    MEM_ROOM(engine->dirty, engine->dirty_room, engine->dirty_count + 1);
    engine->dirty[engine->dirty_count++] = (uint32_t)(pod - engine->pods);
}

/*
 * How many pods a node takes. The plan knows nothing of it. A node that has as many as its kubelet takes, counting those that
 * were asked for, is told to have exactly what these request, so that nothing else is planned there; when one leaves, what it
 * really has is told again.
 */

bool kube_engine_is_full(const struct kube_node *node)
{
    return node->taken >= node->most;
}

struct res kube_engine_room(const struct kube_node *node)
{
    struct res room = node->capacity;

    for (int kind = 0; kube_engine_is_full(node) && kind < RES_KINDS; kind++) {
        if (node->used.amount[kind] < room.amount[kind])
            room.amount[kind] = node->used.amount[kind];
    }
    return room;
}

/* If it is another one than was told. */
void kube_engine_tell_room(struct kube_engine *engine, struct kube_node *node)
{
    const struct res room = kube_engine_room(node);

    if (!node->is_told || node->is_leaving ||
        (res_fits(&room, &node->told) && res_fits(&node->told, &room)))
        return;
    node->told = room;
    kube_engine_emit_later(engine, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                           .instance = node->instance,
                                                           .has_capacity = true,
                                                           .capacity = room });
}

static void count(struct kube_engine *engine, struct kube_pod *pod, uint64_t instance)
{
    struct kube_node *old = pod->counted != 0 ? kube_engine_node_find(engine, pod->counted) : NULL;
    struct kube_node *node;

    if (pod->counted == instance)
        return;
    pod->counted = instance;
    if (old != NULL && old->taken > 0) {
        old->taken--;
        res_sub(&old->used, &pod->takes);
        kube_engine_tell_room(engine, old);
    }
    node = instance != 0 ? kube_engine_node_find(engine, instance) : NULL;
    if (node == NULL)
        return;
    node->taken++;
    res_add(&node->used, &pod->takes);
    kube_engine_tell_room(engine, node);
}

void kube_engine_recount(struct kube_engine *engine, struct kube_pod *pod)
{
    const bool is_asked = pod->state == POD_WAITING && pod->key != 0;

    count(engine, pod, pod->instance != 0 ? pod->instance : is_asked ? pod->wanted : 0);
}

static void uncount(struct kube_engine *engine, struct kube_pod *pod)
{
    count(engine, pod, 0);
}

/*
 * Jobs.
 */

static struct kube_job *job_new(struct kube_engine *engine, uint64_t id, uint32_t size)
{
    struct kube_job *job;
    uint32_t row = engine->job_free;

    if (row != ROW_NONE) {
        engine->job_free = engine->jobs[row].next_free;
    } else {
        MEM_ROOM(engine->jobs, engine->jobs_room, engine->job_count + 1);
        row = engine->job_count++;
    }
    assert(engine->jobs != NULL);
    while (id == 0 || map_get(&engine->by_id, id) != MAP_NONE)
        id = (id + RANK_MASK + 1) & ~RANK_MASK & ~OWN_KEY;
    job = &engine->jobs[row];
    *job = (struct kube_job){ .id = id, .size = size, .extra = ROW_NONE, .is_used = true };
    job->pods = mem_alloc(size, sizeof(*job->pods));
    for (uint32_t i = 0; i < size; i++)
        job->pods[i] = ROW_NONE;
    map_put(&engine->by_id, id, row);
    return job;
}

static void job_drop(struct kube_engine *engine, struct kube_job *job)
{
    (void)map_remove(&engine->by_id, job->id);
    if (job->group != 0)
        (void)map_remove(&engine->by_group, job->group);
    mem_free(job->pods);
    job->is_used = false;
    job->next_free = engine->job_free;
    engine->job_free = (uint32_t)(job - engine->jobs);
}

static bool is_whole(const struct kube_job *job)
{
    for (uint32_t i = 0; i < job->size; i++) {
        if (job->pods[i] == ROW_NONE)
            return false;
    }
    return true;
}

void kube_engine_tell_job(struct kube_engine *engine, const struct kube_job *job)
{
    kube_engine_emit(engine,
                     &(struct engine_event){ .kind = ENGINE_JOB_ARRIVED, .job = job->spec });
}

/* The name of what runs again and again: without the number that a CronJob puts behind it. */
static uint32_t name_of(struct names *names, const char *owner)
{
    size_t length = strlen(owner);
    const size_t digits = strspn(owner, "0123456789");

    while (length > digits && owner[length - 1] >= '0' && owner[length - 1] <= '9')
        length--;
    if (length > 1 && length < strlen(owner) && owner[length - 1] == '-')
        length--;
    else
        length = strlen(owner);
    return names_add(names, owner, length);
}

int64_t kube_engine_amount(const struct line *line, const char *key)
{
    const char *text = line_get(line, key);
    uint64_t value = 0;

    return text != NULL && line_number(text, INT64_MAX / 4, &value) == 0 ? (int64_t)value : 0;
}

static bool is_held(const struct kube_engine *engine, uint32_t shape)
{
    const struct catalogue *catalogue = engine->config.catalogue;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (shape_fits_offer(engine->config.shapes, shape, catalogue, i))
            return true;
    }
    return false;
}

static struct res asks_of(const struct line *line)
{
    return (struct res){ .amount = { [RES_CPU] = kube_engine_amount(line, "cpu"),
                                     [RES_MEM] = kube_engine_amount(line, "mem"),
                                     [RES_ACCEL] = kube_engine_amount(line, "accel") } };
}

/* NULL, or why the pod cannot be a task. */
static const char *shape_of(struct kube_engine *engine, const struct line *line, uint32_t *ret)
{
    const char *needs = line_get(line, "needs");
    const char *owner = line_get(line, "owner");
    const struct shape_demand demand = {
        .family = FAMILY_NONE,
        .res = asks_of(line),
    };
    char name[96];

    if (needs != NULL && !offer_text_is_valid(needs))
        return "its requirements are not understood";
    if (engine->config.shapes->count >= LIMIT_SHAPES)
        return "there are too many kinds of pods";
    (void)snprintf(name, sizeof(name), "%" PRId64 "m-%" PRId64 "Mi", demand.res.amount[RES_CPU],
                   demand.res.amount[RES_MEM]);
    *ret = shapes_add(engine->config.shapes, &(struct shape_spec){ .name = name,
                                                                   .workload = owner,
                                                                   .demands = &demand,
                                                                   .demand_count = 1,
                                                                   .offers = needs });
    return is_held(engine, *ret) ? NULL : "no machine of the catalogue can hold it";
}

static void fill_spec(struct kube_engine *engine, struct kube_job *job, uint32_t shape,
                      const struct line *line)
{
    const char *kind = line_get(line, "kind");
    const char *space = line_get(line, "space");
    const bool is_job = strcmp(kind, "Job") == 0;

    job->spec = (struct job_spec){
        .id = job->id,
        .first_task_id = job->id,
        .name = name_of(engine->config.job_names, line_get(line, "owner")),
        .user = names_add(engine->config.users, space, strlen(space)),
        .shape = shape,
        .task_count = job->size,
        .priority = (uint32_t)(kube_engine_amount(line, "priority") & 0x7fffffff),
        .gang = job->size > 1,
        .fixed = is_job || job->size > 1 || line_get(line, "keep") != NULL,
        .arrived_at = engine->now,
        .estimate_ms = is_job ? -1 : MSEC_NEVER,
    };
}

static void announce(struct kube_engine *engine, struct kube_job *job)
{
    job->is_pending = false;
    job->is_announced = true;
    kube_engine_tell_job(engine, job);
}

/* What is there already when all is listed is announced at once; what comes later, when no more comes. */
static void weigh(struct kube_engine *engine, struct kube_job *job)
{
    if (job->is_announced || !is_whole(job))
        return;
    if (!engine->has_pods) {
        announce(engine, job);
        return;
    }
    job->is_pending = true;
    engine->last_pending = engine->now;
    if (engine->first_pending == MSEC_NEVER)
        engine->first_pending = engine->now;
}

void kube_engine_tell_pending(struct kube_engine *engine)
{
    engine->first_pending = MSEC_NEVER;
    engine->last_pending = MSEC_NEVER;
    for (uint32_t i = 0; i < engine->job_count; i++) {
        if (engine->jobs[i].is_used && engine->jobs[i].is_pending && is_whole(&engine->jobs[i]))
            announce(engine, &engine->jobs[i]);
    }
}

/* Give the pod its place in the gang, or let it wait for one. */
static void join(struct kube_engine *engine, struct kube_job *job, struct kube_pod *pod)
{
    pod->job = (uint32_t)(job - engine->jobs);
    for (uint32_t i = 0; i < job->size; i++) {
        if (job->pods[i] == ROW_NONE) {
            job->pods[i] = (uint32_t)(pod - engine->pods);
            pod->rank = i;
            weigh(engine, job);
            return;
        }
    }
    pod->job = ROW_NONE;
    pod->next = job->extra;
    job->extra = (uint32_t)(pod - engine->pods);
}

static void begin_job(struct kube_engine *engine, struct kube_pod *pod, uint32_t shape,
                      const struct line *line)
{
    const char *group = line_get(line, "group");
    const int64_t size = kube_engine_amount(line, "gang");
    const bool is_gang = group != NULL && size > 1 && size <= KUBE_GANG_MAX;
    const uint64_t hash = kube_engine_hash_of(is_gang ? group : pod->uid) & ~OWN_KEY;
    const uint32_t known = is_gang ? map_get(&engine->by_group, hash) : MAP_NONE;
    struct kube_job *job;

    if (known != MAP_NONE && engine->jobs[known].finished == 0) {
        join(engine, &engine->jobs[known], pod);
        return;
    }
    /* One that comes when others of its gang have ended runs alone. */
    job = job_new(engine, hash & ~RANK_MASK, is_gang && known == MAP_NONE ? (uint32_t)size : 1);
    fill_spec(engine, job, shape, line);
    if (is_gang && known == MAP_NONE) {
        job->group = hash;
        map_put(&engine->by_group, hash, (uint32_t)(job - engine->jobs));
    }
    join(engine, job, pod);
}

/*
 * Pods.
 */

static struct kube_pod *pod_new(struct kube_engine *engine, const struct line *line)
{
    struct kube_pod *pod;
    uint32_t row = engine->pod_free;

    if (row != ROW_NONE) {
        engine->pod_free = engine->pods[row].next;
    } else {
        MEM_ROOM(engine->pods, engine->pods_room, engine->pod_count + 1);
        row = engine->pod_count++;
    }
    assert(engine->pods != NULL);
    pod = &engine->pods[row];
    *pod = (struct kube_pod){ .job = ROW_NONE,
                              .next = ROW_NONE,
                              .met_at = engine->now,
                              .asked_at = MSEC_NEVER,
                              .is_used = true };
    (void)snprintf(pod->uid, sizeof(pod->uid), "%s", line_get(line, "uid"));
    pod->space = kube_engine_copy(line_get(line, "space"));
    pod->name = kube_engine_copy(line_get(line, "name"));
    map_put(&engine->by_uid, kube_engine_hash_of(pod->uid), row);
    return pod;
}

/* Which machine it is on, or is bound for. */
static void set_instance(struct kube_engine *engine, struct kube_pod *pod, uint64_t instance)
{
    struct kube_node *old =
        pod->instance != 0 ? kube_engine_node_find(engine, pod->instance) : NULL;

    if (pod->instance == instance) {
        kube_engine_recount(engine, pod);
        return;
    }
    if (old != NULL && old->pods > 0)
        old->pods--;
    pod->instance = instance;
    if (instance != 0)
        kube_engine_node_get(engine, instance)->pods++;
    kube_engine_recount(engine, pod);
}

static void pod_drop(struct kube_engine *engine, struct kube_pod *pod)
{
    set_instance(engine, pod, 0);
    uncount(engine, pod);
    engine->placed -= pod->state == POD_PLACED ? 1 : 0;
    (void)map_remove(&engine->by_uid, kube_engine_hash_of(pod->uid));
    mem_free(pod->space);
    mem_free(pod->name);
    mem_free(pod->why);
    pod->is_used = false;
    pod->asks = 0;
    pod->next = engine->pod_free;
    engine->pod_free = (uint32_t)(pod - engine->pods);
}

void kube_engine_tell_found(struct kube_engine *engine, struct kube_pod *pod)
{
    if (pod->key == 0 || pod->wanted != pod->instance)
        pod->key = OWN_KEY | ++engine->made_keys;
    pod->wanted = pod->instance;
    kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                                     .task = kube_engine_task_of(engine, pod),
                                                     .instance = pod->instance,
                                                     .key = pod->key,
                                                     .started_at = pod->started_at });
}

static void on_running(struct kube_engine *engine, struct kube_pod *pod)
{
    engine->placed -= pod->state == POD_PLACED ? 1 : 0;
    pod->state = POD_RUNNING;
    pod->started_at = engine->now;
    if (pod->job != ROW_NONE && engine->jobs[pod->job].is_pending &&
        is_whole(&engine->jobs[pod->job]))
        announce(engine, &engine->jobs[pod->job]);
    if (!kube_engine_is_announced(engine, pod))
        return;
    if (pod->key != 0 && pod->wanted == pod->instance)
        kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_TASK_STARTED,
                                                         .task = kube_engine_task_of(engine, pod),
                                                         .instance = pod->instance,
                                                         .key = pod->key });
    else
        kube_engine_tell_found(engine, pod);
}

/* Take it out of the list of those that wait for a rank. */
static void leave_extra(struct kube_engine *engine, const struct kube_pod *pod)
{
    const uint32_t row = (uint32_t)(pod - engine->pods);

    for (uint32_t i = 0; i < engine->job_count; i++) {
        uint32_t *at = &engine->jobs[i].extra;

        while (engine->jobs[i].is_used && *at != ROW_NONE && *at != row)
            at = &engine->pods[*at].next;
        if (engine->jobs[i].is_used && *at == row)
            *at = pod->next;
    }
}

/* A gang that lacks a pod waits for another one; one that has none left is over. */
static void repair_gang(struct kube_engine *engine, struct kube_job *job)
{
    uint32_t pods = 0;
    uint32_t running = 0;

    if (job->extra != ROW_NONE) {
        struct kube_pod *pod = &engine->pods[job->extra];

        job->extra = pod->next;
        pod->next = ROW_NONE;
        join(engine, job, pod);
    }
    for (uint32_t i = 0; i < job->size; i++) {
        if (job->pods[i] != ROW_NONE) {
            pods++;
            running += engine->pods[job->pods[i]].state == POD_RUNNING ? 1 : 0;
        }
    }
    if (job->is_announced && running == 0 && pods + job->finished < job->size) {
        job->is_announced = false;
        kube_engine_emit(engine,
                         &(struct engine_event){ .kind = ENGINE_JOB_WITHDRAWN, .job = job->spec });
    }
    if (pods == 0)
        job_drop(engine, job);
}

/* The pod leaves its job: it has ended, or is no more. */
static void leave_job(struct kube_engine *engine, const struct kube_pod *pod, bool has_ended)
{
    struct kube_job *job = &engine->jobs[pod->job];
    const uint64_t task = kube_engine_task_of(engine, pod);

    if (job->is_announced && (has_ended || job->size == 1))
        kube_engine_emit(engine, &(struct engine_event){ .kind = has_ended ? ENGINE_TASK_FINISHED
                                                                           : ENGINE_TASK_WITHDRAWN,
                                                         .task = task });
    job->pods[pod->rank] = ROW_NONE;
    job->finished += has_ended ? 1 : 0;
    if (job->size > 1)
        repair_gang(engine, job);
    else
        job_drop(engine, job);
}

/* A pod that ran and that someone else deleted is no fault of its machine: it only leaves. */
void kube_engine_on_gone(struct kube_engine *engine, struct kube_pod *pod)
{
    const bool is_lost = pod->key != 0 && kube_engine_is_announced(engine, pod) &&
                         (pod->state != POD_RUNNING || engine->jobs[pod->job].size > 1);

    if (pod->stop_key != 0 && kube_engine_is_announced(engine, pod))
        kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_TASK_STOPPED,
                                                         .task = kube_engine_task_of(engine, pod),
                                                         .key = pod->stop_key });
    else if (is_lost)
        kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_TASK_LOST,
                                                         .task = kube_engine_task_of(engine, pod),
                                                         .key = pod->key });
    if (pod->job != ROW_NONE)
        leave_job(engine, pod, false);
    else
        leave_extra(engine, pod);
    pod_drop(engine, pod);
}

static void on_ended(struct kube_engine *engine, struct kube_pod *pod)
{
    if (pod->job != ROW_NONE)
        leave_job(engine, pod, true);
    else
        leave_extra(engine, pod);
    pod_drop(engine, pod);
}

/* One that was not known. */
static struct kube_pod *meet(struct kube_engine *engine, const struct line *line,
                             enum kube_pod_state state)
{
    const char *why = line_get(line, "strange");
    struct kube_pod *pod = pod_new(engine, line);
    uint32_t shape = SHAPE_NONE;

    if (why == NULL && (line_get(line, "owner") == NULL || line_get(line, "kind") == NULL))
        why = "it has no controller";
    if (why == NULL)
        why = shape_of(engine, line, &shape);
    if (why != NULL) {
        pod->is_left = true;
        pod->why = kube_engine_copy(why);
        if (state == POD_WAITING) {
            kube_engine_say(engine, "it is left to the scheduler", pod->space, pod->name, why);
            kube_engine_ask(engine, pod, ASK_RELEASE);
        }
        return pod;
    }
    if (state == POD_WAITING && engine->note_at == MSEC_NEVER)
        engine->note_at = engine->now + KUBE_NOTE_MS;
    pod->takes = asks_of(line);
    begin_job(engine, pod, shape, line);
    return pod;
}

static bool state_of_word(const char *word, enum kube_pod_state *ret)
{
    static const char *const words[] = { "waiting", "placed", "running", "ended" };

    for (int i = POD_WAITING; i <= POD_ENDED; i++) {
        if (word != NULL && strcmp(word, words[i]) == 0) {
            *ret = (enum kube_pod_state)i;
            return true;
        }
    }
    return false;
}

bool kube_engine_take_pod(struct kube_engine *engine, const struct line *line)
{
    const char *uid = line_get(line, "uid");
    const uint64_t instance = kube_engine_instance_of(engine, line_get(line, "slot"));
    enum kube_pod_state state;
    struct kube_pod *pod;
    uint32_t row;

    if (uid == NULL || strlen(uid) >= UID_TEXT || line_get(line, "space") == NULL ||
        line_get(line, "name") == NULL || !state_of_word(line_get(line, "state"), &state))
        return false;
    row = map_get(&engine->by_uid, kube_engine_hash_of(uid));
    if (row == MAP_NONE && state == POD_ENDED)
        return true;
    pod = row != MAP_NONE ? &engine->pods[row] : meet(engine, line, state);
    pod->is_seen = true;
    if (pod->is_left && state != POD_ENDED)
        return true;
    set_instance(engine, pod, state == POD_WAITING ? 0 : instance);
    if (state == POD_ENDED)
        on_ended(engine, pod);
    else if (state == POD_RUNNING && pod->state != POD_RUNNING && instance != 0)
        on_running(engine, pod);
    else if (state == POD_PLACED && pod->state == POD_WAITING) {
        pod->state = POD_PLACED;
        pod->asked_at = engine->now;
        engine->placed++;
    }
    return true;
}

bool kube_engine_take_gone(struct kube_engine *engine, const struct line *line)
{
    const char *uid = line_get(line, "uid");
    const uint32_t row =
        uid != NULL ? map_get(&engine->by_uid, kube_engine_hash_of(uid)) : MAP_NONE;

    if (row != MAP_NONE)
        kube_engine_on_gone(engine, &engine->pods[row]);
    return uid != NULL;
}
