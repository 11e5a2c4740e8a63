/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "trace/offer_table.h"

static void refuses(const char *text, const char *why)
{
    struct offer_table table = { 0 };
    struct error error = { "" };

    assert_true(offer_table_read(text, strlen(text), &table, &error) < 0);
    if (strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
    assert_null(table.rows);
}

static void read_text(struct offer_table *table, const char *text)
{
    struct error error = { "" };

    if (offer_table_read(text, strlen(text), table, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(a_row_is_an_offer)
{
    struct offer_table table;

    read_text(&table, "type,zone,capacity,price,on_demand,availability\n"
                      "m1,a,8,0.1,0.4,0.999\nm2,,16,0.2,,1\n");

    assert_int_equal(table.count, 2);
    assert_string_equal(names_text(&table.names, table.rows[0].type), "m1");
    assert_string_equal(names_text(&table.names, table.rows[0].zone), "a");
    assert_int_equal(table.rows[0].capacity, 8);
    assert_int_equal(table.rows[0].price, 100000);
    assert_int_equal(table.rows[0].on_demand, 400000);
    assert_true(fabs(table.rows[0].down - 0.001) < 1e-15);
    assert_int_equal(table.rows[1].zone, NAME_NONE);
    assert_int_equal(table.rows[1].on_demand, 0);
    assert_true(table.rows[1].down <= 0);
    offer_table_done(&table);
}

TEST(a_published_table_is_read_as_it_is)
{
    struct offer_table table;

    read_text(&table, "ECU,AvgSpotPrice,OnDemandPrice,VM,Availability\r\n"
                      "6,0.02899303156640832,0.1,m4.large,0.999989121234\r\n");

    assert_int_equal(table.rows[0].price, 28993);
    assert_int_equal(table.rows[0].digits, 12);
    assert_int_equal(table.rows[0].tail, 1234);
    assert_true(fabs(table.rows[0].down - 1.0878766e-05) < 1e-15);
    offer_table_done(&table);
}

TEST(a_table_is_told_from_a_catalogue)
{
    static const char table[] = "ECU,VM,Availability\n";
    static const char catalogue[] = "types:\n  - { name: a, availability: 3 }\n";

    assert_true(offer_table_looks_like(table, strlen(table)));
    assert_false(offer_table_looks_like(catalogue, strlen(catalogue)));
    assert_false(offer_table_looks_like("", 0));
}

TEST(what_is_wrong_is_said_with_its_line)
{
    static const char head[] = "type,capacity,price,availability\n";
    char text[200];

    refuses("type,capacity,price\na,1,1\n", "no column 'availability'");
    refuses(head, "no offer");
    (void)snprintf(text, sizeof(text), "%sa,1,0.1,1.5\n", head);
    refuses(text, "line 2: 'availability' must be a share from 0 to 1, not '1.5'");
    (void)snprintf(text, sizeof(text), "%sa,1,0.1,0.5\nb,1.5,1,1\n", head);
    refuses(text, "line 3: 'capacity' must be a whole number");
    (void)snprintf(text, sizeof(text), "%sa,1,-1,0.5\n", head);
    refuses(text, "'price' must be dollars");
    (void)snprintf(text, sizeof(text), "%s,1,1,0.5\n", head);
    refuses(text, "'type' must be a name");
}

CHECK_MAIN(RUN(a_row_is_an_offer), RUN(a_published_table_is_read_as_it_is),
           RUN(a_table_is_told_from_a_catalogue), RUN(what_is_wrong_is_said_with_its_line))
