/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section 8.2 of the SEC paper: every mode on SDSC-DS-2004, paper beside measured. The rows of stint are not the
 * paper's.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/repro_sec.h"
#include "cli/verb.h"

enum row_kind { ROW_ON_DEMAND, ROW_HYBRID, ROW_GCE, ROW_OWNED };

/* One row: a mode, and what the paper says of it. */
struct row {
    const char *label;
    enum row_kind kind;
    const struct policy *policy; /* NULL: another bill for the run of the row before */
    enum sec_billing billing;
    uint32_t owned;
    bool per_user;

    /* The paper's figures; below 0: none. */
    double paper_norm_cost; /* against individual */
    double paper_wait;      /* seconds, or share of individual's if 'wait_is_share' */
    bool wait_is_share;
    double paper_utilisation;

    /* How far the measured ones may be off; 0: not checked. */
    double norm_tolerance;
    double norm_user_tolerance;
    double wait_tolerance;
    double utilisation_tolerance;
};

#define NO_PAPER .paper_norm_cost = -1, .paper_wait = -1, .paper_utilisation = -1

static const struct row rows[] = {
    { "individual", ROW_ON_DEMAND, &policy_task_per_instance, SEC_EC2, .paper_norm_cost = 1,
      .paper_wait = -1, .paper_utilisation = -1, .norm_tolerance = 1e-9 },
    { "individual-user", ROW_ON_DEMAND, &policy_no_wait, SEC_EC2, .per_user = true, NO_PAPER },
    { "no-wait", ROW_ON_DEMAND, &policy_no_wait, SEC_EC2, .paper_norm_cost = -1, .paper_wait = 82,
      .paper_utilisation = -1, .wait_tolerance = 0.35 * 82 },
    { "sec-on-demand", ROW_ON_DEMAND, &policy_semi_elastic, SEC_EC2, .paper_norm_cost = 0.867,
      .paper_wait = 0.758, .wait_is_share = true, .paper_utilisation = -1, .norm_tolerance = 0.06,
      .norm_user_tolerance = 0.04, .wait_tolerance = 0.12 },
    { "sec-hybrid", ROW_HYBRID, NULL, SEC_EC2, .paper_norm_cost = 0.390, .paper_wait = 0.758,
      .wait_is_share = true, .paper_utilisation = -1, .norm_tolerance = 0.06,
      .norm_user_tolerance = 0.04, .wait_tolerance = 0.12 },
    { "sec-gce", ROW_GCE, &policy_semi_elastic, SEC_GCE, .paper_norm_cost = 0.646,
      .paper_wait = 1.184, .wait_is_share = true, .paper_utilisation = 0.984,
      .norm_tolerance = 0.06, .norm_user_tolerance = 0.04, .utilisation_tolerance = 0.015 },
    { "stint", ROW_ON_DEMAND, &policy_stint, SEC_EC2, NO_PAPER },
    { "stint-hybrid", ROW_HYBRID, NULL, SEC_EC2, NO_PAPER },
    { "local-1.00x", ROW_OWNED, &policy_semi_elastic, SEC_EC2, .owned = 93, NO_PAPER },
    { "local-1.25x", ROW_OWNED, &policy_semi_elastic, SEC_EC2, .owned = 117, NO_PAPER },
    { "local-1.50x", ROW_OWNED, &policy_semi_elastic, SEC_EC2, .owned = 140, NO_PAPER },
    { "local-1.75x", ROW_OWNED, &policy_semi_elastic, SEC_EC2, .owned = 163, NO_PAPER },
    { "local-2.00x", ROW_OWNED, &policy_semi_elastic, SEC_EC2, .owned = 186, NO_PAPER },
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

const char *repro_sec_name(uint32_t index)
{
    return index < ROW_COUNT ? rows[index].label : NULL;
}

static const struct report_column columns[] = {
    { .key = "policy", .heading = "mode", .kind = REPORT_TEXT },
    { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 0 },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "norm_cost_user", .heading = "against user", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "wait_seconds", .heading = "wait s", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "norm_wait", .heading = "wait norm.", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "utilisation", .heading = "utili- sation", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "paid_hours", .heading = "paid hours", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "instances", .heading = "instances", .kind = REPORT_INTEGER },
    { .key = "seconds", .heading = "run s", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "paper_norm_cost", .heading = "paper norm.", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "paper_wait_seconds", .heading = "paper wait s", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "paper_norm_wait", .heading = "paper wait n.", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "paper_utilisation", .heading = "paper util.", .kind = REPORT_DECIMAL, .digits = 3 },
};

static struct sec_mode mode_of(const struct row *row)
{
    struct sec_mode mode = sec_mode(row->label, row->policy, row->billing);

    if (row->per_user)
        mode.option[policy_find_option(row->policy, "pool")] = 1;
    if (row->owned > 0) {
        mode.option[policy_find_option(row->policy, "owned")] = row->owned;
        mode.boots_at_once = true;
    }
    return mode;
}

