/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a job waits, where Slurm's users look: in its admin comment, "Stint: limit instances is reached".
 *
 * What the comment says by now is known from the lines 'job', so nothing is sent twice, whoever set it, and what Slurm
 * did not take is seen in the next list. A comment that the site has set is never changed. A line that says why a job
 * waits begins with SLURM_NOTE; those that say where it runs, what it cost or why it was given up begin in lower case:
 * these are replaced when the job waits again, and never taken off.
 *
 * Jobs of which something was reported come first, the latest first; then all that wait, in turn, since a reason changes
 * without a line. Tasks of an array that are one record of Slurm's have one comment: that of the first that waits.
 *
 * Costs:  at most NOTES_AT_ONCE requests each NOTES_STEP_MS, and only while no other is under way; a job once in
 *         NOTE_AGAIN_MS; at most LOOKS_MAX questions for a reason each NOTES_STEP_MS. Nothing while no job waits.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"
#include "engine/slurm/slurm_protocol.h"

enum {
    NOTE_AFTER_MS = 2000, /* most are placed before */
    NOTE_AGAIN_MS = 5000,
    NOTES_SWEEP_MS = 1000,
    NOTES_STEP_MS = 250,
    NOTES_AT_ONCE = 8,
    LOOKS_MAX = 512,
    ROWS_MAX = 1 << 16,
};

enum { NOTE_EMPTY, NOTE_OF_SITE, NOTE_OF_OURS, NOTE_WHY };

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261U; /* FNV-1a */

    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619U;
    return hash;
}

static uint8_t kind_of(const char *comment)
{
    const size_t size = sizeof(SLURM_NOTE) - 1;

    if (comment == NULL || *comment == '\0')
        return NOTE_EMPTY;
    if (strncmp(comment, SLURM_NOTE, size) == 0)
        return NOTE_WHY;
    return strncasecmp(comment, SLURM_NOTE, size) == 0 ? NOTE_OF_OURS : NOTE_OF_SITE;
}

bool slurm_notes_may(const struct slurm_job *job)
{
    return job->note_kind != NOTE_OF_SITE;
}

static bool is_writing(const struct slurm_engine *engine)
{
    return engine->config.explain != NULL && !engine->config.observes;
}

static bool is_part(const struct slurm_job *job)
{
    return job->array != INDEX_NONE && !job->is_split;
}

/* Whether its comment may be written now: it waits, and nobody was asked to start it. */
static bool is_waiting(const struct slurm_job *job)
{
    return job->is_used && job->record != 0 && job->phase == PHASE_WAITING && !job->is_completing &&
           !job->is_asked && !job->is_stopping && !job->is_cancelling;
}

/* Whether it runs and its comment still says why it waits. */
static bool is_stale(const struct slurm_job *job)
{
    return job->is_used && job->phase == PHASE_RUNNING && job->note_kind == NOTE_WHY;
}

/* Whether one of the array that the job is a part of is looked at first anyway. */
static bool is_array_noting(const struct slurm_engine *engine, const struct slurm_job *job)
{
    const struct slurm_job *other = &engine->jobs[engine->arrays[job->array].noting];

    return other->is_noting && other->array == job->array && !other->is_split;
}

void slurm_notes_see(struct slurm_engine *engine, struct slurm_job *job,
                     const struct slurm_job_line *line)
{
    job->note_kind = kind_of(line->comment);
    job->note = job->note_kind == NOTE_EMPTY ? 0 : hash_of(line->comment);
    if (!is_writing(engine) || job->note_kind == NOTE_OF_SITE ||
        (!is_waiting(job) && !is_stale(job)) || job->is_noting)
        return;
    if (job->note_at == 0)
        job->note_at = engine->now + NOTE_AFTER_MS;
    if (is_part(job)) {
        if (is_array_noting(engine, job))
            return;
        engine->arrays[job->array].noting = (uint32_t)(job - engine->jobs);
    }
    job->is_noting = true;
    if (engine->notes_wake > engine->now + NOTE_AFTER_MS)
        engine->notes_wake = engine->now + NOTE_AFTER_MS;
    slurm_rows_add(&engine->fresh, (uint32_t)(job - engine->jobs));
}

/* The job whose reason is that of the record; NULL: none of it waits. */
static struct slurm_job *head_of(struct slurm_engine *engine, struct slurm_job *job)
{
    if (!is_part(job))
        return job;
    for (uint32_t row = engine->arrays[job->array].first_member; row != INDEX_NONE;
         row = engine->jobs[row].next_member) {
        struct slurm_job *member = &engine->jobs[row];

        if (!member->is_split && is_waiting(member))
            return member;
    }
    return NULL;
}

