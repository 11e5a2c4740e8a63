/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contention.h - how fast workloads really run beside each other, in the simulated world.
 *
 * A workload's throughput in a group is the product of its throughputs beside each of the others,
 * from a matrix of pairs. No policy sees this; what it learns, it learns from what is reported.
 *
 * Costs:  O(k^2) for a group of k different workloads.
 */
#ifndef STINT_SIM_CONTENTION_H
#define STINT_SIM_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/rng.h"
#include "base/units.h"
#include "trace/matrix_csv.h"

/* So many tasks of one workload. */
struct contention_part {
    uint32_t workload;
    uint32_t count;
};

/* Rates that change with time: from those of 'pair' to those of 'later' in 'span_ms', back in as much, and so on. */
struct contention_drift {
    msec_t span_ms; /* 0: they do not change */
    double *later;  /* as 'pair' */
    double *best;   /* of each pair, at any time */
};

/* The group as the Eva artifact's table misreads it; see contention_permute. */
struct contention_orders {
    uint32_t *listed;    /* rank of each workload in the order in which values were listed */
    uint32_t *read;      /* rank in the order in which they were read */
    bool *in_large_sets; /* workloads of which the table holds groups of up to 25 */
};

struct contention {
    uint32_t count; /* workloads, numbered as in the trace */
    double *pair;   /* [workload * count + other] */
    struct contention_drift drift;
    struct contention_orders orders;
    bool permuted;
};

/* Every pair runs at 'rate'. */
void contention_init_uniform(struct contention *contention, uint32_t count, double rate);

/* From a matrix; workloads that it does not name run at 'unmeasured' beside anything. */
void contention_init_matrix(struct contention *contention, const struct names *workloads,
                            const struct colocation_matrix *matrix, double unmeasured);

void contention_done(struct contention *contention);

/*
 * Misread the table as the generator of Eva's artifact does: it lists a group's values in one order
 * of names and reads them in another, the alphabetical. Pairs are listed in the order of the matrix,
 * larger groups in 'order' (names, NULL at the end). For a repeated name the last place counts. The
 * table has groups of up to 10, and of up to 25 of the workloads 'large' (names, NULL at the end);
 * beyond that, products of the misread pairs. See docs/research/eva.md.
 */
void contention_permute(struct contention *contention, const struct names *workloads,
                        const struct colocation_matrix *matrix, const char *const *order,
                        const char *const *large);

/*
 * Let the rates drift: within 'span_ms' each pair comes to run as another one does at first, which one is drawn, and
 * in as much time it is back. They change in steps of CONTENTION_STEP_MS. Not for a table that is misread.
 */
enum { CONTENTION_STEP_MS = 3600 * 1000 };

void contention_drift(struct contention *contention, msec_t span_ms, struct rng *rng);

/* The best that each pair ever does; [workload * count + other]. */
const double *contention_best(const struct contention *contention);

/* The pairs as a profiler would measure them at first: misread where they are; [workload * count + other]. */
const double *contention_pairs(const struct contention *contention);

/* The throughput of each part's tasks in the group that all parts make up, at that time. */
void contention_rates_at(const struct contention *contention, msec_t at,
                         const struct contention_part *parts, uint32_t count, double *ret);

/* The same at first. */
void contention_rates(const struct contention *contention, const struct contention_part *parts,
                      uint32_t count, double *ret);

#endif
