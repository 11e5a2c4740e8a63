/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three kinds of tasks of five hours, for a machine of their own, and two markets: on demand, and spot machines 6 %
 * below, which are lost after some time on average.
 *
 *   plain        saves nothing: with its machine all is lost
 *   checkpoints  saves by itself after each 15 minutes of work
 *   noticed      is saved in the two minutes between the cloud's notice and the loss
 *
 * What the policy 'stint' pays, which has to learn how long machines last, is held against what the same work costs where
 * there is only one of the markets.
 */
#include <stdio.h>

#include "base/test/check.h"
#include "sim/simulation.h"

enum { SAFE, SPOT, MARKETS };
enum kind { PLAIN, CHECKPOINTS, NOTICED, KINDS };

static const char *const kind_words[KINDS] = { "plain", "checkpoints", "noticed" };
static const msec_t hour = MSEC_PER_HOUR;
static const msec_t minute = 60 * MSEC_PER_SEC;
static const msec_t last_arrival = (msec_t)40 * 24 * MSEC_PER_HOUR;
static const msec_t settled_from =
    (msec_t)20 * 24 * MSEC_PER_HOUR; /* what happens is known by then */

struct watch {
    const struct trace *trace;
    uint32_t ended[KINDS][MARKETS]; /* tasks, by where they ended, from 'settled_from' on */
};

static void on_settled(void *context, const struct view *view, uint32_t task, struct ledger_due due)
{
    struct watch *watch = context;
    const uint32_t instance = view->task.instance[task];
    const uint32_t job = (uint32_t)view->job.id[view->task.job[task]];

    (void)due;
    if (instance != ROW_NONE && view->now >= settled_from)
        watch->ended[watch->trace->jobs[job].priority % KINDS][view->instance.offer[instance]]++;
}

static void add_offers(struct catalogue *catalogue, bool has_safe, bool has_spot)
{
    const struct price_change safe = { 0, 1000000 };
    const struct price_change spot = { 0, 940000 };
    const struct machine_type type = { .capacity = { { 4000, 16384, 0 } },
                                       .acquire_ms = 30 * MSEC_PER_SEC,
                                       .setup_ms = minute };
    struct offer offer = { .type = catalogue_add_type(catalogue, "a.xlarge", "a", &type),
                           .billing = { .step_ms = 1000, .minimum_ms = 60000 },
                           .price = { &safe, 1 } };

    if (has_safe)
        (void)catalogue_add_offer(catalogue, NULL, &offer);
    offer.market = MARKET_SPOT;
    offer.price = (struct price_series){ &spot, 1 };
    if (has_spot)
        (void)catalogue_add_offer(catalogue, "north-1a", &offer);
}

static uint32_t add_shape(struct trace *trace, enum kind kind)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 4000, 16384, 0 } } };
    const struct shape_spec spec = {
        .name = kind_words[kind],
        .workload = kind_words[kind],
        .delays = { .fetch_ms = minute,
                    .upload_ms = kind == NOTICED ? minute : 10 * minute,
                    .checkpoint_ms = kind == CHECKPOINTS ? 15 * minute : 0 },
        .demands = &demand,
        .demand_count = 1,
    };

    return shapes_add(&trace->shapes, &spec);
}

/* A task of each of these kinds every two hours. */
static void add_jobs(struct trace *trace, const bool kinds[KINDS])
{
    for (msec_t at = 0; at < last_arrival; at += 2 * hour) {
        for (enum kind kind = 0; kind < KINDS; kind++) {
            if (kinds[kind])
                trace_add_job(trace, &(struct trace_job){ .id = trace->job_count,
                                                          .name = names_add(&trace->names, "t", 1),
                                                          .user = names_add(&trace->users, "", 0),
                                                          .shape = add_shape(trace, kind),
                                                          .priority = kind, /* there is no limit */
                                                          .task_count = 1,
                                                          .arrival_ms = at,
                                                          .work_ms = 5 * hour,
                                                          .estimate_ms = -1 });
        }
    }
}

