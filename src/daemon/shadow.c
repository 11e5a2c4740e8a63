/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual world is a timeline. An action adds what will come of it; shadow_tick lets that happen.
 * What is called off meanwhile (a stop, a return) has another epoch than its row and is passed over.
 *
 * The life of a task, in the real world and in the virtual one, side by side:
 *
 *     real      arrived ------ started -------------------- ended        runtime = ended - started
 *     virtual   arrived - placed --- started ------------------------ ended
 *                                       |------- runtime -------------|   or the real end, if later
 */
#include "daemon/shadow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "sim/timeline.h"

enum what {
    MACHINE_RUNS,
    MACHINE_READY,
    MACHINE_GONE,
    TASK_STARTS,
    TASK_STOPS,
    TASK_ENDS,
    CLOUD_TELLS, /* its list */
    MACHINE_LEFT,
    TASK_TOLD, /* it runs already */
};

struct virtual_task {
    uint64_t id;
    uint32_t job;
    uint32_t epoch;
    uint64_t key;       /* of the last action */
    uint64_t run_key;   /* of the placement it runs under */
    uint64_t instance;  /* where it was placed; 0: nowhere */
    msec_t started_at;  /* virtually; -1: it does not run */
    msec_t executed_ms; /* before it was stopped */
    msec_t real_start;  /* -1: it has not */
    msec_t real_ms;     /* how long it really ran; -1: it has not ended */
};

struct virtual_job {
    struct job_spec spec;
    uint32_t tasks_left;
    uint32_t mention; /* the list in which the real engine spoke of it last */
    msec_t heard_at;  /* of it first; -1: it has started since */
};

enum { LAGS_MAX = 64 };

struct virtual_machine {
    uint64_t id;
    uint32_t offer;
    uint32_t epoch;
    msec_t billed_from; /* -1: not yet */
    bool is_ready;
    bool is_returned;
};

struct shadow {
    struct shadow_config config;
    struct timeline timeline;
    msec_t now;
    uint32_t list;         /* number of the last one of the engine */
    msec_t lags[LAGS_MAX]; /* from hearing of a job to its real start, the last ones */
    uint32_t lag_count;    /* ever */

    struct virtual_task *tasks;
    uint32_t task_count;
    uint32_t tasks_room;
    struct virtual_job *jobs;
    uint32_t job_count;
    uint32_t jobs_room;
    struct virtual_machine *machines;
    uint32_t machine_count;
    uint32_t machines_room;
    struct map task_by_id;
    struct map job_by_id;
    struct map machine_by_id;
};

static void tell_engine(struct shadow *shadow, const struct engine_event *event)
{
    shadow->config.on_engine(shadow->config.context, event);
}

static void tell_cloud(struct shadow *shadow, const struct cloud_event *event)
{
    shadow->config.on_cloud(shadow->config.context, event);
}

static void plan_event(struct shadow *shadow, msec_t at, enum what what, uint32_t epoch,
                       uint64_t id)
{
    timeline_add(
        &shadow->timeline,
        (struct timeline_event){
            .at = at > shadow->now ? at : shadow->now, .kind = what, .epoch = epoch, .id = id });
}

static uint32_t add_task(struct shadow *shadow)
{
    MEM_ROOM(shadow->tasks, shadow->tasks_room, shadow->task_count + 1);
    shadow->tasks[shadow->task_count] = (struct virtual_task){ 0 };
    return shadow->task_count++;
}

static struct virtual_task *task_of(struct shadow *shadow, uint64_t id)
{
    const uint32_t row = map_get(&shadow->task_by_id, id);

    return row != MAP_NONE ? &shadow->tasks[row] : NULL;
}

static struct virtual_machine *machine_of(struct shadow *shadow, uint64_t id)
{
    const uint32_t row = map_get(&shadow->machine_by_id, id);

    return row != MAP_NONE ? &shadow->machines[row] : NULL;
}

/*
 * Rows that are done with. The last row moves into the hole, so that there are no holes; what the
 * timeline holds for it is found by id.
 */

