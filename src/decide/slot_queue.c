/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/slot_queue.h"

#include <assert.h>
#include <math.h>

#include "decide/reservation.h"

/* How many tasks that take 'sum' / 'count' each a machine of the offer holds. */
static double times(const struct view *view, uint32_t offer, const double *sum, uint32_t count)
{
    const struct res *capacity = &catalogue_type_of(view->catalogue, offer)->capacity;
    double least = HUGE_VAL;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (sum[kind] > 0)
            least = fmin(least, (double)capacity->amount[kind] * (double)count / sum[kind]);
    }
    return least < HUGE_VAL ? least : 0;
}

struct slot_queue slot_queue_of(const struct view *view, const uint32_t *tasks, uint32_t count,
                                uint64_t slots)
{
    double sum[RES_KINDS] = { 0 };
    double price = 0;
    double most = 0;
    uint32_t waiting = 0;

    assert(slots > 0);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t shape = view->task.shape[tasks[i]];
        const uint32_t offer = view->shape_offer[shape];

        if (offer == OFFER_NONE)
            continue;

        const struct res *demand = shape_demand_at(view->shapes, shape, view->catalogue, offer);

        for (int kind = 0; kind < RES_KINDS; kind++)
            sum[kind] += (double)demand->amount[kind];
        price += (double)view->shape_price[shape];
        waiting++;
    }
    for (uint32_t offer = 0; offer < view->catalogue->offer_count && waiting > 0; offer++) {
        if (reservation_is_open(view, offer))
            most = fmax(most, times(view, offer, sum, waiting));
    }
    return (struct slot_queue){
        .tasks = (double)waiting / (double)slots,
        .price = price / (double)slots,
        .most = waiting > 0 ? most * price / (double)waiting : 0,
    };
}

struct slot_price *slot_price_of(const struct view *view, const struct slot_queue *queue,
                                 double waiting, struct arena *arena)
{
    if (queue == NULL)
        return NULL;

    struct slot_price *price = ARENA_ARRAY(arena, struct slot_price, 1);

    price->hour = slot_queue_hour(queue, waiting);
    price->of_shape = ARENA_ARRAY(arena, double, view->shapes->count);
    for (uint32_t i = 0; i < view->shapes->count; i++)
        price->of_shape[i] = -1;
    return price;
}

/* What each task costs in an hour, of as many as 'capacity' holds. */
static double each_costs(const struct slot_price *price, money_t of_machine,
                         const struct res *demand, const struct res *capacity)
{
    const uint32_t fit = demand != NULL ? res_times(demand, capacity, UINT32_MAX) : 0;

    return fit > 0 ? ((double)of_machine + price->hour) / fit : HUGE_VAL;
}

static double least_cost(const struct slot_price *price, const struct view *view, uint32_t shape)
{
    double least = HUGE_VAL;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        if (reservation_is_open(view, offer))
            least =
                fmin(least, each_costs(price, view->offer_price[offer],
                                       shape_demand_at(view->shapes, shape, view->catalogue, offer),
                                       &catalogue_type_of(view->catalogue, offer)->capacity));
    }
    return least;
}

bool slot_price_is_poor(const struct slot_price *price, const struct view *view, uint32_t shape,
                        uint32_t instance)
{
    enum { POOR = 2 };

    if (price == NULL || view_is_owned(view, instance))
        return false;
    if (price->of_shape[shape] < 0)
        price->of_shape[shape] = least_cost(price, view, shape);
    return each_costs(price, view->offer_price[view->instance.offer[instance]],
                      view_shape_demand(view, shape, instance),
                      view_capacity(view, instance)) > POOR * price->of_shape[shape];
}
