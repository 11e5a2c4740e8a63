/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/clearing.h"

#include "decide/test/yard.h"

static const struct clearing_options checked = {
    .rule = CLEARING_CHECKED,
    .after = 3 * YARD_MINUTE,
    .scale_out = { .unit = UNIT_PER_KIND },
};

/* The bills are compared. */
static const struct clearing_options pays = {
    .rule = CLEARING_PAYS,
    .after = 3 * YARD_MINUTE,
    .runtime = RUNTIME_PAID,
    .scale_out = { .unit = UNIT_PER_KIND },
};

/* Ten minutes have passed since the machines were filled. */
static void wait_a_while(struct yard *yard)
{
    yard->view.now += 10 * YARD_MINUTE;
}

/* By all machines and by an index, which agree. */
static uint32_t candidates_of(struct yard *yard, const struct clearing_options *options,
                              uint32_t *ret)
{
    const msec_t wake_at = yard->plan.wake_at;
    struct machine_index index;
    uint32_t *all = NULL;
    uint32_t *indexed = NULL;
    const uint32_t count = clearing_candidates(&yard->view, options, &yard->plan, &all);
    const msec_t woken_at = yard->plan.wake_at;

    machine_index_init(&index, options->runtime, true, &yard->arena);
    machine_index_absorb(&index, &yard->view);
    yard->plan.wake_at = wake_at;
    assert_int_equal(clearing_candidates_of(&index, options, &yard->plan, &indexed), count);
    assert_int_equal(yard->plan.wake_at, woken_at);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(indexed[i], all[i]);
        ret[i] = all[i];
    }
    return count;
}

/* Clear what can be; all tasks may move. */
static void clear_with(struct yard *yard, const struct clearing_options *options)
{
    const struct view *view = &yard->view;
    uint32_t *candidates = ARENA_ARRAY(&yard->arena, uint32_t, view->instance.living);
    const uint32_t count = candidates_of(yard, options, candidates);
    struct runtime_bins bins;

    runtime_bins_build(&bins, view, options->runtime, &yard->arena);
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
    (void)yard_type(&yard, "g", 8, 64, 1, 3.0);
    (void)filled(&yard, SIXTEEN, 2);
    wait_a_while(&yard);
    options.rule = CLEARING_NEVER;
    assert_int_equal(candidates_of(&yard, &options, found), 0);
    options.rule = CLEARING_ALWAYS; /* it has no accelerators */

    assert_int_equal(candidates_of(&yard, &options, found), 0);
    yard_done(&yard);
}

TEST(always_does_not_ask_for_a_kind_that_no_machine_of_the_catalogue_has)
{
    struct yard yard;
    uint32_t found[4];
    struct clearing_options options = checked;

    yard_init(&yard);
    const uint32_t small = yard_type(&yard, "a", 2, 8, 0, 0.1);
    const uint32_t large = yard_type(&yard, "a", 16, 64, 0, 0.8);
    const uint32_t shape = yard_shape(&yard, 1, 4, 0);
    yard_run(&yard, yard_task(&yard, shape), yard_machine(&yard, small));
    const uint32_t sparse = yard_machine(&yard, large);
    yard_run(&yard, yard_task(&yard, shape), sparse);
    wait_a_while(&yard);
    options.rule = CLEARING_ALWAYS;

    assert_int_equal(candidates_of(&yard, &options, found), 1);
    assert_int_equal(found[0], sparse);
    yard_done(&yard);
}

TEST(always_leaves_a_task_alone_that_was_moved_often_and_a_short_time_ago)
{
    struct yard yard;
    uint32_t found[4];
    struct clearing_options options = checked;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 2, 8, 0, 0.1);
    const uint32_t large = yard_type(&yard, "a", 16, 64, 0, 0.8);
    const uint32_t task = yard_task(&yard, yard_shape(&yard, 1, 4, 0));
    yard_run(&yard, task, yard_machine(&yard, large));
    yard.view.task.stops[task] = 5; /* a minute, doubled four times */
    wait_a_while(&yard);
    options.rule = CLEARING_ALWAYS;

    assert_int_equal(candidates_of(&yard, &options, found), 0);
    assert_int_equal(yard.plan.wake_at, 16 * YARD_MINUTE);
    wait_a_while(&yard);
    assert_int_equal(candidates_of(&yard, &options, found), 1);
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

/*
 * When to look again.
 */

