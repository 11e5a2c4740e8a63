/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a chart shows, for readers who do not see it: a summary in sentences, and its values as tables.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "draw/chart.h"
#include "draw/chart_layout.h"
#include "draw/html.h"

enum { DIGITS_BEHIND = 4 };

/* Some digits, and no zeros at the end: what a voice would say. */
static void write_value(FILE *out, double value)
{
    struct digits digits = digits_of_real(value, DIGITS_BEHIND, DIGITS_GROUPED);
    size_t size = strlen(digits.text);

    while (size > 1 && digits.text[size - 1] == '0')
        digits.text[--size] = '\0';
    if (digits.text[size - 1] == '.')
        digits.text[--size] = '\0';
    (void)fputs(digits.text, out);
}

struct summary {
    double first, last, low, high;
    uint32_t count;
};

static struct summary summarise(const struct chart_series *series)
{
    struct summary ret = { .low = HUGE_VAL, .high = -HUGE_VAL };

    for (uint32_t i = 0; i < series->point_count; i++) {
        const double y = series->points[i].y;

        if (!chart_is_drawable(series->points[i]))
            continue;
        if (ret.count++ == 0)
            ret.first = y;
        ret.last = y;
        ret.low = fmin(ret.low, y);
        ret.high = fmax(ret.high, y);
    }
    return ret;
}

static void write_series(const struct chart_series *series, FILE *out)
{
    const struct summary summary = summarise(series);

    html_text(out, series->name);
    if (summary.count == 0) {
        (void)fputs(": no data. ", out);
        return;
    }
    if (series->stroke == CHART_LEVEL || summary.count == 1) {
        (void)fputs(": ", out);
        write_value(out, summary.first);
        (void)fputs(". ", out);
        return;
    }
    (void)fputs(": from ", out);
    write_value(out, summary.first);
    (void)fputs(" to ", out);
    write_value(out, summary.last);
    (void)fputs(", lowest ", out);
    write_value(out, summary.low);
    (void)fputs(", highest ", out);
    write_value(out, summary.high);
    (void)fputs(". ", out);
}

void chart_write_summary(const struct chart *chart, FILE *out)
{
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        const struct chart_panel *panel = &chart->panels[i];
        const char *name = panel->title != NULL ? panel->title : panel->y_label;

        if (name != NULL) {
            html_text(out, name);
            (void)fputs(". ", out);
        }
        if (panel->series_count == 0)
            (void)fputs("No data. ", out);
        for (uint32_t k = 0; k < panel->series_count; k++)
            write_series(&panel->series[k], out);
    }
}

/* The series with the most points gives the rows their places. */
static const struct chart_series *longest(const struct chart_panel *panel)
{
    const struct chart_series *ret = NULL;

    for (uint32_t i = 0; i < panel->series_count; i++) {
        if (ret == NULL || panel->series[i].point_count > ret->point_count)
            ret = &panel->series[i];
    }
    return ret;
}

static void write_place(const struct chart_panel *panel, double x, FILE *out)
{
    if (panel->x_is_time && isfinite(x))
        html_time(out, (msec_t)x);
    else if (isfinite(x))
        write_value(out, x);
}

static void write_row(const struct chart_panel *panel, const struct chart_series *places,
                      uint32_t row, FILE *out)
{
    (void)fputs("<tr><th scope=\"row\">", out);
    write_place(panel, places->points[row].x, out);
    (void)fputs("</th>", out);
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        const uint32_t at = series->stroke == CHART_LEVEL ? 0 : row;

        (void)fputs("<td>", out);
        if (at < series->point_count && chart_is_drawable(series->points[at]))
            write_value(out, series->points[at].y);
        (void)fputs("</td>", out);
    }
    (void)fputs("</tr>\n", out);
}

static void write_panel(const struct chart_panel *panel, FILE *out)
{
    const struct chart_series *places = longest(panel);
    const uint32_t count = places != NULL ? places->point_count : 0;
    const uint32_t step = count / CHART_TABLE_ROWS + (count % CHART_TABLE_ROWS > 0);

    assert(panel->series_count == 0 || panel->series != NULL);
    (void)fputs("<table><caption>", out);
    html_text(out, panel->title != NULL ? panel->title : panel->y_label);
    (void)fputs("</caption>\n<thead><tr><th scope=\"col\">", out);
    html_text(out, panel->x_label != NULL ? panel->x_label : "x");
    (void)fputs("</th>", out);
    for (uint32_t i = 0; i < panel->series_count; i++) {
        (void)fputs("<th scope=\"col\">", out);
        html_text(out, panel->series[i].name);
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", out);
    for (uint32_t row = 0; row < count; row += step)
        write_row(panel, places, row, out);
    (void)fputs("</tbody></table>\n", out);
}

void chart_write_table(const struct chart *chart, FILE *out)
{
    (void)fputs("<details class=\"data\"><summary>The numbers", out);
    if (chart->title != NULL) {
        (void)fputs(": ", out);
        html_text(out, chart->title);
    }
    (void)fputs("</summary>\n", out);
    for (uint32_t i = 0; i < chart->panel_count; i++)
        write_panel(&chart->panels[i], out);
    (void)fputs("</details>\n", out);
}
