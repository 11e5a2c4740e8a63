/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tournament.h"

#include "base/rng.h"
#include "base/test/check.h"

enum { NUMBERS = 200, ABSENT = -1 };

static bool is_higher(const void *context, uint32_t a, uint32_t b)
{
    const int *points = context;

    return points[a] > points[b];
}

/* The judge: the first of the highest. */
static uint32_t search(const int *points)
{
    uint32_t best = TOURNAMENT_NONE;

    for (uint32_t i = 0; i < NUMBERS; i++) {
        if (points[i] != ABSENT && (best == TOURNAMENT_NONE || points[i] > points[best]))
            best = i;
    }
    return best;
}

TEST(nobody_is_the_best_of_nobody)
{
    const int points[1] = { 0 };
    struct tournament tournament;
    struct arena arena;

    arena_init(&arena);
    tournament_init(&tournament, &arena, is_higher, points);

    assert_int_equal(tournament_best(&tournament), TOURNAMENT_NONE);
    tournament_drop(&tournament, 0);
    tournament_drop(&tournament, 1000);
    assert_int_equal(tournament_best(&tournament), TOURNAMENT_NONE);
    arena_done(&arena);
}

TEST(random_changes_agree_with_a_search_from_the_first_on)
{
    int points[NUMBERS];
    struct tournament tournament;
    struct arena arena;
    struct rng rng;

    for (uint32_t i = 0; i < NUMBERS; i++)
        points[i] = ABSENT;
    arena_init(&arena);
    rng_init(&rng, 5, 0);
    tournament_init(&tournament, &arena, is_higher, points);
    for (uint32_t step = 0; step < 20000; step++) {
        /* Higher numbers come later, so that it grows; few different points, so that some tie. */
        const uint32_t number = (uint32_t)rng_below(&rng, 1 + step / 50 % NUMBERS);

        if (rng_below(&rng, 3) == 0) {
            points[number] = ABSENT;
            tournament_drop(&tournament, number);
        } else {
            points[number] = (int)rng_below(&rng, 20);
            tournament_enter(&tournament, number);
        }
        assert_int_equal(tournament_best(&tournament), search(points));
    }
    arena_done(&arena);
}

CHECK_MAIN(RUN(nobody_is_the_best_of_nobody),
           RUN(random_changes_agree_with_a_search_from_the_first_on))
