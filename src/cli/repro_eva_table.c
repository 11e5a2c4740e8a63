/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table 14 of the Eva paper: five policies on the full trace, paper beside measured.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/repro_eva.h"
#include "cli/sim_rows.h"
#include "cli/verb.h"
#include "sim/work_bound.h"

/* What the paper printed, and what the authors' rules give on the data that can be checked
 * (docs/research/eva.md); 'permuted' where the misread table gives something else. */
struct expectation {
    const struct policy *policy;
    double paper_norm_cost;
    double paper_jct_hours;
    double norm_cost;
    double permuted_norm_cost; /* 0: not looked at */
    double norm_tolerance;
    double jct_hours;     /* 0: not looked at */
    double jct_tolerance; /* relative */
    double cost_usd;      /* 0: not looked at */
};

static const struct expectation expectations[] = {
    { &policy_task_per_instance, 1.00, 16.81, 1.0, 1.0, 1e-9, 16.81, 0.002, 831227.28 },
    { &policy_stratus, 0.67, 18.89, 0.673, 0, 0.015, 0, 0, 0 },
    { &policy_synergy, 0.67, 19.03, 0.669, 0, 0.015, 0, 0, 0 },
    { &policy_owl, 0.75, 18.05, 0.755, 0, 0.015, 0, 0, 0 },
    { &policy_eva, 0.58, 19.42, 0.625, 0.58, 0.015, 20.65, 0.025, 0 },
    { &policy_stint, -1, -1, 0, 0, 0, 0, 0, 0 }, /* not of the paper */
};

enum { EXPECTATIONS = sizeof(expectations) / sizeof(expectations[0]) };

const char *repro_eva_name(uint32_t index)
{
    return index < EXPECTATIONS ? expectations[index].policy->name : NULL;
}

/* What no policy can cost less than, against No-Packing, and the steps of search that it may take: it needs a
 * third of them. */
static const double floor_norm_cost = 0.4848;
static const double floor_tolerance = 0.0005;

enum { FLOOR_NODES = 16000000 };

/* Whether the result is what it should be; says on standard error what is not. */
static bool holds(const struct expectation *expected, const struct sim_result *result,
                  money_t base_cost, bool permuted)
{
    const char *name = expected->policy->name;
    const double norm = permuted ? expected->permuted_norm_cost : expected->norm_cost;
    bool good = result->ledger_agrees && result->left_running == 0;

    if (!good)
        fprintf(stderr, "stint repro: %s: the books do not agree\n", name);
    if (base_cost > 0 && norm > 0)
        good &= repro_is_near(name, "norm_cost", (double)result->cost / (double)base_cost, norm,
                              expected->norm_tolerance);
    if (expected->jct_hours > 0 && !permuted)
        good &= repro_is_near(name, "jct_hours", result->jct_hours, expected->jct_hours,
                              expected->jct_hours * expected->jct_tolerance);
    if (expected->cost_usd > 0)
        good &= repro_is_near(name, "cost_usd", (double)result->cost / (double)MONEY_PER_USD,
                              expected->cost_usd, expected->cost_usd * 0.002);
    return good;
}

static int parse_interference(const char *word, struct eva_variation *variation)
{
    char *end = NULL;

    if (strcmp(word, "matrix") == 0)
        return 0;
    if (strcmp(word, "permuted") == 0) {
        variation->permuted = true;
        return 0;
    }
    variation->pair_rate = strtod(word, &end);
    return *word != 0 && *end == 0 && variation->pair_rate > 0 && variation->pair_rate <= 1
               ? 0
               : -EINVAL;
}

