/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/batches.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "decide/runtime_bins.h"
#include "decide/stuck_gangs.h"

enum { RUNTIME_BITS = 5 }; /* of a runtime that are compared: 16 steps between powers of two */

/* A batch in the making. */
struct draft {
    msec_t about;  /* the bits of the runtime that matter */
    money_t price; /* of the shape alone */
    uint32_t shape;
    uint32_t apart;
    bool together;
    bool fixed;
    bool unknown;
    bool is_mixed;  /* its tasks are not in the order of arrival yet */
    msec_t runtime; /* the longest */
    uint64_t order; /* of the last one */
    uint32_t count;
    uint32_t begin; /* of its tasks */
};

/* Rows and slots are not the arena's: they grow to the size of all that waits, and are needed no longer than it takes to
 * build. */
struct drafts {
    struct arena *arena;
    struct draft *rows;
    uint32_t count;
    uint32_t room;
    uint32_t *slots; /* by their keys: the number of a draft, + 1; 0: the slot is free */
    uint32_t size;   /* of them: a power of two */
};

/* A task, and the number of its batch. */
struct listed {
    uint32_t task;
    uint32_t draft;
};

static msec_t about(msec_t runtime)
{
    const uint64_t value = runtime > 0 ? (uint64_t)runtime : 1;
    const int bits = 64 - __builtin_clzll(value);
    const int dropped = bits > RUNTIME_BITS ? bits - RUNTIME_BITS : 0;

    return (msec_t)(value >> dropped << dropped);
}

/* Which of two batches comes first; 0: they are one. */
static int order_of(const struct draft *a, const struct draft *b)
{
    if (a->about != b->about)
        return a->about > b->about ? -1 : 1;
    if (a->price != b->price)
        return a->price > b->price ? -1 : 1;
    if (a->shape != b->shape)
        return a->shape < b->shape ? -1 : 1;
    if (a->apart != b->apart)
        return a->apart < b->apart ? -1 : 1;
    if (a->together != b->together)
        return (int)b->together - (int)a->together;
    if (a->fixed != b->fixed)
        return (int)b->fixed - (int)a->fixed;
    return (int)b->unknown - (int)a->unknown;
}

static int compare_drafts(const void *left, const void *right)
{
    return order_of(*(struct draft *const *)left, *(struct draft *const *)right);
}

/* The slot of the batch, or the free one where it would be. */
static uint32_t *slot_of(const struct drafts *drafts, const struct draft *key)
{
    const uint64_t hash = map_mix(
        (uint64_t)key->about ^
        map_mix((uint64_t)key->shape << 33 ^ (uint64_t)key->apart << 1 ^ (uint64_t)key->together));
    const uint32_t mask = drafts->size - 1;
    uint32_t at = (uint32_t)hash & mask;

    while (drafts->slots[at] != 0 && order_of(&drafts->rows[drafts->slots[at] - 1], key) != 0)
        at = (at + 1) & mask;
    return &drafts->slots[at];
}

static void grow(struct drafts *drafts)
{
    enum { FIRST_ROOM = 64 };

    drafts->room = drafts->room > 0 ? drafts->room * 2 : FIRST_ROOM;
    drafts->size = drafts->room * 2;
    drafts->rows = mem_resize(drafts->rows, drafts->room, sizeof(*drafts->rows));
    mem_free(drafts->slots);
    drafts->slots = mem_alloc(drafts->size, sizeof(*drafts->slots));
    for (uint32_t i = 0; i < drafts->count; i++)
        *slot_of(drafts, &drafts->rows[i]) = i + 1;
}

/* Add a task of a batch with that key. Returns the number of the batch. */
static uint32_t add_task(struct drafts *drafts, const struct draft *key)
{
    if (drafts->count == drafts->room)
        grow(drafts);

    uint32_t *slot = slot_of(drafts, key);

    if (*slot == 0) {
        drafts->rows[drafts->count++] = *key;
        *slot = drafts->count;
    }

    struct draft *draft = &drafts->rows[*slot - 1];

    draft->is_mixed = draft->is_mixed || key->order < draft->order;
    draft->order = key->order;
    draft->count++;
    if (key->runtime > draft->runtime)
        draft->runtime = key->runtime;
    return *slot - 1;
}

/* Note the task and its batch. */
static void list_task(const struct view *view, uint32_t task, struct drafts *drafts,
                      struct listed *listed)
{
    const uint32_t job = view->task.job[task];
    const msec_t runtime = runtime_of_task(view, task, RUNTIME_REMAINING);
    const struct draft key = {
        .about = about(runtime),
        .price = view->shape_price[view->task.shape[task]],
        .shape = view->task.shape[task],
        .apart = view->job.apart[job],
        .together = view->job.gang[job] && view->job.task_count[job] > 1,
        .fixed = view->job.fixed[job],
        .unknown = view->job.unknown[job],
        .runtime = runtime,
        .order = view->task.order[task],
    };

    assert(runtime >= 0);
    *listed = (struct listed){ task, add_task(drafts, &key) };
}

struct arrival {
    uint64_t order;
    uint32_t task;
};

static int compare_arrivals(const void *left, const void *right)
{
    const struct arrival *a = left;
    const struct arrival *b = right;

    return (a->order > b->order) - (a->order < b->order);
}

