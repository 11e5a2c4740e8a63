/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/clearing.h"

#include "decide/test/yard.h"

static const struct clearing_options checked = {
    .rule = CLEARING_CHECKED,
    .after = 3 * YARD_MINUTE,
    .scale_out = { .unit = UNIT_PER_KIND },
};

/* Ten minutes have passed since the machines were filled. */
static void wait_a_while(struct yard *yard)
{
    yard->view.now += 10 * YARD_MINUTE;
}

static uint32_t candidates_of(struct yard *yard, const struct clearing_options *options,
                              uint32_t *ret)
{
    return clearing_candidates(&yard->view, options, ret, &yard->arena);
}

/* Clear what can be; all tasks may move. */
static void clear_with(struct yard *yard, const struct clearing_options *options)
{
    const struct view *view = &yard->view;
    uint32_t *candidates = ARENA_ARRAY(&yard->arena, uint32_t, view->instance.living);
    const uint32_t count = candidates_of(yard, options, candidates);
    uint32_t *tasks = ARENA_ARRAY(&yard->arena, uint32_t, view->task.living);
    uint32_t task_count = 0;
    struct runtime_bins bins;

    for (uint32_t i = 0; i < count; i++) {
        TASK_EACH(task, view, view->instance.first_task[candidates[i]])
        {
            tasks[task_count++] = task;
        }
    }
    runtime_bins_build(&bins, view, options->runtime, tasks, task_count, &yard->arena);
    clearing_run(&bins, options, candidates, count, &yard->plan);
}

/* Types of 2, 4 and 16 CPUs; tasks of 2 CPUs. */
enum { TWO, FOUR, SIXTEEN };

static void init_sizes(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 2, 8, 0, 0.2);
    (void)yard_type(yard, "a", 4, 16, 0, 0.4);
    (void)yard_type(yard, "a", 16, 64, 0, 1.6);
    (void)yard_shape(yard, 2, 4, 0);
}

/* A machine of the offer with so many tasks. */
static uint32_t filled(struct yard *yard, uint32_t offer, uint32_t tasks)
{
    const uint32_t machine = yard_machine(yard, offer);

    for (uint32_t i = 0; i < tasks; i++)
        yard_run(yard, yard_task(yard, 0), machine);
    return machine;
}

/*
 * Candidates.
 */

TEST(a_machine_used_by_less_than_half_for_a_while_is_a_candidate)
{
    struct yard yard;
    uint32_t found[4];

    init_sizes(&yard);
    const uint32_t sparse = filled(&yard, SIXTEEN, 3);
    (void)filled(&yard, SIXTEEN, 4); /* half is not less than half */
    (void)filled(&yard, SIXTEEN, 0); /* nothing there to clear */
    assert_int_equal(candidates_of(&yard, &checked, found), 0);
    wait_a_while(&yard);

    assert_int_equal(candidates_of(&yard, &checked, found), 1);
    assert_int_equal(found[0], sparse);
    yard_done(&yard);
}

TEST(candidates_come_by_falling_price_per_use)
{
    struct yard yard;
    uint32_t found[4];

    init_sizes(&yard);
    const uint32_t three = filled(&yard, SIXTEEN, 3);
    const uint32_t one = filled(&yard, SIXTEEN, 1);
    const uint32_t two = filled(&yard, SIXTEEN, 2);
    wait_a_while(&yard);

    assert_int_equal(candidates_of(&yard, &checked, found), 3);
    assert_int_equal(found[0], one);
    assert_int_equal(found[1], two);
    assert_int_equal(found[2], three);
    yard_done(&yard);
}

TEST(a_task_alone_on_its_cheapest_machine_is_not_cleared)
{
    struct yard yard;
    uint32_t found[4];

    yard_init(&yard);
    (void)yard_type(&yard, "a", 16, 64, 0, 1.6);
    (void)yard_shape(&yard, 2, 4, 0);
    (void)filled(&yard, 0, 1);
    wait_a_while(&yard);

    assert_int_equal(candidates_of(&yard, &checked, found), 0);
    yard_done(&yard);
}

TEST(a_machine_with_a_job_that_is_on_its_way_is_not_cleared)
{
    struct yard yard;
    uint32_t found[4];

    init_sizes(&yard);
    const uint32_t machine = filled(&yard, SIXTEEN, 1);
    view_bind(&yard.view, yard_task(&yard, 0), machine);
    wait_a_while(&yard);

    assert_int_equal(candidates_of(&yard, &checked, found), 0);
    yard_done(&yard);
}

TEST(never_means_never_and_always_wants_machines_of_every_kind)
{
    struct yard yard;
    uint32_t found[4];
    struct clearing_options options = checked;

    init_sizes(&yard);
    (void)filled(&yard, SIXTEEN, 2);
    wait_a_while(&yard);
    options.rule = CLEARING_NEVER;
    assert_int_equal(candidates_of(&yard, &options, found), 0);
    options.rule = CLEARING_ALWAYS; /* it has no accelerators */

    assert_int_equal(candidates_of(&yard, &options, found), 0);
    yard_done(&yard);
}

