/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section 4 of the CloudCoaster paper: Eagle, CloudCoaster at three price ratios in two readings, and
 * Stint's own rules, on two windows of the Yahoo trace and on both together.
 */
#include <stdio.h>
#include <string.h>

#include "cli/repro_coaster.h"
#include "cli/verb.h"

/* From, to; all zero: not looked at. */
struct range {
    double low;
    double high;
};

/* One policy, what the paper says of it, and within what it must be (docs/research/coaster.md). */
struct row {
    struct coaster_setting setting;

    /* The paper's, on the whole trace; 0: none. */
    double paper_mean;
    double paper_gain;
    double paper_transients;

    struct range mean[COASTER_SCORES]; /* seconds */
    struct range p99;                  /* of both windows, as the next ones */
    struct range max;
    struct range gain;
    struct range p99_gain;
    struct range max_gain;
    double transients_arrival[COASTER_WINDOWS]; /* +- 3 % */
    double long_most;                           /* time of long jobs against Eagle; 0: +- 0.5 % */
    double transients_most;                     /* against coaster-3; 0: not looked at */
    double bill_most;                           /* likewise */
};

static const struct row rows[] = {
    { .setting = { .label = "eagle", .servers = COASTER_STATIC },
      .paper_mean = 232.3,
      .paper_gain = 1,
      .mean = { { 65.6, 68.6 }, { 23.9, 26.9 } } },
    { .setting = { .label = "coaster-1", .servers = COASTER_REPLACED, .ratio = 1 },
      .paper_transients = 29.0,
      .mean = { { 66.0, 69.0 }, { 22, 30 } },
      .transients_arrival = { 17.5, 15.7 } },
    { .setting = { .label = "coaster-2", .servers = COASTER_REPLACED, .ratio = 2 },
      .paper_transients = 56.5,
      .mean = { { 15.6, 16.8 }, { 11.5, 14.5 } },
      .transients_arrival = { 34.6, 30.0 } },
    { .setting = { .label = "coaster-3", .servers = COASTER_REPLACED, .ratio = 3 },
      .paper_mean = 48.25,
      .paper_gain = 4.8,
      .paper_transients = 84.5,
      .mean = { { 9.7, 10.4 }, { 7.9, 9.6 } },
      .gain = { 4.5, 5.1 },
      .p99_gain = { 3.3, 3.7 },
      .max_gain = { 1.9, 2.1 },
      .transients_arrival = { 51.4, 43.6 } },
    { .setting = { .label = "coaster-1-loose",
                   .servers = COASTER_REPLACED,
                   .ratio = 1,
                   .loose = true },
      .mean = { { 66.0, 69.0 }, { 22, 30 } } },
    { .setting = { .label = "coaster-2-loose",
                   .servers = COASTER_REPLACED,
                   .ratio = 2,
                   .loose = true },
      .mean = { { 15.6, 16.8 }, { 11.5, 14.5 } } },
    { .setting = { .label = "coaster-3-loose",
                   .servers = COASTER_REPLACED,
                   .ratio = 3,
                   .loose = true },
      .mean = { { 9.7, 10.4 }, { 7.9, 9.6 } } },
    { .setting = { .label = "coaster-3-75", .servers = 20, .ratio = 3, .replaced = 60 },
      .mean = { [COASTER_POOLED] = { 7.2, 8.1 } } },
    { .setting = { .label = "idle-pull",
                   .servers = COASTER_REPLACED,
                   .ratio = 3,
                   .idle_pull = true },
      .mean = { [COASTER_POOLED] = { 6.5, 7.3 } } },
    { .setting = { .label = "both-pulls-80",
                   .servers = COASTER_STATIC,
                   .idle_pull = true,
                   .boundary_pull = true },
      .mean = { [COASTER_POOLED] = { 5.8, 6.5 } },
      .long_most = 1.015 },
    { .setting = { .label = "stint",
                   .servers = COASTER_REPLACED,
                   .ratio = 3,
                   .idle_pull = true,
                   .boundary_pull = true },
      .mean = { [COASTER_POOLED] = { 0, 4.0 } },
      .p99 = { 0, 115 },
      .max = { 0, 240 },
      .long_most = 1.015,
      .transients_most = 1.03 },
    { .setting = { .label = "stint-75",
                   .servers = 20,
                   .ratio = 3,
                   .idle_pull = true,
                   .boundary_pull = true,
                   .replaced = 60 },
      .mean = { [COASTER_POOLED] = { 0, 3.1 } },
      .p99 = { 0, 97 },
      .max = { 0, 215 },
      .long_most = 1.015,
      .bill_most = 0.82 },
    { .setting = { .label = "stint-half",
                   .servers = 10,
                   .ratio = 3,
                   .idle_pull = true,
                   .boundary_pull = true },
      .mean = { [COASTER_POOLED] = { 0, 5.0 } },
      .p99 = { 0, 130 },
      .long_most = 1.015,
      .bill_most = 0.5 },
    { .setting = { .label = "stint-third",
                   .servers = 1,
                   .ratio = 3,
                   .idle_pull = true,
                   .boundary_pull = true },
      .mean = { [COASTER_POOLED] = { 0, 5.0 } },
      .p99 = { 0, 130 },
      .long_most = 1.015,
      .bill_most = 0.34 },
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]), ROW_EAGLE = 0, ROW_COASTER = 3 };

