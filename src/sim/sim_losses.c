/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_losses.h"

#include <assert.h>

/*
 * By chance.
 */

/* What holds at 'at', and until when. */
struct hazard {
    msec_t mean; /* MSEC_NEVER: nothing is lost */
    msec_t until;
};

static struct hazard hazard_at(const struct sim_market *market, uint32_t offer, msec_t at,
                               msec_t mean)
{
    struct hazard ret = { .mean = mean, .until = MSEC_NEVER };

    for (uint32_t i = 0; i < market->loss_count; i++) {
        const struct sim_loss *loss = &market->losses[i];

        if (loss->offer != offer || loss->until <= at)
            continue;
        if (loss->from > at) {
            ret.until = loss->from < ret.until ? loss->from : ret.until;
            continue;
        }
        ret.mean = loss->mean_ms > 0 ? loss->mean_ms : MSEC_NEVER;
        ret.until = loss->until < ret.until ? loss->until : ret.until;
        break;
    }
    return ret;
}

/* It does not matter how long a machine has run: where another rate begins, it is drawn again. */
msec_t sim_losses_by_chance(const struct sim_market *market, uint32_t offer, msec_t now,
                            msec_t mean, struct rng *rng)
{
    msec_t at = now;

    while (at != MSEC_NEVER) {
        const struct hazard hazard = hazard_at(market, offer, at, mean);

        if (hazard.mean != MSEC_NEVER) {
            const msec_t lost = at + (msec_t)rng_exponential(rng, (double)hazard.mean) + 1;

            if (lost < hazard.until)
                return lost;
        }
        at = hazard.until;
    }
    return MSEC_NEVER;
}

/*
 * By price.
 */

/* What is bid for the offer at 'at'; MONEY_UNKNOWN: whatever it costs. */
static money_t bid_at(const struct sim_market *market, const struct catalogue *catalogue,
                      uint32_t offer, msec_t at)
{
    money_t least = MONEY_UNKNOWN;

    if (market->bid_ppm == 0 || catalogue->offers[offer].market != MARKET_SPOT)
        return MONEY_UNKNOWN;
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const struct offer *other = &catalogue->offers[i];

        if (other->type != catalogue->offers[offer].type || other->market != MARKET_ON_DEMAND)
            continue;

        const money_t price = price_at(&other->price, at);

        least = price < least ? price : least;
    }
    if (least == MONEY_UNKNOWN)
        return MONEY_UNKNOWN;
    return (money_t)((double)least * market->bid_ppm / 1e6);
}

static bool is_above_bid(const struct sim_market *market, const struct catalogue *catalogue,
                         uint32_t offer, msec_t at)
{
    return price_at(&catalogue->offers[offer].price, at) > bid_at(market, catalogue, offer, at);
}

/* The first change of its price from 'now' on that is too high. */
static msec_t taken_by_price(const struct sim_market *market, const struct catalogue *catalogue,
                             uint32_t offer, msec_t now)
{
    msec_t at = now;

    if (bid_at(market, catalogue, offer, now) == MONEY_UNKNOWN)
        return MSEC_NEVER;
    while (at != MSEC_NEVER && !is_above_bid(market, catalogue, offer, at))
        at = price_next_change(&catalogue->offers[offer].price, at);
    return at;
}

/*
 * By a series.
 */

static const struct sim_availability *series_of(const struct sim_market *market, uint32_t offer)
{
    for (uint32_t i = 0; i < market->series_count; i++) {
        if (market->series[i].offer == offer)
            return &market->series[i];
    }
    return NULL;
}

static uint32_t value_at(const struct sim_availability *series, msec_t step)
{
    return series->up[step % series->count];
}

/* Where so many of so many probes are lost, each machine is with that chance. After one round without a loss it is
 * as it was: a series that never falls takes nothing. */
static msec_t taken_by_series(const struct sim_availability *series, msec_t now, struct rng *rng)
{
    const msec_t first = now / series->step_ms;
    bool falls = false;

    if (value_at(series, first) == 0)
        return now;
    for (msec_t step = first + 1; falls || step <= first + series->count; step++) {
        const uint32_t before = value_at(series, step - 1);
        const uint32_t after = value_at(series, step);

        if (after >= before)
            continue;
        falls = true;
        if (rng_below(rng, before) >= after)
            return step * series->step_ms;
    }
    return MSEC_NEVER;
}

msec_t sim_losses_by_market(const struct sim_market *market, const struct catalogue *catalogue,
                            uint32_t offer, msec_t now, struct rng *rng)
{
    const struct sim_availability *series = series_of(market, offer);
    const msec_t by_price = taken_by_price(market, catalogue, offer, now);
    const msec_t by_series = series != NULL ? taken_by_series(series, now, rng) : MSEC_NEVER;

    return by_price < by_series ? by_price : by_series;
}

bool sim_losses_is_offered(const struct sim_market *market, const struct catalogue *catalogue,
                           uint32_t offer, msec_t now)
{
    const struct sim_availability *series = series_of(market, offer);

    return !is_above_bid(market, catalogue, offer, now) &&
           (series == NULL || value_at(series, now / series->step_ms) > 0);
}
