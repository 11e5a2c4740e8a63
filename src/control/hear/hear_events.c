/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events change. An event may be late or come twice, so each is held against what is known
 * first: an unknown id, a key that is not the current one, a state that was passed already mean that
 * the event is old news, which is counted and otherwise ignored.
 */
#include <assert.h>

#include "base/limits.h"
#include "base/mem.h"
#include "control/state/controller_state.h"
#include "decide/reservation.h"

/* A run that was lost by itself before it was so long counts as one that did not start. */
static const msec_t lasting_ms = 60 * MSEC_PER_SEC;

/* What is known of the job before it runs. */
static struct runtime_traits traits_of(const struct job_spec *spec)
{
    const msec_t limit = spec->estimate_ms / MSEC_PER_SEC;

    return (struct runtime_traits){
        .name = spec->name,
        .user = spec->user,
        .shape = spec->shape,
        .tasks = spec->task_count,
        .hour = (uint32_t)(spec->arrived_at / MSEC_PER_HOUR % 24),
        .limit =
            spec->estimate_ms >= 0 && limit < RUNTIME_UNKNOWN ? (uint32_t)limit : RUNTIME_UNKNOWN,
    };
}

/* The estimate that the policy will see: what history says, what the engine says, the default. */
static msec_t estimate_of(const struct controller *controller, const struct job_spec *spec,
                          struct job_lesson *lesson)
{
    const msec_t given =
        spec->estimate_ms >= 0 ? spec->estimate_ms : controller->config.default_estimate_ms;

    if (controller->config.estimates != ESTIMATES_LEARNED || given == MSEC_NEVER)
        return given; /* runs of the past say nothing of work that has no end */

    const struct runtime_estimate learned =
        runtimes_estimate(&controller->knowledge.runtimes, &lesson->traits);

    lesson->seen = learned.seen;
    return learned.samples > 0 ? learned.runtime_ms : given;
}

/* A task of the job has run to its end; the last one makes the job a lesson, by its mean. */
static void learn_runtime(struct controller *controller, uint32_t task, msec_t at)
{
    const struct view *view = &controller->view;
    const uint32_t job = view->task.job[task];
    const msec_t since = view->task.launched_at[task];
    struct job_lesson *lesson = &controller->lessons[job];

    if (controller->config.estimates != ESTIMATES_LEARNED ||
        view->task.estimate_ms[task] == MSEC_NEVER)
        return;
    lesson->executed_ms +=
        view->task.executed_ms[task] + (since >= 0 && at > since ? at - since : 0);

    const msec_t mean_ms = lesson->executed_ms / view->job.task_count[job];

    if (view->job.tasks_left[job] == 1)
        runtimes_learn(&controller->knowledge.runtimes, &lesson->traits,
                       mean_ms < LIMIT_TIME_MS ? mean_ms : LIMIT_TIME_MS, lesson->seen);
}

/* A task that nobody knew; maybe another process did. */
static void welcome(struct controller *controller, uint32_t task)
{
    const struct controller_config *config = &controller->config;
    struct ledger_due due;

    controller->task_notes[task] = (struct task_note){ .since = -1, .started_at = -1 };
    if (config->resume_due != NULL &&
        config->resume_due(config->context, controller->view.task.id[task], &due))
        ledger_resume_due(controller->ledger, task, due);
}

/* Whether a job that arrives is one that is over. What had ended before the list was asked for and
 * is named by it is another one: ids are given out again by an engine that forgot how far it was. */
static bool is_over(struct controller *controller, uint64_t job)
{
    if (map_get(&controller->ended_jobs, job) != MAP_NONE)
        return true;
    if (map_get(&controller->ended_before, job) == MAP_NONE)
        return false;
    return controller->engine_list.key == 0 || !map_remove(&controller->ended_before, job);
}

static void on_job(struct controller *controller, const struct engine_event *event)
{
    struct job_spec spec = event->job;
    const uint32_t known = view_find_job(&controller->view, spec.id);

    if (known != ROW_NONE && controller->engine_list.key != 0) {
        controller->lessons[known].mention = controller->audit;
        return;
    }
    if (known != ROW_NONE || is_over(controller, spec.id)) {
        controller->stats.late_events++;
        return;
    }

    struct job_lesson lesson = { .traits = traits_of(&spec), .mention = controller->audit };

    spec.estimate_ms = estimate_of(controller, &spec, &lesson);

    const uint32_t job = view_add_job(&controller->view, &spec);

    controller_grow(controller);
    controller->lessons[job] = lesson;
    for (uint32_t task = controller->view.job.first_task[job]; task != ROW_NONE;
         task = controller->view.task.sibling[task])
        welcome(controller, task);
    tempo_event(&controller->knowledge.tempo, event->at);
    controller->wants_decision = true;
}

