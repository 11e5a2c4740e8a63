/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repricing.h - leave machines whose price or risk has risen above that of others, where it pays.
 *
 * What is rented is chosen at the prices of that moment, and by how long machines last. When one of these changes, the work of a machine may
 * be moved to a new one as it is: to the cheapest that is no smaller. (Whether a smaller one would do is
 * a matter of clearing.h.) For what is expected to be left of its runtime it is compared
 *
 *     to keep it:   its price until the last task ends, beyond the time that is paid already;
 *     to leave it:  its price while the tasks stop and save; the new machine's from its setup on, while
 *                   they fetch and start again, and until the last task ends; and the price of all
 *                   machines on which the rest of their gangs stands still meanwhile.
 *
 * Prices are those of risk.h: what is done again when a machine is lost is paid for. On the machine where it runs a
 * task has at stake all that it has not saved; a move saves it.
 *
 * Leaving must save a tenth of what keeping costs, and once more what is spent on the move. But nobody
 * knows how long a price will last. So it is waited until as much has been overpaid as the move costs, as
 * one buys skis once the rent has come to their price: then neither a peak that is over at once nor a
 * price that stays costs more than twice the best that was possible. Each time that a task was stopped
 * before, twice as much must have been overpaid, so that a price that goes up and down for ever moves a
 * task only a few times: the logarithm of what it costs, by what the move does.
 *
 * Work that must not be moved stays, and all that shares its machine. Machines on which one gang runs
 * are left together or not at all, because a gang starts again as a whole for each move. Where no price
 * and no risk has changed since the work began there is nothing to do: then it was decided at these prices.
 *
 * Words:     dear: a machine that would be left, if only its own work counted.
 * Promises:  pure and deterministic. Only prices up to now are read.
 * Costs:     nothing where no job may be moved; O(offers) if no price ever changed; else O(u x o + t + l x offers) for u offers that are in use and o
 *            offers, one of which has changed its price; t tasks on machines of those offers that have a cheaper
 *            one since; and l kinds of such machines that differ in offer, set of tasks and runtime (by powers of
 *            two). Where there are many machines of an offer, they are looked at only when one of them can have
 *            overpaid enough.
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_REPRICING_H
#define STINT_DECIDE_REPRICING_H

#include "decide/machine_index.h"
#include "decide/row_map.h"
#include "model/plan.h"
#include "model/view.h"

/* Plan what is to be left: new machines, their tasks, and a release of each one that is left, which becomes
 * USE_LEFT in 'uses' (per instance row). The plan asks to wake when enough will have been overpaid. The index
 * is of now. */
void repricing_run(const struct machine_index *index, struct plan *plan, struct row_map *uses);

#endif
