/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/utf8.h"

#include <string.h>

#include "base/arena.h"

#define WHITE_SPACE " \t\n\r"

enum { REPLACEMENT_SIZE = 3 };

static const char replacement_bytes[] = "\xEF\xBF\xBD";

/* How many bytes a character has by its first one; 0 if none starts so. */
static uint32_t size_by_lead(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF)
        return 3;
    if (lead >= 0xF0 && lead <= 0xF4)
        return 4;
    return 0;
}

/* Surrogates, forms longer than needed, and what lies beyond Unicode. */
static bool is_forbidden(uint32_t character, uint32_t size)
{
    return (size == 3 && character < 0x800) || (size == 4 && character < 0x10000) ||
           (character >= 0xD800 && character <= 0xDFFF) || character > 0x10FFFF;
}

uint32_t utf8_next(const char *text, uint32_t *ret_size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const uint32_t size = size_by_lead(bytes[0]);

    *ret_size = 1;
    if (size == 0)
        return UTF8_REPLACEMENT;
    if (size == 1)
        return bytes[0];

    uint32_t character = bytes[0] & (0x7FU >> size);

    for (uint32_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0U) != 0x80)
            return UTF8_REPLACEMENT;
        character = character << 6 | (bytes[i] & 0x3FU);
    }
    if (is_forbidden(character, size))
        return UTF8_REPLACEMENT;
    *ret_size = size;
    return character;
}

/* What turns the order of the characters around it, or begins a line of its own: a name must not
 * change how the rest of the line reads. */
static bool is_layout(uint32_t character)
{
    return character == 0x061C || character == 0x200E || character == 0x200F ||
           (character >= 0x2028 && character <= 0x202E) ||
           (character >= 0x2066 && character <= 0x2069);
}

bool utf8_is_control(uint32_t character)
{
    if (character == '\t' || character == '\n' || character == '\r')
        return false;
    return character < 0x20 || (character >= 0x7F && character <= 0x9F) || character == 0xFFFE ||
           character == 0xFFFF || is_layout(character);
}

const char *utf8_clean(struct arena *arena, const char *text)
{
    char *clean = ARENA_ARRAY(arena, char, strlen(text) * REPLACEMENT_SIZE + 1);
    size_t used = 0;

    while (*text != '\0') {
        uint32_t size;
        const uint32_t character = utf8_next(text, &size);

        if (character == UTF8_REPLACEMENT || utf8_is_control(character)) {
            memcpy(clean + used, replacement_bytes, REPLACEMENT_SIZE);
            used += REPLACEMENT_SIZE;
        } else {
            memcpy(clean + used, text, size);
            used += size;
        }
        text += size;
    }
    return clean;
}

double utf8_width(struct utf8_span span, utf8_measure_t *width)
{
    double sum = 0;
    uint32_t size;

    for (size_t at = 0; at < span.size; at += size)
        sum += width(utf8_next(span.text + at, &size));
    return sum;
}

struct utf8_span utf8_cut(struct utf8_span span, double room, utf8_measure_t *width)
{
    double sum = 0;
    uint32_t size;

    for (size_t at = 0; at < span.size; at += size) {
        sum += width(utf8_next(span.text + at, &size));
        if (sum > room)
            return (struct utf8_span){ span.text, at };
    }
    return span;
}

struct utf8_span utf8_take_line(const char **rest, double room, utf8_measure_t *width)
{
    const char *start = *rest + strspn(*rest, WHITE_SPACE);
    struct utf8_span line = { start, strcspn(start, WHITE_SPACE) };

    for (;;) {
        const char *next = line.text + line.size;

        next += strspn(next, WHITE_SPACE);
        *rest = next;
        if (*next == '\0')
            return line;

        const size_t end = (size_t)(next - start) + strcspn(next, WHITE_SPACE);
        const struct utf8_span longer = { start, end };

        if (utf8_width(longer, width) > room)
            return line;
        line = longer;
    }
}
