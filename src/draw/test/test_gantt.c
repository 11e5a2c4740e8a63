/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "draw/gantt.h"

#include <stdlib.h>
#include <string.h>

#define T0 ((msec_t)1794722400000)

static char *drawn(const struct gantt *gantt)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    gantt_write(gantt, out);
    assert_int_equal(fclose(out), 0);

    char *copy = strdup(text);

    free(text);
    return copy;
}

TEST(spans_that_overlap_stand_in_lanes)
{
    const struct gantt_span spans[] = {
        { .from = T0, .to = T0 + 600000, .title = "a" },
        { .from = T0 + 60000, .to = T0 + 120000, .color = 1, .title = "b" },
        { .from = T0 + 180000, .to = T0 + 240000, .color = 1, .title = "<c>" },
    };
    const struct gantt_row row = {
        .label = "st-1 & co", .from = T0, .to = T0 + 600000, .span_count = 3
    };
    const struct gantt gantt = { .title = "t",
                                 .description = "d",
                                 .from = T0,
                                 .to = T0 + 600000,
                                 .rows = &row,
                                 .row_count = 1,
                                 .spans = spans };

    char *svg = drawn(&gantt);

    /* 'b' and 'c' share the second lane, below the first. */
    assert_non_null(strstr(svg, "y=\"9\" width=\"863\" height=\"5\" fill=\"#0072b2\"><title>a<"));
    assert_non_null(strstr(svg, "y=\"16\" width=\"85.4\" height=\"5\" fill=\"#d55e00\"><title>b<"));
    assert_non_null(
        strstr(svg, "y=\"16\" width=\"85.4\" height=\"5\" fill=\"#d55e00\"><title>&lt;c&gt;<"));
    assert_non_null(strstr(svg, ">st-1 &amp; co</text>"));
    assert_non_null(strstr(svg, ">06:05</text>"));
    free(svg);
}

TEST(what_lies_outside_is_cut_at_the_edge)
{
    const struct gantt_row row = { .label = "a", .from = 0, .to = MSEC_NEVER };
    const struct gantt gantt = {
        .title = "t", .from = T0, .to = T0 + 60000, .rows = &row, .row_count = 1
    };

    char *svg = drawn(&gantt);

    assert_non_null(strstr(svg, "<rect x=\"120\" y=\"8\" width=\"864\""));
    free(svg);
}

CHECK_MAIN(RUN(spans_that_overlap_stand_in_lanes), RUN(what_lies_outside_is_cut_at_the_edge))
