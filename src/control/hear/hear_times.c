/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times from outside. The ports' clocks are not our own: they are ahead, behind, set while we look, or say
 * nothing that makes sense. All that the controller computes with times rests on a few rules, so what an
 * event says is made to keep them here, where it enters, and nowhere else:
 *
 *  1. time never goes back, and no event is later than what whoever calls says the time is;
 *  2. nothing happens to a machine before it was asked for, or to a task before its job arrived;
 *  3. what has begun has begun by now: no job arrives and no task starts in the future;
 *  4. a bill is the cloud's, by its own clock, and booked as it says; but it ends after it began, and
 *     both within 400 days of when that can have been by ours;
 *  5. no time is below zero or above LIMIT_TIME_MS, so that sums of a few of them do not overflow.
 *
 * A time that breaks a rule becomes the nearest one that keeps it. What is said of the past stays as it
 * was said: how late an event is tells whether it is old news.
 */
#include <assert.h>

#include "base/limits.h"
#include "control/hear/hear.h"

/* The cloud's clock and ours may be so far apart, and what it says is still its bill: hosts with a clock
 * that is a year off are met. */
static const msec_t bill_slack_ms = 9600 * MSEC_PER_HOUR;

static msec_t within(msec_t least, msec_t at, msec_t most)
{
    assert(least <= most);
    if (at < least)
        return least;
    return at < most ? at : most;
}

static msec_t later(msec_t a, msec_t b)
{
    return a > b ? a : b;
}

/* No event is later. */
static msec_t latest(const struct state *state)
{
    return state->has_clock ? state->view.now : LIMIT_TIME_MS;
}

/* What happened to these, happened then or later; both may be ROW_NONE. */
static msec_t earliest(const struct state *state, uint32_t job, uint32_t instance)
{
    const struct view *view = &state->view;
    const msec_t arrived = job != ROW_NONE ? view->job.arrived_at[job] : 0;
    const msec_t rented = instance != ROW_NONE ? view->instance.rented_at[instance] : 0;

    return later(arrived, rented);
}

/* The job of a task, or ROW_NONE. */
static uint32_t job_of(const struct view *view, uint64_t task)
{
    const uint32_t row = view_find_task(view, task);

    return row != ROW_NONE ? view->task.job[row] : ROW_NONE;
}

static struct job_spec sane_job(struct job_spec job, msec_t at)
{
    job.arrived_at = within(0, job.arrived_at, at);
    if (job.estimate_ms < 0)
        job.estimate_ms = -1;
    else if (job.estimate_ms > LIMIT_TIME_MS)
        job.estimate_ms = MSEC_NEVER;
    return job;
}

struct engine_event hear_sane_engine(const struct state *state, const struct engine_event *event)
{
    const struct view *view = &state->view;
    struct engine_event sane = *event;
    msec_t since = 0;

    switch (event->kind) {
    case ENGINE_NODE_READY:
    case ENGINE_NODE_LOST:
    case ENGINE_NODE_LEFT:
        since = earliest(state, ROW_NONE, view_find_instance(view, event->instance));
        break;
    case ENGINE_TASK_STARTED:
    case ENGINE_TASK_FOUND:
    case ENGINE_TASK_RATE:
    case ENGINE_TASK_STOPPED:
    case ENGINE_TASK_KEPT:
    case ENGINE_TASK_LOST:
    case ENGINE_TASK_FINISHED:
    case ENGINE_TASK_WITHDRAWN:
        since = earliest(state, job_of(view, event->task), ROW_NONE);
        break;
    case ENGINE_JOB_ARRIVED:
    case ENGINE_JOB_CHANGED:
    case ENGINE_JOB_WITHDRAWN:
        since = earliest(state, view_find_job(view, event->job.id), ROW_NONE);
        break;
    case ENGINE_LISTED:
        break;
    }
    sane.at = within(since, event->at, latest(state));
    sane.started_at = within(since, event->started_at, sane.at);
    sane.ended_at = event->ended_at > 0 ? within(sane.started_at, event->ended_at, sane.at) : 0;
    sane.until = within(sane.at, event->until, later(sane.at, LIMIT_TIME_MS));
    sane.job = sane_job(event->job, sane.at);
    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (event->capacity.amount[kind] != ENGINE_AS_TYPE)
            sane.capacity.amount[kind] = within(0, event->capacity.amount[kind], LIMIT_RESOURCE);
    }
    return sane;
}

/* When the bill began, at the earliest. The cloud may know of a machine since before we did; but not of
 * one that we asked for. */
static msec_t earliest_bill(const struct state *state, uint32_t instance)
{
    const struct view *view = &state->view;

    if (instance == ROW_NONE || !id_set_has(&state->asked, view->instance.id[instance]))
        return 0;
    return view->instance.rented_at[instance];
}

/* A moment of a bill, which is between 'least' and 'most' by our clock and about that by the cloud's. */
static msec_t of_bill(msec_t least, msec_t at, msec_t most)
{
    if (at < least - bill_slack_ms)
        return least;
    if (at - bill_slack_ms > most)
        return most;
    return within(0, at, LIMIT_TIME_MS);
}

struct cloud_event hear_sane_cloud(const struct state *state, const struct cloud_event *event)
{
    const uint32_t instance = view_find_instance(&state->view, event->instance);
    struct cloud_event sane = *event;

    sane.at = within(earliest(state, ROW_NONE, instance), event->at, latest(state));
    sane.billed_to = -1;
    if (event->billed_from >= 0) {
        const msec_t since = earliest_bill(state, instance);

        sane.billed_from = of_bill(since, event->billed_from, sane.at);
        sane.billed_to = later(sane.billed_from, of_bill(since, event->billed_to, sane.at));
    } else {
        sane.billed_from = event->kind == CLOUD_RUNNING ? sane.at : -1; /* what runs is billed */
    }
    sane.for_ms = within(0, event->for_ms, LIMIT_TIME_MS);
    sane.until =
        event->until > 0 ? within(sane.at, event->until, later(sane.at, LIMIT_TIME_MS)) : 0;
    return sane;
}
