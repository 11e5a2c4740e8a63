/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - all that the HTTP API and the metrics know of the daemon: one struct, filled by it.
 *
 * The daemon keeps the plain fields up to date and answers the calls back; serve only reads. One
 * thread: the answers are made within serve_http_run, between two turns of the daemon, so that
 * everything is as the last turn left it.
 *
 *     struct serve_world world;
 *     serve_world_init(&world);
 *     world.controller = ...                      what there is
 *     serve_note_plan(&world, view, plan);        in the controller's on_plan
 *     serve_note_decision(&world, microseconds);  after each controller_decide
 *     serve_http_start(&config, &world, &http, &error);
 *
 * Words:   a label is what the users of the engine call a task ("12_3"); a machine's name is
 *          'node_prefix' and its id ("st-17").
 * Memory:  everything is borrowed but 'plan', which serve_world_done frees. Texts that are handed to
 *          an 'each' are valid during that call.
 */
#ifndef STINT_SERVE_SERVE_H
#define STINT_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"
#include "control/controller.h"
#include "control/ports/adapter.h"
#include "decide/view_bound.h"
#include "model/plan.h"
#include "store/store.h"

enum {
    SERVE_TEXT = 256,        /* room for a label, a name, an offer in words */
    SERVE_LINKS_MAX = 8,     /* to engines and clouds */
    SERVE_BUDGETS_MAX = 2,   /* periods */
    SERVE_TIME_BUCKETS = 12, /* of the decision times */
    SERVE_PLAN_ITEMS = 1000, /* of each list of a plan that are shown */
    SERVE_PLAN_WAITS = 50,   /* of the tasks that wait: the first page asks for the plan */
    SERVE_WAITS_MAX = 8,     /* reasons to wait of one job */
};

struct serve_link {
    const char *name; /* of the adapter, or "store" */
    const char *detail;
    msec_t since;
    bool up;
};

/* What may be spent in a period, and was. */
struct serve_budget {
    const char *period; /* "day", "month" */
    money_t limit;
    money_t spent; /* or committed: see daemon/budget.h */
    msec_t until;  /* when the next period begins */
    uint32_t warn_percent;
};

/* A limit of an account, a user, a partition or a QOS, and what of it is in use. */
struct serve_cap {
    const char *owner; /* "account physics" */
    uint32_t instances;
    uint32_t max_instances; /* 0: no limit, as of all that follow */
    money_t price_per_hour;
    money_t max_price_per_hour;
    struct serve_budget budgets[2]; /* of the day and the month */
    bool is_spent;                  /* nothing new of it starts */
};

/* An action that waits for the operator's approval. */
struct serve_proposal {
    uint64_t id; /* above 0 */
    msec_t at;
    const char *act;     /* as store_intent_word says */
    const char *subject; /* machine or task */
    const char *detail;  /* may be NULL: an offer, a target */
    const char *why;     /* NULL: what the plan said of 'reason_id', if the store knows */
    enum store_subject reason_subject;
    uint64_t reason_id; /* of the task or the instance */
    money_t per_hour;   /* MONEY_UNKNOWN: none */
};

/* A finding that is gone. */
struct serve_past_finding {
    const char *severity;
    const char *kind;
    const char *subject;
    msec_t since; /* when it was seen first, to ten seconds */
    msec_t until;
};

/* How many findings of one kind there are, and appeared since the daemon started. */
struct serve_finding_tally {
    const char *kind;
    const char *severity;
    uint64_t now;
    uint64_t appeared;
};

/* Why a task waits, beyond what the controller knows. */
struct serve_wait {
    const char *why; /* a word of docs/reference/wait-reasons.md: "held", "depends" ... */
    msec_t until;    /* MSEC_NEVER: not known */
    char text[SERVE_TEXT];
};

/* How long decisions took. */
struct serve_times {
    uint64_t bucket[SERVE_TIME_BUCKETS]; /* not cumulated; see serve_time_bounds_us */
    uint64_t count;
    uint64_t sum_us;
    uint64_t last_us;
    uint64_t max_us;
};

struct serve_reason {
    char text[PLAN_REASON_SIZE];
    money_t chosen;
    money_t passed_over;
    money_t saving; /* of a move, as of struct plan_reason */
    money_t move_cost;
    char passed_offer[SERVE_TEXT]; /* "": none */
};

