/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/improve.h"

#include "base/rng.h"
#include "decide/improve_order.h"
#include "decide/improve_savings.h"

enum {
    PASSES = 4,
    TRIPLE_TASKS = 7,
    DULL_MOST = 1 << 21, /* groups that are remembered */
};

/* Of what the tasks of a group are worth over the horizon. */
static const double least_gain = 0.0005;

void improve_memory_init(struct improve_memory *memory)
{
    *memory = (struct improve_memory){ 0 };
    map_init(&memory->dull);
}

void improve_memory_done(struct improve_memory *memory)
{
    map_done(&memory->dull);
}

/* A group as a problem, and what its tasks and machines are. */
struct problem {
    struct regroup regroup;
    uint32_t tasks[REGROUP_TASKS];       /* of the search */
    uint32_t machines[REGROUP_MACHINES]; /* units */
    struct regroup_stayer stayers[REGROUP_MACHINES][UNIT_STAYERS_MOST];
};

static void add_machine(const struct search *search, struct problem *problem, uint32_t number)
{
    const struct unit *unit = &search->units[number];
    const uint32_t at = problem->regroup.machine_count++;
    struct regroup_machine *machine = &problem->regroup.machines[at];

    problem->machines[at] = number;
    *machine = (struct regroup_machine){
        .price = unit->price,
        .free = unit->free,
        .stayers = problem->stayers[at],
        .stayer_count = unit->stayer_count,
    };
    for (uint32_t i = 0; i < unit->stayer_count; i++) {
        struct regroup_stayer *stayer = &problem->stayers[at][i];

        stayer->worth = unit->stayers[i].worth * search->hours;
        stayer->pace = unit->stayers[i].pace;
        stayer->rate = 1;
        for (uint32_t k = 0; k < unit->stayer_count; k++) {
            if (k != i)
                stayer->rate *= search_rate(search, &unit->stayers[i], &unit->stayers[k]);
        }
    }
}

/* How the task fares on the machine beside those that stay there, and they beside it. */
static void meet_machine(const struct search *search, struct problem *problem, uint32_t task,
                         uint32_t machine)
{
    const struct view *view = search->view;
    const struct unit *unit = &search->units[problem->machines[machine]];
    const struct search_task *of = &search->tasks[problem->tasks[task]];
    struct regroup_task *row = &problem->regroup.tasks[task];

    row->demand[machine] = view_demand(view, of->task, unit->instance);
    row->risk[machine] = row->stake * search_risk(search, of, view->instance.offer[unit->instance]);
    row->beside_stayers[machine] = 1;
    if (of->home != UNIT_NONE && !search->asks && search_is_asked(view, unit->instance))
        row->demand[machine] = NULL;
    for (uint32_t i = 0; i < unit->stayer_count; i++) {
        row->beside_stayers[machine] *= search_rate(search, of, &unit->stayers[i]);
        problem->stayers[machine][i].beside[task] = search_rate(search, &unit->stayers[i], of);
        if (view_aparts_meet(view, unit->stayers[i].apart, of->apart))
            row->demand[machine] = NULL;
    }
}

static void add_task(const struct search *search, struct problem *problem, uint32_t number,
                     uint8_t at)
{
    const uint32_t index = problem->regroup.task_count++;
    const struct search_task *task = &search->tasks[number];
    struct regroup_task *row = &problem->regroup.tasks[index];

    problem->tasks[index] = number;
    row->worth = task->worth * search->hours;
    row->pace = task->pace;
    row->stake = task->price * task->pace * search->hours;
    row->start = task->start;
    row->idle = task->worth;
    row->wait = task->wait + task->wait_price * search->hours;
    row->home = REGROUP_WAITS;
    row->at = at;
    row->apart = task->apart;
    row->offer_demand = search->kinds[task->kind].demand;
    row->offer_risk = search->kinds[task->kind].risk;
    for (uint32_t i = 0; i < problem->regroup.machine_count; i++) {
        meet_machine(search, problem, index, i);
        if (problem->machines[i] == task->home)
            row->home = (uint8_t)i;
    }
    for (uint32_t i = 0; i < index; i++) {
        const struct search_task *other = &search->tasks[problem->tasks[i]];

        row->beside[i] = search_rate(search, task, other);
        problem->regroup.tasks[i].beside[index] = search_rate(search, other, task);
    }
}

