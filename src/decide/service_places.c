/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task that waits goes to room on a machine of the pool that is ready, the safest first; else what may be stopped makes
 * room for it there, what came last first; else it goes to a machine that is on its way, or is being rented. Tasks that
 * are to leave a machine, or wait for one to start, go only to one that is ready.
 *
 * Then come its spare tasks: jobs of its kin, which were submitted with it and have no promise of their own. They take the room that
 * the pool has beyond the promise, before other work does, so that as many run when a part of the pool is lost. They
 * are not stopped for it: another one would have to start in their place.
 */
#include <string.h>

#include "decide/service_pools_private.h"

struct placing {
    struct service *service;
    const struct view *view;
    struct plan *plan;
    uint32_t *order; /* members, the safest first */
    bool *is_taken;  /* per member: a task that must be apart goes there */
    struct res *fresh_left;
    bool *is_fresh_taken;
};

static double down_of(const struct service *service, uint32_t instance)
{
    const uint32_t at = service_find_offer(service, service->all->view->instance.offer[instance]);

    return at != SERVICE_NO_OFFER ? service->offers[at].down : 1;
}

/* In the order of the offers' safety; equal ones as they stand. O(members x offers). */
static void sort_members(const struct service *service, uint32_t *ret)
{
    uint32_t count = 0;
    double last = -1;

    while (count < service->member_count) {
        double next = 2;

        for (uint32_t i = 0; i < service->member_count; i++) {
            const double down = down_of(service, service->members[i]);

            if (down > last && down < next)
                next = down;
        }
        for (uint32_t i = 0; i < service->member_count; i++) {
            const double down = down_of(service, service->members[i]);

            if (down > last && down <= next)
                ret[count++] = service->members[i];
        }
        last = next;
    }
}

static bool is_apart(const struct placing *placing, uint32_t at)
{
    const uint32_t job = placing->service->job;

    return !view_has_apart(placing->view, job) ||
           (!(placing->is_taken[at] && view_is_spread(placing->view, job)) &&
            !view_apart_is_on(placing->view, placing->view->job.apart[job], placing->order[at]));
}

/* Whether the task stands for one of the service when that is lost. */
static bool is_spare(const struct service *service, uint32_t task)
{
    const struct view *view = service->all->view;
    const uint32_t job = view->task.job[task];

    return job != service->job && view->job.short_ppb[job] == 0 &&
           view->job.kin[service->job] != 0 && view->job.kin[job] == view->job.kin[service->job];
}

static bool may_stop(const struct placing *placing, uint32_t task)
{
    return !placing->service->all->is_suspended[task] && service_may_stop(placing->view, task) &&
           !is_spare(placing->service, task);
}

/* What may be stopped on the machine and came last, or ROW_NONE. */
static uint32_t last_stoppable(const struct placing *placing, uint32_t instance)
{
    const struct view *view = placing->view;
    uint32_t last = ROW_NONE;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (may_stop(placing, task) &&
            (last == ROW_NONE || view->task.bound_at[task] >= view->task.bound_at[last]))
            last = task;
    }
    return last;
}

/* Whether there would be room if all that may be stopped were. */
static bool could_hold(const struct placing *placing, uint32_t instance, const struct res *demand)
{
    const struct view *view = placing->view;
    struct res room = placing->service->all->left[instance];

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (may_stop(placing, task))
            res_add(&room, view_taken(view, task, instance));
    }
    return res_fits(demand, &room);
}

static void make_room(const struct placing *placing, uint32_t instance, const struct res *demand)
{
    struct services *all = placing->service->all;
    const money_t price = placing->view->offer_price[placing->view->instance.offer[instance]];

    while (!res_fits(demand, &all->left[instance])) {
        const uint32_t task = last_stoppable(placing, instance);

        all->is_suspended[task] = true;
        plan_suspend(placing->plan, task, plan_because(REASON_SERVICE_NEEDS, price));
        res_add(&all->left[instance], view_taken(placing->view, task, instance));
    }
}

static struct plan_reason why_on(const struct view *view, uint32_t offer)
{
    return plan_because(REASON_PROMISED, view->offer_price[offer]);
}

