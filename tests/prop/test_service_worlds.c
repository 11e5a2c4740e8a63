/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services that were promised machines, in random worlds: spot offers of two to four types in one or two zones, which are
 * lost one by one or whole offers at once, more often than the catalogue says or less; a service or two, work beside them
 * of which some may not be stopped; every policy.
 *
 *  1. While a task of a service waits, or waits for a machine to start, nothing that may be stopped goes on where the task
 *     could run.
 *  2. Every task ends once, and the books agree.
 *  3. Of the time, services are short for no more than the promise allows, in nine of ten worlds and in all together. What
 *     is promised is machines, so tasks start and stop in no time here.
 *
 *     test_service_worlds          some seeds, as the build runs it
 *     test_service_worlds SEEDS    as many as that, and what came out
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/rng.h"
#include "base/test/check.h"
#include "sim/simulation.h"

enum { SEEDS = 100, SEEDS_MAX = 10000, DAYS = 30, OFFERS_MAX = 16 };

#define DAY (24 * MSEC_PER_HOUR)

struct world {
    struct catalogue catalogue;
    struct trace trace;
    struct sim_config config;
    struct sim_loss losses[OFFERS_MAX];
    struct sim_availability series[OFFERS_MAX];
    uint32_t *up[OFFERS_MAX];
    const char *fault;
    struct map pooled; /* ids of machines on which work ran that was put into the excess */
    uint64_t excess;   /* places there */
    uint64_t stopped;
    uint64_t safe; /* machines on demand, for services */
};

struct outcome {
    msec_t served_ms;
    msec_t short_ms;
    double promised; /* the share of the time that may be short, times what was served */
    bool is_good;    /* it ended, with all its tasks, and the books agree */
    const char *fault;
};

static struct outcome outcomes[SEEDS_MAX + 1];
static uint32_t seeds = SEEDS;
static uint64_t excess_total;
static uint64_t stopped_total;
static uint64_t safe_total;

static int64_t between(struct rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)rng_below(rng, (uint64_t)(high - low + 1));
}

/* ---- drawing ---- */

static void add_offer(struct world *world, uint32_t type, const char *zone, enum market market,
                      money_t price, uint8_t band)
{
    const struct price_change change = { 0, price };
    const struct offer offer = {
        .type = type,
        .market = market,
        .billing = { .step_ms = MSEC_PER_SEC, .minimum_ms = 60 * MSEC_PER_SEC },
        .interruption = { 0, market == MARKET_SPOT ? band : 0 },
        .price = { &change, 1 },
    };

    (void)catalogue_add_offer(&world->catalogue, zone, &offer);
}

static void draw_catalogue(struct world *world, struct rng *rng)
{
    static const char *const zones[] = { "north-a", "north-b" };
    const int64_t types = between(rng, 2, 4);
    const int64_t zone_count = between(rng, 1, 2);

    catalogue_init(&world->catalogue);
    for (int64_t i = 0; i < types; i++) {
        char name[32];
        const int64_t cpus = 2 << rng_below(rng, 3);
        const struct machine_type type = {
            .capacity = { { cpus * 1000, cpus * 4096, 0 } },
            .acquire_ms = between(rng, 5, 40) * MSEC_PER_SEC,
            .setup_ms = between(rng, 10, 120) * MSEC_PER_SEC,
            .release_ms = between(rng, 0, 20) * MSEC_PER_SEC,
        };
        const money_t price = cpus * between(rng, 45000, 55000);

        (void)snprintf(name, sizeof(name), "t%" PRId64, i);

        const uint32_t row = catalogue_add_type(&world->catalogue, name, "t", &type);

        add_offer(world, row, zones[0], MARKET_ON_DEMAND, price, 0);
        for (int64_t z = 0; z < zone_count; z++)
            add_offer(world, row, zones[z], MARKET_SPOT, price * between(rng, 25, 50) / 100,
                      (uint8_t)between(rng, 5, 60));
    }
}

/* Machines of spot offers are lost one by one, or the whole offer is gone for a while. */
static void draw_losses(struct world *world, struct rng *rng)
{
    struct sim_market *market = &world->config.faults.market;

    for (uint32_t i = 0; i < world->catalogue.offer_count; i++) {
        const msec_t mean = between(rng, 4, 120) * MSEC_PER_HOUR;

        if (world->catalogue.offers[i].market != MARKET_SPOT)
            continue;
        if (rng_below(rng, 2) == 0) {
            world->losses[market->loss_count++] =
                (struct sim_loss){ .offer = i, .mean_ms = mean, .until = MSEC_NEVER };
            continue;
        }

        enum { STEPS = 2048 };
        const msec_t step = 10 * 60 * MSEC_PER_SEC;
        uint32_t *up = calloc(STEPS, sizeof(*up));

        for (uint32_t s = 0; s < STEPS; s++)
            up[s] = rng_unit(rng) * (double)mean > (double)step;
        up[0] = 1;
        world->up[market->series_count] = up;
        world->series[market->series_count++] =
            (struct sim_availability){ .offer = i, .step_ms = step, .up = up, .count = STEPS };
    }
    market->losses = world->losses;
    market->series = world->series;
}

