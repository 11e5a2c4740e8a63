/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that are owned come before the policy: decide/owned_first.h says who runs there. While services and the policy
 * are asked, these machines are shown as such that are on their way out, and tasks that have a place there, or wait for
 * one, are not shown. The policy's plan then follows the places.
 *
 * Costs:  nothing if there are none.
 */
#include "control/want/want.h"

static void hold_machines(struct state *state, const struct want_owned *owned, bool is_held)
{
    for (uint32_t i = 0; i < owned->machine_count; i++)
        state_show_as_leaving(state, owned->machines[i], is_held);
}

bool want_owned_hide(struct wanting *want, struct want_owned *ret)
{
    struct state *state = want->state;
    const struct view *view = &state->view;

    *ret = (struct want_owned){ 0 };
    if (state->owned == 0)
        return false;
    ret->machines = ARENA_ARRAY(&state->arena, uint32_t, state->owned);
    INSTANCE_EACH(instance, view)
    {
        if (view_is_owned(view, instance) && view->instance.state[instance] == INSTANCE_READY)
            ret->machines[ret->machine_count++] = instance;
    }
    hold_machines(state, ret, true);
    return true;
}

void want_owned_place(struct wanting *want, struct want_owned *owned)
{
    struct state *state = want->state;
    struct view *view = &state->view;
    const struct owned_question question = {
        .view = view,
        .machines = owned->machines,
        .machine_count = owned->machine_count,
        .arena = &state->arena,
        .is_held = want_is_held,
        .context = want,
    };

    owned_first(&question, &owned->first);
    owned->waiting = ARENA_ARRAY(&state->arena, uint32_t, view->task.waiting_count);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        owned->waiting[owned->waiting_count++] = task;
    }
    view_show_waiting(view, owned->first.left, owned->first.left_count);
}

/* What keeps them waiting, as of the decision that is being made. */
static void note_waiting(struct state *state, const struct owned_first *first)
{
    for (uint32_t i = 0; i < first->waiting_count; i++) {
        struct task_note *note = &state->task_notes[first->waiting[i]];

        note->limited_by = LIMIT_BURST;
        note->limited_in = (uint32_t)(state->stats.decisions + 1);
    }
}

void want_owned_end(struct wanting *want, const struct want_owned *owned, struct plan *plan)
{
    struct state *state = want->state;
    struct view *view = &state->view;
    const struct owned_first *first = &owned->first;
    const struct plan of_policy = *plan;

    view_show_waiting(view, owned->waiting, 0);
    view_show_waiting(view, owned->waiting, owned->waiting_count);
    hold_machines(state, owned, false);
    for (uint32_t i = 0; i < first->plan.place_count; i++) {
        if (view->task.shape[first->plan.places[i].task] != first->variants[i])
            view_set_variant(view, first->plan.places[i].task, first->variants[i]);
    }
    note_waiting(state, first);
    want_join_plans(&first->plan, &of_policy, plan);
    if (first->wake_at < plan->wake_at)
        plan->wake_at = first->wake_at;
}
