/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hybrid_trace.h - read jobs of many tasks as simulators of hybrid schedulers keep them (Hawk, Eagle).
 *
 * One line is a job: its arrival, the number of its tasks, their mean duration, then the duration of each;
 * all times in seconds, with blanks between.
 *
 *     10   3   20   10 20 30
 *
 * Promises:  pure. Times are cut to whole milliseconds. Jobs come in the order of their arrival. On
 *            failure nothing is kept and 'ret' is untouched; the error names the line and what would be
 *            right.
 * Bounds:    O(bytes); LIMIT_TASKS tasks, LIMIT_TASKS_PER_JOB of a job, HYBRID_JOBS_MAX jobs, and
 *            HYBRID_WORK_MAX of work in all, so that no sum over a run overflows.
 */
#ifndef STINT_TRACE_HYBRID_TRACE_H
#define STINT_TRACE_HYBRID_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"

enum { HYBRID_JOBS_MAX = 1 << 18 };

#define HYBRID_WORK_MAX ((msec_t)1 << 44) /* 557 years */

struct hybrid_job {
    msec_t arrival_ms;
    msec_t mean_ms; /* of its tasks, as the file says */
    uint32_t first; /* of its tasks */
    uint32_t tasks; /* at least one */
};

struct hybrid_trace {
    struct hybrid_job *jobs;
    uint32_t job_count;
    uint32_t jobs_room;
    msec_t *work_ms; /* of each task */
    uint32_t task_count;
    uint32_t work_ms_room;
};

/* Parse the whole text into 'ret', to be freed by hybrid_trace_done. */
int hybrid_trace_read(const char *text, size_t length, struct hybrid_trace *ret,
                      struct error *reterr);

/* Only the first so many jobs; 0: all. */
void hybrid_trace_keep_first(struct hybrid_trace *trace, uint32_t jobs);

/* Takes what was never filled, if it is zeroed. */
void hybrid_trace_done(struct hybrid_trace *trace);

#endif
