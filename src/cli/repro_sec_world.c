/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/progress.h"
#include "cli/repro_sec.h"
#include "decide/portfolio.h"
#include "model/sustained.h"

enum { HOURS_OF_YEAR = 8760, SPARE_HOURS = 24 * 400 };

/* Table 2 of the paper: minutes to boot so many cc2.8xlarge together. */
static const struct boot_point boot_times[] = {
    { 1, 126 * MSEC_PER_SEC }, { 2, 186 * MSEC_PER_SEC },  { 4, 252 * MSEC_PER_SEC },
    { 8, 270 * MSEC_PER_SEC }, { 16, 300 * MSEC_PER_SEC },
};

/* List prices of 2012 for cc2.8xlarge. */
static const struct commitment classes[] = {
    { .name = "on-demand", .per_used_hour = 2400000 },
    { .name = "1-year-light",
      .term_hours = HOURS_OF_YEAR,
      .upfront = 1762 * MONEY_PER_USD,
      .per_used_hour = 904000 },
    { .name = "1-year-medium",
      .term_hours = HOURS_OF_YEAR,
      .upfront = 4146 * MONEY_PER_USD,
      .per_used_hour = 540000 },
    { .name = "1-year-heavy",
      .term_hours = HOURS_OF_YEAR,
      .upfront = 5000 * MONEY_PER_USD,
      .per_hour = 361000 },
    { .name = "3-year-light",
      .term_hours = 3 * HOURS_OF_YEAR,
      .upfront = 2710 * MONEY_PER_USD,
      .per_used_hour = 884000 },
    { .name = "3-year-medium",
      .term_hours = 3 * HOURS_OF_YEAR,
      .upfront = 6300 * MONEY_PER_USD,
      .per_used_hour = 527000 },
};

uint32_t sec_classes(const struct commitment **ret)
{
    *ret = classes;
    return sizeof(classes) / sizeof(classes[0]);
}

int sec_log_read(const char *file, uint32_t alpha_ppm, struct swf_log *ret, struct error *reterr)
{
    struct swf_options options = swf_options_default();
    struct input_file text = { 0 };
    int rc = repro_read_data(file, &text, reterr);

    options.processors_per_instance = SEC_PROCESSORS_PER_INSTANCE;
    options.alpha_ppm = alpha_ppm;
    if (rc == 0)
        rc = swf_read(text.text, text.length, &options, ret, reterr);
    input_file_done(&text);
    return rc;
}

struct sec_mode sec_mode(const char *label, const struct policy *policy, enum sec_billing billing)
{
    struct sec_mode mode = { .label = label, .policy = policy, .billing = billing };

    policy_defaults(policy, mode.option);
    return mode;
}

static struct billing_rule rule_of(enum sec_billing billing)
{
    if (billing == SEC_GCE)
        return (struct billing_rule){ .step_ms = 60 * MSEC_PER_SEC,
                                      .minimum_ms = 600 * MSEC_PER_SEC };
    return (struct billing_rule){ .step_ms = MSEC_PER_HOUR, .minimum_ms = MSEC_PER_HOUR };
}

static void fill_catalogue(struct catalogue *catalogue, const struct sec_mode *mode)
{
    const struct price_change price = { .at = 0, .per_hour = SEC_PRICE };
    struct machine_type type = { 0 };

    catalogue_init(catalogue);
    type.capacity.amount[RES_CPU] = (int64_t)SEC_PROCESSORS_PER_INSTANCE * 1000;
    if (!mode->boots_at_once) {
        memcpy(type.boot, boot_times, sizeof(boot_times));
        type.boot_count = sizeof(boot_times) / sizeof(boot_times[0]);
    }
    (void)catalogue_add_type(catalogue, "cc2.8xlarge", "cc2", &type);
    (void)catalogue_add_offer(catalogue, NULL,
                              &(struct offer){ .type = 0,
                                               .market = MARKET_ON_DEMAND,
                                               .billing = rule_of(mode->billing),
                                               .price = { .changes = &price, .count = 1 } });
}

/*
 * What was paid for, hour by hour. Whole hours are counted by their ends and added up once; parts
 * of hours are carried on, so that the sum is right.
 */
struct meter {
    struct progress progress;
    struct billing_rule rule;
    int64_t *part_ms; /* of machines that were paid for a part of the hour */
    int64_t *change;  /* of the number of machines that were paid for all of it */
    uint32_t hours;   /* that there is room for */
    int64_t paid_ms;
};

