/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - what the daemon must still know after a crash: intents, books, reasons, history.
 *
 * One SQLite file. What is, engine and cloud say; what was meant, what was paid and why is here. The
 * daemon writes all of one turn between store_begin and store_commit, and hands an action to a port only
 * after the commit that holds its intent:
 *
 *     store_begin(store);
 *     store_note_key(store, controller_next_key(controller));
 *     store_intent_open(store, &intent);
 *     if (store_commit(store, &error) < 0)
 *         ... nothing was written: act on nothing, say why, try again
 *
 * Terms:      an intent is an action that was decided, open until its outcome is known; a due is what
 *             an ended task cost; an account is the unfinished bill of an instance, and what a
 *             living task owes so far is 'owed'.
 * Promises:   a commit is on the disk when it returns (WAL, synchronous=FULL), all of it or nothing.
 *             Writes need no check of their own: the first that fails makes the commit fail, and it
 *             then undoes the rest. Writing the same again is harmless. Only one process at a time
 *             has the file open through this module; others may read it with sqlite3.
 * Money:      every answer of store_ledger adds up to store_totals.bill, to the micro-dollar.
 * Damage:     bills, accounts, dues, what is owed, instances and counters are under a checksum that
 *             changes in the same transaction. store_open verifies it, and the structure of the file.
 * Costs:      a write is one prepared statement, 2 to 4 us, 5 to 8 us if it is under a checksum; a commit one fsync; totals O(living
 *             instances and tasks); a ledger O(rows), 1 s for a million dues by user, 3.5 s by job.
 * Memory:     texts are borrowed for the call, in both directions. Calls back must not use the store.
 */
#ifndef STINT_STORE_STORE_H
#define STINT_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"
#include "control/books/ledger.h"
#include "model/plan.h"

struct store;

enum { STORE_SCHEMA_VERSION = 2, STORE_RUNTIMES_MAX = 10000 };

/*
 * Open or make the file, with rights for its owner only. -EBUSY: another process has it; -EPROTO: it
 * was written by a newer version; -EBADMSG: it is damaged: its structure is broken, or the books do
 * not match the checksums that were written with them.
 */
int store_open(const char *path, struct store **ret, struct error *reterr);
void store_close(struct store *store);

/* All that is written in between becomes true at once. A begin within a begin is a bug. */
void store_begin(struct store *store);
int store_commit(struct store *store, struct error *reterr);

/*
 * The same in three steps, so that a slow disk does not stop the loop: store_commit_run may be called
 * on another thread. Until store_commit_end everything can be asked, and is answered as of the last
 * commit; nothing can be written. store_commit_begin returns 1 if there is something to run, else what
 * store_commit would have.
 */
int store_commit_begin(struct store *store, struct error *reterr);
void store_commit_run(struct store *store);
int store_commit_end(struct store *store, struct error *reterr);

/* Forget what was written since store_begin. */
void store_rollback(struct store *store);

/* Whether something was written since store_begin, or failed to be: else the commit is free. */
bool store_is_dirty(const struct store *store);

/* Keys. --------------------------------------------------------------------------------------- */

/* The first key that was never used; at least 1, and above every intent's and instance's. */
uint64_t store_next_key(const struct store *store);
void store_note_key(struct store *store, uint64_t next);

/* Intents. ------------------------------------------------------------------------------------ */

enum store_intent_kind {
    STORE_RENT,
    STORE_GIVE_BACK,
    STORE_PLACE,
    STORE_QUEUE,
    STORE_STOP,
    STORE_ADMIT,
    STORE_RETIRE,
    STORE_INTENT_KINDS,
};

enum store_outcome {
    STORE_OPEN,
    STORE_DONE,
    STORE_REFUSED,  /* by engine, cloud or the operator */
    STORE_LOST,     /* it was begun, and what it made was lost */
    STORE_OBSOLETE, /* no longer waited for */
    STORE_OUTCOMES,
};

struct store_intent {
    uint64_t key; /* of a rent: the instance */
    enum store_intent_kind kind;
    uint64_t instance; /* 0: none */
    uint64_t task;     /* 0: none */
    const char *offer; /* of a rent, in words; may be NULL */
    msec_t at;
};

/* A key that is there already stays as it is. */
void store_intent_open(struct store *store, const struct store_intent *intent);

/* Closing twice, or what is not there, does nothing. */
void store_intent_close(struct store *store, uint64_t key, msec_t at, enum store_outcome outcome);

