/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_markets.h - the part of a scenario that says in which markets jobs may run which say nothing themselves:
 * 'markets'. docs/reference/files/scenario.md has every key.
 */
#ifndef STINT_SIM_SCENARIO_MARKETS_H
#define STINT_SIM_SCENARIO_MARKETS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "trace/doc.h"
#include "trace/market_words.h"
#include "trace/trace.h"

/* For jobs of this user and this workload; NULL: of any. */
struct scenario_market {
    const char *user;
    const char *workload;
    struct market_words words;
};

struct scenario_markets {
    struct scenario_market *row; /* the first that is for a job counts */
    uint32_t count;
};

/* 'root' is the scenario; without the key there are none. */
int scenario_markets_read(const struct doc_node *root, struct arena *arena,
                          struct scenario_markets *ret, struct error *reterr);

/* Give them to the jobs of the trace that have no rules of their own. O(jobs x entries). */
void scenario_markets_apply(const struct scenario_markets *markets, struct trace *trace);

#endif