/*
 * Clearing.
 */

TEST(tasks_move_to_room_that_there_is_and_the_machine_goes)
{
    struct yard yard;

    init_sizes(&yard);
    const uint32_t sparse = filled(&yard, SIXTEEN, 2);
    const uint32_t roomy = filled(&yard, SIXTEEN, 6);
    wait_a_while(&yard);
    clear_with(&yard, &checked);

    yard_check_kept(&yard, 0, roomy);
    yard_check_kept(&yard, 1, roomy);
    assert_int_equal(yard.plan.release_count, 1);
    assert_true(yard_releases(&yard, sparse));
    assert_int_equal(yard.plan.releases[0].why.code, REASON_CLEARED);
    yard_done(&yard);
}

TEST(tasks_move_to_a_smaller_machine_if_there_is_no_room)
{
    struct yard yard;

    init_sizes(&yard);
    const uint32_t sparse = filled(&yard, SIXTEEN, 2);
    wait_a_while(&yard);
    clear_with(&yard, &checked);

    assert_int_equal(yard_rent_price(&yard), YARD_USD(0.4));
    assert_int_equal(yard.plan.place_count, 2);
    assert_true(yard_releases(&yard, sparse));
    yard_done(&yard);
}

TEST(nothing_moves_if_it_is_not_cheaper_afterwards)
{
    struct yard yard;

    init_sizes(&yard);
    (void)filled(&yard, SIXTEEN, 2);
    yard.view.offer_price[TWO] = YARD_USD(0.8);
    yard.view.offer_price[FOUR] = YARD_USD(1.6);
    wait_a_while(&yard);
    clear_with(&yard, &checked);

    assert_int_equal(yard.plan.rent_count, 0);
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(nothing_moves_if_it_ends_before_the_move_would)
{
    struct yard yard;

    init_sizes(&yard);
    const uint32_t machine = filled(&yard, SIXTEEN, 0);
    yard_run(&yard, yard_task_for(&yard, 0, 12 * YARD_MINUTE), machine);
    yard_run(&yard, yard_task_for(&yard, 0, 12 * YARD_MINUTE), machine);
    yard_delays(&yard, (struct shape_delays){ .upload_ms = YARD_MINUTE, .fetch_ms = YARD_MINUTE });
    wait_a_while(&yard); /* two minutes are left, and a move takes two */
    clear_with(&yard, &checked);
    assert_int_equal(yard.plan.release_count, 0);
    yard_delays(&yard, (struct shape_delays){ .upload_ms = YARD_MINUTE, .fetch_ms = 59999 });
    clear_with(&yard, &checked);

    assert_int_equal(yard.plan.release_count, 1);
    yard_done(&yard);
}

TEST(all_tasks_move_or_none)
{
    struct yard yard;

    init_sizes(&yard);
    const uint32_t big = yard_shape(&yard, 4, 4, 0);
    const uint32_t sparse = filled(&yard, SIXTEEN, 1);
    yard_run(&yard, yard_task(&yard, big), sparse);
    (void)filled(&yard, SIXTEEN, 7); /* room for the small task only */
    yard.view.offer_blocked_until[FOUR] = YARD_HOUR;
    yard.view.offer_blocked_until[SIXTEEN] = YARD_HOUR;
    wait_a_while(&yard);
    clear_with(&yard, &checked);

    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_machine_that_took_in_the_tasks_of_another_is_not_cleared_itself)
{
    struct yard yard;

    init_sizes(&yard);
    const uint32_t first = filled(&yard, SIXTEEN, 1);
    const uint32_t second = filled(&yard, SIXTEEN, 2);
    wait_a_while(&yard);
    clear_with(&yard, &checked);

    yard_check_kept(&yard, 0, second);
    assert_int_equal(yard.plan.release_count, 1);
    assert_true(yard_releases(&yard, first));
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_machine_used_by_less_than_half_for_a_while_is_a_candidate),
           RUN(candidates_come_by_falling_price_per_use),
           RUN(a_task_alone_on_its_cheapest_machine_is_not_cleared),
           RUN(a_machine_with_a_job_that_is_on_its_way_is_not_cleared),
           RUN(never_means_never_and_always_wants_machines_of_every_kind),
           RUN(tasks_move_to_room_that_there_is_and_the_machine_goes),
           RUN(tasks_move_to_a_smaller_machine_if_there_is_no_room),
           RUN(nothing_moves_if_it_is_not_cheaper_afterwards),
           RUN(nothing_moves_if_it_ends_before_the_move_would), RUN(all_tasks_move_or_none),
           RUN(a_machine_that_took_in_the_tasks_of_another_is_not_cleared_itself))
