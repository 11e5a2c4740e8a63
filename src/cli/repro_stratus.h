/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repro_stratus.h - Stratus and its rivals (SoCC'18) on a public trace of short batch tasks.
 *
 * The paper's own traces are not public. docs/research/stratus.md says what was read how.
 *
 *   repro_stratus_world.c    the data: trace, machines, spot prices, and how a run is varied
 *   repro_stratus_vary.c     the words of --vary
 *   repro_stratus_table.c    the four schedulers at fixed prices
 *   repro_stratus_figures.c  figures 4, 7 and 8
 */
#ifndef STINT_CLI_REPRO_STRATUS_H
#define STINT_CLI_REPRO_STRATUS_H

#include "base/error.h"
#include "cli/repro.h"
#include "sim/simulation.h"
#include "trace/trace.h"

enum { STRATUS_BOOT_S = 95, STRATUS_BILLED_BOOT_S = 60 };

/* What a run happens in. */
struct stratus_setting {
    int64_t billed_boot_s; /* of the 95 s that a boot takes */
    int64_t spot_from;     /* spot prices from then on, in Unix time; 0: fixed prices, on demand */
    bool is_2015;          /* the machines and auctions of that year, and machines on demand */
    bool
        by_events; /* decisions are made when something happened, a second later; else every minute */
    bool is_learned; /* how long tasks run is learned; else it is known */
    uint32_t jobs;   /* only the first so many, or of 2015 every so many-th; 0: all */
};

/* The first day for which there are all prices of 2015, 1 April in UTC, and how many days there are. */
enum { STRATUS_2015_FROM = 1427846400, STRATUS_2015_DAYS = 152 };

struct stratus_world {
    struct catalogue catalogue;
    struct trace trace;
    struct sim_faults faults;
    bool by_events;
    bool is_learned;
};

/* A policy with its options. */
struct stratus_runner {
    const char *label;
    const struct policy *policy;
    bool clears;        /* stratus: moves tasks off machines that are mostly idle */
    uint32_t noise_ppm; /* estimates are wrong by up to the factor 1 + this */
    enum sim_noise noise_side;
};

struct stratus_run {
    struct sim_result result;
    double latency_s;   /* of jobs, mean */
    double latency_p50; /* of jobs, against the runtime of their tasks */
    double latency_p95;
    double memory_use; /* of what was paid for */
    double seconds;    /* of processor time */
};

/* Returns 0, -ENOENT where the data is not there, or another negative errno. */
int stratus_world_load(struct stratus_world *world, const struct stratus_setting *setting,
                       struct error *reterr);
void stratus_world_done(struct stratus_world *world);

int stratus_world_run(const struct stratus_world *world, const struct stratus_runner *runner,
                      uint64_t seed, struct stratus_run *ret, struct error *reterr);

/* The words of --vary: market=2015 and day=N, rounds=events, estimates=learned. */
int stratus_vary(struct stratus_setting *setting, const char *words, struct error *reterr);

/* The rows of the table, from 0 on; NULL: there are no more. */
const char *repro_stratus_name(uint32_t index);

/* The two ways to answer; both return an exit code of verb.h. */
int repro_stratus_table(const struct repro_options *options);
int repro_stratus_figure(const struct repro_options *options);

#endif
