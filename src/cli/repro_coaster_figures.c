/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of the CloudCoaster paper on the two windows: 1, how many tasks there would be at once if each began
 * when its job arrives (the paper has Google's trace there); 3, the distribution of short tasks' delays. Figures
 * 4 to 6 are not in the paper: delays with other boot times, when transient servers are lost, in clusters of other
 * sizes, and on a window of Google's trace.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/repro_coaster.h"
#include "cli/verb.h"

enum { LINES_MAX = 5, DOTS_MAX = 200, PANELS = 2 };

struct line {
    const char *name;
    enum chart_stroke stroke;
    struct chart_point dots[DOTS_MAX];
    uint32_t count;
};

/* Two panels with lines each. */
struct drawing {
    const char *name; /* of the report */
    const char *title;
    const char *panel[PANELS];
    const char *x_label[PANELS];
    const char *y_label;
    uint32_t y_digits;
    struct line lines[PANELS][LINES_MAX];
    uint32_t line_count;
};

static void add_dot(struct line *line, double x, double y)
{
    if (line->count < DOTS_MAX)
        line->dots[line->count++] = (struct chart_point){ x, y };
}

/*
 * Figure 1: tasks at once, averaged over ten minutes.
 */

enum { BIN_MS = 600 * 1000 };

static void spread_task(int64_t *busy_ms, uint32_t bins, msec_t from, msec_t to)
{
    for (msec_t at = from; at < to && at / BIN_MS < bins;) {
        const msec_t bin_end = (at / BIN_MS + 1) * BIN_MS;
        const msec_t until = bin_end < to ? bin_end : to;

        busy_ms[at / BIN_MS] += until - at;
        at = until;
    }
}

static void count_tasks(const struct hybrid_trace *trace, struct line *line, struct line *level)
{
    const msec_t first = trace->jobs[0].arrival_ms;
    const msec_t last = trace->jobs[trace->job_count - 1].arrival_ms;
    const msec_t whole = (last - first) / BIN_MS; /* bins that new jobs arrive in to the end */
    const msec_t wanted = whole > 0 ? whole : 1;
    const uint32_t bins = wanted < DOTS_MAX ? (uint32_t)wanted : DOTS_MAX;
    int64_t *busy_ms = mem_alloc(bins, sizeof(*busy_ms));
    double sum = 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct hybrid_job *job = &trace->jobs[i];
        const msec_t from = job->arrival_ms - first;

        for (uint32_t k = 0; k < job->tasks; k++)
            spread_task(busy_ms, bins, from, from + trace->work_ms[job->first + k]);
    }
    for (uint32_t i = 0; i < bins; i++) {
        add_dot(line, (i + 0.5) * BIN_MS / (double)MSEC_PER_HOUR, (double)busy_ms[i] / BIN_MS);
        sum += (double)busy_ms[i] / BIN_MS;
    }
    add_dot(level, 0, sum / bins);
    mem_free(busy_ms);
}

static void measure_tasks(const struct coaster_world *world, struct drawing *drawing)
{
    drawing->line_count = 2;
    for (int i = 0; i < PANELS; i++) {
        drawing->lines[i][0].name = "tasks";
        drawing->lines[i][1] = (struct line){ .name = "mean", .stroke = CHART_LEVEL };
        count_tasks(&world->windows[i], &drawing->lines[i][0], &drawing->lines[i][1]);
    }
}

/*
 * Figure 3: the share of short tasks that have started after so long.
 */

static void draw_shares(const msec_t *delays, uint32_t count, double step, double last,
                        struct line *line)
{
    uint32_t within = 0;

    for (uint32_t i = 0; (double)i * step <= last; i++) {
        const double at = (double)i * step;

        while (within < count && (double)delays[within] <= (at + 0.5) * (double)MSEC_PER_SEC)
            within++;
        add_dot(line, at, count > 0 ? (double)within / count : 0);
    }
}

static void measure_shares(const struct coaster_world *world, uint64_t seed,
                           struct drawing *drawing)
{
    static const struct {
        const char *label;
        const char *name;
    } shown[] = {
        { "eagle", "Eagle" },
        { "coaster-1", "CloudCoaster, r = 1" },
        { "coaster-2", "CloudCoaster, r = 2" },
        { "coaster-3", "CloudCoaster, r = 3" },
        { "stint", "Stint, r = 3" },
    };

