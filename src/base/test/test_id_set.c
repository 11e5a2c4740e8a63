/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id_set.h"
#include "base/rng.h"
#include "base/test/check.h"

TEST(an_empty_set_holds_nothing)
{
    struct id_set set;

    id_set_init(&set);
    assert_false(id_set_has(&set, 0));
    assert_false(id_set_has(&set, UINT64_MAX));
    assert_false(id_set_remove(&set, 0));
    id_set_done(&set);
}

/* The judge is a plain array over a small range of ids, which are so far apart, up to the last that there is. */
static void agree_with_an_array(uint64_t stride)
{
    enum { IDS = 300, STEPS = 200000 };
    bool truth[IDS] = { false };
    struct id_set set;
    struct id_set copy;
    struct rng rng;

    id_set_init(&set);
    rng_init(&rng, 7, 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint64_t i = rng_below(&rng, IDS);
        const uint64_t probe = rng_below(&rng, IDS);

        if (rng_below(&rng, 3) > 0) {
            id_set_add(&set, UINT64_MAX - i * stride);
            truth[i] = true;
        } else {
            assert_int_equal(id_set_remove(&set, UINT64_MAX - i * stride), truth[i]);
            truth[i] = false;
        }
        assert_int_equal(id_set_has(&set, UINT64_MAX - probe * stride), truth[probe]);
    }
    id_set_copy(&copy, &set);
    for (uint64_t i = 0; i < IDS; i++)
        assert_int_equal(id_set_remove(&set, UINT64_MAX - i * stride), truth[i]);
    assert_int_equal(set.blocks.count, 0);
    for (uint64_t i = 0; i < IDS; i++)
        assert_int_equal(id_set_has(&copy, UINT64_MAX - i * stride), truth[i]);
    id_set_done(&set);
    id_set_done(&copy);
}

TEST(random_adds_and_removes_agree_with_an_array)
{
    agree_with_an_array(1);
    agree_with_an_array(7);
    agree_with_an_array(1U << 20);
}

TEST(ids_in_order_share_their_slots)
{
    enum { IDS = 100000 };
    struct id_set set;

    id_set_init(&set);
    for (uint64_t id = 0; id < IDS; id++)
        id_set_add(&set, id);
    assert_int_equal(set.blocks.count, IDS / 16);
    id_set_done(&set);
}

CHECK_MAIN(RUN(an_empty_set_holds_nothing), RUN(random_adds_and_removes_agree_with_an_array),
           RUN(ids_in_order_share_their_slots))
