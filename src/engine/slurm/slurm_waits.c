/* SPDX-License-Identifier: Apache-2.0 */
/* Why jobs are not announced, for who asks. */
#include "engine/slurm/slurm_engine_private.h"

void slurm_engine_each_unholdable(const struct slurm_engine *engine,
                                  void (*each)(void *context, uint64_t task, const char *reason),
                                  void *context)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        const struct slurm_job *job = &engine->jobs[i];

        if (job->is_used && job->phase == PHASE_WAITING && job->closed == SLURM_WAIT_NONE &&
            job->wish.shape == SHAPE_NONE && job->wish.reason != NAME_NONE)
            each(context, job->id, names_text(&engine->shapes.reasons, job->wish.reason));
    }
}

struct slurm_wait slurm_engine_wait(struct slurm_engine *engine, uint64_t task)
{
    const struct slurm_job *job = slurm_job_of(engine, task);
    struct slurm_wait wait = { .kind = SLURM_WAIT_NONE, .until = MSEC_NEVER };

    if (job == NULL || job->phase != PHASE_WAITING || job->is_announced)
        return wait;
    if (job->closed != SLURM_WAIT_NONE) {
        wait.kind = (enum slurm_wait_kind)job->closed;
    } else if (job->wish.shape == SHAPE_NONE) {
        wait.kind = job->wish.reason != NAME_NONE ? SLURM_WAIT_UNHOLDABLE : SLURM_WAIT_NONE;
        if (wait.kind != SLURM_WAIT_NONE)
            wait.reason = names_text(&engine->shapes.reasons, job->wish.reason);
    } else if (!slurm_job_is_time(engine, job)) {
        wait.kind = SLURM_WAIT_BEGIN;
        wait.until = job->begin_at;
    } else if (slurm_admit_wait(engine, job, &wait)) {
        return wait;
    } else if (job->is_crowded) {
        wait.kind = SLURM_WAIT_ROOM;
    } else if (job->array != INDEX_NONE) {
        wait.kind = SLURM_WAIT_ARRAY_LIMIT;
    }
    return wait;
}
