/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scarcity.h - for whom a limit may bind: of the whole cluster (decide/turns.h), or of an account, a user, a partition
 * (model/caps.h).
 *
 * A task that waits by choice where machines can be had starts when it likes. Where a limit binds, it waits for its turn on top of
 * that, and so do those behind it. So the policy knows, before it plans, how near the limits are: one may bind where
 * what there is and a machine for each task that waits would use half of what is allowed. Most tasks share machines, and
 * what comes next needs room as well, so that is the safe side.
 *
 * Costs:     nothing without limits; else O(tasks that wait and machines), and O(tasks that run) where there are caps.
 */
#ifndef STINT_DECIDE_SCARCITY_H
#define STINT_DECIDE_SCARCITY_H

#include <stdbool.h>

#include "base/arena.h"
#include "decide/turns.h"
#include "model/caps.h"
#include "model/view.h"

struct scarcity {
    bool of_all;
    const bool *of_set; /* by the set of caps that a job is under; NULL: of none */
};

/* 'caps' may be NULL. */
struct scarcity scarcity_find(const struct view *view, const struct allowance *allowance,
                              const struct caps *caps, struct arena *arena);

/* Whether a limit may bind for the task. 'scarcity' may be NULL: there are no limits. */
static inline bool scarcity_meets(const struct scarcity *scarcity, const struct view *view,
                                  uint32_t task)
{
    return scarcity != NULL &&
           (scarcity->of_all ||
            (scarcity->of_set != NULL && scarcity->of_set[view->job.caps[view->task.job[task]]]));
}

#endif
