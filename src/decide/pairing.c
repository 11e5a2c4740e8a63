/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/pairing.h"

#include <stdlib.h>

#include "decide/layout.h"
#include "decide/reservation.h"
#include "decide/stay.h"

#define ALONE UINT32_MAX

/* One kind alone, or two kinds together, on the cheapest machine that holds them. */
struct match {
    uint32_t first;
    uint32_t second; /* ALONE: a single */
    uint32_t offer;
    double ratio; /* worth per price */
    uint32_t order;
};

static double pair_rate(const struct view *view, const struct pair_profile *profile, uint32_t shape,
                        uint32_t other)
{
    if (profile->rate == NULL)
        return 1.0;
    return profile->rate[view->shapes->rows[shape].workload * profile->count +
                         view->shapes->rows[other].workload];
}

static struct match match_single(const struct pool *pool, uint32_t kind)
{
    const uint32_t offer = pool->view->shape_offer[pool->kinds[kind].kind.shape];

    return (struct match){ .first = kind, .second = ALONE, .offer = offer, .ratio = 1.0 };
}

static struct match match_pair(const struct pool *pool, const struct pair_profile *profile,
                               uint32_t first, uint32_t second)
{
    const struct view *view = pool->view;
    const uint32_t a = pool->kinds[first].kind.shape;
    const uint32_t b = pool->kinds[second].kind.shape;
    const struct shape_count both[] = { { .shape = a, .count = 1 }, { .shape = b, .count = 1 } };
    const double worth = pair_rate(view, profile, a, b) * (double)view->shape_price[a] +
                         pair_rate(view, profile, b, a) * (double)view->shape_price[b];
    const uint32_t offer = reservation_cheapest_holding(view, both, 2, MONEY_UNKNOWN);

    return (struct match){
        .first = first,
        .second = second,
        .offer = offer,
        .ratio = offer != OFFER_NONE ? worth / (double)view->offer_price[offer] : 0,
    };
}

static int compare_matches(const void *left, const void *right)
{
    const struct match *a = left;
    const struct match *b = right;

    if (a->ratio > b->ratio)
        return -1;
    if (a->ratio < b->ratio)
        return 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* All matches that could pay, best first. */
static uint32_t list_matches(const struct pool *pool, const struct pair_profile *profile,
                             struct arena *arena, struct match **ret)
{
    const uint32_t kinds = pool->kind_count;
    struct match *matches =
        ARENA_ARRAY(arena, struct match, kinds + (size_t)kinds * (kinds + 1) / 2);
    uint32_t count = 0;

    for (uint32_t i = 0; i < kinds; i++)
        matches[count++] = match_single(pool, i);
    for (uint32_t i = 0; i < kinds; i++) {
        for (uint32_t j = i; j < kinds; j++) {
            if (i == j && pool->kinds[i].count < 2)
                continue;
            if (view_aparts_meet(pool->view, pool->kinds[i].apart, pool->kinds[j].apart))
                continue;

            const struct match match = match_pair(pool, profile, i, j);

            if (match.ratio > 1.0) /* below that a single is better */
                matches[count++] = match;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        matches[i].order = i;
    if (count > 0)
        qsort(matches, count, sizeof(*matches), compare_matches);
    *ret = matches;
    return count;
}

/* An engine may run a task where we would not have put it. */
static bool fits_there(const struct view *view, uint32_t task, uint32_t instance)
{
    const struct res *demand = view_demand(view, task, instance);

    return demand != NULL && res_fits(demand, view_capacity(view, instance));
}

/* A task alone stays if it fits there and its machine costs no more than its cheapest one, else it moves
 * to that. */
static void put_single(struct layout *layout, const struct match *match)
{
    const struct view *view = layout->rules->view;
    const uint32_t entry = pool_pick(layout->pool, match->first, ROW_NONE);
    const uint32_t task = layout->pool->entries[entry].task;
    const uint32_t on = view->task.instance[task];
    const bool stays =
        on != ROW_NONE && fits_there(view, task, on) &&
        view->offer_price[view->instance.offer[on]] <= view->offer_price[match->offer];
    const uint32_t bin = stays ? layout_open(layout, view->instance.offer[on], on)
                               : layout_open(layout, match->offer, ROW_NONE);

    layout->bins[bin].why.code = REASON_CHEAPEST_ALONE;
    layout_put(layout, bin, entry);
}

static void put_pair(struct layout *layout, const struct match *match)
{
    const uint32_t bin = layout_open(layout, match->offer, ROW_NONE);

    layout_put(layout, bin, pool_pick(layout->pool, match->first, ROW_NONE));
    layout_put(layout, bin, pool_pick(layout->pool, match->second, ROW_NONE));
}

static bool is_possible(const struct pool *pool, const struct match *match)
{
    if (match->offer == OFFER_NONE || pool->kinds[match->first].left == 0)
        return false;
    if (match->second == ALONE)
        return true;
    return pool->kinds[match->second].left >= (match->second == match->first ? 2u : 1u);
}

/* Whether the task, the only one of its machine, may move: it is not on its way, has stayed long enough, and there
 * is another machine to be had for it. The plan notes when it will have stayed long enough. */
static bool may_move(const struct view *view, uint32_t task, int64_t stay, struct plan *plan)
{
    if (!view_job_may_move(view, view->task.job[task]) ||
        view->shape_offer[view->task.shape[task]] == OFFER_NONE)
        return false;

    const msec_t at = stay_until(view, task, stay);

    if (at > view->now && at < plan->wake_at)
        plan->wake_at = at;
    return at <= view->now;
}

/* Waiting tasks, and tasks alone on their machine that may move. */
static uint32_t list_candidates(struct layout *layout, int64_t stay, uint32_t *ret,
                                struct plan *plan)
{
    const struct view *view = layout->rules->view;
    uint32_t count = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        ret[count++] = task;
    }
    INSTANCE_EACH(instance, view)
    {
        const uint32_t task = view->instance.first_task[instance];

        if (!view_is_open(view, instance) || task == ROW_NONE)
            continue;
        if (view->instance.task_count[instance] == 1 && may_move(view, task, stay, plan)) {
            ret[count++] = task;
            continue;
        }

        const uint32_t bin = layout_open(layout, view->instance.offer[instance], instance);

        TASK_EACH(kept, view, task)
        {
            layout_keep(layout, bin, kept);
        }
    }
    return count;
}

void pairing(const struct worth_rules *rules, const struct pair_profile *profile, int64_t stay,
             struct plan *ret)
{
    const struct view *view = rules->view;
    struct arena *arena = ret->arena;
    uint32_t *tasks =
        ARENA_ARRAY(arena, uint32_t, view->task.waiting_count + view->instance.living);
    struct pool pool;
    struct layout layout;
    struct match *matches;

    layout_init(&layout, rules, &pool, arena);
    pool_build(&pool, rules, tasks, list_candidates(&layout, stay, tasks, ret), arena);

    const uint32_t count = list_matches(&pool, profile, arena, &matches);

    for (uint32_t i = 0; i < count; i++) {
        while (is_possible(&pool, &matches[i])) {
            if (matches[i].second == ALONE)
                put_single(&layout, &matches[i]);
            else
                put_pair(&layout, &matches[i]);
        }
    }
    layout_to_plan(&layout, REASON_REPACKED, ret);
}
