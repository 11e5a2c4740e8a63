/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/runtime_bins.h"

#include <assert.h>
#include <string.h>

uint32_t runtime_bin(msec_t runtime)
{
    const uint64_t seconds = runtime > 0 ? (uint64_t)(runtime / MSEC_PER_SEC) : 0;

    return seconds == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(seconds);
}

/* The shortest runtime of the bin. */
static msec_t bin_start(uint32_t bin)
{
    if (bin == 0)
        return 0;
    return bin < RUNTIME_BINS ? ((msec_t)1 << (bin - 1)) * MSEC_PER_SEC : MSEC_NEVER;
}

void runtime_bins_begin(struct runtime_bins *bins, struct machine_index *index, struct arena *arena)
{
    *bins = (struct runtime_bins){ .view = index->view, .index = index, .arena = arena };
    spread_init(&bins->spread, bins->view, arena); /* the index may be one of these bins */
}

void runtime_bins_build(struct runtime_bins *bins, const struct view *view, enum runtime_rule rule,
                        struct arena *arena)
{
    machine_index_init(&bins->own, rule, false, arena);
    machine_index_absorb(&bins->own, view);

    const struct machine_index own = bins->own;

    runtime_bins_begin(bins, &bins->own, arena);
    bins->own = own;
}

/*
 * Finding. Places are given by how long machines last; 'shift' makes them those of one kind of line.
 */

struct query {
    const struct runtime_bins *bins;
    uint32_t shape;
    uint32_t apart;   /* of the task's job */
    struct res least; /* what the shape takes at the least, in any family */
};

/* A machine that was found, and how long it lasts. */
struct found {
    const struct room_entry *entry; /* or NULL */
    msec_t lasts;
};

static bool will_do(const void *context, const struct room_entry *entry)
{
    const struct query *query = context;
    const struct runtime_bins *bins = query->bins;
    const struct res *demand = view_shape_demand(bins->view, query->shape, entry->row);

    return demand != NULL && res_fits(demand, &entry->free) &&
           (query->apart == ROW_NONE || (!view_apart_is_on(bins->view, query->apart, entry->row) &&
                                         !spread_has(&bins->spread, query->apart, entry->row)));
}

/* Whether 'a' is to be taken rather than 'b'. */
static bool is_rather(enum room_walk walk, const struct found *a, const struct found *b)
{
    if (b->entry == NULL)
        return true;

    const struct room_place at_a = { a->lasts, a->entry->at.tie };
    const struct room_place at_b = { b->lasts, b->entry->at.tie };
    const int64_t sum_a = room_sum(&a->entry->free);
    const int64_t sum_b = room_sum(&b->entry->free);

    if (walk == ROOM_LAST)
        return room_place_before(at_b, at_a);
    if (walk == ROOM_MOST && sum_a != sum_b)
        return sum_a > sum_b;
    return room_place_before(at_a, at_b);
}

/* The first, last or roomiest machine from 'from' to 'to' that holds the shape. */
static struct found search(const struct query *query, enum room_walk walk, struct room_place from,
                           struct room_place to)
{
    const struct machine_index *index = query->bins->index;
    struct found found = { NULL, 0 };

