/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How plans become acts. A task's step says where the engine has it; the view says where it shall
 * be. Each act brings the two nearer:
 *
 *     bound, nowhere, target ready     -> place
 *     placed elsewhere than bound      -> stop; when it has stopped: place
 *     draining instance, nobody there  -> retire, give back
 */
#include <assert.h>

#include "control/controller_private.h"

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

    step->key = key;
    step->state = STEP_PLACED;
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
    controller_unqueue(controller, task); /* the placement takes it back */
    controller_put(controller, task, instance, controller_key(controller));
    controller->config.engine.ops->place(controller->config.engine.self, step->key,
                                         view->task.id[task], view->instance.id[instance]);
}

void controller_stop(struct controller *controller, uint32_t task)
{
    struct task_step *step = &controller->steps[task];

    if (step->state != STEP_PLACED)
        return;
    step->state = STEP_STOPPING;
    step->key = controller_key(controller);
    controller_note_step(controller, task, controller->view.now);
    controller->view.task.stops[task]++;
    controller->config.engine.ops->stop(controller->config.engine.self, step->key,
                                        controller->view.task.id[task]);
}

void controller_left(struct controller *controller, uint32_t task, msec_t at)
{
    struct task_step *step = &controller->steps[task];
    const uint32_t instance = step->at;

    if (step->state == STEP_NONE)
        return;
    present_remove(controller, task);
    *step = (struct task_step){ .at = ROW_NONE };
    controller_note_step(controller, task, at);
    controller->view.task.run_key[task] = 0;
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
    struct view *view = &controller->view;
    const uint64_t id = view->instance.id[instance];

    if (view->instance.state[instance] != INSTANCE_DRAINING ||
        view->instance.task_count[instance] > 0 || controller->present[instance] != ROW_NONE)
        return;
    view->instance.state[instance] = INSTANCE_RETURNED;
    controller->instance_notes[instance].returned_key = controller->next_key;
    controller->config.engine.ops->retire(controller->config.engine.self, id);
    controller->config.cloud.ops->give_back(controller->config.cloud.self, id);
}

uint32_t controller_add_instance(struct controller *controller, uint64_t id, uint32_t offer)
{
    const uint32_t instance = view_add_instance(&controller->view, id, offer);

    controller_grow(controller);
    controller->instance_notes[instance] = (struct instance_note){
        .started_at = -1,
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
        fresh[i] = controller_add_instance(controller, controller_key(controller), like->offer);
        view->instance.ready_expected[fresh[i]] = ready;
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
    controller_stop(controller, task);
}

/* The rest of a gang of which a task moves starts again where it is. */
static void restart_gang(struct controller *controller, uint32_t job)
{
    struct view *view = &controller->view;

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
        controller_stop(controller, task);
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
        view->instance.state[instance] = INSTANCE_DRAINING;
        controller_try_return(controller, instance);
    }
    controller->next_wake = plan->wake_at;
}

void controller_drain(struct controller *controller)
{
    struct view *view = &controller->view;

    INSTANCE_EACH(instance, view)
    {
        if (!view_is_open(view, instance) || view->instance.task_count[instance] > 0)
            continue;
        view->instance.state[instance] = INSTANCE_DRAINING;
        controller_try_return(controller, instance);
    }
}
