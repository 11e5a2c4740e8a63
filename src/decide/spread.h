/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - which machines a plan in the making has given to tasks that must be apart from others.
 *
 * Who must be apart from whom is said by numbers (view's job.apart, model/apart.h). What the view shows is asked of
 * the view; this is the memory of what the plan adds to it. A machine is any number that the caller gives it: a row of
 * the view, a bin of a layout. Jobs that keep apart from nothing never come here, and cost nothing.
 *
 * Costs:   expected O(1), of a set of marks O(its marks); 16 bytes for each mark on a machine, at most half full.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_SPREAD_H
#define STINT_DECIDE_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/view.h"

struct spread_slot {
    uint64_t key; /* 0: the slot is free */
    uint32_t has; /* tasks there that have the mark, and that shun it */
    uint32_t shuns;
};

struct spread {
    const struct aparts *aparts;
    struct arena *arena;
    struct spread_slot *slots;
    uint32_t size; /* a power of two, or 0 */
    uint32_t count;
};

void spread_init(struct spread *spread, const struct view *view, struct arena *arena);

/* Whether a task was put on the machine that must not be beside one with that 'apart'. */
bool spread_has(const struct spread *spread, uint32_t apart, uint32_t machine);

void spread_put(struct spread *spread, uint32_t apart, uint32_t machine);

/* Take it back. */
void spread_drop(struct spread *spread, uint32_t apart, uint32_t machine);

#endif
