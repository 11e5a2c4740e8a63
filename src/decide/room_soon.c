/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/room_soon.h"

#include <assert.h>

#include "decide/ends_soon.h"
#include "decide/overrun.h"

enum {
    WINDOW = 64,       /* batches that are looked at each time room comes free */
    ENDS_LEAST = 1024, /* so many ends are looked at, */
    ENDS_PER_TASK = 4, /* and so many more for each task that may wait */
};

/* A task leaves a machine at 'at', from now. */
struct end {
    msec_t at;
    uint32_t instance;
    const struct res *demand;
};

/* The next machine of one kind of line. */
struct ahead {
    msec_t at; /* its first task may end then, from now; MSEC_NEVER: there is no such machine */
    struct room_place place;
    uint32_t instance;
};

struct soon {
    struct batches *batches;
    const struct view *view;
    const struct runtime_bins *bins;
    const struct wait_limits *limits;
    struct plan *plan;
    struct row_map *uses;
    struct ahead ahead[LINES]; /* machines that were not looked at yet */
    struct end *heap;          /* the soonest first */
    uint32_t heap_count;
    uint32_t heap_room;
    struct row_map seen; /* machines that were looked at: in 'free', + 1 */
    struct res *free;
    uint32_t free_count;
    uint32_t free_room;
    uint32_t first; /* batch that may have tasks left */
    msec_t horizon; /* nobody waits longer, from now */
};

static bool is_sooner(const struct end *a, const struct end *b)
{
    return a->at != b->at ? a->at < b->at : a->instance < b->instance;
}

