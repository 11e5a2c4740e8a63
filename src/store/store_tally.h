/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_tally.h - the rows of a report while they are added up, and what is kept of them from one question to the next.
 *
 * Kept is what ended tasks paid in all, by each of those who can pay: that answers for any period in which all of them lie, too. For other periods it is kept
 * besides when each of them had its machine, and in which rows it is. Such rows only grow: tasks that end later are noted
 * by their numbers and added by the next question. What does change, a task that ends again or that another
 * account is charged with, drops what is kept; the next question reads the file. Private to the store.
 *
 * Of a task that has not ended, it is kept in which row it is, so that its texts need not be read each time; what it owes is read, or asked.
 *
 * Costs:  O(1) for a task that ends, and nothing while no tally is kept; a period O(ended tasks), in memory.
 * Memory: 64 bytes for each ended task, of STORE_TALLY_ROWS at most: of more than these, periods are read from the file.
 */
#ifndef STINT_STORE_STORE_TALLY_H
#define STINT_STORE_STORE_TALLY_H

#include "base/map.h"
#include "base/names.h"
#include "store/store_private.h"
#include "store/store_report.h"

enum { STORE_TALLY_ROWS = 250000 }; /* kept of each at most: about 30 MB */

struct store_tally_row {
    uint32_t key; /* in 'names'; by job it holds three texts */
    money_t cost;
    money_t overhead;
    money_t alone_cost;
    msec_t ms;
    uint64_t count;
};

struct store_tally {
    const struct store_query *query;
    struct names names;
    struct store_tally_row *rows; /* one for each name */
    uint32_t count;
    uint32_t room;
    struct store_totals totals;
    money_t paid; /* by tasks, in the period */
    msec_t
        since; /* the earliest that an ended task had a machine, and the latest; without one, 'since' is after 'until' */
    msec_t until;
    msec_t newest; /* until when open accounts are booked */
    struct map
        open; /* in which row a task is that has not ended; of those that were asked about since the books had anything new of them */
};

/* An ended task: when it had a machine, what it paid, and its row in each tally. */
struct store_span {
    msec_t from;
    msec_t to;
    money_t cost;
    money_t alone_cost;
    msec_t ms;
    uint32_t row[STORE_PAYER_BYS];
};

/* One more; too many are not kept. */
void store_tally_span(struct store *store, const struct store_span *span);

/* A task has ended; 'is_known': not for the first time. */
void store_tally_ended(struct store *store, uint64_t task, bool is_known);

/* The first 'count' of those that ended are in all tallies. */
void store_tally_added(struct store *store, uint32_t count);

/* What the books have of an open task is new: who pays for it is read again. */
void store_tally_opened(struct store *store, uint64_t task);

/* An ended task is charged to another account, partition or QOS. */
void store_tally_payer_changed(struct store *store);

/* There are no tallies and no spans now, but both will be made. */
void store_tally_begin(struct store *store);

/* Drop those that became too long, and make them no more. */
void store_tally_trim(struct store *store);

/* Forget what was kept of ended tasks: it is not what the file has. */
void store_tally_drop(struct store *store);
void store_tally_drop_one(struct store *store, enum store_by by);

#endif
