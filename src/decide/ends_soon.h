/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends_soon.h - when work ends of whose runtime hardly more is known than a time limit (job_spec.unknown).
 *
 * If such jobs ran up to their limits, none would free its room for hours; yet of many some end soon. Each ends with
 * the rate that the life table has for its age (learn/life_table.h). So the first of all that run ends after one divided by the
 * sum of their rates, and so on. Which one that will be is not known: it is taken to be the one with the highest rate,
 * of equal ones the first that arrived. What waits for its machine to boot ends so much later.
 *
 * Work that waits is taken to run for as long as half of such work does: where a minute is charged at the least, it matters
 * whether it will be seconds or more, and not whether the limit is ten minutes or a day. That it may run on is what
 * overrun.h is for; what a spot machine's loss may undo is still the whole of it.
 *
 * All that is a matter of many: where fewer than sixteen jobs of unknown runtime are there, none is expected to end before its limit, and
 * nobody waits for that.
 *
 * Promises:  pure; nothing is said of work whose runtime is known.
 * Costs:     O(t log t) for the t tasks on the latest 1,024 machines; nothing where the runtime of all work is known.
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_ENDS_SOON_H
#define STINT_DECIDE_ENDS_SOON_H

#include "base/arena.h"
#include "decide/batches.h"
#include "learn/life_table.h"
#include "model/view.h"

struct expected_end {
    msec_t at; /* from now */
    uint32_t task;
};

struct expected_ends {
    struct expected_end *rows;
    uint32_t count;
};

/* What the table says, with the runs that have not ended. */
struct life_odds ends_odds(const struct view *view, const struct life_table *lives);

/* The batches of unknown runtime have that of half of such work. */
void ends_expect(const struct life_odds *odds, struct batches *batches);

/* The ends of work of unknown runtime within the horizon from its start, but for tasks that end in time by their estimates too. */
struct expected_ends ends_soon(const struct view *view, const struct life_odds *odds,
                               msec_t horizon, struct arena *arena);

#endif
