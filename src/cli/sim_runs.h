/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_runs.h - run a scenario's policies, each over one or several seeds, and add up.
 *
 * Promises:  same scenario and seeds, same results but for 'seconds'.
 * Costs:     the runs, one after the other.
 */
#ifndef STINT_CLI_SIM_RUNS_H
#define STINT_CLI_SIM_RUNS_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "sim/scenario.h"

/* One policy over all seeds. */
struct sim_mean {
    struct sim_result result; /* means; what only checks read is of the last run */
    money_t cost_min;
    money_t cost_max;
    double seconds; /* of one run, on average */
    uint32_t runs;
    uint32_t failed_checks; /* runs in which something did not add up */
};

struct sim_runs {
    struct loaded_scenario *loaded; /* its seed changes from run to run */
    uint64_t first_seed;
    uint32_t seed_count;
    FILE *explain; /* every decision goes there; NULL: nowhere */
    FILE *jobs;    /* and every job that is done, as CSV; NULL: nowhere */
};

/* The first line of 'jobs'. */
void sim_runs_jobs_header(FILE *out);

/* Run one policy. What does not add up is reported on standard error, and counted. */
int sim_runs_policy(const struct sim_runs *runs, const struct scenario_policy *policy,
                    struct sim_mean *ret, struct error *reterr);

#endif
