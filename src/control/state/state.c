/* SPDX-License-Identifier: Apache-2.0 */
#include "control/state/state.h"

#include <assert.h>

#include "base/limits.h"
#include "base/mem.h"

void state_init(struct state *state, const struct controller_config *config)
{
    *state = (struct state){
        .config = *config,
        .can_queue = config->engine.ops != NULL && config->engine.ops->queue != NULL,
        .next_key = config->first_key > 0 ? config->first_key : 1,
        .queue_first = ROW_NONE,
    };
    state->config.engine = (struct engine_port){ 0 };
    state->config.cloud = (struct cloud_port){ 0 };
    view_init(&state->view, config->catalogue, config->shapes);
    state->view.round_ms = config->round_ms;
    state->view.notice_ms = config->notice_ms;
    state->view.notice_ppm = config->notice_ppm;
    arena_init(&state->arena);
    id_set_init(&state->asked);
}

void state_done(struct state *state)
{
    view_done(&state->view);
    arena_done(&state->arena);
    id_set_done(&state->asked);
    mem_free(state->steps);
    mem_free(state->task_notes);
    mem_free(state->present);
    mem_free(state->instance_notes);
    mem_free(state->job_notes);
    mem_free(state->marks);
}

void state_copy(struct state *to, const struct state *from, const struct shapes *shapes)
{
    const struct view *view = &from->view;
    const uint32_t tasks = view->task.count;
    const uint32_t instances = view->instance.count;

    *to = *from;
    to->config.shapes = shapes;
    to->config.on_plan = NULL;
    to->config.on_settled = NULL;
    to->config.on_bill = NULL;
    view_copy(&to->view, view, shapes);
    arena_init(&to->arena);
    id_set_copy(&to->asked, &from->asked);
    to->steps = mem_copy(from->steps, from->steps_room, from->steps_room, sizeof(*from->steps));
    to->task_notes =
        mem_copy(from->task_notes, tasks, from->task_notes_room, sizeof(*from->task_notes));
    to->present =
        mem_copy(from->present, from->present_room, from->present_room, sizeof(*from->present));
    to->instance_notes = mem_copy(from->instance_notes, instances, from->instance_notes_room,
                                  sizeof(*from->instance_notes));
    to->job_notes =
        mem_copy(from->job_notes, view->job.count, from->job_notes_room, sizeof(*from->job_notes));
    to->marks = NULL;
    to->mark_count = 0;
    to->marks_room = 0;
}

msec_t state_advance(struct state *state, msec_t now)
{
    msec_t *mine = &state->view.now;

    if (now > *mine && *mine < LIMIT_TIME_MS)
        *mine = now < LIMIT_TIME_MS ? now : LIMIT_TIME_MS;
    return *mine;
}

uint64_t state_key(struct state *state)
{
    return state->next_key++;
}

/*
 * Marks.
 */

void state_mark(struct state *state, enum mark_kind kind, uint64_t what)
{
    MEM_ROOM(state->marks, state->marks_room, state->mark_count + 1);
    state->marks[state->mark_count++] = (struct mark){ .what = what, .kind = kind };
}

void state_mark_task(struct state *state, uint32_t task)
{
    if (state->task_notes[task].is_marked)
        return;
    state->task_notes[task].is_marked = true;
    state_mark(state, MARK_TASK, task);
}

void state_mark_instance(struct state *state, uint32_t instance)
{
    if (state->instance_notes[instance].is_marked)
        return;
    state->instance_notes[instance].is_marked = true;
    state_mark(state, MARK_INSTANCE, instance);
}

void state_mark_all(struct state *state)
{
    const struct view *view = &state->view;

    for (uint32_t task = 0; task < view->task.count; task++) {
        if (view->task.state[task] != TASK_FREE)
            state_mark_task(state, task);
    }
    INSTANCE_EACH(instance, view)
    {
        state_mark_instance(state, instance);
    }
}

/*
 * Rows.
 */

static void make_room(struct state *state)
{
    const struct view *view = &state->view;
    const uint32_t tasks = state->steps_room;
    const uint32_t instances = state->present_room;

    MEM_ROOM(state->steps, state->steps_room, view->task.count);
    for (uint32_t i = tasks; i < state->steps_room; i++)
        state->steps[i] = (struct task_step){ .at = ROW_NONE };
    MEM_ROOM(state->task_notes, state->task_notes_room, view->task.count);
    MEM_ROOM(state->present, state->present_room, view->instance.count);
    for (uint32_t i = instances; i < state->present_room; i++)
        state->present[i] = ROW_NONE;
    MEM_ROOM(state->instance_notes, state->instance_notes_room, view->instance.count);
    MEM_ROOM(state->job_notes, state->job_notes_room, view->job.count);
}

