/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k offers of C/(k-f) units each have C left when any f of them are gone. Which k: the first of an
 * order by price per unit plus a weight times the share of the time in which the offer is gone. A few
 * dozen weights, all k and f up to five are tried; how often more than f of k are gone is carried from
 * one k to the next. Where whole types may be lost, orders that take at most one or two offers of a
 * type are tried too.
 */
#include "decide/promise.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOSSES_MOST = 5,
    WEIGHTS = 24, /* 0, then powers of two from the cheapest unit price on */
    ROUNDS_MOST = 200,
    REACH_OFFERS = 64, /* of so many the best is sought when none holds */
    REACH_SLOTS = 9,
};

struct ranked {
    double key;
    uint32_t offer;
};

static int by_key(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;

    if (a->key < b->key || a->key > b->key)
        return a->key < b->key ? -1 : 1;
    return a->offer < b->offer ? -1 : 1;
}

struct search {
    const struct promise *promise;
    struct arena *arena;
    struct ranked *order;
    uint32_t order_count;
    uint32_t *of_type;  /* how many offers of a type are in the order */
    uint32_t *machines; /* of the pool that is looked at */
    struct promise_pool best;
    bool has_best;
};

static uint32_t type_count(const struct promise *promise)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < promise->count; i++)
        count = promise->offers[i].type >= count ? promise->offers[i].type + 1 : count;
    return count;
}

static double unit_price(const struct promise_offer *offer)
{
    return (double)offer->price / (double)offer->capacity;
}

static void rank(struct search *search, double weight, uint32_t per_type)
{
    const struct promise *promise = search->promise;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < promise->count; i++)
        search->order[i] =
            (struct ranked){ unit_price(&promise->offers[i]) + weight * promise->offers[i].down,
                             i };
    qsort(search->order, promise->count, sizeof(*search->order), by_key);
    memset(search->of_type, 0, type_count(promise) * sizeof(*search->of_type));
    for (uint32_t i = 0; i < promise->count; i++) {
        const struct ranked ranked = search->order[i];

        if (search->of_type[promise->offers[ranked.offer].type]++ < per_type)
            search->order[kept++] = ranked;
    }
    search->order_count = kept;
}

static double shortfall(const struct promise *promise, const struct promise_verdict *verdict)
{
    return promise->only_joint ? verdict->short_joint
                               : fmax(verdict->short_independent, verdict->short_joint);
}

/* Holding goes before price, price before shortfall; of those that do not hold, shortfall first. */
static bool is_better(const struct promise *promise, const struct promise_verdict *a,
                      const struct promise_verdict *b)
{
    const double more = shortfall(promise, a) - shortfall(promise, b);

    if (a->holds != b->holds)
        return a->holds;
    if (a->holds || fabs(more) <= 0)
        return a->price < b->price;
    return more < 0;
}

static uint32_t machines_for(const struct promise_offer *offer, int64_t share)
{
    return (uint32_t)((share + offer->capacity - 1) / offer->capacity);
}

/* The first 'k' of the order with so many units each. */
static void look_at(struct search *search, uint32_t k, int64_t share, double tail)
{
    const struct promise *promise = search->promise;
    struct promise_pool *best = &search->best;
    money_t price = 0;
    int64_t capacity = 0;

    memset(search->machines, 0, promise->count * sizeof(*search->machines));
    for (uint32_t i = 0; i < k; i++) {
        const struct promise_offer *offer = &promise->offers[search->order[i].offer];
        const uint32_t count = machines_for(offer, share);

        search->machines[search->order[i].offer] = count;
        price += offer->price * count;
        capacity += offer->capacity * count;
    }
    if (capacity > PROMISE_OVERBUY * promise->capacity)
        return;
    if (search->has_best && best->verdict.holds &&
        (price >= best->verdict.price || (!promise->only_joint && tail > 2 * promise->short_most)))
        return;

    const struct promise_verdict verdict = promise_judge(promise, search->machines, search->arena);

    if (search->has_best && !is_better(promise, &verdict, &best->verdict))
        return;
    memcpy(best->machines, search->machines, promise->count * sizeof(*best->machines));
    best->verdict = verdict;
    search->has_best = true;
}

/* All k and f of the order. at[m]: the share of the time in which m offers are gone, the last m: or
 * more. */
static void look_through(struct search *search)
{
    const struct promise *promise = search->promise;
    double at[LOSSES_MOST + 2] = { 1 };

    for (uint32_t k = 1; k <= search->order_count; k++) {
        const double down = promise->offers[search->order[k - 1].offer].down;
        double tail = 0;

        at[LOSSES_MOST + 1] += at[LOSSES_MOST] * down;
        for (int m = LOSSES_MOST; m > 0; m--)
            at[m] = at[m] * (1 - down) + at[m - 1] * down;
        at[0] *= 1 - down;
        for (int f = LOSSES_MOST; f >= 0; f--) {
            tail += at[f + 1];
            if ((uint32_t)f < k)
                look_at(search, k, (promise->capacity + k - f - 1) / (k - (uint32_t)f), tail);
        }
    }
}

