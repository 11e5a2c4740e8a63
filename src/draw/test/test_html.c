/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "draw/html.h"

#include <stdlib.h>
#include <string.h>

static char written[512];
static FILE *out;

static void begin(void)
{
    memset(written, 0, sizeof(written));
    out = fmemopen(written, sizeof(written) - 1, "w");
    assert_non_null(out);
}

static const char *end(void)
{
    assert_int_equal(fclose(out), 0);
    return written;
}

TEST(nothing_in_a_text_is_markup)
{
    begin();
    html_text(out, "</td><script>alert('x')</script>&amp;\" onload=\"y");
    assert_string_equal(end(),
                        "&lt;/td&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;&quot; "
                        "onload=&quot;y");
}

TEST(what_is_no_text_is_replaced)
{
    begin();
    html_text(out, "a\xFF\x01"
                   "b\xE2\x80\xAE"
                   "c\n\td\xC3\xA9");
    assert_string_equal(end(), "a\xEF\xBF\xBD\xEF\xBF\xBD"
                               "b\xEF\xBF\xBD"
                               "c  d\xC3\xA9");
    begin();
    html_text(out, NULL);
    assert_string_equal(end(), "");
}

TEST(an_address_holds_only_what_needs_no_escape)
{
    begin();
    html_address(out, "12_3/../?a=b&\"\xFF");
    assert_string_equal(end(), "12_3%2F..%2F%3Fa%3Db%26%22%FF");
}

TEST(money_is_rounded_for_people_and_exact_for_programs)
{
    begin();
    html_money(out, "bill", 1834221, 2);
    html_money(out, NULL, -1234567890, 3);
    html_money(out, NULL, MONEY_UNKNOWN, 2);
    assert_string_equal(end(),
                        "<data class=\"bill\" value=\"1834221\">$1.83</data>"
                        "<data value=\"-1234567890\">\xE2\x88\x92$1,234.568</data>\xE2\x80\x93");
}

TEST(times_and_spans_are_short)
{
    begin();
    html_time(out, 1794722400000);
    html_time(out, -1);
    html_time(out, MSEC_NEVER);
    assert_string_equal(end(),
                        "<time datetime=\"2026-11-15T06:00:00Z\">2026-11-15 06:00:00</time>--");
    begin();
    html_span(out, 45999);
    (void)fputc(',', out);
    html_span(out, 7199000);
    (void)fputc(',', out);
    html_span(out, 7260000);
    (void)fputc(',', out);
    html_span(out, 187200000);
    (void)fputc(',', out);
    html_span(out, MSEC_NEVER);
    assert_string_equal(end(), "45 s,119 min,2 h 1 min,2 d 4 h,-");
}

CHECK_MAIN(RUN(nothing_in_a_text_is_markup), RUN(what_is_no_text_is_replaced),
           RUN(an_address_holds_only_what_needs_no_escape),
           RUN(money_is_rounded_for_people_and_exact_for_programs), RUN(times_and_spans_are_short))
