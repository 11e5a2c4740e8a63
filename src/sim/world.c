/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world.h"

const struct trace_job *world_job(const struct world *world, uint32_t task)
{
    return &world->config->trace->jobs[world->tasks[task].job];
}

const struct shape *world_shape(const struct world *world, uint32_t task)
{
    return &world->config->trace->shapes.rows[world_job(world, task)->shape];
}

void world_at(struct world *world, msec_t at, enum world_event kind, uint32_t who, uint32_t epoch)
{
    timeline_add(&world->timeline,
                 (struct timeline_event){
                     .at = at, .rank = RANK_UNDER_WAY, .kind = kind, .who = who, .epoch = epoch });
}

/* The truth, blurred; what errs to the wrong side errs by the same factor to the other. */
static msec_t blur(struct world *world, msec_t truth)
{
    const enum sim_noise side = world->config->noise_side;
    const msec_t drawn = runtime_oracle(truth, world->config->noise_ppm, &world->rng_estimates);
    const bool is_wrong_side =
        (side == SIM_NOISE_UNDER && drawn > truth) || (side == SIM_NOISE_OVER && drawn < truth);

    if (!is_wrong_side)
        return drawn;

    const msec_t mirrored = (msec_t)((double)truth * ((double)truth / (double)drawn) + 0.5);

    return mirrored > 0 ? mirrored : 1;
}

static msec_t estimate_for(struct world *world, const struct trace_job *job)
{
    if (job->estimate_ms == MSEC_NEVER) /* its user ends it, and nobody knows when */
        return MSEC_NEVER;
    switch (world->config->estimates) {
    case SIM_ESTIMATES_ORACLE:
        return blur(world, job->work_ms);
    case SIM_ESTIMATES_USER:
        return job->estimate_ms >= 0 ? job->estimate_ms : job->work_ms;
    case SIM_ESTIMATES_LEARNED:
        return job->estimate_ms;
    }
    return -1;
}

struct engine_event world_arrival(struct world *world, uint32_t row)
{
    const struct trace_job *job = &world->config->trace->jobs[row];

    return (struct engine_event){
        .kind = ENGINE_JOB_ARRIVED,
        .at = world->now,
        .job = { .id = row,
                 .first_task_id = world->first_task[row],
                 .name = job->name,
                 .user = job->user,
                 .shape = job->shape,
                 .task_count = job->task_count,
                 .gang = job->gang && job->task_count > 1,
                 .fixed = job->fixed,
                 .spread = job->spread && job->task_count > 1,
                 .keeps = job->keeps,
                 .priority = job->priority,
                 .caps = job->caps,
                 .short_ppb = job->short_ppb,
                 .arrived_at = job->arrival_ms,
                 .estimate_ms = estimate_for(world, job),
                 .rules = job->rules,
                 .burst = world->config->burst },
    };
}