uint32_t state_add_job(struct state *state, const struct job_spec *spec)
{
    const struct view *view = &state->view;
    const uint32_t job = view_add_job(&state->view, spec);

    make_room(state);
    state->job_notes[job] = (struct job_note){
        .first_id = spec->first_task_id,
        .end_id = spec->first_task_id + spec->task_count,
        .mention = state->audit,
    };
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task])
        state->task_notes[task] =
            (struct task_note){ .since = -1, .started_at = -1, .ran_at = ROW_NONE };
    return job;
}

void state_grow_job(struct state *state, uint32_t job, uint32_t count)
{
    struct view *view = &state->view;
    const uint64_t first = state->job_notes[job].end_id;

    view_grow_job(view, job, first, count);
    make_room(state);
    state->job_notes[job].end_id += count;
    for (uint64_t id = first; id < first + count; id++)
        state->task_notes[view_find_task(view, id)] =
            (struct task_note){ .since = -1, .started_at = -1, .ran_at = ROW_NONE };
}

uint32_t state_add_instance(struct state *state, uint64_t id, uint32_t offer)
{
    const uint32_t instance = view_add_instance(&state->view, id, offer);

    make_room(state);
    state->instance_notes[instance] = (struct instance_note){
        .started_at = -1,
        .missing_since = -1,
        .mention = state->audit,
        .engine_mention = state->audit,
    };
    return instance;
}

/* Time runs one way: only a machine that drains may take work again, and one that was returned is. */
static bool may_become(enum instance_state from, enum instance_state next)
{
    switch (next) {
    case INSTANCE_BOOTING:
        return from == INSTANCE_REQUESTED;
    case INSTANCE_READY:
        return from == INSTANCE_REQUESTED || from == INSTANCE_BOOTING || from == INSTANCE_DRAINING;
    case INSTANCE_DRAINING:
        return from != INSTANCE_FREE && from != INSTANCE_RETURNED;
    case INSTANCE_RETURNED:
        return from != INSTANCE_FREE;
    case INSTANCE_FREE:
    case INSTANCE_REQUESTED:
        break;
    }
    return false;
}

void state_set_instance(struct state *state, uint32_t instance, enum instance_state next)
{
    assert(may_become((enum instance_state)state->view.instance.state[instance], next));
    view_set_state(&state->view, instance, next);
    state_mark_instance(state, instance);
}

void state_set_outdated(struct state *state, uint32_t instance, bool is_outdated)
{
    struct instance_note *note = &state->instance_notes[instance];

    if (note->is_outdated == is_outdated)
        return;
    note->is_outdated = is_outdated;
    state->outdated += is_outdated ? 1 : UINT32_MAX;
    state->wants_decision = true;
}

void state_show_as_leaving(struct state *state, uint32_t instance, bool is_leaving)
{
    struct instance_note *note = &state->instance_notes[instance];

    if (is_leaving)
        note->shown_from = state->view.instance.state[instance];
    view_set_state(&state->view, instance,
                   is_leaving ? INSTANCE_DRAINING : (enum instance_state)note->shown_from);
}

bool state_stays_idle(const struct state *state, uint32_t instance)
{
    const struct instance_note *note = &state->instance_notes[instance];

    return note->pool > 0 || note->is_short || view_is_owned(&state->view, instance);
}

bool state_is_empty(const struct state *state, uint32_t instance)
{
    return state->view.instance.task_count[instance] == 0 && state->present[instance] == ROW_NONE;
}

bool state_is_closed(const struct state *state, uint32_t instance)
{
    const struct instance_note *note = &state->instance_notes[instance];

    return state->view.instance.state[instance] == INSTANCE_DRAINING &&
           (note->is_closed || view_is_owned(&state->view, instance)) && !note->is_leaving;
}

/*
 * Where a task is to be.
 */

void state_bind(struct state *state, uint32_t task, uint32_t instance)
{
    view_bind(&state->view, task, instance);
    state_mark_task(state, task);
    state_mark_lingering(state, state->view.task.job[task]);
}

