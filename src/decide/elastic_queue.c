/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/elastic_queue.h"

#include <stdlib.h>

#include "decide/runtime_bins.h"

#include "learn/runtimes.h"

static uint32_t waiting_from(const struct view *view, uint32_t task)
{
    while (task != ROW_NONE && view->task.state[task] != TASK_WAITING)
        task = view->task.sibling[task];
    return task;
}

uint32_t elastic_queue_next_task(const struct view *view, uint32_t task)
{
    return waiting_from(view, view->task.sibling[task]);
}

/* The job of a task that waits: alone, or with all tasks of its gang that wait. These need not be
 * neighbours in the waiting list, as each comes back by itself when it lost its machine. */
static struct elastic_job job_of(const struct view *view, uint32_t task, uint32_t *ret_size)
{
    struct elastic_job job = { .first_task = task, .job = view->task.job[task] };

    *ret_size = 1;
    if (view->job.gang[job.job]) {
        job.first_task = waiting_from(view, view->job.first_task[job.job]);
        for (task = elastic_queue_next_task(view, job.first_task); task != ROW_NONE;
             task = elastic_queue_next_task(view, task))
            (*ret_size)++;
    }
    return job;
}

/* While the queue is built: jobs in the order of the waiting list. Returns whether they must be sorted. */
static uint32_t list_jobs(const struct view *view, struct arena *arena, struct elastic_queue *queue,
                          bool *ret_mixed)
{
    bool *seen = ARENA_ARRAY(arena, bool, view->job.count); /* gangs */
    uint32_t before = 0;                                    /* priority of the last one */
    uint32_t count = 0;

    *ret_mixed = false;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t job = view->task.job[task];
        const uint32_t offer = view->shape_offer[view->task.shape[task]];
        uint32_t size;

        if (offer == OFFER_NONE || seen[job] || view->job.mixed[job])
            continue;
        seen[job] = view->job.gang[job];
        *ret_mixed |= count > 0 &&
                      (queue->jobs[count - 1].offer != offer || view->job.priority[job] != before);
        before = view->job.priority[job];
        queue->jobs[count] = job_of(view, task, &size);
        queue->jobs[count].offer = offer;
        queue->backfill[count++] = (struct backfill_job){
            .size = size,
            .runtime = runtime_expected(view->task.estimate_ms[task]),
        };
    }
    return count;
}

struct both {
    struct elastic_job job;
    struct backfill_job backfill;
    uint32_t priority;
    uint32_t order;
};

static int compare_both(const void *left, const void *right)
{
    const struct both *a = left;
    const struct both *b = right;

    if (a->job.offer != b->job.offer)
        return a->job.offer < b->job.offer ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* By offer, priority and arrival. */
static void sort_queue(struct elastic_queue *queue, const struct view *view, struct arena *arena)
{
    struct both *all = ARENA_ARRAY(arena, struct both, queue->count);

    for (uint32_t i = 0; i < queue->count; i++)
        all[i] = (struct both){ queue->jobs[i], queue->backfill[i],
                                view->job.priority[queue->jobs[i].job], i };
    qsort(all, queue->count, sizeof(*all), compare_both);
    for (uint32_t i = 0; i < queue->count; i++) {
        queue->jobs[i] = all[i].job;
        queue->backfill[i] = all[i].backfill;
    }
}

void elastic_queue_build(struct elastic_queue *queue, const struct view *view, struct arena *arena)
{
    bool mixed;

    queue->jobs = ARENA_ARRAY(arena, struct elastic_job, view->task.waiting_count);
    queue->backfill = ARENA_ARRAY(arena, struct backfill_job, view->task.waiting_count);
    queue->count = list_jobs(view, arena, queue, &mixed);
    if (mixed)
        sort_queue(queue, view, arena);
}

static int compare_ends(const void *left, const void *right)
{
    const struct backfill_end *a = left;
    const struct backfill_end *b = right;

    return (a->at > b->at) - (a->at < b->at);
}

/* Few ends are the rule, and for few this is faster than the general way. */
static void sort_ends(struct backfill_end *ends, uint32_t count)
{
    enum { FEW = 48 };

    if (count > FEW) {
        qsort(ends, count, sizeof(*ends), compare_ends);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        const struct backfill_end end = ends[i];
        uint32_t hole = i;

        for (; hole > 0 && ends[hole - 1].at > end.at; hole--)
            ends[hole] = ends[hole - 1];
        ends[hole] = end;
    }
}

/* When the task's machine will be free, by its estimate. One that runs longer than that does not end now:
 * nobody would ever rent a machine for those who wait for it. The half-life rule guesses how long. */
static msec_t task_end(const struct view *view, uint32_t task)
{
    const msec_t estimate = view->task.estimate_ms[task];
    const bool has_begun = view->task.launched_at[task] >= 0 && estimate != MSEC_NEVER;
    const msec_t began = has_begun ? view->task.launched_at[task] : view->now;
    const msec_t end = began + runtime_expected(estimate);

    return end > view->now ? end : view->now + runtime_of_task(view, task, RUNTIME_REMAINING);
}

#define NO_END UINT32_MAX

/* Ends while they are gathered: one entry for all machines of a job. */
struct gathering {
    struct backfill_end *ends;
    uint32_t count;
    uint32_t *entry_of_job; /* + 1, or NO_END */
};

/* A gang of which a task waits does not end before that has a machine too. */
static bool is_incomplete(const struct view *view, uint32_t job)
{
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE && view->job.gang[job];
         task = view->task.sibling[task]) {
        if (view->task.state[task] == TASK_WAITING)
            return true;
    }
    return false;
}

