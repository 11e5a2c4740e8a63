/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise_trust.h - how far a short history can be trusted.
 *
 * An offer that was never lost in a week is not one that is never lost. From the number of its losses
 * follows, at a stated confidence, how often it is lost at most: losses that come at any moment with
 * equal chance are Poisson distributed. How long it stays away is learned from the outages of all
 * offers together, which are taken to be exponentially distributed with one mean; an offer whose own
 * outages were longer keeps its own. The bounds hold for all offers at once, so a pool that is chosen
 * among them by these very numbers may rely on them.
 *
 * Costs:  O(offers x (60 + losses)).
 */
#ifndef STINT_DECIDE_PROMISE_TRUST_H
#define STINT_DECIDE_PROMISE_TRUST_H

#include <stdint.h>

#include "base/units.h"

/* What a history shows of one offer. */
struct promise_record {
    msec_t watched;
    msec_t gone; /* of it */
    uint32_t losses;
};

/*
 * The share of the time for which each offer is gone at most, all of them together with probability
 * 'confidence', below 1. 'outage' is the mean outage where none was seen at all.
 */
void promise_trust(const struct promise_record *records, uint32_t count, double confidence,
                   msec_t outage, double *ret_down);

/* The simple rule: as if the offer had been gone for so much longer. */
double promise_trust_added(const struct promise_record *record, msec_t added);

/* The largest mean at which so few events as 'events' still have probability 'doubt' (above 0). */
double promise_poisson_most(uint32_t events, double doubt);

#endif
