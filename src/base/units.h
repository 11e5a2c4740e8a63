/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - money and time as whole numbers.
 *
 * Money is whole micro-dollars, time is whole milliseconds since the start of the story (a trace's
 * zero, or the epoch). Both are signed 64-bit: differences are common. No floating point ever holds
 * either; a score may be a double, a bill may not.
 */
#ifndef STINT_BASE_UNITS_H
#define STINT_BASE_UNITS_H

#include <assert.h>
#include <stdint.h>

typedef int64_t money_t; /* micro-dollars */
typedef int64_t msec_t;  /* milliseconds */

#define MSEC_PER_SEC  ((msec_t)1000)
#define MSEC_PER_HOUR ((msec_t)3600000)
#define MSEC_NEVER    INT64_MAX

#define SHARE_ALL_PPB INT64_C(1000000000) /* shares that must be exact are whole billionths */

#define MONEY_PER_USD  ((money_t)1000000)
#define MONEY_PER_CENT ((money_t)10000)
#define MONEY_UNKNOWN  INT64_MAX

/* a * b / c without overflow in between, rounded down; all non-negative, c above zero. */
static inline int64_t mul_div(int64_t a, int64_t b, int64_t c)
{
    assert(a >= 0);
    assert(b >= 0);
    assert(c > 0);

    __extension__ typedef __int128 wide_t;
    const wide_t wide = (wide_t)a * b / c;

    assert(wide <= INT64_MAX);
    return (int64_t)wide;
}

/* What 'span' costs at 'per_hour', rounded down to the micro-dollar. */
static inline money_t money_for(money_t per_hour, msec_t span)
{
    return mul_div(per_hour, span, MSEC_PER_HOUR);
}

/* 'at' rounded up to a multiple of 'step'. */
static inline msec_t msec_round_up(msec_t at, msec_t step)
{
    assert(at >= 0);
    assert(step > 0);
    return (at + step - 1) / step * step;
}

#endif
