/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/chart_layout.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "draw/digits.h"
#include "draw/utf8.h"

enum {
    WIDTH_DEFAULT = 1000,
    WIDTH_LEAST = 240,
    PER_ROW_DEFAULT = 3,
    CELL_LEAST = 200, /* a narrower panel goes to the next row */
    CELL_GAP = 18,
    PLOT_HEIGHT_LEAST = 60,
    ROW_GAP = 22,
    PLOT_RIGHT = 18, /* room for half a tick label */
    TICKS_MOST = 7,
    TICKS_LEAST = 3,
    X_LABEL_SPACE = 14, /* between two x tick labels */
    ENTRY_GAP = 26,     /* between two entries of the legend */
};

const struct svg_font chart_title_font = { 18, true, CHART_INK };
const struct svg_font chart_panel_font = { 14.5, true, CHART_INK };
const struct svg_font chart_label_font = { 13, false, CHART_INK };
const struct svg_font chart_tick_font = { 12, false, CHART_INK };
const struct svg_font chart_legend_font = { 13.5, false, CHART_INK };

double chart_lines_height(uint32_t count, struct svg_font font)
{
    return ceil(count * font.size * CHART_LINE_STEP);
}

static struct svg_phrases wrap(struct chart_layout *layout, const char *text, double room,
                               struct svg_font font)
{
    return svg_wrap(text != NULL ? utf8_clean(&layout->arena, text) : NULL, room, SVG_WRAP_LINES,
                    font);
}

/* Looks and legend. */

const struct chart_look *chart_layout_look(const struct chart_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->look_count; i++) {
        if (strcmp(layout->looks[i].name, name) == 0)
            return &layout->looks[i];
    }
    return NULL;
}

bool chart_is_stacked(const struct chart_panel *panel, const struct chart_series *series)
{
    return panel->kind == CHART_AREAS && series->stroke == CHART_SOLID;
}

static enum chart_sign sign_of(const struct chart_panel *panel, const struct chart_series *series)
{
    if (series->stroke == CHART_SHADOW)
        return CHART_SIGN_AREA;
    if (panel->kind == CHART_LINES)
        return CHART_SIGN_MARKED;
    return chart_is_stacked(panel, series) ? CHART_SIGN_AREA : CHART_SIGN_PLAIN;
}

static void add_look(struct chart_layout *layout, const struct chart_panel *panel,
                     const struct chart_series *series, uint32_t number)
{
    assert(series->name != NULL);
    if (chart_layout_look(layout, series->name) != NULL)
        return;
    if (series->stroke == CHART_LEVEL)
        number = layout->level_count++;
    layout->looks[layout->look_count++] = (struct chart_look){ .name = series->name,
                                                               .stroke = series->stroke,
                                                               .sign = sign_of(panel, series),
                                                               .number = number };
}

/* Give looks to the series that have one of their own, or to all others. */
static void add_looks(struct chart_layout *layout, const struct chart_panel *panel, bool own)
{
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        const bool is_own =
            series->like == NULL && series->stroke != CHART_LEVEL && series->stroke != CHART_SHADOW;
        const struct chart_look *model =
            series->like != NULL ? chart_layout_look(layout, series->like) : NULL;

        if (is_own == own)
            add_look(layout, panel, series, model != NULL ? model->number : layout->look_count);
    }
}

/* What looks like another series, levels and shadows come last in the legend. */
static void choose_looks(struct chart_layout *layout)
{
    const struct chart *chart = layout->chart;
    uint32_t most = 0;

    for (uint32_t i = 0; i < chart->panel_count; i++)
        most += chart->panels[i].series_count;
    layout->looks = ARENA_ARRAY(&layout->arena, struct chart_look, most);
    for (uint32_t i = 0; i < chart->panel_count; i++)
        add_looks(layout, &chart->panels[i], true);
    for (uint32_t i = 0; i < chart->panel_count; i++)
        add_looks(layout, &chart->panels[i], false);
}

/* Give each legend entry its place: as many in a row as fit. */
static void place_legend(struct chart_layout *layout)
{
    const double room = layout->width - 2 * CHART_MARGIN;
    double x = 0;
    uint32_t row = 0;

    layout->legend_widths = ARENA_ARRAY(&layout->arena, double, layout->look_count + 1);
    for (uint32_t i = 0; i < layout->look_count; i++) {
        struct chart_look *look = &layout->looks[i];
        const double key = CHART_KEY_LENGTH + CHART_KEY_GAP;
        const struct svg_phrases phrases =
            svg_wrap(utf8_clean(&layout->arena, look->name), room - key, 1, chart_legend_font);

        if (phrases.count > 0)
            look->caption = phrases.line[0];

        const double width = key + svg_text_width(look->caption, chart_legend_font);

        if (x > 0 && x + ENTRY_GAP + width > room) {
            row++;
            x = 0;
        }
        look->x = x > 0 ? x + ENTRY_GAP : 0;
        look->row = row;
        x = look->x + width;
        layout->legend_widths[row] = x;
    }
    layout->legend_rows = layout->look_count > 0 ? row + 1 : 0;
}

