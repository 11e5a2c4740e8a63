/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_quantity.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_t;

enum { DIGITS_MAX = 18, EXPONENT_MAX = 18 };

#define AMOUNT_MAX (INT64_C(1) << 62)

/* digits x 10^exponent x 2^bits, and perhaps a little more than that. */
struct quantity {
    uint64_t digits;
    int exponent;
    int bits;
    bool has_more; /* digits were cut off */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits and the point; returns where they end, or NULL. */
static const char *read_digits(const char *at, const char *end, struct quantity *to)
{
    bool has_point = false;
    uint32_t seen = 0;
    uint32_t kept = 0;

    for (; at < end && (is_digit(*at) || (*at == '.' && !has_point)); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        seen++;
        if (kept == DIGITS_MAX) {
            to->has_more |= *at != '0';
            to->exponent += has_point ? 0 : 1;
            continue;
        }
        to->digits = to->digits * 10 + (uint64_t)(*at - '0');
        kept += to->digits > 0 ? 1 : 0;
        to->exponent -= has_point ? 1 : 0;
    }
    return seen > 0 ? at : NULL;
}

/* "e3", "E-2": an exponent of ten; false if it is none. */
static bool read_exponent(const char *at, const char *end, struct quantity *to)
{
    int sign = 1;
    int number = 0;

    at++;
    if (at < end && (*at == '-' || *at == '+')) {
        sign = *at == '-' ? -1 : 1;
        at++;
    }
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (!is_digit(*at) || number > EXPONENT_MAX)
            return false;
        number = number * 10 + (*at - '0');
    }
    to->exponent += sign * number;
    return number <= EXPONENT_MAX;
}

static bool read_suffix(const char *at, const char *end, struct quantity *to)
{
    static const char binary[] = "KMGTPE";
    static const struct {
        char letter;
        int exponent;
    } decimal[] = { { 'n', -9 }, { 'u', -6 }, { 'm', -3 }, { 'k', 3 }, { 'M', 6 },
                    { 'G', 9 },  { 'T', 12 }, { 'P', 15 }, { 'E', 18 } };
    const char *found;

    if (at == end)
        return true;
    if (end - at == 2 && at[1] == 'i' && *at != '\0') {
        found = strchr(binary, *at);
        if (found != NULL)
            to->bits = 10 * (int)(found - binary + 1);
        return found != NULL;
    }
    for (size_t i = 0; end - at == 1 && i < sizeof(decimal) / sizeof(decimal[0]); i++) {
        if (decimal[i].letter == *at) {
            to->exponent += decimal[i].exponent;
            return true;
        }
    }
    return (*at == 'e' || *at == 'E') && read_exponent(at, end, to);
}

static int read_quantity(const char *text, size_t length, struct quantity *ret)
{
    const char *end = text + length;
    const char *at = text;

    *ret = (struct quantity){ 0 };
    if (at < end && *at == '+')
        at++;
    at = read_digits(at, end, ret);
    return at != NULL && read_suffix(at, end, ret) ? 0 : -EINVAL;
}

/* digits x 10^exponent x 2^bits, rounded up. Multiplies first and divides last, so that nothing is rounded twice. */
static int64_t amount(const struct quantity *of, int exponent, int bits)
{
    wide_t value = of->digits;
    bool has_rest = of->has_more;

    exponent += of->exponent;
    bits += of->bits;
    if (value == 0)
        return has_rest ? 1 : 0;
    for (; bits > 0; bits--) {
        if (value > (wide_t)AMOUNT_MAX << 60)
            return AMOUNT_MAX;
        value <<= 1;
    }
    for (; exponent > 0; exponent--) {
        if (value > (wide_t)AMOUNT_MAX << 60)
            return AMOUNT_MAX;
        value *= 10;
    }
    for (; exponent < 0; exponent++) {
        has_rest |= value % 10 != 0;
        value /= 10;
    }
    for (; bits < 0; bits++) {
        has_rest |= (value & 1) != 0;
        value >>= 1;
    }
    if (value >= (wide_t)AMOUNT_MAX)
        return AMOUNT_MAX;
    return (int64_t)value + (has_rest ? 1 : 0);
}

int kube_quantity_milli(const char *text, size_t length, int64_t *ret)
{
    struct quantity quantity;
    const int rc = read_quantity(text, length, &quantity);

    if (rc == 0)
        *ret = amount(&quantity, 3, 0);
    return rc;
}

int kube_quantity_whole(const char *text, size_t length, int64_t *ret)
{
    struct quantity quantity;
    const int rc = read_quantity(text, length, &quantity);

    if (rc == 0)
        *ret = amount(&quantity, 0, 0);
    return rc;
}
