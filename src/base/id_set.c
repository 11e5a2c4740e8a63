/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id_set.h"

#include <assert.h>

enum { BLOCK_BITS = 4, BLOCK = 1 << BLOCK_BITS };

static_assert((1ULL << BLOCK) - 1 < MAP_NONE, "a full block is a value");

static uint64_t block_of(uint64_t id)
{
    return id >> BLOCK_BITS;
}

static uint32_t bit_of(uint64_t id)
{
    return 1U << (id & (BLOCK - 1));
}

static uint32_t bits_of(const struct id_set *set, uint64_t block)
{
    const uint32_t bits = map_get(&set->blocks, block);

    return bits != MAP_NONE ? bits : 0;
}

void id_set_init(struct id_set *set)
{
    map_init(&set->blocks);
}

void id_set_done(struct id_set *set)
{
    map_done(&set->blocks);
}

void id_set_copy(struct id_set *to, const struct id_set *from)
{
    map_copy(&to->blocks, &from->blocks);
}

bool id_set_has(const struct id_set *set, uint64_t id)
{
    return (bits_of(set, block_of(id)) & bit_of(id)) != 0;
}

void id_set_add(struct id_set *set, uint64_t id)
{
    map_put(&set->blocks, block_of(id), bits_of(set, block_of(id)) | bit_of(id));
}

bool id_set_remove(struct id_set *set, uint64_t id)
{
    const uint32_t bits = bits_of(set, block_of(id));
    const uint32_t others = bits & ~bit_of(id);

    if (others == bits)
        return false;
    if (others != 0)
        map_put(&set->blocks, block_of(id), others);
    else
        (void)map_remove(&set->blocks, block_of(id));
    return true;
}
