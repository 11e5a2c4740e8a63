/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/machines_soon.h"

#include <assert.h>
#include <stdlib.h>

#include "decide/lease.h"
#include "decide/machine_index.h"
#include "decide/reservation.h"

enum { JOBS_MOST = 256, MACHINES_MOST = 4096 };

static const msec_t look_least =
    60 * MSEC_PER_SEC; /* what comes free is heard of; this is for what does not */

/* A job that may wait. */
struct candidate {
    uint32_t job;
    uint32_t offer; /* the cheapest for a task of it */
    uint32_t size;  /* machines */
    uint64_t order;
};

/* A machine is free at 'at', from now, and paid for until 'until': then it goes back if it is idle. */
struct opening {
    msec_t at;
    msec_t until;
    uint32_t instance; /* ROW_NONE: it will be rented */
};

struct soon {
    const struct view *view;
    msec_t patience;
    struct plan *plan;
    const struct row_map *uses;
    struct row_map *left_out;
    struct row_map *whole;    /* per shape: whether its tasks have machines for themselves */
    struct opening *openings; /* the soonest first */
    uint32_t count;
    struct opening *spare; /* to merge them into */
    uint32_t *chosen;      /* of the openings, in their order */
};

/* Whether two tasks of the shape fit on a machine of the offer. */
static bool holds_two(const struct view *view, uint32_t shape, uint32_t offer)
{
    const struct res *demand = shape_demand_at(view->shapes, shape, view->catalogue, offer);
    const struct res *capacity = &catalogue_type_of(view->catalogue, offer)->capacity;

    for (int kind = 0; demand != NULL && kind < RES_KINDS; kind++) {
        if (demand->amount[kind] > capacity->amount[kind] / 2)
            return false;
    }
    return demand != NULL;
}

/* Whether each task of the shape has a machine for itself, whatever is rented. */
static bool takes_whole(const struct soon *soon, uint32_t shape)
{
    enum { UNKNOWN, WHOLE, SHARED };
    const struct view *view = soon->view;
    uint32_t answer = row_map_get(soon->whole, shape);

    for (uint32_t offer = 0; answer == UNKNOWN && offer < view->catalogue->offer_count; offer++)
        answer = holds_two(view, shape, offer) ? SHARED : UNKNOWN;
    if (answer == UNKNOWN)
        answer = WHOLE;
    row_map_set(soon->whole, shape, answer);
    return answer == WHOLE;
}

/* Whether all tasks of the job wait and are shown. */
static bool all_wait(const struct view *view, uint32_t job)
{
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.state[task] != TASK_WAITING)
            return false;
    }
    return view->job.tasks_left[job] == view->job.task_count[job];
}

/* Whether the job, whose first task is 'task', may wait here. */
static bool may_wait(const struct soon *soon, uint32_t task)
{
    const struct view *view = soon->view;
    const uint32_t job = view->task.job[task];
    const uint32_t offer = view->shape_offer[view->task.shape[task]];

    return view->job.first_task[job] == task && !view->job.mixed[job] &&
           (view->job.gang[job] || view->job.task_count[job] == 1) &&
           view->job.deadline[job] == MSEC_NEVER && view->job.market[job] == MARKET_RULE_ANY &&
           view->job.short_ppb[job] == 0 && view->job.burst_after[job] == 0 &&
           view->job.waiting_hour[job] == 0 && view->task.estimate_ms[task] != MSEC_NEVER &&
           offer != OFFER_NONE && !view->catalogue->offers[offer].is_owned &&
           takes_whole(soon, view->task.shape[task]) && all_wait(view, job);
}

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left;
    const struct candidate *b = right;

    if (a->offer != b->offer)
        return a->offer < b->offer ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int compare_openings(const void *left, const void *right)
{
    const struct opening *a = left;
    const struct opening *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->instance > b->instance) - (a->instance < b->instance);
}

/* When the machine is free, from now; MSEC_NEVER: it has work without an end. */
static msec_t free_at(const struct view *view, uint32_t instance)
{
    const msec_t ready = view->instance.state[instance] == INSTANCE_READY
                             ? 0
                             : view->instance.ready_expected[instance] - view->now;
    const msec_t begin = ready > 0 ? ready : 0;
    msec_t end = begin;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const msec_t left = runtime_of_task(view, task, RUNTIME_REMAINING);
        const msec_t at = view->task.state[task] == TASK_RUNNING ? left : begin + left;

        if (view->task.estimate_ms[task] == MSEC_NEVER)
            return MSEC_NEVER;
        if (at > end)
            end = at;
    }
    return end;
}

