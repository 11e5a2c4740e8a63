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
 *  4. tasks of a machine that was lost wait again;
 *  5. what a limit forbids is dropped, as are placements of tasks that were lost a short time ago; a
 *     gang is dropped as a whole, and with a move all that needs its room.
 *
 * What is known is held against what the ports tell in full, at the start and now and then: see
 * controller_audit.
 *
 * Promises:  late and repeated events are harmless, and so are times in them that cannot be; each act has a key of its own; every instance
 *            that was rented is given back or reported gone before controller_is_idle says so.
 * Costs:     an event is O(tasks on the instance it concerns); a decision what its policy costs; the
 *            end of a list O(all jobs, tasks and instances).
 */
#ifndef STINT_CONTROL_CONTROLLER_H
#define STINT_CONTROL_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/books/ledger.h"
#include "control/ports/cloud_port.h"
#include "control/ports/engine_port.h"
#include "learn/knowledge.h"
#include "model/plan.h"
#include "model/view.h"
#include "policy/policy.h"

struct controller;

enum controller_estimates {
    ESTIMATES_GIVEN,   /* what the engine says with the job */
    ESTIMATES_LEARNED, /* from runtimes of the past; what the engine says where there are none */
};

/* Machines that proved bad in a row: see brake.c. Kept over a restart. */
struct controller_brake {
    uint32_t failed_boots;  /* did not become ready */
    uint32_t failed_starts; /* became ready, and nothing would start there */
    msec_t not_before;      /* no probe before then */
    bool is_proven;         /* one has proved good, once */
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
    msec_t round_ms;     /* the caller decides so often, and heeds no wake; 0: it heeds them */
    double default_rate; /* of pairs never seen together */
    struct pair_profile profile;

    /* Machines that are found and have no offer that is known are given back; 'unknown_offer', which is
     * a former one, stands for theirs. Else they are only counted. */
    bool returns_strangers;
    uint32_t unknown_offer;

    /* Limits and patience; all zero: none. What may change while it runs: controller_tune. */
    uint64_t first_key;         /* 0 counts as 1; after a restart: above all that were ever used */
    uint32_t max_instances;     /* that live at a time */
    money_t max_price_per_hour; /* sum of the current prices of those that live */
    bool rent_nothing;          /* whatever the policy says */
    bool has_budget;            /* no more is rented than 'budget_left' pays the first charge of */
    money_t budget_left;        /* see controller_set_budget */
    msec_t queue_ahead_ms;      /* tasks expected to run no longer than this may be queued at the
                                   engine beyond what fits; 0: never */
    uint32_t queue_ahead_most;  /* so many at a time */
    msec_t boot_timeout_ms; /* a machine that is not ready so long after it was expected goes back,
                                   and its offer is left alone like a refused one, twice as long each
                                   time until one becomes ready */
    bool starts_slowly;     /* few machines until one has proved good, and waits between probes */
    struct controller_brake brake; /* as an earlier process left it */
    msec_t place_retry_ms; /* a task whose placement was lost before it started, or within a minute
                                   after, is not placed again for so long, twice as long the next
                                   time, up to 32 times */

    /* Called with every decision, before it is carried out; may be NULL. */
    void (*on_plan)(void *context, const struct view *view, const struct plan *plan);
    /* Called when a task has ended, with what it cost; may be NULL. */
    void (*on_settled)(void *context, const struct view *view, uint32_t task,
                       struct ledger_due due);
    /* Called when the account of an instance was closed; may be NULL. */
    void (*on_bill)(void *context, const struct view *view, uint32_t instance,
                    const struct ledger_bill *bill);
    /* Whether the instance's bill is in the books already, by an earlier process, or by this one days
     * ago; may be NULL. */
    bool (*is_settled)(void *context, uint64_t instance);
    /* The open account of an instance, and what a task owed, as an earlier process kept them last:
     * see controller_take_changed_account. False: nothing was kept. May be NULL. */
    bool (*resume_account)(void *context, uint64_t instance, struct ledger_account *ret);
    bool (*resume_due)(void *context, uint64_t task, struct ledger_due *ret);
    void *context;
};

enum controller_limit {
    LIMIT_NONE,
    LIMIT_INSTANCES, /* max_instances */
    LIMIT_PRICE,     /* max_price_per_hour */
    LIMIT_NO_RENT,   /* rent_nothing */
    LIMIT_PROBE,     /* machines do not become ready: see controller_failed_boots */
    LIMIT_BUDGET,    /* budget_left does not pay what the machine costs at the least */
    LIMIT_DOUBT,     /* the cloud's list lacks too many machines: see controller_doubts */
    LIMIT_TURN,      /* others came before it and wait for what a limit allows */
    LIMIT_RIVAL,     /* somebody else rents for this cluster: see controller_rivals */
};

