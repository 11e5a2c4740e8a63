/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short jobs beside long ones in random worlds, with spot machines that stand ready for them and without: all work completes, the
 * books agree (the simulation asserts it), short jobs wait less, long ones no longer, and the bill grows by no more than the
 * machines of the pool. And with as many machines as may be rented, so that none stands ready: short jobs that are pulled to machines
 * before long ones wait less, and long ones hardly longer.
 */
#include <stdio.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "sim/simulation.h"

enum { SAFE, SPOT, MOST = 3, LONG_JOBS = 40, SHORT_JOBS = 300, MACHINES = 12 };

/* The sanitized build runs a few worlds: that all work completes and the books agree is seen in these, what it costs is not. */
#ifndef WORLDS
#define WORLDS 80
#endif

enum { IS_JUDGED = WORLDS >= 80, LIMITED_WORLDS = WORLDS < 24 ? WORLDS : 24 };

static const msec_t hour = MSEC_PER_HOUR;
static const msec_t minute = 60 * MSEC_PER_SEC;

struct waits {
    double sum_s[2]; /* of long and of short jobs: from arrival to the end, without the work */
    uint32_t count[2];
    uint32_t at_once; /* short jobs that started within ten seconds */
    double cost;
    uint32_t lost;
};

struct watch {
    const struct trace *trace;
    struct waits *waits;
};

static void on_job_done(void *context, uint32_t job, msec_t jct_ms)
{
    struct watch *watch = context;
    const msec_t work = watch->trace->jobs[job].work_ms;
    const bool is_short = work < hour;

    watch->waits->sum_s[is_short] += (double)(jct_ms - work) / MSEC_PER_SEC;
    watch->waits->count[is_short]++;
    watch->waits->at_once += is_short && jct_ms - work <= 10 * MSEC_PER_SEC;
}

static void add_offers(struct catalogue *catalogue)
{
    const struct price_change safe = { 0, 1000000 };
    const struct price_change spot = { 0, 350000 };
    const struct machine_type type = { .capacity = { { 4000, 16384, 0 } },
                                       .acquire_ms = 30 * MSEC_PER_SEC,
                                       .setup_ms = 90 * MSEC_PER_SEC };
    struct offer offer = { .type = catalogue_add_type(catalogue, "a.xlarge", "a", &type),
                           .billing = { .step_ms = 1000, .minimum_ms = 60000 },
                           .price = { &safe, 1 } };

    (void)catalogue_add_offer(catalogue, NULL, &offer);
    offer.market = MARKET_SPOT;
    offer.price = (struct price_series){ &spot, 1 };
    (void)catalogue_add_offer(catalogue, "north-1a", &offer);
}

/* Long jobs fill a machine each; short ones take a CPU or two for some minutes. */
static void add_jobs(struct trace *trace, struct rng *rng)
{
    for (uint32_t i = 0; i < LONG_JOBS + SHORT_JOBS; i++) {
        const bool is_short = i >= LONG_JOBS;
        const int64_t cpus = is_short ? 1000 * (1 + (int64_t)rng_below(rng, 2)) : 4000;
        const struct shape_demand demand = { FAMILY_NONE, { { cpus, cpus * 4, 0 } } };
        const char *name = !is_short ? "long" : cpus == 1000 ? "one" : "two";
        const struct shape_spec spec = {
            .name = name, .workload = name, .demands = &demand, .demand_count = 1
        };
        const msec_t work = is_short ? minute + (msec_t)rng_below(rng, (uint64_t)(4 * minute))
                                     : 2 * hour + (msec_t)rng_below(rng, (uint64_t)(4 * hour));

        trace_add_job(trace, &(struct trace_job){
                                 .id = i,
                                 .name = names_add(&trace->names, name, 3),
                                 .user = names_add(&trace->users, "", 0),
                                 .shape = shapes_add(&trace->shapes, &spec),
                                 .task_count = 1,
                                 .arrival_ms = (msec_t)rng_below(rng, (uint64_t)(10 * hour)),
                                 .work_ms = work,
                                 .estimate_ms = -1,
                             });
    }
    trace_sort(trace);
}

enum way { WITHOUT, READY, LIMITED, LIMITED_PULLS };

static struct waits run(uint64_t seed, enum way way)
{
    struct catalogue catalogue;
    struct trace trace;
    struct sim_result result;
    struct error error = { "" };
    struct waits waits = { 0 };
    struct watch watch = { &trace, &waits };
    struct rng rng;

    rng_init(&rng, seed, 1);
    catalogue_init(&catalogue);
    trace_init(&trace);
    add_offers(&catalogue);
    add_jobs(&trace, &rng);

