/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - from a 64-bit key to a 32-bit value.
 *
 * Open addressing with linear probing; a deleted slot is closed by shifting what follows, so there
 * are no tombstones and look-ups do not decay. Eight keys that follow each other belong next to each
 * other: ids are given out in order and looked up soon after, and share what was fetched for the first.
 *
 * Promises:  any key is allowed. There is no iteration: slot order would be an accident.
 * Costs:     expected O(1), also for keys that are all multiples of eight; 12 bytes a slot, at most three quarters full.
 */
#ifndef STINT_BASE_MAP_H
#define STINT_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX /* never a value */

struct map {
    uint64_t *keys;
    uint32_t *values; /* MAP_NONE: the slot is free */
    uint32_t size;    /* slots, a power of two, or 0 */
    uint32_t count;
};

void map_init(struct map *map);
void map_done(struct map *map);

/* 'to' is not initialised. */
void map_copy(struct map *to, const struct map *from);

/* The value of 'key', or MAP_NONE. */
uint32_t map_get(const struct map *map, uint64_t key);

/* Set or replace; 'value' is not MAP_NONE. */
void map_put(struct map *map, uint64_t key, uint32_t value);

/* Whether there was such a key. */
bool map_remove(struct map *map, uint64_t key);

/* The slot of 'key' is needed soon: have it fetched. */
void map_expect(const struct map *map, uint64_t key);

/* A well-mixed 64-bit hash of 'key' (the finaliser of splitmix64). */
static inline uint64_t map_mix(uint64_t key)
{
    key += 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
    return key ^ (key >> 31);
}

#endif
