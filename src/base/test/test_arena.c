/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/test/check.h"

TEST(memory_is_zeroed_even_after_a_reset)
{
    struct arena arena;
    arena_init(&arena);
    unsigned char *first = ARENA_ARRAY(&arena, unsigned char, 100);
    memset(first, 0xff, 100);

    arena_reset(&arena);
    unsigned char *again = ARENA_ARRAY(&arena, unsigned char, 100);

    assert_ptr_equal(first, again);
    for (int i = 0; i < 100; i++)
        assert_int_equal(again[i], 0);
    arena_done(&arena);
}

TEST(blocks_never_overlap_and_are_aligned)
{
    struct arena arena;
    arena_init(&arena);

    for (int round = 0; round < 3; round++) {
        unsigned char *block[200];

        for (unsigned i = 0; i < 200; i++) {
            block[i] = ARENA_ARRAY(&arena, unsigned char, 1 + i * 37 % 9000);
            assert_int_equal((uintptr_t)block[i] % 16, 0);
            memset(block[i], (int)i, 1 + i * 37 % 9000);
        }
        for (unsigned i = 0; i < 200; i++) {
            assert_int_equal(block[i][0], i);
            assert_int_equal(block[i][i * 37 % 9000], i);
        }
        arena_reset(&arena);
    }
    arena_done(&arena);
}

TEST(one_allocation_may_be_larger_than_a_block)
{
    struct arena arena;
    arena_init(&arena);

    unsigned char *small = ARENA_ARRAY(&arena, unsigned char, 10);
    unsigned char *large = ARENA_ARRAY(&arena, unsigned char, 1000000);

    large[999999] = 1;
    small[9] = 1;
    assert_int_equal(large[0], 0);
    arena_done(&arena);
}

CHECK_MAIN(RUN(memory_is_zeroed_even_after_a_reset), RUN(blocks_never_overlap_and_are_aligned),
           RUN(one_allocation_may_be_larger_than_a_block))
