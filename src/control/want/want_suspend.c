/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which suspensions of a plan stand: none of a task that the engine keeps, and, where something was taken out of the
 * plan, only those of which others have something. A gang is suspended as a whole or not at all.
 */
#include "control/want/want.h"

/* Leave only the suspensions of jobs that are marked, or that are not. */
static bool keep_jobs(struct plan *plan, const struct view *view, const bool *marked, bool which)
{
    uint32_t kept = 0;
    const uint32_t count = plan->suspend_count;

    for (uint32_t i = 0; i < count; i++) {
        if (marked[view->task.job[plan->suspends[i].task]] == which)
            plan->suspends[kept++] = plan->suspends[i];
    }
    plan->suspend_count = kept;
    return kept < count;
}

bool want_drop_kept(struct state *state, struct plan *plan)
{
    const struct view *view = &state->view;
    bool *stays;

    if (plan->suspend_count == 0)
        return false;
    stays = ARENA_ARRAY(&state->arena, bool, view->job.count);
    for (uint32_t i = 0; i < plan->suspend_count; i++) {
        const uint32_t task = plan->suspends[i].task;
        msec_t until;

        if (state_is_kept(state, task, &until))
            stays[view->task.job[task]] = true;
    }
    return keep_jobs(plan, view, stays, false);
}

void want_drop_idle(struct state *state, struct plan *plan)
{
    const struct view *view = &state->view;
    bool *is_used;
    bool *is_of_use;

    if (plan->suspend_count == 0)
        return;
    is_used = ARENA_ARRAY(&state->arena, bool, view->instance.count);
    is_of_use = ARENA_ARRAY(&state->arena, bool, view->job.count);
    for (uint32_t i = 0; i < plan->place_count; i++) {
        if (!plan->places[i].fresh)
            is_used[plan->places[i].target] = true;
    }
    for (uint32_t i = 0; i < plan->release_count; i++)
        is_used[plan->releases[i].instance] = true;
    for (uint32_t i = 0; i < plan->suspend_count; i++) {
        const uint32_t task = plan->suspends[i].task;

        if (is_used[view->task.instance[task]])
            is_of_use[view->task.job[task]] = true;
    }
    (void)keep_jobs(plan, view, is_of_use, true);
}
