/* SPDX-License-Identifier: Apache-2.0 */
/*
 * best_fit.h - each waiting task onto the machine where it makes the best use of the price.
 *
 * Synergy adapted to a cluster that grows, as the Eva paper describes it (EuroSys'25, section 6.1):
 * among the machines with room, the one with the greatest worth per dollar, provided it is worth
 * its price; if there is none, the cheapest machine that holds the task alone. Nothing is moved.
 *
 * Costs:   O(kinds x (machines + waiting tasks x log machines)).
 * Memory:  the arena's; up to 48 bytes for each machine and kind that waits.
 */
#ifndef STINT_DECIDE_BEST_FIT_H
#define STINT_DECIDE_BEST_FIT_H

#include "decide/worth.h"
#include "model/plan.h"

void best_fit(const struct worth_rules *rules, struct plan *ret);

#endif
