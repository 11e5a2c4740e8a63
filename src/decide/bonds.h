/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bonds.h - where jobs whose tasks must be alike in zone or market are to run.
 *
 * Such a job has a shape with variants, one for each zone and market (model/shape.h). Before a policy is
 * asked, all tasks of the job get the same variant, so that whatever the policy does keeps them together, and
 * no policy has to know of it: of a job of which no task has a place, the one whose cheapest machine costs
 * least; else the one of the tasks that have. Those that run or are on their way are left alone.
 *
 * Promises:  of variants of equal price the first, in the order of the catalogue. A variant of which nothing can
 *            be rented now is taken only if there is no other.
 * Costs:     O(tasks that wait x (siblings + variants)), and nothing while no shape has variants.
 */
#ifndef STINT_DECIDE_BONDS_H
#define STINT_DECIDE_BONDS_H

#include "model/view.h"

/* The view's reservation prices are of now. */
void bonds_update(struct view *view);

#endif
