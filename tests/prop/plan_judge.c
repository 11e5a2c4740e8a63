/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_judge.h"

#include "base/mem.h"

/* A machine as it will be: instances come first, by row, then the rents of the plan. */
struct future {
    struct res used;
    uint32_t tasks;
    bool released;
};

struct judge {
    const struct view *view;
    const struct plan *plan;
    struct future *machines;
    uint32_t *place_of; /* by task row: place + 1, 0: it stays where it is */
    bool *is_suspended; /* by task row */
};

static uint32_t machine_of(const struct judge *judge, const struct plan_place *place)
{
    return place->fresh ? judge->view->instance.count + place->target : place->target;
}

static uint32_t offer_of(const struct judge *judge, uint32_t machine)
{
    const uint32_t instances = judge->view->instance.count;

    return machine < instances ? judge->view->instance.offer[machine]
                               : judge->plan->rents[machine - instances].offer;
}

/* What has not begun and waits for a machine that is not billed yet may go to one like it that is ready and has no work. */
static bool is_taken_over(const struct view *view, const struct plan_place *place)
{
    const uint32_t from = view->task.instance[place->task];

    return view->task.state[place->task] == TASK_BOUND && view->task.launches[place->task] == 0 &&
           view->instance.state[from] == INSTANCE_REQUESTED &&
           view->instance.billed_from[from] < 0 && !place->fresh &&
           view->instance.state[place->target] == INSTANCE_READY &&
           view->instance.task_count[place->target] == 0 &&
           view->instance.offer[place->target] == view->instance.offer[from];
}

static const char *judge_place(struct judge *judge, uint32_t index)
{
    const struct view *view = judge->view;
    const struct plan_place *place = &judge->plan->places[index];

    if (place->task >= view->task.count || view->task.state[place->task] == TASK_FREE)
        return "it places a task that there is not";
    if (judge->place_of[place->task] != 0)
        return "it places a task twice";
    judge->place_of[place->task] = index + 1;
    if (place->fresh && place->target >= judge->plan->rent_count)
        return "it places a task on a machine that it does not rent";
    if (!place->fresh &&
        (place->target >= view->instance.count || !view_is_open(view, place->target)))
        return "it places a task on a machine that is not open";
    if (view->task.instance[place->task] == ROW_NONE)
        return NULL;
    if (view->job.short_ppb[view->task.job[place->task]] > 0 &&
        view->task.state[place->task] == TASK_BOUND)
        return NULL; /* a service need not wait for a machine to start */
    if (is_taken_over(view, place))
        return NULL;
    if (!view_job_is_settled(view, view->task.job[place->task]))
        return "it moves a task of a job that is on its way";
    if (view->job.fixed[view->task.job[place->task]])
        return "it moves a task of a job that is fixed";
    if (!place->fresh && place->target == view->task.instance[place->task])
        return "it moves a task to where it is";
    return NULL;
}

/* For a service, which cannot wait, also a task that is on its way, but never of a gang. */
static bool may_stop_for_service(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->task.instance[task] != ROW_NONE && !view->job.fixed[job] &&
           !(view->job.gang[job] && view->job.task_count[job] > 1) && view->job.short_ppb[job] == 0;
}

static const char *judge_suspend(struct judge *judge, const struct plan_suspend *suspend)
{
    const struct view *view = judge->view;
    const uint32_t task = suspend->task;
    const bool is_for_service = suspend->why.code == REASON_SERVICE_NEEDS;

    if (task >= view->task.count || (view->task.state[task] != TASK_RUNNING && !is_for_service))
        return "it suspends a task that does not run";
    if (judge->is_suspended[task])
        return "it suspends a task twice";
    if (judge->place_of[task] != 0)
        return "it suspends a task that it moves";
    if (is_for_service ? !may_stop_for_service(view, task)
                       : !view_job_may_move(view, view->task.job[task]))
        return "it suspends a task of a job that is fixed or on its way";
    judge->is_suspended[task] = true;
    return NULL;
}

