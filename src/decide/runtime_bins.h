/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_bins.h - open instances by how long they will be busy, to find where a task fits in time.
 *
 * Stratus (SoCC'18, section 3.2): a task belongs to the bin [2^(i-1), 2^i) of its remaining runtime,
 * an instance to that of its longest task. A task goes to an instance of its own bin, the one whose
 * end is closest to its own; else to one of a longer bin, the nearest such bin first, the one with
 * most room; else to one of a shorter bin, likewise, which is thereby promoted. An instance that has
 * a task is no place for another one that must be apart from it.
 *
 * How: the machines are in the order of a machine_index, which may have been kept from the last decision. What is
 * assigned changes it for as long as the decision takes. A machine that is promoted by a task comes after all others
 * that last as long.
 *
 * Costs:   O(n log n) to build for n machines, or what has changed if the index was kept. About O(log n) to find and to assign,
 *          also where no machine has room because some lack CPUs and others memory; to find a place
 *          for a job that is spread, also what there is on the instances that are passed over.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_RUNTIME_BINS_H
#define STINT_DECIDE_RUNTIME_BINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/machine_index.h"
#include "decide/spread.h"
#include "model/plan.h"
#include "model/view.h"

/* The number of the bin: 0 below a second, then 1 + log2 of the seconds. */
uint32_t runtime_bin(msec_t runtime);

enum { RUNTIME_BINS = 55 }; /* as many as a msec_t can tell apart */

struct runtime_change {
    uint32_t task; /* that was assigned, or ROW_NONE */
    uint32_t instance;
    uint32_t assigned; /* how many tasks it had got */
    uint8_t line;
    struct room_place busy; /* where it was */
    struct res free;        /* what it had */
};

struct runtime_bins {
    const struct view *view;
    struct machine_index *index;
    struct machine_index own; /* if none is kept */
    struct arena *arena;
    struct spread spread;           /* what was assigned, of jobs that are spread */
    struct runtime_change *changes; /* since the bins were built */
    uint32_t change_count;
    uint32_t change_room;
    uint32_t mark; /* changes from here on can be taken back */
};

/* All open instances. */
void runtime_bins_build(struct runtime_bins *bins, const struct view *view, enum runtime_rule rule,
                        struct arena *arena);

/* The same with an index that is of now. It is as it was after runtime_bins_end, and must not be used before. */
void runtime_bins_begin(struct runtime_bins *bins, struct machine_index *index,
                        struct arena *arena);
void runtime_bins_end(struct runtime_bins *bins);

/* The instance for the task, or ROW_NONE. */
uint32_t runtime_bins_find(const struct runtime_bins *bins, uint32_t task,
                           enum plan_reason_code *ret_why);

/* The same in one direction only: REASON_SAME_BIN, REASON_LONGER_BIN or REASON_SHORTER_BIN. */
uint32_t runtime_bins_find_in(const struct runtime_bins *bins, uint32_t task,
                              enum plan_reason_code where);

/* How long the instance is busy, or paid for, given all that was assigned. */
msec_t runtime_bins_lasts(const struct runtime_bins *bins, uint32_t instance);

/* The task goes to the instance, which has room. */
void runtime_bins_assign(struct runtime_bins *bins, uint32_t task, uint32_t instance);

/* The instance takes no more tasks. */
void runtime_bins_remove(struct runtime_bins *bins, uint32_t instance);

/* What is free on the instance, given all that was assigned. */
struct res runtime_bins_free(const struct runtime_bins *bins, uint32_t instance);

/* Whether the instance got no task yet. This cannot be seen from what is free: a task may ask for nothing. */
static inline bool runtime_bins_is_untouched(const struct runtime_bins *bins, uint32_t instance)
{
    return bins->index->machines[instance].assigned == 0;
}

/* From here on changes can be taken back by runtime_bins_rollback. */
void runtime_bins_mark(struct runtime_bins *bins);
void runtime_bins_rollback(struct runtime_bins *bins);

#endif
