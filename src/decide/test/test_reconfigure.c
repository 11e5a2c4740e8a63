/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/reconfigure.h"

#include "decide/refill.h"
#include "decide/test/yard.h"

static const struct reconfigure_options both = {
    .mode = RECONFIGURE_BEST,
    .fill_kept = true,
    .per_instance_ms = 5 * YARD_MINUTE,
};

static void run_with(struct yard *yard, struct reconfigure_options options)
{
    const struct worth_rules rules = { .view = &yard->view };

    reconfigure(&rules, &options, &yard->plan);
}

/* Weigh both, for a configuration that lasts so long. */
static void weigh(struct yard *yard, msec_t expected)
{
    struct reconfigure_options options = both;

    options.expected_ms = expected;
    run_with(yard, options);
}

static void partial(struct yard *yard, bool fill_kept)
{
    struct reconfigure_options options = both;

    options.mode = RECONFIGURE_PARTIAL;
    options.fill_kept = fill_kept;
    run_with(yard, options);
}

/*
 * Two tasks alone on small machines, 2.00 an hour; together on a large one they cost 1.50. A move
 * stands still for two minutes (fetch and init) at 1.00 an hour, for each task, and a new machine is
 * paid for five minutes at 1.50: 0.1917 dollars. That is saved in 23 minutes.
 */
static void init_two_alone(struct yard *yard)
{
    yard_init_halves(yard);
    yard_delays(yard, (struct shape_delays){ .fetch_ms = YARD_MINUTE, .init_ms = YARD_MINUTE });
    (void)yard_running(yard, HALF, SMALL);
    (void)yard_running(yard, HALF, SMALL);
}

TEST(everything_is_placed_anew_if_that_pays_in_the_time_it_lasts)
{
    struct yard yard;

    init_two_alone(&yard);
    weigh(&yard, 24 * YARD_MINUTE);

    assert_int_equal(yard.plan.kind, PLAN_FULL);
    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    assert_int_equal(yard.plan.place_count, 2);
    assert_int_equal(yard.plan.release_count, 2);
    yard_done(&yard);
}

