/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_price.h - what a unit of each kind of resource is worth, where so much of each is wanted.
 *
 * If tasks could be cut into pieces, the cheapest machines for an amount of each kind would be a linear program with
 * one row per kind. Its dual gives each kind a price at which no machine has more than it costs, and what is wanted is
 * worth the most. At these prices a machine that is filled well is worth what it costs, whatever fills it: so machines
 * of different sizes and families can be compared by what would be done there.
 *
 * Promises:  at the prices no offer is worth more than it costs (but for rounding), and what is wanted is worth as much
 *            as at any such prices, if the offers that matter are no more than a score; at most a little less. A kind
 *            that nobody wants or has is worth nothing.
 * Costs:     O(offers) for each of a few offers that matter, and some ten thousand steps.
 */
#ifndef STINT_DECIDE_RESOURCE_PRICE_H
#define STINT_DECIDE_RESOURCE_PRICE_H

#include <stdint.h>

#include "model/res.h"

struct resource_offer {
    struct res capacity;
    double price; /* above 0 */
};

struct resource_price {
    double of[RES_PRICED]; /* per unit, in what the offers are priced in */
};

struct resource_price resource_price(const struct resource_offer *offers, uint32_t count,
                                     const double wanted[RES_PRICED]);

/* What an amount is worth. */
static inline double resource_worth(const struct resource_price *price, const struct res *amount)
{
    double worth = 0;

    for (int kind = 0; kind < RES_PRICED; kind++)
        worth += price->of[kind] * (double)amount->amount[kind];
    return worth;
}

#endif
