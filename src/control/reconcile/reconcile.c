/* SPDX-License-Identifier: Apache-2.0 */
#include "control/reconcile/reconcile.h"

#include <assert.h>

#include "base/mem.h"

void reconcile_init(struct reconciler *rec, struct hearing *hear, const struct engine_port *engine,
                    const struct cloud_port *cloud)
{
    *rec = (struct reconciler){
        .state = hear->state,
        .books = hear->books,
        .hear = hear,
        .engine = *engine,
        .cloud = *cloud,
    };
}

void reconcile_done(struct reconciler *rec)
{
    mem_free(rec->gang.tasks);
    mem_free(rec->gang.instances);
}

/*
 * Tasks.
 */

static void place(struct reconciler *rec, uint32_t task)
{
    struct state *state = rec->state;
    const uint32_t instance = state->view.task.instance[task];
    const uint64_t key = state_key(state);

    state_step_placed(state, task, instance, key);
    rec->acts++;
    rec->engine.ops->place(rec->engine.self, key, state->view.task.id[task],
                           state->view.instance.id[instance]);
}

static void queue(struct reconciler *rec, uint32_t task)
{
    const uint64_t key = state_key(rec->state);

    state_step_queued(rec->state, task, key);
    rec->acts++;
    rec->engine.ops->queue(rec->engine.self, key, rec->state->view.task.id[task]);
}

static void cancel(struct reconciler *rec, uint32_t task)
{
    const uint64_t key = state_key(rec->state);

    state_step_recalled(rec->state, task, STEP_CANCELLING, key);
    rec->acts++;
    rec->engine.ops->cancel(rec->engine.self, key, rec->state->view.task.id[task]);
}

static void stop(struct reconciler *rec, uint32_t task)
{
    const uint64_t key = state_key(rec->state);

    state_step_recalled(rec->state, task, STEP_STOPPING, key);
    rec->acts++;
    rec->engine.ops->stop(rec->engine.self, key, rec->state->view.task.id[task]);
}

/* The engine has it where it is to be, and the run that it has is the one that it is to have. */
static bool is_in_place(const struct state *state, uint32_t task)
{
    const struct task_step *step = &state->steps[task];

    return step->at == state->view.task.instance[task] &&
           (!step->has_started || state->view.task.state[task] == TASK_RUNNING);
}

static void add_to_gang(struct gang *gang, const struct view *view, uint32_t task)
{
    MEM_ROOM(gang->tasks, gang->tasks_room, gang->count + 1);
    MEM_ROOM(gang->instances, gang->instances_room, gang->count + 1);
    gang->tasks[gang->count] = view->task.id[task];
    gang->instances[gang->count++] = view->instance.id[view->task.instance[task]];
}

/* Those of the gang that are nowhere. False: another one of it cannot start yet, or has to leave where it is
 * first. What becomes of that one brings it here again. */
static bool gather_gang(struct reconciler *rec, uint32_t job)
{
    const struct state *state = rec->state;
    const struct view *view = &state->view;

    rec->gang.count = 0;
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint8_t step = state->steps[task].state;

        if (step == STEP_NONE && state_has_place(state, task))
            add_to_gang(&rec->gang, view, task);
        else if (step != STEP_PLACED || !is_in_place(state, task))
            return false;
    }
    return true;
}

static void place_gang(struct reconciler *rec, uint32_t job)
{
    struct state *state = rec->state;
    const struct gang *gang = &rec->gang;

    if (!gather_gang(rec, job))
        return;

    const uint64_t key = state_key(state);

    for (uint32_t i = 0; i < gang->count; i++) {
        const uint32_t task = view_find_task(&state->view, gang->tasks[i]);

        state_step_placed(state, task, state->view.task.instance[task], key);
    }
    rec->acts++;
    rec->engine.ops->place_gang(rec->engine.self, key, gang->tasks, gang->instances, gang->count);
}

/* Start it: by itself, or with its gang. */
static void start(struct reconciler *rec, uint32_t task)
{
    const struct view *view = &rec->state->view;
    const uint32_t job = view->task.job[task];

    if (rec->engine.ops->place_gang != NULL && view->job.gang[job] && view->job.task_count[job] > 1)
        place_gang(rec, job);
    else
        place(rec, task);
}

static void look_at_task(struct reconciler *rec, uint32_t task)
{
    const struct state *state = rec->state;
    const struct task_step *step = &state->steps[task];
    struct task_note *note = &state->task_notes[task];
    const bool is_unheard = note->is_unheard;

    note->is_marked = false;
    note->is_unheard = false;
    if (state->view.task.state[task] == TASK_FREE)
        return;
    switch ((enum step_state)step->state) {
    case STEP_NONE:
        if (state_has_place(state, task))
            start(rec, task);
        else if (note->is_to_queue)
            queue(rec, task);
        break;
    case STEP_QUEUED:
        if (!note->is_to_queue)
            cancel(rec, task);
        else if (is_unheard)
            queue(rec, task);
        break;
    case STEP_PLACED:
        if (is_in_place(state, task))
            break;
        if (!step->has_started)
            cancel(rec, task);
        else if (!state_lingers(state, task))
            stop(rec, task);
        break;
    case STEP_CANCELLING:
        if (is_unheard)
            cancel(rec, task);
        break;
    case STEP_STOPPING:
        if (is_unheard)
            stop(rec, task);
        break;
    }
}