/* Ranges and axes. */

static bool is_usable(double value)
{
    return isfinite(value) && fabs(value) <= CHART_AXIS_VALUE_MAX;
}

bool chart_is_drawable(struct chart_point point)
{
    return is_usable(point.x) && is_usable(point.y);
}

static void range_include(struct chart_range *range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

double chart_stacked_height(const struct chart_series *series, uint32_t index)
{
    if (index >= series->point_count || !chart_is_drawable(series->points[index]))
        return 0;
    return fmax(0, series->points[index].y);
}

/* How high the stacked series are together, at most. */
static double highest_stack(const struct chart_panel *panel)
{
    double highest = 0;
    uint32_t most = 0;

    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];

        if (chart_is_stacked(panel, series) && series->point_count > most)
            most = series->point_count;
    }
    for (uint32_t k = 0; k < most; k++) {
        double height = 0;

        for (uint32_t i = 0; i < panel->series_count; i++) {
            if (chart_is_stacked(panel, &panel->series[i]))
                height += chart_stacked_height(&panel->series[i], k);
        }
        highest = fmax(highest, height);
    }
    return fmin(highest, CHART_AXIS_VALUE_MAX);
}

/* Of a level only the first point counts. */
static uint32_t counting_points(const struct chart_series *series)
{
    return series->stroke == CHART_LEVEL && series->point_count > 1 ? 1 : series->point_count;
}

static bool has_shadow(const struct chart_panel *panel)
{
    for (uint32_t i = 0; i < panel->series_count; i++) {
        if (panel->series[i].stroke == CHART_SHADOW)
            return true;
    }
    return false;
}

/* What the points of a panel span, and how many there are; a level has a height but no place. */
static uint32_t find_ranges(const struct chart_panel *panel, struct chart_range *ret_x,
                            struct chart_range *ret_y)
{
    struct chart_range x = { HUGE_VAL, -HUGE_VAL };
    struct chart_range y = x;
    uint32_t count = 0;

    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];

        for (uint32_t k = 0; k < counting_points(series); k++) {
            if (!chart_is_drawable(series->points[k]))
                continue;
            count++;
            if (!chart_is_stacked(panel, series))
                range_include(&y, series->points[k].y);
            if (series->stroke != CHART_LEVEL)
                range_include(&x, series->points[k].x);
        }
    }
    if (count > 0 && (panel->y_from_zero || panel->kind == CHART_AREAS || has_shadow(panel)))
        range_include(&y, 0);
    if (count > 0 && panel->kind == CHART_AREAS)
        range_include(&y, highest_stack(panel));
    *ret_x = x.low <= x.high ? x : (struct chart_range){ 0, 1 };
    *ret_y = y.low <= y.high ? y : (struct chart_range){ 0, 1 };
    return count;
}

struct svg_phrase chart_label_phrase(const struct digits *label)
{
    return (struct svg_phrase){ { label->text, strlen(label->text) }, false };
}

double chart_widest_label(const struct chart_axis *axis)
{
    double widest = 0;

    for (uint32_t i = 0; i < axis->tick_count; i++) {
        const struct digits label = chart_axis_label(axis, i);

        widest = fmax(widest, svg_text_width(chart_label_phrase(&label), chart_tick_font));
    }
    return widest;
}

/* The most ticks whose labels do not touch. */
static struct chart_axis fit_x_axis(struct chart_range range, double plot_width, bool is_time)
{
    uint32_t most = TICKS_MOST;

    for (;; most--) {
        const struct chart_axis axis =
            is_time ? chart_axis_fit_time(range.low, range.high, most)
                    : chart_axis_fit(range.low, range.high, most, CHART_AXIS_SNUG);
        const double span = chart_axis_tick(&axis, 1) - chart_axis_tick(&axis, 0);
        const double step = span / (axis.high - axis.low) * (plot_width - 2 * CHART_INSET);

        if (chart_widest_label(&axis) + X_LABEL_SPACE <= step || most == TICKS_LEAST)
            return axis;
    }
}

/* Measures. */

/* Fewer panels in a row than asked for, if they would be too narrow to read. */
static void measure_cells(struct chart_layout *layout)
{
    const struct chart *chart = layout->chart;
    const uint32_t asked = chart->panels_per_row > 0 ? chart->panels_per_row : PER_ROW_DEFAULT;
    const double room = layout->width - 2 * CHART_MARGIN + CELL_GAP;

    layout->per_row = asked < chart->panel_count ? asked : chart->panel_count;
    while (layout->per_row > 1 && room / layout->per_row - CELL_GAP < CELL_LEAST)
        layout->per_row--;
    layout->cell_width = room / layout->per_row - CELL_GAP;

    layout->plot_height = layout->per_row == 1 ? 380 : layout->per_row == 2 ? 300 : 250;
    if (chart->plot_height_px > 0)
        layout->plot_height = fmax(chart->plot_height_px, PLOT_HEIGHT_LEAST);
}

