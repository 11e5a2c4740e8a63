/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avail.h - how much capacity a pool of transient machines has, and for which share of the time.
 *
 * All machines of one offer come and go together, those of different offers independently: the
 * capacity of a pool is a sum of independent two-valued variables, and its distribution their
 * convolution (TR-Kubernetes, SIGMETRICS'19, section 3.2). It is computed at unit resolution up to a
 * limit; everything at or above the limit is one number.
 *
 * Promises:  exact but for rounding. All terms are positive, so a shortfall of 1e-12 is as exact as
 *            one of 0.1; nothing is ever computed as 1 minus something near 1.
 * Costs:     O(limit) for each offer; 8 bytes a unit, from the arena.
 */
#ifndef STINT_DECIDE_AVAIL_H
#define STINT_DECIDE_AVAIL_H

#include <stdint.h>

#include "base/arena.h"

struct avail {
    double *at;    /* the share of the time with exactly so much; at[limit]: with so much or more */
    int64_t limit; /* at least 1 */
    int64_t total; /* of all that was added */
};

/* An empty pool: no capacity, always. */
void avail_init(struct avail *avail, int64_t limit, struct arena *arena);

/* Empty it again. O(limit). */
void avail_clear(struct avail *avail);

/* Add machines of one offer with 'capacity' units together, which are gone for a share 'down' of the
 * time. */
void avail_add(struct avail *avail, int64_t capacity, double down);

/* The share of the time with less than 'capacity', which may be up to the limit. */
double avail_below(const struct avail *avail, int64_t capacity);

/* The mean of what is there beyond 'capacity', at most 'most' of it; both together are within the
 * limit. */
double avail_excess(const struct avail *avail, int64_t capacity, int64_t most);

#endif
