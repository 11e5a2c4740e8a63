/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_price_history.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

void aws_price_history_done(struct aws_price_history *history)
{
    mem_free(history->rows);
    *history = (struct aws_price_history){ 0 };
}

void aws_price_history_add(struct aws_price_history *history, uint32_t *list, msec_t at,
                           money_t per_hour)
{
    if (history->begin == 0)
        return;
    if (history->count == AWS_PRICE_ROWS_MAX) {
        history->is_full = true;
        return;
    }
    MEM_ROOM(history->rows, history->room, history->count + 1);
    history->rows[history->count++] = (struct aws_price_row){ at, per_hour, *list };
    *list = history->count;
}

/* The dearer of two prices of one moment comes last, and counts. */
static int compare_changes(const void *a, const void *b)
{
    const struct price_change *one = a;
    const struct price_change *other = b;

    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return (one->per_hour > other->per_hour) - (one->per_hour < other->per_hour);
}

struct price_change *aws_price_history_series(const struct aws_price_history *history,
                                              uint32_t list, uint32_t *ret_count)
{
    struct price_change *changes;
    uint32_t rows = 0;
    uint32_t count = 0;

    assert(list != 0);
    for (uint32_t i = list; i != 0; i = history->rows[i - 1].next)
        rows++;
    changes = mem_alloc(rows, sizeof(*changes));
    rows = 0;
    for (uint32_t i = list; i != 0; i = history->rows[i - 1].next)
        changes[rows++] =
            (struct price_change){ history->rows[i - 1].at, history->rows[i - 1].per_hour };
    qsort(changes, rows, sizeof(*changes), compare_changes);
    for (uint32_t i = 0; i < rows; i++) {
        const msec_t since = changes[i].at - history->begin;
        const struct price_change change = { since > 0 ? since : 0, changes[i].per_hour };

        if (count > 0 && changes[count - 1].at == change.at)
            count--;
        if (count == 0 || changes[count - 1].per_hour != change.per_hour)
            changes[count++] = change;
    }
    *ret_count = count;
    return changes;
}
