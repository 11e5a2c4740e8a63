/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interest.h - what a payment in the future is worth today.
 *
 * Money that is paid later can earn interest until then. At a rate of 8 % a year, a dollar that is
 * due in a year is worth 1 / 1.08 = $0.925925926 today. Months are twelfths of a year, 730 hours,
 * and what is paid by the hour is due at the end of its month, as clouds bill it; so a payment of
 * month m is worth (1 + rate)^(-m / 12).
 *
 * What is paid in advance can be compared with hourly prices in two ways, which order offers of one
 * term alike:
 *
 *     interest_today    an hourly price over the term, as one payment today
 *     interest_carried  a payment today with its interest, as it is borne by the hours of its term:
 *                       spread evenly over them, it is worth today what was paid
 *
 * The second also compares offers of different terms, because it gives each a price per hour.
 *
 * Promises:  pure whole numbers, so the same bits with every compiler. A factor is rounded once, to
 *            the nearest billionth. At a rate of 0 every factor is exactly one, and nothing is
 *            rounded.
 * Bounds:    rates to INTEREST_MAX_PPM, times to INTEREST_HOURS_MAX.
 * Costs:     O(months).
 */
#ifndef STINT_MODEL_INTEREST_H
#define STINT_MODEL_INTEREST_H

#include <stdint.h>

#include "base/units.h"

enum {
    INTEREST_MAX_PPM = 1000000, /* 100 % a year */
    INTEREST_MONTH_HOURS = 730,
    INTEREST_HOURS_MAX = 1 << 19, /* 59 years */
};

/* Counts the months. Plain data, to be set by interest_start. */
struct interest {
    uint64_t month; /* what a dollar in a month is worth today, in units of 10^-18 */
    uint64_t now;   /* the same of the month that was counted last */
};

struct interest interest_start(uint32_t rate_ppm);

/* What a dollar at the end of the next month is worth today, in billionths; of the first at first.
 */
int64_t interest_next(struct interest *interest);

/* What 'per_hour' in each of so many hours is worth today, rounded towards zero. May be negative. */
money_t interest_today(uint32_t rate_ppm, money_t per_hour, uint32_t hours);

/* What 'paid' in advance comes to with its interest when 'hours' bear it evenly, rounded to the
 * nearest; hours above 0. An amount that is too large to count becomes INT64_MAX. */
money_t interest_carried(uint32_t rate_ppm, money_t paid, uint32_t hours);

/*
 * The first month, from 1 on, at whose end more than 'paid' has been saved, as worth today, where
 * 'saved' is saved in every 'saved_hours' hours (above 0); 0: not within 'term_hours'.
 */
uint32_t interest_payback(uint32_t rate_ppm, money_t paid, money_t saved, uint32_t saved_hours,
                          uint32_t term_hours);

#endif
