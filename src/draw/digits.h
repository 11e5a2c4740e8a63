/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.h - a number as text with a fixed count of fraction digits.
 *
 * Everything that is printed for people or for other programs goes through here, so that a table, a
 * JSON document, a CSV file and a chart agree on each digit.
 *
 * Promises:  the same number gives the same bytes with every compiler and in every locale; halves
 *            round away from zero; zero never has a sign.
 * Costs:     some tens of nanoseconds; no allocation, the text is returned by value.
 */
#ifndef STINT_DRAW_DIGITS_H
#define STINT_DRAW_DIGITS_H

#include <stdint.h>

enum {
    DIGITS_SIZE = 448, /* the largest double, grouped, with all its fraction digits */
    DIGITS_FRACTION_MAX = 12,
};

enum digits_style {
    DIGITS_PLAIN,   /* 1234567.5: for programs */
    DIGITS_GROUPED, /* 1,234,567.5: for people */
};

struct digits {
    char text[DIGITS_SIZE];
};

/* 'value' / 10^'scale' with 'fraction' digits behind the point; neither above DIGITS_FRACTION_MAX. */
struct digits digits_of_fixed(int64_t value, uint32_t scale, uint32_t fraction,
                              enum digits_style style);

/* A finite 'value' with 'fraction' digits behind the point. */
struct digits digits_of_real(double value, uint32_t fraction, enum digits_style style);

#endif
