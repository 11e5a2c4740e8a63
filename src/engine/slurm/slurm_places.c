/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where jobs are to run. What the controller asks for is gathered per job and sent by one flush:
 *
 *  1. a job is placed when each of its tasks is, with all nodes in one request; what is queued goes
 *     out in few requests, tasks of one array in one expression;
 *  2. a placement for a job that still runs, on a machine that is lost, waits until Slurm has put
 *     the job back; so does one for a job that is being cleared away, for Slurm would forget that it
 *     is to start now;
 *  3. what Slurm refuses because it does not know yet what we know is tried some more times;
 *  4. a cancel or a stop of what was not sent yet needs no request;
 *  5. a cancel never ends a run: stint-slurm refuses it for a job that runs, and the job is reported as
 *     found. A stop ends the run that we know of, and no other: one of a job that does not run as far
 *     as we know is a cancel;
 *  6. after START_FAILS_MAX starts in a row that failed the job is held, with a message to its user; when it is
 *     released, it starts again.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"
#include "engine/slurm/slurm_spell.h"

enum {
    PLACE_TRIES = 8,
    PLACE_RETRY_MS = 500,
    SUPERSEDE_MS = 15000, /* so long may Slurm take to put the job of a lost machine back */
    STOP_TRIES = 30,
    STOP_RETRY_MS = 1000,
    COST_DELAY_MS = 3000,
    COSTS_AT_ONCE = 64,
    NODE_NAME_SIZE = 96,
    START_FAILS_MAX = 5, /* in a row */
};

#define RANK_OF(task) ((uint32_t)((task) & (ID_RANKS_MAX - 1)))

void slurm_places_mark(struct slurm_engine *engine, struct slurm_job *job)
{
    if (job->is_dirty)
        return;
    job->is_dirty = true;
    slurm_rows_add(&engine->dirty, (uint32_t)(job - engine->jobs));
}

static void mark_late(struct slurm_engine *engine, struct slurm_job *job, msec_t at)
{
    job->retry_at = at;
    if (at < engine->late_wake)
        engine->late_wake = at;
    if (job->is_late)
        return;
    job->is_late = true;
    slurm_rows_add(&engine->late, (uint32_t)(job - engine->jobs));
}

static void tell_later(struct slurm_engine *engine, enum engine_event_kind kind, uint64_t task,
                       uint64_t key)
{
    MEM_ROOM(engine->later, engine->later_room, engine->later_count + 1);
    engine->later[engine->later_count++] =
        (struct engine_event){ .kind = kind, .task = task, .key = key };
}

/* It runs, whatever was asked. */
static void tell_running(struct slurm_engine *engine, const struct slurm_job *job,
                         const struct slurm_task *task, uint64_t id)
{
    tell_later(engine, ENGINE_TASK_FOUND, id, task->key);
    engine->later[engine->later_count - 1].instance = task->instance;
    engine->later[engine->later_count - 1].started_at = job->started_at;
}

/* What runs there goes on, as far as Slurm and the cloud have said. */
static bool is_alive(struct slurm_engine *engine, uint64_t instance)
{
    const struct slurm_node *node = slurm_node_get(engine, instance);

    return node->is_up && !node->is_retired;
}

/* Take the place or queue of one task; 'instance' 0: any. */
static void ask_for(struct slurm_engine *engine, uint64_t key, uint64_t id, uint64_t instance)
{
    struct slurm_job *job = slurm_job_of(engine, id);

    if (job == NULL || !job->is_announced || job->is_foreign) {
        tell_later(engine, ENGINE_TASK_LOST, id, key);
        return;
    }
    struct slurm_task *task = slurm_job_task(job, RANK_OF(id));

    if (task->key == key)
        return;
    if (task->instance != 0 && task->instance == instance) {
        task->key = key;
        tell_later(engine, ENGINE_TASK_STARTED, id, key);
        return;
    }
    if (task->instance != 0 && is_alive(engine, task->instance)) {
        task->key = key;
        tell_running(engine, job, task, id);
        return;
    }
    if (task->key == 0)
        job->asked++;
    if (task->instance != 0) { /* it is being left behind */
        slurm_node_get(engine, task->instance)->running--;
        mark_late(engine, job, engine->now + SUPERSEDE_MS);
    }
    *task = (struct slurm_task){ .key = key, .wanted = instance };
    job->is_asked = false;
    job->tries = 0;
    slurm_places_mark(engine, job);
}

void slurm_places_on_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    ask_for(self, key, task, instance);
}

void slurm_places_on_queue(void *self, uint64_t key, uint64_t task)
{
    ask_for(self, key, task, 0);
}

