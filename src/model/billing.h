/* SPDX-License-Identifier: Apache-2.0 */
/*
 * billing.h - how time on a machine becomes a bill, as data.
 *
 * A rule says in which steps time is counted and how much is paid at the least: EC2 for Linux is
 * { 1 s, at least 60 s }, per-minute clouds { 60 s, at least 600 s }, the EC2 of 2016 { 1 h, 1 h }.
 * What a month adds on top (sustained-use discounts, reservations) is no property of one machine and
 * so no part of the rule: it is computed over all bills of a period, by who reads the ledger.
 */
#ifndef STINT_MODEL_BILLING_H
#define STINT_MODEL_BILLING_H

#include "base/units.h"
#include "model/price.h"

struct billing_rule {
    msec_t step_ms;    /* time is rounded up to a multiple of this; above 0 */
    msec_t minimum_ms; /* and up to at least this, once the machine ran at all */
};

/* Per second, no minimum. */
#define BILLING_PER_SECOND ((struct billing_rule){ .step_ms = 1000, .minimum_ms = 0 })

/* The time that is paid for a machine that ran for 'span'. */
msec_t billing_paid_span(const struct billing_rule *rule, msec_t span);

/* The bill for [from, to). */
money_t billing_charge(const struct billing_rule *rule, const struct price_series *price,
                       msec_t from, msec_t to);

#endif