const char *repro_coaster_name(uint32_t index)
{
    return index < ROW_COUNT ? rows[index].setting.label : NULL;
}

const struct coaster_setting *repro_coaster_setting(const char *label)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].setting.label, label) == 0)
            return &rows[i].setting;
    }
    return NULL;
}

/* What the other rows are measured against. */
struct base {
    struct coaster_score eagle[COASTER_SCORES];
    struct coaster_score coaster[COASTER_SCORES];
};

/*
 * The report.
 */

static const struct report_column columns[] = {
    { .key = "policy", .kind = REPORT_TEXT },
    { .key = "window", .heading = "win- dow", .kind = REPORT_TEXT },
    { .key = "mean_seconds", .heading = "mean s", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "gain", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "p99_seconds", .heading = "p99 s", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "max_seconds", .heading = "max s", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "transients", .heading = "tran- sients", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "transients_arrival",
      .heading = "to last arrival",
      .kind = REPORT_DECIMAL,
      .digits = 1 },
    { .key = "peak", .kind = REPORT_INTEGER },
    { .key = "life_hours", .heading = "life h", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "life_max_hours", .heading = "longest h", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "bill_servers", .heading = "bill, servers", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "long_norm", .heading = "long jobs", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "in_long_share", .heading = "in long part.", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "seconds", .heading = "run s", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "paper_mean_seconds", .heading = "paper mean s", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "paper_gain", .heading = "paper gain", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "paper_transients",
      .heading = "paper tran- sients",
      .kind = REPORT_DECIMAL,
      .digits = 1 },
};

static void add_optional(struct report_table *table, double value, bool is_there)
{
    if (is_there)
        report_table_add_real(table, value);
    else
        report_table_add_missing(table);
}

/* What is counted per run has no row for both windows together; the paper's trace is longer than both. */
static void add_row(struct report_table *table, const struct row *row,
                    const struct coaster_score *scores, const struct base *base, int window)
{
    const struct coaster_score *score = &scores[window];
    const struct coaster_score *eagle = &base->eagle[window];
    const bool is_one = window != COASTER_POOLED;
    const bool has_transients = is_one && row->setting.ratio > 0;

    report_table_add_text(table, row->setting.label);
    report_table_add_text(table, coaster_window_words[window]);
    report_table_add_real(table, score->mean);
    add_optional(table, eagle->mean / score->mean, score->mean > 0);
    report_table_add_real(table, score->p99);
    report_table_add_real(table, score->max);
    add_optional(table, score->transients, has_transients);
    add_optional(table, score->transients_arrival, has_transients);
    if (has_transients)
        report_table_add_integer(table, score->peak);
    else
        report_table_add_missing(table);
    add_optional(table, score->life_hours, has_transients);
    add_optional(table, score->life_max_hours, has_transients);
    add_optional(table, coaster_bill(&row->setting, score), is_one);
    add_optional(table, score->long_seconds / eagle->long_seconds,
                 is_one && eagle->long_seconds > 0);
    add_optional(table, score->in_long, is_one);
    add_optional(table, score->seconds, !is_one);
    add_optional(table, row->paper_mean, !is_one && row->paper_mean > 0);
    add_optional(table, row->paper_gain, !is_one && row->paper_gain > 0);
    add_optional(table, row->paper_transients, !is_one && row->paper_transients > 0);
}

/*
 * --check.
 */

static bool is_within(const struct row *row, const char *window, const char *what, double measured,
                      struct range range)
{
    char who[64];

