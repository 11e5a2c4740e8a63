/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cluster.h - a cluster for `stint bench`: so many machines with so many tasks that run, made up of random
 * numbers; and what changes there.
 *
 * Machine types come in families of eight sizes, in which prices grow a little faster than sizes. Tasks of a
 * machine are drawn first, and the machine is the cheapest that holds them. A fifth of the tasks is in gangs of 2
 * to 16. Estimates are log-uniform from ten minutes to eight hours; one task of ten has outlived its own.
 *
 * In a round, about half of the changes are tasks that arrive, and half are tasks that end; one machine is lost with
 * its work, and one price changes. Rounds are as far apart as so many ends would be.
 *
 * Promises:  the same numbers, the same cluster.
 * Memory:    owned by the cluster.
 */
#ifndef STINT_CLI_BENCH_CLUSTER_H
#define STINT_CLI_BENCH_CLUSTER_H

#include <stdint.h>

#include "base/rng.h"
#include "model/plan.h"
#include "model/view.h"

struct bench_spec {
    uint32_t machines;
    uint32_t tasks;
    uint32_t shapes;
    uint32_t types;
    uint32_t waiting; /* tasks that wait, besides those of the machines */
};

struct bench_cluster {
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    struct rng rng;
    uint64_t next_id;
    uint32_t gang;      /* a task of a gang that has tasks without a place, or ROW_NONE */
    uint32_t gang_left; /* how many */
};

void bench_cluster_init(struct bench_cluster *cluster, const struct bench_spec *spec);
void bench_cluster_done(struct bench_cluster *cluster);

/* One round of so many changes. */
void bench_cluster_change(struct bench_cluster *cluster, uint32_t changes);

/* Do what the plan says, at once. */
void bench_cluster_apply(struct bench_cluster *cluster, const struct plan *plan);

#endif
