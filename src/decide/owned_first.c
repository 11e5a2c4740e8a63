/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/owned_first.h"

#include <stdlib.h>

#include "base/limits.h"
#include "decide/burst.h"
#include "decide/place_reason.h"
#include "decide/spread.h"

struct machine {
    uint32_t row;
    uint32_t offer;
    money_t price;
    struct res capacity;
    struct res free;
};

/* What is known of a shape; worked out when it is met first. */
struct fit {
    bool is_known;
    bool is_there;     /* some machine could hold it */
    uint32_t shape;    /* that a task has there: itself, or another variant */
    uint32_t first;    /* no machine before this one has room for it any more */
    uint32_t machines; /* that could hold it if they were empty, */
    uint64_t tasks;    /* and how many of it they could together */
};

struct pass {
    const struct owned_question *question;
    const struct view *view;
    struct machine *machines;
    uint32_t count;
    struct fit *fits;     /* by shape */
    uint32_t *target;     /* of each task, index of 'machines' + 1; 0: none */
    struct spread spread; /* machines that get a task which must be apart from others */
    bool *is_done;        /* by row of the job: it was served as a whole */
    uint8_t *fate;        /* of each task that waits */
    struct owned_first *ret;
};

enum fate { FATE_POLICY, FATE_PLACED, FATE_WAITS };

/*
 * Machines.
 */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_machines(const void *left, const void *right)
{
    static const enum res_kind order[] = { RES_MEM, RES_CPU };
    const struct machine *a = left;
    const struct machine *b = right;
    int by = compare_numbers(a->capacity.amount[RES_ACCEL], b->capacity.amount[RES_ACCEL]);

    if (by == 0)
        by = compare_numbers(a->price, b->price);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && by == 0; i++)
        by = compare_numbers(a->capacity.amount[order[i]], b->capacity.amount[order[i]]);
    return by != 0 ? by : compare_numbers(a->row, b->row);
}

static void list_machines(struct pass *pass)
{
    const struct owned_question *question = pass->question;
    const struct view *view = pass->view;

    pass->machines = ARENA_ARRAY(question->arena, struct machine, question->machine_count);
    for (uint32_t i = 0; i < question->machine_count; i++) {
        const uint32_t row = question->machines[i];
        const uint32_t offer = view->instance.offer[row];

        pass->machines[pass->count++] = (struct machine){ .row = row,
                                                          .offer = offer,
                                                          .price = view->offer_price[offer],
                                                          .capacity = *view_capacity(view, row),
                                                          .free = view_free(view, row) };
    }
    qsort(pass->machines, pass->count, sizeof(*pass->machines), compare_machines);
}

/*
 * Shapes.
 */

/* The shape that a task of 'shape' has on machines of the offer; SHAPE_NONE: it may not run there. */
static uint32_t shape_there(const struct view *view, uint32_t shape, uint32_t offer)
{
    const uint32_t base = view->shapes->rows[shape].variant_of;

    return base == SHAPE_NONE ? shape : shape_variant_at(view->shapes, base, offer, false);
}

static const struct res *demand_at(const struct pass *pass, uint32_t shape,
                                   const struct machine *machine)
{
    return shape_taken(pass->view->shapes, shape, pass->view->catalogue, machine->offer,
                       &machine->capacity);
}

/* How many that take 'demand' an empty machine holds. */
static uint64_t count_tasks(const struct res *demand, const struct res *capacity)
{
    uint64_t count = LIMIT_TASKS;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (demand->amount[kind] > 0 &&
            (uint64_t)(capacity->amount[kind] / demand->amount[kind]) < count)
            count = (uint64_t)(capacity->amount[kind] / demand->amount[kind]);
    }
    return count;
}

static void learn_fit(const struct pass *pass, uint32_t shape, struct fit *fit)
{
    for (uint32_t i = 0; i < pass->count; i++) {
        const struct machine *machine = &pass->machines[i];
        const uint32_t there = shape_there(pass->view, shape, machine->offer);
        const struct res *demand = there != SHAPE_NONE ? demand_at(pass, there, machine) : NULL;

        if (demand == NULL || !res_fits(demand, &machine->capacity))
            continue;
        if (!fit->is_there)
            fit->shape = there;
        fit->is_there = true;
        fit->machines++;
        fit->tasks += count_tasks(demand, &machine->capacity);
    }
    fit->is_known = true;
}

static struct fit *fit_of(const struct pass *pass, uint32_t task)
{
    const uint32_t shape = pass->view->task.shape[task];
    struct fit *fit = &pass->fits[shape];

    if (!fit->is_known)
        learn_fit(pass, shape, fit);
    return fit;
}

/*
 * Places.
 */

/* Whether a task of that 'apart' is on the machine or will be. */
static bool has_apart(const struct pass *pass, uint32_t apart, uint32_t machine)
{
    return spread_has(&pass->spread, apart, machine) ||
           view_apart_is_on(pass->view, apart, pass->machines[machine].row);
}

