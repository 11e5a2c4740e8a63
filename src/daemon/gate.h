/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - between the controller and the world: no action without a journal, none without leave.
 *
 * The gate stands behind the controller's two ports and before the real ones. What the controller
 * asks for in a turn is collected:
 *
 *     controller ... actions ...
 *     gate_note(gate, now);               actions that may pass become intents in the journal
 *     journal_write(...) == 0             all of it is on the disk
 *     gate_pass(gate);                    only now the real ports hear of it
 *
 * In mode advise, actions that spend, end or begin something become proposals first: what is approved
 * passes like any other act, what is rejected comes back to the controller as the world's refusal.
 *
 * Events of the real ports are shown to the gate on their way to the controller: they close intents. What the
 * controller has asked for by then is held against plain facts first (sense.h).
 *
 * Words:     an intent of a previous run was open when the daemon ended. The first lists close it:
 *            what was rented and is there was done, what was to be returned and is there is
 *            returned once more. A machine that they do not show is sought for 'settle_ms' more.
 *            A return is two actions, retire and then give-back; the operator is asked once, for the first.
 * Promises:  actions pass in the order they were asked for. A list, an admission and a cancel need no
 *            leave: they change nothing that costs.
 * Costs:     O(1) an action and an event. Memory for what is open.
 */
#ifndef STINT_DAEMON_GATE_H
#define STINT_DAEMON_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/ports/cloud_port.h"
#include "control/ports/engine_port.h"
#include "daemon/gate_act.h"
#include "daemon/journal.h"
#include "daemon/sense.h"

struct gate;

struct gate_config {
    struct engine_port engine; /* the real ones */
    struct cloud_port cloud;
    struct journal *journal;
    const struct catalogue *catalogue;
    const char *node_prefix;
    bool asks;           /* mode advise */
    msec_t settle_ms;    /* so long the cloud's lists may not show what was rented a moment ago */
    struct sense *sense; /* each order is held against it; NULL: none is */

    /* A rent that waited for leave will never be made, and nobody refused it. */
    void (*on_withdrawn)(void *context, uint64_t instance);
    /* What a rejection tells the controller. */
    void (*on_engine)(void *context, const struct engine_event *event);
    void (*on_cloud)(void *context, const struct cloud_event *event);
    /* An order made no sense, and was kept here. */
    void (*on_withheld)(void *context, const struct gate_act *act, enum sense_verdict why);
    void *context;
};

/* What waits for the operator. */
struct gate_proposal {
    uint64_t id; /* from 1, in the order of asking; not the same after a restart */
    msec_t at;
    struct gate_act act;
};

struct gate *gate_create(const struct gate_config *config);
void gate_destroy(struct gate *gate);

/* For the controller. */
struct engine_port gate_engine_port(struct gate *gate);
struct cloud_port gate_cloud_port(struct gate *gate);

/* An intent that was open when the daemon ended. */
void gate_restore(struct gate *gate, const struct store_intent *intent);

/* Whether a machine of a previous run is sought, which may be there or not: what is rented meanwhile may
 * be one too many. */
bool gate_seeks(const struct gate *gate);

/* Before an event of the real ports goes on to the controller. */
void gate_heard_engine(struct gate *gate, const struct engine_event *event);
void gate_heard_cloud(struct gate *gate, const struct cloud_event *event);

/* Whether actions wait to be noted or passed. */
bool gate_has_acts(const struct gate *gate);

void gate_note(struct gate *gate, msec_t now);
void gate_pass(struct gate *gate);

/* The journal cannot be written: of what was noted let only that pass which is harmless if it is done
 * twice or forgotten (lists, admissions, returns). Rents and whatever starts or stops a task are taken
 * back, and the controller is notified; they never left. */
void gate_pass_unwritten(struct gate *gate, msec_t now);

/* Ask before each action from now on, or no more: then all that waits is approved, but for rents, which
 * were planned under other limits perhaps and are withdrawn. Not from within an action. */
void gate_ask(struct gate *gate, bool asks);

/* Take back all rents that wait for leave. Not from within an action. */
void gate_withdraw_rents(struct gate *gate);

uint32_t gate_proposal_count(const struct gate *gate);
const struct gate_proposal *gate_proposal(const struct gate *gate, uint32_t index);

/* The one that the task waits for, or that rents the instance (0: none is meant); NULL: none. */
const struct gate_proposal *gate_proposal_about(const struct gate *gate, uint64_t task,
                                                uint64_t instance);

/* How many were; an 'id' of 0 means all. Not from within an action. A return cannot be rejected: the
 * machine is empty and costs money until someone agrees. */
uint32_t gate_approve(struct gate *gate, uint64_t id);
uint32_t gate_reject(struct gate *gate, uint64_t id, msec_t now);

/* Intents that are open, and since when the oldest is. */
uint32_t gate_open_count(const struct gate *gate);
msec_t gate_oldest(const struct gate *gate);

/* "rent", "give-back", "place" ... */
const char *gate_act_word(enum gate_act_kind kind);

#endif
