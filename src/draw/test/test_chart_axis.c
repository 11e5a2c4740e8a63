/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "draw/chart_axis.h"

#include <math.h>
#include <string.h>

/* All labels of an axis in one text. */
static const char *labels(const struct chart_axis *axis)
{
    static char text[512];
    size_t used = 0;

    for (uint32_t i = 0; i < axis->tick_count; i++) {
        const struct digits label = chart_axis_label(axis, i);

        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "",
                                 label.text);
    }
    return text;
}

TEST(a_round_axis_starts_and_ends_at_ticks_around_the_values)
{
    static const struct {
        double low;
        double high;
        const char *labels;
    } cases[] = {
        { 0, 100, "0 20 40 60 80 100" },
        { 0.62, 1.07, "0.6 0.7 0.8 0.9 1.0 1.1" },
        { 0, 0.3, "0.00 0.05 0.10 0.15 0.20 0.25 0.30" },
        { -1200, 1200, "-1,500 -1,000 -500 0 500 1,000 1,500" },
        { 0, 14.2, "0.0 2.5 5.0 7.5 10.0 12.5 15.0" },
        { 20000, 61000, "20,000 30,000 40,000 50,000 60,000 70,000" },
        { 0, 300000, "0 50k 100k 150k 200k 250k 300k" },
        { 2500000, 4400000, "2.5M 3.0M 3.5M 4.0M 4.5M" },
        { 0, 3e20, "0 5e19 1e20 1.5e20 2e20 2.5e20 3e20" },
        { -3e-8, 4e-8, "-4e-8 -2e-8 0 2e-8 4e-8" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct chart_axis axis =
            chart_axis_fit(cases[i].low, cases[i].high, 7, CHART_AXIS_ROUND);

        assert_string_equal(labels(&axis), cases[i].labels);
        assert_true(axis.low <= cases[i].low + 1e-12);
        assert_true(axis.high >= cases[i].high - 1e-12);
    }
}

TEST(a_snug_axis_ends_at_its_values_and_has_ticks_within)
{
    const struct chart_axis axis = chart_axis_fit(0.5, 9.7, 7, CHART_AXIS_SNUG);

    assert_string_equal(labels(&axis), "2 4 6 8");
    assert_true(fabs(axis.low - 0.5) < 1e-12);
    assert_true(fabs(axis.high - 9.7) < 1e-12);
}

TEST(values_that_are_all_equal_get_room_around_them)
{
    const struct chart_axis five = chart_axis_fit(5, 5, 7, CHART_AXIS_ROUND);
    const struct chart_axis zero = chart_axis_fit(0, 0, 7, CHART_AXIS_ROUND);
    const struct chart_axis nearly = chart_axis_fit(1e9, 1e9 + 1, 7, CHART_AXIS_ROUND);

    assert_string_equal(labels(&five), "4.4 4.6 4.8 5.0 5.2 5.4 5.6");
    assert_string_equal(labels(&zero), "0.0 0.2 0.4 0.6 0.8 1.0");
    assert_string_equal(labels(&nearly), "850M 900M 950M 1,000M 1,050M 1,100M 1,150M");
}

static void check_axis(double low, double high, uint32_t most, enum chart_axis_ends ends)
{
    const struct chart_axis axis = chart_axis_fit(low, high, most, ends);

    assert_true(axis.tick_count >= 2);
    assert_true(axis.tick_count <= most);
    for (uint32_t i = 1; i < axis.tick_count; i++) {
        const struct digits before = chart_axis_label(&axis, i - 1);
        const struct digits here = chart_axis_label(&axis, i);

        assert_true(chart_axis_tick(&axis, i) > chart_axis_tick(&axis, i - 1));
        assert_string_not_equal(before.text, here.text);
        assert_true(strlen(here.text) <= 13);
    }
}

TEST(every_range_has_two_ticks_or_more_and_labels_that_differ)
{
    static const double starts[] = {
        -CHART_AXIS_VALUE_MAX, -12345.678, -1, -1e-9, 0, 1e-30, 0.1, 0.9, 3, 97.3, 1e6, 1e12
    };

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        double length = 1e-12;

        for (uint32_t step = 0; step < 300; step++, length *= 1.37) {
            for (uint32_t most = 3; most <= 8; most++) {
                const double end = fmin(starts[i] + length, CHART_AXIS_VALUE_MAX);

                check_axis(starts[i], end, most, CHART_AXIS_SNUG);
                check_axis(starts[i], end, most, CHART_AXIS_ROUND);
            }
        }
    }
}

TEST(times_are_labelled_by_the_clock_and_at_midnight_by_the_day)
{
    static const struct {
        double hours;
        const char *labels;
    } cases[] = {
        { 0, "05:59:30 05:59:45 06:00:00 06:00:15 06:00:30" },
        { 0.1, "06:00 06:05" },
        { 6, "06:00 09:00 12:00" },
        { 24, "06:00 12:00 18:00 Nov 16 06:00" },
        { 24 * 5, "Nov 16 Nov 17 Nov 18 Nov 19 Nov 20" },
        { 24 * 30, "Nov 19 Nov 27 Dec 5 Dec 13" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct chart_axis axis =
            chart_axis_fit_time(1794722400000.0, 1794722400000.0 + cases[i].hours * 3600000, 5);

        assert_string_equal(labels(&axis), cases[i].labels);
        assert_in_range(axis.tick_count, 2, 5);
    }
}

CHECK_MAIN(RUN(a_round_axis_starts_and_ends_at_ticks_around_the_values),
           RUN(a_snug_axis_ends_at_its_values_and_has_ticks_within),
           RUN(values_that_are_all_equal_get_room_around_them),
           RUN(every_range_has_two_ticks_or_more_and_labels_that_differ),
           RUN(times_are_labelled_by_the_clock_and_at_midnight_by_the_day))
