/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that stand ready for short tasks come before the policy: decide/short_pool.h says which these are, how many, and
 * who starts there. While the policy is asked, they are shown as such that are on their way out, and tasks that start there
 * are not shown. Its plan then follows that of the pool. So are machines that a short task is pulled to before long work: the policy sees
 * what is left of their room in the next decision.
 *
 * A job is short by its time limit, or by its forecast with the confidence that there is in it (learn/forecast.h): what else its
 * user runs makes no job short that has a long limit.
 *
 * Costs:  nothing if there is no such pool; else once through the instances, their tasks and what waits.
 */
#include <string.h>

#include "control/want/want.h"

static bool is_short(const struct wanting *want, uint32_t job)
{
    const struct view *view = &want->state->view;
    const uint32_t first = view->job.first_task[job];
    const struct runtime_traits *traits = &want->books->lessons[job].traits;
    struct short_partition_job known = {
        .limit_ms =
            traits->limit == RUNTIME_UNKNOWN ? MSEC_NEVER : (msec_t)traits->limit * MSEC_PER_SEC,
        .estimate_ms = MSEC_NEVER,
    };

    if (first == ROW_NONE || view->task.estimate_ms[first] == MSEC_NEVER)
        return false; /* runs of the past say nothing of work that has no end */
    if (view_executed(view, first) > want->state->config.short_pool.longest_ms)
        return false; /* whatever was expected of it */
    if (want->state->config.estimates == ESTIMATES_LEARNED) {
        const struct forecast forecast = forecast_runtime(
            &want->books->knowledge.runtimes, traits, want->books->lessons[job].forecast.limit_ms);

        if (forecast.weight_ppm > 0) {
            known.estimate_ms = forecast.runtime_ms;
            known.error_ppm = SHORT_PARTITION_PPM - forecast.confidence_ppm;
        }
    }
    return short_partition_admits(want->state->config.short_pool.longest_ms, &known);
}

static bool *short_jobs(const struct wanting *want)
{
    const struct view *view = &want->state->view;
    bool *ret = ARENA_ARRAY(&want->state->arena, bool, view->job.count);

    for (uint32_t job = 0; job < view->job.count; job++)
        ret[job] = view->job.used[job] && is_short(want, job);
    return ret;
}

/* Those of the pool, and those that a task was pulled to, until it is bound there. */
static bool *held_machines(struct state *state, const struct plan *plan)
{
    bool *ret = ARENA_ARRAY(&state->arena, bool, state->view.instance.count);

    INSTANCE_EACH(instance, &state->view)
    {
        ret[instance] = state->instance_notes[instance].is_short;
    }
    for (uint32_t i = 0; i < plan->place_count; i++)
        ret[plan->places[i].target] = true;
    return ret;
}

static void hold_machines(struct state *state, const bool *is_held, bool hold)
{
    INSTANCE_EACH(instance, &state->view)
    {
        if (is_held[instance])
            state_show_as_leaving(state, instance, hold);
    }
}

/* Those that were placed are not shown to the policy. */
static void hide_tasks(struct state *state, struct want_short *pool)
{
    struct view *view = &state->view;
    bool *is_placed = ARENA_ARRAY(&state->arena, bool, view->task.count);
    uint32_t *shown = ARENA_ARRAY(&state->arena, uint32_t, view->task.waiting_count);
    uint32_t shown_count = 0;

    pool->waiting = ARENA_ARRAY(&state->arena, uint32_t, view->task.waiting_count);
    for (uint32_t i = 0; i < pool->plan.place_count; i++)
        is_placed[pool->plan.places[i].task] = true;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        pool->waiting[pool->waiting_count++] = task;
        if (!is_placed[task])
            shown[shown_count++] = task;
    }
    view_show_waiting(view, shown, shown_count);
}

/* Whether somebody waits for what a limit allows, by the last decision. */
static bool is_scarce(const struct state *state)
{
    const struct view *view = &state->view;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const struct task_note *note = &state->task_notes[task];

        if (note->limited_in == (uint32_t)state->stats.decisions &&
            note->limited_by != LIMIT_NONE && note->limited_by != LIMIT_BURST)
            return true;
    }
    return false;
}

bool want_short_begin(struct wanting *want, const struct allowance *allowance,
                      struct want_short *ret)
{
    struct state *state = want->state;
    struct view *view = &state->view;
    const struct short_pool_rule *config = &state->config.short_pool;

    *ret = (struct want_short){ 0 };
    if (config->most == 0)
        return false;

    bool *may_be = ARENA_ARRAY(&state->arena, bool, view->instance.count);
    bool *may_pull = ARENA_ARRAY(&state->arena, bool, view->instance.count);

    INSTANCE_EACH(instance, view)
    {
        may_pull[instance] =
            state->instance_notes[instance].pool == 0 && !view_is_owned(view, instance);
        may_be[instance] =
            state->instance_notes[instance].is_short && state->instance_notes[instance].pool == 0;
    }

    const struct short_pool_question question = {
        .view = view,
        .is_short = short_jobs(want),
        .may_be = may_be,
        .may_pull = config->pulls ? may_pull : NULL,
        .is_held = want_is_held,
        .context = want,
        .type = catalogue_find_type(view->catalogue, config->machine, strlen(config->machine)),
        .longest_ms = config->longest_ms,
        .allowance = allowance,
        .is_scarce = is_scarce(state),
        .rule = { .most = config->most, .threshold_ppm = config->threshold_ppm, .strict = true },
    };

    plan_init(&ret->plan, &state->arena);

    const bool *is_in = short_pool_decide(&question, &ret->plan);

    INSTANCE_EACH(instance, view)
    {
        state->instance_notes[instance].is_short = is_in[instance];
    }
    ret->is_held = held_machines(state, &ret->plan);
    hold_machines(state, ret->is_held, true);
    hide_tasks(state, ret);
    return true;
}

void want_short_end(struct wanting *want, const struct want_short *pool, struct plan *plan)
{
    struct state *state = want->state;
    const struct plan of_policy = *plan;

    view_show_waiting(&state->view, pool->waiting, 0);
    view_show_waiting(&state->view, pool->waiting, pool->waiting_count);
    hold_machines(state, pool->is_held, false);
    want_join_plans(&pool->plan, &of_policy, plan);
    if (pool->plan.wake_at < plan->wake_at)
        plan->wake_at = pool->plan.wake_at;
}
