/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn_order.h - in which order tasks that wait have their turn: by the priority of their job, those of equal
 * priority in the order of arrival, tasks of one job together and in their order. The rest of a gang that holds
 * machines already comes before all of them: another gang could wait for the very machines that it holds, and
 * neither would ever start.
 *
 * Promises:  a total order, so that equal views give equal queues.
 * Costs:     turn_first is O(waiting * log(most)), O(waiting) if the waiting list is in order already.
 */
#ifndef STINT_DECIDE_TURN_ORDER_H
#define STINT_DECIDE_TURN_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/view.h"

struct turn_rank {
    bool is_begun; /* a part of its gang holds machines */
    uint32_t priority;
    msec_t arrived_at;
    uint64_t job;
    uint64_t order;
    uint32_t task;
};

struct turn_rank turn_rank_of(const struct view *view, uint32_t task);

/* For qsort: below 0 if 'left' has its turn first. */
int turn_compare(const void *left, const void *right);

/* The first 'most' of the tasks that wait, in their turn; in the arena. Returns how many. */
uint32_t turn_first(const struct view *view, uint32_t most, struct arena *arena, uint32_t **ret);

#endif
