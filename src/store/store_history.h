/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_history.h - what was rented and what ran since some time, for pictures and reports.
 *
 * All of it is also in the ledger; here it has its place in time. What still runs is the controller's to
 * tell: only bills that are closed and tasks that have ended are in the books. Which task ran on which
 * machine comes from the journal of intents, which the daemon forgets after a while (store_prune).
 *
 * Costs:   a stay or a run O(log rows) each, as they are found by an index; users O(ended tasks).
 * Memory:  texts are valid during the call; calls back must not use the store.
 */
#ifndef STINT_STORE_STORE_HISTORY_H
#define STINT_STORE_STORE_HISTORY_H

#include "store/store.h"

/* A machine that was paid for and is gone. */
struct store_stay {
    uint64_t instance;
    const char *name; /* these four may be NULL */
    const char *type;
    const char *zone;
    const char *market;
    struct ledger_bill bill;
};

/* Those whose bill ended after 'since', the latest first, at most 'most'. */
int store_each_stay(struct store *store, msec_t since, uint32_t most,
                    void (*each)(void *context, const struct store_stay *stay), void *context,
                    struct error *reterr);

/* The same in any order, without names and zones: from memory, where all are kept, and then 1 is returned; else as store_each_stay does. */
int store_each_past(struct store *store, msec_t since, uint32_t most,
                    void (*each)(void *context, const struct store_stay *stay), void *context,
                    struct error *reterr);

/* A task that was put on a machine and began there. */
struct store_run {
    uint64_t task;
    uint64_t instance;
    msec_t began_at;
    const char *label; /* of the task, its name and its user: NULL until it has ended */
    const char *name;
    const char *user;
    msec_t ended_at; /* -1: it has not; of a task that ran several times, the last end */
};

/* Those that began at 'since' or later, the latest first, at most 'most'; on one machine, or on all (0). */
int store_each_run(struct store *store, msec_t since, uint64_t instance, uint32_t most,
                   void (*each)(void *context, const struct store_run *run), void *context,
                   struct error *reterr);

/* What machines could have cost at the least, from 'since' on, in the order of time. */
int store_each_bound(struct store *store, msec_t since,
                     void (*each)(void *context, const struct store_bound *bound), void *context,
                     struct error *reterr);

/* What each user's tasks cost that ended at 'since' or later, the most expensive first. */
int store_each_user(struct store *store, msec_t since, uint32_t most,
                    void (*each)(void *context, const struct store_ledger_row *row), void *context,
                    struct error *reterr);

#endif
