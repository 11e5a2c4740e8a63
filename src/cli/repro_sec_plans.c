/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures 7 and 8 of the SEC paper: what to reserve, on six logs, and two clouds together, on four.
 *
 * The demand is what the semi-elastic cluster paid for, hour by hour, on each log.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/repro_sec.h"
#include "cli/verb.h"
#include "decide/portfolio.h"

enum { LOGS = 6, CLOUD_LOGS = 4, METHODS = 6, RATIOS = 4, CLOUDS = 3 };

static const struct {
    const char *name;
    const char *file;
} logs[LOGS] = {
    { "SDSC-DS", SEC_LOG },
    { "SDSC-BLUE", "swf/SDSC-BLUE-2000-4.2-cln.swf.gz" },
    { "SDSC-SP2", "swf/SDSC-SP2-1998-4.2-cln.swf.gz" },
    { "CTC-SP2", "swf/CTC-SP2-1996-3.1-cln.swf.gz" },
    { "HPC2N", "swf/HPC2N-2002-2.2-cln.swf.gz" },
    { "Sandia-Ross", "swf/Sandia-Ross-2001-1.1-cln.swf.gz" },
};

/* Run the semi-elastic cluster on a log. */
static int run_log(uint32_t index, enum sec_billing billing, const struct repro_options *options,
                   struct sec_run *ret, struct error *reterr)
{
    const struct sec_mode mode = sec_mode(logs[index].name, &policy_semi_elastic, billing);
    struct swf_log log;
    int rc = sec_log_read(logs[index].file, SWF_ALPHA_ONE, &log, reterr);

    if (rc != 0)
        return rc;
    trace_keep_first(&log.trace, options->jobs);
    rc = sec_run(&log, &mode, ret, reterr);
    swf_done(&log);
    return rc;
}

/* The classes with a term from 'least' to 'most' hours, and on demand. */
static uint32_t choose_classes(uint32_t least, uint32_t most, struct commitment *ret)
{
    const struct commitment *all;
    const uint32_t count = sec_classes(&all);
    uint32_t chosen = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || (all[i].term_hours >= least && all[i].term_hours <= most))
            ret[chosen++] = all[i];
    }
    return chosen;
}

/*
 * Figure 7: six ways to pay for the same demand.
 */

static const char *const method_names[METHODS] = {
    "bound",          "offline greedy",  "online, all classes",
    "online, 1 year", "online, 3 years", "on demand",
};

enum method { BOUND, GREEDY, ONLINE, ONLINE_1Y, ONLINE_3Y, ON_DEMAND };

static money_t pure_online(const struct sec_run *run, uint32_t least, uint32_t most,
                           struct arena *arena)
{
    const struct portfolio_outlook outlook = PORTFOLIO_OUTLOOK_DEFAULTS;
    struct commitment classes[PORTFOLIO_CLASSES_MAX];
    const struct portfolio_input input = {
        .usage = run->usage,
        .hours = run->hours,
        .classes = classes,
        .class_count = choose_classes(least, most, classes),
        .interest_ppm = SEC_INTEREST_PPM,
    };
    struct portfolio_plan plan;
    struct portfolio_bill bill;

    portfolio_online(&input, &outlook, arena, &plan);
    portfolio_cost(&input, &plan, &bill);
    return bill.pure;
}

static void pay_each_way(const struct sec_run *run, money_t cost[METHODS])
{
    enum { YEAR = 8760 };
    struct commitment classes[PORTFOLIO_CLASSES_MAX];
    const struct portfolio_input input = {
        .usage = run->usage,
        .hours = run->hours,
        .classes = classes,
        .class_count = choose_classes(0, UINT32_MAX, classes),
        .interest_ppm = SEC_INTEREST_PPM,
    };
    const struct portfolio_plan nothing = { 0 };
    struct portfolio_bill bill;
    struct arena arena;

    arena_init(&arena);
    cost[BOUND] = portfolio_bound(&input, &arena);
    cost[GREEDY] = sec_cost_hybrid(run);
    cost[ONLINE] = pure_online(run, 0, UINT32_MAX, &arena);
    cost[ONLINE_1Y] = pure_online(run, YEAR, YEAR, &arena);
    cost[ONLINE_3Y] = pure_online(run, 3 * YEAR, 3 * YEAR, &arena);
    portfolio_cost(&input, &nothing, &bill);
    cost[ON_DEMAND] = bill.pure;
    arena_done(&arena);
}

struct plans {
    money_t cost[LOGS][METHODS];
    double used_hours[LOGS];
};

