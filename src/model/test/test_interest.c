/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "model/interest.h"

#include <math.h>
#include <stdbool.h>

#include "base/rng.h"

enum { YEAR = 8760, EIGHT_PERCENT = 80000, ROUNDS = 300 };

static bool is_near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(1, fabs(b));
}

static int64_t factor_of(uint32_t rate_ppm, uint32_t month)
{
    struct interest interest = interest_start(rate_ppm);
    int64_t factor = SHARE_ALL_PPB;

    for (uint32_t i = 0; i < month; i++)
        factor = interest_next(&interest);
    return factor;
}

TEST(without_interest_nothing_changes)
{
    assert_int_equal(factor_of(0, 1), SHARE_ALL_PPB);
    assert_int_equal(factor_of(0, 700), SHARE_ALL_PPB);
    assert_int_equal(interest_today(0, 123457, 26281), (money_t)123457 * 26281);
    assert_int_equal(interest_carried(0, 5170000001, 26281), 5170000001);
    assert_int_equal(interest_carried(0, INT64_MAX, INTEREST_HOURS_MAX), INT64_MAX);
}

TEST(a_dollar_due_in_a_year_is_worth_one_part_in_one_and_the_rate)
{
    assert_int_equal(factor_of(EIGHT_PERCENT, 12), 925925926); /* 1 / 1.08 */
    assert_int_equal(factor_of(EIGHT_PERCENT, 24), 857338820); /* 1 / 1.08^2 */
    assert_int_equal(factor_of(EIGHT_PERCENT, 36), 793832241); /* 1 / 1.08^3 */
    assert_int_equal(factor_of(INTEREST_MAX_PPM, 12), 500000000);
    assert_int_equal(factor_of(INTEREST_MAX_PPM, 108), 1953125); /* 1 / 512 */
    assert_int_equal(factor_of(1, 12), 999999000);
}

TEST(a_month_is_the_twelfth_root_of_a_year)
{
    assert_int_equal(factor_of(EIGHT_PERCENT, 1), 993607102);
    assert_int_equal(factor_of(EIGHT_PERCENT, 2), 987255073);
    assert_int_equal(factor_of(EIGHT_PERCENT, 13), 920006576);
    assert_int_equal(factor_of(INTEREST_MAX_PPM, 6), 707106781); /* the root of a half */
}

/* The twelve factors of the first year of 8 % add up to 11.512857852. */
TEST(an_hourly_price_is_worth_the_sum_of_its_months)
{
    assert_int_equal(interest_today(EIGHT_PERCENT, MONEY_PER_USD, YEAR), 8404386231);
    assert_int_equal(interest_today(EIGHT_PERCENT, 630000, YEAR), 5294763326);
    assert_int_equal(interest_today(EIGHT_PERCENT, -630000, YEAR), -5294763326);
    assert_int_equal(interest_today(EIGHT_PERCENT, 630000, 0), 0);
    /* A last month that is not whole: 270 hours of it. */
    assert_int_equal(interest_today(EIGHT_PERCENT, MONEY_PER_USD, 1000),
                     (money_t)(730 * 993607102LL + 270 * 987255073LL) / 1000);
}

/* $5,170 for a year: divided by 0.959404821, what an even payment of a year is worth. */
TEST(money_paid_upfront_carries_its_interest)
{
    assert_int_equal(interest_carried(EIGHT_PERCENT, 5170000000, YEAR), 5388757578);
    assert_int_equal(interest_carried(EIGHT_PERCENT, 9860000000, 3 * YEAR), 11077499892);
    assert_int_equal(interest_carried(EIGHT_PERCENT, 0, YEAR), 0);
    assert_int_equal(interest_carried(EIGHT_PERCENT, INT64_MAX / 2 * 2, YEAR), INT64_MAX);
}

/* Month by month in floating point, from the definition. */
static double slow_today(double rate, double per_hour, uint32_t hours)
{
    double sum = 0;

    for (uint32_t hour = 0; hour < hours; hour++)
        sum += per_hour * pow(1 + rate, -(floor((double)hour / INTEREST_MONTH_HOURS) + 1) / 12);
    return sum;
}