static uint32_t draw_shape(struct world *world, struct rng *rng, uint32_t number, bool is_service)
{
    char name[32];
    const struct shape_demand demand = { FAMILY_NONE, { { between(rng, 1, 2) * 1000, 1024, 0 } } };
    const struct shape_spec spec = {
        .name = name,
        .workload = name,
        .demands = &demand,
        .demand_count = 1,
        .delays = { .kill_ms = 0, .init_ms = is_service ? 0 : 2 * MSEC_PER_SEC },
    };

    (void)snprintf(name, sizeof(name), "w%" PRIu32, number);
    return shapes_add(&world->trace.shapes, &spec);
}

static void draw_jobs(struct world *world, struct rng *rng)
{
    static const uint32_t short_ppb[] = { 5000000, 1000000, 300000, 100000 };
    const int64_t services = between(rng, 1, 2);
    const int64_t others = between(rng, 0, 60);
    uint32_t shapes[4];

    trace_init(&world->trace);
    for (uint32_t i = 0; i < 4; i++)
        shapes[i] = draw_shape(world, rng, i, i < 2);
    for (int64_t i = 0; i < services + others; i++) {
        const bool is_service = i < services;
        struct trace_job job = {
            .id = (uint64_t)i,
            .name = names_add(&world->trace.names, "n", 1),
            .user = names_add(&world->trace.users, "", 0),
            .shape = shapes[is_service ? i : 2 + (int64_t)rng_below(rng, 2)],
            .task_count = (uint32_t)between(rng, 1, is_service ? 12 : 4),
            .arrival_ms = is_service ? 0 : between(rng, 0, DAYS * DAY),
            .work_ms = is_service ? DAYS * DAY : between(rng, 60, 40000) * MSEC_PER_SEC,
            .estimate_ms = is_service ? MSEC_NEVER : -1,
            .short_ppb = is_service ? short_ppb[rng_below(rng, 4)] : 0,
        };

        job.fixed = !is_service && rng_below(rng, 5) == 0;
        job.gang = !is_service && rng_below(rng, 4) == 0;
        trace_add_job(&world->trace, &job);
    }
    trace_sort(&world->trace);
    shapes_bind(&world->trace.shapes, &world->catalogue);
}

/* ---- judging ---- */

static void count_plan(struct world *world, const struct view *view, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->place_count; i++) {
        if (plan->places[i].why.code != REASON_EXCESS)
            continue;
        world->excess++;
        map_put(&world->pooled, view->instance.id[plan->places[i].target], 0);
    }
    for (uint32_t i = 0; i < plan->suspend_count; i++)
        world->stopped += plan->suspends[i].why.code == REASON_SERVICE_NEEDS;
    for (uint32_t i = 0; i < plan->rent_count; i++)
        world->safe += plan->rents[i].why.code == REASON_PROMISED_SAFE;
}

static bool may_stop(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->job.short_ppb[job] == 0 && !view->job.fixed[job] &&
           !(view->job.gang[job] && view->job.task_count[job] > 1);
}

/* Whether a machine that is ready and is in the service's pool, as it runs its tasks or work in the excess, could hold one more
 * without what runs on beside them. */
static bool could_hold(const struct world *world, const struct view *view, const struct plan *plan,
                       uint32_t task, uint32_t instance, const bool *is_stopped)
{
    const struct res *demand = view_demand(view, task, instance);
    struct res room = *view_capacity(view, instance);
    bool is_own = view->job.promised == 1 && /* else it may be the other service's */
                  map_get(&world->pooled, view->instance.id[instance]) != MAP_NONE;

    if (demand == NULL || view->instance.state[instance] != INSTANCE_READY)
        return false;
    TASK_EACH(there, view, view->instance.first_task[instance])
    {
        is_own = is_own || view->task.job[there] == view->task.job[task];
        if (!is_stopped[there] && !may_stop(view, there))
            res_sub(&room, view_taken(view, there, instance));
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        if (!place->fresh && place->target == instance && !may_stop(view, place->task))
            res_sub(&room, view_demand(view, place->task, instance));
    }
    return is_own && res_fits(demand, &room);
}

static bool is_coming(const struct view *view, uint32_t instance)
{
    return view->instance.state[instance] == INSTANCE_REQUESTED ||
           view->instance.state[instance] == INSTANCE_BOOTING;
}

