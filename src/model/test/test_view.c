/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view.h"

#include "base/test/check.h"
#include "model/test/view_world.h"

/* A job of 'count' tasks, whose ids are 100 * id and those that follow. */
static uint32_t add_job(struct view *view, uint64_t id, uint32_t shape, uint32_t count)
{
    const struct job_spec spec = {
        .id = id,
        .first_task_id = 100 * id,
        .shape = shape,
        .task_count = count,
        .arrived_at = view->now,
        .estimate_ms = 60000,
    };

    return view_add_job(view, &spec);
}

/* The id of the n-th task that waits. */
static uint64_t waiting_id(const struct view *view, uint32_t n)
{
    uint32_t row = view->task.waiting_first;

    while (n-- > 0)
        row = view->task.next[row];
    return view->task.id[row];
}

TEST(the_tasks_of_a_new_job_wait_in_their_order)
{
    struct world world;

    world_init(&world);
    const uint32_t job = add_job(&world.view, 1, SHAPE_TINY, 3);

    assert_int_equal(world.view.task.waiting_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(waiting_id(&world.view, i), 100 + i);
    assert_int_equal(world.view.job.tasks_left[job], 3);
    assert_int_equal(view_find_job(&world.view, 1), job);
    world_done(&world);
}

TEST(a_new_task_has_never_run)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t task = view_find_task(&world.view, 100);

    assert_int_equal(world.view.task.state[task], TASK_WAITING);
    assert_int_equal(world.view.task.instance[task], ROW_NONE);
    assert_int_equal(world.view.task.launched_at[task], -1);
    assert_int_equal(world.view.task.rate_ppm[task], RATE_NONE);
    assert_int_equal(world.view.task.estimate_ms[task], 60000);
    assert_int_equal(view_executed(&world.view, task), 0);
    world_done(&world);
}

TEST(jobs_that_arrived_of_late_are_counted_while_they_live)
{
    struct world world;

    world_init(&world);

    struct view *view = &world.view;

    assert_int_equal(view_arrivals(view), 0);
    (void)add_job(view, 1, SHAPE_TINY, 1);
    (void)add_job(view, 2, SHAPE_TINY, 5);
    view->now += VIEW_ARRIVALS_MS / 2;
    (void)add_job(view, 3, SHAPE_TINY, 1);
    assert_int_equal(view_arrivals(view), 3); /* jobs, not tasks */
    (void)view_finish_task(view, view_find_task(view, 100));
    assert_int_equal(view_arrivals(view), 2);
    view_check(view);
    view->now += VIEW_ARRIVALS_MS / 2;
    assert_int_equal(view_arrivals(view), 1);
    (void)add_job(view, 4, SHAPE_TINY, 1); /* in the place of the first two */
    assert_int_equal(view_arrivals(view), 2);
    for (uint64_t id = 200; id < 205; id++)
        (void)view_finish_task(view, view_find_task(view, id));
    assert_int_equal(view_arrivals(view), 2); /* it had not been among them for long */
    view_check(view);
    view->now += 10 * VIEW_ARRIVALS_MS;
    assert_int_equal(view_arrivals(view), 0);
    view_check(view);
    world_done(&world);
}

TEST(unknown_ids_are_not_found)
{
    struct world world;

    world_init(&world);
    assert_int_equal(view_find_task(&world.view, 100), ROW_NONE);
    assert_int_equal(view_find_job(&world.view, 1), ROW_NONE);
    assert_int_equal(view_find_instance(&world.view, 1), ROW_NONE);
    world_done(&world);
}

TEST(a_bound_task_takes_what_it_asks_for_in_that_family)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_EITHER, 2);
    const uint32_t small = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t large = view_add_instance(&world.view, 2, OFFER_LARGE);
    view_bind(&world.view, view_find_task(&world.view, 100), small);
    view_bind(&world.view, view_find_task(&world.view, 101), large);

    assert_int_equal(world.view.instance.used[small].amount[RES_CPU], 4000);
    assert_int_equal(world.view.instance.used[large].amount[RES_CPU], 1000);
    assert_int_equal(view_free(&world.view, small).amount[RES_CPU], 4000);
    assert_int_equal(view_free(&world.view, large).amount[RES_ACCEL], 3500);
    world_done(&world);
}

