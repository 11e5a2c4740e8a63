/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/room_order.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

enum {
    FILL = ROOM_BLOCK * 3 / 4, /* entries of a block at first */
    SHIFT_MAX = 64,            /* so far away a gap is fetched from */
    STACK_DEPTH = 64,          /* of a walk down the tree: two nodes a level, 32 levels */
    LEAVES_LEAST = 8,
};

struct room_block {
    struct room_block *next; /* of those that are spare */
    uint32_t count;
    struct room_entry entries[ROOM_BLOCK];
};

void room_order_init(struct room_order *order, bool has_room, struct arena *arena)
{
    *order = (struct room_order){ .arena = arena, .has_room = has_room };
}

static void *get(const struct room_order *order, size_t count, size_t size)
{
    return order->arena != NULL ? arena_alloc(order->arena, count, size) : mem_alloc(count, size);
}

static void drop(const struct room_order *order, void *memory)
{
    if (order->arena == NULL)
        mem_free(memory);
}

static void spare_blocks(struct room_order *order)
{
    for (uint32_t slot = 0; slot < order->leaves; slot++) {
        if (order->slots[slot] == NULL)
            continue;
        order->slots[slot]->next = order->spare;
        order->spare = order->slots[slot];
    }
    order->blocks = 0;
    order->count = 0;
}

void room_order_done(struct room_order *order)
{
    spare_blocks(order);
    while (order->spare != NULL) {
        struct room_block *block = order->spare;

        order->spare = block->next;
        drop(order, block);
    }
    drop(order, order->slots);
    drop(order, order->low);
    drop(order, order->most);
    room_order_init(order, order->has_room, order->arena);
}

static struct room_block *take_block(struct room_order *order)
{
    struct room_block *block = order->spare;

    if (block == NULL)
        block = get(order, 1, sizeof(*block));
    else
        order->spare = block->next;
    block->count = 0;
    order->blocks++;
    return block;
}

/*
 * The tree.
 */

int64_t room_sum(const struct res *free)
{
    return free->amount[RES_CPU] + free->amount[RES_ACCEL] + free->amount[RES_MEM] * 1000 / 1024;
}

/* More than 4 GiB for each CPU that is free, or less. */
static uint32_t room_kind(const struct res *free)
{
    enum { MIB_PER_MILLI_CPU = 4 };

    return free->amount[RES_MEM] > free->amount[RES_CPU] * MIB_PER_MILLI_CPU;
}

static const struct room_place no_place = { INT64_MAX, UINT64_MAX };

static bool is_place(struct room_place at)
{
    return at.tie != UINT64_MAX;
}

static bool is_same_place(struct room_place a, struct room_place b)
{
    return a.key == b.key && a.tie == b.tie;
}

static void raise(struct res *most, const struct res *other)
{
    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (other->amount[kind] > most->amount[kind])
            most->amount[kind] = other->amount[kind];
    }
}

/* There is this room, too. */
static void add_room(struct room_most *most, const struct res *free)
{
    const int64_t sum = room_sum(free);

    raise(&most->most[room_kind(free)], free);
    if (sum > most->sum)
        most->sum = sum;
}

static struct room_most most_of_block(const struct room_block *block)
{
    struct room_most most = { .sum = INT64_MIN };

    for (uint32_t i = 0; i < ROOM_KINDS; i++) {
        for (int kind = 0; kind < RES_KINDS; kind++)
            most.most[i].amount[kind] = INT64_MIN;
    }
    for (uint32_t i = 0; block != NULL && i < block->count; i++)
        add_room(&most, &block->entries[i].free);
    return most;
}

/* Whether the most is the same without this room. */
static bool is_most_without(const struct room_most *most, const struct res *free)
{
    const struct res *kinds = &most->most[room_kind(free)];

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (free->amount[kind] == kinds->amount[kind])
            return false;
    }
    return room_sum(free) < most->sum;
}

static void join_most(struct room_most *most, uint32_t node)
{
    const struct room_most *high = &most[(size_t)node * 2 + 1];

    most[node] = most[(size_t)node * 2];
    for (uint32_t i = 0; i < ROOM_KINDS; i++)
        raise(&most[node].most[i], &high->most[i]);
    if (high->sum > most[node].sum)
        most[node].sum = high->sum;
}

static void join_low(struct room_place *low, uint32_t node)
{
    const struct room_place first = low[(size_t)node * 2];

    low[node] = is_place(first) ? first : low[(size_t)node * 2 + 1];
}