/*
 * Instances.
 */

/* With all the others of its request, which have the keys that follow the first. */
static void rent(struct reconciler *rec, uint32_t instance)
{
    struct state *state = rec->state;
    const uint64_t first = state->instance_notes[instance].rent;
    const uint32_t offer = state->view.instance.offer[instance];
    uint32_t count = 0;
    uint32_t row = view_find_instance(&state->view, first);

    while (row != ROW_NONE && state->instance_notes[row].rent == first) {
        state->instance_notes[row].rent = 0;
        count++;
        row = view_find_instance(&state->view, first + count);
    }
    assert(count > 0);
    rec->acts++;
    rec->cloud.ops->rent(rec->cloud.self, first, count, offer);
}

static void retire(struct reconciler *rec, uint32_t instance)
{
    struct instance_note *note = &rec->state->instance_notes[instance];
    const msec_t now = rec->state->view.now;

    if (note->asked_at == 0) {
        note->leaving_since = now;
        brake_starts_failed(rec->books, instance);
    }
    note->is_leaving = true;
    note->asked_at = now;
    rec->acts++;
    rec->engine.ops->retire(rec->engine.self, rec->state->view.instance.id[instance]);
}

/* What runs on a machine that the cloud takes is still there: nothing must follow it, whoever would start it. */
static void shut(struct reconciler *rec, uint32_t instance)
{
    rec->state->instance_notes[instance].is_shut = true;
    rec->acts++;
    rec->engine.ops->retire(rec->engine.self, rec->state->view.instance.id[instance]);
}

static void give_back(struct reconciler *rec, uint32_t instance)
{
    struct instance_note *note = &rec->state->instance_notes[instance];

    state_set_instance(rec->state, instance, INSTANCE_RETURNED);
    note->absences = 0; /* that lists lacked it before says nothing of its end */
    note->missing_since = -1;
    note->returned_key = rec->state->next_key;
    note->asked_at = rec->state->view.now;
    rec->acts++;
    rec->cloud.ops->give_back(rec->cloud.self, rec->state->view.instance.id[instance]);
}

static void look_at_leaving(struct reconciler *rec, uint32_t instance)
{
    const struct instance_note *note = &rec->state->instance_notes[instance];

    if (note->is_leaving)
        return;
    if (!state_is_empty(rec->state, instance)) {
        if (note->is_noticed && !note->is_shut)
            shut(rec, instance);
    } else if (note->has_left) {
        give_back(rec, instance);
    } else {
        retire(rec, instance);
    }
}

static void look_at_instance(struct reconciler *rec, uint32_t instance)
{
    struct instance_note *note = &rec->state->instance_notes[instance];
    const struct view *view = &rec->state->view;
    const bool is_unheard = note->is_unheard;

    note->is_marked = false;
    note->is_unheard = false;
    switch ((enum instance_state)view->instance.state[instance]) {
    case INSTANCE_REQUESTED:
        if (note->rent != 0)
            rent(rec, instance);
        break;
    case INSTANCE_BOOTING:
        if (!note->is_admitted) {
            note->is_admitted = true;
            rec->acts++;
            rec->engine.ops->admit(rec->engine.self, view->instance.id[instance]);
        }
        break;
    case INSTANCE_DRAINING:
        if (!view_is_owned(view, instance))
            look_at_leaving(rec, instance);
        break;
    case INSTANCE_RETURNED:
        if (is_unheard) {
            rec->acts++;
            rec->cloud.ops->give_back(rec->cloud.self, view->instance.id[instance]);
        }
        break;
    case INSTANCE_FREE:
    case INSTANCE_READY:
        break;
    }
}

/*
 * Lists.
 */

static void list_machines(struct reconciler *rec)
{
    const uint64_t key = state_key(rec->state);

    hear_cloud_list_asked(rec->hear, key);
    rec->acts++;
    rec->cloud.ops->list(rec->cloud.self, key);
}

static void list_work(struct reconciler *rec)
{
    const uint64_t key = state_key(rec->state);

    hear_engine_list_asked(rec->hear, key);
    rec->acts++;
    rec->engine.ops->list(rec->engine.self, key);
}

uint32_t reconcile(struct reconciler *rec)
{
    struct state *state = rec->state;

    rec->acts = 0;
    for (uint32_t i = 0; i < state->mark_count; i++) {
        const struct mark mark = state->marks[i];

        switch (mark.kind) {
        case MARK_TASK:
            look_at_task(rec, (uint32_t)mark.what);
            break;
        case MARK_INSTANCE:
            look_at_instance(rec, (uint32_t)mark.what);
            break;
        case MARK_GONE:
            rec->acts++;
            rec->engine.ops->forget(rec->engine.self, mark.what);
            break;
        case MARK_CLOUD_LIST:
            list_machines(rec);
            break;
        case MARK_ENGINE_LIST:
            list_work(rec);
            break;
        }
    }
    state->mark_count = 0;
    return rec->acts;
}
