/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of `stint repro stratus --vary`: on which market, when decisions are made, and what is known.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/line.h"
#include "cli/repro_stratus.h"

/* By default 13 June: the first day on which the offer that is cheapest for a small task rises above its price on
 * demand more than once while jobs arrive. The sample is of all of the trace, which is most of a day. */
enum { WORDS_MAX = 64, DAY = 73, SAMPLE = 2000, DAY_S = 24 * 3600 };

struct words {
    uint64_t market; /* 0: none */
    uint64_t day;
    bool has_day;
};

/* What stands behind 'key' in the word; NULL: it is another word. */
static const char *value_of(const char *word, const char *key)
{
    const size_t length = strlen(key);

    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static int read_word(struct stratus_setting *setting, const char *word, struct words *words,
                     struct error *reterr)
{
    const char *value = value_of(word, "market");

    if (value != NULL) {
        if (line_number(value, 2015, &words->market) < 0 || words->market != 2015)
            return error_set(reterr, -EINVAL, "market takes 2015");
        return 0;
    }
    value = value_of(word, "day");
    if (value != NULL) {
        words->has_day = true;
        if (line_number(value, STRATUS_2015_DAYS - 1, &words->day) < 0)
            return error_set(reterr, -EINVAL, "day takes a whole number from 0 to %d",
                             STRATUS_2015_DAYS - 1);
        return 0;
    }
    value = value_of(word, "rounds");
    if (value != NULL) {
        setting->by_events = true;
        return strcmp(value, "events") == 0 ? 0 : error_set(reterr, -EINVAL, "rounds takes events");
    }
    value = value_of(word, "estimates");
    if (value != NULL) {
        setting->is_learned = true;
        return strcmp(value, "learned") == 0
                   ? 0
                   : error_set(reterr, -EINVAL, "estimates takes learned");
    }
    return error_set(reterr, -EINVAL,
                     "there is no '%s'; there are market, day, rounds and estimates", word);
}

int stratus_vary(struct stratus_setting *setting, const char *words, struct error *reterr)
{
    struct words read = { .day = DAY };
    char text[WORDS_MAX];
    char *rest = text;
    const char *word;
    int rc = 0;

    if (words == NULL)
        return 0;
    if (snprintf(text, sizeof(text), "%s", words) >= (int)sizeof(text))
        return error_set(reterr, -EINVAL, "that is too long");
    while (rc == 0 && (word = strsep(&rest, ",")) != NULL)
        rc = read_word(setting, word, &read, reterr);
    if (rc == 0 && read.has_day && read.market == 0)
        rc = error_set(reterr, -EINVAL, "day goes with market=2015");
    if (rc != 0 || read.market == 0)
        return rc;
    setting->is_2015 = true;
    setting->spot_from = STRATUS_2015_FROM + (int64_t)read.day * DAY_S;
    if (setting->jobs == 0)
        setting->jobs = SAMPLE;
    return 0;
}
