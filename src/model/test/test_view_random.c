/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories of a view. The judge keeps one plain row per thing ever seen, and a stamp for
 * each entry into a list; after each step it looks at everything.
 */
#include "model/view.h"

#include <stdio.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "model/test/view_world.h"

enum { STEPS = 500, TASKS_MAX = STEPS * 4, MACHINES_MAX = STEPS };

struct known_task {
    bool living;
    bool running;
    uint32_t job;
    uint32_t shape;
    uint64_t apart;   /* not on one machine with another one of that number; 0: with any */
    uint32_t machine; /* ROW_NONE: it waits */
    uint64_t stamp;
};

/* Ids are indexes of these, plus one. */
struct judge {
    struct world world;
    struct rng rng;
    uint32_t seed;
    struct known_task task[TASKS_MAX];
    bool machine_living[MACHINES_MAX];
    uint32_t machine_offer[MACHINES_MAX];
    uint64_t machine_emptied[MACHINES_MAX]; /* stamp of when it was left, or new */
    uint32_t task_count, job_count, machine_count;
    uint64_t stamp;
};

static uint32_t task_row_of(const struct judge *judge, uint32_t task)
{
    return view_find_task(&judge->world.view, task + 1);
}

static uint32_t machine_row_of(const struct judge *judge, uint32_t machine)
{
    return machine != ROW_NONE ? view_find_instance(&judge->world.view, machine + 1) : ROW_NONE;
}

/* A living task or machine at random, or ROW_NONE. */
static uint32_t pick_task(struct judge *judge)
{
    uint32_t picked = ROW_NONE;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < judge->task_count; i++) {
        if (judge->task[i].living && rng_below(&judge->rng, ++seen) == 0)
            picked = i;
    }
    return picked;
}

static uint32_t pick_machine(struct judge *judge)
{
    uint32_t picked = ROW_NONE;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < judge->machine_count; i++) {
        if (judge->machine_living[i] && rng_below(&judge->rng, ++seen) == 0)
            picked = i;
    }
    return picked;
}

/* What is left of the machine without 'except', counted from all tasks ever seen. */
static struct res room_on(const struct judge *judge, uint32_t machine, uint32_t except)
{
    const struct world *world = &judge->world;
    const struct machine_type *type =
        catalogue_type_of(&world->catalogue, judge->machine_offer[machine]);
    struct res room = type->capacity;

    for (uint32_t i = 0; i < judge->task_count; i++) {
        const struct known_task *task = &judge->task[i];

        if (task->living && task->machine == machine && i != except)
            res_sub(&room, shape_demand_on(&world->shapes, task->shape, type->family));
    }
    return room;
}

/* Whether a task is on the machine that this one must be apart from. */
static bool is_too_near(const struct judge *judge, uint32_t task, uint32_t machine)
{
    for (uint32_t i = 0; i < judge->task_count; i++) {
        const struct known_task *other = &judge->task[i];

        if (i != task && other->living && other->machine == machine && other->apart != 0 &&
            other->apart == judge->task[task].apart)
            return true;
    }
    return false;
}

static void step_add_job(struct judge *judge)
{
    enum { GROUPS = 3 };
    const struct job_spec spec = {
        .id = judge->job_count + 1,
        .first_task_id = judge->task_count + 1,
        .shape = (uint32_t)rng_below(&judge->rng, SHAPES),
        .task_count = 1 + (uint32_t)rng_below(&judge->rng, 4),
        .gang = rng_below(&judge->rng, 2) == 0,
        .spread = rng_below(&judge->rng, 4) == 0,
        .apart = rng_below(&judge->rng, 4) == 0 ? 1 + rng_below(&judge->rng, GROUPS) : 0,
    };
    const uint64_t alone = spec.spread ? GROUPS + spec.id : 0;

    (void)view_add_job(&judge->world.view, &spec);
    for (uint32_t i = 0; i < spec.task_count; i++) {
        judge->task[judge->task_count++] = (struct known_task){
            .living = true,
            .job = judge->job_count,
            .shape = spec.shape,
            .apart = spec.apart != 0 ? spec.apart : alone,
            .machine = ROW_NONE,
            .stamp = judge->stamp++,
        };
    }
    judge->job_count++;
}

static void step_add_machine(struct judge *judge)
{
    const uint32_t machine = judge->machine_count++;

    judge->machine_living[machine] = true;
    judge->machine_emptied[machine] = judge->stamp++;
    judge->machine_offer[machine] = (uint32_t)rng_below(&judge->rng, 2);
    (void)view_add_instance(&judge->world.view, machine + 1, judge->machine_offer[machine]);
}

