/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/overrun.h"

uint32_t overrun_jobs(const struct view *view, const struct batch *batch, uint32_t count)
{
    uint32_t jobs = 0;

    for (uint32_t i = 0; i < count; i++)
        jobs += i == 0 || view->task.job[batch->tasks[i]] != view->task.job[batch->tasks[i - 1]];
    return jobs;
}
