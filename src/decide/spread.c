/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/spread.h"

#include <assert.h>
#include <stddef.h>

#include "base/map.h"

enum { FIRST_SIZE = 64 };

void spread_init(struct spread *spread, const struct view *view, struct arena *arena)
{
    *spread = (struct spread){ .aparts = &view->shapes->aparts, .arena = arena };
}

static uint64_t key_of(uint32_t mark, uint32_t machine)
{
    return ((uint64_t)machine << 32 | mark) + 1; /* 0 is nobody's: no mark is UINT32_MAX */
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
    struct apart_word room;
    const struct apart_word *words;
    const uint32_t count =
        spread->size > 0 ? aparts_words(spread->aparts, apart, &room, &words) : 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct spread_slot *slot = slot_of(spread, key_of(words[i].mark, machine));

        if (((words[i].sides & APART_SHUNS) != 0 && slot->has > 0) ||
            ((words[i].sides & APART_HAS) != 0 && slot->shuns > 0))
            return true;
    }
    return false;
}

void spread_put(struct spread *spread, uint32_t apart, uint32_t machine)
{
    struct apart_word room;
    const struct apart_word *words;
    const uint32_t count = aparts_words(spread->aparts, apart, &room, &words);

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = key_of(words[i].mark, machine);

        if (spread->count * 2 >= spread->size)
            grow(spread);

        struct spread_slot *slot = slot_of(spread, key);

        spread->count += slot->key == 0;
        slot->key = key;
        slot->has += (words[i].sides & APART_HAS) != 0;
        slot->shuns += (words[i].sides & APART_SHUNS) != 0;
    }
}

void spread_drop(struct spread *spread, uint32_t apart, uint32_t machine)
{
    struct apart_word room;
    const struct apart_word *words;
    const uint32_t count = aparts_words(spread->aparts, apart, &room, &words);

    for (uint32_t i = 0; i < count; i++) {
        struct spread_slot *slot = slot_of(spread, key_of(words[i].mark, machine));

        assert(slot->key != 0);
        assert((words[i].sides & APART_HAS) == 0 || slot->has > 0);
        assert((words[i].sides & APART_SHUNS) == 0 || slot->shuns > 0);
        slot->has -= (words[i].sides & APART_HAS) != 0;
        slot->shuns -= (words[i].sides & APART_SHUNS) != 0;
    }
}