TEST(what_runs_stays_if_moving_does_not_pay_in_the_time_it_lasts)
{
    struct yard yard;

    init_two_alone(&yard);
    weigh(&yard, 22 * YARD_MINUTE);

    assert_int_equal(yard.plan.kind, PLAN_PARTIAL);
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(the_plan_carries_what_both_would_save_and_cost)
{
    struct yard yard;

    init_two_alone(&yard);
    weigh(&yard, YARD_HOUR);

    assert_int_equal(yard.plan.full.saving_per_hour, YARD_USD(0.5));
    assert_int_equal(yard.plan.full.migration, 66667 + 125000);
    assert_int_equal(yard.plan.full.total, YARD_USD(0.31));
    assert_int_equal(yard.plan.partial.saving_per_hour, 0);
    assert_int_equal(yard.plan.partial.migration, 0);
    assert_int_equal(yard.plan.expected_ms, YARD_HOUR);
    yard_done(&yard);
}

TEST(less_than_a_cent_is_no_reason_to_move)
{
    struct yard yard;

    init_two_alone(&yard);
    weigh(&yard, 23 * YARD_MINUTE); /* saves 0.1917, costs 0.1917 */

    assert_int_equal(yard.plan.kind, PLAN_PARTIAL);
    yard_done(&yard);
}

TEST(with_full_only_everything_is_placed_anew_whatever_it_costs)
{
    struct yard yard;
    struct reconfigure_options options = both;

    options.mode = RECONFIGURE_FULL;
    init_two_alone(&yard);
    run_with(&yard, options);

    assert_int_equal(yard.plan.kind, PLAN_FULL);
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    yard_done(&yard);
}

/* Whether all is placed again, that long after both were moved for the n-th time. */
static bool moves_again(uint32_t stops, msec_t after, int64_t stay)
{
    struct yard yard;
    struct reconfigure_options options = both;
    bool moves;

    init_two_alone(&yard);
    TASK_EACH(task, &yard.view, yard.view.instance.first_task[yard.view.instance.first])
    {
        yard.view.task.stops[task] = stops;
    }
    yard.view.now += after;
    options.mode = RECONFIGURE_FULL;
    options.stay = stay;
    run_with(&yard, options);
    moves = yard.plan.place_count == 2;
    if (!moves) /* the plan is made again when they may */
        assert_true(yard.plan.wake_at > yard.view.now);
    yard_done(&yard);
    return moves;
}

TEST(a_task_stays_as_many_times_as_long_as_its_move_took_and_twice_as_long_each_time)
{
    /* Two minutes. */
    assert_true(moves_again(0, 0, 3));
    assert_false(moves_again(1, 6 * YARD_MINUTE - 1, 3));
    assert_true(moves_again(1, 6 * YARD_MINUTE, 3));
    assert_false(moves_again(3, 24 * YARD_MINUTE - 1, 3));
    assert_true(moves_again(3, 24 * YARD_MINUTE, 3));
    assert_true(moves_again(3, 0, 0));
    assert_false(moves_again(UINT32_MAX, YARD_HOUR, INT64_MAX));
}

TEST(a_job_that_is_on_its_way_stays_in_both)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_running(&yard, HALF, SMALL);
    view_bind(&yard.view, yard_task(&yard, HALF), yard_machine(&yard, SMALL));
    weigh(&yard, 1000 * (msec_t)YARD_HOUR);

    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_task_whose_offers_are_all_refused_stays_with_its_machine)
{
    struct yard yard;

    yard_init_table3(&yard);
    const uint32_t machine = yard_machine(&yard, IT1);
    yard_run(&yard, yard_task(&yard, TAU1), machine);
    yard.view.offer_blocked_until[IT1] = 1;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    struct reconfigure_options options = both;
    options.mode = RECONFIGURE_FULL;
    run_with(&yard, options);

    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

/*
 * The partial one.
 */

TEST(a_machine_that_is_not_worth_its_price_is_left)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t task = yard_running(&yard, HALF, LARGE);
    partial(&yard, true);

    yard_check_fresh(&yard, task, 0);
    assert_int_equal(yard.plan.rents[0].offer, SMALL);
    assert_true(yard_releases(&yard, yard.view.task.instance[task]));
    yard_done(&yard);
}

TEST(room_on_a_machine_that_stays_is_used_though_it_does_not_pay)
{
    struct yard yard;

    yard_init_table3(&yard);
    const uint32_t machine = yard_machine(&yard, IT1);
    yard_run(&yard, yard_task(&yard, TAU1), machine);
    const uint32_t waits = yard_task(&yard, TAU4);
    partial(&yard, true);

    yard_check_kept(&yard, waits, machine);
    yard_done(&yard);
}

TEST(room_on_a_machine_that_stays_is_left_alone_without_that_option)
{
    struct yard yard;

    yard_init_table3(&yard);
    yard_run(&yard, yard_task(&yard, TAU1), yard_machine(&yard, IT1));
    const uint32_t waits = yard_task(&yard, TAU4);
    partial(&yard, false);

    yard_check_fresh(&yard, waits, 0);
    assert_int_equal(yard.plan.rents[0].offer, IT4);
    yard_done(&yard);
}

TEST(an_empty_machine_is_let_go_unless_it_is_filled)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t small = yard_machine(&yard, SMALL);
    const uint32_t large = yard_machine(&yard, LARGE);
    const uint32_t task = yard_task(&yard, HALF);
    partial(&yard, true);

    yard_check_kept(&yard, task, small);
    assert_true(yard_releases(&yard, large));
    assert_false(yard_releases(&yard, small));
    yard_done(&yard);
}

/*
 * What getting there costs.
 */

