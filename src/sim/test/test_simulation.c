/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small worlds of which every moment can be reckoned by hand. A machine costs one micro-dollar a
 * millisecond.
 */
#include "sim/simulation.h"

#include <errno.h>
#include <string.h>

#include "base/test/check.h"

enum { SECOND = 1000, MACHINE_PRICE = 3600000 };

struct world {
    struct trace trace;
    struct catalogue catalogue;
    struct contention contention;
    struct sim_config config;
    struct sim_result result;
};

/* A machine of 'cpus', asked for in 10 s, set up in 5 s, billed for 1 s after it was returned. */
static void add_machine(struct world *world, const char *name, int64_t cpus)
{
    const struct price_change price = { 0, MACHINE_PRICE };
    const struct machine_type type = {
        .capacity = { { cpus * 1000, 1024, 0 } },
        .acquire_ms = 10 * SECOND,
        .setup_ms = 5 * SECOND,
        .release_ms = 1 * SECOND,
    };
    const struct offer offer = {
        .type = catalogue_add_type(&world->catalogue, name, "family", &type),
        .billing = { .step_ms = 1 },
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(&world->catalogue, NULL, &offer);
}

/* A kind of task of one CPU: fetched in 2 s, built in 3 s, begins 4 s later, dies in 6 s and is
 * saved in 7 s. */
static uint32_t add_shape(struct world *world, const char *name)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 1000, 0, 0 } } };
    const struct shape_spec spec = {
        .name = name,
        .workload = name,
        .delays = { .fetch_ms = 2 * SECOND,
                    .build_ms = 3 * SECOND,
                    .init_ms = 4 * SECOND,
                    .kill_ms = 6 * SECOND,
                    .upload_ms = 7 * SECOND },
        .demands = &demand,
        .demand_count = 1,
    };

    return shapes_add(&world->trace.shapes, &spec);
}

static void add_job(struct world *world, uint32_t shape, uint32_t tasks, msec_t arrival,
                    msec_t work)
{
    const struct trace_job job = {
        .id = world->trace.job_count,
        .name = names_add(&world->trace.names, "job", 3),
        .user = names_add(&world->trace.users, "", 0),
        .shape = shape,
        .task_count = tasks,
        .gang = true,
        .arrival_ms = arrival,
        .work_ms = work,
        .estimate_ms = -1,
    };

    trace_add_job(&world->trace, &job);
}

static void world_init(struct world *world, const struct policy *policy, int64_t cpus)
{
    *world = (struct world){ 0 };
    trace_init(&world->trace);
    catalogue_init(&world->catalogue);
    add_machine(world, "plain", cpus);
    world->config = (struct sim_config){
        .trace = &world->trace,
        .catalogue = &world->catalogue,
        .policy = policy,
        .tick_ms = 1,
        .default_rate = 1.0,
        .seed = 1,
    };
    policy_defaults(policy, world->config.option);
}

static void run(struct world *world)
{
    struct error error = { "" };

    if (simulation_run(&world->config, &world->result, &error) != 0)
        fail_msg("%s", error.text);
    assert_true(world->result.ledger_agrees);
    assert_int_equal(world->result.left_running, 0);
}

static void world_done(struct world *world)
{
    contention_done(&world->contention);
    trace_done(&world->trace);
    catalogue_done(&world->catalogue);
}

/* Twenty jobs, two offers, and an image of which nothing becomes ready for six hours: twenty machines
 * all the while would cost 424 dollars. */
TEST(machines_that_never_become_ready_are_not_rented_without_end)
{
    struct world world;

    world_init(&world, &policy_task_per_instance, 1);
    add_machine(&world, "other", 1);
    world.config.faults.dud_until_ms = 6 * MSEC_PER_HOUR;
    world.config.control.boot_timeout_ms = 300 * SECOND;

    const uint32_t shape = add_shape(&world, "a");

    for (uint32_t i = 0; i < 20; i++)
        add_job(&world, shape, 1, 0, 100 * SECOND);
    run(&world);

    assert_true(world.result.cost < 14 * MONEY_PER_USD);
    assert_true(world.result.ended_at < 7 * MSEC_PER_HOUR);
    world_done(&world);
}

