/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sustained.h - discounts that a cloud gives by itself for machines that run most of a month.
 *
 * The bill does not tell machines apart: what counts is how many ran in each hour, stacked in layers
 * ("inferred instances"). In every period, the hours of each layer are charged in tiers: the first
 * quarter of the period in full, the next for less, and so on.
 *
 * Costs:  O(hours x machines of the busiest hour).
 */
#ifndef STINT_MODEL_SUSTAINED_H
#define STINT_MODEL_SUSTAINED_H

#include <stdint.h>

#include "base/units.h"

enum { SUSTAINED_TIERS_MAX = 8 };

struct sustained_rule {
    uint32_t period_hours;
    uint32_t tier_count;                     /* tiers of equal length that make up the period */
    uint32_t price_ppm[SUSTAINED_TIERS_MAX]; /* of the full price, in each tier */
};

/* 30 days in quarters at 100, 80, 60 and 40 per cent. */
#define SUSTAINED_MONTH       \
    ((struct sustained_rule){ \
        .period_hours = 720, .tier_count = 4, .price_ppm = { 1000000, 800000, 600000, 400000 } })

/* What 'usage' (machines per hour) costs at 'per_hour' under the rule. */
money_t sustained_cost(const struct sustained_rule *rule, const uint32_t *usage, uint32_t hours,
                       money_t per_hour);

#endif
