/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/line.h"

static char buffer[4096];

static int parse(const char *text, struct line *ret, struct error *reterr)
{
    const size_t length = strlen(text);

    assert_true(length < sizeof(buffer));
    memcpy(buffer, text, length);
    return line_parse(buffer, length, ret, reterr);
}

TEST(a_word_alone_is_a_line)
{
    struct line line;

    assert_int_equal(parse("hello", &line, NULL), 0);

    assert_string_equal(line.word, "hello");
    assert_int_equal(line.count, 0);
}

TEST(fields_are_found_by_their_key)
{
    struct line line;

    assert_int_equal(parse("place key=7 job=12_3 nodes=n[1-2],x", &line, NULL), 0);

    assert_int_equal(line.count, 3);
    assert_string_equal(line_get(&line, "key"), "7");
    assert_string_equal(line_get(&line, "job"), "12_3");
    assert_string_equal(line_get(&line, "nodes"), "n[1-2],x");
    assert_null(line_get(&line, "node"));
}

TEST(a_value_may_be_empty_or_hold_an_equals_sign)
{
    struct line line;

    assert_int_equal(parse("comment text= gres=a=1", &line, NULL), 0);

    assert_string_equal(line_get(&line, "text"), "");
    assert_string_equal(line_get(&line, "gres"), "a=1");
}

TEST(escapes_are_decoded)
{
    struct line line;

    assert_int_equal(parse("comment text=a%20b%0ac%25%FF%41", &line, NULL), 0);

    assert_string_equal(line_get(&line, "text"), "a b\nc%\xff"
                                                 "A");
}

TEST(what_is_badly_written_is_refused_with_a_text)
{
    static const char *const BAD[] = {
        "",
        " ",
        "Hello",
        "hello ",
        " hello",
        "hello  key=1",
        "hello key",
        "hello =1",
        "hello Key=1",
        "hello key=1 key=2",
        "hello key=%",
        "hello key=%2",
        "hello key=%00",
        "hello key=%zz",
        "hello key=\t",
        "hello key=\x80",
        "hello key=\x7f",
        "abcdefghijklmnopqrstuvwxyzabcdef",
        "hello abcdefghijklmnopqrstuvwxyzabcdef=1",
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct line line = { .word = "untouched" };
        struct error error = { "" };

        assert_int_equal(parse(BAD[i], &line, &error), -EINVAL);
        assert_string_not_equal(error.text, "");
        assert_string_equal(line.word, "untouched");
    }
}

TEST(a_line_has_at_most_so_many_fields)
{
    struct line line;
    char text[LINE_FIELDS_MAX * 8 + 32] = "x";
    char *at = text + 1;

    for (int i = 0; i < LINE_FIELDS_MAX; i++)
        at += snprintf(at, 8, " %c%c=1", 'a' + i / 26, 'a' + i % 26);
    assert_int_equal(parse(text, &line, NULL), 0);
    assert_int_equal(line.count, LINE_FIELDS_MAX);

    (void)snprintf(at, 8, " zz=1");
    assert_int_equal(parse(text, &line, NULL), -E2BIG);
}

TEST(numbers_stop_at_their_maximum)
{
    uint64_t number = 5;

    assert_int_equal(line_number("18446744073709551615", UINT64_MAX, &number), 0);
    assert_true(number == UINT64_MAX);
    assert_int_equal(line_number("18446744073709551616", UINT64_MAX, &number), -ERANGE);
    assert_int_equal(line_number("99", 99, &number), 0);
    assert_int_equal(line_number("100", 99, &number), -ERANGE);
    assert_int_equal(line_number("9", 8, &number), -ERANGE);
    assert_int_equal(line_number("", 8, &number), -EINVAL);
    assert_int_equal(line_number("-1", 8, &number), -EINVAL);
    assert_int_equal(line_number("1x", 8, &number), -EINVAL);
    assert_true(number == 99);
}

TEST(what_is_printed_reads_back)
{
    struct line_text text = { .text = NULL };
    struct line line;
    char all[256];

    for (size_t i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    all[255] = '\0';
    line_text_begin(&text, "job");
    line_text_number(&text, "id", UINT64_MAX);
    line_text_string(&text, "name", all);
    line_text_string(&text, "left_out", NULL);
    line_text_end(&text);

    assert_int_equal(text.text[text.size - 1], '\n');
    assert_null(memchr(text.text, '\n', text.size - 1));
    assert_int_equal(line_parse(text.text, text.size - 1, &line, NULL), 0);
    assert_int_equal(line.count, 2);
    assert_string_equal(line_get(&line, "id"), "18446744073709551615");
    assert_string_equal(line_get(&line, "name"), all);
    line_text_done(&text);
}

TEST(prose_is_cut)
{
    struct line_text text = { .text = NULL };
    char words[5000];

    memset(words, 'x', sizeof(words));
    words[sizeof(words) - 1] = '\0';
    line_text_begin(&text, "error");
    line_text_prose(&text, "text", words);
    line_text_end(&text);

    assert_true(text.size < 1100);
    line_text_done(&text);
}

/* Rather the end than a write past it. */
TEST(lines_of_four_gigabytes_are_the_end)
{
    int status = 0;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        char byte = '\0';
        struct line_text text = { .text = &byte, .size = UINT32_MAX, .room = UINT32_MAX };

        (void)close(STDERR_FILENO);
        line_text_append(&text, "ab", 2);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

CHECK_MAIN(RUN(a_word_alone_is_a_line), RUN(fields_are_found_by_their_key),
           RUN(a_value_may_be_empty_or_hold_an_equals_sign), RUN(escapes_are_decoded),
           RUN(what_is_badly_written_is_refused_with_a_text),
           RUN(a_line_has_at_most_so_many_fields), RUN(numbers_stop_at_their_maximum),
           RUN(what_is_printed_reads_back), RUN(prose_is_cut),
           RUN(lines_of_four_gigabytes_are_the_end))
