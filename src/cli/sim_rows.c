/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sim_rows.h"

#include <string.h>

static const struct report_column columns[] = {
    { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
    { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "jct_hours", .heading = "JCT h", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "slowest_hours", .heading = "slowest h", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "tasks_per_instance",
      .heading = "tasks/ instance",
      .kind = REPORT_DECIMAL,
      .digits = 2 },
    { .key = "norm_throughput", .heading = "norm. tput", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "idle_hours", .heading = "idle h", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "migrations_per_task", .heading = "moves/ task", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "instances", .heading = "instances", .kind = REPORT_INTEGER },
    { .key = "full_share", .heading = "full share", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "bound_share", .heading = "bound/ cost", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "seconds", .heading = "run s", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "paper_norm_cost", .heading = "paper norm.", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "paper_jct_hours", .heading = "paper JCT h", .kind = REPORT_DECIMAL, .digits = 2 },
};

enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]), PAPER_COLUMNS = 2 };

static const struct report_column spread_columns[] = {
    { .key = "cost_min_usd", .heading = "least $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "cost_max_usd", .heading = "most $", .kind = REPORT_MONEY, .digits = 2 },
};

enum { SPREAD_COLUMNS = sizeof(spread_columns) / sizeof(spread_columns[0]) };

static void copy_columns(struct report_column *ret, bool fine)
{
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        ret[i] = columns[i];
        if (fine && strstr(ret[i].key, "_hours") != NULL)
            ret[i].digits = 5;
    }
}

struct report_table *sim_rows_create(const char *name, bool with_paper, bool fine)
{
    struct report_column all[COLUMN_COUNT];

    copy_columns(all, fine);
    return report_table_create(name, all, with_paper ? COLUMN_COUNT : COLUMN_COUNT - PAPER_COLUMNS);
}

static void add_ratio(struct report_table *table, money_t part, money_t whole)
{
    if (whole > 0)
        report_table_add_real(table, (double)part / (double)whole);
    else
        report_table_add_missing(table);
}

static void add_paper(struct report_table *table, double value)
{
    if (value >= 0)
        report_table_add_real(table, value);
    else
        report_table_add_missing(table);
}

void sim_rows_add(struct report_table *table, const struct sim_row *row, bool with_paper)
{
    const struct sim_result *result = row->result;

    report_table_add_text(table, row->policy);
    report_table_add_money(table, result->cost);
    add_ratio(table, result->cost, row->base_cost);
    report_table_add_real(table, result->jct_hours);
    report_table_add_real(table, result->slowest_hours);
    report_table_add_real(table, result->tasks_per_instance);
    report_table_add_real(table, result->norm_throughput);
    report_table_add_real(table, result->idle_hours);
    report_table_add_real(table, result->migrations_per_task);
    report_table_add_integer(table, (int64_t)result->stats.rented);
    if (result->stats.weighed > 0)
        report_table_add_real(table, result->full_share);
    else
        report_table_add_missing(table);
    add_ratio(table, result->work_bound, result->cost);
    report_table_add_real(table, row->seconds);
    if (with_paper) {
        add_paper(table, row->paper_norm_cost);
        add_paper(table, row->paper_jct_hours);
    }
}

struct report_table *sim_rows_create_spread(const char *name, bool fine)
{
    struct report_column all[COLUMN_COUNT + SPREAD_COLUMNS];
    uint32_t count = COLUMN_COUNT - PAPER_COLUMNS;

    copy_columns(all, fine);
    for (uint32_t i = 0; i < SPREAD_COLUMNS; i++)
        all[count++] = spread_columns[i];
    return report_table_create(name, all, count);
}

void sim_rows_add_spread(struct report_table *table, const struct sim_row *row)
{
    sim_rows_add(table, row, false);
    report_table_add_money(table, row->cost_min);
    report_table_add_money(table, row->cost_max);
}
