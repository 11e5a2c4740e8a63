/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/machine_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/lease.h"
#include "learn/runtimes.h"

msec_t runtime_of_task(const struct view *view, uint32_t task, enum runtime_rule rule)
{
    if (rule == RUNTIME_TOTAL)
        return runtime_expected(view->task.estimate_ms[task]);
    return runtime_remaining(view->task.estimate_ms[task], view_progress(view, task));
}

/*
 * Lines.
 */

struct line {
    enum machine_line kind;
    msec_t key;
    msec_t until; /* then it becomes another one; MSEC_NEVER: it does not */
};

/* Of a task that runs and will end. */
static struct line line_of_running(const struct view *view, uint32_t task)
{
    const msec_t estimate = view->task.estimate_ms[task];
    const msec_t from =
        view->task.launched_at[task] - view->task.executed_ms[task] + view->task.lost_ms[task];
    const msec_t ran = view->now - from;

    assert(ran >= 0);
    if (ran < estimate && estimate - ran > RUNTIME_HORIZON_MS)
        return (struct line){ LINE_STILL, RUNTIME_HORIZON_MS,
                              view->now + (estimate - ran - RUNTIME_HORIZON_MS) };
    if (ran < estimate)
        return (struct line){ LINE_END, from + estimate, from + estimate };
    if (ran == 0)
        return (struct line){ LINE_STILL, 1, view->now + 1 };
    if (ran >= RUNTIME_HORIZON_MS)
        return (struct line){ LINE_STILL, RUNTIME_HORIZON_MS, MSEC_NEVER };
    return (struct line){ LINE_OLD, -from, from + RUNTIME_HORIZON_MS };
}

static struct line line_of_task(const struct view *view, uint32_t task, enum runtime_rule rule)
{
    if (rule == RUNTIME_TOTAL || view->task.launched_at[task] < 0 ||
        view->task.estimate_ms[task] == MSEC_NEVER)
        return (struct line){ LINE_STILL, runtime_of_task(view, task, rule), MSEC_NEVER };
    return line_of_running(view, task);
}

/* Of the time that is paid for. */
static struct line line_of_lease(const struct view *view, uint32_t instance)
{
    const msec_t end = view->now + lease_left(view, instance);

    if (view->instance.billed_from[instance] >= 0)
        return (struct line){ LINE_END, end, end };

    const struct machine_type *type =
        catalogue_type_of(view->catalogue, view->instance.offer[instance]);
    const msec_t begin = view->instance.ready_expected[instance] - type->setup_ms;

    if (begin > view->now)
        return (struct line){ LINE_END, end, begin };
    return (struct line){ LINE_STILL, end - view->now, MSEC_NEVER };
}

/* The longest line of each kind. */
struct lines {
    bool has[LINES];
    msec_t key[LINES];
    msec_t until; /* the first change of any */
};

static void add_line(struct lines *lines, struct line line)
{
    if (!lines->has[line.kind] || line.key > lines->key[line.kind])
        lines->key[line.kind] = line.key;
    lines->has[line.kind] = true;
    if (line.until < lines->until)
        lines->until = line.until;
}

static enum machine_line longest_of(const struct lines *lines, msec_t now)
{
    enum machine_line longest = LINES;

    for (enum machine_line kind = 0; kind < LINES; kind++) {
        if (lines->has[kind] &&
            (longest == LINES || lines->key[kind] + line_shift(kind, now) >=
                                     lines->key[longest] + line_shift(longest, now)))
            longest = kind;
    }
    return longest;
}

/* When the line meets one that grows faster. */
static msec_t meeting(const struct lines *lines, enum machine_line longest,
                      enum machine_line faster)
{
    const msec_t apart = lines->key[longest] - lines->key[faster];
    const bool by_two = longest == LINE_END && faster == LINE_OLD;

    return by_two ? (apart + 1) / 2 : apart;
}

/* When the lease, which is paid in steps, may be the longest line with its next step, at the earliest. */
static msec_t next_lease(const struct view *view, uint32_t instance, const struct lines *lines,
                         enum machine_line longest)
{
    const struct offer *offer = &view->catalogue->offers[view->instance.offer[instance]];
    const msec_t step = offer->billing.step_ms;
    const msec_t from = view->instance.billed_from[instance];
    const msec_t paid = view->now - from + lease_left(view, instance);
    const msec_t next = from + paid / step * step; /* the least that is paid may end later */
    const msec_t then = lines->key[longest] + line_shift(longest, next);

