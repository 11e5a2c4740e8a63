/* SPDX-License-Identifier: Apache-2.0 */
/*
 * portfolio_private.h - what the parts of the portfolio share: bands, profiles, and the rule for
 * what to buy.
 *
 * A band is a run of layers that are used in the same hours. With the different counts of the
 * history sorted, band b lies between the (b-1)-th and the b-th, and is used in every hour whose
 * count is the b-th or higher:
 *
 *     machines
 *        9 |      ##            band 2: layers 5..8, used in 2 hours
 *        5 |  ########          band 1: layers 2..4, used in 8 hours
 *        2 |################    band 0: layers 0..1, used in 16 hours
 *          +----------------- hours
 */
#ifndef STINT_DECIDE_PORTFOLIO_PRIVATE_H
#define STINT_DECIDE_PORTFOLIO_PRIVATE_H

#include "decide/portfolio.h"

/* The input as decisions see it: upfront payments carry their interest, and so there is none left to
 * count. It points into itself: not to be copied. */
struct portfolio_carried {
    struct portfolio_input input;
    struct commitment classes[PORTFOLIO_CLASSES_MAX];
};

struct portfolio_bands {
    uint32_t count;
    uint32_t *top;  /* the layer above each band: the counts of the history, sorted, without 0 */
    uint32_t *rank; /* per hour: how many bands are used */
};

/* How often each band is used in some window of time. */
struct portfolio_profile {
    uint32_t count;
    uint32_t hours;       /* of the window */
    const uint32_t *top;  /* may be equal for neighbours: such a band has no layer */
    const uint32_t *used; /* hours in which each band is, never rising */
};

/* What is in stock, per class. */
struct portfolio_stock {
    uint64_t of_class[PORTFOLIO_CLASSES_MAX];
};

/* What the past says about the future: how its bands were used, and the forecast of its level. */
struct portfolio_past {
    const struct portfolio_input *input;
    struct portfolio_bands bands;
    struct demand demand;
    uint32_t hours;    /* that were learned */
    uint32_t *at_rank; /* of them, those of each rank */
    uint32_t *used;
    uint32_t *tops[PORTFOLIO_CLASSES_MAX]; /* of the profiles that were asked for last */
};

/* The classes of 'input', which is sound, with interest. */
void portfolio_carry(const struct portfolio_input *input, struct portfolio_carried *ret);

uint32_t portfolio_interval(const struct portfolio_input *input);

void portfolio_bands_find(const struct portfolio_input *input, struct arena *arena,
                          struct portfolio_bands *ret);

/* From hours per rank (one more than bands) to hours per band. */
void portfolio_used_hours(const uint32_t *at_rank, uint32_t bands, uint32_t *ret);

/* 'tops' scaled by 'scale', rounded to the nearest. */
void portfolio_scale_tops(const uint32_t *tops, uint32_t count, double scale, uint32_t *ret);

/*
 * For each layer the class that makes its used hours cheapest, and how many layers each class gets.
 * Each class looks at the layers over its own term, so there is a profile per class; they may
 * differ in everything. That of on demand is not looked at.
 */
void portfolio_desire(const struct portfolio_input *input, const struct portfolio_profile *of_class,
                      struct portfolio_stock *ret);

/* As what a commitment of 'class_index' counts, with 'left_hours' of its term to go. */
uint32_t portfolio_counts_as(const struct portfolio_input *input, uint32_t class_index,
                             uint32_t left_hours);

/* What to buy, of each class: as many as are missing in all, of the classes that miss most. */
void portfolio_restock(const struct portfolio_input *input, const struct portfolio_stock *desired,
                       const struct portfolio_stock *stock, struct portfolio_stock *ret);

/* The classes but on demand in the order in which an hour uses them up; returns how many. */
uint32_t portfolio_run_order(const struct portfolio_input *input,
                             uint32_t ret[static PORTFOLIO_CLASSES_MAX]);

void portfolio_past_init(struct portfolio_past *past, const struct portfolio_input *input,
                         const struct demand_options *options, struct arena *arena);

/* One more interval: the hours [from, to), of which there is at least one. */
void portfolio_past_learn(struct portfolio_past *past, uint32_t from, uint32_t to);

/* The level that is expected for the next 'hours', as a multiple of what was seen. */
double portfolio_past_scale(const struct portfolio_past *past, uint32_t hours);

/* The past as a foresight, one profile per class: stretched to what is expected over its term,
 * times 'factor'. Valid until it is asked again. */
void portfolio_past_profiles(struct portfolio_past *past, double factor,
                             struct portfolio_profile *ret);

/* The least that 'layers' layers cost together for 'hours', of which each uses 'used'; rounded
 * down. */
money_t portfolio_least_cost(const struct portfolio_input *input, uint32_t hours, uint32_t used,
                             uint32_t layers);

#endif
