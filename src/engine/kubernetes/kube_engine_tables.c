/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_tables.c - rows of nodes and jobs: how they are made, found, counted and reported.
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

/* Reported by the next tick: an action must not call back. */
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
 * How many pods a node takes. The plan counts those that it knows. A node that has as many as its kubelet takes, counting those that
 * were asked for, is reported to have exactly what these request, so that nothing else is planned there; when one leaves, what it
 * really has is reported again.
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

/* If it is another one than was reported. */
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

void kube_engine_uncount(struct kube_engine *engine, struct kube_pod *pod)
{
    count(engine, pod, 0);
}

/*
 * Those that may be alike: a chain for each kind, the last that came first.
 */

uint64_t kube_engine_kind_of(const struct kube_job *job)
{
    return map_mix(map_mix((uint64_t)job->spec.name << 32 | job->spec.user) ^ job->spec.shape);
}

void kube_engine_enlist(struct kube_engine *engine, struct kube_job *job)
{
    const uint32_t row = (uint32_t)(job - engine->jobs);
    const uint32_t first = map_get(&engine->by_kind, kube_engine_kind_of(job));

    if (job->is_listed)
        return;
    job->is_listed = true;
    job->alike_prev = ROW_NONE;
    job->alike_next = first != MAP_NONE ? first : ROW_NONE;
    if (first != MAP_NONE)
        engine->jobs[first].alike_prev = row;
    map_put(&engine->by_kind, kube_engine_kind_of(job), row);
}

void kube_engine_unlist(struct kube_engine *engine, struct kube_job *job)
{
    if (!job->is_listed)
        return;
    job->is_listed = false;
    if (job->alike_next != ROW_NONE)
        engine->jobs[job->alike_next].alike_prev = job->alike_prev;
    if (job->alike_prev != ROW_NONE)
        engine->jobs[job->alike_prev].alike_next = job->alike_next;
    else if (job->alike_next != ROW_NONE)
        map_put(&engine->by_kind, kube_engine_kind_of(job), job->alike_next);
    else
        (void)map_remove(&engine->by_kind, kube_engine_kind_of(job));
}

uint32_t kube_engine_first_like(const struct kube_engine *engine, const struct kube_job *job)
{
    const uint32_t first = map_get(&engine->by_kind, kube_engine_kind_of(job));

    return first != MAP_NONE ? first : ROW_NONE;
}

uint32_t kube_engine_count_alike(const struct kube_engine *engine, const struct kube_job *job)
{
    const uint32_t count = map_get(&engine->alike, kube_engine_kind_of(job));

    return count != MAP_NONE ? count : 0;
}

static void count_in(struct kube_engine *engine, struct kube_job *job)
{
    if (job->size != 1 || job->is_counted)
        return;
    job->is_counted = true;
    map_put(&engine->alike, kube_engine_kind_of(job), kube_engine_count_alike(engine, job) + 1);
}

static void count_out(struct kube_engine *engine, const struct kube_job *job)
{
    const uint32_t count = kube_engine_count_alike(engine, job);

    if (!job->is_counted)
        return;
    if (count > 1)
        map_put(&engine->alike, kube_engine_kind_of(job), count - 1);
    else
        (void)map_remove(&engine->alike, kube_engine_kind_of(job));
}

/*
 * Jobs.
 */

struct kube_job *kube_engine_job_new(struct kube_engine *engine, uint64_t id, uint32_t size)
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
    *job = (struct kube_job){
        .id = id,
        .own = APART_NONE,
        .size = size,
        .extra = ROW_NONE,
        .empty_since = MSEC_NEVER,
        .is_used = true,
    };
    job->pods = mem_alloc(size, sizeof(*job->pods));
    for (uint32_t i = 0; i < size; i++)
        job->pods[i] = ROW_NONE;
    map_put(&engine->by_id, id, row);
    return job;
}

void kube_engine_job_drop(struct kube_engine *engine, struct kube_job *job)
{
    kube_engine_unlist(engine, job);
    count_out(engine, job);
    (void)map_remove(&engine->by_id, job->id);
    if (job->group != 0)
        (void)map_remove(&engine->by_group, job->group);
    engine->services -= job->seats != NULL ? 1 : 0;
    mem_free(job->seats);
    mem_free(job->pods);
    job->is_used = false;
    job->next_free = engine->job_free;
    engine->job_free = (uint32_t)(job - engine->jobs);
}

