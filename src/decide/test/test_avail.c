/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "decide/avail.h"
#include "decide/avail_states.h"

enum { SEEDS = 1000, OFFERS_MOST = 9 };

struct small {
    uint32_t count;
    int64_t capacity[OFFERS_MOST];
    double down[OFFERS_MOST];
    int64_t limit;
};

static struct small small_pool(uint64_t seed)
{
    struct rng rng;
    struct small pool = { 0 };

    rng_init(&rng, seed, 0);
    pool.count = 1 + (uint32_t)rng_below(&rng, OFFERS_MOST);
    for (uint32_t i = 0; i < pool.count; i++) {
        pool.capacity[i] = (int64_t)rng_below(&rng, 12);
        pool.down[i] =
            rng_below(&rng, 8) == 0 ? (double)rng_below(&rng, 2) : pow(10, -5 * rng_unit(&rng));
    }
    pool.limit = 1 + (int64_t)rng_below(&rng, 60);
    return pool;
}

/* The share of the time with less than 'capacity', by going through all subsets. */
static double brute_below(const struct small *pool, int64_t capacity)
{
    double sum = 0;

    for (uint32_t gone = 0; gone < 1U << pool->count; gone++) {
        double share = 1;
        int64_t there = 0;

        for (uint32_t i = 0; i < pool->count; i++) {
            const bool is_gone = gone >> i & 1;

            share *= is_gone ? pool->down[i] : 1 - pool->down[i];
            there += is_gone ? 0 : pool->capacity[i];
        }
        sum += there < capacity ? share : 0;
    }
    return sum;
}

static void fill(const struct small *pool, struct avail *avail, struct arena *arena)
{
    avail_init(avail, pool->limit, arena);
    for (uint32_t i = 0; i < pool->count; i++)
        avail_add(avail, pool->capacity[i], pool->down[i]);
}

TEST(the_distribution_equals_brute_force)
{
    struct arena arena;

    arena_init(&arena);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct small pool = small_pool(seed);
        struct avail avail;

        fill(&pool, &avail, &arena);
        for (int64_t c = 0; c <= pool.limit; c++) {
            const double expected = brute_below(&pool, c);

            if (fabs(avail_below(&avail, c) - expected) > 1e-12 * expected)
                fail_msg("seed %u: below %d is %.17g, not %.17g", (unsigned)seed, (int)c,
                         avail_below(&avail, c), expected);
        }
        arena_reset(&arena);
    }
    arena_done(&arena);
}

TEST(all_shares_sum_to_one)
{
    struct arena arena;

    arena_init(&arena);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct small pool = small_pool(seed);
        struct avail avail;

        fill(&pool, &avail, &arena);
        assert_true(fabs(avail_below(&avail, pool.limit) + avail.at[pool.limit] - 1) < 1e-12);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

TEST(a_cleared_distribution_is_like_new)
{
    struct arena arena;
    struct avail avail;

    arena_init(&arena);
    avail_init(&avail, 10, &arena);
    avail_add(&avail, 7, 0.5);
    avail_clear(&avail);

    avail_add(&avail, 3, 0.25);

    assert_true(fabs(avail_below(&avail, 3) - 0.25) < 1e-15);
    assert_true(fabs(avail_below(&avail, 4) - 1) < 1e-15);
    arena_done(&arena);
}

TEST(a_tiny_shortfall_is_exact)
{
    struct arena arena;
    struct avail avail;

    arena_init(&arena);
    avail_init(&avail, 1, &arena);

    for (int i = 0; i < 6; i++)
        avail_add(&avail, 1, 1e-5);

    assert_true(fabs(avail_below(&avail, 1) / 1e-30 - 1) < 1e-12);
    arena_done(&arena);
}

TEST(the_excess_is_the_mean_beyond_the_capacity)
{
    struct arena arena;
    struct avail avail;

    arena_init(&arena);
    avail_init(&avail, 20, &arena);
    avail_add(&avail, 6, 0.5);
    avail_add(&avail, 8, 0.25);

    /* 0, 6, 8 and 14 units, for 1/8, 1/8, 3/8 and 3/8 of the time. */
    assert_true(fabs(avail_excess(&avail, 5, 10) - (1 + 3 * 3 + 3 * 9) / 8.0) < 1e-15);
    assert_true(fabs(avail_excess(&avail, 5, 4) - (1 + 3 * 3 + 3 * 4) / 8.0) < 1e-15);
    arena_done(&arena);
}

TEST(joint_states_equal_a_recount)
{
    enum { OFFERS = 70, PIECES = 40 };

    struct arena arena;

    arena_init(&arena);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        static bool gone[PIECES][OFFERS];
        msec_t span[PIECES];
        int64_t held[OFFERS];
        struct avail_states states;
        struct rng rng;
        msec_t below = 0;
        msec_t first_gone = 0;

        rng_init(&rng, seed, 0);
        avail_states_init(&states, OFFERS, &arena);
        for (uint32_t i = 0; i < OFFERS; i++)
            held[i] = (int64_t)rng_below(&rng, 3);
        for (int p = 0; p < PIECES; p++) {
            int64_t there = 0;

            for (uint32_t i = 0; i < OFFERS; i++) /* often a state that was there before */
                gone[p][i] = p % 2 == 1 ? gone[p / 2][i] : rng_below(&rng, 2) == 0;
            for (uint32_t i = 0; i < OFFERS; i++)
                there += gone[p][i] ? 0 : held[i];
            span[p] = (msec_t)rng_below(&rng, 1000);
            below += there < 35 ? span[p] : 0;
            first_gone += gone[p][0] ? span[p] : 0;
            avail_states_add(&states, gone[p], span[p]);
        }

        assert_int_equal(avail_states_below(&states, held, 35), below);
        assert_int_equal(avail_states_gone(&states, 0), first_gone);
        assert_true(states.count <= PIECES / 2 + 1);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

CHECK_MAIN(RUN(the_distribution_equals_brute_force), RUN(all_shares_sum_to_one),
           RUN(a_cleared_distribution_is_like_new), RUN(a_tiny_shortfall_is_exact),
           RUN(the_excess_is_the_mean_beyond_the_capacity), RUN(joint_states_equal_a_recount))
