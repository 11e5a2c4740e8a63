/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_report.h - the books, cut by whom, by what and by when; for the daemon, and for whoever reads the
 * file without one.
 *
 * Periods:    what was paid for a machine is spread evenly over the time on its bill, and what a task paid
 *             over the time that it occupied machines, counted back from its end. Of both, a period has the part
 *             that lies within it; borders are rounded once, so that adjacent periods add up to the whole.
 * Overhead:   boot and idle time is a row of its own, or is apportioned to those that paid for work in the
 *             period, in proportion to what they paid. Both ways the rows add up to the bill of the period.
 * Now:        a file knows of open accounts what was booked last. Who has the ledger itself (the daemon)
 *             gives what is owed by now, so that all figures are of one instant.
 * Costs:      O(rows of the books). Who writes the books keeps what ended tasks paid, by each of those who pay, the bills and what open
 *             tasks owe from one question to the next: O(machines + open tasks + rows) in memory, and what was written since.
 */
#ifndef STINT_STORE_STORE_REPORT_H
#define STINT_STORE_STORE_REPORT_H

#include "store/store.h"

/* One machine on the bill, ended or not. Texts may be NULL. */
struct store_machine {
    uint64_t id;
    const char *name;
    const char *type;
    const char *zone;
    const char *market;
    money_t per_hour; /* when it was rented */
    msec_t from;
    msec_t to; /* of an open account: until when it is booked */
    struct ledger_sums sums;
    bool is_open;
};

/* One task that paid. Texts may be NULL. */
struct store_payer {
    uint64_t task;
    const char *job;
    const char *job_name;
    const char *user;
    const char *account;
    const char *partition;
    const char *qos;
    money_t cost;
    money_t alone_cost; /* 0 until it has ended */
    msec_t from;
    msec_t to;
    msec_t occupied_ms;
    bool is_open; /* it has not ended */
};

/* What the ledger says of an open account, and of a task that has not ended, by now; false: it knows none. And the tasks that owe
 * something by now and are new to the books, as open ones: the books have a task when something that it owes was booked, which for
 * one that has its machine for itself is at its end. NULL: there are none. */
struct store_live {
    void *context;
    bool (*account)(void *context, uint64_t instance, struct ledger_account *ret);
    bool (*owed)(void *context, uint64_t task, struct ledger_due *ret);
    void (*each_new)(void *context, bool (*is_new)(const void *to, uint64_t task),
                     void (*each)(void *to, const struct store_payer *payer), void *to);
    money_t (*committed)(void *context); /* see struct store_totals; may be NULL */
};

/* Whether it is owned: no cloud has a bill for it, and it has no name, type or price that were written down. */
bool store_machine_is_owned(const struct store_machine *machine);

/* 'live' may be NULL, here as below. */
int store_each_machine(struct store *store, const struct store_live *live,
                       void (*each)(void *context, const struct store_machine *machine),
                       void *context, struct error *reterr);
int store_each_payer(struct store *store, const struct store_live *live,
                     void (*each)(void *context, const struct store_payer *payer), void *context,
                     struct error *reterr);

struct store_period {
    msec_t since;
    msec_t until; /* not included */
};

#define STORE_ALWAYS ((struct store_period){ .since = INT64_MIN, .until = INT64_MAX })

/* The part of 'whole', spread evenly over [from, to), that lies in the period. */
int64_t store_part(int64_t whole, msec_t from, msec_t to, const struct store_period *period);

struct store_query {
    enum store_by by;
    struct store_period period;
    uint32_t most; /* rows, before "(others)" */
    const char
        *name; /* only rows that have it in their name, user or job name, in any case; NULL: all */
    bool is_apportioned; /* boot and idle time is paid by who paid for work */
    const struct store_live *live;
};

/* Rows as of store_ledger; 'ret' is what they add up to without 'name'. */
int store_report(struct store *store, const struct store_query *query,
                 void (*each)(void *context, const struct store_ledger_row *row), void *context,
                 struct store_totals *ret, struct error *reterr);

/* Read what is kept of tasks and machines, so that the first question need not. */
int store_warm(struct store *store, struct error *reterr);

/* The committed charges by now; 0 if unknown. */
money_t store_committed(const struct store_live *live);

/* store_totals, by now. */
int store_totals_live(struct store *store, const struct store_live *live, struct store_totals *ret,
                      struct error *reterr);

/* Read the books while a daemon has them, or none. */
int store_open_books(const char *path, struct store **ret, struct error *reterr);

/* Whether the rows are tasks' payments; else they are machines'. */
bool store_by_payer(enum store_by by);

/* The one of that word; STORE_BYS: there is none. */
enum store_by store_by_find(const char *word);

/* All words, as "user, job, ... or month". */
const char *store_by_words(void);

#endif
