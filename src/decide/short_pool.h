/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_pool.h - spot machines that stand ready for short tasks, beside all that is rented for single ones.
 *
 * A short task that has to wait for a machine to boot waits for longer than it runs. So where most machines have long work,
 * some spot machines of one type are kept for short tasks only: as many as short_partition.h says, which sizes the short
 * partition of the simulation of CloudCoaster as well. Of the pool are spot machines of the type that were rented for it and
 * have no long work; after a restart of the controller, all such machines that it finds, the oldest first, up to
 * the most that there may be.
 *
 * A short task that waits starts on a machine of the pool that is ready and has room. Any other is left to the policy, as are
 * those that were lost with a machine before: the second try is where the policy sends it, and may not be on spot
 * machines if the risk is high.
 *
 * A short task that finds no room in the pool may be pulled ("boundary pull", short_partition.h): where long work waits for the
 * room of a ready machine, and would have to wait for longer if the short task had it, the short task has it. But no long
 * task is passed that has waited since its arrival, with the short one, for longer than it runs; nor one without an end or with a
 * deadline. Where both find room, or only short work waits, the policy decides as always.
 *
 * The pool takes nothing from others: while work waits for what a limit allows, it has no idle machines.
 *
 * Nothing is rented where spot machines of the type cost no less than those on demand, with the risk of a task that is as
 * long as a short one may be.
 *
 * This stage comes before the policy, which sees neither the machines of the pool nor the tasks that start there.
 *
 * Promises:  pure; same question, same answer. No long task is placed on a machine of the pool, and what runs is not moved. Tasks
 *            are pulled to machines with may_pull only.
 * Costs:     O(machines + their tasks + short tasks that wait x machines of the pool with room), and where short tasks are
 *            pulled O(machines with room x (shapes of long tasks that wait + PULLS_SEEN short tasks)).
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_SHORT_POOL_H
#define STINT_DECIDE_SHORT_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "decide/short_partition.h"
#include "decide/turns.h"
#include "model/plan.h"
#include "model/view.h"

struct short_pool_question {
    const struct view *view;
    const bool *is_short; /* per row of the jobs */
    const bool
        *may_be; /* per row of the instances: rented for the pool, or nobody knows what for */
    const bool *may_pull; /* per row of the instances: open to all work; NULL: nothing is pulled */
    bool (*is_held)(const void *context, uint32_t task); /* it is not to start now; may be NULL */
    const void *context;
    uint32_t type;     /* of the machines, in the catalogue */
    msec_t longest_ms; /* that a short task runs */
    struct short_partition_rule rule;
    const struct allowance *allowance; /* what may be rented; NULL: anything */
    bool
        is_scarce; /* others wait for what a limit allows: nothing is rented, and idle machines are not of the pool */
};

/* Adds to the plan what is rented, released and started. Returns, per row of the instances, which are of the pool; it is the
 * plan's arena's. */
const bool *short_pool_decide(const struct short_pool_question *question, struct plan *plan);

#endif
