/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot: every task gets the cheapest machine that holds it, to itself, and the machine goes when the
 * task ends.
 *
 * Shastri and Irwin, SoCC'17, as the Stratus paper adapts it (SoCC'18, section 4.3; there: HSpot). Tasks
 * are not moved when prices change.
 */
#include "policy/policy.h"

static void decide(const struct policy_input *in, struct plan *ret)
{
    policy_place_alone(in->view, ret);
    policy_release_empty(in->view, ret);
    ret->when_empty = EMPTY_GOES;
}

const struct policy policy_hotspot = {
    .name = "hotspot",
    .summary = "a machine for every task, the cheapest that holds it, gone when the task ends",
    .decide = decide,
};
