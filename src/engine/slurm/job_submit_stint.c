/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit_stint.c - the gate: every new job waits until Stint says where it runs.
 *
 * A plugin of slurmctld ("JobSubmitPlugins=stint"), written for the interface of Slurm 22.05, in
 * which job_modify has three arguments. It needs slurm.h and nothing of slurmctld's own headers.
 *
 * A job waits because its begin time is put off by SLURM_GATE_S, a hundred years; the time that its
 * user wanted can be read off it, and Slurm looks after its dependencies meanwhile. It is held as
 * well, for Slurm refuses a new job at once if no node that is there now could ever run it, unless it
 * is held; the node that can is still to be rented.
 *
 * A user may hold and release his job as ever: a hold of his puts it off by twice as much, so that the
 * two are told apart. Only root and the user that slurmctld runs as may bring
 * the time forward; anybody else who sets one sets the one behind the gate, or is refused where not
 * all partitions are gated. Who moves his job to a partition that is gated moves it behind the gate.
 *
 * Jobs of scrontab (whose times are Slurm's own), parts of heterogeneous jobs (which cannot be placed
 * one by one) and jobs of a reservation (which only its own nodes can run) are let pass.
 *
 * The environment of slurmctld may name the partitions to gate: STINT_GATE=cloud,spot. Jobs that
 * name no partition at all count as "default". Without it every job is gated.
 */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "engine/slurm/slurm_protocol.h"

#define EXPORTED __attribute__((visibility("default")))

/* What slurmctld looks for in every plugin. */
extern const char plugin_name[];
extern const char plugin_type[];
extern const uint32_t plugin_version;
int init(void);
void fini(void);
int job_submit(job_desc_msg_t *job, uint32_t uid, char **reterr);
int job_modify(job_desc_msg_t *job, void *record, uint32_t uid);

EXPORTED const char plugin_name[] = "Stint's gate: jobs wait until they are placed";
EXPORTED const char plugin_type[] = "job_submit/stint";
EXPORTED const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* Whether the two lists with commas have a name in common. */
static bool lists_meet(const char *list, const char *names)
{
    while (*names != '\0') {
        const size_t length = strcspn(names, ",");
        const char *at = list;

        while (*at != '\0') {
            const size_t other = strcspn(at, ",");

            if (other == length && length > 0 && strncmp(at, names, length) == 0)
                return true;
            at += other + (at[other] == ',');
        }
        names += length + (names[length] == ',');
    }
    return false;
}

static bool is_gated(const job_desc_msg_t *job)
{
    const char *gated = getenv("STINT_GATE");

    if ((job->bitflags & CRON_JOB) != 0 || job->het_job_offset != NO_VAL)
        return false;
    if (job->reservation != NULL && *job->reservation != '\0')
        return false;
    return gated == NULL || lists_meet(gated, job->partition == NULL ? "default" : job->partition);
}

static bool may_open(uint32_t uid)
{
    return uid == 0 || uid == getuid();
}

EXPORTED int init(void)
{
    return SLURM_SUCCESS;
}

EXPORTED void fini(void)
{
}

/* Whatever time its user names stands for itself: only one before SLURM_GATED_FROM can be read off again,
 * so a later one is brought forward to that. */
static time_t put_off(time_t begin)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (begin >= SLURM_GATED_FROM)
        begin = SLURM_GATED_FROM - 1;
    return (begin > now.tv_sec ? begin : now.tv_sec) + SLURM_GATE_S;
}

/* sbatch -H and scontrol hold: twice as far. */
static void close_gate(job_desc_msg_t *job)
{
    job->begin_time = put_off(job->begin_time);
    if (job->priority == 0)
        job->begin_time += SLURM_GATE_S;
}

EXPORTED int job_submit(job_desc_msg_t *job, uint32_t uid, char **reterr)
{
    (void)uid;
    (void)reterr;
    if (!is_gated(job))
        return SLURM_SUCCESS;
    close_gate(job);
    job->priority = 0;
    return SLURM_SUCCESS;
}

/* A user's own hold. Where not all partitions are gated we cannot know whether this job is, and take the
 * mark off: when it is released it is free, and Stint places it as it does all that waits. */
static bool follow_hold(job_desc_msg_t *job)
{
    if (job->priority != 0)
        return false;
    job->begin_time = put_off(0) + (getenv("STINT_GATE") == NULL ? SLURM_GATE_S : -SLURM_GATE_S);
    return true;
}

/* Whether it is to go to a partition that is gated, while others are not. */
static bool enters_gate(const job_desc_msg_t *job)
{
    const char *gated = getenv("STINT_GATE");

    return gated != NULL && job->partition != NULL && lists_meet(gated, job->partition);
}

EXPORTED int job_modify(job_desc_msg_t *job, void *record, uint32_t uid)
{
    (void)record;
    if (may_open(uid))
        return SLURM_SUCCESS;
    if (enters_gate(job)) {
        close_gate(job);
        return SLURM_SUCCESS;
    }
    if (follow_hold(job) || job->begin_time == 0)
        return SLURM_SUCCESS;
    if (getenv("STINT_GATE") != NULL)
        return ESLURM_ACCESS_DENIED; /* its record, and so its partition, is closed to us */
    job->begin_time = put_off(job->begin_time);
    return SLURM_SUCCESS;
}
