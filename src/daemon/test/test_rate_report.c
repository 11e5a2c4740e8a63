/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/rate_report.h"

#include <string.h>

#include "base/test/check.h"

static int parse(const char *text, struct rate_report *ret)
{
    return rate_report_parse(text, strlen(text), ret);
}

TEST(a_report_has_a_job_and_its_rate)
{
    struct rate_report report;

    assert_int_equal(parse("12_3 0.83\n", &report), 0);
    assert_string_equal(report.label, "12_3");
    assert_int_equal(report.rate_ppm, 830000);
    assert_int_equal(parse("7 1", &report), 0);
    assert_int_equal(report.rate_ppm, 1000000);
    assert_int_equal(parse("7+1 0.000001", &report), 0);
    assert_int_equal(report.rate_ppm, 1);
    assert_int_equal(parse("7 1.000000", &report), 0);
    assert_int_equal(report.rate_ppm, 1000000);
}

TEST(anything_else_is_refused)
{
    static const char *const wrong[] = {
        "",       "\n",         "7",           "7 ",     " 7 1",    "7  1",  "7 0",
        "7 0.0",  "7 1.000001", "7 1.1",       "7 2",    "7 -1",    "7 +1",  "7 .5",
        "7 0.",   "7 nan",      "7 0.1234567", "7 0.5x", "7 0.5 1", "7/8 1", "7;rm 1",
        "7\t0.5", "7 0.5\n\n",  "7 0x1",       "7 1e-1",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct rate_report report;

        assert_int_equal(parse(wrong[i], &report), -22);
    }
}

TEST(long_and_binary_ones_are_refused)
{
    struct rate_report report;
    char text[RATE_REPORT_MAX + 2];

    memset(text, '1', sizeof(text));
    assert_int_equal(rate_report_parse(text, sizeof(text), &report), -22);
    text[RATE_LABEL_MAX] = ' ';
    assert_int_equal(rate_report_parse(text, RATE_LABEL_MAX + 2, &report), -22);
    text[RATE_LABEL_MAX - 1] = ' ';
    text[RATE_LABEL_MAX] = '1';
    assert_int_equal(rate_report_parse(text, RATE_LABEL_MAX + 1, &report), 0);
    assert_int_equal(strlen(report.label), RATE_LABEL_MAX - 1);
    assert_int_equal(rate_report_parse("7\0 1", 4, &report), -22);
}

CHECK_MAIN(RUN(a_report_has_a_job_and_its_rate), RUN(anything_else_is_refused),
           RUN(long_and_binary_ones_are_refused))
