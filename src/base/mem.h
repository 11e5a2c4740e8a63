/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - memory that is there or ends the program.
 *
 * Out of memory is fatal: nothing in Stint can decide well without its tables. So that no outside
 * input can size memory freely, the limits of limits.h are checked where data enters.
 *
 * MEM_ROOM grows a plain array that is described by its pointer and its capacity:
 *
 *     MEM_ROOM(table->rows, table->rows_room, table->count + 1);
 *     table->rows[table->count++] = row;
 */
#ifndef STINT_BASE_MEM_H
#define STINT_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* 'count' zeroed elements of 'size' bytes. */
void *mem_alloc(size_t count, size_t size);

/* Resize to 'count' elements of 'size' bytes; what is new is not cleared. Takes NULL. */
void *mem_resize(void *old, size_t count, size_t size);

/* A copy of the first 'count' elements of 'size' bytes, with room for 'room' of them. */
void *mem_copy(const void *from, size_t count, size_t room, size_t size);

void mem_free(void *old);

/* The capacity that an array of 'room' elements should grow to, to hold 'need'. */
uint32_t mem_next_room(uint32_t room, uint32_t need);

#define MEM_ROOM(array, room, need)                                  \
    do {                                                             \
        if ((need) > (room)) {                                       \
            (room) = mem_next_room((room), (need));                  \
            (array) = mem_resize((array), (room), sizeof(*(array))); \
        }                                                            \
    } while (0)

#endif