/* The cost of moving the tasks [0, count) of the pool to a new machine of the offer. */
static double migration(struct yard *yard, uint32_t count, uint32_t offer)
{
    const struct worth_rules rules = { .view = &yard->view, .siblings = true };
    const struct layout_costs costs = { .per_instance_ms = 5 * YARD_MINUTE };
    uint32_t tasks[] = { 0, 1, 2, 3 };
    struct pool pool;
    struct layout layout;

    layout_init(&layout, &rules, &pool, &yard->arena);
    pool_build(&pool, &rules, tasks, count, &yard->arena);

    const uint32_t bin = layout_open(&layout, offer, ROW_NONE);

    for (uint32_t i = 0; i < count; i++)
        layout_put(&layout, bin, i);
    return layout_migration(&layout, &costs);
}

static void check_dollars(double got, double want)
{
    assert_int_equal((money_t)(got + 0.5), YARD_USD(want));
}

/* One minute of each delay; a task is worth a dollar an hour, five minutes of a large machine 7.5
 * sixtieths of a dollar. */
static void init_with_delays(struct yard *yard)
{
    yard_init_halves(yard);
    yard_delays(yard, (struct shape_delays){ .fetch_ms = YARD_MINUTE,
                                             .build_ms = YARD_MINUTE,
                                             .init_ms = YARD_MINUTE,
                                             .kill_ms = YARD_MINUTE,
                                             .upload_ms = YARD_MINUTE });
}

TEST(a_task_that_was_never_launched_costs_its_init_and_the_start_of_its_machine)
{
    struct yard yard;

    init_with_delays(&yard);
    (void)yard_task(&yard, HALF);

    check_dollars(migration(&yard, 1, LARGE), 1.0 / 60 + 7.5 / 60);
    yard_done(&yard);
}

TEST(fetch_and_build_count_after_a_launch_and_upload_after_a_stop)
{
    struct yard yard;

    init_with_delays(&yard);
    const uint32_t task = yard_running(&yard, HALF, SMALL);
    check_dollars(migration(&yard, 1, LARGE), 3.0 / 60 + 7.5 / 60);
    yard.view.task.stops[task]++;

    check_dollars(migration(&yard, 1, LARGE), 4.0 / 60 + 7.5 / 60);
    yard_done(&yard);
}

TEST(a_gang_counts_once_with_all_its_tasks_that_are_left)
{
    struct yard yard;

    init_with_delays(&yard);
    (void)yard_job(&yard, HALF, 2, true);

    /* One of two moves: both stand still. */
    check_dollars(migration(&yard, 1, LARGE), 2.0 / 60 + 7.5 / 60);
    check_dollars(migration(&yard, 2, LARGE), 2.0 / 60 + 7.5 / 60);
    yard_done(&yard);
}

TEST(what_stays_costs_nothing)
{
    struct yard yard;
    const struct layout_costs costs = { .per_instance_ms = 5 * YARD_MINUTE };
    struct pool pool;
    struct layout layout;

    init_with_delays(&yard);
    const uint32_t task = yard_running(&yard, HALF, SMALL);
    const struct worth_rules rules = { .view = &yard.view };
    layout_init(&layout, &rules, &pool, &yard.arena);
    pool_build(&pool, &rules, &task, 1, &yard.arena);
    layout_put(&layout, layout_open(&layout, SMALL, yard.view.task.instance[task]), 0);

    check_dollars(layout_migration(&layout, &costs), 0);
    yard_done(&yard);
}

/*
 * Filling machines that stay.
 */

/* Bins for all machines, and everything that waits into them. */
static void refill(struct yard *yard, struct layout *layout, struct pool *pool)
{
    static struct worth_rules rules;
    const struct view *view = &yard->view;
    uint32_t *tasks = ARENA_ARRAY(&yard->arena, uint32_t, view->task.count);
    uint32_t count = 0;

    rules = (struct worth_rules){ .view = view };
    layout_init(layout, &rules, pool, &yard->arena);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        tasks[count++] = task;
    }
    pool_build(pool, &rules, tasks, count, &yard->arena);
    INSTANCE_EACH(instance, view)
    {
        const uint32_t bin = layout_open(layout, view->instance.offer[instance], instance);

        layout->bins[bin].used = view->instance.used[instance];
        worth_group_of(&rules, instance, &yard->arena, &layout->bins[bin].group);
    }
    refill_pack(layout);
}

