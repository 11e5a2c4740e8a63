/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of blocks. A reset keeps them and starts again at the first, so that a steady stream of
 * decisions of like size asks the system for nothing.
 */
#include "base/arena.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

enum { BLOCK_SIZE = 64 * 1024, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    size_t used;
    size_t pad; /* keeps bytes aligned */
    unsigned char bytes[];
};

_Static_assert(offsetof(struct arena_block, bytes) % ALIGNMENT == 0, "blocks must stay aligned");

void arena_init(struct arena *arena)
{
    *arena = (struct arena){ 0 };
}

static struct arena_block *block_create(size_t least)
{
    const size_t size = least > BLOCK_SIZE ? least : BLOCK_SIZE;
    struct arena_block *block = mem_resize(NULL, sizeof(*block) + size, 1);

    block->next = NULL;
    block->size = size;
    block->used = 0;
    return block;
}

/* A block behind 'current' with room for 'bytes'; kept blocks that are too small are passed over. */
static struct arena_block *next_block(struct arena *arena, size_t bytes)
{
    struct arena_block *last = arena->current;
    struct arena_block *block = last != NULL ? last->next : arena->first;

    while (block != NULL && block->size < bytes) {
        last = block;
        block = block->next;
    }
    if (block == NULL) {
        block = block_create(bytes);
        if (last != NULL)
            last->next = block;
        else
            arena->first = block;
    }
    block->used = 0;
    return block;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    assert(size > 0);
    assert(count <= (SIZE_MAX - ALIGNMENT) / size);

    const size_t bytes = (count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);

    if (arena->current == NULL || arena->current->size - arena->current->used < bytes)
        arena->current = next_block(arena, bytes);

    void *fresh = arena->current->bytes + arena->current->used;

    arena->current->used += bytes;
    memset(fresh, 0, bytes);
    return fresh;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){ arena->current, arena->current != NULL ? arena->current->used : 0 };
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    assert(mark.block == NULL || mark.used <= mark.block->used);
    arena->current = mark.block;
    if (mark.block != NULL)
        mark.block->used = mark.used;
}

void arena_reset(struct arena *arena)
{
    arena->current = NULL;
}

void arena_done(struct arena *arena)
{
    struct arena_block *block = arena->first;

    while (block != NULL) {
        struct arena_block *next = block->next;

        mem_free(block);
        block = next;
    }
    arena_init(arena);
}

void *arena_one_more(struct arena *arena, void *old, uint32_t count, uint32_t *room, size_t size)
{
    enum { ROOM_FIRST = 64 };

    if (count < *room)
        return old;
    *room = *room > 0 ? *room * 2 : ROOM_FIRST;

    void *more = arena_alloc(arena, *room, size);

    if (count > 0)
        memcpy(more, old, count * size);
    return more;
}