static void on_withdrawn(struct controller *controller, const struct engine_event *event)
{
    const uint32_t job = view_find_job(&controller->view, event->job.id);

    if (job == ROW_NONE) {
        controller->stats.late_events++;
        return;
    }
    controller->stats.jobs_withdrawn++;
    controller_drop_job(controller, job, event->at);
}

void controller_ready(struct controller *controller, uint32_t instance, msec_t at)
{
    struct view *view = &controller->view;

    view_set_state(view, instance, INSTANCE_READY);
    controller->instance_notes[instance].ready_at = at;
    controller_boot_worked(controller, instance);
    if (!controller->instance_notes[instance].is_uncaught)
        (void)ledger_ready(controller->ledger, instance, at);
    controller->wants_decision = true;
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        controller_try_place(controller, task);
    }
}

static bool is_closed(const struct controller *controller, uint32_t instance)
{
    const struct instance_note *note = &controller->instance_notes[instance];

    return controller->view.instance.state[instance] == INSTANCE_DRAINING && note->is_closed &&
           !note->is_leaving;
}

static void on_node_ready(struct controller *controller, const struct engine_event *event)
{
    struct view *view = &controller->view;
    const uint32_t instance = view_find_instance(view, event->instance);

    if (instance != ROW_NONE)
        controller->instance_notes[instance].engine_mention = controller->audit;
    if (instance != ROW_NONE && is_closed(controller, instance)) {
        view_set_state(view, instance, INSTANCE_READY);
        controller->wants_decision = true;
        return;
    }
    if (instance == ROW_NONE || (view->instance.state[instance] != INSTANCE_REQUESTED &&
                                 view->instance.state[instance] != INSTANCE_BOOTING)) {
        if (instance == ROW_NONE || controller->engine_list.key == 0) /* a list names all */
            controller->stats.late_events++;
        return;
    }
    controller_ready(controller, instance, event->at);
}

/* What runs there may end, and nothing else begins. */
static void on_node_closed(struct controller *controller, uint32_t instance, msec_t at)
{
    struct instance_note *note = &controller->instance_notes[instance];

    note->engine_mention = controller->audit;
    if (controller->view.instance.state[instance] != INSTANCE_READY) {
        controller->stats.late_events += controller->engine_list.key == 0; /* a list names all */
        return;
    }
    note->is_closed = true;
    note->is_faulted = true;
    controller_give_up(controller, instance, true, at);
}

static void on_node_lost(struct controller *controller, const struct engine_event *event)
{
    const uint32_t instance = view_find_instance(&controller->view, event->instance);

    if (instance == ROW_NONE || controller->view.instance.state[instance] == INSTANCE_RETURNED) {
        controller->stats.late_events++;
        return;
    }
    if (event->runs_on) {
        on_node_closed(controller, instance, event->at);
        return;
    }
    controller->stats.nodes_lost++;
    controller->instance_notes[instance].is_faulted = true;
    controller_give_up(controller, instance, false, event->at);
}

static void on_node_left(struct controller *controller, const struct engine_event *event)
{
    const uint32_t instance = view_find_instance(&controller->view, event->instance);

    if (instance == ROW_NONE)
        controller->stats.late_events++;
    else
        controller_has_left(controller, instance);
}

/* The share of the machine that the task's part of the bill goes by. */
static uint32_t weight_ppm(const struct view *view, uint32_t task, uint32_t instance)
{
    const double share =
        res_dominant_share(view_taken(view, task, instance), view_capacity(view, instance));

    return (uint32_t)(share * 1e6);
}

