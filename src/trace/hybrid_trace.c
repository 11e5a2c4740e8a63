/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/hybrid_trace.h"

#include <errno.h>
#include <stdbool.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/input_text.h"
#include "trace/number.h"

/* Digits that are read behind the point of a second, so that cutting to milliseconds is exact. */
enum { DIGITS = 9, NANO_PER_MSEC = 1000000 };

struct reader {
    const char *at;
    const char *end;
    uint32_t line;
    msec_t work_ms; /* of all tasks, and by the means, whichever is more */
    struct hybrid_trace trace;
};

/* The next word of the line; its length is 0 where the line ends. */
static size_t take_word(struct reader *r, const char **ret)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
    *ret = r->at;
    while (r->at < r->end && *r->at != ' ' && *r->at != '\t' && *r->at != '\r' && *r->at != '\n')
        r->at++;
    return (size_t)(r->at - *ret);
}

static int fault(const struct reader *r, const char *what, const char *word, size_t length,
                 struct error *reterr)
{
    if (length == 0)
        return error_set(reterr, -EINVAL,
                         "line %u: %s is missing; a line is: arrival, number of tasks, mean "
                         "duration, the duration of each task",
                         r->line, what);
    return error_set(reterr, -EINVAL, "line %u: %s cannot be '%s'", r->line, what,
                     text_excerpt(word, length).text);
}

static int take_time(struct reader *r, const char *what, msec_t *ret, struct error *reterr)
{
    const char *word = NULL;
    const size_t length = take_word(r, &word);
    int64_t nano = 0;

    if (length == 0 || number_nearest(word, length, DIGITS, &nano) < 0 || nano < 0 ||
        nano / NANO_PER_MSEC > LIMIT_TIME_MS)
        return fault(r, what, word, length, reterr);
    *ret = nano / NANO_PER_MSEC;
    return 0;
}

static int take_task_count(struct reader *r, uint32_t *ret, struct error *reterr)
{
    const char *word = NULL;
    const size_t length = take_word(r, &word);
    uint64_t count = 0;

    if (length == 0 || number_id(word, length, &count) < 0 || count == 0)
        return fault(r, "the number of tasks", word, length, reterr);
    if (count > LIMIT_TASKS_PER_JOB || r->trace.task_count + count > LIMIT_TASKS)
        return error_set(reterr, -E2BIG,
                         "line %u: too many tasks: at most %d of a job, and %d in all", r->line,
                         LIMIT_TASKS_PER_JOB, LIMIT_TASKS);
    *ret = (uint32_t)count;
    return 0;
}

/* The durations, up to the end of the line; room is made as they come, whatever their number says. */
static int take_tasks(struct reader *r, uint32_t count, struct error *reterr)
{
    struct hybrid_trace *trace = &r->trace;
    const char *word = NULL;

    for (uint32_t i = 0; i < count; i++) {
        msec_t work = 0;
        const int rc = take_time(r, "the duration of a task", &work, reterr);

        if (rc < 0)
            return rc;
        MEM_ROOM(trace->work_ms, trace->work_ms_room, trace->task_count + 1);
        trace->work_ms[trace->task_count++] = work;
    }
    if (take_word(r, &word) > 0)
        return error_set(reterr, -EINVAL, "line %u: there are more durations than %u tasks",
                         r->line, count);
    return 0;
}

/* LIMIT_TASKS_PER_JOB times LIMIT_TIME_MS is no overflow. */
static int add_work(struct reader *r, const struct hybrid_job *job, struct error *reterr)
{
    const msec_t by_mean = job->mean_ms * job->tasks;
    msec_t work = 0;

    for (uint32_t i = 0; i < job->tasks; i++)
        work += r->trace.work_ms[job->first + i];
    if (work < by_mean)
        work = by_mean;
    if (work > HYBRID_WORK_MAX - r->work_ms)
        return error_set(reterr, -E2BIG,
                         "line %u: the tasks up to here run for more than 557 years", r->line);
    r->work_ms += work;
    return 0;
}

static int take_job(struct reader *r, struct error *reterr)
{
    struct hybrid_trace *trace = &r->trace;
    struct hybrid_job job = { .first = trace->task_count };
    int rc = take_time(r, "the arrival", &job.arrival_ms, reterr);

    if (rc == 0)
        rc = take_task_count(r, &job.tasks, reterr);
    if (rc == 0)
        rc = take_time(r, "the mean duration", &job.mean_ms, reterr);
    if (rc == 0)
        rc = take_tasks(r, job.tasks, reterr);
    if (rc < 0)
        return rc;
    rc = add_work(r, &job, reterr);
    if (rc < 0)
        return rc;
    if (trace->job_count > 0 && job.arrival_ms < trace->jobs[trace->job_count - 1].arrival_ms)
        return error_set(reterr, -EINVAL,
                         "line %u: the job arrives before the one above it; sort the lines by "
                         "their first column",
                         r->line);
    if (trace->job_count == HYBRID_JOBS_MAX)
        return error_set(reterr, -E2BIG, "line %u: more than %d jobs", r->line, HYBRID_JOBS_MAX);
    MEM_ROOM(trace->jobs, trace->jobs_room, trace->job_count + 1);
    trace->jobs[trace->job_count++] = job;
    return 0;
}

/* Pass over the end of a line, and lines that are empty; whether there is more. */
static bool find_line(struct reader *r)
{
    const char *word = NULL;

    while (take_word(r, &word) == 0) {
        if (r->at == r->end)
            return false;
        r->at++;
        r->line++;
    }
    r->at = word;
    return true;
}

int hybrid_trace_read(const char *text, size_t length, struct hybrid_trace *ret,
                      struct error *reterr)
{
    struct reader r = { .at = text, .end = text + length, .line = 1 };
    int rc = text_check_input(text, length, reterr);

    if (rc < 0)
        return rc;
    while (rc == 0 && find_line(&r))
        rc = take_job(&r, reterr);
    if (rc == 0 && r.trace.job_count == 0)
        rc = error_set(reterr, -EINVAL, "there is no job in it");
    if (rc < 0) {
        hybrid_trace_done(&r.trace);
        return rc;
    }
    *ret = r.trace;
    return 0;
}

void hybrid_trace_keep_first(struct hybrid_trace *trace, uint32_t jobs)
{
    if (jobs == 0 || jobs >= trace->job_count)
        return;
    trace->job_count = jobs;
    trace->task_count = trace->jobs[jobs].first;
}

void hybrid_trace_done(struct hybrid_trace *trace)
{
    mem_free(trace->jobs);
    mem_free(trace->work_ms);
    *trace = (struct hybrid_trace){ 0 };
}
