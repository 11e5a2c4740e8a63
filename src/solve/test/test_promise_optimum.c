/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest pool against a search through all pools. It stands here because the solver does.
 */
#include "base/test/check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "decide/promise_optimum.h"
#include "solve/cbc_solver.h"

#ifndef SEEDS
#define SEEDS 1000 /* fewer where every allocation is watched */
#endif

enum { OFFERS_MOST = 4, CAPACITY_MOST = 9 };

struct yard {
    struct arena arena;
    struct promise_offer offers[OFFERS_MOST];
    struct avail_states states;
    struct promise promise;
};

static void yard_init(struct yard *yard, uint64_t seed)
{
    struct rng rng;
    struct promise *promise = &yard->promise;

    rng_init(&rng, seed, 0);
    arena_init(&yard->arena);
    *promise = (struct promise){ .offers = yard->offers,
                                 .count = 1 + (uint32_t)rng_below(&rng, OFFERS_MOST),
                                 .capacity = 1 + (int64_t)rng_below(&rng, CAPACITY_MOST),
                                 .short_most = pow(10, -1 - 3 * rng_unit(&rng)) };
    for (uint32_t i = 0; i < promise->count; i++)
        yard->offers[i] = (struct promise_offer){ .capacity = 1 + (int64_t)rng_below(&rng, 3),
                                                  .price = 100 + (money_t)rng_below(&rng, 1000),
                                                  .down = pow(10, -0.5 - 2 * rng_unit(&rng)),
                                                  .type = (uint32_t)rng_below(&rng, 3) };
    promise->survives_types = rng_below(&rng, 4) == 0;
    if (rng_below(&rng, 3) > 0)
        return;
    avail_states_init(&yard->states, promise->count, &yard->arena);
    for (int i = 0; i < 6; i++) {
        bool gone[OFFERS_MOST];

        for (uint32_t k = 0; k < promise->count; k++)
            gone[k] = i > 0 && rng_below(&rng, 2) == 0;
        avail_states_add(&yard->states, gone, i > 0 ? 1 + (msec_t)rng_below(&rng, 40) : 10000);
    }
    promise->states = &yard->states;
    promise->only_joint = true;
}

/* The least price of a pool that holds, or MONEY_UNKNOWN: count up all numbers of machines. More of one
 * offer than the whole capacity is never of use. */
static money_t brute(struct yard *yard)
{
    const struct promise *promise = &yard->promise;
    uint32_t machines[OFFERS_MOST] = { 0 };
    money_t least = MONEY_UNKNOWN;
    uint32_t at = 0;

    while (at < promise->count) {
        const money_t price = promise_price(promise, machines);

        if (price < least && promise_judge(promise, machines, &yard->arena).holds)
            least = price;
        for (at = 0; at < promise->count; at++) {
            if (yard->offers[at].capacity * machines[at]++ < promise->capacity)
                break;
            machines[at] = 0;
        }
    }
    return least;
}

TEST(the_optimum_equals_brute_force)
{
    uint32_t held = 0;
    uint32_t cheaper = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct promise_optimum optimum;
        struct yard yard;

        yard_init(&yard, seed);

        struct promise_pool simple = promise_k_of_n(&yard.promise, &yard.arena);
        const money_t expected = brute(&yard);

        promise_improve(&yard.promise, &simple, &yard.arena);
        assert_int_equal(promise_optimum(&yard.promise, cbc_solver(), 0, &yard.arena, &optimum), 0);
        if (optimum.pool.verdict.holds != (expected != MONEY_UNKNOWN) ||
            (expected != MONEY_UNKNOWN && optimum.pool.verdict.price != expected))
            fail_msg("seed %u: %lld, not %lld", (unsigned)seed,
                     (long long)optimum.pool.verdict.price, (long long)expected);
        assert_true(optimum.is_proven == (expected != MONEY_UNKNOWN));
        assert_true(!optimum.is_proven || optimum.bound <= expected);
        held += optimum.pool.verdict.holds;
        cheaper += simple.verdict.holds && expected < simple.verdict.price;
        arena_done(&yard.arena);
    }
    print_message("# %u pools hold, %u of them cheaper than k of n\n", held, cheaper);
    assert_in_range(held, SEEDS / 2, SEEDS - 1);
    assert_in_range(cheaper, 1, SEEDS);
}

TEST(a_small_program_has_its_solution)
{
    /* Least 3a + 2b with 2a + b >= 7 and b <= 3. */
    const double cost[] = { 3, 2 };
    const double most[] = { 10, 3 };
    const struct milp_entry entries[] = { { 0, 2 }, { 1, 1 } };
    const struct milp_row row = { entries, 2, 7 };
    const struct milp milp = {
        .columns = 2, .cost = cost, .most = most, .rows = &row, .row_count = 1, .node_most = 1000
    };
    struct milp_answer answer;
    double x[2] = { 0 };

    assert_int_equal(cbc_solver()->solve(&milp, x, &answer), 0);

    assert_true(answer.is_found && answer.is_optimal);
    assert_true(fabs(3 * x[0] + 2 * x[1] - 11) < 1e-9);
    assert_true(fabs(answer.bound - 11) < 1e-6);
}

TEST(a_program_without_a_solution_has_none)
{
    const double cost[] = { 1 };
    const double most[] = { 3 };
    const struct milp_entry entry = { 0, 1 };
    const struct milp_row row = { &entry, 1, 4 };
    const struct milp milp = {
        .columns = 1, .cost = cost, .most = most, .rows = &row, .row_count = 1, .node_most = 1000
    };
    struct milp_answer answer;
    double x[1] = { 0 };

    assert_int_equal(cbc_solver()->solve(&milp, x, &answer), 0);

    assert_false(answer.is_found);
}

CHECK_MAIN(RUN(a_small_program_has_its_solution), RUN(a_program_without_a_solution_has_none),
           RUN(the_optimum_equals_brute_force))
