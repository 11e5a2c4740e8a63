/* SPDX-License-Identifier: Apache-2.0 */
/*
 * at_risk.h - whether running work should leave a machine that the cloud says is at elevated risk.
 *
 * A rebalance recommendation is no notice: the machine may stay for days. Nothing new is placed there, and what runs there and has
 * an end goes on, unless it is cheaper to move it now. Assumed is that such a machine is lost at random, after an hour on average,
 * or after what machines of its offer last if that is less (AWS publishes no rate). For a task with so much left
 * to run it is compared, to its end:
 *
 *     to stay:   its share of the machine's price until it ends or the machine is lost; in the latter case what is left, what was not
 *                saved and has to be done again, another machine's setup and the start there, at that machine's price;
 *     to leave:  its share of the machine's price while it stops and saves; then that setup, the start and all that is left, at
 *                the other machine's price.
 *
 * The other machine is the cheapest that holds the task alone, by its price with its risk (risk.h); where that is less than
 * the share here, the latter counts as no more: moves for the price are a matter of repricing.h. What can be saved between a
 * notice and the loss is, in as many cases as there is a notice. So where notices save all work, it stays.
 *
 * It is asked once, when the recommendation comes: later there is less left to lose.
 *
 * Promises:  pure; same view, same answer. Work that must not be moved stays.
 * Costs:     O(offers + tasks on the machine) a task.
 */
#ifndef STINT_DECIDE_AT_RISK_H
#define STINT_DECIDE_AT_RISK_H

#include "model/view.h"

/* How long a machine lasts on average from the recommendation on, at the most. */
#define AT_RISK_LASTS_MS MSEC_PER_HOUR

/* In micro-dollars. */
struct at_risk_costs {
    double stay;
    double leave;
};

/* Of a task that runs on the machine and has an end. False: there is no other machine to be had. */
bool at_risk_weigh(const struct view *view, uint32_t task, uint32_t instance,
                   struct at_risk_costs *ret);

/* Whether it should leave. */
bool at_risk_should_leave(const struct view *view, uint32_t task, uint32_t instance);

#endif
