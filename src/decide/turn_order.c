/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/turn_order.h"

#include <stdlib.h>

struct turn_rank turn_rank_of(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return (struct turn_rank){ view->job.gang[job] && view->job.tasks_bound[job] > 0,
                               view->job.priority[job],
                               view->job.arrived_at[job],
                               view->job.id[job],
                               view->task.order[task],
                               task };
}

int turn_compare(const void *left, const void *right)
{
    const struct turn_rank *a = left;
    const struct turn_rank *b = right;

    if (a->is_begun != b->is_begun)
        return a->is_begun ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->arrived_at != b->arrived_at)
        return a->arrived_at < b->arrived_at ? -1 : 1;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Let the rank at 'at' sink in a heap that has the last one at its root. */
static void sink(struct turn_rank *heap, uint32_t count, uint32_t at)
{
    for (;;) {
        uint32_t last = at;

        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            if (turn_compare(&heap[child], &heap[last]) > 0)
                last = child;
        }
        if (last == at)
            return;
        const struct turn_rank rank = heap[at];

        heap[at] = heap[last];
        heap[last] = rank;
        at = last;
    }
}

uint32_t turn_first(const struct view *view, uint32_t most, struct arena *arena, uint32_t **ret)
{
    const uint32_t room = view->task.waiting_count < most ? view->task.waiting_count : most;
    struct turn_rank *heap = ARENA_ARRAY(arena, struct turn_rank, room);
    uint32_t count = 0;

    *ret = ARENA_ARRAY(arena, uint32_t, room);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const struct turn_rank rank = turn_rank_of(view, task);

        if (count < room) {
            heap[count++] = rank;
            for (uint32_t i = count == room ? room / 2 : 0; i-- > 0;)
                sink(heap, count, i);
        } else if (room > 0 && turn_compare(&rank, &heap[0]) < 0) {
            heap[0] = rank;
            sink(heap, count, 0);
        }
    }
    qsort(heap, count, sizeof(*heap), turn_compare);
    for (uint32_t i = 0; i < count; i++)
        (*ret)[i] = heap[i].task;
    return count;
}