static void state_problem(const struct search *search, const struct group *group,
                          struct problem *problem)
{
    uint32_t fresh = REGROUP_FRESH;
    uint32_t machine = 0;
    double worth = 0;

    problem->regroup.task_count = 0;
    problem->regroup.machine_count = 0;
    problem->regroup.aparts = &search->view->shapes->aparts;
    problem->regroup.offers = search->offers;
    problem->regroup.offer_count = search->rents_nothing ? 0 : search->offer_count;
    for (uint32_t i = 0; i < group->count; i++) {
        if (search->units[group->units[i]].instance != ROW_NONE)
            add_machine(search, problem, group->units[i]);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        const struct unit *unit = &search->units[group->units[i]];
        const uint32_t at = unit->instance != ROW_NONE ? machine++
                            : unit->offer == UNIT_NONE ? (uint32_t)REGROUP_WAITS
                                                       : fresh++;

        for (uint32_t k = 0; k < unit->task_count; k++) {
            worth += search->tasks[unit->tasks[k]].worth;
            add_task(search, problem, unit->tasks[k], (uint8_t)at);
        }
    }
    problem->regroup.least_gain = worth * search->hours * least_gain;
}

static void give(struct search *search, uint32_t number, uint32_t task)
{
    struct unit *unit = &search->units[number];

    unit->tasks[unit->task_count++] = task;
}

/* A unit of the group that is no machine and has nothing any more, or a new one. */
static uint32_t take_unit(struct search *search, const struct group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const struct unit *unit = &search->units[group->units[i]];

        if (unit->instance == ROW_NONE && unit->task_count == 0)
            return group->units[i];
    }
    search_add_unit(search)->instance = ROW_NONE;
    return search->unit_count - 1;
}

static void apply(struct search *search, const struct group *group, const struct problem *problem,
                  const struct regroup_answer *answer)
{
    uint32_t fresh[REGROUP_TASKS];
    const uint32_t stamp = ++search->stamp;

    for (uint32_t i = 0; i < group->count; i++) {
        search->units[group->units[i]].task_count = 0;
        search->units[group->units[i]].stamp = stamp;
    }
    for (uint32_t i = 0; i < answer->fresh_count; i++)
        fresh[i] = UNIT_NONE;
    for (uint32_t i = 0; i < problem->regroup.task_count; i++) {
        const uint8_t to = answer->to[i];
        uint32_t number;

        if (to < REGROUP_WAITS) {
            number = problem->machines[to];
        } else if (to == REGROUP_WAITS) {
            number = take_unit(search, group);
            search->units[number].offer = UNIT_NONE;
        } else {
            if (fresh[to - REGROUP_FRESH] == UNIT_NONE)
                fresh[to - REGROUP_FRESH] = take_unit(search, group);
            number = fresh[to - REGROUP_FRESH];
            search->units[number].offer = answer->offer[to - REGROUP_FRESH];
        }
        search->units[number].stamp = stamp;
        give(search, number, problem->tasks[i]);
    }
}

/* The key under which it is remembered that a group as it stood gave nothing; 0: it has changed. */
static uint64_t key_of(const struct search *search, const struct group *group)
{
    uint64_t sum = 0;
    uint64_t mixed = 0;

    for (uint32_t i = 0; i < group->count; i++) {
        const struct unit *unit = &search->units[group->units[i]];

        if (unit->stamp > 0)
            return 0;
        sum += unit->hash;
        mixed ^= map_mix(unit->hash);
    }
    mixed += (search->asks ? 16U : 0U) + (search->rents_nothing ? 32U : 0U);
    return map_mix(sum ^ map_mix(mixed + group->count)) | 1;
}

static uint32_t tasks_in(const struct search *search, const struct group *group)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < group->count; i++)
        sum += search->units[group->units[i]].task_count;
    return sum;
}

/* Whether it is known that the group gives nothing. What this decision has found itself is known for free. What was found
 * earlier saves time, but counts as if it were not known: so the plan does not depend on it. */
static bool is_dull(struct search *search, const struct group *group, uint64_t key)
{
    struct improve_memory *memory = search->input->memory;

    if (key != 0 && search->is_short && map_get(&search->seen, key) != MAP_NONE)
        return true;

    const uint64_t work = group_work(search, group);

    search->work_left -= work < search->work_left ? work : search->work_left;
    if (key == 0 || memory == NULL || map_get(&memory->dull, key) == MAP_NONE)
        return false;
    if (search->is_short)
        map_put(&search->seen, key, 0);
    return true;
}

