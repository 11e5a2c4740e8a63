/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/pairs.h"

#include <assert.h>
#include <math.h>

#include "base/mem.h"

/* Of logarithms: how far a pair may be from what is assumed of it, how noisy a report is, what counts as news. */
static const double unseen_variance = 0.04;
static const double report_variance = 0.0025;
static const double least_variance = 0.0025 / 50;
static const double news = 0.01;

void pairs_init(struct pairs *pairs, double unseen)
{
    *pairs = (struct pairs){ .unseen = unseen };
    map_init(&pairs->by_key);
}

void pairs_done(struct pairs *pairs)
{
    map_done(&pairs->by_key);
    mem_free(pairs->entries);
    pairs->entries = NULL;
}

static uint64_t key_of(uint32_t workload, uint32_t other)
{
    return (uint64_t)workload << 32 | other;
}

static double within(double rate)
{
    return rate < PAIRS_LEAST ? PAIRS_LEAST : rate > 1 ? 1 : rate;
}

static double unseen_rate(const struct pairs *pairs)
{
    return pairs->version > 0 ? within(pairs->unseen) : 1;
}

double pairs_rate(const struct pairs *pairs, uint32_t workload, uint32_t other)
{
    const uint32_t index = map_get(&pairs->by_key, key_of(workload, other));

    return index != MAP_NONE ? pairs->entries[index].rate : unseen_rate(pairs);
}

double pairs_expected(const struct pairs *pairs, uint32_t workload, const uint32_t *others,
                      uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = map_get(&pairs->by_key, key_of(workload, others[i]));

        sum += index != MAP_NONE ? pairs->entries[index].mean : log(within(pairs->unseen));
    }
    return exp(sum);
}

/* The pair, new if it was never seen; MAP_NONE: there are too many. */
static uint32_t find(struct pairs *pairs, uint32_t workload, uint32_t other)
{
    const uint64_t key = key_of(workload, other);
    uint32_t index = map_get(&pairs->by_key, key);

    if (index != MAP_NONE || pairs->count == PAIRS_MAX)
        return index;
    index = pairs->count++;
    MEM_ROOM(pairs->entries, pairs->room, pairs->count);

    const double mean = log(within(pairs->unseen));

    pairs->entries[index] = (struct pair_entry){
        .mean = mean, .variance = unseen_variance, .known_mean = mean, .rate = within(pairs->unseen)
    };
    map_put(&pairs->by_key, key, index);
    pairs->version++;
    return index;
}

/* A pair of the report, and how often it is in it. */
struct part {
    uint32_t entry;
    double times;
};

static uint32_t gather(struct pairs *pairs, uint32_t workload, const uint32_t *others,
                       uint32_t count, struct part *parts)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t entry = find(pairs, workload, others[i]);
        uint32_t at = 0;

        if (entry == MAP_NONE)
            return 0;
        while (at < found && parts[at].entry != entry)
            at++;
        if (at == found)
            parts[found++] = (struct part){ .entry = entry };
        parts[at].times += 1;
    }
    return found;
}

static void correct(struct pairs *pairs, struct pair_entry *entry, double by, double times_gain)
{
    const double least = log(PAIRS_LEAST);

    entry->mean += by;
    entry->mean = entry->mean < least ? least : entry->mean > 0 ? 0 : entry->mean;
    entry->variance *= 1 - times_gain;
    if (entry->variance < least_variance)
        entry->variance = least_variance;
    if (fabs(entry->mean - entry->known_mean) <= news)
        return;
    entry->known_mean = entry->mean;
    entry->rate = within(exp(entry->mean));
    pairs->version++;
}

void pairs_observe(struct pairs *pairs, uint32_t workload, const uint32_t *others, uint32_t count,
                   double rate)
{
    struct part parts[PAIRS_GROUP_MAX];

    assert(count > 0);
    if (count > PAIRS_GROUP_MAX)
        return;

    const uint32_t found = gather(pairs, workload, others, count, parts);
    double error = log(rate < PAIRS_LEAST ? PAIRS_LEAST : rate);
    double variance = report_variance;

    for (uint32_t i = 0; i < found; i++) {
        const struct pair_entry *entry = &pairs->entries[parts[i].entry];

        error -= parts[i].times * entry->mean;
        variance += parts[i].times * parts[i].times * entry->variance;
    }
    for (uint32_t i = 0; i < found; i++) {
        struct pair_entry *entry = &pairs->entries[parts[i].entry];
        const double gain = parts[i].times * entry->variance / variance;

        correct(pairs, entry, gain * error, gain * parts[i].times);
    }
}
