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

    const int length = vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);

    va_end(arguments);
    if (length < 0)
        return;

    const size_t room = sizeof(line) - used - 2;
    const size_t end = used + ((size_t)length < room ? (size_t)length : room);

    for (; used < end; used++) {
        if ((unsigned char)line[used] < ' ' || line[used] == 0x7f)
            line[used] = '?';
    }
    line[end] = '\n';
    if (write(STDERR_FILENO, line, end + 1) < 0)
        return; /* nobody is left to be told */
}
