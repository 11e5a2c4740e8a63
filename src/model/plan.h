/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - what a decision answers: what to rent, where to put tasks, what to let go, and why.
 *
 * A plan holds only what changes: a task that is not named stays where it is, an instance that is
 * not named is kept. So its size follows the change, not the cluster.
 *
 * Each item carries its reason as data: a code, the price of what was chosen and the price of what
 * was passed over (MONEY_UNKNOWN where there was nothing else). plan_reason_text puts it into words.
 *
 * Memory:  lives in the arena that the plan was given.
 */
#ifndef STINT_MODEL_PLAN_H
#define STINT_MODEL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/units.h"

enum plan_reason_code {
    REASON_CHEAPEST_ALONE,  /* the cheapest machine that holds the task by itself */
    REASON_SHARES_FRESH,    /* shares a new machine whose price its tasks are worth together */
    REASON_FITS_KEPT,       /* fits a machine that stays anyway */
    REASON_SAME_BIN,        /* ends at about the same time as what runs there */
    REASON_LONGER_BIN,      /* ends before what runs there */
    REASON_SHORTER_BIN,     /* fits, and what runs there ends earlier */
    REASON_BEST_SCORE,      /* most of the tightest resource per dollar */
    REASON_CLEARED,         /* moved off an under-used machine */
    REASON_NOT_WORTH_PRICE, /* what runs there is worth less than the machine costs */
    REASON_REPACKED,        /* moved by a full reconfiguration that pays for itself */
    REASON_EMPTY,           /* nothing runs there */
    REASON_FIRST_IN_QUEUE,  /* its turn, and there is room */
    REASON_BACKFILL,        /* fits before the first in the queue can start */
    REASON_WAIT_TOO_LONG,   /* the first in the queue would wait too long */
    REASON_LEASE_ENDS,      /* nothing runs there and the paid time is over */
    REASON_PAID_TIME,       /* runs within time that is paid for already */
    REASON_BEST_VALUE,      /* most work for what the machine will be charged */
    REASON_PRICE_ROSE,      /* moved off a machine that costs more than another one by now */
    REASON_RISK_ROSE, /* moved off a machine that may be lost, which would cost more than another one */
    REASON_YIELDS,   /* stops and waits: what its machine costs is worth more elsewhere */
    REASON_PROMISED, /* so that a service has the machines that it was promised */
    REASON_PROMISED_SAFE, /* the same, where machines that may be taken away cannot keep the promise for less */
    REASON_PROMISED_BEST, /* the same, and nothing that can be rented keeps the promise */
    REASON_EXCESS,        /* runs on room that is kept for a service, until that needs it */
    REASON_SERVICE_NEEDS, /* stops and waits: a service needs the room */
    REASON_OWNED,         /* fits a machine that is owned */
    REASON_BETTER_PLACE,  /* moved to a place that is better by more than the move costs */
    REASON_SHORT_POOL,    /* stands ready for short tasks, as most machines have long ones */
    REASON_SHORT_READY,   /* short, and runs on a machine that stands ready for such */
    REASON_COUNT,
};

struct plan_reason {
    enum plan_reason_code code;
    money_t chosen;        /* per hour */
    money_t passed_over;   /* per hour, of the best alternative; MONEY_UNKNOWN: none */
    uint32_t passed_offer; /* that alternative, or OFFER_NONE */
};

struct plan_rent {
    uint32_t offer;
    uint32_t request; /* neighbours with the same offer and request are asked for in one call */
    struct plan_reason why;
    bool is_for_engine; /* set by the controller: for a task that the engine will start by itself */
};

/* Put 'task' on an instance that there is, or on one that this plan rents. */
struct plan_place {
    uint32_t task;
    bool fresh; /* 'target' is an index of plan.rents, else a row of the view's instances */
    uint32_t target;
    struct plan_reason why;
};

/* A task that runs stops, saves its work, and waits again; for a service also one that is on its way. Of a gang, all that
 * run. */
struct plan_suspend {
    uint32_t task;
    struct plan_reason why;
};

struct plan_release {
    uint32_t instance;
    struct plan_reason why;
};

/* How far a decision that weighs a full against a partial reconfiguration went. */
enum plan_kind {
    PLAN_PLAIN, /* there was no such choice */
    PLAN_PARTIAL,
    PLAN_FULL,
};

/* One of two candidates that were weighed: it saves so much per hour, and moving costs so much. */
struct plan_candidate {
    money_t saving_per_hour;
    money_t migration;
    money_t total; /* over the expected duration */
};

struct plan {
    struct arena *arena;
    struct plan_rent *rents;
    struct plan_place *places;
    struct plan_release *releases;
    struct plan_suspend *suspends;
    uint32_t rent_count, rents_room;
    uint32_t place_count, places_room;
    uint32_t release_count, releases_room;
    uint32_t suspend_count, suspends_room;
    enum plan_kind kind;
    struct plan_candidate full, partial; /* where kind is not PLAN_PLAIN */
    msec_t expected_ms;                  /* how long the configuration was expected to last */
    msec_t wake_at; /* decide again then, even if nothing happens; MSEC_NEVER: no need */
    bool
        release_when_empty; /* until the next plan, an instance whose last task ends goes back at once */
};

void plan_init(struct plan *plan, struct arena *arena);

/* The index of the new rent. */
uint32_t plan_rent(struct plan *plan, uint32_t offer, struct plan_reason why);

/* The same, as a part of a request for several machines: those of one number. */
uint32_t plan_rent_with(struct plan *plan, uint32_t offer, uint32_t request,
                        struct plan_reason why);

void plan_place_fresh(struct plan *plan, uint32_t task, uint32_t rent, struct plan_reason why);
void plan_place_kept(struct plan *plan, uint32_t task, uint32_t instance, struct plan_reason why);
void plan_release(struct plan *plan, uint32_t instance, struct plan_reason why);
void plan_suspend(struct plan *plan, uint32_t task, struct plan_reason why);

/* A reason with no alternative to name. */
struct plan_reason plan_because(enum plan_reason_code code, money_t chosen);

/* The code in words, a phrase without full stop. */
const char *plan_reason_text(enum plan_reason_code code);

#endif
