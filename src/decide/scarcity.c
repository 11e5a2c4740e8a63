/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scarcity.h"

#include "decide/capped.h"
#include "model/billing.h"

static bool is_limited(const struct allowance *allowance)
{
    return allowance->instances != UINT64_MAX || allowance->price_per_hour != ALLOWANCE_ANY ||
           allowance->first_charge != ALLOWANCE_ANY;
}

/* A machine for each that waits, and what there is, would use half of what there may be. */
static bool may_bind(const struct view *view, const struct allowance *allowance)
{
    const uint64_t instances = view->task.waiting_count;
    money_t price = 0;
    money_t charge = 0;
    uint64_t used = 0;
    money_t used_price = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t offer = view->shape_offer[view->task.shape[task]];

        if (offer == OFFER_NONE)
            continue;

        const struct offer *row = &view->catalogue->offers[offer];

        price += view->offer_price[offer];
        charge += billing_charge(&row->billing, &row->price, view->now, view->now + 1);
    }
    INSTANCE_EACH(instance, view)
    {
        if (view_is_owned(view, instance))
            continue;
        used++;
        used_price += view->offer_price[view->instance.offer[instance]];
    }
    return used + 2 * instances >= allowance->instances ||
           used_price + 2 * price >= allowance->price_per_hour ||
           2 * charge >= allowance->first_charge;
}

struct scarcity scarcity_find(const struct view *view, const struct allowance *allowance,
                              const struct caps *caps, struct arena *arena)
{
    struct scarcity ret = { .of_all = is_limited(allowance) && may_bind(view, allowance) };

    if (caps != NULL && caps->count > 0)
        ret.of_set = capped_sets(view, caps, arena);
    return ret;
}
