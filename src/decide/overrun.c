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

uint32_t overrun_together(const struct view *view, const struct batch *batch, uint32_t most)
{
    uint32_t count = most > 0 ? 1 : 0;

    while (count < most && end_together(view, batch->tasks[count], batch->tasks[count - 1]))
        count++;
    return count;
}

bool overrun_is_worth(const struct view *view, const struct batch *batch,
                      const struct overrun_room *room, double doubt, const struct slot_price *slots)
{
    const uint32_t instance = room->instance;
    const msec_t end = room->at + batch->runtime;
    const msec_t until = end > room->lasts ? end : room->lasts;

    if (!batch->fixed)
        doubt = 0;
    if ((until == room->lasts && doubt <= 0) || view->shape_offer[batch->shape] == OFFER_NONE)
        return true;

    if (until > room->lasts && slot_price_is_poor(slots, view, batch->shape, instance))
        return false;

    const uint32_t fit =
        batch_fit(batch, view_shape_demand(view, batch->shape, instance), room->free);
    const double longer = (double)(until - room->lasts);
    const double held =
        longer + overrun_jobs(view, batch, fit) * overrun_of(batch->runtime, until, doubt);
    const double cost =
        (double)view->offer_price[view->instance.offer[instance]] * held / (double)MSEC_PER_HOUR;
    const double slot = slot_price_hour(slots) / (double)MSEC_PER_HOUR;

    return cost + slot * longer <=
           fit * (batch_alone_charge(view, batch) + slot * (double)batch->runtime);
}
