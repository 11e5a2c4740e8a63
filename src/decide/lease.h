/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h - time that is already paid for: which idle instance to use, and when to let one go.
 *
 * Where time is billed in hours, an idle instance costs nothing more until its hour ends. So it is
 * kept until then, and work prefers instances by what is left of their lease (SEC, TPDS'16, sections
 * 4.1 and 4.2).
 *
 * Costs:  O(idle instances), with a logarithm for those that are of interest.
 */
#ifndef STINT_DECIDE_LEASE_H
#define STINT_DECIDE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/row_map.h"
#include "model/plan.h"
#include "model/view.h"

/* Which idle instance first. */
enum lease_order {
    LEASE_MAX_MARGIN, /* most paid time left */
    LEASE_MIN_MARGIN,
    LEASE_MAX_IDLE, /* idle the longest */
    LEASE_MIN_IDLE,
    LEASE_RANDOM, /* by a hash of instance and time */
};

/* Their words, in the same order, NULL at the end: the choices of an option. */
extern const char *const lease_order_words[];

/* The end of the time that is paid for an instance that runs. */
msec_t lease_end(const struct view *view, uint32_t instance);

/* The time that is paid for whatever happens, from now: what is left of the lease, or of the first one
 * and what comes before it, if the instance is not billed yet. */
msec_t lease_left(const struct view *view, uint32_t instance);

/* The same for an instance that is kept for 'busy' from now: no less than what is left of the lease. */
msec_t lease_until(const struct view *view, uint32_t instance, msec_t busy);

/*
 * Whether an instance without work is worth what it costs to keep for 'wait' more, until the next decision: it is paid for
 * until then, or the chance that it is used then, 'used_ppm', times its setup, which another one would be billed for, is
 * longer than what has to be paid for.
 */
bool lease_spans(const struct view *view, uint32_t instance, msec_t wait, uint32_t used_ppm);

/* What to look for. */
struct lease_query {
    uint32_t offer;
    uint32_t owner; /* a user whose instances alone count, or NAME_NONE */
    enum lease_order order;
    uint64_t most; /* only so many are of interest */
};

/* The ready and idle instances that the query asks for. Returns how many there are in all; of these
 * the first 'most' are in order. 'ret' is the arena's. */
uint32_t lease_idle(const struct view *view, const struct lease_query *query, struct arena *arena,
                    uint32_t **ret);

/*
 * Where decisions are made in rounds, both of these let go of what the next round would find too late.
 *
 * Let go of idle instances whose paid time ends before the next check. Checks are at multiples of 'check_ms'. The plan
 * asks to wake for the next one that will find something. A decision that comes late makes up for it. 'spared' (per
 * instance row, may be NULL) are those that this plan has given work to.
 */
void lease_release(const struct view *view, msec_t check_ms, const bool *spared, struct plan *plan);

/*
 * The same, but each at its own moment: as late as the bill allows, 'margin_ms' earlier for whatever
 * delays the action. Where time is billed in steps no longer than that, this is at once. An instance that
 * is not billed yet goes at once: it may never be. The plan asks to wake for the next one.
 */
void lease_release_late(const struct view *view, msec_t margin_ms, const struct row_map *spared,
                        struct plan *plan);

#endif
