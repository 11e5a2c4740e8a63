/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "draw/chart.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct chart_point rising[] = { { 0, 1 }, { 1, 2 }, { 2, 4 } };

static char *drawn(const struct chart *chart)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(chart_write(chart, out), 0);
    assert_int_equal(fclose(out), 0);

    char *copy = strdup(text); /* gcc 12 takes the stream's own for the address of 'text' */

    free(text);
    return copy;
}

static char *drawn_panel(const struct chart_panel *panel)
{
    const struct chart chart = { .panels = panel, .panel_count = 1 };

    return drawn(&chart);
}

static uint32_t occurrences(const char *text, const char *part)
{
    uint32_t count = 0;

    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

enum { DEPTH_MAX = 16 };

/* The elements that are open, from the outside in. */
struct nesting {
    const char *name[DEPTH_MAX];
    size_t size[DEPTH_MAX];
    uint32_t depth;
};

/* Follow one tag from '<' to 'end', its '>'. */
static bool follow_tag(struct nesting *open, const char *tag, const char *end)
{
    const bool closes = tag[1] == '/';
    const char *name = tag + (closes ? 2 : 1);
    const size_t size = strcspn(name, " />");

    if (closes) {
        if (open->depth == 0)
            return false;
        open->depth--;
        return open->size[open->depth] == size && memcmp(open->name[open->depth], name, size) == 0;
    }
    if (end[-1] != '/') {
        if (open->depth == DEPTH_MAX)
            return false;
        open->name[open->depth] = name;
        open->size[open->depth++] = size;
    }
    return memchr(name, '<', (size_t)(end - name)) == NULL;
}

/*
 * Each opening tag is closed by its own name in reverse order, and no bare '&' or '<' stands in
 * text: what a parser would refuse, as far as a chart can go wrong.
 */
static bool is_well_formed(const char *xml)
{
    struct nesting open = { .depth = 0 };

    for (xml = strpbrk(xml, "<&"); xml != NULL; xml = strpbrk(xml + 1, "<&")) {
        const char *end = strchr(xml, *xml == '&' ? ';' : '>');

        if (end == NULL)
            return false;
        if (*xml == '&' ? end - xml > 5 : !follow_tag(&open, xml, end))
            return false;
    }
    return open.depth == 0;
}

TEST(a_chart_is_well_formed_and_the_same_every_time)
{
    const struct chart_series series[] = {
        { .name = "stint", .points = rising, .point_count = 3 },
        { .name = "paper", .points = rising, .point_count = 2, .stroke = CHART_DASHED },
        { .name = "bound", .points = rising, .point_count = 1, .stroke = CHART_LEVEL },
    };
    const struct chart_panel panels[] = {
        { .title = "Cost", .x_label = "jobs", .y_label = "$", .series = series, .series_count = 3 },
        { .title = "Time", .series = series, .series_count = 2, .y_from_zero = true },
    };
    const struct chart chart = { .title = "All", .panels = panels, .panel_count = 2 };

    char *first = drawn(&chart);
    char *second = drawn(&chart);

    assert_true(is_well_formed(first));
    assert_string_equal(first, second);
    assert_memory_equal(first, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\"", 50);
    free(first);
    free(second);
}

TEST(text_is_escaped_wherever_it_stands)
{
    const struct chart_series series = { .name = "<b>&\"", .points = rising, .point_count = 3 };
    const struct chart_panel panel = { .title = "<t>",
                                       .x_label = "x & y",
                                       .y_label = "\xFF\x01 < 3",
                                       .series = &series,
                                       .series_count = 1 };
    const struct chart chart = { .title = "</svg>", .panels = &panel, .panel_count = 1 };

    char *svg = drawn(&chart);

    assert_true(is_well_formed(svg));
    assert_non_null(strstr(svg, ">&lt;b&gt;&amp;&quot;</text>"));
    assert_non_null(strstr(svg, ">&lt;t&gt;</text>"));
    assert_non_null(strstr(svg, ">x &amp; y</text>"));
    assert_non_null(strstr(svg, ">\xEF\xBF\xBD\xEF\xBF\xBD &lt; 3</text>"));
    assert_non_null(strstr(svg, "<title>&lt;/svg&gt;</title>"));
    free(svg);
}

TEST(a_name_looks_the_same_in_every_panel)
{
    const struct chart_series left[] = {
        { .name = "a", .points = rising, .point_count = 3 },
        { .name = "b", .points = rising, .point_count = 3 },
    };
    const struct chart_series right = { .name = "b", .points = rising, .point_count = 3 };
    const struct chart_panel panels[] = {
        { .series = left, .series_count = 2 },
        { .series = &right, .series_count = 1 },
    };
    const struct chart chart = { .panels = panels, .panel_count = 2 };

    char *svg = drawn(&chart);

    /* One key in the legend, two lines; a marker there and six on the lines. */
    assert_int_equal(occurrences(svg, ">b</text>"), 1);
    assert_int_equal(occurrences(svg, "stroke=\"#d55e00\""), 3);
    assert_int_equal(occurrences(svg, "fill=\"#d55e00\""), 7);
    free(svg);
}

TEST(a_series_like_another_shares_its_colour_but_is_dashed_and_hollow)
{
    const struct chart_series series[] = {
        { .name = "eva (paper)",
          .points = rising,
          .point_count = 3,
          .stroke = CHART_DASHED,
          .like = "eva" },
        { .name = "stratus", .points = rising, .point_count = 3 },
        { .name = "eva", .points = rising, .point_count = 3 },
    };
    const struct chart_panel panel = { .series = series, .series_count = 3 };

    char *svg = drawn_panel(&panel);

    assert_int_equal(occurrences(svg, "fill=\"#ffffff\" stroke=\"#d55e00\""), 4);
    assert_int_equal(occurrences(svg, "fill=\"#d55e00\" stroke=\"#ffffff\""), 4);
    assert_int_equal(occurrences(svg, "stroke-dasharray"), 2);
    assert_int_equal(occurrences(svg, "#009e73"), 0);
    free(svg);
}

TEST(a_level_runs_from_side_to_side_at_its_height)
{
    const struct chart_series series[] = {
        { .name = "a", .points = rising, .point_count = 3 },
        { .name = "level",
          .points = &(struct chart_point){ .y = 2 },
          .point_count = 1,
          .stroke = CHART_LEVEL },
    };
    const struct chart_panel panel = { .series = series, .series_count = 2, .y_from_zero = true };

    char *svg = drawn_panel(&panel);

    /* The y axis goes from 0 to 4 over 380 pixels, so that 2 is half-way down from 56. */
    assert_non_null(strstr(svg, "y1=\"246\" x2=\"966\" y2=\"246\" stroke=\"#555555\""));
    free(svg);
}

TEST(a_point_that_is_not_finite_leaves_a_gap)
{
    const struct chart_point points[] = {
        { 0, 0 }, { 1, 1 }, { 2, (double)NAN }, { 3, 1e300 }, { 4, 1 }, { 5, 0 },
    };
    const struct chart_series series = { .name = "a", .points = points, .point_count = 6 };
    const struct chart_panel panel = { .series = &series, .series_count = 1 };

    char *svg = drawn_panel(&panel);
    const char *path = strstr(svg, "<path d=\"M");

    assert_non_null(path);
    char *line = strndup(path, strcspn(path, ">"));

    assert_int_equal(occurrences(line, "M"), 2);
    assert_int_equal(occurrences(line, "L"), 2);
    assert_null(strstr(svg, "nan"));
    free(line);
    free(svg);
}

TEST(a_panel_without_points_says_so)
{
    const struct chart_panel panel = { .title = "empty" };

    char *svg = drawn_panel(&panel);

    assert_true(is_well_formed(svg));
    assert_non_null(strstr(svg, ">no data</text>"));
    free(svg);
}

TEST(a_long_title_is_wrapped_and_a_longer_one_cut)
{
    const struct chart_panel panels[3] = {
        { .title = "the cost of each policy relative to that of renting a machine per task" },
        { .title = "short" },
        { .title = "averyveryveryveryveryveryveryveryveryveryveryverylongword" },
    };
    const struct chart chart = { .panels = panels, .panel_count = 3 };

    char *svg = drawn(&chart);

    assert_non_null(strstr(svg, ">the cost of each policy</text>"));
    assert_non_null(strstr(svg, ">averyveryvery"));
    assert_null(strstr(svg, "longword</text>"));
    assert_int_equal(occurrences(svg, "\xE2\x80\xA6</text>"), 1);
    free(svg);
}

TEST(panels_that_would_be_too_narrow_go_to_another_row)
{
    const struct chart_panel panels[8] = { { .title = "a" } };
    const struct chart wide = { .panels = panels, .panel_count = 8, .panels_per_row = 8 };
    const struct chart narrow = { .panels = panels, .panel_count = 2, .width_px = 1 };

    char *first = drawn(&wide);
    char *second = drawn(&narrow);

    assert_true(is_well_formed(first));
    assert_null(strstr(first, "x=\"-"));
    assert_true(is_well_formed(second));
    assert_null(strstr(second, "x=\"-"));
    free(first);
    free(second);
}

TEST(a_full_disk_is_reported)
{
    const struct chart_panel panel = { .title = "a" };
    const struct chart chart = { .panels = &panel, .panel_count = 1 };
    FILE *out = fopen("/dev/full", "w");

    if (out == NULL) {
        skip();
        return;
    }
    assert_int_equal(chart_write(&chart, out), -ENOSPC);
    (void)fclose(out);
}

static const struct chart_point flat[] = { { 0, 3 }, { 1, 3 }, { 2, 3 } };

TEST(areas_are_stacked_and_their_axis_holds_the_sum)
{
    const struct chart_series series[] = {
        { .name = "low", .points = flat, .point_count = 3 },
        { .name = "high", .points = rising, .point_count = 3 },
    };
    const struct chart_panel panel = { .kind = CHART_AREAS, .series = series, .series_count = 2 };

    char *svg = drawn_panel(&panel);

    assert_true(is_well_formed(svg));
    /* Two areas and two keys, no marker; 3 + 4 needs an axis up to 8, and it begins at 0. */
    assert_int_equal(occurrences(svg, "fill-opacity"), 4);
    assert_int_equal(occurrences(svg, "<rect"), 3);
    assert_int_equal(occurrences(svg, "translate("), 0);
    assert_non_null(strstr(svg, ">8</text>"));
    assert_null(strstr(svg, ">9</text>"));
    assert_non_null(strstr(svg, ">0</text>"));
    free(svg);
}

TEST(lines_over_areas_have_no_markers)
{
    const struct chart_series series[] = {
        { .name = "area", .points = flat, .point_count = 3 },
        { .name = "line", .points = rising, .point_count = 3, .stroke = CHART_DASHED },
        { .name = "level", .points = flat, .point_count = 1, .stroke = CHART_LEVEL },
    };
    const struct chart_panel panel = { .kind = CHART_AREAS, .series = series, .series_count = 3 };

    char *svg = drawn_panel(&panel);

    assert_true(is_well_formed(svg));
    assert_int_equal(occurrences(svg, "fill-opacity"), 2);
    assert_int_equal(occurrences(svg, "translate("), 0);
    assert_int_equal(occurrences(svg, "stroke-dasharray=\"6 4\""), 2);
    free(svg);
}

TEST(a_shadow_lies_behind_everything)
{
    const struct chart_series series[] = {
        { .name = "line", .points = flat, .point_count = 3 },
        { .name = "shadow", .points = rising, .point_count = 3, .stroke = CHART_SHADOW },
    };
    const struct chart_panel panel = { .series = series, .series_count = 2 };

    char *svg = drawn_panel(&panel);
    const char *shadow = strstr(strstr(svg, "<g>"), "fill-opacity");

    assert_true(is_well_formed(svg));
    assert_non_null(shadow);
    assert_non_null(strstr(shadow, "stroke-linejoin"));
    assert_int_equal(occurrences(svg, "stroke-linejoin"), 1);
    assert_non_null(strstr(svg, ">0</text>"));
    free(svg);
}

TEST(what_cannot_be_stacked_has_no_height)
{
    const struct chart_point odd[] = {
        { 0, (double)NAN }, { 1, -5 }, { (double)NAN, 7 }, { 3, 2 }
    };
    const struct chart_series series[] = {
        { .name = "odd", .points = odd, .point_count = 4 },
        { .name = "short", .points = flat, .point_count = 2 },
        { .name = "none", .points = NULL, .point_count = 0 },
    };
    const struct chart_panel panel = { .kind = CHART_AREAS, .series = series, .series_count = 3 };

    char *svg = drawn_panel(&panel);

    assert_true(is_well_formed(svg));
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    free(svg);
}

TEST(a_chart_tells_those_who_do_not_see_it)
{
    const struct chart_series series[] = {
        { .name = "<a>", .points = rising, .point_count = 3 },
        { .name = "level", .points = flat, .point_count = 1, .stroke = CHART_LEVEL },
        { .name = "none" },
    };
    const struct chart_panel panel = { .title = "Cost & time",
                                       .series = series,
                                       .series_count = 3 };

    char *svg = drawn_panel(&panel);

    assert_non_null(strstr(svg,
                           "<desc>Cost &amp; time. &lt;a&gt;: from 1 to 4, lowest 1, highest 4. "
                           "level: 3. none: no data. </desc>"));
    free(svg);
}

TEST(only_a_picture_of_its_own_brings_a_style_sheet)
{
    const struct chart_panel panel = { .title = "a" };
    const struct chart alone = { .panels = &panel, .panel_count = 1 };
    const struct chart embedded = { .panels = &panel, .panel_count = 1, .is_embedded = true };

    char *first = drawn(&alone);
    char *second = drawn(&embedded);

    assert_non_null(strstr(first, "<style>@media (prefers-color-scheme:dark){"));
    assert_null(strstr(second, "style"));
    assert_non_null(strstr(second, "class=\"chart\""));
    free(first);
    free(second);
}

static char *table_of(const struct chart *chart)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    chart_write_table(chart, out);
    assert_int_equal(fclose(out), 0);

    char *copy = strdup(text);

    free(text);
    return copy;
}