TEST(binding_notes_when_and_forgets_the_old_rate)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t task = view_find_task(&world.view, 100);
    world.view.now = 777;
    world.view.task.rate_ppm[task] = 5;
    view_bind(&world.view, task, instance);

    assert_int_equal(world.view.task.state[task], TASK_BOUND);
    assert_int_equal(world.view.task.instance[task], instance);
    assert_int_equal(world.view.task.bound_at[task], 777);
    assert_int_equal(world.view.task.rate_ppm[task], RATE_NONE);
    world_done(&world);
}

TEST(a_task_that_is_unbound_waits_last)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 3);
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t task = view_find_task(&world.view, 100);
    view_bind(&world.view, task, instance);
    view_unbind(&world.view, task);

    assert_int_equal(waiting_id(&world.view, 0), 101);
    assert_int_equal(waiting_id(&world.view, 2), 100);
    assert_int_equal(world.view.instance.task_count[instance], 0);
    assert_int_equal(world.view.instance.used[instance].amount[RES_CPU], 0);
    assert_int_equal(world.view.task.bound_at[task], -1);
    world_done(&world);
}

TEST(binding_elsewhere_frees_the_room_that_was_held)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_EITHER, 1);
    const uint32_t small = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t large = view_add_instance(&world.view, 2, OFFER_LARGE);
    view_bind(&world.view, view_find_task(&world.view, 100), small);
    view_bind(&world.view, view_find_task(&world.view, 100), large);

    assert_int_equal(world.view.instance.task_count[small], 0);
    assert_int_equal(world.view.instance.used[small].amount[RES_CPU], 0);
    assert_int_equal(world.view.instance.task_count[large], 1);
    world_done(&world);
}

TEST(a_task_may_be_bound_again_to_the_full_machine_it_is_on)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_EITHER, 2);
    const uint32_t small = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t first = view_find_task(&world.view, 100);
    view_bind(&world.view, first, small);
    view_bind(&world.view, view_find_task(&world.view, 101), small);
    view_bind(&world.view, first, small);

    assert_int_equal(world.view.instance.task_count[small], 2);
    assert_int_equal(world.view.instance.last_task[small], first);
    world_done(&world);
}

TEST(a_job_ends_with_its_last_task)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 2);

    assert_false(view_finish_task(&world.view, view_find_task(&world.view, 101)));
    assert_int_not_equal(view_find_job(&world.view, 1), ROW_NONE);
    assert_true(view_finish_task(&world.view, view_find_task(&world.view, 100)));
    assert_int_equal(view_find_job(&world.view, 1), ROW_NONE);
    assert_int_equal(world.view.job.living, 0);
    world_done(&world);
}

TEST(a_finished_task_frees_its_room_and_its_id)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);
    view_bind(&world.view, view_find_task(&world.view, 100), instance);
    (void)view_finish_task(&world.view, view_find_task(&world.view, 100));

    assert_int_equal(view_find_task(&world.view, 100), ROW_NONE);
    assert_int_equal(world.view.instance.used[instance].amount[RES_CPU], 0);
    assert_int_equal(world.view.task.living, 0);
    world_done(&world);
}

TEST(freed_rows_are_used_again)
{
    struct world world;

    world_init(&world);
    for (uint64_t round = 1; round <= 50; round++) {
        (void)add_job(&world.view, round, SHAPE_TINY, 2);
        (void)view_finish_task(&world.view, view_find_task(&world.view, 100 * round));
        (void)view_finish_task(&world.view, view_find_task(&world.view, 100 * round + 1));
        view_remove_instance(&world.view, view_add_instance(&world.view, round, OFFER_SMALL));
    }

    assert_int_equal(world.view.task.count, 2);
    assert_int_equal(world.view.job.count, 1);
    assert_int_equal(world.view.instance.count, 1);
    world_done(&world);
}

TEST(a_row_used_again_remembers_nothing)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_GPU, 1);
    const uint32_t task = view_find_task(&world.view, 100);
    world.view.task.launches[task] = 3;
    world.view.task.stops[task] = 2;
    world.view.task.executed_ms[task] = 99;
    world.view.task.launched_at[task] = 5;
    world.view.task.run_key[task] = 7;
    (void)view_finish_task(&world.view, task);
    (void)add_job(&world.view, 2, SHAPE_TINY, 1);

    assert_int_equal(view_find_task(&world.view, 200), task);
    assert_int_equal(world.view.task.shape[task], SHAPE_TINY);
    assert_int_equal(world.view.task.launches[task], 0);
    assert_int_equal(world.view.task.stops[task], 0);
    assert_int_equal(world.view.task.run_key[task], 0);
    assert_int_equal(view_executed(&world.view, task), 0);
    world_done(&world);
}

