/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a task. The engine is right about where it runs, so the view is changed until it agrees:
 * nothing that runs is ever stopped because it is not where we thought, or because there is no room for it by
 * what we know.
 */
#include <assert.h>

#include "control/hear/hear.h"
#include "decide/lease.h"

/* A run that was lost by itself before it was so long counts as one that did not start. */
static const msec_t lasting_ms = 60 * MSEC_PER_SEC;

static bool is_recalled(const struct task_step *step)
{
    return step->state == STEP_STOPPING || step->state == STEP_CANCELLING;
}

static bool is_on_its_way(const struct state *state, uint32_t task)
{
    return is_recalled(&state->steps[task]) || state->task_notes[task].lingers;
}

/* The run ends, if there is one. On a machine that the cloud takes, that is why. */
static void count_eviction(struct hearing *hear, uint32_t task, enum eviction cause)
{
    const struct task_step *step = &hear->state->steps[task];

    if (step->at != ROW_NONE && hear->state->instance_notes[step->at].is_noticed)
        cause = EVICTED_BY_NOTICE;
    hear->state->stats.evicted[cause] += step->has_started;
}

void hear_left(struct hearing *hear, uint32_t task, msec_t at)
{
    const uint32_t instance = hear->state->steps[task].at;

    if (instance != ROW_NONE)
        books_leave(hear->books, instance, task, at);
    state_step_left(hear->state, task, at);
}

void hear_forget_present(struct hearing *hear, uint32_t instance, msec_t at)
{
    while (hear->state->present[instance] != ROW_NONE) {
        const uint32_t task = hear->state->present[instance];

        count_eviction(hear, task, EVICTED_BY_LOSS);
        hear_left(hear, task, at);
        view_note_lost(&hear->state->view, task);
        losses_run_lost(hear->books, instance, task);
    }
}

/* The others of the gang may have waited for this one, which was not where it should be, to start together. */
static void wake_gang(struct state *state, uint32_t task)
{
    const struct view *view = &state->view;
    const uint32_t job = view->task.job[task];

    for (uint32_t other = view->job.gang[job] ? view->job.first_task[job] : ROW_NONE;
         other != ROW_NONE; other = view->task.sibling[other])
        state_mark_task(state, other);
}

/*
 * It runs.
 */

static void started(struct hearing *hear, uint32_t task, msec_t at)
{
    struct state *state = hear->state;
    const uint32_t instance = state->steps[task].at;

    state_step_started(state, task);
    state->task_notes[task].started_at = at;
    state->instance_notes[instance].started_at = at;
    view_mark_running(&state->view, task, at);
    books_enter(hear->books, instance, task, at);
}

static bool fits(const struct view *view, uint32_t task, uint32_t instance)
{
    const struct res *demand = view_demand(view, task, instance);
    const struct res room = view_free(view, instance);

    return demand != NULL && res_fits(demand, &room);
}

/* The task that was bound there last and does not run yet, or ROW_NONE. */
static uint32_t newest_idle(const struct view *view, uint32_t instance)
{
    uint32_t task = view->instance.last_task[instance];

    while (task != ROW_NONE && view->task.state[task] == TASK_RUNNING)
        task = view->task.prev[task];
    return task;
}

/* A task there that this one must be apart from, with 'is_idle' one that is only on its way; ROW_NONE: there is none. */
static uint32_t too_near(const struct view *view, uint32_t task, uint32_t instance, bool is_idle)
{
    if (!view_has_apart(view, view->task.job[task]))
        return ROW_NONE;
    TASK_EACH(other, view, view->instance.first_task[instance])
    {
        if (!(is_idle && view->task.state[other] == TASK_RUNNING) &&
            view_keep_apart(view, task, other))
            return other;
    }
    return ROW_NONE;
}

/* Those on their way there that must be apart from the task go elsewhere. */
static void yield_to(struct hearing *hear, uint32_t task, uint32_t instance, msec_t at)
{
    uint32_t near;

    while ((near = too_near(&hear->state->view, task, instance, true)) != ROW_NONE)
        state_unbind(hear->state, near, at);
}

