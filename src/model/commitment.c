/* SPDX-License-Identifier: Apache-2.0 */
#include "model/commitment.h"

#include <assert.h>
#include <math.h>

#include "model/interest.h"

#define PPM ((int64_t)1000000)

static money_t scaled_money(money_t value, money_t from, money_t to)
{
    __extension__ typedef __int128 wide_t;
    const wide_t wide = (wide_t)value * to / from;

    assert(value >= 0);
    assert(to >= 0);
    assert(from > 0);
    return wide < INT64_MAX ? (money_t)wide : INT64_MAX;
}

struct commitment commitment_scaled(const struct commitment *commitment, money_t from, money_t to)
{
    struct commitment scaled = *commitment;

    if (commitment->unit == COMMITMENT_DOLLAR)
        return scaled;
    scaled.upfront = scaled_money(commitment->upfront, from, to);
    scaled.per_used_hour = scaled_money(commitment->per_used_hour, from, to);
    scaled.per_hour = scaled_money(commitment->per_hour, from, to);
    return scaled;
}

struct commitment commitment_per_instance(const struct commitment *commitment, money_t on_demand)
{
    struct commitment each = *commitment;

    if (commitment->unit == COMMITMENT_INSTANCE)
        return each;

    assert(commitment->discount_ppm < PPM);

    /* So many dollars per hour pay for one machine at the plan's prices. */
    const money_t share = mul_div(on_demand, PPM - commitment->discount_ppm, PPM);

    each.unit = COMMITMENT_INSTANCE;
    each.upfront = mul_div(commitment->upfront, share, MONEY_PER_USD);
    each.per_used_hour = mul_div(commitment->per_used_hour, share, MONEY_PER_USD);
    each.per_hour = mul_div(commitment->per_hour, share, MONEY_PER_USD);
    return each;
}

struct commitment commitment_carried(const struct commitment *commitment, uint32_t interest_ppm)
{
    struct commitment carried = *commitment;

    if (commitment->term_hours > 0)
        carried.upfront =
            interest_carried(interest_ppm, commitment->upfront, commitment->term_hours);
    return carried;
}

double commitment_fixed_rate(const struct commitment *commitment)
{
    if (commitment->term_hours == 0)
        return 0;
    return (double)commitment->upfront / commitment->term_hours + (double)commitment->per_hour;
}

/* Where the dearer fixed rate has made up for itself by its lower price per used hour. */
static double crossing(double fixed, double used_price, double other_fixed, double other_used_price)
{
    if (used_price >= other_used_price)
        return fixed > other_fixed ? HUGE_VAL : 0;
    return fmax(0, (fixed - other_fixed) / (other_used_price - used_price));
}

double commitment_level(const struct commitment *classes, uint32_t count, uint32_t index)
{
    assert(index < count);

    const struct commitment *own = &classes[index];
    const double fixed = commitment_fixed_rate(own);
    double level = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct commitment *other = &classes[i];
        const double other_fixed = commitment_fixed_rate(other);

        if (i == index || other->term_hours > own->term_hours || other_fixed > fixed)
            continue;
        level = fmax(level, crossing(fixed, (double)own->per_used_hour, other_fixed,
                                     (double)other->per_used_hour));
    }
    return level;
}

double commitment_break_even(const struct commitment *commitment, money_t on_demand)
{
    return crossing(commitment_fixed_rate(commitment), (double)commitment->per_used_hour, 0,
                    (double)on_demand);
}
