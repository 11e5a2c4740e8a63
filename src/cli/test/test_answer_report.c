/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/answer_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"

static const char text[] = "Two policies; one is <cheaper>,\n"
                           "  and shown on two lines.\n"
                           "\n"
                           "What they cost:\n"
                           "\x1epolicy\x1f\x1c"
                           "cost $\x1f\x1c"
                           "of/first\n"
                           "\x1d"
                           "a|b\x1f"
                           "1,200.00\x1c"
                           "1200.000000\x1f"
                           "1.000\x1c"
                           "1.000\n"
                           "\x1dstint\x1f"
                           "600.00\x1c"
                           "600.000000\x1f-\n"
                           "No plan costs less than $90.\n"
                           "\n"
                           "Not counted:\n"
                           "- storage\n"
                           "- taxes\n"
                           "  kept   as it is\n";

static const struct answer_report report = { .title = "What would have been",
                                             .command = "stint sim x.yaml",
                                             .text = text,
                                             .baseline = "The first.",
                                             .not_counted = NULL };

static char *written(void (*write)(const struct answer_report *, FILE *))
{
    char *result = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&result, &size);

    write(&report, out);
    assert_int_equal(fclose(out), 0);
    return result;
}

TEST(markdown_has_the_same_tables_lists_and_headings)
{
    char *md = written(answer_report_md);

    assert_string_equal(md, "# What would have been\n\n"
                            "    stint sim x.yaml\n\n"
                            "Two policies; one is &lt;cheaper>, and shown on two lines.\n\n"
                            "## What they cost\n\n"
                            "| policy | cost $ | of/first |\n|---|--:|--:|\n"
                            "| a\\|b | 1,200.00 | 1.000 |\n| stint | 600.00 | - |\n\n"
                            "No plan costs less than $90.\n\n"
                            "## Not counted\n\n- storage\n- taxes\n\n"
                            "      kept   as it is\n\n"
                            "## Compared with what\n\nThe first.\n\n");
    free(md);
}

TEST(a_page_has_bars_for_costs_and_only_text_for_names)
{
    char *html = written(answer_report_html);

    assert_non_null(
        strstr(html, "<p>Two policies; one is &lt;cheaper&gt;, and shown on two lines.</p>"));
    assert_non_null(strstr(html, "<h2>What they cost</h2>"));
    assert_non_null(strstr(html, "<th scope=\"col\" class=\"n\">of/first</th>"));
    assert_non_null(strstr(html, "<td>a|b</td><td class=\"n\">1,200.00<svg"));
    assert_non_null(strstr(html, "width=\"1000\""));
    assert_non_null(strstr(html, "width=\"500\""));
    assert_non_null(strstr(html, "<td class=\"n\">-</td></tr>"));
    assert_non_null(strstr(html, "<li>storage</li>\n<li>taxes</li>\n</ul>"));
    assert_null(strstr(html, "<script"));
    free(html);
}

TEST(each_table_of_a_page_has_a_name_of_its_own)
{
    const struct answer_report two = { .title = "Two",
                                       .command = "stint sim x.yaml",
                                       .text = "\x1e"
                                               "a\x1f"
                                               "b\n\x1d"
                                               "1\x1f"
                                               "2\n\nMore:\n"
                                               "\x1e"
                                               "a\x1f"
                                               "b\n\x1d"
                                               "3\x1f"
                                               "4\n" };
    char *html = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&html, &size);

    answer_report_html(&two, out);
    assert_int_equal(fclose(out), 0);

    const char *first = strstr(html, "role=\"region\" aria-label=\"Table 1\"");
    const char *second = strstr(html, "role=\"region\" aria-label=\"Table 2\"");

    assert_non_null(first);
    assert_true(second > first);
    assert_null(strstr(second, "aria-label=\"Table 1\""));
    free(html);
}

CHECK_MAIN(RUN(markdown_has_the_same_tables_lists_and_headings),
           RUN(a_page_has_bars_for_costs_and_only_text_for_names),
           RUN(each_table_of_a_page_has_a_name_of_its_own))
