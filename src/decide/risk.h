/* SPDX-License-Identifier: Apache-2.0 */
/*
 * risk.h - what an hour on a machine costs when it may be taken away.
 *
 * After an interruption what was done is done again, half of the machine's time on average, and another
 * machine is set up: so much is added to the price, times how often it is expected, by experience or else by
 * the catalogue (view.offer_lasts). An offer of which nobody knows costs its price. Micro-dollars.
 */
#ifndef STINT_DECIDE_RISK_H
#define STINT_DECIDE_RISK_H

#include "model/view.h"

/* How much more than its price an offer costs where machines are busy for so long: 1 or above. */
static inline double risk_factor(const struct view *view, uint32_t offer, msec_t busy)
{
    const msec_t mean = view->offer_lasts[offer];

    if (mean == MSEC_NEVER)
        return 1;

    const msec_t lost = busy / 2 + catalogue_type_of(view->catalogue, offer)->setup_ms;

    return 1 + (double)lost / (double)mean;
}

/* What an hour of the offer costs now. */
static inline double risk_price(const struct view *view, uint32_t offer, msec_t busy)
{
    return (double)view->offer_price[offer] * risk_factor(view, offer, busy);
}

#endif
