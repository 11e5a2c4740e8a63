/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/rent_merge.h"

#include <assert.h>
#include <stdlib.h>

#include "decide/reservation.h"
#include "learn/runtimes.h"

enum { WINDOW = 64 }; /* machines that are compared with each other */

/* A machine that the plan rents. */
struct part {
    uint32_t rent;
    uint32_t offer;
    uint32_t first, last; /* of its places; ROW_NONE: there are none */
    struct res sum;       /* what they take of it */
    money_t price;
    money_t apart;  /* of the machines that were merged, as they were */
    uint32_t other; /* the offer of one of them, if it is another one */
    bool is_merged;
};

struct merger {
    const struct view *view;
    struct plan *plan;
    uint32_t first_rent, first_place;
    uint32_t *offers; /* on demand and open, the cheapest first */
    uint32_t offer_count;
    uint32_t *next; /* by place: the next one on the same machine */
    struct part *parts;
    uint32_t *into; /* by rent: the one that has its tasks now */
};

static const struct offer *offer_of(const struct merger *merger, uint32_t offer)
{
    return &merger->view->catalogue->offers[offer];
}

static const struct res *demand_of(const struct merger *merger, uint32_t place, uint32_t offer)
{
    const struct view *view = merger->view;

    return shape_demand_at(view->shapes, view->task.shape[merger->plan->places[place].task],
                           view->catalogue, offer);
}

/* Whether the task may stand on whatever machine holds it, for as long as that is there. */
static bool is_at_home_anywhere(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->task.estimate_ms[task] >= RUNTIME_HORIZON_MS && !view->job.gang[job] &&
           view->job.apart[job] == ROW_NONE;
}

/* The order of 'offers'. */
struct priced {
    money_t price;
    uint32_t offer;
};

static int compare_prices(const void *left, const void *right)
{
    const struct priced *a = left;
    const struct priced *b = right;

    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    return (a->offer > b->offer) - (a->offer < b->offer);
}

static void list_offers(struct merger *merger)
{
    const struct view *view = merger->view;
    const uint32_t count = view->catalogue->offer_count;
    struct priced *sorted = ARENA_ARRAY(merger->plan->arena, struct priced, count);

    merger->offers = ARENA_ARRAY(merger->plan->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        if (offer_of(merger, i)->market == MARKET_ON_DEMAND && reservation_is_open(view, i))
            sorted[merger->offer_count++] =
                (struct priced){ .price = view->offer_price[i], .offer = i };
    }
    qsort(sorted, merger->offer_count, sizeof(*sorted), compare_prices);
    for (uint32_t i = 0; i < merger->offer_count; i++)
        merger->offers[i] = sorted[i].offer;
}

/* All machines of the plan, with their places; those that may not be merged are marked by 'into' ROW_NONE. */
static void list_parts(struct merger *merger)
{
    struct plan *plan = merger->plan;
    const uint32_t count = plan->rent_count - merger->first_rent;

    merger->parts = ARENA_ARRAY(plan->arena, struct part, count);
    merger->into = ARENA_ARRAY(plan->arena, uint32_t, count);
    merger->next = ARENA_ARRAY(plan->arena, uint32_t, plan->place_count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t offer = plan->rents[merger->first_rent + i].offer;
        const bool is_safe = offer_of(merger, offer)->market == MARKET_ON_DEMAND;

        merger->into[i] = is_safe ? i : ROW_NONE;
        merger->parts[i] = (struct part){ .rent = i,
                                          .offer = offer,
                                          .first = ROW_NONE,
                                          .last = ROW_NONE,
                                          .other = OFFER_NONE,
                                          .price = merger->view->offer_price[offer],
                                          .apart = merger->view->offer_price[offer] };
    }
    for (uint32_t i = merger->first_place; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];
        struct part *part;
        const struct res *demand;

        merger->next[i] = ROW_NONE;
        if (!place->fresh || place->target < merger->first_rent)
            continue;
        part = &merger->parts[place->target - merger->first_rent];
        demand = demand_of(merger, i, part->offer);
        if (!is_at_home_anywhere(merger->view, place->task) || demand == NULL)
            merger->into[part->rent] = ROW_NONE;
        else
            res_add(&part->sum, demand);
        if (part->first == ROW_NONE)
            part->first = i;
        else
            merger->next[part->last] = i;
        part->last = i;
    }
    for (uint32_t i = 0; i < plan->wait_count; i++) {
        const struct plan_wait *wait = &plan->waits[i];

        if (wait->fresh && wait->target != UINT32_MAX && wait->target >= merger->first_rent)
            merger->into[wait->target - merger->first_rent] = ROW_NONE;
    }
}

