/* SPDX-License-Identifier: Apache-2.0 */
/* What the search for better places says of tasks that it leaves waiting. */
#include "decide/improve.h"

#include "decide/test/minute_yard.h"

/* Search for a place of the one task that waits; an hour of its work is worth so many micro-dollars. */
static void search(struct yard *yard, const struct pairs *pairs, uint32_t task, double worth)
{
    const double work_price[] = { worth, worth };
    const struct improve_input input = {
        .view = &yard->view,
        .pairs = pairs,
        .work_price = work_price,
        .work_price_count = 2,
        .mean_price = worth,
        .options = { .waiting = 0.1,
                     .ageing = 0.05,
                     .grace_ms = MSEC_PER_HOUR,
                     .grace_share = 0.02,
                     .triples = 8,
                     .work = 1000000,
                     .suspends = true },
        .waiting = &task,
        .waiting_count = 1,
    };
    struct row_map uses;

    row_map_init(&uses, &yard->arena);
    plan_init(&yard->plan, &yard->arena);
    improve(&input, &yard->plan, &uses);
}

TEST(who_is_worth_less_than_a_machine_costs_waits_and_says_so)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);

    const uint32_t task = yard_task_for(&yard, ONE_CPU, 5 * MSEC_PER_HOUR);

    search(&yard, &pairs, task, 100000); /* a tenth of a dollar, and the machine costs one */
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.wait_count, 1);

    const struct plan_wait *wait = &yard.plan.waits[0];

    assert_int_equal(wait->task, task);
    assert_int_equal(wait->rule, WAIT_WORTH);
    assert_string_equal(plan_wait_word(wait->rule), "worth");
    assert_int_equal(wait->rent_offer, TWO);
    assert_int_equal(wait->rent_cost, YARD_USD(1.0));
    assert_int_equal(wait->wait_cost, 110000);   /* with the price of waiting */
    assert_true(yard.plan.wake_at < MSEC_NEVER); /* it is worth more by then */
    pairs_done(&pairs);
    yard_done(&yard);
}

TEST(who_ends_soon_does_not_wait_by_choice)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);
    search(&yard, &pairs, yard_task_for(&yard, ONE_CPU, 3 * MSEC_PER_HOUR), 100000);
    assert_int_equal(yard.plan.place_count, 1);
    assert_int_equal(yard.plan.wait_count, 0);
    pairs_done(&pairs);
    yard_done(&yard);
}

TEST(who_is_worth_more_gets_its_machine_and_does_not_wait)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);
    search(&yard, &pairs, yard_task_for(&yard, ONE_CPU, 5 * MSEC_PER_HOUR), 4000000);
    assert_int_equal(yard.plan.place_count, 1);
    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.wait_count, 0);
    pairs_done(&pairs);
    yard_done(&yard);
}

CHECK_MAIN(RUN(who_is_worth_less_than_a_machine_costs_waits_and_says_so),
           RUN(who_ends_soon_does_not_wait_by_choice),
           RUN(who_is_worth_more_gets_its_machine_and_does_not_wait))