/* Ready or on its way, with what is stopped there or without. */
static bool place_kept(struct placing *placing, uint32_t task, bool is_ready, bool stops)
{
    const struct view *view = placing->view;
    struct res *left = placing->service->all->left;

    for (uint32_t i = 0; i < placing->service->member_count; i++) {
        const uint32_t instance = placing->order[i];
        const struct res *demand = view_demand(view, task, instance);

        if ((view->instance.state[instance] == INSTANCE_READY) != is_ready || demand == NULL ||
            !is_apart(placing, i) ||
            !(stops ? could_hold(placing, instance, demand) : res_fits(demand, &left[instance])))
            continue;
        make_room(placing, instance, demand);
        res_sub(&left[instance], demand);
        placing->is_taken[i] = true;
        plan_place_kept(placing->plan, task, instance,
                        why_on(view, view->instance.offer[instance]));
        return true;
    }
    return false;
}

static bool place_fresh(struct placing *placing, uint32_t task)
{
    const struct view *view = placing->view;
    const uint32_t first = placing->service->rent_first;

    for (uint32_t i = first; i < placing->plan->rent_count; i++) {
        const struct res *demand = shape_demand_at(view->shapes, view->task.shape[task],
                                                   view->catalogue, placing->plan->rents[i].offer);

        if (demand == NULL || !res_fits(demand, &placing->fresh_left[i - first]) ||
            (view_is_spread(view, placing->service->job) && placing->is_fresh_taken[i - first]))
            continue;
        res_sub(&placing->fresh_left[i - first], demand);
        placing->is_fresh_taken[i - first] = true;
        plan_place_fresh(placing->plan, task, i, why_on(view, placing->plan->rents[i].offer));
        return true;
    }
    return false;
}

static void place_waiting(struct placing *placing, uint32_t task)
{
    (void)(place_kept(placing, task, true, false) || place_kept(placing, task, true, true) ||
           place_kept(placing, task, false, false) || place_kept(placing, task, false, true) ||
           place_fresh(placing, task));
}

/* Those that must be apart from each other, or are one of several of their job, are left to the policy. */
static void place_spares(struct placing *placing)
{
    const struct view *view = placing->view;

    if (view->job.kin[placing->service->job] == 0 || view_has_apart(view, placing->service->job))
        return;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t job = view->task.job[task];

        if (is_spare(placing->service, task) && !view_has_apart(view, job) && !view->job.gang[job])
            place_waiting(placing, task);
    }
}

static bool is_member(const struct service *service, uint32_t instance)
{
    for (uint32_t i = 0; i < service->member_count; i++) {
        if (service->members[i] == instance)
            return true;
    }
    return false;
}

/* Whether tasks of the service that are bound to the machine are better off on one that is ready: it starts still, or is to
 * be left. */
static bool is_to_move(const struct service *service, uint32_t instance)
{
    const struct view *view = service->all->view;

    if (!view_is_open(view, instance))
        return false;
    return view->instance.state[instance] != INSTANCE_READY ||
           (service->leaves_dear && !is_member(service, instance));
}

void service_place_tasks(struct service *service)
{
    struct services *all = service->all;
    const struct view *view = all->view;
    const uint32_t rents = all->ret->plan.rent_count - service->rent_first;
    struct placing placing = {
        .service = service,
        .view = view,
        .plan = &all->ret->plan,
        .order = ARENA_ARRAY(all->arena, uint32_t, service->member_count),
        .is_taken = ARENA_ARRAY(all->arena, bool, service->member_count),
        .fresh_left = ARENA_ARRAY(all->arena, struct res, rents),
        .is_fresh_taken = ARENA_ARRAY(all->arena, bool, rents),
    };

    sort_members(service, placing.order);
    for (uint32_t i = 0; i < rents; i++)
        placing.fresh_left[i] =
            catalogue_type_of(view->catalogue, placing.plan->rents[service->rent_first + i].offer)
                ->capacity;
    for (uint32_t task = view->job.first_task[service->job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t from = view->task.instance[task];

        if (from == ROW_NONE)
            place_waiting(&placing, task);
        else if (is_to_move(service, from))
            (void)(place_kept(&placing, task, true, false) ||
                   place_kept(&placing, task, true, true));
    }
    place_spares(&placing);
}
