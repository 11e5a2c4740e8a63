/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs as Slurm tells them. What a 'job' line says and what 'started', 'requeued' and 'ended' say is
 * the same news, and whichever comes first counts: each is held against what is known, and a step
 * that was taken already is not taken again.
 *
 *     waiting --start--> running --end--> ended          a line may show any later state: the steps
 *        ^------------requeue--/                          in between are taken then
 *
 * A run is known by Slurm's count of restarts. Another run means that the one before was put back,
 * whether we saw that or not. Slurm's clock has seconds: what is hardly older than the look that
 * brought it to light counts as happening now.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"
#include "engine/slurm/slurm_rate.h"
#include "engine/slurm/slurm_spell.h"

enum {
    NEWS_MS = 2000, /* an event of Slurm that is no older happens now */
};

static msec_t at_of(const struct slurm_engine *engine, uint64_t seconds)
{
    const msec_t at = seconds > LIMIT_TIME_MS / 1000 ? engine->now : (msec_t)seconds * MSEC_PER_SEC;

    return at <= 0 || at > engine->now - NEWS_MS ? engine->now : at;
}

/* ---- rows ---- */

static void drop_tasks(struct slurm_job *job)
{
    mem_free(job->many);
    job->one = (struct slurm_task){ .key = 0 };
    job->many = NULL;
    job->asked = 0;
    job->is_asked = false;
}

static uint32_t array_row(struct slurm_engine *engine, uint32_t id)
{
    uint32_t row = map_get(&engine->by_array, id);

    if (row != MAP_NONE)
        return row;
    if (engine->array_free != INDEX_NONE) {
        row = engine->array_free;
        engine->array_free = engine->arrays[row].first_member;
    } else {
        row = engine->array_count++;
        MEM_ROOM(engine->arrays, engine->arrays_room, engine->array_count);
    }
    engine->arrays[row] = (struct slurm_array){
        .id = id,
        .first_member = INDEX_NONE,
        .last_member = INDEX_NONE,
        .cursor = INDEX_NONE,
    };
    map_put(&engine->by_array, id, row);
    return row;
}

static void join_array(struct slurm_engine *engine, uint32_t row, uint32_t array_id)
{
    const uint32_t at = array_row(engine, array_id);
    struct slurm_array *array = &engine->arrays[at];
    struct slurm_job *job = &engine->jobs[row];

    job->array = at;
    job->next_member = INDEX_NONE;
    job->prev_member = array->last_member;
    if (array->last_member != INDEX_NONE)
        engine->jobs[array->last_member].next_member = row;
    else
        array->first_member = row;
    array->last_member = row;
    if (array->cursor == INDEX_NONE)
        array->cursor = row;
}

static void leave_array(struct slurm_engine *engine, struct slurm_job *job)
{
    struct slurm_array *array = &engine->arrays[job->array];

    if (array->cursor == (uint32_t)(job - engine->jobs))
        array->cursor = job->next_member;
    if (job->prev_member != INDEX_NONE)
        engine->jobs[job->prev_member].next_member = job->next_member;
    else
        array->first_member = job->next_member;
    if (job->next_member != INDEX_NONE)
        engine->jobs[job->next_member].prev_member = job->prev_member;
    else
        array->last_member = job->prev_member;
    if (array->first_member == INDEX_NONE) {
        (void)map_remove(&engine->by_array, array->id);
        array->first_member = engine->array_free;
        engine->array_free = job->array;
    }
    job->array = INDEX_NONE;
}

/* The row of the slot, a new one if need be; INDEX_NONE: there are too many. */
static uint32_t job_row(struct slurm_engine *engine, uint64_t slot, uint32_t array)
{
    uint32_t row = map_get(&engine->by_slot, slot);

    if (row != MAP_NONE)
        return row;
    if (engine->stats.jobs >= engine->config.jobs_max)
        return INDEX_NONE;
    if (engine->job_free != INDEX_NONE) {
        row = engine->job_free;
        engine->job_free = engine->jobs[row].next_member;
    } else {
        row = engine->job_count++;
        MEM_ROOM(engine->jobs, engine->jobs_room, engine->job_count);
    }
    engine->stats.jobs++;
    engine->jobs[row] = (struct slurm_job){
        .id = slot,
        .retry_at = MSEC_NEVER,
        .wish = { .shape = SHAPE_NONE, .reason = NAME_NONE },
        .cost_type = NAME_NONE,
        .reason = NAME_NONE,
        .refused = NAME_NONE,
        .lacks = SLURM_QUOTA_NONE,
        .array = INDEX_NONE,
        .is_used = true,
    };
    map_put(&engine->by_slot, slot, row);
    if (array != 0)
        join_array(engine, row, array);
    return row;
}

