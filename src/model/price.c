/* SPDX-License-Identifier: Apache-2.0 */
#include "model/price.h"

#include <assert.h>

/* How many changes are at or before 'at'. */
static uint32_t changes_until(const struct price_series *series, msec_t at)
{
    uint32_t low = 0;
    uint32_t high = series->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (series->changes[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

money_t price_at(const struct price_series *series, msec_t at)
{
    assert(series->count > 0);

    const uint32_t until = changes_until(series, at);

    return series->changes[until > 0 ? until - 1 : 0].per_hour;
}

msec_t price_next_change(const struct price_series *series, msec_t at)
{
    const uint32_t until = changes_until(series, at);

    return until < series->count ? series->changes[until].at : MSEC_NEVER;
}

msec_t price_last_change(const struct price_series *series, msec_t at)
{
    const uint32_t until = series->count > 1 ? changes_until(series, at) : 0;

    return until > 1 ? series->changes[until - 1].at : 0;
}

money_t price_between(const struct price_series *series, msec_t from, msec_t to)
{
    assert(series->count > 0);
    assert(from <= to);

    __extension__ typedef __int128 wide_t;
    const uint32_t until = changes_until(series, from);
    uint32_t current = until > 0 ? until - 1 : 0;
    wide_t sum = 0;

    while (from < to) {
        const msec_t next = current + 1 < series->count ? series->changes[current + 1].at : to;
        const msec_t end = next < to ? next : to;

        if (end > from) {
            sum += (wide_t)series->changes[current].per_hour * (end - from);
            from = end;
        }
        current++;
    }

    const wide_t cost = sum / MSEC_PER_HOUR;

    assert(cost <= INT64_MAX);
    return (money_t)cost;
}
