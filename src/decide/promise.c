/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/promise.h"

#include <assert.h>
#include <math.h>

#include "decide/avail.h"

money_t promise_price(const struct promise *promise, const uint32_t *machines)
{
    money_t sum = 0;

    for (uint32_t i = 0; i < promise->count; i++)
        sum += promise->offers[i].price * machines[i];
    return sum;
}

int64_t promise_capacity(const struct promise *promise, const uint32_t *machines)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < promise->count; i++)
        sum += promise->offers[i].capacity * machines[i];
    return sum;
}

bool promise_survives(const struct promise *promise, const uint32_t *machines, uint32_t offer)
{
    return promise_capacity(promise, machines) -
               promise->offers[offer].capacity * machines[offer] >=
           promise->capacity;
}

double promise_short_least(const struct promise *promise)
{
    const struct avail_states *states = promise->states;
    double independent = promise->only_joint ? 0 : 1;
    msec_t joint = 0;

    for (uint32_t i = 0; i < promise->count; i++)
        independent *= promise->offers[i].down;
    for (uint32_t s = 0; states != NULL && s < states->count; s++) {
        uint32_t gone = 0;

        while (gone < promise->count && avail_states_is_gone(states, s, gone))
            gone++;
        joint += gone == promise->count ? states->span[s] : 0;
    }
    return joint > 0 ? fmax(independent, (double)joint / (double)states->total) : independent;
}

static double short_independent(const struct promise *promise, const uint32_t *machines,
                                struct arena *arena)
{
    struct avail avail;

    avail_init(&avail, promise->capacity, arena);
    for (uint32_t i = 0; i < promise->count; i++) {
        if (machines[i] > 0)
            avail_add(&avail, promise->offers[i].capacity * machines[i], promise->offers[i].down);
    }
    return avail_below(&avail, promise->capacity);
}

static double short_joint(const struct promise *promise, const uint32_t *machines,
                          struct arena *arena)
{
    const struct avail_states *states = promise->states;
    int64_t *held = NULL;

    if (states == NULL || states->total == 0)
        return 0;
    held = ARENA_ARRAY(arena, int64_t, promise->count);
    for (uint32_t i = 0; i < promise->count; i++)
        held[i] = promise->offers[i].capacity * machines[i];
    return (double)avail_states_below(states, held, promise->capacity) / (double)states->total;
}

static bool survives_types(const struct promise *promise, const uint32_t *machines,
                           int64_t capacity)
{
    for (uint32_t i = 0; i < promise->count; i++) {
        const uint32_t type = promise->offers[i].type;
        int64_t left = capacity;

        if (machines[i] == 0 || promise->offers[i].is_safe)
            continue;
        for (uint32_t k = 0; k < promise->count; k++) {
            if (promise->offers[k].type == type && !promise->offers[k].is_safe)
                left -= promise->offers[k].capacity * machines[k];
        }
        if (left < promise->capacity)
            return false;
    }
    return true;
}

/* Shares come from decimals: 1 - 0.99999 is a little above 0.00001, and is meant to be equal. */
static bool is_within(double share, double most)
{
    return share <= most * (1 + 1e-9);
}

struct promise_verdict promise_judge(const struct promise *promise, const uint32_t *machines,
                                     struct arena *arena)
{
    const struct arena_mark mark = arena_mark(arena);
    struct promise_verdict verdict = { .price = promise_price(promise, machines),
                                       .capacity = promise_capacity(promise, machines) };

    assert(promise->capacity > 0);
    verdict.short_independent = short_independent(promise, machines, arena);
    verdict.short_joint = short_joint(promise, machines, arena);
    verdict.survives_types = survives_types(promise, machines, verdict.capacity);
    verdict.holds =
        verdict.capacity >= promise->capacity &&
        (promise->only_joint || is_within(verdict.short_independent, promise->short_most)) &&
        is_within(verdict.short_joint, promise->short_most) &&
        (verdict.survives_types || !promise->survives_types);
    arena_rewind(arena, mark);
    return verdict;
}
