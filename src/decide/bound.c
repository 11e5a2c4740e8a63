/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/bound.h"

#include <assert.h>
#include <math.h>

/* The next weights with the same sum, in a fixed order; false after the last. */
static bool next_weights(int *weight)
{
    /* Odometer over all but the last kind, whose weight is what remains. */
    for (int kind = 0; kind < RES_PRICED - 1; kind++) {
        if (weight[RES_PRICED - 1] > 0) {
            weight[kind]++;
            weight[RES_PRICED - 1]--;
            return true;
        }
        weight[RES_PRICED - 1] += weight[kind];
        weight[kind] = 0;
    }
    return false;
}

/* What the task takes of each kind of the machine, of 1. */
static void shares_of(const struct res *demand, const struct res *capacity, double *ret)
{
    for (int kind = 0; kind < RES_PRICED; kind++)
        ret[kind] = capacity->amount[kind] > 0
                        ? (double)demand->amount[kind] / (double)capacity->amount[kind]
                        : 0;
}

void bound_lower(double *least, double price, const struct res *demand, const struct res *capacity)
{
    int weight[RES_PRICED] = { 0 };
    double share[RES_PRICED];
    uint32_t point = 0;

    shares_of(demand, capacity, share);
    weight[RES_PRICED - 1] = BOUND_GRID;
    do {
        double sum = 0;

        for (int kind = 0; kind < RES_PRICED; kind++)
            sum += (double)weight[kind] / BOUND_GRID * share[kind];
        if (price * sum < least[point])
            least[point] = price * sum;
        point++;
    } while (next_weights(weight));
    assert(point == BOUND_POINTS);
}

void bound_add(struct bound_sums *sums, const struct catalogue *catalogue,
               const struct shapes *shapes, const money_t *price, uint32_t offer_count,
               const struct bound_demand *demand)
{
    double least[BOUND_POINTS];

    assert(demand->amount >= 0);
    if (demand->amount <= 0)
        return;
    for (uint32_t i = 0; i < BOUND_POINTS; i++)
        least[i] = HUGE_VAL;
    for (uint32_t offer = 0; offer < offer_count; offer++) {
        if (shape_fits_offer(shapes, demand->shape, catalogue, offer))
            bound_lower(least, (double)price[offer],
                        shape_demand_at(shapes, demand->shape, catalogue, offer),
                        &catalogue_type_of(catalogue, offer)->capacity);
    }
    for (uint32_t i = 0; i < BOUND_POINTS; i++)
        sums->sum[i] += least[i] < HUGE_VAL ? demand->amount * least[i] : 0;
}

money_t bound_end(const struct bound_sums *sums)
{
    double best = 0;

    for (uint32_t i = 0; i < BOUND_POINTS; i++) {
        if (sums->sum[i] > best)
            best = sums->sum[i];
    }
    assert(best < (double)MONEY_UNKNOWN);
    /* Floating-point sums err by far less than a millionth: give that away. */
    return (money_t)floor(best * (1.0 - 1e-9));
}

money_t bound_cost(const struct catalogue *catalogue, const struct shapes *shapes,
                   const money_t *price, const struct bound_demand *demands, uint32_t count)
{
    struct bound_sums sums = { { 0 } };

    for (uint32_t i = 0; i < count; i++)
        bound_add(&sums, catalogue, shapes, price, catalogue->offer_count, &demands[i]);
    return bound_end(&sums);
}
