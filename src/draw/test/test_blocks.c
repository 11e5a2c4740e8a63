/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "draw/blocks.h"

#include <math.h>
#include <string.h>

static char written[256];

static const char *bar(double share, uint32_t columns, bool is_utf8)
{
    memset(written, 0, sizeof(written));

    FILE *out = fmemopen(written, sizeof(written) - 1, "w");

    assert_non_null(out);
    blocks_bar(out, share, columns, is_utf8);
    assert_int_equal(fclose(out), 0);
    return written;
}

TEST(a_bar_fills_its_share_of_the_columns)
{
    assert_string_equal(bar(0.5, 4, false), "##..");
    assert_string_equal(bar(0, 4, false), "....");
    assert_string_equal(bar(7, 4, false), "####");
    assert_string_equal(bar(-1, 4, false), "....");
    assert_string_equal(bar((double)NAN, 4, false), "....");
    assert_string_equal(bar(0.5, 0, false), "");
}

TEST(a_bar_of_blocks_has_eighths)
{
    assert_string_equal(bar(1, 2, true), "\u2588\u2588");
    assert_string_equal(bar(0.5, 1, true), "\u258C");
    assert_string_equal(bar(1.0 / 16, 2, true), "\u258F ");
    assert_string_equal(bar(9.0 / 16, 2, true), "\u2588\u258F");
}

TEST(a_sparkline_goes_from_nothing_to_the_largest)
{
    const double values[] = { 0, 1, 7, (double)INFINITY, -3 };

    memset(written, 0, sizeof(written));

    FILE *out = fmemopen(written, sizeof(written) - 1, "w");

    assert_non_null(out);
    blocks_spark(out, values, 5);
    blocks_spark(out, values, 1);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(written, "\u2581\u2582\u2588\u2581\u2581\u2581");
}

CHECK_MAIN(RUN(a_bar_fills_its_share_of_the_columns), RUN(a_bar_of_blocks_has_eighths),
           RUN(a_sparkline_goes_from_nothing_to_the_largest))