/* Run every wanted policy and fill the table; an exit code. */
static int run_all(const struct eva_world *world, const struct repro_options *options,
                   bool permuted, struct report_table *table, money_t *ret_base)
{
    struct error error;
    money_t base_cost = 0;
    bool good = true;

    for (int i = 0; i < EXPECTATIONS; i++) {
        const struct expectation *expected = &expectations[i];
        struct eva_runner runner;
        struct sim_result result;
        double seconds;

        /* The first is what the others are measured against. */
        if (i > 0 && !repro_wants(options, expected->policy->name))
            continue;
        eva_runner_init(&runner, expected->policy);
        runner.on_demand_only = i == 0;
        if (options->wait_price != NULL && expected->policy == &policy_stint)
            eva_runner_set(&runner, "wait_price", options->wait_price);
        if (eva_world_run(world, &runner, options->seed, &result, &seconds, &error) != 0)
            return verb_fail("repro", &error);
        if (i == 0)
            base_cost = result.cost;
        good &= !options->check || holds(expected, &result, base_cost, permuted);
        if (!repro_wants(options, expected->policy->name))
            continue;
        sim_rows_add(table,
                     &(struct sim_row){ .policy = runner.label,
                                        .result = &result,
                                        .base_cost = base_cost,
                                        .seconds = seconds,
                                        .paper_norm_cost = expected->paper_norm_cost,
                                        .paper_jct_hours = expected->paper_jct_hours },
                     SIM_ROWS_PAPER);
    }
    if (options->check && !permuted)
        good &= repro_is_near("floor", "norm_cost", (double)world->work_bound / (double)base_cost,
                              floor_norm_cost, floor_tolerance);
    *ret_base = base_cost;
    return good ? EXIT_DONE : EXIT_DIFFERS;
}

/* The floor stands beside the rows, or below them. */
static int write_all(const struct eva_world *world, const struct repro_options *options,
                     struct report_table *table, money_t base_cost)
{
    const double norm = base_cost > 0 ? (double)world->work_bound / (double)base_cost : 0;

    report_table_note_text(table, "interference", options->interference);
    report_table_note_money(table, "floor_usd", world->work_bound);
    report_table_note_real(table, "floor_norm_cost", norm, 4);

    const int rc = report_table_write(table, options->format, stdout);

    if (rc == 0 && options->format == OUTPUT_TABLE)
        printf("floor: no policy can pay less than $%.2f, %.4f of a machine for every task\n",
               (double)world->work_bound / (double)MONEY_PER_USD, norm);
    return rc;
}

int repro_eva_table(const struct repro_options *options)
{
    struct eva_variation variation = { .jobs = options->jobs, .seed = options->seed };
    struct eva_world world;
    struct error error;

    if (parse_interference(options->interference, &variation) != 0) {
        fprintf(stderr, "stint repro: --interference takes matrix, permuted or a number above 0 "
                        "and up to 1\n");
        return EXIT_USAGE;
    }
    if (eva_variation_read(&variation, options->vary, &error) != 0) {
        fprintf(stderr, "stint repro: --vary: %s\n", error.text);
        return EXIT_USAGE;
    }

    if (variation.drift_days > 0 && (variation.permuted || variation.pair_rate > 0)) {
        fprintf(stderr, "stint repro: --vary drift goes with --interference matrix\n");
        return EXIT_USAGE;
    }
    if (options->check && variation.pair_rate > 0) {
        fprintf(stderr, "stint repro: --check goes with --interference matrix or permuted\n");
        return EXIT_USAGE;
    }

    const int rc = eva_world_load(&world, &variation, &error);

    if (rc != 0)
        return repro_fail(rc, &error);

    struct report_table *table = sim_rows_create("eva", SIM_ROWS_PAPER, false);
    money_t base_cost = 0;

    world.work_bound = work_bound(&world.trace, &world.catalogue, &world.contention, FLOOR_NODES);

    int code = run_all(&world, options, variation.permuted, table, &base_cost);

    if (code != EXIT_FAILED && write_all(&world, options, table, base_cost) != 0)
        code = EXIT_FAILED;
    report_table_destroy(table);
    eva_world_done(&world);
    return code;
}
