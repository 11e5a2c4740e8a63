/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_reason.h - why a task goes to a machine that there is, with prices that can be compared.
 *
 * A task on a machine that there is costs its share of the machine: the price times the largest share that it takes of any
 * resource. The alternative is a machine of its own, the cheapest that holds it, at its full price.
 */
#ifndef STINT_DECIDE_PLACE_REASON_H
#define STINT_DECIDE_PLACE_REASON_H

#include "model/plan.h"
#include "model/view.h"

/* What the task's share of the machine costs per hour; the whole machine where the task has no demand for it. */
money_t place_price(const struct view *view, uint32_t task, uint32_t instance);

struct plan_reason place_reason(const struct view *view, enum plan_reason_code code, uint32_t task,
                                uint32_t instance);

#endif