static void recall(struct slurm_engine *engine, uint64_t key, uint64_t id, bool ends_run)
{
    struct slurm_job *job = slurm_job_of(engine, id);

    if (job == NULL || !job->is_announced || job->is_foreign)
        return; /* its end was reported */
    struct slurm_task *task = slurm_job_task(job, RANK_OF(id));

    if (task->stop_key == key)
        return;
    if (task->instance != 0 && !ends_run) {
        tell_running(engine, job, task, id);
        return;
    }
    if (job->phase == PHASE_WAITING && !job->is_asked) {
        if (task->key != 0)
            job->asked--;
        *task = (struct slurm_task){ .key = 0 };
        tell_later(engine, ENGINE_TASK_STOPPED, id, key);
        return;
    }
    task->stop_key = key;
    if (job->phase == PHASE_RUNNING && ends_run)
        job->is_stopping = true;
    else
        job->is_cancelling = true;
    job->tries = 0;
    slurm_places_mark(engine, job);
}

void slurm_places_on_cancel(void *self, uint64_t key, uint64_t id)
{
    recall(self, key, id, false);
}

void slurm_places_on_stop(void *self, uint64_t key, uint64_t id)
{
    recall(self, key, id, true);
}

/* What was to be taken back runs, or cannot be taken back. */
void slurm_places_keep(struct slurm_engine *engine, struct slurm_job *job)
{
    if (!job->is_cancelling)
        return;
    job->is_cancelling = false;
    for (uint32_t rank = 0; rank < slurm_job_tasks(job); rank++) {
        struct slurm_task *task = slurm_job_task(job, rank);

        if (task->stop_key != 0 && task->instance != 0)
            tell_running(engine, job, task, job->id + rank);
        task->stop_key = 0;
    }
}

/* Those of its tasks that are asked for and do not run are lost; or stopped, if that was asked. */
void slurm_places_lose(struct slurm_engine *engine, struct slurm_job *job, msec_t at)
{
    for (uint32_t rank = 0; rank < slurm_job_tasks(job); rank++) {
        struct slurm_task *task = slurm_job_task(job, rank);
        struct engine_event event = {
            .kind = ENGINE_TASK_LOST, .at = at, .task = job->id + rank, .key = task->key
        };

        if (task->key == 0 || task->instance != 0)
            continue;
        if (task->stop_key != 0) {
            event.kind = ENGINE_TASK_STOPPED;
            event.key = task->stop_key;
        }
        *task = (struct slurm_task){ .key = 0 };
        job->asked--;
        slurm_engine_emit(engine, &event);
    }
    job->is_asked = false;
    job->is_stopping = false;
    job->is_cancelling = false;
    job->retry_at = MSEC_NEVER;
}

static void add_job(struct slurm_engine *engine, const struct slurm_job *job)
{
    char label[SLURM_LABEL_SIZE];

    slurm_job_print(engine, job, label, sizeof(label));
    line_text_string(&engine->out, "job", label);
    line_text_number(&engine->out, "run", job->run);
}

/* Where Slurm's people look: on what it runs and for how much. What it cost in the end is for
 * slurm_engine_cost, but a Slurm without accounting takes no comment on what has ended. */
static void add_comment(struct slurm_engine *engine, struct slurm_job *job)
{
    char text[128] = "stint: ";
    const size_t used = strlen(text);

    if (engine->config.describe == NULL || !slurm_notes_may(job))
        return;
    if (engine->config.describe(engine->config.context, slurm_job_task(job, 0)->wanted, text + used,
                                sizeof(text) - used) > 0)
        line_text_string(&engine->out, "text", text);
}

/* Whether the task is the first of a component other than the first. */
static bool begins_part(const struct slurm_job *job, uint32_t rank)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < job->part_count && first < rank; i++)
        first += job->parts[i].task_count;
    return job->part_count > 0 && rank > 0 && first == rank;
}

static void send_place(struct slurm_engine *engine, struct slurm_job *job)
{
    struct line_text list = { .text = NULL };
    char name[NODE_NAME_SIZE];

    for (uint32_t rank = 0; rank < job->task_count; rank++) {
        const int length =
            slurm_engine_node_name(engine, slurm_job_task(job, rank)->wanted, name, sizeof(name));

        if (rank > 0)
            line_text_append(&list, begins_part(job, rank) ? ";" : ",", 1);
        line_text_append(&list, name, (uint32_t)length);
    }
    line_text_append(&list, "", 1);
    (void)slurm_ask_begin(engine, "place");
    add_job(engine, job);
    line_text_string(&engine->out, "nodes", list.text);
    line_text_string(&engine->out, "partition", engine->config.partition);
    add_comment(engine, job);
    job->is_asked = true;
    slurm_ask_end(engine, ASK_PLACE, job->id);
    line_text_done(&list);
}