static void on_billed(void *context, uint32_t offer, msec_t from, msec_t to)
{
    struct meter *meter = context;
    const msec_t paid = billing_paid_span(&meter->rule, to - from);
    const uint32_t first = (uint32_t)(from / MSEC_PER_HOUR);
    const uint32_t last = (uint32_t)((from + paid) / MSEC_PER_HOUR);

    (void)offer;
    meter->paid_ms += paid;
    if (last >= meter->hours)
        return; /* beyond the end of the log by more than its longest job: not in the picture */
    if (first == last) {
        meter->part_ms[first] += paid;
        return;
    }
    meter->part_ms[first] += (msec_t)(first + 1) * MSEC_PER_HOUR - from;
    meter->part_ms[last] += from + paid - (msec_t)last * MSEC_PER_HOUR;
    meter->change[first + 1]++;
    meter->change[last]--;
}

static void on_progress(void *context, uint32_t done, uint32_t total)
{
    progress_step(&((struct meter *)context)->progress, done, total);
}

static void read_meter(const struct meter *meter, struct sec_run *run)
{
    int64_t machines = 0;
    int64_t carried = 0;

    run->usage = mem_alloc(meter->hours, sizeof(*run->usage));
    for (uint32_t hour = 0; hour < meter->hours; hour++) {
        machines += meter->change[hour];
        carried += meter->part_ms[hour];

        const int64_t whole = (carried + MSEC_PER_HOUR / 2) / MSEC_PER_HOUR;

        carried -= whole * MSEC_PER_HOUR;
        run->usage[hour] = (uint32_t)(machines + whole);
        if (run->usage[hour] > 0)
            run->hours = hour + 1;
    }
    run->paid_hours = (double)meter->paid_ms / (double)MSEC_PER_HOUR;
}

static double used_hours(const struct trace *trace)
{
    double sum = 0;

    for (uint32_t i = 0; i < trace->job_count; i++)
        sum += (double)trace->jobs[i].task_count * (double)trace->jobs[i].work_ms /
               (double)MSEC_PER_HOUR;
    return sum;
}

int sec_run(const struct swf_log *log, const struct sec_mode *mode, struct sec_run *ret,
            struct error *reterr)
{
    const struct trace *trace = &log->trace;
    const msec_t last = trace->job_count > 0 ? trace->jobs[trace->job_count - 1].arrival_ms : 0;
    const uint32_t hours = (uint32_t)(last / MSEC_PER_HOUR) + SPARE_HOURS;
    const clock_t began = clock();
    struct catalogue catalogue;
    struct meter meter = {
        .rule = rule_of(mode->billing),
        .part_ms = mem_alloc(hours, sizeof(int64_t)),
        .change = mem_alloc(hours, sizeof(int64_t)),
        .hours = hours,
    };
    struct sim_config config = {
        .trace = trace,
        .catalogue = &catalogue,
        .policy = mode->policy,
        .tick_ms = MSEC_PER_SEC,
        .estimates = SIM_ESTIMATES_USER,
        .default_rate = 1,
        .on_progress = on_progress,
        .on_billed = on_billed,
        .context = &meter,
    };

    *ret = (struct sec_run){ .used_hours = used_hours(trace) };
    memcpy(config.option, mode->option, sizeof(config.option));
    fill_catalogue(&catalogue, mode);
    progress_start(&meter.progress, mode->label);

    const int rc = simulation_run(&config, &ret->result, reterr);

    progress_end(&meter.progress);
    if (rc == 0)
        read_meter(&meter, ret);
    ret->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    catalogue_done(&catalogue);
    mem_free(meter.part_ms);
    mem_free(meter.change);
    return rc;
}

void sec_run_done(struct sec_run *run)
{
    mem_free(run->usage);
    run->usage = NULL;
}

/*
 * What it costs.
 */

money_t sec_cost_on_demand(const struct sec_run *run)
{
    return (money_t)(run->paid_hours * (double)SEC_PRICE);
}

money_t sec_cost_hybrid(const struct sec_run *run)
{
    const struct portfolio_input input = {
        .usage = run->usage,
        .hours = run->hours,
        .classes = classes,
        .class_count = sizeof(classes) / sizeof(classes[0]),
        .interest_ppm = SEC_INTEREST_PPM,
    };
    struct portfolio_plan plan;
    struct portfolio_bill bill;
    struct arena arena;

    arena_init(&arena);
    portfolio_greedy(&input, &arena, &plan);
    portfolio_cost(&input, &plan, &bill);
    arena_done(&arena);
    return bill.pure;
}

money_t sec_cost_gce(const struct sec_run *run, double ratio)
{
    const struct sustained_rule rule = SUSTAINED_MONTH;

    return sustained_cost(&rule, run->usage, run->hours, (money_t)((double)SEC_PRICE * ratio));
}

money_t sec_cost_owned(const struct sec_run *run, uint32_t nodes)
{
    enum { PAPER_NODES = 93, PAPER_YEARS = 3 };
    const money_t paper = 1108583 * MONEY_PER_USD; /* table 3, for 93 nodes over three years */

    return mul_div(mul_div(paper, nodes, PAPER_NODES), run->hours,
                   (int64_t)PAPER_YEARS * HOURS_OF_YEAR);
}
