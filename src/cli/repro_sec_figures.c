/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures 4 to 6 of the SEC paper, on SDSC-DS-2004: the modes, the scheduling parameters, and how
 * good the users' estimates are. Cost is per used machine-hour, as in the paper.
 */
#include <stdio.h>
#include <string.h>

#include "cli/repro_sec.h"
#include "cli/verb.h"

enum { SERIES_MAX = 8, POINTS_MAX = 8 };

/* What was measured at one point of one series. */
struct dot {
    double x;
    double wait_seconds;
    double cost_per_hour; /* dollars per used machine-hour */
};

struct line {
    const char *name;
    struct dot dots[POINTS_MAX];
    uint32_t count;
};

struct drawing {
    const char *name; /* of the report */
    const char *title;
    const char *x_label;
    struct line lines[SERIES_MAX];
    uint32_t line_count;
};

static double cost_rate(const struct sec_run *run, money_t cost)
{
    return (double)cost / (double)MONEY_PER_USD / run->used_hours;
}

static void add_dot(struct line *line, double x, const struct sec_run *run, money_t cost)
{
    line->dots[line->count++] = (struct dot){
        .x = x,
        .wait_seconds = run->result.wait_seconds,
        .cost_per_hour = cost_rate(run, cost),
    };
}

static struct line *add_line(struct drawing *drawing, const char *name)
{
    struct line *line = &drawing->lines[drawing->line_count++];

    line->name = name;
    return line;
}

static void set_option(struct sec_mode *mode, const char *name, int64_t value)
{
    mode->option[policy_find_option(mode->policy, name)] = value;
}

/*
 * Figure 4: cost against waiting, for every mode.
 */

static int measure_owned(const struct swf_log *log, struct line *line, struct error *reterr)
{
    static const uint32_t sizes[] = { 93, 117, 140, 163, 186 };
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct sec_mode mode = sec_mode(line->name, &policy_semi_elastic, SEC_EC2);
        struct sec_run run;

        set_option(&mode, "owned", sizes[i]);
        mode.boots_at_once = true;
        rc = sec_run(log, &mode, &run, reterr);
        if (rc == 0)
            add_dot(line, (double)sizes[i], &run, sec_cost_owned(&run, sizes[i]));
        sec_run_done(&run);
    }
    return rc;
}

static int measure_modes(const struct swf_log *log, struct drawing *drawing, struct error *reterr)
{
    const struct sec_mode modes[] = {
        sec_mode("Individual", &policy_task_per_instance, SEC_EC2),
        sec_mode("NoWait", &policy_no_wait, SEC_EC2),
        sec_mode("SEC-On-Demand", &policy_semi_elastic, SEC_EC2),
        sec_mode("SEC-GCE", &policy_semi_elastic, SEC_GCE),
    };
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        struct sec_run run;

        rc = sec_run(log, &modes[i], &run, reterr);
        if (rc != 0)
            return rc;
        add_dot(add_line(drawing, modes[i].label), 0, &run,
                modes[i].billing == SEC_GCE ? sec_cost_gce(&run, 1.0) : sec_cost_on_demand(&run));
        if (modes[i].policy == &policy_semi_elastic && modes[i].billing == SEC_EC2)
            add_dot(add_line(drawing, "SEC-Hybrid"), 0, &run, sec_cost_hybrid(&run));
        sec_run_done(&run);
    }
    return measure_owned(log, add_line(drawing, "Local"), reterr);
}

/*
 * Figure 5: the limit on waiting and what counts as short.
 */

static int measure_limits(const struct swf_log *log, struct drawing *drawing, struct error *reterr)
{
    static const struct {
        const char *name;
        msec_t ms;
    } shorts[] = {
        { "short: none", 0 },
        { "short: 30 min", MSEC_PER_HOUR / 2 },
        { "short: 1 h", MSEC_PER_HOUR },
        { "short: 2 h", 2 * MSEC_PER_HOUR },
        { "short: 4 h", 4 * MSEC_PER_HOUR },
    };
    static const int minutes[] = { 1, 5, 10, 20, 40, 60 };
    int rc = 0;

    for (uint32_t s = 0; s < sizeof(shorts) / sizeof(shorts[0]); s++) {
        struct line *line = add_line(drawing, shorts[s].name);

        for (uint32_t m = 0; rc == 0 && m < sizeof(minutes) / sizeof(minutes[0]); m++) {
            struct sec_mode mode = sec_mode(line->name, &policy_semi_elastic, SEC_EC2);
            struct sec_run run;

            set_option(&mode, "short", shorts[s].ms);
            set_option(&mode, "wait_limit", (msec_t)minutes[m] * 60 * MSEC_PER_SEC);
            rc = sec_run(log, &mode, &run, reterr);
            if (rc == 0)
                add_dot(line, minutes[m], &run, sec_cost_on_demand(&run));
            sec_run_done(&run);
        }
    }
    return rc;
}

/*
 * Figure 6: estimates from exact (0) to twice as wrong as users gave them (2).
 */

static int measure_estimates(struct drawing *drawing, uint32_t jobs, struct error *reterr)
{
    static const uint32_t alphas[] = { 0, SWF_ALPHA_ONE / 2, SWF_ALPHA_ONE, 2 * SWF_ALPHA_ONE };
    static const char *const sizes[] = { "FirstSize", "SumSize", "BestSize" };
    int rc = 0;

    for (int s = 0; s < 3; s++)
        (void)add_line(drawing, sizes[s]);
    for (uint32_t a = 0; rc == 0 && a < sizeof(alphas) / sizeof(alphas[0]); a++) {
        struct swf_log log;

        rc = sec_log_read(SEC_LOG, alphas[a], &log, reterr);
        if (rc != 0)
            return rc;
        trace_keep_first(&log.trace, jobs);
        for (int s = 0; rc == 0 && s < 3; s++) {
            struct sec_mode mode = sec_mode(sizes[s], &policy_semi_elastic, SEC_EC2);
            struct sec_run run;

            set_option(&mode, "size", s);
            rc = sec_run(&log, &mode, &run, reterr);
            if (rc == 0)
                add_dot(&drawing->lines[s], (double)alphas[a] / SWF_ALPHA_ONE, &run,
                        sec_cost_on_demand(&run));
            sec_run_done(&run);
        }
        swf_done(&log);
    }
    return rc;
}