static void send_stop(struct slurm_engine *engine, struct slurm_job *job)
{
    (void)slurm_ask_begin(engine, "stop");
    add_job(engine, job);
    line_text_string(&engine->out, "signal", engine->config.stop_signal);
    line_text_number(&engine->out, "grace_ms",
                     engine->config.stop_signal == NULL ? 0
                                                        : (uint64_t)engine->config.stop_grace_ms);
    slurm_ask_end(engine, ASK_STOP, job->id);
}

static void send_cancel(struct slurm_engine *engine, struct slurm_job *job)
{
    (void)slurm_ask_begin(engine, "cancel");
    add_job(engine, job);
    slurm_ask_end(engine, ASK_CANCEL, job->id);
}

void slurm_places_hold(struct slurm_engine *engine, struct slurm_job *job)
{
    char label[SLURM_LABEL_SIZE];

    slurm_job_print(engine, job, label, sizeof(label));
    (void)slurm_ask_begin(engine, "hold");
    line_text_string(&engine->out, "jobs", label);
    slurm_ask_end(engine, ASK_HOLD, job->id);
}

/* Hold it as its user would, with a message to them. */
static void give_up(struct slurm_engine *engine, struct slurm_job *job, const char *text)
{
    char label[SLURM_LABEL_SIZE];

    slurm_job_print(engine, job, label, sizeof(label));
    (void)slurm_ask_begin(engine, "give-up");
    line_text_string(&engine->out, "job", label);
    line_text_string(&engine->out, "text", text);
    slurm_ask_end(engine, ASK_GIVE_UP, job->id);
}

void slurm_places_count_fail(struct slurm_engine *engine, struct slurm_job *job, const char *why)
{
    char text[128];

    if (++job->fails < START_FAILS_MAX || job->phase == PHASE_ENDED)
        return;
    job->fails = 0;
    (void)snprintf(text, sizeof(text), "stint: held after %d failed starts, last: %.64s",
                   START_FAILS_MAX, why);
    give_up(engine, job, text);
}

/* ---- what is queued ---- */

void slurm_places_pass(struct slurm_engine *engine, struct slurm_job *job,
                       const struct slurm_job_line *line)
{
    uint64_t id = job->id;

    if (engine->config.observes || job->wish.reason == NAME_NONE || line->hold == NULL ||
        job->wish.shape != SHAPE_NONE ||
        strcmp(names_text(&engine->shapes.reasons, job->wish.reason), SLURM_HETEROGENEOUS) != 0)
        return;
    if (strcmp(line->hold, "gate") == 0 || strcmp(line->hold, "held-gate") == 0)
        slurm_ask_jobs(engine, "release", ASK_RELEASE, &id, 1);
}

/* ---- sending ---- */

/* Whether each of its tasks is queued, none placed. */
static bool is_queued(struct slurm_job *job)
{
    for (uint32_t rank = 0; rank < job->task_count; rank++) {
        if (slurm_job_task(job, rank)->wanted != 0)
            return false;
    }
    return true;
}

bool slurm_places_any_is_free(const struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->watched.count; i++) {
        struct slurm_job *job = &engine->jobs[engine->watched.row[i]];

        if (job->is_used && job->is_watched && job->phase == PHASE_WAITING && job->asked > 0 &&
            is_queued(job))
            return true;
    }
    return false;
}

static bool is_placed(struct slurm_job *job)
{
    for (uint32_t rank = 0; rank < job->task_count; rank++) {
        if (slurm_job_task(job, rank)->wanted == 0)
            return false;
    }
    return true;
}

void slurm_places_send(struct slurm_engine *engine)
{
    uint64_t *queued = NULL;
    uint32_t queued_count = 0;
    uint32_t queued_room = 0;

    for (uint32_t i = 0; i < engine->dirty.count; i++) {
        struct slurm_job *job = &engine->jobs[engine->dirty.row[i]];

        if (!job->is_dirty)
            continue; /* the row was used again */
        job->is_dirty = false;
        if (!job->is_used || job->phase == PHASE_ENDED)
            continue;
        if (job->is_stopping) {
            send_stop(engine, job);
            continue;
        }
        if (job->is_cancelling) {
            send_cancel(engine, job);
            continue;
        }
        if (job->phase != PHASE_WAITING || job->asked != job->task_count || job->is_completing ||
            job->is_asked)
            continue;
        if (is_placed(job)) {
            send_place(engine, job);
        } else if (is_queued(job)) {
            job->is_asked = true;
            slurm_admit_watch(engine, job);
            MEM_ROOM(queued, queued_room, queued_count + 1);
            queued[queued_count++] = job->id;
        }
    }
    engine->dirty.count = 0;
    if (queued_count > 0)
        slurm_ask_jobs(engine, "release", ASK_RELEASE, queued, queued_count);
    mem_free(queued);
}