/* Look for something better for the group. Single units always have their turn: who waits gets a machine. */
static void try_group(struct search *search, const struct group *group)
{
    struct improve_memory *memory = search->input->memory;
    const uint64_t key = memory != NULL || search->is_short ? key_of(search, group) : 0;
    struct problem problem;
    struct regroup_answer answer;

    if ((group->count > 1 && search->work_left == 0) || is_dull(search, group, key))
        return;
    state_problem(search, group, &problem);
    regroup(&problem.regroup, &answer);
    if (answer.is_better) {
        apply(search, group, &problem, &answer);
        return;
    }
    if (key != 0 && memory != NULL)
        map_put(&memory->dull, key, 0);
    if (key != 0 && search->is_short)
        map_put(&search->seen, key, 0);
}

static void try_singles(struct search *search, uint32_t since, bool is_first)
{
    const uint32_t count = search->unit_count;

    for (uint32_t i = 0; i < count; i++) {
        const struct unit *unit = &search->units[i];
        const struct group group = { .units = { i }, .count = 1 };

        if (unit->task_count > 0 && unit->task_count <= REGROUP_TASKS &&
            (is_first || unit->stamp > since))
            try_group(search, &group);
    }
}

static void try_pair(struct search *search, const struct group *pair, uint32_t since, bool is_first)
{
    const struct unit *a = &search->units[pair->units[0]];
    const struct unit *b = &search->units[pair->units[1]];

    if (pair_counts(a, b) && (is_first || a->stamp > since || b->stamp > since))
        try_group(search, pair);
}

static void try_pairs(struct search *search, uint32_t since, bool is_first)
{
    for (uint32_t i = 0; i < search->unit_count && search->work_left > 0; i++) {
        for (uint32_t k = i + 1; k < search->unit_count; k++) {
            const struct group pair = { .units = { i, k }, .count = 2 };

            try_pair(search, &pair, since, is_first);
        }
    }
}

/* What the unit costs more than it is worth. */
static double loss_of(const struct search *search, const struct unit *unit)
{
    double loss = unit->instance != ROW_NONE ? unit->price : 0;

    if (unit->task_count > 0 && unit->instance == ROW_NONE && unit->offer != UNIT_NONE)
        loss = search->offers[unit->offer].price;
    for (uint32_t i = 0; i < unit->task_count; i++) {
        const struct search_task *task = &search->tasks[unit->tasks[i]];
        double rate = 1;

        for (uint32_t k = 0; k < unit->task_count; k++) {
            if (k != i)
                rate *= search_rate(search, task, &search->tasks[unit->tasks[k]]);
        }
        for (uint32_t k = 0; k < unit->stayer_count; k++)
            rate *= search_rate(search, task, &unit->stayers[k]);
        loss += (unit->instance == ROW_NONE && unit->offer == UNIT_NONE ? 1 : -rate) * task->worth *
                search->hours;
    }
    return loss > 0 ? loss : 0;
}

/* Of all units; returns the sum. */
static double find_losses(struct search *search)
{
    double sum = 0;

    for (uint32_t i = 0; i < search->unit_count; i++) {
        struct unit *unit = &search->units[i];

        unit->loss = loss_of(search, unit);
        sum += unit->loss;
    }
    return sum;
}

/* Pairs where there is no time for all: half of the work goes to those that promise most, a quarter to those whose turn it
 * is, and the rest is for what follows from changes, and for triples. */
static void try_some_pairs(struct search *search, uint32_t since, bool is_first)
{
    const uint64_t work = search->work_left;
    struct pair_order order;
    struct group pair;

    (void)find_losses(search);
    pair_order_begin(&order, search, work / 4);
    while (search->work_left > work / 2 && pair_order_ranked(&order, &pair))
        try_pair(search, &pair, since, is_first);
    while (is_first && search->work_left > work / 4 && pair_order_turn(&order, &pair))
        try_pair(search, &pair, since, is_first);
}

static void look_at_pairs(struct search *search, uint32_t since, bool is_first)
{
    if (search->is_short)
        try_some_pairs(search, since, is_first);
    else
        try_pairs(search, since, is_first);
}

