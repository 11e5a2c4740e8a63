/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rent_value.h - what to rent so that most work is done for what will be charged.
 *
 * A machine is charged for its setup and for as long as it is busy, in the steps of its bill, and at
 * least the minimum. So for each offer it is tried what would be done on one machine of it: tasks side
 * by side, the longest first, and in the time that is paid anyway further ones in the room that comes
 * free. The work of a task is what the resources that it takes are worth for its runtime, at prices at which no
 * machine is worth more than it costs (resource_price.h). The offer with the most
 * work per charge is rented, as often as there are tasks to do the same again; then it is tried again with
 * those that are left. An empty machine that there is competes with the charge that it adds.
 *
 * A spot machine may be interrupted, which adds to its charge (risk.h), the more the more of the work a loss undoes. So
 * the market is chosen for each machine when it is known what would be done there, however long others
 * run.
 *
 * Work that must not be moved may run on for longer than expected, and then holds the whole machine (overrun.h): so
 * several jobs share one only where that is cheaper for all that. Each machine is tried with all that fits, and with tasks of the first job alone.
 *
 * Tasks that come later on the machine are not placed: they wait, and room_soon.h finds the room that
 * was meant for them.
 *
 * When it is known what would be done on the machine, the type that holds just that for the least charge takes its place.
 *
 * A machine may cost something beside its price, once, however large it is: requests to the cloud and to the engine, say. Where it does, fewer and larger ones
 * are rented than their prices alone would say.
 *
 * Services, which have no end, get the largest of the machines that are as good within 1 %, so that there are fewer of them; and where one machine costs no more than two that
 * were chosen, it takes their place (rent_merge.h). While more of them are coming, those that
 * would not fill their machine wait for the others (crowd.h).
 *
 * Where 256 and more different batches wait, no more than 96 ways to get a machine are tried: a type gives way to one that
 * has no less of anything and costs hardly more. Of these, those that came within 6 % of the best are tried for each
 * machine, and all every sixteenth time.
 *
 * Costs:   O(o + t^2 + r x t x k x w) for o offers, t types (twice, if it is billed in two ways), of which
 *          those count that no other type beats in every respect, r different machines, the first k = 64 batches that
 *          have tasks left, and w = 64 moments at which tasks end. Of the k those are looked at that may fit (fit_mask.h).
 *          What there is to choose from is listed again only when prices, risks, refusals or constraints have changed.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_RENT_VALUE_H
#define STINT_DECIDE_RENT_VALUE_H

#include "decide/batches.h"
#include "decide/room_soon.h"
#include "decide/runtime_bins.h"
#include "model/plan.h"

struct rent_ways_memory; /* decide/rent_ways.h */

/* Rent for all tasks that are left in the batches; those that no open offer holds stay there. Empty
 * machines of 'bins' that got nothing yet may be used. 'doubt': of runtimes, see overrun.h. 'machine_cost': of each new machine, beside
 * its price. 'memory' may be NULL, with the same plan. */
void rent_value(struct batches *batches, struct runtime_bins *bins,
                const struct wait_limits *limits, double doubt, money_t machine_cost,
                struct rent_ways_memory *memory, struct plan *plan);

#endif
