/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/spread.h"

#include <assert.h>
#include <stddef.h>

#include "base/map.h"

enum { FIRST_SIZE = 64 };

void spread_init(struct spread *spread, struct arena *arena)
{
    *spread = (struct spread){ .arena = arena };
}

static uint64_t key_of(uint32_t apart, uint32_t machine)
{
    return ((uint64_t)machine << 32 | apart) + 1; /* 0 is nobody's: no 'apart' is UINT32_MAX here */
}

/* The slot of the key, or the free one where it would be. */
static struct spread_slot *slot_of(const struct spread *spread, uint64_t key)
{
    const uint32_t mask = spread->size - 1;
    uint32_t at = (uint32_t)map_mix(key) & mask;

    while (spread->slots[at].key != 0 && spread->slots[at].key != key)
        at = (at + 1) & mask;
    return &spread->slots[at];
}

static void grow(struct spread *spread)
{
    const struct spread old = *spread;

    spread->size = old.size > 0 ? old.size * 2 : FIRST_SIZE;
    spread->slots = ARENA_ARRAY(spread->arena, struct spread_slot, spread->size);
    for (uint32_t i = 0; i < old.size; i++) {
        if (old.slots[i].key != 0)
            *slot_of(spread, old.slots[i].key) = old.slots[i];
    }
}

bool spread_has(const struct spread *spread, uint32_t apart, uint32_t machine)
{
    return spread->size > 0 && slot_of(spread, key_of(apart, machine))->there;
}

void spread_put(struct spread *spread, uint32_t apart, uint32_t machine)
{
    const uint64_t key = key_of(apart, machine);

    if (spread->count * 2 >= spread->size)
        grow(spread);

    struct spread_slot *slot = slot_of(spread, key);

    spread->count += slot->key == 0;
    *slot = (struct spread_slot){ .key = key, .there = true };
}

void spread_drop(struct spread *spread, uint32_t apart, uint32_t machine)
{
    struct spread_slot *slot = slot_of(spread, key_of(apart, machine));

    assert(slot->there);
    slot->there = false;
}
