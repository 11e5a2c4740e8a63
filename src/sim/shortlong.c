/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortlong.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/shortlong_private.h"

enum { STREAM_PROBING = 31, STREAM_LOSSES = 32 };

struct shortlong_config shortlong_eagle(const struct hybrid_trace *trace)
{
    return (struct shortlong_config){
        .trace = trace,
        .short_servers = 80,
        .long_servers = 3920,
        .cutoff_ms = 90581,
        .grain_ms = MSEC_PER_SEC,
        .probe_ratio = 2,
        .probes_least = 20,
        .boot_ms = 120 * MSEC_PER_SEC,
        .seed = 1,
    };
}

/* ---- before the first event ---- */

static bool has_less_work(const void *context, uint32_t a, uint32_t b)
{
    const struct shortlong *s = context;

    return s->jobs[a].estimate_ms * tasks_left(&s->jobs[a]) <
           s->jobs[b].estimate_ms * tasks_left(&s->jobs[b]);
}

static void add_jobs(struct shortlong *s)
{
    const struct hybrid_trace *trace = s->config->trace;
    const msec_t grain = s->config->grain_ms;

    s->jobs = ARENA_ARRAY(&s->arena, struct job, trace->job_count);
    s->order = ARENA_ARRAY(&s->arena, uint32_t, trace->task_count);
    for (uint32_t i = 0; i < trace->task_count; i++)
        s->order[i] = i;
    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct hybrid_job *from = &trace->jobs[i];
        const msec_t estimate = from->mean_ms / grain * grain;
        const struct short_partition_job known = { .limit_ms = MSEC_NEVER,
                                                   .estimate_ms = estimate };

        s->jobs[i] = (struct job){
            .is_long = !short_partition_admits(s->config->cutoff_ms, &known),
            .estimate_ms = estimate,
            .first = from->first,
            .tasks = from->tasks,
        };
    }
}

static void set_up(struct shortlong *s)
{
    const struct hybrid_trace *trace = s->config->trace;

    timeline_init(&s->timeline);
    arena_init(&s->arena);
    rng_init(&s->probing, s->config->seed, STREAM_PROBING);
    rng_init(&s->losses, s->config->seed, STREAM_LOSSES);
    tournament_init(&s->waiting, &s->arena, has_less_work, s);
    s->fixed = s->config->short_servers + s->config->long_servers;
    s->view.fixed = s->fixed;
    for (uint32_t i = 0; i < s->fixed; i++)
        (void)server_next(s, server_add(s, SERVER_ACTIVE), false);
    add_jobs(s);
    place_init(s);
    s->result->first_ms = trace->jobs[0].arrival_ms;
    s->result->last_ms = trace->jobs[trace->job_count - 1].arrival_ms;
    s->counted_until = s->result->first_ms;
    s->result->delays = mem_alloc(trace->task_count, sizeof(*s->result->delays));
    shortlong_add_event(s, s->result->first_ms, EVENT_ARRIVAL, 0);
}

/* ---- events ---- */

static void on_arrival(struct shortlong *s, uint32_t job)
{
    const struct hybrid_trace *trace = s->config->trace;

    if (job + 1 < trace->job_count)
        shortlong_add_event(s, trace->jobs[job + 1].arrival_ms, EVENT_ARRIVAL, job + 1);
    place_job(s, job);
    if (s->jobs[job].is_long)
        transient_look(s);
}

static void note_end(struct shortlong *s, uint32_t job_number, uint32_t server)
{
    struct job *job = &s->jobs[job_number];

    job->ended++;
    s->ended++;
    s->result->end_ms = s->now;
    if (!job->is_long) {
        s->result->short_in_long += is_long_partition(s, server);
        return;
    }
    s->servers[server].long_work_ms -= job->estimate_ms;
    s->view.with_long -= s->servers[server].long_work_ms == 0;
    if (job->ended == job->tasks)
        s->result->long_sum_ms += s->now - s->config->trace->jobs[job_number].arrival_ms;
}

static void on_end(struct shortlong *s, uint32_t number)
{
    const uint32_t job = s->servers[number].job;

    if (s->servers[number].state == SERVER_GONE)
        return; /* it was lost before */
    s->servers[number].job = NOBODY;
    note_end(s, job, number);
    if (!server_next(s, number, true))
        transient_leave(s, number);
    if (s->jobs[job].is_long)
        transient_look(s);
}

static void handle(struct shortlong *s, const struct timeline_event *event)
{
    switch ((enum event_kind)event->kind) {
    case EVENT_ARRIVAL:
        on_arrival(s, event->who);
        return;
    case EVENT_PROBES:
        place_arrive(s, event->who);
        return;
    case EVENT_END:
        on_end(s, event->who);
        return;
    case EVENT_READY:
        transient_ready(s, event->who);
        return;
    case EVENT_LOST:
        transient_lost(s, event->who);
        return;
    }
}

/* ---- after the last event ---- */

static int compare_times(const void *left, const void *right)
{
    const msec_t a = *(const msec_t *)left;
    const msec_t b = *(const msec_t *)right;

    return (a > b) - (a < b);
}

/* Keep the delays of short tasks only, in order. */
static void gather(struct shortlong *s)
{
    struct shortlong_result *result = s->result;

    for (uint32_t i = 0; i < s->config->trace->job_count; i++) {
        const struct job *job = &s->jobs[i];

        assert(job->ended == job->tasks);
        result->long_jobs += job->is_long;
        for (uint32_t k = 0; !job->is_long && k < job->tasks; k++)
            result->delays[result->short_tasks++] = result->delays[job->first + k];
    }
    qsort(result->delays, result->short_tasks, sizeof(*result->delays), compare_times);
}

static void tear_down(struct shortlong *s)
{
    for (uint32_t i = 0; i < s->server_count; i++)
        mem_free(s->servers[i].queue);
    mem_free(s->servers);
    mem_free(s->idle);
    mem_free(s->open);
    place_done(s);
    timeline_done(&s->timeline);
    arena_done(&s->arena);
}

void shortlong_run(const struct shortlong_config *config, struct shortlong_result *ret)
{
    struct shortlong s = { .config = config, .result = ret };

    assert(config->short_servers > 0 && config->short_servers <= SHORTLONG_SERVERS_MAX);
    assert(config->long_servers > 0 && config->long_servers <= SHORTLONG_SERVERS_MAX);
    assert(config->rule.most <= SHORTLONG_TRANSIENT_MAX);
    assert(config->grain_ms > 0);
    *ret = (struct shortlong_result){ 0 };
    set_up(&s);
    while (s.ended < config->trace->task_count) {
        const struct timeline_event event = timeline_take(&s.timeline);

        s.now = event.at;
        handle(&s, &event);
    }
    transient_end_all(&s);
    gather(&s);
    tear_down(&s);
}

void shortlong_result_done(struct shortlong_result *result)
{
    mem_free(result->delays);
    *result = (struct shortlong_result){ 0 };
}
