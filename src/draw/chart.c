/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/chart.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "draw/chart_axis.h"
#include "draw/chart_layout.h"
#include "draw/digits.h"
#include "draw/svg.h"

#define FAINT    "#e4e4e4"
#define AXIS     "#555555"
#define LEVEL    "#555555"
#define SHADOW   "#c9c9c9"
#define BACKDROP "#ffffff"
#define DASHES   "6 4"
#define OPACITY  "0.82" /* of areas, so that the grid is seen through them */

enum {
    MARKERS_MOST = 24, /* on one line; of a longer series some points have none */
    MARKERS_WHEN_LONG = 12,
};

/* Okabe and Ito's palette without its yellow, which white paper swallows. */
static const char *const colors[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
};

/* Around the origin: disc, square, triangle, diamond, falling triangle, cross, plus, star. */
static const char *const shapes[] = {
    "M-4.3 0a4.3 4.3 0 1 0 8.6 0a4.3 4.3 0 1 0 -8.6 0z",
    "M-3.9 -3.9h7.8v7.8h-7.8z",
    "M0 -5.2L5 3.8H-5z",
    "M0 -5.6L5.6 0L0 5.6L-5.6 0z",
    "M0 5.2L5 -3.8H-5z",
    "M0 -2.2L2.8 -5L5 -2.8L2.2 0L5 2.8L2.8 5L0 2.2L-2.8 5L-5 2.8L-2.2 0L-5 -2.8L-2.8 -5z",
    "M-1.6 -5.2h3.2v3.6h3.6v3.2h-3.6v3.6h-3.2v-3.6h-3.6v-3.2h3.6z",
    "M0 -6L1.5 -2L5.7 -1.9L2.4 0.8L3.5 4.9L0 2.5L-3.5 4.9L-2.4 0.8L-5.7 -1.9L-1.5 -2z",
};

/* Levels differ by their dashes alone. */
static const char *const level_dashes[] = { "2.5 3.5", "10 4", "10 3 2.5 3" };

enum {
    COLOR_COUNT = sizeof(colors) / sizeof(colors[0]),
    SHAPE_COUNT = sizeof(shapes) / sizeof(shapes[0]),
    LEVEL_COUNT = sizeof(level_dashes) / sizeof(level_dashes[0]),
};

/* No common divisor, so that counting up both at once passes through all pairs. */
_Static_assert(COLOR_COUNT + 1 == SHAPE_COUNT, "colours and shapes share a divisor");
_Static_assert(CHART_LOOKS == SHAPE_COUNT * COLOR_COUNT, "the header promises other looks");

/* Lines of text around 'x', the first one's top at 'top'. */
static void draw_lines(FILE *out, const struct svg_phrases *lines, double x, double top,
                       struct svg_font font)
{
    for (uint32_t i = 0; i < lines->count; i++) {
        const struct svg_point at = { x, top + (i + 1) * font.size * CHART_LINE_STEP -
                                             font.size * 0.3 };

        svg_text(out, at, SVG_MIDDLE, false, font, lines->line[i]);
    }
}

static const char *look_color(const struct chart_look *look)
{
    if (look->stroke == CHART_SHADOW)
        return SHADOW;
    return look->stroke == CHART_LEVEL ? LEVEL : colors[look->number % COLOR_COUNT];
}

static struct svg_stroke look_stroke(const struct chart_look *look, enum chart_stroke stroke)
{
    switch (stroke) {
    case CHART_SOLID:
        return (struct svg_stroke){ look_color(look), 2, NULL };
    case CHART_DASHED:
        return (struct svg_stroke){ look_color(look), 1.6, DASHES };
    case CHART_LEVEL:
    case CHART_SHADOW:
        break;
    }
    return (struct svg_stroke){ LEVEL, 1.4, level_dashes[look->number % LEVEL_COUNT] };
}

static void draw_marker(FILE *out, const struct chart_look *look, enum chart_stroke stroke,
                        struct svg_point at)
{
    const char *color = look_color(look);
    const bool hollow = stroke == CHART_DASHED;

    (void)fputs("<path transform=\"translate(", out);
    svg_number(out, at.x);
    (void)fputc(' ', out);
    svg_number(out, at.y);
    (void)fprintf(out, ")\" d=\"%s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n",
                  shapes[look->number % SHAPE_COUNT], hollow ? BACKDROP : color,
                  hollow ? color : BACKDROP, hollow ? "1.5" : "0.8");
}

