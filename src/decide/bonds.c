/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/bonds.h"

#include <assert.h>

#include "decide/market_rules.h"

/* Whether 'a' is to be preferred to 'b', which comes before it. */
static bool is_better(const struct view *view, uint32_t a, uint32_t b)
{
    const bool is_open = view->shape_offer[a] != OFFER_NONE;

    if (is_open != (view->shape_offer[b] != OFFER_NONE))
        return is_open;
    if (is_open)
        return view->shape_price[a] < view->shape_price[b];
    return view->shape_price[a] != 0 && /* 0: no machine holds it */
           (view->shape_price[b] == 0 || view->shape_price[a] < view->shape_price[b]);
}

/* Whether tasks that may start where 'rule' says may have the variant. */
static bool is_allowed(const struct shape *base, const struct shape *variant, enum market_rule rule)
{
    switch (rule) {
    case MARKET_RULE_ANY:
        break;
    case MARKET_RULE_SPOT:
        return variant->market == SHAPE_MARKET_SPOT;
    case MARKET_RULE_SAFE:
        return variant->market == SHAPE_MARKET_SAFE;
    }
    return variant->market == SHAPE_MARKET_ANY ||
           ((base->alike & ALIKE_MARKET) != 0 && variant->market != SHAPE_MARKET_NOWHERE);
}

/* The best that the rule allows, in the zone if it is not NAME_NONE. Without one: the last, which may run nowhere. */
static uint32_t best_variant(const struct view *view, uint32_t base, enum market_rule rule,
                             uint32_t zone)
{
    const struct shape *row = &view->shapes->rows[base];
    const uint32_t *variants = view->shapes->variants + row->variant_first;
    uint32_t best = SHAPE_NONE;

    for (uint32_t i = 0; i < row->variant_count; i++) {
        const struct shape *variant = &view->shapes->rows[variants[i]];

        if (!is_allowed(row, variant, rule) || (zone != NAME_NONE && variant->zone != zone))
            continue;
        if (best == SHAPE_NONE || is_better(view, variants[i], best))
            best = variants[i];
    }
    return best != SHAPE_NONE ? best : variants[row->variant_count - 1];
}

/* The variant of a task of the job that has a place, or SHAPE_NONE. */
static uint32_t variant_in_use(const struct view *view, uint32_t job)
{
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.instance[task] != ROW_NONE)
            return view->task.shape[task];
    }
    return SHAPE_NONE;
}

/*
 * Tasks of several shapes, which must be alike all the same: each shape has variants of its own.
 */

/* The variant of the shape that is like 'other', which may be another shape's; SHAPE_NONE: there is none. */
static uint32_t variant_like(const struct view *view, uint32_t base, uint32_t other)
{
    const struct shape *rows = view->shapes->rows;
    const uint32_t *variants = view->shapes->variants + rows[base].variant_first;

    for (uint32_t i = 0; i < rows[base].variant_count; i++) {
        if (rows[variants[i]].zone == rows[other].zone &&
            rows[variants[i]].market == rows[other].market)
            return variants[i];
    }
    return SHAPE_NONE;
}

/* What the tasks of the job that wait cost in variants like this one; INT64_MAX: not all can be had. */
static money_t price_like(const struct view *view, uint32_t job, uint32_t like)
{
    money_t price = 0;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.state[task] != TASK_WAITING)
            continue;

        const uint32_t base = view->shapes->rows[view->task.shape[task]].variant_of;
        const uint32_t variant = variant_like(view, base, like);

        if (variant == SHAPE_NONE || view->shape_offer[variant] == OFFER_NONE)
            return INT64_MAX;
        price += view->shape_price[variant];
    }
    return price;
}

/* The cheapest for all tasks of the job that wait; if not all can be had anywhere now, that of the first task. */
static uint32_t best_for_all(const struct view *view, uint32_t job, uint32_t base,
                             enum market_rule rule, uint32_t zone)
{
    const struct shape *row = &view->shapes->rows[base];
    const uint32_t *variants = view->shapes->variants + row->variant_first;
    uint32_t best = SHAPE_NONE;
    money_t least = INT64_MAX;

    for (uint32_t i = 0; i < row->variant_count; i++) {
        const struct shape *variant = &view->shapes->rows[variants[i]];

        if (!is_allowed(row, variant, rule) || (zone != NAME_NONE && variant->zone != zone))
            continue;

        const money_t price = price_like(view, job, variants[i]);

        if (price < least) {
            least = price;
            best = variants[i];
        }
    }
    return best != SHAPE_NONE ? best : best_variant(view, base, rule, zone);
}

static uint32_t variant_of_mixed(const struct view *view, uint32_t task, uint32_t base)
{
    const struct shape *row = &view->shapes->rows[base];
    const uint32_t job = view->task.job[task];
    const uint32_t first_base =
        view->shapes->rows[view->task.shape[view->job.first_task[job]]].variant_of;
    const enum market_rule rule = row->by_market ? market_rule_now(view, job) : MARKET_RULE_ANY;
    uint32_t like = variant_in_use(view, job);

    if (like == SHAPE_NONE)
        like = best_for_all(view, job, first_base, rule, NAME_NONE);
    else if (row->by_market && (row->alike & ALIKE_MARKET) == 0)
        like = best_for_all(view, job, first_base, rule, view->shapes->rows[like].zone);

    const uint32_t variant = variant_like(view, base, like);

    return variant != SHAPE_NONE
               ? variant
               : view->shapes->variants[row->variant_first + row->variant_count - 1];
}

static uint32_t variant_for(const struct view *view, uint32_t task, uint32_t base)
{
    const struct shape *row = &view->shapes->rows[base];
    const uint32_t job = view->task.job[task];
    const enum market_rule rule = row->by_market ? market_rule_now(view, job) : MARKET_RULE_ANY;

    if (view->job.mixed[job] && row->alike != 0)
        return variant_of_mixed(view, task, base);

    const uint32_t in_use = row->alike != 0 ? variant_in_use(view, job) : SHAPE_NONE;

    if (in_use == SHAPE_NONE)
        return best_variant(view, base, rule, NAME_NONE);
    if (!row->by_market || (row->alike & ALIKE_MARKET) != 0)
        return in_use;
    return best_variant(view, base, rule, view->shapes->rows[in_use].zone);
}

void bonds_update(struct view *view)
{
    assert(view->shapes_priced == view->shapes->count);
    if (view->shapes->variant_count == 0)
        return;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t base = view->shapes->rows[view->task.shape[task]].variant_of;

        if (base != SHAPE_NONE)
            view_set_variant(view, task, variant_for(view, task, base));
    }
}
