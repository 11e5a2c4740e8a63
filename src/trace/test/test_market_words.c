/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/market_words.h"

#include <string.h>

#include "base/test/check.h"

TEST(words_are_read_in_any_order)
{
    static const struct {
        const char *text;
        enum market_rule market;
        msec_t spot_for_ms;
        msec_t within_ms;
    } cases[] = {
        { "market=spot", MARKET_RULE_SPOT, 0, 0 },
        { "market=on-demand", MARKET_RULE_SAFE, 0, 0 },
        { "market=any", MARKET_RULE_ANY, 0, 0 },
        { "after=20m", MARKET_RULE_SPOT, 1200000, 0 },
        { "market=spot,after=1.5h", MARKET_RULE_SPOT, 5400000, 0 },
        { "within=6h,after=90,market=spot", MARKET_RULE_SPOT, 90000, 21600000 },
        { "within=2d", MARKET_RULE_ANY, 0, 172800000 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct market_words words;

        assert_int_equal(market_words_read(cases[i].text, strlen(cases[i].text), &words, NULL), 0);
        assert_int_equal(words.market, cases[i].market);
        assert_int_equal(words.spot_for_ms, cases[i].spot_for_ms);
        assert_int_equal(words.within_ms, cases[i].within_ms);
    }
}

TEST(what_is_not_understood_is_refused)
{
    static const char *const cases[] = {
        "",
        "market=",
        "market=spott",
        "market=spo",
        "spot",
        "market=spot,",
        ",market=spot",
        "market=spot,market=spot",
        "after=0",
        "after=",
        "after=-5m",
        "after=soon",
        "after=1m,after=2m",
        "within=1m,within=2m",
        "within=99999999999999d",
        "market=on-demand,after=5m",
        "market=any,after=5m",
        "deadline=5m",
        "market=spot after=5m",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct market_words words = { .within_ms = -7 };
        struct error error = { "" };

        if (market_words_read(cases[i], strlen(cases[i]), &words, &error) == 0)
            fail_msg("'%s' was read", cases[i]);
        assert_int_equal(words.within_ms, -7);
        assert_true(error.text[0] != '\0');
    }
}

TEST(times_count_from_the_arrival)
{
    const struct market_words words = { MARKET_RULE_SPOT, 60000, 3600000 };
    const struct job_rules rules = market_words_rules(&words, 5000);

    assert_int_equal(rules.market, MARKET_RULE_SPOT);
    assert_int_equal(rules.spot_for_ms, 60000);
    assert_int_equal(rules.deadline, 3605000);
    assert_false(job_has_rules(&(struct job_rules){ 0 }));
    assert_int_equal(market_words_rules(&(struct market_words){ 0 }, 5000).deadline, 0);
}

CHECK_MAIN(RUN(words_are_read_in_any_order), RUN(what_is_not_understood_is_refused),
           RUN(times_count_from_the_arrival))