static void draw_area_key(FILE *out, const struct chart_look *look, struct svg_point from)
{
    const double height = CHART_ENTRY_HEIGHT * 0.55;

    (void)fputs("<rect x=\"", out);
    svg_number(out, from.x);
    (void)fputs("\" y=\"", out);
    svg_number(out, from.y - height / 2);
    (void)fputs("\" width=\"", out);
    svg_number(out, CHART_KEY_LENGTH);
    (void)fputs("\" height=\"", out);
    svg_number(out, height);
    (void)fprintf(out, "\" fill=\"%s\" fill-opacity=\"" OPACITY "\"/>\n", look_color(look));
}

static void draw_legend(FILE *out, const struct chart_layout *layout)
{
    for (uint32_t i = 0; i < layout->look_count; i++) {
        const struct chart_look *look = &layout->looks[i];
        const double start = (layout->width - layout->legend_widths[look->row]) / 2 + look->x;
        const double y = layout->legend_top + (look->row + 0.5) * CHART_ENTRY_HEIGHT;
        const struct svg_point from = { start, y };
        const struct svg_point to = { start + CHART_KEY_LENGTH, y };
        const struct svg_point middle = { start + CHART_KEY_LENGTH / 2.0, y };
        const struct svg_point text = { to.x + CHART_KEY_GAP, y + chart_legend_font.size * 0.35 };

        if (look->sign == CHART_SIGN_AREA)
            draw_area_key(out, look, from);
        else
            svg_line(out, from, to, look_stroke(look, look->stroke));
        if (look->sign == CHART_SIGN_MARKED && look->stroke != CHART_LEVEL)
            draw_marker(out, look, look->stroke, middle);
        svg_text(out, text, SVG_START, false, chart_legend_font, look->caption);
    }
}

static double x_at(const struct chart_frame *frame, double value)
{
    const struct chart_axis *axis = &frame->pane->x;
    const double width = frame->right - frame->left - 2 * CHART_INSET;

    return frame->left + CHART_INSET + (value - axis->low) / (axis->high - axis->low) * width;
}

static double y_at(const struct chart_frame *frame, double value)
{
    const struct chart_axis *axis = &frame->pane->y;
    const double height = frame->bottom - frame->top;

    return frame->bottom - (value - axis->low) / (axis->high - axis->low) * height;
}

static void draw_x_axis(FILE *out, const struct chart_frame *frame)
{
    const struct chart_axis *axis = &frame->pane->x;
    const struct svg_stroke stroke = { AXIS, 1, NULL };
    const double base = frame->bottom + CHART_TICK + CHART_TICK_GAP + chart_tick_font.size * 0.85;
    double free_from = 0; /* in a very narrow panel a label may have to give way */

    for (uint32_t i = 0; i < axis->tick_count; i++) {
        const double x = x_at(frame, chart_axis_tick(axis, i));
        const struct digits label = chart_axis_label(axis, i);
        const double half = svg_text_width(chart_label_phrase(&label), chart_tick_font) / 2;

        svg_line(out, (struct svg_point){ x, frame->top }, (struct svg_point){ x, frame->bottom },
                 (struct svg_stroke){ FAINT, 1, NULL });
        svg_line(out, (struct svg_point){ x, frame->bottom },
                 (struct svg_point){ x, frame->bottom + CHART_TICK }, stroke);
        if (x - half >= free_from) {
            svg_text(out, (struct svg_point){ x, base }, SVG_MIDDLE, false, chart_tick_font,
                     chart_label_phrase(&label));
            free_from = x + half;
        }
    }
    svg_line(out, (struct svg_point){ frame->left, frame->bottom },
             (struct svg_point){ frame->right, frame->bottom }, stroke);
    draw_lines(out, &frame->pane->x_label, (frame->left + frame->right) / 2,
               frame->bottom + CHART_TICK + CHART_TICK_GAP +
                   chart_lines_height(1, chart_tick_font) + CHART_LABEL_GAP,
               chart_label_font);
}

/* Close to this panel's own tick labels, which may be narrower than those of others. */
static void draw_y_label(FILE *out, const struct chart_frame *frame)
{
    const struct svg_phrases *lines = &frame->pane->y_label;
    const double right = frame->left - CHART_TICK - CHART_TICK_GAP -
                         chart_widest_label(&frame->pane->y) - chart_label_font.size * 0.6;

    for (uint32_t i = 0; i < lines->count; i++) {
        const double back = (lines->count - 1 - i) * chart_label_font.size * CHART_LINE_STEP;
        const struct svg_point at = { right - back, (frame->top + frame->bottom) / 2 };

        svg_text(out, at, SVG_MIDDLE, true, chart_label_font, lines->line[i]);
    }
}