/* What stands to the left of the plots, and so how wide they are. */
static void measure_left(struct chart_layout *layout)
{
    const double y_room = layout->plot_height + 2 * CHART_TITLE_GAP;
    double tick_width = 0;
    double label_width = 0;

    for (uint32_t i = 0; i < layout->chart->panel_count; i++) {
        struct chart_pane *pane = &layout->panes[i];

        pane->y =
            chart_axis_fit(pane->y_range.low, pane->y_range.high, TICKS_MOST, CHART_AXIS_ROUND);
        pane->y_label = wrap(layout, pane->panel->y_label, y_room, chart_label_font);
        tick_width = fmax(tick_width, chart_widest_label(&pane->y));
        label_width = fmax(label_width, chart_lines_height(pane->y_label.count, chart_label_font));
    }
    layout->left = label_width + CHART_TICK + CHART_TICK_GAP + ceil(tick_width) + CHART_LABEL_GAP;
    layout->plot_width = layout->cell_width - layout->left - PLOT_RIGHT;
}

/* What stands above and below the plots, and so how high a row of panels is. */
static void measure_height(struct chart_layout *layout)
{
    double title = 0;
    double label = 0;

    for (uint32_t i = 0; i < layout->chart->panel_count; i++) {
        struct chart_pane *pane = &layout->panes[i];

        pane->x = fit_x_axis(pane->x_range, layout->plot_width, pane->panel->x_is_time);
        pane->title = wrap(layout, pane->panel->title, layout->plot_width, chart_panel_font);
        pane->x_label = wrap(layout, pane->panel->x_label, layout->plot_width, chart_label_font);
        title = fmax(title, chart_lines_height(pane->title.count, chart_panel_font));
        label = fmax(label, chart_lines_height(pane->x_label.count, chart_label_font));
    }
    layout->title_height = title > 0 ? title + CHART_TITLE_GAP : CHART_TITLE_GAP;
    layout->cell_height = layout->title_height + layout->plot_height + CHART_TICK + CHART_TICK_GAP +
                          chart_lines_height(1, chart_tick_font) + CHART_LABEL_GAP + label;
}

void chart_layout_init(struct chart_layout *layout, const struct chart *chart)
{
    *layout = (struct chart_layout){ .chart = chart };
    arena_init(&layout->arena);
    layout->width = chart->width_px > 0 ? fmax(chart->width_px, WIDTH_LEAST) : WIDTH_DEFAULT;
    layout->title_text = utf8_clean(&layout->arena, chart->title != NULL ? chart->title : "");
    layout->title =
        wrap(layout, layout->title_text, layout->width - 2 * CHART_MARGIN, chart_title_font);
    choose_looks(layout);
    place_legend(layout);

    layout->panes = ARENA_ARRAY(&layout->arena, struct chart_pane, chart->panel_count);
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        struct chart_pane *pane = &layout->panes[i];

        pane->panel = &chart->panels[i];
        pane->point_count = find_ranges(pane->panel, &pane->x_range, &pane->y_range);
    }
    measure_cells(layout);
    measure_left(layout);
    measure_height(layout);

    const double title = chart_lines_height(layout->title.count, chart_title_font);
    const double legend = layout->legend_rows * (double)CHART_ENTRY_HEIGHT;
    const uint32_t rows = (chart->panel_count + layout->per_row - 1) / layout->per_row;

    layout->legend_top = CHART_MARGIN + title + (title > 0 ? CHART_TITLE_GAP : 0);
    layout->panels_top = layout->legend_top + legend + (legend > 0 ? CHART_TITLE_GAP : 0);
    layout->height =
        layout->panels_top + rows * (layout->cell_height + ROW_GAP) - ROW_GAP + CHART_MARGIN;
}

void chart_layout_done(struct chart_layout *layout)
{
    arena_done(&layout->arena);
}

struct chart_frame chart_layout_frame(const struct chart_layout *layout, uint32_t index)
{
    const double column = index % layout->per_row;
    const double row = floor((double)index / layout->per_row);
    struct chart_frame frame = { .pane = &layout->panes[index] };

    frame.cell_left = CHART_MARGIN + column * (layout->cell_width + CELL_GAP);
    frame.cell_top = layout->panels_top + row * (layout->cell_height + ROW_GAP);
    frame.left = frame.cell_left + layout->left;
    frame.right = frame.left + layout->plot_width;
    frame.top = frame.cell_top + layout->title_height;
    frame.bottom = frame.top + layout->plot_height;
    return frame;
}
