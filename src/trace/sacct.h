/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacct.h - read Slurm's accounting, as `sacct --parsable2` prints it. docs/reference/files/sacct.md has the
 * command to run and what becomes of each column.
 *
 * A job that ran on n nodes becomes a gang of n tasks, each of which asks for an n-th of what the
 * job asked for. Steps are part of their job. Elements of an array and parts of a heterogeneous job
 * are jobs of their own.
 *
 * Promises:  pure. Every record of a job is either a job of the trace or counted in 'left_out'. On
 *            failure nothing is kept and 'ret' is untouched; the error names the line, the column
 *            and what would be right. A job's id is the line of its record.
 * Bounds:    O(bytes + jobs log jobs); LIMIT_TASKS tasks, LIMIT_SHAPES different demands,
 *            SACCT_COLUMNS_MAX columns.
 */
#ifndef STINT_TRACE_SACCT_H
#define STINT_TRACE_SACCT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/trace.h"
#include "trace/wait_stats.h"

enum { SACCT_COLUMNS_MAX = 256 };

/* Which of the two that Slurm knows a job's demand is taken from; the other fills gaps. */
enum sacct_demand {
    SACCT_DEMAND_REQUESTED, /* what the job asked for */
    SACCT_DEMAND_ALLOCATED, /* what it was given: whole nodes, if jobs have nodes to themselves */
};

/* Records of jobs that are no job of the trace, each counted once, by the first that holds. */
struct sacct_left_out {
    uint32_t pending;   /* not started when sacct ran */
    uint32_t never_ran; /* ended without having run: cancelled in the queue, no time elapsed */
    uint32_t no_start;  /* its nodes did not boot, or it was revoked */
    uint32_t no_submit; /* submitted at an unknown time */
    uint32_t no_size;   /* ran on an unknown number of CPUs or nodes */
};

struct sacct_log {
    struct trace trace;
    struct sacct_left_out left_out;
    uint32_t records;        /* of jobs */
    uint32_t steps;          /* records of steps, which are passed over */
    uint32_t still_running;  /* jobs of the trace that had not ended: with what they ran so far */
    int64_t start_s;         /* when the first job arrived, since 1970; 0 without jobs */
    struct wait_stats waits; /* from arrival to start, as it was */
};

/* Parse the whole text into 'ret', to be freed by sacct_done. */
int sacct_read(const char *text, size_t length, enum sacct_demand demand, struct sacct_log *ret,
               struct error *reterr);

void sacct_done(struct sacct_log *log);

#endif
