/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published rules. Of a candidate only two values of the pool without its offer are needed: how
 * often that has less than the threshold, and less than the threshold without the candidate's own
 * machines. For an offer that the pool does not have, that is the pool itself, which is computed once
 * for all of them.
 */
#include "decide/promise.h"

#include <assert.h>
#include <math.h>

#include "decide/avail.h"

enum { DIVERSE_OFFERS = 10 };

static double unit_price(const struct promise *promise, uint32_t offer)
{
    return (double)promise->offers[offer].price / (double)promise->offers[offer].capacity;
}

/* Offers in rising order of 'key'; equal keys by index. Insertion: there are hundreds, once. */
static uint32_t *sorted(const double *key, uint32_t count, struct arena *arena)
{
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;

        for (; at > 0 && key[order[at - 1]] > key[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/*
 * log(1/P), with P as the published code computes it: 1 minus the rest, so that rests below 1e-16 are
 * all alike and the first offer of the order wins. That is part of the rule: with exact logarithms it
 * would go on to spread machines over ever more offers while the pool is small, and pay for that.
 */
static double log_inverse(double below)
{
    const double above = 1 - below;

    return above > 0 ? -log(above) : HUGE_VAL;
}

void promise_walk_init(struct promise_walk *walk, const struct promise *promise,
                       struct arena *arena)
{
    double *key = ARENA_ARRAY(arena, double, promise->count);

    assert(promise->count > 0);
    for (uint32_t i = 0; i < promise->count; i++)
        key[i] = unit_price(promise, i) * log_inverse(promise->offers[i].down);
    *walk = (struct promise_walk){ .promise = promise,
                                   .arena = arena,
                                   .order = sorted(key, promise->count, arena),
                                   .machines = ARENA_ARRAY(arena, uint32_t, promise->count),
                                   .below = 1 };
}

void promise_walk_init_available(struct promise_walk *walk, const struct promise *promise,
                                 struct arena *arena)
{
    promise_walk_init(walk, promise, arena);
    walk->is_by_availability = true;
}

/* The distribution of the pool, with or without one offer. */
static void fill(const struct promise_walk *walk, uint32_t without, struct avail *avail)
{
    const struct promise *promise = walk->promise;

    avail_clear(avail);
    for (uint32_t i = 0; i < promise->count; i++) {
        if (i != without && walk->machines[i] > 0)
            avail_add(avail, promise->offers[i].capacity * walk->machines[i],
                      promise->offers[i].down);
    }
}

/* How often the pool with one more machine of 'offer' has less than it is asked for. */
static double below_with(const struct promise_walk *walk, uint32_t offer,
                         const struct avail *without)
{
    const struct promise_offer *of = &walk->promise->offers[offer];
    const int64_t total = walk->capacity + of->capacity;
    const int64_t own = of->capacity * (walk->machines[offer] + 1);
    const int64_t asked =
        total < walk->promise->capacity ? (total + 1) / 2 : walk->promise->capacity;
    const double if_gone = avail_below(without, asked);

    return of->down * if_gone +
           (1 - of->down) * (asked > own ? avail_below(without, asked - own) : 0);
}

struct candidate {
    uint32_t offer;
    double score; /* lower is better */
    double below;
    double
        above; /* 1 - below of the best at capacity, rounded as published; no later one may be less */
};

static void consider(const struct promise_walk *walk, uint32_t offer, double below,
                     struct candidate *best)
{
    const struct promise_offer *of = &walk->promise->offers[offer];
    const bool is_enough = walk->capacity + of->capacity >= walk->promise->capacity;
    const double price = walk->is_by_availability ? 1 : (double)(walk->price + of->price);
    const double score = price * log_inverse(below);

    if (score >= best->score || (is_enough && 1 - below < best->above))
        return;
    best->offer = offer;
    best->score = score;
    best->below = below;
    if (is_enough)
        best->above = 1 - below;
}

bool promise_walk_step(struct promise_walk *walk)
{
    const struct promise *promise = walk->promise;
    const struct arena_mark mark = arena_mark(walk->arena);
    const uint32_t seen = walk->is_by_availability || walk->steps >= promise->count
                              ? promise->count
                              : walk->steps + 1;
    struct candidate best = { .offer = walk->order[0], .score = HUGE_VAL, .below = 1, .above = 0 };
    struct avail all;
    struct avail rest;

    if (walk->capacity >= PROMISE_OVERBUY * promise->capacity)
        return false;
    avail_init(&all, promise->capacity, walk->arena);
    avail_init(&rest, promise->capacity, walk->arena);
    fill(walk, promise->count, &all);
    for (uint32_t i = 0; i < seen; i++) {
        const uint32_t offer = walk->order[i];
        const bool is_new = walk->machines[offer] == 0;

        if (!is_new)
            fill(walk, offer, &rest);
        consider(walk, offer, below_with(walk, offer, is_new ? &all : &rest), &best);
    }
    walk->machines[best.offer]++;
    walk->capacity += promise->offers[best.offer].capacity;
    walk->price += promise->offers[best.offer].price;
    walk->below = best.below;
    walk->steps++;
    arena_rewind(walk->arena, mark);
    return true;
}

bool promise_walk_reached(const struct promise_walk *walk, double short_most)
{
    return walk->capacity >= walk->promise->capacity && walk->below <= short_most;
}

static struct promise_pool judged(const struct promise *promise, uint32_t *machines,
                                  struct arena *arena)
{
    return (struct promise_pool){ .machines = machines,
                                  .verdict = promise_judge(promise, machines, arena) };
}

static struct promise_pool walked(struct promise_walk *walk)
{
    while (!promise_walk_reached(walk, walk->promise->short_most) && promise_walk_step(walk)) {
    }
    return judged(walk->promise, walk->machines, walk->arena);
}

struct promise_pool promise_greedy(const struct promise *promise, struct arena *arena)
{
    struct promise_walk walk;

    promise_walk_init(&walk, promise, arena);
    return walked(&walk);
}

struct promise_pool promise_available(const struct promise *promise, struct arena *arena)
{
    struct promise_walk walk;

    promise_walk_init_available(&walk, promise, arena);
    return walked(&walk);
}

/* A machine of each of the 'width' cheapest offers in turn, until there is enough. */
static struct promise_pool fleet(const struct promise *promise, uint32_t width, struct arena *arena)
{
    uint32_t *machines = ARENA_ARRAY(arena, uint32_t, promise->count);
    double *key = ARENA_ARRAY(arena, double, promise->count);
    int64_t capacity = 0;

    assert(promise->count > 0);
    for (uint32_t i = 0; i < promise->count; i++)
        key[i] = unit_price(promise, i);

    const uint32_t *order = sorted(key, promise->count, arena);

    if (width > promise->count)
        width = promise->count;
    for (uint32_t i = 0; capacity < promise->capacity; i++) {
        const uint32_t offer = order[i % width];

        machines[offer]++;
        capacity += promise->offers[offer].capacity;
    }
    return judged(promise, machines, arena);
}

struct promise_pool promise_fleet_cheapest(const struct promise *promise, struct arena *arena)
{
    return fleet(promise, 1, arena);
}

struct promise_pool promise_fleet_diverse(const struct promise *promise, struct arena *arena)
{
    return fleet(promise, DIVERSE_OFFERS, arena);
}
