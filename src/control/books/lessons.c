/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is learned: how long jobs run, by those that have ended, and how tasks slow each other down, by what
 * they report.
 *
 * Costs:  a job O(1); an observation once through the instances and their tasks.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "control/books/books.h"

/* What the engine says, as a trait. */
static uint32_t limit_of(msec_t estimate_ms)
{
    const msec_t limit = estimate_ms / MSEC_PER_SEC;

    return estimate_ms >= 0 && limit < RUNTIME_UNKNOWN ? (uint32_t)limit : RUNTIME_UNKNOWN;
}

/* What is known of the job before it runs. */
static struct runtime_traits traits_of(const struct job_spec *spec)
{
    return (struct runtime_traits){
        .name = spec->name,
        .user = spec->user,
        .shape = spec->shape,
        .tasks = spec->task_count,
        .hour = (uint32_t)(spec->arrived_at / MSEC_PER_HOUR % 24),
        .limit = limit_of(spec->estimate_ms),
    };
}

/* What the policy will see. Runs of the past say nothing of work that has no end. */
static struct forecast forecast_of(const struct books *books, const struct runtime_traits *traits,
                                   msec_t given)
{
    const struct controller_config *config = &books->state->config;

    if (config->estimates == ESTIMATES_LEARNED && given != MSEC_NEVER)
        return forecast_runtime(&books->knowledge.runtimes, traits, given);
    return (struct forecast){
        .runtime_ms = given >= 0 ? given : config->default_estimate_ms,
        .limit_ms = given >= 0 ? given : -1,
        .source = given >= 0 ? FORECAST_BY_LIMIT : FORECAST_BY_DEFAULT,
    };
}

struct job_lesson books_lesson(const struct books *books, const struct job_spec *spec,
                               msec_t *ret_estimate)
{
    struct job_lesson lesson = { .traits = traits_of(spec) };

    lesson.forecast = forecast_of(books, &lesson.traits, spec->estimate_ms);
    *ret_estimate = lesson.forecast.runtime_ms;
    return lesson;
}

msec_t books_new_estimate(struct books *books, uint32_t job, msec_t given)
{
    struct job_lesson *lesson = &books->lessons[job];

    lesson->traits.limit = limit_of(given);
    lesson->forecast = forecast_of(books, &lesson->traits, given);
    return lesson->forecast.runtime_ms;
}

void books_add_lesson(struct books *books, uint32_t job, const struct job_lesson *lesson)
{
    MEM_ROOM(books->lessons, books->lessons_room, books->state->view.job.count);
    books->lessons[job] = *lesson;
}

msec_t books_expected_ms(const struct books *books, uint32_t task)
{
    const struct view *view = &books->state->view;

    if (view->task.estimate_ms[task] == MSEC_NEVER)
        return MSEC_NEVER;

    const struct job_lesson *lesson = &books->lessons[view->task.job[task]];

    return forecast_of(books, &lesson->traits, lesson->forecast.limit_ms).runtime_ms;
}

void books_learn_runtime(struct books *books, uint32_t task, msec_t at)
{
    const struct view *view = &books->state->view;
    const uint32_t job = view->task.job[task];
    const msec_t since = view->task.launched_at[task];
    struct job_lesson *lesson = &books->lessons[job];

    if (books->state->config.estimates != ESTIMATES_LEARNED ||
        view->task.estimate_ms[task] == MSEC_NEVER)
        return;
    lesson->executed_ms += view->task.executed_ms[task] - view->task.lost_ms[task] +
                           (since >= 0 && at > since ? at - since : 0);

    const msec_t mean_ms = lesson->executed_ms / view->job.task_count[job];

    if (view->job.tasks_left[job] == 1)
        runtimes_learn(&books->knowledge.runtimes, &lesson->traits,
                       mean_ms < LIMIT_TIME_MS ? mean_ms : LIMIT_TIME_MS,
                       lesson->forecast.history.seen);
}

/*
 * Observation: at every decision, each instance all of whose tasks run and report tells how fast
 * each of them is beside the others. A gang tells one thing only: see colocation_straggler.
 */

static bool all_report(const struct view *view, uint32_t instance)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.rate_ppm[task] == RATE_NONE)
            return false;
    }
    return true;
}

static uint64_t set_hash(const struct view *view, uint32_t instance)
{
    uint64_t hash = 0;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        hash += colocation_token(view->task.shape[task]);
    }
    return hash;
}

static double rate_of(const struct view *view, uint32_t task)
{
    const double rate = (double)view->task.rate_ppm[task] / RATE_FULL_PPM;

    return rate < 1.0 ? rate : 1.0;
}

/* One entry for the gang that 'first' is the first task of, if all its tasks report. */
static void observe_gang(struct books *books, uint32_t job)
{
    const struct view *view = &books->state->view;
    struct colocation_member *members =
        ARENA_ARRAY(&books->state->arena, struct colocation_member, view->job.tasks_left[job]);
    uint32_t count = 0;
    double slowest = 1.0;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];

        if (instance == ROW_NONE || view->task.rate_ppm[task] == RATE_NONE ||
            !all_report(view, instance))
            return;
        if (rate_of(view, task) < slowest)
            slowest = rate_of(view, task);
        members[count++] = (struct colocation_member){
            .shape = view->task.shape[task],
            .neighbour_count = view->instance.task_count[instance] - 1,
            .neighbours = set_hash(view, instance) - colocation_token(view->task.shape[task]),
        };
    }

    const uint32_t who =
        colocation_straggler(&books->knowledge.colocation, members, count, slowest);

    if (members[who].neighbour_count > 0)
        colocation_observe(&books->knowledge.colocation, members[who].shape,
                           members[who].neighbours, slowest);
}

static bool shares_pace(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->job.gang[job] && view->job.task_count[job] > 1;
}

void books_observe(struct books *books)
{
    const struct view *view = &books->state->view;
    bool *gang_seen = ARENA_ARRAY(&books->state->arena, bool, view->job.count);

    INSTANCE_EACH(instance, view)
    {
        if (view->instance.task_count[instance] < 2 || !all_report(view, instance))
            continue;

        const uint64_t hash = set_hash(view, instance);

        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            const uint32_t shape = view->task.shape[task];

            if (!shares_pace(view, task)) {
                colocation_observe(&books->knowledge.colocation, shape,
                                   hash - colocation_token(shape), rate_of(view, task));
            } else if (!gang_seen[view->task.job[task]]) {
                gang_seen[view->task.job[task]] = true;
                observe_gang(books, view->task.job[task]);
            }
        }
    }
}
