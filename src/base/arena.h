/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory for one decision, freed all at once.
 *
 * Promises:  allocation never fails (see mem.h); what is given is zeroed and aligned for anything.
 * Costs:     a pointer bump; one block from the system whenever the current one is full.
 * Ownership: the caller of arena_init owns all of it, until arena_reset or arena_done.
 */
#ifndef STINT_BASE_ARENA_H
#define STINT_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    struct arena_block *first;   /* blocks in the order they are used */
    struct arena_block *current; /* the one that is being filled */
};

void arena_init(struct arena *arena);

/* 'count' zeroed elements of 'size' bytes. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* A point to come back to: what was allocated after it is forgotten by arena_rewind. */
struct arena_mark {
    struct arena_block *block;
    size_t used;
};

struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

/* Forget everything, keep the memory for the next decision. */
void arena_reset(struct arena *arena);

void arena_done(struct arena *arena);

/* 'old' has room for '*room' elements and 'count' of them: where there is no more room, a copy with more. */
void *arena_one_more(struct arena *arena, void *old, uint32_t count, uint32_t *room, size_t size);

#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))

#endif
