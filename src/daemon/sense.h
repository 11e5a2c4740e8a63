/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sense.h - a second look at each order, by plain facts and by code apart from every decision.
 *
 * The gate shows it all events of engine and cloud, and each order before it leaves. It has tables of its own of jobs,
 * tasks and machines. So a fault of a policy or of the controller costs one order instead of money or a job.
 *
 * Rules:     enum sense_verdict. A movable task that runs may be on its way out, so it takes no room.
 * Promises:  without a fact the order is good. A good order counts as done.
 * Costs:     a place is O(tasks on the machine), the end of a list O(jobs and tasks), a rent O(machines), all else O(1).
 *            Memory: 80 bytes a task, 100 a machine, 40 a job.
 */
#ifndef STINT_DAEMON_SENSE_H
#define STINT_DAEMON_SENSE_H

#include "control/ports/cloud_port.h"
#include "control/ports/engine_port.h"
#include "daemon/gate_act.h"

enum sense_verdict {
    SENSE_GOOD,
    SENSE_NO_TASK,    /* a place of an unknown task */
    SENSE_NO_MACHINE, /* a place on an unknown machine */
    SENSE_FORBIDDEN,  /* a place on a machine that is forbidden for the job */
    SENSE_NO_ROOM,
    SENSE_TOGETHER, /* a place beside a task to keep apart from */
    SENSE_FIXED,    /* a stop of a fixed job that runs */
    SENSE_IN_USE,   /* the end of a machine with a task on it */
    SENSE_NO_OFFER, /* a rent of an unknown offer */
    SENSE_TWICE,    /* a second rent under the same key */
    SENSE_HELD,     /* a rent during a drain, or without budget */
    SENSE_INSTANCES,
    SENSE_PRICE,
    SENSES,
};

struct sense_limits {
    uint32_t instances;     /* 0: any number */
    money_t price_per_hour; /* 0: any */
    bool rents_nothing;
};

struct sense;

struct sense *sense_create(const struct catalogue *catalogue, const struct shapes *shapes);
void sense_destroy(struct sense *sense);

/* For the orders that follow. */
void sense_limit(struct sense *sense, const struct sense_limits *limits);

/* A machine of an earlier process, or an owned one. */
void sense_know(struct sense *sense, uint64_t instance, uint32_t offer);

/* The order for the machine was taken back before it left. */
void sense_never(struct sense *sense, uint64_t instance);

void sense_heard_engine(struct sense *sense, const struct engine_event *event);
void sense_heard_cloud(struct sense *sense, const struct cloud_event *event);

/* Of the orders of one moment, in place, those that are good; how many. The others go to 'refuse'. */
uint32_t sense_sift(struct sense *sense, struct gate_act *acts, uint32_t count, msec_t now,
                    void (*refuse)(void *context, const struct gate_act *act,
                                   enum sense_verdict why, msec_t now),
                    void *context);

/* "the machine has no room for it" */
const char *sense_text(enum sense_verdict verdict);

#endif
