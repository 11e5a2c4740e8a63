/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.h - the one loop: events in, a decision, acts out.
 *
 * The controller keeps the view and what history teaches up to date with every event, asks its
 * policy for a plan when it is time to, and carries the plan out through the two ports, step by step
 * as events confirm what was asked. It does not know whether real systems or a simulator stand
 * behind the ports, and reads no clock: every event and every decision brings its time along.
 *
 * How a plan is carried out:
 *  1. what it rents is asked for at once; what it releases goes back when the last task has left;
 *  2. a task that moves is stopped first, and started at its target when it has stopped and the
 *     target is ready; a gang of which one task moves is stopped and started as a whole;
 *  3. a refused offer is not asked for again for a while, and its tasks wait for the next decision;
 *  4. tasks of a machine that was lost wait again.
 *
 * Promises:  late and repeated events are harmless; each act has a key of its own; every instance
 *            that was rented is given back or reported gone before controller_is_idle says so.
 * Costs:     an event is O(tasks on the instance it concerns); a decision what its policy costs.
 */
#ifndef STINT_CONTROL_CONTROLLER_H
#define STINT_CONTROL_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/cloud_port.h"
#include "control/engine_port.h"
#include "control/ledger.h"
#include "learn/knowledge.h"
#include "model/plan.h"
#include "model/view.h"
#include "policy/policy.h"

struct controller;

enum controller_estimates {
    ESTIMATES_GIVEN,   /* what the engine says with the job */
    ESTIMATES_LEARNED, /* from runtimes of the past; what the engine says where there are none */
};

struct controller_config {
    const struct policy *policy;
    int64_t option[POLICY_OPTIONS_MAX];
    const struct catalogue *catalogue;
    const struct shapes *shapes;
    struct engine_port engine;
    struct cloud_port cloud;
    enum controller_estimates estimates;
    msec_t default_estimate_ms; /* where there is nothing else */
    msec_t refused_block_ms;    /* how long a refused offer is left alone */
    double default_rate;        /* of pairs never seen together */
    struct pair_profile profile;

    /* Called with every decision, before it is carried out; may be NULL. */
    void (*on_plan)(void *context, const struct view *view, const struct plan *plan);
    /* Called when a task has ended, with what it cost; may be NULL. */
    void (*on_settled)(void *context, const struct view *view, uint32_t task,
                       struct ledger_due due);
    void *context;
};

/* What happened so far. */
struct controller_stats {
    uint64_t decisions;
    uint64_t weighed; /* decisions that chose between a full and a partial reconfiguration */
    uint64_t fulls;
    uint64_t rented;
    uint64_t refused;
    uint64_t lost;
    uint64_t noticed;     /* machines that were cleared because they would be taken away */
    uint64_t migrations;  /* of tasks that had been launched before */
    msec_t bound_task_ms; /* time that tasks were bound to instances, added up */
    msec_t instance_ms;   /* time from request to end of instances, added up */
    uint64_t late_events; /* ignored: they spoke of what is no more */
};

struct controller *controller_create(const struct controller_config *config);
void controller_destroy(struct controller *controller);

void controller_on_engine(struct controller *controller, const struct engine_event *event);
void controller_on_cloud(struct controller *controller, const struct cloud_event *event);

/* Decide now, and begin to carry it out. */
void controller_decide(struct controller *controller, msec_t now);

/* Whether something happened since the last decision that may call for another. */
bool controller_wants_decision(const struct controller *controller);

/* Let every instance without tasks go; no policy is asked. */
void controller_drain(struct controller *controller);

/* When, without any event, a decision is due: the policy asked for it, a refused offer may be asked
 * again, a price changes; MSEC_NEVER if never. */
msec_t controller_next_wake(const struct controller *controller);

/* No task and no instance is left. */
bool controller_is_idle(const struct controller *controller);

const struct view *controller_view(const struct controller *controller);
const struct ledger *controller_ledger(const struct controller *controller);
const struct knowledge *controller_knowledge(const struct controller *controller);
const struct controller_stats *controller_stats(const struct controller *controller);

#endif
