/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/test/check.h"
#include "trace/input_text.h"

TEST(an_excerpt_is_short_and_printable)
{
    char text[100];

    memset(text, 'a', sizeof(text));

    assert_string_equal(text_excerpt("abc", 3).text, "abc");
    assert_string_equal(text_excerpt("\x1b[31m\n\xff", 7).text, "?[31m??");
    assert_string_equal(text_excerpt(text, sizeof(text)).text,
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...");
}

TEST(a_name_is_short_utf8_without_controls)
{
    static const struct {
        const char *text;
        const char *fault;
    } cases[] = {
        { "gcn[0]", NULL },
        { "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80", NULL },
        { "", "is empty" },
        { "a\tb", "holds a control character" },
        { "a\x7f", "holds a control character" },
        { "\xff", "is not valid UTF-8" },
        { "\xc3", "is not valid UTF-8" },
        { "\xc0\xaf", "is not valid UTF-8" },
        { "\xed\xa0\x80", "is not valid UTF-8" },
        { "\xf4\x90\x80\x80", "is not valid UTF-8" },
        { "\xe2\x82(", "is not valid UTF-8" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *fault = text_name_fault(cases[i].text, strlen(cases[i].text));

        if (cases[i].fault == NULL)
            assert_null(fault);
        else
            assert_string_equal(fault, cases[i].fault);
    }
}

TEST(the_longest_name_has_256_bytes)
{
    char text[LIMIT_NAME + 1];

    memset(text, 'a', sizeof(text));

    assert_null(text_name_fault(text, LIMIT_NAME));
    assert_string_equal(text_name_fault(text, LIMIT_NAME + 1), "is longer than 256 bytes");
}

TEST(a_zero_byte_is_refused_with_its_line)
{
    struct error error;

    assert_int_equal(text_check_input("a\nb\nc\0d", 7, &error), -EINVAL);
    assert_string_equal(error.text, "line 3: holds a zero byte; this is no text file in UTF-8");
    assert_int_equal(text_check_input("a\nb", 3, &error), 0);
}

TEST(more_bytes_than_the_limit_are_refused_unread)
{
    struct error error;

    assert_int_equal(text_check_input("", (size_t)LIMIT_FILE_BYTES + 1, &error), -EFBIG);
}

CHECK_MAIN(RUN(an_excerpt_is_short_and_printable), RUN(a_name_is_short_utf8_without_controls),
           RUN(the_longest_name_has_256_bytes), RUN(a_zero_byte_is_refused_with_its_line),
           RUN(more_bytes_than_the_limit_are_refused_unread))
