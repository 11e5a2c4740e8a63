/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is, by Slurm's priority (slurm_rank.h says what is reported as such).
 *
 * Slurm gives no priority to a job that is held, and the gate holds new ones. So the hold, not the gate, is taken
 * off those that still wait UNHOLD_AFTER_MS after they came: most are placed before, which needs no such request. The
 * youngest come first, so that one that is urgent need not wait until a backlog is worked off; until then a job has
 * the priority 0 and comes behind all others. Those that wait for another job are freed at once, since Slurm does
 * not watch the dependencies of a held job.
 *
 * Costs:  a request for at most UNHOLD_AT_ONCE jobs a second, where an array counts once for each of its records;
 *         O(jobs that are still held) a second.
 */
#include <string.h>

#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"

enum { UNHOLD_AFTER_MS = 1000, UNHOLD_AT_ONCE = 128 };

void slurm_priority_take(struct slurm_engine *engine, struct slurm_job *job, uint32_t priority)
{
    if (priority == 0 || priority == job->priority)
        return;
    job->priority = priority;
    if (!job->is_announced || job->phase != PHASE_WAITING)
        return;
    slurm_engine_emit(
        engine, &(struct engine_event){
                    .kind = ENGINE_JOB_CHANGED,
                    .at = engine->now,
                    .changes = CHANGE_PRIORITY,
                    .job = { .id = job->id, .first_task_id = job->id, .priority = priority } });
}

/* Those of an array that have no record of their own. */
static void take_for_array(struct slurm_engine *engine, uint64_t array, uint32_t priority)
{
    const uint32_t at = map_get(&engine->by_array, array);
    uint32_t row = at == MAP_NONE ? INDEX_NONE : engine->arrays[at].first_member;

    while (row != INDEX_NONE) {
        struct slurm_job *job = &engine->jobs[row];

        row = job->next_member;
        if (!job->is_split)
            slurm_priority_take(engine, job, priority);
    }
}

void slurm_priority_on_line(struct slurm_engine *engine, const struct line *line)
{
    const char *id = line_get(line, "id");
    const char *array = line_get(line, "array");
    const char *value = line_get(line, "value");
    uint64_t number = 0;
    uint64_t priority = 0;

    if (id == NULL || value == NULL ||
        line_number(array == NULL ? id : array, ID_JOB_MAX, &number) < 0 ||
        line_number(value, UINT32_MAX, &priority) < 0) {
        engine->stats.bad_lines++;
        return;
    }
    if (array != NULL) {
        take_for_array(engine, number, (uint32_t)priority);
        return;
    }
    const uint32_t row = map_get(&engine->by_record, number);

    if (row != MAP_NONE)
        slurm_priority_take(engine, &engine->jobs[row], (uint32_t)priority);
}

void slurm_priority_see(struct slurm_engine *engine, struct slurm_job *job,
                        const struct slurm_job_line *line)
{
    const bool is_stuck = slurm_job_line_is_stuck(line);
    const msec_t due = engine->now + (is_stuck ? 0 : UNHOLD_AFTER_MS);

    job->is_gate_held = line->hold != NULL && strcmp(line->hold, "held-gate") == 0;
    if (!job->is_gate_held || job->is_unheld || engine->config.observes)
        return;
    if (due < engine->unhold_wake)
        engine->unhold_wake = due;
    job->unhold_at = due;
    if (job->is_to_unhold)
        return;
    job->is_to_unhold = true;
    slurm_rows_add(&engine->held, (uint32_t)(job - engine->jobs));
}

static bool is_due(const struct slurm_engine *engine, const struct slurm_job *job)
{
    return job->is_used && job->is_to_unhold && job->unhold_at <= engine->now;
}

/* Whether the two are one record of Slurm's, and one request. */
static bool is_same_record(const struct slurm_job *job, const struct slurm_job *other)
{
    return other != NULL && job->array != INDEX_NONE && job->array == other->array &&
           !job->is_split && !other->is_split;
}

/* The rows that are due, from the youngest on, as long as they are not too many requests. */
static uint32_t take_due(struct slurm_engine *engine, uint64_t *ids)
{
    const struct slurm_job *last = NULL;
    uint32_t requests = 0;
    uint32_t count = 0;

    for (uint32_t i = engine->held.count; i-- > 0;) {
        struct slurm_job *job = &engine->jobs[engine->held.row[i]];

        if (!is_due(engine, job))
            continue;
        if (requests == UNHOLD_AT_ONCE && !is_same_record(job, last))
            break;
        job->is_to_unhold = false;
        if (job->phase != PHASE_WAITING || !job->is_gate_held || job->is_asked)
            continue;
        job->is_unheld = true;
        requests += !is_same_record(job, last);
        last = job;
        ids[count++] = job->id;
    }
    return count;
}

/* What is not due yet, or was too much. */
static void keep_rest(struct slurm_engine *engine)
{
    uint32_t kept = 0;

    engine->unhold_wake = MSEC_NEVER;
    for (uint32_t i = 0; i < engine->held.count; i++) {
        const struct slurm_job *job = &engine->jobs[engine->held.row[i]];
        const msec_t next = is_due(engine, job) ? engine->now + UNHOLD_AFTER_MS : job->unhold_at;

        if (!job->is_used || !job->is_to_unhold)
            continue;
        engine->held.row[kept++] = engine->held.row[i];
        if (next < engine->unhold_wake)
            engine->unhold_wake = next;
    }
    engine->held.count = kept;
}

void slurm_priority_tick(struct slurm_engine *engine)
{
    if (engine->now < engine->unhold_wake)
        return;
    uint64_t *ids = mem_alloc(engine->held.count, sizeof(*ids));
    const uint32_t count = take_due(engine, ids);

    if (count > 0)
        slurm_ask_jobs(engine, "unhold", ASK_UNHOLD, ids, count);
    mem_free(ids);
    keep_rest(engine);
}
