/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that the engine may start by itself. To say of each short task where it is to run costs a call
 * to the engine and the time until the last one's end was heard. Where short tasks wait because no
 * machine will be rented for them, some are handed to the engine: it starts each as soon as there is
 * room anywhere, and says where. Until then they are the engine's: in the view they wait, so that a
 * policy knows of them and rents for them, but no plan places them. Those come first whose turn it is
 * (decide/turn_order.h); among the ones that it has, the engine chooses by its own priorities. Where machines are owned
 * none is handed over: the engine would start them on rented machines as soon as on owned ones.
 *
 * Costs:  O(1) an event; a decision looks at the queued ones and as many more, once through the
 *         instances and the tasks that wait, and once at each shape.
 */
#include "control/want/want.h"
#include "decide/turn_order.h"

enum { LOOKS_PER_TASK = 4 };

/* The offers of the machines that are ready, or will be if 'coming', each once; returns how many. */
static uint32_t list_offers(struct state *state, bool coming, uint32_t *offers)
{
    const struct view *view = &state->view;
    bool *seen = ARENA_ARRAY(&state->arena, bool, view->catalogue->offer_count);
    uint32_t count = 0;

    INSTANCE_EACH(instance, view)
    {
        const uint32_t offer = view->instance.offer[instance];

        if (seen[offer] || !view_is_open(view, instance) ||
            (!coming && view->instance.state[instance] != INSTANCE_READY))
            continue;
        seen[offer] = true;
        offers[count++] = offer;
    }
    return count;
}

bool *want_awaited_offers(struct state *state)
{
    const struct view *view = &state->view;
    bool *awaited = ARENA_ARRAY(&state->arena, bool, view->catalogue->offer_count);

    if (state->queue_first == ROW_NONE)
        return awaited;

    bool *seen = ARENA_ARRAY(&state->arena, bool, view->shapes->count);
    uint32_t *offers = ARENA_ARRAY(&state->arena, uint32_t, view->catalogue->offer_count);
    const uint32_t count = list_offers(state, true, offers);

    for (uint32_t task = state->queue_first; task != ROW_NONE;
         task = state->task_notes[task].queue_next) {
        const uint32_t shape = view->task.shape[task];

        for (uint32_t i = 0; i < count && !seen[shape]; i++)
            awaited[offers[i]] = awaited[offers[i]] ||
                                 shape_fits_offer(view->shapes, shape, view->catalogue, offers[i]);
        seen[shape] = true;
    }
    return awaited;
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

/* Whether the engine may start its tasks anywhere, one by one: nothing binds them to others, of this job or another. */
static bool is_unbound(const struct view *view, uint32_t job)
{
    if (view->job.task_count[job] == 1)
        return !view_has_apart(view, job) || view->job.apart[job] == job;
    return !view->job.gang[job] && !view_has_apart(view, job);
}

static bool may_queue(const struct wanting *want, const struct room *room, uint32_t task)
{
    const struct view *view = &want->state->view;
    const uint32_t job = view->task.job[task];
    const struct task_note *note = &want->state->task_notes[task];

    if (shape_has_rules(view->shapes, view->task.shape[task]) || view->job.caps[job] != 0)
        return false; /* the engine does not know of them */
    return note->not_before <= view->now && want->state->steps[task].state == STEP_NONE &&
           !note->is_to_queue && is_unbound(view, job) &&
           has_machine(view, room, view->task.shape[task]) &&
           books_expected_ms(want->books, task) <= want->state->config.queue_ahead_ms;
}

void want_queue_ahead(struct wanting *want, uint32_t first)
{
    const struct controller_config *config = &want->state->config;
    const struct view *view = &want->state->view;
    const uint64_t looks = (uint64_t)config->queue_ahead_most * LOOKS_PER_TASK;

    if (config->queue_ahead_ms == 0 || !want->state->can_queue || want->state->owned > 0 ||
        want->state->queued >= config->queue_ahead_most || view->task.waiting_count == 0)
        return;

    struct room room = {
        .offers = ARENA_ARRAY(&want->state->arena, uint32_t, view->catalogue->offer_count),
        .by_shape = ARENA_ARRAY(&want->state->arena, uint8_t, view->shapes->count),
    };

    room.offer_count = list_offers(want->state, false, room.offers);
    if (first != ROW_NONE && want->state->steps[first].state != STEP_QUEUED &&
        !may_queue(want, &room, first))
        return;
    if (room.offer_count == 0)
        return;

    uint32_t *tasks;
    const uint32_t count = turn_first(view, looks < UINT32_MAX ? (uint32_t)looks : UINT32_MAX,
                                      &want->state->arena, &tasks);

    for (uint32_t i = 0; i < count && want->state->queued < config->queue_ahead_most; i++) {
        if (may_queue(want, &room, tasks[i])) {
            want->state->stats.queued++;
            state_want_queued(want->state, tasks[i], true);
        }
    }
}
