/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown.h - pack tasks onto machines, the most expensive type first.
 *
 * Eva's algorithm 1 (EuroSys'25, section 4.2): for each offer by falling price, fill a machine with
 * the tasks that add most worth, and accept it if it is worth its price; at the first that is not,
 * go on to the next cheaper offer. An accepted machine shrinks to the cheapest offer that holds
 * what it got. Tasks that shared no machine get the cheapest one that holds them alone.
 *
 * Machines that run already and are free to be re-filled are used before new ones, the one with most
 * tasks first, and tasks that are there already are preferred for them. What shrinks gets a new
 * machine, unless the very same tasks are together on one of that offer already.
 *
 * Promises:  every task that some open offer can hold gets a bin; ties go to the earlier task.
 * Costs:     O(bins x kinds x kinds in a bin + offers log offers).
 */
#ifndef STINT_DECIDE_TOPDOWN_H
#define STINT_DECIDE_TOPDOWN_H

#include "decide/layout.h"

struct topdown_options {
    bool penalise; /* count a gang member's slow-down for its whole gang */
};

/* Put what is left in the layout's pool into new bins of the layout. 'reusable' are rows of open
 * instances that have no bin yet. */
void topdown_pack(struct layout *layout, const uint32_t *reusable, uint32_t reusable_count,
                  struct topdown_options options);

#endif
