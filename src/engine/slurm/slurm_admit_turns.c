/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is admitted, and what becomes of those that Slurm does not start:
 *
 *  1. of those that draw on quotas (licences, jobs of a user, CPUs of an account) as many are admitted as
 *     are left besides what runs; those that were admitted before go first, then by priority and age.
 *     When a quota is full after all (somebody else took the licence, a limit was lowered), those that
 *     were admitted and do not run are withdrawn after OVER_MS, the last one first;
 *  2. what Slurm says to a placement counts in any case. If it names a reason that waiting does not change,
 *     the gate is closed, the job withdrawn, and not announced again until something about it changes or
 *     its time is over: ten minutes, twice as long each time;
 *  3. a placement that nothing comes of is given up after 'start_timeout_ms'.
 *
 * Costs:  O(jobs log jobs) when a quota or who draws on it has changed; O(placed jobs that do not run) a second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"

enum {
    OVER_MS = 5000,      /* a quota is over its limit so long before anybody is withdrawn */
    DOUBT_MS = 5000,     /* a reason stands so long before it is believed */
    REFUSED_MS = 600000, /* the first wait after a refusal */
    DOUBLINGS_MAX = 6,   /* of it */
    WATCH_MS = 1000,
};

/* ---- quotas ---- */

/* One who wants to be admitted. */
struct candidate {
    uint64_t id;
    uint64_t submit_s;
    uint32_t row;
    uint32_t priority;
    uint8_t rank; /* 0: placed, 1: announced, 2: neither */
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->submit_s != y->submit_s)
        return x->submit_s < y->submit_s ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static uint32_t gather(struct slurm_engine *engine, struct candidate **ret)
{
    struct candidate *all = NULL;
    uint32_t count = 0;
    uint32_t room = 0;

    for (uint32_t i = 0; i < engine->job_count; i++) {
        const struct slurm_job *job = &engine->jobs[i];

        if (!job->is_used || job->phase != PHASE_WAITING ||
            !slurm_policy_has_draws(&engine->policy, job->profile) ||
            !slurm_job_is_ready(engine, job))
            continue;
        MEM_ROOM(all, room, count + 1);
        all[count++] = (struct candidate){ .id = job->id,
                                           .submit_s = job->submit_s,
                                           .row = i,
                                           .priority = job->is_announced ? 0 : job->priority,
                                           .rank = job->is_asked       ? 0
                                                   : job->is_announced ? 1
                                                                       : 2 };
    }
    if (count > 1)
        qsort(all, count, sizeof(*all), compare_candidates);
    *ret = all;
    return count;
}

/* There is no room for it. Who was admitted stays so for a little: what runs may be counted twice between
 * two looks. */
static bool may_stay(struct slurm_engine *engine, struct slurm_job *job)
{
    if (!job->is_admitted)
        return false;
    if (engine->over_since == MSEC_NEVER)
        engine->over_since = engine->now;
    if (engine->now - engine->over_since >= OVER_MS)
        return false;
    engine->admit_wake = engine->over_since + OVER_MS;
    return true;
}

void slurm_admit_tick(struct slurm_engine *engine)
{
    struct candidate *all = NULL;
    bool is_over = false;

    if (engine->now < engine->admit_wake)
        return;
    engine->admit_wake = MSEC_NEVER;
    slurm_policy_clear(&engine->policy);
    const uint32_t count = gather(engine, &all);

    for (uint32_t i = 0; i < count; i++) {
        struct slurm_job *job = &engine->jobs[all[i].row];

        job->lacks = slurm_policy_lacking(&engine->policy, job->profile);
        if (job->lacks != SLURM_QUOTA_NONE) {
            is_over = is_over || job->is_admitted;
            if (!may_stay(engine, job)) {
                job->is_admitted = false;
                slurm_job_weigh(engine, job);
                continue;
            }
        }
        job->is_admitted = true;
        slurm_policy_take(&engine->policy, job->profile);
        slurm_job_weigh(engine, job);
        if (!job->is_announced) { /* its array, or the crowd, keeps it */
            job->is_admitted = false;
            slurm_policy_give(&engine->policy, job->profile);
        }
    }
    if (!is_over)
        engine->over_since = MSEC_NEVER;
    mem_free(all);
}

/* ---- what Slurm says to a placement ---- */

/* Its gate is closed, and it is not announced before something changes. */
static void refuse(struct slurm_engine *engine, struct slurm_job *job)
{
    char label[SLURM_LABEL_SIZE];
    const uint32_t doublings = job->refusals < DOUBLINGS_MAX ? job->refusals : DOUBLINGS_MAX;

    (void)slurm_engine_label(engine, job->id, label, sizeof(label));
    slurm_engine_say(engine, "job %s was placed, and Slurm will not start it: %s", label,
                     slurm_admit_word(engine, job->reason, "no reason"));
    job->refused = job->reason;
    job->refused_until = engine->now + ((msec_t)REFUSED_MS << doublings);
    job->refusals++;
    slurm_job_weigh(engine, job);
}

static void time_out(struct slurm_engine *engine, struct slurm_job *job)
{
    char label[SLURM_LABEL_SIZE];
    char why[96];

    (void)slurm_engine_label(engine, job->id, label, sizeof(label));
    (void)snprintf(why, sizeof(why), "%.40s for %" PRId64 " s",
                   slurm_admit_word(engine, job->reason, "no reason"),
                   engine->config.start_timeout_ms / MSEC_PER_SEC);
    slurm_engine_say(engine, "job %s was placed and did not start: %s", label, why);
    slurm_places_hold(engine, job);
    slurm_places_lose(engine, job, engine->now);
    slurm_places_count_fail(engine, job, why);
}

/* Look at one that was placed or queued; whether it is to be looked at again. */
static bool look_at(struct slurm_engine *engine, struct slurm_job *job)
{
    if (!job->is_used || !job->is_watched)
        return false;
    if (job->phase != PHASE_WAITING || !job->is_asked || !job->is_announced) {
        job->is_watched = false;
        return false;
    }
    const bool is_refused = slurm_policy_is_refusal(slurm_admit_word(engine, job->reason, NULL));

    if (job->asked_at == MSEC_NEVER)
        job->asked_at = engine->now;
    if (!is_refused)
        job->doubted_at = MSEC_NEVER;
    else if (job->doubted_at == MSEC_NEVER)
        job->doubted_at = engine->now;
    const bool is_over = engine->now - job->asked_at >= engine->config.start_timeout_ms &&
                         slurm_job_task(job, 0)->wanted != 0 && !job->is_stopping &&
                         !job->is_cancelling;

    if (is_refused && engine->now - job->doubted_at >= DOUBT_MS && !job->is_stopping &&
        !job->is_cancelling) {
        job->is_watched = false;
        refuse(engine, job);
        return false;
    }
    if (is_over) {
        job->is_watched = false;
        time_out(engine, job);
        return false;
    }
    return true;
}

void slurm_admit_watch_tick(struct slurm_engine *engine)
{
    struct slurm_rows *watched = &engine->watched;
    uint32_t kept = 0;

    if (engine->now < engine->watch_wake)
        return;
    for (uint32_t i = 0; i < watched->count; i++) {
        const uint32_t row = watched->row[i];

        if (look_at(engine, &engine->jobs[row]))
            watched->row[kept++] = row;
    }
    watched->count = kept;
    engine->watch_wake = kept == 0 ? MSEC_NEVER : engine->now + WATCH_MS;
}
