/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reports of rates teach of pairs of workloads. A report counts once: machines of which nothing was reported since
 * the last decision are not looked at, so the cost is that of the news. A machine teaches if all its tasks run
 * and have reported. Of a gang, which goes at the pace of its slowest, the member that was expected to be the
 * slowest is.
 */
#include "base/mem.h"
#include "control/books/books.h"

void books_rated(struct books *books, uint32_t task)
{
    if (!books->state->config.policy->learns_pairs)
        return;
    MEM_ROOM(books->rated, books->rated_room, books->rated_count + 1);
    books->rated[books->rated_count++] = books->state->view.task.instance[task];
}

/* The workloads beside the task on its machine; 0: not all of them have reported, or there are too many. */
static uint32_t list_others(const struct view *view, uint32_t task, uint32_t *ret)
{
    const uint32_t instance = view->task.instance[task];
    uint32_t count = 0;

    if (instance == ROW_NONE || view->instance.task_count[instance] > PAIRS_GROUP_MAX)
        return 0;
    TASK_EACH(other, view, view->instance.first_task[instance])
    {
        if (view->task.rate_ppm[other] == RATE_NONE)
            return 0;
        if (other != task)
            ret[count++] = view->shapes->rows[view->task.shape[other]].workload;
    }
    return count;
}

static uint32_t workload_of(const struct view *view, uint32_t task)
{
    return view->shapes->rows[view->task.shape[task]].workload;
}

/* The member of the gang that should be the slowest. */
static uint32_t slowest_of(const struct books *books, uint32_t job)
{
    const struct view *view = &books->state->view;
    uint32_t others[PAIRS_GROUP_MAX];
    uint32_t slowest = view->job.first_task[job];
    double least = 2;

    for (uint32_t task = slowest; task != ROW_NONE; task = view->task.sibling[task]) {
        const uint32_t count = list_others(view, task, others);
        const double rate =
            pairs_expected(&books->knowledge.pairs, workload_of(view, task), others, count);

        if (rate < least) {
            least = rate;
            slowest = task;
        }
    }
    return slowest;
}

static bool shares_pace(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->job.gang[job] && view->job.tasks_left[job] > 1;
}

/* A gang may have thousands of tasks, and each of them would look at all. */
enum { GANG_MOST = 64 };

static bool is_to_blame(const struct books *books, uint32_t task)
{
    const struct view *view = &books->state->view;
    const uint32_t job = view->task.job[task];

    return !shares_pace(view, task) ||
           (view->job.tasks_left[job] <= GANG_MOST && slowest_of(books, job) == task);
}

static void observe_task(struct books *books, uint32_t task)
{
    const struct view *view = &books->state->view;
    uint32_t others[PAIRS_GROUP_MAX];
    const uint32_t count = list_others(view, task, others);

    if (count == 0 || !is_to_blame(books, task))
        return;
    pairs_observe(&books->knowledge.pairs, workload_of(view, task), others, count,
                  (double)view->task.rate_ppm[task] / RATE_FULL_PPM);
}

void books_observe_pairs(struct books *books)
{
    const struct view *view = &books->state->view;
    struct map seen;

    map_init(&seen);
    for (uint32_t i = 0; i < books->rated_count; i++) {
        const uint32_t instance = books->rated[i];

        if (instance >= view->instance.count || view->instance.state[instance] == INSTANCE_FREE ||
            view->instance.task_count[instance] < 2 || map_get(&seen, instance) != MAP_NONE)
            continue;
        map_put(&seen, instance, 0);
        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            observe_task(books, task);
        }
    }
    map_done(&seen);
    books->rated_count = 0;
    work_mix_update(&books->knowledge.work_mix, view, &books->knowledge.pairs);
}
