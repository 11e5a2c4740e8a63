/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/market_rules.h"

#include <assert.h>

enum { KNOWN = 64 }; /* shapes of which the escape is kept in a pass over the jobs */

enum market_rule market_rule_now(const struct view *view, uint32_t job)
{
    if (view->now >= view->job.safe_from[job])
        return MARKET_RULE_SAFE;
    if (view->job.market[job] == MARKET_RULE_SPOT && view->now >= view->job.spot_until[job])
        return MARKET_RULE_SAFE;
    return (enum market_rule)view->job.market[job];
}

static bool is_spot(const struct view *view, uint32_t instance)
{
    return view->catalogue->offers[view->instance.offer[instance]].market == MARKET_SPOT;
}

/* What is the same for all jobs of a shape. */
struct escape {
    uint32_t base; /* the shape that has the variants */
    bool is_there; /* some machine that is not spot holds its tasks, though none may be had now */
    msec_t restart_ms; /* until a task that is stopped now runs there */
};

static uint32_t base_of(const struct view *view, uint32_t job)
{
    return view->shapes->rows[view->task.shape[view->job.first_task[job]]].variant_of;
}

/* Until a machine of the offer takes work. */
/* The slowest machine counts of those that are the cheapest in their zone. */
static struct escape find_escape(const struct view *view, uint32_t base)
{
    const struct shape *row = &view->shapes->rows[base];
    const struct shape_delays *delays = &row->delays;
    struct escape escape = { .base = base };
    msec_t longest = 0;

    for (uint32_t i = 0; i < row->variant_count; i++) {
        const uint32_t variant = view->shapes->variants[row->variant_first + i];
        const uint32_t offer = view->shape_offer[variant];

        if (view->shapes->rows[variant].market != SHAPE_MARKET_SAFE)
            continue;
        if (offer != OFFER_NONE && catalogue_boot_ms(view->catalogue, offer) > longest)
            longest = catalogue_boot_ms(view->catalogue, offer);
        escape.is_there |= offer != OFFER_NONE || view->shape_price[variant] > 0;
    }
    escape.restart_ms = delays->kill_ms + delays->upload_ms + view->round_ms + longest +
                        delays->fetch_ms + delays->build_ms + delays->init_ms;
    return escape;
}

msec_t market_restart_ms(const struct view *view, uint32_t job)
{
    return find_escape(view, base_of(view, job)).restart_ms;
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

static msec_t safe_from(const struct view *view, uint32_t job, msec_t restart_ms)
{
    const msec_t left = most_left(view, job);

    if (left == MSEC_NEVER)
        return MSEC_NEVER;

    const msec_t again = left + restart_ms;
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

/* When it matters next that the job's rule is another one. What has a place keeps it when the time for spot machines
 * is over; what is on a machine that is not spot stays there in any case. */
static msec_t next_change(const struct view *view, uint32_t job)
{
    msec_t next = MSEC_NEVER;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];

        if (instance != ROW_NONE && !is_spot(view, instance))
            continue;
        next = view->job.safe_from[job];
        if (instance == ROW_NONE && view->job.spot_until[job] > view->now)
            return sooner(next, view->job.spot_until[job]);
    }
    return next;
}

/* The escape of the job's shape: worked out once for many jobs of a few shapes. */
static const struct escape *escape_of(const struct view *view, uint32_t job, struct escape *known)
{
    const uint32_t base = base_of(view, job);
    struct escape *escape = &known[base % KNOWN];

    if (escape->base != base)
        *escape = find_escape(view, base);
    return escape;
}

msec_t market_rules_update(struct view *view)
{
    struct escape known[KNOWN];
    msec_t next = MSEC_NEVER;

    assert(view->job.ruled_first == ROW_NONE || view->shapes_priced == view->shapes->count);
    for (uint32_t i = 0; i < KNOWN; i++)
        known[i].base = SHAPE_NONE;
    RULED_EACH(job, view)
    {
        const struct escape *escape = escape_of(view, job, known);

        if (!escape->is_there) {
            view->job.safe_from[job] = MSEC_NEVER;
            view->job.spot_until[job] = MSEC_NEVER;
            continue;
        }
        if (view->job.deadline[job] != MSEC_NEVER && view->now < view->job.safe_from[job])
            view->job.safe_from[job] = safe_from(view, job, escape->restart_ms);
        if (view->now >= view->job.safe_from[job]) {
            keep_safe(view, job);
            continue;
        }
        next = sooner(next, next_change(view, job));
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

    if (instance == ROW_NONE || view->now < view->job.safe_from[job] || !is_spot(view, instance))
        return false;
    if (view->job.fixed[job])
        return view->task.state[task] != TASK_RUNNING &&
               (!view->job.gang[job] || view->job.tasks_running[job] == 0);
    return view->task.state[task] != TASK_RUNNING ||
           run_left(view, task) > market_restart_ms(view, job);
}