static void drop_task(struct shadow *shadow, struct virtual_task *task)
{
    const uint32_t row = (uint32_t)(task - shadow->tasks);
    const struct virtual_task *last = &shadow->tasks[--shadow->task_count];

    (void)map_remove(&shadow->task_by_id, task->id);
    if (last != task) {
        *task = *last;
        map_put(&shadow->task_by_id, task->id, row);
    }
}

static void drop_job(struct shadow *shadow, uint32_t row)
{
    struct virtual_job *job = &shadow->jobs[row];
    const uint32_t last = --shadow->job_count;

    (void)map_remove(&shadow->job_by_id, job->spec.id);
    if (last == row)
        return;
    *job = shadow->jobs[last];
    map_put(&shadow->job_by_id, job->spec.id, row);
    for (uint32_t i = 0; i < job->spec.task_count; i++) {
        struct virtual_task *task = task_of(shadow, job->spec.first_task_id + i);

        if (task != NULL)
            task->job = row;
    }
}

static void drop_machine(struct shadow *shadow, struct virtual_machine *machine)
{
    const uint32_t row = (uint32_t)(machine - shadow->machines);
    const struct virtual_machine *last = &shadow->machines[--shadow->machine_count];

    (void)map_remove(&shadow->machine_by_id, machine->id);
    if (last != machine) {
        *machine = *last;
        map_put(&shadow->machine_by_id, machine->id, row);
    }
}

/*
 * Tasks.
 */

/* If it is known when the task ends, plan that. */
static void plan_end(struct shadow *shadow, struct virtual_task *task)
{
    if (task->started_at < 0 || task->real_ms < 0)
        return;
    plan_event(shadow,
               task->started_at + task->real_ms - task->executed_ms + shadow->config.news_lag_ms,
               TASK_ENDS, ++task->epoch, task->id);
}

static void finish(struct shadow *shadow, struct virtual_task *task, msec_t at)
{
    const uint32_t job = task->job;
    const struct engine_event event = {
        .kind = ENGINE_TASK_FINISHED, .at = at, .task = task->id, .key = task->run_key
    };

    drop_task(shadow, task);
    if (--shadow->jobs[job].tasks_left == 0)
        drop_job(shadow, job);
    tell_engine(shadow, &event);
}

static int compare_lags(const void *left, const void *right)
{
    const msec_t a = *(const msec_t *)left;
    const msec_t b = *(const msec_t *)right;

    return (a > b) - (a < b);
}

/* The real one has started: how long did the engine take? What is heard of and runs already tells
 * nothing. */
static void real_start(struct shadow *shadow, struct virtual_task *task,
                       const struct engine_event *event, msec_t at)
{
    struct virtual_job *job = &shadow->jobs[task->job];

    task->real_start = at;
    if (job->heard_at >= 0 && event->at > job->heard_at)
        shadow->lags[shadow->lag_count++ % LAGS_MAX] = event->at - job->heard_at;
    job->heard_at = -1;
}

/* The median of what was seen lately. */
static msec_t start_lag(const struct shadow *shadow)
{
    const uint32_t count = shadow->lag_count < LAGS_MAX ? shadow->lag_count : LAGS_MAX;
    msec_t sorted[LAGS_MAX];

    if (count == 0 || shadow->config.start_lag_max_ms == 0)
        return shadow->config.start_lag_min_ms;
    memcpy(sorted, shadow->lags, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), compare_lags);

    const msec_t lag = sorted[count / 2] > shadow->config.start_lag_min_ms
                           ? sorted[count / 2]
                           : shadow->config.start_lag_min_ms;

    return lag < shadow->config.start_lag_max_ms ? lag : shadow->config.start_lag_max_ms;
}

/* The real one has ended. */
static void real_end(struct shadow *shadow, struct virtual_task *task, msec_t at)
{
    const bool ran = task->real_start >= 0 && at > task->real_start;

    if (task->real_ms >= 0)
        return;
    task->real_ms = ran ? at - task->real_start : 0;
    if (task->instance == 0 && !ran)
        finish(shadow, task, at); /* it never began, here or there */
    else
        plan_end(shadow, task);
}