/* Bring the tasks into the order of arrival. */
static void sort_tasks(const struct view *view, struct batch *batch, struct arena *arena)
{
    struct arrival *arrivals = ARENA_ARRAY(arena, struct arrival, batch->left);

    for (uint32_t i = 0; i < batch->left; i++)
        arrivals[i] = (struct arrival){ view->task.order[batch->tasks[i]], batch->tasks[i] };
    qsort(arrivals, batch->left, sizeof(*arrivals), compare_arrivals);
    for (uint32_t i = 0; i < batch->left; i++)
        batch->tasks[i] = arrivals[i].task;
}

/* The batches in their order, with room for their tasks. */
static struct draft **sort_drafts(struct drafts *drafts)
{
    struct draft **sorted = ARENA_ARRAY(drafts->arena, struct draft *, drafts->count);
    uint32_t begin = 0;

    for (uint32_t i = 0; i < drafts->count; i++)
        sorted[i] = &drafts->rows[i];
    if (drafts->count > 0)
        qsort(sorted, drafts->count, sizeof(struct draft *), compare_drafts);
    for (uint32_t i = 0; i < drafts->count; i++) {
        sorted[i]->begin = begin;
        begin += sorted[i]->count;
    }
    return sorted;
}

void batches_build(struct batches *batches, const struct view *view, struct arena *arena)
{
    batches_build_but(batches, view, NULL, arena);
}

/* The drafts are gone afterwards. */
static void build(struct batches *batches, const struct view *view, struct drafts *drafts,
                  const struct listed *listed, uint32_t count)
{
    struct arena *arena = drafts->arena;
    struct draft **sorted = sort_drafts(drafts);
    uint32_t *tasks = ARENA_ARRAY(arena, uint32_t, count);

    for (uint32_t i = 0; i < count; i++)
        tasks[drafts->rows[listed[i].draft].begin++] = listed[i].task;
    *batches = (struct batches){ .view = view, .count = drafts->count };
    batches->rows = ARENA_ARRAY(arena, struct batch, drafts->count);
    for (uint32_t i = 0; i < drafts->count; i++) {
        const struct draft *draft = sorted[i];

        batches->rows[i] = (struct batch){
            .shape = draft->shape,
            .apart = draft->apart,
            .alone = view_aparts_meet(view, draft->apart, draft->apart),
            .together = draft->together,
            .fixed = draft->fixed,
            .unknown = draft->unknown,
            .runtime = draft->runtime,
            .stake = draft->runtime,
            .tasks = &tasks[draft->begin - draft->count],
            .left = draft->count,
        };
        if (draft->is_mixed)
            sort_tasks(view, &batches->rows[i], arena);
    }
    mem_free(drafts->rows);
    mem_free(drafts->slots);
}

void batches_build_but(struct batches *batches, const struct view *view,
                       const struct row_map *left_out, struct arena *arena)
{
    struct drafts drafts = { .arena = arena };
    struct listed *listed = ARENA_ARRAY(arena, struct listed, view->task.waiting_count);
    uint32_t count = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (!stuck_gangs_has(view, task) && (left_out == NULL || !row_map_has(left_out, task)))
            list_task(view, task, &drafts, &listed[count++]);
    }
    build(batches, view, &drafts, listed, count);
}

void batches_build_of(struct batches *batches, const struct view *view, const uint32_t *tasks,
                      uint32_t count, struct arena *arena)
{
    struct drafts drafts = { .arena = arena };
    struct listed *listed = ARENA_ARRAY(arena, struct listed, count);

    for (uint32_t i = 0; i < count; i++)
        list_task(view, tasks[i], &drafts, &listed[i]);
    build(batches, view, &drafts, listed, count);
}

uint32_t batches_left(const struct batches *batches)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < batches->count; i++)
        left += batches->rows[i].left;
    return left;
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
    const uint32_t most = batch->alone && batch->left > 0 ? 1 : batch->left;

    return demand != NULL ? res_times(demand, free, most) : 0;
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

money_t batch_money(money_t per_hour, msec_t span)
{
    const double most = (double)MONEY_UNKNOWN / 2;

    if (per_hour == MONEY_UNKNOWN ||
        (double)per_hour * (double)span / (double)MSEC_PER_HOUR >= most)
        return MONEY_UNKNOWN;
    return money_for(per_hour, span);
}

money_t batch_charge_for(const struct view *view, const struct batch *batch, uint32_t offer)
{
    const msec_t setup = catalogue_type_of(view->catalogue, offer)->setup_ms;

    return batch_money(
        view->offer_price[offer],
        billing_paid_span(&view->catalogue->offers[offer].billing, setup + batch->runtime));
}

struct plan_wait batch_wait(const struct view *view, const struct batch *batch,
                            enum plan_wait_rule rule, uint32_t task)
{
    struct plan_wait wait = plan_wait_by(rule, task);

    if (view->shape_offer[batch->shape] == OFFER_NONE)
        return wait;
    wait.rent_offer = view->shape_offer[batch->shape];
    wait.rent_cost = batch_charge_for(view, batch, wait.rent_offer);
    return wait;
}
