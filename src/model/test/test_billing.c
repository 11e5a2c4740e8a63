/* SPDX-License-Identifier: Apache-2.0 */
#include "model/billing.h"

#include <stdio.h>

#include "base/rng.h"
#include "base/test/check.h"

#define SECOND MSEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR   MSEC_PER_HOUR

static const struct price_change fixed[] = { { 0, HOUR } }; /* one micro-dollar a millisecond */
static const struct price_series plain = { fixed, 1 };

TEST(each_rule_pays_the_span_of_its_table)
{
    static const struct {
        struct billing_rule rule;
        msec_t span;
        msec_t paid;
    } table[] = {
        /* per second, no minimum */
        { { SECOND, 0 }, 0, 0 },
        { { SECOND, 0 }, 1, SECOND },
        { { SECOND, 0 }, SECOND, SECOND },
        { { SECOND, 0 }, SECOND + 1, 2 * SECOND },
        /* EC2 for Linux */
        { { SECOND, MINUTE }, 0, 0 },
        { { SECOND, MINUTE }, 1, MINUTE },
        { { SECOND, MINUTE }, MINUTE, MINUTE },
        { { SECOND, MINUTE }, MINUTE + 1, MINUTE + SECOND },
        /* per minute, ten at the least */
        { { MINUTE, 10 * MINUTE }, 1, 10 * MINUTE },
        { { MINUTE, 10 * MINUTE }, 10 * MINUTE - 1, 10 * MINUTE },
        { { MINUTE, 10 * MINUTE }, 10 * MINUTE + 1, 11 * MINUTE },
        /* the EC2 of 2016 */
        { { HOUR, HOUR }, 1, HOUR },
        { { HOUR, HOUR }, HOUR, HOUR },
        { { HOUR, HOUR }, HOUR + 1, 2 * HOUR },
        { { HOUR, HOUR }, 25 * HOUR - 1, 25 * HOUR },
        /* a minimum that is no multiple of the step is paid as it is */
        { { MINUTE, 90 * SECOND }, 1, 90 * SECOND },
        { { MINUTE, 90 * SECOND }, 61 * SECOND, 2 * MINUTE },
        /* to the millisecond */
        { { 1, 0 }, 12345, 12345 },
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (billing_paid_span(&table[i].rule, table[i].span) != table[i].paid)
            fail_msg("row %zu is wrong", i);
    }
}

TEST(the_macro_for_seconds_has_no_minimum)
{
    const struct billing_rule rule = BILLING_PER_SECOND;

    assert_int_equal(billing_paid_span(&rule, 1), SECOND);
}

TEST(a_charge_depends_on_how_long_and_not_on_when)
{
    const struct billing_rule rule = { MINUTE, 10 * MINUTE };

    assert_int_equal(billing_charge(&rule, &plain, 0, 700 * SECOND), 12 * MINUTE);
    assert_int_equal(billing_charge(&rule, &plain, 12345, 12345 + 700 * SECOND), 12 * MINUTE);
}

TEST(a_machine_that_did_not_run_is_free)
{
    const struct billing_rule rule = { HOUR, HOUR };

    assert_int_equal(billing_charge(&rule, &plain, 5, 5), 0);
}

/* What is paid beyond the end is paid at the prices of then. */
TEST(added_time_is_charged_at_the_price_of_that_time)
{
    const struct price_change changes[] = { { 0, HOUR }, { 30 * MINUTE, 3 * HOUR } };
    const struct price_series series = { changes, 2 };
    const struct billing_rule rule = { HOUR, 0 };

    assert_int_equal(billing_charge(&rule, &series, 0, 10 * MINUTE), 30 * MINUTE + 90 * MINUTE);
}

TEST(random_bills_never_fall_as_a_machine_runs_on)
{
    const struct price_change changes[] = { { 0, 5000 }, { 4000, 0 }, { 9000, 123456789 } };
    const struct price_series series = { changes, 3 };
    struct rng rng;

    (void)fprintf(stderr, "seed 21\n");
    rng_init(&rng, 21, 0);
    for (int round = 0; round < 500; round++) {
        const struct billing_rule rule = { 1 + (msec_t)rng_below(&rng, 3000),
                                           (msec_t)rng_below(&rng, 5000) };
        const msec_t from = (msec_t)rng_below(&rng, 10000);
        money_t before = 0;

        for (msec_t to = from; to < from + 12000; to += 1 + (msec_t)rng_below(&rng, 400)) {
            const money_t bill = billing_charge(&rule, &series, from, to);

            if (bill < before || bill < price_between(&series, from, to))
                fail_msg("round %d: the bill until %d is too small", round, (int)to);
            before = bill;
        }
    }
}

CHECK_MAIN(RUN(each_rule_pays_the_span_of_its_table), RUN(the_macro_for_seconds_has_no_minimum),
           RUN(a_charge_depends_on_how_long_and_not_on_when),
           RUN(a_machine_that_did_not_run_is_free),
           RUN(added_time_is_charged_at_the_price_of_that_time),
           RUN(random_bills_never_fall_as_a_machine_runs_on))