void controller_started(struct controller *controller, uint32_t task, msec_t at)
{
    struct view *view = &controller->view;
    const uint32_t instance = controller->steps[task].at;

    controller->steps[task].has_started = true;
    controller->task_notes[task].started_at = at;
    controller->task_notes[task].absences = 0;
    controller->instance_notes[instance].started_at = at;
    view_mark_running(view, task, at);
    if (!controller->instance_notes[instance].is_uncaught)
        (void)ledger_enter(controller->ledger, instance, task, weight_ppm(view, task, instance),
                           at);
}

static void on_started(struct controller *controller, uint32_t task, msec_t at)
{
    const struct task_step *step = &controller->steps[task];

    if (step->has_started || step->at == ROW_NONE) {
        controller->stats.late_events++;
        return;
    }
    controller_runs_at(controller, task, step->at, controller->view.task.run_key[task], at);
}

static bool is_on_its_way(const struct task_step *step)
{
    return step->state == STEP_STOPPING || step->state == STEP_CANCELLING;
}

/* The run ends, if there is one. On a machine that the cloud takes, that is why. */
static void count_eviction(struct controller *controller, uint32_t task, enum eviction cause)
{
    const struct task_step *step = &controller->steps[task];

    if (step->at != ROW_NONE && controller->instance_notes[step->at].is_noticed)
        cause = EVICTED_BY_NOTICE;
    controller->stats.evicted[cause] += step->has_started;
}

