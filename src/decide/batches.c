/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/batches.h"

#include <assert.h>
#include <stdlib.h>

#include "decide/runtime_bins.h"
#include "decide/stuck_gangs.h"

enum { RUNTIME_BITS = 5 }; /* of a runtime that are compared: 16 steps between powers of two */

struct draft {
    msec_t runtime;
    msec_t about; /* the same, the bits that matter */
    uint64_t order;
    uint32_t shape;
    uint32_t apart;
    uint32_t task;
    bool together;
};

static msec_t about(msec_t runtime)
{
    const uint64_t value = runtime > 0 ? (uint64_t)runtime : 1;
    const int bits = 64 - __builtin_clzll(value);
    const int dropped = bits > RUNTIME_BITS ? bits - RUNTIME_BITS : 0;

    return (msec_t)(value >> dropped << dropped);
}

/* Whether both are of one batch; 'ret' has the order of the two batches. */
static bool same_batch(const struct draft *a, const struct draft *b, int *ret)
{
    *ret = 0;
    if (a->about != b->about)
        *ret = a->about > b->about ? -1 : 1;
    else if (a->shape != b->shape)
        *ret = a->shape < b->shape ? -1 : 1;
    else if (a->apart != b->apart)
        *ret = a->apart < b->apart ? -1 : 1;
    else if (a->together != b->together)
        *ret = a->together ? -1 : 1;
    return *ret == 0;
}

static int compare_drafts(const void *left, const void *right)
{
    const struct draft *a = left;
    const struct draft *b = right;
    int order;

    if (!same_batch(a, b, &order))
        return order;
    return (a->order > b->order) - (a->order < b->order);
}

static uint32_t list_drafts(const struct view *view, struct draft *drafts)
{
    uint32_t count = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t job = view->task.job[task];
        const msec_t runtime = runtime_of_task(view, task, RUNTIME_REMAINING);

        if (stuck_gangs_has(view, task))
            continue;
        drafts[count++] = (struct draft){
            .runtime = runtime,
            .about = about(runtime),
            .order = view->task.order[task],
            .shape = view->task.shape[task],
            .apart = view->job.spread[job] ? job : ROW_NONE,
            .task = task,
            .together = view->job.gang[job] && view->job.task_count[job] > 1,
        };
    }
    if (count > 0)
        qsort(drafts, count, sizeof(*drafts), compare_drafts);
    return count;
}

void batches_build(struct batches *batches, const struct view *view, struct arena *arena)
{
    struct draft *drafts = ARENA_ARRAY(arena, struct draft, view->task.waiting_count);
    const uint32_t count = list_drafts(view, drafts);
    uint32_t *tasks = ARENA_ARRAY(arena, uint32_t, count);

    *batches = (struct batches){ .view = view };
    batches->rows = ARENA_ARRAY(arena, struct batch, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct draft *draft = &drafts[i];
        int order;

        tasks[i] = draft->task;
        if (i == 0 || !same_batch(&drafts[i - 1], draft, &order))
            batches->rows[batches->count++] = (struct batch){
                .shape = draft->shape,
                .apart = draft->apart,
                .together = draft->together,
                .tasks = &tasks[i],
            };

        struct batch *batch = &batches->rows[batches->count - 1];

        assert(draft->runtime >= 0);
        batch->left++;
        if (draft->runtime > batch->runtime)
            batch->runtime = draft->runtime;
    }
}

uint32_t batch_take_first(struct batch *batch)
{
    assert(batch->left > 0);
    batch->left--;
    return *batch->tasks++;
}

uint32_t batch_take_last(struct batch *batch)
{
    assert(batch->left > 0);
    return batch->tasks[--batch->left];
}

uint32_t batch_fit(const struct batch *batch, const struct res *demand, const struct res *free)
{
    int64_t most = batch->apart != ROW_NONE && batch->left > 0 ? 1 : (int64_t)batch->left;

    if (demand == NULL)
        return 0;
    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (demand->amount[kind] <= 0)
            continue;

        const int64_t fit = free->amount[kind] / demand->amount[kind];

        if (fit < most)
            most = fit;
    }
    assert(most <= (int64_t)batch->left);
    return most > 0 ? (uint32_t)most : 0;
}

msec_t batch_waited(const struct view *view, const struct batch *batch)
{
    assert(batch->left > 0);

    const uint32_t job = view->task.job[batch->tasks[batch->left - 1]];
    const msec_t waited = view->now - view->job.arrived_at[job];

    return waited > 0 ? waited : 0;
}

double batch_alone_charge(const struct view *view, const struct batch *batch)
{
    const uint32_t offer = view->shape_offer[batch->shape];

    assert(batch->runtime >= 0);
    if (offer == OFFER_NONE)
        return 0;

    const msec_t setup = catalogue_type_of(view->catalogue, offer)->setup_ms;
    const msec_t paid =
        billing_paid_span(&view->catalogue->offers[offer].billing, setup + batch->runtime);

    return (double)view->offer_price[offer] * (double)paid / (double)MSEC_PER_HOUR;
}
