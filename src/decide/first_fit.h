/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_fit.h - each waiting task into the first machine with room, the largest task first.
 *
 * First-fit decreasing, as Karpenter provisions nodes for pods: tasks by falling CPUs, then memory; machines that
 * there are come first, then those that this plan rents, in the order in which they were opened. The type of a
 * new machine is open as long as possible: a task joins if any type is left that holds it with all the others,
 * and in the end the cheapest such type is rented. A task that joins none opens another machine, of a type without
 * accelerators if it uses none and there is one that holds it. Prices are not looked at before that. Nothing is moved; machines without work are let go.
 *
 * How:     machines with the same content are one group of neighbours, and tasks of one kind are given to a group at
 *          once, so a plan costs what is different in it.
 * Costs:   O(kinds x (machines + groups x types that are left to them) + tasks); groups are about as many as kinds.
 * Memory:  the arena's; 28 bytes for each type that a group may still be of.
 */
#ifndef STINT_DECIDE_FIRST_FIT_H
#define STINT_DECIDE_FIRST_FIT_H

#include "model/plan.h"
#include "model/view.h"

void first_fit(const struct view *view, struct plan *ret);

#endif
