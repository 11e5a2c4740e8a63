/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "draw/digits.h"

#include <float.h>
#include <locale.h>
#include <string.h>

TEST(a_real_has_exactly_the_digits_that_were_asked_for)
{
    static const struct {
        double value;
        uint32_t fraction;
        const char *text;
    } cases[] = {
        { 0.625, 3, "0.625" },
        { 0.6, 3, "0.600" },
        { 0.1, 12, "0.100000000000" },
        { 0.625, 2, "0.63" },
        { -0.625, 2, "-0.63" },
        { 0.9996, 3, "1.000" },
        { 1.9996, 3, "2.000" },
        { 12.5, 0, "13" },
        { -0.0004, 3, "0.000" },
        { 0.0, 0, "0" },
        { 1e15, 1, "1000000000000000.0" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct digits got = digits_of_real(cases[i].value, cases[i].fraction, DIGITS_PLAIN);

        assert_string_equal(got.text, cases[i].text);
    }
}

TEST(a_fixed_point_number_is_rounded_half_away_from_zero)
{
    static const struct {
        int64_t value;
        uint32_t scale;
        uint32_t fraction;
        const char *text;
    } cases[] = {
        { 1234567, 6, 6, "1.234567" },
        { 1234567, 6, 2, "1.23" },
        { 1235000, 6, 2, "1.24" },
        { -1235000, 6, 2, "-1.24" },
        { -4999, 6, 2, "0.00" },
        { 5, 1, 3, "0.500" },
        { 42, 0, 0, "42" },
        { 42, 0, 2, "42.00" },
        { INT64_MIN, 0, 0, "-9223372036854775808" },
        { INT64_MAX, 12, 12, "9223372.036854775807" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct digits got =
            digits_of_fixed(cases[i].value, cases[i].scale, cases[i].fraction, DIGITS_PLAIN);

        assert_string_equal(got.text, cases[i].text);
    }
}

TEST(groups_of_three_are_counted_from_the_point)
{
    assert_string_equal(digits_of_fixed(999, 0, 0, DIGITS_GROUPED).text, "999");
    assert_string_equal(digits_of_fixed(-1000, 0, 0, DIGITS_GROUPED).text, "-1,000");
    assert_string_equal(digits_of_fixed(-100, 0, 0, DIGITS_GROUPED).text, "-100");
    assert_string_equal(digits_of_real(1234567.8912, 4, DIGITS_GROUPED).text, "1,234,567.8912");
}

TEST(the_largest_double_fits)
{
    const struct digits got = digits_of_real(-DBL_MAX, DIGITS_FRACTION_MAX, DIGITS_GROUPED);

    assert_int_equal(strlen(got.text), 1 + 309 + 102 + 1 + DIGITS_FRACTION_MAX);
}

TEST(the_point_does_not_follow_the_locale)
{
    /* Where none of these is installed, the test has nothing to find. */
    (void)(setlocale(LC_ALL, "de_DE.UTF-8") != NULL || setlocale(LC_ALL, "fr_FR.UTF-8") != NULL);

    const struct digits got = digits_of_real(1234.5, 1, DIGITS_GROUPED);

    (void)setlocale(LC_ALL, "C");
    assert_string_equal(got.text, "1,234.5");
}

CHECK_MAIN(RUN(a_real_has_exactly_the_digits_that_were_asked_for),
           RUN(a_fixed_point_number_is_rounded_half_away_from_zero),
           RUN(groups_of_three_are_counted_from_the_point), RUN(the_largest_double_fits),
           RUN(the_point_does_not_follow_the_locale))
