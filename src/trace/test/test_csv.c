/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/test/check.h"
#include "trace/csv.h"

static void check_field(const struct csv *csv, uint32_t column, const char *expected)
{
    const struct csv_field field = csv_field(csv, column);

    assert_int_equal(field.length, strlen(expected));
    assert_memory_equal(field.text, expected, field.length);
}

static void open_text(struct csv *csv, const char *text)
{
    struct error error;

    assert_int_equal(csv_open(csv, text, strlen(text), &error), 0);
}

/* Read all rows; the failure and its text, or 0. */
static int read_through(const char *text, struct error *error)
{
    struct csv csv;
    int rc = csv_open(&csv, text, strlen(text), error);

    if (rc < 0)
        return rc;
    do
        rc = csv_next(&csv, error);
    while (rc > 0);
    csv_close(&csv);
    return rc;
}

TEST(columns_are_found_by_name)
{
    struct csv csv;
    open_text(&csv, "b, a ,\"c,d\"\n1,2,3\n");

    assert_int_equal(csv_column(&csv, "a"), 1);
    assert_int_equal(csv_column(&csv, "c,d"), 2);
    assert_int_equal(csv_column(&csv, "d"), CSV_COLUMN_NONE);
    assert_int_equal(csv_next(&csv, NULL), 1);
    check_field(&csv, 1, "2");
    check_field(&csv, CSV_COLUMN_NONE, "");
    assert_int_equal(csv_next(&csv, NULL), 0);
    assert_int_equal(csv_next(&csv, NULL), 0);
    csv_close(&csv);
}

TEST(quotes_hold_commas_line_ends_and_quotes)
{
    struct csv csv;
    open_text(&csv, "a,b,c\r\n\"x,y\", \"1\n2\" ,\"say \"\"hi\"\"\"\r\n,,\"\"\r\n");

    assert_int_equal(csv_next(&csv, NULL), 1);
    assert_int_equal(csv.line, 2);
    check_field(&csv, 0, "x,y");
    check_field(&csv, 1, "1\n2");
    check_field(&csv, 2, "say \"hi\"");
    assert_int_equal(csv_next(&csv, NULL), 1);
    assert_int_equal(csv.line, 4);
    check_field(&csv, 0, "");
    check_field(&csv, 2, "");
    assert_int_equal(csv_next(&csv, NULL), 0);
    csv_close(&csv);
}

TEST(byte_order_mark_empty_lines_and_a_missing_last_line_end_are_no_matter)
{
    struct csv csv;
    open_text(&csv, "\xef\xbb\xbf\r\na,b\n\n  \n1,2\r\n\r\n3,4\r");

    assert_int_equal(csv_column(&csv, "a"), 0);
    assert_int_equal(csv_next(&csv, NULL), 1);
    assert_int_equal(csv.line, 5);
    check_field(&csv, 1, "2");
    assert_int_equal(csv_next(&csv, NULL), 1);
    assert_int_equal(csv.line, 7);
    check_field(&csv, 1, "4");
    assert_int_equal(csv_next(&csv, NULL), 0);
    csv_close(&csv);
}

TEST(a_return_inside_a_field_is_text)
{
    struct csv csv;
    open_text(&csv, "a,b\n1\r2,3\n");

    assert_int_equal(csv_next(&csv, NULL), 1);
    check_field(&csv, 0, "1\r2");
    csv_close(&csv);
}

TEST(the_last_field_of_the_text_may_be_empty)
{
    struct csv csv;
    open_text(&csv, "a,b\n1,");

    assert_int_equal(csv_next(&csv, NULL), 1);
    check_field(&csv, 1, "");
    assert_int_equal(csv_next(&csv, NULL), 0);
    csv_close(&csv);
}

TEST(bad_tables_are_refused_with_the_line)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "", "is empty: the first line must name the columns" },
        { "\n \n", "is empty: the first line must name the columns" },
        { "a,b\n1\n", "line 2: has 1 fields, but the header names 2" },
        { "a,b\n1,2\n\n1,2,3", "line 4: has 3 fields, but the header names 2" },
        { "a\n1\n\"2\n3\n", "line 3: a quote is opened and never closed" },
        { "a\n\"1\"2\n",
          "line 2: text behind a closing quote: a quote inside a quoted field is written twice" },
        { "a\n1\"\n", "line 2: a quote inside a field: put the whole field in quotes and write the "
                      "quote twice" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error error = { "" };

        assert_int_equal(read_through(cases[i].text, &error), -EINVAL);
        assert_string_equal(error.text, cases[i].error);
    }
}

TEST(too_many_columns_are_refused)
{
    char *text = mem_alloc(CSV_COLUMNS_MAX + 1, 1);
    struct error error;

    memset(text, ',', CSV_COLUMNS_MAX);

    assert_int_equal(read_through(text, &error), -E2BIG);
    assert_string_equal(error.text, "line 1: has more than 8192 fields");
    text[CSV_COLUMNS_MAX - 1] = 0;
    assert_int_equal(read_through(text, &error), 0);
    mem_free(text);
}

CHECK_MAIN(RUN(columns_are_found_by_name), RUN(quotes_hold_commas_line_ends_and_quotes),
           RUN(byte_order_mark_empty_lines_and_a_missing_last_line_end_are_no_matter),
           RUN(a_return_inside_a_field_is_text), RUN(the_last_field_of_the_text_may_be_empty),
           RUN(bad_tables_are_refused_with_the_line), RUN(too_many_columns_are_refused))