/* The exact sum of what the part's tasks take of a machine of the offer; false: one may not run there. */
static bool add_up(const struct merger *merger, const struct part *part, uint32_t offer,
                   struct res *sum)
{
    for (uint32_t i = part->first; i != ROW_NONE; i = merger->next[i]) {
        const struct res *demand = demand_of(merger, i, offer);

        if (demand == NULL)
            return false;
        res_add(sum, demand);
    }
    return true;
}

/* Whether the machine is in the zone of both, and no worse than they are but for its price. */
static bool is_like(const struct merger *merger, uint32_t offer, const struct part *a,
                    const struct part *b)
{
    const struct catalogue *catalogue = merger->view->catalogue;
    const msec_t *lasts = merger->view->offer_lasts;
    const msec_t boot_a = catalogue_boot_ms(catalogue, a->offer);
    const msec_t boot_b = catalogue_boot_ms(catalogue, b->offer);

    return offer_of(merger, offer)->zone == offer_of(merger, a->offer)->zone &&
           lasts[offer] >= lasts[a->offer] && lasts[offer] >= lasts[b->offer] &&
           catalogue_boot_ms(catalogue, offer) <= (boot_a > boot_b ? boot_a : boot_b);
}

/* The cheapest machine that holds all that is on both, and costs no more; OFFER_NONE: there is none. */
static uint32_t cheapest_for(const struct merger *merger, const struct part *a,
                             const struct part *b, struct res *ret)
{
    const struct view *view = merger->view;
    const money_t least = a->price > b->price ? a->price : b->price;
    struct res about = a->sum;
    uint32_t low = 0;
    uint32_t high = merger->offer_count;

    if (offer_of(merger, a->offer)->zone != offer_of(merger, b->offer)->zone)
        return OFFER_NONE;
    res_add(&about, &b->sum);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (view->offer_price[merger->offers[middle]] < least)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < merger->offer_count; low++) {
        const uint32_t offer = merger->offers[low];
        struct res sum = { { 0 } };

        if (view->offer_price[offer] > a->price + b->price)
            break;
        if (!res_fits(&about, &catalogue_type_of(view->catalogue, offer)->capacity) ||
            !is_like(merger, offer, a, b))
            continue;
        if (add_up(merger, a, offer, &sum) && add_up(merger, b, offer, &sum) &&
            res_fits(&sum, &catalogue_type_of(view->catalogue, offer)->capacity)) {
            *ret = sum;
            return offer;
        }
    }
    return OFFER_NONE;
}

/* What was to be rented for the part before it was merged, or one of these. */
static uint32_t offer_before(const struct part *part)
{
    return part->is_merged && part->other != OFFER_NONE ? part->other : part->offer;
}

/* The tasks of 'from' go to 'to', which becomes a machine of the offer. */
static void merge(struct merger *merger, struct part *to, const struct part *from, uint32_t offer,
                  const struct res *sum)
{
    merger->next[to->last] = from->first;
    to->last = from->last;
    to->sum = *sum;
    if (offer_before(to) != offer)
        to->other = offer_before(to);
    else
        to->other = offer_before(from);
    to->apart += from->apart;
    to->is_merged = true;
    to->offer = offer;
    to->price = merger->view->offer_price[offer];
    merger->into[from->rent] = to->rent;
}

