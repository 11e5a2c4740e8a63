/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task-per-instance: every task gets the cheapest machine that holds it, to itself.
 *
 * What most cloud batch services do, and the yardstick of the Eva paper (there: No-Packing).
 */
#include "policy/policy.h"

static void decide(const struct policy_input *in, struct plan *ret)
{
    policy_place_alone(in->view, ret);
    policy_release_empty(in->view, ret);
}

const struct policy policy_task_per_instance = {
    .name = "task-per-instance",
    .summary = "a machine for every task, the cheapest that holds it",
    .decide = decide,
};
