/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/operator.h"

#include "base/test/check.h"
#include "cli/conf_findings.h"

TEST(a_span_is_told_in_the_two_units_that_matter)
{
    static const struct {
        msec_t span;
        const char *words;
    } cases[] = {
        { -1, "-" },
        { 0, "0 s" },
        { 350, "350 ms" },
        { 45999, "45 s" },
        { 119000, "119 s" },
        { 120000, "2 min" },
        { 7199000, "119 min" },
        { 7200000, "2 h 0 min" },
        { 11100000, "3 h 5 min" },
        { 172800000, "2 d 0 h" },
        { INT64_MAX, "106751991167 d 7 h" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(span_words(cases[i].span).text, cases[i].words);
}

TEST(a_time_is_told_in_utc)
{
    assert_string_equal(time_words(1794722399999).text, "2026-11-15 05:59:59");
    assert_string_equal(time_words(0).text, "1970-01-01 00:00:00");
    assert_string_equal(time_words(-1).text, "-");
    assert_string_equal(time_words(INT64_MAX).text, "292278994-08-17 07:12:55");
}

TEST(money_has_its_sign_before_the_dollar)
{
    assert_string_equal(money_words(1834221, 2).text, "$1.83");
    assert_string_equal(money_words(-3000, 3).text, "-$0.003");
    assert_string_equal(money_words(1234567000000, 2).text, "$1,234,567.00");
    assert_string_equal(money_words(MONEY_UNKNOWN, 2).text, "-");
}

TEST(a_field_that_is_missing_or_of_another_kind_is_not_known)
{
    json_t *object =
        json_pack("{s:i, s:s, s:n, s:s}", "count", 7, "name", "ada", "none", "void", "");

    assert_int_equal(field_integer(object, "count", -1), 7);
    assert_int_equal(field_integer(object, "name", -1), -1);
    assert_int_equal(field_integer(object, "no", -1), -1);
    assert_int_equal(field_integer(NULL, "count", -1), -1);
    assert_true(field_money(object, "none") == MONEY_UNKNOWN);
    assert_string_equal(field_text(object, "name"), "ada");
    assert_null(field_text(object, "count"));
    assert_string_equal(field_word(object, "void"), "-");
    assert_string_equal(field_word(object, "none"), "-");
    json_decref(object);
}

TEST(a_name_in_a_sentence_makes_no_line_of_its_own)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    print_clean(out, "Job 12 (a\r\nJob 13\tran\x1b[2J) waits.");
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "Job 12 (a  Job 13 ran\xEF\xBF\xBD[2J) waits.");
    free(text);
}

TEST(findings_keep_copies_and_count_errors)
{
    struct findings findings;
    char severity[] = "error";

    findings_init(&findings);
    findings_add(&findings,
                 &(struct finding){ severity, "kind", "subject", "text", "advice", NULL });
    findings_add(&findings,
                 &(struct finding){ "warning", "kind", "subject", "text", "advice", NULL });
    severity[0] = 'x';

    assert_int_equal(findings.count, 2);
    assert_int_equal(findings_errors(&findings), 1);
    assert_string_equal(findings.rows[0].severity, "error");
    findings_done(&findings);
}

CHECK_MAIN(RUN(a_span_is_told_in_the_two_units_that_matter), RUN(a_time_is_told_in_utc),
           RUN(money_has_its_sign_before_the_dollar),
           RUN(a_field_that_is_missing_or_of_another_kind_is_not_known),
           RUN(a_name_in_a_sentence_makes_no_line_of_its_own),
           RUN(findings_keep_copies_and_count_errors))
