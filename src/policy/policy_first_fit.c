/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first-fit-decreasing: the largest task first, into the first machine with room.
 *
 * How Karpenter provisions nodes for the pods that wait. Its consolidation, which moves pods later on, is no part of
 * this. A machine goes when its last task ends.
 */
#include "decide/first_fit.h"
#include "policy/policy.h"

static void decide(const struct policy_input *in, struct plan *ret)
{
    first_fit(in->view, ret);
    ret->when_empty = EMPTY_GOES;
}

const struct policy policy_first_fit = {
    .name = "first-fit-decreasing",
    .summary = "the largest task first, into the first machine with room; never moves a task",
    .is_for_alike = true,
    .decide = decide,
};