TEST(a_removed_instance_is_not_found)
{
    struct world world;

    world_init(&world);
    (void)view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t middle = view_add_instance(&world.view, 2, OFFER_SMALL);
    (void)view_add_instance(&world.view, 3, OFFER_SMALL);
    view_remove_instance(&world.view, middle);

    assert_int_equal(view_find_instance(&world.view, 2), ROW_NONE);
    assert_int_equal(world.view.instance.living, 2);
    assert_int_equal(world.view.instance.state[middle], INSTANCE_FREE);
    world_done(&world);
}

TEST(only_requested_booting_and_ready_instances_are_open)
{
    static const bool open[] = {
        [INSTANCE_FREE] = false, [INSTANCE_REQUESTED] = true, [INSTANCE_BOOTING] = true,
        [INSTANCE_READY] = true, [INSTANCE_DRAINING] = false, [INSTANCE_RETURNED] = false,
    };
    struct world world;

    world_init(&world);
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);
    assert_int_equal(world.view.instance.state[instance], INSTANCE_REQUESTED);
    for (int i = INSTANCE_FREE; i <= INSTANCE_RETURNED; i++) {
        view_set_state(&world.view, instance, (enum instance_state)i);
        assert_int_equal(view_is_open(&world.view, instance), open[i]);
    }
    world_done(&world);
}

TEST(a_new_instance_is_rented_now_and_not_billed)
{
    struct world world;

    world_init(&world);
    world.view.now = 4321;
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_LARGE);

    assert_int_equal(world.view.instance.rented_at[instance], 4321);
    assert_int_equal(world.view.instance.billed_from[instance], -1);
    assert_int_equal(view_capacity(&world.view, instance)->amount[RES_CPU], 32000);
    world_done(&world);
}

TEST(executed_time_is_that_of_earlier_launches_and_of_this_one)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t task = view_find_task(&world.view, 100);
    view_bind(&world.view, task, view_add_instance(&world.view, 1, OFFER_SMALL));
    view_mark_running(&world.view, task, 100);
    view_mark_stopped(&world.view, task, 400);
    world.view.now = 5000;

    assert_int_equal(view_executed(&world.view, task), 300);
    view_mark_running(&world.view, task, 4000);
    assert_int_equal(view_executed(&world.view, task), 1300);
    world_done(&world);
}

TEST(each_launch_is_counted_and_dated)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t task = view_find_task(&world.view, 100);
    view_bind(&world.view, task, view_add_instance(&world.view, 1, OFFER_SMALL));
    world.view.now = 1000;
    view_mark_running(&world.view, task, 100);
    view_mark_stopped(&world.view, task, 400);
    assert_int_equal(world.view.task.launched_at[task], -1);
    view_mark_running(&world.view, task, 700);

    assert_int_equal(world.view.task.launches[task], 2);
    assert_int_equal(world.view.task.launched_at[task], 700);
    world_done(&world);
}

TEST(a_stopped_task_stays_bound_and_forgets_its_rate)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t task = view_find_task(&world.view, 100);
    view_bind(&world.view, task, instance);
    world.view.now = 1000;
    view_mark_running(&world.view, task, 100);
    world.view.task.rate_ppm[task] = 5;
    view_mark_stopped(&world.view, task, 400);

    assert_int_equal(world.view.task.state[task], TASK_BOUND);
    assert_int_equal(world.view.task.instance[task], instance);
    assert_int_equal(world.view.task.rate_ppm[task], RATE_NONE);
    world_done(&world);
}

/* A report of the end may be dated before that of the launch, by another clock. */
TEST(a_stop_before_the_launch_executed_nothing)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t task = view_find_task(&world.view, 100);
    view_bind(&world.view, task, view_add_instance(&world.view, 1, OFFER_SMALL));
    world.view.now = 1000;
    view_mark_running(&world.view, task, 100);
    view_mark_stopped(&world.view, task, 90);

    assert_int_equal(view_executed(&world.view, task), 0);
    world_done(&world);
}

TEST(instances_without_tasks_are_listed_in_the_order_of_emptying)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t first = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t second = view_add_instance(&world.view, 2, OFFER_SMALL);
    view_bind(&world.view, view_find_task(&world.view, 100), first);
    assert_int_equal(world.view.instance.empty_first, second);
    assert_int_equal(world.view.instance.empty_last, second);
    view_unbind(&world.view, view_find_task(&world.view, 100));

    assert_int_equal(world.view.instance.empty_first, second);
    assert_int_equal(world.view.instance.empty_last, first);
    world_done(&world);
}