/* What keeps a task from its place, of what the view does not show. */
struct controller_wait {
    enum controller_limit limit; /* that took its machine out of the last plan */
    msec_t not_before; /* its last placement came to nothing; it is placed again then. 0: no such */
    uint32_t losses;   /* of placements in a row */
    bool is_queued;    /* at the engine, which starts it where there is room */
};

/* Why a run ended though its task had not. */
enum eviction {
    EVICTED_BY_NOTICE, /* the cloud said that it would take the machine */
    EVICTED_BY_LOSS,   /* the machine was gone without a word */
    EVICTED_BY_MOVE,   /* a decision moved the task, or its gang */
    EVICTED_BY_ENGINE, /* the engine ended it: requeued, preempted, its node failed */
    EVICTION_CAUSES,
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
    uint64_t at_risk;     /* machines that take no more work because they may be taken away */
    uint64_t migrations;  /* of tasks that had been launched before */
    msec_t bound_task_ms; /* time that tasks were bound to instances, added up */
    msec_t instance_ms;   /* time from request to end of instances, added up */
    uint64_t late_events; /* ignored: they spoke of what is no more */

    uint64_t audits;        /* of which both lists have ended */
    uint64_t adopted;       /* machines that a list named and nobody knew */
    uint64_t vanished;      /* machines that a list did not name any more */
    uint64_t strangers;     /* named machines whose offer is not known; they were given back */
    uint64_t returned_anew; /* machines that were given back once more, for they are still there */
    uint64_t outlived;      /* named machines whose bill had ended; they were given back */
    uint64_t jobs_vanished; /* jobs that a list did not name any more */
    uint64_t jobs_withdrawn;
    uint64_t found;         /* tasks that ran elsewhere than was known */
    uint64_t tasks_missed;  /* tasks that were thought to run and do not */
    uint64_t asked_anew;    /* placements and stops that came to nothing and were repeated */
    uint64_t misfits;       /* tasks that run where there is no room for them by what is known */
    uint64_t nodes_lost;    /* machines that the engine lost */
    uint64_t boot_timeouts; /* machines that did not become ready in time */
    uint64_t places_lost;   /* placements that came to nothing */
    uint64_t bad_machines; /* given back because placements there came to nothing again and again */
    uint64_t limited;      /* rents that a limit dropped */
    uint64_t unproven;     /* rents that were dropped because machines do not become ready */
    uint64_t held_back;    /* places of tasks whose last placement was lost a short time ago */
    uint64_t queued;       /* tasks that were queued at the engine */
    uint64_t forbidden;    /* moves of running tasks that must not be moved; a policy's fault */
    uint64_t evicted[EVICTION_CAUSES]; /* runs that ended though the task had not */
};

/* What may still be spent, all that is rented paid for; it changes all the time. When it comes to an
 * end, or there is some again, a decision is wanted. */
void controller_set_budget(struct controller *controller, bool has_budget, money_t left);

/* What the offer costs at the least, rented now: its minimum, or the first step. */
money_t controller_first_charge(const struct catalogue *catalogue, uint32_t offer, msec_t now);

struct controller *controller_create(const struct controller_config *config);
void controller_destroy(struct controller *controller);

/*
 * What time it is, by a clock that can be trusted more than those behind the ports: from then on no event
 * is taken to be later than what was said last. Whoever never says it has no other clock than the events.
 */
void controller_tell_time(struct controller *controller, msec_t now);

void controller_on_engine(struct controller *controller, const struct engine_event *event);
void controller_on_cloud(struct controller *controller, const struct cloud_event *event);

/* Decide now, and begin to carry it out. */
void controller_decide(struct controller *controller, msec_t now);

/* Whether something happened since the last decision that may call for another. */
bool controller_wants_decision(const struct controller *controller);

/*
 * Ask both ports what there is, and hold what is known against it when the lists have ended: what
 * nobody knew is taken over, what is not named is no more. The first audit asks the engine only when
 * the cloud has told its machines, so that tasks are found on machines that are known.
 */
void controller_audit(struct controller *controller, msec_t now);

