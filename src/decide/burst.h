/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burst.h - from when on a machine may be rented for a task that could run on machines which are owned.
 *
 * While these are busy the task waits, and waiting has a price. Either its job says for how long it waits at the most
 * ('after'), or what an hour of waiting costs ('waiting_hour'). In the second case a machine is rented when the task has
 * waited for as much money as the machine would cost it alone, setup and minimum included: whenever an owned machine
 * comes free, no more than twice the cheaper of the two ways was spent (the break-even rule of renting or buying). If
 * both are said, whichever comes first. Work without an end is counted as a day of it.
 *
 * Promises:  pure; the same view, the same answer.
 * Costs:     O(1).
 */
#ifndef STINT_DECIDE_BURST_H
#define STINT_DECIDE_BURST_H

#include "model/view.h"

/* MSEC_NEVER: never, as things are. The view's reservation prices are of now. */
msec_t burst_from(const struct view *view, uint32_t task);

#endif
