/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sim_rows.h"

#include <string.h>

static const struct report_column columns[] = {
    { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
    { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "jct_hours", .heading = "JCT h", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "slowest_hours", .heading = "worst h", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "tasks_per_instance", .heading = "tasks/ mach.", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "norm_throughput", .heading = "norm. tput", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "idle_hours", .heading = "idle h", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "migrations_per_task",
      .heading = "moves per task",
      .kind = REPORT_DECIMAL,
      .digits = 3 },
    { .key = "instances", .heading = "mach- ines", .kind = REPORT_INTEGER },
    { .key = "full_share", .heading = "full share", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "bound_share", .heading = "bound/ cost", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "seconds", .heading = "run s", .kind = REPORT_DECIMAL, .digits = 2 },
};

static const struct report_column service_columns[] = {
    { .key = "short_seconds", .heading = "short s", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "availability", .heading = "avail- ability", .kind = REPORT_DECIMAL, .digits = 6 },
};

static const struct report_column paper_columns[] = {
    { .key = "paper_norm_cost", .heading = "paper norm.", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "paper_jct_hours", .heading = "paper JCT h", .kind = REPORT_DECIMAL, .digits = 2 },
};

static const struct report_column spread_columns[] = {
    { .key = "cost_min_usd", .heading = "least $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "cost_max_usd", .heading = "most $", .kind = REPORT_MONEY, .digits = 2 },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), MORE_COLUMNS = 2 };

struct report_table *sim_rows_create(const char *name, unsigned what, bool fine)
{
    static const struct {
        unsigned flag;
        const struct report_column *columns;
    } more[] = {
        { SIM_ROWS_SERVICES, service_columns },
        { SIM_ROWS_PAPER, paper_columns },
        { SIM_ROWS_SPREAD, spread_columns },
    };
    struct report_column all[COLUMNS + 3 * MORE_COLUMNS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < COLUMNS; i++)
        all[count++] = columns[i];
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; (what & more[i].flag) != 0 && k < MORE_COLUMNS; k++)
            all[count++] = more[i].columns[k];
    }
    for (uint32_t i = 0; fine && i < count; i++) {
        if (strstr(all[i].key, "_hours") != NULL)
            all[i].digits = 5;
    }
    return report_table_create(name, all, count);
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

/* Of the time that services were to be whole, the share in which they were. */
static void add_share(struct report_table *table, const struct sim_result *result)
{
    if (result->served_ms > 0)
        report_table_add_real(table, 1 - (double)result->short_ms / (double)result->served_ms);
    else
        report_table_add_missing(table);
}

void sim_rows_add(struct report_table *table, const struct sim_row *row, unsigned what)
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
    if ((what & SIM_ROWS_SERVICES) != 0) {
        report_table_add_real(table, (double)result->short_ms / (double)MSEC_PER_SEC);
        add_share(table, result);
    }
    if ((what & SIM_ROWS_PAPER) != 0) {
        add_paper(table, row->paper_norm_cost);
        add_paper(table, row->paper_jct_hours);
    }
    if ((what & SIM_ROWS_SPREAD) != 0) {
        report_table_add_money(table, row->cost_min);
        report_table_add_money(table, row->cost_max);
    }
}
