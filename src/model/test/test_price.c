/* SPDX-License-Identifier: Apache-2.0 */
#include "model/price.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/rng.h"
#include "base/test/check.h"

static const struct price_change three[] = { { 1000, 50 }, { 2000, 70 }, { 3000, 60 } };
static const struct price_series steps = { three, 3 };

TEST(before_the_first_change_the_first_price_holds)
{
    assert_int_equal(price_at(&steps, -5), 50);
    assert_int_equal(price_at(&steps, 0), 50);
    assert_int_equal(price_at(&steps, 999), 50);
}

TEST(a_change_holds_from_its_own_moment_on)
{
    assert_int_equal(price_at(&steps, 1999), 50);
    assert_int_equal(price_at(&steps, 2000), 70);
    assert_int_equal(price_at(&steps, 2999), 70);
    assert_int_equal(price_at(&steps, 3000), 60);
}

TEST(after_the_last_change_the_last_price_holds_for_ever)
{
    assert_int_equal(price_at(&steps, LIMIT_TIME_MS), 60);
}

TEST(the_next_change_is_strictly_later)
{
    assert_int_equal(price_next_change(&steps, 0), 1000);
    assert_int_equal(price_next_change(&steps, 999), 1000);
    assert_int_equal(price_next_change(&steps, 1000), 2000);
    assert_int_equal(price_next_change(&steps, 2999), 3000);
}

TEST(after_the_last_change_there_is_no_next_one)
{
    assert_true(price_next_change(&steps, 3000) == MSEC_NEVER);
}

TEST(the_last_change_is_none_that_is_to_come)
{
    assert_int_equal(price_last_change(&steps, 3000), 3000);
    assert_int_equal(price_last_change(&steps, LIMIT_TIME_MS), 3000);
    assert_int_equal(price_last_change(&steps, 2999), 2000);
    assert_int_equal(price_last_change(&steps, 2000), 2000);
}

/* Before the first change the price was the same. */
TEST(the_first_price_has_always_been)
{
    const struct price_series fixed = { three, 1 };

    assert_int_equal(price_last_change(&steps, 1999), 0);
    assert_int_equal(price_last_change(&steps, 999), 0);
    assert_int_equal(price_last_change(&fixed, 5000), 0);
}

TEST(of_changes_at_one_moment_the_last_holds)
{
    const struct price_change changes[] = { { 0, 3600000 }, { 10, 9 }, { 10, 7200000 } };
    const struct price_series series = { changes, 3 };

    assert_int_equal(price_at(&series, 10), 7200000);
    assert_int_equal(price_between(&series, 0, 20), 10 + 20);
}

TEST(no_time_costs_nothing)
{
    assert_int_equal(price_between(&steps, 2000, 2000), 0);
}

TEST(a_fixed_price_for_an_hour_costs_the_price)
{
    const struct price_change fixed = { 0, 123457 };
    const struct price_series series = { &fixed, 1 };

    assert_int_equal(price_between(&series, 77, 77 + MSEC_PER_HOUR), 123457);
}

TEST(time_before_the_first_change_is_charged_at_the_first_price)
{
    const struct price_change changes[] = { { 1000, 3600000 }, { 2000, 7200000 } };
    const struct price_series series = { changes, 2 };

    assert_int_equal(price_between(&series, 0, 500), 500);
    assert_int_equal(price_between(&series, 500, 2100), 1500 + 200);
}

/* Three parts of a third of a micro-dollar are one, not none. */
TEST(fractions_across_changes_are_summed_before_they_are_rounded)
{
    const struct price_change changes[] = { { 0, 1200000 }, { 1, 1200000 }, { 2, 1200000 } };
    const struct price_series series = { changes, 3 };

    assert_int_equal(price_between(&series, 0, 1), 0);
    assert_int_equal(price_between(&series, 0, 2), 0);
    assert_int_equal(price_between(&series, 0, 3), 1);
}

