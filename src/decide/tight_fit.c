/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/tight_fit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decide/reservation.h"
#include "decide/spread.h"

/* A machine that there is, or one that the plan rents. */
struct fit_machine {
    struct res free;
    uint32_t target; /* as in plan_place */
    uint32_t offer;
    bool fresh;
    bool used; /* it got a task */
};

struct fitter {
    const struct view *view;
    struct plan *plan;
    struct fit_machine *machines; /* in order of renting */
    uint32_t *by_memory;          /* their indexes, least free memory first, then the oldest */
    uint32_t count;

    /* What is known since the last task, of use for the next if it is of the same kind. */
    uint32_t last_task;
    uint32_t last_position; /* of the machine that it got */
    uint32_t passed;      /* so many positions hold no other such task, but perhaps that machine */
    struct spread spread; /* what was placed, of jobs that are spread, by index of the machine */
};

static int64_t memory_of(const struct fitter *fitter, uint32_t machine)
{
    return fitter->machines[machine].free.amount[RES_MEM];
}

static int compare_memory(const void *left, const void *right, void *context)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    const int64_t has = memory_of(context, a);
    const int64_t other = memory_of(context, b);

    if (has != other)
        return has < other ? -1 : 1;
    return (a > b) - (a < b);
}

static void list_machines(struct fitter *fitter)
{
    const struct view *view = fitter->view;
    const uint32_t room = view->instance.living + view->task.waiting_count;

    fitter->machines = ARENA_ARRAY(fitter->plan->arena, struct fit_machine, room);
    fitter->by_memory = ARENA_ARRAY(fitter->plan->arena, uint32_t, room);
    INSTANCE_EACH(instance, view)
    {
        if (!view_is_open(view, instance))
            continue;
        fitter->by_memory[fitter->count] = fitter->count;
        fitter->machines[fitter->count++] = (struct fit_machine){
            .free = view_free(view, instance),
            .target = instance,
            .offer = view->instance.offer[instance],
        };
    }
    if (fitter->count > 0)
        qsort_r(fitter->by_memory, fitter->count, sizeof(*fitter->by_memory), compare_memory,
                fitter);
}

/* The first position, of those before 'end', whose machine does not come before the given one. */
static uint32_t position_for(const struct fitter *fitter, int64_t memory, uint32_t machine,
                             uint32_t end)
{
    uint32_t low = 0;
    uint32_t high = end;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint32_t other = fitter->by_memory[middle];
        const int64_t has = memory_of(fitter, other);

        if (has < memory || (has == memory && other < machine))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The machine, which is at 'from', has less memory than it had, or is new; its position. */
static uint32_t move_down(struct fitter *fitter, uint32_t from)
{
    uint32_t *list = fitter->by_memory;
    const uint32_t machine = list[from];
    const uint32_t to = position_for(fitter, memory_of(fitter, machine), machine, from);

    memmove(&list[to + 1], &list[to], (from - to) * sizeof(*list));
    list[to] = machine;
    return to;
}

/* What the task takes of the machine, or NULL: it may not run there. */
static const struct res *demand_at(const struct view *view, uint32_t task,
                                   const struct fit_machine *at)
{
    return at->fresh
               ? shape_demand_at(view->shapes, view->task.shape[task], view->catalogue, at->offer)
               : view_demand(view, task, at->target);
}

static bool holds(const struct fitter *fitter, uint32_t machine, uint32_t task)
{
    const struct view *view = fitter->view;
    const struct fit_machine *at = &fitter->machines[machine];
    const struct res *demand = demand_at(view, task, at);
    const uint32_t apart = view->job.apart[view->task.job[task]];

    if (demand == NULL || !res_fits(demand, &at->free))
        return false;
    return apart == ROW_NONE || (!spread_has(&fitter->spread, apart, machine) &&
                                 (at->fresh || !view_apart_is_on(view, apart, at->target)));
}

/* What the task takes of memory at the least, in any family. */
static int64_t least_memory(const struct view *view, uint32_t task)
{
    const struct shape *shape = &view->shapes->rows[view->task.shape[task]];
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < shape->demand_count; i++) {
        const int64_t amount = view->shapes->demands[shape->demand_first + i].res.amount[RES_MEM];

        least = amount < least ? amount : least;
    }
    return least;
}