/* Since when a list that was asked for has not ended; -1: none is under way. */
msec_t controller_waits_for_cloud(const struct controller *controller);
msec_t controller_waits_for_engine(const struct controller *controller);

/* Both lists of at least one audit have ended. */
bool controller_is_audited(const struct controller *controller);

/* The next key that it will use; all below were used or never will be. */
uint64_t controller_next_key(const struct controller *controller);

/*
 * Open accounts, and what living tasks owe, that have changed since they were handed out last; false:
 * no more. Who keeps all of them together, with the bills and what was settled until then, can give
 * them to the next process by 'resume_account' and 'resume_due': then over all processes the bills
 * are boot and idle time and what tasks were charged. Tasks that ended in between are never asked for.
 */
bool controller_take_changed_account(struct controller *controller, uint64_t *ret_instance,
                                     struct ledger_account *ret);
bool controller_take_changed_due(struct controller *controller, uint64_t *ret_task,
                                 struct ledger_due *ret);

/* Take over what may change while it runs: policy and options, limits, times. */
void controller_tune(struct controller *controller, const struct controller_config *config);

/* The price series of the catalogue were changed, from the current time on: read them anew, and decide. */
void controller_prices_changed(struct controller *controller);

/*
 * For whoever stands between it and the cloud and lets a rent wait: the machine was not asked for yet, so
 * its boot is not late; or it never will be, and its tasks are planned anew. What the cloud was asked for
 * is not touched.
 */
void controller_rent_waits(struct controller *controller, uint64_t instance, msec_t now);
void controller_rent_withdrawn(struct controller *controller, uint64_t instance, msec_t now);

/* 'task' is a row of the view. */
struct controller_wait controller_wait_of(const struct controller *controller, uint32_t task);

/* The sum that max_price_per_hour is held against: of all instances that live, billed or not. */
money_t controller_price_per_hour(const struct controller *controller);

/* Machines in a row that proved bad: did not become ready, or nothing would start there; so many that all may suffer from the same (the image,
 * a key, the network): only one is rented at a time until one becomes ready. 0: not so many. */
uint32_t controller_failed_boots(const struct controller *controller);

/* To be kept, and given back as the config's. */
struct controller_brake controller_brake(const struct controller *controller);

/*
 * Machines that the cloud's last list did not name though they should be there. A few may have gone;
 * if they are more, the list is doubted: nothing is rented while it is, and they count in every limit.
 * No machine that the engine vouches for is ever taken for gone because a list lacks it.
 */
uint32_t controller_missing(const struct controller *controller);
bool controller_doubts(const struct controller *controller);

/* Machines of this cluster in the cloud's last list that nobody here asked for, after the first audit:
 * another daemon rents for the same cluster. Nothing is rented while there are any; they count in every
 * limit and are left alone. */
uint32_t controller_rivals(const struct controller *controller);

/*
 * Before the first audit: a machine that an earlier process asked for at 'asked_at', and whose end it did
 * not see. It counts from now on; the lists say what became of it.
 */
void controller_remember(struct controller *controller, uint64_t instance, uint32_t offer,
                         msec_t asked_at, msec_t now);

/* ... and was giving back, which the cloud may have heard or not: nothing starts there any more. */
void controller_remember_return(struct controller *controller, uint64_t instance);

/* Since when the instance, a row of the view, has been asked to leave the engine, which has something on
 * it that we do not know of; -1: it has not. */
msec_t controller_leaving_since(const struct controller *controller, uint32_t instance);

/* Tasks that are queued at the engine and were not found running yet. */
uint32_t controller_queued(const struct controller *controller);

/* Instead of a decision: nothing new starts anywhere, what has not begun is taken back, and each
 * machine goes when what runs there has ended. No policy is asked. */
void controller_drain(struct controller *controller, msec_t now);

/* When, without any event, a decision is due: the policy asked for it, a refused offer may be asked
 * again, a price changes, a machine should be ready by then, a lost task may be placed again;
 * MSEC_NEVER if never. */
msec_t controller_next_wake(const struct controller *controller);

/* A job ran so long, in an earlier life. */
void controller_teach(struct controller *controller, const struct runtime_traits *traits,
                      msec_t runtime_ms);

/* No task and no instance is left. */
bool controller_is_idle(const struct controller *controller);

const struct view *controller_view(const struct controller *controller);
const struct ledger *controller_ledger(const struct controller *controller);
const struct knowledge *controller_knowledge(const struct controller *controller);
const struct controller_stats *controller_stats(const struct controller *controller);

#endif
