/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.h - the tasks that wait, equal ones together.
 *
 * Tasks of one batch ask for the same, are expected to run about equally long and may be put side by
 * side, or not; so a decision is made once for all of them. The longest come first, and of these the dearest: what is
 * small fills what they leave. No estimate is so good that a sixteenth matters: so far two tasks of a batch may be
 * apart.
 *
 * Promises:  within a batch tasks are in the order of arrival; batches of equal length and price in the order of
 *            their shapes.
 * Costs:     O(n + b log b) to build for n tasks that wait in b batches, and a sort of those batches whose tasks
 *            are not in the order of arrival.
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_BATCHES_H
#define STINT_DECIDE_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/row_map.h"
#include "model/plan.h"
#include "model/view.h"

struct batch {
    uint32_t shape;
    uint32_t apart; /* of their jobs: see model/apart.h; ROW_NONE: they keep apart from nothing */
    bool alone;     /* no two of it on one machine */
    bool together;  /* of gangs: they start now or rent, they never queue behind each other */
    bool fixed;     /* a stop loses their work */
    bool unknown;   /* how long they run; see job_spec */
    msec_t runtime; /* expected of each task, at the most */
    msec_t
        stake; /* and what a loss may undo of it: longer where the runtime is unknown, see ends_soon.h */
    uint32_t *tasks;
    uint32_t left; /* tasks[0] to tasks[left - 1] have no place yet */
};

struct batches {
    const struct view *view;
    struct batch *rows;
    uint32_t count;
};

/* All tasks that wait, but for gangs that no machine can be rented for: see stuck_gangs.h. */
void batches_build(struct batches *batches, const struct view *view, struct arena *arena);

/* The same but for those that have a value. */
void batches_build_but(struct batches *batches, const struct view *view,
                       const struct row_map *left_out, struct arena *arena);

/* The same of these tasks, whether they wait or run. */
void batches_build_of(struct batches *batches, const struct view *view, const uint32_t *tasks,
                      uint32_t count, struct arena *arena);

/* Tasks that are left in all of them. */
uint32_t batches_left(const struct batches *batches);

/* Take the oldest, or the newest, task that is left. */
uint32_t batch_take_first(struct batch *batch);
uint32_t batch_take_last(struct batch *batch);

/* How many of the batch, of which each takes 'demand' (NULL: it may not run there), fit into 'free'. */
uint32_t batch_fit(const struct batch *batch, const struct res *demand, const struct res *free);

/* How long the newest task that is left has waited, from its job's arrival. */
msec_t batch_waited(const struct view *view, const struct batch *batch);

/* What one task of it costs alone, on the cheapest machine that holds it, with setup and the least
 * that is billed. 0 if there is no such machine. Micro-dollars. */
double batch_alone_charge(const struct view *view, const struct batch *batch);

/* The same in whole micro-dollars, of a task alone on a machine of the offer; and what a span costs. MONEY_UNKNOWN: more than
 * can be said. */
money_t batch_charge_for(const struct view *view, const struct batch *batch, uint32_t offer);
money_t batch_money(money_t per_hour, msec_t span);

/* That the task of the batch waits, beside what it would cost to rent a machine for it alone instead. */
struct plan_wait batch_wait(const struct view *view, const struct batch *batch,
                            enum plan_wait_rule rule, uint32_t task);

#endif
