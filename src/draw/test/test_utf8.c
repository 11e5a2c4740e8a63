/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/test/check.h"
#include "draw/utf8.h"

#include <string.h>

#define BAD "\xEF\xBF\xBD"

static double one(uint32_t character __attribute__((unused)))
{
    return 1;
}

TEST(clean_text_is_what_was_written_or_replacement_characters)
{
    static const struct {
        const char *given;
        const char *clean;
    } cases[] = {
        { "", "" },
        { "plain\ttext\r\n", "plain\ttext\r\n" },
        { "\xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80" },
        { "a\xFFz", "a" BAD "z" },
        { "cut \xE2\x82", "cut " BAD BAD },
        { "\xC0\xAF", BAD BAD },                 /* longer than needed */
        { "\xE0\x80\xAF", BAD BAD BAD },         /* longer than needed */
        { "\xED\xA0\x80", BAD BAD BAD },         /* a surrogate */
        { "\xF4\x90\x80\x80", BAD BAD BAD BAD }, /* beyond Unicode */
        { "\x1B[31mred", BAD "[31mred" },
        { "\x7F\xC2\x9B", BAD BAD }, /* delete, and a control sequence in one character */
        { "\xEF\xBF\xBF", BAD },     /* refused by XML */
        { "a\xE2\x80\xAEtxt.exe", "a" BAD "txt.exe" }, /* right to left override */
        { "\xE2\x80\xAA\xE2\x80\xAB\xE2\x80\xAC\xE2\x80\xAD", BAD BAD BAD BAD },
        { "\xE2\x81\xA6\xE2\x81\xA7\xE2\x81\xA8\xE2\x81\xA9", BAD BAD BAD BAD }, /* isolates */
        { "\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", BAD BAD BAD },                     /* marks */
        { "\xE2\x80\xA8\xE2\x80\xA9", BAD BAD },                              /* line, paragraph */
        { "\xD7\xA9\xD7\x9C \xE2\x80\x8D", "\xD7\xA9\xD7\x9C \xE2\x80\x8D" }, /* Hebrew, a joiner */
    };
    struct arena arena;
    arena_init(&arena);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(utf8_clean(&arena, cases[i].given), cases[i].clean);
    arena_done(&arena);
}

TEST(a_cut_falls_between_two_characters)
{
    const struct utf8_span text = { "\xC3\xA4\xC3\xB6\xC3\xBC", 6 };

    assert_int_equal(utf8_cut(text, 2.5, one).size, 4);
    assert_int_equal(utf8_cut(text, 3, one).size, 6);
    assert_int_equal(utf8_cut(text, 0.5, one).size, 0);
}

static void check_line(const char **rest, double room, const char *expected)
{
    const struct utf8_span line = utf8_take_line(rest, room, one);

    assert_int_equal(line.size, strlen(expected));
    assert_memory_equal(line.text, expected, line.size);
}

TEST(a_line_holds_the_words_that_fit_and_at_least_one)
{
    const char *rest = "  one two  three-hundred \n four ";

    check_line(&rest, 7, "one two");
    check_line(&rest, 7, "three-hundred");
    check_line(&rest, 7, "four");
    check_line(&rest, 7, "");
    assert_string_equal(rest, "");
}

CHECK_MAIN(RUN(clean_text_is_what_was_written_or_replacement_characters),
           RUN(a_cut_falls_between_two_characters),
           RUN(a_line_holds_the_words_that_fit_and_at_least_one))