static void free_job(struct slurm_engine *engine, struct slurm_job *job)
{
    const uint32_t row = (uint32_t)(job - engine->jobs);

    if (job->array != INDEX_NONE)
        leave_array(engine, job);
    (void)map_remove(&engine->by_slot, job->id & ~GENERATION_MASK);
    if (map_get(&engine->by_record, job->record) == row)
        (void)map_remove(&engine->by_record, job->record);
    mem_free(job->many);
    mem_free(job->parts);
    *job = (struct slurm_job){ .next_member = engine->job_free };
    engine->job_free = row;
    engine->stats.jobs--;
}

/* ---- announcing ---- */

static void announce_next(struct slurm_engine *engine, uint32_t at);

static void tell_job(struct slurm_engine *engine, const struct slurm_job *job)
{
    const msec_t eligible = at_of(engine, job->submit_s * 1000 > (uint64_t)job->begin_at
                                              ? job->submit_s
                                              : (uint64_t)(job->begin_at / MSEC_PER_SEC));

    struct engine_event event = { .kind = ENGINE_JOB_ARRIVED,
                                  .at = engine->now,
                                  .job = {
                                      .id = job->id,
                                      .first_task_id = job->id,
                                      .name = job->name,
                                      .user = job->user,
                                      .shape = job->wish.shape,
                                      .task_count = job->task_count,
                                      .priority = job->priority,
                                      .caps = job->rules.caps,
                                      .gang = job->task_count > 1,
                                      .fixed = !job->is_movable,
                                      .spread = job->task_count > 1,
                                      .arrived_at = eligible,
                                      .estimate_ms = job->limit_ms,
                                      .rules = slurm_market_rules(&job->rules, eligible),
                                      .burst = job->rules.burst,
                                      .part_count = job->part_count,
                                  } };

    for (uint32_t i = 0; i < job->part_count; i++)
        event.job.parts[i] = job->parts[i];
    slurm_engine_emit(engine, &event);
}

static void announce(struct slurm_engine *engine, struct slurm_job *job)
{
    slurm_room_take(engine, job);
    job->is_announced = true;
    if (job->task_count > 1)
        job->many = mem_alloc(job->task_count, sizeof(*job->many));
    if (job->array != INDEX_NONE)
        engine->arrays[job->array].active++;
    tell_job(engine, job);
}

/* Of what ended or was withdrawn: room for the next task of its array, if those are limited. */
static void unannounce(struct slurm_engine *engine, struct slurm_job *job)
{
    const uint32_t array = job->array;

    job->is_announced = false;
    job->is_admitted = false;
    if (slurm_policy_has_draws(&engine->policy, job->profile))
        slurm_admit_soon(engine);
    drop_tasks(job);
    slurm_room_give(engine, job);
    if (array == INDEX_NONE)
        return;
    assert(engine->arrays[array].active > 0);
    engine->arrays[array].active--;
    if (engine->arrays[array].limit > 0)
        announce_next(engine, array);
}

static void withdraw(struct slurm_engine *engine, struct slurm_job *job)
{
    if (!job->is_announced)
        return;
    slurm_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_JOB_WITHDRAWN,
                                                      .at = engine->now,
                                                      .job = { .id = job->id,
                                                               .first_task_id = job->id,
                                                               .task_count = job->task_count } });
    if (job->array != INDEX_NONE)
        engine->arrays[job->array].cursor = engine->arrays[job->array].first_member;
    unannounce(engine, job);
}

/* Slurm makes what was put back wait for two minutes; a placement ends that. */
bool slurm_job_is_time(const struct slurm_engine *engine, const struct slurm_job *job)
{
    return job->begin_at <= engine->now || job->run > 0;
}

bool slurm_job_is_ready(struct slurm_engine *engine, const struct slurm_job *job)
{
    if (job->phase != PHASE_WAITING || job->closed != SLURM_WAIT_NONE ||
        job->wish.shape == SHAPE_NONE)
        return false;
    if (slurm_job_is_time(engine, job))
        return true;
    if (job->begin_at < engine->begin_wake)
        engine->begin_wake = job->begin_at;
    return false;
}

static bool may_announce(struct slurm_engine *engine, const struct slurm_job *job)
{
    return slurm_job_is_ready(engine, job) && slurm_admit_may(engine, job);
}

static bool is_array_full(const struct slurm_engine *engine, const struct slurm_job *job)
{
    const struct slurm_array *array = job->array == INDEX_NONE ? NULL : &engine->arrays[job->array];

    return array != NULL && array->limit > 0 && array->active >= array->limit;
}

