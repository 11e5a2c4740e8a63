/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services that were promised machines come before the policy: decide/service_pools.h says what their pools are. While
 * the policy is asked, the machines of the pools are shown to it as such that are on their way out, and tasks that are
 * services' or have a place in a pool are not shown. Its plan then follows that of the pools.
 *
 * Costs:  nothing if nobody has a promise.
 */
#include <assert.h>

#include "control/want/want.h"

/* The pool of each machine when it was last decided, as rows of jobs. */
static uint32_t *last_pools(struct state *state)
{
    const struct view *view = &state->view;
    uint32_t *ret = ARENA_ARRAY(&state->arena, uint32_t, view->instance.count);

    for (uint32_t i = 0; i < view->instance.count; i++)
        ret[i] = ROW_NONE;
    INSTANCE_EACH(instance, view)
    {
        if (state->instance_notes[instance].pool > 0)
            ret[instance] = state->instance_notes[instance].pool - 1;
    }
    return ret;
}

static void note_pools(struct state *state, const uint32_t *pool_of)
{
    INSTANCE_EACH(instance, &state->view)
    {
        state->instance_notes[instance].pool = pool_of != NULL ? pool_of[instance] + 1 : 0;
    }
}

static void hold_machines(struct state *state, bool is_held)
{
    INSTANCE_EACH(instance, &state->view)
    {
        if (state->instance_notes[instance].pool > 0)
            state_show_as_leaving(state, instance, is_held);
    }
}

/* All that waits, and what of it the policy is to see. */
static void hide_tasks(struct state *state, struct want_services *services)
{
    struct view *view = &state->view;
    const struct plan *plan = &services->pools.plan;
    bool *is_placed = ARENA_ARRAY(&state->arena, bool, view->task.count);
    uint32_t *shown = ARENA_ARRAY(&state->arena, uint32_t, view->task.waiting_count);
    uint32_t shown_count = 0;

    services->waiting = ARENA_ARRAY(&state->arena, uint32_t, view->task.waiting_count);
    for (uint32_t i = 0; i < plan->place_count; i++)
        is_placed[plan->places[i].task] = true;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        services->waiting[services->waiting_count++] = task;
        if (!is_placed[task] && view->job.short_ppb[view->task.job[task]] == 0)
            shown[shown_count++] = task;
    }
    view_show_waiting(view, shown, shown_count);
}

bool want_services_begin(struct wanting *want, struct want_services *ret)
{
    struct state *state = want->state;
    struct service_question question = { .view = &state->view,
                                         .learned = &want->books->knowledge.interruptions,
                                         .arena = &state->arena,
                                         .memory = want->services };

    *ret = (struct want_services){ 0 };
    if (state->view.job.promised == 0) {
        if (want->has_pools)
            note_pools(state, NULL);
        want->has_pools = false;
        return false;
    }
    question.was_pool_of = last_pools(state);
    service_pools_decide(&question, &ret->pools);
    want->has_pools = true;
    note_pools(state, ret->pools.pool_of);
    hold_machines(state, true);
    hide_tasks(state, ret);
    return true;
}

void want_join_plans(const struct plan *first, const struct plan *second, struct plan *ret)
{
    const struct plan *const both[] = { first, second };

    *ret = *second;
    ret->rents = NULL;
    ret->places = NULL;
    ret->releases = NULL;
    ret->suspends = NULL;
    ret->waits = NULL;
    ret->rent_count = ret->rents_room = 0;
    ret->place_count = ret->places_room = 0;
    ret->release_count = ret->releases_room = 0;
    ret->suspend_count = ret->suspends_room = 0;
    ret->wait_count = ret->waits_room = 0;
    for (int i = 0; i < 2; i++) {
        const uint32_t rents = ret->rent_count;

        for (uint32_t k = 0; k < both[i]->rent_count; k++)
            (void)plan_rent_with(ret, both[i]->rents[k].offer, both[i]->rents[k].request,
                                 both[i]->rents[k].why);
        for (uint32_t k = 0; k < both[i]->place_count; k++) {
            const struct plan_place *place = &both[i]->places[k];

            if (place->fresh)
                plan_place_fresh(ret, place->task, place->target + rents, place->why);
            else
                plan_place_kept(ret, place->task, place->target, place->why);
        }
        for (uint32_t k = 0; k < both[i]->release_count; k++)
            plan_release(ret, both[i]->releases[k].instance, both[i]->releases[k].why);
        for (uint32_t k = 0; k < both[i]->suspend_count; k++)
            plan_suspend(ret, both[i]->suspends[k].task, both[i]->suspends[k].why);
        for (uint32_t k = 0; k < both[i]->wait_count; k++) {
            struct plan_wait wait = both[i]->waits[k];

            if (wait.fresh)
                wait.target += rents;
            plan_let_wait(ret, &wait);
        }
    }
}

void want_services_end(struct wanting *want, const struct want_services *services,
                       struct plan *plan)
{
    struct state *state = want->state;
    const struct plan of_policy = *plan;

    view_show_waiting(&state->view, services->waiting, 0);
    view_show_waiting(&state->view, services->waiting, services->waiting_count);
    hold_machines(state, false);
    want_join_plans(&services->pools.plan, &of_policy, plan);
}