static void watch_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct world *world = context;
    bool *is_placed = calloc(view->task.count + 1, sizeof(*is_placed));
    bool *is_stopped = calloc(view->task.count + 1, sizeof(*is_stopped));

    count_plan(world, view, plan);
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        is_stopped[place->task] = true;
        is_placed[place->task] =
            !place->fresh && view->instance.state[place->target] == INSTANCE_READY;
    }
    for (uint32_t i = 0; i < plan->suspend_count; i++)
        is_stopped[plan->suspends[i].task] = true;
    for (uint32_t task = 0; task < view->task.count; task++) {
        const uint32_t from = view->task.instance[task];

        if (view->task.state[task] == TASK_FREE || is_placed[task] ||
            view->job.short_ppb[view->task.job[task]] == 0 ||
            (from != ROW_NONE && !is_coming(view, from)))
            continue;
        INSTANCE_EACH(instance, view)
        {
            if (could_hold(world, view, plan, task, instance, is_stopped))
                world->fault = "a service waits though what runs on its machines could be stopped";
        }
    }
    free(is_placed);
    free(is_stopped);
}

static void run_seed(uint64_t seed, struct outcome *ret)
{
    struct world world = { 0 };
    struct sim_result result = { 0 };
    struct error error;
    struct rng rng;

    rng_init(&rng, seed, 77);
    map_init(&world.pooled);
    draw_catalogue(&world, &rng);
    draw_losses(&world, &rng);
    draw_jobs(&world, &rng);
    world.config.trace = &world.trace;
    world.config.catalogue = &world.catalogue;
    world.config.policy = policies[rng_below(&rng, policy_count)];
    policy_defaults(world.config.policy, world.config.option);
    world.config.tick_ms = MSEC_PER_SEC;
    world.config.default_rate = 0.95;
    world.config.seed = seed;
    world.config.max_steps = 4000000;
    world.config.faults.notice_ppm = rng_below(&rng, 2) == 0 ? 0 : 500000;
    world.config.faults.notice_ms = 120 * MSEC_PER_SEC;
    world.config.on_plan = watch_plan;
    world.config.context = &world;

    const int rc = simulation_run(&world.config, &result, &error);

    *ret = (struct outcome){
        .served_ms = result.served_ms,
        .short_ms = result.short_ms,
        .is_good = rc == 0 && result.completions == world.trace.task_total &&
                   result.left_running == 0 && result.ledger_agrees,
        .fault = rc != 0 ? "it does not end" : world.fault,
    };
    for (uint32_t i = 0; i < world.trace.job_count; i++) {
        if (world.trace.jobs[i].short_ppb > 0)
            ret->promised += (double)world.trace.jobs[i].short_ppb / (double)SHARE_ALL_PPB *
                             (double)(DAYS * DAY);
    }
    excess_total += world.excess;
    stopped_total += world.stopped;
    safe_total += world.safe;
    for (uint32_t i = 0; i < OFFERS_MAX; i++)
        free(world.up[i]);
    map_done(&world.pooled);
    trace_done(&world.trace);
    catalogue_done(&world.catalogue);
}

TEST(every_task_ends_once_and_the_books_agree)
{
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        if (!outcomes[seed].is_good)
            fail_msg("seed %u", seed);
    }
}

TEST(nothing_stays_where_a_service_needs_the_room)
{
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        if (outcomes[seed].fault != NULL)
            fail_msg("seed %u: %s", seed, outcomes[seed].fault);
    }
}

TEST(there_was_work_on_the_excess_that_had_to_stop_and_machines_on_demand)
{
    assert_true(excess_total > 10 * seeds);
    assert_true(stopped_total > seeds);
    assert_true(safe_total > 0);
}

TEST(promises_are_kept_in_nine_of_ten_worlds_and_in_the_sum)
{
    uint32_t broken = 0;
    double promised = 0;
    double found = 0;

    for (uint32_t seed = 1; seed <= seeds; seed++) {
        broken += (double)outcomes[seed].short_ms > outcomes[seed].promised;
        promised += outcomes[seed].promised;
        found += (double)outcomes[seed].short_ms;
        assert_true(outcomes[seed].served_ms > 0);
    }
    assert_true(broken <= seeds / 10);
    assert_true(found <= promised);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(every_task_ends_once_and_the_books_agree),
        RUN(nothing_stays_where_a_service_needs_the_room),
        RUN(there_was_work_on_the_excess_that_had_to_stop_and_machines_on_demand),
        RUN(promises_are_kept_in_nine_of_ten_worlds_and_in_the_sum),
    };
    double served = 0;
    double found = 0;
    double promised = 0;
    uint32_t broken = 0;

    if (argc > 1 && strtoul(argv[1], NULL, 10) > 0)
        seeds = (uint32_t)(strtoul(argv[1], NULL, 10) % (SEEDS_MAX + 1));
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        run_seed(seed, &outcomes[seed]);
        served += (double)outcomes[seed].served_ms;
        found += (double)outcomes[seed].short_ms;
        promised += outcomes[seed].promised;
        broken += (double)outcomes[seed].short_ms > outcomes[seed].promised;
    }
    (void)printf("# %.1f service-years: short for %.3g of the time, %.3g promised, %u of %u worlds "
                 "above it; %" PRIu64 " tasks on the excess, %" PRIu64 " stopped, %" PRIu64
                 " machines on demand\n",
                 served / 365 / (double)DAY, found / served, promised / served, broken, seeds,
                 excess_total, stopped_total, safe_total);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
