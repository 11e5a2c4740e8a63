/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_port.h - what the controller asks of a resource manager, and what it is notified of.
 *
 * Behind it stand Slurm, Kubernetes or the simulator. The engine queues, starts and isolates work;
 * the controller says where.
 *
 * Rules, for whoever implements it:
 *  1. An action is asked for under a key and confirmed later by an event that carries the same key; no
 *     act calls back before it returns. Asking twice under one key does nothing more.
 *  2. An action may be refused, delayed, or confirmed twice; events may come late or twice. Whoever
 *     receives them tells old ones by their key.
 *  3. A task's id is stable even where the engine gives it a new name after an eviction, and over a
 *     restart of the daemon.
 *  4. A task has one owner at a time. One that was queued, or placed and has not left, is the
 *     engine's until it is lost or ended, or until a 'cancel' or a 'stop' of it is confirmed. A task
 *     may be placed though it runs: whoever asks may know less than the engine. Then nothing is
 *     stopped, and ENGINE_TASK_FOUND says where it runs.
 *  5. A list wins over events: what it names is there, what was there when it was asked for and is
 *     not named is there no more.
 *  6. Only 'stop' and 'forget' may end a run. A machine with anything on it, managed by us or not,
 *     is not reported as left.
 */
#ifndef STINT_CONTROL_ENGINE_PORT_H
#define STINT_CONTROL_ENGINE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "model/view.h"

/* Machines that are owned have ids from this on, so that no key is like one of them. The engine has them anyway: it is
 * never asked to let one join or leave, and tells of it as of others. */
#define OWNED_ID_FIRST ((uint64_t)1 << 48)

/* An amount of a node that the engine does not know: the machine has what its type has. */
#define ENGINE_AS_TYPE INT64_MAX

struct engine_ops {
    /* Let the machine of this id join; ENGINE_NODE_READY says that it takes work. */
    void (*admit)(void *self, uint64_t instance);

    /* Let the machine leave: nothing new starts there. ENGINE_NODE_LEFT when nothing is on it any
     * more, or at once if the engine does not know it. What runs there runs to its end. */
    void (*retire)(void *self, uint64_t instance);

    /* The cloud has the machine no more, with all that ran there. It need not be known. */
    void (*forget)(void *self, uint64_t instance);

    /* Start the task on the machine, as soon as there is room: ENGINE_TASK_STARTED, or _LOST. */
    void (*place)(void *self, uint64_t key, uint64_t task, uint64_t instance);

    /* Start the tasks of a gang together, each on its machine, or none of them: _STARTED or _LOST for each, all
     * under the one key. They are placed when all their machines are ready. May be NULL: then the tasks of a
     * gang are placed one by one, each when its machine is ready. */
    void (*place_gang)(void *self, uint64_t key, const uint64_t *tasks, const uint64_t *instances,
                       uint32_t count);

    /* Start the task on any machine that was admitted, whenever there is room. Where it runs is reported
     * later: ENGINE_TASK_FOUND, or _LOST if it will not. May be NULL: this engine cannot. */
    void (*queue)(void *self, uint64_t key, uint64_t task);

    /* Take back a placement or a queueing that has not begun: ENGINE_TASK_STOPPED. If the task runs
     * already nothing is stopped: ENGINE_TASK_FOUND, or _FINISHED. */
    void (*cancel)(void *self, uint64_t key, uint64_t task);

    /* End the run of the task, saving what it has done: ENGINE_TASK_STOPPED, or _FINISHED if it was
     * faster, or _KEPT if it may not be stopped now (what a disruption budget allows is used up, say). */
    void (*stop)(void *self, uint64_t key, uint64_t task);

    /* Tell everything there is: ENGINE_JOB_ARRIVED for every job that has not ended,
     * ENGINE_NODE_READY for every machine that takes work, ENGINE_TASK_FOUND for every task that
     * runs; then ENGINE_LISTED. */
    void (*list)(void *self, uint64_t key);
};