    if (then <= step)
        return next;
    return longest == LINE_END ? next + (then - step + step - 1) / step * step : MSEC_NEVER;
}

static bool is_paid_in_steps(const struct machine_index *index, uint32_t instance)
{
    return index->rule == RUNTIME_PAID && index->view->instance.billed_from[instance] >= 0;
}

/* How long the instance is busy, and when that has to be looked at again. */
static void measure_busy(const struct machine_index *index, uint32_t instance,
                         const struct lines *tasks, struct machine *ret)
{
    const struct view *view = index->view;
    struct lines lines = *tasks;
    msec_t due;

    if (index->rule == RUNTIME_PAID) {
        const struct line lease = line_of_lease(view, instance);
        const msec_t until = lines.until;

        add_line(&lines, lease);
        if (is_paid_in_steps(index, instance))
            lines.until = until; /* of the steps below */
    }
    if (!lines.has[LINE_END] && !lines.has[LINE_STILL] && !lines.has[LINE_OLD])
        add_line(&lines, (struct line){ LINE_STILL, 0, MSEC_NEVER });

    const enum machine_line longest = longest_of(&lines, view->now);

    due = lines.until;
    for (enum machine_line faster = longest + 1; faster < LINES; faster++) {
        if (lines.has[faster] && meeting(&lines, longest, faster) < due)
            due = meeting(&lines, longest, faster);
    }
    if (is_paid_in_steps(index, instance)) {
        const msec_t lease = next_lease(view, instance, &lines, longest);

        due = lease < due ? lease : due;
    }
    ret->line = (uint8_t)longest;
    ret->busy = (struct room_place){ lines.key[longest], instance };
    ret->due = due;
}

/* Whether what is on the instance may be moved at all. */
static bool may_move(const struct view *view, uint32_t instance)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->job.fixed[view->task.job[task]])
            return false;
    }
    return view->instance.task_count[instance] > 0;
}

/* What is to be known of an instance. */
static struct machine measure(const struct machine_index *index, uint32_t instance)
{
    const struct view *view = index->view;
    struct lines longest = { .until = MSEC_NEVER };
    struct machine machine = {
        .free = view_free(view, instance),
        .is_open = true,
        .first_end = { MSEC_NEVER, MSEC_NEVER, MSEC_NEVER },
        .under_since = MSEC_NEVER,
        .since = view->instance.task_count[instance] > 0 ? view->now : MSEC_NEVER,
        .offer = view->instance.offer[instance],
    };

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const struct line line = line_of_task(view, task, index->rule);

        add_line(&longest, line);
        if (line.key < machine.first_end[line.kind])
            machine.first_end[line.kind] = line.key;
        if (view->task.launched_at[task] < 0)
            machine.since = MSEC_NEVER;
        else if (machine.since != MSEC_NEVER && view->task.launched_at[task] < machine.since)
            machine.since = view->task.launched_at[task];
    }
    measure_busy(index, instance, &longest, &machine);
    if (index->is_full && may_move(view, instance)) {
        machine.under_since = view->instance.under_half_since[instance];
        machine.is_listed = true;
    }
    return machine;
}

/*
 * The index.
 */

enum { ORDERS = 2 * LINES + 2 };

/* All orders, those first that every index has. */
static struct room_order *order_of(struct machine_index *index, uint32_t i)
{
    if (i < LINES)
        return &index->busy[i];
    if (i < 2 * LINES)
        return &index->ends[i - LINES];
    return i == 2 * LINES ? &index->due : &index->under;
}

/* Where the machine is in that order; false: it is not. */
static bool place_in(const struct machine *machine, uint32_t row, uint32_t i,
                     struct room_place *ret)
{
    *ret = (struct room_place){ .tie = row };
    if (!machine->is_open)
        return false;
    if (i < LINES) {
        *ret = machine->busy;
        return machine->line == i;
    }
    if (i < 2 * LINES)
        ret->key = machine->first_end[i - LINES];
    else
        ret->key = i == 2 * LINES ? machine->due : machine->under_since;
    return ret->key != MSEC_NEVER;
}

