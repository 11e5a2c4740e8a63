/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/runtime_bins.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decide/lease.h"
#include "learn/runtimes.h"

enum { STACK_DEPTH = 64 }; /* of a walk down the tree: two nodes a level, 32 levels */

msec_t runtime_of_task(const struct view *view, uint32_t task, enum runtime_rule rule)
{
    if (rule == RUNTIME_TOTAL)
        return runtime_expected(view->task.estimate_ms[task]);
    return runtime_remaining(view->task.estimate_ms[task], view_executed(view, task));
}

uint32_t runtime_bin(msec_t runtime)
{
    const uint64_t seconds = runtime > 0 ? (uint64_t)(runtime / MSEC_PER_SEC) : 0;

    return seconds == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(seconds);
}

/* One number for "how much room": CPUs, GiB and accelerators added up, in thousandths. */
static int64_t room_sum(const struct res *free)
{
    return free->amount[RES_CPU] + free->amount[RES_ACCEL] + free->amount[RES_MEM] * 1000 / 1024;
}

/*
 * The tree. Node 1 is the root, node n has the children 2n and 2n+1, leaf i is node leaves + i.
 */

static const struct runtime_room nothing = { .most = { { { -1, -1, -1 } }, { { -1, -1, -1 } } },
                                             .sum = INT64_MIN };

/* More than 4 GiB for each CPU that is free, or less. */
static uint32_t room_kind(const struct res *free)
{
    enum { MIB_PER_MILLI_CPU = 4 };

    return free->amount[RES_MEM] > free->amount[RES_CPU] * MIB_PER_MILLI_CPU;
}

static void set_leaf(struct runtime_bins *bins, uint32_t slot)
{
    const struct runtime_slot *at = &bins->slots[slot];
    struct runtime_room *leaf = &bins->tree[bins->leaves + slot];

    *leaf = nothing;
    if (at->instance != ROW_NONE) {
        leaf->most[room_kind(&at->free)] = at->free;
        leaf->sum = room_sum(&at->free);
    }
}

static void join(struct runtime_bins *bins, uint32_t node)
{
    const struct runtime_room *a = &bins->tree[(size_t)node * 2];
    const struct runtime_room *b = &bins->tree[(size_t)node * 2 + 1];
    struct runtime_room *up = &bins->tree[node];

    for (uint32_t i = 0; i < ROOM_KINDS; i++) {
        for (int kind = 0; kind < RES_KINDS; kind++) {
            const int64_t left = a->most[i].amount[kind];
            const int64_t right = b->most[i].amount[kind];

            up->most[i].amount[kind] = left > right ? left : right;
        }
    }
    up->sum = a->sum > b->sum ? a->sum : b->sum;
}

static void update(struct runtime_bins *bins, uint32_t slot)
{
    set_leaf(bins, slot);
    for (uint32_t node = (bins->leaves + slot) / 2; node >= 1; node /= 2)
        join(bins, node);
}

/*
 * Building.
 */

struct draft {
    msec_t runtime;
    uint32_t row; /* of the instance or task */
    bool is_task;
};

static int compare_drafts(const void *left, const void *right)
{
    const struct draft *a = left;
    const struct draft *b = right;

    if (a->runtime != b->runtime)
        return a->runtime < b->runtime ? -1 : 1;
    if (a->is_task != b->is_task)
        return a->is_task ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

static msec_t runtime_of_instance(const struct view *view, uint32_t instance,
                                  enum runtime_rule rule)
{
    msec_t longest = rule == RUNTIME_PAID ? lease_left(view, instance) : 0;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const msec_t runtime = runtime_of_task(view, task, rule);

        if (runtime > longest)
            longest = runtime;
    }
    return longest;
}

static uint32_t list_drafts(const struct view *view, enum runtime_rule rule, const uint32_t *tasks,
                            uint32_t count, struct draft *drafts)
{
    uint32_t used = 0;

    INSTANCE_EACH(instance, view)
    {
        if (view_is_open(view, instance))
            drafts[used++] = (struct draft){
                .runtime = runtime_of_instance(view, instance, rule),
                .row = instance,
            };
    }
    for (uint32_t i = 0; i < count; i++)
        drafts[used++] = (struct draft){
            .runtime = runtime_of_task(view, tasks[i], rule),
            .row = tasks[i],
            .is_task = true,
        };
    if (used > 0)
        qsort(drafts, used, sizeof(*drafts), compare_drafts);
    return used;
}

