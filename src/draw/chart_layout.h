/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart_layout.h - where each part of a chart stands; the drawing is in chart.c.
 *
 * The picture, from top to bottom: title, legend, rows of panels. All panels have the same measures,
 * so that their plots line up; each measure is the largest that any panel needs:
 *
 *     |<-------------- cell_width -------------->|
 *     |                 panel title              |  title_height
 *     | y label, |                         |     |
 *     |   y tick |          plot           |     |  plot_height
 *     |   labels |                         |     |
 *     |<- left ->|<----- plot_width ------>|     |
 *                  x tick labels, x label
 *
 * The order of the sums follows from what depends on what: the height of a plot gives the y ticks,
 * their labels give 'left', what remains is the plot's width, and that gives the x ticks.
 *
 * Promises:  pure; no two parts overlap and none leaves the picture.
 * Memory:    the layout owns its arena and borrows the chart.
 * Costs:     O(points + series^2).
 */
#ifndef STINT_DRAW_CHART_LAYOUT_H
#define STINT_DRAW_CHART_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "draw/chart.h"
#include "draw/chart_axis.h"
#include "draw/svg.h"

#define CHART_INK       "#222222" /* of all text */
#define CHART_LINE_STEP 1.35      /* from one line of text to the next, in font sizes */

enum {
    CHART_MARGIN = 16,
    CHART_TITLE_GAP = 8,   /* below a title or the legend */
    CHART_LABEL_GAP = 4,   /* between tick labels and the label of the axis */
    CHART_INSET = 12,      /* between the plot's sides and the first and last point */
    CHART_TICK = 5,        /* length of a tick mark */
    CHART_TICK_GAP = 4,    /* between a tick mark and its label */
    CHART_KEY_LENGTH = 34, /* of the sample line in the legend */
    CHART_KEY_GAP = 7,
    CHART_ENTRY_HEIGHT = 24, /* of a row of the legend */
};

extern const struct svg_font chart_title_font;
extern const struct svg_font chart_panel_font;
extern const struct svg_font chart_label_font;
extern const struct svg_font chart_tick_font;
extern const struct svg_font chart_legend_font;

/* What stands for a name in the legend. */
enum chart_sign {
    CHART_SIGN_MARKED, /* a line with a marker, or a level */
    CHART_SIGN_PLAIN,  /* a line */
    CHART_SIGN_AREA,   /* a stacked series or a shadow */
};

/* One name and what it looks like; the looks in order are the legend. */
struct chart_look {
    const char *name; /* as the caller wrote it */
    enum chart_stroke stroke;
    enum chart_sign sign;
    uint32_t number; /* gives colour and shape, or the dashes of a level */
    struct svg_phrase caption;
    double x; /* within its row */
    uint32_t row;
};

struct chart_range {
    double low;
    double high;
};

/* One panel: what its text and its values need. */
struct chart_pane {
    const struct chart_panel *panel;
    uint32_t point_count; /* that can be drawn */
    struct chart_range x_range;
    struct chart_range y_range;
    struct svg_phrases title;
    struct svg_phrases x_label;
    struct svg_phrases y_label;
    struct chart_axis x;
    struct chart_axis y;
};

struct chart_layout {
    struct arena arena;
    const struct chart *chart;
    const char *title_text;
    struct svg_phrases title;
    struct chart_look *looks;
    uint32_t look_count;
    uint32_t level_count;
    uint32_t legend_rows;
    double *legend_widths;    /* of each row */
    struct chart_pane *panes; /* one per panel */
    uint32_t per_row;
    double width;
    double height;
    double legend_top;
    double panels_top;
    double cell_width;
    double cell_height;
    double title_height;
    double left;
    double plot_width;
    double plot_height;
};

/* Where the plot of one panel is drawn. */
struct chart_frame {
    const struct chart_pane *pane;
    double cell_left;
    double cell_top;
    double left;
    double right;
    double top;
    double bottom;
};

void chart_layout_init(struct chart_layout *layout, const struct chart *chart);
void chart_layout_done(struct chart_layout *layout);

/* Where panel 'index' goes. */
struct chart_frame chart_layout_frame(const struct chart_layout *layout, uint32_t index);

/* The look of the series called 'name', or NULL. */
const struct chart_look *chart_layout_look(const struct chart_layout *layout, const char *name);

/* Whether a point can be on an axis. */
bool chart_is_drawable(struct chart_point point);

/* Whether the series is one of those that are stacked. */
bool chart_is_stacked(const struct chart_panel *panel, const struct chart_series *series);

/* How high a stacked series is at point 'index'. */
double chart_stacked_height(const struct chart_series *series, uint32_t index);

double chart_lines_height(uint32_t count, struct svg_font font);

/* A tick label as something to draw; 'label' must outlive it. */
struct svg_phrase chart_label_phrase(const struct digits *label);

/* The width of the widest tick label. */
double chart_widest_label(const struct chart_axis *axis);

#endif
