/* SPDX-License-Identifier: Apache-2.0 */
/*
 * want.h - a plan becomes what is wanted.
 *
 * The policy is asked for a plan (want_limits.c, by turns where limits hold), what of it is not to be done now
 * is taken out, and what is left is written into the state as where each task is to be and which machines
 * are to come and go (want_plan.c); before that, tasks that their rules do not allow where they are leave
 * (want_rules.c); short tasks that still wait may be queued at the engine (want_queue.c). No
 * port is called.
 */
#ifndef STINT_CONTROL_WANT_H
#define STINT_CONTROL_WANT_H

#include "control/books/books.h"
#include "control/state/state.h"
#include "decide/capped.h"
#include "decide/owned_first.h"
#include "decide/scarcity.h"
#include "decide/service_pools.h"
#include "decide/short_pool.h"
#include "decide/turns.h"

/* What a task waits for, by the last decision: rows change hands, ids do not. */
struct kept_wait {
    struct plan_wait wait;
    uint64_t task;
    uint64_t instance; /* 0: none */
};

struct wanting {
    struct state *state;
    struct books *books;
    msec_t next_retry;   /* when the next lost task may be placed again */
    msec_t next_wake;    /* when the policy wants to decide again */
    msec_t next_rule;    /* when a job's rule for markets changes */
    msec_t next_replace; /* when the next machine that is outdated can be replaced */
    void *memory;        /* of the policy, or NULL */
    struct service_memory *services;
    struct kept_wait *waits;
    uint32_t wait_count;
    uint32_t waits_room;
    struct scarcity scarcity; /* in the decision that is being made */
    bool has_pools;           /* the last decision was one for services too */
    const struct capped
        *capped; /* of each task, in the decision that is being made; NULL: no caps */
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

/* Whether the task was lost a short time ago, and is not to be placed yet. 'context' is a struct wanting. */
bool want_is_held(const void *context, uint32_t task);

/* See controller_price_per_hour and controller_first_charge. */
money_t want_price_per_hour(const struct view *view);
money_t want_first_charge(const struct catalogue *catalogue, uint32_t offer, msec_t now);

/*
 * want_caps.c
 */

/* As turns_decide, under the limits of accounts and the like. */
void want_turns(struct wanting *want, const struct turns_config *config, struct plan *ret,
                struct turns *ret_turns);

/* Whether such a limit keeps the task from its place, in this decision; and write it down for all that wait. */
bool want_is_capped(const struct wanting *want, uint32_t task);
void want_note_capped(struct wanting *want);

/*
 * want_rules.c
 */

/* See decide/market_rules.h: what changes with time. Before the variants of tasks that wait are chosen. */
void want_rules(struct wanting *want);

/*
 * want_outdated.c
 */

/* Begin to replace machines that are outdated, as many as may be at a time. Before the variants of tasks that wait are chosen. */
void want_outdated(struct wanting *want);

/* Write those that were begun into the plan, for whoever looks at it: they drain already, and may still have tasks. */
void want_tell_outdated(const struct wanting *want, struct plan *plan);

struct controller_outdated want_outdated_count(const struct wanting *want);

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

/* The first plan, then the second. */
void want_join_plans(const struct plan *first, const struct plan *second, struct plan *ret);

/*
 * want_owned.c
 */

struct want_owned {
    struct owned_first first;
    uint32_t *machines; /* that are owned and take work */
    uint32_t machine_count;
    uint32_t *waiting; /* all that was shown, in its order */
    uint32_t waiting_count;
};

/* From now on machines that are owned look as if they were on their way out. False: there are none, and nothing is to be
 * ended. */
bool want_owned_hide(struct wanting *want, struct want_owned *ret);

/* Give those that wait places there, see decide/owned_first.h; the policy sees the others until want_owned_end. */
void want_owned_place(struct wanting *want, struct want_owned *owned);

/* The policy's plan follows these places, and all is shown again. */
void want_owned_end(struct wanting *want, const struct want_owned *owned, struct plan *plan);

/*
 * want_short.c
 */

struct want_short {
    struct plan plan;
    uint32_t *waiting; /* all that waits, in its order */
    uint32_t waiting_count;
    bool *is_held; /* per row of the instances: not to be seen by the policy */
};

/* Machines that stand ready for short tasks, within what may be rented, and who starts there; not to be seen by the policy until want_short_end. False:
 * there are none, and nothing is to be ended. */
bool want_short_begin(struct wanting *want, const struct allowance *allowance,
                      struct want_short *ret);

/* The policy's plan follows that of the pool. */
void want_short_end(struct wanting *want, const struct want_short *pool, struct plan *plan);

/*
 * want_suspend.c
 */

/* Drop the suspensions of tasks that the engine keeps; whether there were any. */
bool want_drop_kept(struct state *state, struct plan *plan);

/* Drop those of jobs on whose machines nothing is placed and which are not released. */
void want_drop_idle(struct state *state, struct plan *plan);

/*
 * want_waits.c
 */

/* By which rule each task waits that the plan does not place. 'dropped' (per task row, or NULL): those whose places were taken
 * out of it. */
void want_waits(struct wanting *want, struct plan *plan, const struct turns *turns,
                const bool *dropped);

/* Write that down, when the plan's machines ('fresh', rows of its rents) have their ids. */
void want_keep_waits(struct wanting *want, const struct plan *plan, const uint32_t *fresh);

/* See controller_wait_of. */
struct controller_wait want_wait_of(const struct wanting *want, uint32_t task);

/*
 * want_plan.c
 */

/* What is to be by the plan. */
void want_plan(struct wanting *want, const struct plan *plan);

/* Nothing is to start any more, and each machine to go when what runs there has ended. */
void want_drain(struct wanting *want);

/*
 * want_queue.c
 */

/* 'first' (or ROW_NONE) waits for room that others must not take, unless it may be queued itself. */
void want_queue_ahead(struct wanting *want, uint32_t first);

/* Of each offer of which a machine is ready, whether a task that is queued fits it; in the arena. */
bool *want_awaited_offers(struct state *state);

/*
 * want_trial.c
 */

/* A decision on a copy of the state, in which there is one job more. */
struct want_trial {
    struct state state;
    struct books books; /* what is in there is the controller's, but for the lessons */
    struct wanting want;
    struct forecast forecast; /* of the job */
    uint32_t job;             /* its row */
};

/* What would be decided at 'now' if the job came then, and where all would be by that. 'shapes' have at least those of the
 * state; 'ret' stays where it is until want_trial_end. */
void want_trial_begin(struct want_trial *ret, const struct state *state, const struct books *books,
                      const struct shapes *shapes, const struct job_spec *spec, msec_t now);
void want_trial_end(struct want_trial *trial);

#endif
