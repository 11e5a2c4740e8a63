/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/reservation.h"

#include <assert.h>

#include "base/mem.h"

bool reservation_type_holds(const struct view *view, const struct machine_type *type,
                            const struct shape_count *shapes, uint32_t count)
{
    struct res left = type->capacity;

    for (uint32_t i = 0; i < count; i++) {
        const struct res *demand = shape_demand_on(view->shapes, shapes[i].shape, type->family);

        if (demand == NULL)
            return false;
        for (int kind = 0; kind < RES_KINDS; kind++) {
            left.amount[kind] -= demand->amount[kind] * (int64_t)shapes[i].count;
            if (left.amount[kind] < 0)
                return false;
        }
    }
    return true;
}

/* As reservation_cheapest_holding, and on demand also among the offers that are blocked. */
static uint32_t cheapest(const struct view *view, const struct shape_count *shapes, uint32_t count,
                         money_t below, bool even_blocked)
{
    uint32_t best = OFFER_NONE;
    money_t price = below;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        if (view->offer_price[offer] >= price ||
            (!even_blocked && !reservation_is_open(view, offer)))
            continue;
        if (reservation_type_holds(view, catalogue_type_of(view->catalogue, offer), shapes,
                                   count)) {
            best = offer;
            price = view->offer_price[offer];
        }
    }
    return best;
}

uint32_t reservation_cheapest_holding(const struct view *view, const struct shape_count *shapes,
                                      uint32_t count, money_t below)
{
    return cheapest(view, shapes, count, below, false);
}

void reservation_update(struct view *view)
{
    const uint32_t count = view->shapes->count;

    MEM_ROOM(view->shape_offer, view->shapes_offer_room, count);
    MEM_ROOM(view->shape_price, view->shapes_priced_room, count);
    for (uint32_t shape = view->shapes_priced; shape < count; shape++) {
        const struct shape_count one = { .shape = shape, .count = 1 };
        const uint32_t offer = cheapest(view, &one, 1, MONEY_UNKNOWN, false);
        const uint32_t worth =
            offer != OFFER_NONE ? offer : cheapest(view, &one, 1, MONEY_UNKNOWN, true);

        view->shape_offer[shape] = offer;
        view->shape_price[shape] = worth != OFFER_NONE ? view->offer_price[worth] : 0;
    }
    view->shapes_priced = count;
}

void reservation_forget(struct view *view)
{
    view->shapes_priced = 0;
}