static void push(struct soon *soon, struct end end)
{
    soon->heap = arena_one_more(soon->plan->arena, soon->heap, soon->heap_count, &soon->heap_room,
                                sizeof(*soon->heap));

    uint32_t at = soon->heap_count++;

    while (at > 0 && is_sooner(&end, &soon->heap[(at - 1) / 2])) {
        soon->heap[at] = soon->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    soon->heap[at] = end;
}

static struct end pop(struct soon *soon)
{
    const struct end top = soon->heap[0];
    const struct end last = soon->heap[--soon->heap_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = at * 2 + 1;

        if (child >= soon->heap_count)
            break;
        if (child + 1 < soon->heap_count && is_sooner(&soon->heap[child + 1], &soon->heap[child]))
            child++;
        if (!is_sooner(&soon->heap[child], &last))
            break;
        soon->heap[at] = soon->heap[child];
        at = child;
    }
    soon->heap[at] = last;
    return top;
}

msec_t wait_for_boot(const struct view *view, const struct batch *batch,
                     const struct wait_limits *limits)
{
    const uint32_t offer = view->shape_offer[batch->shape];

    if (offer == OFFER_NONE)
        return MSEC_NEVER; /* there is nothing else to do */

    const msec_t boot = catalogue_boot_ms(view->catalogue, offer);

    return limits->boot_wait > 0 && limits->boot_wait < boot ? limits->boot_wait : boot;
}

static bool may_wait(const struct batch *batch)
{
    return batch->left > 0 && !batch->together && batch->apart == ROW_NONE;
}

/* How much longer a task of the batch may wait at the most, 0: no longer. */
static msec_t patience(const struct soon *soon, const struct batch *batch)
{
    const msec_t boot = wait_for_boot(soon->view, batch, soon->limits);
    const msec_t most = boot > soon->limits->paid_wait ? boot : soon->limits->paid_wait;
    const msec_t waited = batch_waited(soon->view, batch);

    return most > waited ? most - waited : 0;
}

/* What is free on a machine that was looked at. */
static struct res *free_on(const struct soon *soon, uint32_t instance)
{
    return &soon->free[row_map_get(&soon->seen, instance) - 1];
}

/* Whether a task of the batch may wait until room comes free on the instance at 'at'. */
static bool is_in_time(const struct soon *soon, const struct batch *batch, uint32_t instance,
                       msec_t at)
{
    const msec_t waits = batch_waited(soon->view, batch) + at;

    if (waits <= wait_for_boot(soon->view, batch, soon->limits))
        return true;
    return waits <= soon->limits->paid_wait &&
           at + batch->runtime <= runtime_bins_lasts(soon->bins, instance);
}

/* Whether it pays that the machine lasts longer, if it has to, for all of the batch that it holds. */
static bool is_worth_waiting(const struct soon *soon, const struct batch *batch, uint32_t instance,
                             msec_t at)
{
    const struct overrun_room room = {
        .instance = instance,
        .free = free_on(soon, instance),
        .at = at,
        .lasts = runtime_bins_lasts(soon->bins, instance),
    };

    return at + batch->runtime <= room.lasts ||
           overrun_is_worth(soon->view, batch, &room, soon->limits->doubt, soon->limits->slots);
}

/* What it costs to run a task of the batch there from 'at' on: the machine has to last so much longer. */
static money_t cost_there(const struct soon *soon, const struct batch *batch, uint32_t instance,
                          msec_t at)
{
    const msec_t longer = at + batch->runtime - runtime_bins_lasts(soon->bins, instance);

    return longer > 0
               ? batch_money(soon->view->offer_price[soon->view->instance.offer[instance]], longer)
               : 0;
}

/* The newest task of the batch waits for room that comes free on the instance at 'at'. */
static void say_wait(const struct soon *soon, const struct batch *batch, uint32_t instance,
                     msec_t at)
{
    const struct view *view = soon->view;
    const msec_t boot = wait_for_boot(view, batch, soon->limits);
    const msec_t waited = batch_waited(view, batch);
    const bool is_soon = waited + at <= boot;
    const msec_t most = is_soon ? boot : soon->limits->paid_wait;
    struct plan_wait wait = batch_wait(view, batch, is_soon ? WAIT_ROOM : WAIT_PAID_ROOM,
                                       batch->tasks[batch->left - 1]);

    wait.target = instance;
    wait.offer = view->instance.offer[instance];
    wait.expected = view->now + at;
    wait.wait_cost = cost_there(soon, batch, instance, at);
    if (most != MSEC_NEVER)
        wait.until = view->now + most - waited;
    plan_let_wait(soon->plan, &wait);
}

/* Promise the newest task of the batch the room that is free on the instance at 'at'. */
static void promise(struct soon *soon, struct batch *batch, const struct res *demand,
                    uint32_t instance, msec_t at)
{
    const msec_t left = patience(soon, batch);

    assert(at >= 0);
    assert(res_fits(demand, free_on(soon, instance)));
    say_wait(soon, batch, instance, at);
    (void)batch_take_last(batch);
    res_sub(free_on(soon, instance), demand);
    row_map_set(soon->uses, instance, USE_EXPECTED);
    if (left < MSEC_NEVER - soon->view->now && soon->view->now + left + 1 < soon->plan->wake_at)
        soon->plan->wake_at = soon->view->now + left + 1;
    if (at + batch->runtime <= soon->horizon)
        push(soon, (struct end){ at + batch->runtime, instance, demand });
}

/* When room that comes free at 'at', from now, can be used: with a decision. */
static msec_t usable(const struct view *view, msec_t at)
{
    if (view->round_ms <= 0)
        return at;
    return msec_round_up(at > 0 ? at : 1, view->round_ms);
}

/* Room came free: who could use it? */
static void offer_room(struct soon *soon, uint32_t instance, msec_t at)
{
    uint32_t seen = 0;

    for (uint32_t i = soon->first; i < soon->batches->count && seen < WINDOW; i++) {
        struct batch *batch = &soon->batches->rows[i];
        const struct res *demand = view_shape_demand(soon->view, batch->shape, instance);

        if (!may_wait(batch)) {
            soon->first += i == soon->first;
            continue;
        }
        seen++;
        if (demand == NULL || !res_fits(demand, free_on(soon, instance)) ||
            !is_in_time(soon, batch, instance, at) || !is_worth_waiting(soon, batch, instance, at))
            continue;
        while (batch->left > 0 && res_fits(demand, free_on(soon, instance)) &&
               is_in_time(soon, batch, instance, at))
            promise(soon, batch, demand, instance, at);
    }
}

/* The task is on the instance, or will be when that is ready. */
static void note_end(struct soon *soon, uint32_t task, uint32_t instance)
{
    const msec_t ready = soon->view->instance.state[instance] == INSTANCE_READY
                             ? soon->view->now
                             : soon->view->instance.ready_expected[instance];
    const msec_t start = ready > soon->view->now ? ready - soon->view->now : 0;
    const msec_t runtime = runtime_of_task(soon->view, task, RUNTIME_REMAINING);
    const msec_t end = soon->view->task.state[task] == TASK_RUNNING ? runtime : start + runtime;

    if (end <= soon->horizon)
        push(soon, (struct end){ end, instance, view_taken(soon->view, task, instance) });
}

/* Look at the machine: at those of its tasks that end in time. */
static void look_at(struct soon *soon, uint32_t instance)
{
    const struct view *view = soon->view;

    if (row_map_has(&soon->seen, instance))
        return;
    soon->free = arena_one_more(soon->plan->arena, soon->free, soon->free_count, &soon->free_room,
                                sizeof(*soon->free));
    soon->free[soon->free_count++] = runtime_bins_free(soon->bins, instance);
    row_map_set(&soon->seen, instance, soon->free_count);
    if (row_map_get(soon->uses, instance) == USE_LEFT)
        return;
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        note_end(soon, task, instance);
    }
}