static void on_stopped(struct controller *controller, uint32_t task, msec_t at)
{
    const struct task_step *step = &controller->steps[task];

    if (!is_on_its_way(step)) {
        controller->stats.late_events++;
        return;
    }
    count_eviction(controller, task, EVICTED_BY_MOVE);
    controller_left(controller, task, at);
    controller_try_place(controller, task);
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
static void note_loss(struct controller *controller, uint32_t task, msec_t at)
{
    enum { LOSSES_MAX = 3, DOUBLINGS_MAX = 5 };

    struct task_note *note = &controller->task_notes[task];
    const uint32_t instance = controller->steps[task].at;
    const msec_t patience = controller->config.place_retry_ms;

    controller->stats.places_lost++;
    if (patience == 0)
        return;

    const uint32_t before = count_loss(&note->losses, &note->started_at, at);

    note->not_before = at + (patience << (before < DOUBLINGS_MAX ? before : DOUBLINGS_MAX));
    if (instance == ROW_NONE)
        return; /* it was queued: no machine is to blame */

    struct instance_note *machine = &controller->instance_notes[instance];

    if (count_loss(&machine->losses, &machine->started_at, at) + 1 < LOSSES_MAX ||
        !view_is_open(&controller->view, instance))
        return;
    controller->stats.bad_machines++;
    machine->is_faulted = true;
    controller_give_up(controller, instance, true, at);
}

/* It never ran, or was lost by itself before the run was one: what starts it fails, say. A machine
 * that is on its way out takes what runs there along, which is nobody's fault. */
static bool came_to_nothing(const struct controller *controller, uint32_t task, msec_t at)
{
    const struct view *view = &controller->view;
    const uint32_t instance = controller->steps[task].at;

    if (view->task.state[task] == TASK_BOUND || controller->steps[task].state == STEP_QUEUED)
        return true;
    return view->task.state[task] == TASK_RUNNING &&
           at - view->task.launched_at[task] < lasting_ms &&
           (view_is_open(view, instance) || is_closed(controller, instance));
}

/* What the engine says is lost waits again, unless we had it stopped on the way elsewhere. */
void controller_lost(struct controller *controller, uint32_t task, msec_t at)
{
    const bool on_its_way = is_on_its_way(&controller->steps[task]);

    count_eviction(controller, task, on_its_way ? EVICTED_BY_MOVE : EVICTED_BY_ENGINE);
    if (!on_its_way && came_to_nothing(controller, task, at))
        note_loss(controller, task, at);
    if (!on_its_way)
        controller_unbind(controller, task, at);
    controller_left(controller, task, at);
    if (on_its_way)
        controller_try_place(controller, task);
    controller->wants_decision = true;
}

/* The task is no more; true: its job is not either. */
static bool forget_task(struct controller *controller, uint32_t task, msec_t at)
{
    struct view *view = &controller->view;
    const uint32_t instance = view->task.instance[task];

    controller_left(controller, task, at);
    if (instance != ROW_NONE && at > view->task.bound_at[task])
        controller->stats.bound_task_ms += at - view->task.bound_at[task];

    const struct ledger_due due = ledger_settle(controller->ledger, task);

    if (controller->config.on_settled != NULL)
        controller->config.on_settled(controller->config.context, view, task, due);

    const bool was_last = view_finish_task(view, task);

    if (instance != ROW_NONE && controller->release_when_empty && view_is_open(view, instance) &&
        view->instance.task_count[instance] == 0)
        view_set_state(view, instance, INSTANCE_DRAINING);
    if (instance != ROW_NONE)
        controller_try_return(controller, instance);
    controller->wants_decision = true;
    return was_last;
}

static void on_finished(struct controller *controller, uint32_t task, msec_t at)
{
    const uint64_t job = controller->view.job.id[controller->view.task.job[task]];

    learn_runtime(controller, task, at);
    if (controller->view.task.state[task] == TASK_RUNNING) {
        controller->instance_notes[controller->steps[task].at].losses = 0;
        controller_proved_good(controller, controller->steps[task].at);
    }
    if (forget_task(controller, task, at)) {
        map_put(&controller->ended_jobs, job, 0);
        tempo_event(&controller->knowledge.tempo, at);
    }
}

void controller_drop_job(struct controller *controller, uint32_t job, msec_t at)
{
    while (!forget_task(controller, controller->view.job.first_task[job], at))
        continue;
}

/* Whether the event speaks of what the task does now, and not of an earlier act. */
static bool is_current(const struct controller *controller, uint32_t task,
                       const struct engine_event *event)
{
    switch (event->kind) {
    case ENGINE_TASK_STARTED:
    case ENGINE_TASK_RATE:
    case ENGINE_TASK_LOST:
        return event->key != 0 && event->key == controller->view.task.run_key[task];
    case ENGINE_TASK_STOPPED:
        return event->key != 0 && event->key == controller->steps[task].key;
    case ENGINE_TASK_FINISHED:
        return true;
    case ENGINE_JOB_ARRIVED:
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

static void on_task(struct controller *controller, const struct engine_event *event)
{
    const uint32_t task = view_find_task(&controller->view, event->task);

    if (task == ROW_NONE || !is_current(controller, task, event)) {
        controller->stats.late_events++;
        return;
    }
    controller->task_notes[task].mention = controller->audit;
    switch (event->kind) {
    case ENGINE_TASK_STARTED:
        on_started(controller, task, event->at);
        break;
    case ENGINE_TASK_RATE:
        if (controller->view.task.state[task] == TASK_RUNNING)
            controller->view.task.rate_ppm[task] = event->rate_ppm;
        break;
    case ENGINE_TASK_STOPPED:
        on_stopped(controller, task, event->at);
        break;
    case ENGINE_TASK_LOST:
        controller_lost(controller, task, event->at);
        break;
    case ENGINE_TASK_FINISHED:
        on_finished(controller, task, event->at);
        break;
    case ENGINE_JOB_ARRIVED:
    case ENGINE_JOB_WITHDRAWN:
    case ENGINE_NODE_READY:
    case ENGINE_NODE_LOST:
    case ENGINE_NODE_LEFT:
    case ENGINE_TASK_FOUND:
    case ENGINE_LISTED:
        assert(false && "not about a task");
    }
}

static void on_engine(struct controller *controller, const struct engine_event *event)
{
    switch (event->kind) {
    case ENGINE_JOB_ARRIVED:
        on_job(controller, event);
        break;
    case ENGINE_NODE_READY:
        on_node_ready(controller, event);
        break;
    case ENGINE_JOB_WITHDRAWN:
        on_withdrawn(controller, event);
        break;
    case ENGINE_NODE_LOST:
        on_node_lost(controller, event);
        break;
    case ENGINE_NODE_LEFT:
        on_node_left(controller, event);
        break;
    case ENGINE_TASK_FOUND:
        controller_on_found(controller, event);
        break;
    case ENGINE_LISTED:
        controller_on_engine_listed(controller, event);
        break;
    case ENGINE_TASK_STARTED:
    case ENGINE_TASK_RATE:
    case ENGINE_TASK_STOPPED:
    case ENGINE_TASK_LOST:
    case ENGINE_TASK_FINISHED:
        on_task(controller, event);
        break;
    }
}

void controller_on_engine(struct controller *controller, const struct engine_event *event)
{
    const struct engine_event sane = controller_sane_engine(controller, event);

    (void)controller_advance(controller, sane.at);
    on_engine(controller, &sane);
}

/* The account is opened only now, though the machine works already: its tasks pay from when they
 * were launched, and what was before is boot. */
void controller_catch_up(struct controller *controller, uint32_t instance)
{
    const struct view *view = &controller->view;
    msec_t ready = view->now;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.state[task] == TASK_RUNNING && view->task.launched_at[task] < ready)
            ready = view->task.launched_at[task];
    }
    (void)ledger_ready(controller->ledger, instance, ready);
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.state[task] == TASK_RUNNING)
            (void)ledger_enter(controller->ledger, instance, task, weight_ppm(view, task, instance),
                               view->task.launched_at[task]);
    }
}

