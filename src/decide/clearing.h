/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clearing.h - move tasks off instances that are mostly idle, so that these can go.
 *
 * Stratus (SoCC'18, section 3.4): an instance that has been used by less than half in every kind for
 * a while is a candidate, the dearest per use first. Its tasks are packed onto other instances, or
 * onto new ones; all or none.
 *
 * The paper asks whether the tasks go on for longer than the move takes. That is not enough to save money:
 * a machine that takes them in may have to last for hours on their account, and a gang stops as a whole. So
 * CLEARING_PAYS compares bills, by the estimates. What is charged for the machine if it stays, less what is
 * charged until its tasks have left, is held against what is charged
 *
 *  - for machines that are rented for it;
 *  - for machines that take tasks in, beyond what they will be charged anyway;
 *  - for machines that have the rest of a gang, for as long as the gang stands still.
 *
 * Each of these with what machines that may be taken away cost in lost work, by what a loss undoes of the tasks (risk.h): of one
 * that stays what it has not saved too; one that moves is saved.
 *
 * A task that moves stands still until it is saved and its new machine is ready, and then until it is
 * restored; so much later it ends. As estimates err and who comes next is not known, what is saved must be
 * half as much again as what is charged for it. If machines that there are do not pay, new ones are tried.
 *
 * Costs:  O(instances, or under-used ones by an index, + c log c + tasks on candidates x log instances) for c candidates; CLEARING_PAYS looks
 *         at the tasks of gangs too, until it is known that the move does not pay.
 */
#ifndef STINT_DECIDE_CLEARING_H
#define STINT_DECIDE_CLEARING_H

#include "decide/runtime_bins.h"
#include "decide/scale_out.h"
#include "model/plan.h"

enum clearing_rule {
    CLEARING_CHECKED, /* only if it is cheaper per hour afterwards and lasts longer than the move */
    CLEARING_ALWAYS,  /* as the Eva artifact's Stratus: whenever under half of every kind that there
                         is in the whole catalogue; but not a task alone on its cheapest machine */
    CLEARING_NEVER,
    CLEARING_PAYS, /* only if the bill becomes clearly smaller: see above */
};

struct clearing_options {
    enum clearing_rule rule;
    msec_t after; /* under half for at least this long */
    enum runtime_rule runtime;
    struct scale_out_options scale_out;
};

/* The candidates, dearest per use first. Returns their number; 'ret' is the arena's. The plan
 * asks to wake when the next one will have been under-used for long enough. */
uint32_t clearing_candidates(const struct view *view, const struct clearing_options *options,
                             struct plan *plan, uint32_t **ret);

/* The same by an index, which is of now: without a look at those that are used by more than half. */
uint32_t clearing_candidates_of(const struct machine_index *index,
                                const struct clearing_options *options, struct plan *plan,
                                uint32_t **ret);

/* Clear those that are still under half given what was assigned in 'bins', which were built by the same
 * runtime rule. */
void clearing_run(struct runtime_bins *bins, const struct clearing_options *options,
                  const uint32_t *candidates, uint32_t count, struct plan *plan);

#endif
