/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_index.h - the open machines of a view, in the orders that decisions ask for.
 *
 * How long a machine will be busy changes with every millisecond, but the order of machines seldom does. What is
 * expected of a task is one of three lines over time:
 *
 *     END:    it ends at a moment that is known; what is left shrinks as time goes;
 *     STILL:  it has not started, or has no end: what is left stays the same;
 *     OLD:    it has outlived its estimate; what is left is as much as it has run (the half-life rule), and grows.
 *
 * On each kind of line, 'key + a time that is the same for all' is what is left: so the order by key does not
 * change as time goes. A machine is busy for as long as the longest of its tasks, or as it is paid for. At which
 * moment another of its lines becomes the longest is known beforehand: then it is looked at again, and when the
 * view's log says that it changed. All other machines are left alone.
 *
 * Orders:    busy: by how long machines are busy, with their room; ends: by the first end of a task on each kind of
 *            line; under: by when they began to be used by less than half; and a list of those of each offer.
 * Promises:  what an index answers depends on the view alone: one that was kept is equal to a fresh one.
 * Costs:     O(machines log machines + tasks) to build; then O(log machines + tasks there) for each machine that
 *            changed or whose line did.
 * Memory:    the arena's that it was given, or its own.
 */
#ifndef STINT_DECIDE_MACHINE_INDEX_H
#define STINT_DECIDE_MACHINE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "decide/room_order.h"
#include "model/view.h"

enum runtime_rule {
    RUNTIME_REMAINING, /* what is left, by the half-life rule where the estimate has passed */
    RUNTIME_TOTAL,     /* the whole runtime, as if it had just started */
    RUNTIME_PAID,      /* what is left; and an instance lasts at least as long as it is paid for */
};

/* How long the task is expected to go on. */
msec_t runtime_of_task(const struct view *view, uint32_t task, enum runtime_rule rule);

/* Kinds of lines; of two that meet the later one stays above. */
enum machine_line { LINE_END, LINE_STILL, LINE_OLD, LINES };

/* What is added to the key of a line to get what is left at 'now'. */
static inline msec_t line_shift(enum machine_line line, msec_t now)
{
    return line == LINE_END ? -now : line == LINE_OLD ? now : 0;
}

/* What a plan in the making does with a machine. */
enum machine_use {
    USE_NONE,
    USE_LEFT,     /* its work goes elsewhere */
    USE_EXPECTED, /* somebody waits for room there */
    USE_PLACED,   /* it has got work */
};

struct machine {
    struct res free;
    struct room_place
        busy;          /* the longest of its lines; the tie is its row, but see runtime_bins.c */
    uint8_t line;      /* enum machine_line */
    bool is_open;      /* else it is nowhere */
    bool is_out;       /* of the busy ones, for as long as a decision takes */
    bool is_listed;    /* among those of its offer */
    uint32_t assigned; /* tasks that a decision gave it */
    msec_t first_end[LINES]; /* of its tasks; MSEC_NEVER: none */
    msec_t due;              /* when another line will be the longest, at the earliest */
    msec_t under_since;      /* MSEC_NEVER: it is not under-used, or has to stay as it is */
    msec_t since;            /* its first task runs; MSEC_NEVER: not all of them do */
    uint32_t offer;          /* whose list it is in */
    uint32_t next;           /* there */
    uint32_t prev;
    uint32_t seen; /* the last absorption that looked at it */
};

struct machine_index {
    const struct view *view;
    struct arena *arena; /* NULL: memory is its own */
    enum runtime_rule rule;
    bool is_full;             /* else only the busy ones are in order */
    struct machine *machines; /* per row */
    uint32_t count;
    uint32_t room;
    struct room_order busy[LINES];
    struct room_order ends[LINES];
    struct room_order due;
    struct room_order under;
    uint32_t *of_offer; /* per offer: the first of its machines that have work which may be moved */
    uint32_t *offer_used; /* and how many there are */
    uint32_t offer_count;
    uint64_t read; /* of the view's log */
    uint32_t absorbed;
};

/* An index of nothing. */
void machine_index_init(struct machine_index *index, enum runtime_rule rule, bool is_full,
                        struct arena *arena);
void machine_index_done(struct machine_index *index);

/* Bring it up to the view's state. It is the view of the last time, or everything is built again. */
void machine_index_absorb(struct machine_index *index, const struct view *view);

/* How long the machine is busy, or paid for. */
static inline msec_t machine_lasts(const struct machine_index *index, uint32_t instance)
{
    const struct machine *machine = &index->machines[instance];

    return machine->busy.key + line_shift(machine->line, index->view->now);
}

/* Compare with an index that is built again; for tests. */
void machine_index_check(const struct machine_index *index);

#endif
