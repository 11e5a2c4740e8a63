/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_text.h - one text field of a CSV file, safe to open in a spreadsheet.
 *
 * Names come from users. A spreadsheet takes a field that begins with = + - @, a tab or a carriage
 * return (or the full-width forms of the four signs) for a formula, whether it is quoted or not. As
 * OWASP recommends, such a text gets a single quote in front. Numbers must not come here: -3 is one.
 *
 * Promises:  the field is one field by RFC 4180; an empty text is "".
 * Costs:     O(bytes).
 */
#ifndef STINT_DRAW_CSV_TEXT_H
#define STINT_DRAW_CSV_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a spreadsheet would take the text for a formula. A sign alone is none. */
bool csv_is_formula(const char *text);

void csv_text(FILE *out, const char *text);

#endif
