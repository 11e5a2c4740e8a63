/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/log.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/test/check.h"

/* What one line of the log is, with standard error read by the test. */
static void said(const char *text, char *ret, size_t size)
{
    const int kept = dup(STDERR_FILENO);
    int ends[2];

    assert_true(kept >= 0);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    LOG_INFO("%s", text);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);

    const ssize_t length = read(ends[0], ret, size - 1);

    assert_true(length > 0);
    ret[length] = '\0';
    close(ends[0]);
    close(ends[1]);
    close(kept);
}

TEST(nothing_in_a_line_is_obeyed_by_a_terminal)
{
    static const struct {
        const char *given;
        const char *line;
    } cases[] = {
        { "a\nb\x1b[2J", "stintd: a?b?[2J\n" },
        { "\xC2\x9B\xC2\x85 \xC3\xBC", "stintd: ???? \xC3\xBC\n" },
        { "x\xE2\x80\xAEy\xD8\x9C\xE2\x81\xA6", "stintd: x???y?????\n" },
        { "cut \xE2\x80", "stintd: cut \xE2\x80\n" },
        { "\xE2\x82\xAC \xE2\x80\x9C", "stintd: \xE2\x82\xAC \xE2\x80\x9C\n" },
    };
    char line[256];

    unsetenv("JOURNAL_STREAM");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        said(cases[i].given, line, sizeof(line));
        assert_string_equal(line, cases[i].line);
    }
}

CHECK_MAIN(RUN(nothing_in_a_line_is_obeyed_by_a_terminal))
