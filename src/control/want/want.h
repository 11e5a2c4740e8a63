/* SPDX-License-Identifier: Apache-2.0 */
/*
 * want.h - a plan becomes what is wanted.
 *
 * The policy is asked for a plan (want_limits.c, by turns where limits hold), what of it is not to be done now
 * is taken out, and what is left is written into the state as where each task shall be and which machines
 * shall come and go (want_plan.c); before that, tasks that their rules do not allow where they are leave
 * (want_rules.c); short tasks that still wait may be queued at the engine (want_queue.c). No
 * port is called.
 */
#ifndef STINT_CONTROL_WANT_H
#define STINT_CONTROL_WANT_H

#include "control/books/books.h"
#include "control/state/state.h"
#include "decide/service_pools.h"
#include "decide/turns.h"

struct wanting {
    struct state *state;
    struct books *books;
    msec_t next_retry; /* when the next lost task may be placed again */
    msec_t next_wake;  /* when the policy wants to decide again */
    msec_t next_rule;  /* when a job's rule for markets changes */
    void *memory;      /* of the policy, or NULL */
    struct service_memory *services;
    bool has_pools; /* the last decision was one for services too */
};

void want_init(struct wanting *want, struct state *state, struct books *books);
void want_done(struct wanting *want);

/* Another policy, which remembers nothing, or the same. */
void want_policy(struct wanting *want, const struct policy *policy);

/*
 * want_limits.c
 */

/* A plan of the policy, and whose turn it is if it may not rent all that it wants. */
void want_decision(struct wanting *want, struct plan *ret, struct turns *ret_turns);

/* Whether the limits allow one machine more. */
bool want_may_rent(const struct wanting *want);

/* Take out of a plan what is not to be done now. */
void want_trim(struct wanting *want, struct plan *plan, const struct turns *turns);

/* See controller_wait_of, controller_price_per_hour and controller_first_charge. */
struct controller_wait want_wait_of(const struct state *state, uint32_t task);
money_t want_price_per_hour(const struct view *view);
money_t want_first_charge(const struct catalogue *catalogue, uint32_t offer, msec_t now);

/*
 * want_rules.c
 */

/* See decide/market_rules.h: what changes with time. Before the variants of tasks that wait are chosen. */
void want_rules(struct wanting *want);

/*
 * want_services.c
 */

struct want_services {
    struct service_pools pools;
    uint32_t *waiting; /* all that waits, in its order */
    uint32_t waiting_count;
};

/* Machines and places for services; what is theirs is not to be seen by the policy until want_services_end. False: there
 * are none, and nothing is to be ended. */
bool want_services_begin(struct wanting *want, struct want_services *ret);

/* The policy's plan follows that of the services. */
void want_services_end(struct wanting *want, const struct want_services *services,
                       struct plan *plan);

/*
 * want_suspend.c
 */

/* Drop the suspensions of tasks that the engine keeps; whether there were any. */
bool want_drop_kept(struct state *state, struct plan *plan);

/* Drop those of jobs on whose machines nothing is placed and which are not released. */
void want_drop_idle(struct state *state, struct plan *plan);

/*
 * want_plan.c
 */

/* What the plan says shall be. */
void want_plan(struct wanting *want, const struct plan *plan);

/* Nothing shall start any more, and each machine go when what runs there has ended. */
void want_drain(struct wanting *want);

/*
 * want_queue.c
 */

/* 'first' (or ROW_NONE) waits for room that others must not take, unless it may be queued itself. */
void want_queue_ahead(struct wanting *want, uint32_t first);

/* Of each offer of which a machine is ready, whether a task that is queued fits it; in the arena. */
bool *want_awaited_offers(struct state *state);

#endif
