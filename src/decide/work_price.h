/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_price.h - what an hour of work of each shape costs at the margin, by the cheapest mix of machine fillings.
 *
 * The dual prices of the linear program of filling_bound.h for the work that there has been: a shape that fills room
 * which others leave costs little, one for whose sake machines are rented costs nearly as much as alone. By these
 * prices no filling is worth more than its machine, and the good ones are worth just that. Here fillings are looked for by
 * greedy searches from each task on each offer: nothing is proven, but prices come out within a hundredth in a fraction of the time.
 *
 * Promises:  a pure function of the snapshot. 0 where nothing is known: what no offer holds or is free, and shapes beyond
 *            the first WORK_PRICE_ROWS.
 * Costs:     at most WORK_PRICE_STEPS looks at a task for a filling, and a little: tenths of a second.
 */
#ifndef STINT_DECIDE_WORK_PRICE_H
#define STINT_DECIDE_WORK_PRICE_H

#include "base/arena.h"
#include "learn/work_mix.h"
#include "model/catalogue.h"
#include "model/shape.h"

enum { WORK_PRICE_ROWS = 512, WORK_PRICE_STEPS = 20000000 };

/* 'ret' has an element for each shape of the snapshot; micro-dollars an hour. Returns their mean over all work. */
double work_price(const struct work_snapshot *snapshot, const struct catalogue *catalogue,
                  const struct shapes *shapes, struct arena *arena, double *ret);

#endif
