/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swf.h - read a log in the Standard Workload Format (version 2) of the Parallel Workloads Archive.
 * docs/reference/files/swf.md says how each field is understood.
 *
 * A log counts processors, we rent machines: a job of p processors becomes a gang of
 * ceil(p / processors_per_instance) tasks, each of which fills a machine of that many CPUs. So no
 * two jobs share a machine.
 *
 * Promises:  pure. Every record is either a job of the trace or counted in 'left_out'. On failure
 *            nothing is kept and 'ret' is untouched; the error names the line and the field.
 * Bounds:    O(bytes + jobs log jobs); LIMIT_TASKS tasks.
 */
#ifndef STINT_TRACE_SWF_H
#define STINT_TRACE_SWF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"
#include "trace/trace.h"
#include "trace/wait_stats.h"

enum {
    SWF_ALPHA_ONE = 1000000,              /* estimates as users gave them */
    SWF_ALPHA_MAX = 1000 * SWF_ALPHA_ONE, /* a thousand times as wrong */
    SWF_PROCESSORS_PER_INSTANCE_MAX = 1 << 20,
};

/* Which records become jobs, of those that ran. */
enum swf_keep {
    SWF_KEEP_RAN,       /* all whose run time is above 0 */
    SWF_KEEP_COMPLETED, /* of these, the ones that did not fail and were not cancelled */
};

/* What tells which jobs are runs of the same program. */
enum swf_name {
    SWF_NAME_EXECUTABLE, /* its number; where that is unknown, the queue */
    SWF_NAME_QUEUE,
};

struct swf_options {
    uint32_t processors_per_instance; /* from 1 */
    enum swf_keep keep;
    enum swf_name name;
    bool arrival_from_log; /* count arrivals from the log's zero; else from the first job */
    bool memory;           /* ask for the memory of the log too; else for none */

    /* An estimate is run + alpha * (requested - run), where requested is at least run. */
    uint32_t alpha_ppm;
};

/* 16 processors, what ran, executables, from the first job, no memory, alpha 1. */
struct swf_options swf_options_default(void);

/* Records that are no job of the trace, each counted once, by the first that holds. */
struct swf_left_out {
    uint32_t partial;       /* part of the run of the record before */
    uint32_t never_ran;     /* run time 0 or unknown */
    uint32_t no_processors; /* ran on an unknown number */
    uint32_t no_submit;     /* submitted at an unknown time */
    uint32_t not_completed; /* only with SWF_KEEP_COMPLETED */
};

struct swf_log {
    struct trace trace;
    struct swf_left_out left_out;
    uint32_t records;        /* in all */
    msec_t first_submit_ms;  /* of a job of the trace, from the log's zero */
    int64_t unix_start_s;    /* of the log's zero, as the header says; -1: it does not */
    int64_t max_nodes;       /* the same */
    int64_t max_processors;  /* the same */
    struct wait_stats waits; /* of the jobs of the trace, as it was; where the log knows */
};

/* Parse the whole text into 'ret', to be freed by swf_done. */
int swf_read(const char *text, size_t length, const struct swf_options *options,
             struct swf_log *ret, struct error *reterr);

void swf_done(struct swf_log *log);

#endif