/* Whether what holds one of the two holds the other. */
static bool is_alike(const struct view *view, uint32_t task, uint32_t other)
{
    return other != ROW_NONE && view->task.shape[task] == view->task.shape[other] &&
           view->job.apart[view->task.job[task]] == view->job.apart[view->task.job[other]];
}

/* The position of the machine for the task, or UINT32_MAX. */
static uint32_t find(const struct fitter *fitter, uint32_t task)
{
    const bool goes_on = is_alike(fitter->view, task, fitter->last_task);
    uint32_t at = goes_on
                      ? fitter->passed
                      : position_for(fitter, least_memory(fitter->view, task), 0, fitter->count);

    if (goes_on && holds(fitter, fitter->by_memory[fitter->last_position], task))
        return fitter->last_position;
    while (at < fitter->count && !holds(fitter, fitter->by_memory[at], task))
        at++;
    return at < fitter->count ? at : UINT32_MAX;
}

/* Rent the cheapest machine that holds the task alone; its position. */
static uint32_t rent(struct fitter *fitter, uint32_t task, uint32_t offer)
{
    const struct machine_type *type = catalogue_type_of(fitter->view->catalogue, offer);
    const struct plan_reason why =
        plan_because(REASON_CHEAPEST_ALONE, fitter->view->offer_price[offer]);

    fitter->by_memory[fitter->count] = fitter->count;
    fitter->machines[fitter->count] = (struct fit_machine){
        .free = type->capacity,
        .target = plan_rent_with(fitter->plan, offer, fitter->view->task.job[task], why),
        .offer = offer,
        .fresh = true,
    };
    return fitter->count++;
}

static void put(struct fitter *fitter, uint32_t task, uint32_t position)
{
    const struct view *view = fitter->view;
    const uint32_t machine = fitter->by_memory[position];
    const uint32_t apart = view->job.apart[view->task.job[task]];
    struct fit_machine *at = &fitter->machines[machine];
    const enum plan_reason_code code = at->fresh && !at->used ? REASON_CHEAPEST_ALONE
                                       : at->fresh            ? REASON_SHARES_FRESH
                                                              : REASON_FITS_KEPT;
    const struct plan_reason why = plan_because(code, view->offer_price[at->offer]);

    res_sub(&at->free, demand_at(view, task, at));
    at->used = true;
    if (apart != ROW_NONE)
        spread_put(&fitter->spread, apart, machine);
    if (at->fresh)
        plan_place_fresh(fitter->plan, task, at->target, why);
    else
        plan_place_kept(fitter->plan, task, at->target, why);
    fitter->last_task = task;
    fitter->last_position = move_down(fitter, position);
    fitter->passed = position + 1;
}

static void place(struct fitter *fitter, uint32_t task)
{
    const struct view *view = fitter->view;
    const uint32_t offer = view->shape_offer[view->task.shape[task]];

    /* What is not rented for is no place for a part of a gang. */
    if (view->job.gang[view->task.job[task]] && !reservation_has_offer(view, task))
        return;

    uint32_t position = find(fitter, task);

    if (position == UINT32_MAX && offer != OFFER_NONE)
        position = rent(fitter, task, offer);
    if (position != UINT32_MAX)
        put(fitter, task, position);
}

static void release_empty(const struct fitter *fitter)
{
    const struct view *view = fitter->view;

    for (uint32_t i = 0; i < fitter->count; i++) {
        const struct fit_machine *at = &fitter->machines[i];

        if (!at->fresh && !at->used && view->instance.task_count[at->target] == 0)
            plan_release(fitter->plan, at->target,
                         plan_because(REASON_EMPTY, view->offer_price[at->offer]));
    }
}

void tight_fit(const struct view *view, struct plan *ret)
{
    struct fitter fitter = { .view = view, .plan = ret, .last_task = ROW_NONE };

    assert(view->shapes_priced == view->shapes->count);
    list_machines(&fitter);
    spread_init(&fitter.spread, view, ret->arena);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        place(&fitter, task);
    }
    release_empty(&fitter);
}