/* Close all open ones of that kind and instance, or task (the other one is 0). */
void store_intent_close_of(struct store *store, enum store_intent_kind kind, uint64_t instance,
                           uint64_t task, msec_t at, enum store_outcome outcome);

/* In order of keys. */
int store_each_open_intent(struct store *store,
                           void (*each)(void *context, const struct store_intent *intent),
                           void *context, struct error *reterr);
uint64_t store_open_intents(struct store *store);

/* What became of machines that were asked for: they ran, or the cloud refused. */
struct store_rent {
    const char *offer; /* in words; may be NULL */
    msec_t at;         /* decided */
    msec_t closed_at;
    bool was_refused;
};

/* Those that were closed at 'since' or later, in that order. */
int store_each_rent(struct store *store, msec_t since,
                    void (*each)(void *context, const struct store_rent *rent), void *context,
                    struct error *reterr);

/* "rent", "give-back" ...; "done", "refused" ... */
const char *store_intent_word(enum store_intent_kind kind);
const char *store_outcome_word(enum store_outcome outcome);

/* Instances and bills. ------------------------------------------------------------------------ */

struct store_instance {
    uint64_t id;
    const char *name;   /* of the machine */
    const char *offer;  /* in words */
    const char *type;   /* machine type */
    const char *zone;   /* may be NULL */
    const char *market; /* as market_name says */
    money_t per_hour;   /* when it was asked for */
    msec_t asked_at;
    msec_t ended_at; /* -1: it lives; read only */
};

/* It was requested, or found. What is known already stays; it is open again, unless it has its bill. */
void store_instance(struct store *store, const struct store_instance *instance);

/* It is no more and never was on a bill (refused, vanished before it ran). */
void store_instance_end(struct store *store, uint64_t id, msec_t at);

/* Its bill; ends the instance and its account. A second bill of one instance takes the first one's
 * place. */
void store_bill(struct store *store, uint64_t id, const struct ledger_bill *bill);

/* Whether it has its bill. */
bool store_is_settled(struct store *store, uint64_t id);

/* Those that live, by id. */
int store_each_instance(struct store *store,
                        void (*each)(void *context, const struct store_instance *instance),
                        void *context, struct error *reterr);

/* One of them, living or not; false: there is none, and 'each' is not called. */
bool store_find_instance(struct store *store, uint64_t id,
                         void (*each)(void *context, const struct store_instance *instance),
                         void *context);

/* The bill of one; false: there is none. */
bool store_find_bill(struct store *store, uint64_t id, struct ledger_bill *ret);

/* What was billed for [from, to), of all bills that ended after 'since'; in no order. */
int store_each_bill_since(struct store *store, msec_t since,
                          void (*each)(void *context, msec_t from, msec_t to, money_t cost),
                          void *context, struct error *reterr);

/* The unfinished bill of an instance, as the ledger keeps and takes it up again. */
struct store_account {
    uint64_t instance;
    msec_t from;
    msec_t until; /* the last cut */
    int64_t rest; /* of a micro-dollar that is not booked yet, times MSEC_PER_HOUR */
    struct ledger_sums sums;
    bool is_ready;
};

void store_account_set(struct store *store, const struct store_account *account);
void store_account_remove(struct store *store, uint64_t instance);
bool store_account_get(struct store *store, uint64_t instance, struct store_account *ret);
int store_each_account(struct store *store,
                       void (*each)(void *context, const struct store_account *account),
                       void *context, struct error *reterr);

/* Dues. --------------------------------------------------------------------------------------- */

/* What an ended task cost; or, with store_owed_set, what a living one owes by now. */
struct store_due {
    uint64_t task;
    const char *label; /* as users know it: "12_3" */
    const char *job;   /* label of its job; NULL: the same */
    const char *name;  /* of the job; may be NULL */
    const char *user;
    const char *type;    /* of the machine that it ran on last; may be NULL */
    const char *account; /* as the engine names them; NULL: it has none */
    const char *partition;
    const char *qos;
    money_t cost;
    money_t alone_cost; /* what it would have cost alone on the cheapest machine that holds it */
    msec_t occupied_ms;
    msec_t ended_at; /* of use for a due only */
};

/* Ends what it owed. A second due of one task is added to the first. */
void store_due(struct store *store, const struct store_due *due);

/* Whether the task has a due. */
bool store_is_due(struct store *store, uint64_t task);

void store_owed_set(struct store *store, const struct store_due *owed);
void store_owed_remove(struct store *store, uint64_t task);
bool store_owed_get(struct store *store, uint64_t task, struct ledger_due *ret);
int store_each_owed(struct store *store,
                    void (*each)(void *context, uint64_t task, const struct ledger_due *owed),
                    void *context, struct error *reterr);