static uint32_t orders_of(const struct machine_index *index)
{
    return index->is_full ? ORDERS : LINES;
}

void machine_index_init(struct machine_index *index, enum runtime_rule rule, bool is_full,
                        struct arena *arena)
{
    *index = (struct machine_index){ .rule = rule, .is_full = is_full, .arena = arena };
    for (uint32_t i = 0; i < ORDERS; i++)
        room_order_init(order_of(index, i), i < LINES, arena);
}

void machine_index_done(struct machine_index *index)
{
    for (uint32_t i = 0; i < ORDERS; i++)
        room_order_done(order_of(index, i));
    if (index->arena == NULL) {
        mem_free(index->machines);
        mem_free(index->of_offer);
        mem_free(index->offer_used);
    }
    machine_index_init(index, index->rule, index->is_full, index->arena);
}

static void unlist(struct machine_index *index, uint32_t instance)
{
    const struct machine *machine = &index->machines[instance];

    if (machine->prev != ROW_NONE)
        index->machines[machine->prev].next = machine->next;
    else
        index->of_offer[machine->offer] = machine->next;
    if (machine->next != ROW_NONE)
        index->machines[machine->next].prev = machine->prev;
    index->offer_used[machine->offer]--;
}

static void enlist(struct machine_index *index, uint32_t instance)
{
    struct machine *machine = &index->machines[instance];

    machine->prev = ROW_NONE;
    machine->next = index->of_offer[machine->offer];
    if (machine->next != ROW_NONE)
        index->machines[machine->next].prev = instance;
    index->of_offer[machine->offer] = instance;
    index->offer_used[machine->offer]++;
}

/* Put the machine where it belongs in one of the orders. */
static void move_in(struct machine_index *index, uint32_t i, uint32_t row,
                    const struct machine *old, const struct machine *fresh)
{
    struct room_order *order = order_of(index, i);
    struct room_entry entry = { .row = row };
    struct room_place before;
    const bool was = place_in(old, row, i, &before);
    const bool is = place_in(fresh, row, i, &entry.at);

    if (i < LINES)
        entry.free = fresh->free;
    if (was && is && before.key == entry.at.key) {
        if (i < LINES && memcmp(&old->free, &fresh->free, sizeof(old->free)) != 0)
            room_order_set_free(order, before, &fresh->free);
        return;
    }
    if (was)
        room_order_remove(order, before);
    if (is)
        room_order_insert(order, &entry);
}

/* Look at the instance again. */
static void refresh(struct machine_index *index, uint32_t row)
{
    const struct machine old = index->machines[row];
    struct machine fresh = { .is_open = false };

    assert(!old.is_out);
    assert(old.assigned == 0);
    if (view_is_open(index->view, row))
        fresh = measure(index, row);
    fresh.seen = old.seen;
    if (old.is_listed)
        unlist(index, row);
    for (uint32_t i = 0; i < orders_of(index); i++)
        move_in(index, i, row, &old, &fresh);
    index->machines[row] = fresh;
    if (fresh.is_listed)
        enlist(index, row);
}

static int compare_entries(const void *left, const void *right)
{
    const struct room_entry *a = left;
    const struct room_entry *b = right;

    return room_place_before(a->at, b->at) ? -1 : room_place_before(b->at, a->at);
}

static void fill_order(struct machine_index *index, uint32_t i, struct room_entry *entries)
{
    uint32_t count = 0;

    for (uint32_t row = 0; row < index->count; row++) {
        struct room_entry entry = { .row = row };

        if (!place_in(&index->machines[row], row, i, &entry.at))
            continue;
        if (i < LINES)
            entry.free = index->machines[row].free;
        entries[count++] = entry;
    }
    if (count > 0)
        qsort(entries, count, sizeof(*entries), compare_entries);
    room_order_fill(order_of(index, i), entries, count);
}

static void *get(const struct machine_index *index, size_t count, size_t size)
{
    return index->arena != NULL ? arena_alloc(index->arena, count, size) : mem_alloc(count, size);
}

