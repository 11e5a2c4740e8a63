/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/place_reason.h"

#include <math.h>

money_t place_price(const struct view *view, uint32_t task, uint32_t instance)
{
    const money_t price = view->offer_price[view->instance.offer[instance]];
    const struct res *demand = view_demand(view, task, instance);

    if (demand == NULL)
        return price;

    const double share = res_dominant_share(demand, view_capacity(view, instance));

    return share < 1 ? (money_t)llround((double)price * share) : price;
}

struct plan_reason place_reason(const struct view *view, enum plan_reason_code code, uint32_t task,
                                uint32_t instance)
{
    const uint32_t shape = view->task.shape[task];
    struct plan_reason why = plan_because(code, place_price(view, task, instance));

    plan_reject(&why, view->instance.offer[instance], view->shape_offer[shape],
                view->shape_price[shape]);
    return why;
}