struct serve_rent {
    char offer[SERVE_TEXT];
    uint32_t offer_row;
    uint32_t count; /* neighbours of equal offer and reason */
    struct serve_reason why;
};

struct serve_place {
    char task[SERVE_TEXT];
    char job[SERVE_TEXT];
    char where[SERVE_TEXT]; /* machine, or the offer of a fresh one */
    uint32_t user;
    bool fresh;
    struct serve_reason why;
};

struct serve_release {
    uint64_t instance;
    struct serve_reason why;
};

/* The last plan that changed something, in words that outlive the rows it spoke of. */
struct serve_plan {
    uint64_t decision;
    msec_t at; /* -1: there was none yet */
    uint64_t decision_us;
    enum plan_kind kind;
    struct plan_candidate full, partial;
    msec_t expected_ms;
    uint32_t rent_total, place_total, release_total;
    struct serve_rent *rents; /* at most SERVE_PLAN_ITEMS of each */
    struct serve_place *places;
    struct serve_release *releases;
    uint32_t rent_count, rents_room;
    uint32_t place_count, places_room;
    uint32_t release_count, releases_room;
};

struct store_payer;

struct serve_world {
    /* What there is. */
    const struct controller *controller;
    struct store *store;
    const struct catalogue *catalogue;
    const struct names *users; /* of the view's numbers; may be NULL */
    const struct names *job_names;
    const char *cluster;
    const char *mode; /* "shadow", "advise", "act" */
    const char *policy;
    const char *node_prefix;
    const char *const *owned_nodes; /* the machine OWNED_ID_FIRST + i has the i-th name */
    uint32_t owned_count;
    msec_t started_at;

    /* How it stands; kept by the daemon. */
    bool ready; /* the first audit has ended */
    bool draining;
    msec_t audited_at; /* -1: never */
    msec_t audit_every_ms;
    uint32_t max_instances;                         /* 0: no limit */
    money_t max_price_per_hour;                     /* 0: no limit */
    struct serve_budget budgets[SERVE_BUDGETS_MAX]; /* those that are limited */
    uint32_t budget_count;
    bool has_caps;                             /* 'each_cap' has something to tell */
    const struct serve_finding_tally *tallies; /* of each kind that ever was; a few seconds old */
    uint32_t tally_count;
    bool has_bound;                 /* what the machines could cost at the least is known */
    struct view_bound_answer bound; /* for the tasks that are placed; a few seconds old */
    struct serve_link links[SERVE_LINKS_MAX];
    uint32_t link_count;

    /* Kept by serve_note_plan and serve_note_decision. */
    struct serve_times times;
    uint64_t turn_max_us;     /* the longest turn of the loop: news, decision, journal */
    uint64_t turn_cpu_max_us; /* and the most processor time of one */
    struct serve_plan plan;
    msec_t estimate_from; /* no job is estimated before: kept by api_estimate.c */

    /* Questions to the daemon; each but 'now' may be NULL. */
    void *context;
    msec_t (*now)(void *context);
    /* The label of a task; what does not fit is cut. NULL: its id in digits. */
    void (*task_label)(void *context, uint64_t task, char *ret, size_t size);
    /* The label of a job by its id. NULL: that of the task of the same id. */
    void (*job_label)(void *context, uint64_t job, char *ret, size_t size);
    /* Put account, partition and QOS of the task into '*ret'. */
    void (*payer)(void *context, uint64_t task, struct store_payer *ret);
    /* The id of a task or job by its label, 0: none that is known. */
    uint64_t (*find)(void *context, const char *label);
    /* A job that was not submitted: see struct engine_adapter. NULL: this engine has none. */
    int (*imagine)(void *context, const char *fields, struct shapes *shapes, struct job_spec *ret,
                   struct error *reterr);
    /* Whether the cloud itself keeps the offer in back-off; false: it does not, or cannot tell. */
    bool (*refusal)(void *context, uint32_t offer, struct cloud_refusal *ret);
    /* Why the task waits, beyond what the controller knows; how many were written. */
    size_t (*waits)(void *context, uint64_t task, struct serve_wait *ret, size_t most);
    void (*each_proposal)(void *context,
                          void (*each)(void *to, const struct serve_proposal *proposal), void *to);
    /* Approve or reject one, or all (id 0); how many there were. */
    uint32_t (*answer_proposal)(void *context, uint64_t id, bool approve);
    void (*each_finding)(void *context, void (*each)(void *to, const struct finding *finding),
                         void *to);
    /* Findings that are gone, the last first. */
    void (*each_past)(void *context, void (*each)(void *to, const struct serve_past_finding *past),
                      void *to);
    /* Read the configuration again; 'ret' is what changed, in words. */
    int (*reload)(void *context, char *ret, size_t size, struct error *reterr);
    void (*drain)(void *context, bool on);
    /* Limits of accounts and the like; 'owner' lives until the call returns. */
    void (*each_cap)(void *context, void (*each)(void *to, const struct serve_cap *cap), void *to);
};

