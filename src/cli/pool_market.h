/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_market.h - what a history of prices says of offers: when each was gone, at what price it was
 * there, what was gone together; and what a pool would have cost and delivered in it.
 *
 * An offer is gone while its price is above that of the same machine on demand, or while there was none
 * to be had: who bids the price on demand then loses their machines.
 *
 * Costs:  O(changes in the span x offers).
 */
#ifndef STINT_CLI_POOL_MARKET_H
#define STINT_CLI_POOL_MARKET_H

#include <stdbool.h>
#include <stdint.h>

#include "decide/avail_states.h"
#include "decide/promise.h"
#include "decide/promise_repair.h"
#include "decide/promise_trust.h"
#include "model/price.h"

enum { POOL_MARKET_OFFERS_MAX = 4096 };

struct pool_market_offer {
    struct price_series series; /* MONEY_UNKNOWN: none to be had; 0: there, at 'price' */
    money_t price;              /* where the series does not say it */
    money_t on_demand;          /* of the same machine */
    int64_t capacity;
    uint32_t type;
};

struct pool_market {
    struct pool_market_offer *offers;
    uint32_t count;
    struct promise_offer on_demand; /* the cheapest machine per unit that is never taken away */
};

/* A span of time, [from, to). */
struct pool_span {
    msec_t from;
    msec_t to;
};

/* What was seen of one offer: its losses, and what an hour cost on average while it was there (on
 * demand's price if it never was). */
struct promise_record pool_market_record(const struct pool_market *market, uint32_t offer,
                                         struct pool_span span, money_t *ret_price);

/* What was gone together is added to 'states'. */
void pool_market_states(const struct pool_market *market, struct pool_span span,
                        struct avail_states *states);

/* What became of a pool. */
struct pool_outcome {
    money_t cost;
    msec_t short_ms;
    msec_t on_demand_ms; /* slots times time, of a repairing pool */
    uint32_t losses;     /* of slots, of a repairing pool */
};

/* The same machines for all of the span; what is gone is not paid for. Added to 'ret'. */
void pool_market_hold(const struct pool_market *market, const uint32_t *machines, int64_t capacity,
                      struct pool_span span, struct pool_outcome *ret);

/* A repairing pool, which serves from the first moment on. Added to 'ret'. */
void pool_market_repair(const struct pool_market *market, const struct repair_rule *rule,
                        int64_t capacity, struct pool_span span, struct arena *arena,
                        struct pool_outcome *ret);

#endif