static int measure_plans(const struct repro_options *options, struct plans *ret,
                         struct error *reterr)
{
    for (uint32_t i = 0; i < LOGS; i++) {
        struct sec_run run;
        const int rc = run_log(i, SEC_EC2, options, &run, reterr);

        if (rc != 0)
            return rc;
        pay_each_way(&run, ret->cost[i]);
        ret->used_hours[i] = run.used_hours;
        sec_run_done(&run);
    }
    return 0;
}

static double share(money_t cost, money_t of)
{
    return of > 0 ? (double)cost / (double)of : 0;
}

static struct report_table *table_of_plans(const struct plans *plans)
{
    static const struct report_column columns[] = {
        { .key = "log", .kind = REPORT_TEXT },
        { .key = "method", .kind = REPORT_TEXT },
        { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 0 },
        { .key = "cost_per_hour", .heading = "$ per used h", .kind = REPORT_DECIMAL, .digits = 4 },
        { .key = "against_bound", .heading = "/ bound", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "against_greedy", .heading = "/ greedy", .kind = REPORT_DECIMAL, .digits = 3 },
    };
    struct report_table *table =
        report_table_create("sec-figure-7", columns, sizeof(columns) / sizeof(columns[0]));

    for (uint32_t i = 0; i < LOGS; i++) {
        for (uint32_t m = 0; m < METHODS; m++) {
            const money_t cost = plans->cost[i][m];

            report_table_add_text(table, logs[i].name);
            report_table_add_text(table, method_names[m]);
            report_table_add_money(table, cost);
            report_table_add_real(table,
                                  (double)cost / (double)MONEY_PER_USD / plans->used_hours[i]);
            report_table_add_real(table, share(cost, plans->cost[i][BOUND]));
            report_table_add_real(table, share(cost, plans->cost[i][GREEDY]));
        }
    }
    return table;
}

/* What --check holds: online within 8 % of the bound on four logs, of the greedy on five. */
static bool plans_hold(const struct plans *plans)
{
    int near_bound = 0;
    int near_greedy = 0;

    for (uint32_t i = 0; i < LOGS; i++) {
        near_bound += share(plans->cost[i][ONLINE], plans->cost[i][BOUND]) <= 1.08;
        near_greedy += share(plans->cost[i][ONLINE], plans->cost[i][GREEDY]) <= 1.08;
    }
    if (near_bound >= 4 && near_greedy >= 5)
        return true;
    fprintf(stderr,
            "stint repro: online is within 8 %% of the bound on %d logs and of the greedy on %d\n",
            near_bound, near_greedy);
    return false;
}

static int draw_plans(const struct plans *plans, const char *path)
{
    struct chart_point points[METHODS][LOGS];
    struct chart_series series[METHODS];

    for (uint32_t m = 0; m < METHODS; m++) {
        for (uint32_t i = 0; i < LOGS; i++) {
            points[m][i] = (struct chart_point){
                (double)(i + 1),
                (double)plans->cost[i][m] / (double)MONEY_PER_USD / plans->used_hours[i],
            };
        }
        series[m] = (struct chart_series){ .name = method_names[m],
                                           .points = points[m],
                                           .point_count = LOGS };
    }

    const struct chart_panel panel = {
        .x_label = "1 SDSC-DS, 2 SDSC-BLUE, 3 SDSC-SP2, 4 CTC-SP2, 5 HPC2N, 6 "
                   "Sandia-Ross",
        .y_label = "dollars per used machine-hour",
        .series = series,
        .series_count = METHODS,
        .y_from_zero = true
    };
    const struct chart chart = { .title = "Figure 7: reserving by different methods",
                                 .panels = &panel,
                                 .panel_count = 1 };

    return repro_write_chart(&chart, path);
}

static int figure_7(const struct repro_options *options)
{
    struct plans *plans = mem_alloc(1, sizeof(*plans));
    struct error error;
    const int rc = measure_plans(options, plans, &error);
    int code = rc != 0 ? repro_fail(rc, &error) : EXIT_DONE;

    if (code == EXIT_DONE) {
        struct report_table *table = table_of_plans(plans);

        if (report_table_write(table, options->format, stdout) != 0 ||
            (options->svg != NULL && draw_plans(plans, options->svg) != 0))
            code = EXIT_FAILED;
        report_table_destroy(table);
    }
    if (code == EXIT_DONE && options->check && !plans_hold(plans))
        code = EXIT_DIFFERS;
    mem_free(plans);
    return code;
}

/*
 * Figure 8: two clouds. The reserved layers of the demand run on EC2, the rest on GCE, each by its
 * own billing. The split is made on the layers of the demand that each cloud alone would have seen,
 * not by simulating both at once: see docs/research/sec.md.
 */