/* ---- answers ---- */

/* It did not run yet and does not now: those that were asked to stop have. */
static void stopped_waiting(struct slurm_engine *engine, struct slurm_job *job)
{
    for (uint32_t rank = 0; rank < slurm_job_tasks(job); rank++) {
        struct slurm_task *task = slurm_job_task(job, rank);
        const struct engine_event event = { .kind = ENGINE_TASK_STOPPED,
                                            .at = engine->now,
                                            .task = job->id + rank,
                                            .key = task->stop_key };

        if (task->stop_key == 0)
            continue;
        if (task->key != 0)
            job->asked--;
        *task = (struct slurm_task){ .key = 0 };
        slurm_engine_emit(engine, &event);
    }
    job->is_stopping = false;
    job->is_cancelling = false;
    job->is_asked = false;
}

void slurm_places_done(struct slurm_engine *engine, const struct slurm_ask *ask,
                       const struct line *line)
{
    struct slurm_job *job = slurm_job_of(engine, ask->subject);
    const char *was = line_get(line, "was");

    if ((ask->kind != ASK_STOP && ask->kind != ASK_CANCEL) || job == NULL || was == NULL ||
        strcmp(was, "waiting") != 0)
        return;
    if (job->phase == PHASE_WAITING)
        stopped_waiting(engine, job);
    else if (job->is_stopping)
        slurm_places_mark(engine, job); /* it was started meanwhile */
}

/* Whether Slurm only lags behind. */
static bool is_too_early(const struct line *line)
{
    const char *text = line_get(line, "text");

    return text != NULL && (strstr(text, "already runs on") != NULL ||
                            strstr(text, "is in run") != NULL || strstr(text, "is being") != NULL);
}

void slurm_places_refused(struct slurm_engine *engine, const struct slurm_ask *ask,
                          const struct line *line)
{
    struct slurm_job *job = ask->subject == 0 ? NULL : slurm_job_of(engine, ask->subject);

    if (job == NULL || job->phase == PHASE_ENDED)
        return;
    if (ask->kind == ASK_STOP && job->is_stopping) {
        if (++job->tries < STOP_TRIES)
            mark_late(engine, job, engine->now + STOP_RETRY_MS);
        else
            job->is_stopping = false; /* a list will tell what it does */
        return;
    }
    if (ask->kind == ASK_CANCEL && job->is_cancelling) {
        if (job->phase == PHASE_WAITING && ++job->tries < STOP_TRIES)
            mark_late(engine, job,
                      engine->now + STOP_RETRY_MS); /* what it does is reported by then */
        else
            slurm_places_keep(engine, job); /* a list will tell */
        return;
    }
    if (ask->kind != ASK_PLACE || !job->is_asked || job->phase != PHASE_WAITING)
        return;
    if (is_too_early(line) && ++job->tries < PLACE_TRIES) {
        mark_late(engine, job, engine->now + PLACE_RETRY_MS);
        return;
    }
    slurm_places_lose(engine, job, engine->now);
    if (!is_too_early(line))
        slurm_places_count_fail(engine, job, line_get(line, "text"));
}

struct failure {
    struct slurm_engine *engine;
    uint32_t array;
};

static void fail_row(struct slurm_engine *engine, uint32_t row)
{
    if (row != MAP_NONE && engine->jobs[row].phase == PHASE_WAITING)
        slurm_places_lose(engine, &engine->jobs[row], engine->now);
}

static int fail_member(void *context, uint32_t index)
{
    const struct failure *failure = context;

    fail_row(failure->engine,
             map_get(&failure->engine->by_slot, slurm_slot(failure->array, index + 1)));
    return 0;
}

/* "12", "12_3" or "12_[3-9]" could not be released; some of the last may have been, and will be
 * found when they run. */
