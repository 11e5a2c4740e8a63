/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clearing.h - move tasks off instances that are mostly idle, so that these can go.
 *
 * Stratus (SoCC'18, section 3.4): an instance that has been used by less than half in every kind for
 * a while is a candidate, the dearest per use first. Its tasks are packed onto other instances, or
 * onto new ones; all or none.
 *
 * Costs:  O(instances + c log c + tasks on candidates x log instances) for c candidates.
 */
#ifndef STINT_DECIDE_CLEARING_H
#define STINT_DECIDE_CLEARING_H

#include "decide/runtime_bins.h"
#include "decide/scale_out.h"
#include "model/plan.h"

enum clearing_rule {
    CLEARING_CHECKED, /* only if it is cheaper afterwards and lasts longer than the move */
    CLEARING_ALWAYS,  /* as the Eva artifact's Stratus: whenever under half of every kind that there
                         is in the whole catalogue; but not a task alone on its cheapest machine */
    CLEARING_NEVER,
};

struct clearing_options {
    enum clearing_rule rule;
    msec_t after; /* under half for at least this long */
    enum runtime_rule runtime;
    struct scale_out_options scale_out;
};

/* The candidates, dearest per use first. Returns their number; 'ret' has room for all instances. */
uint32_t clearing_candidates(const struct view *view, const struct clearing_options *options,
                             uint32_t *ret, struct arena *arena);

/* Clear those that are still under half given what was assigned in 'bins'. */
void clearing_run(struct runtime_bins *bins, const struct clearing_options *options,
                  const uint32_t *candidates, uint32_t count, struct plan *plan);

#endif