static bool take_room(struct pass *pass, uint32_t task)
{
    struct fit *fit = fit_of(pass, task);
    const uint32_t apart = pass->view->job.apart[pass->view->task.job[task]];
    bool is_first = true; /* no machine before had room */

    for (uint32_t i = fit->first; i < pass->count && fit->is_there; i++) {
        const struct res *demand = demand_at(pass, fit->shape, &pass->machines[i]);

        if (demand == NULL || !res_fits(demand, &pass->machines[i].free)) {
            if (is_first)
                fit->first = i + 1;
            continue;
        }
        is_first = false;
        if (apart != ROW_NONE && has_apart(pass, apart, i))
            continue;
        if (apart != ROW_NONE)
            spread_put(&pass->spread, apart, i);
        res_sub(&pass->machines[i].free, demand);
        pass->target[task] = i + 1;
        return true;
    }
    return false;
}

/* The room is free again. It may be before the first that was known to have some. */
static void give_room(struct pass *pass, uint32_t task)
{
    const uint32_t index = pass->target[task] - 1;
    const uint32_t apart = pass->view->job.apart[pass->view->task.job[task]];
    struct machine *machine = &pass->machines[index];

    if (apart != ROW_NONE)
        spread_drop(&pass->spread, apart, index);
    res_add(&machine->free, demand_at(pass, fit_of(pass, task)->shape, machine));
    pass->target[task] = 0;
    for (uint32_t shape = 0; shape < pass->view->shapes->count; shape++) {
        if (pass->fits[shape].first > index)
            pass->fits[shape].first = index;
    }
}

static void place(struct pass *pass, uint32_t task)
{
    const struct view *view = pass->view;
    const struct machine *machine = &pass->machines[pass->target[task] - 1];
    const struct plan_reason why = place_reason(view, REASON_OWNED, task, machine->row);

    pass->ret->variants[pass->ret->plan.place_count] = fit_of(pass, task)->shape;
    plan_place_kept(&pass->ret->plan, task, machine->row, why);
    pass->fate[task] = FATE_PLACED;
}

/* Whether a task of the job has a place already where 'shape' would not be allowed beside it. */
static bool is_bound_elsewhere(const struct view *view, uint32_t job, uint32_t shape)
{
    const uint32_t base = view->shapes->rows[shape].variant_of;

    if (base == SHAPE_NONE || view->shapes->rows[base].alike == 0)
        return false;
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t other = view->task.shape[task];

        if (view->task.instance[task] != ROW_NONE && other != shape &&
            (view->shapes->rows[other].variant_of == base ||
             view->shapes->rows[other].zone != view->shapes->rows[shape].zone ||
             view->shapes->rows[other].market != view->shapes->rows[shape].market))
            return true;
    }
    return false;
}

static bool is_held(const struct pass *pass, uint32_t task)
{
    return pass->question->is_held != NULL &&
           pass->question->is_held(pass->question->context, task);
}

/* Whether empty machines would hold 'count' tasks like this one. */
static bool would_fit(const struct pass *pass, uint32_t task, uint32_t count)
{
    const struct fit *fit = fit_of(pass, task);
    const uint32_t job = pass->view->task.job[task];

    if (!fit->is_there || is_bound_elsewhere(pass->view, job, fit->shape))
        return false;
    return view_is_spread(pass->view, job) ? count <= fit->machines : count <= fit->tasks;
}

static void leave(struct pass *pass, uint32_t task, bool fits)
{
    const msec_t from = fits ? burst_from(pass->view, task) : 0;

    if (from <= pass->view->now)
        return; /* to the policy */
    pass->fate[task] = FATE_WAITS;
    if (from < pass->ret->wake_at)
        pass->ret->wake_at = from;
}

static void serve_one(struct pass *pass, uint32_t task)
{
    const bool fits = would_fit(pass, task, 1);

    if (fits && !is_held(pass, task) && take_room(pass, task))
        place(pass, task);
    else
        leave(pass, task, fits);
}

/* How many tasks like this one there is room for now; where its job is spread, the machines that have some. */
static uint64_t count_room(const struct pass *pass, uint32_t task)
{
    const struct fit *fit = fit_of(pass, task);
    const bool is_spread = view_is_spread(pass->view, pass->view->task.job[task]);
    uint64_t count = 0;

    for (uint32_t i = fit->first; i < pass->count; i++) {
        const struct machine *machine = &pass->machines[i];
        const struct res *demand = demand_at(pass, fit->shape, machine);

        if (demand != NULL && res_fits(demand, &machine->free))
            count += is_spread ? 1 : count_tasks(demand, &machine->free);
    }
    return count;
}

/* Room for every task of the job that waits; if there is not, none is taken. */
static bool take_room_for_all(struct pass *pass, uint32_t job)
{
    const struct view *view = pass->view;
    const uint32_t first = view->job.first_task[job];
    bool has_room = true;

    for (uint32_t task = first; task != ROW_NONE && has_room; task = view->task.sibling[task]) {
        if (view->task.state[task] == TASK_WAITING)
            has_room = !is_held(pass, task) && take_room(pass, task);
    }
    for (uint32_t task = first; task != ROW_NONE && !has_room; task = view->task.sibling[task]) {
        if (pass->target[task] > 0)
            give_room(pass, task);
    }
    return has_room;
}

