/* SPDX-License-Identifier: Apache-2.0 */
#include "base/word_list.h"

#include <string.h>

#include "base/test/check.h"

static bool has(const char *list, const char *word)
{
    return word_list_has(list, ",", word, strlen(word));
}

TEST(a_word_is_found_only_whole)
{
    assert_true(has("a,bc,d", "a"));
    assert_true(has("a,bc,d", "bc"));
    assert_true(has("a,bc,d", "d"));
    assert_false(has("a,bc,d", "b"));
    assert_false(has("a,bc,d", "c"));
    assert_false(has("a,bc,d", "bcd"));
}

TEST(there_is_no_empty_word_and_no_word_in_no_list)
{
    assert_false(has(NULL, "a"));
    assert_false(has("", "a"));
    assert_false(has("a,,b", ""));
    assert_false(word_list_has("a", ",", NULL, 0));
    assert_true(has("a,,b", "b"));
}

TEST(each_of_the_separators_parts_words)
{
    assert_true(word_list_has("stint:move;urgent", " ,;", "urgent", 6));
    assert_true(word_list_has("for ann, stint:move", " ,;", "stint:move", 10));
    assert_false(word_list_has("stint:moved", " ,;", "stint:move", 10));
}

CHECK_MAIN(RUN(a_word_is_found_only_whole), RUN(there_is_no_empty_word_and_no_word_in_no_list),
           RUN(each_of_the_separators_parts_words))