    drawing->line_count = LINES_MAX;
    for (uint32_t i = 0; i < LINES_MAX; i++) {
        msec_t *delays = NULL;
        const uint32_t count =
            coaster_delays(world, repro_coaster_setting(shown[i].label), seed, &delays);

        drawing->lines[0][i].name = shown[i].name;
        drawing->lines[1][i].name = shown[i].name;
        draw_shares(delays, count, 50, 1600, &drawing->lines[0][i]);
        draw_shares(delays, count, 5, 150, &drawing->lines[1][i]);
        mem_free(delays);
    }
}

/*
 * Figure 4: boot times and losses.
 */

static double mean_delay(const struct coaster_world *world, const struct repro_options *options,
                         const struct coaster_setting *setting)
{
    struct coaster_score scores[COASTER_SCORES];

    coaster_measure(world, setting, options->seed, options->seeds, scores);
    return scores[COASTER_POOLED].mean;
}

static void measure_world(const struct coaster_world *world, const struct repro_options *options,
                          struct drawing *drawing)
{
    static const char *const labels[] = { "coaster-3", "stint", "stint-half" };
    static const int boot_seconds[] = { 30, 60, 120, 300, 600, 1200 };
    static const int lost_per_day[] = { 0, 1, 5, 12, 24, 48, 96 };

    drawing->line_count = sizeof(labels) / sizeof(labels[0]);
    for (uint32_t i = 0; i < drawing->line_count; i++) {
        struct line *boots = &drawing->lines[0][i];
        struct line *losses = &drawing->lines[1][i];

        boots->name = labels[i];
        losses->name = labels[i];
        for (uint32_t k = 0; k < sizeof(boot_seconds) / sizeof(boot_seconds[0]); k++) {
            struct coaster_setting setting = *repro_coaster_setting(labels[i]);

            setting.boot_ms = boot_seconds[k] * MSEC_PER_SEC;
            add_dot(boots, boot_seconds[k], mean_delay(world, options, &setting));
        }
        for (uint32_t k = 0; k < sizeof(lost_per_day) / sizeof(lost_per_day[0]); k++) {
            struct coaster_setting setting = *repro_coaster_setting(labels[i]);

            if (lost_per_day[k] > 0)
                setting.mean_life_ms = 24 * MSEC_PER_HOUR / lost_per_day[k];
            add_dot(losses, lost_per_day[k], mean_delay(world, options, &setting));
        }
    }
}

/*
 * Figure 5: the same jobs on fewer or more servers.
 */

static void measure_sizes(const struct coaster_world *world, const struct repro_options *options,
                          struct drawing *drawing)
{
    static const char *const labels[] = { "coaster-3", "stint", "stint-half" };
    static const uint32_t sizes[] = { 2800, 3200, 3600, 4000, 4400, 4800 };

    drawing->line_count = sizeof(labels) / sizeof(labels[0]);
    for (uint32_t i = 0; i < drawing->line_count; i++) {
        drawing->lines[0][i].name = labels[i];
        drawing->lines[1][i].name = labels[i];
        for (uint32_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            struct coaster_setting setting = *repro_coaster_setting(labels[i]);
            struct coaster_score scores[COASTER_SCORES];

            setting.cluster = sizes[k];
            coaster_measure(world, &setting, options->seed, options->seeds, scores);
            add_dot(&drawing->lines[0][i], sizes[k], scores[COASTER_POOLED].mean);
            add_dot(&drawing->lines[1][i], sizes[k], scores[COASTER_POOLED].p99);
        }
    }
}

/*
 * Figure 6: another trace. A sixth of its servers are for short tasks, so that
 * the threshold of the Yahoo trace is never reached.
 */

enum { GOOGLE_SHORT_PERCENT = 17, GOOGLE_THRESHOLD_PPM = 790000, GOOGLE_CUTOFF_MS = 1129532 };

