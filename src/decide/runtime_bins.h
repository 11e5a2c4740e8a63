/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_bins.h - open instances by how long they will be busy, to find where a task fits in time.
 *
 * Stratus (SoCC'18, section 3.2): a task belongs to the bin [2^(i-1), 2^i) of its remaining runtime,
 * an instance to that of its longest task. A task goes to an instance of its own bin, the one whose
 * end is closest to its own; else to one of a longer bin, the nearest such bin first, the one with
 * most room; else to one of a shorter bin, likewise, which is thereby promoted. An instance that has
 * a task of a job which is spread is no place for another of its tasks.
 *
 * How: a tree over slots sorted by remaining time, each node holding the most room below it. Every
 * pending task has a slot of its own, so that an instance which is promoted by it has a place to
 * move to and nothing is ever re-sorted.
 *
 * Costs:   O((instances + tasks) log) to build, about O(log) to find and to assign, also where no machine has
 *          room because some lack CPUs and others memory; to find a place
 *          for a job that is spread, also what there is on the instances that are passed over.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_RUNTIME_BINS_H
#define STINT_DECIDE_RUNTIME_BINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/spread.h"
#include "model/plan.h"
#include "model/view.h"

enum runtime_rule {
    RUNTIME_REMAINING, /* what is left, by the half-life rule where the estimate has passed */
    RUNTIME_TOTAL,     /* the whole runtime, as if it had just started */
    RUNTIME_PAID,      /* what is left; and an instance lasts at least as long as it is paid for */
};

/* How long the task is expected to go on. */
msec_t runtime_of_task(const struct view *view, uint32_t task, enum runtime_rule rule);

/* The number of the bin: 0 below a second, then 1 + log2 of the seconds. */
uint32_t runtime_bin(msec_t runtime);

enum { RUNTIME_BINS = 55 }; /* as many as a msec_t can tell apart */

struct runtime_slot {
    msec_t runtime;
    uint32_t instance; /* ROW_NONE: nobody is here */
    struct res free;
};

/* Machines that lack CPUs and machines that lack memory are told apart: the most of both together would
 * promise room that none of them has. */
enum { ROOM_KINDS = 2 };

struct runtime_room {
    struct res most[ROOM_KINDS]; /* per kind, the most that is free below this node */
    int64_t sum;                 /* the most of all kinds together */
};

struct runtime_change {
    uint32_t task; /* that was assigned, or ROW_NONE */
    uint32_t instance;
    uint32_t slot;     /* where it was */
    uint32_t assigned; /* how many tasks it had got */
    struct res free;   /* what it had */
};

struct runtime_bins {
    const struct view *view;
    struct runtime_slot *slots;
    struct runtime_room *tree;
    uint32_t *slot_of_instance;
    uint32_t *slot_of_task;
    uint32_t *assigned; /* per instance: tasks that it got since the bins were built */
    uint32_t slot_count;
    uint32_t start[RUNTIME_BINS + 1]; /* the first slot of that bin or a later one */
    uint32_t leaves;                  /* a power of two */
    struct arena *arena;
    struct spread spread;           /* what was assigned, of jobs that are spread */
    struct runtime_change *changes; /* since the last mark */
    uint32_t change_count;
    uint32_t change_room;
};

/* All open instances; 'tasks' are those that may be assigned. */
void runtime_bins_build(struct runtime_bins *bins, const struct view *view, enum runtime_rule rule,
                        const uint32_t *tasks, uint32_t count, struct arena *arena);

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

/* Whether the instance got no task yet. Not to be told by what is free: a task may ask for nothing. */
static inline bool runtime_bins_is_untouched(const struct runtime_bins *bins, uint32_t instance)
{
    return bins->assigned[instance] == 0;
}

/* From here on changes can be taken back by runtime_bins_rollback. */
void runtime_bins_mark(struct runtime_bins *bins);
void runtime_bins_rollback(struct runtime_bins *bins);

#endif
