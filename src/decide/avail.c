/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/avail.h"

#include <assert.h>
#include <string.h>

void avail_init(struct avail *avail, int64_t limit, struct arena *arena)
{
    assert(limit >= 1);
    *avail = (struct avail){ .at = ARENA_ARRAY(arena, double, (size_t)limit + 1), .limit = limit };
    avail->at[0] = 1;
}

void avail_clear(struct avail *avail)
{
    memset(avail->at, 0, ((size_t)avail->limit + 1) * sizeof(*avail->at));
    avail->at[0] = 1;
    avail->total = 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void avail_add(struct avail *avail, int64_t capacity, double down)
{
    const int64_t filled = least(avail->total, avail->limit);
    const int64_t shift = least(capacity, avail->limit);
    const double up = 1 - down;
    double *at = avail->at;
    double beyond = 0;

    assert(capacity >= 0);
    assert(down >= 0 && down <= 1);
    if (capacity == 0)
        return;
    /* From the top, so that each value is read before it is changed. */
    for (int64_t i = filled; i >= 0 && i + shift >= avail->limit; i--)
        beyond += at[i] * up;
    at[avail->limit] = at[avail->limit] * down + beyond;
    for (int64_t i = least(filled, avail->limit - 1 - shift); i >= 0; i--)
        at[i + shift] = at[i + shift] * down + at[i] * up;
    for (int64_t i = shift - 1; i >= 0; i--)
        at[i] *= down;
    avail->total += capacity;
}

double avail_below(const struct avail *avail, int64_t capacity)
{
    double sum = 0;

    assert(capacity <= avail->limit);
    for (int64_t i = 0; i < capacity; i++)
        sum += avail->at[i];
    return sum;
}

double avail_excess(const struct avail *avail, int64_t capacity, int64_t most)
{
    double sum = 0;

    assert(capacity + most <= avail->limit);
    for (int64_t i = capacity + 1; i <= avail->limit; i++)
        sum += avail->at[i] * (double)least(i - capacity, most);
    return sum;
}