TEST(a_job_is_settled_when_all_its_tasks_run)
{
    struct world world;

    world_init(&world);
    const uint32_t job = add_job(&world.view, 1, SHAPE_TINY, 2);
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);

    for (uint64_t id = 100; id < 102; id++) {
        const uint32_t task = view_find_task(&world.view, id);

        assert_false(view_job_is_settled(&world.view, job));
        view_bind(&world.view, task, instance);
        assert_false(view_job_is_settled(&world.view, job));
        view_mark_running(&world.view, task, 0);
    }
    assert_true(view_job_is_settled(&world.view, job));
    world_done(&world);
}

TEST(a_job_of_which_one_task_runs_is_settled_when_the_other_ends)
{
    struct world world;

    world_init(&world);
    const uint32_t job = add_job(&world.view, 1, SHAPE_TINY, 2);
    const uint32_t task = view_find_task(&world.view, 100);
    view_bind(&world.view, task, view_add_instance(&world.view, 1, OFFER_SMALL));
    view_mark_running(&world.view, task, 0);
    (void)view_finish_task(&world.view, view_find_task(&world.view, 101));

    assert_true(view_job_is_settled(&world.view, job));
    world_done(&world);
}

TEST(a_fixed_job_never_moves)
{
    struct world world;

    world_init(&world);
    for (uint64_t id = 1; id <= 2; id++) {
        const struct job_spec spec = {
            .id = id,
            .first_task_id = id * 100,
            .shape = SHAPE_TINY,
            .task_count = 1,
            .fixed = id == 2,
        };
        const uint32_t job = view_add_job(&world.view, &spec);
        const uint32_t task = view_find_task(&world.view, id * 100);

        view_bind(&world.view, task, view_add_instance(&world.view, id, OFFER_SMALL));
        assert_false(view_job_may_move(&world.view, job));
        view_mark_running(&world.view, task, 0);
        assert_true(view_job_is_settled(&world.view, job));
        assert_int_equal(view_job_may_move(&world.view, job), id == 1);
    }
    world_done(&world);
}

TEST(a_job_is_where_one_of_its_tasks_is_bound)
{
    struct world world;

    world_init(&world);
    const struct job_spec spec = {
        .id = 1, .first_task_id = 100, .shape = SHAPE_TINY, .task_count = 2, .spread = true
    };
    const uint32_t job = view_add_job(&world.view, &spec);
    const uint32_t here = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t there = view_add_instance(&world.view, 2, OFFER_SMALL);

    assert_false(view_job_is_on(&world.view, job, here));
    view_bind(&world.view, view_find_task(&world.view, 101), here);
    assert_true(view_job_is_on(&world.view, job, here));
    assert_false(view_job_is_on(&world.view, job, there));
    assert_true(view_is_spread(&world.view, job));
    assert_int_equal(world.view.job.apart[job], job);
    world_done(&world);
}

static uint32_t add_apart(struct view *view, uint64_t id, uint64_t apart)
{
    const struct job_spec spec = {
        .id = id,
        .first_task_id = id * 100,
        .shape = SHAPE_TINY,
        .task_count = 1,
        .apart = apart,
    };

    (void)view_add_job(view, &spec);
    return view_find_task(view, id * 100);
}

TEST(tasks_of_several_jobs_keep_apart)
{
    struct world world;

    world_init(&world);
    const struct view *view = &world.view;
    const uint32_t one = add_apart(&world.view, 1, 7);
    const uint32_t two = add_apart(&world.view, 2, 7);
    const uint32_t far = add_apart(&world.view, 3, 8);
    const uint32_t free = add_apart(&world.view, 4, 0);
    const uint32_t here = view_add_instance(&world.view, 1, OFFER_SMALL);
    const uint32_t apart = view->job.apart[view->task.job[one]];

    assert_true(view_is_spread(view, view->task.job[one]));
    assert_false(view_is_spread(view, view->task.job[free]));
    assert_true(apart >= UINT32_C(1) << 31 && apart != ROW_NONE);
    assert_true(view_keep_apart(view, one, two));
    assert_false(view_keep_apart(view, one, one));
    assert_false(view_keep_apart(view, one, far));
    assert_false(view_keep_apart(view, one, free));
    assert_false(view_keep_apart(view, free, free));
    view_bind(&world.view, free, here);
    view_bind(&world.view, far, here);
    assert_false(view_apart_is_on(view, apart, here));
    view_bind(&world.view, one, here);
    assert_true(view_apart_is_on(view, apart, here));
    assert_false(view->instance.crowded[here]);
    view_check(view);

    view_bind_found(&world.view, two, here);
    assert_true(view->instance.crowded[here]);
    view_check(view);
    view_unbind(&world.view, one);
    assert_false(view->instance.crowded[here]);
    view_check(view);
    world_done(&world);
}

