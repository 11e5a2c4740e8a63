/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/timeline.h"

#include <assert.h>
#include <stddef.h>

#include "base/mem.h"

enum { ARITY = 4 }; /* children of a node: shallower than two, and they share a cache line or two */

void timeline_init(struct timeline *timeline)
{
    *timeline = (struct timeline){ 0 };
}

void timeline_done(struct timeline *timeline)
{
    mem_free(timeline->heap);
    timeline_init(timeline);
}

void timeline_reset(struct timeline *timeline)
{
    timeline->count = 0;
}

static bool is_before(const struct timeline_event *a, const struct timeline_event *b)
{
    if (a->at != b->at)
        return a->at < b->at;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->order < b->order;
}

void timeline_add(struct timeline *timeline, struct timeline_event event)
{
    uint32_t hole = timeline->count++;

    event.order = timeline->next_order++;
    MEM_ROOM(timeline->heap, timeline->room, timeline->count);
    while (hole > 0) {
        const uint32_t parent = (hole - 1) / ARITY;

        if (!is_before(&event, &timeline->heap[parent]))
            break;
        timeline->heap[hole] = timeline->heap[parent];
        hole = parent;
    }
    timeline->heap[hole] = event;
}

const struct timeline_event *timeline_first(const struct timeline *timeline)
{
    return timeline->count > 0 ? &timeline->heap[0] : NULL;
}

static uint32_t first_child(const struct timeline *timeline, uint32_t node)
{
    const uint32_t begin = node * ARITY + 1;
    const uint32_t end = begin + ARITY < timeline->count ? begin + ARITY : timeline->count;
    uint32_t best = begin;

    for (uint32_t child = begin + 1; child < end; child++) {
        if (is_before(&timeline->heap[child], &timeline->heap[best]))
            best = child;
    }
    return best;
}

/* Put the event into the hole, or below it: to where it is before its children. */
static void sink(struct timeline *timeline, uint32_t hole, struct timeline_event event)
{
    while (hole * ARITY + 1 < timeline->count) {
        const uint32_t child = first_child(timeline, hole);

        if (!is_before(&timeline->heap[child], &event))
            break;
        timeline->heap[hole] = timeline->heap[child];
        hole = child;
    }
    timeline->heap[hole] = event;
}

struct timeline_event timeline_take(struct timeline *timeline)
{
    assert(timeline->count > 0);

    const struct timeline_event taken = timeline->heap[0];

    if (--timeline->count > 0)
        sink(timeline, 0, timeline->heap[timeline->count]);
    return taken;
}

void timeline_sweep(struct timeline *timeline,
                    bool (*is_void)(const void *context, const struct timeline_event *event),
                    const void *context)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < timeline->count; i++) {
        if (!is_void(context, &timeline->heap[i]))
            timeline->heap[kept++] = timeline->heap[i];
    }
    timeline->count = kept;
    for (uint32_t i = kept; i-- > 0;)
        sink(timeline, i, timeline->heap[i]);
}

bool timeline_precedes(const struct timeline *timeline, msec_t at, uint32_t rank)
{
    const struct timeline_event *first = timeline_first(timeline);

    return first == NULL || at < first->at || (at == first->at && rank < first->rank);
}
