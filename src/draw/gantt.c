/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/gantt.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "draw/chart_axis.h"
#include "draw/html.h"
#include "draw/svg.h"

enum {
    WIDTH = 1000,
    LEFT = 120, /* of the bars: what stands before is the label */
    RIGHT = 16,
    TOP = 8,
    LANE = 7,
    ROW_GAP = 7,
    ROW_LEAST = 13,
    AXIS_HEIGHT = 26,
    TICKS_MOST = 7,
};

static const struct svg_font label_font = { 12, false, "#222222" };

static const char *const colors[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
};

enum { COLOR_COUNT = sizeof(colors) / sizeof(colors[0]) };

static double x_at(const struct gantt *gantt, msec_t at)
{
    const double share = (double)(at - gantt->from) / (double)(gantt->to - gantt->from);

    return LEFT + fmin(1, fmax(0, share)) * (WIDTH - LEFT - RIGHT);
}

/* The lane of each span of a row is the first that is free when it begins. */
static uint32_t lane_of(msec_t *free_at, const struct gantt_span *span)
{
    uint32_t lane = 0;

    while (lane + 1 < GANTT_LANES && free_at[lane] > span->from)
        lane++;
    if (span->to > free_at[lane])
        free_at[lane] = span->to;
    return lane;
}

static void init_lanes(msec_t *free_at)
{
    for (uint32_t i = 0; i < GANTT_LANES; i++)
        free_at[i] = INT64_MIN;
}

static uint32_t lanes_of(const struct gantt *gantt, const struct gantt_row *row)
{
    msec_t free_at[GANTT_LANES];
    uint32_t most = 0;

    init_lanes(free_at);
    for (uint32_t i = 0; i < row->span_count; i++) {
        const uint32_t lane = lane_of(free_at, &gantt->spans[row->span_first + i]);

        if (lane + 1 > most)
            most = lane + 1;
    }
    return most;
}

static double row_height(const struct gantt *gantt, const struct gantt_row *row)
{
    return fmax(ROW_LEAST, lanes_of(gantt, row) * (double)LANE);
}

static void write_rect(FILE *out, double x, double y, double width, double height,
                       const char *color, const char *title)
{
    (void)fputs("<rect x=\"", out);
    svg_number(out, x);
    (void)fputs("\" y=\"", out);
    svg_number(out, y);
    (void)fputs("\" width=\"", out);
    svg_number(out, fmax(1, width));
    (void)fputs("\" height=\"", out);
    svg_number(out, height);
    (void)fprintf(out, "\" fill=\"%s\">", color);
    if (title != NULL) {
        (void)fputs("<title>", out);
        html_text(out, title);
        (void)fputs("</title>", out);
    }
    (void)fputs("</rect>\n", out);
}

static void write_row(const struct gantt *gantt, const struct gantt_row *row, double top, FILE *out)
{
    const double height = row_height(gantt, row);
    const double left = x_at(gantt, row->from);
    msec_t free_at[GANTT_LANES];

    (void)fputs("<text x=\"", out);
    svg_number(out, LEFT - 8);
    (void)fputs("\" y=\"", out);
    svg_number(out, top + height / 2 + 4);
    (void)fputs("\" font-size=\"12\" fill=\"#222222\" text-anchor=\"end\">", out);
    html_text(out, row->label);
    (void)fputs("</text>\n", out);
    write_rect(out, left, top, x_at(gantt, row->to) - left, height, "#e4e4e4", row->title);
    init_lanes(free_at);
    for (uint32_t i = 0; i < row->span_count; i++) {
        const struct gantt_span *span = &gantt->spans[row->span_first + i];
        const double from = x_at(gantt, span->from);
        const uint32_t lane = lane_of(free_at, span);

        write_rect(out, from, top + lane * (double)LANE + 1, x_at(gantt, span->to) - from - 1,
                   LANE - 2, colors[span->color % COLOR_COUNT], span->title);
    }
}

static void write_axis(const struct gantt *gantt, double bottom, FILE *out)
{
    const struct chart_axis axis =
        chart_axis_fit_time((double)gantt->from, (double)gantt->to, TICKS_MOST);

    for (uint32_t i = 0; i < axis.tick_count; i++) {
        const msec_t at = (msec_t)chart_axis_tick(&axis, i);
        const struct digits label = chart_axis_label(&axis, i);
        const double x = x_at(gantt, at);

        if (at < gantt->from || at > gantt->to)
            continue;
        svg_line(out, (struct svg_point){ x, TOP }, (struct svg_point){ x, bottom },
                 (struct svg_stroke){ "#e4e4e4", 1, NULL });
        svg_text(out, (struct svg_point){ x, bottom + 18 }, SVG_MIDDLE, false, label_font,
                 (struct svg_phrase){ { label.text, strlen(label.text) }, false });
    }
}

void gantt_write(const struct gantt *gantt, FILE *out)
{
    double height = TOP;

    assert(gantt->from < gantt->to);
    for (uint32_t i = 0; i < gantt->row_count; i++)
        height += row_height(gantt, &gantt->rows[i]) + ROW_GAP;
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" "
                  "width=\"%d\" height=\"",
                  WIDTH);
    svg_number(out, height + AXIS_HEIGHT);
    (void)fprintf(out, "\" viewBox=\"0 0 %d ", WIDTH);
    svg_number(out, height + AXIS_HEIGHT);
    (void)fputs("\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>", out);
    html_text(out, gantt->title);
    (void)fputs("</title>\n<desc>", out);
    html_text(out, gantt->description);
    (void)fputs("</desc>\n", out);
    write_axis(gantt, height, out);

    double top = TOP;

    for (uint32_t i = 0; i < gantt->row_count; i++) {
        write_row(gantt, &gantt->rows[i], top, out);
        top += row_height(gantt, &gantt->rows[i]) + ROW_GAP;
    }
    (void)fputs("</svg>\n", out);
}
