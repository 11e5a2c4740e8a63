/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/test/check.h"
#include "trace/number.h"

TEST(decimals_become_exact_whole_numbers)
{
    static const struct {
        const char *text;
        int digits;
        int64_t value;
    } cases[] = {
        { "3.06", 6, 3060000 },
        { "0.08925", 6, 89250 },
        { "0", 6, 0 },
        { "-0.5", 3, -500 },
        { "+12", 0, 12 },
        { ".5", 1, 5 },
        { "5.", 1, 50 },
        { "1e3", 0, 1000 },
        { "12.5E-1", 3, 1250 },
        { "0.1000000000000000000000000000000", 3, 100 },
        { "000000000000000000000000000000001", 0, 1 },
        { "0e9999999999", 6, 0 },
        { "9223372036854775807", 0, INT64_MAX },
        { "9.223372036854775807e18", 0, INT64_MAX },
        { "-9223372036854775807", 0, -INT64_MAX },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = -77;

        assert_int_equal(
            number_exact(cases[i].text, strlen(cases[i].text), cases[i].digits, &value), 0);
        assert_int_equal(value, cases[i].value);
    }
}

TEST(what_is_no_number_is_refused_and_nothing_is_written)
{
    static const struct {
        const char *text;
        int failure;
    } cases[] = {
        { "", -EINVAL },         { ".", -EINVAL },       { "-", -EINVAL },
        { "x", -EINVAL },        { "1x", -EINVAL },      { " 1", -EINVAL },
        { "1 ", -EINVAL },       { "1e", -EINVAL },      { "1e+", -EINVAL },
        { "1e5x", -EINVAL },     { "--1", -EINVAL },     { "1.2.3", -EINVAL },
        { "nan", -EINVAL },      { "inf", -EINVAL },     { "0x10", -EINVAL },
        { "1_000", -EINVAL },    { "e5", -EINVAL },      { "0.0000001", -EDOM },
        { "1e-999999", -EDOM },  { "1e30", -ERANGE },    { "9223372036855", -ERANGE },
        { "1e999999", -ERANGE }, { "3.1234567", -EDOM },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = -77;

        assert_int_equal(number_exact(cases[i].text, strlen(cases[i].text), 6, &value),
                         cases[i].failure);
        assert_int_equal(value, -77);
    }
}

TEST(nearest_rounds_halves_away_from_zero)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        { "0.0004999999999999999999999999999", 0 },
        { "0.0005", 1 },
        { "-0.0005", -1 },
        { "0.33333333333333331", 333 },
        { "1.9995", 2000 },
        { "5e-4", 1 },
        { "5e-5", 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = -77;

        assert_int_equal(number_nearest(cases[i].text, strlen(cases[i].text), 3, &value), 0);
        assert_int_equal(value, cases[i].value);
    }
}

TEST(rounding_up_cannot_overflow)
{
    static const char *const text = "9223372036854775807.5";
    int64_t value = -77;

    assert_int_equal(number_nearest(text, strlen(text), 0, &value), -ERANGE);
    assert_int_equal(value, -77);
}

TEST(durations_have_units_and_no_unit_means_seconds)
{
    static const struct {
        const char *text;
        msec_t value;
    } cases[] = {
        { "300s", 300000 },  { "5m", 300000 }, { "1h", 3600000 },   { "250ms", 250 },
        { "0.5", 500 },      { "7", 7000 },    { "1.5h", 5400000 }, { "2d", 172800000 },
        { "0.25m", 15000 },  { "0", 0 },       { "0.0005s", 1 },    { "0.4ms", 0 },
        { "1e3s", 1000000 }, { "-1s", -1000 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        msec_t value = -77;

        assert_int_equal(number_duration(cases[i].text, strlen(cases[i].text), &value), 0);
        assert_int_equal(value, cases[i].value);
    }
}

TEST(durations_of_no_sense_are_refused)
{
    static const char *const cases[] = { "", "s", "ms", "5 m", "5w", "5M", "1h30m", "h1", "5e" };
    msec_t value = -77;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(number_duration(cases[i], strlen(cases[i]), &value), -EINVAL);
    assert_int_equal(number_duration("99999999999d", 12, &value), -ERANGE);
    assert_int_equal(value, -77);
}

TEST(gib_become_mib)
{
    int64_t mib = 0;

    assert_int_equal(number_mib_of_gib("61", 2, &mib), 0);
    assert_int_equal(mib, 62464);
    assert_int_equal(number_mib_of_gib("0.5", 3, &mib), 0);
    assert_int_equal(mib, 512);
    assert_int_equal(number_mib_of_gib("0.0009765625", 12, &mib), 0);
    assert_int_equal(mib, 1);
}

TEST(ids_are_whole_and_of_64_bits)
{
    uint64_t id = 0;

    assert_int_equal(number_id("18446744073709551615", 20, &id), 0);
    assert_true(id == UINT64_MAX);
    assert_int_equal(number_id("18446744073709551616", 20, &id), -ERANGE);
    assert_int_equal(number_id("-1", 2, &id), -EINVAL);
    assert_int_equal(number_id("1.0", 3, &id), -EINVAL);
    assert_int_equal(number_id("", 0, &id), -EINVAL);
}

TEST(printing_takes_no_more_digits_than_needed)
{
    assert_string_equal(number_print(3060000, 6).text, "3.06");
    assert_string_equal(number_print(-500, 3).text, "-0.5");
    assert_string_equal(number_print(7000, 3).text, "7");
    assert_string_equal(number_print(0, 9).text, "0");
    assert_string_equal(number_print(1, 9).text, "0.000000001");
    assert_string_equal(number_print(INT64_MIN, 10).text, "-922337203.6854775808");
    assert_string_equal(number_print(INT64_MIN, 0).text, "-9223372036854775808");
    assert_string_equal(number_print(-1, 15).text, "-0.000000000000001");
}

CHECK_MAIN(RUN(decimals_become_exact_whole_numbers),
           RUN(what_is_no_number_is_refused_and_nothing_is_written),
           RUN(nearest_rounds_halves_away_from_zero), RUN(rounding_up_cannot_overflow),
           RUN(durations_have_units_and_no_unit_means_seconds),
           RUN(durations_of_no_sense_are_refused), RUN(gib_become_mib),
           RUN(ids_are_whole_and_of_64_bits), RUN(printing_takes_no_more_digits_than_needed))
