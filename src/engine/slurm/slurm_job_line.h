/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_job_line.h - what a line 'job' says, and what it means for us.
 *
 * Promises:  any line may be given. One pass over its fields; those that we do not know are passed
 *            over, for a later stint-slurm may tell more.
 */
#ifndef STINT_ENGINE_SLURM_JOB_LINE_H
#define STINT_ENGINE_SLURM_JOB_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/line.h"
#include "engine/slurm/slurm_engine_private.h"

/* Numbers that are not there are NUMBER_NONE, texts NULL. */
struct slurm_job_line {
    enum slurm_phase_of phase;
    uint64_t id, array, task, het, run, submit, begin, start, end, limit_s;
    uint64_t node_count, cpus, mem_mib, mem_all, ntasks, sockets, exclusive;
    uint64_t requeue, completing, array_most, tmp_mib, priority, deadline, backfill_s;
    const char *tasks, *user, *name, *partition, *state, *hold, *reason, *depend, *nodes;
    const char *gres_node, *gres_job, *gres_task, *gres_socket, *features, *user_comment, *comment;
    const char *account, *qos;
    const char *bar, *bar_text, *draws;
    const char *parts; /* lines 'part': what the other components of a heterogeneous job ask for */
};

/* The components of a heterogeneous job, each with its shape and nodes; none: it is an ordinary one. */
struct slurm_job_parts {
    uint32_t count;
    struct job_part row[JOB_PARTS_MAX];
};

/* What it asks for. */
struct slurm_job_wish {
    struct slurm_wish wish; /* of one of its tasks, or of the first component's */
    uint32_t task_count;    /* in all */
    struct slurm_job_parts parts;
    struct slurm_market_rules rules; /* in which markets they may run */
};

/* Whether it could be read, and is within what our ids can hold. */
bool slurm_job_line_read(const struct line *line, struct slurm_job_line *ret);

/* What keeps it from running, but time: a hold or a dependency, or nothing. */
enum slurm_wait_kind slurm_job_line_closed(const struct slurm_job_line *line);

/* Whether it waits for another job while it is held, so that Slurm would never see that one's end. */
bool slurm_job_line_is_stuck(const struct slurm_job_line *line);

/* Whether its user lets it be stopped and put elsewhere. */
bool slurm_job_line_is_movable(const struct slurm_engine *engine,
                               const struct slurm_job_line *line);

struct slurm_job_wish slurm_job_line_wish(const struct slurm_engine *engine,
                                          struct slurm_shapes *shapes,
                                          const struct slurm_job_line *line);

/* The number of a name, cut to what we keep; "" for NULL. Of names only so many are kept apart: a new
 * one beyond is "...". */
enum { SLURM_NAMES_MAX = 1 << 18 };
uint32_t slurm_job_line_name(struct names *names, const char *name);

#endif
