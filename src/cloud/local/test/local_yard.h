/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_yard.h - a small catalogue for the tests of the local cloud.
 */
#ifndef STINT_CLOUD_LOCAL_YARD_H
#define STINT_CLOUD_LOCAL_YARD_H

#include "model/catalogue.h"

enum { YARD_SMALL, YARD_LARGE, YARD_SPOT };

#define YARD_SMALL_NAME "small//on-demand"
#define YARD_LARGE_NAME "large/north/on-demand"
#define YARD_SPOT_NAME  "large/north/spot"

static inline void yard_make(struct catalogue *ret)
{
    static const struct price_change cheap = { .at = 0, .per_hour = 100000 };
    static const struct price_change dear = { .at = 0, .per_hour = 900000 };
    const struct machine_type type = {
        .capacity = { { 2000, 4096, 1000 } },
        .acquire_ms = 1000,
        .release_ms = 500,
    };
    struct offer offer = { .billing = BILLING_PER_SECOND, .price = { &cheap, 1 } };

    catalogue_init(ret);
    offer.type = catalogue_add_type(ret, "small", "a", &type);
    (void)catalogue_add_offer(ret, NULL, &offer);
    offer.type = catalogue_add_type(ret, "large", "b", &type);
    offer.price.changes = &dear;
    (void)catalogue_add_offer(ret, "north", &offer);
    offer.market = MARKET_SPOT;
    (void)catalogue_add_offer(ret, "north", &offer);
}

#endif