/* The machine runs at 10 s, the task begins at 24 s and ends at 34 s; the next round is at 60 s. */
TEST(a_machine_goes_back_in_the_round_or_when_its_last_task_ends)
{
    const struct policy *const kinds[] = { &policy_task_per_instance, &policy_hotspot,
                                           &policy_fleet, &policy_supercloud, &policy_stratus };
    const money_t cost[] = { 51 * SECOND, 25 * SECOND, 25 * SECOND, 25 * SECOND, 51 * SECOND };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct world world;

        world_init(&world, kinds[i], 1);
        world.config.round_ms = 60 * SECOND;
        add_job(&world, add_shape(&world, "a"), 1, 0, 10 * SECOND);
        run(&world);
        assert_int_equal(world.result.cost, cost[i]);
        world_done(&world);
    }
}

/* The second ends later, and the machine stays for it; then it goes at once. */
TEST(a_machine_with_another_task_does_not_go_back)
{
    struct world world;

    world_init(&world, &policy_stratus, 2);
    world.config.option[policy_find_option(&policy_stratus, "release")] = 1;
    world.config.round_ms = 60 * SECOND;

    const uint32_t shape = add_shape(&world, "a");

    add_job(&world, shape, 1, 0, 10 * SECOND);
    add_job(&world, shape, 1, 0, 12 * SECOND);
    run(&world);
    assert_int_equal(world.result.cost, 27 * SECOND);
    assert_int_equal(world.result.stats.rented, 1);
    world_done(&world);
}

/* From the arrival: a machine in 15 s, launched 5 s later, begins 4 s later. */
TEST(one_job_runs_and_costs_what_can_be_reckoned_by_hand)
{
    struct world world;

    world_init(&world, &policy_task_per_instance, 1);
    add_job(&world, add_shape(&world, "a"), 1, 60 * SECOND, 100 * SECOND);
    run(&world);

    assert_int_equal(world.result.ended_at, (60 + 15 + 5 + 4 + 100 + 1) * SECOND);
    assert_int_equal(world.result.cost, (5 + 5 + 4 + 100 + 1) * SECOND);
    assert_int_equal(world.result.boot_cost, 5 * SECOND);
    assert_int_equal(world.result.idle_cost, (5 + 1) * SECOND); /* not launched; let go */
    assert_int_equal((int64_t)(world.result.jct_hours * 3600 + 0.5), 15 + 5 + 4 + 100);
    assert_int_equal((int64_t)(world.result.idle_hours * 3600 + 0.5), 15 + 5);
    world_done(&world);
}

/* The second is launched 3 s sooner after its machine is ready for it, as it need not be built. */
TEST(a_workload_is_built_once_on_a_machine)
{
    struct world world;

    world_init(&world, &policy_synergy, 2);
    const uint32_t shape = add_shape(&world, "a");
    add_job(&world, shape, 1, 0, 1000 * SECOND);
    add_job(&world, shape, 1, 100 * SECOND, 1000 * SECOND);
    run(&world);

    assert_int_equal(world.result.stats.rented, 1);
    assert_int_equal(world.result.ended_at, (100 + 2 + 4 + 1000 + 1) * SECOND);
    world_done(&world);
}

TEST(two_tasks_that_halve_each_others_speed_take_twice_as_long)
{
    struct world world;

    world_init(&world, &policy_synergy, 2);
    const uint32_t shape = add_shape(&world, "a");
    add_job(&world, shape, 1, 0, 100 * SECOND);
    add_job(&world, shape, 1, 0, 100 * SECOND);
    contention_init_uniform(&world.contention, 1, 0.5);
    world.config.contention = &world.contention;
    run(&world);

    assert_int_equal(world.result.stats.rented, 1);
    assert_int_equal(world.result.ended_at, (15 + 5 + 4 + 200 + 1) * SECOND);
    assert_int_equal((int64_t)(world.result.norm_throughput * 1000), 500);
    world_done(&world);
}

