/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/fresh_fill.h"

#include "decide/test/yard.h"

TEST(machines_that_there_are_get_nothing)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_machine(&yard, LARGE);
    const uint32_t task = yard_task(&yard, HALF);
    fresh_fill(&yard.view, &yard.plan);

    yard_check_fresh(&yard, task, 0);
    assert_int_equal(yard.plan.rents[0].offer, SMALL);
    yard_done(&yard);
}

TEST(the_lowest_price_for_what_is_used_is_taken)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t first = yard_job(&yard, HALF, 3, false);
    fresh_fill(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2); /* 0.75 each for two, then 1.00 for the last */
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    assert_int_equal(yard.plan.rents[1].offer, SMALL);
    yard_check_fresh(&yard, first + 1, 0);
    yard_check_fresh(&yard, first + 2, 1);
    yard_done(&yard);
}

TEST(of_equal_prices_the_first_type_is_taken)
{
    struct yard yard;

    yard_init(&yard);
    const uint32_t small = yard_type(&yard, "a", 2, 8, 0, 1.0);
    (void)yard_type(&yard, "a", 4, 16, 0, 2.0);
    (void)yard_job(&yard, yard_shape(&yard, 2, 8, 0), 2, false);
    fresh_fill(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, small);
    assert_int_equal(yard.plan.rents[1].offer, small);
    yard_done(&yard);
}

/* Memory is what the first takes most of, and CPUs the second: 6 of 8 and 3 of 4. */
TEST(the_largest_task_comes_first_and_what_fits_beside_it_follows)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 4, 8, 0, 1.0);
    const uint32_t small = yard_task(&yard, yard_shape(&yard, 1, 1, 0));
    const uint32_t middle = yard_task(&yard, yard_shape(&yard, 3, 2, 0));
    const uint32_t large = yard_task(&yard, yard_shape(&yard, 1, 7, 0));
    fresh_fill(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2);
    yard_check_fresh(&yard, large, 0);
    yard_check_fresh(&yard, middle, 1);
    yard_check_fresh(&yard, small, 0); /* first-fit: beside the largest there is still room */
    yard_done(&yard);
}

TEST(a_job_that_is_spread_gets_a_machine_for_each_task)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_spread_job(&yard, HALF, 3);
    fresh_fill(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 3);
    yard_done(&yard);
}

TEST(a_task_whose_offers_are_refused_waits)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_task(&yard, HALF);
    yard.view.offer_blocked_until[SMALL] = 1;
    yard.view.offer_blocked_until[LARGE] = 1;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    fresh_fill(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 0);
    assert_int_equal(yard.plan.place_count, 0);
    yard_done(&yard);
}

TEST(tasks_that_ask_for_nothing_get_a_machine_too)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_job(&yard, yard_shape(&yard, 0, 0, 0), 2, false);
    fresh_fill(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.place_count, 2);
    yard_done(&yard);
}

CHECK_MAIN(RUN(machines_that_there_are_get_nothing),
           RUN(the_lowest_price_for_what_is_used_is_taken),
           RUN(of_equal_prices_the_first_type_is_taken),
           RUN(the_largest_task_comes_first_and_what_fits_beside_it_follows),
           RUN(a_job_that_is_spread_gets_a_machine_for_each_task),
           RUN(a_task_whose_offers_are_refused_waits),
           RUN(tasks_that_ask_for_nothing_get_a_machine_too))
