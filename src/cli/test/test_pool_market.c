/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include "cli/pool_market.h"

enum { HOUR = 3600000 };

/* Two offers of 10 units: the first is above on demand from hour 2 to 3, the second is not to be had from
 * hour 2 to 4. */
static const struct price_change first[] = { { 0, 30000 },
                                             { 2 * HOUR, 200000 },
                                             { 3 * HOUR, 60000 } };
static const struct price_change second[] = { { 0, 0 },
                                              { 2 * HOUR, MONEY_UNKNOWN },
                                              { 4 * HOUR, 0 } };
static struct pool_market_offer offers[] = {
    { .series = { first, 3 }, .on_demand = 100000, .capacity = 10, .type = 0 },
    { .series = { second, 3 }, .price = 40000, .on_demand = 100000, .capacity = 10, .type = 1 },
};
static const struct pool_market market = { .offers = offers,
                                           .count = 2,
                                           .on_demand = { .capacity = 10, .price = 100000 } };
static const struct pool_span span = { 0, 6 * (msec_t)HOUR };

TEST(a_record_has_losses_and_the_mean_price)
{
    money_t price = 0;
    const struct promise_record record = pool_market_record(&market, 0, span, &price);

    assert_int_equal(record.watched, 6 * HOUR);
    assert_int_equal(record.gone, HOUR);
    assert_int_equal(record.losses, 1);
    assert_int_equal(price, (2 * 30000 + 3 * 60000) / 5);
}

TEST(states_have_what_was_gone_together)
{
    const int64_t held[] = { 10, 10 };
    struct avail_states states;
    struct arena arena;

    arena_init(&arena);
    avail_states_init(&states, 2, &arena);
    pool_market_states(&market, span, &states);

    assert_int_equal(states.total, 6 * HOUR);
    assert_int_equal(avail_states_below(&states, held, 10), HOUR);
    assert_int_equal(avail_states_below(&states, held, 20), 2 * HOUR);
    arena_done(&arena);
}

TEST(what_is_gone_is_not_paid_for)
{
    const uint32_t machines[] = { 1, 2 };
    struct pool_outcome outcome = { 0 };

    pool_market_hold(&market, machines, 20, span, &outcome);

    /* 20 units need the second offer. */
    assert_int_equal(outcome.short_ms, 2 * HOUR);
    assert_int_equal(outcome.cost, 2 * 30000 + 3 * 60000 + 4 * 2 * 40000);
}

TEST(a_repairing_pool_falls_back_to_on_demand)
{
    const struct repair_rule rule = repair_rule_default();
    struct pool_outcome outcome = { 0 };
    struct arena arena;

    arena_init(&arena);
    pool_market_repair(&market, &rule, 10, span, &arena, &outcome);

    /* Both are lost at hour 2: nothing serves until machines on demand have started. */
    assert_int_equal(outcome.short_ms, rule.start_ms);
    assert_int_equal(outcome.losses, 1);
    assert_int_equal(outcome.on_demand_ms, 2 * (4 * HOUR - rule.start_ms));
    assert_int_equal(outcome.cost, 2 * (30000 + 40000) + 4 * 2 * 100000);
    arena_done(&arena);
}

CHECK_MAIN(RUN(a_record_has_losses_and_the_mean_price), RUN(states_have_what_was_gone_together),
           RUN(what_is_gone_is_not_paid_for), RUN(a_repairing_pool_falls_back_to_on_demand))
