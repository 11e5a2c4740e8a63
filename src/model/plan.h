/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - what a decision answers: what to rent, where to put tasks, what to let go, and why.
 *
 * A plan holds only what changes: a task that is not named stays where it is, an instance that is
 * not named is kept. So its size follows the change, not the cluster.
 *
 * Each item carries its reason as data: a code, the price of what was chosen, and the best alternative that was rejected with
 * its price. Both prices are dollars per hour for the same tasks: of a new machine for all that is placed there, of a task on a
 * machine that there is for its share of that machine. An alternative is another offer than the chosen one. A move also
 * says what it saves and what it costs. plan_reason_text puts the code into words. So does a task that waits although something could be done for it: by which rule, for what, for how long at the most,
 * and what it would cost not to wait.
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
    REASON_BEST_VALUE,      /* the least that can be charged for this work */
    REASON_FEWER_MACHINES,  /* nearly that, and fewer machines */
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
    REASON_SHORT_FIRST,   /* short, and starts before long work that waits for the same room */
    REASON_ASKED_FIRST,   /* for work that runs on elsewhere until the machine is there */
    REASON_OUTDATED,      /* its image or settings are no longer those of new machines */
    REASON_COUNT,
};

struct plan_reason {
    enum plan_reason_code code;
    uint32_t passed_offer; /* the best alternative, or OFFER_NONE */
    money_t chosen;        /* per hour */
    money_t
        passed_over; /* per hour, for the same tasks on the alternative; MONEY_UNKNOWN: there is none */
    money_t
        saving; /* of a move: until when the decision looked ahead, without its cost; MONEY_UNKNOWN: it is no move */
    money_t
        move_cost; /* work that stops meanwhile, and machines that are paid twice; MONEY_UNKNOWN likewise */
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

/* By which rule a task waits. */
enum plan_wait_rule {
    WAIT_NONE,      /* it does not, or nothing was decided yet */
    WAIT_ROOM,      /* room comes free before a new machine would be ready */
    WAIT_PAID_ROOM, /* room comes free soon, in time that is paid for anyway */
    WAIT_MACHINES,  /* enough machines come free soon, and others need not be rented */
    WAIT_SHARED,    /* a machine that others get takes it after them, in time that is paid for */
    WAIT_OFFER,     /* an offer that costs much less was refused and may be asked for again soon */
    WAIT_CROWD,     /* more services are coming, and those that there are fill no machine */
    WAIT_WORTH,     /* to run it now costs more than it is worth, by the price of waiting */
    WAIT_QUEUE,     /* the policy has a queue, and its turn has not come */
    WAIT_NO_OFFER,  /* nothing that holds it can be rented now, and there is no room for it */
    WAIT_SERVICE,   /* the machines of its service have no room for it yet */
    WAIT_YIELDED,   /* it was stopped for others */
    WAIT_LIMIT,     /* a limit or a budget: see enum controller_limit */
    WAIT_BACK_OFF,  /* its last start came to nothing, and it is tried again later */
    WAIT_ENGINE,    /* it is queued at the engine, which starts it where there is room */
    WAIT_GANG,      /* it starts with the others of its gang, of which one waits */
    WAIT_PUT_OFF,   /* what was to make room for it is put off */
    WAIT_RULES,
};

/* 'rent_cost' is what it would cost to rent 'rent_offer' for the task alone now, 'wait_cost' what it costs to wait instead and
 * run it there; of WAIT_WORTH both are per hour. */
struct plan_wait {
    uint32_t task;
    enum plan_wait_rule rule;
    bool fresh;          /* 'target' as of plan_place */
    uint32_t target;     /* the machine that it waits for, or UINT32_MAX */
    uint32_t offer;      /* that it waits for, or the machine's; or OFFER_NONE */
    uint32_t rent_offer; /* or OFFER_NONE: nothing can be rented for it now */
    msec_t expected;     /* by the estimates it starts then; MSEC_NEVER: that is not known */
    msec_t until;        /* it waits no longer by this rule; MSEC_NEVER: there is no end to it */
    money_t rent_cost;   /* or MONEY_UNKNOWN */
    money_t wait_cost;   /* or MONEY_UNKNOWN */
    bool is_new;         /* set by the controller: it did not wait by this rule before */
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

/* What becomes of an instance whose last task ends before there is another plan. */
enum plan_when_empty {
    EMPTY_STAYS,
    EMPTY_GOES,
    EMPTY_GOES_UNLESS_USED, /* if it is not paid for until then, not worth its price, and no task waits for its room */
};

struct plan {
    struct arena *arena;
    struct plan_rent *rents;
    struct plan_place *places;
    struct plan_release *releases;
    struct plan_suspend *suspends;
    struct plan_wait *waits; /* by a choice of the policy */
    const uint8_t *
        wait_rule; /* enum plan_wait_rule, of each row of the tasks, whoever made it wait; set by the
                                 controller, NULL before */
    uint32_t rent_count, rents_room;
    uint32_t place_count, places_room;
    uint32_t release_count, releases_room;
    uint32_t suspend_count, suspends_room;
    uint32_t wait_count, waits_room;
    enum plan_kind kind;
    struct plan_candidate full, partial; /* where kind is not PLAN_PLAIN */
    msec_t expected_ms;                  /* how long the configuration was expected to last */
    msec_t wake_at; /* decide again then, even if nothing happens; MSEC_NEVER: no need */
    enum plan_when_empty when_empty;
};

void plan_init(struct plan *plan, struct arena *arena);

/* The index of the new rent. */
uint32_t plan_rent(struct plan *plan, uint32_t offer, struct plan_reason why);

/* The same, as a part of a request for several machines: those of one number. */
uint32_t plan_rent_with(struct plan *plan, uint32_t offer, uint32_t request,
                        struct plan_reason why);

/* So many tasks are about to be placed, at the most: room for them is made once. */
void plan_expect_places(struct plan *plan, uint32_t more);

void plan_place_fresh(struct plan *plan, uint32_t task, uint32_t rent, struct plan_reason why);
void plan_place_kept(struct plan *plan, uint32_t task, uint32_t instance, struct plan_reason why);
void plan_release(struct plan *plan, uint32_t instance, struct plan_reason why);
void plan_suspend(struct plan *plan, uint32_t task, struct plan_reason why);
void plan_let_wait(struct plan *plan, const struct plan_wait *wait);

/* One for nothing that has a name, at no known cost. */
struct plan_wait plan_wait_by(enum plan_wait_rule rule, uint32_t task);

/* The rule in a word for programs, and in words, a phrase without full stop. */
const char *plan_wait_word(enum plan_wait_rule rule);
const char *plan_wait_text(enum plan_wait_rule rule);

/* A reason with no alternative to name. */
struct plan_reason plan_because(enum plan_reason_code code, money_t chosen);

/* 'other' was rejected, at that price per hour for the same tasks. If it is OFFER_NONE or what was chosen, it is no alternative. */
void plan_reject(struct plan_reason *why, uint32_t chosen, uint32_t other, money_t price);

/* The same amounts for each of so many moves that are made together: the parts of 'saving' and 'cost' add up to them. 'first' is
 * the first of these places. */
void plan_share_saving(struct plan_place *first, uint32_t count, money_t saving, money_t cost);

/* The code in words, a phrase without full stop. */
const char *plan_reason_text(enum plan_reason_code code);

/* The same, and of a move what it saves and costs. */
enum { PLAN_REASON_SIZE = 192 };
void plan_reason_words(const struct plan_reason *why, char ret[PLAN_REASON_SIZE]);

#endif