static void arrived(struct shadow *shadow, const struct engine_event *event)
{
    const uint32_t known = map_get(&shadow->job_by_id, event->job.id);

    tell_engine(shadow, event);
    if (known != MAP_NONE) {
        shadow->jobs[known].mention = shadow->list;
        return;
    }
    MEM_ROOM(shadow->jobs, shadow->jobs_room, shadow->job_count + 1);

    const uint32_t row = shadow->job_count++;

    shadow->jobs[row] = (struct virtual_job){ .spec = event->job,
                                              .tasks_left = event->job.task_count,
                                              .mention = shadow->list,
                                              .heard_at = event->at };
    map_put(&shadow->job_by_id, event->job.id, row);
    for (uint32_t i = 0; i < event->job.task_count; i++) {
        const uint32_t task = add_task(shadow);

        shadow->tasks[task].id = event->job.first_task_id + i;
        shadow->tasks[task].job = row;
        shadow->tasks[task].started_at = -1;
        shadow->tasks[task].real_start = -1;
        shadow->tasks[task].real_ms = -1;
        map_put(&shadow->task_by_id, shadow->tasks[task].id, task);
    }
}

/*
 * The job must not run now. If it runs in the virtual world, where there was no wait, it would have
 * been stopped there by its user: it ends.
 */
static void withdrawn(struct shadow *shadow, const struct engine_event *event)
{
    const uint32_t row = map_get(&shadow->job_by_id, event->job.id);

    if (row == MAP_NONE)
        return;

    const struct job_spec spec = shadow->jobs[row].spec;
    bool runs = false;

    for (uint32_t i = 0; i < spec.task_count; i++) {
        struct virtual_task *task = task_of(shadow, spec.first_task_id + i);

        if (task != NULL && task->instance != 0) {
            runs = true;
            real_end(shadow, task, event->at);
        }
    }
    if (runs)
        return;
    for (uint32_t i = 0; i < spec.task_count; i++) {
        struct virtual_task *task = task_of(shadow, spec.first_task_id + i);

        if (task != NULL)
            drop_task(shadow, task);
    }
    drop_job(shadow, row);
    tell_engine(shadow, event);
}

/* What the real engine did not name any more has ended unseen. */
static void end_unnamed(struct shadow *shadow, msec_t at)
{
    for (uint32_t row = shadow->task_count; row > 0; row--) {
        if (row > shadow->task_count)
            continue; /* the rows behind went together with one */

        struct virtual_task *task = &shadow->tasks[row - 1];

        assert(shadow->tasks != NULL);
        if (task->real_ms < 0 && shadow->jobs[task->job].mention < shadow->list)
            real_end(shadow, task, at);
    }
}

static bool has_really_ended(struct shadow *shadow, const struct virtual_job *job)
{
    for (uint32_t i = 0; i < job->spec.task_count; i++) {
        const struct virtual_task *task = task_of(shadow, job->spec.first_task_id + i);

        if (task != NULL && task->real_ms < 0)
            return false;
    }
    return true;
}

static void tell_found(struct shadow *shadow, const struct virtual_task *task, msec_t at)
{
    tell_engine(shadow, &(struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                                .at = at,
                                                .task = task->id,
                                                .instance = task->instance,
                                                .key = task->run_key,
                                                .started_at = task->started_at });
}

/* The end of the real list is the end of ours: before it, name what only the virtual world has. */
static void listed(struct shadow *shadow, const struct engine_event *event)
{
    end_unnamed(shadow, event->at);
    for (uint32_t i = 0; i < shadow->job_count; i++) {
        if (has_really_ended(shadow, &shadow->jobs[i]))
            tell_engine(shadow, &(struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                        .at = event->at,
                                                        .job = shadow->jobs[i].spec });
    }
    for (uint32_t i = 0; i < shadow->machine_count; i++) {
        if (shadow->machines[i].is_ready)
            tell_engine(shadow, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                        .at = event->at,
                                                        .instance = shadow->machines[i].id });
    }
    for (uint32_t i = 0; i < shadow->task_count; i++) {
        if (shadow->tasks[i].started_at >= 0)
            tell_found(shadow, &shadow->tasks[i], event->at);
    }
    tell_engine(shadow, event);
}

