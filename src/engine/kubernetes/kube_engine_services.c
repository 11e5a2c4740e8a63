/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_services.c - pods with a promise are one job, with as many tasks as the promise has pods.
 *
 * The tasks are there whether there are pods for them or not, so that the pool of the service (decide/service_pools.h) keeps its
 * size while pods come and go. A task is a seat: the first pod that comes takes it, and when that goes the next one does. A
 * placement of a task that has no pod is kept for the next one, which then goes through the gate as soon as it is there.
 *
 * Pods beyond the capacity (of a Deployment with more replicas, or in the middle of a rollout) are jobs of their own, without a
 * promise, in the room that the pool has to spare (as its kin, decide/service_places.c), and take a seat when one is free: those that run first. When the node of
 * a seat is gone, the seat is free at once, and the pod is deleted so that its controller creates another, which is one beyond the capacity if such a one
 * has the seat by then.
 *
 * A pod without a promise that Stint evicts, to move it, is such a service too for as long as that takes, of one seat: the pod that its controller
 * creates instead goes where the first one was to go. It may come before the first one is gone. If none has come half a minute after that, the job is over.
 */
#include "engine/kubernetes/kube_engine_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"

/* Pods of another size, or of another promise, are another service. */
static uint64_t group_of(const struct line *line)
{
    static const char *const keys[] = {
        "group", "capacity", "short", "cpu", "mem", "accel", "needs"
    };
    uint64_t hash = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = line_get(line, keys[i]);

        hash = map_mix(hash * 31 + kube_engine_hash_of(value != NULL ? value : ""));
    }
    return hash & ~OWN_KEY;
}

static int64_t capacity_of(const struct line *line)
{
    return kube_engine_amount(line, "capacity");
}

bool kube_services_is_promised(const struct line *line)
{
    return line_get(line, "group") != NULL && capacity_of(line) > 0 &&
           capacity_of(line) <= KUBE_GANG_MAX && kube_engine_amount(line, "short") > 0 &&
           kube_engine_amount(line, "short") < SHARE_ALL_PPB;
}

uint64_t kube_services_kin(const struct line *line)
{
    return group_of(line) | 1;
}

static struct kube_job *service_of(struct kube_engine *engine, uint64_t task)
{
    const uint32_t row = map_get(&engine->by_id, task & ~RANK_MASK);

    if (row == MAP_NONE || engine->jobs[row].seats == NULL ||
        (task & RANK_MASK) >= engine->jobs[row].size)
        return NULL;
    return &engine->jobs[row];
}

static void emit_task(struct kube_engine *engine, enum engine_event_kind kind,
                      const struct kube_pod *pod, uint64_t key, bool is_faultless)
{
    kube_engine_emit(engine, &(struct engine_event){ .kind = kind,
                                                     .task = kube_engine_task_of(engine, pod),
                                                     .key = key,
                                                     .is_faultless = is_faultless });
}

/*
 * Seats.
 */

/* One for which there is a placement first; ROW_NONE: all are taken. */
static uint32_t free_seat(const struct kube_job *job)
{
    uint32_t found = ROW_NONE;

    for (uint32_t i = 0; i < job->size; i++) {
        if (job->pods[i] != ROW_NONE)
            continue;
        if (job->seats[i].key != 0)
            return i;
        found = found == ROW_NONE ? i : found;
    }
    return found;
}

static void sit(struct kube_engine *engine, struct kube_job *job, struct kube_pod *pod,
                uint32_t rank)
{
    pod->job = (uint32_t)(job - engine->jobs);
    pod->rank = rank;
    job->pods[rank] = (uint32_t)(pod - engine->pods);
    job->seated++;
    job->empty_since = MSEC_NEVER;
    kube_engine_weigh(engine, job);
    kube_keeps_join(engine, job, pod);
}

/* It has no pod from now on. */
static void leave_vacant(struct kube_engine *engine, struct kube_job *job)
{
    job->empty_since = engine->now;
    if (engine->now + KUBE_VACANT_MS < engine->vacant_at)
        engine->vacant_at = engine->now + KUBE_VACANT_MS;
}

static void unseat(struct kube_engine *engine, struct kube_pod *pod)
{
    struct kube_job *job = &engine->jobs[pod->job];

    job->pods[pod->rank] = ROW_NONE;
    if (--job->seated == 0)
        leave_vacant(engine, job);
    pod->job = ROW_NONE;
    pod->key = 0;
    pod->stop_key = 0;
    pod->asks &= (uint8_t)~ASK_PLACE;
}

