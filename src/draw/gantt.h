/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gantt.h - machines over time and what ran on each, as SVG for an HTML page.
 *
 * A row is one machine: a pale bar from when it was paid for to when it was not. Spans are what ran on
 * it; those that overlap stand in lanes above each other, up to GANTT_LANES, then they share the last.
 *
 * Looks:     a colour is a number; seven differ (see chart.h). Colours are never the only sign: each span
 *            has its title, and the page a table with the same.
 * Promises:  equal input gives equal bytes; all text is escaped; nothing leaves the picture.
 * Costs:     O(rows + spans); no allocation. Spans of one row stand together, by when they begin.
 */
#ifndef STINT_DRAW_GANTT_H
#define STINT_DRAW_GANTT_H

#include <stdint.h>
#include <stdio.h>

#include "base/units.h"

enum { GANTT_LANES = 6 };

struct gantt_row {
    const char *label;
    const char *title; /* what is known of it in a sentence; may be NULL */
    msec_t from;
    msec_t to;
    uint32_t span_first; /* in 'spans' of the whole */
    uint32_t span_count;
};

struct gantt_span {
    msec_t from;
    msec_t to;
    uint32_t color;
    const char *title;
};

struct gantt {
    const char *title;
    const char *description;
    msec_t from; /* what is shown */
    msec_t to;   /* above 'from' */
    const struct gantt_row *rows;
    uint32_t row_count;
    const struct gantt_span *spans;
};

void gantt_write(const struct gantt *gantt, FILE *out);

#endif
