/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/tempo.h"

#include <math.h>

#include "base/test/check.h"

TEST(without_a_full_reconfiguration_it_lasts_as_long_again)
{
    struct tempo tempo = { 0 };

    tempo_event(&tempo, 1000);
    tempo_event(&tempo, 9000);

    assert_int_equal(tempo_expected(&tempo, 50000), 50000);
}

TEST(one_event_is_too_few_to_know_a_rate)
{
    struct tempo tempo = { 0 };

    tempo_event(&tempo, 1000);
    tempo_full(&tempo);

    assert_int_equal(tempo_expected(&tempo, 50000), 50000);
}

/* Gaps of 100 s, one full reconfiguration in four events: -100 / ln(3/4) = 347.6 s. */
TEST(it_lasts_the_mean_gap_over_the_log_of_not_reconfiguring)
{
    struct tempo tempo = { 0 };

    for (msec_t i = 0; i < 4; i++)
        tempo_event(&tempo, 5000 + i * 100000);
    tempo_full(&tempo);

    const msec_t expected = tempo_expected(&tempo, 999999);

    assert_int_equal(expected, (msec_t)(-100000.0 / log(0.75)));
    assert_int_equal(expected, 347605);
}

TEST(a_full_reconfiguration_at_every_event_leaves_no_time)
{
    struct tempo tempo = { 0 };

    for (msec_t i = 0; i < 3; i++) {
        tempo_event(&tempo, i * 1000);
        tempo_full(&tempo);
    }

    assert_int_equal(tempo_expected(&tempo, 5000), 0);
}

TEST(events_of_one_moment_leave_no_time)
{
    struct tempo tempo = { 0 };

    tempo_event(&tempo, 7000);
    tempo_event(&tempo, 7000);
    tempo_event(&tempo, 7000);
    tempo_full(&tempo);

    assert_int_equal(tempo_expected(&tempo, 9000), 0);
}

TEST(late_news_of_an_event_does_not_turn_time_around)
{
    struct tempo in_order = { 0 };
    struct tempo late = { 0 };

    tempo_event(&in_order, 1000);
    tempo_event(&in_order, 4000);
    tempo_event(&in_order, 9000);
    tempo_full(&in_order);
    tempo_event(&late, 4000);
    tempo_event(&late, 9000);
    tempo_event(&late, 1000);
    tempo_full(&late);

    assert_int_equal(tempo_expected(&late, 9000), tempo_expected(&in_order, 9000));
    assert_true(tempo_expected(&late, 9000) > 0);
}

CHECK_MAIN(RUN(without_a_full_reconfiguration_it_lasts_as_long_again),
           RUN(one_event_is_too_few_to_know_a_rate),
           RUN(it_lasts_the_mean_gap_over_the_log_of_not_reconfiguring),
           RUN(a_full_reconfiguration_at_every_event_leaves_no_time),
           RUN(events_of_one_moment_leave_no_time),
           RUN(late_news_of_an_event_does_not_turn_time_around))
