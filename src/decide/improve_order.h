/* SPDX-License-Identifier: Apache-2.0 */
/*
 * improve_order.h - which pairs of units the search of improve.h looks at first, where it has no time for all.
 *
 * Work is counted in steps of the exact search, never by a clock, so the same view gives the same plan on every machine. Two
 * ways through the pairs share it:
 *  - by rank: tasks that wait come first, then machines by what they lose, the most first, so also those that a task has
 *    just left; each unit meets all those before it, then the next one comes;
 *  - by turn: all of them in a fixed order, in each decision about from where the last one stopped. That follows from the time of
 *    the view, so nothing has to be remembered, and all pairs are looked at sooner or later.
 *
 * Costs:     O(units log units) to begin, O(1) for a pair.
 */
#ifndef STINT_DECIDE_IMPROVE_ORDER_H
#define STINT_DECIDE_IMPROVE_ORDER_H

#include "decide/improve_units.h"

/* Units that are looked at together. */
struct group {
    uint32_t units[REGROUP_MACHINES];
    uint32_t count;
};

/* Steps that regroup() takes for the group, about; and for all pairs. */
uint64_t group_work(const struct search *search, const struct group *group);
uint64_t pairs_work(const struct search *search);

/* Whether there is anything to exchange between two units, and not too much. */
bool pair_counts(const struct unit *a, const struct unit *b);

/* A pair of a list, by its places there: low < high. */
struct pair_place {
    uint32_t low, high;
};

struct pair_order {
    uint32_t units;
    uint32_t *ranked; /* those that are something, by rank */
    uint32_t count;
    struct pair_place rank; /* the next pair by rank, */
    struct pair_place turn; /* and by turn */
    uint64_t turns_left;
};

/* Units have their loss already. 'work' is what is to be spent in one decision on pairs by turn. */
void pair_order_begin(struct pair_order *order, const struct search *search, uint64_t work);

/* The next pair; false: there is no more. */
bool pair_order_ranked(struct pair_order *order, struct group *ret);
bool pair_order_turn(struct pair_order *order, struct group *ret);

#endif