/* A unit, drawn in proportion to its loss. */
static uint32_t draw(const struct search *search, struct rng *rng, double sum)
{
    double left = rng_unit(rng) * sum;

    for (uint32_t i = 0; i < search->unit_count; i++) {
        left -= search->units[i].loss;
        if (left < 0)
            return i;
    }
    return search->unit_count - 1;
}

static void try_triples(struct search *search, struct rng *rng)
{
    const double sum = find_losses(search);

    for (uint32_t i = 0; i < search->input->options.triples && search->unit_count >= 3; i++) {
        const struct group group = { .units = { draw(search, rng, sum), draw(search, rng, sum),
                                                draw(search, rng, sum) },
                                     .count = 3 };
        const uint32_t *units = group.units;

        if (units[0] == units[1] || units[0] == units[2] || units[1] == units[2] ||
            tasks_in(search, &group) > TRIPLE_TASKS)
            continue;
        try_group(search, &group);
    }
}

static bool is_asked(const struct search *search, uint32_t unit)
{
    const uint32_t instance = search->units[unit].instance;

    return instance != ROW_NONE && search_is_asked(search->view, instance);
}

static bool is_nowhere(const struct search *search, uint32_t unit)
{
    return search->units[unit].instance == ROW_NONE;
}

/* All pairs of which the first is of the one kind, and, where it is wanted, the second too. */
static void ask_pairs(struct search *search, const uint32_t *units, uint32_t count,
                      bool (*is_kind)(const struct search *, uint32_t), bool both)
{
    for (uint32_t i = 0; i < count && search->work_left > 0; i++) {
        for (uint32_t k = i + 1; k < count && is_kind(search, units[i]); k++) {
            const struct group pair = { .units = { units[i], units[k] }, .count = 2 };

            if (!both || is_kind(search, units[k]))
                try_pair(search, &pair, 0, true);
        }
    }
}

/*
 * What would be better if the cloud had it: nothing is given up for that before it is there. First with what was asked for already, so
 * that it is not asked for twice; then each machine and each task that waits by itself, then two tasks that wait. Not two machines that run:
 * when the new one is there it has to be worth its price for each of them.
 */
static void ask_first(struct search *search, struct plan *plan, struct row_map *uses)
{
    uint32_t *units = ARENA_ARRAY(search->arena, uint32_t, search->unit_count);
    const uint32_t since = search->stamp;
    const uint32_t count = search_ask(search, units);

    search->rents_nothing = true;
    ask_pairs(search, units, count, is_asked, false);
    search->rents_nothing = false;
    for (uint32_t i = 0; i < count; i++) {
        if (search->units[units[i]].task_count > 0 && !is_asked(search, units[i]))
            try_group(search, &(struct group){ .units = { units[i] }, .count = 1 });
    }
    ask_pairs(search, units, count, is_nowhere, true);
    search_end_asking(search, since, plan, uses);
}

/* What was learned or changed price makes dull groups worth another look. */
static void refresh_memory(const struct search *search)
{
    struct improve_memory *memory = search->input->memory;

    if (memory == NULL || (memory->era == search->era && memory->dull.count < DULL_MOST))
        return;
    map_done(&memory->dull);
    map_init(&memory->dull);
    memory->era = search->era;
}

void improve(const struct improve_input *input, struct plan *plan, struct row_map *uses)
{
    struct search *search = ARENA_ARRAY(plan->arena, struct search, 1);
    struct rng rng;
    uint32_t since = 0;

    search_begin(search, input, plan->arena, uses);
    if (search->task_count == 0)
        return;
    refresh_memory(search);
    map_init(&search->seen);
    search->work_left = input->options.work;
    search->is_short = pairs_work(search) > search->work_left / 2;
    rng_init(&rng, (uint64_t)input->view->now, 0);
    for (int pass = 0; pass < PASSES; pass++) {
        const uint32_t before = search->stamp;

        try_singles(search, since, pass == 0);
        look_at_pairs(search, since, pass == 0);
        try_triples(search, &rng);
        if (search->stamp == before)
            break;
        since = before;
    }
    search_find_savings(search);
    search_end(search, plan, uses);
    ask_first(search, plan, uses);
    map_done(&search->seen);
}