/* Another priority. */
static void changed(struct shadow *shadow, const struct engine_event *event)
{
    const uint32_t row = map_get(&shadow->job_by_id, event->job.id);

    if (row == MAP_NONE)
        return;
    if ((event->changes & CHANGE_PRIORITY) != 0)
        shadow->jobs[row].spec.priority = event->job.priority;
    tell_engine(shadow, event);
}

/* What was on its way or ran there does so no more; the controller starts it over elsewhere. */
static void lose_tasks(struct shadow *shadow, uint64_t instance)
{
    for (uint32_t i = 0; i < shadow->task_count; i++) {
        struct virtual_task *task = &shadow->tasks[i];

        assert(shadow->tasks != NULL);
        if (task->instance != instance)
            continue;
        task->epoch++;
        task->instance = 0;
        task->started_at = -1;
        task->executed_ms = 0;
    }
}

/* Of the real machines, those that are owned are in the virtual world too, in the state that they really are in. */
static void heard_of_machine(struct shadow *shadow, const struct engine_event *event)
{
    if (event->instance < OWNED_ID_FIRST)
        return;
    if (event->kind == ENGINE_NODE_LOST && !event->runs_on)
        lose_tasks(shadow, event->instance);
    tell_engine(shadow, event);
}

void shadow_heard(struct shadow *shadow, const struct engine_event *event)
{
    struct virtual_task *task = task_of(shadow, event->task);

    if (task != NULL)
        shadow->jobs[task->job].mention = shadow->list;
    switch (event->kind) {
    case ENGINE_JOB_ARRIVED:
        arrived(shadow, event);
        break;
    case ENGINE_JOB_WITHDRAWN:
        withdrawn(shadow, event);
        break;
    case ENGINE_TASK_STARTED:
        if (task != NULL)
            real_start(shadow, task, event, event->at);
        break;
    case ENGINE_TASK_FOUND:
        if (task != NULL)
            real_start(shadow, task, event, event->started_at);
        break;
    case ENGINE_TASK_STOPPED:
    case ENGINE_TASK_LOST:
        if (task != NULL)
            task->real_start = -1;
        break;
    case ENGINE_TASK_FINISHED:
        if (task != NULL)
            real_end(shadow, task, event->at);
        break;
    case ENGINE_LISTED:
        listed(shadow, event);
        break;
    case ENGINE_NODE_READY:
    case ENGINE_NODE_LOST:
        heard_of_machine(shadow, event);
        break;
    case ENGINE_JOB_CHANGED:
        changed(shadow, event);
        break;
    case ENGINE_TASK_WITHDRAWN: /* no engine that can be shadowed says this */
    case ENGINE_NODE_LEFT:
    case ENGINE_TASK_RATE:
    case ENGINE_TASK_KEPT:
        break;
    }
}

/*
 * The ports.
 */

static void on_admit(void *self, uint64_t instance)
{
    struct shadow *shadow = self;
    struct virtual_machine *machine = machine_of(shadow, instance);

    if (machine == NULL || machine->is_returned)
        return;

    const struct machine_type *type = catalogue_type_of(shadow->config.catalogue, machine->offer);

    plan_event(shadow, machine->billed_from + type->setup_ms, MACHINE_READY, machine->epoch,
               instance);
}

static void on_retire(void *self, uint64_t instance)
{
    struct shadow *shadow = self;
    struct virtual_machine *machine = machine_of(shadow, instance);

    if (machine != NULL)
        machine->is_ready = false;
    plan_event(shadow, shadow->now, MACHINE_LEFT, 0, instance);
}

static void on_forget(void *self, uint64_t instance)
{
    (void)self;
    (void)instance; /* it went with its machine */
}

static void on_place(void *self, uint64_t key, uint64_t id, uint64_t instance)
{
    struct shadow *shadow = self;
    struct virtual_task *task = task_of(shadow, id);

    if (task == NULL || task->key == key)
        return;
    task->key = key;
    task->run_key = key;
    task->instance = instance;
    plan_event(shadow, shadow->now + start_lag(shadow), TASK_STARTS, ++task->epoch, id);
}

