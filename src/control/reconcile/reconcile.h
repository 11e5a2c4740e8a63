/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.h - what is wanted, held against what is, row by row: the only caller of the ports.
 *
 *     a task
 *         bound, nowhere, its machine ready       -> place; a gang in one action, if the engine can
 *         wanted in the engine's queue, nowhere   -> queue
 *         elsewhere than bound, not started       -> cancel
 *         elsewhere than bound, or to run again    -> stop
 *     an instance
 *         to be rented                            -> rent, with all of its request
 *         billed, not admitted                    -> admit
 *         draining, nobody there                  -> retire; when it has left: return
 *
 * A task has one owner: what was handed to the engine is its own until it says otherwise. Whether a task runs
 * is the engine's word, too: a start that we have not heard of is no run that we may end, so only what was
 * heard to have started is ever stopped.
 *
 * Promises:  each action has a key of its own. Where nothing is marked nothing is asked for, and a second look at
 *            any row asks for nothing more: see state_mark_all.
 * Costs:     O(rows that are marked).
 */
#ifndef STINT_CONTROL_RECONCILE_H
#define STINT_CONTROL_RECONCILE_H

#include "control/hear/hear.h"
#include "control/ports/cloud_port.h"
#include "control/ports/engine_port.h"

/* Tasks that are placed together. */
struct gang {
    uint64_t *tasks; /* ids */
    uint64_t *instances;
    uint32_t count;
    uint32_t tasks_room;
    uint32_t instances_room;
};

struct reconciler {
    struct state *state;
    struct books *books;
    struct hearing *hear;
    struct engine_port engine;
    struct cloud_port cloud;
    uint32_t acts; /* in the present look */
    struct gang gang;
};

void reconcile_init(struct reconciler *rec, struct hearing *hear, const struct engine_port *engine,
                    const struct cloud_port *cloud);
void reconcile_done(struct reconciler *rec);

/* Look at all that is marked; returns how often a port was asked for something. */
uint32_t reconcile(struct reconciler *rec);

#endif
