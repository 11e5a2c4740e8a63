/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rule on the authors' table: the mean over its zones for two to six nines, all rows, and without
 * those that look capped or entered by hand.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/repro_pools.h"
#include "cli/verb.h"
#include "solve/cbc_solver.h"

enum rule {
    RULE_GREEDY,
    RULE_FLEET_CHEAPEST,
    RULE_FLEET_DIVERSE,
    RULE_AVAILABLE,
    RULE_K_OF_N,
    RULE_STINT,
    RULE_OPTIMUM,
    RULES,
};

static const double optimum_gap = 0.001;

static const char *const names[RULES] = {
    [RULE_GREEDY] = "greedy",
    [RULE_FLEET_CHEAPEST] = "fleet-cheapest",
    [RULE_FLEET_DIVERSE] = "fleet-diverse",
    [RULE_AVAILABLE] = "availability-only",
    [RULE_K_OF_N] = "k-of-n",
    [RULE_STINT] = "stint",
    [RULE_OPTIMUM] = "optimum",
};

const char *repro_pools_name(uint32_t index)
{
    return index < RULES ? names[index] : NULL;
}

/* What the paper says, and what a row must be; 0: not said, not looked at. */
struct expectation {
    enum rule rule;
    int nines;
    bool is_trusted; /* without the rows by hand */
    double paper_cost;
    double paper_excess;
    double cost; /* within 'tolerance'; or, without one, at most */
    double tolerance;
};

static const struct expectation expectations[] = {
    { RULE_GREEDY, 2, false, 0.38, 0, 0.387, 0.005 },
    { RULE_GREEDY, 3, false, 0, 0, 0.419, 0.005 },
    { RULE_GREEDY, 4, false, 0, 0, 0.445, 0.005 },
    { RULE_GREEDY, 5, false, 0.47, 0.30, 0.493, 0.005 },
    { RULE_GREEDY, 6, false, 0.53, 0.50, 0.558, 0.005 },
    { RULE_GREEDY, 5, true, 0, 0, 0.80, 0.01 },
    { RULE_FLEET_CHEAPEST, 5, false, 0, 0, 0.215, 0.005 },
    { RULE_STINT, 5, false, 0, 0, 0.322, 0 },
    { RULE_STINT, 5, true, 0, 0, 0.41, 0 },
    { RULE_OPTIMUM, 5, false, 0, 0, 0.318, 0.003 },
    { RULE_OPTIMUM, 5, true, 0, 0, 0.40, 0.004 },
};

enum { EXPECTATIONS = sizeof(expectations) / sizeof(expectations[0]) };

static const struct expectation *expected(uint32_t rule, int nines, bool is_trusted)
{
    for (int i = 0; i < EXPECTATIONS; i++) {
        const struct expectation *of = &expectations[i];

        if (of->rule == rule && of->nines == nines && of->is_trusted == is_trusted)
            return of;
    }
    return NULL;
}

int pools_plan(uint32_t rule, const struct promise *promise, struct arena *arena,
               struct promise_pool *ret, money_t *ret_bound)
{
    struct promise_optimum optimum;
    int rc = 0;

    *ret_bound = 0;
    switch ((enum rule)rule) {
    case RULE_GREEDY:
        *ret = promise_greedy(promise, arena);
        break;
    case RULE_FLEET_CHEAPEST:
        *ret = promise_fleet_cheapest(promise, arena);
        break;
    case RULE_FLEET_DIVERSE:
        *ret = promise_fleet_diverse(promise, arena);
        break;
    case RULE_AVAILABLE:
        *ret = promise_available(promise, arena);
        break;
    case RULE_K_OF_N:
    case RULE_STINT:
        *ret = promise_k_of_n(promise, arena);
        if (rule == RULE_STINT)
            promise_improve(promise, ret, arena);
        break;
    case RULE_OPTIMUM:
        rc = promise_optimum(promise, cbc_solver(), optimum_gap, arena, &optimum);
        if (rc == 0) {
            *ret = optimum.pool;
            *ret_bound = optimum.bound;
        }
        break;
    case RULES:
        break;
    }
    return rc;
}

