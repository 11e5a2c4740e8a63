/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test/check.h"

#include "engine/slurm/slurm_keys.h"

TEST(a_key_is_new_then_open_then_answered)
{
    struct slurm_keys keys;
    const char *answer = NULL;

    slurm_keys_init(&keys);
    assert_int_equal(slurm_keys_find(&keys, 7, &answer), SLURM_KEY_NEW);
    slurm_keys_open(&keys, 7);
    assert_int_equal(slurm_keys_find(&keys, 7, &answer), SLURM_KEY_OPEN);
    slurm_keys_answer(&keys, 7, "done key=7\nrest", 11);

    assert_int_equal(slurm_keys_find(&keys, 7, &answer), SLURM_KEY_ANSWERED);
    assert_string_equal(answer, "done key=7\n");
    slurm_keys_done(&keys);
}

TEST(a_forgotten_key_is_new_again)
{
    struct slurm_keys keys;
    const char *answer = NULL;

    slurm_keys_init(&keys);
    slurm_keys_open(&keys, 7);
    slurm_keys_forget(&keys, 7);
    slurm_keys_answer(&keys, 7, "done", 4);

    assert_int_equal(slurm_keys_find(&keys, 7, &answer), SLURM_KEY_NEW);
    slurm_keys_done(&keys);
}

TEST(the_oldest_key_makes_room_and_no_other)
{
    struct slurm_keys keys;
    const char *answer = NULL;

    slurm_keys_init(&keys);
    slurm_keys_open(&keys, 1000000);
    slurm_keys_forget(&keys, 1000000);
    slurm_keys_open(&keys, 1000000);
    for (uint64_t key = 0; key < SLURM_KEYS_MAX - 1; key++) {
        slurm_keys_open(&keys, key);
        slurm_keys_answer(&keys, key, "x", 1);
    }

    /* The slot that was left behind went first; the key that came again is in the second. */
    assert_int_equal(slurm_keys_find(&keys, 1000000, &answer), SLURM_KEY_OPEN);
    slurm_keys_open(&keys, 2000000);
    assert_int_equal(slurm_keys_find(&keys, 1000000, &answer), SLURM_KEY_NEW);
    assert_int_equal(slurm_keys_find(&keys, 0, &answer), SLURM_KEY_ANSWERED);
    slurm_keys_done(&keys);
}

CHECK_MAIN(RUN(a_key_is_new_then_open_then_answered), RUN(a_forgotten_key_is_new_again),
           RUN(the_oldest_key_makes_room_and_no_other))
