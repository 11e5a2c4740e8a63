/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"
#include "trace/input_file.h"
#include "trace/usage_csv.h"

static void read_text(struct usage *usage, const char *text)
{
    struct error error = { "" };

    if (usage_csv_read(text, strlen(text), usage, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(a_history_is_one_number_per_hour)
{
    struct usage usage;
    read_text(&usage, "hour,instances\n5,3\n6,0\n7,12\n");

    assert_int_equal(usage.hours, 3);
    assert_int_equal(usage.columns.count, 1);
    assert_int_equal(usage.gap_hours, 0);
    assert_int_equal(usage_column(&usage, 0)[0], 3);
    assert_int_equal(usage_column(&usage, 0)[2], 12);
    assert_string_equal(usage_time_text(&usage, 2).text, "hour 7");
    usage_done(&usage);
}

TEST(columns_are_apart_and_the_time_may_stand_anywhere)
{
    struct usage usage;
    read_text(&usage, "web,time,batch\n1,2025-02-28T23:00Z,10\n2,2025-03-01T00:00Z,20\n");

    assert_int_equal(usage.columns.count, 2);
    assert_string_equal(names_text(&usage.columns, 1), "batch");
    assert_int_equal(usage_column(&usage, 0)[1], 2);
    assert_int_equal(usage_column(&usage, 1)[0], 10);
    assert_int_equal(usage_column(&usage, 1)[1], 20);
    assert_string_equal(usage_time_text(&usage, 1).text, "2025-03-01 00:00");
    usage_done(&usage);
}

TEST(missing_hours_and_empty_fields_are_zero)
{
    struct usage usage;
    read_text(&usage, "hour,a,b\n0,1,\n4,,2\n");

    assert_int_equal(usage.hours, 5);
    assert_int_equal(usage.gap_hours, 3);
    assert_int_equal(usage_column(&usage, 0)[3], 0);
    assert_int_equal(usage_column(&usage, 0)[4], 0);
    assert_int_equal(usage_column(&usage, 1)[0], 0);
    assert_int_equal(usage_column(&usage, 1)[4], 2);
    usage_done(&usage);
}

TEST(a_time_may_be_written_in_many_ways)
{
    static const char *const times[] = {
        "2024-02-29T13",          "2024-02-29 13:00",          "2024-02-29T13:00:00Z",
        "2024-02-29T13:00:00.00", "2024-02-29T15:00:00+02:00", "2024-02-29T06:00-0700",
        "2024-02-29t13:00z",      "2024-03-01T00:00+11",
    };

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct usage usage;
        char text[100];

        (void)snprintf(text, sizeof(text), "time,n\n%s,1\n", times[i]);
        read_text(&usage, text);
        assert_true(usage.has_dates);
        assert_string_equal(usage_time_text(&usage, 0).text, "2024-02-29 13:00");
        usage_done(&usage);
    }
}

TEST(dates_are_those_of_the_calendar)
{
    struct usage usage;
    read_text(&usage, "time,n\n1970-01-01T00Z,1\n");

    assert_int_equal(usage.first_hour, 0);
    usage_done(&usage);
    read_text(&usage, "time,n\n2999-12-31T23Z,1\n");
    assert_string_equal(usage_time_text(&usage, 0).text, "2999-12-31 23:00");
    usage_done(&usage);
    read_text(&usage, "time,n\n2000-02-29T00Z,1\n");
    assert_int_equal(usage.first_hour, 11016 * 24);
    assert_string_equal(usage_time_text(&usage, 24).text, "2000-03-01 00:00");
    usage_done(&usage);
}

TEST(months_are_counted_to_the_day_on_which_they_end)
{
    struct usage usage;

    /* From 2025-01-01 on: the first month ends with January. */
    read_text(&usage, "time,n\n2024-12-31T23Z,1\n");
    assert_string_equal(usage_month(&usage, 1, 1).digits, "2025-01");
    assert_string_equal(usage_month(&usage, 1, 12).words, "December 2025");
    assert_string_equal(usage_month(&usage, 1, 13).words, "January 2026");
    /* An hour earlier: with an hour of December at its begin, and so none at its end. */
    assert_string_equal(usage_month(&usage, 0, 1).digits, "2025-01");
    usage_done(&usage);

    read_text(&usage, "time,n\n2024-02-15T00Z,1\n");
    assert_string_equal(usage_month(&usage, 0, 1).digits, "2024-03");
    assert_string_equal(usage_month(&usage, 0, 10).digits, "2024-12");
    assert_string_equal(usage_month(&usage, 0, 11).words, "January 2025");
    usage_done(&usage);
}

TEST(bad_histories_are_refused_with_the_line)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "", "is empty: the first line must name the columns" },
        { "day,n\n1,2\n", "line 1: there is no column 'hour' or 'time'; the first line must name "
                          "the columns, such as hour,instances" },
        { "hour\n1\n", "line 1: there is no column with machines beside the time; one is needed, "
                       "such as 'instances'" },
        { "hour,a,a\n1,2,3\n", "line 1: the column 'a' is there twice" },
        { "hour,a,\n1,2,3\n", "line 1: the name of column 3 is empty" },
        { "hour,a\n", "has no row but the first: there is no hour to learn from" },
        { "hour,a\n1,2\n1,3\n",
          "line 3: the hour is not after the one before; rows must be in order and each hour there "
          "once (local times repeat one in autumn: use UTC)" },
        { "hour,a\n1,-2\n", "line 2, 'a': the machines in use must be a whole number from 0 to "
                            "1073741824, not '-2'" },
        { "hour,a\n1,2.5\n", "line 2, 'a': the machines in use must be a whole number from 0 to "
                             "1073741824, not '2.5'" },
        { "time,a\n2025-02-29T00Z,2\n", "line 2: the time must be a full hour, such as "
                                        "2025-03-01T14:00Z, or the number of an hour, not "
                                        "'2025-02-29T00Z'" },
        { "time,a\n2025-02-28T00:30,2\n", "line 2: the time must be a full hour, such as "
                                          "2025-03-01T14:00Z, or the number of an hour, not "
                                          "'2025-02-28T00:30'" },
        { "time,a\n2025-02-28T00,2\n7,2\n",
          "line 3: some rows have dates and some have numbers of hours" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct usage usage = { .hours = 42 };
        struct error error = { "" };

        assert_int_equal(usage_csv_read(cases[i].text, strlen(cases[i].text), &usage, &error),
                         -EINVAL);
        assert_string_equal(error.text, cases[i].error);
        assert_int_equal(usage.hours, 42);
    }
}