static const char *put(struct judge *judge, uint32_t task, uint32_t machine)
{
    const struct view *view = judge->view;
    const uint32_t offer = offer_of(judge, machine);
    const struct res *capacity = machine < view->instance.count
                                     ? view_capacity(view, machine)
                                     : &catalogue_type_of(view->catalogue, offer)->capacity;
    const struct res *demand =
        shape_taken(view->shapes, view->task.shape[task], view->catalogue, offer, capacity);

    if (judge->view->task.instance[task] == machine && judge->view->instance.crowded[machine])
        return NULL; /* the engine put it there: nothing of the plan's, and no room for more */
    if (demand == NULL)
        return "it places a task where it may not run";
    res_add(&judge->machines[machine].used, demand);
    judge->machines[machine].tasks++;
    if (!res_fits(&judge->machines[machine].used, capacity))
        return "it overfills a machine";
    return NULL;
}

/* Where the task will be: a machine, or ROW_NONE. */
static uint32_t machine_after(const struct judge *judge, uint32_t task)
{
    const uint32_t place = judge->place_of[task];

    if (judge->is_suspended[task])
        return ROW_NONE;
    return place != 0 ? machine_of(judge, &judge->plan->places[place - 1])
                      : judge->view->task.instance[task];
}

/* Whether the task will be beside one that it must be apart from. */
static bool is_too_near(const struct judge *judge, uint32_t task)
{
    const struct view *view = judge->view;

    if (!view_has_apart(view, view->task.job[task]))
        return false;
    for (uint32_t other = 0; other < view->task.count; other++) {
        if (view->task.state[other] != TASK_FREE && view_keep_apart(view, task, other) &&
            machine_after(judge, other) == machine_after(judge, task))
            return true;
    }
    return false;
}

static const char *judge_future(struct judge *judge)
{
    const struct view *view = judge->view;

    for (uint32_t task = 0; task < view->task.count; task++) {
        const uint32_t machine = machine_after(judge, task);
        const char *wrong = NULL;

        if (view->task.state[task] == TASK_FREE || machine == ROW_NONE)
            continue;
        wrong = put(judge, task, machine);
        if (wrong != NULL)
            return wrong;
        if (is_too_near(judge, task) &&
            (machine >= view->instance.count || !view->instance.crowded[machine]))
            return "it puts two tasks that must be apart onto one machine";
    }
    return NULL;
}

/* Of a gang, all tasks that wait are placed or none is: the engine would start no part of it. */
static const char *judge_gangs(const struct judge *judge)
{
    const struct view *view = judge->view;

    for (uint32_t job = 0; job < view->job.count; job++) {
        uint32_t waiting = 0;
        uint32_t placed = 0;
        uint32_t bound = 0;
        uint32_t suspended = 0;

        if (!view->job.used[job] || !view->job.gang[job])
            continue;
        for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
             task = view->task.sibling[task]) {
            waiting += view->task.state[task] == TASK_WAITING;
            bound += view->task.instance[task] != ROW_NONE;
            suspended += judge->is_suspended[task];
            placed += view->task.state[task] == TASK_WAITING && judge->place_of[task] != 0;
        }
        if (placed > 0 && placed < waiting)
            return "it places a gang in part";
        if (suspended > 0 && suspended < bound)
            return "it suspends a gang in part";
    }
    return NULL;
}

static bool are_alike(const struct judge *judge, uint8_t alike, uint32_t machine, uint32_t other)
{
    const struct offer *offers = judge->view->catalogue->offers;
    const struct offer *a = &offers[offer_of(judge, machine)];
    const struct offer *b = &offers[offer_of(judge, other)];

    return ((alike & ALIKE_ZONE) == 0 || a->zone == b->zone) &&
           ((alike & ALIKE_MARKET) == 0 || a->market == b->market);
}

