/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_queue.h - a batch queue in front of machines that can be rented.
 *
 * The waiting work as a queue of jobs, each needing so many whole machines at once: a gang is one
 * job, tasks that need not run together are one each. Jobs queue for the cheapest offer that holds
 * their tasks, one queue per offer. What starts now is decided by backfill.h; how many machines to
 * add is decided here (SEC, TPDS'16, section 4.1, where there is one offer).
 *
 * Costs:  O(waiting tasks + instances) and sorting, per decision.
 */
#ifndef STINT_DECIDE_ELASTIC_QUEUE_H
#define STINT_DECIDE_ELASTIC_QUEUE_H

#include <stdbool.h>

#include "base/arena.h"
#include "decide/backfill.h"
#include "model/view.h"

/* How far to look ahead when machines are added. */
enum elastic_size {
    ELASTIC_FIRST, /* what the first job needs */
    ELASTIC_SUM,   /* what all waiting jobs need */
    ELASTIC_BEST,  /* what all long jobs need and the first short one */
};

struct elastic_job {
    uint32_t offer;
    uint32_t first_task; /* that waits; the others of a gang by elastic_queue_next_task */
    uint32_t job;
};

struct elastic_queue {
    struct elastic_job *jobs;      /* by offer, then by arrival */
    struct backfill_job *backfill; /* the same jobs */
    uint32_t count;
};

/* The jobs that wait and that some open offer can hold. */
void elastic_queue_build(struct elastic_queue *queue, const struct view *view, struct arena *arena);

/* The next task of the same gang that waits, or ROW_NONE. */
uint32_t elastic_queue_next_task(const struct view *view, uint32_t task);

/* When instances of the offer become free by the estimates, or ready; sorted. */
uint32_t elastic_queue_ends(const struct view *view, uint32_t offer, struct arena *arena,
                            struct backfill_end **ret);

/* How many machines the waiting jobs [from, to) of the queue call for; 'started' ones do not. */
uint64_t elastic_queue_wanted(const struct elastic_queue *queue, uint32_t from, uint32_t to,
                              enum elastic_size size, msec_t short_ms);

/*
 * The empty machines that a task which waits may have, one for each task of its job: those of the offer that it
 * queues for, and those of offers that nobody queues for. They were rented when another offer was the
 * cheapest or this one was refused, and are as good.
 */
struct elastic_loan {
    uint32_t offer;
    uint32_t task;
    const bool *wanted; /* per offer: somebody queues for it */
    const bool *given;  /* per instance: it has got work in this decision */
};

/* Whether the instance, which is empty, is such a machine, on its way or ready. */
bool elastic_queue_may_use(const struct view *view, const struct elastic_loan *loan,
                           uint32_t instance);

/* Those of them that are ready, the offer's own first; up to 'most' into 'ret', how many is returned. */
uint32_t elastic_queue_ready(const struct view *view, const struct elastic_loan *loan,
                             uint32_t most, uint32_t *ret);

#endif
