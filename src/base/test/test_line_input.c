/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <string.h>

#include "base/line.h"
#include "base/line_input.h"

/* Feed 'size' bytes; returns how many fitted. */
static size_t feed(struct line_input *input, const char *bytes, size_t size)
{
    size_t room = 0;
    char *at = line_input_room(input, &room);

    if (size > room)
        size = room;
    memcpy(at, bytes, size);
    line_input_add(input, size);
    return size;
}

TEST(a_line_comes_out_when_its_end_is_there)
{
    struct line_input input;
    char *line = NULL;
    size_t length = 0;

    line_input_init(&input);
    (void)feed(&input, "hel", 3);
    assert_false(line_input_next(&input, &line, &length));
    (void)feed(&input, "lo\n\nnext", 8);

    assert_true(line_input_next(&input, &line, &length));
    assert_int_equal(length, 5);
    assert_memory_equal(line, "hello", 5);
    assert_true(line_input_next(&input, &line, &length));
    assert_int_equal(length, 0);
    assert_false(line_input_next(&input, &line, &length));
    line_input_done(&input);
}

TEST(a_line_that_is_too_long_is_reported_once_and_the_next_is_read)
{
    struct line_input input;
    static char block[65536];
    size_t fed = 0;
    char *line = NULL;
    size_t length = 0;

    memset(block, 'x', sizeof(block));
    line_input_init(&input);
    while (fed < 3U * LINE_SIZE_MAX) {
        fed += feed(&input, block, sizeof(block));
        assert_false(line_input_next(&input, &line, &length));
    }
    (void)feed(&input, "x\nhello\n", 8);

    assert_true(line_input_next(&input, &line, &length));
    assert_true(length == SIZE_MAX);
    assert_true(line_input_next(&input, &line, &length));
    assert_int_equal(length, 5);
    assert_memory_equal(line, "hello", 5);
    line_input_done(&input);
}

TEST(the_longest_line_is_whole)
{
    struct line_input input;
    static char block[LINE_SIZE_MAX];
    char *line = NULL;
    size_t length = 0;

    memset(block, 'x', sizeof(block));
    block[sizeof(block) - 1] = '\n';
    line_input_init(&input);
    assert_int_equal(feed(&input, block, sizeof(block)), sizeof(block));

    assert_true(line_input_next(&input, &line, &length));
    assert_int_equal(length, sizeof(block) - 1);
    line_input_done(&input);
}

CHECK_MAIN(RUN(a_line_comes_out_when_its_end_is_there),
           RUN(a_line_that_is_too_long_is_reported_once_and_the_next_is_read),
           RUN(the_longest_line_is_whole))