/* Tasks that are only on their way there yield to one that runs there. */
static void make_room(struct hearing *hear, uint32_t task, uint32_t instance, msec_t at)
{
    const struct view *view = &hear->state->view;

    yield_to(hear, task, instance, at);
    while (!fits(view, task, instance)) {
        const uint32_t other = newest_idle(view, instance);

        if (other == ROW_NONE) {
            hear->state->stats.misfits++;
            return;
        }
        state_unbind(hear->state, other, at);
    }
}

void hear_apart(struct hearing *hear, uint32_t job, msec_t at)
{
    const struct view *view = &hear->state->view;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];

        if (instance == ROW_NONE)
            continue;
        yield_to(hear, task, instance, at);
        if (view->task.state[task] != TASK_RUNNING &&
            too_near(view, task, instance, false) != ROW_NONE)
            state_unbind(hear->state, task, at);
    }
}

void hear_capacity(struct hearing *hear, uint32_t instance, const struct res *capacity, msec_t at)
{
    struct view *view = &hear->state->view;
    const struct res *known = view_capacity(view, instance);
    const struct res *of_type =
        &catalogue_type_of(view->catalogue, view->instance.offer[instance])->capacity;
    const uint32_t before = view->instance.task_count[instance];
    uint32_t idle = newest_idle(view, instance);
    struct res now = *capacity;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (now.amount[kind] == ENGINE_AS_TYPE)
            now.amount[kind] = of_type->amount[kind];
    }
    if (res_fits(&now, known) && res_fits(known, &now))
        return; /* nothing new */
    view_set_capacity(view, instance, &now);
    for (; view->instance.crowded[instance] && idle != ROW_NONE; idle = newest_idle(view, instance))
        state_unbind(hear->state, idle, at);
    hear->state->wants_decision = true;
    if (before > 0)
        brake_room_told(hear->books, instance, view->instance.task_count[instance] == 0, at);
}

/* Bind it to where it runs, whatever we thought of it and of the room there: the engine is right. */
static void settle_in(struct hearing *hear, uint32_t task, uint32_t instance, msec_t at)
{
    struct view *view = &hear->state->view;

    hear->state->wants_decision = true;
    state_unbind(hear->state, task, at);
    make_room(hear, task, instance, at);
    view_bind_found(view, task, instance);
    if (view->instance.state[instance] == INSTANCE_REQUESTED ||
        view->instance.state[instance] == INSTANCE_BOOTING)
        hear_ready(hear, instance, at);
}

void hear_runs_at(struct hearing *hear, uint32_t task, uint32_t instance, uint64_t key,
                  msec_t started_at)
{
    const struct view *view = &hear->state->view;
    const struct task_step *step = &hear->state->steps[task];

    if (step->state != STEP_PLACED || step->at != instance || view->task.instance[task] != instance)
        wake_gang(hear->state, task);
    if (step->at != instance) {
        hear_left(hear, task, view->now);
        state_step_placed(hear->state, task, instance, key);
    } else {
        state_step_runs(hear->state, task, key);
    }
    if (step->state == STEP_STOPPING || hear->state->task_notes[task].lingers)
        return;
    if (view->task.instance[task] != instance) {
        hear->state->stats.found++;
        settle_in(hear, task, instance, view->now);
        if (hear->state->instance_notes[instance].is_noticed && view->now < hear->next_deadline)
            hear->next_deadline = view->now; /* see what becomes of it there */
    }
    if (view->task.state[task] == TASK_BOUND)
        started(hear, task, started_at);
}

/* It is bound to nothing: all that is left of it is the bill. */
void hear_ran(struct hearing *hear, uint32_t task, uint32_t instance, msec_t from, msec_t to)
{
    const struct view *view = &hear->state->view;

    if (view->task.state[task] == TASK_RUNNING) {
        hear->state->stats.late_events++;
        return;
    }
    hear_left(hear, task, view->now);
    if (view->task.instance[task] != ROW_NONE)
        state_unbind(hear->state, task, view->now);
    hear->state->instance_notes[instance].losses = 0;
    brake_proved_good(hear->books, instance);
    hear->state->stats.caught_up++;
    view_add_executed(&hear->state->view, task, to > from ? to - from : 1); /* clocks of seconds */
    books_ran(hear->books, instance, task, from);
    hear->state->task_notes[task].ran_at = instance;
}

/*
 * It runs no more.
 */

