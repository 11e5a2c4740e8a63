/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/pairing.h"

#include "decide/test/yard.h"

static const struct pair_profile nothing_measured;

static void pair(struct yard *yard, struct pair_profile profile)
{
    const struct worth_rules rules = { .view = &yard->view };

    pairing(&rules, &profile, 6, &yard->plan);
}

TEST(two_tasks_share_a_machine_that_costs_less_than_their_two)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_job(&yard, HALF, 2, false);
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    yard_done(&yard);
}

TEST(at_most_two_tasks_share_a_machine)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t tiny = yard_shape(&yard, 1, 1, 0); /* four of them would fit */
    (void)yard_job(&yard, tiny, 5, false);
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.rent_count, 3);
    yard_done(&yard);
}

TEST(a_pair_that_was_measured_to_disturb_itself_too_much_is_not_made)
{
    struct yard yard;
    const double rate = 0.74; /* 1.48 is less than 1.50 */

    yard_init_halves(&yard);
    (void)yard_job(&yard, HALF, 2, false);
    pair(&yard, (struct pair_profile){ .rate = &rate, .count = 1 });

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, SMALL);
    yard_done(&yard);
}

/* Kinds a and b each take half a large machine. Two of a kind run at 80 %, mixed pairs at full
 * speed: two mixed pairs are better than one of each. */
TEST(the_pair_that_is_worth_most_per_dollar_comes_first)
{
    struct yard yard;
    const double rates[] = { 0.8, 1.0, 1.0, 0.8 };

    yard_init_halves(&yard);
    const uint32_t other = yard_shape(&yard, 2, 3, 0);
    const uint32_t a = yard_job(&yard, HALF, 2, false);
    const uint32_t b = yard_job(&yard, other, 2, false);
    pair(&yard, (struct pair_profile){ .rate = rates, .count = 2 });

    assert_int_equal(yard.plan.rent_count, 2);
    yard_check_fresh(&yard, a, 0);
    yard_check_fresh(&yard, b, 0);
    yard_check_fresh(&yard, a + 1, 1);
    yard_check_fresh(&yard, b + 1, 1);
    yard_done(&yard);
}

TEST(lone_tasks_that_run_are_paired_on_a_new_machine)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t first = yard_running(&yard, HALF, SMALL);
    const uint32_t second = yard_running(&yard, HALF, SMALL);
    pair(&yard, nothing_measured);

    yard_check_fresh(&yard, first, 0);
    yard_check_fresh(&yard, second, 0);
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    assert_int_equal(yard.plan.release_count, 2);
    yard_done(&yard);
}

/* Two that were moved a moment ago: an offer may be blocked and open in turn, at every decision another layout
 * looks better, and nobody would get any further. */
TEST(lone_tasks_that_were_moved_stay_for_some_time)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t first = yard_running(&yard, HALF, SMALL);
    const uint32_t second = yard_running(&yard, HALF, SMALL);
    yard.view.task.stops[first] = 1;
    yard.view.task.stops[second] = 1;
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    assert_int_equal(yard.plan.wake_at, 6 * YARD_MINUTE);
    plan_init(&yard.plan, &yard.arena);
    yard.view.now = 6 * YARD_MINUTE;
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.place_count, 2);
    yard_done(&yard);
}

TEST(a_pair_that_runs_is_left_alone)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t machine = yard_machine(&yard, LARGE);
    yard_run(&yard, yard_task(&yard, HALF), machine);
    yard_run(&yard, yard_task(&yard, HALF), machine);
    const uint32_t third = yard_task(&yard, HALF);
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.place_count, 1);
    yard_check_fresh(&yard, third, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_lone_task_moves_to_its_cheapest_machine_and_stays_if_it_is_there)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t wrong = yard_running(&yard, HALF, LARGE);
    pair(&yard, nothing_measured);
    yard_check_fresh(&yard, wrong, 0);
    assert_int_equal(yard.plan.rents[0].offer, SMALL);
    yard_done(&yard);

    yard_init_halves(&yard);
    (void)yard_running(&yard, HALF, SMALL);
    pair(&yard, nothing_measured);
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_task_on_its_way_is_no_candidate)
{
    struct yard yard;

    yard_init_halves(&yard);
    view_bind(&yard.view, yard_task(&yard, HALF), yard_machine(&yard, SMALL));
    const uint32_t waits = yard_task(&yard, HALF);
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.place_count, 1);
    yard_check_fresh(&yard, waits, 0);
    assert_int_equal(yard.plan.rents[0].offer, SMALL);
    yard_done(&yard);
}

/* The small machine was refused to somebody else: a lone task is not moved to a dearer one. */
TEST(a_refusal_moves_nobody_to_a_dearer_machine)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_running(&yard, HALF, SMALL);
    yard.view.offer_blocked_until[SMALL] = 1;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_lone_task_whose_offers_are_all_refused_stays_with_its_machine)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_running(&yard, HALF, LARGE);
    yard.view.offer_blocked_until[SMALL] = 1;
    yard.view.offer_blocked_until[LARGE] = 1;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_lone_task_on_a_machine_that_is_too_small_for_it_moves)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t whole = yard_shape(&yard, 4, 4, 0);
    const uint32_t task = yard_task(&yard, whole);
    const uint32_t machine = yard_machine(&yard, SMALL);

    view_bind_found(&yard.view, task, machine); /* as the engine says */
    view_mark_running(&yard.view, task, yard.view.now);
    pair(&yard, nothing_measured);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    yard_check_fresh(&yard, task, 0);
    yard_done(&yard);
}

CHECK_MAIN(RUN(two_tasks_share_a_machine_that_costs_less_than_their_two),
           RUN(at_most_two_tasks_share_a_machine),
           RUN(a_pair_that_was_measured_to_disturb_itself_too_much_is_not_made),
           RUN(the_pair_that_is_worth_most_per_dollar_comes_first),
           RUN(lone_tasks_that_run_are_paired_on_a_new_machine),
           RUN(lone_tasks_that_were_moved_stay_for_some_time), RUN(a_pair_that_runs_is_left_alone),
           RUN(a_lone_task_moves_to_its_cheapest_machine_and_stays_if_it_is_there),
           RUN(a_task_on_its_way_is_no_candidate), RUN(a_refusal_moves_nobody_to_a_dearer_machine),
           RUN(a_lone_task_whose_offers_are_all_refused_stays_with_its_machine),
           RUN(a_lone_task_on_a_machine_that_is_too_small_for_it_moves))
