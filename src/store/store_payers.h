/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_payers.h - reading machines and tasks from the books, with what they owe by now where that is known. Private to the store.
 *
 * Costs:  O(rows that are read).
 */
#ifndef STINT_STORE_STORE_PAYERS_H
#define STINT_STORE_STORE_PAYERS_H

#include "store/store_private.h"
#include "store/store_report.h"

/* The rows of one of the questions SQL_MACHINE... */
int store_read_machines(struct store_question ask, const struct store_live *live,
                        void (*each)(void *context, const struct store_machine *machine),
                        void *context, struct error *reterr);

/* The rows of one of the questions SQL_PAYER... With 'live', which goes with those that have all open tasks, also the tasks that owe
 * something and are not in the books yet; what is open is of 'now'. */
int store_each_due(struct store_question ask, const struct store_live *live, msec_t now,
                   void (*each)(void *context, const struct store_payer *payer), void *context,
                   struct error *reterr);

/* What tasks owe that have not ended: 'each' gets those of the books by their numbers, 'fresh' those that are not in them yet. */
int store_each_open(struct store *store, const struct store_live *live,
                    void (*each)(void *context, uint64_t task, const struct ledger_due *due),
                    void (*fresh)(void *context, const struct store_payer *payer), void *context,
                    struct error *reterr);

/* For store_each_machine: until when open accounts are booked, into the msec_t that 'context' is. */
void store_note_newest(void *context, const struct store_machine *machine);

#endif
