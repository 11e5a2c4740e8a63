/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why tasks wait: by a rule of the policy, which the plan has with what they wait for, or by something that is known here. Each task
 * that waits after a decision has one rule, the first of these that holds:
 *
 *   its last start came to nothing, a limit, the engine's queue, the policy's choice, nothing that could be rented, the
 *   rest of its gang, something that was put off.
 *
 * Costs:  O(tasks that wait), and a byte for each row of the tasks.
 */
#include <assert.h>

#include "base/mem.h"
#include "control/want/want.h"

/* What one task of a gang waits for, all of it does. */
struct gang_waits {
    uint8_t *limit; /* enum controller_limit, of each job */
    bool *is_held;  /* one is not to be placed yet */
};

static bool is_gang(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->job.gang[job] && view->job.task_count[job] > 1;
}

/* The limit that kept the task from its place in the last decision. */
static enum controller_limit limit_of(const struct state *state, uint32_t task)
{
    const struct task_note *note = &state->task_notes[task];

    return note->limited_in == (uint32_t)state->stats.decisions
               ? (enum controller_limit)note->limited_by
               : LIMIT_NONE;
}

static bool is_held(const struct state *state, uint32_t task)
{
    return state->task_notes[task].not_before > state->view.now;
}

static struct gang_waits look_at_gangs(struct wanting *want)
{
    const struct view *view = &want->state->view;
    struct gang_waits gangs = {
        .limit = ARENA_ARRAY(&want->state->arena, uint8_t, view->job.count),
        .is_held = ARENA_ARRAY(&want->state->arena, bool, view->job.count),
    };

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t job = view->task.job[task];

        if (!is_gang(view, task))
            continue;
        if (gangs.limit[job] == LIMIT_NONE)
            gangs.limit[job] = (uint8_t)limit_of(want->state, task);
        gangs.is_held[job] = gangs.is_held[job] || is_held(want->state, task);
    }
    return gangs;
}

/* The rule that comes before what the policy says of the task, or WAIT_NONE. */
static enum plan_wait_rule rule_before(const struct wanting *want, const struct gang_waits *gangs,
                                       uint32_t task)
{
    const struct state *state = want->state;

    if (is_held(want->state, task))
        return WAIT_BACK_OFF;
    if (limit_of(state, task) != LIMIT_NONE ||
        gangs->limit[state->view.task.job[task]] != LIMIT_NONE)
        return WAIT_LIMIT;
    return state->steps[task].state == STEP_QUEUED ? WAIT_ENGINE : WAIT_NONE;
}

/* The rule for a task of which the policy says nothing, or WAIT_NONE. */
static enum plan_wait_rule rule_after(const struct wanting *want, const struct gang_waits *gangs,
                                      uint32_t task, enum turn turn, bool is_dropped)
{
    const struct view *view = &want->state->view;

    if (gangs->is_held[view->task.job[task]])
        return WAIT_GANG;
    if (is_dropped)
        return is_gang(view, task) ? WAIT_GANG : WAIT_PUT_OFF;
    if (turn == TURN_BEHIND)
        return WAIT_QUEUE;
    if (view->job.short_ppb[view->task.job[task]] != 0)
        return WAIT_SERVICE;
    return view->shape_offer[view->task.shape[task]] == OFFER_NONE ? WAIT_NO_OFFER : WAIT_NONE;
}

static const struct kept_wait *kept_of(const struct wanting *want, uint32_t task)
{
    const struct task_note *note = &want->state->task_notes[task];

    if (note->wait_at >= want->wait_count)
        return NULL;

    const struct kept_wait *kept = &want->waits[note->wait_at];

    return kept->task == want->state->view.task.id[task] && kept->wait.rule == note->wait_rule
               ? kept
               : NULL;
}

/* Whether it did not wait by that rule before. Which machine has room first changes from decision to decision. */
static bool is_new(const struct wanting *want, const struct plan_wait *wait)
{
    const struct kept_wait *kept = kept_of(want, wait->task);

    return kept == NULL || kept->wait.rule != wait->rule;
}