/* Announce or withdraw a job that waits, as it may run or not. */
static void weigh(struct slurm_engine *engine, struct slurm_job *job)
{
    if (job->phase != PHASE_WAITING)
        return;
    if (!may_announce(engine, job)) {
        slurm_room_leave(engine, job);
        if (job->is_announced && job->is_asked && job->closed == SLURM_WAIT_NONE)
            slurm_places_hold(engine, job); /* Slurm could still start it where it was placed */
        withdraw(engine, job);
        return;
    }
    if (job->is_announced || is_array_full(engine, job))
        return;
    if (slurm_room_is_for(engine, job))
        announce(engine, job);
    else
        slurm_room_wait(engine, job);
}

void slurm_job_weigh(struct slurm_engine *engine, struct slurm_job *job)
{
    weigh(engine, job);
}

static void announce_next(struct slurm_engine *engine, uint32_t at)
{
    struct slurm_array *array = &engine->arrays[at];

    while (array->cursor != INDEX_NONE && array->active < array->limit) {
        struct slurm_job *job = &engine->jobs[array->cursor];

        if (!job->is_announced && job->phase == PHASE_WAITING && !may_announce(engine, job))
            return; /* it will be weighed when it may */
        if (!job->is_announced && job->phase == PHASE_WAITING) {
            if (!slurm_room_is_for(engine, job)) {
                slurm_room_wait(engine, job);
                return;
            }
            announce(engine, job);
        }
        array->cursor = job->next_member;
    }
}

/* Gangs that there is room for now, in the order in which they came: when all of a line is known, for
 * one that ends a whole array ends those that wait, too. */
static void announce_crowd(struct slurm_engine *engine)
{
    struct slurm_job *job = NULL;

    while ((job = slurm_room_next(engine)) != NULL) {
        if (!may_announce(engine, job) || is_array_full(engine, job)) {
            slurm_room_leave(engine, job); /* it will be weighed when it may */
            continue;
        }
        announce(engine, job);
        if (job->array != INDEX_NONE && engine->arrays[job->array].limit > 0)
            announce_next(engine, job->array);
    }
}

/* ---- steps ---- */

static void tell_task(struct slurm_engine *engine, const struct slurm_job *job, uint32_t rank,
                      const struct engine_event *event)
{
    struct engine_event full = *event;

    full.task = job->id + rank;
    slurm_engine_emit(engine, &full);
}

static void leave_node(struct slurm_engine *engine, struct slurm_task *task)
{
    if (task->instance != 0)
        slurm_node_get(engine, task->instance)->running--;
    task->instance = 0;
}

/* The run is over, and the job waits again. What was placed for the next run already stays. */
static void requeue(struct slurm_engine *engine, struct slurm_job *job)
{
    for (uint32_t rank = 0; rank < slurm_job_tasks(job); rank++) {
        struct slurm_task *task = slurm_job_task(job, rank);
        const bool is_over = task->instance != 0 || (task->key != 0 && job->is_asked);
        struct engine_event event = { .kind = ENGINE_TASK_LOST, .at = engine->now };

        if (!is_over && task->stop_key == 0)
            continue;
        event.key = task->key;
        if (task->stop_key != 0) {
            job->is_stopped = true;
            event.kind = ENGINE_TASK_STOPPED;
            event.key = task->stop_key;
        }
        leave_node(engine, task);
        if (task->key != 0)
            job->asked--;
        *task = (struct slurm_task){ .key = 0 };
        tell_task(engine, job, rank, &event);
    }
    job->phase = PHASE_WAITING;
    job->is_foreign = false;
    job->is_asked = false;
    job->is_stopping = false;
    job->is_cancelling = false;
    job->tries = 0;
    slurm_places_mark(engine, job);
}

