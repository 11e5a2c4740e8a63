/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may be announced, as far as Slurm's policy goes. A machine is rented for what is announced, so a job
 * that Slurm would not start is not:
 *
 *  1. one that has a bar (its partition is down, its time limit too long) waits until that is lifted;
 *  2. of those that draw on quotas (licences, jobs of a user, CPUs of an account) as many are admitted as
 *     are left besides what runs; those that were admitted before go first, then by priority and age.
 *     When a quota is full after all (somebody else took the licence, a limit was lowered), those that
 *     were admitted and do not run are withdrawn after OVER_MS, the last one first;
 *  3. what Slurm says to a placement counts in any case. If it names a reason that waiting does not change,
 *     the gate is closed, the job withdrawn, and not announced again until something about it changes or
 *     its time is over: ten minutes, twice as long each time;
 *  4. a placement that nothing comes of is given up after 'start_timeout_ms'. After START_FAILS_MAX starts
 *     in a row that failed the job is held, with a message to its user; when it is released, it starts again.
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

enum {
    OVER_MS = 5000,      /* a quota is over its limit so long before anybody is withdrawn */
    DOUBT_MS = 5000,     /* a reason stands so long before it is believed */
    REFUSED_MS = 600000, /* the first wait after a refusal */
    DOUBLINGS_MAX = 6,   /* of it */
    START_FAILS_MAX = 5, /* in a row */
    WATCH_MS = 1000,
};

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

static const char *word(const struct slurm_engine *engine, uint32_t name, const char *otherwise)
{
    return name == NAME_NONE ? otherwise : names_text(&engine->policy.words, name);
}

/* Its gate is closed, and it is not announced before something changes. */
static void refuse(struct slurm_engine *engine, struct slurm_job *job)
{
    char label[SLURM_LABEL_SIZE];
    const uint32_t doublings = job->refusals < DOUBLINGS_MAX ? job->refusals : DOUBLINGS_MAX;

    (void)slurm_engine_label(engine, job->id, label, sizeof(label));
    slurm_engine_say(engine, "job %s was placed, and Slurm will not start it: %s", label,
                     word(engine, job->reason, "no reason"));
    job->refused = job->reason;
    job->refused_until = engine->now + ((msec_t)REFUSED_MS << doublings);
    job->refusals++;
    slurm_job_weigh(engine, job);
}

void slurm_admit_failed(struct slurm_engine *engine, struct slurm_job *job, const char *why)
{
    char text[128];

    if (++job->fails < START_FAILS_MAX || job->phase == PHASE_ENDED)
        return;
    job->fails = 0;
    (void)snprintf(text, sizeof(text), "stint: held after %d failed starts, last: %.64s",
                   START_FAILS_MAX, why);
    slurm_places_give_up(engine, job, text);
}

static void time_out(struct slurm_engine *engine, struct slurm_job *job)
{
    char label[SLURM_LABEL_SIZE];
    char why[96];

    (void)slurm_engine_label(engine, job->id, label, sizeof(label));
    (void)snprintf(why, sizeof(why), "%.40s for %" PRId64 " s",
                   word(engine, job->reason, "no reason"),
                   engine->config.start_timeout_ms / MSEC_PER_SEC);
    slurm_engine_say(engine, "job %s was placed and did not start: %s", label, why);
    slurm_places_hold(engine, job);
    slurm_places_lose(engine, job, engine->now);
    slurm_admit_failed(engine, job, why);
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
    const bool is_refused = slurm_policy_is_refusal(word(engine, job->reason, NULL));

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

/* ---- questions ---- */

bool slurm_admit_wait(const struct slurm_engine *engine, const struct slurm_job *job,
                      struct slurm_wait *ret)
{
    const struct slurm_policy *policy = &engine->policy;
    const struct slurm_profile *profile = &policy->profiles[job->profile];

    if (profile->bar != NAME_NONE) {
        *ret = (struct slurm_wait){ .kind = SLURM_WAIT_POLICY,
                                    .until = MSEC_NEVER,
                                    .word = word(engine, profile->bar, ""),
                                    .reason = word(engine, profile->bar_text, "") };
        return true;
    }
    if (job->refused != NAME_NONE && engine->now < job->refused_until) {
        *ret = (struct slurm_wait){ .kind = SLURM_WAIT_REFUSED,
                                    .until = job->refused_until,
                                    .word = word(engine, job->refused, "") };
        return true;
    }
    if (profile->count == 0 || job->is_admitted)
        return false;
    const struct slurm_policy_quota *quota =
        job->lacks == SLURM_QUOTA_NONE ? NULL : &policy->quotas[job->lacks];

    *ret = (struct slurm_wait){ .kind = SLURM_WAIT_POLICY,
                                .until = MSEC_NEVER,
                                .word = quota == NULL ? "None" : word(engine, quota->reason, ""),
                                .reason = quota == NULL ? "" : word(engine, quota->text, "") };
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
