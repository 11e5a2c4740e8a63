/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/row_map.h"

#include <assert.h>
#include <stddef.h>

#include "base/map.h"

enum { FIRST_SIZE = 64 };

void row_map_init(struct row_map *map, struct arena *arena)
{
    *map = (struct row_map){ .arena = arena };
}

/* The slot of the row, or the free one where it would be. */
static struct row_slot *slot_of(const struct row_map *map, uint32_t row)
{
    const uint32_t mask = map->size - 1;
    uint32_t at = (uint32_t)map_mix(row) & mask;

    while (map->slots[at].row != 0 && map->slots[at].row != row + 1)
        at = (at + 1) & mask;
    return &map->slots[at];
}

static void grow(struct row_map *map)
{
    const struct row_map old = *map;

    map->size = old.size > 0 ? old.size * 2 : FIRST_SIZE;
    map->slots = ARENA_ARRAY(map->arena, struct row_slot, map->size);
    for (uint32_t i = 0; i < old.size; i++) {
        if (old.slots[i].row != 0)
            *slot_of(map, old.slots[i].row - 1) = old.slots[i];
    }
}

uint32_t row_map_get(const struct row_map *map, uint32_t row)
{
    return map->count > 0 ? slot_of(map, row)->value : 0;
}

void row_map_set(struct row_map *map, uint32_t row, uint32_t value)
{
    assert(row < UINT32_MAX);
    if ((map->count + 1) * 2 > map->size)
        grow(map);

    struct row_slot *slot = slot_of(map, row);

    map->count += slot->row == 0;
    *slot = (struct row_slot){ .row = row + 1, .value = value };
}
