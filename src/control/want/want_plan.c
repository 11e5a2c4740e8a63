/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be by a plan: each task bound to where it goes, each machine that is rented a row, each that is
 * released draining. A task that moves is taken off where it was; what the engine has to be asked for follows
 * from that.
 */
#include "control/want/want.h"

#include <assert.h>

#include "base/mem.h"
#include "decide/row_map.h"

void want_init(struct wanting *want, struct state *state, struct books *books)
{
    *want = (struct wanting){
        .state = state,
        .books = books,
        .next_retry = MSEC_NEVER,
        .next_wake = MSEC_NEVER,
        .next_rule = MSEC_NEVER,
        .next_replace = MSEC_NEVER,
        .memory = policy_memory_create(state->config.policy),
        .services = service_memory_create(),
    };
}

void want_done(struct wanting *want)
{
    policy_memory_destroy(want->state->config.policy, want->memory);
    service_memory_destroy(want->services);
    mem_free(want->waits);
}

void want_policy(struct wanting *want, const struct policy *policy)
{
    if (policy == want->state->config.policy)
        return;
    policy_memory_destroy(want->state->config.policy, want->memory);
    want->state->config.policy = policy;
    want->memory = policy_memory_create(policy);
}

/* Rows for the plan's rents from 'begin' on that belong to one request; returns where it ends. */
static uint32_t rent(struct state *state, const struct plan *plan, uint32_t begin, uint32_t *fresh)
{
    struct view *view = &state->view;
    const struct plan_rent *like = &plan->rents[begin];
    const struct machine_type *type = catalogue_type_of(view->catalogue, like->offer);
    const uint64_t first = state->next_key;
    uint32_t end = begin;

    while (end < plan->rent_count && plan->rents[end].offer == like->offer &&
           plan->rents[end].request == like->request)
        end++;

    const msec_t ready = view->now + machine_type_acquire_ms(type, end - begin) + type->setup_ms;

    for (uint32_t i = begin; i < end; i++) {
        fresh[i] = state_add_instance(state, state_key(state), like->offer);
        view_set_ready_expected(view, fresh[i], ready);
        state->instance_notes[fresh[i]].rent = first;
        state->instance_notes[fresh[i]].is_short = plan->rents[i].why.code == REASON_SHORT_POOL;
        id_set_add(&state->asked, view->instance.id[fresh[i]]);
        state_mark_instance(state, fresh[i]);
    }
    state->stats.rented += end - begin;
    return end;
}

/* Whether the task runs on where it is until it can start elsewhere: its gang does, or it is a service, which others miss meanwhile. */
static bool runs_on(const struct state *state, uint32_t task)
{
    const struct view *view = &state->view;
    const uint32_t job = view->task.job[task];

    if (view->task.state[task] != TASK_RUNNING)
        return false;
    if (view->job.gang[job])
        return state->job_notes[job].lingering > 0;
    return view->task.estimate_ms[task] == MSEC_NEVER;
}

/* Take the task from where it is; it is bound again in a second pass, when all have left. */
static void lift(struct state *state, uint32_t task)
{
    const bool lingers = runs_on(state, task);

    if (state->view.task.launches[task] > 0)
        state->stats.migrations++;
    state_unbind(state, task, state->view.now);
    if (lingers)
        state_linger(state, task);
}

/* The rest of a gang of which a task moves starts again where it is. A gang that must not be moved has no
 * such task: what is known of it is on its way to be corrected by the engine. */
static void restart_gang(struct state *state, uint32_t job)
{
    const struct view *view = &state->view;

    if (view->job.fixed[job])
        return;
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.state[task] != TASK_RUNNING)
            continue;
        if (state->job_notes[job].lingering > 0)
            state_linger(state, task);
        if (view_is_open(view, view->task.instance[task])) {
            state_restart(state, task);
        } else { /* it could end there, but not start again */
            state_unbind(state, task, view->now);
            state->wants_decision = true;
        }
    }
}

/* A machine without work that was kept though nobody waited for it. */
static bool is_spare(const struct state *state, uint32_t instance)
{
    return state->view.instance.state[instance] == INSTANCE_READY &&
           state->view.instance.task_count[instance] == 0 &&
           state->instance_notes[instance].awaited_in != state->plans &&
           !state_stays_idle(state, instance);
}

/* How many of the machines without work this plan uses. */
static void note_reuse(struct wanting *want, const struct plan *plan)
{
    const struct state *state = want->state;
    struct row_map used;
    uint32_t idle = 0;

    row_map_init(&used, &want->state->arena);
    EMPTY_EACH(instance, &state->view)
    {
        idle += is_spare(state, instance);
    }
    for (uint32_t i = 0; idle > 0 && i < plan->place_count; i++) {
        if (!plan->places[i].fresh && is_spare(state, plan->places[i].target))
            row_map_set(&used, plan->places[i].target, 1);
    }
    reuse_note(&want->books->knowledge.reuse, idle, used.count);
}

void want_plan(struct wanting *want, const struct plan *plan)
{
    struct state *state = want->state;
    const struct view *view = &state->view;
    uint32_t *fresh = ARENA_ARRAY(&state->arena, uint32_t, plan->rent_count);

    note_reuse(want, plan);
    state->plans++;
    state->planned_at = view->now;

    for (uint32_t i = 0; i < plan->rent_count;)
        i = rent(state, plan, i, fresh);
    for (uint32_t i = 0; i < plan->suspend_count; i++) {
        state_unbind(state, plan->suspends[i].task, view->now);
        state->stats.suspended++;
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const uint32_t task = plan->places[i].task;

        if (view->task.instance[task] != ROW_NONE)
            lift(state, task);
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];
        const uint32_t job = view->task.job[place->task];

        state->task_notes[place->task].wait_rule = WAIT_NONE;
        if (view->job.gang[job] && view->job.tasks_running[job] > 0)
            restart_gang(state, job);
        state_bind(state, place->task, place->fresh ? fresh[place->target] : place->target);
    }
    for (uint32_t i = 0; i < plan->release_count; i++) {
        const uint32_t instance = plan->releases[i].instance;

        if (plan->releases[i].why.code == REASON_OUTDATED)
            continue; /* want_outdated.c has */
        assert(view->instance.task_count[instance] == 0);
        state_set_instance(state, instance, INSTANCE_DRAINING);
        state->instance_notes[instance].is_released = true;
    }
    want_keep_waits(want, plan, fresh);
    want->next_wake = plan->wake_at;
    state->when_empty = plan->when_empty;
}

void want_drain(struct wanting *want)
{
    struct state *state = want->state;

    while (state->queue_first != ROW_NONE)
        state_want_queued(state, state->queue_first, false);
    INSTANCE_EACH(instance, &state->view)
    {
        if (view_is_owned(&state->view, instance))
            state_take_back(state, instance, state->view.now);
        else if (view_is_open(&state->view, instance))
            state_close_instance(state, instance, state->view.now);
    }
    /* There is nothing to decide while it drains, and nothing of a plan to wake up for. */
    state->wants_decision = false;
    want->next_wake = MSEC_NEVER;
    want->next_rule = MSEC_NEVER;
    want->next_replace = MSEC_NEVER;
    want->next_retry = MSEC_NEVER;
}
