/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task-per-instance: every task gets the cheapest machine that holds it, to itself.
 *
 * What most cloud batch services do, and the yardstick of the Eva paper (there: No-Packing).
 */
#include "decide/reservation.h"
#include "policy/policy.h"

static void decide(const struct policy_input *in, struct plan *ret)
{
    const struct view *view = in->view;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t offer = view->shape_offer[view->task.shape[task]];

        if (offer == OFFER_NONE)
            continue;

        const struct plan_reason why =
            plan_because(REASON_CHEAPEST_ALONE, view->offer_price[offer]);

        /* The machines of one job are asked for together. */
        plan_place_fresh(ret, task, plan_rent_with(ret, offer, view->task.job[task], why), why);
    }
    policy_release_empty(view, ret);
}

const struct policy policy_task_per_instance = {
    .name = "task-per-instance",
    .summary = "a machine for every task, the cheapest that holds it",
    .decide = decide,
};
