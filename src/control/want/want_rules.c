/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules of jobs for markets mean for tasks that are bound: from the time on from which a loss would make a job
 * late, its tasks leave spot machines, if others may be rented. They wait then, and are planned again.
 */
#include "control/want/want.h"
#include "decide/market_rules.h"

static void leave_spot(struct wanting *want, uint32_t job)
{
    struct state *state = want->state;
    const struct view *view = &state->view;
    msec_t until;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (!market_should_leave(view, task))
            continue;
        if (state_is_kept(state, task, &until)) {
            want->next_rule = until < want->next_rule ? until : want->next_rule;
            continue;
        }
        state->stats.left_spot += view->task.state[task] == TASK_RUNNING;
        state_unbind(state, task, view->now);
    }
}

void want_rules(struct wanting *want)
{
    const struct view *view = &want->state->view;

    want->next_rule = market_rules_update(&want->state->view);
    if (view->job.ruled_first == ROW_NONE || !want_may_rent(want))
        return;
    RULED_EACH(job, view)
    {
        if (view->now >= view->job.safe_from[job])
            leave_spot(want, job);
    }
}