void serve_world_init(struct serve_world *world);
void serve_world_done(struct serve_world *world);

/* Copy what the API shows of the plan; one that changes nothing leaves the last one there. */
void serve_note_plan(struct serve_world *world, const struct view *view, const struct plan *plan);

/* A decision took so long. */
void serve_note_decision(struct serve_world *world, uint64_t microseconds);

/* The upper bounds of the buckets, in microseconds; the last bucket has none. */
extern const uint64_t serve_time_bounds_us[SERVE_TIME_BUCKETS - 1];

/* Words, the same for API, store and log. ------------------------------------------------------ */

/* "c7i.large in a, spot"; the daemon writes the same into the store. */
void serve_offer_text(const struct catalogue *catalogue, uint32_t offer, char *ret, size_t size);

/* "st-17" */
void serve_machine_text(const struct serve_world *world, uint64_t instance, char *ret, size_t size);

/* The id in "st-17", 0: it is none. */
uint64_t serve_machine_find(const struct serve_world *world, const char *name);

void serve_task_text(const struct serve_world *world, uint64_t task, char *ret, size_t size);
void serve_job_text(const struct serve_world *world, uint64_t job, char *ret, size_t size);

/* "-12.000345": exact, in dollars. */
/* For what a task waits by a choice of the policy, for how long at the most, and what it would cost not to: a phrase after
 * "it waits". 'instance' is the id of its machine, 0: none, or gone. */
void serve_wait_text(const struct serve_world *world, const struct view *view,
                     const struct plan_wait *wait, uint64_t instance, char *ret, size_t size);

void serve_money_text(money_t money, char *ret, size_t size);

/* "dollars_per_day: $9.870000 of $10.000000 are spent or committed, until 00:00:00 UTC" */
void serve_budget_text(const struct serve_budget *budget, msec_t now, char *ret, size_t size);

/* "requested", "booting" ...; "waiting", "bound", "running". */
const char *serve_instance_word(enum instance_state state);
const char *serve_task_word(enum task_state state);

/* How long machines of an offer last. ----------------------------------------------------------- */

struct serve_risk {
    msec_t lasts_ms; /* until one is taken away, on average; MSEC_NEVER: not known */
    msec_t low_ms;   /* it is less than this with a chance of one in ten, */
    msec_t high_ms;  /* and more than this with the same; -1: it was not learned */
    int64_t
        losses_milli;  /* from which it was learned, thousandths, those of like offers in part; */
    msec_t machine_ms; /* in so much time of machines */
    bool is_learned;   /* else the catalogue says it, or it is not known */
};

struct serve_risk serve_risk(const struct serve_world *world, uint32_t offer);

/* Sums that both API and metrics show. --------------------------------------------------------- */

enum { SERVE_SEVERITIES = 3 };

/* "error", "warning", "note". */
extern const char *const serve_severity_words[SERVE_SEVERITIES];

struct serve_sums {
    uint32_t instances[INSTANCE_RETURNED + 1]; /* by enum instance_state */
    uint32_t tasks[TASK_RUNNING + 1];          /* by enum task_state */
    uint32_t jobs;
    money_t per_hour; /* of all that is billed */
    uint32_t proposals;
    uint32_t findings[SERVE_SEVERITIES]; /* by their place in serve_severity_words */
};

/* By what part the machines cost more than the bound: 0.1 is a tenth. Below zero: not known. */
double serve_bound_gap(const struct view_bound_answer *bound);

struct serve_sums serve_sums(const struct serve_world *world);

#endif
