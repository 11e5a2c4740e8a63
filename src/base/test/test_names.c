/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"
#include "base/test/check.h"

TEST(the_same_text_has_the_same_number)
{
    struct names names;
    names_init(&names);

    const uint32_t first = names_add(&names, "m5.large", 8);
    const uint32_t second = names_add(&names, "m5.xlarge", 9);

    assert_int_equal(first, 0);
    assert_int_equal(second, 1);
    assert_int_equal(names_add(&names, "m5.large", 8), first);
    assert_int_equal(names_find(&names, "m5.xl", 5), NAME_NONE);
    assert_string_equal(names_text(&names, second), "m5.xlarge");
    names_done(&names);
}

TEST(many_names_keep_their_numbers)
{
    struct names names;
    names_init(&names);

    for (uint32_t i = 0; i < 5000; i++) {
        char text[16];
        const int length = snprintf(text, sizeof(text), "n%u", i);

        assert_int_equal(names_add(&names, text, (size_t)length), i);
    }
    assert_string_equal(names_text(&names, 4321), "n4321");
    assert_int_equal(names_find(&names, "n77", 3), 77);
    names_done(&names);
}

CHECK_MAIN(RUN(the_same_text_has_the_same_number), RUN(many_names_keep_their_numbers))