/* The placement that was kept is that of the pod, which waits at the gate. */
static void go_through(struct kube_engine *engine, struct kube_pod *pod)
{
    struct kube_seat *seat = &engine->jobs[pod->job].seats[pod->rank];
    const struct kube_seat kept = *seat;
    const struct kube_node *node = kube_engine_node_find(engine, kept.instance);

    *seat = (struct kube_seat){ 0 };
    if (kept.key == 0)
        return;
    if (node == NULL || kube_engine_is_full(node)) {
        emit_task(engine, ENGINE_TASK_LOST, pod, kept.key, true);
        return;
    }
    pod->key = kept.key;
    pod->wanted = kept.instance;
    kube_engine_recount(engine, pod);
    kube_engine_ask(engine, pod, ASK_PLACE);
}

static struct kube_job *begin(struct kube_engine *engine, uint64_t group, const struct line *line)
{
    const uint32_t size = (uint32_t)capacity_of(line);
    struct kube_job *job = kube_engine_job_new(engine, group & ~RANK_MASK, size);

    job->seats = mem_alloc(size, sizeof(*job->seats));
    leave_vacant(engine, job);
    job->group = group;
    map_put(&engine->by_group, group, (uint32_t)(job - engine->jobs));
    engine->services++;
    return job;
}

bool kube_services_join(struct kube_engine *engine, struct kube_pod *pod, uint32_t shape,
                        const struct line *line)
{
    const char *state = line_get(line, "state");
    const uint64_t group = group_of(line);
    const uint32_t known = map_get(&engine->by_group, group);
    struct kube_job *job = known != MAP_NONE ? &engine->jobs[known] : begin(engine, group, line);
    uint32_t rank;

    if (known == MAP_NONE) {
        kube_engine_fill_spec(engine, job, shape, line);
        job->spec.kin = kube_services_kin(line);
    }
    rank = free_seat(job);
    if (rank == ROW_NONE)
        return false;
    sit(engine, job, pod, rank);
    if (strcmp(state, "waiting") == 0)
        go_through(engine, pod);
    else
        job->seats[rank] = (struct kube_seat){ 0 }; /* where it is will be reported */
    return true;
}

void kube_services_add_spare(struct kube_engine *engine, struct kube_pod *pod,
                             const struct line *line)
{
    struct kube_job *job = &engine->jobs[map_get(&engine->by_group, group_of(line))];

    pod->is_spare = true;
    pod->extra_of = (uint32_t)(job - engine->jobs);
    pod->next = job->extra;
    job->extra = (uint32_t)(pod - engine->pods);
}

/* Whether it runs, and stays where it is. */
static bool runs_on(struct kube_engine *engine, const struct kube_pod *pod)
{
    const struct kube_node *node = kube_engine_node_find(engine, pod->instance);

    return pod->state == POD_RUNNING && pod->stop_key == 0 && node != NULL && node->is_up &&
           !node->is_leaving;
}

/* Where the list has a pod for a seat that is free: one that runs, else one that waits and has no placement; what it points to is ROW_NONE
 * if there is neither. */
static uint32_t *find_spare(struct kube_engine *engine, uint32_t service)
{
    uint32_t *waiting = NULL;
    uint32_t *at = &engine->jobs[service].extra;

    for (; *at != ROW_NONE; at = &engine->pods[*at].next) {
        const struct kube_pod *pod = &engine->pods[*at];

        if (runs_on(engine, pod))
            return at;
        if (waiting == NULL && pod->state == POD_WAITING && pod->key == 0)
            waiting = at;
    }
    return waiting != NULL ? waiting : at;
}

/* A pod beyond the capacity takes the seat, which is free; false: there is none that can. */
static bool promote(struct kube_engine *engine, uint32_t service, uint32_t rank)
{
    uint32_t *at = find_spare(engine, service);
    struct kube_pod *pod;

    if (*at == ROW_NONE)
        return false;
    pod = &engine->pods[*at];
    *at = pod->next;
    pod->next = ROW_NONE;
    pod->extra_of = ROW_NONE;
    pod->is_spare = false;
    if (kube_engine_is_announced(engine, pod))
        emit_task(engine, ENGINE_TASK_WITHDRAWN, pod, 0, false);
    kube_engine_job_drop(engine, &engine->jobs[pod->job]);
    pod->key = 0;
    sit(engine, &engine->jobs[service], pod, rank);
    if (pod->state == POD_WAITING) {
        go_through(engine, pod);
        return true;
    }
    engine->jobs[service].seats[rank] = (struct kube_seat){ 0 };
    if (kube_engine_is_announced(engine, pod))
        kube_engine_tell_found(engine, pod);
    return true;
}

