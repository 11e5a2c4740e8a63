/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which jobs the controller hears of: those that wait and may run, and those that run on its machines. A job is announced when
 * nothing keeps it any more, and withdrawn when something does; of an array with a limit on running tasks, as many as may run.
 *
 * Costs:  O(1) for a job; O(jobs) when the time to begin of one has come.
 */
#include <assert.h>

#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"

static void announce_next(struct slurm_engine *engine, uint32_t at);

static void tell_job(struct slurm_engine *engine, const struct slurm_job *job)
{
    const msec_t eligible = slurm_engine_at(engine, job->submit_s * 1000 > (uint64_t)job->begin_at
                                                        ? job->submit_s
                                                        : (uint64_t)(job->begin_at / MSEC_PER_SEC));

    struct engine_event event = { .kind = ENGINE_JOB_ARRIVED,
                                  .at = engine->now,
                                  .job = {
                                      .id = job->id,
                                      .first_task_id = job->id,
                                      .name = job->name,
                                      .user = job->user,
                                      .shape = job->wish.shape,
                                      .task_count = job->task_count,
                                      .priority = job->priority,
                                      .caps = job->rules.caps,
                                      .gang = job->task_count > 1,
                                      .fixed = !job->is_movable,
                                      .spread = job->task_count > 1,
                                      .arrived_at = eligible,
                                      .estimate_ms = job->limit_ms,
                                      .rules = slurm_market_rules(&job->rules, eligible),
                                      .burst = job->rules.burst,
                                      .part_count = job->part_count,
                                  } };

    for (uint32_t i = 0; i < job->part_count; i++)
        event.job.parts[i] = job->parts[i];
    slurm_engine_emit(engine, &event);
}

void slurm_job_announce(struct slurm_engine *engine, struct slurm_job *job)
{
    slurm_room_take(engine, job);
    job->is_announced = true;
    if (job->task_count > 1)
        job->many = mem_alloc(job->task_count, sizeof(*job->many));
    if (job->array != INDEX_NONE)
        engine->arrays[job->array].active++;
    tell_job(engine, job);
}

/* Of what ended or was withdrawn: room for the next task of its array, if those are limited. */
void slurm_job_unannounce(struct slurm_engine *engine, struct slurm_job *job)
{
    const uint32_t array = job->array;

    job->is_announced = false;
    job->is_admitted = false;
    if (slurm_policy_has_draws(&engine->policy, job->profile))
        slurm_admit_soon(engine);
    slurm_job_drop_tasks(job);
    slurm_room_give(engine, job);
    if (array == INDEX_NONE)
        return;
    assert(engine->arrays[array].active > 0);
    engine->arrays[array].active--;
    if (engine->arrays[array].limit > 0)
        announce_next(engine, array);
}

void slurm_job_withdraw(struct slurm_engine *engine, struct slurm_job *job)
{
    if (!job->is_announced)
        return;
    slurm_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_JOB_WITHDRAWN,
                                                      .at = engine->now,
                                                      .job = { .id = job->id,
                                                               .first_task_id = job->id,
                                                               .task_count = job->task_count } });
    if (job->array != INDEX_NONE)
        engine->arrays[job->array].cursor = engine->arrays[job->array].first_member;
    slurm_job_unannounce(engine, job);
}

/* Slurm makes what was put back wait for two minutes; a placement ends that. */
bool slurm_job_is_time(const struct slurm_engine *engine, const struct slurm_job *job)
{
    return job->begin_at <= engine->now || job->run > 0;
}

bool slurm_job_is_ready(struct slurm_engine *engine, const struct slurm_job *job)
{
    if (job->phase != PHASE_WAITING || job->closed != SLURM_WAIT_NONE ||
        job->wish.shape == SHAPE_NONE)
        return false;
    if (slurm_job_is_time(engine, job))
        return true;
    if (job->begin_at < engine->begin_wake)
        engine->begin_wake = job->begin_at;
    return false;
}

static bool may_announce(struct slurm_engine *engine, const struct slurm_job *job)
{
    return slurm_job_is_ready(engine, job) && slurm_admit_may(engine, job);
}

static bool is_array_full(const struct slurm_engine *engine, const struct slurm_job *job)
{
    const struct slurm_array *array = job->array == INDEX_NONE ? NULL : &engine->arrays[job->array];

    return array != NULL && array->limit > 0 && array->active >= array->limit;
}

/* Announce or withdraw a job that waits, as it may run or not. */
void slurm_job_weigh(struct slurm_engine *engine, struct slurm_job *job)
{
    if (job->phase != PHASE_WAITING)
        return;
    if (!may_announce(engine, job)) {
        slurm_room_leave(engine, job);
        if (job->is_announced && job->is_asked && job->closed == SLURM_WAIT_NONE)
            slurm_places_hold(engine, job); /* Slurm could still start it where it was placed */
        slurm_job_withdraw(engine, job);
        return;
    }
    if (job->is_announced || is_array_full(engine, job))
        return;
    if (slurm_room_is_for(engine, job))
        slurm_job_announce(engine, job);
    else
        slurm_room_wait(engine, job);
}

static void announce_next(struct slurm_engine *engine, uint32_t at)
{
    struct slurm_array *array = &engine->arrays[at];

    while (array->cursor != INDEX_NONE && array->active < array->limit) {
        struct slurm_job *job = &engine->jobs[array->cursor];

        if (!job->is_announced && job->phase == PHASE_WAITING && !may_announce(engine, job))
            return; /* it will be weighed when it may */
        if (!job->is_announced && job->phase == PHASE_WAITING) {
            if (!slurm_room_is_for(engine, job)) {
                slurm_room_wait(engine, job);
                return;
            }
            slurm_job_announce(engine, job);
        }
        array->cursor = job->next_member;
    }
}

/* Gangs that there is room for now, in the order in which they came: when all of a line is known, for
 * one that ends a whole array ends those that wait, too. */
void slurm_jobs_announce_crowd(struct slurm_engine *engine)
{
    struct slurm_job *job = NULL;

    while ((job = slurm_room_next(engine)) != NULL) {
        if (!may_announce(engine, job) || is_array_full(engine, job)) {
            slurm_room_leave(engine, job); /* it will be weighed when it may */
            continue;
        }
        slurm_job_announce(engine, job);
        if (job->array != INDEX_NONE && engine->arrays[job->array].limit > 0)
            announce_next(engine, job->array);
    }
}

void slurm_jobs_tick(struct slurm_engine *engine)
{
    if (engine->now < engine->begin_wake)
        return;
    engine->begin_wake = MSEC_NEVER;
    for (uint32_t i = 0; i < engine->job_count; i++) {
        struct slurm_job *job = &engine->jobs[i];

        if (job->is_used && !job->is_announced)
            slurm_job_weigh(engine, job);
    }
}

void slurm_jobs_tell(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        if (engine->jobs[i].is_used && engine->jobs[i].is_announced)
            tell_job(engine, &engine->jobs[i]);
    }
}
