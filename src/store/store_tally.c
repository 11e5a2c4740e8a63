/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_tally.h"

#include "base/mem.h"
#include "store/store_private.h"

enum { ENDED_MOST = 20000 }; /* more are not looked up one by one */

void store_tally_drop_one(struct store *store, enum store_by by)
{
    struct store_tally *tally = store->tally[by];

    if (tally == NULL)
        return;
    names_done(&tally->names);
    mem_free(tally->rows);
    mem_free(tally);
    store->tally[by] = NULL;
}

void store_tally_drop(struct store *store)
{
    store_tally_drop_one(store, STORE_BY_USER);
    store_tally_drop_one(store, STORE_BY_JOB);
    mem_free(store->ended);
    store->ended = NULL;
    store->ended_count = store->ended_room = 0;
}

void store_tally_ended(struct store *store, uint64_t task, bool is_known)
{
    if (store->tally[STORE_BY_USER] == NULL && store->tally[STORE_BY_JOB] == NULL)
        return;
    if (is_known || store->ended_count == ENDED_MOST) {
        store_tally_drop(store);
        return;
    }
    MEM_ROOM(store->ended, store->ended_room, store->ended_count + 1);
    store->ended[store->ended_count++] = task;
}
