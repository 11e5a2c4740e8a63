/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise_repair.h - a pool that replaces what it loses, without any forecast.
 *
 * The pool has k slots of C/(k-f) units, each filled by machines of another offer, so any f of them may
 * be gone at once. A slot that loses its offer gets the cheapest one that is there and was not lost for
 * a while, on demand if there is none; it serves again after the time that a machine takes to start. A
 * slot that has become much dearer than the best free offer is moved there: the new machines start
 * first. f is fixed at 1 or above by rule and not tuned: with f = 0 every loss is a shortfall, however
 * rare losses were in the past.
 *
 * Pure: the caller has the clock and the market, and calls at every change and at the time that is returned.
 *
 * Costs:  O(slots x (offers + slots)) a call.
 */
#ifndef STINT_DECIDE_PROMISE_REPAIR_H
#define STINT_DECIDE_PROMISE_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "decide/promise.h"

#define REPAIR_NONE      UINT32_MAX       /* nothing */
#define REPAIR_ON_DEMAND (UINT32_MAX - 1) /* machines that are never taken away */

enum { REPAIR_SLOTS_MAX = 16 };

struct repair_rule {
    uint32_t slots;    /* k, up to REPAIR_SLOTS_MAX */
    uint32_t losses;   /* f, below k */
    msec_t start_ms;   /* from a request until the machines serve */
    msec_t calm_ms;    /* an offer that was lost is left alone for so long */
    uint32_t swap_ppm; /* a slot that is dearer than this, times the best free offer, is moved */
    bool types_apart;  /* no two slots of one type while there is another choice */
};

/* f = 1, k = 2, 180 s, 6 h, 1.5. */
struct repair_rule repair_rule_default(void);

struct repair_slot {
    uint32_t serving; /* an offer, on demand, or none */
    uint32_t coming;  /* likewise: what was asked for */
    msec_t ready_at;  /* when that serves */
};

/* The market at one moment. */
struct repair_market {
    msec_t now;
    const struct promise_offer *offers; /* their prices are those of this moment */
    uint32_t count;
    const bool *is_gone;
    const msec_t *lost_at;          /* when each was last seen gone; below 0: never */
    struct promise_offer on_demand; /* the cheapest machine per unit that is never taken away */
};

/* Units that a slot needs to have. */
int64_t repair_share(const struct repair_rule *rule, int64_t capacity);

/* Empty slots. */
void repair_init(const struct repair_rule *rule, struct repair_slot *slots);

/* What the slots serve with and wait for from this moment on. Returns when to call again at the
 * latest, or MSEC_NEVER. */
msec_t repair_step(const struct repair_rule *rule, const struct repair_market *market,
                   struct repair_slot *slots);

/* How many slots serve; the capacity is there if it is k - f or more. */
uint32_t repair_serving(const struct repair_rule *rule, const struct repair_slot *slots);

/* What an hour of all slots costs at this moment, with machines that start or are being replaced. */
money_t repair_price(const struct repair_rule *rule, const struct repair_market *market,
                     const struct repair_slot *slots, int64_t capacity);

#endif
