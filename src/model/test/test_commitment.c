/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "model/commitment.h"

#include <math.h>
#include <stdbool.h>

static bool is_near(double a, double b, double apart)
{
    return fabs(a - b) <= apart;
}

/* The prices of 2012 for a cluster compute instance, in dollars: 2.40 on demand. */
static const struct commitment classes[] = {
    { .name = "on demand", .per_used_hour = 2400000 },
    { .name = "3y light", .term_hours = 26280, .upfront = 2710000000, .per_used_hour = 884000 },
    { .name = "3y medium", .term_hours = 26280, .upfront = 6300000000, .per_used_hour = 527000 },
    { .name = "1y light", .term_hours = 8760, .upfront = 1762000000, .per_used_hour = 904000 },
    { .name = "1y medium", .term_hours = 8760, .upfront = 4146000000, .per_used_hour = 540000 },
    { .name = "1y heavy", .term_hours = 8760, .upfront = 5000000000, .per_hour = 361000 },
};

enum { COUNT = sizeof(classes) / sizeof(classes[0]) };

TEST(a_level_is_against_the_class_that_promises_a_little_less)
{
    static const double levels[COUNT] = { 0, 0.068, 0.383, 0.134, 0.748, 0.849 };

    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(is_near(commitment_level(classes, COUNT, i), levels[i], 0.0005));
}

TEST(a_break_even_is_against_on_demand)
{
    assert_true(is_near(commitment_break_even(&classes[1], 2400000), 0.068, 0.0005));
    assert_true(is_near(commitment_break_even(&classes[2], 2400000), 0.128, 0.0005));
    assert_true(is_near(commitment_break_even(&classes[5], 2400000), 0.388, 0.0005));
}

TEST(what_is_dearer_in_every_way_never_pays)
{
    const struct commitment both[] = {
        { .per_used_hour = 100 },
        { .term_hours = 10, .upfront = 10, .per_used_hour = 100 },
    };

    assert_true(commitment_level(both, 2, 1) > 1);
    assert_true(commitment_break_even(&both[1], 100) > 1);
}

TEST(what_costs_nothing_to_promise_pays_at_once)
{
    const struct commitment free_of_charge = { .term_hours = 10, .per_used_hour = 90 };

    assert_true(is_near(commitment_break_even(&free_of_charge, 100), 0, 0));
}

TEST(a_savings_plan_is_cut_to_one_machine)
{
    const struct commitment plan = { .term_hours = 8760,
                                     .per_hour = MONEY_PER_USD,
                                     .discount_ppm = 280000,
                                     .unit = COMMITMENT_DOLLAR };

    const struct commitment each = commitment_per_instance(&plan, 2 * MONEY_PER_USD);

    assert_int_equal(each.unit, COMMITMENT_INSTANCE);
    assert_int_equal(each.per_hour, 1440000);
    assert_int_equal(each.upfront, 0);
    assert_int_equal(each.term_hours, 8760);
}

TEST(a_savings_plan_may_be_paid_in_advance)
{
    const struct commitment plan = { .term_hours = 1000,
                                     .upfront = 500 * MONEY_PER_USD,
                                     .per_hour = MONEY_PER_USD / 2,
                                     .discount_ppm = 500000,
                                     .unit = COMMITMENT_DOLLAR };

    const struct commitment each = commitment_per_instance(&plan, MONEY_PER_USD);

    assert_int_equal(each.upfront, 250 * MONEY_PER_USD);
    assert_int_equal(each.per_hour, MONEY_PER_USD / 4);
    assert_true(is_near(commitment_fixed_rate(&each), 500000, 1e-6));
}

TEST(what_is_per_instance_stays_as_it_is)
{
    const struct commitment each = commitment_per_instance(&classes[5], 7);

    assert_int_equal(each.upfront, classes[5].upfront);
    assert_int_equal(each.per_hour, classes[5].per_hour);
}

TEST(a_machine_of_twice_the_price_is_promised_at_twice_the_price)
{
    const struct commitment twice = commitment_scaled(&classes[5], 2400000, 4800000);

    assert_int_equal(twice.upfront, 2 * classes[5].upfront);
    assert_int_equal(twice.per_hour, 2 * classes[5].per_hour);
    assert_int_equal(twice.term_hours, classes[5].term_hours);
}

TEST(what_is_too_large_to_count_stays_the_largest)
{
    const struct commitment huge = commitment_scaled(&classes[5], 1, INT64_MAX);

    assert_int_equal(huge.upfront, INT64_MAX);
}

TEST(only_an_upfront_payment_carries_interest)
{
    const struct commitment partial = {
        .name = "partial", .term_hours = 8760, .upfront = 5170000000, .per_hour = 300000
    };
    const struct commitment carried = commitment_carried(&partial, 80000);

    assert_int_equal(carried.upfront, 5388757578); /* model/test/test_interest.c */
    assert_int_equal(carried.per_hour, 300000);
    assert_int_equal(carried.term_hours, 8760);
    assert_int_equal(commitment_carried(&partial, 0).upfront, 5170000000);
    assert_int_equal(commitment_carried(&classes[0], 80000).per_used_hour, 2400000);
}

CHECK_MAIN(RUN(a_level_is_against_the_class_that_promises_a_little_less),
           RUN(a_break_even_is_against_on_demand), RUN(what_is_dearer_in_every_way_never_pays),
           RUN(what_costs_nothing_to_promise_pays_at_once),
           RUN(a_savings_plan_is_cut_to_one_machine), RUN(a_savings_plan_may_be_paid_in_advance),
           RUN(what_is_per_instance_stays_as_it_is),
           RUN(what_is_too_large_to_count_stays_the_largest),
           RUN(a_machine_of_twice_the_price_is_promised_at_twice_the_price),
           RUN(only_an_upfront_payment_carries_interest))
