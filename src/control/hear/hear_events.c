/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events change. An event may be late or come twice, so each is held against what is known
 * first: an unknown id, a key that is not the current one, a state that was passed already mean that
 * the event is old news, which is counted and otherwise ignored.
 */
#include <assert.h>

#include "base/limits.h"
#include "control/hear/hear.h"

void hear_init(struct hearing *hear, struct state *state, struct books *books)
{
    *hear = (struct hearing){
        .state = state,
        .books = books,
        .cloud_list = { .waiting_since = -1 },
        .engine_list = { .waiting_since = -1 },
        .next_boot_timeout = MSEC_NEVER,
        .next_deadline = MSEC_NEVER,
    };
    id_set_init(&hear->ended_jobs);
    id_set_init(&hear->ended_before);
}

void hear_done(struct hearing *hear)
{
    id_set_done(&hear->ended_jobs);
    id_set_done(&hear->ended_before);
}

/* Whether a job that arrives is one that is over. What had ended before the list was asked for and
 * is named by it is another one: ids are given out again by an engine that forgot how far it was. */
static bool is_over(struct hearing *hear, uint64_t job)
{
    if (id_set_has(&hear->ended_jobs, job))
        return true;
    if (!id_set_has(&hear->ended_before, job))
        return false;
    return hear->engine_list.key == 0 || !id_set_remove(&hear->ended_before, job);
}

static void on_job(struct hearing *hear, const struct engine_event *event)
{
    struct job_spec spec = event->job;
    const uint32_t known = view_find_job(&hear->state->view, spec.id);

    if (known != ROW_NONE && hear->engine_list.key != 0) {
        hear->state->job_notes[known].mention = hear->state->audit;
        return;
    }
    if (known != ROW_NONE || is_over(hear, spec.id)) {
        hear->state->stats.late_events++;
        return;
    }

    const struct job_lesson lesson = books_lesson(hear->books, &spec);
    const uint32_t job = state_add_job(hear->state, &spec);

    books_add_lesson(hear->books, job, &lesson);
    books_follow(hear->books, job);
    for (uint32_t task = hear->state->view.job.first_task[job]; task != ROW_NONE;
         task = hear->state->view.task.sibling[task])
        books_welcome(hear->books, task);
    tempo_event(&hear->books->knowledge.tempo, event->at);
    hear->state->wants_decision = true;
}

/* How many tasks more than it has had; false: that cannot be. */
static bool count_more(const struct state *state, uint32_t job, const struct job_spec *spec,
                       uint32_t *ret)
{
    const struct job_note *note = &state->job_notes[job];
    const uint64_t had = note->end_id - note->first_id;

    *ret = spec->task_count > had ? (uint32_t)(spec->task_count - had) : 0;
    if (spec->first_task_id != note->first_id || spec->task_count > LIMIT_TASKS_PER_JOB ||
        state->view.task.living > LIMIT_TASKS - *ret)
        return false;
    for (uint32_t i = 0; i < *ret; i++) {
        if (view_find_task(&state->view, note->end_id + i) != ROW_NONE)
            return false; /* another job's */
    }
    return true;
}

/* A field is read only if 'changes' names it. */
static void on_changed(struct hearing *hear, const struct engine_event *event)
{
    struct state *state = hear->state;
    struct view *view = &state->view;
    const uint32_t job = view_find_job(view, event->job.id);
    uint32_t more = 0;

    assert(event->changes != 0);
    assert((event->changes & ~(uint32_t)CHANGE_ALL) == 0);
    if (job == ROW_NONE ||
        ((event->changes & CHANGE_TASKS) != 0 && !count_more(state, job, &event->job, &more))) {
        state->stats.late_events++;
        return;
    }
    state->job_notes[job].mention = state->audit;
    if ((event->changes & CHANGE_PRIORITY) != 0)
        view->job.priority[job] = event->job.priority;
    if ((event->changes & CHANGE_ESTIMATE) != 0) {
        assert(event->job.estimate_ms >= 0);
        books_new_estimate(hear->books, job, event->job.estimate_ms);
    }
    if ((event->changes & CHANGE_APART) != 0 && view_set_apart(view, job, &event->job))
        hear_apart(hear, job, event->at);
    state_grow_job(state, job, more);
    for (uint32_t i = 0; i < more; i++)
        books_welcome(hear->books, view_find_task(view, state->job_notes[job].end_id - more + i));
    state->stats.jobs_changed++;
    state->wants_decision = true;
}

