/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - whose turn it is while limits keep a policy from serving everybody.
 *
 * A policy plans for all that waits as if it could rent what it likes. Where it would rent more than is
 * allowed, somebody has to wait, and which work that is must not be an accident of packing. So, for every
 * policy alike:
 *
 *  1. work has its turn by its priority, that of equal priority in the order of arrival, a gang as a whole. The policy is asked for the longest
 *     beginning of that queue for which its plan is within the allowance;
 *  2. the first that does not fit has a reservation: the machines that are expected to end first, as many as
 *     it lacks, and those on which the policy would put a part of it. It should start when the last of them
 *     has ended;
 *  3. whoever is behind it may be served as well, if that takes nothing from those before it, but takes room on machines that
 *     are reserved, or a new machine, only if it is expected to have ended by then (EASY backfilling);
 *  4. what cannot be had even when all machines have ended holds up nobody.
 *
 * Where the plan is within the allowance, it is the policy's, and nothing else happens. Where it takes more machines than there may be,
 * the policy is asked again with what waits for them (slot_queue.h), and may get along with fewer.
 *
 * Costs:   nothing then. Else a sort of what waits and about 2 log2(n) plans of the policy, n being how many of
 *          the queue can be served, and two for all that is shown in the end: at most TURNS_BEHIND behind the first
 *          that has to wait.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_TURNS_H
#define STINT_DECIDE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/slot_queue.h"
#include "model/plan.h"
#include "model/view.h"

#define ALLOWANCE_ANY INT64_MAX

enum { TURNS_BEHIND = 4096 };

/* What may be rented. */
struct allowance {
    uint64_t instances;
    money_t price_per_hour; /* ALLOWANCE_ANY: no limit */
    money_t first_charge;   /* ALLOWANCE_ANY: no limit */
    bool grows;             /* when a machine ends, another may be rented */
    uint64_t slots;         /* machines that there may be in all; 0: as many as one likes */
};

/* What of it the first that waits is short of. */
enum shortage { SHORT_OF_INSTANCES, SHORT_OF_PRICE, SHORT_OF_CHARGE };

/* Who is served first. */
enum turn {
    TURN_NOW,    /* it is its turn */
    TURN_BEHIND, /* others are before it, which cannot start yet */
    TURN_LATER,  /* it was not shown to the policy */
};

struct turns {
    bool is_limited;
    bool look_again; /* when those whose turn it is have their places, others may have some too */
    enum shortage shortage; /* if it is */
    uint32_t lacking;       /* machines that the first that waits needs above the allowance */
    uint32_t first;         /* a task of that, if something is reserved for it; else ROW_NONE */
    msec_t starts_at;       /* when it should be able to start */
    uint8_t *of_task;       /* enum turn, per row; NULL: nothing is limited */
    bool *is_reserved;      /* per row of the instances; NULL: none is */
};

/* What is asked of whom. */
struct turns_config {
    struct view *view; /* as it was in the end */
    struct arena *arena;
    const struct allowance *allowance;
    /* A plan of the policy for what the view shows. 'queue' is NULL unless a limit on machines binds. */
    void (*plan)(const void *context, const struct slot_queue *queue, struct plan *ret);
    /* Whether the task must not be placed now, nor its gang; may be NULL. */
    bool (*is_held)(const void *context, uint32_t task);
    /* Whether the machine is kept whatever ends there, so that it makes no room for another; may be NULL. */
    bool (*stays)(const void *context, uint32_t instance);
    const void *context;
};

/* A plan for what waits. */
void turns_decide(const struct turns_config *config, struct plan *ret, struct turns *ret_turns);

/* Whether the place would keep the first in the queue waiting. */
bool turns_forbids(const struct turns *turns, const struct view *view, const struct plan *plan,
                   const struct plan_place *place);

#endif
