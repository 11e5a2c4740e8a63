/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/market_rules.h"

#include <assert.h>

enum market_rule market_rule_now(const struct view *view, uint32_t job)
{
    if (view->now >= view->job.safe_from[job])
        return MARKET_RULE_SAFE;
    if (view->job.market[job] == MARKET_RULE_SPOT && view->now >= view->job.spot_until[job])
        return MARKET_RULE_SAFE;
    return (enum market_rule)view->job.market[job];
}

static const struct shape *base_of(const struct view *view, uint32_t job)
{
    const uint32_t shape = view->task.shape[view->job.first_task[job]];

    return &view->shapes->rows[view->shapes->rows[shape].variant_of];
}

/* Whether there is a machine that is not spot and holds its tasks, though none may be had now. */
static bool has_safe(const struct view *view, uint32_t job)
{
    const struct shape *base = base_of(view, job);

    for (uint32_t i = 0; i < base->variant_count; i++) {
        const uint32_t variant = view->shapes->variants[base->variant_first + i];

        if (view->shapes->rows[variant].market == SHAPE_MARKET_SAFE &&
            (view->shape_offer[variant] != OFFER_NONE || view->shape_price[variant] > 0))
            return true;
    }
    return false;
}

/* Until a machine takes work, of the slowest of those that are cheapest in their zone. */
static msec_t longest_boot(const struct view *view, const struct shape *base)
{
    msec_t longest = 0;

    for (uint32_t i = 0; i < base->variant_count; i++) {
        const uint32_t variant = view->shapes->variants[base->variant_first + i];
        const uint32_t offer = view->shape_offer[variant];

        if (view->shapes->rows[variant].market != SHAPE_MARKET_SAFE || offer == OFFER_NONE)
            continue;

        const struct machine_type *type = catalogue_type_of(view->catalogue, offer);
        const msec_t boot = machine_type_acquire_ms(type, 1) + type->setup_ms;

        longest = boot > longest ? boot : longest;
    }
    return longest;
}

msec_t market_restart_ms(const struct view *view, uint32_t job)
{
    const struct shape *base = base_of(view, job);
    const struct shape_delays *delays = &base->delays;

    return delays->kill_ms + delays->upload_ms + view->round_ms + longest_boot(view, base) +
           delays->fetch_ms + delays->build_ms + delays->init_ms;
}

/* What is left of the task that has most left, if all is lost that was not saved; MSEC_NEVER: no end. */
static msec_t most_left(const struct view *view, uint32_t job)
{
    msec_t most = 0;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.estimate_ms[task] == MSEC_NEVER)
            return MSEC_NEVER;

        const msec_t left = view->task.estimate_ms[task] - view->task.saved_ms[task];

        most = left > most ? left : most;
    }
    return most;
}

static msec_t safe_from(const struct view *view, uint32_t job)
{
    const msec_t left = most_left(view, job);

    if (left == MSEC_NEVER)
        return MSEC_NEVER;

    const msec_t again = left + market_restart_ms(view, job);
    const msec_t from = view->job.deadline[job] - (view->job.fixed[job] ? 2 * again : again);

    return from > 0 ? from : 0;
}

/* What is on safe machines is not to be moved to others. */
static void keep_safe(struct view *view, uint32_t job)
{
    const struct shapes *shapes = view->shapes;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];
        const struct shape *own = &shapes->rows[view->task.shape[task]];

        if (instance == ROW_NONE || own->market != SHAPE_MARKET_ANY ||
            view_demand(view, task, instance) == NULL)
            continue;
        for (uint32_t i = 0; i < shapes->rows[own->variant_of].variant_count; i++) {
            const uint32_t variant =
                shapes->variants[shapes->rows[own->variant_of].variant_first + i];

            if (shapes->rows[variant].market == SHAPE_MARKET_SAFE &&
                shapes->rows[variant].zone == own->zone &&
                view_shape_demand(view, variant, instance) != NULL) {
                view_set_variant(view, task, variant);
                break;
            }
        }
    }
}

static msec_t sooner(msec_t a, msec_t b)
{
    return a < b ? a : b;
}

msec_t market_rules_update(struct view *view)
{
    msec_t next = MSEC_NEVER;

    assert(view->job.ruled_first == ROW_NONE || view->shapes_priced == view->shapes->count);
    RULED_EACH(job, view)
    {
        if (!has_safe(view, job)) {
            view->job.safe_from[job] = MSEC_NEVER;
            view->job.spot_until[job] = MSEC_NEVER;
            continue;
        }
        if (view->job.deadline[job] != MSEC_NEVER && view->now < view->job.safe_from[job])
            view->job.safe_from[job] = safe_from(view, job);
        if (view->now >= view->job.safe_from[job]) {
            keep_safe(view, job);
            continue;
        }
        next = sooner(next, view->job.safe_from[job]);
        if (view->job.spot_until[job] > view->now)
            next = sooner(next, view->job.spot_until[job]);
    }
    return next;
}

/* What is left of a run that goes on. */
static msec_t run_left(const struct view *view, uint32_t task)
{
    return view->task.estimate_ms[task] + view->task.lost_ms[task] - view_executed(view, task);
}

bool market_should_leave(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];
    const uint32_t instance = view->task.instance[task];

    if (instance == ROW_NONE || view->now < view->job.safe_from[job] ||
        view->catalogue->offers[view->instance.offer[instance]].market != MARKET_SPOT)
        return false;
    if (view->job.fixed[job])
        return view->task.state[task] != TASK_RUNNING &&
               (!view->job.gang[job] || view->job.tasks_running[job] == 0);
    return view->task.state[task] != TASK_RUNNING ||
           run_left(view, task) > market_restart_ms(view, job);
}
