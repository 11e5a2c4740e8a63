/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_ini.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

struct reading {
    char section[256];
    char line[AWS_INI_LINE_MAX];
};

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

static char *trim(char *text)
{
    size_t length;

    while (is_blank(*text))
        text++;
    length = strlen(text);
    while (length > 0 && is_blank(text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* "[profile work]" is reported as "profile work". */
static void read_section(struct reading *reading, char *text)
{
    char *end = strchr(text, ']');

    reading->section[0] = '\0';
    if (end == NULL)
        return;
    *end = '\0';
    text = trim(text + 1);
    if (strlen(text) < sizeof(reading->section))
        memcpy(reading->section, text, strlen(text) + 1);
}

/* A comment begins a line, or follows a space. */
static void cut_comment(char *text)
{
    for (size_t i = 1; text[0] != '\0' && text[i] != '\0'; i++) {
        if ((text[i] == '#' || text[i] == ';') && is_blank(text[i - 1])) {
            text[i] = '\0';
            return;
        }
    }
}

static void read_line(struct reading *reading,
                      void (*on_value)(void *context, const char *section, const char *name,
                                       const char *value),
                      void *context)
{
    char *line = reading->line;
    char *equal;

    if (is_blank(line[0]) || line[0] == '#' || line[0] == ';' || line[0] == '\0')
        return;
    if (line[0] == '[') {
        read_section(reading, line);
        return;
    }
    equal = strchr(line, '=');
    if (equal == NULL || reading->section[0] == '\0')
        return;
    *equal = '\0';
    for (char *letter = line; *letter != '\0'; letter++) {
        if (*letter >= 'A' && *letter <= 'Z')
            *letter = (char)(*letter - 'A' + 'a');
    }
    cut_comment(equal + 1);
    on_value(context, reading->section, trim(line), trim(equal + 1));
}

int aws_ini_read(const char *text, size_t length,
                 void (*on_value)(void *context, const char *section, const char *name,
                                  const char *value),
                 void *context, struct error *reterr)
{
    struct reading *reading;
    size_t at = 0;
    int rc = 0;

    if (length > AWS_INI_FILE_MAX)
        return error_set(reterr, -E2BIG, "it is longer than %d bytes", AWS_INI_FILE_MAX);
    reading = mem_alloc(1, sizeof(*reading));
    while (at < length && rc == 0) {
        const char *feed = memchr(text + at, '\n', length - at);
        const size_t size = feed != NULL ? (size_t)(feed - text) - at : length - at;

        if (size >= AWS_INI_LINE_MAX) {
            rc = error_set(reterr, -E2BIG, "one of its lines is too long");
        } else {
            memcpy(reading->line, text + at, size);
            reading->line[size] = '\0';
            read_line(reading, on_value, context);
        }
        at += size + 1;
    }
    explicit_bzero(reading, sizeof(*reading));
    mem_free(reading);
    return rc;
}
