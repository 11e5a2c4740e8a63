/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_losses.h - when the cloud takes machines of an offer away, or has none.
 *
 * Machines are lost by chance: after a mean time, which may differ between offers and change with time. Or the
 * market takes them: when the price of a spot offer rises above what is bid, or as a measured series of its
 * availability says. While the market would take a machine at once none can be rented.
 *
 * Costs:  O(rules + changes of the price, or values of the series, until the loss) for each machine.
 */
#ifndef STINT_SIM_SIM_LOSSES_H
#define STINT_SIM_SIM_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/units.h"
#include "model/catalogue.h"

/* Machines of the offer are lost after 'mean_ms' on average, in [from, until). Of several rules that hold the first
 * one counts, and where none does what all offers have. */
struct sim_loss {
    uint32_t offer;
    msec_t mean_ms; /* 0: they are not lost */
    msec_t from;
    msec_t until; /* MSEC_NEVER: for ever */
};

/* How many probes of the offer were up in each step of time; from the start on, and then again. */
struct sim_availability {
    uint32_t offer;
    msec_t step_ms;
    const uint32_t *up;
    uint32_t count;
};

struct sim_market {
    const struct sim_loss *losses;
    uint32_t loss_count;
    const struct sim_availability *series; /* at most one of an offer */
    uint32_t series_count;
    uint32_t bid_ppm; /* of the lowest price on demand of the same type; 0: any price is paid */
};

/* When a machine that runs at 'now' is lost by chance, with 'mean' where no rule holds; MSEC_NEVER: it is not. */
msec_t sim_losses_by_chance(const struct sim_market *market, uint32_t offer, msec_t now,
                            msec_t mean, struct rng *rng);

/* When the market takes a machine that runs at 'now'; MSEC_NEVER: it does not. */
msec_t sim_losses_by_market(const struct sim_market *market, const struct catalogue *catalogue,
                            uint32_t offer, msec_t now, struct rng *rng);

/* Whether a machine of the offer can be rented. */
bool sim_losses_is_offered(const struct sim_market *market, const struct catalogue *catalogue,
                           uint32_t offer, msec_t now);

#endif