/* The first slot whose bin is 'bin' or more. */
static uint32_t bin_start(const struct runtime_bins *bins, uint32_t bin)
{
    uint32_t low = 0;
    uint32_t high = bins->slot_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (runtime_bin(bins->slots[middle].runtime) < bin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void runtime_bins_build(struct runtime_bins *bins, const struct view *view, enum runtime_rule rule,
                        const uint32_t *tasks, uint32_t count, struct arena *arena)
{
    struct draft *drafts = ARENA_ARRAY(arena, struct draft, view->instance.living + count);

    *bins = (struct runtime_bins){ .view = view, .arena = arena };
    spread_init(&bins->spread, arena);
    bins->slot_count = list_drafts(view, rule, tasks, count, drafts);
    bins->leaves = 1;
    while (bins->leaves < bins->slot_count)
        bins->leaves *= 2;
    bins->slots = ARENA_ARRAY(arena, struct runtime_slot, bins->slot_count);
    bins->tree = ARENA_ARRAY(arena, struct runtime_room, (size_t)bins->leaves * 2);
    bins->slot_of_instance = ARENA_ARRAY(arena, uint32_t, view->instance.count);
    bins->slot_of_task = ARENA_ARRAY(arena, uint32_t, view->task.count);
    bins->assigned = ARENA_ARRAY(arena, uint32_t, view->instance.count);
    for (uint32_t slot = 0; slot < bins->slot_count; slot++) {
        const struct draft *draft = &drafts[slot];

        bins->slots[slot] =
            (struct runtime_slot){ .runtime = draft->runtime, .instance = ROW_NONE };
        if (draft->is_task) {
            bins->slot_of_task[draft->row] = slot;
        } else {
            bins->slots[slot].instance = draft->row;
            bins->slots[slot].free = view_free(view, draft->row);
            bins->slot_of_instance[draft->row] = slot;
        }
        set_leaf(bins, slot);
    }
    for (uint32_t bin = 0; bin <= RUNTIME_BINS; bin++)
        bins->start[bin] = bin_start(bins, bin);
    for (uint32_t slot = bins->slot_count; slot < bins->leaves; slot++)
        bins->tree[bins->leaves + slot] = nothing;
    for (uint32_t node = bins->leaves - 1; node >= 1; node--)
        join(bins, node);
}

/*
 * Finding.
 */

enum walk { WALK_FIRST, WALK_LAST, WALK_MOST_ROOM };

struct query {
    uint32_t shape;
    uint32_t apart;   /* the job, if it is spread, else ROW_NONE */
    struct res least; /* what the shape takes at the least, in any family */
    uint32_t from;    /* slots [from, to) */
    uint32_t to;
    enum walk walk;
};

static bool slot_fits(const struct runtime_bins *bins, const struct query *query, uint32_t slot)
{
    const struct runtime_slot *at = &bins->slots[slot];

    if (at->instance == ROW_NONE)
        return false;

    const struct res *demand = view_shape_demand(bins->view, query->shape, at->instance);

    return demand != NULL && res_fits(demand, &at->free) &&
           (query->apart == ROW_NONE || (!view_job_is_on(bins->view, query->apart, at->instance) &&
                                         !spread_has(&bins->spread, query->apart, at->instance)));
}

/* A node of the tree with the slots below it. */
struct span {
    uint32_t node;
    uint32_t from;
    uint32_t to;
};

/* The first, last or roomiest slot of the range that holds the shape, or UINT32_MAX. */
static uint32_t search(const struct runtime_bins *bins, const struct query *query)
{
    struct span stack[STACK_DEPTH];
    uint32_t depth = 0;
    uint32_t found = UINT32_MAX;
    int64_t found_sum = INT64_MIN;

    stack[depth++] = (struct span){ .node = 1, .from = 0, .to = bins->leaves };
    while (depth > 0) {
        const struct span span = stack[--depth];
        const struct runtime_room *room = &bins->tree[span.node];

        if (span.to <= query->from || span.from >= query->to ||
            (!res_fits(&query->least, &room->most[0]) &&
             !res_fits(&query->least, &room->most[1])) ||
            (query->walk == WALK_MOST_ROOM && room->sum <= found_sum))
            continue;
        if (span.to - span.from == 1) {
            if (!slot_fits(bins, query, span.from))
                continue;
            if (query->walk != WALK_MOST_ROOM)
                return span.from;
            found = span.from;
            found_sum = room->sum;
            continue;
        }

        const uint32_t middle = span.from + (span.to - span.from) / 2;
        const struct span low = { span.node * 2, span.from, middle };
        const struct span high = { span.node * 2 + 1, middle, span.to };

        assert(depth + 2 <= STACK_DEPTH);
        stack[depth++] = query->walk == WALK_LAST ? low : high;
        stack[depth++] = query->walk == WALK_LAST ? high : low;
    }
    return found;
}

static struct res least_demand(const struct view *view, uint32_t shape)
{
    const struct shape *row = &view->shapes->rows[shape];
    struct res least = view->shapes->demands[row->demand_first].res;

    for (uint32_t i = 1; i < row->demand_count; i++) {
        const struct res *other = &view->shapes->demands[row->demand_first + i].res;

        for (int kind = 0; kind < RES_KINDS; kind++) {
            if (other->amount[kind] < least.amount[kind])
                least.amount[kind] = other->amount[kind];
        }
    }
    return least;
}

/* In the task's own bin, the instance whose end is closest to the task's. */
static uint32_t find_closest(const struct runtime_bins *bins, struct query query, uint32_t own_slot)
{
    const uint32_t from = query.from;
    const uint32_t to = query.to;
    const msec_t runtime = bins->slots[own_slot].runtime;

    query.from = own_slot;
    query.walk = WALK_FIRST;

    const uint32_t after = search(bins, &query);

    query.from = from;
    query.to = own_slot < to ? own_slot : to;
    query.walk = WALK_LAST;

    const uint32_t before = search(bins, &query);

    if (after == UINT32_MAX || before == UINT32_MAX)
        return after != UINT32_MAX ? after : before;
    return runtime - bins->slots[before].runtime <= bins->slots[after].runtime - runtime ? before
                                                                                         : after;
}

/* Bin by bin from 'bin' in the direction of 'step', the roomiest instance of the nearest bin. */
static uint32_t find_other_bin(const struct runtime_bins *bins, struct query query, uint32_t bin,
                               int step)
{
    query.walk = WALK_MOST_ROOM;
    for (;;) {
        /* Jump over bins that nobody is in. */
        if (step > 0) {
            const uint32_t next = bins->start[bin + 1];

            if (next == bins->slot_count)
                return UINT32_MAX;
            bin = runtime_bin(bins->slots[next].runtime);
        } else {
            const uint32_t start = bins->start[bin];

            if (start == 0)
                return UINT32_MAX;
            bin = runtime_bin(bins->slots[start - 1].runtime);
        }
        query.from = bins->start[bin];
        query.to = bins->start[bin + 1];

        const uint32_t slot = search(bins, &query);

        if (slot != UINT32_MAX)
            return slot;
    }
}

uint32_t runtime_bins_find_in(const struct runtime_bins *bins, uint32_t task,
                              enum plan_reason_code where)
{
    const uint32_t own = bins->slot_of_task[task];
    const uint32_t bin = runtime_bin(bins->slots[own].runtime);
    const uint32_t shape = bins->view->task.shape[task];
    const uint32_t job = bins->view->task.job[task];
    const struct query query = {
        .shape = shape,
        .apart = bins->view->job.spread[job] ? job : ROW_NONE,
        .least = least_demand(bins->view, shape),
        .from = bins->start[bin],
        .to = bins->start[bin + 1],
    };
    const uint32_t slot =
        where == REASON_SAME_BIN
            ? find_closest(bins, query, own)
            : find_other_bin(bins, query, bin, where == REASON_LONGER_BIN ? 1 : -1);

    return slot != UINT32_MAX ? bins->slots[slot].instance : ROW_NONE;
}

uint32_t runtime_bins_find(const struct runtime_bins *bins, uint32_t task,
                           enum plan_reason_code *ret_why)
{
    static const enum plan_reason_code order[] = { REASON_SAME_BIN, REASON_LONGER_BIN,
                                                   REASON_SHORTER_BIN };
    uint32_t found = ROW_NONE;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && found == ROW_NONE; i++) {
        *ret_why = order[i];
        found = runtime_bins_find_in(bins, task, order[i]);
    }
    return found;
}

msec_t runtime_bins_lasts(const struct runtime_bins *bins, uint32_t instance)
{
    return bins->slots[bins->slot_of_instance[instance]].runtime;
}

/*
 * Changing.
 */

static void log_change(struct runtime_bins *bins, uint32_t task, uint32_t instance)
{
    const uint32_t slot = bins->slot_of_instance[instance];

    if (bins->change_count == bins->change_room) {
        const uint32_t room = bins->change_room > 0 ? bins->change_room * 2 : 32;
        struct runtime_change *changes = ARENA_ARRAY(bins->arena, struct runtime_change, room);

        if (bins->change_count > 0)
            memcpy(changes, bins->changes, bins->change_count * sizeof(*changes));
        bins->changes = changes;
        bins->change_room = room;
    }
    bins->changes[bins->change_count++] = (struct runtime_change){
        .task = task,
        .instance = instance,
        .slot = slot,
        .assigned = bins->assigned[instance],
        .free = bins->slots[slot].free,
    };
}

static void move_to(struct runtime_bins *bins, uint32_t instance, uint32_t slot,
                    const struct res *free)
{
    const uint32_t old = bins->slot_of_instance[instance];

    if (old != slot) {
        bins->slots[old].instance = ROW_NONE;
        update(bins, old);
    }
    bins->slots[slot].instance = instance;
    bins->slots[slot].free = *free;
    bins->slot_of_instance[instance] = slot;
    update(bins, slot);
}

void runtime_bins_assign(struct runtime_bins *bins, uint32_t task, uint32_t instance)
{
    const uint32_t slot = bins->slot_of_instance[instance];
    const uint32_t own = bins->slot_of_task[task];
    const uint32_t job = bins->view->task.job[task];
    const struct res *demand = view_demand(bins->view, task, instance);
    struct res free = bins->slots[slot].free;

    assert(bins->slots[slot].instance == instance);
    assert(demand != NULL);
    assert(res_fits(demand, &free));
    log_change(bins, task, instance);
    if (bins->view->job.spread[job])
        spread_put(&bins->spread, job, instance);
    bins->assigned[instance]++;
    res_sub(&free, demand);
    move_to(bins, instance, bins->slots[own].runtime > bins->slots[slot].runtime ? own : slot,
            &free);
}

void runtime_bins_remove(struct runtime_bins *bins, uint32_t instance)
{
    const uint32_t slot = bins->slot_of_instance[instance];

    assert(bins->slots[slot].instance == instance);
    log_change(bins, ROW_NONE, instance);
    bins->slots[slot].instance = ROW_NONE;
    update(bins, slot);
}

struct res runtime_bins_free(const struct runtime_bins *bins, uint32_t instance)
{
    return bins->slots[bins->slot_of_instance[instance]].free;
}

void runtime_bins_mark(struct runtime_bins *bins)
{
    bins->change_count = 0;
}

void runtime_bins_rollback(struct runtime_bins *bins)
{
    while (bins->change_count > 0) {
        const struct runtime_change *change = &bins->changes[--bins->change_count];

        if (change->task != ROW_NONE && bins->view->job.spread[bins->view->task.job[change->task]])
            spread_drop(&bins->spread, bins->view->task.job[change->task], change->instance);
        bins->assigned[change->instance] = change->assigned;
        move_to(bins, change->instance, change->slot, &change->free);
    }
}
