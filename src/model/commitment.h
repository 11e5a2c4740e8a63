/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commitment.h - the ways in which one kind of machine can be paid for, as data.
 *
 * On demand is one of them, the one without a term. All others ask for a promise over a term and
 * give a lower price:
 *
 *     what                                   upfront   per used hour   per hour
 *     reserved, all upfront                     F            0             0
 *     reserved, partial or no upfront        F or 0          0             A
 *     reserved "light" and "medium" use         F            P             0
 *     reserved "heavy" use (paid every hour)    F            0             A
 *     savings plan of one dollar per hour    0 or F          0          1 or less
 *     committed use                             0            0             A
 *
 * A savings plan is counted in dollars per hour of its own discounted prices, the others in
 * instances; commitment_per_instance makes the first into the second.
 *
 * Words:     the fixed rate is what an hour of the term costs whether used or not, with the upfront
 *            payment spread over the term. The level is the share of its hours for which a
 *            commitment must be used to be worth its fixed rate.
 * Promises:  pure. Money is whole micro-dollars; rates and levels are scores, and so are doubles.
 */
#ifndef STINT_MODEL_COMMITMENT_H
#define STINT_MODEL_COMMITMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum { COMMITMENT_CLASSES_MAX = 32 }; /* ways to pay for one machine, on demand among them */

enum commitment_unit {
    COMMITMENT_INSTANCE, /* one is one machine */
    COMMITMENT_DOLLAR,   /* one is a dollar per hour, at prices that are lower by 'discount_ppm' */
};

struct commitment {
    const char *name;      /* borrowed */
    uint32_t term_hours;   /* 0: on demand, nothing is promised */
    money_t upfront;       /* per unit, once */
    money_t per_used_hour; /* per unit and hour in which it is used */
    money_t per_hour;      /* per unit and hour of the term, used or not */
    uint32_t discount_ppm; /* of COMMITMENT_DOLLAR: off the on-demand price; below 1,000,000 */
    enum commitment_unit unit;
};

/*
 * The same commitment for a machine that costs 'to' per hour on demand instead of 'from', which is
 * above 0: a machine of twice the price is promised at twice the price. What is counted in dollars
 * stays as it is. An amount that is too large to count becomes INT64_MAX.
 */
struct commitment commitment_scaled(const struct commitment *commitment, money_t from, money_t to);

/* The same commitment for one machine that costs 'on_demand' per hour. */
struct commitment commitment_per_instance(const struct commitment *commitment, money_t on_demand);

/*
 * The same commitment with the upfront payment as the hours of its term bear it: with the interest
 * of this yearly rate (model/interest.h). What such a commitment costs by the hour can be compared
 * with on demand and with any other one, also of another term. An amount that is too large to count
 * becomes INT64_MAX.
 */
struct commitment commitment_carried(const struct commitment *commitment, uint32_t interest_ppm);

/* What an hour of the term costs whether used or not, in micro-dollars. */
double commitment_fixed_rate(const struct commitment *commitment);

/*
 * From which share of used hours on 'index' is the cheapest of 'classes', among those that promise
 * less: they have a lower fixed rate and no longer term. On demand is classes[0], and all are per
 * instance. Above 1: never.
 */
double commitment_level(const struct commitment *classes, uint32_t count, uint32_t index);

/* The same against on demand alone: below it, not to have bought would have been cheaper. */
double commitment_break_even(const struct commitment *commitment, money_t on_demand);

#endif
