/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take_over.h - a machine that is free takes the work of one that was asked for and is not billed yet.
 *
 * Work ends earlier than its limit says, so machines come free of which nobody knew when another was asked for, and until that one is there
 * there are minutes in which to think again. The work goes to the free machine of the same offer, where it starts at once, and what was asked for
 * goes back before it costs anything.
 *
 * A gang starts when it has all its machines. If there is a free one for each that it lacks, they are taken; else those that are paid for until the
 * rest should be there, as to hold them costs nothing. Gangs and machines that lack the fewest come first, then those that came first; the machines
 * that are paid for longest are taken first.
 *
 * Left alone: machines that a plan in the making uses, or somebody waits for ('uses'); tasks without an end; work that has run before, which the search looks
 * after; gangs that may be moved and of which a task is there already, as that would start again; machines on which a gang is beside others.
 *
 * Promises:  pure and deterministic. Nobody starts later than on the machine that was asked for, by when that was expected; nothing that runs is touched.
 * Costs:     O(e log e + m + n + r (log r + e)) for e machines that are free, m that are looked at, r of them asked for, n tasks of their jobs; nothing
 *            where none is free or none is asked for. At most 4,096 machines are looked at, those that were rented last, and 4,096 that are free, those that were so first.
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_TAKE_OVER_H
#define STINT_DECIDE_TAKE_OVER_H

#include "decide/row_map.h"
#include "model/plan.h"
#include "model/view.h"

/* What the plan places by this is noted in 'uses' (enum machine_use, per instance row), and so are the machines that it returns. */
void take_over(const struct view *view, struct plan *plan, struct row_map *uses);

#endif
