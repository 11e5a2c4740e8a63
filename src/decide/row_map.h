/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_map.h - a value for some rows of a table, for as long as a decision takes.
 *
 * A decision that concerns a few machines must not clear an array of all of them. Rows that were never set have
 * the value 0.
 *
 * Costs:   expected O(1); 8 bytes a slot, at most half full.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_ROW_MAP_H
#define STINT_DECIDE_ROW_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct row_slot {
    uint32_t row; /* + 1; 0: the slot is free */
    uint32_t value;
};

struct row_map {
    struct arena *arena;
    struct row_slot *slots;
    uint32_t size; /* a power of two, or 0 */
    uint32_t count;
};

void row_map_init(struct row_map *map, struct arena *arena);

uint32_t row_map_get(const struct row_map *map, uint32_t row);
void row_map_set(struct row_map *map, uint32_t row, uint32_t value);

/* Whether the row has a value other than 0. */
static inline bool row_map_has(const struct row_map *map, uint32_t row)
{
    return row_map_get(map, row) != 0;
}

#endif