static int take_node(void *context, const char *name, size_t length)
{
    struct slurm_engine *engine = context;
    const uint64_t instance = slurm_node_instance(engine, name, length);

    if (instance == 0)
        engine->is_elsewhere = true;
    MEM_ROOM(engine->instances, engine->instances_room, engine->instance_count + 1);
    engine->instances[engine->instance_count++] = instance;
    return 0;
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Whether it runs on the machines that it was placed on; in any order. */
static bool is_as_placed(struct slurm_engine *engine, struct slurm_job *job)
{
    if (engine->instance_count != job->task_count || job->asked != job->task_count)
        return false;
    if (job->task_count == 1)
        return job->one.wanted == engine->instances[0];
    MEM_ROOM(engine->instances, engine->instances_room, 3 * job->task_count);
    uint64_t *found = engine->instances + job->task_count;
    uint64_t *wanted = found + job->task_count;

    for (uint32_t rank = 0; rank < job->task_count; rank++) {
        found[rank] = engine->instances[rank];
        wanted[rank] = job->many[rank].wanted;
    }
    qsort(found, job->task_count, sizeof(*found), compare_u64);
    qsort(wanted, job->task_count, sizeof(*wanted), compare_u64);
    return memcmp(found, wanted, job->task_count * sizeof(*wanted)) == 0;
}

/* One task runs. */
static void start_task(struct slurm_engine *engine, struct slurm_job *job, uint32_t rank,
                       bool is_placed)
{
    struct slurm_task *task = slurm_job_task(job, rank);
    struct engine_event event = { .kind = ENGINE_TASK_STARTED, .at = job->started_at };

    if (!is_placed) {
        if (task->key == 0)
            job->asked++;
        if (task->key == 0 || task->wanted != 0)
            task->key = (uint64_t)1 << 63 | ++engine->made_keys;
        task->wanted = engine->instances[rank % engine->instance_count];
        event.kind = ENGINE_TASK_FOUND;
        event.instance = task->wanted;
        event.started_at = job->started_at;
    }
    task->instance = task->wanted;
    event.key = task->key;
    slurm_node_get(engine, task->instance)->running++;
    tell_task(engine, job, rank, &event);
}

/* It runs where it is none of our business, but how long it runs is. */
static void observe(struct slurm_engine *engine, struct slurm_job *job)
{
    job->is_foreign = true;
    for (uint32_t rank = 0; rank < job->task_count; rank++)
        tell_task(engine, job, rank,
                  &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                          .at = job->started_at,
                                          .key = (uint64_t)1 << 63 | ++engine->made_keys,
                                          .started_at = job->started_at });
}

static void start(struct slurm_engine *engine, struct slurm_job *job, const char *nodes,
                  uint64_t start_s)
{
    engine->instance_count = 0;
    engine->is_elsewhere = false;
    if (nodes == NULL || slurm_spell_nodes(nodes, ID_RANKS_MAX, take_node, engine) < 0 ||
        job->wish.shape == SHAPE_NONE)
        engine->is_elsewhere = true;
    job->is_asked = false;
    job->retry_at = MSEC_NEVER;
    job->tries = 0;
    if (engine->is_elsewhere && (!engine->config.observes || job->wish.shape == SHAPE_NONE)) {
        job->phase = PHASE_RUNNING;
        job->is_foreign = true;
        slurm_room_leave(engine, job);
        withdraw(engine, job);
        return;
    }
    job->started_at = at_of(engine, start_s);
    job->phase = PHASE_RUNNING;
    if (!job->is_announced)
        announce(engine, job);
    if (engine->is_elsewhere) {
        observe(engine, job);
        return;
    }
    const bool is_placed = is_as_placed(engine, job);

    for (uint32_t rank = 0; rank < job->task_count; rank++)
        start_task(engine, job, rank, is_placed);
    slurm_places_keep(engine, job);
}

static void end(struct slurm_engine *engine, struct slurm_job *job, uint64_t end_s)
{
    const struct engine_event event = { .kind = ENGINE_TASK_FINISHED, .at = at_of(engine, end_s) };

    job->phase = PHASE_ENDED;
    job->is_stopping = false;
    job->is_cancelling = false;
    slurm_room_leave(engine, job);
    for (uint32_t rank = 0; rank < slurm_job_tasks(job); rank++) {
        leave_node(engine, slurm_job_task(job, rank));
        tell_task(engine, job, rank, &event);
    }
    if (job->is_announced)
        unannounce(engine, job);
}

/* What a line says about where the job is in its life. */
struct life {
    enum slurm_phase_of phase;
    uint32_t run;
    const char *nodes;
    uint64_t start_s;
    uint64_t end_s;
};

static void live(struct slurm_engine *engine, struct slurm_job *job, const struct life *life)
{
    const bool is_other_run = job->run != life->run;

    /* Another run of one that waited: it ran unseen. */
    if ((is_other_run && job->phase != PHASE_ENDED) ||
        (job->phase == PHASE_RUNNING && life->phase == PHASE_WAITING))
        requeue(engine, job);
    job->run = life->run;
    if (job->phase == PHASE_RUNNING && life->phase == PHASE_RUNNING && job->asked == 0 &&
        !job->is_foreign)
        job->phase = PHASE_WAITING; /* it was given up, and runs on: it is found again */
    if (job->phase == PHASE_WAITING &&
        (life->phase == PHASE_RUNNING ||
         (life->phase == PHASE_ENDED && life->nodes != NULL && job->is_announced)))
        start(engine, job, life->nodes, life->start_s);
    if (job->phase != PHASE_ENDED && life->phase == PHASE_ENDED)
        end(engine, job, life->end_s);
}

