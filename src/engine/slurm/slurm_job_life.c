/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job's life, step by step:
 *
 *     waiting --start--> running --end--> ended          a line may show any later state: the steps
 *        ^------------requeue--/                          in between are taken then
 *
 * A run is known by Slurm's count of restarts. Another run means that the one before was put back,
 * whether we saw that or not.
 *
 * Costs:  O(tasks of the job) a step.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_spell.h"

void slurm_job_tell_task(struct slurm_engine *engine, const struct slurm_job *job, uint32_t rank,
                         const struct engine_event *event)
{
    struct engine_event full = *event;

    full.task = job->id + rank;
    slurm_engine_emit(engine, &full);
}

static void leave_node(struct slurm_engine *engine, struct slurm_task *task)
{
    if (task->instance != 0)
        slurm_node_get(engine, task->instance)->running--;
    task->instance = 0;
}

/* The run is over, and the job waits again. What was placed for the next run already stays. */
static void requeue(struct slurm_engine *engine, struct slurm_job *job)
{
    for (uint32_t rank = 0; rank < slurm_job_tasks(job); rank++) {
        struct slurm_task *task = slurm_job_task(job, rank);
        const bool is_over = task->instance != 0 || (task->key != 0 && job->is_asked);
        struct engine_event event = { .kind = ENGINE_TASK_LOST, .at = engine->now };

        if (!is_over && task->stop_key == 0)
            continue;
        event.key = task->key;
        if (task->stop_key != 0) {
            job->is_stopped = true;
            event.kind = ENGINE_TASK_STOPPED;
            event.key = task->stop_key;
        }
        leave_node(engine, task);
        if (task->key != 0)
            job->asked--;
        *task = (struct slurm_task){ .key = 0 };
        slurm_job_tell_task(engine, job, rank, &event);
    }
    job->phase = PHASE_WAITING;
    job->is_foreign = false;
    job->is_asked = false;
    job->is_stopping = false;
    job->is_cancelling = false;
    job->tries = 0;
    slurm_places_mark(engine, job);
}

static int take_node(void *context, const char *name, size_t length)
{
    struct slurm_engine *engine = context;
    const uint64_t instance = slurm_node_instance(engine, name, length);

    if (instance == 0)
        engine->is_elsewhere = true;
    MEM_ROOM(engine->instances, engine->instances_room, engine->instance_count + 1);
    engine->instances[engine->instance_count++] = instance;
    return 0;
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Whether it runs on the machines that it was placed on; in any order. */
static bool is_as_placed(struct slurm_engine *engine, struct slurm_job *job)
{
    if (engine->instance_count != job->task_count || job->asked != job->task_count)
        return false;
    if (job->task_count == 1)
        return job->one.wanted == engine->instances[0];
    MEM_ROOM(engine->instances, engine->instances_room, 3 * job->task_count);
    uint64_t *found = engine->instances + job->task_count;
    uint64_t *wanted = found + job->task_count;

    for (uint32_t rank = 0; rank < job->task_count; rank++) {
        found[rank] = engine->instances[rank];
        wanted[rank] = job->many[rank].wanted;
    }
    qsort(found, job->task_count, sizeof(*found), compare_u64);
    qsort(wanted, job->task_count, sizeof(*wanted), compare_u64);
    return memcmp(found, wanted, job->task_count * sizeof(*wanted)) == 0;
}

/* The second that Slurm names. slurm_engine_at() takes the last few seconds for now. */
static msec_t of_seconds(const struct slurm_engine *engine, uint64_t seconds)
{
    const msec_t at =
        seconds > LIMIT_TIME_MS / 1000 ? LIMIT_TIME_MS : (msec_t)seconds * MSEC_PER_SEC;

    return at < engine->now ? at : engine->now;
}

/* The end of a run, which is later than its start. Slurm counts whole seconds. */
static msec_t end_of_run(const struct slurm_engine *engine, uint64_t end_s, msec_t started_at)
{
    const msec_t at = of_seconds(engine, end_s);

    return at > started_at ? at : started_at + 1;
}

/* One task runs; or it ran until 'ended_at', if that is above 0. */
static void start_task(struct slurm_engine *engine, struct slurm_job *job, uint32_t rank,
                       bool is_placed, msec_t ended_at)
{
    struct slurm_task *task = slurm_job_task(job, rank);
    struct engine_event event = { .kind = ENGINE_TASK_STARTED, .at = job->started_at };

    if (!is_placed) {
        if (task->key == 0)
            job->asked++;
        if (task->key == 0 || task->wanted != 0)
            task->key = (uint64_t)1 << 63 | ++engine->made_keys;
        task->wanted = engine->instances[rank % engine->instance_count];
        event.kind = ENGINE_TASK_FOUND;
        event.at = engine->now;
        event.instance = task->wanted;
        event.started_at = job->started_at;
        event.ended_at = ended_at;
    }
    task->instance = task->wanted;
    event.key = task->key;
    slurm_node_get(engine, task->instance)->running++;
    slurm_job_tell_task(engine, job, rank, &event);
}

/* It runs where it is none of our business, but how long it runs is. */
static void observe(struct slurm_engine *engine, struct slurm_job *job)
{
    job->is_foreign = true;
    for (uint32_t rank = 0; rank < job->task_count; rank++)
        slurm_job_tell_task(engine, job, rank,
                            &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                                    .at = job->started_at,
                                                    .key = (uint64_t)1 << 63 | ++engine->made_keys,
                                                    .started_at = job->started_at });
}

