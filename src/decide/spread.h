/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - which machines a plan in the making has given to tasks that must be apart from others.
 *
 * No two tasks of jobs with the same 'apart' (view's job.apart) may be on one machine. What the view shows is asked of
 * the view; this is the memory of what the plan adds to it. A machine is any number that the caller gives it: a row of
 * the view, a bin of a layout. Jobs that are not spread never come here, and cost nothing.
 *
 * Costs:   expected O(1); 16 bytes a slot, at most half full.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_SPREAD_H
#define STINT_DECIDE_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct spread_slot {
    uint64_t key; /* 0: the slot is free */
    bool there;
};

struct spread {
    struct arena *arena;
    struct spread_slot *slots;
    uint32_t size; /* a power of two, or 0 */
    uint32_t count;
};

void spread_init(struct spread *spread, struct arena *arena);

/* Whether a task of that 'apart' was put on the machine. */
bool spread_has(const struct spread *spread, uint32_t apart, uint32_t machine);

void spread_put(struct spread *spread, uint32_t apart, uint32_t machine);

/* Take it back. */
void spread_drop(struct spread *spread, uint32_t apart, uint32_t machine);

#endif
