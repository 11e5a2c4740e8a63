/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/budget.h"

#include <string.h>

#include "base/test/check.h"
#include "trace/catalogue_file.h"

#define DAY (24 * MSEC_PER_HOUR)

static const msec_t noon = 1794744000000; /* 2026-11-15 12:00 UTC */

TEST(days_and_months_are_those_of_utc)
{
    msec_t from = 0;
    msec_t until = 0;

    budget_span(BUDGET_DAY, noon, &from, &until);
    assert_int_equal(from, noon - DAY / 2);
    assert_int_equal(until, noon + DAY / 2);
    budget_span(BUDGET_DAY, until, &from, &until);
    assert_int_equal(from, noon + DAY / 2);
    budget_span(BUDGET_MONTH, noon, &from, &until);
    assert_int_equal(from, noon - DAY / 2 - 14 * DAY);
    assert_int_equal(until - from, 30 * DAY);
    budget_span(BUDGET_MONTH, until + 30 * DAY, &from, &until); /* December */
    assert_int_equal(until - from, 31 * DAY);
}

TEST(a_bill_over_midnight_is_split_by_time)
{
    struct budget budget = { .of = { { .limit = 1000 }, { .limit = 1000 } } };

    budget_begin(&budget, noon);
    budget_add_bill(&budget, noon - DAY, noon, 101);               /* half of it today */
    budget_add_bill(&budget, noon - DAY, noon - DAY / 2, 40);      /* yesterday */
    budget_add_bill(&budget, noon - 1000, noon, 7);                /* today */
    budget_add_bill(&budget, noon - 20 * DAY, noon - 16 * DAY, 5); /* last month */
    assert_int_equal(budget.of[BUDGET_DAY].closed, 51 + 7);
    assert_int_equal(budget.of[BUDGET_MONTH].closed, 101 + 40 + 7);
}

TEST(the_tighter_limit_is_what_is_left)
{
    struct budget budget = { .of = { { .limit = 100, .spent = 40 },
                                     { .limit = 1000, .spent = 990 } } };

    assert_int_equal(budget_left(&budget), 10);
    budget.of[BUDGET_MONTH].limit = 0;
    assert_int_equal(budget_left(&budget), 60);
    budget.of[BUDGET_DAY].spent = 130;
    assert_int_equal(budget_left(&budget), -30);
    assert_true(budget_has_limits(&budget));
    budget.of[BUDGET_DAY].limit = 0;
    assert_false(budget_has_limits(&budget));
}

TEST(a_new_day_begins_a_new_period)
{
    struct budget budget = { .of = { { .limit = 100 } } };

    assert_true(budget_is_over(&budget, noon)); /* it never began */
    budget_begin(&budget, noon);
    assert_false(budget_is_over(&budget, noon));
    assert_false(budget_is_over(&budget, noon + DAY / 2 - 1));
    assert_true(budget_is_over(&budget, noon + DAY / 2));
}

static const char types[] = "billing: { step: 1s, minimum: 60s }\n"
                            "types:\n"
                            "  - { name: small, cpu: 2, mem_gib: 8, price: 0.36 }\n";

/* A machine of $0.0001 a second, for which a minute is paid at the least. */
TEST(what_is_rented_counts_with_its_minimum_and_its_step)
{
    struct budget budget = { .of = { { .limit = 1000000 }, { .limit = 1000000 } } };
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;

    assert_int_equal(catalogue_file_read(types, strlen(types), &catalogue, NULL), 0);
    shapes_init(&shapes);
    view_init(&view, &catalogue, &shapes);
    budget_begin(&budget, noon);
    const uint32_t machine = view_add_instance(&view, 1, 0);

    view_set_billed_from(&view, machine, -1); /* asked for */
    budget_count(&budget, &view, noon);
    assert_int_equal(budget.of[BUDGET_DAY].spent, 6000);
    view_set_billed_from(&view, machine, noon - 100 * MSEC_PER_SEC);
    budget_count(&budget, &view, noon);
    assert_int_equal(budget.of[BUDGET_DAY].spent, 10100); /* the second that has begun too */
    view_set_billed_from(&view, machine, noon - DAY);
    budget_add_bill(&budget, noon - 1000, noon, 7);
    budget_count(&budget, &view, noon);
    assert_in_range(budget.of[BUDGET_DAY].spent, 4320000 + 7, 4320000 + 7 + 200);
    assert_in_range(budget.of[BUDGET_MONTH].spent, 8640000 + 7, 8640000 + 7 + 200);
    view_done(&view);
    shapes_done(&shapes);
    catalogue_done(&catalogue);
}

CHECK_MAIN(RUN(days_and_months_are_those_of_utc), RUN(a_bill_over_midnight_is_split_by_time),
           RUN(the_tighter_limit_is_what_is_left), RUN(a_new_day_begins_a_new_period),
           RUN(what_is_rented_counts_with_its_minimum_and_its_step))
