/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the portfolio takes: three years of hourly demand of up to 10,000 machines, all
 * questions.
 *
 *     bench_portfolio [MACHINES]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "decide/portfolio.h"

enum { HOURS = 26280, MACHINES = 10000 };

static const struct commitment classes[] = {
    { .name = "on demand", .per_used_hour = 2400000 },
    { .name = "1y light", .term_hours = 8760, .upfront = 1762000000, .per_used_hour = 904000 },
    { .name = "1y medium", .term_hours = 8760, .upfront = 4146000000, .per_used_hour = 540000 },
    { .name = "1y heavy", .term_hours = 8760, .upfront = 5000000000, .per_hour = 361000 },
    { .name = "3y light", .term_hours = 26280, .upfront = 2710000000, .per_used_hour = 884000 },
    { .name = "3y medium", .term_hours = 26280, .upfront = 6300000000, .per_used_hour = 527000 },
};

/* A walk that passes through nearly all counts, the worst case for bands. */
static uint32_t *draw_usage(uint32_t machines)
{
    uint32_t *usage = mem_alloc(HOURS, sizeof(*usage));
    struct rng rng;

    rng_init(&rng, 1, 0);
    for (uint32_t i = 0; i < HOURS; i++)
        usage[i] = (uint32_t)rng_below(&rng, machines + 1);
    return usage;
}

static double msec_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) * 1e3 +
           (double)(now.tv_nsec - start->tv_nsec) / 1e6;
}

int main(int argc, char **argv)
{
    const uint32_t machines = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : MACHINES;
    uint32_t *usage = draw_usage(machines);
    const struct portfolio_question question = {
        .input = { .usage = usage,
                   .hours = HOURS,
                   .classes = classes,
                   .class_count = sizeof(classes) / sizeof(classes[0]),
                   .interest_ppm = 80000 },
        .outlook = PORTFOLIO_OUTLOOK_DEFAULTS,
        .fall_ppm = 250000,
    };
    struct portfolio_plan plan;
    struct portfolio_bill bill;
    struct portfolio_advice advice;
    struct timespec start;
    struct arena arena;

    arena_init(&arena);
    clock_gettime(CLOCK_MONOTONIC, &start);

    const money_t bound = portfolio_bound(&question.input, &arena);
    const double bound_at = msec_since(&start);

    portfolio_greedy(&question.input, &arena, &plan);
    portfolio_cost(&question.input, &plan, &bill);

    const double greedy_at = msec_since(&start);

    portfolio_online(&question.input, &question.outlook, &arena, &plan);
    portfolio_cost(&question.input, &plan, &bill);

    const double online_at = msec_since(&start);

    portfolio_advise(&question, &arena, &advice);
    printf("portfolio: %u machines, %d hours: bound %.1f, greedy %.1f, online %.1f, advice %.1f, "
           "together %.1f ms (online is %.1f %% above the bound)\n",
           machines, HOURS, bound_at, greedy_at - bound_at, online_at - greedy_at,
           msec_since(&start) - online_at, msec_since(&start),
           100.0 * (double)bill.pure / (double)bound - 100);
    arena_done(&arena);
    mem_free(usage);
    return 0;
}