/* What its comment should be, "": none; false: that is not known. */
static bool wanted_note(struct slurm_engine *engine, const struct slurm_job *job, char *ret,
                        size_t size)
{
    const size_t used = sizeof(SLURM_NOTE) - 1;

    ret[0] = '\0';
    if (job->phase != PHASE_WAITING || job->closed == SLURM_WAIT_USER_HOLD ||
        job->closed == SLURM_WAIT_ADMIN_HOLD)
        return true;
    assert(size > used);
    memcpy(ret, SLURM_NOTE, used + 1);
    const int length =
        engine->config.explain(engine->config.context, job->id, ret + used, size - used);

    if (length <= 0)
        ret[0] = '\0';
    return length >= 0;
}

static void send_note(struct slurm_engine *engine, struct slurm_job *job, const char *text)
{
    (void)slurm_ask_begin(engine, "explain");
    line_text_number(&engine->out, "job", job->record);
    if (*text != '\0')
        line_text_string(&engine->out, "text", text);
    slurm_ask_end(engine, ASK_EXPLAIN, job->id);
    job->note = *text == '\0' ? 0 : hash_of(text);
    job->note_kind = kind_of(text);
    job->note_at = engine->now + NOTE_AGAIN_MS;
}

struct note_step {
    uint32_t sent;
    uint32_t looks; /* questions for a reason */
};

/* Write what the record of the job should say, if it does not; false: not yet. */
static bool note(struct slurm_engine *engine, struct slurm_job *row, struct note_step *step)
{
    char text[SLURM_NOTE_SIZE];
    struct slurm_job *job = head_of(engine, row);

    if (job == NULL || job->note_kind == NOTE_OF_SITE || (!is_waiting(job) && !is_stale(job)))
        return true;
    if (job->note_at > engine->now)
        return false;
    step->looks++;
    if (!wanted_note(engine, job, text, sizeof(text)))
        return true;
    if (*text == '\0' ? job->note_kind != NOTE_WHY : job->note == hash_of(text))
        return true;
    send_note(engine, job, text);
    step->sent++;
    return true;
}

static bool is_full(const struct note_step *step)
{
    return step->sent == NOTES_AT_ONCE || step->looks >= LOOKS_MAX;
}

static void note_fresh(struct slurm_engine *engine, struct note_step *step)
{
    struct slurm_rows *fresh = &engine->fresh;
    uint32_t kept = fresh->count;

    /* From the end, so that what is left stands together there. */
    for (uint32_t i = fresh->count; i-- > 0;) {
        const uint32_t row = fresh->row[i];
        struct slurm_job *job = &engine->jobs[row];

        if (job->is_noting && (is_full(step) || !note(engine, job, step))) {
            fresh->row[--kept] = row;
            continue;
        }
        job->is_noting = false;
    }
    memmove(fresh->row, fresh->row + kept, (fresh->count - kept) * sizeof(*fresh->row));
    fresh->count -= kept;
}

/* All others, in turn; whether any waits. */
static bool note_next(struct slurm_engine *engine, struct note_step *step)
{
    bool is_any = false;

    for (uint32_t i = 0; i < engine->job_count && i < ROWS_MAX; i++) {
        if (is_full(step))
            return true;
        if (engine->note_cursor >= engine->job_count) {
            engine->note_cursor = 0;
            engine->note_round++;
        }
        struct slurm_job *job = &engine->jobs[engine->note_cursor++];

        if (!job->is_used || job->is_noting || (!is_waiting(job) && !is_stale(job)))
            continue;
        is_any = true;
        if (is_part(job)) {
            if (engine->arrays[job->array].noted == engine->note_round)
                continue;
            engine->arrays[job->array].noted = engine->note_round;
        }
        (void)note(engine, job, step);
    }
    return is_any || engine->job_count > ROWS_MAX;
}

void slurm_notes_tick(struct slurm_engine *engine)
{
    struct note_step step = { .sent = 0 };

    if (engine->now < engine->notes_wake)
        return;
    if (!slurm_engine_is_up(engine)) {
        engine->notes_wake = engine->now + NOTES_SWEEP_MS;
        return;
    }
    if (engine->stats.open > 0) { /* whatever it is, it comes first */
        engine->notes_wake = engine->now + NOTES_STEP_MS;
        return;
    }
    note_fresh(engine, &step);
    const bool is_any = note_next(engine, &step) || engine->fresh.count > 0;

    engine->notes_wake = step.sent == NOTES_AT_ONCE ? engine->now + NOTES_STEP_MS
                         : is_any                   ? engine->now + NOTES_SWEEP_MS
                                                    : MSEC_NEVER;
}

void slurm_notes_failed(struct slurm_engine *engine, const struct slurm_ask *ask)
{
    struct slurm_job *job = slurm_job_of(engine, ask->subject);

    if (job != NULL && job->note_kind != NOTE_OF_SITE)
        job->note = 0; /* not known; it is written again if it still is wanted */
}
