/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/crowd.h"

#include "learn/runtimes.h"

static const msec_t wait_most_ms = 30 * MSEC_PER_SEC;

/* Whether the last one has found a place by now or not. */
msec_t crowd_until(const struct view *view)
{
    msec_t newest = -1;
    msec_t until = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t job = view->task.job[task];

        if (view->task.estimate_ms[task] < RUNTIME_HORIZON_MS || view->job.arrived_at[job] < newest)
            continue;
        if (view->job.arrived_at[job] > newest)
            until = 0;
        newest = view->job.arrived_at[job];
        if (view->job.more_until[job] > until)
            until = view->job.more_until[job];
    }
    return until;
}

msec_t crowd_patience(const struct view *view, const struct batch *batch, msec_t more,
                      const struct scarcity *scarcity)
{
    const msec_t longest = view->job.arrived_at[view->task.job[batch->tasks[0]]] + wait_most_ms;

    if (batch->together || scarcity_meets(scarcity, view, batch->tasks[0]))
        return view->now;
    return longest < more ? longest : more;
}

void crowd_wait(const struct view *view, struct batch *batch, msec_t until, struct plan *plan)
{
    struct plan_wait wait = batch_wait(view, batch, WAIT_CROWD, batch_take_last(batch));

    wait.until = until;
    wait.wait_cost = 0;
    plan_let_wait(plan, &wait);
    if (until < plan->wake_at)
        plan->wake_at = until;
}
