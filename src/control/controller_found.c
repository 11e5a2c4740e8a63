/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is there though nobody asked for it, or elsewhere than was asked: tasks that the engine
 * started by itself, machines that an earlier process rented, machines that the engine lost.
 *
 * The ports are right. So the view is changed until it agrees; only where that would break one of its
 * invariants (a task on a machine that cannot hold it) is the world asked to change.
 */
#include <assert.h>

#include "control/controller_private.h"

/*
 * Machines.
 */

void controller_give_up(struct controller *controller, uint32_t instance, bool runs, msec_t at)
{
    struct view *view = &controller->view;
    uint32_t next;

    view->instance.state[instance] = INSTANCE_DRAINING;
    for (uint32_t task = view->instance.first_task[instance]; task != ROW_NONE; task = next) {
        next = view->task.next[task];
        if (runs && view->task.state[task] == TASK_RUNNING)
            continue;
        controller_unbind(controller, task, at);
        if (runs)
            controller_stop(controller, task);
    }
    if (!runs)
        controller_forget_present(controller, instance, at);
    controller->wants_decision = true;
    controller_try_return(controller, instance);
}

/* A machine that nobody knew is ours. */
static uint32_t adopt(struct controller *controller, const struct cloud_event *event)
{
    struct view *view = &controller->view;
    const struct machine_type *type = catalogue_type_of(view->catalogue, event->offer);
    const uint32_t instance = controller_add_instance(controller, event->instance, event->offer);

    if (event->instance >= controller->next_key)
        controller->next_key = event->instance + 1; /* never use its key again */
    view->instance.ready_expected[instance] =
        view->now + machine_type_acquire_ms(type, 1) + type->setup_ms;
    controller->instance_notes[instance].is_uncaught = true;
    if (event->billed_from >= 0 && event->billed_from < view->instance.rented_at[instance])
        view->instance.rented_at[instance] = event->billed_from;
    return instance;
}

static bool is_over(const struct controller *controller, uint64_t instance)
{
    return map_get(&controller->gone, instance) != MAP_NONE ||
           (controller->config.is_settled != NULL &&
            controller->config.is_settled(controller->config.context, instance));
}

/* Its bill has ended, and yet it lives: nobody saw it for too long. It cannot be billed again, so it
 * must not stay. */
static void give_back_outlived(struct controller *controller, uint64_t instance)
{
    controller->stats.outlived++;
    controller->config.engine.ops->retire(controller->config.engine.self, instance);
    controller->config.cloud.ops->give_back(controller->config.cloud.self, instance);
}

static void found_unknown(struct controller *controller, const struct cloud_event *event)
{
    if (controller->cloud_list.key == 0 || event->instance == 0) {
        controller->stats.late_events++;
        return;
    }
    if (is_over(controller, event->instance)) {
        give_back_outlived(controller, event->instance);
        return;
    }
    if (event->offer >= controller->view.catalogue->offer_count) {
        controller->stats.strangers++;
        return;
    }

    const uint32_t instance = adopt(controller, event);

    controller->stats.adopted++;
    if (event->billed_from >= 0)
        (void)controller_billed(controller, instance, event->billed_from);
    controller->wants_decision = true;
}

/* It was given back before the list was asked for, and is still there. */
static bool is_forgotten(const struct controller *controller, uint32_t instance)
{
    const struct instance_note *note = &controller->instance_notes[instance];

    return controller->view.instance.state[instance] == INSTANCE_RETURNED &&
           !note->is_asked_again && note->returned_key <= controller->cloud_list.key;
}

void controller_on_cloud_found(struct controller *controller, const struct cloud_event *event)
{
    const struct view *view = &controller->view;
    const uint32_t instance = view_find_instance(view, event->instance);

    if (instance == ROW_NONE) {
        found_unknown(controller, event);
        return;
    }
    controller->instance_notes[instance].mention = controller->audit;
    if (event->billed_from >= 0)
        (void)controller_billed(controller, instance, event->billed_from);
    if (controller->cloud_list.key == 0 || !is_forgotten(controller, instance))
        return;
    controller->instance_notes[instance].is_asked_again = true;
    controller->stats.returned_anew++;
    controller->config.cloud.ops->give_back(controller->config.cloud.self, event->instance);
}

