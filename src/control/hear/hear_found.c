/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is there though nobody asked for it, or elsewhere than was asked: tasks that the engine
 * started by itself, machines that an earlier process rented, machines that the engine lost.
 *
 * The ports are right, so the view is changed until it agrees. Nothing that runs is ever stopped because
 * it is not where we thought, or because there is no room for it by what we know.
 */
#include <assert.h>

#include "control/state/controller_state.h"

/*
 * Machines.
 */

void controller_give_up(struct controller *controller, uint32_t instance, bool runs, msec_t at)
{
    struct view *view = &controller->view;
    uint32_t next;

    view_set_state(view, instance, INSTANCE_DRAINING);
    for (uint32_t task = view->instance.first_task[instance]; task != ROW_NONE; task = next) {
        next = view->task.next[task];
        if (runs && view->task.state[task] == TASK_RUNNING)
            continue;
        controller_unbind(controller, task, at);
        if (runs)
            controller_recall(controller, task, false);
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
    view_set_ready_expected(view, instance,
                            view->now + machine_type_acquire_ms(type, 1) + type->setup_ms);
    controller->instance_notes[instance].is_uncaught = true;
    if (event->billed_from >= 0 && event->billed_from < view->instance.rented_at[instance])
        view->instance.rented_at[instance] = event->billed_from;
    return instance;
}

static bool is_over(struct controller *controller, uint64_t instance)
{
    if (map_get(&controller->gone, instance) != MAP_NONE)
        return true;
    if (map_get(&controller->gone_before, instance) != MAP_NONE) {
        map_put(&controller->gone, instance, 0); /* it is still spoken of */
        return true;
    }
    return controller->config.is_settled != NULL &&
           controller->config.is_settled(controller->config.context, instance);
}

/* Its bill has ended, and yet it lives: nobody saw it for too long. Or nobody knows what it costs. It
 * cannot be billed, so it must not stay; it counts until it is gone, and what runs there may end. */
static void adopt_to_return(struct controller *controller, const struct cloud_event *event)
{
    const uint32_t instance = adopt(controller, event);

    controller->instance_notes[instance].is_unbilled = true;
    view_set_state(&controller->view, instance, INSTANCE_DRAINING);
    controller_try_return(controller, instance);
}

/* Its offer is in no catalogue any more: what runs there may end, then it goes back. */
static void leave_if_former(struct controller *controller, uint32_t instance)
{
    struct view *view = &controller->view;

    if (!view->catalogue->offers[view->instance.offer[instance]].is_former)
        return;
    view_set_state(view, instance, INSTANCE_DRAINING);
    controller_try_return(controller, instance);
}

/* All that an earlier process left is known when the first audit has ended. What turns up later and was
 * not asked for here was rented by somebody else. */
static bool is_rival(struct controller *controller, uint64_t instance)
{
    return controller->stats.audits > 0 && !is_over(controller, instance) &&
           map_get(&controller->asked, instance) == MAP_NONE;
}

static void note_rival(struct controller *controller, uint32_t offer)
{
    controller->rivals_now++;
    if (offer < controller->view.catalogue->offer_count)
        controller->rivals_price_now += controller->view.offer_price[offer];
}

static void found_unknown(struct controller *controller, const struct cloud_event *event)
{
    if (controller->cloud_list.key == 0 || event->instance == 0) {
        controller->stats.late_events++;
        return;
    }
    if (is_rival(controller, event->instance)) {
        note_rival(controller, event->offer);
        return;
    }

    struct cloud_event known = *event;
    const bool is_stranger = event->offer >= controller->view.catalogue->offer_count;

    controller->stats.strangers += is_stranger;
    if (is_stranger && !controller->config.returns_strangers)
        return;
    if (is_stranger)
        known.offer = controller->config.unknown_offer;
    if (is_stranger || is_over(controller, event->instance)) {
        controller->stats.outlived += !is_stranger;
        adopt_to_return(controller, &known);
        return;
    }

    const uint32_t instance = adopt(controller, &known);

    controller->stats.adopted++;
    if (event->billed_from >= 0)
        (void)controller_billed(controller, instance, event->billed_from);
    leave_if_former(controller, instance);
    controller->wants_decision = true;
}

void controller_remember(struct controller *controller, uint64_t instance, uint32_t offer,
                         msec_t asked_at, msec_t now)
{
    (void)controller_advance(controller, now);
    if (view_find_instance(&controller->view, instance) != ROW_NONE ||
        offer >= controller->view.catalogue->offer_count)
        return;

    const uint32_t row = adopt(controller, &(struct cloud_event){
                                               .instance = instance,
                                               .offer = offer,
                                               .billed_from = -1,
                                           });

    /* A restart gives it no more time to boot. */
    asked_at = asked_at > 0 ? asked_at : 0;
    if (asked_at < controller->view.instance.rented_at[row]) {
        controller->view.instance.ready_expected[row] -=
            controller->view.instance.rented_at[row] - asked_at;
        controller->view.instance.rented_at[row] = asked_at;
    }
    leave_if_former(controller, row);
}

void controller_remember_return(struct controller *controller, uint64_t instance)
{
    struct view *view = &controller->view;
    const uint32_t row = view_find_instance(view, instance);

    if (row == ROW_NONE || !view_is_open(view, row))
        return;
    view_set_state(view, row, INSTANCE_DRAINING);
    controller_try_return(controller, row);
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

    view_set_state(&controller->view, instance, INSTANCE_RETURNED);
    controller_gone(controller, instance, event);
}

/*
 * Tasks.
 */

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

/* A task that is only on its way there yields to one that runs there. */
static void send_away(struct controller *controller, uint32_t task, msec_t at)
{
    controller_unbind(controller, task, at);
    controller_recall(controller, task, false);
}

static void make_room(struct controller *controller, uint32_t task, uint32_t instance, msec_t at)
{
    const struct view *view = &controller->view;
    const uint32_t near = too_near(view, task, instance);

    if (near != ROW_NONE && view->task.state[near] != TASK_RUNNING)
        send_away(controller, near, at);
    while (!fits(view, task, instance)) {
        const uint32_t other = newest_idle(view, instance);

        if (other == ROW_NONE) {
            controller->stats.misfits++;
            return;
        }
        send_away(controller, other, at);
    }
}

/* Bind it to where it runs, whatever we thought of it and of the room there: the engine is right. */
static void settle_in(struct controller *controller, uint32_t task, uint32_t instance, msec_t at)
{
    struct view *view = &controller->view;

    controller->stats.found++;
    controller->wants_decision = true;
    controller_unbind(controller, task, at);
    make_room(controller, task, instance, at);
    view_bind_found(view, task, instance);
    if (view->instance.state[instance] == INSTANCE_REQUESTED ||
        view->instance.state[instance] == INSTANCE_BOOTING)
        controller_ready(controller, instance, at);
}

void controller_runs_at(struct controller *controller, uint32_t task, uint32_t instance,
                        uint64_t key, msec_t started_at)
{
    const struct view *view = &controller->view;
    struct task_step *step = &controller->steps[task];

    if (step->at != instance) {
        controller_left(controller, task, view->now);
        controller_put(controller, task, instance, key);
    } else if (step->state == STEP_STOPPING) {
        controller->view.task.run_key[task] = key;
        return; /* it runs until it has stopped */
    } else {
        step->state = STEP_PLACED; /* it was too late to cancel it */
        step->key = key;
        controller->view.task.run_key[task] = key;
    }
    if (view->task.instance[task] != instance)
        settle_in(controller, task, instance, view->now);
    if (view->task.state[task] == TASK_BOUND)
        controller_started(controller, task, started_at);
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
    controller_runs_at(controller, task, instance, event->key, event->started_at);
}
