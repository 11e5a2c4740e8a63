/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bill_compare.h - what the cloud charged against what the books say, with every difference under a cause.
 *
 *     bill = ledger + price + time + rounding + not billed - missing tag
 *                   + unknown resources + other regions + other services + credits + taxes + fees
 *
 * Which lines:  those with the tag stint:cluster of this cluster. Machines without the tag, of a type that the books have,
 *               count as ours as far as the books have more time of that type on that day than the tagged lines.
 * Causes:       machine lines are compared by type and day of UTC. What differs at equal time is price; what differs
 *               because of the time is time, or 'not billed' where the bill has nothing. Either is
 *               rounding if the digits of the bill's amounts, and a second for each machine, account for it.
 * Forecast:     for each machine, its price when it was rented times its time on the bill.
 * Promises:     pure. The causes add up to the difference, to the micro-dollar.
 * Costs:        O(lines + types x days).
 */
#ifndef STINT_CLI_BILL_COMPARE_H
#define STINT_CLI_BILL_COMPARE_H

#include "store/store_report.h"
#include "trace/bill_csv.h"

enum reconcile_cause {
    CAUSE_ROUNDING,
    CAUSE_MISSING_TAG,
    CAUSE_UNKNOWN_RESOURCE,
    CAUSE_OTHER_REGION,
    CAUSE_NOT_BILLED,
    CAUSE_PRICE,
    CAUSE_TIME,
    CAUSE_OTHER_SERVICE,
    CAUSE_CREDIT,
    CAUSE_TAX,
    CAUSE_FEE,
    RECONCILE_CAUSES,
};

struct reconciliation {
    struct store_period period; /* of the bill, in whole days */
    money_t forecast;
    money_t ledger;
    money_t bill; /* lines of machines that Stint manages */
    money_t cause[RECONCILE_CAUSES];
    uint64_t lines[RECONCILE_CAUSES]; /* of the bill; of price, time and rounding: types and days */
    uint64_t ours;
    uint64_t others; /* lines of other clusters, and without a tag */
};

/* 'region' may be NULL: then no line is of another one. */
int bill_compare(struct store *store, const struct bill *bill, const char *cluster,
                 const char *region, struct reconciliation *ret, struct error *reterr);

/* "credits and discounts" ..., and for programs "credit". */
const char *reconcile_cause_text(enum reconcile_cause cause);
const char *reconcile_cause_word(enum reconcile_cause cause);

#endif
