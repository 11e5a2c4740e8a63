/* SPDX-License-Identifier: Apache-2.0 */
#include "model/res.h"

#include "base/test/check.h"

TEST(what_is_as_large_in_every_kind_fits)
{
    const struct res want = { { 4000, 1024, 500 } };

    assert_true(res_fits(&want, &want));
}

TEST(one_unit_too_much_of_any_kind_does_not_fit)
{
    const struct res free = { { 4000, 1024, 500 } };

    for (int kind = 0; kind < RES_KINDS; kind++) {
        struct res want = free;

        want.amount[kind]++;
        assert_false(res_fits(&want, &free));
    }
}

TEST(adding_and_taking_away_are_each_others_opposite)
{
    const struct res more = { { 10, 20, 30 } };
    struct res sum = { { 1, 2, 3 } };

    res_add(&sum, &more);
    assert_int_equal(sum.amount[RES_MEM], 22);
    sum = res_minus(&sum, &more);
    assert_int_equal(sum.amount[RES_CPU], 1);
    assert_int_equal(sum.amount[RES_MEM], 2);
    assert_int_equal(sum.amount[RES_ACCEL], 3);
}

TEST(the_dominant_share_is_that_of_the_scarcest_kind)
{
    const struct res part = { { 1000, 3072, 0 } };
    const struct res whole = { { 4000, 4096, 8000 } };

    assert_int_equal((int)(res_dominant_share(&part, &whole) * 100), 75);
}

TEST(a_kind_that_the_whole_lacks_has_no_share)
{
    const struct res part = { { 1000, 0, 5000 } };
    const struct res whole = { { 4000, 4096, 0 } };

    assert_int_equal((int)(res_dominant_share(&part, &whole) * 100), 25);
}

TEST(the_scarcest_kind_says_how_many_fit)
{
    const struct res want = { { 1000, 2048, 0, 1 } };
    const struct res free = { { 4500, 6144, 0, 9 } };
    const struct res none = { { 999, 6144, 0, 9 } };
    const struct res stored = { { 1000, 2048, 0, 1, 4 } };
    const struct res attaching = { { 4500, 9000, 0, 9, 10 } };

    assert_int_equal(res_times(&want, &free, 100), 3);
    assert_int_equal(res_times(&want, &free, 2), 2);
    assert_int_equal(res_times(&want, &none, 100), 0);
    assert_int_equal(res_times(&stored, &attaching, 100), 2);
}

TEST(each_kind_has_its_word)
{
    assert_string_equal(res_kind_name(RES_CPU), "cpu");
    assert_string_equal(res_kind_name(RES_MEM), "mem");
    assert_string_equal(res_kind_name(RES_ACCEL), "accel");
    assert_string_equal(res_kind_name(RES_PODS), "pods");
    assert_string_equal(res_kind_name(RES_VOLUMES), "volumes");
}

CHECK_MAIN(RUN(what_is_as_large_in_every_kind_fits),
           RUN(one_unit_too_much_of_any_kind_does_not_fit),
           RUN(adding_and_taking_away_are_each_others_opposite),
           RUN(the_dominant_share_is_that_of_the_scarcest_kind),
           RUN(a_kind_that_the_whole_lacks_has_no_share), RUN(the_scarcest_kind_says_how_many_fit),
           RUN(each_kind_has_its_word))
