/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - what no plan can cost less than.
 *
 * Take any weights w over the kinds of resources that add up to one. On any machine, the shares that
 * its tasks take of each kind are at most 1, so their weighted sum is; hence the machine's price is
 * at least the sum over its tasks of price x weighted share. A task's part is no less than the least
 * of price x weighted share over all offers that hold it. The sum of these least parts bounds every
 * plan from below, for every choice of weights; we take the best of a fixed grid.
 *
 * Promises:  a true lower bound per hour for running the shapes at the same time, whatever shares a
 *            machine with what, at today's prices; rounded down.
 * Costs:     O(shapes x offers x grid), 45 points for three kinds. It may be had shape by shape, with other
 *            work in between.
 */
#ifndef STINT_DECIDE_BOUND_H
#define STINT_DECIDE_BOUND_H

#include <stdint.h>

#include "base/units.h"
#include "model/catalogue.h"
#include "model/res.h"
#include "model/shape.h"

enum {
    BOUND_GRID = 8,
    BOUND_POINTS = 45
}; /* weights are multiples of 1/8: so many for three kinds */

_Static_assert(RES_PRICED == 3, "BOUND_POINTS counts the weights of three kinds");

/* An amount of work: so many task-hours (or tasks at once) of a shape. */
struct bound_demand {
    uint32_t shape;
    double amount;
};

/* The least that the demands cost together, in micro-dollars (per hour, or for all their hours). 'price' is
 * per offer and hour. A shape that no offer holds adds nothing. */
money_t bound_cost(const struct catalogue *catalogue, const struct shapes *shapes,
                   const money_t *price, const struct bound_demand *demands, uint32_t count);

/* The same, one demand after another: the sum of the least parts for each choice of weights. */
struct bound_sums {
    double sum[BOUND_POINTS]; /* zero before the first */
};

/* 'price' is of the first 'offer_count' offers; others do not count. */
void bound_add(struct bound_sums *sums, const struct catalogue *catalogue,
               const struct shapes *shapes, const money_t *price, uint32_t offer_count,
               const struct bound_demand *demand);

/* The part of one offer: 'least', which has BOUND_POINTS, gets the lower one of itself and of price x weighted share
 * for each choice of weights. */
void bound_lower(double *least, double price, const struct res *demand, const struct res *capacity);

money_t bound_end(const struct bound_sums *sums);

#endif
