/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.h - what the controller asks of the caller: an engine, which runs work, and a cloud, which rents
 * machines. Both are structs of functions that the caller fills. What they answer comes back later, by the
 * functions of events.h.
 *
 * Rules for implementers:
 *  1. They are called from inside stint_controller_* and stint_engine_*, stint_cloud_*, in the same thread.
 *     They must not call back: record the request and return; report the answer after the outer call has
 *     returned. A call that would change the controller is refused with -EBUSY.
 *  2. Each action carries a key or an id, and its answer must carry the same. Requested twice under one key, it is
 *     carried out once. A key is never used for anything else.
 *  3. An action may be refused, and answers may be late, lost or repeated: old ones are recognised and
 *     ignored. What was lost is found by stint_controller_audit, which asks for lists.
 *  4. The key under which a machine is rented is the id of the instance ever after.
 *  5. Only 'stop' and 'forget' may end a run. An instance with anything on it is not reported as left.
 *
 * A function that is NULL is not called and nothing comes of it; a NULL 'queue' or 'place_gang' means that the
 * engine cannot.
 * Without any ports a controller only receives reports and answers with plans: see plan.h.
 */
#ifndef STINT_PORTS_H
#define STINT_PORTS_H

#include <string.h>

#include <stint/common.h>

struct stint_engine {
    size_t size;
    void *self; /* handed to each function */

    /* Let the instance join; stint_engine_node_ready says that it takes work. */
    void (*admit)(void *self, uint64_t instance);

    /* Let it leave: nothing new starts there, what runs there runs to its end. stint_engine_node_left when
     * nothing is on it any more, or at once if it is not known. */
    void (*retire)(void *self, uint64_t instance);

    /* The cloud has it no more, with all that ran there. It need not be known. No answer. */
    void (*forget)(void *self, uint64_t instance);

    /* Start the task there as soon as there is room: stint_engine_task_started, or _task_lost. */
    void (*place)(void *self, uint64_t key, uint64_t task, uint64_t instance);

    /* Start the tasks of a gang together, each on its instance, or none of them: _task_started or _task_lost for
     * each, all with the one key. The arrays live for the call. NULL: they are placed one by one. */
    void (*place_gang)(void *self, uint64_t key, const uint64_t *tasks, const uint64_t *instances,
                       uint32_t count);

    /* Start it on any instance that was admitted, whenever there is room: stint_engine_task_found, or
     * _task_lost if it will not. */
    void (*queue)(void *self, uint64_t key, uint64_t task);

    /* Take back what has not begun: stint_engine_task_stopped. If it runs already nothing is stopped:
     * _task_found, or _task_finished. */
    void (*cancel)(void *self, uint64_t key, uint64_t task);

    /* End the run, saving what it has done: stint_engine_task_stopped, or _task_finished if that was
     * faster, or _task_kept if it may not be stopped now. */
    void (*stop)(void *self, uint64_t key, uint64_t task);

    /* Tell all there is: stint_engine_job_arrived for every job that has not ended, _node_ready for every
     * instance that takes work, _task_found for every task that runs; then stint_engine_listed. */
    void (*list)(void *self, uint64_t key);
};

struct stint_cloud {
    size_t size;
    void *self;

    /* Rent 'count' machines of the offer in one request, their ids being 'first' and those that follow; for
     * each of them stint_cloud_running or stint_cloud_refused. */
    void (*rent)(void *self, uint64_t first, uint32_t count, uint32_t offer);

    /* Give it back, whatever state it is in: stint_cloud_gone, also if it is not there (any more). */
    void (*give_back)(void *self, uint64_t instance);

    /* Report every machine of this cluster: stint_cloud_found for each that is not gone, stint_cloud_gone for
     * those that went lately; then stint_cloud_listed. */
    void (*list)(void *self, uint64_t key);
};

/* Reported besides, as it happens; rule 1 holds here too. */
struct stint_books {
    size_t size;
    void *self;

    /* A task has ended (or its job was withdrawn): what it cost, its part of all machines it ran on. */
    void (*task_settled)(void *self, uint64_t task, int64_t cost, int64_t occupied_ms);

    /* The bill of an instance is closed: time from, time to, and the sum. */
    void (*instance_billed)(void *self, uint64_t instance, int64_t from_ms, int64_t to_ms,
                            int64_t bill);
};

static inline void stint_engine_init(struct stint_engine *engine)
{
    memset(engine, 0, sizeof(*engine));
    engine->size = sizeof(*engine);
}

static inline void stint_cloud_init(struct stint_cloud *cloud)
{
    memset(cloud, 0, sizeof(*cloud));
    cloud->size = sizeof(*cloud);
}

static inline void stint_books_init(struct stint_books *books)
{
    memset(books, 0, sizeof(*books));
    books->size = sizeof(*books);
}

#endif
