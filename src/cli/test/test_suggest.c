/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include "base/test/check.h"

TEST(letters_that_differ_are_counted)
{
    assert_int_equal(suggest_distance("", ""), 0);
    assert_int_equal(suggest_distance("", "top"), 3);
    assert_int_equal(suggest_distance("top", "top"), 0);
    assert_int_equal(suggest_distance("tpo", "top"), 1);
    assert_int_equal(suggest_distance("sttaus", "status"), 1);
    assert_int_equal(suggest_distance("ledgr", "ledger"), 1);
    assert_int_equal(suggest_distance("sim", "plan"), 4);
    assert_int_equal(suggest_distance("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", ""), 31);
}

TEST(the_nearest_word_is_suggested_and_no_far_one)
{
    static const char *const words[] = { "sim", "status", "ledger", "state" };

    assert_string_equal(suggest("statsu", words, 4), "status");
    assert_string_equal(suggest("stat", words, 4), "state");
    assert_string_equal(suggest("ledgr", words, 4), "ledger");
    assert_string_equal(suggest("sin", words, 4), "sim");
    assert_null(suggest("colour", words, 4));
    assert_null(suggest("", words, 4));
    assert_null(suggest("sim", words, 0));
}

CHECK_MAIN(RUN(letters_that_differ_are_counted), RUN(the_nearest_word_is_suggested_and_no_far_one))
