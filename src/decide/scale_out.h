/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale_out.h - which machines to rent for tasks that fit nowhere, decided together with which of
 * them share one.
 *
 * Stratus (SoCC'18, section 3.3): of the tasks, longest first, the first i for i = 1, 2, 3... are a
 * candidate group as long as some machine holds them; each pair of group and offer is scored by the
 * group's demand of its tightest resource, in units of the smallest machine's, per dollar. The best
 * pair is taken, and so on until no task is left. A group ends before the second task of a job that is
 * spread.
 *
 * Beyond the paper, where a task asks for the same on every machine: no pair is taken that costs more than
 * a machine for each task of the group.
 *
 * Costs:  O(tasks x group size x types).
 */
#ifndef STINT_DECIDE_SCALE_OUT_H
#define STINT_DECIDE_SCALE_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "model/view.h"

enum scale_out_unit {
    UNIT_PER_KIND, /* of each kind, what the machine with least of it has */
    UNIT_MACHINE,  /* what the cheapest machine has; a kind that it lacks counts without limit */
};

struct scale_out_options {
    bool within_bins; /* groups of tasks of one runtime bin only */
    enum scale_out_unit unit;
};

/* The tasks in the order they are considered, with their runtime bins. */
struct scale_out_task {
    uint32_t task;
    uint32_t bin;
};

/* Rent for all of them; a task that no open offer holds is left out. Returns the price per hour. */
money_t scale_out(const struct view *view, const struct scale_out_task *tasks, uint32_t count,
                  struct scale_out_options options, enum plan_reason_code why, struct plan *plan);

#endif
