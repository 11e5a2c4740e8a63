/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is learned: how long jobs run, by those that have ended, and how tasks slow each other down, by what
 * they report.
 *
 * Costs:  a job O(1), and at most 16 forecasts for others when it ends; an observation once through the instances and their tasks.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "control/books/books.h"

enum { REVISED_MOST = 16 }; /* jobs of a user, when one of them has ended */

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

/* Whether history has no more than half a say in the forecast of a job that has a time limit. */
static bool is_unknown(const struct books *books, const struct forecast *forecast)
{
    return books->state->config.estimates == ESTIMATES_LEARNED && forecast->limit_ms >= 0 &&
           forecast->limit_ms != MSEC_NEVER && forecast->weight_ppm <= FORECAST_HALF_PPM;
}

struct job_lesson books_lesson(const struct books *books, struct job_spec *spec)
{
    struct job_lesson lesson = { .traits = traits_of(spec) };

    lesson.forecast = forecast_of(books, &lesson.traits, spec->estimate_ms);
    spec->estimate_ms = lesson.forecast.runtime_ms;
    spec->unknown = is_unknown(books, &lesson.forecast);
    return lesson;
}

void books_new_estimate(struct books *books, uint32_t job, msec_t given)
{
    struct job_lesson *lesson = &books->lessons[job];

    lesson->traits.limit = limit_of(given);
    lesson->forecast = forecast_of(books, &lesson->traits, given);
    view_set_estimate(&books->state->view, job, lesson->forecast.runtime_ms,
                      is_unknown(books, &lesson->forecast));
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

void books_teach(struct books *books, const struct runtime_traits *traits, msec_t runtime_ms,
                 uint64_t seen)
{
    runtimes_learn(&books->knowledge.runtimes, traits, runtime_ms, seen);
    life_table_learn(&books->knowledge.lives, runtime_ms);
}

/*
 * Jobs of which nothing was known as they came: when a job of their user ends, some of them are judged again. They are
 * a ring for each user, of which the map has one; each time the next in turn.
 */

void books_follow(struct books *books, uint32_t job)
{
    struct job_lesson *lesson = &books->lessons[job];
    const uint32_t first = map_get(&books->unknown_of, lesson->traits.user);

    if (!books->state->view.job.unknown[job])
        return;
    lesson->next = first != MAP_NONE ? first : job;
    lesson->prev = first != MAP_NONE ? books->lessons[first].prev : job;
    books->lessons[lesson->next].prev = job;
    books->lessons[lesson->prev].next = job;
    lesson->is_followed = true;
    if (first == MAP_NONE)
        map_put(&books->unknown_of, lesson->traits.user, job);
}

void books_unfollow(struct books *books, uint32_t job)
{
    struct job_lesson *lesson = &books->lessons[job];

    if (!lesson->is_followed)
        return;
    lesson->is_followed = false;
    if (lesson->next == job) {
        (void)map_remove(&books->unknown_of, lesson->traits.user);
        return;
    }
    books->lessons[lesson->prev].next = lesson->next;
    books->lessons[lesson->next].prev = lesson->prev;
    if (map_get(&books->unknown_of, lesson->traits.user) == job)
        map_put(&books->unknown_of, lesson->traits.user, lesson->next);
}

/* Judge the job again; how it was judged when it came is what its end is compared with. */
static void judge_again(struct books *books, uint32_t job)
{
    struct job_lesson *lesson = &books->lessons[job];
    struct forecast forecast = forecast_of(books, &lesson->traits, lesson->forecast.limit_ms);

    if (forecast.weight_ppm <= lesson->forecast.weight_ppm)
        return;
    forecast.history.seen = lesson->forecast.history.seen;
    lesson->forecast = forecast;
    view_set_estimate(&books->state->view, job, forecast.runtime_ms, is_unknown(books, &forecast));
}

static void revise(struct books *books, uint32_t user)
{
    for (uint32_t i = 0; i < REVISED_MOST; i++) {
        const uint32_t job = map_get(&books->unknown_of, user);

        if (job == MAP_NONE)
            return;
        judge_again(books, job);
        if (!books->state->view.job.unknown[job])
            books_unfollow(books, job);
        else
            map_put(&books->unknown_of, user, books->lessons[job].next);
    }
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

    if (view->job.tasks_left[job] > 1)
        return;
    books_teach(books, &lesson->traits, mean_ms < LIMIT_TIME_MS ? mean_ms : LIMIT_TIME_MS,
                lesson->forecast.history.seen);
    revise(books, lesson->traits.user);
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
