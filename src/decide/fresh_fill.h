/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fresh_fill.h - all waiting tasks onto new machines, each filled from the largest task down.
 *
 * The greedy packing of SuperCloud-Spot (CrossCloud'16), for tasks that take several resources. The size of a task is what
 * it takes of the resource of which it takes most, and so is that of a set of tasks; resources are compared in units of
 * the least that a machine has of them. The largest tasks come first: each type of machine is filled with them first-fit,
 * and the one with the lowest price for the size of what it got is rented. Then again with the tasks that are left.
 * Machines that there are get nothing.
 *
 * Promises: ties go to the type with the lower index.
 * Costs:   O(machines rented x types x kinds of tasks), and a sort of the tasks.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_FRESH_FILL_H
#define STINT_DECIDE_FRESH_FILL_H

#include "model/plan.h"
#include "model/view.h"

void fresh_fill(const struct view *view, struct plan *ret);

#endif