/* With whichever of the others that saves most; false: with none. That one is taken out of the window. */
static bool merge_best(struct merger *merger, struct part **window, uint32_t *count, uint32_t at)
{
    uint32_t best = ROW_NONE;
    uint32_t best_offer = OFFER_NONE;
    money_t saved = -1;
    struct res best_sum = { { 0 } };

    for (uint32_t i = 0; i < *count; i++) {
        struct res sum = { { 0 } };
        const uint32_t offer =
            i != at ? cheapest_for(merger, window[at], window[i], &sum) : OFFER_NONE;
        const money_t saves = offer != OFFER_NONE ? window[at]->price + window[i]->price -
                                                        merger->view->offer_price[offer]
                                                  : -1;

        if (saves > saved) {
            saved = saves;
            best = i;
            best_offer = offer;
            best_sum = sum;
        }
    }
    if (best == ROW_NONE)
        return false;
    merge(merger, window[at], window[best], best_offer, &best_sum);
    for (uint32_t i = best; i + 1 < *count; i++)
        window[i] = window[i + 1];
    (*count)--;
    return true;
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = *(struct part *const *)left;
    const struct part *b = *(struct part *const *)right;

    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    return (a->rent > b->rent) - (a->rent < b->rent);
}

/* Every new machine is compared with all others that are left then, so in the end no two can be merged. */
static void merge_window(struct merger *merger, struct part **window, uint32_t count)
{
    qsort(window, count, sizeof(struct part *), compare_parts);
    for (uint32_t i = 0; i < count;) {
        const struct part *const self = window[i];

        if (!merge_best(merger, window, &count, i)) {
            i++;
            continue;
        }
        while (i >= count || window[i] != self) /* one before it may be gone */
            i--;
    }
}

/* The plan without the machines that gave way. */
static void rewrite(struct merger *merger)
{
    struct plan *plan = merger->plan;
    const uint32_t count = plan->rent_count - merger->first_rent;
    uint32_t *row = ARENA_ARRAY(plan->arena, uint32_t, count);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct plan_rent *rent = &plan->rents[merger->first_rent + i];
        const struct part *part = &merger->parts[i];

        if (merger->into[i] != ROW_NONE && merger->into[i] != i)
            continue;
        if (part->is_merged) {
            rent->why = plan_because(rent->why.code, part->price);
            plan_reject(&rent->why, part->offer, part->other, part->apart);
            rent->offer = part->offer;
        }
        row[i] = merger->first_rent + kept;
        plan->rents[merger->first_rent + kept++] = *rent;
    }
    plan->rent_count = merger->first_rent + kept;
    for (uint32_t i = merger->first_place; i < plan->place_count; i++) {
        struct plan_place *place = &plan->places[i];
        uint32_t at;

        if (!place->fresh || place->target < merger->first_rent)
            continue;
        at = place->target - merger->first_rent;
        while (merger->into[at] != ROW_NONE && merger->into[at] != at)
            at = merger->into[at];
        place->target = row[at];
        place->why = plan->rents[row[at]].why;
    }
    for (uint32_t i = 0; i < plan->wait_count; i++) {
        struct plan_wait *wait = &plan->waits[i];

        if (wait->fresh && wait->target != UINT32_MAX && wait->target >= merger->first_rent)
            wait->target = row[wait->target - merger->first_rent];
    }
}

void rent_merge(const struct view *view, uint32_t first_rent, uint32_t first_place,
                struct plan *plan)
{
    struct merger merger = {
        .view = view, .plan = plan, .first_rent = first_rent, .first_place = first_place
    };
    struct part *window[WINDOW];
    uint32_t count = 0;

    assert(first_rent <= plan->rent_count);
    if (plan->rent_count - first_rent < 2)
        return;
    list_offers(&merger);
    list_parts(&merger);
    for (uint32_t i = 0; i < plan->rent_count - first_rent; i++) {
        if (merger.into[i] == i && merger.parts[i].first != ROW_NONE)
            window[count++] = &merger.parts[i];
        if (count == WINDOW) {
            merge_window(&merger, window, count);
            count = 0;
        }
    }
    if (count > 1)
        merge_window(&merger, window, count);
    rewrite(&merger);
}