TEST(refilling_takes_the_greatest_resulting_worth_first)
{
    struct yard yard;
    struct layout layout;
    struct pool pool;

    yard_init_table3(&yard);
    yard_run(&yard, yard_task(&yard, TAU4), yard_machine(&yard, IT1)); /* 12 CPUs are left */
    const uint32_t little = yard_task(&yard, TAU4);
    const uint32_t much = yard_task(&yard, TAU1);
    const uint32_t more = yard_task(&yard, TAU2);
    refill(&yard, &layout, &pool);

    /* The dearest, then the next; nothing is left for the first to come. */
    assert_int_equal(pool.entries[pool.entry_of[much] - 1].bin, 0);
    assert_int_equal(pool.entries[pool.entry_of[more] - 1].bin, 0);
    assert_int_equal(pool.entries[pool.entry_of[little] - 1].bin, UINT32_MAX);
    yard_done(&yard);
}

TEST(refilling_prefers_the_machine_that_is_worth_most_with_the_task)
{
    struct yard yard;
    struct layout layout;
    struct pool pool;

    yard_init_table3(&yard);
    yard_run(&yard, yard_task(&yard, TAU4), yard_machine(&yard, IT3));
    yard_run(&yard, yard_task(&yard, TAU1), yard_machine(&yard, IT1));
    const uint32_t task = yard_task(&yard, TAU4);
    refill(&yard, &layout, &pool);

    assert_int_equal(pool.entries[pool.entry_of[task] - 1].bin, 1);
    yard_done(&yard);
}

TEST(refilling_ends_when_nothing_fits)
{
    struct yard yard;
    struct layout layout;
    struct pool pool;

    yard_init_halves(&yard);
    (void)yard_machine(&yard, LARGE);
    (void)yard_machine(&yard, SMALL);
    for (int i = 0; i < 5; i++)
        (void)yard_task(&yard, HALF);
    refill(&yard, &layout, &pool);

    assert_int_equal(pool.left, 2);
    assert_int_equal(layout.bins[0].group.size, 2);
    assert_int_equal(layout.bins[1].group.size, 1);
    yard_done(&yard);
}

CHECK_MAIN(RUN(everything_is_placed_anew_if_that_pays_in_the_time_it_lasts),
           RUN(what_runs_stays_if_moving_does_not_pay_in_the_time_it_lasts),
           RUN(the_plan_carries_what_both_would_save_and_cost),
           RUN(less_than_a_cent_is_no_reason_to_move),
           RUN(with_full_only_everything_is_placed_anew_whatever_it_costs),
           RUN(a_task_stays_as_many_times_as_long_as_its_move_took_and_twice_as_long_each_time),
           RUN(a_job_that_is_on_its_way_stays_in_both),
           RUN(a_task_whose_offers_are_all_refused_stays_with_its_machine),
           RUN(a_machine_that_is_not_worth_its_price_is_left),
           RUN(room_on_a_machine_that_stays_is_used_though_it_does_not_pay),
           RUN(room_on_a_machine_that_stays_is_left_alone_without_that_option),
           RUN(an_empty_machine_is_let_go_unless_it_is_filled),
           RUN(a_task_that_was_never_launched_costs_its_init_and_the_start_of_its_machine),
           RUN(fetch_and_build_count_after_a_launch_and_upload_after_a_stop),
           RUN(a_gang_counts_once_with_all_its_tasks_that_are_left), RUN(what_stays_costs_nothing),
           RUN(refilling_takes_the_greatest_resulting_worth_first),
           RUN(refilling_prefers_the_machine_that_is_worth_most_with_the_task),
           RUN(refilling_ends_when_nothing_fits))
