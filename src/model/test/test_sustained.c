/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "model/sustained.h"

enum { MONTH = 720 };

static void fill(uint32_t *usage, uint32_t from, uint32_t to, uint32_t machines)
{
    for (uint32_t i = from; i < to; i++)
        usage[i] += machines;
}

TEST(a_machine_that_runs_all_month_pays_seventy_per_cent)
{
    const struct sustained_rule rule = SUSTAINED_MONTH;
    uint32_t usage[MONTH] = { 0 };

    fill(usage, 0, MONTH, 1);

    assert_int_equal(sustained_cost(&rule, usage, MONTH, 1000000), 504 * MONEY_PER_USD);
}

TEST(a_machine_that_runs_a_quarter_pays_in_full)
{
    const struct sustained_rule rule = SUSTAINED_MONTH;
    uint32_t usage[MONTH] = { 0 };

    fill(usage, 100, 280, 1);

    assert_int_equal(sustained_cost(&rule, usage, MONTH, 1000000), 180 * MONEY_PER_USD);
}

TEST(machines_that_follow_each_other_count_as_one)
{
    const struct sustained_rule rule = SUSTAINED_MONTH;
    uint32_t usage[MONTH] = { 0 };

    fill(usage, 0, 360, 1);
    fill(usage, 360, 720, 1);

    assert_int_equal(sustained_cost(&rule, usage, MONTH, 1000000), 504 * MONEY_PER_USD);
}

TEST(every_month_begins_anew)
{
    const struct sustained_rule rule = SUSTAINED_MONTH;
    uint32_t usage[2 * MONTH] = { 0 };

    fill(usage, MONTH - 180, MONTH + 180, 3);

    assert_int_equal(sustained_cost(&rule, usage, 2 * MONTH, 1000000), 3 * 360 * MONEY_PER_USD);
}

CHECK_MAIN(RUN(a_machine_that_runs_all_month_pays_seventy_per_cent),
           RUN(a_machine_that_runs_a_quarter_pays_in_full),
           RUN(machines_that_follow_each_other_count_as_one), RUN(every_month_begins_anew))