/*
 * What the controller asks for.
 */

bool kube_services_place(struct kube_engine *engine, uint64_t task, uint64_t key, uint64_t instance)
{
    struct kube_job *job = service_of(engine, task);
    const uint32_t rank = (uint32_t)(task & RANK_MASK);
    struct kube_pod *pod;

    if (job == NULL)
        return false;
    pod = job->pods[rank] != ROW_NONE ? &engine->pods[job->pods[rank]] : NULL;
    if (pod != NULL && pod->state != POD_PLACED)
        return false;
    if (pod != NULL) { /* through the gate, for another machine: the next one has the placement */
        unseat(engine, pod);
        kube_engine_ask(engine, pod, ASK_DELETE);
    }
    job->seats[rank] = (struct kube_seat){ .key = key, .instance = instance };
    return true;
}

void kube_services_cancel(struct kube_engine *engine, uint64_t task)
{
    struct kube_job *job = service_of(engine, task);

    if (job != NULL)
        job->seats[task & RANK_MASK] = (struct kube_seat){ 0 };
}

/*
 * Moves.
 */

static void end_move(struct kube_engine *engine, struct kube_job *job)
{
    mem_free(job->seats);
    job->seats = NULL;
    job->is_moving = false;
    kube_engine_unlist(engine, job);
    engine->services--;
}

void kube_services_move(struct kube_engine *engine, const struct kube_pod *pod)
{
    struct kube_job *job = pod->job != ROW_NONE ? &engine->jobs[pod->job] : NULL;

    if (job == NULL || job->size != 1 || job->seats != NULL || pod->is_spare ||
        job->spec.estimate_ms != MSEC_NEVER)
        return;
    job->seats = mem_alloc(1, sizeof(*job->seats));
    job->seated = 1;
    job->empty_since = MSEC_NEVER;
    job->is_moving = true;
    kube_engine_enlist(engine, job);
    engine->services++;
}

void kube_services_stay(struct kube_engine *engine, const struct kube_pod *pod)
{
    if (pod->job != ROW_NONE && engine->jobs[pod->job].is_moving)
        end_move(engine, &engine->jobs[pod->job]);
}

/* Whether a pod of the one job can take the place of one of the other. */
static bool is_alike(const struct kube_job *a, const struct kube_job *b)
{
    return a->spec.name == b->spec.name && a->spec.user == b->spec.user &&
           a->spec.shape == b->spec.shape && a->spec.priority == b->spec.priority &&
           a->spec.estimate_ms == b->spec.estimate_ms && a->spec.fixed == b->spec.fixed;
}

/* Whether it waits, for nothing that was planned for it. */
static bool is_heir(const struct kube_engine *engine, const struct kube_pod *pod)
{
    return pod->is_used && pod->job != ROW_NONE && pod->state == POD_WAITING && pod->key == 0 &&
           !pod->is_left && !pod->is_spare && engine->jobs[pod->job].size == 1 &&
           engine->jobs[pod->job].seats == NULL;
}

/* The pod, which has a job of its own, gets the seat of the job. */
static void inherit(struct kube_engine *engine, struct kube_job *job, struct kube_pod *pod)
{
    if (kube_engine_is_announced(engine, pod))
        emit_task(engine, ENGINE_TASK_WITHDRAWN, pod, 0, false);
    kube_engine_job_drop(engine, &engine->jobs[pod->job]);
    sit(engine, job, pod, 0);
    go_through(engine, pod);
}

void kube_services_evicted(struct kube_engine *engine, struct kube_pod *pod)
{
    struct kube_job *job = pod->job != ROW_NONE ? &engine->jobs[pod->job] : NULL;

    if (job == NULL || !job->is_moving)
        return;
    pod->is_evicted = true;
    kube_zones_evicted(engine, pod);
    for (uint32_t i = kube_engine_first_like(engine, job); i != ROW_NONE;
         i = engine->jobs[i].alike_next) {
        struct kube_pod *heir =
            engine->jobs[i].pods[0] != ROW_NONE ? &engine->pods[engine->jobs[i].pods[0]] : NULL;

        if (heir != NULL && is_heir(engine, heir) && is_alike(job, &engine->jobs[i])) {
            kube_services_gone(engine, pod);
            inherit(engine, job, heir);
            return;
        }
    }
}

