/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repack.h - services that run are put on fewer or cheaper machines, where that pays.
 *
 * Services are scaled down, and what is left stands on machines that were chosen for more. Each may be used by more than half,
 * so that none can be emptied into another; all together cost twice what they must. So sets of machines are looked at:
 *
 *  1. What the resources in use on a machine are worth, at prices at which no machine is worth more than it costs (resource_price.h), is
 *     held against its price. The difference is what no choice of machines could save more than.
 *  2. The machines that waste the greatest share of their price come first. For the first 1, 2, 3, 5, 8... of them it is tried to
 *     put all their tasks into the room of the others, and what is left on new machines (rent_value.h).
 *  3. Over the next two hours it is compared what is charged either way. A move costs the new machines while they start, the old ones until
 *     their tasks have left, and what tasks are worth while they stand still. The set is taken that saves most, if that is a tenth of what these machines
 *     cost, and as much again as the move costs.
 *
 * Only machines that have nothing but movable tasks without an end and without a promise, and where no task has come or
 * left for a while; for ten times as long where none has ended yet, as what is there was chosen for it and nobody has asked for less. While others that waste much have just changed, these wait for as long again: a cluster that shrinks is packed once. A task is
 * moved three times at most, and two more for each hour that it has run.
 *
 * Promises:  pure: what is remembered of sets that gave nothing saves time and changes no plan.
 * Costs:     nothing where no job may be moved. Else O(machines + offers), and O(tasks on machines that waste a tenth of their price). Then, unless nothing has changed since it gave nothing,
 *            rent_value() for seventeen sets at most, of REPACK_TASKS_MOST tasks each.
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_REPACK_H
#define STINT_DECIDE_REPACK_H

#include "decide/room_soon.h"
#include "decide/runtime_bins.h"
#include "model/plan.h"

enum { REPACK_TASKS_MOST = 1024 };

struct repack_options {
    msec_t
        after; /* nothing has changed on the machine for so long, or ten times as long where no task has ended */
    struct wait_limits limits;
};

/* What gave nothing. */
struct repack_memory {
    uint64_t dull; /* all that the last decision went by that found nothing; 0: none */
};

/* Whether there is anything to look at. If machines will have to be looked at later, the plan wakes for it. */
bool repack_has_any(const struct view *view, const struct repack_options *options,
                    struct plan *plan);

/* Add to the plan. 'bins' are of RUNTIME_PAID, with all that was assigned so far; 'memory' may be NULL. */
void repack_run(struct runtime_bins *bins, const struct repack_options *options,
                struct repack_memory *memory, struct plan *plan);

#endif
