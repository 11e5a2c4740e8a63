/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refill.h - put tasks onto machines that stay anyway.
 *
 * Of all pairs of a task and a machine with room for it, the one with the greatest resulting worth
 * is taken first, until nothing fits any more. As in Eva's partial reconfiguration there is no test
 * whether it pays: the machine is paid for.
 *
 * Costs:  O(bins x kinds) at first and for each kind that runs out, O(kinds + log bins) for each task
 *         that is placed.
 */
#ifndef STINT_DECIDE_REFILL_H
#define STINT_DECIDE_REFILL_H

#include "decide/layout.h"

/* Fill the bins that the layout has. */
void refill_pack(struct layout *layout);

#endif
