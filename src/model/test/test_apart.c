/* SPDX-License-Identifier: Apache-2.0 */
#include "model/apart.h"

#include "base/rng.h"
#include "base/test/check.h"

static uint32_t number(struct aparts *aparts, const struct apart_mark *marks, uint32_t count)
{
    return aparts_add(aparts, marks, count);
}

TEST(no_marks_keep_apart_from_nothing)
{
    struct aparts aparts;
    const struct apart_mark silent = { .mark = 5, .sides = 0 };

    aparts_init(&aparts);

    assert_int_equal(number(&aparts, NULL, 0), APART_NONE);
    assert_int_equal(number(&aparts, &silent, 1), APART_NONE);
    assert_false(aparts_meet(&aparts, APART_NONE, APART_NONE));
    aparts_done(&aparts);
}

TEST(one_mark_with_both_sides_is_the_group)
{
    struct aparts aparts;
    const struct apart_mark halves[] = { { 9, APART_HAS }, { 9, APART_SHUNS } };

    aparts_init(&aparts);

    assert_int_equal(number(&aparts, halves, 2), apart_group(9));
    assert_int_equal(aparts.set_count, 0);
    assert_true(apart_group(9) >= APART_GROUPS);
    assert_true(apart_group(9) < APART_SETS);
    assert_true(aparts_meet(&aparts, apart_group(9), apart_group(9)));
    assert_false(aparts_meet(&aparts, apart_group(9), apart_group(10)));
    aparts_done(&aparts);
}

TEST(who_shuns_a_mark_keeps_away_from_who_has_it)
{
    struct aparts aparts;
    const struct apart_mark shy[] = { { 1, APART_SHUNS } };
    const struct apart_mark loud[] = { { 1, APART_HAS } };

    aparts_init(&aparts);

    const uint32_t a = number(&aparts, shy, 1);
    const uint32_t b = number(&aparts, loud, 1);

    assert_true(aparts_meet(&aparts, a, b));
    assert_true(aparts_meet(&aparts, b, a));
    assert_false(aparts_meet(&aparts, a, a));
    assert_false(aparts_meet(&aparts, b, b));
    assert_true(aparts_meet(&aparts, a, apart_group(1))); /* a group has its mark and shuns it */
    assert_true(aparts_meet(&aparts, b, apart_group(1)));
    aparts_done(&aparts);
}

TEST(equal_sets_are_kept_once_whatever_their_order)
{
    struct aparts aparts;
    const struct apart_mark one[] = { { 1, APART_SHUNS }, { 2, APART_HAS }, { 2, APART_HAS } };
    const struct apart_mark two[] = { { 2, APART_HAS }, { 1, APART_SHUNS } };
    const struct apart_mark other[] = { { 2, APART_SHUNS }, { 1, APART_SHUNS } };

    aparts_init(&aparts);

    const uint32_t a = number(&aparts, one, 3);

    assert_true(a >= APART_SETS);
    assert_int_equal(number(&aparts, two, 2), a);
    assert_int_not_equal(number(&aparts, other, 2), a);
    aparts_done(&aparts);
}

enum { ROUNDS = 200, SETS = 12, MARKS = 5, EACH = 4 };

static bool meet_by_hand(const struct apart_mark *a, uint32_t count_a, const struct apart_mark *b,
                         uint32_t count_b)
{
    for (uint32_t i = 0; i < count_a; i++) {
        for (uint32_t j = 0; j < count_b; j++) {
            if (a[i].mark == b[j].mark &&
                (((a[i].sides & APART_SHUNS) && (b[j].sides & APART_HAS)) ||
                 ((a[i].sides & APART_HAS) && (b[j].sides & APART_SHUNS))))
                return true;
        }
    }
    return false;
}

TEST(random_sets_and_their_copies_meet_as_their_marks_do)
{
    struct rng rng;

    rng_init(&rng, 1, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct apart_mark marks[SETS][EACH];
        uint32_t count[SETS];
        uint32_t set[SETS];
        struct aparts aparts;
        struct aparts copy;

        aparts_init(&aparts);
        for (uint32_t i = 0; i < SETS; i++) {
            count[i] = (uint32_t)rng_below(&rng, EACH + 1);
            for (uint32_t j = 0; j < count[i]; j++)
                marks[i][j] = (struct apart_mark){ .mark = rng_below(&rng, MARKS),
                                                   .sides = (uint8_t)rng_below(&rng, 4) };
            set[i] = aparts_add(&aparts, marks[i], count[i]);
        }
        aparts_copy(&copy, &aparts);
        for (uint32_t i = 0; i < SETS; i++) {
            for (uint32_t j = 0; j < SETS; j++) {
                const bool expected = meet_by_hand(marks[i], count[i], marks[j], count[j]);

                assert_int_equal(aparts_meet(&aparts, set[i], set[j]), expected);
                assert_int_equal(aparts_meet(&copy, set[i], set[j]), expected);
            }
        }
        aparts_done(&copy);
        aparts_done(&aparts);
    }
}

CHECK_MAIN(RUN(no_marks_keep_apart_from_nothing), RUN(one_mark_with_both_sides_is_the_group),
           RUN(who_shuns_a_mark_keeps_away_from_who_has_it),
           RUN(equal_sets_are_kept_once_whatever_their_order),
           RUN(random_sets_and_their_copies_meet_as_their_marks_do))