/* ---- lines ---- */

/* Slurm knows it no more, or gives its id to another. */
static void vanish(struct slurm_engine *engine, struct slurm_job *job)
{
    if (job->phase != PHASE_ENDED)
        end(engine, job, 0);
}

/* What one record says of each of its tasks. */
struct record {
    const struct slurm_job_line *line;
    struct life life;
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

    vanish(engine, job);
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
    withdraw(engine, job);
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
        tell_task(engine, job, rank, &event);
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
    live(engine, job, &record->life);
    slurm_notes_see(engine, job, record->line);
    take_rate(engine, job, record->line, is_new);
    if (job->phase != PHASE_WAITING)
        return;
    slurm_places_pass(engine, job, record->line);
    weigh(engine, job);
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

/* The job of a slot and a line about it; NULL: it is none of ours. */
static struct slurm_job *job_for(struct slurm_engine *engine, uint64_t slot, uint32_t array,
                                 const struct record *record)
{
    uint32_t row = map_get(&engine->by_slot, slot);

    if (row == MAP_NONE && record->life.phase == PHASE_ENDED)
        return NULL; /* it was never reported */
    row = job_row(engine, slot, array);
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
    const uint32_t row = array_row(engine, walk.array);

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
    record.life = (struct life){ .phase = job.phase,
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
    announce_crowd(engine);
}

/* The job that 'started' and the like speak of, with its run; NULL: none that we know. */
static struct slurm_job *job_named(struct slurm_engine *engine, const struct line *line,
                                   struct life *ret_life)
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
    *ret_life = (struct life){ .run = run == NULL ? engine->jobs[row].run : (uint32_t)count,
                               .nodes = line_get(line, "nodes") };
    if (start_s != NULL)
        (void)line_number(start_s, UINT64_MAX, &ret_life->start_s);
    if (end_s != NULL)
        (void)line_number(end_s, UINT64_MAX, &ret_life->end_s);
    return &engine->jobs[row];
}

/* The job line of the same look came before and may have reported more: old news changes nothing. */
static bool is_old(const struct slurm_job *job, const struct life *life)
{
    return life->run < job->run || (life->run == job->run && job->phase >= life->phase);
}

static void take_life(struct slurm_engine *engine, const struct line *line,
                      enum slurm_phase_of phase)
{
    struct life life;
    struct slurm_job *job = job_named(engine, line, &life);

    if (job == NULL)
        return;
    life.phase = phase;
    if (!is_old(job, &life))
        live(engine, job, &life);
    announce_crowd(engine);
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
    struct life life;
    struct slurm_job *job = job_named(engine, line, &life);

    if (job == NULL)
        return;
    vanish(engine, job);
    free_job(engine, job);
    announce_crowd(engine);
}

/* ---- time and lists ---- */

void slurm_jobs_tick(struct slurm_engine *engine)
{
    if (engine->now < engine->begin_wake)
        return;
    engine->begin_wake = MSEC_NEVER;
    for (uint32_t i = 0; i < engine->job_count; i++) {
        struct slurm_job *job = &engine->jobs[i];

        if (job->is_used && !job->is_announced)
            weigh(engine, job);
    }
}

void slurm_jobs_end_list(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        struct slurm_job *job = &engine->jobs[i];

        if (!job->is_used || job->seen == engine->round)
            continue;
        vanish(engine, job);
        free_job(engine, job);
    }
    announce_crowd(engine);
}

void slurm_jobs_tell(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        if (engine->jobs[i].is_used && engine->jobs[i].is_announced)
            tell_job(engine, &engine->jobs[i]);
    }
}

void slurm_jobs_tell_tasks(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        struct slurm_job *job = &engine->jobs[i];

        if (!job->is_used || !job->is_announced || job->phase != PHASE_RUNNING)
            continue;
        for (uint32_t rank = 0; rank < job->task_count; rank++) {
            const struct slurm_task *task = slurm_job_task(job, rank);

            if (task->instance == 0)
                continue;
            tell_task(engine, job, rank,
                      &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                              .at = engine->now,
                                              .key = task->key,
                                              .instance = task->instance,
                                              .started_at = job->started_at });
        }
    }
}

void slurm_jobs_done(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        mem_free(engine->jobs[i].many);
        mem_free(engine->jobs[i].parts);
    }
    mem_free(engine->jobs);
    mem_free(engine->arrays);
    map_done(&engine->by_slot);
    map_done(&engine->by_record);
    map_done(&engine->by_array);
}