void hear_stopped(struct hearing *hear, uint32_t task, msec_t at)
{
    const struct task_step *step = &hear->state->steps[task];

    if (!is_recalled(step)) {
        hear->state->stats.late_events++;
        return;
    }
    count_eviction(hear, task, EVICTED_BY_MOVE);
    hear_left(hear, task, at);
    if (hear->state->view.job.fixed[hear->state->view.task.job[task]])
        view_note_lost(&hear->state->view, task);
    else
        view_note_saved(&hear->state->view, task);
}

/* Whether the task, which is alone in this, is to leave a machine that a plan has let go, for another one. Where it goes has been decided: it is asked to
 * stop again later. */
static bool is_let_go(const struct state *state, uint32_t task, uint32_t instance)
{
    const struct view *view = &state->view;

    return view->instance.state[instance] == INSTANCE_DRAINING &&
           state->instance_notes[instance].is_released &&
           !state->instance_notes[instance].is_noticed && view->task.instance[task] != ROW_NONE &&
           view->task.instance[task] != instance && !view->job.gang[view->task.job[task]];
}

void hear_kept(struct hearing *hear, uint32_t task, msec_t until)
{
    static const msec_t least_ms = 10 * MSEC_PER_SEC; /* nobody is asked without end */
    struct view *view = &hear->state->view;
    const uint32_t instance = hear->state->steps[task].at;

    if (hear->state->steps[task].state != STEP_STOPPING) {
        hear->state->stats.late_events++;
        return;
    }
    until = until > view->now + least_ms ? until : view->now + least_ms;
    hear->state->stats.stops_refused++;
    wake_gang(hear->state, task);
    state_step_kept(hear->state, task, until);
    if (is_let_go(hear->state, task, instance)) {
        state_linger(hear->state, task);
        hear->next_deadline = until < hear->next_deadline ? until : hear->next_deadline;
        return;
    }
    if (view->task.instance[task] != instance)
        settle_in(hear, task, instance, view->now);
    if (view->task.state[task] == TASK_BOUND)
        view_mark_resumed(view, task, view->now);
    if (hear->state->instance_notes[instance].is_noticed && until < hear->next_deadline)
        hear->next_deadline = until;
    hear->state->wants_decision = true;
}

/* One more in a row, unless a start since the last one has lasted; returns how many came before. */
static uint32_t count_loss(uint8_t *losses, msec_t *started_at, msec_t at)
{
    if (*started_at >= 0 && at - *started_at >= lasting_ms)
        *losses = 0;
    *started_at = -1;
    return *losses < UINT8_MAX ? (*losses)++ : *losses;
}

/* A placement came to nothing. Whoever could not start is not placed again at once, and a machine on
 * which nothing starts is no good. */
static void note_loss(struct hearing *hear, uint32_t task, msec_t at)
{
    enum { LOSSES_MAX = 3, DOUBLINGS_MAX = 5 };

    struct task_note *note = &hear->state->task_notes[task];
    const uint32_t instance = hear->state->steps[task].at;
    const msec_t patience = hear->state->config.place_retry_ms;

    hear->state->stats.places_lost++;
    if (patience == 0)
        return;

    const uint32_t before = count_loss(&note->losses, &note->started_at, at);

    note->not_before = at + (patience << (before < DOUBLINGS_MAX ? before : DOUBLINGS_MAX));
    if (instance == ROW_NONE)
        return; /* it was queued: no machine is to blame */

    struct instance_note *machine = &hear->state->instance_notes[instance];

    if (count_loss(&machine->losses, &machine->started_at, at) + 1 < LOSSES_MAX ||
        !view_is_open(&hear->state->view, instance))
        return;
    hear->state->stats.bad_machines++;
    machine->is_faulted = true;
    state_close_instance(hear->state, instance, at);
}

/* It never ran, or was lost by itself before the run was one: what starts it fails, say. A machine
 * that is on its way out takes what runs there along, which is nobody's fault. */
static bool came_to_nothing(const struct hearing *hear, uint32_t task, msec_t at)
{
    const struct view *view = &hear->state->view;
    const uint32_t instance = hear->state->steps[task].at;

    if (view->task.state[task] == TASK_BOUND || hear->state->steps[task].state == STEP_QUEUED)
        return true;
    return view->task.state[task] == TASK_RUNNING &&
           at - view->task.launched_at[task] < lasting_ms &&
           (view_is_open(view, instance) || state_is_closed(hear->state, instance));
}

