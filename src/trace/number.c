/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/number.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { EXPONENT_MAX = 9999, DIGITS_MAX = 15 };

/* A number taken apart: its digits (with a point somewhere in them), and what they mean. */
struct parts {
    const char *digits;
    size_t length;    /* of 'digits', the point included */
    int64_t exponent; /* power of ten of the first digit */
    bool negative;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The exponent behind 'e', clipped to +-EXPONENT_MAX. */
static int take_exponent(const char *at, const char *end, int64_t *ret)
{
    const bool negative = at < end && *at == '-';
    int64_t value = 0;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return -EINVAL;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return -EINVAL;
        value = value * 10 + (*at - '0');
        if (value > EXPONENT_MAX)
            value = EXPONENT_MAX;
    }
    *ret = negative ? -value : value;
    return 0;
}

static int take_apart(const char *text, size_t length, struct parts *ret)
{
    const char *at = text;
    const char *end = text + length;
    struct parts parts = { .negative = length > 0 && *at == '-' };
    size_t whole = 0;
    size_t fraction = 0;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    parts.digits = at;
    for (; at < end && is_digit(*at); at++)
        whole++;
    if (at < end && *at == '.') {
        for (at++; at < end && is_digit(*at); at++)
            fraction++;
    }
    parts.length = (size_t)(at - parts.digits);
    if (whole + fraction == 0)
        return -EINVAL;
    if (at < end && *at != 'e' && *at != 'E')
        return -EINVAL;
    if (at < end && take_exponent(at + 1, end, &parts.exponent) < 0)
        return -EINVAL;
    parts.exponent += (int64_t)whole - 1;
    *ret = parts;
    return 0;
}

/* The digits that are kept, and what the others say. */
struct kept {
    int64_t value;
    bool inexact;  /* a digit that is not kept is not 0 */
    bool round_up; /* the first that is not kept is 5 or more */
};

static int keep_digits(const struct parts *parts, int digits, struct kept *ret)
{
    struct kept kept = { 0 };
    int64_t power = parts->exponent + digits; /* of the next digit; below 0: not kept */

    for (size_t i = 0; i < parts->length; i++) {
        const int digit = parts->digits[i] - '0';

        if (parts->digits[i] == '.')
            continue;
        if (power < 0) {
            kept.inexact |= digit != 0;
            kept.round_up |= power == -1 && digit >= 5;
        } else if (__builtin_mul_overflow(kept.value, 10, &kept.value) ||
                   __builtin_add_overflow(kept.value, digit, &kept.value)) {
            return -ERANGE;
        }
        power--;
    }
    for (; power >= 0 && kept.value != 0; power--) {
        if (__builtin_mul_overflow(kept.value, 10, &kept.value))
            return -ERANGE;
    }
    *ret = kept;
    return 0;
}

int number_nearest(const char *text, size_t length, int digits, int64_t *ret)
{
    assert(digits >= 0 && digits <= DIGITS_MAX);

    struct parts parts = { 0 };
    struct kept kept = { 0 };
    int rc = take_apart(text, length, &parts);

    if (rc == 0)
        rc = keep_digits(&parts, digits, &kept);
    if (rc < 0)
        return rc;
    if (kept.round_up && __builtin_add_overflow(kept.value, 1, &kept.value))
        return -ERANGE;
    *ret = parts.negative ? -kept.value : kept.value;
    return 0;
}

int number_exact(const char *text, size_t length, int digits, int64_t *ret)
{
    assert(digits >= 0 && digits <= DIGITS_MAX);

    struct parts parts = { 0 };
    struct kept kept = { 0 };
    int rc = take_apart(text, length, &parts);

    if (rc == 0)
        rc = keep_digits(&parts, digits, &kept);
    if (rc < 0)
        return rc;
    if (kept.inexact)
        return -EDOM;
    *ret = parts.negative ? -kept.value : kept.value;
    return 0;
}

int number_id(const char *text, size_t length, uint64_t *ret)
{
    uint64_t value = 0;

    if (length == 0)
        return -EINVAL;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i]))
            return -EINVAL;
        if (__builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return -ERANGE;
    }
    *ret = value;
    return 0;
}

/* a * b / c rounded to the nearest, halves away from zero. */
static int scale(int64_t a, int64_t b, int64_t c, int64_t *ret)
{
    __extension__ typedef __int128 wide_t;
    const wide_t half = a < 0 ? -(c / 2) : c / 2;
    const wide_t wide = ((wide_t)a * b + half) / c;

    if (wide > INT64_MAX || wide < -INT64_MAX)
        return -ERANGE;
    *ret = (int64_t)wide;
    return 0;
}

int number_duration(const char *text, size_t length, msec_t *ret)
{
    static const struct {
        const char *name;
        int digits; /* that are kept of the number, */
        msec_t ms;  /* which is then taken times this and */
        int64_t by; /* divided by this */
    } units[] = {
        { "ms", 0, 1, 1 },
        { "s", 3, 1, 1 },
        { "m", 8, 60 * MSEC_PER_SEC, 100000000 },
        { "h", 8, MSEC_PER_HOUR, 100000000 },
        { "d", 8, 24 * MSEC_PER_HOUR, 100000000 },
    };
    size_t number = length;
    size_t unit = 1;

    while (number > 0 && text[number - 1] >= 'a' && text[number - 1] <= 'z')
        number--;
    if (number < length) {
        const size_t count = sizeof(units) / sizeof(units[0]);

        for (unit = 0; unit < count; unit++) {
            if (strlen(units[unit].name) == length - number &&
                memcmp(units[unit].name, text + number, length - number) == 0)
                break;
        }
        if (unit == count)
            return -EINVAL;
    }

    int64_t value;
    const int rc = number_nearest(text, number, units[unit].digits, &value);

    return rc < 0 ? rc : scale(value, units[unit].ms, units[unit].by, ret);
}

int number_rate(const char *text, size_t length, uint32_t *ret_ppm)
{
    enum { FULL_PPM = 1000000, DIGITS = 6 };
    uint32_t unit = FULL_PPM / 10;

    if (length == 0 || (text[0] != '0' && text[0] != '1') || (length > 1 && text[1] != '.') ||
        length == 2 || length > 2 + DIGITS)
        return -EINVAL;

    uint32_t ppm = text[0] == '1' ? FULL_PPM : 0;

    for (size_t i = 2; i < length; i++, unit /= 10) {
        if (text[i] < '0' || text[i] > '9')
            return -EINVAL;
        ppm += unit * (uint32_t)(text[i] - '0');
    }
    if (ppm == 0 || ppm > FULL_PPM)
        return -EINVAL;
    *ret_ppm = ppm;
    return 0;
}

int number_mib_of_gib(const char *text, size_t length, int64_t *ret)
{
    int64_t nano;
    const int rc = number_nearest(text, length, 9, &nano);

    return rc < 0 ? rc : scale(nano, 1024, 1000000000, ret);
}

struct number_text number_print(int64_t value, int digits)
{
    assert(digits >= 0 && digits <= DIGITS_MAX);

    struct number_text out;
    char *const end = out.text + sizeof(out.text) - 1;
    char *at = end;
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    while (digits > 0 && size % 10 == 0) {
        size /= 10;
        digits--;
    }
    *at = '\0';
    do { /* from the last digit to the first */
        *--at = (char)('0' + size % 10);
        size /= 10;
        digits--;
        if (digits == 0)
            *--at = '.';
    } while (size > 0 || digits >= 0);
    if (value < 0)
        *--at = '-';
    memmove(out.text, at, (size_t)(end - at) + 1);
    return out;
}