/* Whose a job is, for limits of accounts and the like; NULL: the engine does not say. */
struct engine_owner {
    const char *account;
    const char *user;
    const char *partition; /* or several, with commas */
    const char *qos;
};

struct engine_port {
    const struct engine_ops *ops;
    void *self;
};

enum engine_event_kind {
    ENGINE_JOB_ARRIVED,   /* 'job'; in a list also one that is known */
    ENGINE_JOB_WITHDRAWN, /* 'job' (its ids and how many tasks it has) must not run now (its user
                             holds it, say); it may come again */
    ENGINE_NODE_READY,    /* 'instance'; with 'has_capacity' also what tasks may use of it */
    ENGINE_NODE_LOST,     /* 'instance' takes no work any more, though nobody asked for that;
                             'runs_on': it is only closed, and may be ready again */
    ENGINE_NODE_LEFT,     /* 'instance' was retired, and the engine has nothing on it any more */
    ENGINE_TASK_STARTED,  /* 'task', 'key' of the placement */
    ENGINE_TASK_FOUND,    /* 'task' runs on 'instance' since 'started_at', whatever was asked for;
                             later events about it carry 'key' */
    ENGINE_TASK_RATE,     /* 'task', 'key' of the placement, 'rate_ppm' of full speed */
    ENGINE_TASK_STOPPED,  /* 'task', 'key' of the stop or the cancel */
    ENGINE_TASK_LOST,     /* 'task', 'key' of the placement: refused, crashed, its machine lost */
    ENGINE_TASK_FINISHED, /* 'task', and where and from when on it ran, if the engine knows */
    ENGINE_LISTED,        /* 'key' of the list that ends here */
    ENGINE_TASK_KEPT, /* 'task', 'key' of the stop: it goes on, and is not to be stopped before 'until' */
    ENGINE_JOB_CHANGED, /* of 'job' its ids and what 'changes' names, nothing else; in a list after the
                           job, if it changed since it arrived */
    ENGINE_TASK_WITHDRAWN, /* 'task' has left its job and must not run; if it does, the engine ends that */
};

/* What ENGINE_JOB_CHANGED gives of a job. At least one; the rest of the job is not read. */
enum engine_change {
    CHANGE_PRIORITY = 1U << 0,
    CHANGE_ESTIMATE = 1U << 1,
    CHANGE_APART = 1U << 2, /* 'spread', 'apart' and 'keeps' */
    CHANGE_TASKS = 1U << 3, /* how many it has had in all: those above what it had are new */
    CHANGE_ALL = CHANGE_PRIORITY | CHANGE_ESTIMATE | CHANGE_APART | CHANGE_TASKS,
};

struct engine_event {
    enum engine_event_kind kind;
    msec_t at; /* when it was heard: what was heard of a task before it was last asked something, or
                  left, is old news */
    uint64_t task;
    uint64_t instance;
    uint64_t key;
    msec_t started_at; /* ENGINE_TASK_FOUND, _FINISHED */
    /* ENGINE_TASK_FOUND: it ran until then, and nobody listened; _FINISHED follows. 0: it runs */
    msec_t ended_at;
    msec_t until; /* ENGINE_TASK_KEPT; 0: nobody knows */
    uint32_t rate_ppm;
    uint32_t changes;  /* ENGINE_JOB_CHANGED: enum engine_change */
    bool runs_on;      /* ENGINE_NODE_LOST: what runs there goes on */
    bool is_faultless; /* ENGINE_TASK_LOST: neither the task nor the machine is to blame */
    bool has_capacity; /* ENGINE_NODE_READY: 'capacity' holds, whatever the type says */
    struct res
        capacity; /* may differ from what was said before; ENGINE_AS_TYPE: of this kind the type holds */
    struct job_spec
        job; /* 'estimate_ms' below 0: the engine has none; above LIMIT_TIME_MS: the work has
                            no end */
};

#endif
