/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transient servers. They take probes from the moment they are ready until they are taken out of service or
 * lost. One that is taken out of service does its queue and leaves; of one that is lost, the task that ran
 * starts again, and the probes go to other servers of the short partition.
 */
#include <assert.h>

#include "base/mem.h"
#include "sim/shortlong_private.h"

/* Count the time of the servers that are up until now. */
static void count_time(struct shortlong *s)
{
    struct shortlong_result *result = s->result;
    const int64_t up = (int64_t)s->view.active + s->view.draining;
    const msec_t last = result->last_ms;
    const msec_t from = s->counted_until < last ? s->counted_until : last;
    const msec_t to = s->now < last ? s->now : last;

    result->up_ms += up * (s->now - s->counted_until);
    result->up_until_last_ms += up * (to - from);
    s->counted_until = s->now;
}

static void close_server(struct shortlong *s, uint32_t number)
{
    struct server *server = &s->servers[number];
    const uint32_t place = server->open_place;

    if (place == NOBODY)
        return;

    const uint32_t last = s->open[--s->open_count];

    s->open[place] = last;
    s->servers[last].open_place = place;
    server->open_place = NOBODY;
}

static void end_life(struct shortlong *s, uint32_t number)
{
    struct server *server = &s->servers[number];
    const msec_t life = s->now - server->ready_ms;

    count_time(s);
    if (server->state == SERVER_ACTIVE)
        s->view.active--;
    else
        s->view.draining--;
    server->state = SERVER_GONE;
    close_server(s, number);
    server_forget_idle(s, number);
    s->result->life_sum_ms += life;
    if (life > s->result->life_max_ms)
        s->result->life_max_ms = life;
    mem_free(server->queue);
    server->queue = NULL;
    server->queued = 0;
    server->queue_room = 0;
}

static void request(struct shortlong *s, int64_t count)
{
    const struct short_partition_view *view = &s->view;

    for (int64_t i = 0; i < count; i++)
        shortlong_add_event(s, s->now + s->config->boot_ms, EVENT_READY,
                            server_add(s, SERVER_BOOTING));
    s->view.booting += (uint32_t)count;

    const uint32_t alive = view->booting + view->active + view->draining;

    if (alive > s->result->peak)
        s->result->peak = alive;
}

/* The newest: servers that stay longest lose the least of what they are billed for. */
static uint32_t choose_leaver(const struct shortlong *s)
{
    uint32_t newest = s->open[0];

    for (uint32_t i = 1; i < s->open_count; i++) {
        if (s->open[i] > newest)
            newest = s->open[i];
    }
    return newest;
}

static void retire(struct shortlong *s, uint32_t number)
{
    struct server *server = &s->servers[number];

    count_time(s);
    close_server(s, number);
    server->state = SERVER_DRAINING;
    s->view.active--;
    s->view.draining++;
    if (server->job == NOBODY)
        end_life(s, number);
}

void transient_look(struct shortlong *s)
{
    const int64_t step =
        s->config->rule.most > 0 ? short_partition_step(&s->config->rule, &s->view) : 0;

    if (step > 0)
        request(s, step);
    else if (step < 0)
        retire(s, choose_leaver(s));
}

void transient_ready(struct shortlong *s, uint32_t number)
{
    struct server *server = &s->servers[number];

    count_time(s);
    s->view.booting--;
    s->view.active++;
    server->state = SERVER_ACTIVE;
    server->ready_ms = s->now;
    s->result->ready_count++;
    MEM_ROOM(s->open, s->open_room, s->open_count + 1);
    server->open_place = s->open_count;
    s->open[s->open_count++] = number;
    if (s->config->mean_life_ms > 0) {
        const double life = rng_exponential(&s->losses, (double)s->config->mean_life_ms);

        shortlong_add_event(s, s->now + 1 + (msec_t)life, EVENT_LOST, number);
    }
    (void)server_next(s, number, false);
    transient_look(s);
}

void transient_end_all(struct shortlong *s)
{
    for (uint32_t i = s->fixed; i < s->server_count; i++) {
        if (s->servers[i].state == SERVER_ACTIVE || s->servers[i].state == SERVER_DRAINING)
            end_life(s, i);
    }
}

void transient_leave(struct shortlong *s, uint32_t number)
{
    end_life(s, number);
    transient_look(s);
}

/* The task that ran on the server is the next of its job once more. */
static void give_back_task(struct shortlong *s, const struct server *server)
{
    struct job *job = &s->jobs[server->job];

    job->started--;
    s->order[job->first + job->started] = server->task;
    tournament_enter(&s->waiting, server->job);
}

void transient_lost(struct shortlong *s, uint32_t number)
{
    struct server *server = &s->servers[number];
    struct probe *queue = server->queue;
    const uint32_t queued = server->queued;
    const uint32_t job = server->job;

    if (server->state != SERVER_ACTIVE && server->state != SERVER_DRAINING)
        return;
    if (job != NOBODY)
        give_back_task(s, server);
    server->job = NOBODY;
    server->queue = NULL;
    end_life(s, number);
    s->result->lost_count++;
    for (uint32_t i = 0; i < queued; i++)
        server_probe(s, place_short_server(s), queue[i].job);
    if (job != NOBODY)
        server_probe(s, place_short_server(s), job);
    mem_free(queue);
    server_wake_idle(s);
    transient_look(s);
}
