/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_answer.h - what `stint pool` found: a pool, what it is worth, what it survives.
 */
#ifndef STINT_CLI_POOL_ANSWER_H
#define STINT_CLI_POOL_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/pool_input.h"
#include "decide/avail.h"
#include "decide/promise.h"

enum pool_rule {
    POOL_BEST, /* the cheapest that can be found */
    POOL_GREEDY,
    POOL_K_OF_N,
    POOL_FLEET_CHEAPEST,
    POOL_FLEET_DIVERSE,
    POOL_AVAILABILITY_ONLY,
    POOL_RULES,
};

/* Their words, in the same order. */
extern const char *const pool_rule_words[POOL_RULES];

struct pool_question {
    const struct pool_settings *settings;
    const struct pool_input *input;
    int64_t capacity;
    double short_most;
    enum pool_rule rule;
    bool survives_types;
};

struct pool_answer {
    const struct pool_question *question;
    struct promise promise;
    struct promise_pool pool;
    bool is_worth_it;    /* it holds, and costs less than on demand, as far as that is known */
    money_t bound;       /* no pool of these offers costs less; 0: not known */
    bool is_proven;      /* the pool costs no more than 0.5 % above the bound */
    money_t on_demand;   /* 0: not known */
    double short_least;  /* of any pool, however large */
    struct avail levels; /* of the pool, up to its whole capacity, if losses are independent */
    bool has_repair;     /* a repairing pool was tried on the history: */
    struct pool_outcome repair;
};

/* 'ret' lives as long as the arena. Returns 0, or a negative errno if the solver failed. */
int pool_answer(const struct pool_question *question, struct arena *arena, struct pool_answer *ret,
                struct error *reterr);

/* The share of the time in which the pool is short, by the worst count. */
double pool_answer_short(const struct pool_answer *answer);

/* What is left when everything is lost that has the type, or the zone, of an offer. */
int64_t pool_answer_left(const struct pool_answer *answer, uint32_t offer, bool by_zone);

#endif