/* Beside each other at full speed in the first hour, then at nine, eight, seven... tenths. */
TEST(tasks_that_run_are_slowed_by_rates_that_drift)
{
    struct world world;
    struct rng rng;

    world_init(&world, &policy_synergy, 2);
    const uint32_t shape = add_shape(&world, "a");
    add_job(&world, shape, 1, 0, 2 * 3600 * SECOND);
    add_job(&world, shape, 1, 0, 2 * 3600 * SECOND);
    contention_init_uniform(&world.contention, 1, 1.0);
    rng_init(&rng, 1, 1);
    contention_drift(&world.contention, 10 * (msec_t)CONTENTION_STEP_MS, &rng);
    world.contention.drift.later[0] = 0;
    world.config.contention = &world.contention;
    run(&world);

    /* They begin at 24: 3576 s of work in the first hour, 3240 in the second, and 384 at 0.8 in the third. */
    assert_int_equal(world.result.stats.rented, 1);
    assert_int_equal(world.result.ended_at, (7200 + 480 + 1) * SECOND);
    world_done(&world);
}

/* Workload a alone: 100 s. Beside b at half speed, from when b is launched until b is done. */
TEST(a_task_is_slowed_only_while_its_neighbour_is_there)
{
    struct world world;

    world_init(&world, &policy_synergy, 2);
    const uint32_t a = add_shape(&world, "a");
    const uint32_t b = add_shape(&world, "b");
    add_job(&world, a, 1, 0, 100 * SECOND);
    add_job(&world, b, 1, 54 * SECOND, 20 * SECOND);
    contention_init_uniform(&world.contention, 2, 1.0);
    world.contention.pair[0 * 2 + 1] = 0.5; /* a beside b */
    world.config.contention = &world.contention;
    run(&world);

    /* a begins at 24; b is launched at 59, begins at 63 and is done at 83: a loses 12 s of 24. */
    assert_int_equal(world.result.ended_at, (24 + 100 + 12 + 1) * SECOND);
    world_done(&world);
}

/* Two of three share a machine and run at half speed: so does the third. */
TEST(a_gang_goes_at_the_pace_of_its_slowest)
{
    struct world world;

    world_init(&world, &policy_synergy, 2);
    add_job(&world, add_shape(&world, "a"), 3, 0, 100 * SECOND);
    contention_init_uniform(&world.contention, 1, 0.5);
    world.config.contention = &world.contention;
    run(&world);

    assert_int_equal(world.result.stats.rented, 2);
    assert_int_equal(world.result.completions, 3);
    assert_int_equal(world.result.ended_at, (24 + 200 + 1) * SECOND);
    world_done(&world);
}

/* Whether a task that runs has ever reported a throughput of zero, or a part of a gang another than
 * the rest of it. */
static void watch_rates(void *context, const struct view *view, const struct plan *plan)
{
    bool *wrong = context;

    (void)plan;
    for (uint32_t task = 0; task < view->task.count; task++) {
        const uint32_t rate = view->task.rate_ppm[task];

        if (view->task.state[task] != TASK_RUNNING || rate == RATE_NONE)
            continue;
        if (rate == 0)
            *wrong = true;
        if (view_job_is_settled(view, view->task.job[task]) &&
            view->task.sibling[task] != ROW_NONE &&
            view->task.rate_ppm[view->task.sibling[task]] != rate)
            *wrong = true;
    }
}

TEST(the_tasks_of_a_gang_all_report_the_pace_that_it_has)
{
    struct world world;
    bool wrong = false;

    world_init(&world, &policy_synergy, 2);
    const uint32_t shape = add_shape(&world, "a");
    add_job(&world, shape, 3, 0, 100 * SECOND);
    add_job(&world, shape, 1, 50 * SECOND, 100 * SECOND);
    contention_init_uniform(&world.contention, 1, 0.8);
    world.config.contention = &world.contention;
    world.config.round_ms = 1 * SECOND;
    world.config.on_plan = watch_rates;
    world.config.context = &wrong;
    run(&world);

    assert_false(wrong);
    world_done(&world);
}