/* The policy's, where nothing comes before it; the others are taken out of the plan. */
static void take_choices(const struct wanting *want, struct plan *plan, const uint8_t *before,
                         uint8_t *rule)
{
    const struct view *view = &want->state->view;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < plan->wait_count; i++) {
        struct plan_wait wait = plan->waits[i];

        if (view->task.state[wait.task] != TASK_WAITING || before[wait.task] != WAIT_NONE ||
            rule[wait.task] != WAIT_NONE)
            continue;
        rule[wait.task] = (uint8_t)wait.rule;
        wait.is_new = is_new(want, &wait);
        plan->waits[kept++] = wait;
    }
    plan->wait_count = kept;
}

void want_waits(struct wanting *want, struct plan *plan, const struct turns *turns,
                const bool *dropped)
{
    struct state *state = want->state;
    const struct view *view = &state->view;
    uint8_t *before = ARENA_ARRAY(&state->arena, uint8_t, view->task.count);
    uint8_t *rule = ARENA_ARRAY(&state->arena, uint8_t, view->task.count);
    const struct gang_waits gangs = look_at_gangs(want);

    for (uint32_t i = 0; i < plan->place_count; i++)
        before[plan->places[i].task] = WAIT_RULES; /* it does not wait */
    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (before[task] == WAIT_NONE)
            before[task] = (uint8_t)rule_before(want, &gangs, task);
    }
    take_choices(want, plan, before, rule);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (before[task] != WAIT_NONE)
            rule[task] = before[task] != WAIT_RULES ? before[task] : WAIT_NONE;
        else if (rule[task] == WAIT_NONE)
            rule[task] = (uint8_t)rule_after(want, &gangs, task,
                                             turns->look_again ? turns->of_task[task] : TURN_NOW,
                                             dropped != NULL && dropped[task]);
    }
    for (uint32_t i = 0; i < plan->suspend_count; i++)
        rule[plan->suspends[i].task] = WAIT_YIELDED;
    plan->wait_rule = rule;
}

void want_keep_waits(struct wanting *want, const struct plan *plan, const uint32_t *fresh)
{
    struct state *state = want->state;
    const struct view *view = &state->view;

    assert(plan->wait_rule != NULL);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        state->task_notes[task].wait_rule = plan->wait_rule[task];
        state->task_notes[task].wait_at = UINT32_MAX;
    }
    MEM_ROOM(want->waits, want->waits_room, plan->wait_count);
    want->wait_count = plan->wait_count;
    for (uint32_t i = 0; i < plan->wait_count; i++) {
        const struct plan_wait *wait = &plan->waits[i];
        const uint32_t row = wait->target == UINT32_MAX ? ROW_NONE
                             : wait->fresh              ? fresh[wait->target]
                                                        : wait->target;

        want->waits[i] = (struct kept_wait){
            .wait = *wait,
            .task = view->task.id[wait->task],
            .instance = row != ROW_NONE ? view->instance.id[row] : 0,
        };
        state->task_notes[wait->task].wait_at = i;
        if (row != ROW_NONE)
            state->instance_notes[row].awaited_in = state->plans;
    }
}

struct controller_wait want_wait_of(const struct wanting *want, uint32_t task)
{
    const struct state *state = want->state;
    const struct view *view = &state->view;
    const struct task_note *note = &state->task_notes[task];
    const struct kept_wait *kept = kept_of(want, task);
    struct controller_wait wait = {
        .limit = limit_of(state, task),
        .capped = note->capped,
        .not_before = note->not_before,
        .losses = note->losses,
        .is_queued = state->steps[task].state == STEP_QUEUED,
        .choice = plan_wait_by(WAIT_NONE, task),
    };

    if (view->task.state[task] == TASK_WAITING) {
        wait.rule = (enum plan_wait_rule)note->wait_rule;
        if (wait.rule == WAIT_LIMIT && kept != NULL && wait.limit == LIMIT_NONE)
            wait.limit = (enum controller_limit)note->wait_limit;
        if (wait.is_queued && wait.rule != WAIT_LIMIT)
            wait.rule = WAIT_ENGINE; /* since the decision */
        if (kept != NULL && wait.rule == kept->wait.rule) {
            wait.choice = kept->wait;
            wait.instance =
                kept->instance != 0 && view_find_instance(view, kept->instance) != ROW_NONE
                    ? kept->instance
                    : 0;
        }
    }
    if (!is_gang(view, task))
        return wait;
    for (uint32_t other = view->job.first_task[view->task.job[task]];
         other != ROW_NONE && wait.limit == LIMIT_NONE; other = view->task.sibling[other])
        wait.limit = limit_of(state, other);
    return wait;
}
