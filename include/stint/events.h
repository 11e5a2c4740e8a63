/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what is reported to the controller: by the engine that runs work, by the cloud that rents machines.
 *
 * 'at' is when the event was received, which may be a little before the last report: a late event is
 * checked against the keys, counted and, if outdated, ignored. That is not a failure. These functions fail with
 * -EINVAL, if a number is out of its range (a time below 0, an end before its beginning), and with -EBUSY,
 * if they are called from inside a port.
 */
#ifndef STINT_EVENTS_H
#define STINT_EVENTS_H

#include <string.h>

#include <stint/common.h>

struct stint_controller;

/* A job: one or more tasks of one shape. */
struct stint_job {
    size_t size;
    uint64_t id;         /* the caller's, never used again */
    uint64_t first_task; /* its tasks have this id and those that follow; ids of tasks are unique */
    uint32_t task_count;
    uint32_t shape;   /* of stint_controller_add_shape */
    const char *name; /* jobs of one name and user are alike; NULL counts as "" */
    const char *user;
    int64_t arrived_at;
    int64_t estimate_ms; /* how long a task runs; STINT_NEVER: it has no end; below 0: not known */
    bool gang;           /* its tasks run together or not at all */
    bool fixed;          /* its running tasks are never moved */
    bool spread;         /* no two of its tasks on one machine */
    uint32_t priority;   /* higher values come first where not all can be served */
};

static inline void stint_job_init(struct stint_job *job)
{
    memset(job, 0, sizeof(*job));
    job->size = sizeof(*job);
    job->task_count = 1;
    job->estimate_ms = -1;
}

STINT_BEGIN

/*
 * The engine.
 */

/* Also -EEXIST: a known job has a task of the same id; -E2BIG: more than 1,048,576 tasks in the job or
 * 16,777,216 in all. In a list also a job that is known. */
STINT_API int stint_engine_job_arrived(struct stint_controller *controller, int64_t at,
                                       const struct stint_job *job, struct stint_error *reterr);

/* The job, whole as it arrived, but for its priority, its estimate (below 0: as before) and how many tasks it has
 * had in all: what is above is new, with the ids that follow. Also -ENOENT: no such job; -EEXIST and -E2BIG, as
 * above. In a list after the job, if it did since it arrived. */
STINT_API int stint_engine_job_changed(struct stint_controller *controller, int64_t at,
                                       const struct stint_job *job, struct stint_error *reterr);

/* The task has left its job and must not run; if it does, the engine ends it. */
STINT_API int stint_engine_task_withdrawn(struct stint_controller *controller, int64_t at,
                                          uint64_t task);

/* It is not eligible to run now; it may become so again. */
STINT_API int stint_engine_job_withdrawn(struct stint_controller *controller, int64_t at,
                                         uint64_t job);

/* It takes work. 'capacity' is what tasks may use of it, whatever its type says, and may be reported again when it
 * changes; NULL: as before, or as its type has. */
STINT_API int stint_engine_node_ready(struct stint_controller *controller, int64_t at,
                                      uint64_t instance, const struct stint_resources *capacity);

/* It takes no work any more, without having been asked to. 'runs_on': running tasks continue, and it may be
 * ready again. */
STINT_API int stint_engine_node_lost(struct stint_controller *controller, int64_t at,
                                     uint64_t instance, bool runs_on);

/* It was retired, and nothing is on it any more. */
STINT_API int stint_engine_node_left(struct stint_controller *controller, int64_t at,
                                     uint64_t instance);

/* 'key' of the placement. */
STINT_API int stint_engine_task_started(struct stint_controller *controller, int64_t at,
                                        uint64_t task, uint64_t key);

/* It runs on 'instance' since 'started_at', whatever was asked for; later events about it carry 'key'. */
STINT_API int stint_engine_task_found(struct stint_controller *controller, int64_t at,
                                      uint64_t task, uint64_t key, uint64_t instance,
                                      int64_t started_at);

/* It runs at so many millionths of its full speed; 'key' of the placement. */
STINT_API int stint_engine_task_rate(struct stint_controller *controller, int64_t at, uint64_t task,
                                     uint64_t key, uint32_t rate_ppm);

/* 'key' of the stop or the cancel. */
STINT_API int stint_engine_task_stopped(struct stint_controller *controller, int64_t at,
                                        uint64_t task, uint64_t key);

/* 'key' of the stop: the task may not be stopped now and continues; the request is repeated not before 'until' (0:
 * unknown). */
STINT_API int stint_engine_task_kept(struct stint_controller *controller, int64_t at, uint64_t task,
                                     uint64_t key, int64_t until);

/* 'key' of the placement: refused, crashed, its machine lost. It waits again. */
STINT_API int stint_engine_task_lost(struct stint_controller *controller, int64_t at, uint64_t task,
                                     uint64_t key);

STINT_API int stint_engine_task_finished(struct stint_controller *controller, int64_t at,
                                         uint64_t task);

/* 'key' of the list that ends here. */
STINT_API int stint_engine_listed(struct stint_controller *controller, int64_t at, uint64_t key);

/*
 * The cloud.
 */

/* It runs and is billed since 'billed_from'. */
STINT_API int stint_cloud_running(struct stint_controller *controller, int64_t at,
                                  uint64_t instance, int64_t billed_from);

/* No such machine is to be had now; the offer will be refused for so long (0: nobody knows). */
STINT_API int stint_cloud_refused(struct stint_controller *controller, int64_t at,
                                  uint64_t instance, int64_t for_ms);

/* It will be taken away, not before 'until' (0: unknown); 'may_stay': it is only at risk. Tasks that are
 * expected to end by then continue; the others are stopped at once. */
STINT_API int stint_cloud_notice(struct stint_controller *controller, int64_t at, uint64_t instance,
                                 bool may_stay, int64_t until);

/* Whether its image or settings are no longer those that a new machine gets; for each that is also in every list, after
 * stint_cloud_found. It is replaced: see replace_percent in settings.h. */
STINT_API int stint_cloud_outdated(struct stint_controller *controller, int64_t at,
                                   uint64_t instance, bool is_outdated);

/* Returned or taken away; billed from 'billed_from' (below 0: never) to 'billed_to'. */
STINT_API int stint_cloud_gone(struct stint_controller *controller, int64_t at, uint64_t instance,
                               int64_t billed_from, int64_t billed_to);

/* It belongs to this cluster; 'offer' STINT_NONE: the offer is unknown; billed since 'billed_from' (below 0: not yet). Only
 * a list makes a machine known that was not rented here. */
STINT_API int stint_cloud_found(struct stint_controller *controller, int64_t at, uint64_t instance,
                                uint32_t offer, int64_t billed_from);

/* 'key' of the list that ends here. */
STINT_API int stint_cloud_listed(struct stint_controller *controller, int64_t at, uint64_t key);

STINT_END

#endif