static void on_withdrawn(struct hearing *hear, const struct engine_event *event)
{
    const uint32_t job = view_find_job(&hear->state->view, event->job.id);

    if (job == ROW_NONE) {
        hear->state->stats.late_events++;
        return;
    }
    hear->state->stats.jobs_withdrawn++;
    hear_drop_job(hear, job, event->at);
}

static void on_node_ready(struct hearing *hear, const struct engine_event *event)
{
    struct view *view = &hear->state->view;
    const uint32_t instance = view_find_instance(view, event->instance);

    if (instance != ROW_NONE)
        hear->state->instance_notes[instance].engine_mention = hear->state->audit;
    if (instance != ROW_NONE && event->has_capacity)
        hear_capacity(hear, instance, &event->capacity, event->at);
    if (instance != ROW_NONE && state_is_closed(hear->state, instance)) {
        books_ready(hear->books, instance, event->at); /* of one that is owned: it never booted */
        state_set_instance(hear->state, instance, INSTANCE_READY);
        hear->state->wants_decision = true;
        return;
    }
    if (instance == ROW_NONE || (view->instance.state[instance] != INSTANCE_REQUESTED &&
                                 view->instance.state[instance] != INSTANCE_BOOTING)) {
        if (instance == ROW_NONE || hear->engine_list.key == 0) /* a list names all */
            hear->state->stats.late_events++;
        return;
    }
    hear_ready(hear, instance, event->at);
}

/* What runs there may end, and nothing else begins. */
static void on_node_closed(struct hearing *hear, uint32_t instance, msec_t at)
{
    struct instance_note *note = &hear->state->instance_notes[instance];

    note->engine_mention = hear->state->audit;
    if (hear->state->view.instance.state[instance] != INSTANCE_READY) {
        hear->state->stats.late_events += hear->engine_list.key == 0; /* a list names all */
        return;
    }
    note->is_closed = true;
    note->is_faulted = true;
    state_close_instance(hear->state, instance, at);
}

static void on_node_lost(struct hearing *hear, const struct engine_event *event)
{
    const uint32_t instance = view_find_instance(&hear->state->view, event->instance);

    if (instance == ROW_NONE || hear->state->view.instance.state[instance] == INSTANCE_RETURNED) {
        hear->state->stats.late_events++;
        return;
    }
    if (event->runs_on) {
        on_node_closed(hear, instance, event->at);
        return;
    }
    hear->state->stats.nodes_lost++;
    hear->state->instance_notes[instance].is_faulted = true;
    hear_instance_lost(hear, instance, event->at);
}

static void on_node_left(struct hearing *hear, const struct engine_event *event)
{
    const uint32_t instance = view_find_instance(&hear->state->view, event->instance);

    if (instance == ROW_NONE)
        hear->state->stats.late_events++;
    else
        hear_instance_left(hear, instance);
}

static void on_started(struct hearing *hear, uint32_t task, msec_t at)
{
    const struct task_step *step = &hear->state->steps[task];

    if (step->has_started || step->at == ROW_NONE) {
        hear->state->stats.late_events++;
        return;
    }
    hear_runs_at(hear, task, step->at, hear->state->view.task.run_key[task], at);
}

/* Whether it was found before what was heard of it last: also at the same moment, if it is of the run that has left
 * since. */
static bool is_old_find(const struct hearing *hear, uint32_t task, const struct engine_event *event)
{
    const struct task_note *note = &hear->state->task_notes[task];

    return event->at < note->since || (event->at == note->since && event->key == note->left_key);
}