/* The mean over all zones. */
struct measured {
    double cost;
    double cost_least;
    double cost_most;
    double excess;
    double below; /* mean share of the time in which it is short */
    double bound;
    uint32_t missed; /* zones in which the promise is not kept */
    double seconds;
};

static void add_pool(struct measured *measured, const struct pools_zone *zone,
                     const struct promise_verdict *verdict, money_t bound)
{
    const double cost = pools_cost(zone, verdict->price);

    measured->cost += cost / POOLS_ZONES;
    measured->cost_least = fmin(measured->cost_least, cost);
    measured->cost_most = fmax(measured->cost_most, cost);
    measured->excess += ((double)verdict->capacity / POOLS_CAPACITY - 1) / POOLS_ZONES;
    measured->below += verdict->short_independent / POOLS_ZONES;
    measured->bound += pools_cost(zone, bound) / POOLS_ZONES;
    measured->missed += !verdict->holds;
}

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static int measure(const struct pools_world *world, uint32_t rule, int nines, struct measured *ret)
{
    const clock_t start = clock();
    struct arena arena;
    int rc = 0;

    *ret = (struct measured){ .cost_least = HUGE_VAL };
    arena_init(&arena);
    for (int i = 0; rc == 0 && i < POOLS_ZONES; i++) {
        const struct promise promise = pools_promise(&world->zones[i], nines);
        struct promise_pool pool;
        money_t bound = 0;

        rc = pools_plan(rule, &promise, &arena, &pool, &bound);
        if (rc == 0)
            add_pool(ret, &world->zones[i], &pool.verdict, bound);
        arena_reset(&arena);
    }
    arena_done(&arena);
    ret->seconds = seconds_since(start);
    return rc;
}

/* The greedy rule's way does not depend on its target: walk it once for all of them. */
static void measure_greedy(const struct pools_world *world, struct measured *ret)
{
    const clock_t start = clock();
    struct arena arena;

    arena_init(&arena);
    for (int nines = POOLS_NINES_LEAST; nines <= POOLS_NINES_MOST; nines++)
        ret[nines] = (struct measured){ .cost_least = HUGE_VAL };
    for (int i = 0; i < POOLS_ZONES; i++) {
        const struct promise promise = pools_promise(&world->zones[i], POOLS_NINES_MOST);
        struct promise_walk walk;
        bool goes_on = true;

        promise_walk_init(&walk, &promise, &arena);
        for (int nines = POOLS_NINES_LEAST; nines <= POOLS_NINES_MOST; nines++) {
            const struct promise target = pools_promise(&world->zones[i], nines);

            while (goes_on && !promise_walk_reached(&walk, target.short_most))
                goes_on = promise_walk_step(&walk);

            const struct promise_verdict verdict = promise_judge(&target, walk.machines, &arena);

            add_pool(&ret[nines], &world->zones[i], &verdict, 0);
            ret[nines].seconds = seconds_since(start);
        }
        arena_reset(&arena);
    }
    arena_done(&arena);
}

static const struct report_column columns[] = {
    { .key = "policy", .heading = "rule", .kind = REPORT_TEXT },
    { .key = "offers", .heading = "offers", .kind = REPORT_INTEGER },
    { .key = "nines", .heading = "nines", .kind = REPORT_INTEGER },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "least_cost", .heading = "least", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "most_cost", .heading = "most", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "bound", .heading = "bound", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "excess", .heading = "excess", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "reached_nines", .heading = "nines reached", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "missed", .heading = "zones missed", .kind = REPORT_INTEGER },
    { .key = "seconds", .heading = "run s", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "paper_norm_cost", .heading = "paper norm.", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "paper_excess", .heading = "paper exc.", .kind = REPORT_DECIMAL, .digits = 2 },
};

static void add_optional(struct report_table *table, double value)
{
    if (value > 0)
        report_table_add_real(table, value);
    else
        report_table_add_missing(table);
}