static void start(struct slurm_engine *engine, struct slurm_job *job, const struct slurm_life *life)
{
    const char *nodes = life->nodes;
    msec_t ended_at = 0;

    engine->instance_count = 0;
    engine->is_elsewhere = false;
    if (nodes == NULL || slurm_spell_nodes(nodes, ID_RANKS_MAX, take_node, engine) < 0 ||
        job->wish.shape == SHAPE_NONE)
        engine->is_elsewhere = true;
    job->is_asked = false;
    job->retry_at = MSEC_NEVER;
    job->tries = 0;
    if (engine->is_elsewhere && (!engine->config.observes || job->wish.shape == SHAPE_NONE)) {
        job->phase = PHASE_RUNNING;
        job->is_foreign = true;
        slurm_room_leave(engine, job);
        slurm_job_withdraw(engine, job);
        return;
    }
    job->started_at = slurm_engine_at(engine, life->start_s);
    job->phase = PHASE_RUNNING;
    if (!job->is_announced)
        slurm_job_announce(engine, job);
    if (engine->is_elsewhere) {
        observe(engine, job);
        return;
    }
    const bool is_placed = is_as_placed(engine, job);

    if (life->phase == PHASE_ENDED)
        ended_at = end_of_run(engine, life->end_s, job->started_at);
    for (uint32_t rank = 0; rank < job->task_count; rank++)
        start_task(engine, job, rank, is_placed, ended_at);
    slurm_places_keep(engine, job);
}

static void end(struct slurm_engine *engine, struct slurm_job *job, uint64_t end_s)
{
    struct engine_event event = { .kind = ENGINE_TASK_FINISHED,
                                  .at = slurm_engine_at(engine, end_s),
                                  .started_at = job->started_at };

    job->phase = PHASE_ENDED;
    job->is_stopping = false;
    job->is_cancelling = false;
    slurm_room_leave(engine, job);
    for (uint32_t rank = 0; rank < slurm_job_tasks(job); rank++) {
        struct slurm_task *task = slurm_job_task(job, rank);

        event.instance = task->instance;
        leave_node(engine, task);
        slurm_job_tell_task(engine, job, rank, &event);
    }
    if (job->is_announced)
        slurm_job_unannounce(engine, job);
}

