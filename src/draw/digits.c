/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole part and fraction are printed apart, as whole numbers, and joined by our own point: printf's
 * "%.3f" would take its point from the locale and print a sign in front of a rounded zero.
 */
#include "draw/digits.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    WHOLE_SIZE = 320, /* the largest double has 309 digits */
    FRACTION_SIZE = 24,
    GROUP = 3,
};

static uint64_t power_of_ten(uint32_t exponent)
{
    uint64_t power = 1;

    for (uint32_t i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

static bool all_zero(const char *digits)
{
    return digits[strspn(digits, "0")] == '\0';
}

static struct digits join(bool negative, const char *whole, const char *fraction,
                          enum digits_style style)
{
    struct digits ret = { 0 };
    const size_t whole_size = strlen(whole);
    size_t used = 0;

    if (negative && !(all_zero(whole) && all_zero(fraction)))
        ret.text[used++] = '-';
    for (size_t i = 0; i < whole_size; i++) {
        if (style == DIGITS_GROUPED && i > 0 && (whole_size - i) % GROUP == 0)
            ret.text[used++] = ',';
        ret.text[used++] = whole[i];
    }
    if (fraction[0] != '\0')
        (void)snprintf(ret.text + used, sizeof(ret.text) - used, ".%s", fraction);
    return ret;
}

/* 'value' as exactly 'width' digits, none for a width of 0. */
static void print_fraction(char *ret, uint64_t value, uint32_t width)
{
    ret[0] = '\0';
    if (width > 0)
        (void)snprintf(ret, FRACTION_SIZE, "%0*" PRIu64, (int)width, value);
}

struct digits digits_of_fixed(int64_t value, uint32_t scale, uint32_t fraction,
                              enum digits_style style)
{
    assert(scale <= DIGITS_FRACTION_MAX);
    assert(fraction <= DIGITS_FRACTION_MAX);

    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    if (scale > fraction) {
        const uint64_t cut = power_of_ten(scale - fraction);

        size = size / cut + (size % cut >= cut / 2 ? 1 : 0);
        scale = fraction;
    }

    const uint64_t unit = power_of_ten(scale);
    char whole[WHOLE_SIZE];
    char behind[FRACTION_SIZE];

    (void)snprintf(whole, sizeof(whole), "%" PRIu64, size / unit);
    print_fraction(behind, size % unit * power_of_ten(fraction - scale), fraction);
    return join(value < 0, whole, behind, style);
}

struct digits digits_of_real(double value, uint32_t fraction, enum digits_style style)
{
    assert(isfinite(value));
    assert(fraction <= DIGITS_FRACTION_MAX);

    const uint64_t unit = power_of_ten(fraction);
    const double size = fabs(value);
    double full = floor(size);
    uint64_t part = (uint64_t)round((size - full) * (double)unit);
    char whole[WHOLE_SIZE];
    char behind[FRACTION_SIZE];

    if (part >= unit) {
        full += 1;
        part = 0;
    }
    (void)snprintf(whole, sizeof(whole), "%.0f", full);
    print_fraction(behind, part, fraction);
    return join(value < 0, whole, behind, style);
}