/* Whether empty machines would hold each task of the job that waits, if not all at once. They may have to be alike: then
 * where one runs all do. */
static bool would_each_fit(const struct pass *pass, uint32_t job)
{
    const struct view *view = pass->view;
    uint32_t like = SHAPE_NONE;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.state[task] != TASK_WAITING)
            continue;
        if (!would_fit(pass, task, 1))
            return false;

        const uint32_t shape = fit_of(pass, task)->shape;
        const uint32_t base = view->shapes->rows[shape].variant_of;

        if (base == SHAPE_NONE || view->shapes->rows[base].alike == 0)
            continue;
        if (like != SHAPE_NONE &&
            (view->shapes->rows[like].zone != view->shapes->rows[shape].zone ||
             view->shapes->rows[like].market != view->shapes->rows[shape].market))
            return false;
        like = shape;
    }
    return true;
}

/* All tasks of a job that wait, or none: 'any' is one of them. A job of which a part has its place already is not kept
 * waiting. */
static void serve_whole(struct pass *pass, uint32_t any)
{
    const struct view *view = pass->view;
    const uint32_t job = view->task.job[any];
    uint32_t count = 0;
    bool has_hidden = false; /* one that has its place elsewhere by this decision */

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        count += view->task.state[task] == TASK_WAITING;
        has_hidden = has_hidden || view->task.state[task] == TASK_HIDDEN;
    }

    const bool is_mixed = view->job.mixed[job];
    const bool fits =
        !has_hidden && (is_mixed ? would_each_fit(pass, job) : would_fit(pass, any, count));
    const bool has_room =
        fits && (is_mixed || count <= count_room(pass, any)) && take_room_for_all(pass, job);

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.state[task] != TASK_WAITING)
            continue;
        if (has_room)
            place(pass, task);
        else
            leave(pass, task, fits && count == view->job.tasks_left[job]);
    }
}

/*
 * Turns.
 */

struct turn {
    uint32_t task;
    uint32_t priority;
    uint64_t order;
};

static int compare_turns(const void *left, const void *right)
{
    const struct turn *a = left;
    const struct turn *b = right;

    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static struct turn *list_turns(const struct pass *pass)
{
    const struct view *view = pass->view;
    struct turn *turns = ARENA_ARRAY(pass->question->arena, struct turn, view->task.waiting_count);
    uint32_t count = 0;
    bool is_sorted = true;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        turns[count] = (struct turn){ .task = task,
                                      .priority = view->job.priority[view->task.job[task]],
                                      .order = view->task.order[task] };
        is_sorted =
            is_sorted && (count == 0 || compare_turns(&turns[count - 1], &turns[count]) < 0);
        count++;
    }
    if (!is_sorted)
        qsort(turns, count, sizeof(*turns), compare_turns);
    return turns;
}

/* Whether its job has places for all its tasks or for none: it is a gang, or must stay in one zone or market. */
static bool is_whole(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];
    const uint32_t base = view->shapes->rows[view->task.shape[task]].variant_of;
    const bool is_alike = base != SHAPE_NONE && view->shapes->rows[base].alike != 0;

    return view->job.task_count[job] > 1 && (view->job.gang[job] || is_alike);
}

static void serve_all(struct pass *pass)
{
    const struct view *view = pass->view;
    const struct turn *turns = list_turns(pass);

    for (uint32_t i = 0; i < view->task.waiting_count; i++) {
        const uint32_t job = view->task.job[turns[i].task];

        if (!is_whole(view, turns[i].task)) {
            serve_one(pass, turns[i].task);
        } else if (!pass->is_done[job]) {
            pass->is_done[job] = true;
            serve_whole(pass, turns[i].task);
        }
    }
}

void owned_first(const struct owned_question *question, struct owned_first *ret)
{
    const struct view *view = question->view;
    struct arena *arena = question->arena;
    struct pass pass = {
        .question = question,
        .view = view,
        .fits = ARENA_ARRAY(arena, struct fit, view->shapes->count),
        .target = ARENA_ARRAY(arena, uint32_t, view->task.count),
        .is_done = ARENA_ARRAY(arena, bool, view->job.count),
        .fate = ARENA_ARRAY(arena, uint8_t, view->task.count),
        .ret = ret,
    };

    *ret = (struct owned_first){
        .variants = ARENA_ARRAY(arena, uint32_t, view->task.waiting_count),
        .left = ARENA_ARRAY(arena, uint32_t, view->task.waiting_count),
        .waiting = ARENA_ARRAY(arena, uint32_t, view->task.waiting_count),
        .wake_at = MSEC_NEVER,
    };
    spread_init(&pass.spread, view, arena);
    plan_init(&ret->plan, arena);
    list_machines(&pass);
    serve_all(&pass);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (pass.fate[task] == FATE_POLICY)
            ret->left[ret->left_count++] = task;
        else if (pass.fate[task] == FATE_WAITS)
            ret->waiting[ret->waiting_count++] = task;
    }
}
