/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "decide/promise.h"
#include "decide/promise_tiers.h"

enum { SEEDS = 1000, OFFERS = 6 };

struct yard {
    struct arena arena;
    struct promise_offer offers[OFFERS];
    struct promise promise;
};

static void yard_init(struct yard *yard, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, 0);
    arena_init(&yard->arena);
    for (uint32_t i = 0; i < OFFERS; i++)
        yard->offers[i] = (struct promise_offer){ .capacity = 1 + (int64_t)rng_below(&rng, 9),
                                                  .price = 1 + (money_t)rng_below(&rng, 1000),
                                                  .down = pow(10, -1 - 3 * rng_unit(&rng)),
                                                  .type = i / 2 };
    yard->promise = (struct promise){ .offers = yard->offers,
                                      .count = OFFERS,
                                      .capacity = 20 + (int64_t)rng_below(&rng, 60),
                                      .short_most = 1e-4 };
}

TEST(what_is_never_taken_away_is_not_lost_with_its_type)
{
    const struct promise_offer offers[] = {
        { .capacity = 1, .price = 30, .down = 0.01 },
        { .capacity = 1, .price = 100, .is_safe = true },
    };
    const struct promise promise = {
        .offers = offers, .count = 2, .capacity = 4, .short_most = 0.05, .survives_types = true
    };
    const uint32_t spot[] = { 4, 0 };
    const uint32_t mixed[] = { 2, 3 };
    const uint32_t safe[] = { 0, 4 };
    struct arena arena;

    arena_init(&arena);
    assert_false(promise_judge(&promise, spot, &arena).holds);
    assert_false(promise_judge(&promise, mixed, &arena).holds);
    assert_true(promise_judge(&promise, safe, &arena).holds);

    const struct promise_pool pool = promise_k_of_n(&promise, &arena);

    assert_true(pool.verdict.holds);
    assert_int_equal(pool.verdict.price, 400);
    arena_done(&arena);
}

TEST(greedy_holds_what_it_says)
{
    uint32_t held = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct yard yard;

        yard_init(&yard, seed);

        struct promise_walk walk;
        bool is_over = false;

        promise_walk_init(&walk, &yard.promise, &yard.arena);
        while (!is_over && !promise_walk_reached(&walk, 1e-4))
            is_over = !promise_walk_step(&walk);

        const struct promise_verdict verdict =
            promise_judge(&yard.promise, walk.machines, &yard.arena);

        assert_int_equal(verdict.price, walk.price);
        assert_int_equal(verdict.capacity, walk.capacity);
        assert_true(fabs(verdict.short_independent - walk.below) < 1e-12);
        assert_true(is_over || verdict.holds);
        held += verdict.holds;
        arena_done(&yard.arena);
    }
    assert_in_range(held, SEEDS / 4, SEEDS);
}

TEST(k_of_n_is_within_the_limit_and_improving_never_breaks_a_promise)
{
    uint32_t cheaper = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct yard yard;

        yard_init(&yard, seed);
        yard.promise.survives_types = seed % 3 == 0;

        struct promise_pool pool = promise_k_of_n(&yard.promise, &yard.arena);
        const struct promise_verdict before = pool.verdict;

        promise_improve(&yard.promise, &pool, &yard.arena);

        const struct promise_verdict after =
            promise_judge(&yard.promise, pool.machines, &yard.arena);

        assert_true(before.capacity <= PROMISE_OVERBUY * yard.promise.capacity);
        assert_true(after.holds == before.holds);
        assert_true(after.price <= before.price);
        assert_true(!after.holds || !yard.promise.survives_types || after.survives_types);
        cheaper += after.price < before.price;
        arena_done(&yard.arena);
    }
    assert_in_range(cheaper, 1, SEEDS);
}

TEST(where_no_pool_can_the_best_one_is_given)
{
    struct promise_offer offers[3] = {
        { .capacity = 1, .price = 10, .down = 0.5, .type = 0 },
        { .capacity = 1, .price = 20, .down = 0.2, .type = 1 },
        { .capacity = 1, .price = 30, .down = 0.1, .type = 2 },
    };
    const struct promise promise = {
        .offers = offers, .count = 3, .capacity = 100, .short_most = 1e-5
    };
    struct arena arena;

    arena_init(&arena);

    const struct promise_pool pool = promise_k_of_n(&promise, &arena);

    assert_false(pool.verdict.holds);
    assert_true(fabs(pool.verdict.short_independent - 0.01) < 1e-12); /* all three, 100 each */
    assert_true(fabs(promise_short_least(&promise) - 0.01) < 1e-12);
    arena_done(&arena);
}

