/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/reconfigure.h"

#include <assert.h>
#include <math.h>

#include "decide/refill.h"
#include "decide/reservation.h"
#include "decide/stay.h"
#include "decide/topdown.h"

/* One of the two layouts and what it comes to. */
struct candidate {
    struct pool pool;
    struct layout layout;
    double saving;    /* per hour */
    double migration; /* once */
    msec_t wake_at;   /* when the next task that must stay has stayed long enough */
    bool moves;       /* some task that runs may be moved, now or later */
};

static bool is_worth_its_price(const struct worth_rules *rules, uint32_t instance,
                               struct arena *arena)
{
    const struct view *view = rules->view;
    const uint32_t offer = view->instance.offer[instance];
    struct worth_group group;

    if (view->instance.task_count[instance] == 1) {
        const uint32_t shape = view->task.shape[view->instance.first_task[instance]];

        if (view->shape_offer[shape] == offer)
            return true;
    }
    worth_group_of(rules, instance, arena, &group);
    return worth_of(rules, &group, NULL, false) >= (double)view->offer_price[offer];
}

/* The tasks that may move and the instances that may be re-used. */
struct freedom {
    uint32_t *tasks;
    uint32_t task_count;
    uint32_t *reusable;
    uint32_t reusable_count;
};

/* Whether the task may leave where it is: its job is not on its way, it has stayed long enough, and
 * there is a machine to be had for it, should it find no room on one that there is. */
static bool is_movable(struct candidate *candidate, uint32_t task, int64_t stay)
{
    const struct view *view = candidate->layout.rules->view;

    if (!view_job_may_move(view, view->task.job[task]) ||
        view->shape_offer[view->task.shape[task]] == OFFER_NONE)
        return false;

    const msec_t at = stay_until(view, task, stay);

    if (at > view->now && at < candidate->wake_at)
        candidate->wake_at = at;
    return at <= view->now;
}

/* Sort the tasks of an instance into those that stay (they open a bin) and those that may move. */
static void split_instance(struct candidate *candidate, uint32_t instance, int64_t stay,
                           struct freedom *freedom)
{
    const struct worth_rules *rules = candidate->layout.rules;
    const struct view *view = rules->view;
    const uint32_t offer = view->instance.offer[instance];
    uint32_t bin = UINT32_MAX;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (stay >= 0 && is_movable(candidate, task, stay)) {
            freedom->tasks[freedom->task_count++] = task;
            continue;
        }
        if (bin == UINT32_MAX)
            bin = layout_open(&candidate->layout, offer, instance);
        layout_keep(&candidate->layout, bin, task);
    }
    if (bin == UINT32_MAX)
        freedom->reusable[freedom->reusable_count++] = instance;
}

static void build(struct candidate *candidate, const struct worth_rules *rules,
                  const struct reconfigure_options *options, bool full, struct arena *arena)
{
    const struct view *view = rules->view;
    struct freedom freedom = {
        .tasks = ARENA_ARRAY(arena, uint32_t, view->task.living),
        .reusable = ARENA_ARRAY(arena, uint32_t, view->instance.living),
    };

    candidate->wake_at = MSEC_NEVER;
    layout_init(&candidate->layout, rules, &candidate->pool, arena);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        freedom.tasks[freedom.task_count++] = task;
    }
    INSTANCE_EACH(instance, view)
    {
        if (!view_is_open(view, instance))
            continue;

        const bool stays = !full && view->instance.task_count[instance] > 0 &&
                           is_worth_its_price(rules, instance, arena);

        split_instance(candidate, instance, stays ? -1 : options->stay, &freedom);
    }
    pool_build(&candidate->pool, rules, freedom.tasks, freedom.task_count, arena);
    if (full || options->fill_kept)
        refill_pack(&candidate->layout);
    topdown_pack(&candidate->layout, freedom.reusable, freedom.reusable_count,
                 (struct topdown_options){ .penalise = options->penalise });

    const struct layout_costs costs = { .per_instance_ms = options->per_instance_ms };

    assert(freedom.task_count <= view->task.living);
    candidate->moves =
        freedom.task_count > view->task.waiting_count || candidate->wake_at != MSEC_NEVER;
    candidate->saving = layout_saving(&candidate->layout);
    candidate->migration = layout_migration(&candidate->layout, &costs);
    assert(candidate->migration >= 0);
}

/* In whole cents: a difference below that is no reason to move anything. */
static money_t total_cents(const struct candidate *candidate, msec_t expected)
{
    const double total =
        candidate->saving * ((double)expected / (double)MSEC_PER_HOUR) - candidate->migration;

    return llround(total / (double)MONEY_PER_CENT);
}

static struct plan_candidate summarise(const struct candidate *candidate, msec_t expected)
{
    return (struct plan_candidate){
        .saving_per_hour = llround(candidate->saving),
        .migration = llround(candidate->migration),
        .total = total_cents(candidate, expected) * MONEY_PER_CENT,
    };
}

void reconfigure(const struct worth_rules *rules, const struct reconfigure_options *options,
                 struct plan *ret)
{
    struct candidate full = { 0 };
    struct candidate partial = { 0 };
    bool choose_full = options->mode == RECONFIGURE_FULL;

    assert(options->expected_ms >= 0);
    assert(options->per_instance_ms >= 0);
    assert(rules->view->shapes_priced == rules->view->shapes->count);
    if (options->mode != RECONFIGURE_PARTIAL)
        build(&full, rules, options, true, ret->arena);

    /* Where everything that runs stays anyway, and the room beside it is used by both, the two are one. */
    const bool is_one = options->mode == RECONFIGURE_BEST && options->fill_kept && !full.moves;

    if (is_one)
        partial = full;
    else if (options->mode != RECONFIGURE_FULL)
        build(&partial, rules, options, false, ret->arena);
    if (options->mode == RECONFIGURE_BEST) {
        choose_full =
            total_cents(&full, options->expected_ms) > total_cents(&partial, options->expected_ms);
        ret->full = summarise(&full, options->expected_ms);
        ret->partial = summarise(&partial, options->expected_ms);
        ret->expected_ms = options->expected_ms;
    }
    ret->wake_at = choose_full ? full.wake_at : partial.wake_at;
    ret->kind = choose_full ? PLAN_FULL : PLAN_PARTIAL;
    layout_to_plan(choose_full ? &full.layout : &partial.layout,
                   choose_full ? REASON_REPACKED : REASON_NOT_WORTH_PRICE, ret);
}
