/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs as Slurm tells them. What a 'job' line says and what 'started', 'requeued' and 'ended' say is
 * the same news, and whichever comes first counts: each is held against what is known, and a step
 * that was taken already is not taken again (slurm_job_life.c).
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"
#include "engine/slurm/slurm_rate.h"
#include "engine/slurm/slurm_spell.h"

/* What one record says of each of its tasks. */
struct record {
    const struct slurm_job_line *line;
    struct slurm_life life;
    struct slurm_job_wish wish;
    uint32_t name;
    uint32_t user;
    bool has_wish;
};

/* Slurm gave the id out again, or had it run again after its end, which was reported. */
static bool is_another(const struct slurm_job *job, const struct slurm_job_line *line)
{
    if (job->record == 0)
        return false;
    if (job->phase == PHASE_ENDED && line->phase != PHASE_ENDED)
        return true;
    return line->submit != NUMBER_NONE && line->submit > job->submit_s && line->run <= job->run;
}

/* The old job is gone, and the new one is of the next generation. */
static void renew(struct slurm_engine *engine, struct slurm_job *job)
{
    const uint64_t slot = job->id & ~GENERATION_MASK;
    const uint64_t generation = (job->id >> GENERATION_SHIFT) + 1;

    slurm_job_vanish(engine, job);
    if (map_get(&engine->by_record, job->record) == (uint32_t)(job - engine->jobs))
        (void)map_remove(&engine->by_record, job->record);
    mem_free(job->many);
    mem_free(job->parts);
    *job = (struct slurm_job){
        .id = slot | generation << GENERATION_SHIFT,
        .retry_at = MSEC_NEVER,
        .wish = { .shape = SHAPE_NONE, .reason = NAME_NONE },
        .cost_type = NAME_NONE,
        .reason = NAME_NONE,
        .refused = NAME_NONE,
        .lacks = SLURM_QUOTA_NONE,
        .array = job->array,
        .next_member = job->next_member,
        .prev_member = job->prev_member,
        .is_used = true,
        .is_dirty = job->is_dirty,
        .is_late = job->is_late,
        .is_watched = job->is_watched,
        .is_to_unhold = job->is_to_unhold,
        .is_noting = job->is_noting,
    };
}

static bool is_same_wish(const struct slurm_job *job, const struct slurm_job_wish *wish)
{
    return job->task_count == wish->task_count && job->wish.shape == wish->wish.shape &&
           job->wish.reason == wish->wish.reason && slurm_market_same(&job->rules, &wish->rules) &&
           job->part_count == wish->parts.count &&
           (job->part_count == 0 ||
            memcmp(job->parts, wish->parts.row, job->part_count * sizeof(*job->parts)) == 0);
}

/* What it asks for; read only while it waits, for later the record tells what it was given. */
static void take_wish(struct slurm_engine *engine, struct slurm_job *job, struct record *record)
{
    if (!record->has_wish) {
        record->has_wish = true;
        record->wish = slurm_job_line_wish(engine, &engine->shapes, record->line);
    }
    const struct slurm_job_wish *wish = &record->wish;

    if (is_same_wish(job, wish))
        return;
    job->wish.shape = SHAPE_NONE; /* it must not be announced as it was, as the next of its array */
    slurm_job_withdraw(engine, job);
    slurm_admit_forgive(job);
    job->wish = wish->wish;
    job->rules = wish->rules;
    job->task_count = wish->task_count;
    mem_free(job->parts);
    job->parts = NULL;
    job->part_count = wish->parts.count;
    if (job->part_count > 0)
        job->parts =
            mem_copy(wish->parts.row, job->part_count, job->part_count, sizeof(*job->parts));
}

static void take_facts(struct slurm_engine *engine, struct slurm_job *job,
                       const struct record *record)
{
    const struct slurm_job_line *line = record->line;

    job->name = record->name;
    job->user = record->user;
    slurm_payer_take(engine, job, line);
    if (line->submit != NUMBER_NONE && line->submit <= LIMIT_TIME_MS / 1000)
        job->submit_s = line->submit;
    job->begin_at = line->begin == NUMBER_NONE           ? 0
                    : line->begin > LIMIT_TIME_MS / 1000 ? LIMIT_TIME_MS
                                                         : (msec_t)line->begin * MSEC_PER_SEC;
    const msec_t limit_ms = job->limit_ms;

    job->limit_ms = line->limit_s == NUMBER_NONE || line->limit_s > LIMIT_TIME_MS / 1000
                        ? -1
                        : (msec_t)line->limit_s * MSEC_PER_SEC;
    if (job->limit_ms != limit_ms)
        slurm_admit_forgive(job);
    const uint8_t closed = (uint8_t)slurm_job_line_closed(line);

    if (job->closed == SLURM_WAIT_USER_HOLD && closed == SLURM_WAIT_NONE)
        slurm_admit_forgive(job); /* its user has let it go again */
    job->closed = closed;
    slurm_admit_take_line(engine, job, line);
    job->is_movable = slurm_job_line_is_movable(engine, line);
    job->is_completing = line->completing == 1;
}