static struct shortlong_config google_config(const struct hybrid_trace *trace,
                                             const struct coaster_setting *setting,
                                             uint32_t servers)
{
    struct shortlong_config config = shortlong_eagle(trace);
    const uint32_t short_servers = servers * GOOGLE_SHORT_PERCENT / 100;

    config.cutoff_ms = GOOGLE_CUTOFF_MS;
    config.long_servers = servers - short_servers;
    config.short_servers = setting->ratio > 0 ? short_servers / 2 : short_servers;
    config.rule = (struct short_partition_rule){
        .most = short_partition_budget(short_servers / 2, setting->ratio),
        .threshold_ppm = GOOGLE_THRESHOLD_PPM,
        .strict = true,
    };
    config.idle_pull = setting->idle_pull;
    config.boundary_pull = setting->boundary_pull;
    return config;
}

/* The mean delay of short tasks and the mean time of long jobs, both in seconds. */
struct google_score {
    double delay;
    double long_time;
};

static struct google_score measure_config(struct shortlong_config config, uint32_t seeds)
{
    struct google_score score = { 0 };

    for (uint32_t k = 0; k < seeds; k++, config.seed++) {
        struct shortlong_result result;
        double sum = 0;

        shortlong_run(&config, &result);
        for (uint32_t i = 0; i < result.short_tasks; i++)
            sum += (double)result.delays[i] / (double)MSEC_PER_SEC;
        score.delay += sum / (result.short_tasks > 0 ? result.short_tasks : 1) / seeds;
        score.long_time += (double)result.long_sum_ms / (double)MSEC_PER_SEC /
                           (result.long_jobs > 0 ? result.long_jobs : 1) / seeds;
        shortlong_result_done(&result);
    }
    return score;
}

static void measure_google(const struct hybrid_trace *trace, const struct repro_options *options,
                           struct drawing *drawing)
{
    static const char *const labels[] = { "eagle", "coaster-3", "stint" };
    static const uint32_t sizes[] = { 12000, 13000, 14000, 15000 };

    drawing->line_count = sizeof(labels) / sizeof(labels[0]);
    for (uint32_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        double eagle_time = 0;

        for (uint32_t i = 0; i < drawing->line_count; i++) {
            struct shortlong_config config =
                google_config(trace, repro_coaster_setting(labels[i]), sizes[k]);

            config.seed = options->seed;

            const struct google_score score = measure_config(config, options->seeds);

            if (i == 0)
                eagle_time = score.long_time;
            drawing->lines[0][i].name = labels[i];
            drawing->lines[1][i].name = labels[i];
            add_dot(&drawing->lines[0][i], sizes[k], score.delay);
            add_dot(&drawing->lines[1][i], sizes[k], score.long_time / eagle_time);
        }
    }
}

/*
 * The answer.
 */

static int write_table(const struct drawing *drawing, enum output_format format)
{
    const struct report_column columns[] = {
        { .key = "panel", .kind = REPORT_TEXT },
        { .key = "series", .kind = REPORT_TEXT },
        { .key = "x", .kind = REPORT_DECIMAL, .digits = 2 },
        { .key = "y", .kind = REPORT_DECIMAL, .digits = drawing->y_digits },
    };
    struct report_table *table =
        report_table_create(drawing->name, columns, sizeof(columns) / sizeof(columns[0]));

    report_table_note_text(table, "title", drawing->title);
    report_table_note_text(table, "y", drawing->y_label);
    for (int p = 0; p < PANELS; p++) {
        for (uint32_t i = 0; i < drawing->line_count; i++) {
            const struct line *line = &drawing->lines[p][i];

            for (uint32_t k = 0; k < line->count; k++) {
                report_table_add_text(table, drawing->panel[p]);
                report_table_add_text(table, line->name);
                report_table_add_real(table, line->dots[k].x);
                report_table_add_real(table, line->dots[k].y);
            }
        }
    }

    const int rc = report_table_write(table, format, stdout);

    report_table_destroy(table);
    return rc;
}