static void list_openings(struct soon *soon, uint32_t offer)
{
    const struct view *view = soon->view;

    soon->count = 0;
    INSTANCE_EACH(instance, view)
    {
        if (view->instance.offer[instance] != offer || !view_is_open(view, instance) ||
            view->instance.crowded[instance] || row_map_get(soon->uses, instance) == USE_LEFT)
            continue;

        const msec_t at = free_at(view, instance);

        if (at != MSEC_NEVER)
            soon->openings[soon->count++] =
                (struct opening){ at, lease_until(view, instance, at), instance };
    }
    if (soon->count > 1)
        qsort(soon->openings, soon->count, sizeof(*soon->openings), compare_openings);
}

/* The first moment at which 'size' machines are free and still paid for, from now, no later than 'latest'; they are 'chosen'.
 * MSEC_NEVER: there is none. */
static msec_t choose(struct soon *soon, uint32_t size, msec_t latest)
{
    msec_t first_end = MSEC_NEVER; /* of those that are chosen */
    uint32_t count = 0;

    for (uint32_t i = 0; i < soon->count && soon->openings[i].at <= latest; i++) {
        const struct opening *opening = &soon->openings[i];
        uint32_t kept = 0;

        if (first_end < opening->at) {
            first_end = MSEC_NEVER;
            for (uint32_t k = 0; k < count; k++) {
                const msec_t until = soon->openings[soon->chosen[k]].until;

                if (until < opening->at)
                    continue;
                first_end = until < first_end ? until : first_end;
                soon->chosen[kept++] = soon->chosen[k];
            }
            count = kept;
        }
        first_end = opening->until < first_end ? opening->until : first_end;
        soon->chosen[count++] = i;
        if (count == size)
            return opening->at;
    }
    return MSEC_NEVER;
}

/* A machine that is busy until 'end', from now. */
static struct opening used_until(const struct soon *soon, uint32_t instance, msec_t end)
{
    return (struct opening){
        .at = end,
        .until = instance != ROW_NONE ? lease_until(soon->view, instance, end) : end,
        .instance = instance,
    };
}

/* The first 'count' that are chosen have the job until 'end', from now, and so have machines that are rented for it: 'size' in all. */
static void occupy(struct soon *soon, uint32_t count, uint32_t size, msec_t end)
{
    struct opening *merged = soon->spare;
    uint32_t taken = 0;
    uint32_t made = 0;
    bool is_put = false;

    for (uint32_t i = 0; i <= soon->count; i++) {
        if (!is_put && (i == soon->count || soon->openings[i].at > end)) {
            for (uint32_t k = 0; k < size; k++)
                merged[made++] = used_until(
                    soon, k < count ? soon->openings[soon->chosen[k]].instance : ROW_NONE, end);
            is_put = true;
        }
        if (taken < count && soon->chosen[taken] == i)
            taken++;
        else if (i < soon->count)
            merged[made++] = soon->openings[i];
    }
    soon->spare = soon->openings;
    soon->openings = merged;
    soon->count = made;
}

static msec_t boot_of(const struct view *view, uint32_t offer, uint32_t count)
{
    const struct machine_type *type = catalogue_type_of(view->catalogue, offer);

    return machine_type_acquire_ms(type, count) + type->setup_ms;
}

/* How long it is worth to wait so that so many machines need not be rented. */
static msec_t worth_of(const struct soon *soon, uint32_t offer, uint32_t count)
{
    const struct catalogue *catalogue = soon->view->catalogue;
    const msec_t setup = catalogue_type_of(catalogue, offer)->setup_ms;
    const msec_t paid = billing_paid_span(&catalogue->offers[offer].billing, setup + 1);
    const bool is_free = soon->view->offer_price[offer] <= 0; /* then nothing is saved */
    const double each = is_free ? 0 : (double)soon->patience * (double)paid / (double)MSEC_PER_HOUR;

    return boot_of(soon->view, offer, count) + (msec_t)(each * count);
}