/* How fast it runs, unless that was said before it was seen, or of an earlier run. */
static void take_rate(struct slurm_engine *engine, struct slurm_job *job,
                      const struct slurm_job_line *line, bool is_new)
{
    struct engine_event event = { .kind = ENGINE_TASK_RATE, .at = engine->now };

    if (!slurm_rate_hear(line->user_comment, &job->rate_report, &event.rate_ppm) || is_new ||
        job->phase != PHASE_RUNNING || job->is_foreign)
        return;
    for (uint32_t rank = 0; rank < slurm_job_tasks(job); rank++) {
        event.key = slurm_job_task(job, rank)->key;
        slurm_job_tell_task(engine, job, rank, &event);
    }
}

static void take_record(struct slurm_engine *engine, struct slurm_job *job, struct record *record)
{
    const bool is_new = job->record == 0;

    if (job->record != (uint32_t)record->line->id) {
        const uint32_t row = (uint32_t)(job - engine->jobs);

        if (!is_new && map_get(&engine->by_record, job->record) == row)
            (void)map_remove(&engine->by_record, job->record);
        job->record = (uint32_t)record->line->id;
    }
    job->seen = engine->round;
    if (is_new)
        job->run = (uint32_t)record->line->run;
    take_facts(engine, job, record);
    if (is_new || (record->life.phase == PHASE_WAITING && job->phase == PHASE_WAITING &&
                   job->run == record->life.run))
        take_wish(engine, job, record);
    if (is_new && record->life.phase == PHASE_ENDED) {
        slurm_job_past(engine, job, &record->life);
        return;
    }
    slurm_job_live(engine, job, &record->life);
    slurm_notes_see(engine, job, record->line);
    take_rate(engine, job, record->line, is_new);
    if (job->phase != PHASE_WAITING)
        return;
    slurm_places_pass(engine, job, record->line);
    slurm_job_weigh(engine, job);
    slurm_priority_see(engine, job, record->line);
    slurm_admit_watch(engine, job);
    if (job->is_completing)
        return;
    if (job->asked > 0 && !job->is_asked)
        slurm_places_mark(engine, job);
    if (job->asked == 0 && job->is_stopped)
        slurm_places_hold(engine, job);
    job->is_stopped = false;
}

/* Whether a job that is unknown, and has ended, is to be reported all the same: it ran while nobody listened. */
static bool is_missed(const struct slurm_engine *engine, uint64_t slot,
                      const struct slurm_life *life)
{
    const struct slurm_engine_config *config = &engine->config;

    return engine->catches_up && engine->is_listing && !config->observes && life->nodes != NULL &&
           life->start_s > 0 && config->is_booked != NULL &&
           !config->is_booked(config->context, slot);
}

/* The job of a slot and a line about it; NULL: it is none of ours. */
static struct slurm_job *job_for(struct slurm_engine *engine, uint64_t slot, uint32_t array,
                                 const struct record *record)
{
    uint32_t row = map_get(&engine->by_slot, slot);

    if (row == MAP_NONE && record->life.phase == PHASE_ENDED &&
        !is_missed(engine, slot, &record->life))
        return NULL; /* it was never reported */
    row = slurm_job_row(engine, slot, array);
    if (row == INDEX_NONE)
        return NULL;
    if (is_another(&engine->jobs[row], record->line))
        renew(engine, &engine->jobs[row]);
    return &engine->jobs[row];
}

struct array_walk {
    struct slurm_engine *engine;
    struct record *record;
    uint32_t array;
};

static int take_member(void *context, uint32_t index)
{
    struct array_walk *walk = context;
    struct slurm_job *job =
        job_for(walk->engine, slurm_slot(walk->array, index + 1), walk->array, walk->record);

    if (job == NULL || job->is_split)
        return 0;
    take_record(walk->engine, job, walk->record);
    return 0;
}

static int ignore_member(void *context, uint32_t index)
{
    (void)context;
    (void)index;
    return 0;
}

static void take_array(struct slurm_engine *engine, struct record *record)
{
    struct array_walk walk = { .engine = engine,
                               .record = record,
                               .array = (uint32_t)record->line->array };
    uint32_t limit = 0;

    /* The limit stands at the end, and must be known before the first is announced. */
    if (slurm_spell_tasks(record->line->tasks, LIMIT_TASKS_PER_JOB, ignore_member, NULL, &limit) <
        0) {
        engine->stats.bad_lines++;
        return;
    }
    if (record->life.phase == PHASE_ENDED && map_get(&engine->by_array, walk.array) == MAP_NONE)
        return; /* it was never reported */
    const uint32_t row = slurm_array_row(engine, walk.array);

    if (record->line->array_most != NUMBER_NONE && record->line->array_most < UINT32_MAX)
        limit = (uint32_t)record->line->array_most;
    engine->arrays[row].limit = limit;
    (void)slurm_spell_tasks(record->line->tasks, LIMIT_TASKS_PER_JOB, take_member, &walk, &limit);
}

