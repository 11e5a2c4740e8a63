/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repro_all.h - the yardstick: every policy on every workload of this project, in one table.
 *
 *   repro_all_worlds.c  the workloads: the examples, and traces of the public data where it is there
 *   repro_all_table.c   the runs, each in a process of its own, and the table
 */
#ifndef STINT_CLI_REPRO_ALL_H
#define STINT_CLI_REPRO_ALL_H

#include "base/error.h"
#include "cli/repro.h"
#include "cli/repro_eva.h"
#include "cli/repro_stratus.h"
#include "sim/scenario.h"
#include "trace/swf.h"

/* A workload in memory; which of the parts is used depends on where it is from. */
struct all_world {
    struct loaded_scenario scenario;
    struct eva_world eva;
    struct stratus_world stratus;
    struct swf_log log;
    struct catalogue catalogue;
    struct sim_config run; /* without a policy and its options */
    const struct trace *trace;
    struct trace fixed; /* a copy of 'trace' with jobs of its own, if nothing may be moved */
};

/* What is to be run. */
struct all_workload {
    const char *name;
    const char *what; /* whose cluster that is like */
    const char *file; /* a scenario, or a file of the data folder */
    int (*load)(const struct all_workload *workload, const struct repro_options *options,
                struct all_world *ret, struct error *reterr);
    void (*unload)(struct all_world *world);
    /* What the literature sets differently there; NULL: nothing. */
    void (*tune)(const struct policy *policy, int64_t *option);
};

extern const struct all_workload all_workloads[];
extern const uint32_t all_workload_count;

/* Whether the workload's data can be read. */
bool all_is_there(const struct all_workload *workload);

/* The policies, from 0 on; NULL: there are no more. */
const char *repro_all_name(uint32_t index);

/* Returns an exit code of verb.h. */
int repro_all_table(const struct repro_options *options);

#endif
