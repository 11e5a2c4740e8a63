/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/turns.h"

#include <assert.h>
#include <stdlib.h>

#include "decide/runtime_bins.h"
#include "decide/turn_order.h"
#include "model/billing.h"

/* What is served as a whole: a gang, or one task. */
struct unit {
    uint32_t begin, end; /* in the queue */
};

struct queue {
    const struct turns_config *config;
    struct view *view;
    struct arena *arena;
    const struct allowance *allowance;
    uint32_t *waiting; /* as the view has them */
    uint32_t waiting_count;
    uint32_t *tasks; /* in their turn, without those that are held */
    uint32_t task_count;
    struct unit *units;
    uint32_t unit_count;
    const struct slot_queue *slots; /* NULL: there are machines enough */
    uint32_t *shown;                /* to the policy, next */
    uint32_t shown_count;
};

/* What a plan rents for those that wait. */
struct wish {
    uint64_t instances;
    money_t price_per_hour;
    money_t first_charge;
};

/* Whether the two are served as one. */
static bool is_same_unit(const struct view *view, uint32_t task, uint32_t other)
{
    const uint32_t job = view->task.job[task];

    return task == other || (view->job.gang[job] && view->task.job[other] == job);
}

static struct wish wish_of(const struct queue *queue, const struct plan *plan)
{
    const struct view *view = queue->view;
    bool *serves = ARENA_ARRAY(queue->arena, bool, plan->rent_count);
    struct wish wish = { 0 };

    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        if (place->fresh && view->task.instance[place->task] == ROW_NONE)
            serves[place->target] = true;
    }
    for (uint32_t i = 0; i < plan->rent_count; i++) {
        const struct offer *offer = &view->catalogue->offers[plan->rents[i].offer];

        if (!serves[i])
            continue;
        wish.instances++;
        wish.price_per_hour += view->offer_price[plan->rents[i].offer];
        wish.first_charge +=
            billing_charge(&offer->billing, &offer->price, view->now, view->now + 1);
    }
    return wish;
}

static bool is_allowed(const struct allowance *allowance, const struct wish *wish)
{
    return wish->instances <= allowance->instances &&
           wish->price_per_hour <= allowance->price_per_hour &&
           wish->first_charge <= allowance->first_charge;
}

/* Others can be rented only as machines end. */
static bool is_short_of_machines(const struct allowance *allowance, const struct wish *wish)
{
    return allowance->grows && allowance->slots > 0 && wish->instances > allowance->instances;
}

static void show_units(struct queue *queue, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++) {
        for (uint32_t k = queue->units[i].begin; k < queue->units[i].end; k++)
            queue->shown[queue->shown_count++] = queue->tasks[k];
    }
}

static void ask(struct queue *queue, struct plan *ret)
{
    view_show_waiting(queue->view, queue->shown, queue->shown_count);
    plan_init(ret, queue->arena);
    queue->config->plan(queue->config->context, queue->slots, ret);
}

/* Whether the plan for the first 'count' units is within the allowance. */
static bool can_serve(struct queue *queue, uint32_t count)
{
    const struct arena_mark mark = arena_mark(queue->arena);
    struct plan plan;

    queue->shown_count = 0;
    show_units(queue, 0, count);
    ask(queue, &plan);

    const struct wish wish = wish_of(queue, &plan);

    arena_rewind(queue->arena, mark);
    return is_allowed(queue->allowance, &wish);
}

/* Of each job that is a gang, whether one of its tasks is held. */
static bool *held_gangs(const struct queue *queue)
{
    const struct view *view = queue->view;
    bool *is_held = ARENA_ARRAY(queue->arena, bool, view->job.count);

    for (uint32_t i = 0; i < queue->waiting_count && queue->config->is_held != NULL; i++) {
        const uint32_t job = view->task.job[queue->waiting[i]];

        if (view->job.gang[job] &&
            queue->config->is_held(queue->config->context, queue->waiting[i]))
            is_held[job] = true;
    }
    return is_held;
}