/* What the engine says is lost waits again, unless we had it stopped on the way elsewhere. */
void hear_lost(struct hearing *hear, uint32_t task, bool is_faultless, msec_t at)
{
    const bool on_its_way = is_on_its_way(hear->state, task);
    const uint32_t instance = hear->state->steps[task].at;

    count_eviction(hear, task, on_its_way ? EVICTED_BY_MOVE : EVICTED_BY_ENGINE);
    if (!on_its_way && came_to_nothing(hear, task, at)) {
        if (!is_faultless)
            note_loss(hear, task, at);
        else if (hear->state->view.task.state[task] == TASK_BOUND)
            hear->state->task_notes[task].not_before = at + hear->state->config.place_retry_ms;
    }
    if (!on_its_way)
        state_unbind(hear->state, task, at);
    hear_left(hear, task, at);
    view_note_lost(&hear->state->view, task);
    losses_run_lost(hear->books, instance, task);
    hear->state->wants_decision = true;
}

/* Whether the instance goes back now, as nothing is on it any more. */
static bool goes_empty(const struct hearing *hear, uint32_t instance)
{
    const struct state *state = hear->state;
    const struct view *view = &state->view;

    if (state->when_empty == EMPTY_STAYS || !view_is_open(view, instance) ||
        view->instance.task_count[instance] > 0 || state_stays_idle(state, instance))
        return false;
    if (state->when_empty == EMPTY_GOES)
        return true;
    return state->instance_notes[instance].awaited_in != state->plans &&
           !lease_spans(view, instance, state->planned_at + view->round_ms - view->now,
                        reuse_chance(&hear->books->knowledge.reuse));
}

/* The task is no more; true: its job is not either. */
static bool forget_task(struct hearing *hear, uint32_t task, msec_t at)
{
    struct view *view = &hear->state->view;
    const uint32_t instance = view->task.instance[task];

    hear_left(hear, task, at);
    if (instance != ROW_NONE && at > view->task.bound_at[task])
        hear->state->stats.bound_task_ms += at - view->task.bound_at[task];
    books_settle(hear->books, task);

    if (view->job.tasks_left[view->task.job[task]] == 1)
        books_unfollow(hear->books, view->task.job[task]);

    const bool was_last = view_finish_task(view, task);

    if (instance != ROW_NONE && goes_empty(hear, instance))
        state_set_instance(hear->state, instance, INSTANCE_DRAINING);
    if (instance != ROW_NONE)
        state_mark_instance(hear->state, instance);
    hear->state->wants_decision = true;
    return was_last;
}

void hear_finished(struct hearing *hear, uint32_t task, msec_t at)
{
    const uint64_t job = hear->state->view.job.id[hear->state->view.task.job[task]];

    if (hear->state->view.task.state[task] != TASK_RUNNING)
        wake_gang(hear->state, task);
    if (hear->state->task_notes[task].lingers)
        state_end_linger(hear->state, task);
    if (hear->state->task_notes[task].ran_at != ROW_NONE)
        books_leave(hear->books, hear->state->task_notes[task].ran_at, task, at);
    books_learn_runtime(hear->books, task, at);
    if (hear->state->view.task.state[task] == TASK_RUNNING) {
        hear->state->instance_notes[hear->state->steps[task].at].losses = 0;
        brake_proved_good(hear->books, hear->state->steps[task].at);
    }
    if (forget_task(hear, task, at)) {
        id_set_add(&hear->ended_jobs, job);
        tempo_event(&hear->books->knowledge.tempo, at);
    }
}

void hear_withdrawn(struct hearing *hear, uint32_t task, msec_t at)
{
    struct view *view = &hear->state->view;
    const uint32_t row = view->task.job[task];
    const uint64_t job = view->job.id[row];

    hear->state->stats.tasks_withdrawn++;
    wake_gang(hear->state, task);
    if (forget_task(hear, task, at))
        id_set_add(&hear->ended_jobs, job);
    else
        view->job.task_count[row]--;
}

void hear_drop_job(struct hearing *hear, uint32_t job, msec_t at)
{
    while (!forget_task(hear, hear->state->view.job.first_task[job], at))
        continue;
}
