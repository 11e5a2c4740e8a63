/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repro_coaster.h - CloudCoaster's published results and ours beside them, measured on the two public
 * windows of the Yahoo trace. docs/research/coaster.md has the readings.
 *
 *   repro_coaster_world.c    the windows, a policy's settings, runs over several seeds
 *   repro_coaster_table.c    all policies on both windows (section 4 and table 1 of the paper)
 *   repro_coaster_figures.c  figures 1 and 3; other boot times, losses, cluster sizes, and Google's trace
 */
#ifndef STINT_CLI_REPRO_COASTER_H
#define STINT_CLI_REPRO_COASTER_H

#include "base/error.h"
#include "cli/repro.h"
#include "sim/shortlong.h"

enum { COASTER_WINDOWS = 2, COASTER_POOLED = COASTER_WINDOWS, COASTER_SCORES };

/* Servers in the paper: all, those of the short partition, and of these those that are replaced. */
enum { COASTER_SERVERS = 4000, COASTER_STATIC = 80, COASTER_REPLACED = 40 };

/* The words for a window, or for both together. */
extern const char *const coaster_window_words[COASTER_SCORES];

struct coaster_world {
    struct hybrid_trace windows[COASTER_WINDOWS];
};

/* Returns 0, -ENOENT where the data is not there, or another negative errno. */
int coaster_world_load(struct coaster_world *world, uint32_t jobs, struct error *reterr);
void coaster_world_done(struct coaster_world *world);

/* Read one trace, as it is published, or compressed. */
int coaster_read_trace(const char *file, const char *compressed, struct hybrid_trace *ret,
                       struct error *reterr);

/* How a policy differs from Eagle; all zero but the first two: not at all. */
struct coaster_setting {
    const char *label;
    uint32_t servers; /* of the short partition that are on demand */
    uint32_t ratio;   /* how many transient servers one on demand costs; 0: there are none */
    bool loose;       /* the paper to the letter (short_partition.h) */
    bool idle_pull;
    bool boundary_pull;
    msec_t boot_ms;      /* 0: 120 s */
    msec_t mean_life_ms; /* until a server is lost; 0: none is */
    uint32_t replaced;   /* whose price transient ones may cost; 0: COASTER_REPLACED */
    uint32_t cluster;    /* servers, the partitions in proportion; 0: COASTER_SERVERS */
};

/* What a policy came to on a window, or on both: means over the seeds, unless it says otherwise. */
struct coaster_score {
    double mean; /* delay of short tasks, seconds */
    double p99;
    double max;
    double transients;         /* up, on average over the run */
    double transients_arrival; /* the same from the first arrival to the last */
    uint32_t peak;             /* booting, up and draining; the most of any seed */
    double life_hours;
    double life_max_hours; /* the most of any seed */
    double long_seconds;   /* mean time of a long job */
    double in_long;        /* share of short tasks that ran in the long partition */
    double lost;           /* transient servers */
    double seconds;        /* processor time of all seeds together */
};

/* How many transient servers there may be. */
uint32_t coaster_most(const struct coaster_setting *setting);

/* What the short partition costs, in servers on demand. */
double coaster_bill(const struct coaster_setting *setting, const struct coaster_score *score);

/* Runs the seeds from 'seed' on. 'ret' is by window, the last for both together. */
void coaster_measure(const struct coaster_world *world, const struct coaster_setting *setting,
                     uint64_t seed, uint32_t seeds, struct coaster_score ret[COASTER_SCORES]);

/* The delays of both windows with one seed, ascending; 'ret' is freed by mem_free. Returns their number. */
uint32_t coaster_delays(const struct coaster_world *world, const struct coaster_setting *setting,
                        uint64_t seed, msec_t **ret);

/* The settings of a row of the table. */
const struct coaster_setting *repro_coaster_setting(const char *label);

/* The policies of the table, from 0 on; NULL: there are no more. */
const char *repro_coaster_name(uint32_t index);

/* The two ways to answer; both return an exit code of verb.h. */
int repro_coaster_table(const struct repro_options *options);
int repro_coaster_figure(const struct repro_options *options);

#endif