TEST(both_ways_agree_with_the_definition)
{
    struct rng rng;

    rng_init(&rng, 1, 0);
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t rate = (uint32_t)rng_below(&rng, INTEREST_MAX_PPM + 1);
        const uint32_t hours = 1 + (uint32_t)rng_below(&rng, (uint64_t)4 * YEAR);
        const money_t price = (money_t)rng_below(&rng, 10 * MONEY_PER_USD);
        const double slow = slow_today(rate * 1e-6, (double)price, hours);

        assert_true(is_near((double)interest_today(rate, price, hours), slow, 1e-8));
        /* An hourly price that is paid upfront as what it is worth comes back as itself. */
        assert_true(is_near((double)interest_carried(rate, (money_t)slow, hours),
                            (double)price * hours, 1e-8 + 1e-6 / hours));
    }
}

/* $10 a month. At 8 % the first eleven are worth $105.87. */
TEST(it_is_paid_back_in_the_month_that_exceeds_what_was_paid)
{
    const money_t saved = 10 * MONEY_PER_USD;

    assert_int_equal(interest_payback(0, 100 * MONEY_PER_USD - 1, saved, 730, YEAR), 10);
    assert_int_equal(interest_payback(0, 100 * MONEY_PER_USD, saved, 730, YEAR), 11);
    assert_int_equal(interest_payback(0, 106 * MONEY_PER_USD, saved, 730, YEAR), 11);
    assert_int_equal(interest_payback(EIGHT_PERCENT, 105 * MONEY_PER_USD, saved, 730, YEAR), 11);
    assert_int_equal(interest_payback(EIGHT_PERCENT, 106 * MONEY_PER_USD, saved, 730, YEAR), 12);
}

TEST(what_is_not_paid_back_within_the_term_is_told)
{
    const money_t saved = 10 * MONEY_PER_USD;

    /* A year of it is worth $115.13. */
    assert_int_equal(interest_payback(EIGHT_PERCENT, 115128578, saved, 730, YEAR), 12);
    assert_int_equal(interest_payback(EIGHT_PERCENT, 115128579, saved, 730, YEAR), 0);
    assert_int_equal(interest_payback(EIGHT_PERCENT, 115128579, saved, 730, YEAR + 1), 13);
    assert_int_equal(interest_payback(EIGHT_PERCENT, 1, -saved, 730, YEAR), 0);
    assert_int_equal(interest_payback(EIGHT_PERCENT, 1, 0, 730, YEAR), 0);
}

TEST(where_nothing_is_paid_upfront_the_first_month_pays)
{
    assert_int_equal(interest_payback(EIGHT_PERCENT, 0, 1, 730, YEAR), 1);
    assert_int_equal(interest_payback(EIGHT_PERCENT, 0, 0, 730, YEAR), 0);
}

TEST(the_largest_amounts_are_counted)
{
    assert_int_equal(
        interest_payback(0, INT64_MAX, INT64_MAX, INTEREST_HOURS_MAX, INTEREST_HOURS_MAX), 0);
    assert_int_equal(
        interest_payback(0, INT64_MAX - 1, INT64_MAX, INTEREST_HOURS_MAX, INTEREST_HOURS_MAX),
        (INTEREST_HOURS_MAX + 729) / 730);
    assert_int_equal(interest_payback(INTEREST_MAX_PPM, INT64_MAX, INT64_MIN, 1, YEAR), 0);
}

CHECK_MAIN(RUN(without_interest_nothing_changes),
           RUN(a_dollar_due_in_a_year_is_worth_one_part_in_one_and_the_rate),
           RUN(a_month_is_the_twelfth_root_of_a_year),
           RUN(an_hourly_price_is_worth_the_sum_of_its_months),
           RUN(money_paid_upfront_carries_its_interest), RUN(both_ways_agree_with_the_definition),
           RUN(it_is_paid_back_in_the_month_that_exceeds_what_was_paid),
           RUN(what_is_not_paid_back_within_the_term_is_told),
           RUN(where_nothing_is_paid_upfront_the_first_month_pays),
           RUN(the_largest_amounts_are_counted))
