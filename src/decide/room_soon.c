/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/room_soon.h"

#include <assert.h>

enum { WINDOW = 64 }; /* batches that are looked at each time room comes free */

/* A task leaves a machine at 'at', from now. */
struct end {
    msec_t at;
    uint32_t instance;
    const struct res *demand;
};

struct soon {
    struct batches *batches;
    const struct view *view;
    const struct runtime_bins *bins;
    const struct wait_limits *limits;
    struct plan *plan;
    bool *expected;
    struct end *heap; /* the soonest first */
    uint32_t heap_count;
    struct res *free; /* per instance */
    uint32_t first;   /* batch that may have tasks left */
    msec_t horizon;   /* nobody waits longer, from now */
};

static bool is_sooner(const struct end *a, const struct end *b)
{
    return a->at != b->at ? a->at < b->at : a->instance < b->instance;
}

static void push(struct soon *soon, struct end end)
{
    uint32_t at = soon->heap_count++;

    while (at > 0 && is_sooner(&end, &soon->heap[(at - 1) / 2])) {
        soon->heap[at] = soon->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    soon->heap[at] = end;
}

static struct end pop(struct soon *soon)
{
    const struct end top = soon->heap[0];
    const struct end last = soon->heap[--soon->heap_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = at * 2 + 1;

        if (child >= soon->heap_count)
            break;
        if (child + 1 < soon->heap_count && is_sooner(&soon->heap[child + 1], &soon->heap[child]))
            child++;
        if (!is_sooner(&soon->heap[child], &last))
            break;
        soon->heap[at] = soon->heap[child];
        at = child;
    }
    soon->heap[at] = last;
    return top;
}

msec_t wait_for_boot(const struct view *view, const struct batch *batch,
                     const struct wait_limits *limits)
{
    const uint32_t offer = view->shape_offer[batch->shape];

    if (offer == OFFER_NONE)
        return MSEC_NEVER; /* there is nothing else to do */

    const struct machine_type *type = catalogue_type_of(view->catalogue, offer);
    const msec_t boot = type->acquire_ms + type->setup_ms;

    return limits->boot_wait > 0 && limits->boot_wait < boot ? limits->boot_wait : boot;
}

static bool may_wait(const struct batch *batch)
{
    return batch->left > 0 && !batch->together && batch->apart == ROW_NONE;
}

/* How much longer a task of the batch may wait at the most, 0: no longer. */
static msec_t patience(const struct soon *soon, const struct batch *batch)
{
    const msec_t boot = wait_for_boot(soon->view, batch, soon->limits);
    const msec_t most = boot > soon->limits->paid_wait ? boot : soon->limits->paid_wait;
    const msec_t waited = batch_waited(soon->view, batch);

    return most > waited ? most - waited : 0;
}

/* Whether a task of the batch may wait for room that comes free on the instance at 'at'. */
static bool is_worth_waiting(const struct soon *soon, const struct batch *batch, uint32_t instance,
                             msec_t at)
{
    const msec_t waits = batch_waited(soon->view, batch) + at;

    if (waits <= wait_for_boot(soon->view, batch, soon->limits))
        return true;
    return waits <= soon->limits->paid_wait &&
           at + batch->runtime <= runtime_bins_lasts(soon->bins, instance);
}

/* Promise the newest task of the batch the room that is free on the instance at 'at'. */
static void promise(struct soon *soon, struct batch *batch, const struct res *demand,
                    uint32_t instance, msec_t at)
{
    const msec_t left = patience(soon, batch);

    assert(at >= 0);
    assert(res_fits(demand, &soon->free[instance]));
    (void)batch_take_last(batch);
    res_sub(&soon->free[instance], demand);
    soon->expected[instance] = true;
    if (left < MSEC_NEVER - soon->view->now && soon->view->now + left + 1 < soon->plan->wake_at)
        soon->plan->wake_at = soon->view->now + left + 1;
    if (at + batch->runtime <= soon->horizon)
        push(soon, (struct end){ at + batch->runtime, instance, demand });
}

/* Room came free: who could use it? */
static void offer_room(struct soon *soon, uint32_t instance, msec_t at)
{
    uint32_t seen = 0;

    for (uint32_t i = soon->first; i < soon->batches->count && seen < WINDOW; i++) {
        struct batch *batch = &soon->batches->rows[i];
        const struct res *demand = view_shape_demand(soon->view, batch->shape, instance);

        if (!may_wait(batch)) {
            soon->first += i == soon->first;
            continue;
        }
        seen++;
        while (demand != NULL && batch->left > 0 && res_fits(demand, &soon->free[instance]) &&
               is_worth_waiting(soon, batch, instance, at))
            promise(soon, batch, demand, instance, at);
    }
}

/* The task is on the instance, or will be when that is ready. */
static void note_end(struct soon *soon, uint32_t task, uint32_t instance)
{
    const msec_t ready = soon->view->instance.state[instance] == INSTANCE_READY
                             ? soon->view->now
                             : soon->view->instance.ready_expected[instance];
    const msec_t start = ready > soon->view->now ? ready - soon->view->now : 0;
    const msec_t runtime = runtime_of_task(soon->view, task, RUNTIME_REMAINING);
    const msec_t end = soon->view->task.state[task] == TASK_RUNNING ? runtime : start + runtime;

    if (end <= soon->horizon)
        push(soon, (struct end){ end, instance, view_taken(soon->view, task, instance) });
}

static void list_ends(struct soon *soon)
{
    const struct view *view = soon->view;

    INSTANCE_EACH(instance, view)
    {
        if (!view_is_open(view, instance) || soon->expected[instance])
            continue;
        soon->free[instance] = runtime_bins_free(soon->bins, instance);
        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            note_end(soon, task, instance);
        }
    }
    for (uint32_t i = 0; i < soon->plan->place_count; i++) {
        if (!soon->plan->places[i].fresh)
            note_end(soon, soon->plan->places[i].task, soon->plan->places[i].target);
    }
}

void room_soon(struct batches *batches, const struct runtime_bins *bins,
               const struct wait_limits *limits, struct plan *plan, bool *expected)
{
    const struct view *view = batches->view;
    struct soon soon = {
        .batches = batches,
        .view = view,
        .bins = bins,
        .limits = limits,
        .plan = plan,
    };
    size_t most = 0;

    assert(limits->boot_wait >= 0);
    assert(limits->paid_wait >= 0);
    soon.expected = expected;
    for (uint32_t i = 0; i < batches->count; i++) {
        if (!may_wait(&batches->rows[i]))
            continue;

        const msec_t longest = patience(&soon, &batches->rows[i]);

        if (longest > soon.horizon)
            soon.horizon = longest;
        most += batches->rows[i].left;
    }
    if (soon.horizon == 0 || view->instance.living == 0)
        return;
    soon.heap = ARENA_ARRAY(plan->arena, struct end, view->task.living + most);
    soon.free = ARENA_ARRAY(plan->arena, struct res, view->instance.count);
    list_ends(&soon);
    while (soon.heap_count > 0 && soon.first < batches->count) {
        const struct end end = pop(&soon);

        res_add(&soon.free[end.instance], end.demand);
        offer_room(&soon, end.instance, end.at);
    }
}