static void gather(struct gathering *to, const struct view *view, uint32_t instance)
{
    const uint32_t task = view->instance.first_task[instance];
    const msec_t ready = view->instance.ready_expected[instance];

    if (task == ROW_NONE) { /* it boots; machines that were asked for together follow each other */
        const msec_t at = ready > view->now ? ready : view->now;

        if (to->count > 0 && to->ends[to->count - 1].at == at)
            to->ends[to->count - 1].count++;
        else
            to->ends[to->count++] = (struct backfill_end){ .at = at, .count = 1 };
        return;
    }

    uint32_t *entry = &to->entry_of_job[view->task.job[task]];

    if (*entry == 0 && is_incomplete(view, view->task.job[task]))
        *entry = NO_END;
    if (*entry == NO_END)
        return;
    if (*entry == 0) {
        to->ends[to->count++] = (struct backfill_end){ .at = task_end(view, task) };
        *entry = to->count;
    }
    to->ends[*entry - 1].count++;
}

uint32_t elastic_queue_ends(const struct view *view, uint32_t offer, struct arena *arena,
                            struct backfill_end **ret)
{
    struct gathering gathering = {
        .ends = ARENA_ARRAY(arena, struct backfill_end, view->instance.living),
        .entry_of_job = ARENA_ARRAY(arena, uint32_t, view->job.count),
    };

    INSTANCE_EACH(instance, view)
    {
        const bool idle = view->instance.state[instance] == INSTANCE_READY &&
                          view->instance.task_count[instance] == 0;

        if (view->instance.offer[instance] == offer && view_is_open(view, instance) && !idle)
            gather(&gathering, view, instance);
    }
    sort_ends(gathering.ends, gathering.count);
    *ret = gathering.ends;
    return gathering.count;
}

uint64_t elastic_queue_wanted(const struct elastic_queue *queue, uint32_t from, uint32_t to,
                              enum elastic_size size, msec_t short_ms)
{
    uint64_t wanted = 0;
    bool short_seen = false;

    for (uint32_t i = from; i < to; i++) {
        const struct backfill_job *job = &queue->backfill[i];

        if (job->starts)
            continue;
        if (size == ELASTIC_FIRST)
            return job->size;
        if (size == ELASTIC_BEST && job->runtime <= short_ms) {
            if (short_seen)
                continue;
            short_seen = true;
        }
        wanted += job->size;
    }
    return wanted;
}

bool elastic_queue_may_use(const struct view *view, const struct elastic_loan *loan,
                           uint32_t instance)
{
    const uint32_t offer = view->instance.offer[instance];

    if (!view_is_open(view, instance) || loan->given[instance] ||
        (offer != loan->offer && loan->wanted[offer]))
        return false;

    const struct res *demand = view_demand(view, loan->task, instance);

    return demand != NULL && res_fits(demand, view_capacity(view, instance));
}

uint32_t elastic_queue_ready(const struct view *view, const struct elastic_loan *loan,
                             uint32_t most, uint32_t *ret)
{
    uint32_t count = 0;

    for (int own = 1; own >= 0; own--) {
        EMPTY_EACH(instance, view)
        {
            if (count < most && (view->instance.offer[instance] == loan->offer) == own &&
                view->instance.state[instance] == INSTANCE_READY &&
                elastic_queue_may_use(view, loan, instance))
                ret[count++] = instance;
        }
    }
    return count;
}
