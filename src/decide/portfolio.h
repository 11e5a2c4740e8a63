/* SPDX-License-Identifier: Apache-2.0 */
/*
 * portfolio.h - what to commit to: how many machines to reserve, of which class, when.
 *
 * Reserving is cheaper than renting on demand for a machine that is used often enough. Which
 * machine that is does not matter, as the bill does not tell them apart; so demand is cut into
 * layers. Layer j is used in the hours in which more than j machines are: the lowest layer always,
 * the highest in the one busiest hour. For each layer the share of its hours that are used says
 * what pays for it.
 *
 * After semi-elastic clusters (TPDS'16, section 5), by four questions to a history of demand:
 *
 *     portfolio_bound    less than this, nobody could have paid
 *     portfolio_greedy   what to buy when, for who knows the future
 *     portfolio_online   what to buy when, for who knows only the past
 *     portfolio_advise   what to buy now, what it saves, and what it costs if demand falls
 *
 * and portfolio_cost tells what any plan costs on any history, as clouds bill it: in every hour,
 * the commitment that is cheapest to run is used first, and what is left over runs on demand.
 *
 * Words:      an interval is the time between two purchases, a week; a plan is a list of purchases.
 *             The total is all that is paid within the history. The pure cost counts of each
 *             upfront payment only the part of its term that lies within: the rest is still worth
 *             something.
 *
 * Money that is paid upfront could have earned interest. At a rate above 0, all decisions and all
 * pure costs count an upfront payment as the hours of its term bear it, with that interest
 * (model/interest.h): of two offers for one term, the cheaper one is then the one whose payments
 * are worth less today. Use is taken to be even over a term. What is paid, 'upfront', 'hourly' and
 * 'total', has no interest in it.
 *
 * Promises:   pure and deterministic; ties go to the lower class. As pure costs, bound <= greedy <=
 *             no commitments at all, and the bound is not above any other plan that buys at starts
 *             of intervals. portfolio_online decides from hours before the purchase only; it may
 *             lose.
 * Bounds:     O(hours log hours + intervals x bands x classes), where bands are the different
 *             counts of machines that occur; layers between two of them are alike, so the number of
 *             machines does not matter.
 * Memory:     plans live in the caller's arena, and so does what is needed on the way.
 * Elsewhere:  the classes are described in model/commitment.h, the forecast in learn/demand.h.
 */
#ifndef STINT_DECIDE_PORTFOLIO_H
#define STINT_DECIDE_PORTFOLIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/units.h"
#include "learn/demand.h"
#include "model/commitment.h"

enum {
    PORTFOLIO_CLASSES_MAX = COMMITMENT_CLASSES_MAX,
    PORTFOLIO_HOURS_MAX = 1 << 19, /* 59 years */
    PORTFOLIO_WEEK_HOURS = 168,
};

/* The history, and what can be bought. */
struct portfolio_input {
    const uint32_t *usage; /* machines in use, one number per hour */
    uint32_t hours;
    const struct commitment
        *classes; /* per instance; the first is on demand, all others have a term */
    uint32_t class_count;
    uint32_t interval_hours; /* between two purchases; 0: a week */
    uint32_t interest_ppm;   /* a year, at most INTEREST_MAX_PPM; 0: money has no price */
};

struct portfolio_purchase {
    uint32_t hour;
    uint32_t class_index;
    uint32_t count;
};

struct portfolio_plan {
    struct portfolio_purchase *purchases; /* by hour, then by class */
    uint32_t count;
};

/* What one class did. On demand has hours and an hourly cost only. */
struct portfolio_line {
    uint64_t bought;
    uint64_t used_hours;    /* machine-hours that it paid for */
    uint64_t idle_hours;    /* machine-hours within the history that were promised and not used */
    money_t upfront;        /* paid */
    money_t upfront_inside; /* of it, for hours within the history, with interest; rounded up */
    money_t hourly;         /* paid per hour, used or not */
    money_t idle;           /* what the idle hours cost, with their share of 'upfront_inside' */
    money_t owed;           /* per-hour payments that are still due after the history */
};

struct portfolio_bill {
    struct portfolio_line of_class[PORTFOLIO_CLASSES_MAX];
    money_t total;
    money_t pure;
};

/* How demand is foreseen by who knows only the past. */
struct portfolio_outlook {
    struct demand_options demand;
    uint32_t intervals_least; /* so many must have been seen before anything is bought */
};

#define PORTFOLIO_OUTLOOK_DEFAULTS \
    ((struct portfolio_outlook){ .demand = DEMAND_DEFAULTS, .intervals_least = 1 })

/* Something that was bought before and still runs. */
struct portfolio_holding {
    uint32_t class_index;
    uint32_t count;
    uint32_t left_hours; /* above 0 and at most the term */
};

struct portfolio_question {
    struct portfolio_input input; /* the history ends now */
    struct portfolio_outlook outlook;
    const struct portfolio_holding *held;
    uint32_t held_count;
    uint32_t fall_ppm; /* the fall of demand that is asked about, in millionths */
};

/*
 * One class of the advice. What is bought and held of it lies on 'layer' and those above. It pays
 * back in the month of its term, from 1 on, by whose end it has saved more than was paid upfront,
 * with each month's saving as it is worth today.
 */
struct portfolio_advice_line {
    uint32_t buy;
    uint32_t held;
    uint32_t layer;
    double busy_seen;       /* share of hours in which its layers were used; 0 if it has none */
    double busy;            /* the same as it is expected */
    double busy_fallen;     /* and if demand falls */
    uint32_t payback_month; /* see above; 0: never within the term, or none is bought */
};

/* What an hour costs, on average, with upfront payments and their interest spread over the terms. */
struct portfolio_rates {
    money_t on_demand; /* with no commitment at all */
    money_t without;   /* with what is held and nothing else */
    money_t with;      /* with the advice */
    money_t best;      /* with what the same rules would have bought for this demand */
    money_t least;     /* if every layer had the class that suits it, whatever is held */
};

struct portfolio_advice {
    struct portfolio_advice_line of_class[PORTFOLIO_CLASSES_MAX];
    money_t upfront;        /* to be paid now */
    uint32_t horizon_hours; /* the longest term of what is bought, or of what could be */
    double seen_mean;       /* machines in use, over the history */
    double expected_mean;   /* and over the horizon */
    struct portfolio_rates expected;
    struct portfolio_rates fallen;
    uint32_t break_even_ppm; /* the fall from which on it would have been cheaper not to buy */
};

/* Whether no sum of the history and the classes can overflow, and the classes are as they should
 * be: on demand first, then terms, no price below zero, none per used hour above on demand. */
bool portfolio_is_sound(const struct portfolio_input *input);

/* All of these want sound input. 'arena' is for scratch memory and results. */

/* What the plan costs on the history. Purchases at or after its end cost nothing. */
void portfolio_cost(const struct portfolio_input *input, const struct portfolio_plan *plan,
                    struct portfolio_bill *ret);

/* What no plan that buys at starts of intervals goes below, as a pure cost. */
money_t portfolio_bound(const struct portfolio_input *input, struct arena *arena);

/* Buy with the future known. */
void portfolio_greedy(const struct portfolio_input *input, struct arena *arena,
                      struct portfolio_plan *ret);

/* Buy with the future foreseen. */
void portfolio_online(const struct portfolio_input *input, const struct portfolio_outlook *outlook,
                      struct arena *arena, struct portfolio_plan *ret);

/* What to buy now, for the time after the history, which has at least one hour. */
void portfolio_advise(const struct portfolio_question *question, struct arena *arena,
                      struct portfolio_advice *ret);

#endif
