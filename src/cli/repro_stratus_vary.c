/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of `stint repro stratus --vary`: on which market.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/line.h"
#include "cli/repro_stratus.h"

/* By default 13 June: the first day on which the offer that is cheapest for a small task rises above its price on
 * demand more than once while jobs arrive. The sample is of all of the trace, which is most of a day. */
enum { WORDS_MAX = 64, DAY = 73, SAMPLE = 2000, DAY_S = 24 * 3600 };

static int read_word(const char *word, uint64_t *ret_market, uint64_t *ret_day,
                     struct error *reterr)
{
    static const char market[] = "market=";
    static const char day[] = "day=";

    if (strncmp(word, market, strlen(market)) == 0) {
        if (line_number(word + strlen(market), 2015, ret_market) < 0 || *ret_market != 2015)
            return error_set(reterr, -EINVAL, "market takes 2015");
        return 0;
    }
    if (strncmp(word, day, strlen(day)) == 0) {
        if (line_number(word + strlen(day), STRATUS_2015_DAYS - 1, ret_day) < 0)
            return error_set(reterr, -EINVAL, "day takes a whole number from 0 to %d",
                             STRATUS_2015_DAYS - 1);
        return 0;
    }
    return error_set(reterr, -EINVAL, "there is no '%s'; there are market and day", word);
}

int stratus_vary(struct stratus_setting *setting, const char *words, struct error *reterr)
{
    char text[WORDS_MAX];
    char *rest = text;
    const char *word;
    uint64_t market = 0;
    uint64_t day = DAY;
    int rc = 0;

    if (words == NULL)
        return 0;
    if (snprintf(text, sizeof(text), "%s", words) >= (int)sizeof(text))
        return error_set(reterr, -EINVAL, "that is too long");
    while (rc == 0 && (word = strsep(&rest, ",")) != NULL)
        rc = read_word(word, &market, &day, reterr);
    if (rc == 0 && market == 0)
        return error_set(reterr, -EINVAL, "day goes with market=2015");
    setting->is_2015 = true;
    setting->spot_from = STRATUS_2015_FROM + (int64_t)day * DAY_S;
    if (setting->jobs == 0)
        setting->jobs = SAMPLE;
    return rc;
}
