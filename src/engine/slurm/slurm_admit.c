/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may be announced, as far as Slurm's policy goes. A machine is rented for what is announced, so a job
 * that Slurm would not start is not: one that has a bar (its partition is down, its time limit too long) waits until
 * that is lifted; one that draws on quotas, until it is admitted; one that Slurm refused, until its time is over or
 * something about it changes. slurm_admit_turns.c decides who is admitted and what is refused.
 *
 * Whoever runs is not touched by any of this.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"

/* ---- what is reported ---- */

void slurm_admit_on_quota(struct slurm_engine *engine, const struct line *line)
{
    const char *name = line_get(line, "name");
    const char *max = line_get(line, "max");
    const char *used = line_get(line, "used");
    uint64_t most = 0;
    uint64_t now = 0;

    if (name == NULL || max == NULL || used == NULL || line_number(max, UINT64_MAX, &most) < 0 ||
        line_number(used, UINT64_MAX, &now) < 0) {
        engine->stats.bad_lines++;
        return;
    }
    if (slurm_policy_set(&engine->policy, name, most, now, line_get(line, "reason"),
                         line_get(line, "text")))
        slurm_admit_soon(engine);
}

void slurm_admit_soon(struct slurm_engine *engine)
{
    engine->admit_wake = engine->now;
}

/* Something about it is other than when it was refused: it may be tried again. */
static void forgive(struct slurm_job *job)
{
    job->refused = NAME_NONE;
    job->refused_until = 0;
    job->refusals = 0;
}

void slurm_admit_take_line(struct slurm_engine *engine, struct slurm_job *job,
                           const struct slurm_job_line *line)
{
    const uint32_t profile =
        line->phase != PHASE_WAITING
            ? job->profile
            : slurm_policy_profile(&engine->policy, line->bar, line->bar_text, line->draws);

    if (profile != job->profile) {
        forgive(job);
        job->is_admitted = false;
        job->profile = profile;
    }
    if (line->phase == PHASE_WAITING && line->priority != NUMBER_NONE)
        slurm_priority_take(engine, job, (uint32_t)line->priority);
    job->reason =
        slurm_policy_word(&engine->policy, line->phase == PHASE_WAITING ? line->reason : NULL);
    if (slurm_policy_has_draws(&engine->policy, job->profile))
        slurm_admit_soon(engine);
}

void slurm_admit_forgive(struct slurm_job *job)
{
    forgive(job);
    job->fails = 0;
}

bool slurm_admit_may(struct slurm_engine *engine, const struct slurm_job *job)
{
    if (slurm_policy_is_barred(&engine->policy, job->profile))
        return false;
    if (job->refused != NAME_NONE) {
        if (engine->now < job->refused_until) {
            if (job->refused_until < engine->begin_wake)
                engine->begin_wake = job->refused_until;
            return false;
        }
    }
    return job->is_admitted || !slurm_policy_has_draws(&engine->policy, job->profile);
}

void slurm_admit_watch(struct slurm_engine *engine, struct slurm_job *job)
{
    if (job->is_watched || !job->is_asked)
        return;
    job->is_watched = true;
    job->asked_at = job->doubted_at = MSEC_NEVER;
    slurm_rows_add(&engine->watched, (uint32_t)(job - engine->jobs));
    if (engine->now < engine->watch_wake)
        engine->watch_wake = engine->now;
}

const char *slurm_admit_word(const struct slurm_engine *engine, uint32_t name,
                             const char *otherwise)
{
    return name == NAME_NONE ? otherwise : names_text(&engine->policy.words, name);
}

/* ---- questions ---- */

bool slurm_admit_wait(const struct slurm_engine *engine, const struct slurm_job *job,
                      struct slurm_wait *ret)
{
    const struct slurm_policy *policy = &engine->policy;
    const struct slurm_profile *profile = &policy->profiles[job->profile];

    if (profile->bar != NAME_NONE) {
        *ret = (struct slurm_wait){ .kind = SLURM_WAIT_POLICY,
                                    .until = MSEC_NEVER,
                                    .word = slurm_admit_word(engine, profile->bar, ""),
                                    .reason = slurm_admit_word(engine, profile->bar_text, "") };
        return true;
    }
    if (job->refused != NAME_NONE && engine->now < job->refused_until) {
        *ret = (struct slurm_wait){ .kind = SLURM_WAIT_REFUSED,
                                    .until = job->refused_until,
                                    .word = slurm_admit_word(engine, job->refused, "") };
        return true;
    }
    if (profile->count == 0 || job->is_admitted)
        return false;
    const struct slurm_policy_quota *quota =
        job->lacks == SLURM_QUOTA_NONE ? NULL : &policy->quotas[job->lacks];

    *ret = (struct slurm_wait){
        .kind = SLURM_WAIT_POLICY,
        .until = MSEC_NEVER,
        .word = quota == NULL ? "None" : slurm_admit_word(engine, quota->reason, ""),
        .reason = quota == NULL ? "" : slurm_admit_word(engine, quota->text, "")
    };
    return quota != NULL;
}

void slurm_engine_each_barred(struct slurm_engine *engine,
                              void (*each)(void *context, uint64_t task,
                                           const struct slurm_wait *wait),
                              void *context)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        const struct slurm_job *job = &engine->jobs[i];
        struct slurm_wait wait;

        if (job->is_used && job->phase == PHASE_WAITING && !job->is_announced &&
            job->closed == SLURM_WAIT_NONE && slurm_admit_wait(engine, job, &wait))
            each(context, job->id, &wait);
    }
}
