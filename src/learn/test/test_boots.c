/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/boots.h"

#include "base/test/check.h"

static void learn(struct boots *boots, uint32_t type, msec_t acquire, msec_t setup, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        boots_learn(boots, type, (struct boot_times){ acquire, setup });
}

TEST(a_few_boots_say_nothing)
{
    struct boots boots;
    struct boot_times times;

    boots_init(&boots, 2);
    learn(&boots, 0, 1000, 60000, BOOTS_LEAST - 1);
    assert_false(boots_expect(&boots, 0, &times));
    boots_done(&boots);
}

TEST(one_slow_boot_changes_nothing)
{
    struct boots boots;
    struct boot_times times;

    boots_init(&boots, 1);
    learn(&boots, 0, 1000, 60000, BOOTS_LEAST);
    learn(&boots, 0, 900000, 3600000, 1);
    assert_true(boots_expect(&boots, 0, &times));
    assert_int_equal(times.acquire, 1000);
    assert_int_equal(times.setup, 60000);
    boots_done(&boots);
}

TEST(a_new_image_is_known_after_half_of_what_is_kept)
{
    struct boots boots;
    struct boot_times times;

    boots_init(&boots, 1);
    learn(&boots, 0, 1000, 60000, 100);
    learn(&boots, 0, 1000, 20000, BOOTS_KEPT / 2);
    assert_true(boots_expect(&boots, 0, &times));
    assert_int_equal(times.setup, 60000);
    learn(&boots, 0, 1000, 20000, 1);
    assert_true(boots_expect(&boots, 0, &times));
    assert_int_equal(times.setup, 20000);
    boots_done(&boots);
}

TEST(a_type_that_is_hardly_known_boots_like_the_others)
{
    struct boots boots;
    struct boot_times times;

    boots_init(&boots, 3);
    learn(&boots, 0, 1000, 60000, BOOTS_LEAST);
    learn(&boots, 1, 2000, 90000, BOOTS_LEAST + 1);
    assert_true(boots_expect(&boots, 0, &times));
    assert_int_equal(times.setup, 60000);
    assert_int_equal(times.acquire, 2000);
    assert_true(boots_expect(&boots, 2, &times));
    assert_int_equal(times.setup, 90000);
    assert_int_equal(times.acquire, 2000);
    boots_done(&boots);
}

CHECK_MAIN(RUN(a_few_boots_say_nothing), RUN(one_slow_boot_changes_nothing),
           RUN(a_new_image_is_known_after_half_of_what_is_kept),
           RUN(a_type_that_is_hardly_known_boots_like_the_others))