TEST(the_plan_wakes_when_the_next_machine_has_been_under_used_for_long_enough)
{
    struct yard yard;
    uint32_t found[4];

    init_sizes(&yard);
    (void)filled(&yard, SIXTEEN, 8); /* well used */
    (void)filled(&yard, TWO, 1);     /* likewise */
    yard.view.now = YARD_MINUTE;
    (void)filled(&yard, SIXTEEN, 2);
    yard.view.now = 2 * YARD_MINUTE;
    (void)filled(&yard, SIXTEEN, 3);

    assert_int_equal(candidates_of(&yard, &pays, found), 0);
    assert_int_equal(yard.plan.wake_at, 4 * YARD_MINUTE);

    yard.view.now = 4 * YARD_MINUTE;
    plan_init(&yard.plan, &yard.arena);
    assert_int_equal(candidates_of(&yard, &pays, found), 1);
    assert_int_equal(yard.plan.wake_at, 5 * YARD_MINUTE);
    yard_done(&yard);
}

TEST(nobody_wakes_for_machines_that_are_never_cleared)
{
    struct yard yard;
    uint32_t found[4];
    struct clearing_options never = pays;

    init_sizes(&yard);
    const uint32_t machine = filled(&yard, SIXTEEN, 2);
    never.rule = CLEARING_NEVER;
    (void)candidates_of(&yard, &never, found);
    assert_int_equal(yard.plan.wake_at, MSEC_NEVER);
    yard_fix(&yard.view, yard.view.task.job[yard.view.instance.first_task[machine]], true);

    (void)candidates_of(&yard, &pays, found);
    assert_int_equal(yard.plan.wake_at, MSEC_NEVER);
    yard_done(&yard);
}

TEST(it_is_looked_again_at_a_job_that_is_on_its_way)
{
    struct yard yard;
    uint32_t found[4];

    init_sizes(&yard);
    view_bind(&yard.view, yard_task(&yard, 0), filled(&yard, SIXTEEN, 1));
    wait_a_while(&yard);

    assert_int_equal(candidates_of(&yard, &pays, found), 0);
    assert_int_equal(yard.plan.wake_at, yard.view.now + pays.after);
    yard_done(&yard);
}

/*
 * What a move costs.
 */

/* A machine of the offer with so many tasks that are expected to take so long. */
static uint32_t filled_for(struct yard *yard, uint32_t offer, uint32_t tasks, msec_t estimate)
{
    const uint32_t machine = yard_machine(yard, offer);

    for (uint32_t i = 0; i < tasks; i++)
        yard_run(yard, yard_task_for(yard, 0, estimate), machine);
    return machine;
}

TEST(a_machine_that_lasts_long_enough_takes_tasks_in_for_nothing)
{
    struct yard yard;

    init_sizes(&yard);
    const uint32_t sparse = filled(&yard, SIXTEEN, 2);
    const uint32_t roomy = filled_for(&yard, SIXTEEN, 6, 2 * YARD_HOUR);
    wait_a_while(&yard);
    clear_with(&yard, &pays);

    yard_check_kept(&yard, 0, roomy);
    assert_true(yard_releases(&yard, sparse));
    yard_done(&yard);
}

/* Tasks of an hour on 'sparse' and room for them where all ends in twelve minutes; ten have passed. */
static uint32_t sparse_beside_short(struct yard *yard)
{
    init_sizes(yard);

    const uint32_t sparse = filled(yard, SIXTEEN, 2);

    (void)filled_for(yard, SIXTEEN, 6, 12 * YARD_MINUTE);
    wait_a_while(yard);
    return sparse;
}

TEST(a_machine_that_would_have_to_last_longer_is_charged)
{
    struct yard yard;

    (void)sparse_beside_short(&yard);
    yard.view.offer_blocked_until[TWO] = YARD_HOUR; /* nothing smaller is to be had */
    yard.view.offer_blocked_until[FOUR] = YARD_HOUR;
    clear_with(&yard, &checked);
    assert_int_equal(yard.plan.release_count, 1);
    plan_init(&yard.plan, &yard.arena);
    clear_with(&yard, &pays);

    assert_int_equal(yard.plan.release_count, 0);
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.rent_count, 0);
    yard_done(&yard);
}

/* Two tasks with 50 minutes to go on a machine that is too large; one of the right size costs a quarter of it, and lasts for 20
 * minutes. Whether it is rented depends on what is lost with it. */