static const char *const cloud_names[CLOUDS] = { "EC2 alone", "GCE alone", "both" };
static const double ratios[RATIOS] = { 1.0, 0.9, 0.8, 0.7 };

/* What is reserved on EC2 for a year at a time, bought as the demand comes in. */
struct reserved {
    struct commitment classes[PORTFOLIO_CLASSES_MAX];
    struct portfolio_input input;
    struct portfolio_plan plan;
};

/* 'otherwise' is what an hour costs that is not reserved. */
static void reserve(struct reserved *reserved, const struct sec_run *run, money_t otherwise,
                    struct arena *arena)
{
    enum { YEAR = 8760 };
    const struct portfolio_outlook outlook = PORTFOLIO_OUTLOOK_DEFAULTS;

    reserved->input = (struct portfolio_input){
        .usage = run->usage,
        .hours = run->hours,
        .classes = reserved->classes,
        .class_count = choose_classes(YEAR, YEAR, reserved->classes),
        .interest_ppm = SEC_INTEREST_PPM,
    };
    reserved->classes[0].per_used_hour = otherwise;
    portfolio_online(&reserved->input, &outlook, arena, &reserved->plan);
}

/* How many reserved machines there are in each of so many hours. */
static void inventory(const struct reserved *reserved, uint32_t hours, uint32_t *ret)
{
    for (uint32_t i = 0; i < reserved->plan.count; i++) {
        const struct portfolio_purchase *bought = &reserved->plan.purchases[i];
        const uint64_t end =
            (uint64_t)bought->hour + reserved->classes[bought->class_index].term_hours;

        for (uint32_t h = bought->hour; h < hours && h < end; h++)
            ret[h] += bought->count;
    }
}

/* EC2 alone, in full: upfront payments count for all of their term. */
static money_t pay_ec2(const struct sec_run *run, struct arena *arena)
{
    struct reserved reserved = { 0 };
    struct portfolio_bill bill;

    reserve(&reserved, run, SEC_PRICE, arena);
    portfolio_cost(&reserved.input, &reserved.plan, &bill);
    return bill.total;
}

/* Both clouds: EC2 for the layers that are reserved, GCE for those above. */
static money_t pay_both(const struct sec_run *ec2, const struct sec_run *gce, double ratio,
                        struct arena *arena)
{
    const uint32_t hours = ec2->hours > gce->hours ? ec2->hours : gce->hours;
    uint32_t *inside = ARENA_ARRAY(arena, uint32_t, hours);
    uint32_t *above = ARENA_ARRAY(arena, uint32_t, hours);
    uint32_t *owned = ARENA_ARRAY(arena, uint32_t, hours);
    struct reserved reserved = { 0 };
    struct portfolio_bill bill;

    /* What GCE takes for an hour after its discounts, judged by its own run. */
    reserve(&reserved, ec2, (money_t)((double)sec_cost_gce(gce, ratio) / gce->paid_hours), arena);
    inventory(&reserved, hours, owned);
    for (uint32_t h = 0; h < hours; h++) {
        const uint32_t on_ec2 = h < ec2->hours ? ec2->usage[h] : 0;
        const uint32_t on_gce = h < gce->hours ? gce->usage[h] : 0;

        inside[h] = on_ec2 < owned[h] ? on_ec2 : owned[h];
        above[h] = on_gce > owned[h] ? on_gce - owned[h] : 0;
    }
    reserved.input.usage = inside;
    reserved.input.hours = hours;
    portfolio_cost(&reserved.input, &reserved.plan, &bill);
    return bill.total + sec_cost_gce(&(struct sec_run){ .usage = above, .hours = hours }, ratio);
}

struct clouds {
    money_t cost[CLOUD_LOGS][RATIOS][CLOUDS];
    double used_hours[CLOUD_LOGS];
};