static void let_wait(struct soon *soon, const struct candidate *candidate, msec_t at,
                     msec_t longest)
{
    const struct view *view = soon->view;
    const struct opening *last = &soon->openings[soon->chosen[candidate->size - 1]];
    const msec_t look_in = at + 1 > look_least ? at + 1 : look_least;

    for (uint32_t task = view->job.first_task[candidate->job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        struct plan_wait wait = plan_wait_by(WAIT_MACHINES, task);

        wait.target = last->instance != ROW_NONE ? last->instance : UINT32_MAX;
        wait.offer = candidate->offer;
        wait.rent_offer = candidate->offer;
        wait.expected = view->now + at;
        wait.until = view->job.arrived_at[candidate->job] + longest;
        plan_let_wait(soon->plan, &wait);
        row_map_set(soon->left_out, task, 1);
    }
    if (view->now + look_in < soon->plan->wake_at)
        soon->plan->wake_at = view->now + look_in;
}

/* The job starts, waits, or has machines rented for it. */
static void look_at(struct soon *soon, const struct candidate *candidate)
{
    const struct view *view = soon->view;
    const uint32_t size = candidate->size;
    const msec_t runtime =
        runtime_of_task(view, view->job.first_task[candidate->job], RUNTIME_REMAINING);
    const msec_t waited = view->now - view->job.arrived_at[candidate->job];
    const msec_t longest = worth_of(soon, candidate->offer, size);
    uint32_t idle = 0;

    while (idle < size && idle < soon->count && soon->openings[idle].at <= 0) {
        soon->chosen[idle] = idle;
        idle++;
    }
    if (idle == size) {
        occupy(soon, size, size, runtime);
        return;
    }

    const msec_t worth = worth_of(soon, candidate->offer, size - idle);
    const msec_t latest = worth < longest - waited ? worth : longest - waited;
    const msec_t at = choose(soon, size, latest);

    if (at == MSEC_NEVER) {
        for (uint32_t i = 0; i < idle; i++)
            soon->chosen[i] = i;
        occupy(soon, idle, size, boot_of(view, candidate->offer, size - idle) + runtime);
        return;
    }
    let_wait(soon, candidate, at, longest);
    occupy(soon, size, size, at + runtime);
}

static uint32_t list_candidates(const struct soon *soon, const struct scarcity *scarcity,
                                struct candidate **ret)
{
    const struct view *view = soon->view;
    uint32_t count = 0;
    uint32_t room = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        room += view->job.first_task[view->task.job[task]] == task;
    }
    *ret = ARENA_ARRAY(soon->plan->arena, struct candidate, room);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t job = view->task.job[task];

        if (!row_map_has(soon->left_out, task) && may_wait(soon, task) &&
            !scarcity_meets(scarcity, view, task))
            (*ret)[count++] = (struct candidate){
                .job = job,
                .offer = view->shape_offer[view->task.shape[task]],
                .size = view->job.task_count[job],
                .order = view->task.order[task],
            };
    }
    if (count > 1)
        qsort(*ret, count, sizeof(**ret), compare_candidates);
    return count < JOBS_MOST ? count : JOBS_MOST;
}

void machines_soon(const struct view *view, msec_t patience, const struct scarcity *scarcity,
                   struct plan *plan, const struct row_map *uses, struct row_map *left_out)
{
    struct soon soon = {
        .view = view,
        .patience = patience,
        .plan = plan,
        .uses = uses,
        .left_out = left_out,
    };
    struct row_map whole;
    struct candidate *candidates = NULL;
    uint64_t room = view->instance.living;

    assert(patience >= 0);
    if (view->task.waiting_count == 0 || view->instance.living == 0 ||
        view->instance.living > MACHINES_MOST)
        return;
    row_map_init(&whole, plan->arena);
    soon.whole = &whole;

    const uint32_t count = list_candidates(&soon, scarcity, &candidates);

    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        room += candidates[i].size;
    soon.openings = ARENA_ARRAY(plan->arena, struct opening, room);
    soon.spare = ARENA_ARRAY(plan->arena, struct opening, room);
    soon.chosen = ARENA_ARRAY(plan->arena, uint32_t, room);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || candidates[i].offer != candidates[i - 1].offer)
            list_openings(&soon, candidates[i].offer);
        look_at(&soon, &candidates[i]);
    }
}
