/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <string.h>

#include "base/rng.h"
#include "decide/promise_repair.h"

enum { OFFERS = 4 };

struct yard {
    struct repair_rule rule;
    struct promise_offer offers[OFFERS];
    bool is_gone[OFFERS];
    msec_t lost_at[OFFERS];
    struct repair_market market;
    struct repair_slot slots[REPAIR_SLOTS_MAX];
};

static void yard_init(struct yard *yard)
{
    *yard = (struct yard){ .rule = repair_rule_default() };
    for (uint32_t i = 0; i < OFFERS; i++) {
        yard->offers[i] = (struct promise_offer){ .capacity = 2, .price = 10 + i, .type = i / 2 };
        yard->lost_at[i] = -1;
    }
    yard->market = (struct repair_market){ .offers = yard->offers,
                                           .count = OFFERS,
                                           .is_gone = yard->is_gone,
                                           .lost_at = yard->lost_at,
                                           .on_demand = { .capacity = 1, .price = 50 } };
    repair_init(&yard->rule, yard->slots);
}

static msec_t step(struct yard *yard, msec_t now)
{
    yard->market.now = now;
    for (uint32_t i = 0; i < OFFERS; i++)
        yard->lost_at[i] = yard->is_gone[i] ? now : yard->lost_at[i];
    return repair_step(&yard->rule, &yard->market, yard->slots);
}

TEST(slots_are_filled_by_different_offers_cheapest_first)
{
    struct yard yard;

    yard_init(&yard);

    assert_int_equal(step(&yard, 0), 180000);
    assert_int_equal(repair_serving(&yard.rule, yard.slots), 0);
    assert_int_equal(step(&yard, 180000), MSEC_NEVER);
    assert_int_equal(repair_serving(&yard.rule, yard.slots), 2);
    assert_int_equal(yard.slots[0].serving, 0);
    assert_int_equal(yard.slots[1].serving, 1);
    /* 100 units are 50 machines in each slot. */
    assert_int_equal(repair_price(&yard.rule, &yard.market, yard.slots, 100), 50 * (10 + 11));
}

TEST(types_are_kept_apart_where_there_is_a_choice)
{
    struct yard yard;

    yard_init(&yard);
    yard.rule.types_apart = true;

    (void)step(&yard, 0);
    assert_int_equal(yard.slots[1].coming, 2);
    yard_init(&yard);
    yard.rule.types_apart = true;
    yard.is_gone[2] = yard.is_gone[3] = true;
    (void)step(&yard, 0);
    assert_int_equal(yard.slots[1].coming, 1);
}

TEST(a_lost_offer_is_replaced_and_left_alone_for_a_while)
{
    struct yard yard;

    yard_init(&yard);
    (void)step(&yard, 0);
    (void)step(&yard, 180000);
    yard.is_gone[0] = true;

    assert_int_equal(step(&yard, 200000), 380000);
    assert_int_equal(repair_serving(&yard.rule, yard.slots), 1);
    assert_int_equal(yard.slots[0].coming, 2);
    yard.is_gone[0] = false;
    yard.offers[0].price = 1; /* tempting, but it was lost a moment ago */
    assert_int_equal(step(&yard, 380000), MSEC_NEVER);
    assert_int_equal(yard.slots[0].serving, 2);
    assert_int_equal(step(&yard, 200000 + 6 * MSEC_PER_HOUR), 380000 + 6 * MSEC_PER_HOUR);
    assert_int_equal(yard.slots[0].coming, 0);
    assert_int_equal(yard.slots[0].serving, 2); /* until the new machines are there */
}

TEST(with_nothing_left_it_is_on_demand)
{
    struct yard yard;

    yard_init(&yard);
    memset(yard.is_gone, true, sizeof(yard.is_gone));

    (void)step(&yard, 0);
    (void)step(&yard, 180000);

    assert_int_equal(yard.slots[0].serving, REPAIR_ON_DEMAND);
    assert_int_equal(yard.slots[1].serving, REPAIR_ON_DEMAND);
    assert_int_equal(repair_price(&yard.rule, &yard.market, yard.slots, 10), 2 * 10 * 50);
}

TEST(what_is_lost_while_it_starts_is_asked_for_elsewhere)
{
    struct yard yard;

    yard_init(&yard);
    (void)step(&yard, 0);
    yard.is_gone[1] = true;

    (void)step(&yard, 60000);

    assert_int_equal(yard.slots[1].coming, 2);
    assert_int_equal(yard.slots[1].ready_at, 240000);
}

/* No two slots ever have the same offer, none serves with one that is gone, and each always serves or
 * waits for something. */
TEST(slots_are_sound_in_a_thousand_markets)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct yard yard;
        struct rng rng;
        msec_t now = 0;

        rng_init(&rng, seed, 0);
        yard_init(&yard);
        yard.rule.slots = 1 + (uint32_t)rng_below(&rng, 4);
        yard.rule.losses = (uint32_t)rng_below(&rng, yard.rule.slots);
        yard.rule.types_apart = rng_below(&rng, 2) == 0;
        repair_init(&yard.rule, yard.slots);
        for (int i = 0; i < 60; i++) {
            uint32_t users[OFFERS] = { 0 };

            yard.is_gone[rng_below(&rng, OFFERS)] = rng_below(&rng, 2) == 0;
            yard.offers[rng_below(&rng, OFFERS)].price = 1 + (money_t)rng_below(&rng, 40);
            now += (msec_t)rng_below(&rng, 4 * MSEC_PER_HOUR);
            (void)step(&yard, now);
            for (uint32_t s = 0; s < yard.rule.slots; s++) {
                const struct repair_slot *slot = &yard.slots[s];

                assert_true(slot->serving != REPAIR_NONE || slot->coming != REPAIR_NONE);
                assert_true(slot->coming == REPAIR_NONE || slot->ready_at > now);
                if (slot->serving < OFFERS) {
                    assert_false(yard.is_gone[slot->serving]);
                    assert_int_equal(users[slot->serving]++, 0);
                }
                if (slot->coming < OFFERS)
                    assert_int_equal(users[slot->coming]++, 0);
            }
        }
    }
}

CHECK_MAIN(RUN(slots_are_filled_by_different_offers_cheapest_first),
           RUN(types_are_kept_apart_where_there_is_a_choice),
           RUN(a_lost_offer_is_replaced_and_left_alone_for_a_while),
           RUN(with_nothing_left_it_is_on_demand),
           RUN(what_is_lost_while_it_starts_is_asked_for_elsewhere),
           RUN(slots_are_sound_in_a_thousand_markets))
