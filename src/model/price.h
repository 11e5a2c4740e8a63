/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price.h - a price per hour that may change over time.
 *
 * A series is a list of changes in time order; before the first, the first price holds. A fixed
 * price is a series of one.
 *
 * Promises:  integrals are exact: one rounding down, at the end.
 * Costs:     price_at O(log changes); price_between O(log changes + changes in between).
 */
#ifndef STINT_MODEL_PRICE_H
#define STINT_MODEL_PRICE_H

#include <stdint.h>

#include "base/units.h"

struct price_change {
    msec_t at;
    money_t per_hour;
};

struct price_series {
    const struct price_change *changes; /* in time order, at least one */
    uint32_t count;
};

money_t price_at(const struct price_series *series, msec_t at);

/* When the price after 'at' next changes, or MSEC_NEVER. */
msec_t price_next_change(const struct price_series *series, msec_t at);

/* Since when the price has been what it is at 'at'; 0: always. */
msec_t price_last_change(const struct price_series *series, msec_t at);

/* What [from, to) costs. */
money_t price_between(const struct price_series *series, msec_t from, msec_t to);

#endif
