/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/chart_axis.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SMALLEST   1e-30 /* less than this is zero */
#define FLAT       1e-5  /* a range shorter than this part of its values has no room for labels */
#define SLACK      1e-9  /* of a step: how far rounding may carry a value past a tick */
#define FINEST     (-6)  /* below this exponent labels have one of their own */
#define SCIENTIFIC 1e12  /* and from this value on */
#define MILLIONS   1e6   /* from here on labels count millions */
#define THOUSANDS  1e5   /* from here on thousands */

static double times_power_of_ten(double value, int32_t exponent)
{
    double power = 1;

    for (int32_t i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
    return exponent < 0 ? value / power : value * power;
}

/* Nothing to see between 'low' and 'high': show what is around them. */
static void widen_flat(double *low, double *high)
{
    const double size = fmax(fabs(*low), fabs(*high));

    if (size < SMALLEST) {
        *low = 0;
        *high = 1;
    } else if (*high - *low < size * FLAT) {
        *low -= size / 10;
        *high += size / 10;
    }
}

/* Put the ticks of a step of 'unit' * 10^'exponent' on 'axis'; false if they are more than 'most'. */
static bool try_step(struct chart_axis *axis, uint32_t most, enum chart_axis_ends ends)
{
    const double step = times_power_of_ten((double)axis->unit, axis->exponent);
    const double low = axis->low / step;
    const double high = axis->high / step;
    const double first = ends == CHART_AXIS_ROUND ? floor(low + SLACK) : ceil(low - SLACK);
    const double last = ends == CHART_AXIS_ROUND ? ceil(high - SLACK) : floor(high + SLACK);

    if (last - first + 1 > most)
        return false;
    axis->first = (int64_t)first;
    axis->tick_count = (uint32_t)(last - first + 1);
    return true;
}

struct chart_axis chart_axis_fit(double low, double high, uint32_t most, enum chart_axis_ends ends)
{
    static const struct {
        int64_t unit;
        int32_t exponent;
    } steps[] = { { 1, 0 }, { 2, 0 }, { 25, -1 }, { 5, 0 } };
    struct chart_axis axis = { 0 };
    int32_t exponent = 0;

    assert(low <= high);
    assert(fabs(low) <= CHART_AXIS_VALUE_MAX);
    assert(fabs(high) <= CHART_AXIS_VALUE_MAX);
    assert(most >= 3);

    widen_flat(&low, &high);
    axis.low = low;
    axis.high = high;

    /* The power of ten just above the range, and from two powers below it upwards. */
    while (times_power_of_ten(1, exponent) < high - low)
        exponent++;
    while (times_power_of_ten(1, exponent - 1) >= high - low)
        exponent--;
    for (uint32_t i = 0;; i++) {
        axis.unit = steps[i % 4].unit;
        axis.exponent = exponent - 2 + (int32_t)(i / 4) + steps[i % 4].exponent;
        if (try_step(&axis, most, ends))
            break;
    }
    if (ends == CHART_AXIS_ROUND) {
        axis.low = chart_axis_tick(&axis, 0);
        axis.high = chart_axis_tick(&axis, axis.tick_count - 1);
    }
    return axis;
}

struct chart_axis chart_axis_fit_time(double low, double high, uint32_t most)
{
    static const int64_t second = 1000;
    static const int64_t steps[] = { 1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200 };
    const double day = 86400e3;
    struct chart_axis axis = { .low = low, .high = high, .is_time = true };

    assert(low <= high);
    assert(most >= 3);
    if (high - low < 60e3) {
        axis.low = low - 30e3;
        axis.high = high + 30e3;
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        axis.unit = steps[i] * second;
        if (try_step(&axis, most, CHART_AXIS_SNUG))
            return axis;
    }
    /* The doubling ends: what is on an axis is at most CHART_AXIS_VALUE_MAX, and a time far less. */
    for (int64_t days = 1; days < INT64_MAX / 4 / (int64_t)day; days *= 2) {
        axis.unit = days * (int64_t)day;
        if (try_step(&axis, most, CHART_AXIS_SNUG) && axis.tick_count >= 2)
            return axis;
    }
    return chart_axis_fit(low, high, most, CHART_AXIS_SNUG);
}

double chart_axis_tick(const struct chart_axis *axis, uint32_t index)
{
    return times_power_of_ten((double)((axis->first + index) * axis->unit), axis->exponent);
}

/* 'value' * 10^'exponent' as one digit, a point, the rest and an exponent. */
static struct digits scientific_label(int64_t value, int32_t exponent)
{
    const char *sign = value < 0 ? "-" : "";
    struct digits ret = { 0 };
    char all[24];

    if (value == 0)
        return digits_of_fixed(0, 0, 0, DIGITS_PLAIN);
    value = value < 0 ? -value : value;
    for (; value % 10 == 0; value /= 10)
        exponent++;
    (void)snprintf(all, sizeof(all), "%" PRId64, value);
    exponent += (int32_t)strlen(all) - 1;
    (void)snprintf(ret.text, sizeof(ret.text), "%s%c%s%se%" PRId32, sign, all[0],
                   all[1] != '\0' ? "." : "", all + 1, exponent);
    return ret;
}

static struct digits time_label(const struct chart_axis *axis, uint32_t index)
{
    const time_t at = (time_t)((axis->first + index) * axis->unit / 1000);
    struct digits ret = { 0 };
    struct tm parts;

    if (gmtime_r(&at, &parts) == NULL)
        return ret;

    static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

    if (at % 86400 == 0)
        (void)snprintf(ret.text, sizeof(ret.text), "%s %d", months[parts.tm_mon], parts.tm_mday);
    else if (axis->unit % 60000 == 0)
        (void)snprintf(ret.text, sizeof(ret.text), "%02d:%02d", parts.tm_hour, parts.tm_min);
    else
        (void)snprintf(ret.text, sizeof(ret.text), "%02d:%02d:%02d", parts.tm_hour, parts.tm_min,
                       parts.tm_sec);
    return ret;
}

struct digits chart_axis_label(const struct chart_axis *axis, uint32_t index)
{
    if (axis->is_time)
        return time_label(axis, index);

    const double largest =
        fmax(fabs(chart_axis_tick(axis, 0)), fabs(chart_axis_tick(axis, axis->tick_count - 1)));
    int64_t value = (axis->first + index) * axis->unit;

    if (axis->exponent < FINEST || largest >= SCIENTIFIC)
        return scientific_label(value, axis->exponent);
    for (int32_t i = axis->exponent; i > 0; i--)
        value *= 10;

    const int32_t shift = largest >= MILLIONS ? 6 : largest >= THOUSANDS ? 3 : 0;
    const uint32_t scale = (uint32_t)(axis->exponent < 0 ? shift - axis->exponent : shift);
    const int32_t fraction = axis->exponent < shift ? shift - axis->exponent : 0;
    struct digits ret = digits_of_fixed(value, scale, (uint32_t)fraction, DIGITS_GROUPED);

    /* The text is short and padded with zeros. */
    if (shift > 0 && value != 0)
        ret.text[strlen(ret.text)] = shift == 6 ? 'M' : 'k';
    return ret;
}
