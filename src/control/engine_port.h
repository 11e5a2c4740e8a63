/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_port.h - what the controller asks of a resource manager, and what it is told.
 *
 * Behind it stand Slurm, Kubernetes or the simulator. The engine queues, starts and isolates work;
 * the controller says where.
 *
 * Rules, for whoever implements it:
 *  1. An act is asked for under a key and confirmed later by an event that carries the same key; no
 *     act calls back before it returns. Asking twice under one key does nothing more.
 *  2. An act may be refused, delayed, or confirmed twice; events may come late or twice. Whoever
 *     receives them tells old ones by their key.
 *  3. A task's id is stable even where the engine gives it a new name after an eviction.
 */
#ifndef STINT_CONTROL_ENGINE_PORT_H
#define STINT_CONTROL_ENGINE_PORT_H

#include <stdint.h>

#include "base/units.h"
#include "model/view.h"

struct engine_ops {
    /* Let the machine of this id join; ENGINE_NODE_READY says that it takes work. */
    void (*admit)(void *self, uint64_t instance);

    /* The machine is about to go; nothing runs there any more. */
    void (*retire)(void *self, uint64_t instance);

    /* Start the task on the machine, as soon as there is room: ENGINE_TASK_STARTED, or _LOST. */
    void (*place)(void *self, uint64_t key, uint64_t task, uint64_t instance);

    /* Stop the task, saving what it has done: ENGINE_TASK_STOPPED, or _FINISHED if it was faster. */
    void (*stop)(void *self, uint64_t key, uint64_t task);
};

struct engine_port {
    const struct engine_ops *ops;
    void *self;
};

enum engine_event_kind {
    ENGINE_JOB_ARRIVED,   /* 'job' */
    ENGINE_NODE_READY,    /* 'instance' */
    ENGINE_TASK_STARTED,  /* 'task', 'key' of the placement */
    ENGINE_TASK_RATE,     /* 'task', 'key' of the placement, 'rate_ppm' of full speed */
    ENGINE_TASK_STOPPED,  /* 'task', 'key' of the stop */
    ENGINE_TASK_LOST,     /* 'task', 'key' of the placement: refused, crashed, its machine lost */
    ENGINE_TASK_FINISHED, /* 'task' */
};

struct engine_event {
    enum engine_event_kind kind;
    msec_t at;
    uint64_t task;
    uint64_t instance;
    uint64_t key;
    uint32_t rate_ppm;
    struct job_spec job; /* 'estimate_ms' below 0: the engine has none */
};

#endif
