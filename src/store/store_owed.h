/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_owed.h - the tasks that owe something and have not ended, in memory from one question to the next.
 *
 * What is written of a task is noted by its number, and read from the file by the next question: what is kept is what the file has, also
 * while a commit is under way. Private to the store.
 *
 * Costs:     a look into the file for each task that was noted, and all of it the first time.
 */
#ifndef STINT_STORE_STORE_OWED_H
#define STINT_STORE_STORE_OWED_H

#include "store/store_kept.h"

/* As the file has them; NULL: they are not kept, because others write the file or what was written is not committed. Valid until
 * something is written. */
int store_owed_all(struct store *store, const struct store_owed **ret, struct error *reterr);

#endif
