/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures 4 to 8 of the Eva paper: the trace with one thing varied, several policies, as rows and as
 * a picture. A figure is a table entry: what is varied over which values, who runs, what is drawn.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/repro_eva.h"
#include "cli/verb.h"
#include "draw/chart.h"

enum { VALUES_MAX = 6, RUNNERS_MAX = 6, PANELS_MAX = 3 };

enum vary { VARY_PAIR_RATE, VARY_DELAY, VARY_MULTI_GPU, VARY_MULTI_TASK, VARY_ARRIVALS };

enum metric { METRIC_COST, METRIC_JCT, METRIC_THROUGHPUT, METRIC_FULL_SHARE, METRIC_MIGRATIONS };

/* A policy and one option that makes it the paper's variant. */
struct variant {
    const char *label;
    const struct policy *policy;
    const char *option; /* NULL: as it is */
    const char *value;
};

struct figure {
    uint32_t number;
    const char *title;
    const char *x_label;
    enum vary vary;
    double values[VALUES_MAX];
    uint32_t value_count;
    struct variant variants[RUNNERS_MAX]; /* the first is what cost is measured against */
    uint32_t variant_count;
    enum metric panels[PANELS_MAX];
    uint32_t panel_count;
};

#define NO_PACKING                                          \
    {                                                       \
        "No-Packing", &policy_task_per_instance, NULL, NULL \
    }
#define STRATUS                                \
    {                                          \
        "Stratus", &policy_stratus, NULL, NULL \
    }
#define SYNERGY                                \
    {                                          \
        "Synergy", &policy_synergy, NULL, NULL \
    }
#define OWL                            \
    {                                  \
        "Owl", &policy_owl, NULL, NULL \
    }
#define EVA                            \
    {                                  \
        "Eva", &policy_eva, NULL, NULL \
    }

static const struct figure figures[] = {
    { .number = 4,
      .title = "Figure 4: impact of co-location interference",
      .x_label = "pairwise co-location throughput",
      .vary = VARY_PAIR_RATE,
      .values = { 1, 0.95, 0.9, 0.85, 0.8 },
      .value_count = 5,
      .variants = { NO_PACKING,
                    OWL,
                    { "Eva-RP", &policy_eva, "throughput", "0" },
                    { "Eva-TNRP", &policy_eva, NULL, NULL } },
      .variant_count = 4,
      .panels = { METRIC_COST, METRIC_JCT, METRIC_THROUGHPUT },
      .panel_count = 3 },
    { .number = 5,
      .title = "Figure 5: impact of migration delay",
      .x_label = "migration delay, times the original",
      .vary = VARY_DELAY,
      .values = { 1, 2, 4, 8 },
      .value_count = 4,
      .variants = { NO_PACKING, STRATUS, { "Eva, full only", &policy_eva, "mode", "full" }, EVA },
      .variant_count = 4,
      .panels = { METRIC_FULL_SHARE, METRIC_MIGRATIONS, METRIC_COST },
      .panel_count = 3 },
    { .number = 6,
      .title = "Figure 6: impact of workload composition",
      .x_label = "share of jobs that need several GPUs",
      .vary = VARY_MULTI_GPU,
      .values = { 0, 0.2, 0.4, 0.6 },
      .value_count = 4,
      .variants = { NO_PACKING,
                    STRATUS,
                    SYNERGY,
                    OWL,
                    { "Eva, partial only", &policy_eva, "mode", "partial" },
                    EVA },
      .variant_count = 6,
      .panels = { METRIC_COST },
      .panel_count = 1 },
    { .number = 7,
      .title = "Figure 7: impact of multi-task jobs",
      .x_label = "share of jobs with 2 or 4 tasks",
      .vary = VARY_MULTI_TASK,
      .values = { 0, 0.2, 0.4, 0.6 },
      .value_count = 4,
      .variants = { NO_PACKING,
                    STRATUS,
                    SYNERGY,
                    OWL,
                    { "Eva-Single", &policy_eva, "gangs", "0" },
                    EVA },
      .variant_count = 6,
      .panels = { METRIC_COST, METRIC_JCT },
      .panel_count = 2 },
    { .number = 8,
      .title = "Figure 8: impact of job arrival rate",
      .x_label = "jobs per hour",
      .vary = VARY_ARRIVALS,
      .values = { 0.5, 1, 2, 3, 4 },
      .value_count = 5,
      .variants = { NO_PACKING, STRATUS, SYNERGY, OWL, EVA },
      .variant_count = 5,
      .panels = { METRIC_COST },
      .panel_count = 1 },
};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]), ORIGINAL_JOBS_PER_HOUR = 3 };

static struct eva_variation variation_for(const struct figure *figure, double value,
                                          const struct repro_options *options)
{
    struct eva_variation variation = { .jobs = options->jobs, .seed = options->seed };

    variation.permuted = strcmp(options->interference, "permuted") == 0;
    switch (figure->vary) {
    case VARY_PAIR_RATE:
        variation.pair_rate = value;
        break;
    case VARY_DELAY:
        variation.delay_factor = value;
        break;
    case VARY_MULTI_GPU:
        variation.multi_gpu_share = value;
        break;
    case VARY_MULTI_TASK:
        variation.multi_task_share = value;
        break;
    case VARY_ARRIVALS:
        variation.rate_factor = value / ORIGINAL_JOBS_PER_HOUR;
        break;
    }
    return variation;
}

/* What was measured: one result per value and variant. */
struct measured {
    struct sim_result results[VALUES_MAX][RUNNERS_MAX];
};

