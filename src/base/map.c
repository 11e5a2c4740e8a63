/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <assert.h>
#include <stddef.h>

#include "base/mem.h"

enum { SIZE_MIN = 16, TOGETHER_BITS = 3 };

/* Where 'key' belongs: blocks of keys anywhere, in a block in order. */
static uint32_t home_of(const struct map *map, uint64_t key)
{
    const uint64_t block = map_mix(key >> TOGETHER_BITS) << TOGETHER_BITS;
    const uint64_t within = key & ((1U << TOGETHER_BITS) - 1);

    return (uint32_t)(block | within) & (map->size - 1);
}

void map_init(struct map *map)
{
    *map = (struct map){ 0 };
}

void map_done(struct map *map)
{
    mem_free(map->keys);
    mem_free(map->values);
    map_init(map);
}

void map_copy(struct map *to, const struct map *from)
{
    *to = *from;
    to->keys = mem_copy(from->keys, from->size, from->size, sizeof(*from->keys));
    to->values = mem_copy(from->values, from->size, from->size, sizeof(*from->values));
}

/* The slot that holds 'key', or the free one where it belongs. */
static uint32_t slot_of(const struct map *map, uint64_t key)
{
    const uint32_t mask = map->size - 1;
    uint32_t slot = home_of(map, key);

    while (map->values[slot] != MAP_NONE && map->keys[slot] != key)
        slot = (slot + 1) & mask;
    return slot;
}

uint32_t map_get(const struct map *map, uint64_t key)
{
    if (map->count == 0)
        return MAP_NONE;
    return map->values[slot_of(map, key)];
}

void map_expect(const struct map *map, uint64_t key)
{
    if (map->count == 0)
        return;

    const uint32_t slot = home_of(map, key);

    __builtin_prefetch(&map->keys[slot]);
    __builtin_prefetch(&map->values[slot]);
}

static void resize(struct map *map, uint32_t size)
{
    const struct map old = *map;

    map->size = size;
    map->keys = mem_alloc(size, sizeof(*map->keys));
    map->values = mem_alloc(size, sizeof(*map->values));
    for (uint32_t i = 0; i < size; i++)
        map->values[i] = MAP_NONE;
    for (uint32_t i = 0; i < old.size; i++) {
        if (old.values[i] == MAP_NONE)
            continue;

        const uint32_t slot = slot_of(map, old.keys[i]);

        map->keys[slot] = old.keys[i];
        map->values[slot] = old.values[i];
    }
    mem_free(old.keys);
    mem_free(old.values);
}

void map_put(struct map *map, uint64_t key, uint32_t value)
{
    assert(value != MAP_NONE);

    if (map->count >= map->size / 4 * 3) {
        assert(map->size <= UINT32_MAX / 2);
        resize(map, map->size > 0 ? map->size * 2 : SIZE_MIN);
    }

    const uint32_t slot = slot_of(map, key);

    if (map->values[slot] == MAP_NONE)
        map->count++;
    map->keys[slot] = key;
    map->values[slot] = value;
}

bool map_remove(struct map *map, uint64_t key)
{
    if (map->count == 0)
        return false;

    const uint32_t mask = map->size - 1;
    uint32_t hole = slot_of(map, key);

    if (map->values[hole] == MAP_NONE)
        return false;

    /* Close the hole: whatever probes across it moves into it. */
    for (uint32_t next = (hole + 1) & mask; map->values[next] != MAP_NONE;
         next = (next + 1) & mask) {
        const uint32_t home = home_of(map, map->keys[next]);

        if (((next - home) & mask) >= ((next - hole) & mask)) {
            map->keys[hole] = map->keys[next];
            map->values[hole] = map->values[next];
            hole = next;
        }
    }
    map->values[hole] = MAP_NONE;
    map->count--;
    return true;
}
