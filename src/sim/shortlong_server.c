/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of a server. A probe for a long task is used up by it. A probe for a short one stays where it
 * is until its job has no task left, so that a server that has begun with a job goes on with it.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "sim/shortlong_private.h"

uint32_t server_add(struct shortlong *s, enum server_state state)
{
    MEM_ROOM(s->servers, s->servers_room, s->server_count + 1);
    s->servers[s->server_count] = (struct server){
        .state = state,
        .job = NOBODY,
        .map = NOBODY,
        .idle_place = NOBODY,
        .open_place = NOBODY,
    };
    return s->server_count++;
}

/* ---- idle servers ---- */

static void note_idle(struct shortlong *s, uint32_t server)
{
    if (s->servers[server].idle_place != NOBODY)
        return;
    MEM_ROOM(s->idle, s->idle_room, s->idle_count + 1);
    s->servers[server].idle_place = s->idle_count;
    s->idle[s->idle_count++] = server;
}

void server_forget_idle(struct shortlong *s, uint32_t server)
{
    const uint32_t place = s->servers[server].idle_place;

    if (place == NOBODY)
        return;

    const uint32_t last = s->idle[--s->idle_count];

    s->idle[place] = last;
    s->servers[last].idle_place = place;
    s->servers[server].idle_place = NOBODY;
}

/* ---- starting ---- */

/* The next task of the job starts on the server. */
static void start(struct shortlong *s, uint32_t number, uint32_t job_number)
{
    struct server *server = &s->servers[number];
    struct job *job = &s->jobs[job_number];
    const uint32_t task = s->order[job->first + job->started++];
    const msec_t grain = s->config->grain_ms;
    const msec_t begins = s->now + FETCH_MS;

    assert(server->job == NOBODY);
    server_forget_idle(s, number);
    server->job = job_number;
    server->task = task;
    server->since = s->now;
    if (!job->is_long) {
        s->result->delays[task] = begins - s->config->trace->jobs[job_number].arrival_ms;
        if (tasks_left(job) == 0)
            tournament_drop(&s->waiting, job_number);
        else
            tournament_enter(&s->waiting, job_number);
    }
    shortlong_add_event(s, begins + s->config->trace->work_ms[task] / grain * grain, EVENT_END,
                        number);
}

/* Probes of jobs that have no task left go. */
static void drop_spent(struct shortlong *s, struct server *server)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < server->queued; i++) {
        if (tasks_left(&s->jobs[server->queue[i].job]) > 0)
            server->queue[kept++] = server->queue[i];
    }
    server->queued = kept;
}

/*
 * The place in the queue of what is next: a long task at its head; else the job with the least work left,
 * unless that would delay a short one in front of it for too long. NOBODY: the queue is empty.
 */
static uint32_t choose(const struct shortlong *s, const struct server *server)
{
    uint32_t best = NOBODY;
    msec_t least = INT64_MAX;
    msec_t slack = INT64_MAX;

    for (uint32_t i = 0; i < server->queued; i++) {
        const struct probe *probe = &server->queue[i];
        const struct job *job = &s->jobs[probe->job];
        const msec_t work = job->estimate_ms * tasks_left(job);
        const msec_t patience = PATIENCE * job->estimate_ms - probe->passed_ms;

        if (i == 0 && job->is_long)
            return 0;
        if (work < least && job->estimate_ms <= slack) {
            best = i;
            least = work;
            if (job->is_long)
                break;
        }
        if (!job->is_long && patience < slack)
            slack = patience;
    }
    return best;
}

static void start_queued(struct shortlong *s, uint32_t number, uint32_t place)
{
    struct server *server = &s->servers[number];
    struct probe *queue = server->queue;
    const uint32_t job = queue[place].job;

    if (s->jobs[job].is_long) {
        memmove(queue + place, queue + place + 1,
                (--server->queued - place) * sizeof(*server->queue));
        server->queued_long--;
    } else {
        for (uint32_t i = 0; i < place; i++)
            queue[i].passed_ms += s->jobs[job].estimate_ms;
    }
    start(s, number, job);
}

/* Start a waiting short task, whichever server its probes are at. */
static bool pull(struct shortlong *s, uint32_t number)
{
    const uint32_t job = tournament_best(&s->waiting);

    if (job == TOURNAMENT_NONE)
        return false;
    start(s, number, job);
    return true;
}

/* The same before a long task of the queue, unless that would be kept from starting for longer than it runs. */
static bool pull_before(struct shortlong *s, uint32_t number, uint32_t place)
{
    struct probe *probe = &s->servers[number].queue[place];
    const uint32_t job = tournament_best(&s->waiting);

    if (job == TOURNAMENT_NONE ||
        !short_partition_may_pass(s->jobs[job].estimate_ms, s->jobs[probe->job].estimate_ms,
                                  probe->passed_ms))
        return false;
    probe->passed_ms += s->jobs[job].estimate_ms;
    start(s, number, job);
    return true;
}

bool server_next(struct shortlong *s, uint32_t number, bool at_boundary)
{
    struct server *server = &s->servers[number];
    const bool draining = server->state == SERVER_DRAINING;

    drop_spent(s, server);

    const uint32_t place = choose(s, server);
    const bool next_is_long = place != NOBODY && s->jobs[server->queue[place].job].is_long;

    if (s->config->boundary_pull && at_boundary && next_is_long && pull_before(s, number, place))
        return true;
    if (place != NOBODY)
        start_queued(s, number, place);
    else if (draining)
        return false;
    else if (!s->config->idle_pull || !pull(s, number))
        note_idle(s, number);
    return true;
}

void server_probe(struct shortlong *s, uint32_t number, uint32_t job)
{
    struct server *server = &s->servers[number];

    MEM_ROOM(server->queue, server->queue_room, server->queued + 1);
    server->queue[server->queued++] = (struct probe){ .job = job };
    if (s->jobs[job].is_long) {
        server->queued_long++;
        server->map = s->map_count - 1;
    }
    if (server->job == NOBODY)
        (void)server_next(s, number, false); /* one that drains leaves as soon as it is idle */
}

void server_wake_idle(struct shortlong *s)
{
    if (!s->config->idle_pull)
        return;
    while (s->idle_count > 0 && pull(s, s->idle[s->idle_count - 1]))
        continue;
}