    for (enum machine_line line = 0; line < LINES; line++) {
        const msec_t shift = line_shift(line, index->view->now);
        const struct room_query in_line = {
            .walk = walk,
            .from = { from.key - shift, from.tie },
            .to = { to.key == MSEC_NEVER ? MSEC_NEVER : to.key - shift, to.tie },
            .least = query->least,
            .sum_above = walk == ROOM_MOST && found.entry != NULL ? room_sum(&found.entry->free) - 1
                                                                  : INT64_MIN,
            .will_do = will_do,
            .context = query,
        };
        struct found here = { .entry = room_order_search(&index->busy[line], &in_line) };

        if (here.entry == NULL)
            continue;
        here.lasts = here.entry->at.key + shift;
        if (is_rather(walk, &here, &found))
            found = here;
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

/* Where a machine would be that is promoted by the task: behind all others that last as long. */
static struct room_place place_of_task(uint32_t task, msec_t runtime)
{
    return (struct room_place){ runtime, (uint64_t)1 << 32 | task };
}

/* In the task's own bin, the instance whose end is closest to the task's. */
static struct found find_closest(const struct query *query, uint32_t task, msec_t runtime)
{
    const uint32_t bin = runtime_bin(runtime);
    const struct room_place own = place_of_task(task, runtime);
    const struct room_place from = { bin_start(bin), 0 };
    const struct room_place to = { bin_start(bin + 1), 0 };
    const struct found after = search(query, ROOM_FIRST, own, to);
    const struct found before = search(query, ROOM_LAST, from, own);

    if (after.entry == NULL || before.entry == NULL)
        return after.entry != NULL ? after : before;
    return runtime - before.lasts <= after.lasts - runtime ? before : after;
}

/* The roomiest instance of the nearest bin that is longer, or shorter, and holds the shape. */
static struct found find_other_bin(const struct query *query, msec_t runtime, bool longer)
{
    const uint32_t own = runtime_bin(runtime);
    const struct room_place least = { 0, 0 };
    const struct room_place most = { MSEC_NEVER, 0 };
    const struct room_place below = { bin_start(own), 0 };
    const struct room_place above = { bin_start(own + 1), 0 };
    const struct found nearest =
        longer ? search(query, ROOM_FIRST, above, most) : search(query, ROOM_LAST, least, below);

    if (nearest.entry == NULL)
        return nearest;

    const uint32_t bin = runtime_bin(nearest.lasts);

    return search(query, ROOM_MOST, (struct room_place){ bin_start(bin), 0 },
                  (struct room_place){ bin_start(bin + 1), 0 });
}

uint32_t runtime_bins_find_in(const struct runtime_bins *bins, uint32_t task,
                              enum plan_reason_code where)
{
    const msec_t runtime = runtime_of_task(bins->view, task, bins->index->rule);
    const uint32_t shape = bins->view->task.shape[task];
    const struct query query = {
        .bins = bins,
        .shape = shape,
        .apart = bins->view->job.apart[bins->view->task.job[task]],
        .least = least_demand(bins->view, shape),
    };
    const struct found found = where == REASON_SAME_BIN
                                   ? find_closest(&query, task, runtime)
                                   : find_other_bin(&query, runtime, where == REASON_LONGER_BIN);

    return found.entry != NULL ? found.entry->row : ROW_NONE;
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
    return machine_lasts(bins->index, instance);
}

/*
 * Changing.
 */

static void log_change(struct runtime_bins *bins, uint32_t task, uint32_t instance)
{
    const struct machine *machine = &bins->index->machines[instance];

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
        .assigned = machine->assigned,
        .line = machine->line,
        .busy = machine->busy,
        .free = machine->free,
    };
}

/* The machine is there from now on, with that room. */
static void move_to(struct runtime_bins *bins, uint32_t instance, enum machine_line line,
                    struct room_place busy, const struct res *free)
{
    struct machine *machine = &bins->index->machines[instance];
    struct room_order *order = bins->index->busy;

    machine->free = *free;
    if (!machine->is_out && machine->line == line && machine->busy.key == busy.key &&
        machine->busy.tie == busy.tie) {
        room_order_set_free(&order[line], busy, free);
        return;
    }
    if (!machine->is_out)
        room_order_remove(&order[machine->line], machine->busy);
    machine->line = (uint8_t)line;
    machine->busy = busy;
    machine->is_out = false;
    room_order_insert(&order[line],
                      &(struct room_entry){ .at = busy, .free = *free, .row = instance });
}

void runtime_bins_assign(struct runtime_bins *bins, uint32_t task, uint32_t instance)
{
    struct machine *machine = &bins->index->machines[instance];
    const uint32_t apart = bins->view->job.apart[bins->view->task.job[task]];
    const msec_t runtime = runtime_of_task(bins->view, task, bins->index->rule);
    const struct res *demand = view_demand(bins->view, task, instance);
    struct res free = machine->free;

    assert(machine->is_open && !machine->is_out);
    assert(demand != NULL);
    assert(res_fits(demand, &free));
    log_change(bins, task, instance);
    if (apart != ROW_NONE)
        spread_put(&bins->spread, apart, instance);
    machine->assigned++;
    res_sub(&free, demand);
    if (runtime > machine_lasts(bins->index, instance))
        move_to(bins, instance, LINE_STILL, place_of_task(task, runtime), &free);
    else
        move_to(bins, instance, machine->line, machine->busy, &free);
}

void runtime_bins_remove(struct runtime_bins *bins, uint32_t instance)
{
    struct machine *machine = &bins->index->machines[instance];

    assert(machine->is_open && !machine->is_out);
    log_change(bins, ROW_NONE, instance);
    room_order_remove(&bins->index->busy[machine->line], machine->busy);
    machine->is_out = true;
}

struct res runtime_bins_free(const struct runtime_bins *bins, uint32_t instance)
{
    return bins->index->machines[instance].free;
}

void runtime_bins_mark(struct runtime_bins *bins)
{
    bins->mark = bins->change_count;
}

void runtime_bins_rollback(struct runtime_bins *bins)
{
    while (bins->change_count > bins->mark) {
        const struct runtime_change *change = &bins->changes[--bins->change_count];

        const uint32_t apart = change->task != ROW_NONE
                                   ? bins->view->job.apart[bins->view->task.job[change->task]]
                                   : ROW_NONE;

        if (apart != ROW_NONE)
            spread_drop(&bins->spread, apart, change->instance);
        bins->index->machines[change->instance].assigned = change->assigned;
        move_to(bins, change->instance, change->line, change->busy, &change->free);
    }
}

void runtime_bins_end(struct runtime_bins *bins)
{
    bins->mark = 0;
    runtime_bins_rollback(bins);
}
