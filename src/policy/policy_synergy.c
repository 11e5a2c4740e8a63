/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synergy: best fit by worth per dollar, never moves anything.
 *
 * Mohan et al., OSDI'22, as the Eva paper adapts it to a cluster that grows (section 6.1).
 */
#include "decide/best_fit.h"
#include "policy/policy.h"

static void decide(const struct policy_input *in, struct plan *ret)
{
    const struct worth_rules rules = {
        .view = in->view,
        .colocation = &in->knowledge->colocation,
    };

    best_fit(&rules, ret);
}

const struct policy policy_synergy = {
    .name = "synergy",
    .summary = "best fit by worth per dollar onto what runs; never moves a task",
    .learns_colocation = true,
    .decide = decide,
};
