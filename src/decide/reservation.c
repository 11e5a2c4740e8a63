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

uint32_t reservation_cheapest_holding(const struct view *view, const struct shape_count *shapes,
                                      uint32_t count, money_t below)
{
    uint32_t best = OFFER_NONE;
    money_t price = below;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        if (view->offer_price[offer] >= price || !reservation_is_open(view, offer))
            continue;
        if (reservation_type_holds(view, catalogue_type_of(view->catalogue, offer), shapes,
                                   count)) {
            best = offer;
            price = view->offer_price[offer];
        }
    }
    return best;
}

void reservation_update(struct view *view)
{
    const uint32_t count = view->shapes->count;

    MEM_ROOM(view->shape_offer, view->shapes_offer_room, count);
    MEM_ROOM(view->shape_price, view->shapes_priced_room, count);
    for (uint32_t shape = view->shapes_priced; shape < count; shape++) {
        const struct shape_count one = { .shape = shape, .count = 1 };
        const uint32_t offer = reservation_cheapest_holding(view, &one, 1, MONEY_UNKNOWN);

        view->shape_offer[shape] = offer;
        view->shape_price[shape] = offer != OFFER_NONE ? view->offer_price[offer] : 0;
    }
    view->shapes_priced = count;
}

void reservation_forget(struct view *view)
{
    view->shapes_priced = 0;
}