static void on_found(struct hearing *hear, const struct engine_event *event)
{
    const struct view *view = &hear->state->view;
    const uint32_t task = view_find_task(view, event->task);
    const uint32_t instance = view_find_instance(view, event->instance);

    if (task != ROW_NONE)
        hear->state->job_notes[view->task.job[task]].mention = hear->state->audit;
    if (task == ROW_NONE || instance == ROW_NONE || event->key == 0 ||
        view->instance.state[instance] == INSTANCE_RETURNED || is_old_find(hear, task, event)) {
        hear->state->stats.late_events++;
        return;
    }
    hear->state->task_notes[task].mention = hear->state->audit;
    if (event->ended_at > 0) {
        hear_ran(hear, task, instance, event->started_at, event->ended_at);
        return;
    }
    hear->state->instance_notes[instance].engine_mention = hear->state->audit;
    hear_runs_at(hear, task, instance, event->key, event->started_at);
}

/* Whether the event speaks of what the task does now, and not of an earlier act. */
static bool is_current(const struct hearing *hear, uint32_t task, const struct engine_event *event)
{
    switch (event->kind) {
    case ENGINE_TASK_STARTED:
    case ENGINE_TASK_RATE:
    case ENGINE_TASK_LOST:
        return event->key != 0 && event->key == hear->state->view.task.run_key[task];
    case ENGINE_TASK_STOPPED:
    case ENGINE_TASK_KEPT:
        return event->key != 0 && event->key == hear->state->steps[task].key;
    case ENGINE_TASK_FINISHED:
    case ENGINE_TASK_WITHDRAWN:
        return true;
    case ENGINE_JOB_ARRIVED:
    case ENGINE_JOB_CHANGED:
    case ENGINE_JOB_WITHDRAWN:
    case ENGINE_NODE_READY:
    case ENGINE_NODE_LOST:
    case ENGINE_NODE_LEFT:
    case ENGINE_TASK_FOUND:
    case ENGINE_LISTED:
        break;
    }
    assert(false && "not about a task");
    return false;
}

/* Its start may have been taken for old news, as a later order was under way: it is charged all the same. */
static void on_finished(struct hearing *hear, uint32_t task, const struct engine_event *event)
{
    const struct view *view = &hear->state->view;
    const uint32_t instance =
        event->instance == 0 ? ROW_NONE : view_find_instance(view, event->instance);

    if (instance != ROW_NONE && view->task.state[task] != TASK_RUNNING &&
        hear->state->task_notes[task].ran_at == ROW_NONE)
        hear_ran(hear, task, instance, event->started_at, event->at);
    hear_finished(hear, task, event->at);
}

static void on_task(struct hearing *hear, const struct engine_event *event)
{
    const uint32_t task = view_find_task(&hear->state->view, event->task);

    if (task == ROW_NONE || !is_current(hear, task, event)) {
        hear->state->stats.late_events++;
        return;
    }
    hear->state->task_notes[task].mention = hear->state->audit;
    switch (event->kind) {
    case ENGINE_TASK_STARTED:
        on_started(hear, task, event->at);
        break;
    case ENGINE_TASK_RATE:
        if (hear->state->view.task.state[task] == TASK_RUNNING) {
            hear->state->view.task.rate_ppm[task] = event->rate_ppm;
            books_rated(hear->books, task);
            hear->state->stats.rates++;
        }
        break;
    case ENGINE_TASK_STOPPED:
        hear_stopped(hear, task, event->at);
        break;
    case ENGINE_TASK_KEPT:
        hear_kept(hear, task, event->until);
        break;
    case ENGINE_TASK_LOST:
        hear_lost(hear, task, event->is_faultless, event->at);
        break;
    case ENGINE_TASK_FINISHED:
        on_finished(hear, task, event);
        break;
    case ENGINE_TASK_WITHDRAWN:
        hear_withdrawn(hear, task, event->at);
        break;
    case ENGINE_JOB_ARRIVED:
    case ENGINE_JOB_CHANGED:
    case ENGINE_JOB_WITHDRAWN:
    case ENGINE_NODE_READY:
    case ENGINE_NODE_LOST:
    case ENGINE_NODE_LEFT:
    case ENGINE_TASK_FOUND:
    case ENGINE_LISTED:
        assert(false && "not about a task");
    }
}

