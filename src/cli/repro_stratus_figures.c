/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures 4, 7 and 8 of the Stratus paper on the other trace: one thing varied, several schedulers, as rows
 * and as a picture. Figure 5, the use of the resource that binds, is a panel of figures 4 and 7.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/repro_stratus.h"
#include "cli/verb.h"
#include "draw/chart.h"

enum { VALUES_MAX = 8, RUNNERS_MAX = 4, PANELS_MAX = 3 };

enum vary { VARY_BILLED_BOOT, VARY_SPOT_START, VARY_ESTIMATES };

enum metric { METRIC_COST, METRIC_LATENCY, METRIC_MEMORY, METRIC_MOVES };

struct figure {
    uint32_t number;
    const char *title;
    const char *x_label;
    enum vary vary;
    double values[VALUES_MAX];
    uint32_t value_count;
    struct stratus_runner runners[RUNNERS_MAX];
    uint32_t runner_count;
    enum metric panels[PANELS_MAX];
    uint32_t panel_count;
};

/* clang-format off */
#define FOUR_SCHEDULERS \
    .runners = { { .label = "HSpot", .policy = &policy_hotspot }, \
                 { .label = "Fleet", .policy = &policy_fleet }, \
                 { .label = "SCloud", .policy = &policy_supercloud }, \
                 { .label = "Stratus", .policy = &policy_stratus } }, \
    .runner_count = 4
/* clang-format on */

static const struct figure figures[] = {
    { .number = 4,
      .title = "Figures 4 and 5: spot prices of 2024 to 2026, eight starts",
      .x_label = "start, days after 1 February 2024",
      .vary = VARY_SPOT_START,
      .values = { 0, 100, 200, 300, 400, 500, 600, 700 },
      .value_count = 8,
      FOUR_SCHEDULERS,
      .panels = { METRIC_COST, METRIC_MEMORY, METRIC_LATENCY },
      .panel_count = 3 },
    { .number = 7,
      .title = "Figures 7 and 5: fixed prices",
      .x_label = "billed seconds of a boot, which takes 95",
      .vary = VARY_BILLED_BOOT,
      .values = { 0, 30, 60, 95 },
      .value_count = 4,
      FOUR_SCHEDULERS,
      .panels = { METRIC_COST, METRIC_MEMORY, METRIC_LATENCY },
      .panel_count = 3 },
    { .number = 8,
      .title = "Figure 8: estimates that are wrong by a factor of up to h",
      .x_label = "log10 of h",
      .vary = VARY_ESTIMATES,
      .values = { -2, -1, 0, 1, 2 },
      .value_count = 5,
      .runners = { { .label = "Stratus", .policy = &policy_stratus, .clears = true },
                   { .label = "Stratus, no migration", .policy = &policy_stratus } },
      .runner_count = 2,
      .panels = { METRIC_COST, METRIC_MOVES, METRIC_LATENCY },
      .panel_count = 3 },
};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static const int64_t first_start = 1706745600; /* 1 February 2024, Unix time */
static const int64_t day_s = 24 * (int64_t)3600;

static struct stratus_setting setting_for(const struct figure *figure, double value,
                                          const struct repro_options *options)
{
    struct stratus_setting setting = { .billed_boot_s = STRATUS_BILLED_BOOT_S,
                                       .jobs = options->jobs };

    if (figure->vary == VARY_BILLED_BOOT)
        setting.billed_boot_s = (int64_t)value;
    if (figure->vary == VARY_SPOT_START)
        setting.spot_from = first_start + (int64_t)value * day_s;
    return setting;
}

/* Estimates that are too short for a value below 0, and too long above. */
static struct stratus_runner runner_for(const struct figure *figure, uint32_t index, double value)
{
    struct stratus_runner runner = figure->runners[index];

    if (figure->vary == VARY_ESTIMATES) {
        runner.noise_ppm = (uint32_t)llround((pow(10, fabs(value)) - 1) * 1e6);
        runner.noise_side = value < 0 ? SIM_NOISE_UNDER : SIM_NOISE_OVER;
    }
    return runner;
}

/* What was measured: one run per value and runner. */
struct measured {
    struct stratus_run runs[VALUES_MAX][RUNNERS_MAX];
};

static int run_value(const struct figure *figure, uint32_t value,
                     const struct repro_options *options, struct measured *ret,
                     struct error *reterr)
{
    const struct stratus_setting setting = setting_for(figure, figure->values[value], options);
    struct stratus_world world;
    int rc = stratus_world_load(&world, &setting, reterr);

    if (rc != 0)
        return rc;
    for (uint32_t i = 0; rc == 0 && i < figure->runner_count; i++) {
        const struct stratus_runner runner = runner_for(figure, i, figure->values[value]);

        rc = stratus_world_run(&world, &runner, options->seed, &ret->runs[value][i], reterr);
    }
    stratus_world_done(&world);
    return rc;
}

