/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/overrun.h"

static bool end_together(const struct view *view, uint32_t a, uint32_t b)
{
    const uint32_t job_a = view->task.job[a];
    const uint32_t job_b = view->task.job[b];

    return job_a == job_b ||
           (view->job.kin[job_a] != 0 && view->job.kin[job_a] == view->job.kin[job_b]);
}

uint32_t overrun_jobs(const struct view *view, const struct batch *batch, uint32_t count)
{
    uint32_t jobs = 0;

    for (uint32_t i = 0; i < count; i++)
        jobs += i == 0 || !end_together(view, batch->tasks[i], batch->tasks[i - 1]);
    return jobs;
}
