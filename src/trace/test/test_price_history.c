/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/test/check.h"
#include "trace/price_history.h"

static void read_text(struct price_history *history, const char *text)
{
    struct error error = { "" };

    if (price_history_read(text, strlen(text), history, &error) < 0)
        fail_msg("%s", error.text);
}

static void refuses(const char *text, const char *why)
{
    struct price_history history = { 0 };
    struct error error = { "" };

    assert_true(price_history_read(text, strlen(text), &history, &error) < 0);
    if (strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
    assert_null(history.changes);
}

TEST(changes_are_sorted_by_offer_and_time)
{
    struct price_history history;

    read_text(&history, "unix_time,az,instance_type,spot_price\n"
                        "30,a,m1,0.3\n10,b,m1,0.5\n20,a,m1,0.2\n30,a,m1,0.4\n");

    assert_int_equal(history.offer_count, 2);
    assert_int_equal(history.first, 10000);
    assert_int_equal(history.last, 30000);

    const uint32_t offer = price_history_find(&history, "m1", "a");
    const struct price_series *series = &history.offers[offer].series;

    assert_int_equal(series->count, 3);
    assert_int_equal(series->changes[0].at, 20000);
    assert_int_equal(series->changes[0].per_hour, 200000);
    assert_int_equal(series->changes[2].per_hour, 400000); /* of one moment, the last line */
    assert_int_equal(price_history_find(&history, "m1", NULL), UINT32_MAX);
    assert_int_equal(price_history_find(&history, "m2", "a"), UINT32_MAX);
    price_history_done(&history);
}

TEST(what_is_not_to_be_had_has_no_price)
{
    struct price_history history;

    read_text(&history, "time,type,available\n0,m1,3\n5,m1,0\n6.5,m1,1\n");

    const struct price_series *series = &history.offers[0].series;

    assert_int_equal(price_history_find(&history, "m1", NULL), 0);
    assert_int_equal(series->changes[0].per_hour, 0);
    assert_true(series->changes[1].per_hour == MONEY_UNKNOWN);
    assert_int_equal(series->changes[2].at, 6500);
    price_history_done(&history);
}

TEST(what_is_wrong_is_said_with_its_line)
{
    refuses("time,type\n0,a\n", "neither 'price' nor 'available'");
    refuses("type,price\na,1\n", "no column 'time'");
    refuses("time,type,price\n", "no change");
    refuses("time,type,price\n0,a,0\n", "line 2: 'price' must be dollars");
    refuses("time,type,price\n-1,a,1\n", "line 2: 'time' must be seconds");
    refuses("time,type,available\n1,a,-1\n", "'available' must be a whole number");
    refuses("time,type,price\n1,,1\n", "'type' must be a name");
}

CHECK_MAIN(RUN(changes_are_sorted_by_offer_and_time), RUN(what_is_not_to_be_had_has_no_price),
           RUN(what_is_wrong_is_said_with_its_line))