static void draw_y_axis(FILE *out, const struct chart_frame *frame)
{
    const struct chart_axis *axis = &frame->pane->y;
    const struct svg_stroke stroke = { AXIS, 1, NULL };

    for (uint32_t i = 0; i < axis->tick_count; i++) {
        const double y = y_at(frame, chart_axis_tick(axis, i));
        const struct digits label = chart_axis_label(axis, i);
        const struct svg_point at = { frame->left - CHART_TICK - CHART_TICK_GAP,
                                      y + chart_tick_font.size * 0.36 };

        svg_line(out, (struct svg_point){ frame->left, y }, (struct svg_point){ frame->right, y },
                 (struct svg_stroke){ FAINT, 1, NULL });
        svg_line(out, (struct svg_point){ frame->left - CHART_TICK, y },
                 (struct svg_point){ frame->left, y }, stroke);
        svg_text(out, at, SVG_END, false, chart_tick_font, chart_label_phrase(&label));
    }
    svg_line(out, (struct svg_point){ frame->left, frame->top },
             (struct svg_point){ frame->left, frame->bottom }, stroke);
    draw_y_label(out, frame);
}

static void draw_path(FILE *out, const struct chart_frame *frame, const struct chart_series *series,
                      struct svg_stroke stroke)
{
    bool pen_down = false;

    (void)fputs("<path d=\"", out);
    for (uint32_t i = 0; i < series->point_count; i++) {
        if (!chart_is_drawable(series->points[i])) {
            pen_down = false;
            continue;
        }
        (void)fputc(pen_down ? 'L' : 'M', out);
        svg_number(out, x_at(frame, series->points[i].x));
        (void)fputc(' ', out);
        svg_number(out, y_at(frame, series->points[i].y));
        pen_down = true;
    }
    (void)fprintf(out, "\" fill=\"none\" stroke=\"%s\" stroke-linejoin=\"round\"", stroke.color);
    (void)fputs(" stroke-width=\"", out);
    svg_number(out, stroke.width);
    (void)fputc('"', out);
    if (stroke.dash != NULL)
        (void)fprintf(out, " stroke-dasharray=\"%s\"", stroke.dash);
    (void)fputs("/>\n", out);
}

/* A corner of an area; the first one puts the pen down. */
static void draw_corner(FILE *out, const struct chart_frame *frame, struct chart_point at,
                        bool *pen_down)
{
    if (!chart_is_drawable(at))
        return;
    (void)fputc(*pen_down ? 'L' : 'M', out);
    svg_number(out, x_at(frame, at.x));
    (void)fputc(' ', out);
    svg_number(out, y_at(frame, at.y));
    *pen_down = true;
}

/* From left to right along the top, and back along what lies below; 'floor' moves up to the top. */
static void draw_area(FILE *out, const struct chart_frame *frame, const struct chart_series *series,
                      const struct chart_look *look, double *floor)
{
    const struct chart_point *points = series->points;
    bool pen_down = false;

    (void)fputs("<path d=\"", out);
    for (uint32_t i = 0; i < series->point_count; i++) {
        const double top = floor[i] + chart_stacked_height(series, i);

        draw_corner(out, frame, (struct chart_point){ points[i].x, top }, &pen_down);
    }
    for (uint32_t i = series->point_count; i > 0; i--)
        draw_corner(out, frame, (struct chart_point){ points[i - 1].x, floor[i - 1] }, &pen_down);
    (void)fprintf(out, "z\" fill=\"%s\" fill-opacity=\"" OPACITY "\"/>\n", look_color(look));
    for (uint32_t i = 0; i < series->point_count; i++)
        floor[i] += chart_stacked_height(series, i);
}

static uint32_t most_points(const struct chart_panel *panel)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < panel->series_count; i++) {
        if (panel->series[i].point_count > most)
            most = panel->series[i].point_count;
    }
    return most;
}

/* The shadows of a panel, then its stacked series, the first lowest. */
static void draw_areas(FILE *out, const struct chart_layout *layout,
                       const struct chart_frame *frame)
{
    const struct chart_panel *panel = frame->pane->panel;
    const uint32_t most = most_points(panel);
    double *floor = mem_alloc(most, sizeof(*floor));

    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];

        if (series->stroke != CHART_SHADOW || series->point_count == 0)
            continue;
        draw_area(out, frame, series, chart_layout_look(layout, series->name), floor);
        memset(floor, 0, most * sizeof(*floor));
    }
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];

        if (chart_is_stacked(panel, series) && series->point_count > 0)
            draw_area(out, frame, series, chart_layout_look(layout, series->name), floor);
    }
    mem_free(floor);
}

