/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repro_eva.h - Eva's published results (EuroSys'25), measured on Eva's own trace.
 *
 *   repro_eva_world.c    the data: trace, catalogue, interference, and how the paper varies them
 *   repro_eva_vary.c     the words of --vary
 *   repro_eva_more.c     other public data in Eva's world: durations, spot prices and losses
 *   repro_eva_table.c    table 14: all five policies on the full trace
 *   repro_eva_figures.c  figures 4 to 8: one thing varied at a time
 */
#ifndef STINT_CLI_REPRO_EVA_H
#define STINT_CLI_REPRO_EVA_H

#include "base/arena.h"
#include "base/error.h"
#include "cli/repro.h"
#include "sim/contention.h"
#include "sim/simulation.h"
#include "trace/trace.h"

/* Whose durations jobs have. */
enum eva_durations { EVA_DURATIONS_OWN, EVA_DURATIONS_ALIBABA_2023, EVA_DURATIONS_PHILLY };

/* How a run differs from table 14's; all zero: not at all. */
struct eva_variation {
    double pair_rate;        /* every pair runs at this rate; 0: as the matrix says */
    bool permuted;           /* the matrix as the artifact's table misreads it */
    double delay_factor;     /* on the delays of a move; 0: 1 */
    double multi_gpu_share;  /* of jobs that need 2, 4 or 8 accelerators, in proportion 5:4:1 */
    double multi_task_share; /* of jobs with 2 or 4 tasks, in equal parts */
    double rate_factor;      /* on the rate of arrivals; 0: 1 */
    uint32_t jobs;           /* only the first so many; 0: all */
    uint32_t half;           /* only the first (1) or the second (2) half of the jobs; 0: all */
    bool redrawn;            /* each job has the shape and the work of another one, at random */
    uint32_t rate_noise_ppm; /* of the rates that tasks report */
    double
        drift_days; /* after so many, pairs of workloads run as others did; 0: they do not change */
    enum eva_durations durations;
    bool spot; /* machines can be rented at spot prices too, and are lost as spot machines were */
    uint64_t seed;
};

struct eva_world {
    struct catalogue catalogue;
    struct trace trace;
    struct contention contention;
    money_t work_bound; /* no policy can cost less; 0: not known */
    uint32_t rate_noise_ppm;
    uint32_t on_demand_count; /* of offers: those that come after them are spot */
    struct sim_market market;
    struct arena arena;
};

/* Returns 0, -ENOENT where the data is not there, or another negative errno. */
int eva_world_load(struct eva_world *world, const struct eva_variation *variation,
                   struct error *reterr);
void eva_world_done(struct eva_world *world);

/* Each job runs for as long as one that is drawn of another trace. */
int eva_draw_durations(struct trace *trace, enum eva_durations durations, uint64_t seed,
                       struct error *reterr);

/* Add spot offers to the catalogue, and how their machines are lost. */
int eva_add_spot(struct eva_world *world, struct error *reterr);

/* Vary what 'words' say: WHAT=VALUE of docs/research/yardstick.md, with commas in between. Returns 0 or -EINVAL. */
int eva_variation_read(struct eva_variation *variation, const char *words, struct error *reterr);

/* A policy with the options that the Eva artifact's reading of it has. */
struct eva_runner {
    const char *label;
    const struct policy *policy;
    int64_t option[POLICY_OPTIONS_MAX];
    bool on_demand_only; /* it does not know of spot */
};

void eva_runner_init(struct eva_runner *runner, const struct policy *policy);

/* Set an option by the words of a scenario file; the policy has such an option. */
void eva_runner_set(struct eva_runner *runner, const char *option, const char *value);

/* Simulate; 'ret_seconds' is processor time. */
int eva_world_run(const struct eva_world *world, const struct eva_runner *runner, uint64_t seed,
                  struct sim_result *ret, double *ret_seconds, struct error *reterr);

/* The policies of the table, from 0 on; NULL: there are no more. */
const char *repro_eva_name(uint32_t index);

/* The two ways to answer; both return an exit code of verb.h. */
int repro_eva_table(const struct repro_options *options);
int repro_eva_figure(const struct repro_options *options);

#endif
