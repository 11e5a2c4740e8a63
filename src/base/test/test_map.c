/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "base/rng.h"
#include "base/test/check.h"

TEST(an_empty_map_holds_nothing)
{
    struct map map;
    map_init(&map);

    assert_int_equal(map_get(&map, 0), MAP_NONE);
    assert_false(map_remove(&map, 0));
    map_done(&map);
}

/* The judge is a plain array over a small range of keys. */
TEST(random_puts_and_removes_agree_with_an_array)
{
    enum { KEYS = 300, STEPS = 200000 };
    uint32_t truth[KEYS];
    struct map map;
    struct rng rng;

    map_init(&map);
    rng_init(&rng, 7, 0);
    for (int i = 0; i < KEYS; i++)
        truth[i] = MAP_NONE;
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint64_t key = rng_below(&rng, KEYS);

        if (rng_below(&rng, 3) > 0) {
            map_put(&map, key, step);
            truth[key] = step;
        } else {
            assert_int_equal(map_remove(&map, key), truth[key] != MAP_NONE);
            truth[key] = MAP_NONE;
        }

        const uint64_t probe = rng_below(&rng, KEYS);

        assert_int_equal(map_get(&map, probe), truth[probe]);
    }
    for (uint64_t key = 0; key < KEYS; key++)
        assert_int_equal(map_get(&map, key), truth[key]);
    map_done(&map);
}

CHECK_MAIN(RUN(an_empty_map_holds_nothing), RUN(random_puts_and_removes_agree_with_an_array))
