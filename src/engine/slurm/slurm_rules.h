/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_rules.h - what Slurm's policy says of a job that waits behind the gate.
 *
 * Slurm looks at the limits of a job when it is about to start it, and a gated job never is: that it is
 * over a limit would show only after a machine was rented for it. So the same tables that slurmctld uses
 * (partitions, licences, reservations, associations and QOS with their limits) are read here, and each
 * job is reported with
 *
 *   a bar     - the reason for which Slurm would not start it now, whatever else runs; or none;
 *   its draws - the quotas that it takes a share of while it runs (a licence, MaxJobs, GrpTRES...), and
 *               how much of each.
 *
 * A quota is reported with its size and with what runs of it now. Which jobs go first is not decided here.
 *
 * Promises:  reasons are Slurm's own words. What runs is counted from the same look that tells the jobs,
 *            those that are not managed by Stint included, so that both agree. A limit that is not understood is
 *            not reported: Slurm's answer to a placement is the second line.
 * Costs:     O(partitions of the job + associations above it x kinds of TRES) a job; nothing at all
 *            where there is neither a licence nor a limit.
 */
#ifndef STINT_ENGINE_SLURM_RULES_H
#define STINT_ENGINE_SLURM_RULES_H

#include <slurm/slurmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/line.h"
#include "base/map.h"
#include "base/units.h"
#include "engine/slurm/slurm_release.h"

/* A quota that jobs draw on. */
struct slurm_quota {
    char *name;
    const char *reason; /* Slurm's word for a job that waits for it */
    char *text;
    uint64_t max;
    uint64_t used;
    uint64_t floor; /* in use by Slurm's own count, if it tells one */
    uint64_t told;  /* hash of the line that was reported last */
};

struct slurm_rules {
    const char *place_in; /* the partition that jobs are placed in; NULL: they stay in theirs */
    uint32_t enforce;     /* AccountingStorageEnforce */

    /* As slurmctld gave them; NULL: not known, or there are none. */
    partition_info_msg_t *partitions;
    license_info_msg_t *licences;
    reserve_info_msg_t *reservations;
    assoc_mgr_info_msg_t *accounts;
    slurmdb_assoc_rec_t **assocs; /* of 'accounts' */
    slurmdb_qos_rec_t **qos;
    uint32_t assoc_count, qos_count;
    struct map assoc_by_id; /* -> row of 'assocs' */

    uint64_t partitions_hash, licences_hash, reservations_hash, accounts_hash;
    time_t partitions_update, licences_update, reservations_update;
    msec_t accounts_at; /* ask for them again then */

    struct slurm_quota *quotas;
    uint32_t quota_count, quotas_room;
    struct map by_name; /* hash of the name -> row */
    uint64_t *amounts;  /* scratch: of one job, per TRES */
    struct line_text draws;
};

void slurm_rules_init(struct slurm_rules *rules);
void slurm_rules_done(struct slurm_rules *rules);

/* Ask slurmctld for what is new in its tables; 'ret_changed': a job may be judged otherwise now. 0, or
 * Slurm's code. */
int slurm_rules_load(struct slurm_rules *rules, msec_t now_ms, bool *ret_changed);

/* Ask for everything at the next load. */
void slurm_rules_distrust(struct slurm_rules *rules);

/* Count what runs: begin, then every job that has not ended, then tell the quotas that changed ('is_full': all). */
void slurm_rules_begin_count(struct slurm_rules *rules);
void slurm_rules_count(struct slurm_rules *rules, const slurm_job_info_t *job, bool is_running);
void slurm_rules_tell(struct slurm_rules *rules, bool is_full, struct line_text *out);

struct slurm_parts;

/* Write the fields 'bar', 'bar_text' and 'draws' of a job that waits, with its other components. 'now' is slurmctld's
 * time. */
void slurm_rules_judge(struct slurm_rules *rules, const slurm_job_info_t *job,
                       const struct slurm_parts *parts, time_t now, struct line_text *out);

#endif
