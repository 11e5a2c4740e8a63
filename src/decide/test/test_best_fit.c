/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/best_fit.h"

#include "decide/test/yard.h"

static void fit(struct yard *yard, const struct colocation *colocation)
{
    const struct worth_rules rules = { .view = &yard->view, .colocation = colocation };

    best_fit(&rules, &yard->plan);
}

/* Beside task 1 it is worth 12.4 of 12 dollars, beside task 4 just the 0.8 of the machine. */
TEST(a_task_goes_where_the_dollar_is_worth_most)
{
    struct yard yard;

    yard_init_table3(&yard);
    yard_run(&yard, yard_task(&yard, TAU4), yard_machine(&yard, IT3));
    const uint32_t best = yard_machine(&yard, IT1);
    yard_run(&yard, yard_task(&yard, TAU1), best);
    const uint32_t waits = yard_task(&yard, TAU4);
    fit(&yard, NULL);

    yard_check_kept(&yard, waits, best);
    assert_int_equal(yard.plan.rent_count, 0);
    yard_done(&yard);
}

TEST(a_machine_just_worth_its_price_is_good_enough)
{
    struct yard yard;

    yard_init_table3(&yard);
    const uint32_t machine = yard_machine(&yard, IT3);
    yard_run(&yard, yard_task(&yard, TAU4), machine);
    const uint32_t waits = yard_task(&yard, TAU4);
    fit(&yard, NULL);

    yard_check_kept(&yard, waits, machine);
    yard_done(&yard);
}

TEST(a_task_for_which_no_machine_is_worth_its_price_gets_its_cheapest)
{
    struct yard yard;

    yard_init_table3(&yard);
    const uint32_t empty = yard_machine(&yard, IT3);
    const uint32_t waits = yard_task(&yard, TAU4);
    fit(&yard, NULL);

    yard_check_fresh(&yard, waits, 0);
    assert_int_equal(yard.plan.rents[0].offer, IT4);
    assert_true(yard_releases(&yard, empty));
    yard_done(&yard);
}

TEST(a_machine_that_was_rented_a_moment_ago_is_shared)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 4, 8, 0, 1.0);
    const uint32_t shape = yard_shape(&yard, 2, 4, 0);
    const uint32_t first = yard_task(&yard, shape);
    const uint32_t second = yard_task(&yard, shape);
    fit(&yard, NULL);

    assert_int_equal(yard.plan.rent_count, 1);
    yard_check_fresh(&yard, first, 0);
    yard_check_fresh(&yard, second, 0);
    yard_done(&yard);
}

TEST(tasks_that_slow_each_other_too_much_do_not_share)
{
    struct yard yard;
    struct colocation colocation;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 4, 8, 0, 1.0);
    const uint32_t shape = yard_shape(&yard, 2, 4, 0);
    (void)yard_job(&yard, shape, 2, false);
    colocation_init(&colocation, 0.49);
    fit(&yard, &colocation);

    assert_int_equal(yard.plan.rent_count, 2);
    colocation_done(&colocation);
    yard_done(&yard);
}

/* It takes 1/4 and 1/2 of the first machine, 1/8 and all of the second. */
TEST(of_equal_dollars_the_machine_that_complements_the_task_is_taken)
{
    struct yard yard;

    yard_init(&yard);
    const uint32_t wide = yard_type(&yard, "b", 4, 16, 0, 1.0);
    const uint32_t narrow = yard_type(&yard, "a", 8, 8, 0, 1.0);
    const uint32_t shape = yard_shape(&yard, 1, 8, 0);
    (void)yard_machine(&yard, wide);
    const uint32_t aligned = yard_machine(&yard, narrow);
    const uint32_t task = yard_task(&yard, shape);
    fit(&yard, NULL);

    yard_check_kept(&yard, task, aligned);
    yard_done(&yard);
}

TEST(nothing_that_runs_is_moved)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_running(&yard, HALF, LARGE);
    (void)yard_running(&yard, HALF, LARGE);
    fit(&yard, NULL);

    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_task_whose_offers_are_all_refused_waits_unless_it_fits_what_runs)
{
    struct yard yard;

    yard_init_table3(&yard);
    yard.view.offer_blocked_until[IT1] = 1;
    const uint32_t waits = yard_task(&yard, TAU1);
    const uint32_t other = yard_task(&yard, TAU4);
    fit(&yard, NULL);

    assert_null(yard_place_of(&yard, waits));
    yard_check_fresh(&yard, other, 0);
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_task_goes_where_the_dollar_is_worth_most),
           RUN(a_machine_just_worth_its_price_is_good_enough),
           RUN(a_task_for_which_no_machine_is_worth_its_price_gets_its_cheapest),
           RUN(a_machine_that_was_rented_a_moment_ago_is_shared),
           RUN(tasks_that_slow_each_other_too_much_do_not_share),
           RUN(of_equal_dollars_the_machine_that_complements_the_task_is_taken),
           RUN(nothing_that_runs_is_moved),
           RUN(a_task_whose_offers_are_all_refused_waits_unless_it_fits_what_runs))
