/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owned_first.h - work goes to machines that are owned before anything is rented for it.
 *
 * They cost what they cost, whether they are busy or not. So whoever waits and fits gets a place there, those with the
 * highest priority first and of these those who came first; a gang, or a job that must stay in one zone or market, gets
 * places for all its tasks or none. Who finds no
 * room but would fit if the machines were empty waits for them until its job's rule says that a machine may be rented
 * (decide/burst.h). Everybody else is left to the policy, which neither sees these machines nor who has a place there:
 * so no policy has to know of them, and every one uses them first.
 *
 * Among the machines the first that has room is taken: those without accelerators first, then the cheapest, then the
 * smallest, so that what is scarce is left for those who need it, and work gathers on few machines. Nothing is reserved
 * for who waits: what is small may pass what is large, which is rented a machine when it has waited long enough.
 *
 * Promises:  pure; the same view, the same answer. No place is above what a machine has left.
 * Costs:     O(tasks that wait + machines x different shapes among them), and a sort of the tasks where priorities
 *            are not in the order of arrival; of a task that must be apart from others also O(tasks there) for each machine.
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_OWNED_FIRST_H
#define STINT_DECIDE_OWNED_FIRST_H

#include "base/arena.h"
#include "model/plan.h"
#include "model/view.h"

struct owned_question {
    const struct view *view;
    const uint32_t *machines; /* those that are owned and take work; sorted by this */
    uint32_t machine_count;
    struct arena *arena;
    /* Whether the task must not be placed now; may be NULL. */
    bool (*is_held)(const void *context, uint32_t task);
    const void *context;
};

struct owned_first {
    struct plan plan;   /* places only */
    uint32_t *variants; /* of each place: the shape that the task must have there */
    uint32_t *left;     /* tasks that are the policy's, in the order in which they wait */
    uint32_t left_count;
    uint32_t *waiting; /* tasks that wait for these machines, and nothing is rented for them yet */
    uint32_t waiting_count;
    msec_t wake_at; /* when something may be rented for one of them; MSEC_NEVER: never */
};

void owned_first(const struct owned_question *question, struct owned_first *ret);

#endif