TEST(the_highest_price_for_a_thousand_hours_does_not_overflow)
{
    const struct price_change fixed = { 0, LIMIT_MONEY };
    const struct price_series series = { &fixed, 1 };

    assert_int_equal(price_between(&series, 0, 1000 * MSEC_PER_HOUR), LIMIT_MONEY * 1000);
}

/*
 * Random series; the judge looks at every change for the price of a moment, and adds up moments.
 */

enum { CHANGES_MAX = 12, SPAN_MAX = 300 };

struct random_series {
    struct price_change changes[CHANGES_MAX];
    struct price_series series;
};

static void draw_series(struct rng *rng, struct random_series *ret)
{
    const uint32_t count = 1 + (uint32_t)rng_below(rng, CHANGES_MAX);
    msec_t at = (msec_t)rng_below(rng, 50);

    for (uint32_t i = 0; i < count; i++) {
        ret->changes[i] = (struct price_change){ at, (money_t)rng_below(rng, 20000000) };
        at += (msec_t)rng_below(rng, 40);
    }
    ret->series = (struct price_series){ ret->changes, count };
}

static money_t judge_price(const struct price_series *series, msec_t at)
{
    money_t price = series->changes[0].per_hour;

    for (uint32_t i = 0; i < series->count; i++) {
        if (series->changes[i].at <= at)
            price = series->changes[i].per_hour;
    }
    return price;
}

TEST(random_integrals_agree_with_a_sum_over_milliseconds)
{
    struct random_series drawn = { 0 };
    struct rng rng;

    (void)fprintf(stderr, "seed 11\n");
    rng_init(&rng, 11, 0);
    for (int round = 0; round < 2000; round++) {
        draw_series(&rng, &drawn);

        const msec_t from = (msec_t)rng_below(&rng, SPAN_MAX);
        const msec_t to = from + (msec_t)rng_below(&rng, SPAN_MAX);
        int64_t sum = 0;

        for (msec_t at = from; at < to; at++)
            sum += judge_price(&drawn.series, at);
        if (price_between(&drawn.series, from, to) != sum / MSEC_PER_HOUR)
            fail_msg("round %d differs", round);
    }
}

TEST(random_look_ups_agree_with_a_scan)
{
    struct random_series drawn = { 0 };
    struct rng rng;

    (void)fprintf(stderr, "seed 12\n");
    rng_init(&rng, 12, 0);
    for (int round = 0; round < 500; round++) {
        draw_series(&rng, &drawn);
        for (msec_t at = 0; at < SPAN_MAX; at++) {
            msec_t next = MSEC_NEVER;

            for (uint32_t i = drawn.series.count; i-- > 0;)
                next = drawn.changes[i].at > at ? drawn.changes[i].at : next;
            if (price_at(&drawn.series, at) != judge_price(&drawn.series, at))
                fail_msg("round %d: the price at %d differs", round, (int)at);
            if (price_next_change(&drawn.series, at) != next)
                fail_msg("round %d: the change after %d differs", round, (int)at);
        }
    }
}

CHECK_MAIN(RUN(before_the_first_change_the_first_price_holds),
           RUN(a_change_holds_from_its_own_moment_on),
           RUN(after_the_last_change_the_last_price_holds_for_ever),
           RUN(the_next_change_is_strictly_later), RUN(after_the_last_change_there_is_no_next_one),
           RUN(the_last_change_is_none_that_is_to_come), RUN(the_first_price_has_always_been),
           RUN(of_changes_at_one_moment_the_last_holds), RUN(no_time_costs_nothing),
           RUN(a_fixed_price_for_an_hour_costs_the_price),
           RUN(time_before_the_first_change_is_charged_at_the_first_price),
           RUN(fractions_across_changes_are_summed_before_they_are_rounded),
           RUN(the_highest_price_for_a_thousand_hours_does_not_overflow),
           RUN(random_integrals_agree_with_a_sum_over_milliseconds),
           RUN(random_look_ups_agree_with_a_scan))
