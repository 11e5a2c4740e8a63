/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.h - capacity with a promise: so many units, for such a share of the time, from transient
 * machines.
 *
 * A pool says how many machines of each offer are rented. It keeps a promise if it is short of the
 * capacity for no more than the allowed share of the time: by each offer's own share if losses are
 * independent; by the joint states of a history, where there is one; and with every offer of any one
 * type lost at once, where that is asked for. The worst of these counts.
 *
 *   promise.c          what a pool is worth
 *   promise_greedy.c   the published rules: TR-Kubernetes' greedy choice, and its rivals
 *   promise_k_of_n.c   k offers of equal capacity, of which any f may be lost
 *   promise_repair.c   a pool that replaces what it loses, without any forecast
 *   promise_optimum.c  the cheapest pool there is, by an integer program
 *   promise_trust.c    how far a short history can be trusted
 *   promise_tiers.c    several promises that are to hold at the same time
 *
 * Promises:  pure; same question, same answer. Money is whole micro-dollars; shares are doubles.
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_PROMISE_H
#define STINT_DECIDE_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/units.h"
#include "decide/avail_states.h"

enum { PROMISE_OVERBUY = 3 }; /* no rule buys more than so many times the capacity */

struct promise_offer {
    int64_t capacity; /* units of one machine, above 0 */
    money_t price;    /* of one machine and hour, above 0 */
    double down;      /* the share of the time in which there is none, from 0 to 1 */
    uint32_t type; /* offers of one type in several zones are lost together more often than not */
    bool is_safe;  /* the cloud takes none away: it is not lost with its type */
};

struct promise {
    const struct promise_offer *offers;
    uint32_t count;
    int64_t capacity;                  /* units that are wanted, above 0 */
    double short_most;                 /* the share of the time in which there may be less */
    const struct avail_states *states; /* of the same offers; NULL: there is no history */
    bool only_joint;                   /* the states are all that counts, not independence */
    bool survives_types;               /* the loss of all offers of any one type is survived */
};

/* What a pool is worth. */
struct promise_verdict {
    money_t price;    /* an hour */
    int64_t capacity; /* when all is there */
    double short_independent;
    double short_joint; /* 0 without a history */
    bool survives_types;
    bool holds;
};

/* 'machines' has a number per offer. O(offers used x capacity + states). */
struct promise_verdict promise_judge(const struct promise *promise, const uint32_t *machines,
                                     struct arena *arena);

/* Whether the capacity is there with every machine of one offer gone. */
bool promise_survives(const struct promise *promise, const uint32_t *machines, uint32_t offer);

/* No pool of these offers, however large, is short for less of the time: that is when all of them are
 * gone at once. */
double promise_short_least(const struct promise *promise);

money_t promise_price(const struct promise *promise, const uint32_t *machines);
int64_t promise_capacity(const struct promise *promise, const uint32_t *machines);

/* What a rule came to. */
struct promise_pool {
    uint32_t *machines; /* per offer; of the best that could be done if it does not hold */
    struct promise_verdict verdict;
};

/*
 * The greedy choice of TR-Kubernetes, machine by machine. Offers stand in the order of price times
 * log(1/availability) per unit; step i looks at the first i of them and adds one machine, the one
 * with the lowest price of the whole pool times log(1/P). P is the availability of the capacity once
 * the pool is that large, before that of half of the pool. Once it is that large, a candidate must
 * also not lower P. The way does not depend on the target, only its end does.
 */
struct promise_walk {
    const struct promise *promise;
    struct arena *arena;
    uint32_t *order;
    uint32_t *machines;
    uint32_t steps;
    bool is_by_availability; /* the rival that does not look at prices */
    int64_t capacity;
    money_t price;
    double below; /* share of the time in which the pool is short of what P is about */
};

void promise_walk_init(struct promise_walk *walk, const struct promise *promise,
                       struct arena *arena);

/* The rival: the largest gain in availability at any price, all offers from the first step on. */
void promise_walk_init_available(struct promise_walk *walk, const struct promise *promise,
                                 struct arena *arena);

/* Add a machine. False, and none was added: the pool has PROMISE_OVERBUY times the capacity. */
bool promise_walk_step(struct promise_walk *walk);

/* Whether the pool is large enough, and short for no more than that share. */
bool promise_walk_reached(const struct promise_walk *walk, double short_most);

/* Walk until the promise is kept, or to the end. */
struct promise_pool promise_greedy(const struct promise *promise, struct arena *arena);
struct promise_pool promise_available(const struct promise *promise, struct arena *arena);

/* EC2 Spot Fleet's two: the lowest price per unit until there is enough; the same spread over the ten
 * cheapest offers, a machine of each in turn. Neither looks at availability. */
struct promise_pool promise_fleet_cheapest(const struct promise *promise, struct arena *arena);
struct promise_pool promise_fleet_diverse(const struct promise *promise, struct arena *arena);

/* The cheapest of all pools of k offers of equal capacity that stand any f losses; f from 0 to 5. If
 * none holds, the one that is short for the least time, within PROMISE_OVERBUY times the capacity. */
struct promise_pool promise_k_of_n(const struct promise *promise, struct arena *arena);

/* Take machines away, or exchange them for cheaper ones, while the promise holds. */
void promise_improve(const struct promise *promise, struct promise_pool *pool, struct arena *arena);

#endif