static int measure_clouds(const struct repro_options *options, struct clouds *ret,
                          struct error *reterr)
{
    for (uint32_t i = 0; i < CLOUD_LOGS; i++) {
        struct sec_run ec2 = { 0 };
        struct sec_run gce = { 0 };
        struct arena arena;
        int rc = run_log(i, SEC_EC2, options, &ec2, reterr);

        if (rc == 0)
            rc = run_log(i, SEC_GCE, options, &gce, reterr);
        arena_init(&arena);
        for (uint32_t r = 0; rc == 0 && r < RATIOS; r++) {
            ret->cost[i][r][0] = pay_ec2(&ec2, &arena);
            ret->cost[i][r][1] = sec_cost_gce(&gce, ratios[r]);
            ret->cost[i][r][2] = pay_both(&ec2, &gce, ratios[r], &arena);
        }
        arena_done(&arena);
        ret->used_hours[i] = ec2.used_hours;
        sec_run_done(&ec2);
        sec_run_done(&gce);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* What both together save against the better one. */
static double saving(const struct clouds *clouds, uint32_t log, uint32_t ratio)
{
    const money_t *cost = clouds->cost[log][ratio];
    const money_t better = cost[0] < cost[1] ? cost[0] : cost[1];

    return 1.0 - share(cost[2], better);
}

static struct report_table *table_of_clouds(const struct clouds *clouds)
{
    static const struct report_column columns[] = {
        { .key = "log", .kind = REPORT_TEXT },
        { .key = "ratio", .heading = "r", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "ec2_per_hour", .heading = "EC2 $/h", .kind = REPORT_DECIMAL, .digits = 4 },
        { .key = "gce_per_hour", .heading = "GCE $/h", .kind = REPORT_DECIMAL, .digits = 4 },
        { .key = "both_per_hour", .heading = "both $/h", .kind = REPORT_DECIMAL, .digits = 4 },
        { .key = "saving", .heading = "saving", .kind = REPORT_DECIMAL, .digits = 3 },
    };
    struct report_table *table =
        report_table_create("sec-figure-8", columns, sizeof(columns) / sizeof(columns[0]));

    for (uint32_t i = 0; i < CLOUD_LOGS; i++) {
        for (uint32_t r = 0; r < RATIOS; r++) {
            report_table_add_text(table, logs[i].name);
            report_table_add_real(table, ratios[r]);
            for (uint32_t c = 0; c < CLOUDS; c++)
                report_table_add_real(table, (double)clouds->cost[i][r][c] / (double)MONEY_PER_USD /
                                                 clouds->used_hours[i]);
            report_table_add_real(table, saving(clouds, i, r));
        }
    }
    return table;
}

static int draw_clouds(const struct clouds *clouds, const char *path)
{
    struct chart_point points[CLOUD_LOGS][CLOUDS][RATIOS];
    struct chart_series series[CLOUD_LOGS][CLOUDS];
    struct chart_panel panels[CLOUD_LOGS];

    for (uint32_t i = 0; i < CLOUD_LOGS; i++) {
        for (uint32_t c = 0; c < CLOUDS; c++) {
            for (uint32_t r = 0; r < RATIOS; r++)
                points[i][c][r] = (struct chart_point){
                    ratios[r],
                    (double)clouds->cost[i][r][c] / (double)MONEY_PER_USD / clouds->used_hours[i],
                };
            series[i][c] = (struct chart_series){ .name = cloud_names[c],
                                                  .points = points[i][c],
                                                  .point_count = RATIOS };
        }
        panels[i] = (struct chart_panel){ .title = logs[i].name,
                                          .x_label = "price of GCE, times EC2's",
                                          .y_label = "dollars per used machine-hour",
                                          .series = series[i],
                                          .series_count = CLOUDS };
    }

    const struct chart chart = { .title = "Figure 8: one cloud, and two together",
                                 .panels = panels,
                                 .panel_count = CLOUD_LOGS,
                                 .panels_per_row = 2 };

    return repro_write_chart(&chart, path);
}

static bool clouds_hold(const struct clouds *clouds)
{
    enum { RATIO_0_8 = 2 };
    int saves = 0;

    for (uint32_t i = 0; i < CLOUD_LOGS; i++)
        saves += saving(clouds, i, RATIO_0_8) > 0;
    if (saves >= 3)
        return true;
    fprintf(stderr, "stint repro: two clouds save on %d of %d logs at r = 0.8\n", saves,
            CLOUD_LOGS);
    return false;
}

static int figure_8(const struct repro_options *options)
{
    struct clouds *clouds = mem_alloc(1, sizeof(*clouds));
    struct error error;
    const int rc = measure_clouds(options, clouds, &error);
    int code = rc != 0 ? repro_fail(rc, &error) : EXIT_DONE;

    if (code == EXIT_DONE) {
        struct report_table *table = table_of_clouds(clouds);

        if (report_table_write(table, options->format, stdout) != 0 ||
            (options->svg != NULL && draw_clouds(clouds, options->svg) != 0))
            code = EXIT_FAILED;
        report_table_destroy(table);
    }
    if (code == EXIT_DONE && options->check && !clouds_hold(clouds))
        code = EXIT_DIFFERS;
    mem_free(clouds);
    return code;
}

int repro_sec_figure_plans(const struct repro_options *options)
{
    return options->figure == 7 ? figure_7(options) : figure_8(options);
}
