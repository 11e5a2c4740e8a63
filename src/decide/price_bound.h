/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_bound.h - what no plan can cost less than, by what resources are worth.
 *
 * Give each kind of resource any price. What tasks take of a machine is worth no more than what the machine has, so its
 * price is at least the sum over its tasks of price x worth of the task / worth of the machine; and a task's part is no less
 * than the least of that over all offers that hold it. The parts add up to a bound, as in bound.h, where instead the weights of
 * the kinds are the same for every machine. The prices here are those at which what is wanted is worth the most
 * (resource_price.h): where machines have their resources in many proportions and large ones cost more for what they have, that
 * bounds better, as a large task pays for the large machine that it needs.
 *
 * Promises:  a true lower bound per hour for running the shapes at the same time, at the given prices; rounded down.
 * Costs:     O(shapes x offers). It may be had shape by shape once it has begun.
 */
#ifndef STINT_DECIDE_PRICE_BOUND_H
#define STINT_DECIDE_PRICE_BOUND_H

#include <stdint.h>

#include "base/arena.h"
#include "base/units.h"
#include "decide/bound.h"
#include "decide/resource_price.h"

struct price_bound_input {
    const struct catalogue *catalogue;
    const struct shapes *shapes;
    const money_t *price; /* per offer and hour */
    uint32_t offer_count; /* that have one; others do not count */
};

struct price_bound {
    double wanted[RES_PRICED]; /* zero before the first */
    double *rate; /* per offer: what it costs for what it has is worth; below 0: nothing */
    struct resource_price worth;
    double sum;
};

/* First of each demand what it wants, */
void price_bound_note(struct price_bound *bound, const struct price_bound_input *input,
                      const struct bound_demand *demand);

/* then prices for all of that, from the arena, */
void price_bound_begin(struct price_bound *bound, const struct price_bound_input *input,
                       struct arena *arena);

/* and the parts of each demand. A shape that no offer holds adds nothing. */
void price_bound_add(struct price_bound *bound, const struct price_bound_input *input,
                     const struct bound_demand *demand);

money_t price_bound_end(const struct price_bound *bound);

#endif
