/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/test/check.h"
#include "cli/report_table.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { COLUMNS = 4 };

static const struct report_column columns[COLUMNS] = {
    { .key = "policy", .heading = "policy" },
    { .key = "instances", .heading = "instances", .kind = REPORT_INTEGER },
    { .key = "norm_cost", .heading = "norm. cost", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "cost", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
};

static struct report_table *two_policies(void)
{
    struct report_table *table = report_table_create("comparison", columns, COLUMNS);

    report_table_add_text(table, "no packing");
    report_table_add_integer(table, 12345);
    report_table_add_fixed(table, 1000);
    report_table_add_money(table, 1234567890123);
    report_table_add_text(table, "stint");
    report_table_add_integer(table, 7);
    report_table_add_real(table, 0.625);
    report_table_add_money(table, 5);
    return table;
}

static struct report_table *one_row_of_missing(void)
{
    struct report_table *table = report_table_create("gaps", columns, COLUMNS);

    report_table_add_text(table, NULL);
    report_table_add_missing(table);
    report_table_add_real(table, (double)NAN);
    report_table_add_money(table, MONEY_UNKNOWN);
    return table;
}

static struct report_table *one_text(const char *text)
{
    struct report_table *table = report_table_create("texts", columns, 1);

    report_table_add_text(table, text);
    return table;
}

/* Print and destroy 'table'; free the result. */
static char *printed(struct report_table *table, enum output_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(report_table_write(table, format, out), 0);
    assert_int_equal(fclose(out), 0);
    report_table_destroy(table);
    return text;
}

static void check_printed(struct report_table *table, enum output_format format,
                          const char *expected)
{
    char *text = printed(table, format);

    assert_string_equal(text, expected);
    free(text);
}

TEST(a_table_aligns_numbers_to_the_right_and_text_to_the_left)
{
    check_printed(two_policies(), OUTPUT_TABLE,
                  "policy      instances  norm. cost        cost $\n"
                  "----------  ---------  ----------  ------------\n"
                  "no packing     12,345       1.000  1,234,567.89\n"
                  "stint               7       0.625          0.00\n");
}

TEST(json_has_the_keys_in_column_order_and_fixed_digits)
{
    check_printed(two_policies(), OUTPUT_JSON,
                  "{\n"
                  "  \"name\": \"comparison\",\n"
                  "  \"rows\": [\n"
                  "    {\n"
                  "      \"policy\": \"no packing\",\n"
                  "      \"instances\": 12345,\n"
                  "      \"norm_cost\": 1.000,\n"
                  "      \"cost\": 1234567.890123\n"
                  "    },\n"
                  "    {\n"
                  "      \"policy\": \"stint\",\n"
                  "      \"instances\": 7,\n"
                  "      \"norm_cost\": 0.625,\n"
                  "      \"cost\": 0.000005\n"
                  "    }\n"
                  "  ]\n"
                  "}\n");
}

TEST(csv_has_a_line_of_keys_and_one_per_row)
{
    check_printed(two_policies(), OUTPUT_CSV,
                  "policy,instances,norm_cost,cost\n"
                  "no packing,12345,1.000,1234567.890123\n"
                  "stint,7,0.625,0.000005\n");
}

TEST(missing_is_a_dash_or_null_or_nothing)
{
    check_printed(one_row_of_missing(), OUTPUT_TABLE,
                  "policy  instances  norm. cost  cost $\n"
                  "------  ---------  ----------  ------\n"
                  "-               -           -       -\n");
    check_printed(one_row_of_missing(), OUTPUT_JSON,
                  "{\n"
                  "  \"name\": \"gaps\",\n"
                  "  \"rows\": [\n"
                  "    {\n"
                  "      \"policy\": null,\n"
                  "      \"instances\": null,\n"
                  "      \"norm_cost\": null,\n"
                  "      \"cost\": null\n"
                  "    }\n"
                  "  ]\n"
                  "}\n");
    check_printed(one_row_of_missing(), OUTPUT_CSV,
                  "policy,instances,norm_cost,cost\n"
                  ",,,\n");
}

TEST(an_empty_table_still_says_what_its_columns_are)
{
    check_printed(report_table_create("none", columns, 2), OUTPUT_TABLE,
                  "policy  instances\n"
                  "------  ---------\n"
                  "(no rows)\n");
    check_printed(report_table_create("none", columns, 2), OUTPUT_JSON,
                  "{\n"
                  "  \"name\": \"none\",\n"
                  "  \"rows\": []\n"
                  "}\n");
    check_printed(report_table_create("none", columns, 2), OUTPUT_CSV, "policy,instances\n");
}

TEST(csv_quotes_what_would_be_read_otherwise)
{
    check_printed(one_text("plain text"), OUTPUT_CSV, "policy\nplain text\n");
    check_printed(one_text("a,b"), OUTPUT_CSV, "policy\n\"a,b\"\n");
    check_printed(one_text("say \"hi\""), OUTPUT_CSV, "policy\n\"say \"\"hi\"\"\"\n");
    check_printed(one_text("two\nlines"), OUTPUT_CSV, "policy\n\"two\nlines\"\n");
    check_printed(one_text(""), OUTPUT_CSV, "policy\n\"\"\n");
}

TEST(any_text_can_be_read_back_from_json)
{
    static const char text[] = "quote \" slash \\ newline \n tab \t euro \xE2\x82\xAC </script>";
    char *document = printed(one_text(text), OUTPUT_JSON);
    json_t *root = json_loads(document, 0, NULL);

    assert_non_null(root);
    const json_t *row = json_array_get(json_object_get(root, "rows"), 0);

    assert_string_equal(json_string_value(json_object_get(row, "policy")), text);
    json_decref(root);
    free(document);
}

TEST(bytes_that_are_not_text_do_not_break_json)
{
    char *document = printed(one_text("\xFF\x01"), OUTPUT_JSON);
    json_t *root = json_loads(document, 0, NULL);

    assert_non_null(root);
    json_decref(root);
    free(document);
}

TEST(a_line_break_or_escape_in_a_cell_does_not_reach_the_terminal)
{
    check_printed(one_text("two\nlines"), OUTPUT_TABLE, "policy\n---------\ntwo lines\n");
    check_printed(one_text("\x1B[2J"), OUTPUT_TABLE, "policy\n------\n\xEF\xBF\xBD[2J\n");
}

TEST(columns_are_as_wide_as_their_characters_not_their_bytes)
{
    struct report_table *table = report_table_create("places", columns, 2);

    report_table_add_text(table, "Z\xC3\xBCrich 1");
    report_table_add_integer(table, 1);

    check_printed(table, OUTPUT_TABLE,
                  "policy    instances\n"
                  "--------  ---------\n"
                  "Z\xC3\xBCrich 1          1\n");
}

TEST(headings_wrap_only_when_the_table_is_too_wide)
{
    static const struct report_column wide[] = {
        { .key = "a", .heading = "share of all instances that were rented on demand" },
        { .key = "b", .heading = "cost per hour and machine", .kind = REPORT_INTEGER },
        { .key = "c", .heading = "the time between two full plans", .kind = REPORT_INTEGER },
    };
    struct report_table *table = report_table_create("wide", wide, 3);

    report_table_add_text(table, "twelve parts");
    report_table_add_integer(table, 123456789);
    report_table_add_integer(table, 1);

    check_printed(table, OUTPUT_TABLE,
                  "share of all instances that were rented\n"
                  "on demand                                cost per hour and machine  "
                  "the time between two full plans\n"
                  "---------------------------------------  -------------------------  "
                  "-------------------------------\n"
                  "twelve parts                                           123,456,789  "
                  "                              1\n");
}

TEST(an_alignment_that_was_asked_for_is_used)
{
    static const struct report_column turned[] = {
        { .key = "a", .heading = "right text", .align = REPORT_ALIGN_RIGHT },
        { .key = "b", .heading = "left", .kind = REPORT_INTEGER, .align = REPORT_ALIGN_LEFT },
        { .key = "c" },
    };
    struct report_table *table = report_table_create("turned", turned, 3);

    report_table_add_text(table, "x");
    report_table_add_integer(table, 1);
    report_table_add_text(table, "");

    check_printed(table, OUTPUT_TABLE,
                  "right text  left  c\n"
                  "----------  ----  -\n"
                  "         x  1\n");
}

TEST(notes_stand_between_name_and_rows)
{
    struct report_table *table = report_table_create("noted", columns, 1);

    report_table_note_text(table, "trace", "alibaba \"2020\"");
    report_table_note_integer(table, "seed", -1);
    report_table_note_real(table, "scale", 0.1, 2);
    report_table_note_money(table, "bound", 1500000);
    report_table_note_text(table, "remark", NULL);

    check_printed(table, OUTPUT_JSON,
                  "{\n"
                  "  \"name\": \"noted\",\n"
                  "  \"trace\": \"alibaba \\\"2020\\\"\",\n"
                  "  \"seed\": -1,\n"
                  "  \"scale\": 0.10,\n"
                  "  \"bound\": 1.500000,\n"
                  "  \"remark\": null,\n"
                  "  \"rows\": []\n"
                  "}\n");
}

TEST(a_full_disk_is_reported)
{
    FILE *out = fopen("/dev/full", "w");
    struct report_table *table = two_policies();

    if (out == NULL) {
        report_table_destroy(table);
        skip();
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(report_table_write(table, (enum output_format)i, out), -ENOSPC);
        clearerr(out);
    }
    (void)fclose(out);
    report_table_destroy(table);
}

/* The policies of the table from top to bottom. */
static void check_order(struct report_table *table, const char *key, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    char seen[64] = "";
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(report_table_sort(table, key, NULL), 0);
    assert_int_equal(report_table_write(table, OUTPUT_CSV, out), 0);
    (void)fclose(out);
    for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1)
        (void)strncat(seen, line, 2);
    assert_string_equal(seen, expected);
    free(text);
}

