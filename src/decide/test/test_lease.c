/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paid time where steps are short and the minimum is long; hours are in test_elastic.c.
 */
#include "decide/lease.h"

#include "decide/test/minute_yard.h"

static void release(struct yard *yard, msec_t margin)
{
    struct row_map spared;

    plan_init(&yard->plan, &yard->arena);
    row_map_init(&spared, &yard->arena);
    lease_release_late(&yard->view, margin, &spared, &yard->plan);
}

TEST(a_machine_is_kept_for_its_first_minute_and_the_plan_wakes_for_its_end)
{
    struct yard yard;

    minute_yard_init(&yard);
    const uint32_t machine = yard_machine(&yard, TWO);
    yard.view.now = 20 * SECOND;
    release(&yard, SECOND);
    assert_int_equal(yard.plan.release_count, 0);
    assert_int_equal(yard.plan.wake_at, 59 * SECOND);
    assert_int_equal(lease_left(&yard.view, machine), 40 * SECOND);

    yard.view.now = 59 * SECOND;
    release(&yard, SECOND);
    assert_int_equal(yard.plan.release_count, 1);
    assert_int_equal(yard.plan.releases[0].why.code, REASON_LEASE_ENDS);
    yard_done(&yard);
}

TEST(after_that_a_machine_that_is_empty_goes_at_once)
{
    struct yard yard;

    minute_yard_init(&yard);
    (void)yard_machine(&yard, TWO);
    yard.view.now = 100 * SECOND + 1;
    release(&yard, SECOND);

    assert_int_equal(yard.plan.release_count, 1);
    yard_done(&yard);
}

TEST(what_takes_long_to_give_back_is_given_back_earlier)
{
    struct yard yard;

    minute_yard_init(&yard);
    yard.catalogue.types[TWO].release_ms = 10 * SECOND;
    (void)yard_machine(&yard, TWO);
    yard.view.now = 20 * SECOND;
    release(&yard, SECOND);

    assert_int_equal(yard.plan.wake_at, 49 * SECOND);
    yard_done(&yard);
}

TEST(what_is_not_billed_yet_goes_at_once)
{
    struct yard yard;

    minute_yard_init(&yard);
    const uint32_t machine = view_add_instance(&yard.view, 1, TWO);
    view_set_ready_expected(&yard.view, machine, 2 * SECOND);
    assert_int_equal(lease_left(&yard.view, machine), 61 * SECOND);
    release(&yard, SECOND);

    assert_int_equal(yard.plan.release_count, 1);
    assert_int_equal(yard.plan.releases[0].why.code, REASON_EMPTY);
    yard_done(&yard);
}

TEST(a_machine_that_is_kept_is_charged_in_steps_and_for_the_minimum)
{
    struct yard yard;

    minute_yard_init(&yard);
    const uint32_t machine = yard_machine(&yard, TWO);
    const uint32_t asked = view_add_instance(&yard.view, 1, TWO);
    yard.view.now = 20 * SECOND;
    view_set_ready_expected(&yard.view, asked, 22 * SECOND);

    assert_int_equal(lease_until(&yard.view, machine, 0), 40 * SECOND);
    assert_int_equal(lease_until(&yard.view, machine, 40 * SECOND), 40 * SECOND);
    assert_int_equal(lease_until(&yard.view, machine, 50 * SECOND + 1), 51 * SECOND);
    assert_int_equal(lease_until(&yard.view, asked, 50 * SECOND), 61 * SECOND);
    assert_int_equal(lease_until(&yard.view, asked, 70 * SECOND), 70 * SECOND);
    yard_done(&yard);
}

TEST(what_is_ready_before_its_bill_is_heard_of_is_released_as_if_it_began_with_the_rent)
{
    struct yard yard;

    minute_yard_init(&yard);
    const uint32_t machine = yard_machine(&yard, TWO);
    yard.view.instance.rented_at[machine] = 0;
    view_set_billed_from(&yard.view, machine, -1);
    yard.view.now = 20 * SECOND;
    plan_init(&yard.plan, &yard.arena);
    lease_release(&yard.view, SECOND, NULL, &yard.plan);

    assert_int_equal(yard.plan.release_count, 0);
    assert_int_equal(yard.plan.wake_at, 59 * SECOND);
    yard_done(&yard);
}