/* Whether the task, which the plan places, comes to where it is alike with its siblings. Of those that it leaves
 * where they are only the first counts: an engine may have put them apart. */
static bool is_with_siblings(const struct judge *judge, uint32_t task, uint8_t alike)
{
    const struct view *view = judge->view;
    bool is_kept_seen = false;

    for (uint32_t other = view->job.first_task[view->task.job[task]]; other != ROW_NONE;
         other = view->task.sibling[other]) {
        const uint32_t machine = machine_after(judge, other);
        const bool is_kept = judge->place_of[other] == 0;

        if (machine == ROW_NONE || (is_kept && is_kept_seen))
            continue;
        is_kept_seen |= is_kept;
        if (!are_alike(judge, alike, machine_after(judge, task), machine))
            return false;
    }
    return true;
}

/* Of some jobs all tasks are in one zone or market. */
static const char *judge_bonds(const struct judge *judge)
{
    const struct view *view = judge->view;

    for (uint32_t i = 0; i < judge->plan->place_count; i++) {
        const uint32_t task = judge->plan->places[i].task;
        const struct shape *shape = &view->shapes->rows[view->task.shape[task]];

        if (shape->variant_of != SHAPE_NONE)
            shape = &view->shapes->rows[shape->variant_of];
        if (shape->alike != 0 && !is_with_siblings(judge, task, shape->alike))
            return "it takes a job apart that is to stay in one zone or market";
    }
    return NULL;
}

static const char *judge_rents(const struct judge *judge, bool stocks)
{
    const struct view *view = judge->view;

    for (uint32_t i = 0; i < judge->plan->rent_count; i++) {
        if (view->offer_blocked_until[judge->plan->rents[i].offer] > view->now)
            return "it asks for an offer that is blocked";
        if (judge->machines[view->instance.count + i].tasks == 0 && !stocks &&
            !judge->plan->rents[i].is_for_engine &&
            judge->plan->rents[i].why.code != REASON_ASKED_FIRST)
            return "it rents a machine for nobody";
    }
    return NULL;
}

static const char *judge_releases(const struct judge *judge)
{
    for (uint32_t i = 0; i < judge->plan->release_count; i++) {
        const uint32_t instance = judge->plan->releases[i].instance;

        if (instance >= judge->view->instance.count || !view_is_open(judge->view, instance))
            return "it releases a machine that is not open";
        if (judge->machines[instance].released)
            return "it releases a machine twice";
        if (judge->machines[instance].tasks > 0)
            return "it releases a machine that holds tasks";
        judge->machines[instance].released = true;
    }
    return NULL;
}

const char *plan_judge(const struct view *view, const struct plan *plan, bool stocks)
{
    struct judge judge = {
        .view = view,
        .plan = plan,
        .machines =
            mem_alloc((size_t)view->instance.count + plan->rent_count, sizeof(struct future)),
        .place_of = mem_alloc(view->task.count, sizeof(uint32_t)),
        .is_suspended = mem_alloc(view->task.count, sizeof(bool)),
    };
    const char *wrong = NULL;

    for (uint32_t i = 0; wrong == NULL && i < plan->place_count; i++)
        wrong = judge_place(&judge, i);
    for (uint32_t i = 0; wrong == NULL && i < plan->suspend_count; i++)
        wrong = judge_suspend(&judge, &plan->suspends[i]);
    if (wrong == NULL)
        wrong = judge_future(&judge);
    if (wrong == NULL)
        wrong = judge_gangs(&judge);
    if (wrong == NULL)
        wrong = judge_bonds(&judge);
    if (wrong == NULL)
        wrong = judge_rents(&judge, stocks);
    if (wrong == NULL)
        wrong = judge_releases(&judge);
    mem_free(judge.machines);
    mem_free(judge.place_of);
    mem_free(judge.is_suspended);
    return wrong;
}
