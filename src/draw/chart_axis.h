/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart_axis.h - the range of an axis and where its ticks stand.
 *
 * Ticks stand at multiples of 1, 2, 2.5 or 5 times a power of ten. A tick is kept as a whole number
 * and an exponent, so that 3 * 0.1 is labelled 0.3 and not 0.30000000000000004.
 *
 * Promises:  at least two ticks and at most 'most', which is 3 or more; labels of one axis differ and
 *            have the same count of fraction digits. Same range, same ticks, with every compiler.
 * Costs:     O(ticks), no allocation.
 */
#ifndef STINT_DRAW_CHART_AXIS_H
#define STINT_DRAW_CHART_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "draw/digits.h"

#define CHART_AXIS_VALUE_MAX 1e30 /* a larger value cannot be on an axis */

enum chart_axis_ends {
    CHART_AXIS_SNUG,  /* from the first value to the last; ticks lie within */
    CHART_AXIS_ROUND, /* widened so that both ends are ticks */
};

struct chart_axis {
    double low; /* the ends of the axis */
    double high;
    int64_t first; /* tick 'i' stands at (first + i) * unit * 10^exponent */
    int64_t unit;
    int32_t exponent;
    uint32_t tick_count;
    bool is_time; /* values are milliseconds since 1970 */
};

/* The axis for values from 'low' to 'high'; an interval of (nearly) no length is widened. */
struct chart_axis chart_axis_fit(double low, double high, uint32_t most, enum chart_axis_ends ends);

/* The same for times in milliseconds since 1970: ticks stand at whole seconds, minutes, hours or days of
 * UTC, within the ends. An interval of less than a minute is widened. */
struct chart_axis chart_axis_fit_time(double low, double high, uint32_t most);

/* Where tick 'index' stands. */
double chart_axis_tick(const struct chart_axis *axis, uint32_t index);

/* What to write at it: 0.25, 12,500, 250k, 2.5M or 1.5e21; of times 14:05 or, at midnight, Nov 15. */
struct digits chart_axis_label(const struct chart_axis *axis, uint32_t index);

#endif
