/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bonds.h - where jobs are to run whose tasks must be alike in zone or market, or which have rules for markets.
 *
 * Such a job has a shape with variants, one for each zone and market (model/shape.h). Before a policy is
 * asked, all tasks of the job get the same variant, so that whatever the policy does keeps them together, and
 * no policy has to know of it: of a job of which no task has a place, the one whose cheapest machine costs
 * least; else the one of the tasks that have. Those that run or are on their way are left alone. Of a job with
 * rules for markets only variants come into question that these allow now (decide/market_rules.h); while there is
 * none, its tasks may run nowhere. Tasks of several shapes are alike in zone and market too: where all of them together cost least. A job that must be in one market stays in the one that it has begun in.
 *
 * Promises:  of variants of equal price the first, in the order of the catalogue. A variant of which nothing can
 *            be rented now is taken only if there is no other.
 * Costs:     O(tasks that wait x (siblings + variants)), and nothing while no shape has variants; of a job with tasks
 *            of several shapes, O(its tasks ^ 2 x variants ^ 2).
 */
#ifndef STINT_DECIDE_BONDS_H
#define STINT_DECIDE_BONDS_H

#include "model/view.h"

/* The view's reservation prices are of now, and market_rules_update was called. */
void bonds_update(struct view *view);

#endif