/* ---- when none holds ---- */

/* The offer that, as number 'k' of the order, leaves the pool short for the least time. */
static uint32_t best_next(struct search *search, uint32_t k, int64_t share)
{
    const struct promise *promise = search->promise;
    uint32_t best = promise->count;
    double least = HUGE_VAL;

    for (uint32_t i = 0; i < promise->count; i++) {
        bool is_taken = false;

        memset(search->machines, 0, promise->count * sizeof(*search->machines));
        search->order[k - 1].offer = i;
        for (uint32_t at = 0; at < k; at++) {
            const uint32_t offer = search->order[at].offer;

            is_taken |= at + 1 < k && offer == i;
            search->machines[offer] = machines_for(&promise->offers[offer], share);
        }
        if (is_taken)
            continue;

        const struct promise_verdict verdict =
            promise_judge(promise, search->machines, search->arena);

        if (shortfall(promise, &verdict) < least) {
            least = shortfall(promise, &verdict);
            best = i;
        }
    }
    return best;
}

/* Offer by offer, whatever goes best with those that are there: orders by price and share alone do not
 * see what is gone together. */
static void reach_out(struct search *search)
{
    const struct promise *promise = search->promise;

    for (uint32_t f = 0; f <= LOSSES_MOST; f++) {
        for (uint32_t k = 1; k <= REACH_SLOTS && k <= promise->count; k++) {
            const uint32_t parts = k > f ? k - f : 1;
            const int64_t share = (promise->capacity + parts - 1) / parts;

            search->order[k - 1].offer = best_next(search, k, share);
            look_at(search, k, share, 0);
        }
    }
}

static double cheapest_unit(const struct promise *promise)
{
    double least = HUGE_VAL;

    for (uint32_t i = 0; i < promise->count; i++)
        least = fmin(least, unit_price(&promise->offers[i]));
    return least;
}

struct promise_pool promise_k_of_n(const struct promise *promise, struct arena *arena)
{
    struct search search = { .promise = promise,
                             .arena = arena,
                             .order = ARENA_ARRAY(arena, struct ranked, promise->count),
                             .of_type = ARENA_ARRAY(arena, uint32_t, type_count(promise)),
                             .machines = ARENA_ARRAY(arena, uint32_t, promise->count),
                             .best.machines = ARENA_ARRAY(arena, uint32_t, promise->count) };
    const double unit = cheapest_unit(promise);

    assert(promise->count > 0);
    for (int w = 0; w < WEIGHTS; w++) {
        const double weight = w > 0 ? ldexp(unit, w - 1) : 0;

        for (uint32_t per_type = 1; promise->survives_types && per_type <= 2; per_type++) {
            rank(&search, weight, per_type);
            look_through(&search);
        }
        rank(&search, weight, UINT32_MAX);
        look_through(&search);
    }
    if (!(search.has_best && search.best.verdict.holds) && promise->count <= REACH_OFFERS)
        reach_out(&search);
    if (!search.has_best) /* every pool of the kind is too large: machines are larger than needed */
        return promise_fleet_cheapest(promise, arena);
    return search.best;
}

/* Whether the pool holds with 'less' fewer of one offer and 'more' more of another, and is cheaper;
 * if so, that is the pool. */
static bool exchange(const struct promise *promise, struct promise_pool *pool, uint32_t from,
                     uint32_t to, uint32_t more, struct arena *arena)
{
    pool->machines[from]--;
    pool->machines[to] += more;
    if (promise_price(promise, pool->machines) < pool->verdict.price) {
        const struct promise_verdict verdict = promise_judge(promise, pool->machines, arena);

        if (verdict.holds) {
            pool->verdict = verdict;
            return true;
        }
    }
    pool->machines[from]++;
    pool->machines[to] -= more;
    return false;
}

/* Try to give up a machine of 'from', for nothing or for machines of another offer. */
static bool improve_by(const struct promise *promise, struct promise_pool *pool, uint32_t from,
                       struct arena *arena)
{
    const struct promise_offer *given = &promise->offers[from];

    if (exchange(promise, pool, from, from, 0, arena))
        return true;
    for (uint32_t to = 0; to < promise->count; to++) {
        const uint32_t whole = machines_for(&promise->offers[to], given->capacity);

        if (to == from)
            continue;
        for (uint32_t more = whole > 2 ? whole - 2 : 1; more <= whole; more++) {
            if (exchange(promise, pool, from, to, more, arena))
                return true;
        }
    }
    return false;
}

void promise_improve(const struct promise *promise, struct promise_pool *pool, struct arena *arena)
{
    bool is_better_now = pool->verdict.holds;

    for (int round = 0; is_better_now && round < ROUNDS_MOST; round++) {
        is_better_now = false;
        for (uint32_t i = 0; i < promise->count; i++) {
            if (pool->machines[i] > 0)
                is_better_now |= improve_by(promise, pool, i, arena);
        }
    }
}
