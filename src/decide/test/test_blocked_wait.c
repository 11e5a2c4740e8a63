/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/blocked_wait.h"

#include "decide/reservation.h"
#include "decide/test/minute_yard.h"

/* An hour after the beginning, and the small offer, at a quarter of the price of the large one, is open in so long. */
static void blocked_for(struct yard *yard, msec_t span)
{
    minute_yard_init(yard);
    yard->view.now = YARD_HOUR;
    yard->view.offer_blocked_until[TWO] = yard->view.now + span;
}

static void waiting_for(struct yard *yard, msec_t waited, msec_t runtime)
{
    const uint32_t task = yard_task_for(yard, ONE_CPU, runtime);

    yard->view.job.arrived_at[yard->view.task.job[task]] = yard->view.now - waited;
}

/* How many do not wait for it. */
static uint32_t left_over(struct yard *yard)
{
    struct batches batches;
    uint32_t left = 0;

    reservation_forget(&yard->view);
    reservation_update(&yard->view);
    batches_build(&batches, &yard->view, &yard->arena);
    blocked_wait(&batches, &yard->plan);
    for (uint32_t i = 0; i < batches.count; i++)
        left += batches.rows[i].left;
    return left;
}

TEST(a_task_waits_for_an_offer_that_costs_a_quarter)
{
    struct yard yard;

    blocked_for(&yard, 5 * SECOND);
    waiting_for(&yard, 0, 10 * SECOND);
    waiting_for(&yard, 2 * SECOND, 10 * SECOND);
    assert_int_equal(left_over(&yard), 0);
    assert_int_equal(yard.plan.wake_at, YARD_HOUR + 5 * SECOND);

    const struct plan_wait *wait = &yard.plan.waits[1]; /* of the first */

    assert_int_equal(yard.plan.wait_count, 2);
    assert_int_equal(wait->rule, WAIT_OFFER);
    assert_int_equal(wait->target, UINT32_MAX);
    assert_int_equal(wait->offer, TWO);
    assert_int_equal(wait->expected, YARD_HOUR + 5 * SECOND);
    assert_int_equal(wait->until, YARD_HOUR + 180 * SECOND);
    assert_int_equal(wait->rent_offer, EIGHT);
    assert_int_equal(wait->rent_cost / 4, wait->wait_cost);
    assert_int_equal(yard.plan.waits[0].until, YARD_HOUR + 178 * SECOND);
    yard_done(&yard);
}

/* What a task costs on the large machine is three times its runtime on the small one more. */
TEST(it_waits_no_longer_than_the_difference_is_worth)
{
    struct yard yard;

    blocked_for(&yard, 100 * SECOND);
    yard.catalogue.offers[TWO].billing.minimum_ms = 20 * SECOND;
    waiting_for(&yard, 0, 20 * SECOND); /* a minute, but the offer is blocked for longer */
    waiting_for(&yard, 0, 30 * SECOND);
    waiting_for(&yard, 0, 40 * SECOND);
    assert_int_equal(left_over(&yard), 2);
    yard_done(&yard);
}

TEST(nobody_waits_for_more_than_three_minutes)
{
    struct yard yard;

    blocked_for(&yard, 100 * SECOND);
    waiting_for(&yard, 81 * SECOND, YARD_HOUR);
    waiting_for(&yard, 80 * SECOND, YARD_HOUR);
    assert_int_equal(left_over(&yard), 1);
    yard_done(&yard);
}

TEST(a_machine_that_costs_little_more_is_rented_at_once)
{
    struct yard yard;

    blocked_for(&yard, 5 * SECOND);
    yard.view.offer_price[EIGHT] = yard.view.offer_price[TWO] * 2 - 1;
    waiting_for(&yard, 0, YARD_HOUR);
    assert_int_equal(left_over(&yard), 1);
    yard_done(&yard);
}

TEST(nobody_waits_where_nothing_is_blocked_or_nothing_else_is_open)
{
    struct yard yard;

    blocked_for(&yard, 0);
    waiting_for(&yard, 0, YARD_HOUR);
    assert_int_equal(left_over(&yard), 1);
    yard.view.offer_blocked_until[TWO] = yard.view.now + SECOND;
    yard.view.offer_blocked_until[EIGHT] = yard.view.now + SECOND;
    assert_int_equal(left_over(&yard), 1);
    yard_done(&yard);
}

TEST(an_offer_that_was_withdrawn_is_not_waited_for)
{
    struct yard yard;

    blocked_for(&yard, 0);
    yard.view.offer_blocked_until[TWO] = MSEC_NEVER;
    waiting_for(&yard, 3 * SECOND, YARD_HOUR);
    assert_int_equal(left_over(&yard), 1);
    yard_done(&yard);
}

TEST(a_spot_offer_that_was_refused_is_not_waited_for)
{
    struct yard yard;

    blocked_for(&yard, 5 * SECOND);
    yard.catalogue.offers[TWO].market = MARKET_SPOT;
    waiting_for(&yard, 0, YARD_HOUR);
    assert_int_equal(left_over(&yard), 1);
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_task_waits_for_an_offer_that_costs_a_quarter),
           RUN(it_waits_no_longer_than_the_difference_is_worth),
           RUN(nobody_waits_for_more_than_three_minutes),
           RUN(a_machine_that_costs_little_more_is_rented_at_once),
           RUN(nobody_waits_where_nothing_is_blocked_or_nothing_else_is_open),
           RUN(an_offer_that_was_withdrawn_is_not_waited_for),
           RUN(a_spot_offer_that_was_refused_is_not_waited_for))
