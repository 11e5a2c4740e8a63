/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/promise_tiers.h"

#include <assert.h>
#include <stdbool.h>

/* A combination of losses among the first offers; of the others everything is still there. */
struct branch {
    uint32_t next; /* the first offer that is not decided on */
    double share;
    int64_t left[PROMISE_TIERS_MAX]; /* the capacity of each tier */
};

static bool is_used(const struct promise_tier *tiers, uint32_t count, uint32_t offer)
{
    for (uint32_t i = 0; i < count; i++) {
        if (tiers[i].machines[offer] > 0)
            return true;
    }
    return false;
}

static bool is_short(const struct promise_tier *tiers, uint32_t count, const struct branch *branch)
{
    for (uint32_t i = 0; i < count; i++) {
        if (branch->left[i] < tiers[i].capacity)
            return true;
    }
    return false;
}

static struct branch whole(const struct promise_offer *offers, uint32_t offer_count,
                           const struct promise_tier *tiers, uint32_t tier_count)
{
    struct branch all = { .share = 1 };

    for (uint32_t t = 0; t < tier_count; t++) {
        for (uint32_t i = 0; i < offer_count; i++)
            all.left[t] += offers[i].capacity * tiers[t].machines[i];
    }
    return all;
}

/*
 * Depth first, with a stack of our own: it holds one branch for each offer at most. What is short stays
 * short whatever else is lost, so such a branch ends there.
 */
double promise_tiers_short(const struct promise_offer *offers, uint32_t offer_count,
                           const struct promise_tier *tiers, uint32_t tier_count, double ignore,
                           struct arena *arena)
{
    const struct arena_mark mark = arena_mark(arena);
    struct branch *stack = ARENA_ARRAY(arena, struct branch, (size_t)offer_count + 2);
    uint32_t depth = 1;
    double sum = 0;

    assert(tier_count <= PROMISE_TIERS_MAX);
    stack[0] = whole(offers, offer_count, tiers, tier_count);
    while (depth > 0) {
        struct branch at = stack[--depth];

        if (is_short(tiers, tier_count, &at) || at.share < ignore) {
            sum += at.share;
            continue;
        }
        while (at.next < offer_count && !is_used(tiers, tier_count, at.next))
            at.next++;
        if (at.next == offer_count)
            continue;

        struct branch lost = at;
        const double down = offers[at.next].down;

        for (uint32_t t = 0; t < tier_count; t++)
            lost.left[t] -= offers[at.next].capacity * tiers[t].machines[at.next];
        lost.share *= down;
        at.share *= 1 - down;
        lost.next = ++at.next;
        stack[depth++] = at;
        stack[depth++] = lost;
    }
    arena_rewind(arena, mark);
    return sum;
}
