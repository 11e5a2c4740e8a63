/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - virtual time: a queue of what will happen.
 *
 * Promises:  events come out by time, then rank, then in the order they went in; nothing else.
 * Costs:     O(log n) to add and to take, O(n) to sweep; 40 bytes an event.
 */
#ifndef STINT_SIM_TIMELINE_H
#define STINT_SIM_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

struct timeline_event {
    msec_t at;
    uint64_t order; /* set by timeline_add */
    uint32_t rank;  /* among events of one moment, lower first */
    uint32_t kind;
    uint32_t who;   /* a row, by kind */
    uint32_t epoch; /* to tell events that are void by now */
    uint64_t id;
};

struct timeline {
    struct timeline_event *heap;
    uint32_t count;
    uint32_t room;
    uint64_t next_order;
};

void timeline_init(struct timeline *timeline);
void timeline_done(struct timeline *timeline);

/* Forget all events, keep the memory. */
void timeline_reset(struct timeline *timeline);

void timeline_add(struct timeline *timeline, struct timeline_event event);

/* Take out all events that 'is_void' says nobody waits for any more; the others come as before. */
void timeline_sweep(struct timeline *timeline,
                    bool (*is_void)(const void *context, const struct timeline_event *event),
                    const void *context);

/* The first event, or NULL. */
const struct timeline_event *timeline_first(const struct timeline *timeline);

/* Take the first event; there is one. */
struct timeline_event timeline_take(struct timeline *timeline);

/* Whether something at 'at' with 'rank' comes before the first event. */
bool timeline_precedes(const struct timeline *timeline, msec_t at, uint32_t rank);

#endif
