/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - text, numbers and times as HTML.
 *
 * Everything that others wrote (names of jobs and users, reasons, configuration) goes through html_text,
 * which leaves nothing that a browser would take for markup, whether in an element or in a quoted
 * attribute. Numbers carry their exact value beside what people read: <data value="412000">$0.41</data>.
 *
 * Promises:  no input is refused; what is not text becomes U+FFFD. Equal calls give equal bytes.
 *            Failures are remembered by the FILE, not returned.
 * Costs:     O(bytes); no allocation.
 */
#ifndef STINT_DRAW_HTML_H
#define STINT_DRAW_HTML_H

#include <stdio.h>

#include "base/units.h"

/* For an element or a quoted attribute; NULL is nothing. White space becomes a space. */
void html_text(FILE *out, const char *text);

/* A segment of a path or a value of a query: all but letters, digits and - . _ ~ as %XX. */
void html_address(FILE *out, const char *text);

/* "$1.83" with so many digits behind the point, and the micro-dollars as its value; MONEY_UNKNOWN is a
 * dash. 'name' is a class, so that programs find it; NULL: none. */
void html_money(FILE *out, const char *name, money_t money, uint32_t digits);

/* A whole number, grouped for people. */
void html_count(FILE *out, const char *name, int64_t count);

/* The same with what is counted: "1 task", "2 tasks". */
void html_count_of(FILE *out, const char *name, int64_t count, const char *what);

/* "2026-11-15 06:12:00" in UTC as <time>; "-" below 0 and for MSEC_NEVER. */
void html_time(FILE *out, msec_t at);

/* "45 s", "12 min", "3 h 5 min", "2 d 4 h"; "-" below 0 and for MSEC_NEVER. */
void html_span(FILE *out, msec_t span);

#endif