/* A service is, with every pod that it has. */
bool kube_engine_is_whole(const struct kube_job *job)
{
    for (uint32_t i = 0; job->seats == NULL && i < job->size; i++) {
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

struct res kube_engine_asks_of(const struct line *line)
{
    return (struct res){ .amount = { [RES_CPU] = kube_engine_amount(line, "cpu"),
                                     [RES_MEM] = kube_engine_amount(line, "mem"),
                                     [RES_ACCEL] = kube_engine_amount(line, "accel"),
                                     [RES_PODS] = 1,
                                     [RES_VOLUMES] = kube_engine_amount(line, "volumes") } };
}

const char *kube_engine_shape_of(struct kube_engine *engine, const struct line *line,
                                 const char *needs, uint32_t *ret)
{
    const char *owner = line_get(line, "owner");
    const struct shape_demand demand = {
        .family = FAMILY_NONE,
        .res = kube_engine_asks_of(line),
    };
    char name[96];

    if (needs != NULL && !offer_text_is_valid(needs))
        return "its requirements are unknown to Stint";
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

/* Pods of one Job. */
static uint64_t kin_of(const struct line *line)
{
    return map_mix(kube_engine_hash_of(line_get(line, "space")) ^
                   kube_engine_hash_of(line_get(line, "owner"))) |
           1;
}

void kube_engine_fill_spec(struct kube_engine *engine, struct kube_job *job, uint32_t shape,
                           const struct line *line)
{
    const char *kind = line_get(line, "kind");
    const char *space = line_get(line, "space");
    const bool has_end = strcmp(kind, "Job") == 0 || line_get(line, "ends") != NULL;
    const bool is_gang = job->size > 1 && job->seats == NULL;
    const bool is_kept = line_get(line, "keep") != NULL;

    job->spec = (struct job_spec){
        .id = job->id,
        .first_task_id = job->id,
        .kin = has_end ? kin_of(line) : 0,
        .name = name_of(engine->config.job_names, line_get(line, "owner")),
        .user = names_add(engine->config.users, space, strlen(space)),
        .shape = shape,
        .task_count = job->size,
        .priority = (uint32_t)(kube_engine_amount(line, "priority") & 0x7fffffff),
        .short_ppb = job->seats != NULL ? (uint32_t)kube_engine_amount(line, "short") : 0,
        .gang = is_gang,
        .fixed = has_end || is_gang || is_kept,
        .keeps = APART_NONE, /* until it has pods */
        .yields = has_end && !is_gang && !is_kept && line_get(line, "yields") != NULL,
        .arrived_at = engine->now,
        .estimate_ms = has_end ? -1 : MSEC_NEVER,
    };
    count_in(engine, job);
}

void kube_engine_announce(struct kube_engine *engine, struct kube_job *job)
{
    job->is_pending = false;
    job->is_announced = true;
    kube_engine_tell_job(engine, job);
}

/* How far apart a controller creates its pods. Those that it creates when others have started do not count. */
static void note_gap(struct kube_engine *engine, const struct kube_job *job)
{
    const uint64_t kind = kube_engine_kind_of(job);
    struct kube_arrival *last = &engine->arrivals[kind % KUBE_ARRIVALS];
    const struct kube_job *before = last->kind == kind ? &engine->jobs[last->job] : NULL;
    const msec_t gap = engine->now - last->at;

    if (before != NULL && before->is_used && kube_engine_kind_of(before) == kind &&
        before->pods[0] != ROW_NONE && engine->pods[before->pods[0]].state == POD_WAITING &&
        gap < KUBE_GAP_MOST_MS &&
        (gap > engine->gap_ms || engine->now - engine->gap_at > KUBE_GAP_KEPT_MS)) {
        engine->gap_ms = gap;
        engine->gap_at = engine->now;
    }
    *last = (struct kube_arrival){ kind, (uint32_t)(job - engine->jobs), engine->now };
}

/* What is there already when all is listed is announced at once; what comes later, when no more comes. */
void kube_engine_weigh(struct kube_engine *engine, struct kube_job *job)
{
    if (job->is_announced || !kube_engine_is_whole(job))
        return;
    if (!engine->has_pods) {
        kube_engine_announce(engine, job);
        return;
    }
    job->is_pending = true;
    note_gap(engine, job);
    engine->last_pending = engine->now;
    if (engine->first_pending == MSEC_NEVER)
        engine->first_pending = engine->now;
}

void kube_engine_tell_pending(struct kube_engine *engine, msec_t more_until)
{
    engine->first_pending = MSEC_NEVER;
    engine->last_pending = MSEC_NEVER;
    for (uint32_t i = 0; i < engine->job_count; i++) {
        if (!engine->jobs[i].is_used || !engine->jobs[i].is_pending ||
            !kube_engine_is_whole(&engine->jobs[i]))
            continue;
        engine->jobs[i].spec.more_until = more_until;
        kube_engine_announce(engine, &engine->jobs[i]);
    }
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