void state_unbind(struct state *state, uint32_t task, msec_t at)
{
    struct view *view = &state->view;
    const uint32_t instance = view->task.instance[task];

    if (view->task.state[task] == TASK_RUNNING)
        view_mark_stopped(view, task, at);
    if (instance == ROW_NONE)
        return;
    if (at > view->task.bound_at[task])
        state->stats.bound_task_ms += at - view->task.bound_at[task];
    view_unbind(view, task);
    state_mark_task(state, task);
}

void state_restart(struct state *state, uint32_t task)
{
    view_mark_stopped(&state->view, task, state->view.now);
    state_mark_task(state, task);
}

/*
 * What runs on though it is to be elsewhere.
 */

static bool is_gang(const struct view *view, uint32_t job)
{
    return view->job.gang[job] && view->job.task_count[job] > 1;
}

void state_linger(struct state *state, uint32_t task)
{
    struct task_note *note = &state->task_notes[task];

    if (note->lingers)
        return;
    note->lingers = true;
    note->lingers_since = state->view.now;
    state->job_notes[state->view.task.job[task]].lingering++;
}

/* What it did in the meantime counts. */
static void end_one(struct state *state, uint32_t task, msec_t at)
{
    struct task_note *note = &state->task_notes[task];

    if (!note->lingers)
        return;
    note->lingers = false;
    state->job_notes[state->view.task.job[task]].lingering--;
    if (at > note->lingers_since)
        view_add_executed(&state->view, task, at - note->lingers_since);
    state_mark_task(state, task);
}

static void end_linger(struct state *state, uint32_t task, msec_t at)
{
    const struct view *view = &state->view;
    const uint32_t job = view->task.job[task];

    end_one(state, task, at);
    if (!is_gang(view, job) || state->job_notes[job].lingering == 0)
        return;
    for (uint32_t other = view->job.first_task[job]; other != ROW_NONE;
         other = view->task.sibling[other])
        end_one(state, other, at);
}

void state_end_linger(struct state *state, uint32_t task)
{
    end_linger(state, task, state->view.now);
}

bool state_has_place(const struct state *state, uint32_t task)
{
    const struct view *view = &state->view;
    const uint32_t instance = view->task.instance[task];

    return instance != ROW_NONE && view->instance.state[instance] == INSTANCE_READY;
}

bool state_lingers(const struct state *state, uint32_t task)
{
    const struct view *view = &state->view;
    const uint32_t job = view->task.job[task];

    if (!state->task_notes[task].lingers)
        return false;
    if (!is_gang(view, job))
        return !state_has_place(state, task) || state->task_notes[task].stays_until > view->now;
    for (uint32_t other = view->job.first_task[job]; other != ROW_NONE;
         other = view->task.sibling[other]) {
        if (!state_has_place(state, other))
            return true;
    }
    return false;
}

void state_mark_lingering(struct state *state, uint32_t job)
{
    const struct view *view = &state->view;

    if (state->job_notes[job].lingering == 0)
        return;
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task])
        state_mark_task(state, task);
}

static void queue_add(struct state *state, uint32_t task)
{
    struct task_note *note = &state->task_notes[task];
    const uint32_t next = state->queue_first;

    note->queue_prev = ROW_NONE;
    note->queue_next = next;
    if (next != ROW_NONE)
        state->task_notes[next].queue_prev = task;
    state->queue_first = task;
    state->queued++;
}

static void queue_remove(struct state *state, uint32_t task)
{
    const struct task_note *note = &state->task_notes[task];

    if (note->queue_prev != ROW_NONE)
        state->task_notes[note->queue_prev].queue_next = note->queue_next;
    else
        state->queue_first = note->queue_next;
    if (note->queue_next != ROW_NONE)
        state->task_notes[note->queue_next].queue_prev = note->queue_prev;
    state->queued--;
}

void state_want_queued(struct state *state, uint32_t task, bool is_wanted)
{
    struct task_note *note = &state->task_notes[task];

    if (note->is_to_queue == is_wanted)
        return;
    note->is_to_queue = is_wanted;
    if (is_wanted)
        queue_add(state, task);
    else
        queue_remove(state, task);
    state_mark_task(state, task);
}

void state_evacuate(struct state *state, uint32_t instance, msec_t at)
{
    while (state->view.instance.first_task[instance] != ROW_NONE)
        state_unbind(state, state->view.instance.first_task[instance], at);
    state->wants_decision = true;
}

void state_take_back(struct state *state, uint32_t instance, msec_t at)
{
    const struct view *view = &state->view;
    uint32_t next;

    for (uint32_t task = view->instance.first_task[instance]; task != ROW_NONE; task = next) {
        next = view->task.next[task];
        if (view->task.state[task] != TASK_RUNNING)
            state_unbind(state, task, at);
    }
}

