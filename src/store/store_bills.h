/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_bills.h - the machines that are paid for and gone, in memory from one question to the next.
 *
 * A bill does not change, so the file is read once, and afterwards only for the bills that were written since. What does change, a
 * bill that is written again, drops what is kept; the next question reads the file. Private to the store.
 *
 * Promises:  what is kept is what the file has, also while a commit is under way.
 * Costs:     O(bills), in memory, of STORE_BILLS_KEPT at most: of more than these, the file is read.
 */
#ifndef STINT_STORE_STORE_BILLS_H
#define STINT_STORE_STORE_BILLS_H

#include "store/store_report.h"

enum { STORE_BILLS_KEPT = 250000 };

/* All bills, as machines that have no name, zone or price per hour; from memory if 'store' writes the file, else from the file. */
int store_each_billed(struct store *store,
                      void (*each)(void *context, const struct store_machine *machine),
                      void *context, struct error *reterr);

#endif
