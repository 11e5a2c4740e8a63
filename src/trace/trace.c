/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

void trace_init(struct trace *trace)
{
    *trace = (struct trace){ 0 };
    shapes_init(&trace->shapes);
    names_init(&trace->users);
    names_init(&trace->names);
}

void trace_done(struct trace *trace)
{
    mem_free(trace->jobs);
    shapes_done(&trace->shapes);
    names_done(&trace->users);
    names_done(&trace->names);
    trace_init(trace);
}

void trace_add_job(struct trace *trace, const struct trace_job *job)
{
    assert(job->shape < trace->shapes.count);
    assert(job->name < trace->names.count);
    assert(job->user < trace->users.count);
    assert(job->task_count > 0);
    assert(job->task_count <= LIMIT_TASKS - trace->task_total);

    MEM_ROOM(trace->jobs, trace->jobs_room, trace->job_count + 1);
    trace->jobs[trace->job_count++] = *job;
    trace->task_total += job->task_count;
}

void trace_fix(struct trace *trace)
{
    for (uint32_t i = 0; i < trace->job_count; i++)
        trace->jobs[i].fixed = true;
}

static bool is_sorted(const struct trace *trace)
{
    for (uint32_t i = 1; i < trace->job_count; i++) {
        if (trace->jobs[i].arrival_ms < trace->jobs[i - 1].arrival_ms)
            return false;
    }
    return true;
}

/* Merge the sorted runs [first, middle) and [middle, end) of 'from' into 'to'. */
static void merge(const struct trace_job *from, struct trace_job *to, uint32_t first,
                  uint32_t middle, uint32_t end)
{
    uint32_t left = first;
    uint32_t right = middle;

    for (uint32_t out = first; out < end; out++) {
        const bool take_left =
            left < middle && (right == end || from[left].arrival_ms <= from[right].arrival_ms);

        to[out] = take_left ? from[left++] : from[right++];
    }
}

void trace_sort(struct trace *trace)
{
    const uint32_t count = trace->job_count;

    if (is_sorted(trace))
        return;

    struct trace_job *from = trace->jobs;
    struct trace_job *to = mem_alloc(count, sizeof(*to));

    for (uint32_t run = 1; run < count; run *= 2) {
        for (uint32_t first = 0; first < count; first += 2 * run) {
            const uint32_t middle = run < count - first ? first + run : count;
            const uint32_t end = run < count - middle ? middle + run : count;

            merge(from, to, first, middle, end);
        }

        struct trace_job *sorted = to;

        to = from;
        from = sorted;
    }
    trace->jobs = from;
    trace->jobs_room = count;
    mem_free(to);
}

void trace_keep_first(struct trace *trace, uint32_t jobs)
{
    while (jobs > 0 && trace->job_count > jobs)
        trace->task_total -= trace->jobs[--trace->job_count].task_count;
}
