/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The factor of a month is a twelfth root, found by Newton's method in whole numbers. It has 18 digits, and
 * so have its powers; what leaves this file is rounded to 9 of them. Over 59 years the powers drift
 * by less than 10^-14, far below what is kept.
 */
#include "model/interest.h"

#include <assert.h>

__extension__ typedef __int128 wide_t;
__extension__ typedef unsigned __int128 unsigned_wide_t;

enum { PPM = 1000000 };

static const uint64_t one = UINT64_C(1000000000000000000);

static uint64_t product(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned_wide_t)a * b / one);
}

/* Newton's next guess at the twelfth root of 'year'; from above, each is nearer. */
static uint64_t nearer_root(uint64_t root, uint64_t year)
{
    const uint64_t x2 = product(root, root);
    const uint64_t x4 = product(x2, x2);
    const uint64_t x11 = product(product(x4, x4), product(x2, root));

    return (11 * root + (uint64_t)((unsigned_wide_t)year * one / x11)) / 12;
}

struct interest interest_start(uint32_t rate_ppm)
{
    assert(rate_ppm <= INTEREST_MAX_PPM);

    const uint64_t year = (uint64_t)((unsigned_wide_t)one * PPM / ((uint64_t)PPM + rate_ppm));
    uint64_t root = one;

    for (uint64_t next = nearer_root(root, year); next < root; next = nearer_root(root, year))
        root = next;
    return (struct interest){ .month = root, .now = one };
}

int64_t interest_next(struct interest *interest)
{
    const uint64_t unit = one / (uint64_t)SHARE_ALL_PPB;

    interest->now = product(interest->now, interest->month);
    return (int64_t)((interest->now + unit / 2) / unit);
}

/* The hours of a term, month by month. */
static uint32_t hours_of_month(uint32_t left)
{
    return left < INTEREST_MONTH_HOURS ? left : INTEREST_MONTH_HOURS;
}

/* What a dollar in each of so many hours is worth today, in billionths: below 2^49. */
static int64_t worth_of_hours(uint32_t rate_ppm, uint32_t hours)
{
    struct interest interest = interest_start(rate_ppm);
    int64_t sum = 0;

    assert(hours <= INTEREST_HOURS_MAX);
    for (uint32_t left = hours; left > 0; left -= hours_of_month(left))
        sum += hours_of_month(left) * interest_next(&interest);
    return sum;
}

money_t interest_today(uint32_t rate_ppm, money_t per_hour, uint32_t hours)
{
    const wide_t worth = (wide_t)per_hour * worth_of_hours(rate_ppm, hours) / SHARE_ALL_PPB;

    assert(worth <= INT64_MAX);
    assert(worth >= INT64_MIN);
    return (money_t)worth;
}

money_t interest_carried(uint32_t rate_ppm, money_t paid, uint32_t hours)
{
    const wide_t worth = worth_of_hours(rate_ppm, hours);
    const wide_t full = (wide_t)hours * SHARE_ALL_PPB;

    assert(paid >= 0);
    assert(hours > 0);

    const wide_t carried = ((wide_t)paid * full + worth / 2) / worth;

    return carried < INT64_MAX ? (money_t)carried : INT64_MAX;
}

uint32_t interest_payback(uint32_t rate_ppm, money_t paid, money_t saved, uint32_t saved_hours,
                          uint32_t term_hours)
{
    struct interest interest = interest_start(rate_ppm);
    wide_t worth = 0;

    assert(paid >= 0);
    assert(saved_hours > 0);
    assert(saved_hours <= INTEREST_HOURS_MAX);
    assert(term_hours <= INTEREST_HOURS_MAX);
    for (uint32_t left = term_hours, month = 1; left > 0; left -= hours_of_month(left), month++) {
        worth += (wide_t)hours_of_month(left) * interest_next(&interest);
        if (saved * worth > (wide_t)paid * saved_hours * SHARE_ALL_PPB)
            return month;
    }
    return 0;
}
