/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How plans become acts. A task's step says where the engine has it; the view says where it shall
 * be. Each act brings the two nearer:
 *
 *     bound, nowhere, target ready     -> place
 *     placed elsewhere than bound      -> cancel, or stop if it runs; when that is confirmed: place
 *     draining instance, nobody there  -> retire; when it has left: give back
 *
 * A task has one owner: what was handed to the engine is its own until it says otherwise. Whether a
 * task runs is the engine's word, too: a start that we have not heard of is no run that we may end.
 * So only controller_recall with 'ends_run' ever ends a run, and only one that we know of.
 */
#include <assert.h>

#include "control/state/controller_state.h"

void controller_note_step(struct controller *controller, uint32_t task, msec_t at)
{
    struct task_note *note = &controller->task_notes[task];

    if (at > note->since)
        note->since = at;
    note->absences = 0;
}

static void present_add(struct controller *controller, uint32_t task, uint32_t instance)
{
    struct task_step *step = &controller->steps[task];

    step->at = instance;
    step->prev = ROW_NONE;
    step->next = controller->present[instance];
    if (step->next != ROW_NONE)
        controller->steps[step->next].prev = task;
    controller->present[instance] = task;
}

static void present_remove(struct controller *controller, uint32_t task)
{
    const struct task_step *step = &controller->steps[task];

    if (step->at == ROW_NONE)
        return;
    if (step->prev != ROW_NONE)
        controller->steps[step->prev].next = step->next;
    else
        controller->present[step->at] = step->next;
    if (step->next != ROW_NONE)
        controller->steps[step->next].prev = step->prev;
}

void controller_put(struct controller *controller, uint32_t task, uint32_t instance, uint64_t key)
{
    struct task_step *step = &controller->steps[task];

    *step = (struct task_step){ .key = key, .state = STEP_PLACED };
    present_add(controller, task, instance);
    controller->view.task.run_key[task] = key;
    controller_note_step(controller, task, controller->view.now);
}

void controller_try_place(struct controller *controller, uint32_t task)
{
    struct view *view = &controller->view;
    struct task_step *step = &controller->steps[task];
    const uint32_t instance = view->task.instance[task];

    if (instance == ROW_NONE || step->state != STEP_NONE ||
        view->instance.state[instance] != INSTANCE_READY)
        return;
    controller_put(controller, task, instance, controller_key(controller));
    controller->config.engine.ops->place(controller->config.engine.self, step->key,
                                         view->task.id[task], view->instance.id[instance]);
}

static void stop(struct controller *controller, uint32_t task)
{
    struct task_step *step = &controller->steps[task];

    step->state = STEP_STOPPING;
    step->key = controller_key(controller);
    controller_note_step(controller, task, controller->view.now);
    controller->view.task.stops[task]++;
    controller->config.engine.ops->stop(controller->config.engine.self, step->key,
                                        controller->view.task.id[task]);
}

static void cancel(struct controller *controller, uint32_t task)
{
    struct task_step *step = &controller->steps[task];

    controller_unqueue(controller, task);
    step->state = STEP_CANCELLING;
    step->key = controller_key(controller);
    controller_note_step(controller, task, controller->view.now);
    controller->config.engine.ops->cancel(controller->config.engine.self, step->key,
                                          controller->view.task.id[task]);
}

void controller_recall(struct controller *controller, uint32_t task, bool ends_run)
{
    const struct task_step *step = &controller->steps[task];

    if (step->state != STEP_PLACED && step->state != STEP_QUEUED)
        return;
    if (!step->has_started)
        cancel(controller, task);
    else if (ends_run)
        stop(controller, task);
}

void controller_left(struct controller *controller, uint32_t task, msec_t at)
{
    struct task_step *step = &controller->steps[task];
    const uint32_t instance = step->at;

    if (step->state == STEP_NONE)
        return;
    controller_unqueue(controller, task);
    present_remove(controller, task);
    *step = (struct task_step){ .at = ROW_NONE };
    controller_note_step(controller, task, at);
    controller->view.task.run_key[task] = 0;
    if (instance == ROW_NONE)
        return;
    (void)ledger_leave(controller->ledger, instance, task, at);
    controller_try_return(controller, instance);
}

void controller_unbind(struct controller *controller, uint32_t task, msec_t at)
{
    struct view *view = &controller->view;

    if (view->task.state[task] == TASK_RUNNING)
        view_mark_stopped(view, task, at);
    if (view->task.instance[task] == ROW_NONE)
        return;
    if (at > view->task.bound_at[task])
        controller->stats.bound_task_ms += at - view->task.bound_at[task];
    view_unbind(view, task);
}

void controller_try_return(struct controller *controller, uint32_t instance)
{
    const struct view *view = &controller->view;
    struct instance_note *note = &controller->instance_notes[instance];

    if (view->instance.state[instance] != INSTANCE_DRAINING || note->is_leaving ||
        view->instance.task_count[instance] > 0 || controller->present[instance] != ROW_NONE)
        return;
    if (note->asked_at == 0) {
        note->leaving_since = view->now;
        controller_starts_failed(controller, instance);
    }
    note->is_leaving = true;
    note->asked_at = view->now;
    controller->config.engine.ops->retire(controller->config.engine.self,
                                          view->instance.id[instance]);
}

