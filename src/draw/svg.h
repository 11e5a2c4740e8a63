/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - the few SVG elements that charts are made of.
 *
 * Text is escaped, coordinates have two decimals, and the width of text is estimated without a font:
 * rather too wide, after the widest of the common sans-serif fonts, so that what is laid out by it
 * does not collide or leave the picture.
 *
 * Colours are written as on white paper; a style sheet turns them for readers who prefer dark.
 *
 * Promises:  equal calls give equal bytes. Failures are remembered by the FILE, not returned.
 * Costs:     O(bytes).
 */
#ifndef STINT_DRAW_SVG_H
#define STINT_DRAW_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "draw/utf8.h"

enum { SVG_WRAP_LINES = 3 }; /* more than this many are cut */

enum svg_anchor {
    SVG_START,
    SVG_MIDDLE,
    SVG_END,
};

struct svg_font {
    double size;
    bool bold;
    const char *color;
};

struct svg_point {
    double x;
    double y;
};

struct svg_stroke {
    const char *color;
    double width;
    const char *dash; /* NULL: none */
};

/* A line of text; 'is_cut' puts an ellipsis behind it. */
struct svg_phrase {
    struct utf8_span span;
    bool is_cut;
};

struct svg_phrases {
    struct svg_phrase line[SVG_WRAP_LINES];
    uint32_t count;
};

/* How wide a phrase is, at most. */
double svg_text_width(struct svg_phrase phrase, struct svg_font font);

/* Break clean UTF-8 between words into lines of at most 'room'; what does not fit is cut. */
struct svg_phrases svg_wrap(const char *text, double room, uint32_t lines_most,
                            struct svg_font font);

/*
 * The document up to its title, then svg_backdrop, the drawing, svg_end. In between a <desc> may stand.
 * 'is_embedded': it is part of a page, whose style sheet has svg_dark_rules; else it brings its own.
 */
void svg_begin(FILE *out, double width, double height, const char *title, bool is_embedded);
void svg_backdrop(FILE *out, bool is_embedded);
void svg_end(FILE *out);

/* CSS for readers who prefer dark: other values for the colours of charts, by what they are on paper. */
extern const char svg_dark_rules[];

/* A coordinate or length. */
void svg_number(FILE *out, double value);

/* Text for an element or an attribute, escaped. */
void svg_escaped(FILE *out, struct utf8_span span);

/* 'at' is on the base line. 'upwards' turns the text to read from bottom to top. */
void svg_text(FILE *out, struct svg_point at, enum svg_anchor anchor, bool upwards,
              struct svg_font font, struct svg_phrase phrase);

void svg_line(FILE *out, struct svg_point from, struct svg_point to, struct svg_stroke stroke);

#endif
