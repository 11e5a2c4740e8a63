/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/csv_text.h"

#include <stdlib.h>

#include "base/test/check.h"

static void check(const char *given, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    csv_text(out, given);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

TEST(what_a_spreadsheet_would_compute_is_marked_as_text)
{
    check("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
    check("+1+1", "'+1+1");
    check("-2+3", "'-2+3");
    check("@SUM(1,2)", "\"'@SUM(1,2)\"");
    check("\t=1", "'\t=1");
    check("\r=1", "\"'\r=1\"");
    check("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"");
    check("\xEF\xBC\x9D"
          "1",
          "'\xEF\xBC\x9D"
          "1");
}

TEST(other_text_stays_as_it_is)
{
    check("ada", "ada");
    check("a=b", "a=b");
    check("-", "-");
    check("", "\"\"");
    check("a,b", "\"a,b\"");
    check("'quoted", "'quoted");
    check(" =1", " =1");
}

CHECK_MAIN(RUN(what_a_spreadsheet_would_compute_is_marked_as_text), RUN(other_text_stays_as_it_is))