static double metric_of(enum metric metric, const struct stratus_run *run)
{
    switch (metric) {
    case METRIC_COST:
        return (double)run->result.cost / (double)MONEY_PER_USD;
    case METRIC_LATENCY:
        return run->latency_s;
    case METRIC_MEMORY:
        return run->memory_use;
    case METRIC_MOVES:
        return (double)run->result.stats.migrations;
    }
    return 0;
}

static const char *metric_label(enum metric metric)
{
    switch (metric) {
    case METRIC_COST:
        return "cost, dollars";
    case METRIC_LATENCY:
        return "mean job latency, seconds";
    case METRIC_MEMORY:
        return "memory in use, of what is paid for";
    case METRIC_MOVES:
        return "tasks moved";
    }
    return "";
}

static int draw(const struct figure *figure, const struct measured *measured, const char *path)
{
    struct chart_point points[PANELS_MAX][RUNNERS_MAX][VALUES_MAX];
    struct chart_series series[PANELS_MAX][RUNNERS_MAX];
    struct chart_panel panels[PANELS_MAX];

    for (uint32_t p = 0; p < figure->panel_count; p++) {
        for (uint32_t i = 0; i < figure->runner_count; i++) {
            for (uint32_t v = 0; v < figure->value_count; v++)
                points[p][i][v] = (struct chart_point){
                    .x = figure->values[v],
                    .y = metric_of(figure->panels[p], &measured->runs[v][i]),
                };
            series[p][i] = (struct chart_series){ .name = figure->runners[i].label,
                                                  .points = points[p][i],
                                                  .point_count = figure->value_count };
        }
        panels[p] = (struct chart_panel){ .x_label = figure->x_label,
                                          .y_label = metric_label(figure->panels[p]),
                                          .series = series[p],
                                          .series_count = figure->runner_count,
                                          .y_from_zero = true };
    }

    const struct chart chart = { .title = figure->title,
                                 .panels = panels,
                                 .panel_count = figure->panel_count };

    return repro_write_chart(&chart, path);
}

static struct report_table *fill_table(const struct figure *figure, const struct measured *measured)
{
    static const struct report_column columns[] = {
        { .key = "x", .heading = "x", .kind = REPORT_DECIMAL, .digits = 0 },
        { .key = "series", .heading = "series", .kind = REPORT_TEXT },
        { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
        { .key = "latency_seconds", .heading = "latency s", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "norm_latency_p50", .heading = "norm. p50", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "norm_latency_p95", .heading = "norm. p95", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "memory_use", .heading = "memory use", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "migrations", .heading = "moves", .kind = REPORT_INTEGER },
        { .key = "instances", .heading = "instances", .kind = REPORT_INTEGER },
    };
    char name[32];

    (void)snprintf(name, sizeof(name), "stratus-figure-%u", figure->number);

    struct report_table *table =
        report_table_create(name, columns, sizeof(columns) / sizeof(columns[0]));

    report_table_note_text(table, "title", figure->title);
    report_table_note_text(table, "x", figure->x_label);
    for (uint32_t v = 0; v < figure->value_count; v++) {
        for (uint32_t i = 0; i < figure->runner_count; i++) {
            const struct stratus_run *run = &measured->runs[v][i];

            report_table_add_real(table, figure->values[v]);
            report_table_add_text(table, figure->runners[i].label);
            report_table_add_money(table, run->result.cost);
            report_table_add_real(table, run->latency_s);
            report_table_add_real(table, run->latency_p50);
            report_table_add_real(table, run->latency_p95);
            report_table_add_real(table, run->memory_use);
            report_table_add_integer(table, (int64_t)run->result.stats.migrations);
            report_table_add_integer(table, (int64_t)run->result.stats.rented);
        }
    }
    return table;
}

int repro_stratus_figure(const struct repro_options *options)
{
    const struct figure *figure = NULL;
    struct error error;
    int code = EXIT_DONE;

    for (int i = 0; i < FIGURES; i++) {
        if (figures[i].number == options->figure)
            figure = &figures[i];
    }
    if (figure == NULL) {
        fprintf(stderr, "stint repro: --figure of stratus takes 4, 7 or 8\n");
        return EXIT_USAGE;
    }

    struct measured *measured = mem_alloc(1, sizeof(*measured));

    for (uint32_t v = 0; code == EXIT_DONE && v < figure->value_count; v++) {
        const int rc = run_value(figure, v, options, measured, &error);

        if (rc != 0)
            code = repro_fail(rc, &error);
    }
    if (code == EXIT_DONE) {
        struct report_table *table = fill_table(figure, measured);

        if (report_table_write(table, options->format, stdout) != 0 ||
            (options->svg != NULL && draw(figure, measured, options->svg) != 0))
            code = EXIT_FAILED;
        report_table_destroy(table);
    }
    mem_free(measured);
    return code;
}
