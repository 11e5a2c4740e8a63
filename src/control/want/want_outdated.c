/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines whose image or settings are no longer those that a new one gets are replaced, a share of them at a time.
 *
 *   - One that is being replaced takes no more work. What runs there and has an end goes on to its end. What has none gets a place
 *     elsewhere, by the same decision, and runs on until that place is ready. The machine goes back when it is empty.
 *   - At most the share of the rented machines is being replaced at a time, one at the least. Those with the fewest tasks come
 *     first, then the oldest.
 *   - Left alone is a machine that is younger than the configuration says: if the cloud calls all machines outdated, also new
 *     ones, the bill must not show it. And one with work that has no end and must not be moved, or not now: it would
 *     stand there closed, and be paid.
 *   - None is begun while nothing may be rented: what has to leave would have nowhere to go.
 *
 * Costs:  nothing if no machine is outdated; else O(instances + tasks on outdated ones) a decision.
 */
#include "control/want/want.h"

/* When the machine can be replaced, as far as the work there says: MSEC_NEVER: it keeps the machine. */
static msec_t freed_at(const struct state *state, uint32_t instance)
{
    const struct view *view = &state->view;
    msec_t ret = 0;
    msec_t until;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const uint32_t job = view->task.job[task];

        if (view->task.estimate_ms[task] != MSEC_NEVER || view->task.state[task] != TASK_RUNNING)
            continue;
        if (view->job.fixed[job] || (view->job.gang[job] && view->job.task_count[job] > 1))
            return MSEC_NEVER;
        if (state_is_kept(state, task, &until) && until > ret)
            ret = until;
    }
    return ret;
}

static bool is_candidate(const struct state *state, uint32_t instance)
{
    return state->instance_notes[instance].is_outdated &&
           state->view.instance.state[instance] == INSTANCE_READY;
}

static msec_t grown_at(const struct state *state, uint32_t instance)
{
    const msec_t billed = state->view.instance.billed_from[instance];

    return (billed >= 0 ? billed : state->view.instance.rented_at[instance]) +
           state->config.replace_after_ms;
}

static uint32_t most_at_once(const struct state *state)
{
    const uint64_t share = (uint64_t)(state->view.instance.living - state->owned) *
                           state->config.replace_percent / 100;

    return share > 0 ? (uint32_t)share : 1;
}

/* Whether the first one is to be replaced before the other. */
static bool comes_first(const struct view *view, uint32_t a, uint32_t b)
{
    if (view->instance.task_count[a] != view->instance.task_count[b])
        return view->instance.task_count[a] < view->instance.task_count[b];
    if (view->instance.billed_from[a] != view->instance.billed_from[b])
        return view->instance.billed_from[a] < view->instance.billed_from[b];
    return view->instance.id[a] < view->instance.id[b];
}

/* The next one; ROW_NONE: there is none now. */
static uint32_t choose(struct wanting *want)
{
    const struct state *state = want->state;
    const struct view *view = &state->view;
    uint32_t ret = ROW_NONE;

    INSTANCE_EACH(instance, view)
    {
        if (!is_candidate(state, instance))
            continue;

        const msec_t grown = grown_at(state, instance);
        const msec_t freed = freed_at(state, instance);
        const msec_t from = grown > freed ? grown : freed;

        if (from > view->now) {
            want->next_replace = from < want->next_replace ? from : want->next_replace;
            continue;
        }
        if (ret == ROW_NONE || comes_first(view, instance, ret))
            ret = instance;
    }
    return ret;
}

static void replace(struct state *state, uint32_t instance)
{
    const struct view *view = &state->view;
    struct instance_note *note = &state->instance_notes[instance];
    uint32_t next;

    state_close_instance(state, instance, view->now);
    for (uint32_t task = view->instance.first_task[instance]; task != ROW_NONE; task = next) {
        next = view->task.next[task];
        if (view->task.estimate_ms[task] != MSEC_NEVER)
            continue;
        state_unbind(state, task, view->now);
        state_linger(state, task);
    }
    note->replaced_in = state->plans + 1;
    note->is_released = true; /* a stop that is refused is asked for again */
    state->stats.replaced++;
    state->wants_decision = false; /* one is being made */
}

void want_outdated(struct wanting *want)
{
    struct state *state = want->state;
    const struct controller_outdated count = want_outdated_count(want);
    uint32_t chosen;

    want->next_replace = MSEC_NEVER;
    if (count.all == count.replaced || state->config.replace_percent == 0 || !want_may_rent(want))
        return;
    for (uint32_t i = count.replaced; i < most_at_once(state); i++) {
        chosen = choose(want);
        if (chosen == ROW_NONE)
            return;
        replace(state, chosen);
    }
}

void want_tell_outdated(const struct wanting *want, struct plan *plan)
{
    const struct state *state = want->state;

    if (state->outdated == 0)
        return;
    INSTANCE_EACH(instance, &state->view)
    {
        if (state->instance_notes[instance].replaced_in == state->plans + 1)
            plan_release(plan, instance, plan_because(REASON_OUTDATED, 0));
    }
}

struct controller_outdated want_outdated_count(const struct wanting *want)
{
    const struct state *state = want->state;
    struct controller_outdated ret = { 0 };

    if (state->outdated == 0)
        return ret;
    INSTANCE_EACH(instance, &state->view)
    {
        const struct instance_note *note = &state->instance_notes[instance];

        ret.all += note->is_outdated;
        ret.replaced += note->is_outdated && note->replaced_in > 0;
        ret.held += is_candidate(state, instance) && freed_at(state, instance) == MSEC_NEVER;
    }
    return ret;
}