static void on_engine(struct hearing *hear, const struct engine_event *event)
{
    switch (event->kind) {
    case ENGINE_JOB_ARRIVED:
        on_job(hear, event);
        break;
    case ENGINE_JOB_CHANGED:
        on_changed(hear, event);
        break;
    case ENGINE_NODE_READY:
        on_node_ready(hear, event);
        break;
    case ENGINE_JOB_WITHDRAWN:
        on_withdrawn(hear, event);
        break;
    case ENGINE_NODE_LOST:
        on_node_lost(hear, event);
        break;
    case ENGINE_NODE_LEFT:
        on_node_left(hear, event);
        break;
    case ENGINE_TASK_FOUND:
        on_found(hear, event);
        break;
    case ENGINE_LISTED:
        hear_engine_listed(hear, event);
        break;
    case ENGINE_TASK_STARTED:
    case ENGINE_TASK_RATE:
    case ENGINE_TASK_STOPPED:
    case ENGINE_TASK_KEPT:
    case ENGINE_TASK_LOST:
    case ENGINE_TASK_FINISHED:
    case ENGINE_TASK_WITHDRAWN:
        on_task(hear, event);
        break;
    }
}

void hear_engine(struct hearing *hear, const struct engine_event *event)
{
    const struct engine_event sane = hear_sane_engine(hear->state, event);

    (void)state_advance(hear->state, sane.at);
    on_engine(hear, &sane);
}

static void on_running(struct hearing *hear, uint32_t instance, msec_t billed_from)
{
    if (!hear_billed(hear, instance, billed_from))
        hear->state->stats.late_events++;
}

static void on_notice(struct hearing *hear, uint32_t instance, const struct cloud_event *event)
{
    struct view *view = &hear->state->view;
    const bool is_open = view_is_open(view, instance);

    hear->state->instance_notes[instance].is_closed = false; /* the engine's word counts no more */
    if (event->may_stay && is_open)
        hear_at_risk(hear, instance, event->at);
    if (event->may_stay || (!is_open && state_is_empty(hear->state, instance)))
        return;
    hear_notice(hear, instance, event->until, event->at);
}

static void on_refused(struct hearing *hear, uint32_t instance, const struct cloud_event *event)
{
    const uint32_t offer = hear->state->view.instance.offer[instance];
    const msec_t usual = hear->state->config.refused_block_ms;

    hear_never(hear, instance, event->at);
    books_refused(hear->books, offer, event->at);
    books_block(hear->books, offer, event->at, event->for_ms > usual ? event->for_ms : usual);
    hear->state->stats.refused++;
}

/* About an instance that we know. */
static void on_instance(struct hearing *hear, uint32_t instance, const struct cloud_event *event)
{
    hear->state->instance_notes[instance].mention = hear->state->audit;
    switch (event->kind) {
    case CLOUD_RUNNING:
        on_running(hear, instance, event->billed_from);
        break;
    case CLOUD_REFUSED:
        on_refused(hear, instance, event);
        break;
    case CLOUD_NOTICE:
        on_notice(hear, instance, event);
        break;
    case CLOUD_GONE:
        hear_gone(hear, instance, event);
        break;
    case CLOUD_OUTDATED:
        if (!view_is_owned(&hear->state->view, instance))
            state_set_outdated(hear->state, instance, event->is_outdated);
        break;
    case CLOUD_FOUND:
    case CLOUD_LISTED:
        assert(false && "handled before");
    }
}

static void on_cloud(struct hearing *hear, const struct cloud_event *event)
{
    const uint32_t instance = view_find_instance(&hear->state->view, event->instance);

    if (event->kind == CLOUD_LISTED)
        hear_cloud_listed(hear, event);
    else if (event->kind == CLOUD_FOUND)
        hear_cloud_found(hear, event);
    else if (instance != ROW_NONE)
        on_instance(hear, instance, event);
    else if (event->kind == CLOUD_GONE)
        hear_unknown_gone(hear, event);
    else
        hear->state->stats.late_events++;
}

void hear_cloud(struct hearing *hear, const struct cloud_event *event)
{
    const struct cloud_event sane = hear_sane_cloud(hear->state, event);

    (void)state_advance(hear->state, sane.at);
    on_cloud(hear, &sane);
}
