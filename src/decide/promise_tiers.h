/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise_tiers.h - a service of several tiers: how often all of them have their capacity at once.
 *
 * Tiers that are planned alike rent from the same offers and lose them at the same moment: the whole
 * is then about as available as its weakest tier, and not as the product of all (TR-Kubernetes, section
 * 3.4). Both of these are bounds; this is the exact number, by going through what may be gone together.
 *
 * Costs:  at most 2^(offers used). A combination that is rarer than 'ignore' is not followed further and
 *         counts as short: the answer errs to the safe side.
 */
#ifndef STINT_DECIDE_PROMISE_TIERS_H
#define STINT_DECIDE_PROMISE_TIERS_H

#include "decide/promise.h"

enum { PROMISE_TIERS_MAX = 8 };

struct promise_tier {
    int64_t capacity;
    const uint32_t *machines; /* per offer */
};

/* The share of the time in which at least one tier is short. */
double promise_tiers_short(const struct promise_offer *offers, uint32_t offer_count,
                           const struct promise_tier *tiers, uint32_t tier_count, double ignore,
                           struct arena *arena);

#endif