TEST(a_machine_that_may_be_taken_is_rented_for_what_saves_its_work)
{
    for (uint32_t saves = 0; saves < 2; saves++) {
        struct yard yard;

        init_sizes(&yard);
        yard_delays(&yard,
                    (struct shape_delays){ .checkpoint_ms = saves > 0 ? 5 * YARD_MINUTE : 0 });
        const uint32_t sparse = filled(&yard, SIXTEEN, 2);

        yard.view.offer_blocked_until[TWO] = YARD_HOUR;
        yard.view.offer_lasts[FOUR] = 20 * YARD_MINUTE;
        wait_a_while(&yard);
        clear_with(&yard, &pays);
        assert_int_equal(yard.plan.rent_count, saves);
        assert_int_equal(yard_releases(&yard, sparse), saves > 0);
        yard_done(&yard);
    }
}

/* On two machines of the same kind: where all that was done would be lost with the one, it is worth a move to save it. */
TEST(what_has_not_been_saved_is_a_reason_to_leave)
{
    for (uint32_t saves = 0; saves < 2; saves++) {
        struct yard yard;

        init_sizes(&yard);
        const uint32_t sparse = filled_for(&yard, SIXTEEN, 2, 4 * YARD_HOUR);

        (void)filled_for(&yard, SIXTEEN, 6, 2 * YARD_HOUR);
        yard.view.offer_blocked_until[TWO] = 10 * YARD_HOUR;
        yard.view.offer_blocked_until[FOUR] = 10 * YARD_HOUR;
        yard.view.offer_blocked_until[SIXTEEN] = 10 * YARD_HOUR;
        yard.view.offer_lasts[SIXTEEN] = YARD_HOUR;
        yard_delays(&yard, (struct shape_delays){ .checkpoint_ms = saves > 0 ? YARD_MINUTE : 0 });
        yard.view.now += YARD_HOUR;
        clear_with(&yard, &pays);
        assert_int_equal(yard_releases(&yard, sparse), saves == 0);
        yard_done(&yard);
    }
}

TEST(a_small_machine_is_rented_where_one_that_there_is_would_have_to_last)
{
    struct yard yard;
    const uint32_t sparse = sparse_beside_short(&yard);

    clear_with(&yard, &pays);

    assert_int_equal(yard_rent_price(&yard), YARD_USD(0.4));
    assert_int_equal(yard.plan.place_count, 2);
    assert_true(yard.plan.places[0].fresh);
    assert_true(yard.plan.places[1].fresh);
    assert_true(yard_releases(&yard, sparse));
    yard_done(&yard);
}

/* Whether two tasks of which so much is left move from a machine for 1.6 to one for 'dollars' an hour. */
static bool moves_to(double dollars, msec_t left, struct shape_delays delays)
{
    struct yard yard;

    init_sizes(&yard);
    (void)filled_for(&yard, SIXTEEN, 2, 10 * YARD_MINUTE + left);
    yard_delays(&yard, delays);
    yard.view.offer_price[FOUR] = YARD_USD(dollars);
    yard.view.offer_blocked_until[TWO] = YARD_HOUR;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    wait_a_while(&yard);
    clear_with(&yard, &pays);

    const bool moves = yard.plan.release_count == 1;

    assert_int_equal(yard.plan.place_count, moves ? 2 : 0);
    assert_int_equal(yard.plan.rent_count, moves ? 1 : 0);
    yard_done(&yard);
    return moves;
}

TEST(what_is_saved_must_be_half_as_much_again_as_what_it_costs)
{
    const struct shape_delays none = { 0 };

    assert_true(moves_to(1.06, YARD_HOUR, none));
    assert_false(moves_to(1.07, YARD_HOUR, none));
}

TEST(the_time_that_a_task_stands_still_is_charged)
{
    const struct shape_delays fetch = { .fetch_ms = YARD_MINUTE };
    const struct shape_delays upload = { .upload_ms = YARD_MINUTE };

    /* 20 minutes for 1.6 or 21 for 0.8; and with an upload the old machine is kept for a minute more. */
    assert_true(moves_to(1.01, 20 * YARD_MINUTE, fetch));
    assert_false(moves_to(1.02, 20 * YARD_MINUTE, fetch));
    assert_true(moves_to(0.96, 20 * YARD_MINUTE, upload));
    assert_false(moves_to(0.97, 20 * YARD_MINUTE, upload));
}

