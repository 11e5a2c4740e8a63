/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves that depend on each other save together: two tasks that leave a machine save its price only because both do. So units
 * are joined by the tasks that go from one to the other. What all units of such a set cost before is compared with what they cost
 * after, over the horizon of the search and by its own terms: price, work that is slowed down, risk of loss. A task that
 * waited counts before as if it had a machine of its own. Each move gets what it
 * costs, and an equal part of what the set saves beyond that.
 */
#include "decide/improve_savings.h"

#include <math.h>

struct savings {
    const struct search *search;
    uint32_t *set;   /* of each unit: another one of its set, or itself, which names the set */
    uint32_t *now;   /* of each task: its unit, or UNIT_NONE */
    uint32_t *first; /* of each unit: the first of the tasks that it had, or UNIT_NONE */
    uint32_t *next;  /* of each task: the next one */
    double *gained;  /* of each set: what it saves, less what its moves cost */
    uint32_t *moves; /* of each set */
};

static uint32_t set_of(const struct savings *savings, uint32_t unit)
{
    while (savings->set[unit] != unit)
        unit = savings->set[unit];
    return unit;
}

static bool is_moved(const struct savings *savings, uint32_t task)
{
    const uint32_t home = savings->search->tasks[task].home;

    return home != UNIT_NONE && savings->now[task] != UNIT_NONE && savings->now[task] != home;
}

/* The work that the task loses beside the others. */
static double slowed(const struct search *search, const struct search_task *of,
                     const uint32_t *tasks, uint32_t count, const struct unit *unit)
{
    double rate = 1;

    for (uint32_t i = 0; i < count; i++) {
        if (&search->tasks[tasks[i]] != of)
            rate *= search_rate(search, of, &search->tasks[tasks[i]]);
    }
    for (uint32_t i = 0; i < unit->stayer_count; i++) {
        if (&unit->stayers[i] != of)
            rate *= search_rate(search, of, &unit->stayers[i]);
    }
    return of->worth * search->hours * of->pace * (1 - rate); /* as in regroup.c */
}

static double cost_of_waiting(const struct search *search, const uint32_t *tasks, uint32_t count)
{
    double cost = 0;

    for (uint32_t i = 0; i < count; i++)
        cost +=
            (search->tasks[tasks[i]].worth + search->tasks[tasks[i]].wait_price) * search->hours;
    return cost;
}

/* What the unit costs over the horizon with these of its tasks. */
static double cost_of(const struct search *search, const struct unit *unit, const uint32_t *tasks,
                      uint32_t count)
{
    const bool is_new = unit->instance == ROW_NONE;
    double cost;
    uint32_t offer;

    if (count + unit->stayer_count == 0)
        return 0; /* it is returned */
    if (is_new && unit->offer == UNIT_NONE)
        return cost_of_waiting(search, tasks, count);
    cost = is_new ? search->offers[unit->offer].price : unit->price;
    offer = is_new ? search->offer_rows[unit->offer] : search->view->instance.offer[unit->instance];
    for (uint32_t i = 0; i < count; i++) {
        const struct search_task *task = &search->tasks[tasks[i]];

        if (is_new && task->home == UNIT_NONE) /* of one that is moved that is a part of the move */
            cost += task->worth * search->offers[unit->offer].boot;
        cost += slowed(search, task, tasks, count, unit) +
                task->price * task->pace * search->hours * search_risk(search, task, offer);
    }
    for (uint32_t i = 0; i < unit->stayer_count; i++)
        cost += slowed(search, &unit->stayers[i], tasks, count, unit);
    return cost;
}

/* The cheapest machine for the task alone. */
static double cost_alone(const struct search *search, const struct search_task *task)
{
    const struct view *view = search->view;
    const uint32_t shape = view->task.shape[task->task];
    const uint32_t offer = view->shape_offer[shape];

    if (offer == OFFER_NONE)
        return task->price * search->hours;

    const msec_t setup = catalogue_type_of(view->catalogue, offer)->setup_ms;

    const msec_t boot = catalogue_boot_ms(view->catalogue, offer);

    return ((double)view->shape_price[shape] * (double)setup + task->worth * (double)boot) /
               (double)MSEC_PER_HOUR +
           (double)view->shape_price[shape] * search->hours +
           task->price * task->pace * search->hours * search_risk(search, task, offer);
}

