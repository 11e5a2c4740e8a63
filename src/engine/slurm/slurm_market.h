/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_market.h - in which markets a job of Slurm may run: what its comment says ("stint:market=spot,after=20m"), else what
 * the configuration says for its partition or account, and its --deadline.
 *
 * Promises:  any comment may be given. One that begins with "stint:" and is not understood is no rule but a reason not to
 *            place the job: a slip of the pen must not cost what was to be saved.
 */
#ifndef STINT_ENGINE_SLURM_MARKET_H
#define STINT_ENGINE_SLURM_MARKET_H

#include <stdbool.h>
#include <stdint.h>

#include "model/burst_rule.h"
#include "trace/market_words.h"
#include "trace/settings.h"

/* What the configuration says for some jobs; NULL: whatever their partition or account. */
struct slurm_market {
    const char *partition;
    const char *account;
    struct market_words words;
};

struct slurm_markets {
    struct slurm_market *row; /* the first that holds counts */
    uint32_t count;
};

/* What holds for one job. */
struct slurm_market_rules {
    struct market_words words;
    msec_t deadline; /* Slurm's; 0: none */
    uint32_t
        caps; /* the set of limits of its account and the like; 0: none. Not of markets, but another set makes
                        another job of it as another market does */
    struct burst_rule burst; /* see slurm_burst.h */
};

struct slurm_job_line;

/* The key 'markets' of the map, if it is there. */
int slurm_markets_read(const struct settings *in, const struct doc_node *map,
                       struct slurm_markets *ret);
bool slurm_markets_same(const struct slurm_markets *a, const struct slurm_markets *b);

/* A copy in the arena. */
struct slurm_markets slurm_markets_copy(const struct slurm_markets *from, struct arena *arena);

/* What holds for the job of the line; false: its comment is not understood. 'move_word' is the other one that comments
 * have. */
bool slurm_market_of(const struct slurm_markets *markets, const struct slurm_job_line *line,
                     const char *move_word, struct slurm_market_rules *ret);

/* Whether they are the same. */
bool slurm_market_same(const struct slurm_market_rules *a, const struct slurm_market_rules *b);

/* The same as rules of a job that can run since 'eligible'. */
struct job_rules slurm_market_rules(const struct slurm_market_rules *rules, msec_t eligible);

#endif
