/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work_bound.h"

#include "base/arena.h"
#include "decide/bound.h"
#include "decide/filling_bound.h"
#include "model/view.h"

static money_t lowest_price(const struct price_series *series)
{
    money_t least = series->changes[0].per_hour;

    for (uint32_t i = 1; i < series->count; i++) {
        if (series->changes[i].per_hour < least)
            least = series->changes[i].per_hour;
    }
    return least;
}

static struct bound_demand *demands_of(const struct trace *trace, struct arena *arena)
{
    struct bound_demand *demands = ARENA_ARRAY(arena, struct bound_demand, trace->shapes.count);

    for (uint32_t i = 0; i < trace->shapes.count; i++)
        demands[i].shape = i;
    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];

        demands[job->shape].amount +=
            (double)job->task_count * (double)job->work_ms / (double)MSEC_PER_HOUR;
    }
    return demands;
}

/* Where groups are misread their rates are no products of pairs, only never above 1. */
static const double *pairs_of(const struct contention *contention)
{
    return contention != NULL && !contention->permuted ? contention_best(contention) : NULL;
}

static bool may_speed_up(const struct contention *contention)
{
    const size_t pairs = contention != NULL ? (size_t)contention->count * contention->count : 0;

    for (size_t i = 0; i < pairs; i++) {
        if (contention->pair[i] > 1)
            return true;
    }
    return false;
}

money_t work_bound(const struct trace *trace, const struct catalogue *catalogue,
                   const struct contention *contention, uint64_t node_most)
{
    struct filling_bound filling;
    struct arena arena;

    if (may_speed_up(contention))
        return 0;
    arena_init(&arena);

    money_t *price = ARENA_ARRAY(&arena, money_t, catalogue->offer_count);
    const struct bound_demand *demands = demands_of(trace, &arena);

    for (uint32_t i = 0; i < catalogue->offer_count; i++)
        price[i] = lowest_price(&catalogue->offers[i].price);

    money_t bound = bound_cost(catalogue, &trace->shapes, price, demands, trace->shapes.count);

    if (node_most > 0) {
        filling_bound(&(struct filling_input){ .catalogue = catalogue,
                                               .shapes = &trace->shapes,
                                               .price = price,
                                               .demands = demands,
                                               .demand_count = trace->shapes.count,
                                               .pair_rate = pairs_of(contention),
                                               .workloads = trace->shapes.workloads.count,
                                               /* the simulator rounds rates, and none is 0 */
                                               .rate_error = 1.0 / RATE_FULL_PPM,
                                               .node_most = node_most },
                      &arena, &filling);
        if (filling.cost > bound)
            bound = filling.cost;
    }
    arena_done(&arena);
    return bound;
}