TEST(a_job_is_not_settled_while_a_stopped_task_waits_for_its_launch)
{
    struct world world;

    world_init(&world);
    const uint32_t job = add_job(&world.view, 1, SHAPE_TINY, 1);
    const uint32_t task = view_find_task(&world.view, 100);
    view_bind(&world.view, task, view_add_instance(&world.view, 1, OFFER_SMALL));
    view_mark_running(&world.view, task, 0);
    view_mark_stopped(&world.view, task, 50);

    assert_false(view_job_is_settled(&world.view, job));
    world_done(&world);
}

TEST(an_instance_is_under_half_until_one_kind_is_used_more)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    (void)add_job(&world.view, 2, SHAPE_EITHER, 1);
    world.view.now = 10;
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);
    world.view.now = 20;
    view_bind(&world.view, view_find_task(&world.view, 100), instance);

    assert_int_equal(world.view.instance.under_half_since[instance], 10);
    view_bind(&world.view, view_find_task(&world.view, 200), instance);
    assert_true(world.view.instance.under_half_since[instance] == MSEC_NEVER);
    world_done(&world);
}

TEST(an_instance_of_which_exactly_half_is_used_is_not_under_half)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_EITHER, 1);
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);
    view_bind(&world.view, view_find_task(&world.view, 100), instance);

    assert_true(world.view.instance.under_half_since[instance] == MSEC_NEVER);
    world_done(&world);
}

TEST(an_instance_is_under_half_again_from_when_it_fell_below)
{
    struct world world;

    world_init(&world);
    (void)add_job(&world.view, 1, SHAPE_TINY, 1);
    (void)add_job(&world.view, 2, SHAPE_EITHER, 1);
    const uint32_t instance = view_add_instance(&world.view, 1, OFFER_SMALL);
    view_bind(&world.view, view_find_task(&world.view, 100), instance);
    view_bind(&world.view, view_find_task(&world.view, 200), instance);
    world.view.now = 50;
    (void)view_finish_task(&world.view, view_find_task(&world.view, 200));
    world.view.now = 70;
    view_unbind(&world.view, view_find_task(&world.view, 100));

    assert_int_equal(world.view.instance.under_half_since[instance], 50);
    world_done(&world);
}

TEST(each_offer_starts_at_its_price_of_time_zero)
{
    struct world world;

    world_init(&world);
    assert_int_equal(world.view.offer_price[OFFER_SMALL], 100);
    assert_int_equal(world.view.offer_price[OFFER_LARGE], 100);
    assert_int_equal(world.view.offer_blocked_until[OFFER_LARGE], 0);
    world_done(&world);
}

TEST(offers_that_come_later_are_known_at_their_price_of_then)
{
    const struct price_change changes[] = { { 0, 7 }, { 50, 9 } };
    struct world world;

    world_init(&world);
    world.view.now = 60;
    world.view.offer_blocked_until[OFFER_SMALL] = 80;
    const uint32_t late = catalogue_add_offer(
        &world.catalogue, NULL,
        &(struct offer){ .billing = { .step_ms = 1 }, .price = { changes, 2 } });
    view_catalogue_grew(&world.view);

    assert_int_equal(world.view.offer_price[late], 9);
    assert_int_equal(world.view.offer_blocked_until[late], 0);
    assert_int_equal(world.view.offer_price[OFFER_SMALL], 100);
    assert_int_equal(world.view.offer_blocked_until[OFFER_SMALL], 80);
    world_done(&world);
}

TEST(columns_survive_growth)
{
    enum { MANY = 3000 };
    struct world world;

    world_init(&world);
    for (uint64_t i = 1; i <= MANY; i++) {
        (void)add_job(&world.view, i, (uint32_t)(i % SHAPES), 1);
        (void)view_add_instance(&world.view, i, (uint32_t)(i % 2));
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        const uint32_t task = view_find_task(&world.view, 100 * i);
        const uint32_t instance = view_find_instance(&world.view, i);

        assert_int_equal(world.view.task.shape[task], i % SHAPES);
        assert_int_equal(world.view.job.id[world.view.task.job[task]], i);
        assert_int_equal(world.view.instance.offer[instance], i % 2);
    }
    world_done(&world);
}

