/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/ends_soon.h"

#include <stdlib.h>

#include "decide/machine_index.h"

enum { MACHINES_MOST = 1024, MANY = 16 };

struct running {
    double rate; /* at which it ends, per millisecond */
    uint64_t order;
    uint32_t task;
};

static int compare_rates(const void *left, const void *right)
{
    const struct running *a = left;
    const struct running *b = right;

    if (a->rate < b->rate || a->rate > b->rate)
        return a->rate > b->rate ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Of a few nothing can be said. */
static bool are_many(const struct view *view)
{
    return view->job.unknowns >= MANY;
}

static bool is_unknown(const struct view *view, uint32_t task)
{
    return view->job.unknown[view->task.job[task]];
}

/* From now until the task starts, if it waits for its machine; else 0. */
static msec_t starts_in(const struct view *view, uint32_t task)
{
    const uint32_t instance = view->task.instance[task];

    return view->task.state[task] != TASK_RUNNING &&
                   view->instance.ready_expected[instance] > view->now
               ? view->instance.ready_expected[instance] - view->now
               : 0;
}

/* The first of the latest machines, or ROW_NONE. */
static uint32_t first_machine(const struct view *view)
{
    uint32_t row = are_many(view) ? view->instance.last : ROW_NONE;

    for (uint32_t i = 1; i < MACHINES_MOST && row != ROW_NONE; i++) {
        if (view->instance.prev[row] == ROW_NONE)
            break;
        row = view->instance.prev[row];
    }
    return row;
}

struct life_odds ends_odds(const struct view *view, const struct life_table *lives)
{
    struct life_running running = { { 0 } };

    for (uint32_t row = first_machine(view); row != ROW_NONE; row = view->instance.next[row]) {
        TASK_EACH(task, view, view->instance.first_task[row])
        {
            if (is_unknown(view, task) && view->task.state[task] == TASK_RUNNING)
                running.in[life_octave(view_progress(view, task))]++;
        }
    }
    return life_odds_of(lives, &running);
}

void ends_expect(const struct life_odds *odds, struct batches *batches)
{
    if (!are_many(batches->view))
        return;
    for (uint32_t i = 0; i < batches->count; i++) {
        struct batch *batch = &batches->rows[i];
        const msec_t half = batch->unknown ? life_median(odds, batch->runtime) : batch->runtime;

        if (half < batch->runtime)
            batch->runtime = half;
    }
}

/* Those that run, in the order in which they are taken to end. */
static uint32_t list_running(const struct view *view, const struct life_odds *odds, msec_t horizon,
                             struct arena *arena, struct running **ret)
{
    struct running *found = NULL;
    uint32_t room = 0;
    uint32_t count = 0;

    for (uint32_t row = first_machine(view); row != ROW_NONE; row = view->instance.next[row]) {
        if (!view_is_open(view, row))
            continue; /* its room is of no use */
        TASK_EACH(task, view, view->instance.first_task[row])
        {
            if (!is_unknown(view, task) ||
                runtime_of_task(view, task, RUNTIME_REMAINING) <= horizon)
                continue;
            found = arena_one_more(arena, found, count, &room, sizeof(*found));
            found[count++] = (struct running){
                .rate = life_rate(odds, view_progress(view, task), view->task.estimate_ms[task]),
                .order = view->task.order[task],
                .task = task,
            };
        }
    }
    if (count > 0)
        qsort(found, count, sizeof(*found), compare_rates);
    *ret = found;
    return count;
}

struct expected_ends ends_soon(const struct view *view, const struct life_odds *odds,
                               msec_t horizon, struct arena *arena)
{
    struct expected_ends ends = { 0 };
    struct running *running;
    double rates = 0;
    double at = 0;

    if (!are_many(view))
        return ends;

    const uint32_t count = list_running(view, odds, horizon, arena, &running);

    for (uint32_t i = count; i-- > 0;)
        rates +=
            running[i].rate; /* the small ones first: no rest below zero when they are taken away */
    ends.rows = ARENA_ARRAY(arena, struct expected_end, count);
    for (uint32_t i = 0; i < count && rates > 0; i++) {
        at += 1 / rates;
        rates -= running[i].rate;
        if (at > (double)horizon)
            break;
        ends.rows[ends.count++] = (struct expected_end){
            .at = (msec_t)at + starts_in(view, running[i].task),
            .task = running[i].task,
        };
    }
    return ends;
}
