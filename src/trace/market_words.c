/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/market_words.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "trace/doc_value.h"
#include "trace/input_text.h"
#include "trace/number.h"

static const char *const names[] = {
    [MARKET_RULE_ANY] = "any",
    [MARKET_RULE_SPOT] = "spot",
    [MARKET_RULE_SAFE] = "on-demand",
};

enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

const char *market_rule_name(enum market_rule rule)
{
    return names[rule];
}

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

bool market_rule_read(const char *text, size_t length, enum market_rule *ret)
{
    for (int i = 0; i < NAME_COUNT; i++) {
        if (is_word(names[i], text, length)) {
            *ret = (enum market_rule)i;
            return true;
        }
    }
    return false;
}

struct reader {
    struct market_words words;
    bool has_market;
};

static int refuse(const char *word, size_t length, struct error *reterr)
{
    return error_set(reterr, -EINVAL,
                     "'%s' is not understood: give market=spot, market=on-demand or market=any, "
                     "after=20m (spot first), within=6h (a deadline)",
                     text_excerpt(word, length).text);
}

static int take_time(const char *word, size_t length, size_t key, msec_t *ret, struct error *reterr)
{
    msec_t time = 0;

    if (*ret != 0 || number_duration(word + key, length - key, &time) < 0 || time <= 0 ||
        time > LIMIT_TIME_MS)
        return refuse(word, length, reterr);
    *ret = time;
    return 0;
}

static bool begins_with(const char *word, size_t length, const char *key)
{
    return length >= strlen(key) && memcmp(word, key, strlen(key)) == 0;
}

static int take_word(struct reader *r, const char *word, size_t length, struct error *reterr)
{
    static const char market[] = "market=";
    static const char after[] = "after=";
    static const char within[] = "within=";

    if (begins_with(word, length, after))
        return take_time(word, length, strlen(after), &r->words.spot_for_ms, reterr);
    if (begins_with(word, length, within))
        return take_time(word, length, strlen(within), &r->words.within_ms, reterr);
    if (r->has_market || !begins_with(word, length, market) ||
        !market_rule_read(word + strlen(market), length - strlen(market), &r->words.market))
        return refuse(word, length, reterr);
    r->has_market = true;
    return 0;
}

int market_words_read(const char *text, size_t length, struct market_words *ret,
                      struct error *reterr)
{
    struct reader r = { .has_market = false };
    size_t at = 0;
    int rc = 0;

    while (rc == 0 && at <= length) {
        const char *comma = at < length ? memchr(text + at, ',', length - at) : NULL;
        const size_t size = comma != NULL ? (size_t)(comma - text) - at : length - at;

        rc = take_word(&r, text + at, size, reterr);
        at += size + 1;
    }
    if (rc < 0)
        return rc;
    if (r.words.spot_for_ms > 0 && !r.has_market)
        r.words.market = MARKET_RULE_SPOT;
    if (r.words.spot_for_ms > 0 && r.words.market != MARKET_RULE_SPOT)
        return error_set(reterr, -EINVAL, "'after' is for spot machines: give market=spot with it");
    *ret = r.words;
    return 0;
}

int market_words_of(const struct doc_node *map, struct market_words *ret, struct error *reterr)
{
    static const struct doc_range some_time = { 1, LIMIT_TIME_MS };
    struct market_words words = { .spot_for_ms = 0 };
    const char *market = NULL;
    int rc = doc_get_text(map, "market", &market, reterr);

    if (rc == 0 && market != NULL && !market_rule_read(market, strlen(market), &words.market))
        rc =
            error_set(reterr, -EINVAL, "line %u: 'market' must be any, spot or on-demand, not '%s'",
                      map->line, text_excerpt(market, strlen(market)).text);
    if (rc == 0)
        rc = doc_get_duration(map, "after", some_time, &words.spot_for_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "within", some_time, &words.within_ms, reterr);
    if (rc < 0)
        return rc;
    if (words.spot_for_ms > 0 && market == NULL)
        words.market = MARKET_RULE_SPOT;
    if (words.spot_for_ms > 0 && words.market != MARKET_RULE_SPOT)
        return error_set(reterr, -EINVAL,
                         "line %u: 'after' is for spot machines: give market: spot with it",
                         map->line);
    *ret = words;
    return 0;
}

struct job_rules market_words_rules(const struct market_words *words, msec_t arrived_at)
{
    return (struct job_rules){
        .market = words->market,
        .spot_for_ms = words->spot_for_ms,
        .deadline = words->within_ms > 0 ? arrived_at + words->within_ms : 0,
    };
}
