/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/improve_order.h"

#include <string.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "decide/machine_index.h"
#include "decide/test/yard.h"

enum { UNITS = 200, WAITING = 9, ROUND_MS = 60000 };

/* A search with machines and tasks that wait, as far as the order of pairs looks at it. */
struct world {
    struct arena arena;
    struct view view;
    struct search search;
    uint8_t seen[UNITS][UNITS]; /* how often each pair was looked at */
};

static void world_init(struct world *world)
{
    struct rng rng;

    *world = (struct world){ .view = { .round_ms = ROUND_MS } };
    rng_init(&rng, 7, 0);
    arena_init(&world->arena);
    world->search = (struct search){
        .view = &world->view, .arena = &world->arena, .unit_count = UNITS, .offer_count = 24
    };
    world->search.units = ARENA_ARRAY(&world->arena, struct unit, UNITS);
    for (uint32_t i = 0; i < UNITS; i++) {
        const bool waits = i >= UNITS - WAITING;

        world->search.units[i] = (struct unit){
            .instance = waits ? ROW_NONE : i,
            .offer = UNIT_NONE,
            .task_count = waits ? 1 : (uint32_t)rng_below(&rng, 6),
            .loss = (double)rng_below(&rng, 50),
        };
    }
}

static void note(struct world *world, const struct group *pair)
{
    const uint32_t a = pair->units[0];
    const uint32_t b = pair->units[1];

    assert_int_equal(pair->count, 2);
    assert_true(a < UNITS && b < UNITS && a != b);
    world->seen[a < b ? a : b][a < b ? b : a]++;
}

/* How many pairs were looked at, and none more than so often. */
static uint32_t count_seen(const struct world *world, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t a = 0; a < UNITS; a++) {
        for (uint32_t b = a + 1; b < UNITS; b++) {
            assert_true(world->seen[a][b] <= most);
            count += world->seen[a][b] > 0;
        }
    }
    return count;
}

TEST(by_rank_who_waits_comes_first_then_who_loses_most)
{
    struct world world;
    struct pair_order order;
    struct group pair;
    double last = 1e9;

    world_init(&world);
    world.search.units[3].instance = ROW_NONE; /* nothing any more */
    world.search.units[3].task_count = 0;
    pair_order_begin(&order, &world.search, 1);
    assert_int_equal(order.count, UNITS - 1);
    for (uint32_t i = 0; i < order.count; i++) {
        const struct unit *unit = &world.search.units[order.ranked[i]];

        assert_int_equal(unit->instance == ROW_NONE, i < WAITING);
        if (i == WAITING)
            last = 1e9;
        assert_true(unit->loss <= last);
        last = unit->loss;
    }
    /* The first so many units have met each other before the next one comes. */
    for (uint32_t i = 0; i < WAITING * (WAITING - 1) / 2; i++) {
        assert_true(pair_order_ranked(&order, &pair));
        assert_true(pair.units[0] >= UNITS - WAITING && pair.units[1] >= UNITS - WAITING);
        note(&world, &pair);
    }
    while (pair_order_ranked(&order, &pair))
        note(&world, &pair);
    assert_int_equal(count_seen(&world, 1), (UNITS - 1) * (UNITS - 2) / 2);
    arena_done(&world.arena);
}

TEST(by_turn_each_pair_comes_once)
{
    for (uint32_t round = 0; round < 40; round++) {
        struct world world;
        struct pair_order order;
        struct group pair;

        world_init(&world);
        world.view.now = (msec_t)round * ROUND_MS;
        pair_order_begin(&order, &world.search, 5000000);
        while (pair_order_turn(&order, &pair))
            note(&world, &pair);
        assert_int_equal(count_seen(&world, 1), UNITS * (UNITS - 1) / 2);
        arena_done(&world.arena);
    }
}

/* Rounds that spend what they may, and no more. Returns how many it takes until all pairs were looked at. */
static uint32_t rounds_for_all(uint64_t work)
{
    struct world world;
    uint32_t round = 0;

    world_init(&world);
    for (; count_seen(&world, UINT8_MAX) < UNITS * (UNITS - 1) / 2; round++) {
        struct pair_order order;
        struct group pair;
        uint64_t spent = 0;

        assert_true(round < 100);
        world.view.now = (msec_t)(1000 + round) * ROUND_MS;
        pair_order_begin(&order, &world.search, work);
        while (spent < work && pair_order_turn(&order, &pair)) {
            if (pair_counts(&world.search.units[pair.units[0]], &world.search.units[pair.units[1]]))
                spent += group_work(&world.search, &pair);
            note(&world, &pair);
        }
    }
    arena_done(&world.arena);
    return round;
}

TEST(each_round_goes_on_where_the_last_one_stopped)
{
    struct world world;

    world_init(&world);

    const uint64_t all = pairs_work(&world.search);

    arena_done(&world.arena);
    assert_int_equal(rounds_for_all(all + 1), 1);
    assert_in_range(rounds_for_all(all / 4), 4, 12);
}

TEST(the_work_of_all_pairs_is_the_sum)
{
    struct world world;
    uint64_t sum = 0;

    world_init(&world);
    for (uint32_t a = 0; a < UNITS; a++) {
        for (uint32_t b = a + 1; b < UNITS; b++) {
            const struct group pair = { .units = { a, b }, .count = 2 };

            if (pair_counts(&world.search.units[a], &world.search.units[b]))
                sum += group_work(&world.search, &pair);
        }
    }
    assert_true(sum > 0);
    assert_true(pairs_work(&world.search) == sum);
    arena_done(&world.arena);
}

TEST(where_nothing_may_move_there_is_nothing_to_search)
{
    struct yard yard;
    struct row_map uses;

    yard_init(&yard);

    const uint32_t offer = yard_type(&yard, "any", 8, 32, 0, 1.0);
    const uint32_t shape = yard_shape(&yard, 2, 4, 0);
    const uint32_t task = yard_task(&yard, shape);
    const uint32_t machine = yard_machine(&yard, offer);
    const uint32_t job = yard.view.task.job[task];

    row_map_init(&uses, &yard.arena);
    assert_false(improve_has_any(&yard.view, 0, &uses)); /* it waits, for the fast rules */
    assert_true(improve_has_any(&yard.view, 1, &uses));
    yard_run(&yard, task, machine);
    assert_true(improve_has_any(&yard.view, 0, &uses));
    yard_fix(&yard.view, job, true);
    assert_false(improve_has_any(&yard.view, 0, &uses));
    yard_fix(&yard.view, job, false);
    row_map_set(&uses, machine, USE_PLACED);
    assert_false(improve_has_any(&yard.view, 0, &uses)); /* the machine is none of its business */
    yard_done(&yard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(by_rank_who_waits_comes_first_then_who_loses_most),
        RUN(by_turn_each_pair_comes_once),
        RUN(each_round_goes_on_where_the_last_one_stopped),
        RUN(the_work_of_all_pairs_is_the_sum),
        RUN(where_nothing_may_move_there_is_nothing_to_search),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
