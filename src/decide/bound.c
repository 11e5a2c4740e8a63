/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/bound.h"

#include <assert.h>
#include <math.h>

enum { GRID = 8 }; /* weights are multiples of 1/8 */

/* The least of price x weighted share over the offers that hold one task of the shape. */
static double least_part(const struct catalogue *catalogue, const struct shapes *shapes,
                         const money_t *price, uint32_t shape, const int *weight)
{
    double least = HUGE_VAL;

    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        const struct machine_type *type = catalogue_type_of(catalogue, offer);

        if (!shape_fits_offer(shapes, shape, catalogue, offer))
            continue;

        const struct res *demand = shape_demand_at(shapes, shape, catalogue, offer);
        double share = 0;

        for (int kind = 0; kind < RES_KINDS; kind++) {
            if (type->capacity.amount[kind] > 0)
                share += (double)weight[kind] / GRID * (double)demand->amount[kind] /
                         (double)type->capacity.amount[kind];
        }
        if ((double)price[offer] * share < least)
            least = (double)price[offer] * share;
    }
    return least < HUGE_VAL ? least : 0;
}

/* The next weights with the same sum, in a fixed order; false after the last. */
static bool next_weights(int *weight)
{
    /* Odometer over all but the last kind, whose weight is what remains. */
    for (int kind = 0; kind < RES_KINDS - 1; kind++) {
        if (weight[RES_KINDS - 1] > 0) {
            weight[kind]++;
            weight[RES_KINDS - 1]--;
            return true;
        }
        weight[RES_KINDS - 1] += weight[kind];
        weight[kind] = 0;
    }
    return false;
}

money_t bound_cost(const struct catalogue *catalogue, const struct shapes *shapes,
                   const money_t *price, const struct bound_demand *demands, uint32_t count)
{
    int weight[RES_KINDS] = { 0 };
    double best = 0;

    for (uint32_t i = 0; i < count; i++)
        assert(demands[i].amount >= 0);
    weight[RES_KINDS - 1] = GRID;
    do {
        double sum = 0;

        for (uint32_t i = 0; i < count; i++)
            sum +=
                demands[i].amount * least_part(catalogue, shapes, price, demands[i].shape, weight);
        if (sum > best)
            best = sum;
    } while (next_weights(weight));

    assert(best >= 0);
    assert(best < (double)MONEY_UNKNOWN);
    /* Floating-point sums err by far less than a millionth: give that away. */
    return (money_t)floor(best * (1.0 - 1e-9));
}
