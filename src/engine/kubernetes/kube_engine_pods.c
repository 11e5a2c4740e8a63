/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_pods.c - pods become tasks of jobs: what a line about a pod means to the controller.
 */
#include "engine/kubernetes/kube_engine_private.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/shape.h"

/*
 * Jobs.
 */

/* Give the pod its place in the gang, or let it wait for one. */
static void join(struct kube_engine *engine, struct kube_job *job, struct kube_pod *pod)
{
    pod->job = (uint32_t)(job - engine->jobs);
    for (uint32_t i = 0; i < job->size; i++) {
        if (job->pods[i] == ROW_NONE) {
            job->pods[i] = (uint32_t)(pod - engine->pods);
            pod->rank = i;
            kube_engine_weigh(engine, job);
            kube_keeps_join(engine, job, pod);
            return;
        }
    }
    pod->job = ROW_NONE;
    pod->extra_of = (uint32_t)(job - engine->jobs);
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
    const bool is_promised = kube_services_is_promised(line);
    struct kube_job *job;

    if (is_promised && kube_services_join(engine, pod, shape, line))
        return;
    if (known != MAP_NONE && engine->jobs[known].finished == 0) {
        join(engine, &engine->jobs[known], pod);
        return;
    }
    /* One that comes when others of its gang have ended runs alone. */
    job = kube_engine_job_new(engine, hash & ~RANK_MASK,
                              is_gang && known == MAP_NONE ? (uint32_t)size : 1);
    kube_engine_fill_spec(engine, job, shape, line);
    if (is_promised)
        job->spec.kin = kube_services_kin(line);
    if (is_gang && known == MAP_NONE) {
        job->group = hash;
        map_put(&engine->by_group, hash, (uint32_t)(job - engine->jobs));
    }
    join(engine, job, pod);
    if (is_promised)
        kube_services_add_spare(engine, pod, line);
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
                              .extra_of = ROW_NONE,
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
    kube_engine_uncount(engine, pod);
    kube_zones_leave(engine, pod);
    kube_zones_let_go(engine, pod);
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

static void on_running(struct kube_engine *engine, struct kube_pod *pod)
{
    engine->placed -= pod->state == POD_PLACED ? 1 : 0;
    pod->state = POD_RUNNING;
    pod->started_at = engine->now;
    if (pod->stop_key == 0)
        kube_services_stay(engine, pod);
    if (pod->job != ROW_NONE && engine->jobs[pod->job].is_pending &&
        kube_engine_is_whole(&engine->jobs[pod->job]))
        kube_engine_announce(engine, &engine->jobs[pod->job]);
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
static void leave_extra(struct kube_engine *engine, struct kube_pod *pod)
{
    const uint32_t row = (uint32_t)(pod - engine->pods);
    uint32_t *at;

    if (pod->extra_of == ROW_NONE)
        return;
    at = &engine->jobs[pod->extra_of].extra;
    while (*at != row)
        at = &engine->pods[*at].next;
    *at = pod->next;
    pod->extra_of = ROW_NONE;
}

/* A gang that lacks a pod waits for another one; one that has none left is over. */
static void repair_gang(struct kube_engine *engine, struct kube_job *job)
{
    uint32_t pods = 0;
    uint32_t running = 0;

    if (job->extra != ROW_NONE) {
        struct kube_pod *pod = &engine->pods[job->extra];

        leave_extra(engine, pod);
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
        kube_engine_job_drop(engine, job);
}

/* The pod leaves its job: it has ended, or is no more. */
static void leave_job(struct kube_engine *engine, struct kube_pod *pod, bool has_ended)
{
    struct kube_job *job = &engine->jobs[pod->job];
    const uint64_t task = kube_engine_task_of(engine, pod);

    if (job->seats != NULL) {
        kube_services_gone(engine, pod);
        return;
    }
    if (pod->is_spare)
        leave_extra(engine, pod);
    if (job->is_announced && (has_ended || job->size == 1))
        kube_engine_emit(engine, &(struct engine_event){ .kind = has_ended ? ENGINE_TASK_FINISHED
                                                                           : ENGINE_TASK_WITHDRAWN,
                                                         .task = task });
    job->pods[pod->rank] = ROW_NONE;
    job->finished += has_ended ? 1 : 0;
    if (job->size > 1)
        repair_gang(engine, job);
    else
        kube_engine_job_drop(engine, job);
}

/* A pod that ran and that someone else deleted is no fault of its machine: it only leaves. */
void kube_engine_on_gone(struct kube_engine *engine, struct kube_pod *pod)
{
    const bool is_service = pod->job != ROW_NONE && engine->jobs[pod->job].seats != NULL;
    const bool is_lost = pod->key != 0 && kube_engine_is_announced(engine, pod) &&
                         (pod->state != POD_RUNNING || engine->jobs[pod->job].size > 1);

    if (is_service) {
        kube_services_gone(engine, pod);
        pod_drop(engine, pod);
        return;
    }
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

/* It has what it needs: it is a task from now on. */
static void admit(struct kube_engine *engine, struct kube_pod *pod, const struct line *line,
                  const struct kube_zoned *zoned)
{
    kube_zones_enter(engine, pod, zoned);
    begin_job(engine, pod, zoned->shape, line);
    if (pod->state == POD_WAITING)
        kube_services_follow(engine, pod);
}

/* One that was not known. */
static struct kube_pod *meet(struct kube_engine *engine, const struct line *line,
                             enum kube_pod_state state)
{
    const char *why = line_get(line, "strange");
    struct kube_pod *pod = pod_new(engine, line);
    struct kube_zoned zoned = { .key = 0 };
    const char *lacks = NULL;

    if (line_get(line, "owner") == NULL || line_get(line, "kind") == NULL)
        lacks = "it has no controller";
    else if (why == NULL || state != POD_WAITING)
        lacks = kube_zones_shape(engine, line, state == POD_WAITING, &zoned);
    if (why == NULL)
        why = lacks;
    if (why == NULL)
        why = kube_keeps_meet(engine, pod, line);
    if (why != NULL) {
        pod->is_left = true;
        pod->why = kube_engine_copy(why);
        if (state == POD_WAITING) {
            kube_engine_say(engine, "it is left to the scheduler", pod->space, pod->name, why);
            kube_engine_ask(engine, pod, ASK_RELEASE);
        } else {
            kube_zones_enter(engine, pod, &zoned); /* it is in its zone all the same */
        }
        return pod;
    }
    if (state == POD_WAITING)
        kube_notes_begin(engine, pod);
    pod->takes = kube_engine_asks_of(line);
    pod->where = kube_zones_hash(line);
    if (zoned.hold != NULL)
        kube_zones_hold(engine, pod, line, zoned.hold);
    else
        admit(engine, pod, line, &zoned);
    return pod;
}

/* One at the gate that is reported again. When its placement has been sent it is too late for another zone. */
static struct kube_pod *meet_again(struct kube_engine *engine, struct kube_pod *pod,
                                   const struct line *line)
{
    const bool is_sent = pod->key != 0 && !pod->is_held && (pod->asks & ASK_PLACE) == 0;

    if (pod->is_left || pod->state != POD_WAITING || is_sent ||
        !kube_zones_is_wrong(engine, pod, line))
        return pod;
    if (pod->held != NULL) {
        kube_zones_hold(engine, pod, line, pod->hold);
        engine->is_freed = true;
        return pod;
    }
    kube_engine_on_gone(engine, pod);
    return meet(engine, line, POD_WAITING);
}

/* Whether it is held no longer. */
static bool try_held(struct kube_engine *engine, struct kube_pod *pod)
{
    char *text = kube_engine_copy(pod->held);
    struct error error = { "" };
    struct kube_zoned zoned = { .key = 0 };
    struct line line = { .count = 0 };
    const bool is_done = line_parse(text, strlen(text), &line, &error) == 0 &&
                         kube_zones_shape(engine, &line, true, &zoned) == NULL &&
                         zoned.hold == NULL;

    if (is_done) {
        kube_zones_let_go(engine, pod);
        admit(engine, pod, &line, &zoned);
    }
    mem_free(text);
    return is_done;
}

void kube_engine_try_held(struct kube_engine *engine)
{
    engine->is_freed = false;
    for (uint32_t i = 0; i < engine->held_count;) {
        struct kube_pod *pod = &engine->pods[engine->held[i]];

        if (pod->state != POD_WAITING || !try_held(engine, pod))
            i++;
    }
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
    if (row == MAP_NONE)
        pod = meet(engine, line, state);
    else if (state == POD_WAITING)
        pod = meet_again(engine, &engine->pods[row], line);
    else
        pod = &engine->pods[row];
    pod->is_seen = true;
    if (pod->is_left && state != POD_ENDED)
        return true;
    kube_keeps_again(engine, pod, line);
    set_instance(engine, pod, state == POD_WAITING ? 0 : instance);
    if (state != POD_WAITING && pod->job != ROW_NONE && !engine->jobs[pod->job].is_moving)
        kube_engine_unlist(engine, &engine->jobs[pod->job]);
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