/* Every machine is refused but the last of a row; then it goes as if nothing had been. */
TEST(refusals_cost_time_and_no_money)
{
    struct world world;

    world_init(&world, &policy_task_per_instance, 1);
    add_job(&world, add_shape(&world, "a"), 1, 0, 100 * SECOND);
    world.config.faults.refuse_ppm = 700000;
    world.config.seed = 3;
    run(&world);

    const struct controller_stats *stats = &world.result.stats;

    assert_true(stats->refused > 0);
    assert_int_equal(stats->rented, stats->refused + 1);
    assert_int_equal(world.result.cost, (5 + 5 + 4 + 100 + 1) * SECOND);
    /* An answer after 10 s, and 300 s in which the offer is left alone, for each of them. */
    assert_int_equal(world.result.ended_at,
                     (msec_t)stats->refused * 310 * SECOND + (24 + 100 + 1) * SECOND);
    world_done(&world);
}

TEST(what_was_done_since_the_last_save_is_lost_with_the_machine)
{
    struct world world;

    world_init(&world, &policy_task_per_instance, 1);
    add_job(&world, add_shape(&world, "a"), 1, 0, 100 * SECOND);
    world.config.faults.lose_mean_ms = 100 * SECOND;
    world.config.seed = 2;
    run(&world);

    /* It made progress for longer than its work takes, for some of it was in vain. */
    assert_true(world.result.stats.lost > 0);
    assert_true(world.result.launches > 1);
    assert_true(world.result.norm_throughput < 1.0);
    assert_int_equal(world.result.completions, 1);
    world_done(&world);
}

/* For how long a task of 1,000 s made progress on machines that last half as long, until it was done. */
static double seconds_run(msec_t checkpoint)
{
    struct world world;

    world_init(&world, &policy_task_per_instance, 1);

    const uint32_t shape = add_shape(&world, "a");

    world.trace.shapes.rows[shape].delays.checkpoint_ms = checkpoint;
    add_job(&world, shape, 1, 0, 1000 * SECOND);
    world.config.faults.lose_mean_ms = 500 * SECOND;
    world.config.seed = 2;
    run(&world);
    assert_true(world.result.stats.lost > 0);
    assert_int_equal(world.result.completions, 1);

    const double seconds = 1000 / world.result.norm_throughput;

    world_done(&world);
    return seconds;
}

/* After each loss no more than a checkpoint's worth is done again. */
TEST(what_the_task_saved_by_itself_is_not_lost)
{
    const double all = seconds_run(0);
    const double some = seconds_run(100 * SECOND);
    const double few = seconds_run(1 * SECOND);

    assert_true(all > some && some > few && few >= 1000 && few < 1010);
}

/* Losses of 2,000 machines that run for a tenth of a month each. */
static uint64_t losses(bool by_band, struct interruption interruption)
{
    struct world world;

    world_init(&world, &policy_task_per_instance, 1);
    world.catalogue.offers[0].interruption = interruption;
    add_job(&world, add_shape(&world, "a"), 2000, 0, 73 * MSEC_PER_HOUR);
    world.trace.jobs[0].gang = false;
    world.config.faults.lose_by_band = by_band;
    run(&world);

    const uint64_t lost = world.result.stats.lost;

    world_done(&world);
    return lost;
}

TEST(machines_are_lost_as_often_as_the_band_says)
{
    const uint64_t lost = losses(true, (struct interruption){ 5, 15 });

    /* 10 % a month: 20 are expected, 4.5 is their standard deviation. */
    assert_in_range(lost, 10, 30);
}

TEST(by_band_nothing_is_lost_where_none_is_known_or_nobody_asked)
{
    assert_int_equal(losses(true, (struct interruption){ 0, 0 }), 0);
    assert_int_equal(losses(false, (struct interruption){ 20, 100 }), 0);
}

/* Losses of 20 machines on demand that run for half of the mean, where one market loses machines. */
static uint64_t losses_where(enum market market)
{
    struct world world;

    world_init(&world, &policy_task_per_instance, 1);
    add_job(&world, add_shape(&world, "a"), 20, 0, MSEC_PER_HOUR);
    world.trace.jobs[0].gang = false;
    world.config.faults.lose_mean_ms = 2 * MSEC_PER_HOUR;
    world.config.faults.lose_one_market = true;
    world.config.faults.lose_market = market;
    run(&world);

    const uint64_t lost = world.result.stats.lost;

    world_done(&world);
    return lost;
}

