/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_private.h - the daemon's own state, shared by its parts:
 *
 *   core.c           creation, the turn
 *   daemon_ports.c   engine and cloud
 *   daemon_books.c   what the controller reports goes into the journal
 *   daemon_bound.c   what the machines could cost at the least
 *   daemon_budget.c  what may still be spent
 *   daemon_api.c     what the HTTP API asks and orders
 *   daemon_watch.c   what the doctor would say goes to the log
 *   daemon_state.c   what the daemon keeps of itself
 *   daemon_machines.c  machines of an earlier process
 *   doctor.c         what is wrong with the world
 */
#ifndef STINT_DAEMON_DAEMON_PRIVATE_H
#define STINT_DAEMON_DAEMON_PRIVATE_H

#include "base/steady_clock.h"
#include "control/controller.h"
#include "daemon/budget.h"
#include "daemon/cap_books.h"
#include "daemon/conf.h"
#include "daemon/core.h"
#include "daemon/finding_watch.h"
#include "daemon/gate.h"
#include "daemon/journal.h"
#include "daemon/shadow.h"
#include "decide/view_bound.h"
#include "serve/serve.h"
#include "store/store.h"

/* One piece of news. */
struct daemon_event {
    bool is_cloud;
    struct engine_event engine;
    struct cloud_event cloud;
};

/* What the metrics have of the controller's own counts. */
struct daemon_counted {
    struct controller_stats stats;
};

/* The last order that was kept back. */
struct daemon_withheld {
    msec_t at; /* -1: none so far */
    struct gate_act act;
    enum sense_verdict why;
};

struct daemon {
    const char *path; /* of the configuration */
    struct conf conf;
    struct arena arena; /* texts that live as long as the daemon */
    struct core_host host;

    struct catalogue catalogue;
    struct res *whole; /* what the catalogue's file says that its types have */
    uint32_t whole_count;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct store *store;
    struct journal journal;
    struct gate *gate;
    struct sense *sense;
    struct shadow *shadow; /* of mode shadow, else NULL */
    const struct engine_adapter *engine_kind;
    const struct cloud_adapter *cloud_kind;
    void *engine; /* of that kind */
    void *cloud;  /* NULL in mode shadow */
    struct controller_config control;
    struct controller *controller;
    struct serve_world world;

    struct daemon_event *events; /* that wait for the turn */
    uint32_t event_count;
    uint32_t events_room;

    bool has_learned_boots;
    struct map limits; /* by job id: the time limit it came with, in seconds */
    struct daemon_counted counted;
    struct steady_clock clock;
    msec_t monotonic;          /* the host's clock that is never set */
    struct engine_lease lease; /* the engine's last word */
    uint64_t lease_epoch;      /* in which we acted; 0: we have not */
    bool has_lease;            /* there is one: the daemon acts only before lease.until */
    bool is_outdated;          /* another daemon acted since we did */
    bool is_ahead;             /* it is ahead of the host's */
    msec_t now;                /* what it said last: never runs backwards */
    msec_t decide_at;          /* MSEC_NEVER: nothing to decide */
    msec_t audit_at;           /* the next one */
    msec_t write_at;           /* the journal, at the latest; MSEC_NEVER: nothing is there */
    msec_t limited_at;         /* when a limit last stopped a rent; -1: never */
    struct daemon_withheld withheld;
    uint64_t noted_key;
    msec_t prune_at;
    struct finding_watch watch;
    msec_t watch_at; /* look for findings again; 0: never yet */
    struct budget budget;
    msec_t budget_at;         /* count it again */
    bool is_budget_stale;     /* bills were missed: read them again */
    struct cap_books caps;    /* of accounts and the like; of use if the configuration has some */
    msec_t caps_at;           /* count what they spent again */
    struct view_bound *bound; /* that is sought; NULL: none is */
    msec_t bound_at;          /* go on with it, or look whether to begin */
    msec_t bound_next;        /* and not begin another one before */
    uint64_t bound_changes;   /* of the view, when it last began */
    msec_t bound_kept_at;     /* the last that is in the store */
    bool has_decided;         /* in this turn */
    msec_t store_retry_at;
    msec_t store_failed_at; /* since when it fails, if it does */
    bool store_failed;
    char store_fault[ERROR_TEXT_SIZE];
    uint32_t unknown_offer; /* stands for machines of which nobody knows the offer */
    uint32_t former_count;  /* offers in use that the catalogue has lost */
    uint32_t *owned_offers; /* of each kind of node that is owned */
    struct controller_brake noted_brake;
    bool is_draining;
    bool is_stopping;
    struct arena findings_arena;
};

/* daemon_ports.c: news for the controller. */
void daemon_on_engine(void *context, const struct engine_event *event);
void daemon_on_cloud(void *context, const struct cloud_event *event);

/* Engine and cloud, or the virtual world in the cloud's place. */
int daemon_create_adapters(struct daemon *daemon, struct error *reterr);

/* One of the two, if it is there and speaks lines; else NULL. */
const struct adapter_lines *daemon_lines(const struct daemon *daemon, enum core_side side);

