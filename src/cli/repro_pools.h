/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repro_pools.h - TR-Kubernetes' published results (SIGMETRICS'19), measured on the authors' own table
 * and on prices that they did not see.
 *
 *   repro_pools_world.c    the data: the authors' table, prices of 2015, availability of GPUs
 *   repro_pools_table.c    every rule on the table, two to six nines
 *   repro_pools_figures.c  figures 6, 7, 14 and 17: rules, tiers, targets, batch work on the excess
 *   repro_pools_market.c   figure 15: what is promised and what comes true, on other prices
 */
#ifndef STINT_CLI_REPRO_POOLS_H
#define STINT_CLI_REPRO_POOLS_H

#include "base/error.h"
#include "cli/pool_market.h"
#include "cli/repro.h"
#include "decide/promise.h"
#include "decide/promise_optimum.h"

enum {
    POOLS_ZONES = 12,
    POOLS_CAPACITY = 5000,
    POOLS_2015_CAPACITY = 10000, /* the same in half units: there are types with half a unit */
    POOLS_NINES_LEAST = 2,
    POOLS_NINES_MOST = 6,
};

/* One zone of the authors' table. */
struct pools_zone {
    const char *name;
    struct promise_offer *offers;
    uint32_t count;
    double on_demand; /* micro-dollars for an hour of one unit, at the cheapest offer */
};

struct pools_world {
    struct arena arena;
    struct pools_zone zones[POOLS_ZONES];
    uint32_t offers;
    uint32_t left_out; /* rows that look capped or entered by hand */
};

/* With 'only_trusted', rows are left out whose availability is a round target or was written by hand.
 * Returns 0, -ENOENT where the data is not there, or another negative errno. */
int pools_world_load(struct pools_world *world, bool only_trusted, struct error *reterr);
void pools_world_done(struct pools_world *world);

/* 10^-nines. */
double pools_short(int nines);

/* A pool's price against the target on demand. */
double pools_cost(const struct pools_zone *zone, money_t price);

/* The promise of so many nines in a zone. */
struct promise pools_promise(const struct pools_zone *zone, int nines);

/* The rules of the table, from 0 on; NULL: there are no more. */
const char *repro_pools_name(uint32_t index);

/* One rule in one zone. 'ret_bound' is 0 but for the optimum. */
int pools_plan(uint32_t rule, const struct promise *promise, struct arena *arena,
               struct promise_pool *ret, money_t *ret_bound);

/* A market with its names, and the days in which rules are judged. */
struct pools_market {
    struct arena arena;
    struct pool_market market;
    struct pool_span judged;
    msec_t begin; /* of what may be learned from */
    int64_t capacity;
    money_t on_demand; /* an hour of the capacity */
    uint32_t *zone_of; /* per offer */
};

/* Prices of 2015, and the availability of V100 machines in 2023. */
int pools_market_2015(struct pools_market *market, struct error *reterr);
int pools_market_gpu(struct pools_market *market, struct error *reterr);
void pools_market_done(struct pools_market *market);

/* The ways to answer; each returns an exit code of verb.h. */
int repro_pools_table(const struct repro_options *options);
int repro_pools_figure(const struct repro_options *options);
int repro_pools_market(const struct repro_options *options);

#endif