/* False: it is open already. */
static bool open_account(struct controller *controller, uint32_t instance, msec_t billed_from)
{
    const struct controller_config *config = &controller->config;
    const struct view *view = &controller->view;
    const struct offer *offer = &view->catalogue->offers[view->instance.offer[instance]];
    struct ledger_account account;

    if (ledger_is_open(controller->ledger, instance))
        return false;
    if (config->resume_account != NULL &&
        config->resume_account(config->context, view->instance.id[instance], &account) &&
        ledger_resume(controller->ledger, instance, offer, &account))
        return true;
    return ledger_open(controller->ledger, instance, offer, billed_from);
}

bool controller_billed(struct controller *controller, uint32_t instance, msec_t billed_from)
{
    struct view *view = &controller->view;

    if (controller->instance_notes[instance].is_unbilled ||
        !open_account(controller, instance, billed_from))
        return false;
    view_set_billed_from(view, instance, billed_from < view->now ? billed_from : view->now);
    if (view->instance.state[instance] == INSTANCE_READY)
        controller_catch_up(controller, instance);
    if (view->instance.state[instance] != INSTANCE_REQUESTED)
        return true; /* it was admitted by itself, or goes back already */
    view_set_state(view, instance, INSTANCE_BOOTING);
    controller->config.engine.ops->admit(controller->config.engine.self,
                                         view->instance.id[instance]);
    return true;
}

static void on_running(struct controller *controller, uint32_t instance, msec_t billed_from)
{
    if (!controller_billed(controller, instance, billed_from))
        controller->stats.late_events++;
}

void controller_evacuate(struct controller *controller, uint32_t instance, bool stop, msec_t at)
{
    struct view *view = &controller->view;

    while (view->instance.first_task[instance] != ROW_NONE) {
        const uint32_t task = view->instance.first_task[instance];

        controller_unbind(controller, task, at);
        if (stop)
            controller_recall(controller, task, true);
    }
    controller->wants_decision = true;
}

/* A machine that is only at risk may well stay: what runs there goes on. When it is certain that it
 * will be taken, what is left there is stopped, while there is time to save it. */
static void on_notice(struct controller *controller, uint32_t instance,
                      const struct cloud_event *event)
{
    struct view *view = &controller->view;
    const bool is_open = view_is_open(view, instance);

    controller->instance_notes[instance].is_closed = false; /* the engine's word counts no more */
    if (event->may_stay && is_open) {
        controller->stats.at_risk++;
        controller_give_up(controller, instance, true, event->at);
    }
    if (event->may_stay || (!is_open && view->instance.task_count[instance] == 0))
        return;
    controller->instance_notes[instance].is_noticed = true;
    controller_evacuate(controller, instance, true, event->at);
    controller->stats.noticed++;
    view_set_state(view, instance, INSTANCE_DRAINING);
    controller_try_return(controller, instance);
}

void controller_block(struct controller *controller, uint32_t offer, msec_t at, msec_t length)
{
    struct view *view = &controller->view;
    const msec_t until = at + length;

    if (until > view->offer_blocked_until[offer]) /* late news does not end a block early */
        view->offer_blocked_until[offer] = until;
    if (until < controller->next_unblock)
        controller->next_unblock = until;
    reservation_forget(view);
}

void controller_never(struct controller *controller, uint32_t instance, msec_t at)
{
    controller_evacuate(controller, instance, false, at);
    controller_forget_present(controller, instance, at);
    view_remove_instance(&controller->view, instance);
}

