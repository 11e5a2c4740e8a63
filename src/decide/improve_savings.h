/* SPDX-License-Identifier: Apache-2.0 */
/*
 * improve_savings.h - what each move of the search of improve.h saves over its horizon, and what it costs.
 *
 * For people alone: nothing is decided by it. Moves that depend on each other save together, and their parts add up.
 */
#ifndef STINT_DECIDE_IMPROVE_SAVINGS_H
#define STINT_DECIDE_IMPROVE_SAVINGS_H

#include "decide/improve_units.h"

/* Write 'move_saves' and 'move_cost' of the tasks that are moved. O(tasks + units) where there are any. */
void search_find_savings(struct search *search);

#endif
