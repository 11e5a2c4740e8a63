/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owl: at most two tasks a machine, chosen by profiled interference.
 *
 * Tian et al., SoCC'22, as the Eva paper adapts it to price (section 6.1).
 */
#include "decide/pairing.h"
#include "policy/policy.h"

static void decide(const struct policy_input *in, struct plan *ret)
{
    const struct worth_rules rules = { .view = in->view };

    pairing(&rules, &in->knowledge->profile, ret);
}

const struct policy policy_owl = {
    .name = "owl",
    .summary = "pairs tasks that disturb each other little, by profile",
    .decide = decide,
};
