/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - bars and sparklines of one line of text, for terminals and reports in Markdown.
 *
 *     blocks_bar(out, 0.62, 10, true)       ██████▏
 *     blocks_bar(out, 0.62, 10, false)      ######....
 *     blocks_spark(out, values, 7)          ▁▂▅█▇▃▁
 *
 * Promises:  a bar has exactly 'columns' columns, a sparkline one for each value; a share that is not
 *            within 0 and 1 is brought there, and what is not finite is nothing.
 * Costs:     O(columns), O(values).
 */
#ifndef STINT_DRAW_BLOCKS_H
#define STINT_DRAW_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Eighths of a column where the terminal has them ('is_utf8'), else whole columns of # and dots. */
void blocks_bar(FILE *out, double share, uint32_t columns, bool is_utf8);

/* From 0 to the largest value. */
void blocks_spark(FILE *out, const double *values, uint32_t count);

#endif
