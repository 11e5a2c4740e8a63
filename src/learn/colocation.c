/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/colocation.h"

#include <assert.h>

#include "base/mem.h"

void colocation_init(struct colocation *table, double default_rate)
{
    *table = (struct colocation){ .default_rate = default_rate, .highest = default_rate };
    map_init(&table->by_key);
}

void colocation_done(struct colocation *table)
{
    map_done(&table->by_key);
    mem_free(table->entries);
    table->entries = NULL;
}

static uint64_t entry_key(uint32_t shape, uint64_t neighbours)
{
    return neighbours * 0x9e3779b97f4a7c15U ^ colocation_token(shape);
}

void colocation_observe(struct colocation *table, uint32_t shape, uint64_t neighbours, double rate)
{
    const uint64_t key = entry_key(shape, neighbours);
    uint32_t index = map_get(&table->by_key, key);

    if (index == MAP_NONE) {
        if (table->count == COLOCATION_ENTRIES_MAX)
            return;
        index = table->count++;
        MEM_ROOM(table->entries, table->room, table->count);
        table->entries[index] = (struct colocation_entry){ 0 };
        map_put(&table->by_key, key, index);
    }
    if (rate > table->highest)
        table->highest = rate;
    table->entries[index].sum += rate;
    table->entries[index].count++;
}

bool colocation_recorded(const struct colocation *table, uint32_t shape, uint64_t neighbours,
                         double *ret_rate)
{
    const uint32_t index = map_get(&table->by_key, entry_key(shape, neighbours));

    if (index == MAP_NONE)
        return false;
    *ret_rate = table->entries[index].sum / (double)table->entries[index].count;
    return true;
}

double colocation_pair(const struct colocation *table, uint32_t shape, uint32_t other)
{
    double rate = table->default_rate;

    (void)colocation_recorded(table, shape, colocation_token(other), &rate);
    return rate;
}

uint32_t colocation_straggler(const struct colocation *table,
                              const struct colocation_member *members, uint32_t count, double rate)
{
    assert(count > 0);

    uint32_t lowest = UINT32_MAX;
    uint32_t most = UINT32_MAX; /* among the unrecorded */
    double lowest_rate = 0;

    for (uint32_t i = 0; i < count; i++) {
        double known;

        if (!colocation_recorded(table, members[i].shape, members[i].neighbours, &known)) {
            if (most == UINT32_MAX || members[i].neighbour_count > members[most].neighbour_count)
                most = i;
        } else if (lowest == UINT32_MAX || known < lowest_rate) {
            lowest = i;
            lowest_rate = known;
        }
    }
    if (lowest == UINT32_MAX || (most != UINT32_MAX && lowest_rate > rate))
        return most;
    return lowest;
}