/* What it all costs, in dollars. */
static double run(const bool kinds[KINDS], bool has_safe, bool has_spot, msec_t lasts,
                  struct watch *watch)
{
    struct catalogue catalogue;
    struct trace trace;
    struct sim_result result;
    struct error error = { "" };

    catalogue_init(&catalogue);
    trace_init(&trace);
    add_offers(&catalogue, has_safe, has_spot);
    add_jobs(&trace, kinds);
    *watch = (struct watch){ .trace = &trace };

    struct sim_config config = {
        .trace = &trace,
        .catalogue = &catalogue,
        .policy = &policy_stint,
        .tick_ms = MSEC_PER_SEC,
        .default_rate = 1,
        .faults = { .lose_mean_ms = lasts,
                    .lose_one_market = true,
                    .lose_market = MARKET_SPOT,
                    .notice_ppm = 1000000,
                    .notice_ms = 2 * minute },
        .seed = 11,
        .on_settled = on_settled,
        .context = watch,
    };

    policy_defaults(config.policy, config.option);
    if (simulation_run(&config, &result, &error) != 0)
        fail_msg("%s", error.text);
    trace_done(&trace);
    catalogue_done(&catalogue);
    return (double)result.cost / MONEY_PER_USD;
}

static const msec_t lives[] = { MSEC_PER_HOUR / 2,  MSEC_PER_HOUR * 3 / 2, 4 * MSEC_PER_HOUR,
                                12 * MSEC_PER_HOUR, 100 * MSEC_PER_HOUR,   1000 * MSEC_PER_HOUR };

enum { LIVES = sizeof(lives) / sizeof(lives[0]) };

TEST(each_kind_costs_what_it_does_in_the_better_market)
{
    for (enum kind kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < LIVES; i++) {
            const bool kinds[KINDS] = { kind == PLAIN, kind == CHECKPOINTS, kind == NOTICED };
            const bool can_end = kind != PLAIN || lives[i] > hour; /* e^10 runs */
            struct watch watch;
            const double safe = run(kinds, true, false, lives[i], &watch);
            const double spot = can_end ? run(kinds, false, true, lives[i], &watch) : 1e9;
            const double ours = run(kinds, true, true, lives[i], &watch);
            const double best = safe < spot ? safe : spot;

            (void)fprintf(stderr,
                          "%s, lost after %.1f h: safe %.0f, spot %.0f, ours %.0f (%+.1f %%)\n",
                          kind_words[kind], (double)lives[i] / (double)hour, safe, spot, ours,
                          100 * (ours / best - 1));
            assert_true(ours < 1.02 * best);
        }
    }
}

/* One market with all of them: each goes where it is cheapest, on machines of which all have the same experience. */
TEST(side_by_side_each_goes_to_its_market)
{
    static const bool all[KINDS] = { true, true, true };
    static const int best[LIVES][KINDS] = {
        { SAFE, SAFE, SAFE }, { SAFE, SAFE, SPOT }, { SAFE, SPOT, SPOT },
        { SAFE, SPOT, SPOT }, { SPOT, SPOT, SPOT }, { SPOT, SPOT, SPOT },
    };

    for (int i = 0; i < LIVES; i++) {
        struct watch watch;

        (void)run(all, true, true, lives[i], &watch);
        for (enum kind kind = 0; kind < KINDS; kind++) {
            const uint32_t right = watch.ended[kind][best[i][kind]];
            const uint32_t wrong = watch.ended[kind][1 - best[i][kind]];

            (void)fprintf(stderr, "%s, lost after %.1f h: %u of %u\n", kind_words[kind],
                          (double)lives[i] / (double)hour, right, right + wrong);
            assert_true(right > 0 && wrong * 10 < right);
        }
    }
}

CHECK_MAIN(RUN(each_kind_costs_what_it_does_in_the_better_market),
           RUN(side_by_side_each_goes_to_its_market))