/* Whether the job waits for the pod that takes its seat. */
static bool is_left_by(const struct kube_engine *engine, const struct kube_job *job)
{
    return job->is_moving && (job->pods[0] == ROW_NONE || engine->pods[job->pods[0]].is_evicted);
}

void kube_services_follow(struct kube_engine *engine, struct kube_pod *pod)
{
    struct kube_job *own = pod->job != ROW_NONE ? &engine->jobs[pod->job] : NULL;

    if (own == NULL || !is_heir(engine, pod) || own->spec.estimate_ms != MSEC_NEVER)
        return;
    for (uint32_t i = kube_engine_first_like(engine, own); i != ROW_NONE;
         i = engine->jobs[i].alike_next) {
        struct kube_job *job = &engine->jobs[i];

        if (!is_left_by(engine, job) || !is_alike(job, own))
            continue;
        if (job->pods[0] != ROW_NONE)
            kube_services_gone(engine, &engine->pods[job->pods[0]]);
        inherit(engine, job, pod);
        return;
    }
    kube_engine_enlist(engine, own);
}

/* Whether nothing of it runs, or will not for long. */
static bool is_missing(const struct kube_engine *engine, const struct kube_job *job)
{
    const struct kube_pod *pod = job->pods[0] != ROW_NONE ? &engine->pods[job->pods[0]] : NULL;

    return job->is_moving && (pod == NULL || pod->state != POD_RUNNING || pod->is_asked);
}

static uint32_t count_missing(const struct kube_engine *engine, const struct kube_job *job)
{
    uint32_t count = 0;

    for (uint32_t i = kube_engine_first_like(engine, job); i != ROW_NONE;
         i = engine->jobs[i].alike_next)
        count += is_missing(engine, &engine->jobs[i]);
    return count;
}

/* Whether the pod is to be evicted, and others of its controller may have to leave before it. */
static bool is_paced(const struct kube_engine *engine, const struct kube_pod *pod)
{
    return pod->is_used && (pod->asks & ASK_EVICT) != 0 && pod->job != ROW_NONE &&
           engine->jobs[pod->job].is_moving;
}

/* Whether the machine that it is on goes, whatever is there. */
static bool must_leave(struct kube_engine *engine, const struct kube_pod *pod)
{
    const struct kube_node *node = kube_engine_node_find(engine, pod->instance);

    return node == NULL || node->is_leaving;
}

static void keep(struct kube_engine *engine, struct kube_pod *pod)
{
    kube_engine_emit_later(engine, &(struct engine_event){ .kind = ENGINE_TASK_KEPT,
                                                           .task = kube_engine_task_of(engine, pod),
                                                           .key = pod->stop_key,
                                                           .until = engine->now + KUBE_KEPT_MS });
    pod->asks &= (uint8_t)~ASK_EVICT;
    pod->stop_key = 0;
    kube_services_stay(engine, pod);
}

void kube_services_pace(struct kube_engine *engine)
{
    enum { PART = 10 };

    struct map missing; /* by kind; those of the others have not been counted yet */

    map_init(&missing);
    for (uint32_t i = 0; i < engine->dirty_count; i++) {
        struct kube_pod *pod = &engine->pods[engine->dirty[i]];

        if (!is_paced(engine, pod) || pod->is_asked)
            continue;

        const struct kube_job *job = &engine->jobs[pod->job];
        const uint64_t kind = kube_engine_kind_of(job);
        const uint32_t known = map_get(&missing, kind);
        const uint32_t count = known != MAP_NONE ? known : count_missing(engine, job);
        const bool is_most =
            count > 0 && (uint64_t)(count + 1) * PART > kube_engine_count_alike(engine, job);

        map_put(&missing, kind, count);
        if (is_most && !must_leave(engine, pod)) {
            keep(engine, pod);
            continue;
        }
        pod->is_asked = true;
        map_put(&missing, kind, count + 1);
    }
    map_done(&missing);
}

/*
 * What becomes of the pods.
 */

