/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/input_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"

struct excerpt text_excerpt(const char *text, size_t length)
{
    struct excerpt excerpt = { 0 };
    const size_t shown = length < EXCERPT_BYTES ? length : EXCERPT_BYTES;

    for (size_t i = 0; i < shown; i++)
        excerpt.text[i] = (char)(text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?');
    if (shown < length)
        memcpy(excerpt.text + shown, "...", 3);
    return excerpt;
}

/* How many bytes the character that starts here has; 0: it is not UTF-8. */
static size_t utf8_length(const unsigned char *at, size_t left)
{
    /* The first byte, how many follow, and the range of the second: no overlong form, no
     * surrogate, nothing above U+10FFFF. */
    static const struct {
        unsigned char first_min, first_max, second_min, second_max;
        size_t length;
    } forms[] = {
        { 0x00, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
        { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
        { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (at[0] < forms[i].first_min || at[0] > forms[i].first_max)
            continue;
        if (forms[i].length == 1)
            return 1;
        if (forms[i].length > left || at[1] < forms[i].second_min || at[1] > forms[i].second_max)
            return 0;
        for (size_t follow = 2; follow < forms[i].length; follow++) {
            if ((at[follow] & 0xc0) != 0x80)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

const char *text_name_fault(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;

    if (length == 0)
        return "is empty";
    if (length > LIMIT_NAME)
        return "is longer than 256 bytes";
    while (at < length) {
        const size_t step = utf8_length(bytes + at, length - at);

        if (step == 0)
            return "is not valid UTF-8";
        if (bytes[at] < 0x20 || bytes[at] == 0x7f)
            return "holds a control character";
        at += step;
    }
    return NULL;
}

_Static_assert(LIMIT_NAME == 256, "the text above names the limit");

uint32_t text_line_at(const char *text, size_t offset)
{
    uint32_t line = 1;

    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

int text_check_input(const char *text, size_t length, struct error *reterr)
{
    if (length > LIMIT_FILE_BYTES)
        return error_set(reterr, -EFBIG, "has %zu bytes; at most %d can be read: split the file",
                         length, LIMIT_FILE_BYTES);

    const char *zero = length > 0 ? memchr(text, 0, length) : NULL;

    if (zero != NULL)
        return error_set(reterr, -EINVAL,
                         "line %u: holds a zero byte; this is no text file in UTF-8",
                         text_line_at(text, (size_t)(zero - text)));
    return 0;
}

static bool matches_one(const char *pattern, size_t length, const char *name)
{
    const char *star = memchr(pattern, '*', length);
    const size_t before = star != NULL ? (size_t)(star - pattern) : length;
    const size_t after = star != NULL ? length - before - 1 : 0;
    const size_t size = strlen(name);

    if (size < before + after || strncmp(name, pattern, before) != 0)
        return false;
    return star != NULL ? memcmp(name + size - after, star + 1, after) == 0 : size == before;
}

bool text_matches(const char *patterns, const char *name)
{
    for (const char *at = patterns; at != NULL;) {
        const char *comma = strchr(at, ',');

        if (matches_one(at, comma != NULL ? (size_t)(comma - at) : strlen(at), name))
            return true;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return patterns == NULL;
}
