/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet: each task onto the machine with least memory to spare, else onto the cheapest that holds it.
 *
 * Amazon's Spot Fleet by lowest price with the placement "binpack" of its container service, as the
 * Stratus paper combines them (SoCC'18, section 4.3). A machine goes when its last task ends.
 */
#include "decide/tight_fit.h"
#include "policy/policy.h"

static void decide(const struct policy_input *in, struct plan *ret)
{
    tight_fit(in->view, ret);
    ret->when_empty = EMPTY_GOES;
}

const struct policy policy_fleet = {
    .name = "fleet",
    .summary = "packs by least free memory onto what runs, rents the cheapest machine for the rest",
    .decide = decide,
};