static void take_single(struct slurm_engine *engine, struct record *record)
{
    const struct slurm_job_line *line = record->line;
    const bool is_member = line->array != NUMBER_NONE && line->task != NUMBER_NONE;
    const uint32_t array = is_member ? (uint32_t)line->array : 0;
    const uint64_t slot =
        is_member ? slurm_slot(array, (uint32_t)line->task + 1) : slurm_slot((uint32_t)line->id, 0);
    struct slurm_job *job = job_for(engine, slot, array, record);

    if (job == NULL)
        return;
    job->is_split = is_member;
    /* A daemon that is started later may see none but those that were split off the array. */
    if (job->array != INDEX_NONE && line->array_most != NUMBER_NONE &&
        line->array_most < UINT32_MAX)
        engine->arrays[job->array].limit = (uint32_t)line->array_most;
    map_put(&engine->by_record, line->id, (uint32_t)(job - engine->jobs));
    take_record(engine, job, record);
}

void slurm_jobs_on_job(struct slurm_engine *engine, const struct line *line)
{
    struct slurm_job_line job;
    struct record record = { .line = &job };

    if (!slurm_job_line_read(line, &job)) {
        engine->stats.bad_lines++;
        return;
    }
    record.life = (struct slurm_life){ .phase = job.phase,
                                       .run = (uint32_t)job.run,
                                       .nodes = job.nodes,
                                       .start_s = job.start,
                                       .end_s = job.end };
    record.name = slurm_job_line_name(engine->config.job_names, job.name);
    record.user = slurm_job_line_name(engine->config.users, job.user);
    if (job.array != NUMBER_NONE && job.tasks != NULL && job.task == NUMBER_NONE)
        take_array(engine, &record);
    else
        take_single(engine, &record);
    slurm_jobs_announce_crowd(engine);
}

/* The job that 'started' and the like speak of, with its run; NULL: none that we know. */
static struct slurm_job *job_named(struct slurm_engine *engine, const struct line *line,
                                   struct slurm_life *ret_life)
{
    const char *id = line_get(line, "job");
    const char *run = line_get(line, "run");
    const char *start_s = line_get(line, "start");
    const char *end_s = line_get(line, "end");
    uint64_t number = 0;
    uint64_t count = 0;

    if (id == NULL || line_number(id, ID_JOB_MAX, &number) < 0 ||
        (run != NULL && line_number(run, UINT32_MAX - 1, &count) < 0)) {
        engine->stats.bad_lines++;
        return NULL;
    }
    const uint32_t row = map_get(&engine->by_record, number);

    if (row == MAP_NONE)
        return NULL;
    *ret_life = (struct slurm_life){ .run = run == NULL ? engine->jobs[row].run : (uint32_t)count,
                                     .nodes = line_get(line, "nodes") };
    if (start_s != NULL)
        (void)line_number(start_s, UINT64_MAX, &ret_life->start_s);
    if (end_s != NULL)
        (void)line_number(end_s, UINT64_MAX, &ret_life->end_s);
    return &engine->jobs[row];
}

/* The job line of the same look came before and may have reported more: old news changes nothing. */
static bool is_old(const struct slurm_job *job, const struct slurm_life *life)
{
    return life->run < job->run || (life->run == job->run && job->phase >= life->phase);
}

static void take_life(struct slurm_engine *engine, const struct line *line,
                      enum slurm_phase_of phase)
{
    struct slurm_life life;
    struct slurm_job *job = job_named(engine, line, &life);

    if (job == NULL)
        return;
    life.phase = phase;
    if (!is_old(job, &life))
        slurm_job_live(engine, job, &life);
    slurm_jobs_announce_crowd(engine);
}

void slurm_jobs_on_started(struct slurm_engine *engine, const struct line *line)
{
    take_life(engine, line, PHASE_RUNNING);
}

void slurm_jobs_on_requeued(struct slurm_engine *engine, const struct line *line)
{
    take_life(engine, line, PHASE_WAITING);
}

void slurm_jobs_on_ended(struct slurm_engine *engine, const struct line *line)
{
    take_life(engine, line, PHASE_ENDED);
}

/* A record that held many tasks has none of its own in 'by_record'; a list tells what became of
 * them. */
void slurm_jobs_on_gone(struct slurm_engine *engine, const struct line *line)
{
    struct slurm_life life;
    struct slurm_job *job = job_named(engine, line, &life);

    if (job == NULL)
        return;
    slurm_job_vanish(engine, job);
    slurm_job_free(engine, job);
    slurm_jobs_announce_crowd(engine);
}

void slurm_jobs_end_list(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        struct slurm_job *job = &engine->jobs[i];

        if (!job->is_used || job->seen == engine->round)
            continue;
        slurm_job_vanish(engine, job);
        slurm_job_free(engine, job);
    }
    slurm_jobs_announce_crowd(engine);
}