static void add_row(struct report_table *table, const struct pools_world *world, uint32_t rule,
                    int nines, const struct measured *measured, const struct expectation *of)
{
    report_table_add_text(table, names[rule]);
    report_table_add_integer(table, world->offers);
    report_table_add_integer(table, nines);
    report_table_add_real(table, measured->cost);
    report_table_add_real(table, measured->cost_least);
    report_table_add_real(table, measured->cost_most);
    add_optional(table, measured->bound);
    report_table_add_real(table, measured->excess);
    report_table_add_real(table, -log10(measured->below));
    report_table_add_integer(table, measured->missed);
    report_table_add_real(table, measured->seconds);
    add_optional(table, of != NULL ? of->paper_cost : 0);
    add_optional(table, of != NULL ? of->paper_excess : 0);
}

static bool holds(const struct expectation *of, const struct measured *measured)
{
    char who[64];

    if (of == NULL)
        return true;
    (void)snprintf(who, sizeof(who), "%s, %d nines%s", names[of->rule], of->nines,
                   of->is_trusted ? ", without rows by hand" : "");
    if (of->tolerance > 0)
        return repro_is_near(who, "norm_cost", measured->cost, of->cost, of->tolerance);
    if (measured->cost > of->cost || measured->missed > 0) {
        fprintf(stderr,
                "stint repro: %s: norm_cost is %.4f, expected at most %.4f; %u zones missed\n", who,
                measured->cost, of->cost, measured->missed);
        return false;
    }
    return true;
}

/* Targets of a rule: the fleets know none, and the optimum takes seconds. */
static bool is_measured(uint32_t rule, int nines, bool is_trusted)
{
    if (rule == RULE_GREEDY || rule == RULE_K_OF_N || rule == RULE_STINT)
        return !is_trusted || nines == 5;
    return nines == 5 && (!is_trusted || rule == RULE_OPTIMUM);
}

static int run_rules(const struct pools_world *world, bool is_trusted,
                     const struct repro_options *options, struct report_table *table)
{
    struct measured measured[POOLS_NINES_MOST + 1];
    bool good = true;

    for (uint32_t rule = 0; rule < RULES; rule++) {
        if (!repro_wants(options, names[rule]))
            continue;
        if (rule == RULE_OPTIMUM && cbc_solver() == NULL) {
            fprintf(stderr, "stint repro: this stint was built without a solver, so there is no "
                            "optimum; build it with -Dsolver=enabled\n");
            good = false;
            continue;
        }
        if (rule == RULE_GREEDY)
            measure_greedy(world, measured);
        for (int nines = POOLS_NINES_LEAST; nines <= POOLS_NINES_MOST; nines++) {
            const struct expectation *of = expected(rule, nines, is_trusted);

            if (!is_measured(rule, nines, is_trusted))
                continue;
            if (rule != RULE_GREEDY && measure(world, rule, nines, &measured[nines]) != 0) {
                fprintf(stderr, "stint repro: the solver failed\n");
                return EXIT_FAILED;
            }
            good &= !options->check || holds(of, &measured[nines]);
            add_row(table, world, rule, nines, &measured[nines], of);
        }
    }
    return good || !options->check ? EXIT_DONE : EXIT_DIFFERS;
}

int repro_pools_table(const struct repro_options *options)
{
    struct report_table *table =
        report_table_create("pools", columns, sizeof(columns) / sizeof(columns[0]));
    int code = EXIT_DONE;

    for (int is_trusted = 0; is_trusted < 2 && code != EXIT_FAILED; is_trusted++) {
        struct pools_world world;
        struct error error;
        const int rc = pools_world_load(&world, is_trusted != 0, &error);

        if (rc != 0) {
            report_table_destroy(table);
            return repro_fail(rc, &error);
        }

        const int answer = run_rules(&world, is_trusted != 0, options, table);

        code = answer != EXIT_DONE ? answer : code;
        report_table_note_integer(table, is_trusted ? "offers_trusted" : "offers", world.offers);
        pools_world_done(&world);
    }
    if (code != EXIT_FAILED && report_table_write(table, options->format, stdout) != 0)
        code = EXIT_FAILED;
    report_table_destroy(table);
    return code;
}
