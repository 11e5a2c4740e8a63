/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stay.h - how long a task that was moved runs where it is before it is moved again.
 *
 * A move costs what was not done meanwhile. Where layouts are compared by price alone each may look better than
 * the last one, again and again: an offer that is blocked and open in turn is enough, and a task that moves at every
 * decision never ends. So a task that was moved stays for a multiple of what the move took, twice as long
 * for each time that it was stopped before: a task of length T is moved about log2(T / the time that a move
 * takes) times, however often the layout changes.
 *
 * Promises:  pure.
 * Costs:     O(1).
 */
#ifndef STINT_DECIDE_STAY_H
#define STINT_DECIDE_STAY_H

#include "model/view.h"

/* When the task, which runs, may be moved: at any time if it never was, else when it has run 'times' as long as
 * it took to get where it is, doubled as above. 'times' 0: at any time. */
msec_t stay_until(const struct view *view, uint32_t task, int64_t times);

#endif
