/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller_config.h - what a controller is given when it is made, and what it counts.
 */
#ifndef STINT_CONTROL_CONTROLLER_CONFIG_H
#define STINT_CONTROL_CONTROLLER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "control/ports/cloud_port.h"
#include "control/ports/engine_port.h"
#include "decide/capped.h"
#include "learn/knowledge.h"
#include "model/plan.h"
#include "model/short_pool_rule.h"
#include "model/view.h"
#include "policy/policy.h"

/* Of the ledger. */
struct ledger_account;
struct ledger_bill;
struct ledger_due;

enum controller_estimates {
    ESTIMATES_GIVEN,   /* what the engine says with the job */
    ESTIMATES_LEARNED, /* from runtimes of the past; what the engine says where there are none */
};

/* Machines that proved bad in a row: see books/brake.c. Kept over a restart. */
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
    msec_t stop_ms;      /* an ordered stop takes so long, besides what shapes say */
    msec_t notice_ms;    /* the cloud says so long before that it takes a machine; 0: it does not */
    uint32_t notice_ppm; /* in so many cases of a million, before any loss has shown otherwise */
    struct short_pool_rule short_pool; /* see decide/short_pool.h */
    double default_rate;               /* of pairs never seen together */
    struct pair_profile profile;

    /* Machines that are found and have no offer that is known are returned; 'unknown_offer', which is
     * a former one, stands for theirs. Else they are only counted. */
    bool returns_strangers;
    uint32_t unknown_offer;

    /* Limits and patience; all zero: none. What may change while it runs: controller_tune. */
    uint64_t first_key;         /* 0 counts as 1; after a restart: above all that were ever used */
    uint32_t max_instances;     /* that live at a time */
    money_t max_price_per_hour; /* sum of the current prices of those that live */
    bool rent_nothing;          /* whatever the policy says */
    const struct caps
        *caps; /* of accounts, users and the like; they may change, see controller_caps_changed.
                                   NULL: none */
    bool has_budget;           /* no more is rented than 'budget_left' pays the first charge of */
    money_t budget_left;       /* see controller_set_budget */
    uint32_t replace_percent;  /* so many of the machines that are outdated are replaced at a time,
                                   see want/want_outdated.c; 0: none is */
    msec_t replace_after_ms;   /* and none that was rented less long ago */
    msec_t queue_ahead_ms;     /* tasks expected to run no longer than this may be queued at the
                                   engine beyond what fits; 0: never */
    uint32_t queue_ahead_most; /* so many at a time */
    msec_t boot_timeout_ms; /* a machine that is not ready so long after it was expected goes back,
                                   and its offer is left alone like a refused one, twice as long each
                                   time until one becomes ready */
    bool starts_slowly;     /* few machines until one has proved good, and waits between probes */
    bool ready_proves; /* a machine that is ready has proved that machines of its kind are good */
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
    LIMIT_PROBE,     /* machines prove bad: see controller_failed_boots */
    LIMIT_BUDGET,    /* budget_left does not pay what the machine costs at the least */
    LIMIT_DOUBT,     /* the cloud's list lacks too many machines: see controller_doubts */
    LIMIT_TURN,      /* others came before it and wait for what a limit allows */
    LIMIT_RIVAL,     /* somebody else rents for this cluster: see controller_rivals */
    LIMIT_BURST,     /* it waits for machines that are owned: see decide/burst.h */
    LIMIT_CAP,       /* of its account, its user or the like: see 'capped' */
};

/* What keeps a task from its place, of what the view does not show. */
struct controller_wait {
    enum controller_limit limit; /* that took its machine out of the last plan */
    struct capped capped;        /* of LIMIT_CAP */
    msec_t not_before; /* its last placement came to nothing; it is placed again then. 0: no such */
    uint32_t losses;   /* of placements in a row */
    bool is_queued;    /* at the engine, which starts it where there is room */
    enum plan_wait_rule
        rule; /* by which the last decision left it waiting; WAIT_NONE: there was none since it waits */
    struct plan_wait choice; /* of a rule of the policy: for what; else choice.rule is WAIT_NONE */
    uint64_t instance;       /* that it waits for, then; 0: none, or one that is gone */
};

/* Machines whose image or settings are not those of new ones. */
struct controller_outdated {
    uint32_t all;
    uint32_t replaced; /* of them: they take no more work, and go */
    uint32_t held;     /* of them: by work that has no end and must not be moved */
};

/* Why a run ended though its task had not. */
enum eviction {
    EVICTED_BY_NOTICE, /* the cloud said that it would take the machine */
    EVICTED_BY_LOSS,   /* the machine was gone without notice */
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
    uint64_t capped; /* tasks that a limit of their account or the like kept waiting, each time */
    uint64_t refused;
    uint64_t lost;
    uint64_t noticed;     /* machines that were cleared because they would be taken away */
    uint64_t at_risk;     /* machines that take no more work because they may be taken away */
    uint64_t replaced;    /* machines that take no more work because they are outdated */
    uint64_t migrations;  /* of tasks that had been launched before */
    uint64_t suspended;   /* runs that were stopped so that the task waits again */
    uint64_t left_spot;   /* runs that were stopped on spot machines for a deadline's sake */
    msec_t bound_task_ms; /* time that tasks were bound to instances, added up */
    msec_t instance_ms;   /* time from request to end of instances, added up */
    uint64_t rates;       /* that tasks reported while they ran */
    uint64_t late_events; /* ignored: they spoke of what is no more */

    uint64_t audits;        /* of which both lists have ended */
    uint64_t adopted;       /* machines that a list named and nobody knew */
    uint64_t vanished;      /* machines that a list did not name any more */
    uint64_t strangers;     /* named machines whose offer is not known; they were returned */
    uint64_t returned_anew; /* machines that were returned once more, for they are still there */
    uint64_t outlived;      /* named machines whose bill had ended; they were returned */
    uint64_t jobs_vanished; /* jobs that a list did not name any more */
    uint64_t jobs_withdrawn;
    uint64_t jobs_changed;
    uint64_t tasks_withdrawn; /* of jobs that shrank */
    uint64_t found;           /* tasks that ran elsewhere than was known */
    uint64_t stops_refused;   /* by the engine, until later */
    uint64_t tasks_missed;    /* tasks that were thought to run and do not */
    uint64_t asked_anew;      /* placements and stops that came to nothing and were repeated */
    uint64_t misfits;         /* tasks that run where there is no room for them by what is known */
    uint64_t nodes_lost;      /* machines that the engine lost */
    uint64_t boot_timeouts;   /* machines that did not become ready in time */
    uint64_t places_lost;     /* placements that came to nothing */
    uint64_t caught_up;       /* tasks of runs before the first list */
    uint64_t bad_machines; /* returned because placements there came to nothing again and again */
    uint64_t limited;      /* rents that a limit dropped */
    uint64_t unproven;     /* rents that were dropped because machines do not become ready */
    uint64_t held_back;    /* places of tasks whose last placement was lost a short time ago */
    uint64_t queued;       /* tasks that were queued at the engine */
    uint64_t forbidden;    /* moves of running tasks that must not be moved; a policy's fault */
    uint64_t evicted[EVICTION_CAUSES]; /* runs that ended though the task had not */

    uint64_t
        taken; /* machines that the cloud took away, also if they were returned after its notice */
    uint64_t notice_saved; /* runs that may be moved which were not lost with them, */
    uint64_t notice_lost;  /* and which were */
    money_t lost_cost;     /* what was lost with them: see books/losses.c */
    money_t expected_loss; /* what was expected to be */
};

#endif
