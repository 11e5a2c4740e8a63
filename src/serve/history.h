/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - what was spent in a stretch of time, in even steps and by market.
 *
 * Closed bills and what the rented machines owe by now, each spread evenly over the time that it is for,
 * as the ledger by day does. Steps add up to the whole but for rounding of less than a micro-dollar a
 * step and market.
 *
 * What machines could have cost at the least was found at moments (a bound) and counts until the next one, for 15 minutes at the
 * most, so that it is not drawn for the time in which no daemon ran.
 *
 * Costs:   O(bills that ended since + machines + bounds); where bills are not kept in memory, no more than HISTORY_STAYS_MAX are read, the latest:
 *          'is_whole' says whether that was all.
 */
#ifndef STINT_SERVE_HISTORY_H
#define STINT_SERVE_HISTORY_H

#include "serve/api_private.h"

enum { HISTORY_STEPS = 96, HISTORY_STAYS_MAX = 20000 };

struct history_step {
    double spent[MARKET_COUNT]; /* micro-dollars */
    double machines;            /* on average */
    double least; /* that machines could have cost, in micro-dollars per hour; NAN: not known */
};

struct history {
    msec_t since;
    msec_t until; /* now */
    struct history_step steps[HISTORY_STEPS];
    money_t spent[MARKET_COUNT];
    msec_t boot_ms, idle_ms, work_ms; /* of closed bills, whole */
    uint32_t machines;                /* that were rented for some of the time */
    bool is_whole;
    bool has_least; /* in some of the steps */
};

int history_read(const struct api_call *call, msec_t since, struct history *ret,
                 struct error *reterr);

/* What was spent from 'since' on. Cheaper than all of the above. */
int history_spent(const struct api_call *call, msec_t since, money_t *ret, struct error *reterr);

/* The day and the month of 'now' in UTC: when they began and when they end. */
void history_day(msec_t now, msec_t *ret_from, msec_t *ret_until);
void history_month(msec_t now, msec_t *ret_from, msec_t *ret_until);

#endif
