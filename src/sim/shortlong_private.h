/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortlong_private.h - what the files of shortlong.h share.
 */
#ifndef STINT_SIM_SHORTLONG_PRIVATE_H
#define STINT_SIM_SHORTLONG_PRIVATE_H

#include "base/arena.h"
#include "base/rng.h"
#include "base/tournament.h"
#include "sim/shortlong.h"
#include "sim/timeline.h"

#define NOBODY UINT32_MAX

/* A message takes half a millisecond in the public simulator. Here a probe takes a whole one, and so does
 * asking for a task and getting it. */
enum { PROBE_MS = 1, FETCH_MS = 1 };

/* A probe may be passed by others until that has delayed it by so many times its estimate. */
enum { PATIENCE = 5 };

enum event_kind {
    EVENT_ARRIVAL, /* who: a job */
    EVENT_PROBES,  /* who: a job */
    EVENT_END,     /* who: a server */
    EVENT_READY,   /* who: a server */
    EVENT_LOST,    /* who: a server */
};

struct job {
    bool is_long;
    msec_t estimate_ms;
    uint32_t first;   /* of its tasks, in 'order' */
    uint32_t tasks;   /* in all */
    uint32_t started; /* order[first + started] is the next */
    uint32_t ended;
    uint32_t *probed; /* servers that its probes are on their way to */
    uint32_t probe_count;
};

struct probe {
    uint32_t job;
    msec_t passed_ms; /* by how much short tasks that came later have delayed it */
};

enum server_state { SERVER_ACTIVE, SERVER_BOOTING, SERVER_DRAINING, SERVER_GONE };

/* In this order: the short partition's, the long partition's, transient ones as they are requested. */
struct server {
    enum server_state state;
    struct probe *queue;
    uint32_t queued;
    uint32_t queue_room;
    uint32_t queued_long;
    uint32_t job; /* whose task it runs, or NOBODY */
    uint32_t task;
    msec_t since;        /* the task was fetched */
    msec_t long_work_ms; /* estimated, of the long tasks that it runs and has in its queue */
    uint32_t map;        /* which of 'maps' its newest long task brought, or NOBODY */
    uint32_t idle_place; /* in 'idle', or NOBODY */
    uint32_t open_place; /* in 'open', or NOBODY */
    msec_t ready_ms;
};

/* Which servers had no long work when the tasks of a long job reached their servers. */
struct map_of_clear {
    uint32_t *servers;
    uint32_t count;
};

/* Estimated long work of a server. */
struct load {
    msec_t ms;
    uint32_t server;
};

struct shortlong {
    const struct shortlong_config *config;
    struct shortlong_result *result;
    struct timeline timeline;
    struct arena arena;
    struct rng probing;
    struct rng losses;
    msec_t now;

    struct job *jobs;
    uint32_t ended;  /* tasks */
    uint32_t *order; /* tasks, job by job; those that did not start are behind 'started' */
    struct tournament waiting; /* short jobs that have tasks left and whose probes have arrived */

    struct server *servers;
    uint32_t server_count;
    uint32_t servers_room;
    uint32_t fixed; /* servers that are no transient ones */
    uint32_t *idle; /* servers that run nothing and have nothing in their queue */
    uint32_t idle_count;
    uint32_t idle_room;
    uint32_t *open; /* transient servers that take probes */
    uint32_t open_count;
    uint32_t open_room;

    struct load *loads; /* of the long partition, to place a long job */
    struct map_of_clear *maps;
    uint32_t map_count;
    uint32_t maps_room;

    struct short_partition_view view;
    msec_t counted_until;
};

static inline uint32_t tasks_left(const struct job *job)
{
    return job->tasks - job->started;
}

static inline bool is_long_partition(const struct shortlong *s, uint32_t server)
{
    return server >= s->config->short_servers && server < s->fixed;
}

static inline bool has_long_work(const struct server *server, const struct job *jobs)
{
    return server->queued_long > 0 || (server->job != NOBODY && jobs[server->job].is_long);
}

static inline void shortlong_add_event(struct shortlong *s, msec_t at, enum event_kind kind,
                                       uint32_t who)
{
    timeline_add(&s->timeline, (struct timeline_event){ .at = at, .kind = kind, .who = who });
}

/* ---- shortlong_server.c ---- */

uint32_t server_add(struct shortlong *s, enum server_state state);

/* A probe reaches the server; it starts something if it is idle. */
void server_probe(struct shortlong *s, uint32_t number, uint32_t job);

/* The task of the server has ended, or it has just become ready: what next? False: it drains, and has done its queue. */
bool server_next(struct shortlong *s, uint32_t number, bool at_boundary);

/* Idle servers start what waits, if they may. */
void server_wake_idle(struct shortlong *s);

/* The server is not asked for anything any more. */
void server_forget_idle(struct shortlong *s, uint32_t server);

/* ---- shortlong_place.c ---- */

void place_init(struct shortlong *s);
void place_done(struct shortlong *s);

/* Choose servers for the probes of a job that arrives; they reach them PROBE_MS later. */
void place_job(struct shortlong *s, uint32_t number);

/* The probes of the job reach their servers. */
void place_arrive(struct shortlong *s, uint32_t number);

/* A server of the short partition, at random. */
uint32_t place_short_server(struct shortlong *s);

/* ---- shortlong_transient.c ---- */

/* Something has changed that the rule looks at. */
void transient_look(struct shortlong *s);

void transient_ready(struct shortlong *s, uint32_t number);
void transient_lost(struct shortlong *s, uint32_t number);

/* A draining server has done its queue. */
void transient_leave(struct shortlong *s, uint32_t number);

/* The last task has ended, and with it the lives of those that are up. */
void transient_end_all(struct shortlong *s);

#endif
