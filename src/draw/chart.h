/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart.h - line charts and stacked areas as SVG, in one or more panels, for a paper or a report.
 *
 * A chart is a title, a legend and panels side by side that share the legend: cost, completion time
 * and throughput of the same policies, for example. It is plain data that the caller fills:
 *
 *     const struct chart_point points[] = { { 0, 0.71 }, { 50, 0.74 }, { 100, 0.80 } };
 *     const struct chart_series series[] = {
 *         { .name = "stint", .points = points, .point_count = 3 },
 *         { .name = "no packing", .points = &(struct chart_point){ .y = 1 }, .point_count = 1,
 *           .stroke = CHART_LEVEL },
 *     };
 *     const struct chart_panel panel = { .title = "Cost", .x_label = "multi-GPU jobs, %",
 *                                        .y_label = "normalised cost", .series = series,
 *                                        .series_count = 2, .y_from_zero = true };
 *     const struct chart chart = { .title = "Mixes", .panels = &panel, .panel_count = 1 };
 *
 *     status = chart_write(&chart, out);
 *
 * Looks:      a name has one colour and one marker shape in all panels, given in order of first
 *             appearance from a palette that colour-blind readers can tell apart. CHART_LOOKS names
 *             differ; more begin to repeat colours, then shapes.
 *             Readers who prefer dark get it dark. Those who hear it get a summary of each series; for
 *             the numbers themselves an HTML page puts chart_write_table behind the picture.
 * Promises:   equal charts give equal bytes, with every compiler and in every locale. Text is
 *             escaped, wrapped between words and, past three lines, cut; it neither overlaps nor
 *             leaves the picture.
 * Costs:      O(points + series^2); nothing is kept.
 */
#ifndef STINT_DRAW_CHART_H
#define STINT_DRAW_CHART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CHART_LOOKS = 56, /* seven colours and eight shapes, combined */
    CHART_TABLE_ROWS = 100,
};

enum chart_stroke {
    CHART_SOLID,
    CHART_DASHED, /* hollow markers: what others reported, for comparison */
    CHART_LEVEL,  /* a dashed grey line at the height of the first point, from side to side */
    CHART_SHADOW, /* a light grey area from 0 to the points, behind everything */
};

enum chart_kind {
    CHART_LINES,
    CHART_AREAS, /* solid series are stacked, the first lowest; all others are lines over them */
};

/* A point that is not finite, or beyond 1e30, leaves a gap in the line. */
struct chart_point {
    double x;
    double y;
};

struct chart_series {
    const char *name;
    const struct chart_point *points; /* in the order in which the line goes */
    uint32_t point_count;
    enum chart_stroke stroke; /* where a name has several, the first counts for the legend */
    const char *like;         /* take colour and shape of the series with this name, or NULL */
};

/*
 * Series that are stacked share their places: point 'i' of each has the x of point 'i' of the first,
 * and a height from 0 up; one that cannot be drawn has no height. Their y axis begins at 0.
 */
struct chart_panel {
    enum chart_kind kind;
    const char *title;   /* NULL: none, as with all text here */
    const char *x_label; /* what, and in which unit */
    const char *y_label;
    const struct chart_series *series;
    uint32_t series_count;
    bool y_from_zero; /* the y axis holds 0 even if no value is near */
    bool x_is_time;   /* x is milliseconds since 1970, labelled as dates and clock times in UTC */
};

struct chart {
    const char *title;
    const struct chart_panel *panels;
    uint32_t panel_count;
    uint32_t panels_per_row; /* 0: up to three; fewer where one would be below 200 pixels */
    uint32_t width_px;       /* 0: 1000; never below 240 */
    uint32_t plot_height_px; /* 0: by the panels in a row; never below 60 */
    bool is_embedded;        /* in an HTML page, whose style sheet has svg_dark_rules */
};

/* Print the SVG document and flush. A negative errno when 'out' fails. */
int chart_write(const struct chart *chart, FILE *out);

/* A summary in sentences: what each series begins and ends with, its lowest and highest value. Escaped,
 * so that it can stand in SVG and HTML. */
void chart_write_summary(const struct chart *chart, FILE *out);

/* The values as HTML tables, one a panel, within <details>; at most CHART_TABLE_ROWS of each, evenly
 * taken. Series are columns, and points share a row by their index. */
void chart_write_table(const struct chart *chart, FILE *out);

#endif