TEST(a_lease_that_is_paid_is_not_saved)
{
    struct yard yard;

    init_sizes(&yard);
    (void)filled_for(&yard, SIXTEEN, 2, 50 * YARD_MINUTE);
    yard.catalogue.offers[SIXTEEN].billing =
        (struct billing_rule){ .step_ms = YARD_HOUR, .minimum_ms = YARD_HOUR };
    wait_a_while(&yard);
    clear_with(&yard, &pays); /* the tasks end within the hour */
    assert_int_equal(yard.plan.release_count, 0);
    yard.view.task.estimate_ms[0] = 70 * YARD_MINUTE;
    clear_with(&yard, &pays);

    assert_int_equal(yard.plan.release_count, 1);
    yard_done(&yard);
}

/* A gang of six, of which two are on 'sparse' and the others on full machines for 0.4 an hour. */
static uint32_t sparse_gang(struct yard *yard, msec_t upload)
{
    init_sizes(yard);

    const uint32_t first = yard_job(yard, 0, 6, true);
    const uint32_t sparse = yard_machine(yard, SIXTEEN);

    yard_delays(yard, (struct shape_delays){ .upload_ms = upload });
    for (uint32_t i = 0; i < 6; i += 2) {
        const uint32_t machine = i == 0 ? sparse : yard_machine(yard, FOUR);

        yard_run(yard, first + i, machine);
        yard_run(yard, first + i + 1, machine);
    }
    wait_a_while(yard);
    return sparse;
}

TEST(the_machines_of_a_gang_that_stands_still_are_charged)
{
    struct yard yard;

    /* In minutes of the small machine, u for the upload: 4 x (50 - u) are saved, and the new machine costs
     * 50 + u, the two with the rest of the gang u each. */
    const uint32_t sparse = sparse_gang(&yard, 14 * YARD_MINUTE);

    clear_with(&yard, &pays);
    assert_true(yard_releases(&yard, sparse));
    yard_done(&yard);
    (void)sparse_gang(&yard, 15 * YARD_MINUTE);
    clear_with(&yard, &pays);

    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_gang_is_not_stopped_if_a_part_of_it_could_not_start_again)
{
    struct yard yard;

    (void)sparse_gang(&yard, 0);
    view_set_state(&yard.view, yard.view.task.instance[5], INSTANCE_DRAINING);
    clear_with(&yard, &pays);

    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_machine_used_by_less_than_half_for_a_while_is_a_candidate),
           RUN(candidates_come_by_falling_price_per_use),
           RUN(a_task_alone_on_its_cheapest_machine_is_not_cleared),
           RUN(a_machine_with_a_job_that_is_on_its_way_is_not_cleared),
           RUN(never_means_never_and_always_wants_machines_of_every_kind),
           RUN(always_does_not_ask_for_a_kind_that_no_machine_of_the_catalogue_has),
           RUN(always_leaves_a_task_alone_that_was_moved_often_and_a_short_time_ago),
           RUN(tasks_move_to_room_that_there_is_and_the_machine_goes),
           RUN(tasks_move_to_a_smaller_machine_if_there_is_no_room),
           RUN(nothing_moves_if_it_is_not_cheaper_afterwards),
           RUN(nothing_moves_if_it_ends_before_the_move_would), RUN(all_tasks_move_or_none),
           RUN(a_machine_that_took_in_the_tasks_of_another_is_not_cleared_itself),
           RUN(the_plan_wakes_when_the_next_machine_has_been_under_used_for_long_enough),
           RUN(nobody_wakes_for_machines_that_are_never_cleared),
           RUN(it_is_looked_again_at_a_job_that_is_on_its_way),
           RUN(a_machine_that_lasts_long_enough_takes_tasks_in_for_nothing),
           RUN(a_machine_that_would_have_to_last_longer_is_charged),
           RUN(a_machine_that_may_be_taken_is_rented_for_what_saves_its_work),
           RUN(what_has_not_been_saved_is_a_reason_to_leave),
           RUN(a_small_machine_is_rented_where_one_that_there_is_would_have_to_last),
           RUN(what_is_saved_must_be_half_as_much_again_as_what_it_costs),
           RUN(the_time_that_a_task_stands_still_is_charged),
           RUN(a_lease_that_is_paid_is_not_saved),
           RUN(the_machines_of_a_gang_that_stands_still_are_charged),
           RUN(a_gang_is_not_stopped_if_a_part_of_it_could_not_start_again))