static int draw(const struct drawing *drawing, const char *path)
{
    struct chart_series series[PANELS][LINES_MAX];
    struct chart_panel panels[PANELS];

    for (int p = 0; p < PANELS; p++) {
        for (uint32_t i = 0; i < drawing->line_count; i++) {
            const struct line *line = &drawing->lines[p][i];

            series[p][i] = (struct chart_series){ .name = line->name,
                                                  .points = line->dots,
                                                  .point_count = line->count,
                                                  .stroke = line->stroke };
        }
        panels[p] = (struct chart_panel){ .title = drawing->panel[p],
                                          .x_label = drawing->x_label[p],
                                          .y_label = drawing->y_label,
                                          .series = series[p],
                                          .series_count = drawing->line_count,
                                          .y_from_zero = drawing->y_digits < 3 ||
                                                         (drawing->y_label == NULL && p == 0) };
    }

    const struct chart chart = {
        .title = drawing->title, .panels = panels, .panel_count = PANELS, .panels_per_row = PANELS
    };

    return repro_write_chart(&chart, path);
}

static const struct drawing blanks[] = {
    [1] = { .name = "coaster-figure-1",
            .title = "Figure 1: tasks at once if none had to wait",
            .panel = { "YH1", "YH2" },
            .x_label = { "hours since the first arrival", "hours since the first arrival" },
            .y_label = "tasks, mean over 10 minutes",
            .y_digits = 1 },
    [3] = { .name = "coaster-figure-3",
            .title = "Figure 3: delays of short tasks, both windows",
            .panel = { "all", "the first 150 s" },
            .x_label = { "delay, seconds", "delay, seconds" },
            .y_label = "share of tasks that have started",
            .y_digits = 4 },
    [4] = { .name = "coaster-figure-4",
            .title = "Boot times and losses (not in the paper)",
            .panel = { "boot time", "losses" },
            .x_label = { "boot time, seconds", "losses per server and day" },
            .y_label = "mean delay of short tasks, seconds",
            .y_digits = 2 },
    [5] = { .name = "coaster-figure-5",
            .title = "Clusters of other sizes (not in the paper)",
            .panel = { "mean", "99th percentile" },
            .x_label = { "servers, 2 % of them short", "servers, 2 % of them short" },
            .y_label = "delay of short tasks, seconds",
            .y_digits = 2 },
    [6] = { .name = "coaster-figure-6",
            .title = "A window of Google's trace (not in the paper)",
            .panel = { "mean delay of short tasks, seconds", "time of long jobs against Eagle" },
            .x_label = { "servers, 17 % of them short", "servers, 17 % of them short" },
            .y_digits = 3 },
};

static int measure_yahoo(const struct repro_options *options, struct drawing *drawing,
                         struct error *reterr)
{
    struct coaster_world world;
    const int rc = coaster_world_load(&world, options->jobs, reterr);

    if (rc != 0)
        return rc;
    if (options->figure == 1)
        measure_tasks(&world, drawing);
    else if (options->figure == 3)
        measure_shares(&world, options->seed, drawing);
    else if (options->figure == 4)
        measure_world(&world, options, drawing);
    else
        measure_sizes(&world, options, drawing);
    coaster_world_done(&world);
    return 0;
}

static int measure_other(const struct repro_options *options, struct drawing *drawing,
                         struct error *reterr)
{
    struct hybrid_trace trace = { 0 };
    const int rc = coaster_read_trace("hybrid/GOOG_subtrace.tr", "hybrid/GOOG_subtrace.tr.zst",
                                      &trace, reterr);

    if (rc != 0)
        return rc;
    hybrid_trace_keep_first(&trace, options->jobs);
    measure_google(&trace, options, drawing);
    hybrid_trace_done(&trace);
    return 0;
}

int repro_coaster_figure(const struct repro_options *options)
{
    struct error error;

    if (options->figure != 1 && (options->figure < 3 || options->figure > 6)) {
        fprintf(stderr, "stint repro: --figure of coaster takes 1, 3, 4, 5 or 6\n");
        return EXIT_USAGE;
    }

    struct drawing drawing = blanks[options->figure];
    const int rc = options->figure == 6 ? measure_other(options, &drawing, &error)
                                        : measure_yahoo(options, &drawing, &error);

    if (rc != 0)
        return repro_fail(rc, &error);
    if (write_table(&drawing, options->format) != 0 ||
        (options->svg != NULL && draw(&drawing, options->svg) != 0))
        return EXIT_FAILED;
    return EXIT_DONE;
}
