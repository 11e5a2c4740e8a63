/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/life_table.h"

#include <assert.h>

uint32_t life_octave(msec_t age_ms)
{
    uint32_t octave = 0;

    for (msec_t seconds = age_ms / MSEC_PER_SEC; seconds > 1 && octave < LIFE_AGES - 1;
         seconds /= 2)
        octave++;
    return octave;
}

/* When the octave begins and how long it is. */
static msec_t begin_of(uint32_t octave)
{
    assert(octave <= LIFE_AGES);
    return octave > 0 ? ((msec_t)1 << octave) * MSEC_PER_SEC : 0;
}

static msec_t length_of(uint32_t octave)
{
    return begin_of(octave + 1) - begin_of(octave);
}

void life_table_learn(struct life_table *table, msec_t runtime_ms)
{
    const uint32_t last = life_octave(runtime_ms);

    assert(runtime_ms >= 0);
    for (uint32_t octave = 0; octave <= last; octave++)
        table->reached[octave]++;
    table->ended[last]++;
    if (table->reached[0] <= LIFE_SEEN_MOST)
        return;
    for (uint32_t octave = 0; octave < LIFE_AGES; octave++) {
        table->reached[octave] /= 2;
        table->ended[octave] /= 2;
    }
}

struct life_odds life_odds_of(const struct life_table *table, const struct life_running *running)
{
    struct life_odds odds = {
        .typical = table->typical_ms > 0 ? life_octave(table->typical_ms) + 1 : LIFE_AGES,
    };
    double beyond = 0;

    for (uint32_t octave = LIFE_AGES; octave-- > 0;) {
        odds.ended[octave] = table->ended[octave];
        odds.reached[octave] = table->reached[octave] + beyond + running->in[octave] / 2.0;
        beyond += running->in[octave];
    }
    return odds;
}

/* The same of the prior: that a run which has reached the octave ends in it. */
static double prior_chance(uint32_t typical, uint32_t octave, msec_t limit_ms)
{
    const uint32_t octaves = life_octave(limit_ms) + 1;

    if (octave + 1 >= octaves)
        return 1.0;
    if (octave >= typical || 2 * typical >= octaves)
        return 1.0 / (octaves - octave);
    return 1.0 / (2 * typical - octave); /* half of them in that many octaves */
}

double life_chance(const struct life_odds *odds, uint32_t octave, msec_t limit_ms)
{
    const double prior = prior_chance(odds->typical, octave, limit_ms);

    return (odds->ended[octave] + LIFE_PRIOR_RUNS * prior) /
           (odds->reached[octave] + LIFE_PRIOR_RUNS);
}

double life_rate(const struct life_odds *odds, msec_t age_ms, msec_t limit_ms)
{
    const uint32_t octave = life_octave(age_ms);
    const double chance = life_chance(odds, octave, limit_ms);

    return chance / ((1.0 - chance / 2) * (double)length_of(octave));
}

msec_t life_median(const struct life_odds *odds, msec_t limit_ms)
{
    static const double half = 0.5;

    double alive = 1.0;

    for (uint32_t octave = 0; octave < LIFE_AGES; octave++) {
        const double chance = life_chance(odds, octave, limit_ms);
        const double ending = alive * chance;

        if (alive - ending <= half)
            return begin_of(octave) + (msec_t)((alive - half) / ending * (double)length_of(octave));
        alive -= ending;
    }
    return limit_ms;
}
