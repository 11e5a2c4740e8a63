/* SPDX-License-Identifier: Apache-2.0 */
#include "model/caps.h"

#include "base/test/check.h"

TEST(equal_sets_have_equal_numbers)
{
    struct caps caps;

    caps_init(&caps);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(caps_add(&caps, &(struct cap){ .max_instances = i }), i);
    assert_int_equal(caps_set(&caps, NULL, 0), 0);

    const uint32_t two = caps_set(&caps, (const uint32_t[]){ 3, 7 }, 2);

    assert_int_not_equal(two, 0);
    assert_int_equal(caps_set(&caps, (const uint32_t[]){ 7, 3 }, 2), two);
    assert_int_not_equal(caps_set(&caps, (const uint32_t[]){ 7 }, 1), two);
    assert_int_not_equal(caps_set(&caps, (const uint32_t[]){ 3, 8 }, 2), two);
    assert_int_equal(caps.sets[two].cap[0], 3);
    assert_int_equal(caps.row[7].max_instances, 7);
    caps_done(&caps);
}

TEST(one_budget_that_is_used_up_is_enough)
{
    struct caps caps;

    caps_init(&caps);
    for (uint32_t i = 0; i < 3; i++)
        (void)caps_add(&caps, &(struct cap){ .max_instances = 1 });
    const uint32_t set = caps_set(&caps, (const uint32_t[]){ 0, 2 }, 2);

    assert_int_equal(caps_spent(&caps, set), CAP_NONE);
    caps.row[1].is_spent = true;
    assert_int_equal(caps_spent(&caps, set), CAP_NONE);
    caps.row[2].is_spent = true;
    assert_int_equal(caps_spent(&caps, set), 2);
    assert_int_equal(caps_spent(&caps, 0), CAP_NONE);
    caps_done(&caps);
}

CHECK_MAIN(RUN(equal_sets_have_equal_numbers), RUN(one_budget_that_is_used_up_is_enough))