/* The first entry of the slot may be another one. */
static void update_low(struct room_order *order, uint32_t slot)
{
    const struct room_block *block = order->slots[slot];
    struct room_place *low = order->low;
    uint32_t node = order->leaves + slot;
    struct room_place old = low[node];

    low[node] = block != NULL ? block->entries[0].at : no_place;
    while (node > 1 && !is_same_place(old, low[node])) {
        node /= 2;
        old = low[node];
        join_low(low, node);
    }
}

/* The room of the slot is this from now on. */
static void set_most(struct room_order *order, uint32_t slot, const struct room_most *fresh)
{
    struct room_most *most = order->most;
    uint32_t node = order->leaves + slot;
    struct room_most old = most[node];

    most[node] = *fresh;
    while (node > 1 && memcmp(&old, &most[node], sizeof(old)) != 0) {
        node /= 2;
        old = most[node];
        join_most(most, node);
    }
}

/* The block of the slot has changed. */
static void update(struct room_order *order, uint32_t slot)
{
    update_low(order, slot);
    if (order->most == NULL)
        return;

    const struct room_most most = most_of_block(order->slots[slot]);

    set_most(order, slot, &most);
}

/* The block of the slot has one entry more. */
static void update_added(struct room_order *order, uint32_t slot, const struct res *free)
{
    update_low(order, slot);
    if (order->most == NULL)
        return;

    struct room_most most = order->most[order->leaves + slot];

    add_room(&most, free);
    set_most(order, slot, &most);
}

/* The block of the slot has one entry less. */
static void update_removed(struct room_order *order, uint32_t slot, const struct res *free)
{
    if (order->most == NULL || is_most_without(&order->most[order->leaves + slot], free))
        update_low(order, slot);
    else
        update(order, slot);
}

static void build_tree(struct room_order *order)
{
    for (uint32_t slot = 0; slot < order->leaves; slot++) {
        const struct room_block *block = order->slots[slot];

        order->low[order->leaves + slot] = block != NULL ? block->entries[0].at : no_place;
        if (order->most != NULL)
            order->most[order->leaves + slot] = most_of_block(block);
    }
    for (uint32_t node = order->leaves - 1; node >= 1; node--) {
        join_low(order->low, node);
        if (order->most != NULL)
            join_most(order->most, node);
    }
}

/* The last slot with a block that begins at 'at' or before; if there is none the first one with a block. */
static uint32_t slot_for(const struct room_order *order, struct room_place at)
{
    const struct room_place *low = order->low;
    uint32_t node = 1;

    assert(order->blocks > 0);
    while (node < order->leaves) {
        node *= 2;
        node += !room_place_before(at, low[node + 1]) || !is_place(low[node]);
    }
    return node - order->leaves;
}