/* The rows of instances that changed since 'from'. */
static uint32_t changed_since(const struct view *view, uint64_t from, uint32_t row)
{
    uint32_t times = 0;

    assert_true(from >= view->changes.begin);
    for (uint64_t i = from; i < view_changes_end(view); i++)
        times += view->changes.rows[i - view->changes.begin] == row;
    return times;
}

TEST(whatever_changes_an_instance_is_in_the_log)
{
    struct world world;
    struct view *view = &world.view;

    world_init(&world);

    const uint32_t other = view_add_instance(view, 2, 0);
    const uint64_t begin = view_changes_end(view);
    const uint32_t instance = view_add_instance(view, 1, 0);
    const struct job_spec spec = { .id = 1, .first_task_id = 1, .task_count = 1 };
    uint32_t changes = 1;

    assert_int_equal(changed_since(view, begin, instance), changes);
    (void)view_add_job(view, &spec);
    assert_int_equal(changed_since(view, begin, instance), changes); /* it only waits */

    const uint32_t task = view_find_task(view, 1);

    view_bind(view, task, instance);
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    view_mark_running(view, task, 0);
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    view_mark_stopped(view, task, 0);
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    (void)view_finish_task(view, task);
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    view_set_state(view, instance, INSTANCE_READY);
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    view_set_billed_from(view, instance, 0);
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    view_set_ready_expected(view, instance, 5);
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    view_set_capacity(view, instance, view_capacity(view, other));
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    view_remove_instance(view, instance);
    assert_int_equal(changed_since(view, begin, instance), ++changes);
    assert_int_equal(changed_since(view, begin, other), 0);
    world_done(&world);
}

TEST(a_log_that_nobody_reads_is_cut_and_its_numbers_go_on)
{
    struct world world;

    world_init(&world);

    const uint32_t instance = view_add_instance(&world.view, 1, 0);

    for (uint64_t i = 1; i <= 10000; i++) {
        assert_int_equal(view_changes_end(&world.view), i);
        view_set_ready_expected(&world.view, instance, (msec_t)i);
        assert_true(world.view.changes.count <= 4096);
    }
    world_done(&world);
}

CHECK_MAIN(RUN(the_tasks_of_a_new_job_wait_in_their_order), RUN(a_new_task_has_never_run),
           RUN(jobs_that_arrived_of_late_are_counted_while_they_live),
           RUN(unknown_ids_are_not_found), RUN(a_bound_task_takes_what_it_asks_for_in_that_family),
           RUN(binding_notes_when_and_forgets_the_old_rate), RUN(a_task_that_is_unbound_waits_last),
           RUN(binding_elsewhere_frees_the_room_that_was_held),
           RUN(a_task_may_be_bound_again_to_the_full_machine_it_is_on),
           RUN(a_job_ends_with_its_last_task), RUN(a_finished_task_frees_its_room_and_its_id),
           RUN(freed_rows_are_used_again), RUN(a_row_used_again_remembers_nothing),
           RUN(a_removed_instance_is_not_found),
           RUN(only_requested_booting_and_ready_instances_are_open),
           RUN(a_new_instance_is_rented_now_and_not_billed),
           RUN(executed_time_is_that_of_earlier_launches_and_of_this_one),
           RUN(each_launch_is_counted_and_dated),
           RUN(a_stopped_task_stays_bound_and_forgets_its_rate),
           RUN(a_stop_before_the_launch_executed_nothing),
           RUN(instances_without_tasks_are_listed_in_the_order_of_emptying),
           RUN(a_job_is_settled_when_all_its_tasks_run),
           RUN(a_job_of_which_one_task_runs_is_settled_when_the_other_ends),
           RUN(a_fixed_job_never_moves), RUN(a_job_is_where_one_of_its_tasks_is_bound),
           RUN(tasks_of_several_jobs_keep_apart),
           RUN(a_job_is_not_settled_while_a_stopped_task_waits_for_its_launch),
           RUN(an_instance_is_under_half_until_one_kind_is_used_more),
           RUN(an_instance_of_which_exactly_half_is_used_is_not_under_half),
           RUN(an_instance_is_under_half_again_from_when_it_fell_below),
           RUN(each_offer_starts_at_its_price_of_time_zero),
           RUN(offers_that_come_later_are_known_at_their_price_of_then),
           RUN(columns_survive_growth), RUN(whatever_changes_an_instance_is_in_the_log),
           RUN(a_log_that_nobody_reads_is_cut_and_its_numbers_go_on))
