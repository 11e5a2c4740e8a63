/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.c - see line.h.
 *
 * Parsing goes over the text once and writes the decoded values over it: a value is never longer
 * decoded than encoded. Any byte but zero may be escaped, as the usual encoders of other languages do;
 * we escape only what must be.
 */
#include "base/line.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { PROSE_MAX = 1000 };

static const char hex[] = "0123456789ABCDEF";

static bool is_word(const char *word, size_t length)
{
    if (length == 0 || length > LINE_WORD_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        if ((word[i] < 'a' || word[i] > 'z') && word[i] != '_' && word[i] != '-')
            return false;
    }
    return true;
}

/* Whether 'byte' stands for itself in a value. */
static bool is_plain(unsigned char byte)
{
    return byte > 0x20 && byte < 0x7f && byte != '%';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode 'length' bytes at 'value' in place and end them with a zero. */
static bool decode(char *value, size_t length)
{
    size_t out = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)value[i];

        if (byte == '%') {
            const int high = i + 2 < length ? hex_digit(value[i + 1]) : -1;
            const int low = high < 0 ? -1 : hex_digit(value[i + 2]);

            if (low < 0)
                return false;
            byte = (unsigned char)(high * 16 + low);
            if (byte == 0)
                return false;
            i += 2;
        } else if (!is_plain(byte)) {
            return false;
        }
        value[out++] = (char)byte;
    }
    value[out] = '\0';
    return true;
}

/* One field of 'length' bytes at 'text', added to 'line'. */
static int parse_field(char *text, size_t length, struct line *line, struct error *reterr)
{
    char *equals = memchr(text, '=', length);
    const size_t key_length = equals == NULL ? 0 : (size_t)(equals - text);

    if (equals == NULL || !is_word(text, key_length))
        return error_set(reterr, -EINVAL, "field %u is not key=value", line->count + 1);
    *equals = '\0';
    if (line_get(line, text) != NULL)
        return error_set(reterr, -EINVAL, "'%s' comes twice", text);
    if (line->count == LINE_FIELDS_MAX)
        return error_set(reterr, -E2BIG, "more than %d fields", LINE_FIELDS_MAX);
    if (!decode(equals + 1, length - key_length - 1))
        return error_set(reterr, -EINVAL, "the value of '%s' is badly written", text);
    line->field[line->count].key = text;
    line->field[line->count].value = equals + 1;
    line->count++;
    return 0;
}

int line_parse(char *text, size_t length, struct line *ret, struct error *reterr)
{
    struct line line = { .word = text };
    char *at = text;
    char *end = text + length;

    if (length >= LINE_SIZE_MAX)
        return error_set(reterr, -E2BIG, "the line is longer than %d bytes", LINE_SIZE_MAX);
    *end = '\0';
    char *space = memchr(at, ' ', length);

    if (space == NULL)
        space = end;
    if (!is_word(at, (size_t)(space - at)))
        return error_set(reterr, -EINVAL, "the line does not begin with a word");
    while (space < end) {
        *space = '\0';
        at = space + 1;
        space = memchr(at, ' ', (size_t)(end - at));
        if (space == NULL)
            space = end;
        const int error = parse_field(at, (size_t)(space - at), &line, reterr);

        if (error < 0)
            return error;
    }
    *ret = line;
    return 0;
}

const char *line_get(const struct line *line, const char *key)
{
    for (uint32_t i = 0; i < line->count; i++) {
        if (strcmp(line->field[i].key, key) == 0)
            return line->field[i].value;
    }
    return NULL;
}

int line_number(const char *value, uint64_t max, uint64_t *ret)
{
    uint64_t number = 0;

    if (*value == '\0')
        return -EINVAL;
    for (; *value != '\0'; value++) {
        if (*value < '0' || *value > '9')
            return -EINVAL;
        const uint64_t digit = (uint64_t)(*value - '0');

        if (digit > max || number > (max - digit) / 10)
            return -ERANGE;
        number = number * 10 + digit;
    }
    *ret = number;
    return 0;
}

void line_text_done(struct line_text *text)
{
    mem_free(text->text);
    *text = (struct line_text){ .text = NULL };
}

void line_text_reset(struct line_text *text)
{
    text->size = 0;
}

static void put(struct line_text *text, const char *bytes, size_t size)
{
    assert(size < LINE_SIZE_MAX && size <= UINT32_MAX - text->size);
    MEM_ROOM(text->text, text->room, text->size + (uint32_t)size);
    memcpy(text->text + text->size, bytes, size);
    text->size += (uint32_t)size;
}

static void put_key(struct line_text *text, const char *key)
{
    assert(is_word(key, strlen(key)));
    put(text, " ", 1);
    put(text, key, strlen(key));
    put(text, "=", 1);
}

static void put_value(struct line_text *text, const char *value, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)value[i];
        const char escape[] = { '%', hex[byte >> 4], hex[byte & 15] };

        if (is_plain(byte))
            put(text, value + i, 1);
        else
            put(text, escape, sizeof(escape));
    }
}

void line_text_begin(struct line_text *text, const char *word)
{
    assert(is_word(word, strlen(word)));
    put(text, word, strlen(word));
}

void line_text_string(struct line_text *text, const char *key, const char *value)
{
    if (value == NULL)
        return;
    put_key(text, key);
    put_value(text, value, strlen(value));
}

void line_text_number(struct line_text *text, const char *key, uint64_t value)
{
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);

    assert(length > 0);
    put_key(text, key);
    put(text, digits, (size_t)length);
}

void line_text_prose(struct line_text *text, const char *key, const char *value)
{
    if (value == NULL)
        return;
    put_key(text, key);
    put_value(text, value, strnlen(value, PROSE_MAX));
}

void line_text_end(struct line_text *text)
{
    put(text, "\n", 1);
}

void line_text_append(struct line_text *text, const char *lines, uint32_t size)
{
    put(text, lines, size);
}
