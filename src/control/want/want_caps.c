/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of accounts, users, partitions and the like (model/caps.h): whoever is above one is not shown to the policy,
 * which then plans for the others as if it were not there.
 *
 *  1. what waits and is of an account whose budget is used up is hidden;
 *  2. the policy plans for the rest, by turns where a limit of the whole cluster binds;
 *  3. of its plan, whoever would bring a cap above its limit (decide/capped.h) is hidden too, and the policy asked
 *     again, so that no machine is chosen for work that will not come. After PASSES_MAX plans the places that are
 *     still too many are taken out of the last one.
 *
 * Costs:  nothing where there are no caps; else a plan more where one of them binds, at most PASSES_MAX.
 */
#include "control/want/want.h"

enum { PASSES_MAX = 4 };

/* Of 'waiting' those that no cap keeps. */
static void show_rest(struct view *view, struct arena *arena, const uint32_t *waiting,
                      uint32_t count, const struct capped *by)
{
    uint32_t *shown = ARENA_ARRAY(arena, uint32_t, count);
    uint32_t shown_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (by[waiting[i]].reason == CAPPED_NOT)
            shown[shown_count++] = waiting[i];
    }
    view_show_waiting(view, NULL, 0);
    view_show_waiting(view, shown, shown_count);
}

static uint32_t list_waiting(const struct view *view, struct arena *arena, uint32_t **ret)
{
    uint32_t count = 0;

    *ret = ARENA_ARRAY(arena, uint32_t, view->task.waiting_count);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        (*ret)[count++] = task;
    }
    return count;
}

/* How many of those that wait are kept. */
static uint32_t count_kept(const uint32_t *waiting, uint32_t count, const struct capped *by)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        kept += by[waiting[i]].reason != CAPPED_NOT;
    return kept;
}

void want_turns(struct wanting *want, const struct turns_config *config, struct plan *ret,
                struct turns *ret_turns)
{
    const struct caps *caps = want->state->config.caps;
    struct view *view = config->view;
    struct arena *arena = config->arena;
    uint32_t *waiting;

    want->capped = NULL;
    if (caps == NULL || caps->count == 0) {
        turns_decide(config, ret, ret_turns);
        return;
    }
    struct capped *by = ARENA_ARRAY(arena, struct capped, view->task.count);
    const uint32_t count = list_waiting(view, arena, &waiting);
    uint32_t kept = capped_spent(view, caps, by);

    for (uint32_t pass = 0; pass < PASSES_MAX; pass++) {
        if (kept > 0)
            show_rest(view, arena, waiting, count, by);
        turns_decide(config, ret, ret_turns);
        (void)capped_find(view, caps, ret, arena, by);
        const uint32_t before = kept;

        kept = count_kept(waiting, count, by);
        if (kept == before)
            break;
    }
    view_show_waiting(view, NULL, 0);
    view_show_waiting(view, waiting, count);
    want->capped = by;
}

bool want_is_capped(const struct wanting *want, uint32_t task)
{
    return want->capped != NULL && want->capped[task].reason != CAPPED_NOT;
}

void want_note_capped(struct wanting *want)
{
    const struct view *view = &want->state->view;

    if (want->capped == NULL)
        return;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        struct task_note *note = &want->state->task_notes[task];

        if (!want_is_capped(want, task))
            continue;
        note->limited_by = LIMIT_CAP;
        note->limited_in = (uint32_t)want->state->stats.decisions;
        note->capped = want->capped[task];
        want->state->stats.capped++;
    }
}
