/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for gangs. One line of a user may ask for an array of a thousand jobs on thousands of nodes
 * each, and every node is a task with a row in each table of ours. So only so many tasks of gangs are
 * announced at a time; gangs beyond wait in the order in which they came. Jobs on one node, of which
 * there are no more than lines and array tasks, never wait behind them.
 */
#include <assert.h>
#include <inttypes.h>

#include "engine/slurm/slurm_engine_private.h"

static uint32_t tasks_of(const struct slurm_job *job)
{
    return job->task_count > 1 ? job->task_count : 0;
}

bool slurm_room_is_for(const struct slurm_engine *engine, const struct slurm_job *job)
{
    const uint32_t row = (uint32_t)(job - engine->jobs);
    const uint32_t tasks = tasks_of(job);

    if (tasks == 0)
        return true;
    if (engine->crowd_first != INDEX_NONE && engine->crowd_first != row)
        return false;
    return engine->gang_tasks + tasks <= engine->config.gang_tasks_max;
}

void slurm_room_take(struct slurm_engine *engine, struct slurm_job *job)
{
    slurm_room_leave(engine, job);
    engine->gang_tasks += tasks_of(job);
}

void slurm_room_give(struct slurm_engine *engine, const struct slurm_job *job)
{
    assert(engine->gang_tasks >= tasks_of(job));
    engine->gang_tasks -= tasks_of(job);
}

void slurm_room_wait(struct slurm_engine *engine, struct slurm_job *job)
{
    const uint32_t row = (uint32_t)(job - engine->jobs);

    if (job->is_crowded)
        return;
    if (engine->crowd_first == INDEX_NONE) {
        engine->crowd_first = row;
        slurm_engine_say(engine,
                         "jobs on several nodes have %" PRIu64
                         " tasks; Stint considers more when some have ended",
                         engine->gang_tasks);
    } else {
        engine->jobs[engine->crowd_last].next_crowded = row;
    }
    job->is_crowded = true;
    job->prev_crowded = engine->crowd_last;
    job->next_crowded = INDEX_NONE;
    engine->crowd_last = row;
}

void slurm_room_leave(struct slurm_engine *engine, struct slurm_job *job)
{
    if (!job->is_crowded)
        return;
    job->is_crowded = false;
    if (job->prev_crowded != INDEX_NONE)
        engine->jobs[job->prev_crowded].next_crowded = job->next_crowded;
    else
        engine->crowd_first = job->next_crowded;
    if (job->next_crowded != INDEX_NONE)
        engine->jobs[job->next_crowded].prev_crowded = job->prev_crowded;
    else
        engine->crowd_last = job->prev_crowded;
}

struct slurm_job *slurm_room_next(struct slurm_engine *engine)
{
    struct slurm_job *first =
        engine->crowd_first == INDEX_NONE ? NULL : &engine->jobs[engine->crowd_first];

    return first != NULL && slurm_room_is_for(engine, first) ? first : NULL;
}
