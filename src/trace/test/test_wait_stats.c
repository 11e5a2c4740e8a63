/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/test/check.h"
#include "trace/wait_stats.h"

TEST(percentiles_are_values_that_were_seen)
{
    msec_t waits[100];
    for (int i = 0; i < 100; i++)
        waits[i] = (99 - i) * 10;

    const struct wait_stats stats = wait_stats_of(waits, 100);

    assert_int_equal(stats.count, 100);
    assert_int_equal(stats.mean_ms, 495);
    assert_int_equal(stats.p50_ms, 490);
    assert_int_equal(stats.p95_ms, 940);
}

TEST(a_single_wait_is_all_of_them)
{
    msec_t waits[] = { 7 };

    const struct wait_stats stats = wait_stats_of(waits, 1);

    assert_int_equal(stats.mean_ms, 7);
    assert_int_equal(stats.p50_ms, 7);
    assert_int_equal(stats.p95_ms, 7);
}

TEST(no_waits_have_no_figures)
{
    assert_int_equal(wait_stats_of(NULL, 0).count, 0);
}

TEST(the_mean_of_the_longest_waits_does_not_overflow)
{
    msec_t waits[] = { INT64_MAX, INT64_MAX, INT64_MAX - 3 };

    assert_int_equal(wait_stats_of(waits, 3).mean_ms, INT64_MAX - 1);
}

CHECK_MAIN(RUN(percentiles_are_values_that_were_seen), RUN(a_single_wait_is_all_of_them),
           RUN(no_waits_have_no_figures), RUN(the_mean_of_the_longest_waits_does_not_overflow))