/* The first entry of the block at 'at' or after it. */
static uint32_t index_for(const struct room_block *block, struct room_place at)
{
    uint32_t low = 0;
    uint32_t high = block->count;

    while (low < high) {
        const uint32_t middle = (low + high) / 2;

        if (room_place_before(block->entries[middle].at, at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Changing.
 */

/* Put the blocks, which are in order, into slots with gaps between them. */
static void spread_blocks(struct room_order *order, struct room_block **blocks, uint32_t count)
{
    uint32_t leaves = LEAVES_LEAST;

    while (leaves < count * 2)
        leaves *= 2;
    if (leaves != order->leaves) {
        drop(order, order->slots);
        drop(order, order->low);
        drop(order, order->most);
        order->slots = get(order, leaves, sizeof(struct room_block *));
        order->low = get(order, (size_t)leaves * 2, sizeof(*order->low));
        order->most = order->has_room ? get(order, (size_t)leaves * 2, sizeof(*order->most)) : NULL;
        order->leaves = leaves;
    }
    memset(order->slots, 0, leaves * sizeof(struct room_block *));
    for (uint32_t i = 0; i < count; i++)
        order->slots[(uint64_t)i * leaves / count] = blocks[i];
    build_tree(order);
}

void room_order_fill(struct room_order *order, const struct room_entry *entries, uint32_t count)
{
    const uint32_t needed = (count + FILL - 1) / FILL;

    if (order->leaves > 0)
        spare_blocks(order);

    struct room_block **blocks = get(order, needed, sizeof(struct room_block *));

    for (uint32_t i = 0; i < needed; i++) {
        const uint32_t begin = i * FILL;

        blocks[i] = take_block(order);
        blocks[i]->count = count - begin < FILL ? count - begin : FILL;
        memcpy(blocks[i]->entries, &entries[begin], blocks[i]->count * sizeof(*entries));
    }
    order->count = count;
    spread_blocks(order, blocks, needed);
    drop(order, blocks);
}

/* Spread all blocks again. */
static void respread(struct room_order *order)
{
    struct room_block **blocks = get(order, order->blocks, sizeof(struct room_block *));
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < order->leaves; slot++) {
        if (order->slots[slot] != NULL)
            blocks[count++] = order->slots[slot];
    }
    spread_blocks(order, blocks, count);
    drop(order, blocks);
}

/* The gap that is nearest to the slot, or UINT32_MAX if it is far away. */
static uint32_t nearest_gap(const struct room_order *order, uint32_t slot)
{
    for (uint32_t far = 1; far <= SHIFT_MAX; far++) {
        if (slot + far < order->leaves && order->slots[slot + far] == NULL)
            return slot + far;
        if (slot >= far && order->slots[slot - far] == NULL)
            return slot - far;
    }
    return UINT32_MAX;
}

/* Make a gap after the block of the slot. Returns where that block is now; the gap follows. */
static uint32_t make_gap(struct room_order *order, uint32_t slot)
{
    struct room_block **slots = order->slots;
    const uint32_t gap = nearest_gap(order, slot);

    if (gap == UINT32_MAX) {
        const struct room_place at = slots[slot]->entries[0].at;

        respread(order);
        return slot_for(order, at);
    }
    for (uint32_t i = gap; i > slot + 1; i--) {
        slots[i] = slots[i - 1];
        slots[i - 1] = NULL;
        update(order, i);
    }
    for (uint32_t i = gap; i < slot; i++) {
        slots[i] = slots[i + 1];
        slots[i + 1] = NULL;
        update(order, i);
    }
    return gap > slot ? slot : slot - 1;
}

/* The block of the slot is full: its second half goes into a block of its own. */
static void split(struct room_order *order, uint32_t slot)
{
    struct room_block *fresh = take_block(order);

    slot = make_gap(order, slot);

    struct room_block *block = order->slots[slot];
    const uint32_t half = block->count / 2;

    assert(order->slots[slot + 1] == NULL);
    fresh->count = block->count - half;
    memcpy(fresh->entries, &block->entries[half], fresh->count * sizeof(block->entries[0]));
    block->count = half;
    order->slots[slot + 1] = fresh;
    update(order, slot);
    update(order, slot + 1);
}

void room_order_insert(struct room_order *order, const struct room_entry *entry)
{
    if (order->blocks == 0) {
        room_order_fill(order, entry, 1);
        return;
    }

    uint32_t slot = slot_for(order, entry->at);

    if (order->slots[slot]->count == ROOM_BLOCK) {
        split(order, slot);
        slot = slot_for(order, entry->at);
    }

    struct room_block *block = order->slots[slot];
    const uint32_t at = index_for(block, entry->at);

    assert(at == block->count || room_place_before(entry->at, block->entries[at].at));
    memmove(&block->entries[at + 1], &block->entries[at],
            (block->count - at) * sizeof(block->entries[0]));
    block->entries[at] = *entry;
    block->count++;
    order->count++;
    update_added(order, slot, &entry->free);
}

/* Where the entry at the place is. */
static struct room_entry *entry_at(const struct room_order *order, struct room_place at,
                                   uint32_t *ret_slot)
{
    *ret_slot = slot_for(order, at);

    struct room_block *block = order->slots[*ret_slot];
    struct room_entry *entry = &block->entries[index_for(block, at)];

    assert(entry < &block->entries[block->count]);
    assert(entry->at.key == at.key && entry->at.tie == at.tie);
    return entry;
}

/* Blocks that have become nearly empty are put together. */
static void repack(struct room_order *order)
{
    struct room_entry *entries = get(order, order->count, sizeof(*entries));
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < order->leaves; slot++) {
        const struct room_block *block = order->slots[slot];

        if (block == NULL)
            continue;
        memcpy(&entries[count], block->entries, block->count * sizeof(*entries));
        count += block->count;
    }
    assert(count == order->count);
    room_order_fill(order, entries, count);
    drop(order, entries);
}

void room_order_remove(struct room_order *order, struct room_place at)
{
    uint32_t slot;
    struct room_entry *entry = entry_at(order, at, &slot);
    struct room_block *block = order->slots[slot];
    const struct res free = entry->free;

    block->count--;
    order->count--;
    memmove(entry, entry + 1, (size_t)(&block->entries[block->count] - entry) * sizeof(*entry));
    if (block->count == 0) {
        block->next = order->spare;
        order->spare = block;
        order->slots[slot] = NULL;
        order->blocks--;
    }
    update_removed(order, slot, &free);
    if (order->blocks > LEAVES_LEAST && order->count < order->blocks * (ROOM_BLOCK / 8))
        repack(order);
}

void room_order_set_free(struct room_order *order, struct room_place at, const struct res *free)
{
    uint32_t slot;
    struct room_entry *entry = entry_at(order, at, &slot);
    const struct res old = entry->free;

    entry->free = *free;
    if (order->most == NULL || is_most_without(&order->most[order->leaves + slot], &old))
        update_added(order, slot, free);
    else
        update(order, slot);
}

/*
 * Finding.
 */

const struct room_entry *room_order_next(const struct room_order *order, struct room_place from)
{
    if (order->blocks == 0)
        return NULL;

    uint32_t slot = slot_for(order, from);
    const uint32_t index = index_for(order->slots[slot], from);

    if (index < order->slots[slot]->count)
        return &order->slots[slot]->entries[index];

    /* The first block after this one: up until there is something to the right, then down. */
    uint32_t node = order->leaves + slot;

    while (node > 1 && (node % 2 == 1 || !is_place(order->low[node + 1])))
        node /= 2;
    if (node == 1)
        return NULL;
    node++;
    while (node < order->leaves)
        node = node * 2 + !is_place(order->low[(size_t)node * 2]);
    return &order->slots[node - order->leaves]->entries[0];
}

/* A node of the tree with the slots below it. */
struct span {
    uint32_t node;
    uint32_t from;
    uint32_t to;
};

/* The entry of the block that the query asks for, or NULL. */
static const struct room_entry *search_block(const struct room_block *block,
                                             const struct room_query *query, int64_t sum_above)
{
    const uint32_t begin = index_for(block, query->from);
    const uint32_t end = index_for(block, query->to);
    const struct room_entry *found = NULL;

    for (uint32_t i = begin; i < end; i++) {
        const struct room_entry *entry =
            &block->entries[query->walk == ROOM_LAST ? end - 1 - (i - begin) : i];

        if (!res_fits(&query->least, &entry->free) ||
            (query->walk == ROOM_MOST && room_sum(&entry->free) <= sum_above) ||
            !query->will_do(query->context, entry))
            continue;
        if (query->walk != ROOM_MOST)
            return entry;
        found = entry;
        sum_above = room_sum(&entry->free);
    }
    return found;
}

static bool may_hold(const struct room_most *most, const struct room_query *query,
                     int64_t sum_above)
{
    return (res_fits(&query->least, &most->most[0]) || res_fits(&query->least, &most->most[1])) &&
           (query->walk != ROOM_MOST || most->sum > sum_above);
}

const struct room_entry *room_order_search(const struct room_order *order,
                                           const struct room_query *query)
{
    struct span stack[STACK_DEPTH];
    uint32_t depth = 0;
    const struct room_entry *found = NULL;
    int64_t sum_above = query->sum_above;

    assert(order->has_room);
    if (order->blocks == 0 || !room_place_before(query->from, query->to) ||
        !room_place_before(order->low[1], query->to) ||
        !may_hold(&order->most[1], query, sum_above))
        return NULL;

    const uint32_t first = slot_for(order, query->from);
    const uint32_t last =
        query->to.key == MSEC_NEVER ? order->leaves - 1 : slot_for(order, query->to);

    stack[depth++] = (struct span){ .node = 1, .from = 0, .to = order->leaves };
    while (depth > 0) {
        const struct span span = stack[--depth];

        if (span.to <= first || span.from > last ||
            !may_hold(&order->most[span.node], query, sum_above))
            continue;
        if (span.to - span.from == 1) {
            const struct room_entry *here = search_block(order->slots[span.from], query, sum_above);

            if (here == NULL)
                continue;
            found = here;
            sum_above = room_sum(&here->free);
            if (query->walk != ROOM_MOST)
                return found;
            continue;
        }

        const uint32_t middle = span.from + (span.to - span.from) / 2;
        const struct span low = { span.node * 2, span.from, middle };
        const struct span high = { span.node * 2 + 1, middle, span.to };

        assert(depth + 2 <= STACK_DEPTH);
        stack[depth++] = query->walk == ROOM_LAST ? low : high;
        stack[depth++] = query->walk == ROOM_LAST ? high : low;
    }
    return found;
}
