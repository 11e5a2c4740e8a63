/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_text.h - text from outside: what may be a name, and how it is quoted in an error.
 *
 * Promises:  an excerpt is short, one line and printable, whatever the input holds: an error text
 *            can be sent to a terminal.
 * Bounds:    O(length) for a name, O(1) for an excerpt.
 */
#ifndef STINT_TRACE_INPUT_TEXT_H
#define STINT_TRACE_INPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { EXCERPT_BYTES = 40 };

struct excerpt {
    char text[EXCERPT_BYTES + 4];
};

/* The beginning of the text; unprintable bytes become '?', a cut is shown by "...". */
struct excerpt text_excerpt(const char *text, size_t length);

/* Why the text is no name, as in "is empty"; NULL: it is one. A name has 1 to LIMIT_NAME bytes of
 * UTF-8 without control characters. */
const char *text_name_fault(const char *text, size_t length);

/* Which line, from 1, the byte at 'offset' is in. */
uint32_t text_line_at(const char *text, size_t offset);

/* Refuse what is too long for any reader or holds a zero byte. */
int text_check_input(const char *text, size_t length, struct error *reterr);

/* Whether 'name' is one of 'patterns': at most one '*' in each, commas between; NULL: every name is. */
bool text_matches(const char *patterns, const char *name);

#endif
