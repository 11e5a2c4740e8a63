/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation.h - how fast a shape runs beside others, learned from what was seen.
 *
 * Eva's co-location throughput table (EuroSys'25, sections 4.3 and 4.4): one entry per shape and
 * exact set of neighbours, the mean of what was observed. A set never seen is the product of the
 * pairs in it; a pair never seen is the default rate.
 *
 * A set is known by a 64-bit hash, the sum of its members' tokens, so that adding and removing a
 * neighbour is one addition. Two different sets share a hash once in 2^64: it is not checked.
 *
 * Costs:   look-up of a set that was seen O(1), else O(its members). 32 bytes an entry.
 * Bounds:  at most COLOCATION_ENTRIES_MAX entries; what would be more is not recorded.
 */
#ifndef STINT_LEARN_COLOCATION_H
#define STINT_LEARN_COLOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

enum { COLOCATION_ENTRIES_MAX = 1 << 22 };

struct colocation_entry {
    double sum;
    uint64_t count;
};

struct colocation {
    double default_rate; /* of a pair that was never seen */
    double highest;      /* no rate, recorded or default, is above it */
    struct map by_key;
    struct colocation_entry *entries;
    uint32_t count;
    uint32_t room;
};

void colocation_init(struct colocation *table, double default_rate);
void colocation_done(struct colocation *table);

/* What one task of 'shape' adds to the hash of the set it is in. */
static inline uint64_t colocation_token(uint32_t shape)
{
    return map_mix((uint64_t)shape + 1);
}

/* A task of 'shape' ran at 'rate' (1: full speed) beside the neighbours. */
void colocation_observe(struct colocation *table, uint32_t shape, uint64_t neighbours, double rate);

/* Whether exactly that was seen, and its mean. */
bool colocation_recorded(const struct colocation *table, uint32_t shape, uint64_t neighbours,
                         double *ret_rate);

/* The rate of 'shape' beside one task of 'other'. */
double colocation_pair(const struct colocation *table, uint32_t shape, uint32_t other);

/*
 * Attribution for a gang, whose tasks all run at the pace of the slowest: of several members, which
 * one's entry does the observed rate tell about? Eva's rules: if none was recorded, the one with
 * most neighbours; if all records lie above the observation, the unrecorded one with most
 * neighbours; else the one with the lowest record. Returns its index.
 */
struct colocation_member {
    uint32_t shape;
    uint32_t neighbour_count;
    uint64_t neighbours;
};

uint32_t colocation_straggler(const struct colocation *table,
                              const struct colocation_member *members, uint32_t count, double rate);

#endif