static void draw_level(FILE *out, const struct chart_frame *frame,
                       const struct chart_series *series, struct svg_stroke stroke)
{
    if (series->point_count == 0 || !chart_is_drawable(series->points[0]))
        return;

    const double y = y_at(frame, series->points[0].y);

    svg_line(out, (struct svg_point){ frame->left, y }, (struct svg_point){ frame->right, y },
             stroke);
}

static void draw_series(FILE *out, const struct chart_layout *layout,
                        const struct chart_frame *frame, const struct chart_series *series)
{
    const struct chart_look *look = chart_layout_look(layout, series->name);
    const bool is_long = series->point_count > MARKERS_MOST;
    const uint32_t every = is_long ? series->point_count / MARKERS_WHEN_LONG : 1;

    assert(look != NULL);
    if (series->stroke == CHART_LEVEL) {
        draw_level(out, frame, series, look_stroke(look, series->stroke));
        return;
    }
    draw_path(out, frame, series, look_stroke(look, series->stroke));
    if (frame->pane->panel->kind == CHART_AREAS)
        return;
    for (uint32_t i = 0; i < series->point_count; i += every) {
        const struct chart_point point = series->points[i];

        if (chart_is_drawable(point))
            draw_marker(out, look, series->stroke,
                        (struct svg_point){ x_at(frame, point.x), y_at(frame, point.y) });
    }
}

static void draw_no_data(FILE *out, const struct chart_frame *frame)
{
    static const struct svg_phrase phrase = { { "no data", 7 }, false };
    const struct svg_point at = { (frame->left + frame->right) / 2,
                                  (frame->top + frame->bottom) / 2 };

    svg_text(out, at, SVG_MIDDLE, false, chart_label_font, phrase);
}

static bool is_line(const struct chart_panel *panel, const struct chart_series *series)
{
    return series->stroke != CHART_LEVEL && series->stroke != CHART_SHADOW &&
           !chart_is_stacked(panel, series);
}

/* Areas lie lowest, levels under the lines, so that nothing is hidden. */
static void draw_panel(FILE *out, const struct chart_layout *layout, uint32_t index)
{
    const struct chart_frame frame = chart_layout_frame(layout, index);
    const struct chart_panel *panel = frame.pane->panel;

    (void)fputs("<g>\n", out);
    draw_lines(out, &frame.pane->title, (frame.left + frame.right) / 2,
               frame.top - CHART_TITLE_GAP -
                   chart_lines_height(frame.pane->title.count, chart_panel_font),
               chart_panel_font);
    draw_x_axis(out, &frame);
    draw_y_axis(out, &frame);
    if (frame.pane->point_count == 0)
        draw_no_data(out, &frame);
    draw_areas(out, layout, &frame);
    for (uint32_t i = 0; i < panel->series_count; i++) {
        if (panel->series[i].stroke == CHART_LEVEL)
            draw_series(out, layout, &frame, &panel->series[i]);
    }
    for (uint32_t i = 0; i < panel->series_count; i++) {
        if (is_line(panel, &panel->series[i]))
            draw_series(out, layout, &frame, &panel->series[i]);
    }
    (void)fputs("</g>\n", out);
}

int chart_write(const struct chart *chart, FILE *out)
{
    struct chart_layout layout;

    assert(chart->panel_count > 0);

    chart_layout_init(&layout, chart);
    errno = 0;
    svg_begin(out, layout.width, layout.height, layout.title_text, chart->is_embedded);
    (void)fputs("<desc>", out);
    chart_write_summary(chart, out);
    (void)fputs("</desc>\n", out);
    svg_backdrop(out, chart->is_embedded);
    draw_lines(out, &layout.title, layout.width / 2, CHART_MARGIN, chart_title_font);
    draw_legend(out, &layout);
    for (uint32_t i = 0; i < chart->panel_count; i++)
        draw_panel(out, &layout, i);
    svg_end(out);
    chart_layout_done(&layout);
    /* What failed on the way is remembered by 'out'; stdio leaves errno alone when all is well. */
    if (fflush(out) != 0 || ferror(out))
        return errno > 0 ? -errno : -EIO;
    return 0;
}