/*
 * The answer.
 */

static int write_table(const struct drawing *drawing, enum output_format format)
{
    static const struct report_column columns[] = {
        { .key = "series", .kind = REPORT_TEXT },
        { .key = "x", .kind = REPORT_DECIMAL, .digits = 2 },
        { .key = "wait_seconds", .heading = "wait s", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "cost_per_hour", .heading = "$ per used h", .kind = REPORT_DECIMAL, .digits = 4 },
    };
    struct report_table *table =
        report_table_create(drawing->name, columns, sizeof(columns) / sizeof(columns[0]));

    report_table_note_text(table, "title", drawing->title);
    report_table_note_text(table, "x", drawing->x_label);
    for (uint32_t i = 0; i < drawing->line_count; i++) {
        for (uint32_t k = 0; k < drawing->lines[i].count; k++) {
            const struct dot *dot = &drawing->lines[i].dots[k];

            report_table_add_text(table, drawing->lines[i].name);
            report_table_add_real(table, dot->x);
            report_table_add_real(table, dot->wait_seconds);
            report_table_add_real(table, dot->cost_per_hour);
        }
    }

    const int rc = report_table_write(table, format, stdout);

    report_table_destroy(table);
    return rc;
}

/* Figure 4 draws cost over waiting; the others draw both over what is varied. */
static int draw(const struct drawing *drawing, bool cost_over_wait, const char *path)
{
    struct chart_point points[2][SERIES_MAX][POINTS_MAX];
    struct chart_series series[2][SERIES_MAX];
    struct chart_panel panels[2] = {
        { .x_label = cost_over_wait ? "mean wait, seconds" : drawing->x_label,
          .y_label = cost_over_wait ? "dollars per used machine-hour" : "mean wait, seconds",
          .series = series[0],
          .series_count = drawing->line_count,
          .y_from_zero = true },
        { .x_label = drawing->x_label,
          .y_label = "dollars per used machine-hour",
          .series = series[1],
          .series_count = drawing->line_count },
    };

    for (uint32_t i = 0; i < drawing->line_count; i++) {
        const struct line *line = &drawing->lines[i];

        for (uint32_t k = 0; k < line->count; k++) {
            const struct dot *dot = &line->dots[k];

            points[0][i][k] = cost_over_wait
                                  ? (struct chart_point){ dot->wait_seconds, dot->cost_per_hour }
                                  : (struct chart_point){ dot->x, dot->wait_seconds };
            points[1][i][k] = (struct chart_point){ dot->x, dot->cost_per_hour };
        }
        for (int p = 0; p < 2; p++)
            series[p][i] = (struct chart_series){ .name = line->name,
                                                  .points = points[p][i],
                                                  .point_count = line->count };
    }

    /* The smallest owned cluster makes its users wait for hours: it would flatten all the rest. */
    if (cost_over_wait)
        series[0][drawing->line_count - 1].points += 2;
    if (cost_over_wait)
        series[0][drawing->line_count - 1].point_count -= 2;

    const struct chart chart = { .title = drawing->title,
                                 .panels = panels,
                                 .panel_count = cost_over_wait ? 1 : 2 };

    return repro_write_chart(&chart, path);
}

static int measure(uint32_t figure, uint32_t jobs, struct drawing *drawing, struct error *reterr)
{
    struct swf_log log;

    if (figure == 6)
        return measure_estimates(drawing, jobs, reterr);

    int rc = sec_log_read(SEC_LOG, SWF_ALPHA_ONE, &log, reterr);

    if (rc != 0)
        return rc;
    trace_keep_first(&log.trace, jobs);
    rc = figure == 4 ? measure_modes(&log, drawing, reterr) : measure_limits(&log, drawing, reterr);
    swf_done(&log);
    return rc;
}

int repro_sec_figure(const struct repro_options *options)
{
    static const struct drawing blank[] = {
        { .name = "sec-figure-4",
          .title = "Figure 4: cost and responsiveness",
          .x_label = "machines, where they are owned" },
        { .name = "sec-figure-5",
          .title = "Figure 5: scheduling and provisioning parameters",
          .x_label = "limit on the first job's wait, minutes" },
        { .name = "sec-figure-6",
          .title = "Figure 6: how wrong users' estimates are",
          .x_label = "alpha: 0 exact, 1 as given" },
    };
    struct drawing drawing;
    struct error error;

    if (options->figure == 7 || options->figure == 8)
        return repro_sec_figure_plans(options);
    if (options->figure < 4 || options->figure > 8) {
        fprintf(stderr, "stint repro: --figure takes 4, 5, 6, 7 or 8\n");
        return EXIT_USAGE;
    }
    drawing = blank[options->figure - 4];

    const int rc = measure(options->figure, options->jobs, &drawing, &error);

    if (rc != 0)
        return repro_fail(rc, &error);
    if (write_table(&drawing, options->format) != 0 ||
        (options->svg != NULL && draw(&drawing, options->figure == 4, options->svg) != 0))
        return EXIT_FAILED;
    return EXIT_DONE;
}
