/* SPDX-License-Identifier: Apache-2.0 */
#include "model/billing.h"

#include <assert.h>

msec_t billing_paid_span(const struct billing_rule *rule, msec_t span)
{
    assert(span >= 0);
    if (span == 0)
        return 0;

    const msec_t stepped = msec_round_up(span, rule->step_ms);

    return stepped > rule->minimum_ms ? stepped : rule->minimum_ms;
}

money_t billing_charge(const struct billing_rule *rule, const struct price_series *price,
                       msec_t from, msec_t to)
{
    return price_between(price, from, from + billing_paid_span(rule, to - from));
}
