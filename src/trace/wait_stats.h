/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_stats.h - how long jobs waited: the mean, the middle one, the twentieth from the top.
 *
 * Words:     the p-th percentile of n values is the smallest that at least p % of them do not
 *            exceed; it is one of the values, never between two.
 * Promises:  pure; whole milliseconds, the mean rounded down.
 * Bounds:    O(n log n).
 */
#ifndef STINT_TRACE_WAIT_STATS_H
#define STINT_TRACE_WAIT_STATS_H

#include <stdint.h>

#include "base/units.h"

struct wait_stats {
    uint32_t count; /* 0: nothing is known, and the others are 0 */
    msec_t mean_ms;
    msec_t p50_ms;
    msec_t p95_ms;
};

/* Sorts 'waits', of which none is below 0. */
struct wait_stats wait_stats_of(msec_t *waits, uint32_t count);

#endif