void state_close_instance(struct state *state, uint32_t instance, msec_t at)
{
    state_set_instance(state, instance, INSTANCE_DRAINING);
    state_take_back(state, instance, at);
    state->wants_decision = true;
}

/*
 * Where the engine has it.
 */

void state_note_step(struct state *state, uint32_t task, msec_t at)
{
    struct task_note *note = &state->task_notes[task];

    if (at > note->since)
        note->since = at;
    note->absences = 0;
}

static void present_add(struct state *state, uint32_t task, uint32_t instance)
{
    struct task_step *step = &state->steps[task];

    step->at = instance;
    step->prev = ROW_NONE;
    step->next = state->present[instance];
    if (step->next != ROW_NONE)
        state->steps[step->next].prev = task;
    state->present[instance] = task;
}

static void present_remove(struct state *state, uint32_t task)
{
    const struct task_step *step = &state->steps[task];

    if (step->at == ROW_NONE)
        return;
    if (step->prev != ROW_NONE)
        state->steps[step->prev].next = step->next;
    else
        state->present[step->at] = step->next;
    if (step->next != ROW_NONE)
        state->steps[step->next].prev = step->prev;
    state_mark_instance(state, step->at);
}

void state_step_placed(struct state *state, uint32_t task, uint32_t instance, uint64_t key)
{
    state->steps[task] = (struct task_step){ .key = key, .state = STEP_PLACED };
    present_add(state, task, instance);
    state->view.task.run_key[task] = key;
    state_note_step(state, task, state->view.now);
}

void state_step_runs(struct state *state, uint32_t task, uint64_t key)
{
    struct task_step *step = &state->steps[task];

    state->view.task.run_key[task] = key;
    state_mark_task(state, task);
    if (step->state == STEP_STOPPING)
        return;                /* it runs until it has stopped */
    step->state = STEP_PLACED; /* it was too late to cancel it */
    step->key = key;
}

void state_step_started(struct state *state, uint32_t task)
{
    state->steps[task].has_started = true;
    state->task_notes[task].absences = 0;
    state_mark_task(state, task);
}

void state_step_queued(struct state *state, uint32_t task, uint64_t key)
{
    state->steps[task] = (struct task_step){ .key = key, .at = ROW_NONE, .state = STEP_QUEUED };
    state->view.task.run_key[task] = key;
    state_note_step(state, task, state->view.now);
}

void state_step_recalled(struct state *state, uint32_t task, enum step_state next, uint64_t key)
{
    struct task_step *step = &state->steps[task];

    if (step->state == STEP_QUEUED) /* the engine has it under that key no more */
        state->view.task.run_key[task] = 0;
    step->state = (uint8_t)next;
    step->key = key;
    state_note_step(state, task, state->view.now);
    if (next != STEP_STOPPING)
        return;
    state->view.task.stops[task]++;
    end_one(state, task, state->view.now);
}

void state_step_kept(struct state *state, uint32_t task, msec_t until)
{
    struct view *view = &state->view;
    struct job_note *job = &state->job_notes[view->task.job[task]];
    struct task_step *step = &state->steps[task];

    step->state = STEP_PLACED;
    step->key = view->task.run_key[task];
    view->task.stops[task]--;
    state->task_notes[task].stays_until = until;
    if (until > job->stays_until)
        job->stays_until = until;
    state_note_step(state, task, view->now);
    state_mark_task(state, task);
}

bool state_is_kept(const struct state *state, uint32_t task, msec_t *ret_until)
{
    const struct view *view = &state->view;
    const uint32_t job = view->task.job[task];

    if (view->job.gang[job] && view->job.tasks_running[job] > 0)
        *ret_until = state->job_notes[job].stays_until;
    else
        *ret_until = state->steps[task].has_started ? state->task_notes[task].stays_until : 0;
    return *ret_until > view->now;
}

void state_step_left(struct state *state, uint32_t task, msec_t at)
{
    if (state->steps[task].state == STEP_NONE)
        return;
    if (state->task_notes[task].lingers)
        end_linger(state, task, at);
    present_remove(state, task);
    state->steps[task] = (struct task_step){ .at = ROW_NONE };
    state->task_notes[task].left_key = state->view.task.run_key[task];
    state->view.task.run_key[task] = 0;
    state->task_notes[task].stays_until = 0;
    state_want_queued(state, task, false);
    state_note_step(state, task, at);
    state_mark_task(state, task);
}
