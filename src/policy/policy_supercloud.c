/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supercloud: the tasks of a round are packed onto new machines, the largest first; machines that run
 * get nothing more.
 *
 * Jia et al., "Smart spot instances for the supercloud", CrossCloud'16, as the Stratus paper adapts it
 * (SoCC'18, section 4.3; there: SCloud). A machine goes when its last task ends; tasks are not moved when
 * prices change.
 */
#include "decide/fresh_fill.h"
#include "policy/policy.h"

static void decide(const struct policy_input *in, struct plan *ret)
{
    fresh_fill(in->view, ret);
    policy_release_empty(in->view, ret);
    ret->when_empty = EMPTY_GOES;
}

const struct policy policy_supercloud = {
    .name = "supercloud",
    .summary = "packs the tasks of a round onto new machines, cheapest per resource used",
    .is_for_alike = true,
    .decide = decide,
};