static void on_stop(void *self, uint64_t key, uint64_t id)
{
    struct shadow *shadow = self;
    struct virtual_task *task = task_of(shadow, id);

    if (task == NULL || task->key == key)
        return;
    task->key = key;
    plan_event(shadow, shadow->now, TASK_STOPS, ++task->epoch, id);
}

static void on_cancel(void *self, uint64_t key, uint64_t id)
{
    struct shadow *shadow = self;
    const struct virtual_task *task = task_of(shadow, id);

    if (task != NULL && task->started_at >= 0)
        plan_event(shadow, shadow->now, TASK_TOLD, task->epoch, id);
    else
        on_stop(self, key, id);
}

static void on_list_engine(void *self, uint64_t key)
{
    struct shadow *shadow = self;

    shadow->list++;
    shadow->config.engine.ops->list(shadow->config.engine.self, key);
}

static void on_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    struct shadow *shadow = self;
    const struct machine_type *type = catalogue_type_of(shadow->config.catalogue, offer);
    const msec_t at = shadow->now + machine_type_acquire_ms(type, count);

    MEM_ROOM(shadow->machines, shadow->machines_room, shadow->machine_count + count);
    for (uint32_t i = 0; i < count; i++) {
        if (map_get(&shadow->machine_by_id, first + i) != MAP_NONE)
            continue;
        shadow->machines[shadow->machine_count] =
            (struct virtual_machine){ .id = first + i, .offer = offer, .billed_from = -1 };
        map_put(&shadow->machine_by_id, first + i, shadow->machine_count++);
        plan_event(shadow, at, MACHINE_RUNS, 0, first + i);
    }
}

static void on_give_back(void *self, uint64_t instance)
{
    struct shadow *shadow = self;
    struct virtual_machine *machine = machine_of(shadow, instance);

    if (machine == NULL || machine->is_returned)
        return;

    const struct machine_type *type = catalogue_type_of(shadow->config.catalogue, machine->offer);
    const msec_t rest = machine->billed_from >= 0 ? type->release_ms : 0;

    machine->is_returned = true;
    machine->is_ready = false;
    plan_event(shadow, shadow->now + rest, MACHINE_GONE, ++machine->epoch, instance);
}

static void on_list_cloud(void *self, uint64_t key)
{
    struct shadow *shadow = self;

    plan_event(shadow, shadow->now, CLOUD_TELLS, 0, key);
}

static const struct engine_ops engine_ops = {
    .admit = on_admit,
    .retire = on_retire,
    .forget = on_forget,
    .place = on_place,
    .cancel = on_cancel,
    .stop = on_stop,
    .list = on_list_engine,
};

static const struct cloud_ops cloud_ops = {
    .rent = on_rent,
    .give_back = on_give_back,
    .list = on_list_cloud,
};

struct engine_port shadow_engine_port(struct shadow *shadow)
{
    return (struct engine_port){ .ops = &engine_ops, .self = shadow };
}

struct cloud_port shadow_cloud_port(struct shadow *shadow)
{
    return (struct cloud_port){ .ops = &cloud_ops, .self = shadow };
}

struct shadow *shadow_create(const struct shadow_config *config)
{
    struct shadow *shadow = mem_alloc(1, sizeof(*shadow));

    shadow->config = *config;
    timeline_init(&shadow->timeline);
    map_init(&shadow->task_by_id);
    map_init(&shadow->job_by_id);
    map_init(&shadow->machine_by_id);
    return shadow;
}

void shadow_destroy(struct shadow *shadow)
{
    if (shadow == NULL)
        return;
    timeline_done(&shadow->timeline);
    map_done(&shadow->task_by_id);
    map_done(&shadow->job_by_id);
    map_done(&shadow->machine_by_id);
    mem_free(shadow->tasks);
    mem_free(shadow->jobs);
    mem_free(shadow->machines);
    mem_free(shadow);
}

/*
 * What happens.
 */

