/* SPDX-License-Identifier: Apache-2.0 */
#include "base/steady_clock.h"

#include "base/test/check.h"

static const msec_t noon = 1000000000000;

TEST(it_is_the_time_of_day)
{
    struct steady_clock clock = { 0 };

    assert_int_equal(steady_clock_read(&clock, noon, 5000), noon);
    assert_int_equal(steady_clock_read(&clock, noon + 250, 5250), noon + 250);
    assert_int_equal(steady_clock_read(&clock, noon + 250, 5250), noon + 250);
}

TEST(a_clock_that_is_set_back_does_not_stop_it)
{
    struct steady_clock clock = { 0 };
    const msec_t back = noon - MSEC_PER_HOUR;

    (void)steady_clock_read(&clock, noon, 5000);
    assert_int_equal(steady_clock_read(&clock, back, 5000), noon);
    assert_int_equal(steady_clock_read(&clock, back + 10, 5010), noon + 10);
    assert_int_equal(steady_clock_read(&clock, back + 60000, 65000), noon + 60000);
    /* and once more, while it is still ahead */
    assert_int_equal(steady_clock_read(&clock, back - 1000, 65500), noon + 60500);
}

TEST(what_was_set_back_by_little_is_caught_up_with)
{
    struct steady_clock clock = { 0 };

    (void)steady_clock_read(&clock, noon, 5000);
    assert_int_equal(steady_clock_read(&clock, noon - 100, 5010), noon + 10);
    assert_int_equal(steady_clock_read(&clock, noon + 900, 6010), noon + 900);
    assert_int_equal(steady_clock_read(&clock, noon + 910, 6020), noon + 910);
}

TEST(a_clock_that_is_set_forward_is_believed_and_not_taken_back)
{
    struct steady_clock clock = { 0 };
    const msec_t later = noon + (msec_t)10 * 365 * 24 * MSEC_PER_HOUR;

    (void)steady_clock_read(&clock, noon, 5000);
    assert_int_equal(steady_clock_read(&clock, later, 5001), later);
    assert_int_equal(steady_clock_read(&clock, noon + 2, 5002), later + 1);
}

CHECK_MAIN(RUN(it_is_the_time_of_day), RUN(a_clock_that_is_set_back_does_not_stop_it),
           RUN(what_was_set_back_by_little_is_caught_up_with),
           RUN(a_clock_that_is_set_forward_is_believed_and_not_taken_back))
