/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/present.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"

static void check_yaml(const char *json, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(present_yaml(json, strlen(json), out), 0);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

TEST(json_becomes_block_style)
{
    check_yaml(
        "{\"now\": 1, \"rows\": [{\"a\": \"x\", \"b\": null}, {\"a\": \"y z\", \"b\": 0.830}], \"no\": []}",
        "now: 1\nrows:\n- a: x\n  b: null\n- a: \"y z\"\n  b: 0.830\n\"no\": []\n");
}

TEST(texts_that_look_like_something_else_keep_their_quotes)
{
    check_yaml(
        "[\"yes\", \"12\", \"null\", \"\", \"-\", \"st-17\", \"a: b\", \"# c\"]",
        "- \"yes\"\n- \"12\"\n- \"null\"\n- \"\"\n- \"-\"\n- st-17\n- \"a: b\"\n- \"# c\"\n");
}

TEST(nothing_but_ascii_is_written)
{
    check_yaml("[\"\\u001b[2J\", \"\\ud83d\\ude00\", \"\\u202e\", \"a\\\\ud83d\\\\ude00\"]",
               "- \"\\e[2J\"\n- \"\\U0001F600\"\n- \"\\u202E\"\n- \"a\\\\ud83d\\\\ude00\"\n");
}

TEST(what_is_no_json_is_refused)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(present_yaml("Usage: stint", 12, out), -EINVAL);
    assert_int_equal(present_yaml("", 0, out), -EINVAL);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(size, 0);
    free(text);
}

CHECK_MAIN(RUN(json_becomes_block_style),
           RUN(texts_that_look_like_something_else_keep_their_quotes),
           RUN(nothing_but_ascii_is_written), RUN(what_is_no_json_is_refused))
