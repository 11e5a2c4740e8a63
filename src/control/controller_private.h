/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller_private.h - the controller's own state, shared by its parts:
 *
 *   controller.c          creation, questions, the decision
 *   controller_events.c   what events change
 *   controller_steps.c    how plans become acts
 */
#ifndef STINT_CONTROL_CONTROLLER_PRIVATE_H
#define STINT_CONTROL_CONTROLLER_PRIVATE_H

#include "base/arena.h"
#include "base/map.h"
#include "control/controller.h"

/* Where the engine has a task, as far as we asked and heard. */
enum step_state {
    STEP_NONE,     /* nowhere: it can be placed */
    STEP_PLACED,   /* asked to start at 'at', or running there */
    STEP_STOPPING, /* asked to stop */
};

/* One per row of the view's tasks. */
struct task_step {
    uint64_t key;  /* of the last act */
    uint32_t at;   /* the instance it was placed on; ROW_NONE with STEP_NONE */
    uint32_t next; /* in the list of those who are there */
    uint32_t prev;
    uint8_t state;
};

/* One per row of the view's jobs: what its runtime teaches when it has ended. */
struct job_lesson {
    struct runtime_traits traits;
    uint64_t seen;      /* see runtimes.h */
    msec_t executed_ms; /* by its tasks that have finished, added up */
};

struct controller {
    struct controller_config config;
    struct view view;
    struct knowledge knowledge;
    struct ledger *ledger;
    struct arena arena; /* of one decision */
    struct controller_stats stats;
    struct task_step *steps;
    uint32_t *present; /* per row of the view's instances: the first task that was placed there and
                          has not left; ROW_NONE: nobody */
    struct job_lesson *lessons;
    uint32_t lessons_room;
    uint32_t steps_room;
    uint32_t present_room;
    uint64_t next_key;
    struct map ended_jobs; /* ids of jobs that are over, to know late news of them */
    msec_t next_unblock;   /* when the next refused offer may be asked again */
    msec_t next_price;     /* when the next price changes */
    msec_t next_wake;      /* when the policy wants to decide again */
    bool wants_decision;
};

/* Make room for the rows that the view has. */
void controller_grow(struct controller *controller);

/* A key that was never used. */
uint64_t controller_key(struct controller *controller);

/* Carry out a plan. */
void controller_apply(struct controller *controller, const struct plan *plan);

/* Start the task at the instance it is bound to, if both are ready for it. */
void controller_try_place(struct controller *controller, uint32_t task);

/* Give the instance back if it is draining and nothing is left there. */
void controller_try_return(struct controller *controller, uint32_t instance);

/* The task is no longer where it was placed, as of 'at'. */
void controller_left(struct controller *controller, uint32_t task, msec_t at);

/* Ask the engine to stop the task, if it is anywhere. */
void controller_stop(struct controller *controller, uint32_t task);

/* Take the task off what it is bound to; it waits again. */
void controller_unbind(struct controller *controller, uint32_t task, msec_t at);

/* Note what the co-located tasks' throughputs tell. */
void controller_observe(struct controller *controller);

#endif