/* The due of the task or the whole job of that label, the latest if there were several; false: there
 * is none. 'task' is then its first. */
bool store_find_due(struct store *store, const char *label,
                    void (*each)(void *context, const struct store_due *due), void *context);

/* Reasons. ------------------------------------------------------------------------------------ */

enum store_subject {
    STORE_TASK,     /* it was placed: 'target' says where */
    STORE_RENTED,   /* an instance was rented: 'target' is its offer */
    STORE_RELEASED, /* an instance was let go */
    STORE_WAITED,   /* a task was left waiting by a choice: 'target' says for what */
    STORE_SUBJECTS,
};

struct store_reason {
    msec_t at;
    uint64_t decision; /* number of the decision */
    enum store_subject subject;
    uint64_t id;              /* of the task or the instance */
    const char *target;       /* may be NULL */
    struct plan_reason why;   /* to write; read back: only the prices */
    const char *passed_offer; /* in words; NULL: none */
    const char
        *text; /* NULL to write plan_reason_text of 'why', which is read back as it was then */
};

void store_reason(struct store *store, const struct store_reason *reason);

/* The newest first, at most 'most'. */
int store_each_reason(struct store *store, enum store_subject subject, uint64_t id, uint32_t most,
                      void (*each)(void *context, const struct store_reason *reason), void *context,
                      struct error *reterr);

/* Forget reasons, bounds and closed intents from before 'before', and all but the newest STORE_RUNTIMES_MAX
 * runtimes. The books stay. */
void store_prune(struct store *store, msec_t before);

/* History. ------------------------------------------------------------------------------------ */

/* How long a job ran, with what was known before; see learn/runtimes.h. */
struct store_runtime {
    msec_t at;
    const char *name;
    const char *user;
    const char *shape;
    uint32_t tasks;
    uint32_t hour;
    uint32_t limit;
    msec_t runtime_ms;
};

void store_runtime(struct store *store, const struct store_runtime *runtime);

/* The newest 'most', the oldest of them first. */
int store_each_runtime(struct store *store, uint32_t most,
                       void (*each)(void *context, const struct store_runtime *runtime),
                       void *context, struct error *reterr);

/* Bounds. ------------------------------------------------------------------------------------- */

/* What the machines cost at a moment, and could have cost at the least; micro-dollars per hour. */
struct store_bound {
    msec_t at;
    money_t cost;
    money_t least;
};

void store_bound(struct store *store, const struct store_bound *bound);

/* Interruptions. ------------------------------------------------------------------------------ */

/* What was learned of an offer; see learn/interruptions.h. */
struct store_interruption {
    const char *offer; /* in words */
    int64_t losses_micro;
    msec_t machine_ms;
    msec_t at;
};

void store_interruption_set(struct store *store, const struct store_interruption *interruption);

/* By the words of the offer. */
int store_each_interruption(struct store *store,
                            void (*each)(void *context,
                                         const struct store_interruption *interruption),
                            void *context, struct error *reterr);

/* Boots. -------------------------------------------------------------------------------------- */

/* How long a machine took that became ready. */
struct store_boot {
    const char *type;
    msec_t acquire_ms; /* from the request until its bill began */
    msec_t setup_ms;   /* from then until it took work */
};

/* Of the newest 'most' machines, the oldest of them first. */
int store_each_boot(struct store *store, uint32_t most,
                    void (*each)(void *context, const struct store_boot *boot), void *context,
                    struct error *reterr);

/* Counters that outlive the daemon. ----------------------------------------------------------- */

enum store_counter {
    COUNT_DECISIONS,
    COUNT_LAUNCHES,          /* machines that were asked for */
    COUNT_REFUSED,           /* of these: the cloud had none */
    COUNT_BOOT_TIMEOUT,      /* came too late to be of use */
    COUNT_VANISHED,          /* were asked for, and are known nowhere */
    COUNT_EVICTED_BY_NOTICE, /* runs that ended because the machine would be taken away */
    COUNT_EVICTED_BY_LOSS,   /* whose machine was lost under them */
    COUNT_EVICTED_BY_MOVE,   /* that were moved because that pays */
    COUNT_EVICTED_BY_ENGINE, /* that the engine ended: requeued, preempted, a failed node */
    COUNT_ADOPTED,           /* machines that an audit found and we had forgotten */
    COUNT_LATE_EVENTS,       /* ignored: they spoke of what is no more */
    COUNT_RATES,             /* how fast jobs run, as they reported */
    COUNT_LIMITED,           /* rents that a limit stopped */
    COUNT_WITHHELD,          /* orders that made no sense and never left */
    COUNT_TASKS_ENDED,
    COUNT_TAKEN,         /* spot machines that the cloud took away */
    COUNT_LOST_COST,     /* what was lost with them, in micro-dollars */
    COUNT_EXPECTED_LOSS, /* and what was expected to be */
    COUNT_NOTICE_SAVED,  /* runs that may be moved which were not lost with them, */
    COUNT_NOTICE_LOST,   /* and which were */
    STORE_COUNTERS,
};