TEST(rows_are_sorted_by_a_column)
{
    struct report_table *table = report_table_create("comparison", columns, COLUMNS);
    static const char *const names[] = { "a9", "b1", "c5", "a1" };
    struct error error;

    for (int i = 0; i < 4; i++) {
        report_table_add_text(table, names[i]);
        report_table_add_integer(table, i % 2);
        if (i == 0)
            report_table_add_missing(table);
        else
            report_table_add_real(table, 10.0 * i);
        report_table_add_money(table, -i);
    }
    check_order(table, "policy", "a1a9b1c5");
    check_order(table, "-policy", "c5b1a9a1");
    check_order(table, "cost", "a1c5b1a9");
    check_order(table, "norm_cost", "b1c5a1a9");
    check_order(table, "-norm_cost", "a1c5b1a9");
    check_order(table, "instances", "c5a9a1b1");
    report_table_add_rest(table, "(2 more)");
    report_table_add_integer(table, 7);
    report_table_add_real(table, 99);
    report_table_add_money(table, 99);
    report_table_add_rest(table, "(1 idle)");
    report_table_add_integer(table, 8);
    report_table_add_real(table, 1);
    report_table_add_money(table, -99);
    check_order(table, "policy", "a1a9b1c5(2(1");
    check_order(table, "-norm_cost", "a1c5b1a9(2(1");
    check_order(table, "cost", "a1c5b1a9(2(1");
    assert_int_equal(report_table_sort(table, "price", &error), -EINVAL);
    assert_string_equal(error.text, "there is no column 'price' to sort by; there are policy, "
                                    "instances, norm_cost, cost");
    report_table_destroy(table);
}

