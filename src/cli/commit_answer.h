/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit_answer.h - everything that `stint commit` has to say about one column of a history.
 *
 * Memory:  plain data; names are borrowed from the history and the classes.
 */
#ifndef STINT_CLI_COMMIT_ANSWER_H
#define STINT_CLI_COMMIT_ANSWER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "decide/portfolio.h"
#include "model/interest.h"
#include "trace/commitments_file.h"
#include "trace/usage_csv.h"

enum { COMMIT_HELD_MAX = 64 };

#define COMMIT_MONTH_HOURS INTEREST_MONTH_HOURS

/* The request. */
struct commit_question {
    const struct usage *usage;
    const struct commitments *commitments;
    money_t price; /* on demand; 0: as the classes say */
    uint32_t fall_ppm;
    uint32_t interest_ppm; /* a year */
    struct portfolio_holding held[COMMIT_HELD_MAX];
    uint32_t held_count;
};

/* The advice for promises up to this term. */
struct commit_choice {
    uint32_t term_hours;
    uint64_t bought;
    struct portfolio_advice advice;
};

/* The cost of the history itself, with interest. */
struct commit_past {
    money_t on_demand;
    money_t online; /* following the advice, every week */
    money_t greedy; /* with the future known */
    money_t bound;
};

struct commit_answer {
    const struct commit_question *question;
    const char *column;
    const uint32_t *counts;                            /* machines in use, per hour */
    money_t price;                                     /* on demand */
    struct commitment classes[COMMITMENT_CLASSES_MAX]; /* as they are sold */
    struct commitment carried[COMMITMENT_CLASSES_MAX]; /* upfront payments with their interest */
    uint32_t class_count;
    uint32_t peak;
    double mean;
    struct portfolio_advice advice;
    struct commit_choice choices[COMMITMENT_CLASSES_MAX]; /* by term; none if something is held */
    uint32_t choice_count;
    struct commit_past past;
};

/* Answer for a column. Scratch memory is taken from 'arena'. */
int commit_answer(const struct commit_question *question, uint32_t column, struct arena *arena,
                  struct commit_answer *ret, struct error *reterr);

/* The classes in the order in which an hour uses them, on demand last; returns how many. */
uint32_t commit_answer_order(const struct commit_answer *answer,
                             uint32_t ret[static COMMITMENT_CLASSES_MAX]);

/* What a used hour costs in a class, with interest, when it is busy for this share of its hours. */
double commit_answer_used_price(const struct commit_answer *answer, uint32_t class_index,
                                double busy);

/* What is saved per month by what is bought of a class, as it is expected, less interest. */
money_t commit_answer_saving(const struct commit_answer *answer, uint32_t class_index);

/* What buying as advised saves per month against not buying. */
money_t commit_rates_saving(const struct portfolio_rates *rates);

/* What it saves over 'hours', as it is worth today. */
money_t commit_rates_saving_today(const struct portfolio_rates *rates, uint32_t interest_ppm,
                                  uint32_t hours);

/* What it costs per month more than the best that could have been bought for that demand. */
money_t commit_rates_regret(const struct portfolio_rates *rates);

#endif
