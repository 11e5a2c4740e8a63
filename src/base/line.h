/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - one line of the talk between two of our programs.
 *
 *     place key=7 job=12_3 nodes=n1,n2
 *
 * A word, then fields 'key=value', one space between them, a line feed at the end. In a value every
 * byte that is not printable ASCII, the space and '%' are written as %XX, so that a line is always
 * one line and no value can pretend to be a field. docs/reference/protocols/slurm.md has the
 * words of one such talk.
 *
 * Promises:  any bytes may be parsed; a failure has a text and leaves 'ret' as it was. What was
 *            printed parses to the same fields. No field comes twice in one line.
 * Memory:    a parsed line points into the caller's text, which is changed in place. A struct
 *            line_text owns its buffer.
 */
#ifndef STINT_BASE_LINE_H
#define STINT_BASE_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    LINE_SIZE_MAX = 1 << 20, /* bytes of one line, its line feed included */
    LINE_FIELDS_MAX = 48,
    LINE_WORD_MAX = 31, /* letters of a word or of a key */
};

struct line_field {
    const char *key;
    const char *value; /* decoded; never has a zero byte inside */
};

struct line {
    const char *word;
    uint32_t count;
    struct line_field field[LINE_FIELDS_MAX];
};

/* Take 'text' apart, which has 'length' bytes without the line feed and room for one more. */
int line_parse(char *text, size_t length, struct line *ret, struct error *reterr);

/* The value of 'key', or NULL. */
const char *line_get(const struct line *line, const char *key);

/* A whole number, digits only. -EINVAL: it is none; -ERANGE: above 'max'. */
int line_number(const char *value, uint64_t max, uint64_t *ret);

/* Lines that are being written, one after another. All zero is an empty one. */
struct line_text {
    char *text;
    uint32_t size;
    uint32_t room;
};

void line_text_done(struct line_text *text);

/* Forget what was written, keep the memory. */
void line_text_reset(struct line_text *text);

/* Begin a line; 'word' and every 'key' are of the letters a-z and '_' and '-'. */
void line_text_begin(struct line_text *text, const char *word);

/* A field; a 'value' of NULL is left out. */
void line_text_string(struct line_text *text, const char *key, const char *value);
void line_text_number(struct line_text *text, const char *key, uint64_t value);

/* A field of words for people, cut to a length that no line can be too long for. */
void line_text_prose(struct line_text *text, const char *key, const char *value);

void line_text_end(struct line_text *text);

/* Lines that were printed before. */
void line_text_append(struct line_text *text, const char *lines, uint32_t size);

#endif
