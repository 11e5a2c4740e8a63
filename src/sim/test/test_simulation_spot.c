/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spot offer that is a little cheaper than on demand and is lost every ten hours, until it calms down: what the policy
 * 'stint' makes of it by its own experience. A task of five hours costs 0.94 x 1.30 of a machine on demand there.
 */
#include <stdio.h>

#include "base/test/check.h"
#include "sim/simulation.h"

enum { SAFE, SPOT };

static const msec_t hour = MSEC_PER_HOUR;
static const msec_t calm_from = 90 * 24 * MSEC_PER_HOUR;
static const msec_t settled_from = 150 * 24 * MSEC_PER_HOUR; /* time to try it again */
static const msec_t last_arrival = 210 * 24 * MSEC_PER_HOUR;

/* While it is lost often; while it is found out that it is not any more; and after. */
enum period { LOSSY, CALMING, CALM, PERIODS };

struct sums {
    double charged; /* dollars */
    uint32_t tasks; /* that ended */
    uint32_t rents[2];
};

struct watch {
    const struct catalogue *catalogue;
    struct sums sums[PERIODS];
    uint32_t losses;
};

static enum period period_of(msec_t at)
{
    if (at < calm_from)
        return LOSSY;
    return at < settled_from ? CALMING : CALM;
}

/* A machine that ends before its task could have is lost. */
static void on_billed(void *context, uint32_t offer, msec_t from, msec_t to)
{
    struct watch *watch = context;
    const struct offer *of = &watch->catalogue->offers[offer];
    struct sums *sums = &watch->sums[period_of(to)];

    sums->charged += (double)billing_charge(&of->billing, &of->price, from, to) / MONEY_PER_USD;
    sums->rents[offer]++;
    watch->losses += to - from < 5 * hour;
}

static void on_settled(void *context, const struct view *view, uint32_t task, struct ledger_due due)
{
    struct watch *watch = context;

    (void)task;
    (void)due;
    watch->sums[period_of(view->now)].tasks++;
}

static void add_offers(struct catalogue *catalogue)
{
    const struct price_change safe = { 0, 1000000 };
    const struct price_change spot = { 0, 940000 };
    const struct machine_type type = { .capacity = { { 4000, 16384, 0 } },
                                       .acquire_ms = 30 * MSEC_PER_SEC,
                                       .setup_ms = 60 * MSEC_PER_SEC };
    struct offer offer = { .type = catalogue_add_type(catalogue, "a.xlarge", "a", &type),
                           .billing = { .step_ms = 1000, .minimum_ms = 60000 },
                           .price = { &safe, 1 } };

    (void)catalogue_add_offer(catalogue, NULL, &offer);
    offer.market = MARKET_SPOT;
    offer.price = (struct price_series){ &spot, 1 };
    (void)catalogue_add_offer(catalogue, "north-1a", &offer);
}

/* A task of five hours, for a machine of its own, every two hours. */
static void add_jobs(struct trace *trace)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 4000, 16384, 0 } } };
    const struct shape_spec spec = {
        .name = "t", .workload = "t", .demands = &demand, .demand_count = 1
    };

    for (msec_t at = 0; at < last_arrival; at += 2 * hour)
        trace_add_job(trace, &(struct trace_job){ .id = trace->job_count,
                                                  .name = names_add(&trace->names, "t", 1),
                                                  .user = names_add(&trace->users, "", 0),
                                                  .shape = shapes_add(&trace->shapes, &spec),
                                                  .task_count = 1,
                                                  .arrival_ms = at,
                                                  .work_ms = 5 * hour,
                                                  .estimate_ms = -1 });
}

/* 'restart': another process takes over so often; 0: never. */
static void run(uint64_t seed, const struct sim_market *market, msec_t restart, struct watch *ret)
{
    struct catalogue catalogue;
    struct trace trace;
    struct sim_result result;
    struct error error = { "" };

    *ret = (struct watch){ .catalogue = &catalogue };
    catalogue_init(&catalogue);
    trace_init(&trace);
    add_offers(&catalogue);
    add_jobs(&trace);

    struct sim_config config = {
        .trace = &trace,
        .catalogue = &catalogue,
        .policy = &policy_stint,
        .tick_ms = MSEC_PER_SEC,
        .default_rate = 1,
        .faults = { .market = *market, .restart_mean_ms = restart },
        .seed = seed,
        .on_billed = on_billed,
        .on_settled = on_settled,
        .context = ret,
    };

    policy_defaults(config.policy, config.option);
    if (simulation_run(&config, &result, &error) != 0)
        fail_msg("%s", error.text);
    assert_true(result.ledger_agrees);
    trace_done(&trace);
    catalogue_done(&catalogue);
}

static double dollars_per_task(const struct watch *watch, enum period period)
{
    return watch->sums[period].charged / watch->sums[period].tasks;
}

static void leave_and_try_again(uint64_t seeds, msec_t restart)
{
    const struct sim_loss loss = { .offer = SPOT, .mean_ms = 10 * hour, .until = calm_from };
    const struct sim_market market = { .losses = &loss, .loss_count = 1 };
    const double on_demand = 5 + 60.0 / 3600; /* and the setup */

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct watch watch;

        run(seed, &market, restart, &watch);

        const double lossy = dollars_per_task(&watch, LOSSY) / on_demand;
        const double calm = dollars_per_task(&watch, CALM) / on_demand;

        (void)fprintf(stderr, "%u losses, %.4f of on demand; then %.4f, spot %u of %u\n",
                      watch.losses, lossy, calm, watch.sums[CALM].rents[SPOT],
                      watch.sums[CALM].rents[SPOT] + watch.sums[CALM].rents[SAFE]);
        assert_true(lossy < 1.02);
        assert_true(calm < 1.02 * 0.94);
        assert_true(watch.losses > 3 && watch.losses < 60);
    }
}

/* Each loss on the way counts, from the first day on: about twenty in three months, where without learning there
 * would be some 560. */
TEST(a_spot_offer_that_is_lost_often_is_left_and_tried_again_when_it_calms_down)
{
    leave_and_try_again(10, 0);
}

/* A process that began with nothing every seven hours would hardly ever see a loss. */
TEST(so_it_is_where_processes_take_over_from_each_other)
{
    leave_and_try_again(5, 7 * hour);
}

CHECK_MAIN(RUN(a_spot_offer_that_is_lost_often_is_left_and_tried_again_when_it_calms_down),
           RUN(so_it_is_where_processes_take_over_from_each_other))