static void happen_to_machine(struct shadow *shadow, const struct timeline_event *event)
{
    struct virtual_machine *machine = machine_of(shadow, event->id);

    if (machine == NULL || machine->epoch != event->epoch)
        return;
    if (event->kind == MACHINE_RUNS) {
        machine->billed_from = event->at;
        tell_cloud(shadow, &(struct cloud_event){ .kind = CLOUD_RUNNING,
                                                  .at = event->at,
                                                  .instance = event->id,
                                                  .billed_from = event->at });
    } else if (event->kind == MACHINE_READY) {
        machine->is_ready = true;
        tell_engine(shadow, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                    .at = event->at,
                                                    .instance = event->id });
    } else {
        const struct cloud_event gone = { .kind = CLOUD_GONE,
                                          .at = event->at,
                                          .instance = event->id,
                                          .billed_from = machine->billed_from,
                                          .billed_to = event->at,
                                          .offer = machine->offer };

        drop_machine(shadow, machine);
        tell_cloud(shadow, &gone);
    }
}

static void happen_to_task(struct shadow *shadow, const struct timeline_event *event)
{
    struct virtual_task *task = task_of(shadow, event->id);

    if (task == NULL || task->epoch != event->epoch)
        return;
    if (event->kind == TASK_STARTS) {
        task->started_at = event->at;
        tell_engine(shadow, &(struct engine_event){ .kind = ENGINE_TASK_STARTED,
                                                    .at = event->at,
                                                    .task = event->id,
                                                    .key = task->key });
        plan_end(shadow, task);
    } else if (event->kind == TASK_TOLD) {
        tell_found(shadow, task, event->at);
    } else if (event->kind == TASK_STOPS) {
        if (task->started_at >= 0)
            task->executed_ms += event->at - task->started_at;
        task->started_at = -1;
        task->instance = 0;
        tell_engine(shadow, &(struct engine_event){ .kind = ENGINE_TASK_STOPPED,
                                                    .at = event->at,
                                                    .task = event->id,
                                                    .key = task->key });
    } else {
        finish(shadow, task, event->at);
    }
}

static void tell_machines(struct shadow *shadow, const struct timeline_event *event)
{
    for (uint32_t i = 0; i < shadow->machine_count; i++) {
        const struct virtual_machine *machine = &shadow->machines[i];

        tell_cloud(shadow, &(struct cloud_event){ .kind = CLOUD_FOUND,
                                                  .at = event->at,
                                                  .instance = machine->id,
                                                  .billed_from = machine->billed_from,
                                                  .offer = machine->offer });
    }
    tell_cloud(shadow,
               &(struct cloud_event){ .kind = CLOUD_LISTED, .at = event->at, .key = event->id });
}

msec_t shadow_next_wake(const struct shadow *shadow)
{
    const struct timeline_event *first = timeline_first(&shadow->timeline);

    return first != NULL ? first->at : MSEC_NEVER;
}

void shadow_tick(struct shadow *shadow, msec_t now)
{
    while (shadow_next_wake(shadow) <= now) {
        const struct timeline_event event = timeline_take(&shadow->timeline);

        shadow->now = event.at > shadow->now ? event.at : shadow->now;
        switch ((enum what)event.kind) {
        case MACHINE_RUNS:
        case MACHINE_READY:
        case MACHINE_GONE:
            happen_to_machine(shadow, &event);
            break;
        case TASK_STARTS:
        case TASK_STOPS:
        case TASK_ENDS:
        case TASK_TOLD:
            happen_to_task(shadow, &event);
            break;
        case CLOUD_TELLS:
            tell_machines(shadow, &event);
            break;
        case MACHINE_LEFT:
            tell_engine(shadow, &(struct engine_event){ .kind = ENGINE_NODE_LEFT,
                                                        .at = event.at,
                                                        .instance = event.id });
            break;
        }
    }
    if (now > shadow->now)
        shadow->now = now;
}

void shadow_end(struct shadow *shadow, msec_t now)
{
    shadow_tick(shadow, now);
    while (shadow->machine_count > 0) {
        struct virtual_machine *machine = &shadow->machines[shadow->machine_count - 1];
        const struct cloud_event gone = { .kind = CLOUD_GONE,
                                          .at = now,
                                          .instance = machine->id,
                                          .billed_from = machine->billed_from,
                                          .billed_to = now,
                                          .offer = machine->offer };

        drop_machine(shadow, machine);
        tell_cloud(shadow, &gone);
    }
}