msec_t controller_leaving_since(const struct controller *controller, uint32_t instance)
{
    const struct instance_note *note = &controller->instance_notes[instance];

    return controller->view.instance.state[instance] == INSTANCE_DRAINING && note->is_leaving
               ? note->leaving_since
               : -1;
}

void controller_has_left(struct controller *controller, uint32_t instance)
{
    struct view *view = &controller->view;
    struct instance_note *note = &controller->instance_notes[instance];

    if (view->instance.state[instance] != INSTANCE_DRAINING || !note->is_leaving) {
        controller->stats.late_events++;
        return;
    }
    note->is_leaving = false;
    if (view->instance.task_count[instance] > 0 || controller->present[instance] != ROW_NONE)
        return; /* that news is older than this; when they have left it is asked again */
    view_set_state(view, instance, INSTANCE_RETURNED);
    note->absences = 0; /* that lists lacked it before says nothing of its end */
    note->missing_since = -1;
    note->returned_key = controller->next_key;
    note->asked_at = view->now;
    controller->config.cloud.ops->give_back(controller->config.cloud.self,
                                            view->instance.id[instance]);
}

uint32_t controller_add_instance(struct controller *controller, uint64_t id, uint32_t offer)
{
    const uint32_t instance = view_add_instance(&controller->view, id, offer);

    controller_grow(controller);
    controller->instance_notes[instance] = (struct instance_note){
        .started_at = -1,
        .missing_since = -1,
        .mention = controller->audit,
        .engine_mention = controller->audit,
    };
    return instance;
}

/*
 * A plan.
 */

/* Ask for the plan's rents from 'begin' on that belong to one request; returns where it ends. */
static uint32_t rent(struct controller *controller, const struct plan *plan, uint32_t begin,
                     uint32_t *fresh)
{
    struct view *view = &controller->view;
    const struct plan_rent *like = &plan->rents[begin];
    const struct machine_type *type = catalogue_type_of(view->catalogue, like->offer);
    const uint64_t first = controller->next_key;
    uint32_t end = begin;

    while (end < plan->rent_count && plan->rents[end].offer == like->offer &&
           plan->rents[end].request == like->request)
        end++;

    const msec_t ready = view->now + machine_type_acquire_ms(type, end - begin) + type->setup_ms;

    for (uint32_t i = begin; i < end; i++) {
        map_put(&controller->asked, controller->next_key, 0);
        fresh[i] = controller_add_instance(controller, controller_key(controller), like->offer);
        view_set_ready_expected(view, fresh[i], ready);
    }
    controller->stats.rented += end - begin;
    controller->config.cloud.ops->rent(controller->config.cloud.self, first, end - begin,
                                       like->offer);
    return end;
}

/* Take the task from where it is; it is bound anew in a second pass, when all have left. */
static void lift(struct controller *controller, uint32_t task)
{
    struct view *view = &controller->view;

    if (view->task.launches[task] > 0)
        controller->stats.migrations++;
    controller_unbind(controller, task, view->now);
    controller_recall(controller, task, true);
}

/* The rest of a gang of which a task moves starts again where it is. A gang that must not be moved has no
 * such task: what is known of it is on its way to be corrected by the engine. */
static void restart_gang(struct controller *controller, uint32_t job)
{
    struct view *view = &controller->view;

    if (view->job.fixed[job])
        return;
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.state[task] != TASK_RUNNING)
            continue;
        if (view_is_open(view, view->task.instance[task])) {
            view_mark_stopped(view, task, view->now);
        } else { /* it could end there, but not start again */
            controller_unbind(controller, task, view->now);
            controller->wants_decision = true;
        }
        controller_recall(controller, task, true);
    }
}

void controller_apply(struct controller *controller, const struct plan *plan)
{
    struct view *view = &controller->view;
    uint32_t *fresh = ARENA_ARRAY(&controller->arena, uint32_t, plan->rent_count);

    for (uint32_t i = 0; i < plan->rent_count;)
        i = rent(controller, plan, i, fresh);
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const uint32_t task = plan->places[i].task;

        if (view->task.instance[task] != ROW_NONE)
            lift(controller, task);
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];
        const uint32_t job = view->task.job[place->task];

        view_bind(view, place->task, place->fresh ? fresh[place->target] : place->target);
        if (view->job.gang[job] && view->job.tasks_running[job] > 0)
            restart_gang(controller, job);
        controller_try_place(controller, place->task);
    }
    for (uint32_t i = 0; i < plan->release_count; i++) {
        const uint32_t instance = plan->releases[i].instance;

        assert(view->instance.task_count[instance] == 0);
        view_set_state(view, instance, INSTANCE_DRAINING);
        controller_try_return(controller, instance);
    }
    controller->next_wake = plan->wake_at;
    controller->release_when_empty = plan->release_when_empty;
}

void controller_drain(struct controller *controller, msec_t now)
{
    const struct view *view = &controller->view;

    now = controller_advance(controller, now);
    controller_recall_queued(controller);
    INSTANCE_EACH(instance, view)
    {
        if (view_is_open(view, instance))
            controller_give_up(controller, instance, true, now);
    }
    /* There is nothing to decide while it drains, and nothing of a plan to wake up for. */
    controller->wants_decision = false;
    controller->next_wake = MSEC_NEVER;
    controller->next_retry = MSEC_NEVER;
    controller->next_proof = MSEC_NEVER;
    controller_refresh_offers(controller, now);
    controller_watch_boots(controller);
}
