/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_tally.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_private.h"

enum { ENDED_MOST = 20000 }; /* more are not looked up one by one */

void store_tally_drop_one(struct store *store, enum store_by by)
{
    struct store_tally *tally = store->tally[by];

    if (tally == NULL)
        return;
    names_done(&tally->names);
    map_done(&tally->open);
    mem_free(tally->rows);
    mem_free(tally);
    store->tally[by] = NULL;
}

static void drop_spans(struct store *store)
{
    mem_free(store->spans);
    store->spans = NULL;
    store->span_count = store->span_room = 0;
    store->has_spans = false;
}

void store_tally_span(struct store *store, const struct store_span *span)
{
    if (!store->has_spans)
        return;
    if (store->span_count == STORE_TALLY_ROWS) {
        drop_spans(store);
        return;
    }
    MEM_ROOM(store->spans, store->span_room, store->span_count + 1);
    store->spans[store->span_count++] = *span;
}

void store_tally_begin(struct store *store)
{
    drop_spans(store);
    store->has_spans = true;
    for (enum store_by by = 0; by < STORE_PAYER_BYS; by++)
        store_tally_drop_one(store, by);
}

void store_tally_drop(struct store *store)
{
    store_tally_begin(store);
    store->has_spans = false;
    mem_free(store->ended);
    store->ended = NULL;
    store->ended_count = store->ended_room = 0;
    memset(store->is_too_long, 0, sizeof(store->is_too_long));
}

static bool is_kept(const struct store *store)
{
    for (enum store_by by = 0; by < STORE_PAYER_BYS; by++) {
        if (store->tally[by] != NULL)
            return true;
    }
    return false;
}

void store_tally_ended(struct store *store, uint64_t task, bool is_known)
{
    if (!is_kept(store))
        return;
    if (is_known || store->ended_count == ENDED_MOST) {
        store_tally_drop(store);
        return;
    }
    MEM_ROOM(store->ended, store->ended_room, store->ended_count + 1);
    store->ended[store->ended_count++] = task;
}

void store_tally_added(struct store *store, uint32_t count)
{
    assert(count <= store->ended_count);
    store->ended_count -= count;
    if (store->ended_count > 0 && count > 0)
        memmove(store->ended, store->ended + count, store->ended_count * sizeof(*store->ended));
}

void store_tally_opened(struct store *store, uint64_t task)
{
    for (enum store_by by = 0; by < STORE_PAYER_BYS; by++) {
        if (store->tally[by] != NULL)
            (void)map_remove(&store->tally[by]->open, task);
    }
}

void store_tally_payer_changed(struct store *store)
{
    store_tally_drop_one(store, STORE_BY_ACCOUNT);
    store_tally_drop_one(store, STORE_BY_PARTITION);
    store_tally_drop_one(store, STORE_BY_QOS);
}

void store_tally_trim(struct store *store)
{
    for (enum store_by by = 0; by < STORE_PAYER_BYS; by++) {
        if (store->tally[by] == NULL || store->tally[by]->count <= STORE_TALLY_ROWS)
            continue;
        store->is_too_long[by] = true;
        store_tally_drop_one(store, by);
    }
}
