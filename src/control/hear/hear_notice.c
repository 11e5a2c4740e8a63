/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cloud will take a machine, and says when: what becomes of what runs there.
 *
 *   - What has not begun does not begin there; the engine starts nothing more there either.
 *   - What must not be moved, or cannot be saved in the time that is left, is left alone: it may still end by
 *     itself. If it does not it is lost with the machine, and waits again.
 *   - What is expected to end before it would have to be stopped runs on.
 *   - All else waits again, so that the next decision finds it a place, on a new machine if there is no other; work
 *     without an end first, then the rest. It runs on until that place is ready, and is stopped then; but early
 *     enough to be saved before the deadline, place or not. So a replacement is rented while the work still runs, and
 *     it is rented once, within all limits, in which the machine that goes counts until it is gone.
 *
 * If nobody knows when the machine is taken, what can be saved is stopped at once.
 *
 * A machine that is only at risk may well stay: nothing begins there, and what runs there goes on to its end. Two kinds of work get
 * a place elsewhere as above, if they may be moved, and run on until that is ready, however long it takes: what has no end would be there
 * until it is interrupted; and what has one may lose more than the move costs (decide/at_risk.h).
 *
 * Costs:  O(tasks there); a look at deadlines once through the instances.
 */
#include "control/hear/hear.h"
#include "decide/at_risk.h"

/* So long before it would be too late: news and actions take their time. */
static const msec_t margin_ms = 5 * MSEC_PER_SEC;

/* From the order to stop until what it has done is saved. */
static msec_t save_ms(const struct state *state, uint32_t task)
{
    const struct shape_delays *delays =
        &state->view.shapes->rows[state->view.task.shape[task]].delays;

    return delays->kill_ms + delays->upload_ms + state->config.stop_ms;
}

/* When a task there has to be stopped at the latest; where decisions come in rounds, in the last one before. */
static msec_t last_stop(const struct state *state, uint32_t task, uint32_t instance)
{
    const msec_t deadline = state->view.instance.deadline[instance];

    if (deadline == MSEC_NEVER)
        return 0; /* nobody knows */
    return deadline - save_ms(state, task) - margin_ms - state->view.round_ms;
}

static bool can_be_saved(const struct state *state, uint32_t task, uint32_t instance)
{
    const struct view *view = &state->view;

    return !view->job.fixed[view->task.job[task]] &&
           view->now + save_ms(state, task) <= view->instance.deadline[instance];
}

/* Whether it is expected to end by itself before it has to be stopped. */
static bool ends_in_time(const struct state *state, uint32_t task, uint32_t instance)
{
    const struct view *view = &state->view;
    const msec_t left = view->task.estimate_ms[task] - view_executed(view, task);

    return view->task.estimate_ms[task] != MSEC_NEVER && left > 0 &&
           view->now + left <= last_stop(state, task, instance);
}

/* What becomes of a task that is bound there; returns when to look again. */
static msec_t weigh(struct state *state, uint32_t task, uint32_t instance, msec_t at)
{
    const msec_t latest = last_stop(state, task, instance);
    msec_t until;

    if (state->view.task.state[task] != TASK_RUNNING) {
        state_unbind(state, task, at);
        return MSEC_NEVER;
    }
    if (state_is_kept(state, task, &until))
        return until;
    if (!can_be_saved(state, task, instance))
        return MSEC_NEVER;
    if (ends_in_time(state, task, instance))
        return latest;
    state_unbind(state, task, at);
    if (state->view.now >= latest)
        return MSEC_NEVER;
    state_linger(state, task);
    return latest;
}

static void look_again_at(struct hearing *hear, msec_t at)
{
    if (at < hear->next_deadline)
        hear->next_deadline = at;
}

/* Those of which it is known that they have an end, or those that have none. */
static void weigh_bound(struct hearing *hear, uint32_t instance, bool endless, msec_t at)
{
    const struct view *view = &hear->state->view;
    uint32_t next;

    for (uint32_t task = view->instance.first_task[instance]; task != ROW_NONE; task = next) {
        next = view->task.next[task];
        if ((view->task.estimate_ms[task] == MSEC_NEVER) == endless)
            look_again_at(hear, weigh(hear->state, task, instance, at));
    }
}

/* Those that run on there and wait for their place: not any longer than they can be saved. */
static void weigh_lingering(struct hearing *hear, uint32_t instance)
{
    struct state *state = hear->state;

    for (uint32_t task = state->present[instance]; task != ROW_NONE;
         task = state->steps[task].next) {
        const msec_t latest = last_stop(state, task, instance);

        if (!state->task_notes[task].lingers)
            continue;
        if (state->view.now >= latest)
            state_end_linger(state, task);
        else
            look_again_at(hear, latest);
    }
}

static void weigh_all(struct hearing *hear, uint32_t instance, msec_t at)
{
    weigh_lingering(hear, instance);
    weigh_bound(hear, instance, true, at);
    weigh_bound(hear, instance, false, at);
    hear->state->wants_decision = true;
}

/* Whether it should not stay until its end on a machine that may be taken. */
static bool leaves_early(const struct state *state, uint32_t task, uint32_t instance)
{
    const struct view *view = &state->view;
    msec_t until;

    if (view->task.state[task] != TASK_RUNNING || view->job.fixed[view->task.job[task]] ||
        state_is_kept(state, task, &until))
        return false;
    return view->task.estimate_ms[task] == MSEC_NEVER || at_risk_should_leave(view, task, instance);
}

void hear_at_risk(struct hearing *hear, uint32_t instance, msec_t at)
{
    struct state *state = hear->state;
    const struct view *view = &state->view;
    uint32_t next;

    state->stats.at_risk++;
    state_close_instance(state, instance, at);
    for (uint32_t task = view->instance.first_task[instance]; task != ROW_NONE; task = next) {
        next = view->task.next[task];
        if (!leaves_early(state, task, instance))
            continue;
        state_unbind(state, task, at);
        state_linger(state, task);
    }
}

void hear_notice(struct hearing *hear, uint32_t instance, msec_t until, msec_t at)
{
    view_set_deadline(&hear->state->view, instance, until > 0 ? until : MSEC_NEVER);
    hear->state->stats.noticed += !hear->state->instance_notes[instance].is_noticed;
    hear->state->instance_notes[instance].is_noticed = true;
    weigh_all(hear, instance, at);
    state_set_instance(hear->state, instance, INSTANCE_DRAINING);
}

/* Those whose stop was refused on a machine that a plan has let go are asked again when it is time. */
static void ask_kept_again(struct hearing *hear, uint32_t instance)
{
    struct state *state = hear->state;

    for (uint32_t task = state->present[instance]; task != ROW_NONE;
         task = state->steps[task].next) {
        const msec_t until = state->task_notes[task].stays_until;

        if (!state->task_notes[task].lingers)
            continue;
        if (until > state->view.now)
            look_again_at(hear, until);
        else
            state_mark_task(state, task);
    }
}

void hear_check_deadlines(struct hearing *hear)
{
    const struct view *view = &hear->state->view;

    if (view->now < hear->next_deadline)
        return;
    hear->next_deadline = MSEC_NEVER;
    INSTANCE_EACH(instance, view)
    {
        if (hear->state->instance_notes[instance].is_noticed)
            weigh_all(hear, instance, view->now);
        else if (hear->state->instance_notes[instance].is_released)
            ask_kept_again(hear, instance);
    }
    hear->state->wants_decision = false; /* one is being made */
}
