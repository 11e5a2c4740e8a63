/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may still be spent. Whoever keeps the books says how much that is; the limits hold every rent
 * against it (want_limits.c).
 */
#include "control/state/controller_state.h"
#include "model/billing.h"

void controller_set_budget(struct controller *controller, bool has_budget, money_t left)
{
    struct controller_config *mine = &controller->config;
    const bool could = !mine->has_budget || mine->budget_left > 0;
    const bool can = !has_budget || left > 0;

    mine->has_budget = has_budget;
    mine->budget_left = left;
    controller->wants_decision = controller->wants_decision || could != can;
}

money_t controller_first_charge(const struct catalogue *catalogue, uint32_t offer, msec_t now)
{
    const struct offer *row = &catalogue->offers[offer];

    return billing_charge(&row->billing, &row->price, now, now + 1);
}