/* A task that runs is stopped before it is moved. */
static void step_run_or_stop(struct judge *judge, uint32_t task)
{
    struct view *view = &judge->world.view;

    if (judge->task[task].machine == ROW_NONE)
        return;
    if (judge->task[task].running)
        view_mark_stopped(view, task_row_of(judge, task), view->now);
    else
        view_mark_running(view, task_row_of(judge, task), view->now);
    judge->task[task].running = !judge->task[task].running;
}

/* The task is in another list from now on, or in none. */
static void enter_list(struct judge *judge, uint32_t task, uint32_t machine)
{
    const uint32_t before = judge->task[task].machine;

    if (before != ROW_NONE)
        judge->machine_emptied[before] = judge->stamp++;
    judge->task[task].machine = machine;
    judge->task[task].stamp = judge->stamp++;
}

static void step_bind(struct judge *judge, uint32_t task)
{
    struct view *view = &judge->world.view;
    const uint32_t machine = pick_machine(judge);

    if (machine == ROW_NONE || judge->task[task].running)
        return;

    const uint32_t row = machine_row_of(judge, machine);
    const struct res room = room_on(judge, machine, task);
    const struct res *demand = view_demand(view, task_row_of(judge, task), row);
    const uint32_t apart = view->job.apart[view->task.job[task_row_of(judge, task)]];
    const bool is_near = apart != ROW_NONE &&
                         view->task.instance[task_row_of(judge, task)] != row &&
                         view_apart_is_on(view, apart, row);

    if (judge->task[task].machine != machine && is_near != is_too_near(judge, task, machine))
        fail_msg("seed %u: the view is wrong about who must be apart", judge->seed);
    if (is_near)
        return;
    if (demand == NULL || !res_fits(demand, &room) || !view_is_open(view, row))
        return;
    view_bind(view, task_row_of(judge, task), row);
    enter_list(judge, task, machine);
}

static void step_unbind(struct judge *judge, uint32_t task)
{
    if (judge->task[task].machine == ROW_NONE || judge->task[task].running)
        return;
    view_unbind(&judge->world.view, task_row_of(judge, task));
    enter_list(judge, task, ROW_NONE);
}

static void step_finish(struct judge *judge, uint32_t task)
{
    const bool ended = view_finish_task(&judge->world.view, task_row_of(judge, task));
    bool last = true;

    enter_list(judge, task, ROW_NONE);
    judge->task[task].living = false;
    for (uint32_t i = 0; i < judge->task_count; i++)
        last = last && !(judge->task[i].living && judge->task[i].job == judge->task[task].job);
    if (ended != last)
        fail_msg("seed %u: whether the job ended is wrong", judge->seed);
}

/* The machine goes one state further, or away if it is empty. */
static void step_machine(struct judge *judge)
{
    struct view *view = &judge->world.view;
    const uint32_t machine = pick_machine(judge);

    if (machine == ROW_NONE)
        return;

    const uint32_t row = machine_row_of(judge, machine);

    if (view->instance.task_count[row] == 0 && rng_below(&judge->rng, 2) == 0) {
        view_remove_instance(view, row);
        judge->machine_living[machine] = false;
    } else if (view->instance.state[row] < INSTANCE_DRAINING) {
        view_set_state(view, row, view->instance.state[row] + 1U);
    }
}

static void random_step(struct judge *judge)
{
    const uint64_t dice = rng_below(&judge->rng, 20);
    const uint32_t task = pick_task(judge);

    if (dice < 3 || task == ROW_NONE)
        step_add_job(judge);
    else if (dice < 5)
        step_add_machine(judge);
    else if (dice < 10)
        step_bind(judge, task);
    else if (dice < 13)
        step_run_or_stop(judge, task);
    else if (dice < 15)
        step_unbind(judge, task);
    else if (dice < 18)
        step_finish(judge, task);
    else
        step_machine(judge);
}

/* The list from 'first' holds tasks of 'machine' in the order of their stamps. */
static void check_list(const struct judge *judge, uint32_t first, uint32_t last, uint32_t machine)
{
    const struct view *view = &judge->world.view;
    uint32_t prev = ROW_NONE;

    TASK_EACH(row, view, first)
    {
        const struct known_task *task = &judge->task[view->task.id[row] - 1];

        if (task->machine != machine || !task->living || view->task.prev[row] != prev)
            fail_msg("seed %u: a list holds the wrong task", judge->seed);
        if (prev != ROW_NONE && judge->task[view->task.id[prev] - 1].stamp >= task->stamp)
            fail_msg("seed %u: a list is out of order", judge->seed);
        prev = row;
    }
    assert_int_equal(last, prev);
}