/* What is wrong with the side that is there, in words; NULL: nothing. */
const char *daemon_side_fault(const struct daemon *daemon, enum core_side side);
struct cloud_port daemon_cloud_port(struct daemon *daemon);

/* Whether no other daemon may act now. */
bool daemon_may_act(const struct daemon *daemon);

/* Whether both sides can be asked, and we are the one who may. */
bool daemon_is_connected(const struct daemon *daemon);

/* Read the configuration again; 'ret' is what changed, in words. */
int daemon_reload(struct daemon *daemon, char *ret, size_t size, struct error *reterr);

/* daemon_books.c: for struct controller_config. */
void daemon_on_plan(void *context, const struct view *view, const struct plan *plan);
void daemon_on_settled(void *context, const struct view *view, uint32_t task,
                       struct ledger_due due);
void daemon_on_bill(void *context, const struct view *view, uint32_t instance,
                    const struct ledger_bill *bill);
bool daemon_is_settled(void *context, uint64_t instance);
bool daemon_is_booked(void *context, uint64_t task); /* for struct engine_config */
bool daemon_resume_account(void *context, uint64_t instance, struct ledger_account *ret);
bool daemon_resume_due(void *context, uint64_t task, struct ledger_due *ret);

/* Before the journal is written: the books as they stand. */
void daemon_note_books(struct daemon *daemon);

/* What accounts and the like have spent by now, if it is time, and whose budget is used up. */
void daemon_count_caps(struct daemon *daemon);

/* A job came: keep what the view does not. */
void daemon_note_arrival(struct daemon *daemon, const struct job_spec *job);

/* A machine of a previous run was found: the books must know it. */
void daemon_note_found(struct daemon *daemon, const struct cloud_event *event);

/* What the controller counted since the last call goes into the journal. */
void daemon_note_counts(struct daemon *daemon);

/* Teach the controller what is in the store. */
int daemon_teach(struct daemon *daemon, struct error *reterr);

/* From the books: how long machines take to boot. */
void daemon_learn_boots(struct daemon *daemon);

/* Tell the cloud, if it has back-offs, which offers were refused in a previous run, so that back-offs go on. */
int daemon_recall_rents(struct daemon *daemon, struct error *reterr);

/* daemon_risks.c: what was learned of interruptions, into the journal, and from the store. */
void daemon_note_risks(struct daemon *daemon);
int daemon_resume_risks(struct daemon *daemon, msec_t now, struct error *reterr);

/* daemon_state.c: where the store is. Open it; the daemon drains on if it did. */
const char *daemon_state_file(struct daemon *daemon);
int daemon_open_state(struct daemon *daemon, struct error *reterr);

/* daemon_bound.c: a piece of the search for the bound, if it is time. */
void daemon_seek_bound(struct daemon *daemon);

/* daemon_budget.c: count what was spent; not more often than once a second, unless it is due. */
void daemon_count_budget(struct daemon *daemon, bool is_due);

/* A bill has ended; before the journal has it. */
void daemon_budget_bill(struct daemon *daemon, uint64_t instance, const struct ledger_bill *bill);

/* Whether nothing may be spent any more: then empty machines go back. */
bool daemon_budget_is_spent(const struct daemon *daemon);

/* daemon_caps.c: limits and budgets of accounts and the like. After the store is open; */
void daemon_caps_start(struct daemon *daemon);
/* other limits for the same owners; */
void daemon_caps_tune(struct daemon *daemon, const struct conf_caps *conf);
/* for struct engine_config: the set of a job; */
uint32_t daemon_caps_of(void *context, const struct engine_owner *owner);
/* why a task waits; for the API. */
bool daemon_waits_for_cap(const struct daemon *daemon, uint64_t task, struct serve_wait *ret);
void daemon_each_cap(void *context, void (*each)(void *to, const struct serve_cap *cap), void *to);

/* daemon_watch.c: look for findings now and then; new ones go to the log. */
void daemon_watch_findings(struct daemon *daemon);
void daemon_each_past(void *context, void (*each)(void *to, const struct serve_past_finding *past),
                      void *to);

/* Whether the machines may be in this account; then it is kept. */
int daemon_check_account(struct daemon *daemon, const char *account, struct error *reterr);

/* daemon_machines.c: before the adapters are made; when the controller is. */
int daemon_keep_offers(struct daemon *daemon, struct error *reterr);

/* daemon_owned.c: offers for nodes that the engine has anyway, which the controller learns of. */
int daemon_own_offers(struct daemon *daemon, struct error *reterr);
void daemon_own_machines(struct daemon *daemon);
int daemon_remember_machines(struct daemon *daemon, struct error *reterr);
struct controller_brake daemon_kept_brake(struct daemon *daemon);
void daemon_note_brake(struct daemon *daemon); /* into the journal, if it has changed */

/* daemon_api.c */
void daemon_fill_world(struct daemon *daemon);
void daemon_refresh_world(struct daemon *daemon);

/* Machines that wait for the operator's word are not late. */
void daemon_let_rents_wait(struct daemon *daemon, msec_t now);

/* doctor.c: for struct serve_world. */
void doctor_each(void *context, void (*each)(void *to, const struct finding *finding), void *to);

#endif