/* By priority, then in the order of arrival; those that came together keep together by their job. */
static void build_queue(struct queue *queue)
{
    const struct view *view = queue->view;
    const struct turns_config *config = queue->config;
    const bool *is_held_gang = held_gangs(queue);
    struct turn_rank *ranks = ARENA_ARRAY(queue->arena, struct turn_rank, queue->waiting_count);
    uint32_t count = 0;

    for (uint32_t i = 0; i < queue->waiting_count; i++) {
        const uint32_t task = queue->waiting[i];
        const uint32_t job = view->task.job[task];

        if (is_held_gang[job] ||
            (config->is_held != NULL && config->is_held(config->context, task)))
            continue;
        ranks[count++] = turn_rank_of(view, task);
    }
    qsort(ranks, count, sizeof(*ranks), turn_compare);
    queue->tasks = ARENA_ARRAY(queue->arena, uint32_t, count);
    queue->task_count = count;
    queue->units = ARENA_ARRAY(queue->arena, struct unit, count);
    queue->shown = ARENA_ARRAY(queue->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t job = view->task.job[ranks[i].task];
        const bool joins = i > 0 && view->job.gang[job] && ranks[i - 1].job == ranks[i].job;

        queue->tasks[i] = ranks[i].task;
        if (joins)
            queue->units[queue->unit_count - 1].end = i + 1;
        else
            queue->units[queue->unit_count++] = (struct unit){ i, i + 1 };
    }
}

