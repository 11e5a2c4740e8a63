/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_world.h - the work and the machines that the benchmarks simulate.
 *
 * Three families of five machine types each, thirty shapes of task, gangs among them, runtimes
 * log-uniform from ten minutes to eight hours, a decision every five minutes. The span of arrivals
 * is the same for any number of tasks: with more tasks, more run at the same time, while the number
 * of different things stays as it is.
 */
#ifndef STINT_BENCH_BENCH_WORLD_H
#define STINT_BENCH_BENCH_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/catalogue.h"
#include "sim/contention.h"
#include "sim/simulation.h"
#include "trace/trace.h"

struct bench_spec {
    const struct policy *policy;
    uint32_t task_count;
    double pair_rate;        /* of any two workloads beside each other; 0: they do not disturb */
    uint32_t gang_tasks_max; /* 0: 16; the share of tasks in gangs stays about the same */
    bool at_once;            /* all jobs arrive at the same moment, but for the last one */
};

struct bench_world {
    struct trace trace;
    struct catalogue catalogue;
    struct contention contention;
    struct sim_config config; /* of which the caller may set the callbacks */
};

/* With 'at_once', when the last job arrives: when all others have been placed. */
#define BENCH_LAST_ARRIVAL_MS (500 * MSEC_PER_SEC)

int bench_world_init(struct bench_world *world, const struct bench_spec *spec,
                     struct error *reterr);
void bench_world_done(struct bench_world *world);

/* Simulate it; what does not add up in the end is an error. */
int bench_world_run(const struct bench_world *world, struct sim_result *ret, struct error *reterr);

#endif
