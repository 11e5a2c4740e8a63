/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_owed.h"

#include "base/mem.h"
#include "store/store_private.h"

static void set(struct store_owed *owed, uint64_t task, const struct ledger_due *due)
{
    const uint32_t place = map_get(&owed->places, task);

    if (place != MAP_NONE) {
        owed->rows[place].due = *due;
        return;
    }
    MEM_ROOM(owed->rows, owed->room, owed->count + 1);
    map_put(&owed->places, task, owed->count);
    owed->rows[owed->count++] = (struct store_owed_row){ task, *due };
}

/* The last takes its place. */
static void unset(struct store_owed *owed, uint64_t task)
{
    const uint32_t place = map_get(&owed->places, task);

    if (place == MAP_NONE)
        return;
    (void)map_remove(&owed->places, task);
    owed->count--;
    if (place < owed->count) {
        owed->rows[place] = owed->rows[owed->count];
        map_put(&owed->places, owed->rows[place].task, place);
    }
}

static int read_one(struct store *store, uint64_t task, struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_OWED_FIND, STORE_NUMBER(task));

    if (store_row(&ask))
        set(store->owed, task,
            &(struct ledger_due){ .cost = store_number(&ask, 1),
                                  .occupied_ms = store_number(&ask, 2) });
    else
        unset(store->owed, task);
    return store_asked(&ask, reterr);
}

/* What a commit that is under way has of them may be in the file or not: they are read again the next time, too. */
static int read_noted(struct store *store, struct error *reterr)
{
    struct store_owed *owed = store->owed;

    for (uint32_t i = 0; i < owed->noted_count; i++) {
        const int rc = read_one(store, owed->noted[i], reterr);

        if (rc < 0) {
            store_owed_drop(store);
            return rc;
        }
    }
    if (store->commit == NULL)
        owed->noted_count = 0;
    return 0;
}

static void keep(void *context, uint64_t task, const struct ledger_due *due)
{
    set(context, task, due);
}

int store_owed_all(struct store *store, const struct store_owed **ret, struct error *reterr)
{
    int rc = 0;

    *ret = NULL;
    if (store->commit == NULL && store->dirty)
        return 0;
    if (store->owed != NULL) {
        rc = read_noted(store, reterr);
    } else if (store->lock >= 0 && store->commit == NULL) {
        store->owed = mem_alloc(1, sizeof(*store->owed));
        map_init(&store->owed->places);
        rc = store_each_owed(store, keep, store->owed, reterr);
        if (rc < 0)
            store_owed_drop(store);
    }
    *ret = store->owed;
    return rc;
}

/* Asked for each job that is new. Most owe nothing, and 50,000 looks into the file would take 80 ms. */
bool store_owed_get(struct store *store, uint64_t task, struct ledger_due *ret)
{
    const struct store_owed *kept = NULL;

    if (store->commit == NULL && store_owed_all(store, &kept, NULL) == 0 && kept != NULL) {
        const uint32_t place = map_get(&kept->places, task);

        if (place != MAP_NONE)
            *ret = kept->rows[place].due;
        return place != MAP_NONE;
    }

    struct store_question ask = STORE_ASK(store, SQL_OWED_FIND, STORE_NUMBER(task));
    const bool found = store_row(&ask);

    if (found)
        *ret = (struct ledger_due){ .cost = store_number(&ask, 1),
                                    .occupied_ms = store_number(&ask, 2) };
    store_asked(&ask, NULL);
    return found;
}