static int run_value(const struct figure *figure, uint32_t value,
                     const struct repro_options *options, struct measured *ret,
                     struct error *reterr)
{
    const struct eva_variation variation = variation_for(figure, figure->values[value], options);
    struct eva_world world;
    double seconds;
    int rc = eva_world_load(&world, &variation, reterr);

    if (rc != 0)
        return rc;
    for (uint32_t i = 0; rc == 0 && i < figure->variant_count; i++) {
        const struct variant *variant = &figure->variants[i];
        struct eva_runner runner;

        eva_runner_init(&runner, variant->policy);
        runner.label = variant->label;
        if (variant->option != NULL)
            eva_runner_set(&runner, variant->option, variant->value);
        rc = eva_world_run(&world, &runner, options->seed, &ret->results[value][i], &seconds,
                           reterr);
    }
    eva_world_done(&world);
    return rc;
}

static double metric_of(enum metric metric, const struct sim_result *result,
                        const struct sim_result *base)
{
    switch (metric) {
    case METRIC_COST:
        return (double)result->cost / (double)base->cost;
    case METRIC_JCT:
        return result->jct_hours;
    case METRIC_THROUGHPUT:
        return result->norm_throughput;
    case METRIC_FULL_SHARE:
        return result->full_share;
    case METRIC_MIGRATIONS:
        return result->migrations_per_task;
    }
    return 0;
}

static const char *metric_label(enum metric metric)
{
    switch (metric) {
    case METRIC_COST:
        return "cost against No-Packing";
    case METRIC_JCT:
        return "mean job completion time, hours";
    case METRIC_THROUGHPUT:
        return "normalised job throughput";
    case METRIC_FULL_SHARE:
        return "share of full reconfigurations";
    case METRIC_MIGRATIONS:
        return "moves per task";
    }
    return "";
}

static bool is_drawn(const struct figure *figure, uint32_t variant, enum metric metric)
{
    const struct variant *of = &figure->variants[variant];

    /* Only a policy that weighs both has a share of full reconfigurations worth drawing. */
    return metric != METRIC_FULL_SHARE || (of->policy == &policy_eva && of->option == NULL);
}

static int draw(const struct figure *figure, const struct measured *measured, const char *path)
{
    struct chart_point points[PANELS_MAX][RUNNERS_MAX][VALUES_MAX];
    struct chart_series series[PANELS_MAX][RUNNERS_MAX];
    struct chart_panel panels[PANELS_MAX];

    for (uint32_t p = 0; p < figure->panel_count; p++) {
        uint32_t count = 0;

        for (uint32_t i = 0; i < figure->variant_count; i++) {
            if (!is_drawn(figure, i, figure->panels[p]))
                continue;
            for (uint32_t v = 0; v < figure->value_count; v++)
                points[p][i][v] = (struct chart_point){
                    .x = figure->values[v],
                    .y = metric_of(figure->panels[p], &measured->results[v][i],
                                   &measured->results[v][0]),
                };
            series[p][count++] = (struct chart_series){ .name = figure->variants[i].label,
                                                        .points = points[p][i],
                                                        .point_count = figure->value_count };
        }
        panels[p] = (struct chart_panel){ .x_label = figure->x_label,
                                          .y_label = metric_label(figure->panels[p]),
                                          .series = series[p],
                                          .series_count = count };
    }

    const struct chart chart = { .title = figure->title,
                                 .panels = panels,
                                 .panel_count = figure->panel_count };

    return repro_write_chart(&chart, path);
}

static struct report_table *fill_table(const struct figure *figure, const struct measured *measured)
{
    static const struct report_column columns[] = {
        { .key = "x", .heading = "x", .kind = REPORT_DECIMAL, .digits = 2 },
        { .key = "series", .heading = "series", .kind = REPORT_TEXT },
        { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
        { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 4 },
        { .key = "jct_hours", .heading = "JCT h", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "norm_throughput", .heading = "norm. tput", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "migrations_per_task",
          .heading = "moves/ task",
          .kind = REPORT_DECIMAL,
          .digits = 3 },
        { .key = "full_share", .heading = "full share", .kind = REPORT_DECIMAL, .digits = 4 },
    };
    char name[32];

    (void)snprintf(name, sizeof(name), "eva-figure-%u", figure->number);

    struct report_table *table =
        report_table_create(name, columns, sizeof(columns) / sizeof(columns[0]));

    report_table_note_text(table, "title", figure->title);
    report_table_note_text(table, "x", figure->x_label);
    for (uint32_t v = 0; v < figure->value_count; v++) {
        for (uint32_t i = 0; i < figure->variant_count; i++) {
            const struct sim_result *result = &measured->results[v][i];

            report_table_add_real(table, figure->values[v]);
            report_table_add_text(table, figure->variants[i].label);
            report_table_add_money(table, result->cost);
            report_table_add_real(table, metric_of(METRIC_COST, result, &measured->results[v][0]));
            report_table_add_real(table, result->jct_hours);
            report_table_add_real(table, result->norm_throughput);
            report_table_add_real(table, result->migrations_per_task);
            if (is_drawn(figure, i, METRIC_FULL_SHARE))
                report_table_add_real(table, result->full_share);
            else
                report_table_add_missing(table);
        }
    }
    return table;
}

int repro_eva_figure(const struct repro_options *options)
{
    const struct figure *figure = NULL;
    struct error error;
    int code = EXIT_DONE;

    for (int i = 0; i < FIGURES; i++) {
        if (figures[i].number == options->figure)
            figure = &figures[i];
    }
    if (figure == NULL) {
        fprintf(stderr, "stint repro: --figure takes 4, 5, 6, 7 or 8\n");
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