static money_t cost_of(const struct row *row, const struct sec_run *run)
{
    switch (row->kind) {
    case ROW_ON_DEMAND:
        return sec_cost_on_demand(run);
    case ROW_HYBRID:
        return sec_cost_hybrid(run);
    case ROW_GCE:
        return sec_cost_gce(run, 1.0);
    case ROW_OWNED:
        return sec_cost_owned(run, row->owned);
    }
    return 0;
}

/* What the first two rows gave: all others are measured against them. */
struct base {
    money_t cost;
    money_t cost_user;
    double wait;
};

static void add_optional(struct report_table *table, double value)
{
    if (value >= 0)
        report_table_add_real(table, value);
    else
        report_table_add_missing(table);
}

static void add_row(struct report_table *table, const struct row *row, const struct sec_run *run,
                    const struct base *base)
{
    const money_t cost = cost_of(row, run);

    report_table_add_text(table, row->label);
    report_table_add_money(table, cost);
    report_table_add_real(table, (double)cost / (double)base->cost);
    add_optional(table, base->cost_user > 0 ? (double)cost / (double)base->cost_user : -1);
    report_table_add_real(table, run->result.wait_seconds);
    report_table_add_real(table, run->result.wait_seconds / base->wait);
    report_table_add_real(table, run->used_hours / run->paid_hours);
    report_table_add_real(table, run->paid_hours);
    report_table_add_integer(table, (int64_t)run->result.stats.rented);
    report_table_add_real(table, row->policy != NULL ? run->seconds : 0);
    add_optional(table, row->paper_norm_cost);
    add_optional(table, row->wait_is_share ? -1 : row->paper_wait);
    add_optional(table, row->wait_is_share ? row->paper_wait : -1);
    add_optional(table, row->paper_utilisation);
}

/* Whether the row is what it should be; says on standard error what is not. */
static bool holds(const struct row *row, const struct sec_run *run, const struct base *base)
{
    const double cost = (double)cost_of(row, run);
    const double wait =
        row->wait_is_share ? run->result.wait_seconds / base->wait : run->result.wait_seconds;
    bool good = run->result.ledger_agrees && run->result.left_running == 0;

    if (!good)
        fprintf(stderr, "stint repro: %s: the books do not agree\n", row->label);
    if (row->norm_tolerance > 0)
        good &= repro_is_near(row->label, "norm_cost", cost / (double)base->cost,
                              row->paper_norm_cost, row->norm_tolerance);
    if (row->norm_user_tolerance > 0)
        good &= repro_is_near(row->label, "norm_cost_user", cost / (double)base->cost_user,
                              row->paper_norm_cost, row->norm_user_tolerance);
    if (row->wait_tolerance > 0)
        good &= repro_is_near(row->label, row->wait_is_share ? "norm_wait" : "wait_seconds", wait,
                              row->paper_wait, row->wait_tolerance);
    if (row->utilisation_tolerance > 0)
        good &= repro_is_near(row->label, "utilisation", run->used_hours / run->paid_hours,
                              row->paper_utilisation, row->utilisation_tolerance);
    return good;
}

static void note_base(struct base *base, int row, const struct sec_run *run)
{
    if (row == 0) {
        base->cost = sec_cost_on_demand(run);
        base->wait = run->result.wait_seconds;
    } else if (row == 1) {
        base->cost_user = sec_cost_on_demand(run);
    }
}

static int run_rows(const struct swf_log *log, const struct repro_options *options,
                    struct report_table *table)
{
    struct base base = { 0 };
    struct sec_run run = { 0 };
    struct error error;
    bool good = true;

    for (int i = 0; i < ROW_COUNT; i++) {
        const struct row *row = &rows[i];

        /* The first two are always run: the others are measured against them. */
        if (i > 1 && !repro_wants(options, row->label) &&
            !(row->policy != NULL && i + 1 < ROW_COUNT && rows[i + 1].policy == NULL &&
              repro_wants(options, rows[i + 1].label)))
            continue;
        if (row->policy != NULL) {
            const struct sec_mode mode = mode_of(row);

            sec_run_done(&run);

            const int rc = sec_run(log, &mode, &run, &error);

            if (rc != 0)
                return repro_fail(rc, &error);
        }
        note_base(&base, i, &run);
        good &= !options->check || holds(row, &run, &base);
        if (repro_wants(options, row->label))
            add_row(table, row, &run, &base);
    }
    sec_run_done(&run);
    return good ? EXIT_DONE : EXIT_DIFFERS;
}

int repro_sec_table(const struct repro_options *options)
{
    struct swf_log log;
    struct error error;
    const int rc = sec_log_read(SEC_LOG, SWF_ALPHA_ONE, &log, &error);

    if (rc != 0)
        return repro_fail(rc, &error);
    trace_keep_first(&log.trace, options->jobs);
    for (uint32_t i = 0; i < log.trace.job_count; i++)
        log.trace.jobs[i].fixed = true; /* jobs of such a cluster are not moved */

    struct report_table *table =
        report_table_create("sec", columns, sizeof(columns) / sizeof(columns[0]));
    int code = run_rows(&log, options, table);

    if ((code == EXIT_DONE || code == EXIT_DIFFERS) &&
        report_table_write(table, options->format, stdout) != 0)
        code = EXIT_FAILED;
    report_table_destroy(table);
    swf_done(&log);
    return code;
}
