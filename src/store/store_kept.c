/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_kept.h"

#include "base/mem.h"
#include "store/store_private.h"

enum { NOTED_MOST = 20000 }; /* more are not looked up one by one */

void store_bills_drop(struct store *store)
{
    struct store_bills *bills = store->bills;

    if (bills == NULL)
        return;
    names_done(&bills->names);
    mem_free(bills->rows);
    mem_free(bills->noted);
    mem_free(bills);
    store->bills = NULL;
}

void store_bills_note(struct store *store, uint64_t instance, bool is_known)
{
    struct store_bills *bills = store->bills;

    if (bills == NULL)
        return;
    if (is_known || bills->noted_count == NOTED_MOST) {
        store_bills_drop(store);
        return;
    }
    MEM_ROOM(bills->noted, bills->noted_room, bills->noted_count + 1);
    bills->noted[bills->noted_count++] = instance;
}

void store_bills_named(struct store *store)
{
    if (store->bills != NULL && store->bills->nameless > 0)
        store_bills_drop(store);
}

void store_owed_drop(struct store *store)
{
    struct store_owed *owed = store->owed;

    if (owed == NULL)
        return;
    map_done(&owed->places);
    mem_free(owed->rows);
    mem_free(owed->noted);
    mem_free(owed);
    store->owed = NULL;
}

void store_owed_note(struct store *store, uint64_t task)
{
    struct store_owed *owed = store->owed;

    if (owed == NULL)
        return;
    if (owed->noted_count == NOTED_MOST) {
        store_owed_drop(store);
        return;
    }
    MEM_ROOM(owed->noted, owed->noted_room, owed->noted_count + 1);
    owed->noted[owed->noted_count++] = task;
}
