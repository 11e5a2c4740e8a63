/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that the engine may start by itself. To say of each short task where it shall run costs a call
 * to the engine and the time until the last one's end was heard. Where short tasks wait because no
 * machine will be rented for them, some are handed to the engine: it starts each as soon as there is
 * room anywhere, and says where. Until then they are the engine's: in the view they wait, so that a
 * policy knows of them and rents for them, but no plan places them.
 *
 * Costs:  O(1) an event; a decision looks at the queued ones and as many more, once through the
 *         instances, and once at each shape.
 */
#include <assert.h>

#include "control/state/controller_state.h"

enum { LOOKS_PER_TASK = 4 };

static void queue_add(struct controller *controller, uint32_t task)
{
    struct task_note *note = &controller->task_notes[task];
    const uint32_t next = controller->queue_first;

    note->queue_prev = ROW_NONE;
    note->queue_next = next;
    if (next != ROW_NONE)
        controller->task_notes[next].queue_prev = task;
    controller->queue_first = task;
    controller->queued++;
}

void controller_unqueue(struct controller *controller, uint32_t task)
{
    const struct task_note *note = &controller->task_notes[task];

    if (controller->steps[task].state != STEP_QUEUED)
        return;
    if (note->queue_prev != ROW_NONE)
        controller->task_notes[note->queue_prev].queue_next = note->queue_next;
    else
        controller->queue_first = note->queue_next;
    if (note->queue_next != ROW_NONE)
        controller->task_notes[note->queue_next].queue_prev = note->queue_prev;
    controller->queued--;
    controller->steps[task] = (struct task_step){ .at = ROW_NONE };
    controller->view.task.run_key[task] = 0;
}

void controller_recall_queued(struct controller *controller)
{
    while (controller->queue_first != ROW_NONE)
        controller_recall(controller, controller->queue_first, false);
}

/* The offers of the machines that are ready, each once; returns how many. */
static uint32_t ready_offers(struct controller *controller, uint32_t *offers)
{
    const struct view *view = &controller->view;
    bool *seen = ARENA_ARRAY(&controller->arena, bool, view->catalogue->offer_count);
    uint32_t count = 0;

    INSTANCE_EACH(instance, view)
    {
        const uint32_t offer = view->instance.offer[instance];

        if (view->instance.state[instance] != INSTANCE_READY || seen[offer])
            continue;
        seen[offer] = true;
        offers[count++] = offer;
    }
    return count;
}

bool *controller_awaited_offers(struct controller *controller)
{
    const struct view *view = &controller->view;
    bool *awaited = ARENA_ARRAY(&controller->arena, bool, view->catalogue->offer_count);

    if (controller->queue_first == ROW_NONE)
        return awaited;

    bool *seen = ARENA_ARRAY(&controller->arena, bool, view->shapes->count);
    uint32_t *offers = ARENA_ARRAY(&controller->arena, uint32_t, view->catalogue->offer_count);
    const uint32_t count = ready_offers(controller, offers);

    for (uint32_t task = controller->queue_first; task != ROW_NONE;
         task = controller->task_notes[task].queue_next) {
        const uint32_t shape = view->task.shape[task];

        for (uint32_t i = 0; i < count && !seen[shape]; i++)
            awaited[offers[i]] = awaited[offers[i]] ||
                                 shape_fits_offer(view->shapes, shape, view->catalogue, offers[i]);
        seen[shape] = true;
    }
    return awaited;
}

/* How long the task will run, by what is known now. */
static msec_t expected_ms(const struct controller *controller, uint32_t task)
{
    const struct view *view = &controller->view;

    if (controller->config.estimates != ESTIMATES_LEARNED ||
        view->task.estimate_ms[task] == MSEC_NEVER)
        return view->task.estimate_ms[task];

    const struct runtime_estimate learned = runtimes_estimate(
        &controller->knowledge.runtimes, &controller->lessons[view->task.job[task]].traits);

    return learned.samples > 0 ? learned.runtime_ms : view->task.estimate_ms[task];
}

enum answer { UNKNOWN, YES, NO };

struct room {
    uint32_t *offers;
    uint32_t offer_count;
    uint8_t *by_shape; /* enum answer */
};

static bool has_machine(const struct view *view, const struct room *room, uint32_t shape)
{
    if (room->by_shape[shape] == UNKNOWN) {
        room->by_shape[shape] = NO;
        for (uint32_t i = 0; i < room->offer_count && room->by_shape[shape] == NO; i++) {
            if (shape_fits_offer(view->shapes, shape, view->catalogue, room->offers[i]))
                room->by_shape[shape] = YES;
        }
    }
    return room->by_shape[shape] == YES;
}

static bool may_queue(const struct controller *controller, const struct room *room, uint32_t task)
{
    const struct view *view = &controller->view;
    const uint32_t job = view->task.job[task];
    const struct task_note *note = &controller->task_notes[task];

    return note->not_before <= view->now && controller->steps[task].state == STEP_NONE &&
           (view->job.task_count[job] == 1 || (!view->job.gang[job] && !view->job.spread[job])) &&
           has_machine(view, room, view->task.shape[task]) &&
           expected_ms(controller, task) <= controller->config.queue_ahead_ms;
}

static void ask(struct controller *controller, uint32_t task)
{
    const uint64_t key = controller_key(controller);

    controller->steps[task] =
        (struct task_step){ .key = key, .at = ROW_NONE, .state = STEP_QUEUED };
    controller->view.task.run_key[task] = key;
    controller_note_step(controller, task, controller->view.now);
    controller->config.engine.ops->queue(controller->config.engine.self, key,
                                         controller->view.task.id[task]);
}

static void queue_task(struct controller *controller, uint32_t task)
{
    queue_add(controller, task);
    controller->stats.queued++;
    ask(controller, task);
}

void controller_queue_again(struct controller *controller, uint32_t task)
{
    controller->stats.asked_anew++;
    ask(controller, task);
}

void controller_queue_ahead(struct controller *controller, uint32_t first)
{
    const struct controller_config *config = &controller->config;
    const struct view *view = &controller->view;
    uint64_t looks = (uint64_t)config->queue_ahead_most * LOOKS_PER_TASK;

    if (config->queue_ahead_ms == 0 || config->engine.ops->queue == NULL ||
        controller->queued >= config->queue_ahead_most || view->task.waiting_count == 0)
        return;

    struct room room = {
        .offers = ARENA_ARRAY(&controller->arena, uint32_t, view->catalogue->offer_count),
        .by_shape = ARENA_ARRAY(&controller->arena, uint8_t, view->shapes->count),
    };

    room.offer_count = ready_offers(controller, room.offers);
    if (first != ROW_NONE && controller->steps[first].state != STEP_QUEUED &&
        !may_queue(controller, &room, first))
        return;
    for (uint32_t task = view->task.waiting_first;
         task != ROW_NONE && looks > 0 && controller->queued < config->queue_ahead_most &&
         room.offer_count > 0;
         task = view->task.next[task], looks--) {
        if (may_queue(controller, &room, task))
            queue_task(controller, task);
    }
}
