/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck_gangs.h - gangs that no machine can be rented for now: onto what there is, or not at all.
 *
 * Every offer that holds a task of theirs, or one kind of their tasks, is blocked, say because it was refused. What finds no room is
 * not rented for, so such a gang must find room for all its tasks that wait before one is placed.
 *
 * Costs:  O(tasks that wait), and a search in the bins for each task of such a gang.
 */
#ifndef STINT_DECIDE_STUCK_GANGS_H
#define STINT_DECIDE_STUCK_GANGS_H

#include "decide/runtime_bins.h"
#include "model/plan.h"

/* Whether the task is of such a gang. */
bool stuck_gangs_has(const struct view *view, uint32_t task);

/* Place those for which there is room, in the order in which they wait. The tasks that wait are among
 * those that the bins were built for. */
void stuck_gangs_place(struct runtime_bins *bins, struct plan *plan);

#endif
