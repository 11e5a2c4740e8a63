/* SPDX-License-Identifier: Apache-2.0 */
/*
 * market_words.h - rules for markets as people write them: "market=spot,after=20m,within=6h".
 *
 * Words stand in any order, with commas between them:
 *
 *   market=spot|on-demand|any   where tasks may start; on-demand is any market but spot
 *   after=TIME                  spot machines first, others when so long has passed since the job's arrival
 *   within=TIME                 the job should have ended so long after its arrival
 *
 * Promises:  any text may be given; what is not understood is an error that says what would be.
 * Costs:     O(length).
 */
#ifndef STINT_TRACE_MARKET_WORDS_H
#define STINT_TRACE_MARKET_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/job_rules.h"
#include "trace/doc.h"

/* What was said, before it is known when the job arrives. */
struct market_words {
    enum market_rule market;
    msec_t spot_for_ms; /* 0: not said */
    msec_t within_ms;   /* 0: not said */
};

/* "any", "spot" or "on-demand"; false: it is none of them. */
bool market_rule_read(const char *text, size_t length, enum market_rule *ret);
const char *market_rule_name(enum market_rule rule);

/* All words of the text, of which at least one is there. */
int market_words_read(const char *text, size_t length, struct market_words *ret,
                      struct error *reterr);

/* The keys 'market', 'after' and 'within' of a map that may have others. */
int market_words_of(const struct doc_node *map, struct market_words *ret, struct error *reterr);

/* The rules of a job that arrives then. */
struct job_rules market_words_rules(const struct market_words *words, msec_t arrived_at);

#endif