/* How many units from the first on can be served, at least 'good': with one more they cannot. */
static uint32_t search(struct queue *queue, uint32_t good)
{
    const uint32_t all = queue->unit_count;
    uint32_t bad = all + 1;

    for (uint64_t step = 1; good < all && bad > all; step *= 2) {
        const uint32_t next = step < all - good ? good + (uint32_t)step : all;

        if (can_serve(queue, next))
            good = next;
        else
            bad = next;
    }
    while (bad <= all && bad - good > 1) {
        const uint32_t middle = good + (bad - good) / 2;

        if (can_serve(queue, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

struct ending {
    msec_t at;
    uint32_t offer;
    uint32_t instance; /* ROW_NONE: it is not there yet */
};

static int compare_endings(const void *left, const void *right)
{
    const struct ending *a = left;
    const struct ending *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    return a->offer < b->offer ? -1 : a->offer > b->offer;
}

static msec_t later(msec_t now, msec_t span)
{
    return span < MSEC_NEVER - now ? now + span : MSEC_NEVER;
}

static msec_t end_of(const struct view *view, uint32_t instance)
{
    msec_t longest = 0;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const msec_t left = runtime_of_task(view, task, RUNTIME_REMAINING);

        if (left > longest)
            longest = left;
    }
    return later(view->now, longest);
}

/* When machines end: those that there are, and those that the plan rents for whoever is before 'first'. */
static uint32_t list_endings(const struct queue *queue, const struct plan *plan, uint32_t first,
                             struct ending **ret)
{
    const struct view *view = queue->view;
    msec_t *lasts = ARENA_ARRAY(queue->arena, msec_t, plan->rent_count);
    uint32_t count = 0;

    *ret = ARENA_ARRAY(queue->arena, struct ending, view->instance.living + plan->rent_count);
    INSTANCE_EACH(instance, view)
    {
        if (queue->config->stays == NULL || !queue->config->stays(queue->config->context, instance))
            (*ret)[count++] =
                (struct ending){ end_of(view, instance), view->instance.offer[instance], instance };
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];
        const msec_t left = runtime_of_task(view, place->task, RUNTIME_REMAINING);

        if (place->fresh && !is_same_unit(view, first, place->task) && left > lasts[place->target])
            lasts[place->target] = left;
    }
    for (uint32_t i = 0; i < plan->rent_count; i++) {
        const uint32_t offer = plan->rents[i].offer;

        if (lasts[i] > 0)
            (*ret)[count++] =
                (struct ending){ later(view->now,
                                       catalogue_boot_ms(view->catalogue, offer) + lasts[i]),
                                 offer, ROW_NONE };
    }
    qsort(*ret, count, sizeof(**ret), compare_endings);
    return count;
}

/* Machines for what 'wish' of 'plan' is above the allowance, those first that end first. False: there are
 * not enough. */
static bool reserve(const struct queue *queue, const struct plan *plan, struct wish wish,
                    uint32_t first, struct turns *ret)
{
    const struct view *view = queue->view;
    uint64_t instances = queue->allowance->instances;
    money_t price = queue->allowance->price_per_hour;
    struct ending *endings;
    const uint32_t count = list_endings(queue, plan, first, &endings);

    ret->is_reserved = ARENA_ARRAY(queue->arena, bool, view->instance.count);
    ret->starts_at = view->now;
    ret->lacking = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (wish.instances <= instances && wish.price_per_hour <= price)
            break;
        if (endings[i].at == MSEC_NEVER)
            return false;
        if (endings[i].instance != ROW_NONE)
            ret->is_reserved[endings[i].instance] = true;
        ret->starts_at = endings[i].at;
        ret->lacking++;
        instances += instances < UINT64_MAX;
        if (price != ALLOWANCE_ANY)
            price += view->offer_price[endings[i].offer];
    }
    return wish.instances <= instances && wish.price_per_hour <= price;
}

/* The machines that the first one would use a part of are reserved as well. */
static void reserve_shared(const struct queue *queue, uint32_t first, const struct plan *plan,
                           struct turns *ret)
{
    const struct view *view = queue->view;

    for (uint32_t i = 0; i < plan->place_count; i++) {
        if (!plan->places[i].fresh && is_same_unit(view, first, plan->places[i].task))
            ret->is_reserved[plan->places[i].target] = true;
    }
}

static void drop_unit(struct queue *queue, uint32_t unit)
{
    queue->unit_count--;
    for (uint32_t i = unit; i < queue->unit_count; i++)
        queue->units[i] = queue->units[i + 1];
}

static enum shortage shortage_of(const struct allowance *allowance, const struct wish *wish)
{
    if (wish->instances > allowance->instances)
        return SHORT_OF_INSTANCES;
    return wish->price_per_hour > allowance->price_per_hour ? SHORT_OF_PRICE : SHORT_OF_CHARGE;
}

/* Who is served, and what is reserved for the first one that is not. Those that can never be are out. */
static uint32_t find_head(struct queue *queue, struct turns *ret)
{
    enum { DROPS_MAX = 16 };

    const struct allowance *allowance = queue->allowance;
    uint32_t good = 0;

    for (uint32_t drops = 0; drops < DROPS_MAX; drops++) {
        struct plan plan;

        good = search(queue, good);
        if (good == queue->unit_count)
            return good;
        queue->shown_count = 0;
        show_units(queue, 0, good + 1);
        ask(queue, &plan);

        const struct wish wish = wish_of(queue, &plan);

        if (drops == 0)
            ret->shortage = shortage_of(allowance, &wish);
        if (!allowance->grows || wish.first_charge > allowance->first_charge)
            return good; /* no machine that ends would help */

        const uint32_t first = queue->tasks[queue->units[good].begin];

        if (reserve(queue, &plan, wish, first, ret)) {
            reserve_shared(queue, first, &plan, ret);
            ret->first = first;
            return good;
        }
        ret->is_reserved = NULL;
        ret->lacking = 0;
        drop_unit(queue, good);
    }
    return good;
}

static void mark(const struct queue *queue, uint32_t begin, uint32_t end, enum turn turn,
                 uint8_t *of_task)
{
    for (uint32_t i = begin; i < end; i++) {
        for (uint32_t k = queue->units[i].begin; k < queue->units[i].end; k++)
            of_task[queue->tasks[k]] = (uint8_t)turn;
    }
}

/* Whether all that 'alone' has a place for have one in 'both' too, within the allowance. */
static bool serves(const struct queue *queue, const struct plan *alone, const struct plan *both,
                   const uint8_t *of_task)
{
    const struct view *view = queue->view;
    bool *is_placed = ARENA_ARRAY(queue->arena, bool, view->task.count);
    struct plan of_now = *both; /* without the places of those behind */

    of_now.places = ARENA_ARRAY(queue->arena, struct plan_place, both->place_count);
    of_now.place_count = 0;
    for (uint32_t i = 0; i < both->place_count; i++) {
        const uint32_t task = both->places[i].task;

        is_placed[task] = true;
        if (view->task.instance[task] != ROW_NONE || of_task[task] == TURN_NOW)
            of_now.places[of_now.place_count++] = both->places[i];
    }
    for (uint32_t i = 0; i < alone->place_count; i++) {
        if (!is_placed[alone->places[i].task])
            return false;
    }

    const struct wish wish = wish_of(queue, &of_now);

    return is_allowed(queue->allowance, &wish);
}

/* A plan for the first 'good' units, and with them for those in [behind, end), if that takes nothing from the
 * first: a policy packs without regard to whose turn it is. If it does, the others are looked at again when the
 * first have their places: true. */
static bool plan_turns(struct queue *queue, uint32_t good, uint32_t behind, uint32_t end,
                       const uint8_t *of_task, struct plan *ret)
{
    struct plan alone;

    queue->shown_count = 0;
    show_units(queue, 0, good);
    if (good > 0 && behind < end)
        ask(queue, &alone);
    show_units(queue, behind, end);
    ask(queue, ret);
    if (good == 0 || behind >= end || serves(queue, &alone, ret, of_task))
        return false;
    *ret = alone;
    return true;
}

void turns_decide(const struct turns_config *config, struct plan *ret, struct turns *ret_turns)
{
    struct view *view = config->view;
    struct queue queue = {
        .config = config, .view = view, .arena = config->arena, .allowance = config->allowance
    };

    *ret_turns = (struct turns){ .first = ROW_NONE };
    plan_init(ret, config->arena);
    config->plan(config->context, NULL, ret);

    const struct wish wish = wish_of(&queue, ret);

    if (is_allowed(config->allowance, &wish))
        return;
    ret_turns->is_limited = true;
    queue.waiting = ARENA_ARRAY(config->arena, uint32_t, view->task.waiting_count);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        queue.waiting[queue.waiting_count++] = task;
    }
    build_queue(&queue);

    struct slot_queue slots;

    if (is_short_of_machines(config->allowance, &wish)) {
        slots = slot_queue_of(view, queue.tasks, queue.task_count, config->allowance->slots);
        queue.slots = &slots;
    }

    const uint32_t good = find_head(&queue, ret_turns);
    const uint32_t behind = good + (ret_turns->first != ROW_NONE ? 1 : 0);
    const uint32_t end = behind < queue.unit_count && queue.unit_count - behind > TURNS_BEHIND
                             ? behind + TURNS_BEHIND
                             : queue.unit_count;
    uint8_t *of_task = ARENA_ARRAY(config->arena, uint8_t, view->task.count);

    for (uint32_t i = 0; i < queue.waiting_count; i++)
        of_task[queue.waiting[i]] = TURN_LATER;
    mark(&queue, 0, good, TURN_NOW, of_task);
    mark(&queue, behind, end, TURN_BEHIND, of_task);
    ret_turns->of_task = of_task;
    ret_turns->look_again = plan_turns(&queue, good, behind, end, of_task, ret);
    view_show_waiting(view, queue.shown, 0);
    view_show_waiting(view, queue.waiting, queue.waiting_count);
}

bool turns_forbids(const struct turns *turns, const struct view *view, const struct plan *plan,
                   const struct plan_place *place)
{
    if (turns->first == ROW_NONE || turns->of_task[place->task] != TURN_BEHIND)
        return false;
    if (!place->fresh && !turns->is_reserved[place->target])
        return false;

    assert(turns->is_reserved != NULL);

    msec_t left = runtime_of_task(view, place->task, RUNTIME_REMAINING);

    if (place->fresh)
        left = later(left, catalogue_boot_ms(view->catalogue, plan->rents[place->target].offer));
    return later(view->now, left) > turns->starts_at;
}