TEST(only_machines_of_the_named_market_are_lost)
{
    assert_true(losses_where(MARKET_ON_DEMAND) > 0);
    assert_int_equal(losses_where(MARKET_SPOT), 0);
}

/* The jobs, of an hour each, whose estimate was too short, and too long. */
struct errors {
    uint64_t under;
    uint64_t over;
};

static void watch_estimates(void *context, const struct view *view, const struct plan *plan)
{
    struct errors *errors = context;

    (void)plan;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        errors->under += view->task.estimate_ms[task] < MSEC_PER_HOUR;
        errors->over += view->task.estimate_ms[task] > MSEC_PER_HOUR;
    }
}

static struct errors errors_of(enum sim_noise side)
{
    struct world world;
    struct errors errors = { 0 };

    world_init(&world, &policy_task_per_instance, 1);
    for (int i = 0; i < 20; i++)
        add_job(&world, add_shape(&world, "a"), 1, 0, MSEC_PER_HOUR);
    world.config.noise_ppm = 500000;
    world.config.noise_side = side;
    world.config.on_plan = watch_estimates;
    world.config.context = &errors;
    run(&world);
    world_done(&world);
    return errors;
}

TEST(estimates_err_to_the_side_that_was_named)
{
    const struct errors both = errors_of(SIM_NOISE_BOTH);
    const struct errors under = errors_of(SIM_NOISE_UNDER);
    const struct errors over = errors_of(SIM_NOISE_OVER);

    assert_true(both.under > 0);
    assert_true(both.over > 0);
    assert_int_equal(under.over, 0);
    assert_int_equal(under.under, both.under + both.over);
    assert_int_equal(over.under, 0);
    assert_int_equal(over.over, both.under + both.over);
}

TEST(a_job_that_fits_no_machine_is_an_error_that_names_it)
{
    struct world world;
    struct error error = { "" };
    const struct shape_demand demand = { FAMILY_NONE, { { 5000, 0, 0 } } };
    const struct shape_spec spec = {
        .name = "huge",
        .workload = "huge",
        .demands = &demand,
        .demand_count = 1,
    };

    world_init(&world, &policy_task_per_instance, 1);
    add_job(&world, shapes_add(&world.trace.shapes, &spec), 1, 0, SECOND);

    assert_int_equal(simulation_run(&world.config, &world.result, &error), -EINVAL);
    assert_non_null(strstr(error.text, "'huge'"));
    world_done(&world);
}

TEST(a_story_without_jobs_costs_nothing)
{
    struct world world;

    world_init(&world, &policy_eva, 1);
    run(&world);

    assert_int_equal(world.result.cost, 0);
    assert_int_equal(world.result.stats.rented, 0);
    world_done(&world);
}

CHECK_MAIN(RUN(machines_that_never_become_ready_are_not_rented_without_end),
           RUN(a_machine_goes_back_in_the_round_or_when_its_last_task_ends),
           RUN(a_machine_with_another_task_does_not_go_back),
           RUN(one_job_runs_and_costs_what_can_be_reckoned_by_hand),
           RUN(a_workload_is_built_once_on_a_machine),
           RUN(two_tasks_that_halve_each_others_speed_take_twice_as_long),
           RUN(tasks_that_run_are_slowed_by_rates_that_drift),
           RUN(a_task_is_slowed_only_while_its_neighbour_is_there),
           RUN(a_gang_goes_at_the_pace_of_its_slowest),
           RUN(the_tasks_of_a_gang_all_report_the_pace_that_it_has),
           RUN(refusals_cost_time_and_no_money),
           RUN(what_was_done_since_the_last_save_is_lost_with_the_machine),
           RUN(what_the_task_saved_by_itself_is_not_lost),
           RUN(machines_are_lost_as_often_as_the_band_says),
           RUN(by_band_nothing_is_lost_where_none_is_known_or_nobody_asked),
           RUN(only_machines_of_the_named_market_are_lost),
           RUN(estimates_err_to_the_side_that_was_named),
           RUN(a_job_that_fits_no_machine_is_an_error_that_names_it),
           RUN(a_story_without_jobs_costs_nothing))
