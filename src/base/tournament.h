/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tournament.h - which of many numbered things is the best, as they change one at a time.
 *
 * A tree of matches: each node has the winner of the two below it. When a thing changes, only the
 * matches on its way to the top are played again.
 *
 * Promises:  among equals the lowest number wins, so the answer is that of a search from 0 on.
 * Costs:     O(log n) to enter or drop, O(1) for the best; 8 bytes a number, up to the highest.
 * Memory:    the arena's.
 */
#ifndef STINT_BASE_TOURNAMENT_H
#define STINT_BASE_TOURNAMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define TOURNAMENT_NONE UINT32_MAX

struct tournament {
    struct arena *arena;
    uint32_t *winner; /* of node n, whose children are 2n and 2n + 1; number i is node leaves + i */
    uint32_t leaves;  /* a power of two */
    bool (*beats)(const void *context, uint32_t a, uint32_t b); /* strictly */
    const void *context;
};

/* It has no entries yet. 'context' outlives the tournament. */
void tournament_init(struct tournament *tournament, struct arena *arena,
                     bool (*beats)(const void *context, uint32_t a, uint32_t b),
                     const void *context);

/* The number takes part from now on, or has changed. */
void tournament_enter(struct tournament *tournament, uint32_t number);

/* The number takes no part any more. */
void tournament_drop(struct tournament *tournament, uint32_t number);

/* The best of those that take part, or TOURNAMENT_NONE. */
uint32_t tournament_best(const struct tournament *tournament);

#endif