void kube_services_gone(struct kube_engine *engine, struct kube_pod *pod)
{
    const uint32_t service = pod->job;
    const uint32_t rank = pod->rank;
    struct kube_seat kept = { 0 };

    if (kube_engine_is_announced(engine, pod)) {
        if (pod->stop_key != 0)
            emit_task(engine, ENGINE_TASK_STOPPED, pod, pod->stop_key, false);
        else if (pod->state == POD_WAITING)
            kept = (struct kube_seat){ .key = pod->key, .instance = pod->wanted };
        else if (pod->key != 0)
            emit_task(engine, ENGINE_TASK_LOST, pod, pod->key, pod->state == POD_RUNNING);
    }
    unseat(engine, pod);
    engine->jobs[service].seats[rank] = kept;
    (void)promote(engine, service, rank);
}

/* The controller hears that the machine is lost, and with it all that was there. */
void kube_services_node_gone(struct kube_engine *engine, uint64_t instance)
{
    if (engine->services == 0)
        return;
    for (uint32_t i = 0; i < engine->job_count; i++) {
        struct kube_job *job = &engine->jobs[i];

        for (uint32_t k = 0; job->is_used && job->seats != NULL && k < job->size; k++) {
            if (job->seats[k].instance == instance)
                job->seats[k] = (struct kube_seat){ 0 };
        }
    }
    for (uint32_t i = 0; i < engine->pod_count; i++) {
        struct kube_pod *pod = &engine->pods[i];

        if (!pod->is_used || pod->job == ROW_NONE || engine->jobs[pod->job].seats == NULL)
            continue;
        if (pod->instance == instance) {
            engine->jobs[pod->job].is_bereft = true;
            engine->has_bereft = true;
            unseat(engine, pod);
            kube_engine_ask(engine, pod, ASK_DELETE);
        } else if (pod->state == POD_WAITING && pod->key != 0 && pod->wanted == instance) {
            pod->key = 0;
            pod->asks &= (uint8_t)~ASK_PLACE;
            kube_engine_recount(engine, pod);
        }
    }
}

/*
 * Time.
 */

static msec_t vacant_at(const struct kube_job *job)
{
    return job->is_used && job->seats != NULL && job->empty_since != MSEC_NEVER
               ? job->empty_since + KUBE_VACANT_MS
               : MSEC_NEVER;
}

msec_t kube_services_next(const struct kube_engine *engine)
{
    return engine->has_bereft ? 0 : engine->vacant_at;
}

/* By now the controller knows that the machine is lost, and hears who has the seats instead. */
static void fill_bereft(struct kube_engine *engine)
{
    for (uint32_t i = 0; engine->has_bereft && i < engine->job_count; i++) {
        bool has_spare = engine->jobs[i].is_used && engine->jobs[i].is_bereft;

        for (uint32_t rank = 0; has_spare && rank < engine->jobs[i].size; rank++)
            has_spare = engine->jobs[i].pods[rank] != ROW_NONE || promote(engine, i, rank);
        engine->jobs[i].is_bereft = false;
    }
    engine->has_bereft = false;
}

static void end(struct kube_engine *engine, struct kube_job *job)
{
    while (job->extra != ROW_NONE) {
        struct kube_pod *pod = &engine->pods[job->extra];

        job->extra = pod->next;
        pod->next = ROW_NONE;
        pod->extra_of = ROW_NONE;
        pod->is_spare = false;
    }
    if (job->is_announced)
        kube_engine_emit(engine,
                         &(struct engine_event){ .kind = ENGINE_JOB_WITHDRAWN, .job = job->spec });
    kube_engine_job_drop(engine, job);
}

void kube_services_tick(struct kube_engine *engine)
{
    fill_bereft(engine);
    if (engine->now < engine->vacant_at)
        return;
    engine->vacant_at = MSEC_NEVER;
    for (uint32_t i = 0; i < engine->job_count; i++) {
        const msec_t at = vacant_at(&engine->jobs[i]);

        if (at <= engine->now)
            end(engine, &engine->jobs[i]);
        else if (at < engine->vacant_at)
            engine->vacant_at = at;
    }
}

int kube_services_label(const struct kube_engine *engine, const struct kube_job *job, uint32_t rank,
                        char *buf, size_t size)
{
    return snprintf(buf, size, "%s/%s/%" PRIu32, names_text(engine->config.users, job->spec.user),
                    names_text(engine->config.job_names, job->spec.name), rank);
}