void store_count(struct store *store, enum store_counter counter, uint64_t more);
uint64_t store_counted(const struct store *store, enum store_counter counter);

/* Marks: words about the daemon itself. -------------------------------------------------------- */

enum store_mark {
    MARK_DRAINING, /* "yes": an operator asked to rent nothing more */
    MARK_CLUSTER,  /* where the machines are: under which name, ... */
    MARK_CLOUD,    /* ... at whom, ... */
    MARK_REGION,   /* ... where there, ... */
    MARK_ACCOUNT,  /* ... whose they are ... */
    MARK_PREFIX,   /* ... and what their nodes' names begin with */
    MARK_BRAKE,    /* machines that proved bad in a row, and until when none is tried */
    MARK_ALIVE,    /* when the daemon was there last, to ten seconds */
    MARK_CAPS,     /* what accounts and the like have spent in this day and month */
    STORE_MARKS,
};

void store_mark(struct store *store, enum store_mark mark, const char *value);

/* The mark as it was written last, cut to 'size'; "" if it never was, or if the file cannot be read. */
void store_marked(struct store *store, enum store_mark mark, char *ret, size_t size);

/* The ledger. --------------------------------------------------------------------------------- */

struct store_totals {
    money_t bill; /* all there is: bills, and accounts up to their last cut */
    money_t boot; /* bill = boot + idle + work */
    money_t idle;
    money_t work;
    money_t settled;   /* of work: what ended tasks were charged */
    money_t owed;      /* of work: what living tasks owe */
    money_t alone;     /* what the ended tasks would have cost with an instance each */
    money_t committed; /* beyond 'bill': the charges for rented machines if they are returned now */
    msec_t boot_ms;
    msec_t idle_ms;
    msec_t work_ms;
    uint64_t instances; /* with a bill or an account */
    uint64_t tasks;     /* ended */
};

int store_totals(struct store *store, struct store_totals *ret, struct error *reterr);

/*
 * Savings against one machine per task. The baseline is the cost of the ended tasks on machines of their own. The
 * savings are the baseline minus the bill for these tasks, their boot and idle time, and the committed charges.
 */
#define STORE_BASELINE "one machine per task"
money_t store_savings(const struct store_totals *totals);

enum store_by {
    STORE_BY_USER,
    STORE_BY_JOB,
    STORE_BY_ACCOUNT, /* the engine's, as partition and QOS */
    STORE_BY_PARTITION,
    STORE_BY_QOS,
    STORE_BY_TYPE,
    STORE_BY_MARKET,
    STORE_BY_DAY, /* in UTC; a bill over several days is split by time */
    STORE_BY_MONTH,
    STORE_BYS,
    STORE_PAYER_BYS = STORE_BY_QOS + 1, /* the first of them are by who pays */
};

struct store_ledger_row {
    const char *name;     /* user, label of the job, type, "2026-11-15", or "(idle and boot)" ... */
    const char *user;     /* by job; else NULL */
    const char *job_name; /* by job; else NULL */
    money_t cost;
    money_t overhead;   /* of it, boot and idle time that was apportioned: see store_report.h */
    money_t alone_cost; /* by user and job: of ended tasks; else 0, not known */
    msec_t ms;          /* that tasks occupied (user, job) or machines were paid (type, day) */
    uint64_t count;     /* of tasks, or of instances */
};

/*
 * Rows from the highest cost down, days from the first on. If there are more than 'most', the last
 * one is "(others)". By user and job, money that no task pays is in rows of its own: "(idle and
 * boot)", and "(unassigned)" where the books of a task were lost in a crash.
 */
int store_ledger(struct store *store, enum store_by by, uint32_t most,
                 void (*each)(void *context, const struct store_ledger_row *row), void *context,
                 struct error *reterr);

/* "user", "job" ... */
const char *store_by_word(enum store_by by);

#endif
