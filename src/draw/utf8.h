/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - text as people see it: characters and lines.
 *
 * Names come from outside, in any bytes. utf8_clean makes of them what every output may hold: JSON,
 * XML and a terminal.
 *
 * Promises:  no input is refused; what is not text becomes U+FFFD, the replacement character.
 * Costs:     O(bytes).
 */
#ifndef STINT_DRAW_UTF8_H
#define STINT_DRAW_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define UTF8_REPLACEMENT ((uint32_t)0xFFFD)

/* Some bytes of a longer text. */
struct utf8_span {
    const char *text;
    size_t size;
};

/* How much room one character takes, in a unit that the caller chooses. */
typedef double utf8_measure_t(uint32_t character);

/*
 * The character at 'text', which is not at its end, and how many bytes it takes. One byte of
 * something that is not UTF-8 is one UTF8_REPLACEMENT.
 */
uint32_t utf8_next(const char *text, uint32_t *ret_size);

/*
 * A copy of 'text' in 'arena' that is valid UTF-8. Control characters are replaced too, but for tab,
 * newline and carriage return; so are those that change the direction of writing.
 */
const char *utf8_clean(struct arena *arena, const char *text);

/* Whether XML refuses the character, a terminal obeys it, or it changes how the rest of the line reads;
 * tab, newline and carriage return are none of these. */
bool utf8_is_control(uint32_t character);

/* The sum of the widths of all characters of 'span'. */
double utf8_width(struct utf8_span span, utf8_measure_t *width);

/* The longest start of 'span' that is at most 'room' wide. */
struct utf8_span utf8_cut(struct utf8_span span, double room, utf8_measure_t *width);

/*
 * The words at the start of '*rest' that fit in 'room', at least one; '*rest' moves on to the first
 * word behind them. Words end at white space. An empty span when there are no more words.
 */
struct utf8_span utf8_take_line(const char **rest, double room, utf8_measure_t *width);

#endif