TEST(a_gap_cannot_size_our_memory)
{
    static const char text[] = "hour,a\n0,1\n1000000000,1\n";
    struct usage usage;
    struct error error = { "" };

    assert_int_equal(usage_csv_read(text, strlen(text), &usage, &error), -E2BIG);
    assert_string_equal(error.text, "line 3: the history is too long: at most 524288 hours, and "
                                    "4194304 hours times columns");
}

TEST(the_example_of_the_document_has_two_columns_and_a_gap)
{
    const char *folder = getenv("STINT_FORMATS");
    struct input_file file;
    struct error error = { "" };
    struct usage usage;
    char path[4096];

    assert_non_null(folder);
    (void)snprintf(path, sizeof(path), "%s/usage.example.csv", folder);
    if (input_file_read(path, &file, &error) < 0)
        fail_msg("%s", error.text);
    read_text(&usage, file.text);

    assert_int_equal(usage.columns.count, 2);
    assert_int_equal(usage.hours, 5);
    assert_int_equal(usage.gap_hours, 1);
    assert_int_equal(usage_column(&usage, 1)[2], 0);
    assert_string_equal(usage_time_text(&usage, 4).text, "2025-03-01 04:00");
    usage_done(&usage);
    input_file_done(&file);
}

CHECK_MAIN(RUN(a_history_is_one_number_per_hour),
           RUN(columns_are_apart_and_the_time_may_stand_anywhere),
           RUN(missing_hours_and_empty_fields_are_zero), RUN(a_time_may_be_written_in_many_ways),
           RUN(dates_are_those_of_the_calendar),
           RUN(months_are_counted_to_the_day_on_which_they_end),
           RUN(bad_histories_are_refused_with_the_line), RUN(a_gap_cannot_size_our_memory),
           RUN(the_example_of_the_document_has_two_columns_and_a_gap))
