/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machines_soon.h - which jobs on whole machines are better off waiting until enough machines are free.
 *
 * Where a machine is billed in hours, one that is rented for a job of minutes is paid for and mostly idle; and a job on many machines
 * rents many of them. By the estimates it is known when machines become free. So for each job whose tasks have a machine each, the
 * fewest machines first, it is asked when there would be enough that are paid for anyway, without renting any. The job waits until then if that is not longer than
 * a new machine takes to boot, and for each machine that need not be rented 'patience' times the hours that one is paid for at the
 * least, setup included. Billed by the second that is next to nothing: there jobs wait only while they would wait for a boot as well.
 *
 * An idle machine counts until its paid time ends, as it goes back then: to keep it would cost as much as to rent one.
 *
 * Nothing is reserved: whoever has room starts, and the next decision looks again. Including what it has waited already, a job waits no longer than
 * it would for all of its machines, so none waits for ever.
 *
 * Left alone: jobs of which a task has a place, whose tasks are not alike, share machines, have no end or a deadline, or have rules for when to leave
 * owned machines; who may meet a limit (scarcity.h); and whoever the search takes.
 *
 * Costs:   O(w + s o + m log m + j (m + n)) for w tasks that wait, of s shapes, o offers, m machines of the offers in question with their tasks, j jobs of n tasks; at
 *          most 256 jobs are looked at, those on the fewest machines, and none where there are more than 4,096 machines.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_MACHINES_SOON_H
#define STINT_DECIDE_MACHINES_SOON_H

#include "decide/row_map.h"
#include "decide/scarcity.h"
#include "model/plan.h"
#include "model/view.h"

/*
 * Tasks that wait get a value in 'left_out', and a wait in the plan; those that have one there are none of its business. Machines that are left, by 'uses' (per instance
 * row), are passed over. The plan asks to wake when the last machine of the first of them should be free, in a minute at the earliest. 'scarcity' may be NULL.
 */
void machines_soon(const struct view *view, msec_t patience, const struct scarcity *scarcity,
                   struct plan *plan, const struct row_map *uses, struct row_map *left_out);

#endif
