/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/reservation.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

bool reservation_offer_holds(const struct view *view, uint32_t offer,
                             const struct shape_count *shapes, uint32_t count)
{
    struct res left = catalogue_type_of(view->catalogue, offer)->capacity;

    for (uint32_t i = 0; i < count; i++) {
        const struct res *demand =
            shape_demand_at(view->shapes, shapes[i].shape, view->catalogue, offer);

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
        if (reservation_offer_holds(view, offer, shapes, count)) {
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

/*
 * Many shapes at once. Offers in the order of price and index, without those that an earlier one makes
 * needless: whatever fits them fits that too. What is left is short, and the first that holds a shape is its
 * offer. For shapes that take the same everywhere, families do not matter, and even less is left. For shapes
 * that may run on some offers only nothing is needless.
 */

struct rung {
    money_t price;
    uint32_t offer;
};

struct ladder {
    struct rung *rungs;
    uint32_t count;
};

enum ladder_kind {
    OPEN_PLAIN,
    OPEN_BY_FAMILY,
    OPEN_EACH,
    ALL_PLAIN, /* with the offers that are blocked */
    ALL_BY_FAMILY,
    ALL_EACH,
    LADDERS,
};

static int compare_rungs(const void *left, const void *right)
{
    const struct rung *a = left;
    const struct rung *b = right;

    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    return a->offer < b->offer ? -1 : a->offer > b->offer;
}

static bool is_needless(const struct view *view, const struct ladder *ladder,
                        const struct machine_type *type, bool by_family)
{
    for (uint32_t i = 0; i < ladder->count; i++) {
        const struct machine_type *other =
            catalogue_type_of(view->catalogue, ladder->rungs[i].offer);

        if ((!by_family || other->family == type->family) &&
            res_fits(&type->capacity, &other->capacity))
            return true;
    }
    return false;
}

static struct ladder ladder_create(const struct view *view, enum ladder_kind kind)
{
    const struct catalogue *catalogue = view->catalogue;
    struct ladder ladder = { .rungs = mem_alloc(catalogue->offer_count, sizeof(*ladder.rungs)) };
    bool *is_seen = mem_alloc(catalogue->type_count, sizeof(*is_seen));
    uint32_t count = 0;

    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        if (kind >= ALL_PLAIN || reservation_is_open(view, offer))
            ladder.rungs[count++] = (struct rung){ view->offer_price[offer], offer };
    }
    qsort(ladder.rungs, count, sizeof(*ladder.rungs), compare_rungs);
    if (kind == OPEN_EACH || kind == ALL_EACH)
        ladder.count = count;
    for (uint32_t i = ladder.count; i < count; i++) {
        const uint32_t type = catalogue->offers[ladder.rungs[i].offer].type;
        const bool by_family = kind == OPEN_BY_FAMILY || kind == ALL_BY_FAMILY;

        if (is_seen[type])
            continue;
        is_seen[type] = true;
        if (!is_needless(view, &ladder, &catalogue->types[type], by_family))
            ladder.rungs[ladder.count++] = ladder.rungs[i];
    }
    mem_free(is_seen);
    return ladder;
}

/* What the shape takes of every machine, whatever it is; NULL: it depends. One that wants a machine for itself fits
 * where this does. */
static const struct res *same_demand(const struct shapes *shapes, uint32_t shape)
{
    const struct shape *row = &shapes->rows[shape];
    const struct shape_demand *demand = &shapes->demands[row->demand_first];

    return row->offers == OFFERS_ALL && row->demand_count == 1 && demand->family == FAMILY_NONE
               ? &demand->res
               : NULL;
}

static uint32_t first_holding(const struct view *view, struct ladder *ladders,
                              enum ladder_kind kind, uint32_t shape)
{
    const struct res *same = same_demand(view->shapes, shape);
    struct ladder *ladder = &ladders[kind];

    if (ladder->rungs == NULL)
        *ladder = ladder_create(view, kind);
    for (uint32_t i = 0; i < ladder->count; i++) {
        const uint32_t offer = ladder->rungs[i].offer;

        if (same != NULL ? res_fits(same, &catalogue_type_of(view->catalogue, offer)->capacity)
                         : shape_fits_offer(view->shapes, shape, view->catalogue, offer))
            return offer;
    }
    return OFFER_NONE;
}

/* The ladder of open offers that does for the shape. */
static enum ladder_kind ladder_for(const struct shapes *shapes, uint32_t shape)
{
    if (shapes->rows[shape].offers != OFFERS_ALL)
        return OPEN_EACH;
    return same_demand(shapes, shape) != NULL ? OPEN_PLAIN : OPEN_BY_FAMILY;
}

static uint32_t price_shape(const struct view *view, struct ladder *ladders, uint32_t shape,
                            bool even_blocked)
{
    const struct shape_count one = { .shape = shape, .count = 1 };
    const enum ladder_kind open = ladder_for(view->shapes, shape);

    if (ladders == NULL)
        return cheapest(view, &one, 1, MONEY_UNKNOWN, even_blocked);
    return first_holding(view, ladders, even_blocked ? open + ALL_PLAIN : open, shape);
}

void reservation_update(struct view *view)
{
    enum { MANY = 32 }; /* from so many on ladders are worth building */

    const uint32_t count = view->shapes->count;
    struct ladder ladders[LADDERS] = { { NULL, 0 } };
    struct ladder *used = count - view->shapes_priced >= MANY ? ladders : NULL;

    assert(view->shapes_priced <= count);
    MEM_ROOM(view->shape_offer, view->shapes_offer_room, count);
    MEM_ROOM(view->shape_price, view->shapes_priced_room, count);
    for (uint32_t shape = view->shapes_priced; shape < count; shape++) {
        const uint32_t offer = price_shape(view, used, shape, false);
        const uint32_t worth = offer != OFFER_NONE ? offer : price_shape(view, used, shape, true);

        assert(worth == OFFER_NONE || view->offer_price[worth] >= 0);
        assert(offer == OFFER_NONE || reservation_is_open(view, offer));
        view->shape_offer[shape] = offer;
        view->shape_price[shape] = worth != OFFER_NONE ? view->offer_price[worth] : 0;
    }
    view->shapes_priced = count;
    for (uint32_t i = 0; i < LADDERS; i++)
        mem_free(ladders[i].rungs);
}

void reservation_forget(struct view *view)
{
    view->shapes_priced = 0;
}
