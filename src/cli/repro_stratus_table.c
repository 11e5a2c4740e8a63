/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paper's four schedulers at fixed prices (section 5.3, figure 7), on another trace. What is checked is
 * what a second, independent program measured on it: docs/research/stratus.md. With --vary they run on the spot market of
 * 2015, beside stint's own policy.
 */
#include <stdio.h>

#include "cli/repro_stratus.h"
#include "cli/verb.h"

static const double cost_tolerance = 0.015;
static const double latency_tolerance = 0.03;

static const struct row {
    struct stratus_runner runner;
    double known_cost_usd;  /* by the other program; 0: none */
    double known_latency_s; /* the same */
    bool is_ours;           /* not the paper's: only where it is asked for, or with --vary */
} rows[] = {
    { { "hotspot", &policy_hotspot, false, 0, SIM_NOISE_BOTH }, 9540, 168, false },
    { { "fleet", &policy_fleet, false, 0, SIM_NOISE_BOTH }, 4230, 113, false },
    { { "supercloud", &policy_supercloud, false, 0, SIM_NOISE_BOTH }, 4365, 168, false },
    { { "stratus", &policy_stratus, false, 0, SIM_NOISE_BOTH }, 3949, 145, false },
    { { "stratus-clearing", &policy_stratus, true, 0, SIM_NOISE_BOTH }, 0, 0, false },
    { { "stint", &policy_stint, false, 0, SIM_NOISE_BOTH }, 0, 0, true },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const char *repro_stratus_name(uint32_t index)
{
    return index < ROWS ? rows[index].runner.label : NULL;
}

static const struct report_column columns[] = {
    { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
    { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "known_cost_usd", .heading = "known $", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "latency_seconds", .heading = "latency s", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "norm_latency_p50", .heading = "norm. p50", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "norm_latency_p95", .heading = "norm. p95", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "memory_use", .heading = "memory use", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "migrations", .heading = "moves", .kind = REPORT_INTEGER },
    { .key = "instances", .heading = "instances", .kind = REPORT_INTEGER },
    { .key = "seconds", .heading = "run s", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "boot_usd", .heading = "boots $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "idle_usd", .heading = "idle $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "taken", .heading = "taken", .kind = REPORT_INTEGER },
    { .key = "evicted", .heading = "runs lost", .kind = REPORT_INTEGER },
    { .key = "lost_work_hours", .heading = "lost work h", .kind = REPORT_DECIMAL, .digits = 2 },
};

/* The last ones are of what is varied. */
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), VARIED = 5 };

static void add_varied(struct report_table *table, const struct sim_result *result)
{
    const struct controller_stats *stats = &result->stats;

    report_table_add_money(table, result->boot_cost);
    report_table_add_money(table, result->idle_cost);
    report_table_add_integer(table, (int64_t)stats->taken);
    report_table_add_integer(
        table, (int64_t)(stats->evicted[EVICTED_BY_NOTICE] + stats->evicted[EVICTED_BY_LOSS]));
    report_table_add_real(table, (double)result->lost_work_ms / (double)MSEC_PER_HOUR);
}

static void add_row(struct report_table *table, const struct row *row,
                    const struct stratus_run *run, money_t base, bool is_varied)
{
    report_table_add_text(table, row->runner.label);
    report_table_add_money(table, run->result.cost);
    if (row->known_cost_usd > 0 && !is_varied)
        report_table_add_real(table, row->known_cost_usd);
    else
        report_table_add_missing(table);
    if (base > 0)
        report_table_add_real(table, (double)run->result.cost / (double)base);
    else
        report_table_add_missing(table);
    report_table_add_real(table, run->latency_s);
    report_table_add_real(table, run->latency_p50);
    report_table_add_real(table, run->latency_p95);
    report_table_add_real(table, run->memory_use);
    report_table_add_integer(table, (int64_t)run->result.stats.migrations);
    report_table_add_integer(table, (int64_t)run->result.stats.rented);
    report_table_add_real(table, run->seconds);
}

/* What hotspot costs, by hand: each task alone on its cheapest machine, and the billed part of a boot. The
 * bill of each machine is up to a micro-dollar less, as it is rounded down. */
static double cost_of_all_alone(const struct stratus_world *world)
{
    const struct trace *trace = &world->trace;
    double sum = 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];
        uint32_t offer = 0; /* the smallest comes first, and price follows size */

        while (!shape_fits_offer(&trace->shapes, job->shape, &world->catalogue, offer))
            offer++;

        const msec_t billed = job->work_ms + catalogue_type_of(&world->catalogue, offer)->setup_ms;

        sum += (double)job->task_count * (double)billed *
               (double)world->catalogue.offers[offer].price.changes[0].per_hour;
    }
    return sum / (double)MSEC_PER_HOUR / (double)MONEY_PER_USD;
}

/* Whether the result is what it should be; says on standard error what is not. */
static bool holds(const struct stratus_world *world, const struct row *row,
                  const struct stratus_run *run)
{
    const char *name = row->runner.label;
    const double cost = (double)run->result.cost / (double)MONEY_PER_USD;
    const double alone = cost_of_all_alone(world);
    bool good = run->result.ledger_agrees && run->result.left_running == 0;

    if (!good)
        fprintf(stderr, "stint repro: %s: the books do not agree\n", name);
    if (row->known_cost_usd > 0)
        good &= repro_is_near(name, "cost_usd", cost, row->known_cost_usd,
                              row->known_cost_usd * cost_tolerance);
    if (row->known_latency_s > 0)
        good &= repro_is_near(name, "latency_seconds", run->latency_s, row->known_latency_s,
                              row->known_latency_s * latency_tolerance);
    if (row->runner.policy == &policy_hotspot)
        good &= repro_is_near(name, "cost_usd, reckoned by hand,", cost, alone,
                              (double)world->trace.task_total / (double)MONEY_PER_USD);
    return good;
}

/* The first row is what the others are measured against, if it is asked for. */
static int run_all(const struct stratus_world *world, const struct repro_options *options,
                   struct report_table *table)
{
    struct error error;
    money_t base = 0;
    bool good = true;

    for (int i = 0; i < ROWS; i++) {
        struct stratus_run run;

        if (!repro_wants(options, rows[i].runner.label) ||
            (rows[i].is_ours && options->policy_count == 0 && options->vary == NULL))
            continue;
        if (stratus_world_run(world, &rows[i].runner, options->seed, &run, &error) != 0)
            return verb_fail("repro", &error);
        if (i == 0)
            base = run.result.cost;
        good &= !options->check || holds(world, &rows[i], &run);
        add_row(table, &rows[i], &run, base, options->vary != NULL);
        if (options->vary != NULL)
            add_varied(table, &run.result);
    }
    return good ? EXIT_DONE : EXIT_DIFFERS;
}

int repro_stratus_table(const struct repro_options *options)
{
    struct stratus_setting setting = { .billed_boot_s = STRATUS_BILLED_BOOT_S,
                                       .jobs = options->jobs };
    struct stratus_world world;
    struct error error;
    int rc = stratus_vary(&setting, options->vary, &error);

    if (rc == 0)
        rc = stratus_world_load(&world, &setting, &error);
    if (rc != 0)
        return repro_fail(rc, &error);

    struct report_table *table =
        report_table_create("stratus", columns, options->vary != NULL ? COLUMNS : COLUMNS - VARIED);
    int code = run_all(&world, options, table);

    if (code != EXIT_FAILED && report_table_write(table, options->format, stdout) != 0)
        code = EXIT_FAILED;
    report_table_destroy(table);
    stratus_world_done(&world);
    return code;
}
