/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/price_bound.h"

#include <assert.h>
#include <math.h>

/* What a task of the shape takes on the offer; NULL: the offer does not hold it. */
static const struct res *demand_at(const struct price_bound_input *input, uint32_t shape,
                                   uint32_t offer)
{
    return shape_fits_offer(input->shapes, shape, input->catalogue, offer)
               ? shape_demand_at(input->shapes, shape, input->catalogue, offer)
               : NULL;
}

void price_bound_note(struct price_bound *bound, const struct price_bound_input *input,
                      const struct bound_demand *demand)
{
    const struct res *cheapest = NULL;
    money_t least = 0;

    for (uint32_t offer = 0; offer < input->offer_count; offer++) {
        const struct res *here = demand_at(input, demand->shape, offer);

        if (here == NULL || (cheapest != NULL && input->price[offer] >= least))
            continue;
        cheapest = here;
        least = input->price[offer];
    }
    for (int kind = 0; kind < RES_PRICED && cheapest != NULL; kind++)
        bound->wanted[kind] += demand->amount * (double)cheapest->amount[kind];
}

void price_bound_begin(struct price_bound *bound, const struct price_bound_input *input,
                       struct arena *arena)
{
    struct resource_offer *offers = ARENA_ARRAY(arena, struct resource_offer, input->offer_count);

    for (uint32_t offer = 0; offer < input->offer_count; offer++)
        offers[offer] = (struct resource_offer){
            .capacity = catalogue_type_of(input->catalogue, offer)->capacity,
            .price = input->price[offer] > 0 ? (double)input->price[offer] : 1,
        };
    bound->worth = resource_price(offers, input->offer_count, bound->wanted);
    bound->rate = ARENA_ARRAY(arena, double, input->offer_count);
    for (uint32_t offer = 0; offer < input->offer_count; offer++) {
        const double worth = resource_worth(&bound->worth, &offers[offer].capacity);

        bound->rate[offer] = worth > 0 ? (double)input->price[offer] / worth : -1;
    }
}

void price_bound_add(struct price_bound *bound, const struct price_bound_input *input,
                     const struct bound_demand *demand)
{
    double least = HUGE_VAL;

    assert(demand->amount >= 0);
    for (uint32_t offer = 0; offer < input->offer_count && least > 0; offer++) {
        const struct res *here = demand_at(input, demand->shape, offer);

        if (here == NULL)
            continue;

        const double part =
            bound->rate[offer] > 0 ? bound->rate[offer] * resource_worth(&bound->worth, here) : 0;

        least = part < least ? part : least;
    }
    bound->sum += least < HUGE_VAL ? demand->amount * least : 0;
}

money_t price_bound_end(const struct price_bound *bound)
{
    assert(bound->sum < (double)MONEY_UNKNOWN);
    /* Floating-point sums err by far less than a millionth: give that away. */
    return (money_t)floor(bound->sum * (1.0 - 1e-9));
}