/* A terminal hands on what was written in pieces, and a moment later. */
static void read_until(int master, const char *wanted, char *text, size_t size)
{
    size_t length = 0;

    while (strstr(text, wanted) == NULL) {
        const ssize_t got = read(master, text + length, size - 1 - length);

        assert_true(got > 0);
        length += (size_t)got;
        text[length] = '\0';
    }
}

TEST(every_table_of_a_process_can_be_sorted)
{
    static const struct report_column others[] = {
        { .key = "user", .heading = "user", .kind = REPORT_TEXT }
    };
    struct report_table *table = two_policies();
    struct report_table *other = report_table_create("users", others, 1);
    struct error error;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    report_table_add_text(other, "b");
    report_table_add_text(other, "a");
    report_table_sort_all("user");
    assert_int_equal(report_table_check_sort(&error), 0); /* nothing was written */
    assert_int_equal(report_table_write(table, OUTPUT_CSV, out), 0);
    assert_int_equal(report_table_check_sort(&error), -EINVAL);
    assert_string_equal(error.text, "there is no column 'user' to sort by; there are policy, "
                                    "instances, norm_cost, cost");
    assert_int_equal(fseek(out, 0, SEEK_SET), 0);
    assert_int_equal(report_table_write(other, OUTPUT_CSV, out), 0);
    assert_int_equal(report_table_check_sort(&error), 0);
    assert_memory_equal(text, "user\na\nb\n", 9);
    report_table_sort_all(NULL);
    assert_int_equal(fseek(out, 0, SEEK_SET), 0);
    assert_int_equal(report_table_write(other, OUTPUT_CSV, out), 0); /* which is as it was */
    assert_memory_equal(text, "user\nb\na\n", 9);
    (void)fclose(out);
    free(text);
    report_table_destroy(other);
    report_table_destroy(table);
}

TEST(a_long_text_wraps_within_its_column_and_loses_nothing)
{
    static const struct report_column two[] = {
        { .key = "why", .heading = "why" },
        { .key = "type", .heading = "type" },
    };
    struct report_table *table = report_table_create("reasons", two, 2);

    report_table_add_text(table, "a sentence that goes on and on, until it does not fit beside "
                                 "what else there is to be said of the row");
    report_table_add_text(table, "g4dn.12xlarge-in-us-east-1a-on-demand-and-more-of-that-name");

    char *text = printed(table, OUTPUT_TABLE);

    for (const char *line = text; *line != 0; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= REPORT_WIDTH);
    assert_non_null(strstr(text, "\na sentence"));
    assert_non_null(strstr(text, "said"));
    assert_non_null(strstr(text, "g4dn."));
    assert_non_null(strstr(text, "-name"));
    assert_null(strchr(text, '~'));
    free(text);
}