    const struct sim_loss loss = { .offer = SPOT,
                                   .mean_ms = (3 + (msec_t)rng_below(&rng, 20)) * hour,
                                   .until = MSEC_NEVER };
    struct sim_config config = {
        .trace = &trace,
        .catalogue = &catalogue,
        .policy = &policy_stint,
        .tick_ms = 1000,
        .default_rate = 1,
        .seed = seed,
        .faults = { .market = { .losses = &loss, .loss_count = 1 },
                    .refuse_ppm = seed % 2 == 0 ? 0 : 50000,
                    .notice_ppm = seed % 3 == 0 ? 0 : 500000,
                    .notice_ms = 2 * minute,
                    .restart_mean_ms = seed % 4 == 0 ? 2 * hour : 0 },
        .control = { .audit_ms = 10 * minute },
        .on_job_done = on_job_done,
        .context = &watch,
    };

    if (way != WITHOUT)
        config.short_pool = (struct short_pool_rule){ .machine = "a.xlarge",
                                                      .most = MOST,
                                                      .threshold_ppm = 850000,
                                                      .longest_ms = 10 * minute,
                                                      .pulls = way != LIMITED };
    if (way >= LIMITED)
        config.control.max_instances = MACHINES;
    policy_defaults(&policy_stint, config.option);
    if (simulation_run(&config, &result, &error) != 0)
        fail_msg("seed %u: %s", (unsigned)seed, error.text);
    assert_true(result.ledger_agrees);
    waits.cost = (double)result.cost / MONEY_PER_USD;
    waits.lost = (uint32_t)result.stats.lost;
    trace_done(&trace);
    catalogue_done(&catalogue);
    return waits;
}

static void add(struct waits *sum, const struct waits *more)
{
    for (int i = 0; i < 2; i++) {
        sum->sum_s[i] += more->sum_s[i];
        sum->count[i] += more->count[i];
    }
    sum->at_once += more->at_once;
    sum->cost += more->cost;
    sum->lost += more->lost;
}

static void add_run(struct waits *sum, uint64_t seed, enum way way)
{
    const struct waits waits = run(seed, way);

    assert_int_equal(waits.count[0], LONG_JOBS);
    assert_int_equal(waits.count[1], SHORT_JOBS);
    add(sum, &waits);
}

static void print(const char *name, const struct waits *sum)
{
    print_message("# %s: short jobs wait %.1f s, %.1f %% of them at most 10 s; long jobs %.0f s; "
                  "%.2f dollars, %u machines lost\n",
                  name, sum->sum_s[1] / sum->count[1], 100.0 * sum->at_once / sum->count[1],
                  sum->sum_s[0] / sum->count[0], sum->cost, sum->lost);
}

TEST(machines_that_stand_ready_let_short_jobs_start_at_once)
{
    struct waits sums[2] = { { .cost = 0 } };

    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        for (int i = 0; i < 2; i++)
            add_run(&sums[i], seed, i == 0 ? WITHOUT : READY);
    }
    print("without", &sums[0]);
    print("with the pool", &sums[1]);
    assert_true(sums[1].lost > 0);
    if (!IS_JUDGED)
        return;
    assert_true(sums[1].sum_s[1] < 0.3 * sums[0].sum_s[1]);
    assert_true(sums[1].sum_s[0] < 1.05 * sums[0].sum_s[0]);
    assert_true(sums[1].cost < 1.2 * sums[0].cost);
}

TEST(short_jobs_start_before_long_ones_where_no_more_machines_may_be_rented)
{
    struct waits sums[2] = { { .cost = 0 } };

    for (uint64_t seed = 1; seed <= LIMITED_WORLDS; seed++) {
        for (int i = 0; i < 2; i++)
            add_run(&sums[i], seed, i == 0 ? LIMITED : LIMITED_PULLS);
    }
    print("in turn", &sums[0]);
    print("pulled", &sums[1]);
    if (!IS_JUDGED)
        return;
    assert_true(sums[1].sum_s[1] < 0.6 * sums[0].sum_s[1]);
    assert_true(sums[1].sum_s[0] < 1.1 * sums[0].sum_s[0]);
    assert_true(sums[1].cost < 1.06 * sums[0].cost);
}

TEST(the_same_world_has_the_same_outcome)
{
    const struct waits first = run(4, READY);
    const struct waits again = run(4, READY);

    assert_memory_equal(&first, &again, sizeof(first));
}

CHECK_MAIN(RUN(machines_that_stand_ready_let_short_jobs_start_at_once),
           RUN(short_jobs_start_before_long_ones_where_no_more_machines_may_be_rented),
           RUN(the_same_world_has_the_same_outcome))
