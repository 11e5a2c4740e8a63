/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that waits, may be stopped and is likely to end before the machine is taken away, in its order, into the room that pools have to spare on machines that are ready,
 * those with the least room first. What does not fit a machine is not tried there again by others of its shape.
 *
 * Costs:  O(machines log machines + shapes x machines + what waits).
 */
#include <stdlib.h>

#include "decide/machine_index.h"
#include "decide/service_pools_private.h"

struct room {
    int64_t size;
    uint32_t instance;
};

static int by_size(const void *left, const void *right)
{
    const struct room *a = left;
    const struct room *b = right;

    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->instance < b->instance ? -1 : a->instance > b->instance;
}

static uint32_t list_rooms(const struct services *services, struct room **ret)
{
    const struct view *view = services->view;
    uint32_t count = 0;

    *ret = ARENA_ARRAY(services->arena, struct room, view->instance.living);
    INSTANCE_EACH(instance, view)
    {
        if (services->ret->pool_of[instance] != ROW_NONE &&
            view->instance.state[instance] == INSTANCE_READY)
            (*ret)[count++] = (struct room){ services->left[instance].amount[RES_CPU], instance };
    }
    if (count > 1)
        qsort(*ret, count, sizeof(**ret), by_size);
    return count;
}

/* Whether the task is likely to end before the machine is taken away, so that it is no loss to have begun there. */
static bool ends_in_time(const struct view *view, uint32_t task, uint32_t instance)
{
    const uint32_t offer = view->instance.offer[instance];

    return view->catalogue->offers[offer].market != MARKET_SPOT ||
           runtime_of_task(view, task, RUNTIME_REMAINING) <= view->offer_lasts[offer];
}

static bool fits(const struct services *services, uint32_t task, uint32_t instance)
{
    const struct res *demand = view_demand(services->view, task, instance);

    return demand != NULL && res_fits(demand, &services->left[instance]) &&
           ends_in_time(services->view, task, instance);
}

static void place(struct services *services, uint32_t task, uint32_t instance)
{
    const struct view *view = services->view;

    res_sub(&services->left[instance], view_demand(view, task, instance));
    plan_place_kept(&services->ret->plan, task, instance, plan_because(REASON_EXCESS, 0));
}

/* Whether it is no matter if the task is stopped and waits again; one that must be apart from others is left to the policy. */
static bool may_wait(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return service_may_stop(view, task) && !view_has_apart(view, job) &&
           view->job.deadline[job] == MSEC_NEVER;
}

void service_fill_excess(struct services *services)
{
    const struct view *view = services->view;
    struct room *rooms;
    const uint32_t count = list_rooms(services, &rooms);
    uint32_t *next = ARENA_ARRAY(services->arena, uint32_t, view->shapes->count); /* per shape */

    if (count == 0)
        return;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        uint32_t *at = &next[view->task.shape[task]];

        if (!may_wait(view, task))
            continue;
        while (*at < count && !fits(services, task, rooms[*at].instance))
            (*at)++;
        if (*at < count)
            place(services, task, rooms[*at].instance);
    }
}
