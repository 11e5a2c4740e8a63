/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing.h - pairs of tasks that disturb each other little share a machine.
 *
 * Owl adapted to price, as the Eva paper describes it (EuroSys'25, section 6.1): of all single kinds
 * and pairs of kinds, by falling worth per dollar of the cheapest machine that holds them, as many
 * as there are tasks for. The throughput of pairs was measured beforehand. Candidates are waiting
 * tasks and those that are alone on their machine and have stayed there long enough (stay.h).
 *
 * Costs:  O(k^2 (offers + log k)) for k different kinds among the candidates.
 */
#ifndef STINT_DECIDE_PAIRING_H
#define STINT_DECIDE_PAIRING_H

#include "decide/worth.h"
#include "learn/knowledge.h"
#include "model/plan.h"

/* 'stay': see stay_until. */
void pairing(const struct worth_rules *rules, const struct pair_profile *profile, int64_t stay,
             struct plan *ret);

#endif