static void on_refused(struct controller *controller, uint32_t instance,
                       const struct cloud_event *event)
{
    const uint32_t offer = controller->view.instance.offer[instance];
    const msec_t usual = controller->config.refused_block_ms;

    controller_never(controller, instance, event->at);
    controller_block(controller, offer, event->at, event->for_ms > usual ? event->for_ms : usual);
    controller->stats.refused++;
}

void controller_forget_present(struct controller *controller, uint32_t instance, msec_t at)
{
    while (controller->present[instance] != ROW_NONE) {
        const uint32_t task = controller->present[instance];

        count_eviction(controller, task, EVICTED_BY_LOSS);
        controller_left(controller, task, at);
        controller_try_place(controller, task);
    }
}

/* The bill has ended. */
static void close_account(struct controller *controller, uint32_t instance,
                          const struct cloud_event *event)
{
    const struct view *view = &controller->view;
    const uint64_t id = view->instance.id[instance];

    if (controller->instance_notes[instance].is_unbilled ||
        (event->billed_from < 0 && !ledger_is_open(controller->ledger, instance)))
        return;
    if (event->billed_from >= 0)
        (void)open_account(controller, instance, event->billed_from);

    /* A cloud that does not know it any more does not say until when it was billed. */
    const msec_t billed_to = event->billed_from >= 0 ? event->billed_to : event->at;
    const struct ledger_bill bill = ledger_close(controller->ledger, instance, billed_to);

    map_put(&controller->gone, id, 0);
    if (controller->config.on_bill != NULL)
        controller->config.on_bill(controller->config.context, view, instance, &bill);
}

void controller_gone(struct controller *controller, uint32_t instance,
                     const struct cloud_event *event)
{
    struct view *view = &controller->view;
    const enum instance_state state = (enum instance_state)view->instance.state[instance];

    controller->config.engine.ops->forget(controller->config.engine.self,
                                          view->instance.id[instance]);
    if (state != INSTANCE_RETURNED) {
        view_set_state(view, instance, INSTANCE_RETURNED); /* nothing more to give back */
        if (controller->config.boot_timeout_ms > 0 && state == INSTANCE_BOOTING)
            controller_boot_failed(controller, instance, event->at);
        if (controller->config.boot_timeout_ms > 0 && state == INSTANCE_REQUESTED)
            controller_block(controller, view->instance.offer[instance], event->at,
                             controller->config.refused_block_ms);
        controller_evacuate(controller, instance, false, event->at);
        controller_forget_present(controller, instance, event->at);
        controller->stats.lost++;
    }
    close_account(controller, instance, event);
    if (event->at > view->instance.rented_at[instance])
        controller->stats.instance_ms += event->at - view->instance.rented_at[instance];
    view_remove_instance(view, instance);
    if (controller->is_limited)
        controller->wants_decision = true; /* there is room for what was dropped */
}

/* About an instance that we know. */
static void on_instance(struct controller *controller, uint32_t instance,
                        const struct cloud_event *event)
{
    controller->instance_notes[instance].mention = controller->audit;
    switch (event->kind) {
    case CLOUD_RUNNING:
        on_running(controller, instance, event->billed_from);
        break;
    case CLOUD_REFUSED:
        on_refused(controller, instance, event);
        break;
    case CLOUD_NOTICE:
        on_notice(controller, instance, event);
        break;
    case CLOUD_GONE:
        controller_gone(controller, instance, event);
        break;
    case CLOUD_FOUND:
    case CLOUD_LISTED:
        assert(false && "handled before");
    }
}

static void on_cloud(struct controller *controller, const struct cloud_event *event)
{
    const uint32_t instance = view_find_instance(&controller->view, event->instance);

    if (event->kind == CLOUD_LISTED)
        controller_on_cloud_listed(controller, event);
    else if (event->kind == CLOUD_FOUND)
        controller_on_cloud_found(controller, event);
    else if (instance != ROW_NONE)
        on_instance(controller, instance, event);
    else if (event->kind == CLOUD_GONE)
        controller_on_unknown_gone(controller, event);
    else
        controller->stats.late_events++;
}

void controller_on_cloud(struct controller *controller, const struct cloud_event *event)
{
    const struct cloud_event sane = controller_sane_cloud(controller, event);

    (void)controller_advance(controller, sane.at);
    on_cloud(controller, &sane);
}