/* The two that are there the longest are always gone together; the third is gone at other times. */
TEST(the_best_that_can_be_done_knows_what_is_gone_together)
{
    struct promise_offer offers[3] = {
        { .capacity = 1, .price = 10, .down = 0.1, .type = 0 },
        { .capacity = 1, .price = 10, .down = 0.1, .type = 1 },
        { .capacity = 1, .price = 20, .down = 0.3, .type = 2 },
    };
    struct avail_states states;
    struct promise promise = { .offers = offers,
                               .count = 3,
                               .capacity = 100,
                               .short_most = 1e-5,
                               .states = &states,
                               .only_joint = true };
    struct arena arena;

    arena_init(&arena);
    avail_states_init(&states, 3, &arena);
    avail_states_add(&states, (const bool[]){ true, true, false }, 99);
    avail_states_add(&states, (const bool[]){ true, true, true }, 1);
    avail_states_add(&states, (const bool[]){ false, false, true }, 300);
    avail_states_add(&states, (const bool[]){ false, false, false }, 600);

    const struct promise_pool pool = promise_k_of_n(&promise, &arena);

    assert_false(pool.verdict.holds);
    assert_true(fabs(pool.verdict.short_joint - 0.001) < 1e-15);
    assert_int_equal(pool.machines[2], 100);
    arena_done(&arena);
}

TEST(the_fleet_takes_the_cheapest_unit)
{
    struct promise_offer offers[3] = {
        { .capacity = 2, .price = 10, .down = 0.1, .type = 0 },
        { .capacity = 5, .price = 20, .down = 0.1, .type = 1 },
        { .capacity = 1, .price = 30, .down = 0.1, .type = 2 },
    };
    const struct promise promise = {
        .offers = offers, .count = 3, .capacity = 11, .short_most = 1e-5
    };
    struct arena arena;

    arena_init(&arena);

    const struct promise_pool cheapest = promise_fleet_cheapest(&promise, &arena);
    const struct promise_pool diverse = promise_fleet_diverse(&promise, &arena);

    assert_int_equal(cheapest.machines[1], 3);
    assert_int_equal(cheapest.verdict.price, 60);
    assert_int_equal(diverse.machines[1], 2); /* 5, 2, 1, 5 */
    assert_int_equal(diverse.machines[0], 1);
    assert_int_equal(diverse.machines[2], 1);
    arena_done(&arena);
}

TEST(what_was_lost_together_counts_as_such)
{
    struct promise_offer offers[2] = {
        { .capacity = 1, .price = 10, .down = 0.01, .type = 0 },
        { .capacity = 1, .price = 10, .down = 0.01, .type = 0 },
    };
    struct promise promise = { .offers = offers, .count = 2, .capacity = 1, .short_most = 1e-3 };
    const uint32_t machines[2] = { 1, 1 };
    struct avail_states states;
    struct arena arena;

    arena_init(&arena);
    avail_states_init(&states, 2, &arena);
    avail_states_add(&states, (const bool[]){ true, true }, 10);
    avail_states_add(&states, (const bool[]){ false, false }, 990);

    assert_true(promise_judge(&promise, machines, &arena).holds);
    promise.states = &states;
    assert_false(promise_judge(&promise, machines, &arena).holds);
    assert_true(fabs(promise_judge(&promise, machines, &arena).short_joint - 0.01) < 1e-15);
    assert_true(fabs(promise_short_least(&promise) - 0.01) < 1e-15);
    promise.states = NULL;
    promise.survives_types = true;
    assert_false(promise_judge(&promise, machines, &arena).holds);
    assert_true(promise_survives(&promise, machines, 0));
    arena_done(&arena);
}

/* All subsets of all offers. */
static double brute_tiers(const struct yard *yard, const struct promise_tier *tiers, uint32_t count)
{
    double sum = 0;

    for (uint32_t gone = 0; gone < 1U << OFFERS; gone++) {
        double share = 1;
        bool is_short = false;

        for (uint32_t i = 0; i < OFFERS; i++)
            share *= gone >> i & 1 ? yard->offers[i].down : 1 - yard->offers[i].down;
        for (uint32_t t = 0; t < count; t++) {
            int64_t there = 0;

            for (uint32_t i = 0; i < OFFERS; i++)
                there += gone >> i & 1 ? 0 : yard->offers[i].capacity * tiers[t].machines[i];
            is_short |= there < tiers[t].capacity;
        }
        sum += is_short ? share : 0;
    }
    return sum;
}

TEST(tiers_equal_brute_force)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct yard yard;
        struct rng rng;
        uint32_t machines[3][OFFERS];
        struct promise_tier tiers[3];

        yard_init(&yard, seed);
        rng_init(&rng, seed, 1);
        for (int t = 0; t < 3; t++) {
            for (int i = 0; i < OFFERS; i++)
                machines[t][i] = (uint32_t)rng_below(&rng, 4);
            tiers[t] = (struct promise_tier){ (int64_t)rng_below(&rng, 40), machines[t] };
        }

        const double expected = brute_tiers(&yard, tiers, 3);
        const double found = promise_tiers_short(yard.offers, OFFERS, tiers, 3, 0, &yard.arena);

        assert_true(fabs(found - expected) <= 1e-12 * expected);
        arena_done(&yard.arena);
    }
}

CHECK_MAIN(RUN(what_is_never_taken_away_is_not_lost_with_its_type), RUN(greedy_holds_what_it_says),
           RUN(k_of_n_is_within_the_limit_and_improving_never_breaks_a_promise),
           RUN(where_no_pool_can_the_best_one_is_given),
           RUN(the_best_that_can_be_done_knows_what_is_gone_together),
           RUN(the_fleet_takes_the_cheapest_unit), RUN(what_was_lost_together_counts_as_such),
           RUN(tiers_equal_brute_force))