TEST(cells_tell_numbers_from_text_and_headings_are_whole)
{
    static const struct report_column two[] = {
        { .key = "name", .heading = "avail- ability/ name" },
        { .key = "cost", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
    };
    struct report_table *table = report_table_create("two", two, 2);
    char *text;

    report_table_add_text(table, "12");
    report_table_add_money(table, 1234567890);
    report_table_add_text(table, "a\x1f\x1d");
    report_table_add_missing(table);
    report_table_as_cells(true);
    text = printed(table, OUTPUT_TABLE);
    report_table_as_cells(false);

    assert_non_null(strstr(text, "\x1e"
                                 "availability/name\x1f\x1c"
                                 "cost $\n\x1d"
                                 "12\x1f"
                                 "1,234.57\x1c"
                                 "1234.567890\n"));
    assert_null(strstr(text, "a\x1f\x1d")); /* no name can end its cell */
    free(text);
}

TEST(a_wide_table_has_a_line_for_each_row)
{
    char wide[2 * REPORT_WIDTH + 1];
    char *text;

    memset(wide, 'x', sizeof(wide));
    wide[sizeof(wide) - 1] = 0;
    report_table_wide(true);
    text = printed(one_text(wide), OUTPUT_TABLE);
    report_table_wide(false);

    assert_non_null(strstr(text, wide));
    free(text);
}

TEST(a_terminal_that_is_too_narrow_cuts_the_widest_text)
{
    const struct winsize size = { .ws_row = 24, .ws_col = 40 };
    struct report_table *table = report_table_create("comparison", columns, COLUMNS);
    char text[1024] = "";
    const int master = posix_openpt(O_RDWR | O_NOCTTY);

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        ioctl(master, TIOCSWINSZ, &size) != 0) {
        report_table_destroy(table);
        skip();
        return;
    }
    report_table_add_text(table, "a policy with a very long name");
    report_table_add_integer(table, 1);
    report_table_add_real(table, 2);
    report_table_add_money(table, 3000000);

    FILE *out = fdopen(open(ptsname(master), O_RDWR | O_NOCTTY), "r+");

    assert_non_null(out);
    assert_int_equal(report_table_write(table, OUTPUT_TABLE, out), 0);
    read_until(master, "3.00\r\n", text, sizeof(text));
    assert_non_null(strstr(text, "~  "));
    for (const char *line = text; *line != 0; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\r\n") <= 40);
    (void)fclose(out);
    (void)close(master);
    report_table_destroy(table);
}

TEST(formats_are_known_by_name_and_others_refused)
{
    enum output_format format = OUTPUT_CSV;
    struct error error;

    assert_int_equal(output_format_parse("json", &format, &error), 0);
    assert_int_equal(format, OUTPUT_JSON);
    assert_int_equal(output_format_parse("table", &format, NULL), 0);
    assert_int_equal(format, OUTPUT_TABLE);
    assert_int_equal(output_format_parse("csv", &format, NULL), 0);
    assert_int_equal(format, OUTPUT_CSV);

    assert_int_equal(output_format_parse("xml", &format, &error), -EINVAL);
    assert_int_equal(format, OUTPUT_CSV);
    assert_string_equal(error.text,
                        "unknown output format 'xml': use table, wide, json, yaml or csv");
}

CHECK_MAIN(RUN(a_table_aligns_numbers_to_the_right_and_text_to_the_left),
           RUN(json_has_the_keys_in_column_order_and_fixed_digits),
           RUN(csv_has_a_line_of_keys_and_one_per_row), RUN(missing_is_a_dash_or_null_or_nothing),
           RUN(an_empty_table_still_says_what_its_columns_are),
           RUN(csv_quotes_what_would_be_read_otherwise), RUN(any_text_can_be_read_back_from_json),
           RUN(bytes_that_are_not_text_do_not_break_json),
           RUN(a_line_break_or_escape_in_a_cell_does_not_reach_the_terminal),
           RUN(columns_are_as_wide_as_their_characters_not_their_bytes),
           RUN(headings_wrap_only_when_the_table_is_too_wide),
           RUN(an_alignment_that_was_asked_for_is_used), RUN(notes_stand_between_name_and_rows),
           RUN(rows_are_sorted_by_a_column), RUN(every_table_of_a_process_can_be_sorted),
           RUN(a_long_text_wraps_within_its_column_and_loses_nothing),
           RUN(a_wide_table_has_a_line_for_each_row),
           RUN(cells_tell_numbers_from_text_and_headings_are_whole),
           RUN(a_terminal_that_is_too_narrow_cuts_the_widest_text), RUN(a_full_disk_is_reported),
           RUN(formats_are_known_by_name_and_others_refused))