/* Go on to the first machine of the line at 'from' or after it. */
static void go_on(struct soon *soon, enum machine_line line, struct room_place from)
{
    const struct room_entry *entry = room_order_next(&soon->bins->index->ends[line], from);

    soon->ahead[line] = (struct ahead){ .at = MSEC_NEVER };
    if (entry != NULL)
        soon->ahead[line] = (struct ahead){
            .at = entry->at.key + line_shift(line, soon->view->now),
            .place = entry->at,
            .instance = entry->row,
        };
}

/* Look at all machines that may have an end as soon as those that are known. */
static void look_ahead(struct soon *soon)
{
    for (;;) {
        enum machine_line line = LINE_END;

        for (enum machine_line other = LINE_STILL; other < LINES; other++) {
            if (soon->ahead[other].at < soon->ahead[line].at)
                line = other;
        }

        const struct ahead ahead = soon->ahead[line];

        if (ahead.at == MSEC_NEVER || ahead.at > soon->horizon ||
            (soon->heap_count > 0 && soon->heap[0].at < ahead.at))
            return;
        look_at(soon, ahead.instance);
        go_on(soon, line, (struct room_place){ ahead.place.key, ahead.place.tie + 1 });
    }
}

/* What the plan has placed ends as well. */
static void note_placed(struct soon *soon)
{
    for (uint32_t i = 0; i < soon->plan->place_count; i++) {
        const struct plan_place *place = &soon->plan->places[i];

        if (place->fresh)
            continue;
        look_at(soon, place->target);
        note_end(soon, place->task, place->target);
    }
}

/* Some of those end whose runtime is not known. */
static void note_unknown(struct soon *soon, const struct life_odds *odds)
{
    const struct view *view = soon->view;
    const struct expected_ends ends = ends_soon(view, odds, soon->horizon, soon->plan->arena);

    for (uint32_t i = 0; i < ends.count; i++) {
        const uint32_t task = ends.rows[i].task;
        const uint32_t instance = view->task.instance[task];

        look_at(soon, instance);
        if (row_map_get(soon->uses, instance) != USE_LEFT)
            push(soon, (struct end){ ends.rows[i].at, instance, view_taken(view, task, instance) });
    }
}

/* Room comes free: that of all tasks that leave a machine at the same moment. */
static void next_end(struct soon *soon)
{
    const struct end end = pop(soon);

    res_add(free_on(soon, end.instance), end.demand);
    while (soon->heap_count > 0 && soon->heap[0].at == end.at &&
           soon->heap[0].instance == end.instance)
        res_add(free_on(soon, end.instance), pop(soon).demand);
    offer_room(soon, end.instance, usable(soon->view, end.at));
}

void room_soon(struct batches *batches, const struct runtime_bins *bins,
               const struct wait_limits *limits, const struct life_odds *odds, struct plan *plan,
               struct row_map *uses)
{
    struct soon soon = {
        .batches = batches,
        .view = batches->view,
        .bins = bins,
        .limits = limits,
        .plan = plan,
        .uses = uses,
    };
    uint64_t looks = ENDS_LEAST;

    assert(limits->boot_wait >= 0);
    assert(limits->paid_wait >= 0);
    assert(bins->index->is_full);
    for (uint32_t i = 0; i < batches->count; i++) {
        if (!may_wait(&batches->rows[i]))
            continue;

        const msec_t longest = patience(&soon, &batches->rows[i]);

        if (longest > soon.horizon)
            soon.horizon = longest;
        looks += (uint64_t)batches->rows[i].left * ENDS_PER_TASK;
    }
    if (soon.horizon == 0 || soon.view->instance.living == 0)
        return;
    row_map_init(&soon.seen, plan->arena);
    for (enum machine_line line = 0; line < LINES; line++)
        go_on(&soon, line, (struct room_place){ INT64_MIN, 0 });
    note_placed(&soon);
    note_unknown(&soon, odds);
    for (; looks > 0 && soon.first < batches->count; looks--) {
        look_ahead(&soon);
        if (soon.heap_count == 0)
            return;
        next_end(&soon);
    }
}