TEST(in_rounds_what_the_next_one_would_find_too_late_goes_now)
{
    struct yard yard;

    minute_yard_init(&yard);
    (void)yard_machine(&yard, TWO);
    yard.view.round_ms = 30 * SECOND;
    yard.view.now = 29 * SECOND; /* the next one is just in time */
    release(&yard, SECOND);
    assert_int_equal(yard.plan.release_count, 0);

    yard.view.now = 30 * SECOND;
    release(&yard, SECOND);
    assert_int_equal(yard.plan.release_count, 1);
    plan_init(&yard.plan, &yard.arena);
    lease_release(&yard.view, SECOND, NULL, &yard.plan);
    assert_int_equal(yard.plan.release_count, 1);
    yard_done(&yard);
}

/* A decision a moment after the check would otherwise wait for the next one, and come late again. */
TEST(a_decision_that_comes_late_makes_up_for_the_check)
{
    struct yard yard;

    minute_yard_init(&yard);
    (void)yard_machine(&yard, TWO);
    yard.view.now = 50 * SECOND + 3;
    plan_init(&yard.plan, &yard.arena);
    lease_release(&yard.view, 10 * SECOND, NULL, &yard.plan);
    assert_int_equal(yard.plan.release_count, 1);

    yard.view.instance.empty_since[0] = 50 * SECOND + 1; /* since the check */
    plan_init(&yard.plan, &yard.arena);
    lease_release(&yard.view, 10 * SECOND, NULL, &yard.plan);
    assert_int_equal(yard.plan.release_count, 0);
    assert_int_equal(yard.plan.wake_at, 60 * SECOND);
    yard_done(&yard);
}

/* A setup of a minute: at a chance of a half it is worth 30 s. */
TEST(a_machine_is_kept_until_the_next_decision_if_that_is_paid_for_or_worth_it)
{
    enum { HALF_PPM = 500000 };
    struct yard yard;

    minute_yard_init(&yard);
    yard.catalogue.types[TWO].setup_ms = 60 * SECOND;
    const uint32_t machine = yard_machine(&yard, TWO);
    yard.view.now = 20 * SECOND;
    assert_true(lease_spans(&yard.view, machine, 40 * SECOND, 0));
    assert_false(lease_spans(&yard.view, machine, 41 * SECOND, 0));

    yard.view.now = 100 * SECOND;
    assert_true(lease_spans(&yard.view, machine, 30 * SECOND, HALF_PPM));
    assert_false(lease_spans(&yard.view, machine, 31 * SECOND, HALF_PPM));
    assert_false(lease_spans(&yard.view, machine, 30 * SECOND, HALF_PPM / 2));
    yard_done(&yard);
}

TEST(a_new_hour_is_not_begun_for_a_chance)
{
    struct yard yard;

    minute_yard_init(&yard);
    yard.catalogue.types[TWO].setup_ms = 60 * SECOND;
    yard.catalogue.offers[TWO].billing = (struct billing_rule){ .step_ms = YARD_HOUR };
    const uint32_t machine = yard_machine(&yard, TWO);
    yard.view.now = YARD_HOUR - 10 * SECOND;

    assert_true(lease_spans(&yard.view, machine, 10 * SECOND, 0));
    assert_false(lease_spans(&yard.view, machine, 11 * SECOND, 1000000));
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_machine_is_kept_until_the_next_decision_if_that_is_paid_for_or_worth_it),
           RUN(a_new_hour_is_not_begun_for_a_chance),
           RUN(in_rounds_what_the_next_one_would_find_too_late_goes_now),
           RUN(a_decision_that_comes_late_makes_up_for_the_check),
           RUN(a_machine_is_kept_for_its_first_minute_and_the_plan_wakes_for_its_end),
           RUN(after_that_a_machine_that_is_empty_goes_at_once),
           RUN(what_takes_long_to_give_back_is_given_back_earlier),
           RUN(what_is_not_billed_yet_goes_at_once),
           RUN(a_machine_that_is_kept_is_charged_in_steps_and_for_the_minimum),
           RUN(what_is_ready_before_its_bill_is_heard_of_is_released_as_if_it_began_with_the_rent))
