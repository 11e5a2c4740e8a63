/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sustained.h"

#include <assert.h>

/* What one layer pays for 'used' hours of a period, in millionths of machine-hours. */
static uint64_t charged_ppm(const struct sustained_rule *rule, uint32_t used)
{
    const uint32_t tier_hours = rule->period_hours / rule->tier_count;
    uint64_t sum = 0;

    for (uint32_t tier = 0; tier < rule->tier_count && used > 0; tier++) {
        const uint32_t in_tier =
            used < tier_hours || tier + 1 == rule->tier_count ? used : tier_hours;

        sum += (uint64_t)in_tier * rule->price_ppm[tier];
        used -= in_tier;
    }
    return sum;
}

static uint32_t highest(const uint32_t *usage, uint32_t hours)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < hours; i++) {
        if (usage[i] > most)
            most = usage[i];
    }
    return most;
}

money_t sustained_cost(const struct sustained_rule *rule, const uint32_t *usage, uint32_t hours,
                       money_t per_hour)
{
    uint64_t ppm_hours = 0;

    assert(rule->tier_count > 0 && rule->tier_count <= SUSTAINED_TIERS_MAX);
    for (uint32_t begin = 0; begin < hours; begin += rule->period_hours) {
        const uint32_t span =
            hours - begin < rule->period_hours ? hours - begin : rule->period_hours;
        const uint32_t most = highest(usage + begin, span);

        for (uint32_t layer = 0; layer < most; layer++) {
            uint32_t used = 0;

            for (uint32_t i = 0; i < span; i++)
                used += usage[begin + i] > layer;
            ppm_hours += charged_ppm(rule, used);
        }
    }
    return mul_div((int64_t)ppm_hours, per_hour, 1000000);
}
