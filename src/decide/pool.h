/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - the tasks that a decision is free to place, by kind.
 *
 * Packing asks "which kind next?", not "which task next?": tasks of one kind differ only in where
 * they are now and when they arrived. The pool keeps each kind's tasks in order of arrival and hands
 * them out one by one.
 *
 * Tasks that must be apart from each other share a kind with no others, but may be of several kinds, as their shapes
 * may differ: "is there one in this bin already?" is asked of the kind's 'apart'.
 *
 * Promises:  kinds are in the order of their first task's arrival.
 * Costs:     building O(n log n); taking a task amortised O(1).
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_POOL_H
#define STINT_DECIDE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/worth.h"
#include "model/view.h"

struct pool_kind {
    struct worth_kind kind;
    uint32_t apart; /* of their jobs, see view's job.apart */
    bool alone;     /* no two of it on one machine */
    uint32_t first; /* its entries are entries[first] .. entries[first + count - 1] */
    uint32_t count;
    uint32_t cursor; /* the first entry that may not be taken yet */
    uint32_t left;
};

struct pool_entry {
    uint32_t task;
    uint32_t kind;
    uint32_t bin; /* of the layout, once taken; UINT32_MAX before */
};

struct pool {
    const struct view *view;
    struct pool_entry *entries;
    struct pool_kind *kinds;
    uint32_t *entry_of; /* task row -> entry + 1, 0: not in the pool */
    uint32_t entry_count;
    uint32_t kind_count;
    uint32_t left;
};

/* 'tasks' is only read. */
void pool_build(struct pool *pool, const struct worth_rules *rules, const uint32_t *tasks,
                uint32_t count, struct arena *arena);

/* The first entry of the kind that is left, preferably one that is bound to 'instance' now. */
uint32_t pool_pick(struct pool *pool, uint32_t kind, uint32_t instance);

/* The entry goes to the bin. */
void pool_take(struct pool *pool, uint32_t entry, uint32_t bin);

/* How many tasks of each kind that are left are bound to 'instance' now; 'counts' has one element
 * per kind and is written whole. */
void pool_count_on(const struct pool *pool, uint32_t instance, uint32_t *counts);

#endif
