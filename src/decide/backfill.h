/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backfill.h - which jobs of a queue start now: EASY backfill.
 *
 * Jobs start in the order of the queue as long as there is room. The first that does not fit gets a
 * reservation at the earliest time at which enough machines will be free, going by the estimates;
 * jobs behind it may start now if they do not delay that: they end before it, or need no more than
 * what the reservation leaves over (Lifka's EASY scheduler; SEC, TPDS'16, section 4).
 *
 * Promises:  pure; no job that is started delays the reservation, if estimates are not exceeded.
 * Costs:     O(ends + jobs); 'ends' come sorted.
 */
#ifndef STINT_DECIDE_BACKFILL_H
#define STINT_DECIDE_BACKFILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

struct backfill_job {
    uint32_t size;  /* machines that it needs at once */
    msec_t runtime; /* estimated */
    bool starts;    /* the answer */
};

/* So many machines become free (or ready) at a time. */
struct backfill_end {
    msec_t at;
    uint32_t count;
};

struct backfill_input {
    msec_t now;
    uint32_t free;                   /* machines that are idle now */
    const struct backfill_end *ends; /* by time */
    uint32_t end_count;
    struct backfill_job *jobs; /* in the order of the queue; 'starts' is written */
    uint32_t job_count;
};

struct backfill_result {
    uint32_t top;        /* the first job that does not start; job_count: all do */
    msec_t reserved_at;  /* when it will, going by the estimates; MSEC_NEVER: it is too large */
    uint32_t free_after; /* machines that stay idle now */
    bool any_starts;
};

struct backfill_result backfill_easy(const struct backfill_input *in);

#endif