void slurm_places_failed(struct slurm_engine *engine, const struct line *line)
{
    const char *job = line_get(line, "job");
    char *end = NULL;
    char tasks[SLURM_EXPRESSION_SIZE + 16];
    uint32_t limit = 0;
    const unsigned long id = job == NULL ? 0 : strtoul(job, &end, 10);

    if (id == 0 || id > ID_JOB_MAX) {
        engine->stats.bad_lines++;
        return;
    }
    if (*end == '\0') {
        fail_row(engine, map_get(&engine->by_record, id));
        return;
    }
    struct failure failure = { .engine = engine, .array = (uint32_t)id };
    const char *begin = end + 1 + (end[1] == '[');
    const size_t length = strcspn(begin, "]");

    if (*end != '_' || length >= sizeof(tasks))
        return;
    memcpy(tasks, begin, length);
    tasks[length] = '\0';
    if (slurm_spell_tasks(tasks, LIMIT_TASKS_PER_JOB, fail_member, &failure, &limit) < 0)
        engine->stats.bad_lines++;
}

/* ---- time ---- */

/* Its time to be tried again has come. */
static void retry(struct slurm_engine *engine, struct slurm_job *job)
{
    job->retry_at = MSEC_NEVER;
    if (job->phase == PHASE_ENDED)
        return;
    if (job->is_stopping || job->is_cancelling) {
        slurm_places_mark(engine, job);
    } else if (job->phase == PHASE_RUNNING) {
        slurm_places_lose(engine, job, engine->now); /* Slurm does not let go of the old run */
    } else if (job->asked == job->task_count) {
        job->is_asked = false;
        slurm_places_mark(engine, job);
    }
}

void slurm_places_tick(struct slurm_engine *engine)
{
    struct slurm_rows *late = &engine->late;
    uint32_t kept = 0;

    if (engine->now < engine->late_wake)
        return;
    engine->late_wake = MSEC_NEVER;
    for (uint32_t i = 0; i < late->count; i++) {
        const uint32_t row = late->row[i];
        struct slurm_job *job = &engine->jobs[row];

        if (!job->is_used || !job->is_late)
            continue;
        if (job->retry_at > engine->now && job->retry_at != MSEC_NEVER) {
            if (job->retry_at < engine->late_wake)
                engine->late_wake = job->retry_at;
            late->row[kept++] = row;
            continue;
        }
        job->is_late = false;
        if (job->retry_at != MSEC_NEVER)
            retry(engine, job);
    }
    late->count = kept;
}

void slurm_engine_cost(struct slurm_engine *engine, uint64_t task, money_t cost, const char *type)
{
    struct slurm_job *job = slurm_job_of(engine, task);

    if (job == NULL || engine->are_costs_refused || !slurm_notes_may(job) || cost < 0 ||
        cost > LIMIT_MONEY)
        return;
    if (job->cost_type == NAME_NONE)
        slurm_rows_add(&engine->costs, (uint32_t)(job - engine->jobs));
    if (type == NULL)
        type = "a machine that is gone";
    job->cost += cost;
    job->cost_type = names_add(&engine->words, type, strnlen(type, LIMIT_NAME));
    if (engine->costs_wake == MSEC_NEVER)
        engine->costs_wake = engine->now + COST_DELAY_MS;
}

static void send_cost(struct slurm_engine *engine, struct slurm_job *job)
{
    char label[SLURM_LABEL_SIZE];
    char text[LIMIT_NAME + 64];

    (void)snprintf(text, sizeof(text), "stint: $%" PRId64 ".%06" PRId64 " on %s",
                   job->cost / MONEY_PER_USD, job->cost % MONEY_PER_USD,
                   names_text(&engine->words, job->cost_type));
    slurm_job_print(engine, job, label, sizeof(label));
    (void)slurm_ask_begin(engine, "comment");
    line_text_string(&engine->out, "job", label);
    line_text_string(&engine->out, "text", text);
    slurm_ask_end(engine, ASK_COMMENT, job->id);
}

/* Costs are written when there is nothing better to do, some at a time. */
void slurm_costs_tick(struct slurm_engine *engine)
{
    struct slurm_rows *costs = &engine->costs;
    uint32_t sent = 0;

    if (engine->now < engine->costs_wake)
        return;
    while (sent < costs->count && sent < COSTS_AT_ONCE && engine->stats.open == sent) {
        struct slurm_job *job = &engine->jobs[costs->row[sent]];

        if (!job->is_used || job->cost_type == NAME_NONE) {
            *costs = (struct slurm_rows){ costs->row, costs->count - 1, costs->room };
            costs->row[sent] = costs->row[costs->count];
            continue;
        }
        send_cost(engine, job);
        job->cost_type = NAME_NONE;
        sent++;
    }
    if (sent > 0)
        memmove(costs->row, costs->row + sent, (costs->count - sent) * sizeof(*costs->row));
    costs->count -= sent;
    engine->costs_wake = costs->count == 0 ? MSEC_NEVER : engine->now + MSEC_PER_SEC;
}