    if (range.high <= 0)
        return true;
    (void)snprintf(who, sizeof(who), "%s, %s", row->setting.label, window);
    return repro_is_near(who, what, measured, (range.low + range.high) / 2,
                         (range.high - range.low) / 2);
}

static bool holds_transients(const struct row *row, const struct coaster_score *score,
                             const struct base *base, int window)
{
    const char *name = coaster_window_words[window];
    const struct coaster_score *coaster = &base->coaster[window];
    const double most = coaster_most(&row->setting);
    const double expected = row->transients_arrival[window];
    bool good = true;

    good &= is_within(row, name, "transients_arrival", score->transients_arrival,
                      (struct range){ expected * 0.97, expected * 1.03 });
    if (!row->setting.loose && row->setting.ratio > 0)
        good &= is_within(row, name, "peak", score->peak, (struct range){ 0, most });
    good &= is_within(row, name, "transients against coaster-3",
                      score->transients / coaster->transients,
                      (struct range){ 0, row->transients_most });
    good &= is_within(row, name, "bill against coaster-3",
                      coaster_bill(&row->setting, score) /
                          coaster_bill(&rows[ROW_COASTER].setting, coaster),
                      (struct range){ 0, row->bill_most });
    return good;
}

/* Whether the row is what it should be; says on standard error what is not. */
static bool holds(const struct row *row, const struct coaster_score *scores,
                  const struct base *base)
{
    const struct coaster_score *both = &scores[COASTER_POOLED];
    const struct coaster_score *eagle = &base->eagle[COASTER_POOLED];
    const char *name = coaster_window_words[COASTER_POOLED];
    bool good = true;

    for (int i = 0; i < COASTER_SCORES; i++)
        good &=
            is_within(row, coaster_window_words[i], "mean_seconds", scores[i].mean, row->mean[i]);
    for (int i = 0; i < COASTER_WINDOWS; i++) {
        const struct range as_eagle = { 0.995, 1.005 };
        const struct range no_more = { 0, row->long_most };

        good &= is_within(row, coaster_window_words[i], "long_norm",
                          scores[i].long_seconds / base->eagle[i].long_seconds,
                          row->long_most > 0 ? no_more : as_eagle);
        good &= holds_transients(row, &scores[i], base, i);
    }
    good &= is_within(row, name, "p99_seconds", both->p99, row->p99);
    good &= is_within(row, name, "max_seconds", both->max, row->max);
    good &= is_within(row, name, "gain", eagle->mean / both->mean, row->gain);
    good &= is_within(row, name, "p99 gain", eagle->p99 / both->p99, row->p99_gain);
    good &= is_within(row, name, "max gain", eagle->max / both->max, row->max_gain);
    return good;
}

static int run_rows(const struct coaster_world *world, const struct repro_options *options,
                    struct report_table *table)
{
    struct base base;
    bool good = true;

    coaster_measure(world, &rows[ROW_EAGLE].setting, options->seed, options->seeds, base.eagle);
    coaster_measure(world, &rows[ROW_COASTER].setting, options->seed, options->seeds, base.coaster);
    for (int i = 0; i < ROW_COUNT; i++) {
        struct coaster_score measured[COASTER_SCORES];
        const struct coaster_score *scores = measured;

        if (!repro_wants(options, rows[i].setting.label))
            continue;
        if (i == ROW_EAGLE)
            scores = base.eagle;
        else if (i == ROW_COASTER)
            scores = base.coaster;
        else
            coaster_measure(world, &rows[i].setting, options->seed, options->seeds, measured);
        for (int k = 0; k < COASTER_SCORES; k++)
            add_row(table, &rows[i], scores, &base, k);
        good &= !options->check || holds(&rows[i], scores, &base);
    }
    return good ? EXIT_DONE : EXIT_DIFFERS;
}

int repro_coaster_table(const struct repro_options *options)
{
    struct coaster_world world;
    struct error error;
    const int rc = coaster_world_load(&world, options->jobs, &error);

    if (rc != 0)
        return repro_fail(rc, &error);

    struct report_table *table =
        report_table_create("coaster", columns, sizeof(columns) / sizeof(columns[0]));
    int code = run_rows(&world, options, table);

    report_table_note_integer(table, "first_seed", (int64_t)options->seed);
    report_table_note_integer(table, "seeds", options->seeds);
    if (report_table_write(table, options->format, stdout) != 0)
        code = EXIT_FAILED;
    report_table_destroy(table);
    coaster_world_done(&world);
    return code;
}