/* The same before the search, and for tasks that waited a machine each. */
static double cost_before(const struct savings *savings, uint32_t number)
{
    const struct search *search = savings->search;
    const struct unit *unit = &search->units[number];
    uint32_t tasks[UNIT_FREE_MOST];
    uint32_t count = 0;
    double cost = 0;

    for (uint32_t task = savings->first[number]; task != UNIT_NONE; task = savings->next[task])
        tasks[count++] = task;
    for (uint32_t i = 0; i < unit->task_count; i++) {
        const struct search_task *task = &search->tasks[unit->tasks[i]];

        if (task->home == UNIT_NONE)
            cost += cost_alone(search, task);
    }
    return cost + (unit->instance != ROW_NONE ? cost_of(search, unit, tasks, count) : 0);
}

/* Which task is and was where, and which units are of one set. False: nothing moves. */
static bool trace_moves(struct savings *savings)
{
    const struct search *search = savings->search;
    bool any = false;

    for (uint32_t i = 0; i < search->unit_count; i++) {
        savings->set[i] = i;
        savings->first[i] = UNIT_NONE;
    }
    for (uint32_t i = 0; i < search->task_count; i++)
        savings->now[i] = UNIT_NONE;
    for (uint32_t i = 0; i < search->unit_count; i++) {
        for (uint32_t k = 0; k < search->units[i].task_count; k++)
            savings->now[search->units[i].tasks[k]] = i;
    }
    for (uint32_t i = 0; i < search->task_count; i++) {
        const uint32_t home = search->tasks[i].home;

        if (home == UNIT_NONE)
            continue;
        savings->next[i] = savings->first[home];
        savings->first[home] = i;
        if (is_moved(savings, i)) {
            savings->set[set_of(savings, home)] = set_of(savings, savings->now[i]);
            any = true;
        }
    }
    return any;
}

/* What stops meanwhile, at least for so long as its new machine takes to start. */
static double cost_of_move(const struct search *search, const struct search_task *task,
                           const struct unit *to)
{
    const bool is_new = to->instance == ROW_NONE && to->offer != UNIT_NONE;

    return task->start + (is_new ? task->worth * search->offers[to->offer].boot : 0);
}

void search_find_savings(struct search *search)
{
    struct savings savings = {
        .search = search,
        .set = ARENA_ARRAY(search->arena, uint32_t, search->unit_count),
        .now = ARENA_ARRAY(search->arena, uint32_t, search->task_count),
        .first = ARENA_ARRAY(search->arena, uint32_t, search->unit_count),
        .next = ARENA_ARRAY(search->arena, uint32_t, search->task_count),
    };

    if (!trace_moves(&savings))
        return;
    savings.gained = ARENA_ARRAY(search->arena, double, search->unit_count);
    savings.moves = ARENA_ARRAY(search->arena, uint32_t, search->unit_count);
    for (uint32_t i = 0; i < search->unit_count; i++) {
        const struct unit *unit = &search->units[i];

        if (unit->stamp > 0)
            savings.gained[set_of(&savings, i)] +=
                cost_before(&savings, i) - cost_of(search, unit, unit->tasks, unit->task_count);
    }
    for (uint32_t i = 0; i < search->task_count; i++) {
        struct search_task *task = &search->tasks[i];

        if (!is_moved(&savings, i))
            continue;

        const uint32_t set = set_of(&savings, savings.now[i]);

        task->move_cost = cost_of_move(search, task, &search->units[savings.now[i]]);
        savings.gained[set] -= task->move_cost;
        savings.moves[set]++;
    }
    for (uint32_t i = 0; i < search->task_count; i++) {
        struct search_task *task = &search->tasks[i];

        if (!is_moved(&savings, i))
            continue;

        const uint32_t set = set_of(&savings, savings.now[i]);

        task->move_saves = task->move_cost + savings.gained[set] / savings.moves[set];
    }
}