static void build(struct machine_index *index, const struct view *view)
{
    machine_index_done(index);
    index->view = view;
    index->read = view_changes_end(view);
    index->count = view->instance.count;
    index->room = index->count;
    index->machines = get(index, index->count, sizeof(*index->machines));
    index->offer_count = view->catalogue->offer_count;
    if (index->is_full) {
        index->of_offer = get(index, index->offer_count, sizeof(uint32_t));
        index->offer_used = get(index, index->offer_count, sizeof(uint32_t));
        memset(index->of_offer, 0xff, index->offer_count * sizeof(uint32_t));
    }
    INSTANCE_EACH(row, view)
    {
        if (!view_is_open(view, row))
            continue;
        index->machines[row] = measure(index, row);
        if (index->machines[row].is_listed)
            enlist(index, row);
    }

    struct room_entry *entries = get(index, view->instance.living, sizeof(*entries));

    for (uint32_t i = 0; i < orders_of(index); i++)
        fill_order(index, i, entries);
    if (index->arena == NULL)
        mem_free(entries);
}

/* Room for rows that are new. */
static void make_room(struct machine_index *index)
{
    const uint32_t count = index->view->instance.count;

    if (count <= index->count)
        return;
    MEM_ROOM(index->machines, index->room, count);
    memset(&index->machines[index->count], 0, (count - index->count) * sizeof(*index->machines));
    index->count = count;
}

static void read_log(struct machine_index *index)
{
    const struct change_log *log = &index->view->changes;

    index->absorbed++;
    for (uint64_t i = index->read - log->begin; i < log->count; i++) {
        const uint32_t row = log->rows[i];

        if (index->machines[row].seen == index->absorbed)
            continue;
        index->machines[row].seen = index->absorbed;
        refresh(index, row);
    }
    index->read = view_changes_end(index->view);
}

/* Machines of which another line is the longest by now. */
static void follow_lines(struct machine_index *index)
{
    const struct room_entry *entry;

    while ((entry = room_order_next(&index->due, (struct room_place){ INT64_MIN, 0 })) != NULL &&
           entry->at.key <= index->view->now) {
        const uint32_t row = entry->row;

        refresh(index, row);
        assert(index->machines[row].due > index->view->now);
    }
}

void machine_index_absorb(struct machine_index *index, const struct view *view)
{
    assert(index->is_full || index->arena != NULL); /* without 'due' it cannot be kept */
    if (index->view != view || index->arena != NULL || index->read < view->changes.begin ||
        index->read > view_changes_end(view) ||
        index->offer_count != view->catalogue->offer_count) {
        build(index, view);
        return;
    }
    make_room(index);
    read_log(index);
    follow_lines(index);
}

/*
 * Checking.
 */

static void check_order(const struct room_order *mine, const struct room_order *other)
{
    struct room_place at = { INT64_MIN, 0 };

    assert(mine->count == other->count);
    for (uint32_t i = 0; i < mine->count; i++) {
        const struct room_entry *a = room_order_next(mine, at);
        const struct room_entry *b = room_order_next(other, at);

        assert(a != NULL && b != NULL);
        assert(a->at.key == b->at.key && a->at.tie == b->at.tie && a->row == b->row);
        assert(memcmp(&a->free, &b->free, sizeof(a->free)) == 0);
        at = (struct room_place){ a->at.key, a->at.tie + 1 };
    }
    assert(room_order_next(mine, at) == NULL);
}

void machine_index_check(const struct machine_index *index)
{
    struct machine_index kept = *index;
    struct machine_index fresh;

    machine_index_init(&fresh, index->rule, index->is_full, NULL);
    build(&fresh, index->view);
    for (uint32_t row = 0; row < fresh.count; row++) {
        const bool is_open = row < kept.count && kept.machines[row].is_open;

        assert(is_open == fresh.machines[row].is_open);
        assert(!is_open || machine_lasts(&kept, row) == machine_lasts(&fresh, row));
        assert(!is_open || kept.machines[row].since == fresh.machines[row].since);
    }
    for (uint32_t i = LINES; i < orders_of(index); i++) {
        if (i != 2 * LINES) /* when to look again may have been known better before */
            check_order(order_of(&kept, i), order_of(&fresh, i));
    }
    for (uint32_t i = 0; i < index->offer_count; i++)
        assert(kept.offer_used[i] == fresh.offer_used[i]);
    machine_index_done(&fresh);
}
