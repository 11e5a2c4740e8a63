/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_kept.h - what the store keeps of bills and of open tasks from one question to the next, and what of it is not what the file has any
 * more. Private to the store.
 *
 * What is written is noted by its number, and read from the file by the next question (store_bills.h, store_owed.h).
 *
 * Costs:     O(1) for what is written, and nothing while nothing is kept.
 * Memory:    96 bytes for each bill, about 50 for each open task.
 */
#ifndef STINT_STORE_STORE_KEPT_H
#define STINT_STORE_STORE_KEPT_H

#include "base/map.h"
#include "base/names.h"
#include "store/store.h"

#define STORE_NO_TEXT UINT32_MAX

struct store_kept_bill {
    uint64_t instance;
    msec_t from;
    msec_t to;
    struct ledger_sums sums;
    uint32_t type; /* in 'names', or STORE_NO_TEXT */
    uint32_t market;
};

/* The machines that are gone. */
struct store_bills {
    struct names names;
    struct store_kept_bill *rows;
    uint32_t count, room;
    uint32_t nameless; /* of them: no rental was written down, and they are not owned */
    uint64_t *noted;   /* machines whose bills are not in 'rows' yet */
    uint32_t noted_count, noted_room;
};

struct store_owed_row {
    uint64_t task;
    struct ledger_due due;
};

/* The tasks that owe something and have not ended. */
struct store_owed {
    struct map places; /* of tasks, in 'rows' */
    struct store_owed_row *rows;
    uint32_t count, room;
    uint64_t *noted; /* tasks that may be another or none in the file */
    uint32_t noted_count, noted_room;
};

/* A bill is written; 'is_known': not for the first time. */
void store_bills_note(struct store *store, uint64_t instance, bool is_known);

/* A machine gets its type: bills without one may be of it. */
void store_bills_named(struct store *store);

/* Something was written of an open task. */
void store_owed_note(struct store *store, uint64_t task);

/* Forget what is kept: it is not what the file has. */
void store_bills_drop(struct store *store);
void store_owed_drop(struct store *store);

#endif