TEST(the_values_stand_in_a_table)
{
    const struct chart_series series[] = {
        { .name = "<a>", .points = rising, .point_count = 3 },
        { .name = "b", .points = flat, .point_count = 2 },
    };
    const struct chart_panel panel = {
        .title = "t", .x_label = "jobs", .series = series, .series_count = 2
    };
    const struct chart chart = { .title = "<c>", .panels = &panel, .panel_count = 1 };

    char *table = table_of(&chart);

    assert_true(is_well_formed(table));
    assert_non_null(strstr(table, "<th scope=\"col\">&lt;a&gt;</th>"));
    assert_non_null(strstr(table, "<tr><th scope=\"row\">1</th><td>2</td><td>3</td></tr>"));
    assert_non_null(strstr(table, "<tr><th scope=\"row\">2</th><td>4</td><td></td></tr>"));
    free(table);
}

TEST(a_long_table_is_thinned)
{
    enum { POINTS = 1000 };
    static struct chart_point points[POINTS];
    const struct chart_series series = { .name = "a", .points = points, .point_count = POINTS };
    const struct chart_panel panel = { .series = &series, .series_count = 1, .x_is_time = true };
    const struct chart chart = { .panels = &panel, .panel_count = 1 };

    for (int i = 0; i < POINTS; i++)
        points[i] = (struct chart_point){ 1794722400000.0 + i * 60000.0, i };

    char *table = table_of(&chart);
    char *svg = drawn(&chart);

    assert_int_equal(occurrences(table, "<tr><th scope=\"row\">"), CHART_TABLE_ROWS);
    assert_non_null(strstr(table, ">2026-11-15 06:00:00</time>"));
    assert_non_null(strstr(svg, ">12:00</text>"));
    free(table);
    free(svg);
}

CHECK_MAIN(RUN(a_chart_is_well_formed_and_the_same_every_time),
           RUN(text_is_escaped_wherever_it_stands), RUN(a_name_looks_the_same_in_every_panel),
           RUN(a_series_like_another_shares_its_colour_but_is_dashed_and_hollow),
           RUN(a_level_runs_from_side_to_side_at_its_height),
           RUN(a_point_that_is_not_finite_leaves_a_gap), RUN(a_panel_without_points_says_so),
           RUN(a_long_title_is_wrapped_and_a_longer_one_cut),
           RUN(panels_that_would_be_too_narrow_go_to_another_row), RUN(a_full_disk_is_reported),
           RUN(areas_are_stacked_and_their_axis_holds_the_sum),
           RUN(lines_over_areas_have_no_markers), RUN(a_shadow_lies_behind_everything),
           RUN(what_cannot_be_stacked_has_no_height), RUN(a_chart_tells_those_who_do_not_see_it),
           RUN(only_a_picture_of_its_own_brings_a_style_sheet), RUN(the_values_stand_in_a_table),
           RUN(a_long_table_is_thinned))
