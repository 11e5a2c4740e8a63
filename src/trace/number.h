/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - decimal text to whole numbers and back, without floating point.
 *
 * A number is [+-]digits[.digits][e[+-]digits]. It is kept as a whole number of the smallest unit:
 * "3.06" with 6 digits is 3060000 micro-dollars, "0.5" with 3 digits is 500 milli-CPU.
 *
 * Promises:  no output is written on failure. Faults: -EINVAL, it is no number; -ERANGE, it is too
 *            large for the result; -EDOM, it is finer than the digits that are kept.
 * Bounds:    O(length).
 */
#ifndef STINT_TRACE_NUMBER_H
#define STINT_TRACE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

/* The number times 10^digits; a further digit other than 0 is refused with -EDOM. */
int number_exact(const char *text, size_t length, int digits, int64_t *ret);

/* The same, but further digits are rounded to the nearest, halves away from zero. */
int number_nearest(const char *text, size_t length, int digits, int64_t *ret);

/* A whole number without sign, point or exponent, of up to 64 bits. */
int number_id(const char *text, size_t length, uint64_t *ret);

/* A length of time with a unit (ms, s, m, h, d; none: s), rounded to the nearest millisecond. */
int number_duration(const char *text, size_t length, msec_t *ret);

/* A speed as a share of the full one, above 0 and at most 1, in millionths: "0.83", "1". At most six digits behind
 * the point, and no sign or exponent: anything else is -EINVAL. */
int number_rate(const char *text, size_t length, uint32_t *ret_ppm);

/* GiB to MiB, rounded to the nearest. */
int number_mib_of_gib(const char *text, size_t length, int64_t *ret);

struct number_text {
    char text[48];
};

/* value / 10^digits, with no more digits than it takes: (3060000, 6) is "3.06". 'digits' is at
 * most 15. */
struct number_text number_print(int64_t value, int digits);

#endif