/* A machine of an earlier process ended while nobody looked: its bill is still to be booked. */
void controller_on_unknown_gone(struct controller *controller, const struct cloud_event *event)
{
    if (event->billed_from < 0 || event->instance == 0 ||
        event->offer >= controller->view.catalogue->offer_count ||
        is_over(controller, event->instance)) {
        controller->stats.late_events +=
            controller->cloud_list.key == 0; /* a list tells it again */
        return;
    }

    const uint32_t instance = adopt(controller, event);

    controller->view.instance.state[instance] = INSTANCE_RETURNED;
    controller->config.engine.ops->retire(controller->config.engine.self, event->instance);
    controller_gone(controller, instance, event);
}

/*
 * Tasks.
 */

static bool fits(const struct view *view, uint32_t task, uint32_t instance)
{
    const struct res *demand = view_demand(view, task, view_family(view, instance));
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

/* Another task of the same job there, which is spread; ROW_NONE: none is. */
static uint32_t too_near(const struct view *view, uint32_t task, uint32_t instance)
{
    const uint32_t job = view->task.job[task];

    if (!view->job.spread[job])
        return ROW_NONE;
    TASK_EACH(other, view, view->instance.first_task[instance])
    {
        if (other != task && view->task.job[other] == job)
            return other;
    }
    return ROW_NONE;
}

static void send_away(struct controller *controller, uint32_t task, msec_t at)
{
    controller_unbind(controller, task, at);
    controller_stop(controller, task);
}

/* Who is only on the way there gives way to who runs there. */
static bool make_room(struct controller *controller, uint32_t task, uint32_t instance, msec_t at)
{
    const struct view *view = &controller->view;
    const uint32_t near = too_near(view, task, instance);

    if (!view_is_open(view, instance) ||
        view_demand(view, task, view_family(view, instance)) == NULL)
        return false;
    if (near != ROW_NONE && view->task.state[near] == TASK_RUNNING)
        return false;
    if (near != ROW_NONE)
        send_away(controller, near, at);
    while (!fits(view, task, instance)) {
        const uint32_t other = newest_idle(view, instance);

        if (other == ROW_NONE)
            return false;
        send_away(controller, other, at);
    }
    return true;
}

/* It runs where it was placed, under this key; false: it is not there as far as we know. */
static bool confirm(struct controller *controller, uint32_t task, uint32_t instance,
                    const struct engine_event *event)
{
    struct view *view = &controller->view;
    struct task_step *step = &controller->steps[task];

    if (step->state == STEP_NONE || step->at != instance)
        return false;
    view->task.run_key[task] = event->key;
    if (step->state == STEP_STOPPING)
        return true; /* it runs until it has stopped */
    step->key = event->key;
    if (view->task.state[task] == TASK_BOUND)
        controller_started(controller, task, event->started_at);
    return true;
}

static void settle_in(struct controller *controller, uint32_t task, uint32_t instance,
                      const struct engine_event *event)
{
    struct view *view = &controller->view;

    controller->stats.found++;
    controller->wants_decision = true;
    controller_unbind(controller, task, event->at);
    controller_left(controller, task, event->at);

    const bool has_room = make_room(controller, task, instance, event->at);

    controller_put(controller, task, instance, event->key);
    if (!has_room) {
        controller->stats.misfits++;
        controller_stop(controller, task);
        return;
    }
    view_bind(view, task, instance);
    if (view->instance.state[instance] != INSTANCE_READY)
        controller_ready(controller, instance, event->started_at);
    controller_started(controller, task, event->started_at);
}

void controller_on_found(struct controller *controller, const struct engine_event *event)
{
    const struct view *view = &controller->view;
    const uint32_t task = view_find_task(view, event->task);
    const uint32_t instance = view_find_instance(view, event->instance);

    if (task != ROW_NONE)
        controller->lessons[view->task.job[task]].mention = controller->audit;
    if (task == ROW_NONE || instance == ROW_NONE || event->key == 0 ||
        view->instance.state[instance] == INSTANCE_RETURNED ||
        event->at < controller->task_notes[task].since) {
        controller->stats.late_events++;
        return;
    }
    controller->task_notes[task].mention = controller->audit;
    controller->instance_notes[instance].engine_mention = controller->audit;
    controller_unqueue(controller, task);
    if (!confirm(controller, task, instance, event))
        settle_in(controller, task, instance, event);
}
