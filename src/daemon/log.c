/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_LINE_SIZE = 2048 };

static enum conf_log_level log_level = CONF_LOG_INFO;

void log_set_level(enum conf_log_level level)
{
    log_level = level;
}

/* How the journal spells the level; see sd-daemon(3). */
static const char *prefix(enum conf_log_level level)
{
    static const char *const of_journal[] = {
        [CONF_LOG_ERROR] = "<3>",
        [CONF_LOG_WARNING] = "<4>",
        [CONF_LOG_INFO] = "<6>",
        [CONF_LOG_DEBUG] = "<7>",
    };
    static const char *const of_people[] = {
        [CONF_LOG_ERROR] = "stintd: error: ",
        [CONF_LOG_WARNING] = "stintd: warning: ",
        [CONF_LOG_INFO] = "stintd: ",
        [CONF_LOG_DEBUG] = "stintd: debug: ",
    };

    return getenv("JOURNAL_STREAM") != NULL ? of_journal[level] : of_people[level];
}

/*
 * How many bytes at 'at' make one character that a terminal obeys or that changes how the line reads:
 * C0, delete, C1, marks of direction, separators of lines. 0: it is none. The text ends in a 0.
 */
static size_t odd_size(const unsigned char *at)
{
    if (at[0] < ' ' || at[0] == 0x7f)
        return 1;
    if ((at[0] == 0xC2 && at[1] >= 0x80 && at[1] <= 0x9F) || (at[0] == 0xD8 && at[1] == 0x9C))
        return 2;
    if (at[0] == 0xE2 && at[1] == 0x80 &&
        (at[2] == 0x8E || at[2] == 0x8F || (at[2] >= 0xA8 && at[2] <= 0xAE)))
        return 3;
    return at[0] == 0xE2 && at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9 ? 3 : 0;
}

void log_say(enum conf_log_level level, const char *format, ...)
{
    char line[LOG_LINE_SIZE];
    va_list arguments;

    if (level > log_level)
        return;

    const char *start = prefix(level);
    size_t used = strlen(start);

    memcpy(line, start, used);
    va_start(arguments, format);

    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): a false alarm of clang 14 */
    const int length = vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);

    va_end(arguments);
    if (length < 0)
        return;

    const size_t room = sizeof(line) - used - 2;
    const size_t end = used + ((size_t)length < room ? (size_t)length : room);

    line[end] = '\0';
    while (used < end) {
        const size_t odd = odd_size((const unsigned char *)line + used);

        memset(line + used, '?', odd);
        used += odd > 0 ? odd : 1;
    }
    line[end] = '\n';
    if (write(STDERR_FILENO, line, end + 1) < 0)
        return; /* no reader is left */
}
