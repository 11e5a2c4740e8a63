/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life_table.h - how soon work that runs will end, judged by how long it has run.
 *
 * A job of which nothing is known but its time limit may end at any time before it; of a hundred of them it can be said how
 * many will have ended in a minute. That is what a life table says: of the runs that reached an age, how many ended before
 * twice that age. Runs that have not ended yet count as well, up to the age that they have reached (half of the octave that
 * they are in, as actuaries do), so the table is not misled by short runs, which are the first to end.
 *
 * Ages:      octaves of seconds: below 2 s, below 4 s, and so on.
 * Prior:     as if sixteen runs more had been seen, which end in any octave up to their time limit with the same chance: an hour
 *            of a limit of a day is as common as a minute of one of half an hour. So two runs of seconds make no job short
 *            that asked for hours. If a typical runtime is known that is shorter than this makes it, half of them end by then.
 * Promises:  pure, and the same to the bit; a table of zeros is the prior. Old runs fade.
 * Costs:     O(LIFE_AGES).
 */
#ifndef STINT_LEARN_LIFE_TABLE_H
#define STINT_LEARN_LIFE_TABLE_H

#include <stdint.h>

#include "base/units.h"

enum { LIFE_AGES = 26, LIFE_SEEN_MOST = 1024, LIFE_PRIOR_RUNS = 16 };

struct life_table {
    msec_t typical_ms;           /* as the administrator says; 0: not known */
    uint32_t reached[LIFE_AGES]; /* runs that reached the octave, and have ended */
    uint32_t ended[LIFE_AGES];   /* those of them that ended in it */
};

/* Runs that have not ended, by the octave that they are in. */
struct life_running {
    uint32_t in[LIFE_AGES];
};

/* What both say: for a run of that octave, the table's part of the chance that it ends there. */
struct life_odds {
    uint32_t typical; /* octaves in which half of the runs of the prior end; LIFE_AGES: not known */
    double ended[LIFE_AGES];
    double reached[LIFE_AGES];
};

/* A run has ended. */
void life_table_learn(struct life_table *table, msec_t runtime_ms);

/* The octave of an age; 0 for any age below 2 s. */
uint32_t life_octave(msec_t age_ms);

struct life_odds life_odds_of(const struct life_table *table, const struct life_running *running);

/* The chance that a run with that time limit which has reached the octave ends in it: above 0, at most 1. */
double life_chance(const struct life_odds *odds, uint32_t octave, msec_t limit_ms);

/* How often, per millisecond, runs of that age end, if they have that time limit. */
double life_rate(const struct life_odds *odds, msec_t age_ms, msec_t limit_ms);

/* By then half of the runs with that time limit have ended. */
msec_t life_median(const struct life_odds *odds, msec_t limit_ms);

#endif
