/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - what is to be written down, kept until the store has it.
 *
 * Parts of the daemon add records while they work through a turn; at its end all go into the store in
 * one transaction. If that fails they stay and are tried again, so that a full disk delays the books
 * but does not make holes in them.
 *
 * Promises:  records reach the store in the order they were added, all of a turn or none.
 * Bounds:    beyond JOURNAL_RECORDS_MAX records that wait, reasons are dropped and counted.
 * Memory:    texts are copied.
 */
#ifndef STINT_DAEMON_JOURNAL_H
#define STINT_DAEMON_JOURNAL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/store.h"

enum { JOURNAL_RECORDS_MAX = 1 << 20 };

struct journal_record;

struct journal {
    struct arena arena; /* texts of the records */
    struct journal_record *records;
    uint32_t count;
    uint32_t room;
    uint32_t writing; /* of 'count': the store is about to have them */
    uint64_t dropped;
};

void journal_init(struct journal *journal);
void journal_done(struct journal *journal);

void journal_intent_open(struct journal *journal, const struct store_intent *intent);
void journal_intent_close(struct journal *journal, uint64_t key, msec_t at,
                          enum store_outcome outcome);
void journal_instance(struct journal *journal, const struct store_instance *instance);
void journal_instance_end(struct journal *journal, uint64_t id, msec_t at);
void journal_bill(struct journal *journal, uint64_t id, const struct ledger_bill *bill);
void journal_account(struct journal *journal, const struct store_account *account);
void journal_due(struct journal *journal, const struct store_due *due);
void journal_owed(struct journal *journal, const struct store_due *owed);
void journal_reason(struct journal *journal, const struct store_reason *reason);
void journal_runtime(struct journal *journal, const struct store_runtime *runtime);
void journal_interruption(struct journal *journal, const struct store_interruption *interruption);
void journal_bound(struct journal *journal, const struct store_bound *bound);
void journal_count(struct journal *journal, enum store_counter counter, uint64_t more);
void journal_key(struct journal *journal, uint64_t next);
void journal_mark(struct journal *journal, enum store_mark mark, const char *value);

/* Write all records in one transaction, and forget them. On failure they stay. */
int journal_write(struct journal *journal, struct store *store, struct error *reterr);

/*
 * The same in two steps, with store_commit_run between them. The first returns 1 if there is something to
 * run, else what journal_write would have. Records that are added meanwhile wait for the next time.
 */
int journal_write_begin(struct journal *journal, struct store *store, struct error *reterr);
int journal_write_end(struct journal *journal, struct store *store, struct error *reterr);

#endif
