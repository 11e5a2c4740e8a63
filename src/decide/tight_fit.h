/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tight_fit.h - each waiting task onto the machine with least memory to spare, in the order of arrival.
 *
 * The placement "binpack" of container services: of the machines that hold the task, running, booting or
 * rented by this plan, the one with least free memory, the oldest among equals; if there is none, the cheapest
 * machine that holds the task alone. Nothing is moved. A gang for which nothing can be rented now waits.
 * Machines without work are let go.
 *
 * How:     one list of machines by free memory. A machine that gets a task moves down in it, past those with
 *          less memory to spare. Tasks of one kind in a row go on where the last one was placed.
 * Costs:   O(tasks log machines), and for each kind in a row of equal tasks the machines that are passed over because
 *          they lack something other than memory.
 * Memory:  the arena's; 48 bytes for each machine and each task that waits.
 */
#ifndef STINT_DECIDE_TIGHT_FIT_H
#define STINT_DECIDE_TIGHT_FIT_H

#include "model/plan.h"
#include "model/view.h"

void tight_fit(const struct view *view, struct plan *ret);

#endif
