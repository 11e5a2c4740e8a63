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

/* The judge is a plain array over a small range of keys, which are so far apart. */
static void agree_with_an_array(uint64_t stride)
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
            map_put(&map, key * stride, step);
            truth[key] = step;
        } else {
            assert_int_equal(map_remove(&map, key * stride), truth[key] != MAP_NONE);
            truth[key] = MAP_NONE;
        }

        const uint64_t probe = rng_below(&rng, KEYS);

        assert_int_equal(map_get(&map, probe * stride), truth[probe]);
    }
    for (uint64_t key = 0; key < KEYS; key++)
        assert_int_equal(map_get(&map, key * stride), truth[key]);
    map_done(&map);
}

TEST(random_puts_and_removes_agree_with_an_array)
{
    agree_with_an_array(1);
}

TEST(and_so_they_do_where_keys_have_their_low_bits_in_common)
{
    agree_with_an_array(8);
    agree_with_an_array(1U << 20);
}

CHECK_MAIN(RUN(an_empty_map_holds_nothing), RUN(random_puts_and_removes_agree_with_an_array),
           RUN(and_so_they_do_where_keys_have_their_low_bits_in_common))