static void check_machines(const struct judge *judge)
{
    const struct view *view = &judge->world.view;
    uint64_t before = 0;

    INSTANCE_EACH(row, view)
    {
        const uint32_t machine = (uint32_t)view->instance.id[row] - 1;
        const struct res room = room_on(judge, machine, ROW_NONE);
        const struct res free = view_free(view, row);

        if (!judge->machine_living[machine] || view->instance.id[row] <= before)
            fail_msg("seed %u: the instances are wrong or out of order", judge->seed);
        if (!res_fits(&room, &free) || !res_fits(&free, &room))
            fail_msg("seed %u: the room of an instance is wrong", judge->seed);
        check_list(judge, view->instance.first_task[row], view->instance.last_task[row], machine);
        before = view->instance.id[row];
    }
}

/* The empty instances are linked both ways, in the order of emptying. */
static void check_empty(const struct judge *judge)
{
    const struct view *view = &judge->world.view;
    uint32_t prev = ROW_NONE;
    uint64_t before = 0;

    EMPTY_EACH(row, view)
    {
        const uint64_t emptied = judge->machine_emptied[view->instance.id[row] - 1];

        if (prev != ROW_NONE && emptied <= before)
            fail_msg("seed %u: the empty instances are out of order", judge->seed);
        assert_int_equal(view->instance.empty_prev[row], prev);
        prev = row;
        before = emptied;
    }
    assert_int_equal(view->instance.empty_last, prev);
}

/* Every task ever seen is found where it must be, or nowhere. Returns how many live. */
static uint32_t check_tasks(const struct judge *judge)
{
    const struct view *view = &judge->world.view;
    uint32_t living = 0;

    for (uint32_t i = 0; i < judge->task_count; i++) {
        const struct known_task *task = &judge->task[i];
        const uint32_t row = task_row_of(judge, i);

        if ((row != ROW_NONE) != task->living)
            fail_msg("seed %u: task %u lives and is not found, or the reverse", judge->seed, i);
        if (row == ROW_NONE)
            continue;
        living++;
        assert_int_equal(view->task.instance[row], machine_row_of(judge, task->machine));
        assert_int_equal(view->task.state[row] == TASK_RUNNING, task->running);
        assert_int_equal(view->job.id[view->task.job[row]], task->job + 1);
    }
    return living;
}

/* The siblings of each living job are linked both ways and as many as are left. */
static void check_siblings(const struct judge *judge)
{
    const struct view *view = &judge->world.view;
    uint32_t living_jobs = 0;
    uint32_t linked = 0;

    for (uint32_t id = 1; id <= judge->job_count; id++) {
        const uint32_t job = view_find_job(view, id);
        uint32_t prev = ROW_NONE;
        uint32_t count = 0;
        uint32_t running = 0;

        if (job == ROW_NONE)
            continue;
        for (uint32_t row = view->job.first_task[job]; row != ROW_NONE;
             row = view->task.sibling[row]) {
            assert_int_equal(view->task.job[row], job);
            assert_int_equal(view->task.sibling_prev[row], prev);
            running += view->task.state[row] == TASK_RUNNING;
            prev = row;
            count++;
        }
        assert_int_equal(count, view->job.tasks_left[job]);
        assert_int_equal(running, view->job.tasks_running[job]);
        assert_int_equal(running == count, view_job_is_settled(view, job));
        linked += count;
        living_jobs++;
    }
    assert_int_equal(linked, view->task.living);
    assert_int_equal(living_jobs, view->job.living);
}

static void check_all(const struct judge *judge)
{
    const struct view *view = &judge->world.view;

    view_check(view);
    check_list(judge, view->task.waiting_first, view->task.waiting_last, ROW_NONE);
    check_machines(judge);
    check_empty(judge);
    check_siblings(judge);
    assert_int_equal(check_tasks(judge), view->task.living);
}

TEST(random_histories_agree_with_a_judge_who_looks_at_everything)
{
    static struct judge judge;

    for (uint32_t seed = 1; seed <= 100; seed++) {
        (void)fprintf(stderr, "seed %u\n", seed);
        judge = (struct judge){ .seed = seed };
        rng_init(&judge.rng, seed, 0);
        world_init(&judge.world);
        for (int step = 0; step < STEPS; step++) {
            judge.world.view.now = step;
            random_step(&judge);
            check_all(&judge);
        }
        world_done(&judge.world);
    }
}

CHECK_MAIN(RUN(random_histories_agree_with_a_judge_who_looks_at_everything))
