/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_plan.h - `stint bench plan`: the same work planned by several policies, beside the least that any plan
 * could cost.
 *
 * Every policy decides in a process of its own, so that all begin with the same memory, and one that takes too long
 * can be ended.
 */
#ifndef STINT_CLI_BENCH_PLAN_H
#define STINT_CLI_BENCH_PLAN_H

#include <stdint.h>

#include "cli/bench_cluster.h"
#include "cli/report_table.h"
#include "policy/policy.h"

struct bench_plan_spec {
    uint32_t tasks;
    uint32_t running; /* of them; the others wait */
    uint32_t shapes;
    uint32_t types;
    uint32_t limit_s;            /* of processor time, for each policy */
    const struct policy *policy; /* NULL: stint, Eva's algorithm and first-fit decreasing */
    enum output_format format;
};

/* An exit code. */
int bench_plan(const struct bench_plan_spec *spec);

#endif