void slurm_job_live(struct slurm_engine *engine, struct slurm_job *job,
                    const struct slurm_life *life)
{
    const bool is_other_run = job->run != life->run;

    /* Another run of one that waited: it ran unseen. */
    if ((is_other_run && job->phase != PHASE_ENDED) ||
        (job->phase == PHASE_RUNNING && life->phase == PHASE_WAITING))
        requeue(engine, job);
    job->run = life->run;
    if (job->phase == PHASE_RUNNING && life->phase == PHASE_RUNNING && job->asked == 0 &&
        !job->is_foreign)
        job->phase = PHASE_WAITING; /* it was given up, and runs on: it is found again */
    if (job->phase == PHASE_WAITING &&
        (life->phase == PHASE_RUNNING ||
         (life->phase == PHASE_ENDED && life->nodes != NULL && job->is_announced)))
        start(engine, job, life);
    if (job->phase != PHASE_ENDED && life->phase == PHASE_ENDED)
        end(engine, job, life->end_s);
}

static void add_past(struct slurm_engine *engine, const struct slurm_past *past)
{
    MEM_ROOM(engine->pasts, engine->pasts_room, engine->past_count + 1);
    engine->pasts[engine->past_count++] = *past;
}

void slurm_job_past(struct slurm_engine *engine, struct slurm_job *job,
                    const struct slurm_life *life)
{
    struct slurm_past past = { .job = job->id, .row = (uint32_t)(job - engine->jobs) };

    job->run = life->run;
    job->phase = PHASE_ENDED;
    engine->instance_count = 0;
    engine->is_elsewhere = false;
    if (job->wish.shape == SHAPE_NONE ||
        slurm_spell_nodes(life->nodes, ID_RANKS_MAX, take_node, engine) < 0 ||
        engine->is_elsewhere || engine->instance_count != job->task_count)
        return;
    past.at = of_seconds(engine, life->start_s);
    past.ended_at = end_of_run(engine, life->end_s, past.at);
    for (past.rank = 0; past.rank < job->task_count; past.rank++) {
        past.instance = engine->instances[past.rank];
        add_past(engine, &past);
    }
    add_past(engine, &(struct slurm_past){ .at = past.ended_at, .job = past.job, .row = past.row });
}

/* By time; a run begins before it ends. */
static int compare_past(const void *a, const void *b)
{
    const struct slurm_past *x = a;
    const struct slurm_past *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if ((x->ended_at == 0) != (y->ended_at == 0))
        return x->ended_at == 0 ? 1 : -1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->rank < y->rank ? -1 : (int)(x->rank > y->rank);
}

static void tell_past(struct slurm_engine *engine, const struct slurm_past *past)
{
    struct slurm_job *job = &engine->jobs[past->row];

    if (!job->is_used || job->id != past->job)
        return;
    if (past->ended_at == 0) {
        end(engine, job, (uint64_t)(past->at / MSEC_PER_SEC));
        return;
    }
    if (!job->is_announced)
        slurm_job_announce(engine, job);
    slurm_job_tell_task(engine, job, past->rank,
                        &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                                .at = engine->now,
                                                .key = (uint64_t)1 << 63 | ++engine->made_keys,
                                                .instance = past->instance,
                                                .started_at = past->at,
                                                .ended_at = past->ended_at });
}

void slurm_jobs_tell_past(struct slurm_engine *engine)
{
    if (engine->past_count > 0)
        qsort(engine->pasts, engine->past_count, sizeof(*engine->pasts), compare_past);
    for (uint32_t i = 0; i < engine->past_count; i++)
        tell_past(engine, &engine->pasts[i]);
    engine->past_count = 0;
    engine->catches_up = false;
}

/* Slurm knows it no more, or gives its id to another. */
void slurm_job_vanish(struct slurm_engine *engine, struct slurm_job *job)
{
    if (job->phase != PHASE_ENDED)
        end(engine, job, 0);
}

void slurm_jobs_tell_tasks(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        struct slurm_job *job = &engine->jobs[i];

        if (!job->is_used || !job->is_announced || job->phase != PHASE_RUNNING)
            continue;
        for (uint32_t rank = 0; rank < job->task_count; rank++) {
            const struct slurm_task *task = slurm_job_task(job, rank);

            if (task->instance == 0)
                continue;
            slurm_job_tell_task(engine, job, rank,
                                &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                                        .at = engine->now,
                                                        .key = task->key,
                                                        .instance = task->instance,
                                                        .started_at = job->started_at });
        }
    }
}
