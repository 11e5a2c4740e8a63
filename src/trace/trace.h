/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a story of jobs: who asked for what, when, and how long it ran.
 *
 * Read by jobs_csv.h or drawn by synthetic.h, written by trace_write.h, then only read.
 *
 * Promises:  jobs are in the order of arrival, those of equal arrival in the order of the file; ids
 *            differ; every amount is within base/limits.h.
 * Memory:    owned by the trace; 88 bytes a job.
 */
#ifndef STINT_TRACE_TRACE_H
#define STINT_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/units.h"
#include "model/job_rules.h"
#include "model/shape.h"

struct trace_job {
    uint64_t id;
    uint32_t
        keeps; /* what its tasks keep apart from, a number of aparts_add of the shapes; 0: see 'spread'. In no file */
    uint32_t name; /* in trace.names; equal names are runs of the same program */
    uint32_t user; /* in trace.users; the empty name is no particular user */
    uint32_t shape;
    uint32_t task_count;
    uint32_t priority;      /* who has more comes first under a limit */
    uint32_t caps;          /* the set of limits of its own that it is under, of sim_control.caps */
    uint32_t short_ppb;     /* billionths of the time it may be short of machines; 0: no promise */
    bool gang;              /* its tasks run together or not at all */
    bool fixed;             /* its running tasks are never moved */
    bool spread;            /* no two of its tasks on one machine */
    msec_t arrival_ms;      /* from the start of the story */
    msec_t work_ms;         /* runtime of each task at full speed */
    msec_t estimate_ms;     /* the user's, of the same; -1: none; MSEC_NEVER: no end is known */
    struct job_rules rules; /* if it has any, its shape has variants for markets */
};

struct trace {
    struct shapes shapes;
    struct names users;
    struct names names;
    struct trace_job *jobs;
    uint32_t job_count;
    uint32_t jobs_room;
    uint32_t task_total;
};

void trace_init(struct trace *trace);
void trace_done(struct trace *trace);

/* Append a job; the caller keeps task_total within LIMIT_TASKS and sorts when done. */
void trace_add_job(struct trace *trace, const struct trace_job *job);

/* Forget all but the first so many jobs; 0: keep all. */
void trace_keep_first(struct trace *trace, uint32_t jobs);

/* From now on no running task of any job may be moved. */
void trace_fix(struct trace *trace);

/* Put the jobs into the order of arrival; equal ones stay as they are. */
void trace_sort(struct trace *trace);

#endif
