/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top_rows.h"

#include <string.h>

#include "base/test/check.h"

static const char machines[] =
    "{\"now\": 100000, \"total\": 5, \"instances\": ["
    "{\"instance\": \"st-10\", \"type\": \"small\", \"state\": \"ready\", \"rented_at\": 40000,"
    " \"used\": {\"cpu_milli\": 1000}, \"capacity\": {\"cpu_milli\": 2000},"
    " \"price_microdollars_per_hour\": 300000},"
    "{\"instance\": \"st-9\", \"type\": \"Large\", \"state\": \"booting\", \"rented_at\": 90000,"
    " \"price_microdollars_per_hour\": 2000000},"
    "{\"instance\": \"st-11\\n\\u001b[2J\", \"type\": \"small\", \"state\": \"ready\"}]}";

static void read_list(struct top_list *list)
{
    json_t *answer = json_loads(machines, 0, NULL);

    assert_non_null(answer);
    top_list_init(list, TOP_MACHINES);
    top_list_read(list, answer);
    json_decref(answer);
}

/* The names of the rows that are shown, as one text. */
static const char *names(struct top_list *list, struct top_order order, const char *filter)
{
    static char text[256];

    top_list_arrange(list, order, filter);
    text[0] = 0;
    for (uint32_t i = 0; i < list->shown_count; i++) {
        (void)strncat(text, list->rows[list->shown[i]].cells[0].text, 5);
        (void)strncat(text, " ", 2);
    }
    return text;
}

TEST(rows_are_sorted_by_number_and_what_is_unknown_comes_last)
{
    const int price = top_column(TOP_MACHINES, "per_hour");
    struct top_list list;

    read_list(&list);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.total, 5);
    assert_string_equal(names(&list, (struct top_order){ TOP_UNSORTED, false }, ""),
                        "st-10 st-9 st-11 ");
    assert_string_equal(names(&list, (struct top_order){ 0, false }, ""), "st-9 st-10 st-11 ");
    assert_string_equal(names(&list, (struct top_order){ price, false }, ""), "st-10 st-9 st-11 ");
    assert_string_equal(names(&list, (struct top_order){ price, true }, ""), "st-9 st-10 st-11 ");
    top_list_done(&list);
}

TEST(rows_pass_a_filter_if_they_contain_every_word)
{
    const struct top_order unsorted = { TOP_UNSORTED, false };
    struct top_list list;

    read_list(&list);
    assert_string_equal(names(&list, unsorted, "SMALL"), "st-10 st-11 ");
    assert_string_equal(names(&list, unsorted, " small  st-10 "), "st-10 ");
    assert_string_equal(names(&list, unsorted, "large ready"), "");
    top_list_done(&list);
}

TEST(names_are_one_clean_line)
{
    struct top_list list;

    read_list(&list);
    assert_null(strpbrk(list.rows[2].cells[0].text, "\n\033"));
    assert_string_equal(list.rows[0].cells[6].text, "50");
    assert_string_equal(list.rows[1].cells[6].text, "-");
    assert_string_equal(list.rows[0].cells[4].text, "60 s");
    assert_string_equal(list.rows[0].cells[9].text, "0.300");
    top_list_done(&list);
}

TEST(columns_are_found_by_their_key)
{
    assert_int_equal(top_column(TOP_JOBS, "user"), 1);
    assert_int_equal(top_column(TOP_MACHINES, "user"), -1);
    assert_int_equal(top_column(TOP_JOBS, ""), -1);
}

CHECK_MAIN(RUN(rows_are_sorted_by_number_and_what_is_unknown_comes_last),
           RUN(rows_pass_a_filter_if_they_contain_every_word), RUN(names_are_one_clean_line),
           RUN(columns_are_found_by_their_key))
