/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/burst.h"

#include "base/limits.h"

/* What it would cost to run the task on a machine of its own, rented now. */
static money_t cost_alone(const struct view *view, uint32_t task, uint32_t offer)
{
    static const money_t most = (money_t)1000000 * 1000000; /* beyond it nobody waits long enough */

    const struct offer *row = &view->catalogue->offers[offer];
    const msec_t estimate = view->task.estimate_ms[task];
    const msec_t span = catalogue_type_of(view->catalogue, offer)->setup_ms +
                        (estimate == MSEC_NEVER ? 24 * MSEC_PER_HOUR : estimate);
    const money_t cost = billing_charge(&row->billing, &row->price, view->now, view->now + span);

    return cost < most ? cost : most;
}

/* How long the task has to wait until that has cost as much; MSEC_NEVER: nothing can be rented for it. */
static msec_t break_even(const struct view *view, uint32_t task, money_t waiting_hour)
{
    const uint32_t offer = view->shape_offer[view->task.shape[task]];

    if (offer == OFFER_NONE)
        return MSEC_NEVER;
    return cost_alone(view, task, offer) * MSEC_PER_HOUR / waiting_hour;
}

msec_t burst_from(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];
    const money_t waiting_hour = view->job.waiting_hour[job];
    msec_t wait = view->job.burst_after[job];

    if (waiting_hour > 0) {
        const msec_t even = break_even(view, task, waiting_hour);

        wait = wait == 0 || even < wait ? even : wait;
    }
    return wait == MSEC_NEVER ? MSEC_NEVER : view->job.arrived_at[job] + wait;
}
