/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_record.h - Slurm's records of jobs and nodes as lines.
 *
 * What changes all the time (the priority, an expected start) comes last or not at all: the return value is
 * the hash of what counts as news. A priority that changes has a line of its own.
 */
#ifndef STINT_ENGINE_SLURM_RECORD_H
#define STINT_ENGINE_SLURM_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/line.h"
#include "engine/slurm/slurm_release.h"

struct slurm_rules;

enum slurm_phase { SLURM_WAITING, SLURM_RUNNING, SLURM_ENDED };

enum slurm_phase slurm_record_phase(const slurm_job_info_t *job);

/* Whether a person holds it. */
bool slurm_record_is_held(const slurm_job_info_t *job);

/* Whether it waits for us: see SLURM_GATE_S. */
bool slurm_record_is_gated(const slurm_job_info_t *job);

/* Whether it waits behind the gate or for the one who holds it, on no node, and has only named nodes that
 * it wants: it cannot start before they are named again. */
bool slurm_record_only_requires(const slurm_job_info_t *job);

/* The components of a heterogeneous job but the first, whose record stands for all; none: it is an ordinary one. */
struct slurm_parts {
    const slurm_job_info_t **rows;
    uint32_t count, room;
};

/* Whether it is such a component: it has no line of its own. */
bool slurm_record_is_part(const slurm_job_info_t *job);

/* What the record does not say itself. */
struct slurm_record_extra {
    const struct slurm_parts *parts;
    uint32_t backfill_s;       /* so often Slurm looks for room for heterogeneous jobs; 0: never */
    const char *user;          /* its name, or NULL */
    bool is_mem_counted;       /* Slurm shares memory out; who names no amount gets all of it */
    struct slurm_rules *rules; /* what Slurm's policy says of it; NULL: not known */
    time_t now;                /* slurmctld's */
    time_t skew;               /* by how much slurmctld's clock is ahead of ours */
    uint32_t rank;             /* of one that waits, see slurm_rank.h; 0: not known */
};

/* Write the line 'job' for it; returns the hash of what is news. */
uint64_t slurm_record_job(const slurm_job_info_t *job, const struct slurm_record_extra *extra,
                          struct line_text *out);

/* When its user wants it to begin, whatever the gate puts it off by. */
time_t slurm_record_begin(const slurm_job_info_t *job);

/* Write the line 'priority' for it: that alone has changed. */
void slurm_record_priority(const slurm_job_info_t *job, uint32_t rank, struct line_text *out);

/* Free what slurm_load_jobs gave; takes NULL. */
void slurm_record_free_jobs(job_info_msg_t *all);

/* Write 'started' or 'ended'. */
void slurm_record_started(const slurm_job_info_t *job, const struct slurm_parts *parts,
                          struct line_text *out);
void slurm_record_ended(const slurm_job_info_t *job, const struct slurm_parts *parts,
                        struct line_text *out);

/* Whether the slot of the node table holds a node; slots of MaxNodeCount may be empty. */
bool slurm_record_is_node(const node_info_t *node);

/* Write the line 'node' for it; returns its hash. */
uint64_t slurm_record_node(const node_info_t *node, struct line_text *out);

#endif
