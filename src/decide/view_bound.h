/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_bound.h - the least, per hour, that any choice of machines costs for the tasks of a view.
 *
 * The best of three bounds, by resources (bound.h), by what resources are worth (price_bound.h) and by fillings of machines
 * with whole tasks (filling_bound.h), for tasks that run at the same time at current prices. Tasks are not slowed down by each
 * other here, as what is slower costs no more in the same hour: so it holds whatever they do.
 *
 * It is had in pieces, with anything in between: what it takes of the view is copied at the beginning.
 *
 * Promises:  a true lower bound at any time, zero at first, never lower than before; if machines have what the
 *            catalogue says. Pieces of any size end with the same answer, to the bit.
 * Costs:     O(tasks + instances + offers) to begin, then as many steps as one asks for, at most 'node_most' and
 *            what the bound by resources takes. A step is about a quarter of a microsecond.
 */
#ifndef STINT_DECIDE_VIEW_BOUND_H
#define STINT_DECIDE_VIEW_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "model/view.h"

struct view_bound_spec {
    bool is_of_all; /* tasks that wait count too; else those alone that are bound to a machine */
    uint64_t node_most;   /* steps for the bound by fillings; 0: the one by resources alone */
    uint64_t search_most; /* see filling_bound.h */
};

struct view_bound_answer {
    msec_t at; /* of the view */
    uint32_t tasks;
    money_t cost;         /* of all machines then, asked for or rented, but those returned */
    money_t empty;        /* and of those among them that had no task */
    money_t bound;        /* the least that machines for the tasks cost */
    money_t by_resources; /* the same if tasks could be cut into pieces */
    bool is_finished;     /* it is as good as it gets */
};

struct view_bound;

/* The catalogue and the shapes of the view must live as long. */
struct view_bound *view_bound_begin(const struct view *view, const struct view_bound_spec *spec);

/* So many steps more; false: it has ended. */
bool view_bound_go_on(struct view_bound *search, uint64_t steps);

/* What is known so far. */
struct view_bound_answer view_bound_so_far(const struct view_bound *search);

void view_bound_destroy(struct view_bound *search);

/* All at once. */
struct view_bound_answer view_bound(const struct view *view, const struct view_bound_spec *spec);

#endif
