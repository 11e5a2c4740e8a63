/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/repack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "decide/batches.h"
#include "decide/lease.h"
#include "decide/place_reason.h"
#include "decide/rent_value.h"
#include "decide/reservation.h"
#include "decide/resource_price.h"
#include "decide/risk.h"

#define HOURS_SEEN_MS ((msec_t)2 * MSEC_PER_HOUR)
#define SAVED_LEAST   0.1 /* of what the machines cost */

enum { STOPS_MOST = 3, STOPS_PER_HOUR = 2 }; /* as in the search of improve.h */
enum { UNSHRUNK_TIMES = 10 };                /* as long where no task has ended */

/* A machine that may be left. */
struct source {
    uint32_t instance;
    uint64_t id;
    msec_t due; /* not before */
    double price;
    double waste; /* what it costs beyond what is used there is worth */
};

struct repack {
    const struct view *view;
    struct runtime_bins *bins;
    const struct repack_options *options;
    struct plan *plan;
    struct source *sources; /* the most wasteful first */
    uint32_t count;
    money_t saving; /* of the set that was weighed last, without what it costs, */
    money_t cost;   /* and that */
};

/* What a set would come to. */
struct outcome {
    uint32_t machines; /* the first so many; 0: none */
    money_t gain;      /* what is saved, less what the moves cost */
};

/*
 * Which machines.
 */

/* Whether it is one that may be left at some time. */
static bool is_of_services(const struct view *view, uint32_t instance)
{
    if (view->instance.state[instance] != INSTANCE_READY ||
        view->instance.task_count[instance] == 0 || view->instance.crowded[instance] ||
        view->instance.deadline[instance] != MSEC_NEVER || view_is_owned(view, instance))
        return false;
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const uint32_t job = view->task.job[task];

        if (view->task.estimate_ms[task] != MSEC_NEVER || view->job.short_ppb[job] > 0 ||
            view->job.fixed[job] || (view->job.gang[job] && view->job.task_count[job] > 1))
            return false;
    }
    return true;
}

/* Whether the task has been moved often enough, for as long as it has run. */
static bool is_tired(const struct view *view, uint32_t task)
{
    return view->task.stops[task] >=
           STOPS_MOST + STOPS_PER_HOUR * (view_executed(view, task) / MSEC_PER_HOUR);
}

/* When its tasks may be moved, by what is known now. Where some are on their way, or were moved too often, it is looked again later. */
static msec_t due_at(const struct view *view, uint32_t instance,
                     const struct repack_options *options)
{
    const msec_t after =
        view->instance.has_shrunk[instance] ? options->after : UNSHRUNK_TIMES * options->after;
    const msec_t due = view->instance.steady_since[instance] + after;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.state[task] != TASK_RUNNING || is_tired(view, task) ||
            !view_job_is_settled(view, view->task.job[task]))
            return due > view->now ? due : view->now + options->after;
    }
    return due;
}

/* A task alone on the cheapest machine that holds it can do no better. */
static bool is_best_alone(const struct view *view, uint32_t instance)
{
    const uint32_t task = view->instance.first_task[instance];

    return view->instance.task_count[instance] == 1 &&
           view->shape_offer[view->task.shape[task]] == view->instance.offer[instance];
}

bool repack_has_any(const struct view *view, const struct repack_options *options,
                    struct plan *plan)
{
    bool any = false;

    if (view->job.movables == 0)
        return false;
    INSTANCE_EACH(instance, view)
    {
        if (!is_of_services(view, instance) || is_best_alone(view, instance))
            continue;

        const msec_t due = due_at(view, instance, options);

        any = any || due <= view->now;
        if (due > view->now && due < plan->wake_at)
            plan->wake_at = due;
    }
    return any;
}

/* Prices at which no machine that can be rented is worth more than it costs, and what services use is worth the most. */
static struct resource_price price_resources(const struct repack *repack)
{
    const struct view *view = repack->view;
    struct resource_offer *offers =
        ARENA_ARRAY(repack->plan->arena, struct resource_offer, view->catalogue->offer_count);
    double wanted[RES_PRICED] = { 0 };
    uint32_t count = 0;

    for (uint32_t i = 0; i < repack->count; i++) {
        for (int kind = 0; kind < RES_PRICED; kind++)
            wanted[kind] += (double)view->instance.used[repack->sources[i].instance].amount[kind];
    }
    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        if (reservation_is_open(view, offer) && view->offer_price[offer] > 0 &&
            !view->catalogue->offers[offer].is_owned)
            offers[count++] = (struct resource_offer){
                .capacity = catalogue_type_of(view->catalogue, offer)->capacity,
                .price = (double)view->offer_price[offer],
            };
    }
    return resource_price(offers, count, wanted);
}

static int compare_sources(const void *left, const void *right)
{
    const struct source *a = left;
    const struct source *b = right;
    const double of_a = a->waste * b->price;
    const double of_b = b->waste * a->price;

    if (of_a > of_b)
        return -1;
    if (of_a < of_b)
        return 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* All machines of services with what they waste, the most wasteful first. */
static void list_services(struct repack *repack)
{
    const struct view *view = repack->view;

    repack->sources = ARENA_ARRAY(repack->plan->arena, struct source, view->instance.living);
    INSTANCE_EACH(instance, view)
    {
        if (is_of_services(view, instance) && !is_best_alone(view, instance) &&
            !repack->bins->index->machines[instance].is_out &&
            runtime_bins_is_untouched(repack->bins, instance))
            repack->sources[repack->count++] = (struct source){
                .instance = instance,
                .id = view->instance.id[instance],
                .due = due_at(view, instance, repack->options),
                .price = (double)view->offer_price[view->instance.offer[instance]],
            };
    }

    const struct resource_price worth = price_resources(repack);

    for (uint32_t i = 0; i < repack->count; i++) {
        struct source *source = &repack->sources[i];

        source->waste =
            source->price - resource_worth(&worth, &view->instance.used[source->instance]);
    }
    if (repack->count > 0)
        qsort(repack->sources, repack->count, sizeof(*repack->sources), compare_sources);
}

/* Whether it is better to wait for others that waste much and have just changed: all of them together are put on fewer machines than one after the other. But
 * nobody waits for more than as long again as it has to be steady. */
static bool is_early(const struct repack *repack)
{
    const msec_t now = repack->view->now;
    bool early = false;

    for (uint32_t i = 0; i < repack->count; i++) {
        const struct source *source = &repack->sources[i];

        if (source->waste < SAVED_LEAST * source->price)
            break;
        if (source->due > now)
            early = true;
        else if (source->due + repack->options->after <= now)
            return false;
    }
    return early;
}

/* Those that may be left now, as many as waste enough together, the most wasteful first. */
static void choose_sources(struct repack *repack)
{
    const struct view *view = repack->view;
    double price = 0;
    double waste = 0;
    uint32_t tasks = 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < repack->count; i++) {
        const struct source source = repack->sources[i];

        if (source.due > view->now)
            continue;
        price += source.price;
        waste += source.waste;
        tasks += view->instance.task_count[source.instance];
        if (waste < SAVED_LEAST * price || tasks > REPACK_TASKS_MOST)
            break;
        repack->sources[kept++] = source;
    }
    repack->count = kept;
}

/*
 * What a set comes to.
 */

static msec_t time_to_leave(const struct view *view, uint32_t task)
{
    const struct shape_delays *delays = &view->shapes->rows[view->task.shape[task]].delays;

    return delays->kill_ms + delays->upload_ms;
}

/* How long a task stands still: it leaves when its new machine is ready. */
static msec_t standstill(const struct view *view, uint32_t task)
{
    const struct shape_delays *delays = &view->shapes->rows[view->task.shape[task]].delays;

    return time_to_leave(view, task) + delays->fetch_ms + delays->build_ms + delays->init_ms;
}

static money_t price_for(const struct view *view, uint32_t offer, uint32_t task)
{
    return (money_t)risk_price(
        view, offer, risk_stake_of(view, view->task.shape[task], RUNTIME_HORIZON_MS, false));
}

/* The room of machines that have services anyway. */
static void fill_kept(struct repack *repack, struct batches *batches)
{
    const struct view *view = repack->view;

    for (uint32_t i = 0; i < batches->count; i++) {
        struct batch *batch = &batches->rows[i];

        while (batch->left > 0) {
            const uint32_t target =
                runtime_bins_find_in(repack->bins, batch->tasks[0], REASON_SAME_BIN);

            if (target == ROW_NONE || runtime_bins_lasts(repack->bins, target) < RUNTIME_HORIZON_MS)
                break;

            const uint32_t task = batch_take_first(batch);

            runtime_bins_assign(repack->bins, task, target);
            plan_place_kept(repack->plan, task, target,
                            place_reason(view, REASON_REPACKED, task, target));
        }
    }
}

/* What the plan's places from 'from' on are charged for over the time that is seen: for machines that were rented for them from 'rents' on,
 * and for those that stood empty. And until all of them are ready. */
static money_t charge_for_places(const struct repack *repack, uint32_t from, uint32_t rents,
                                 msec_t *ret_ready)
{
    const struct view *view = repack->view;
    const struct plan *plan = repack->plan;
    bool *is_seen = ARENA_ARRAY(plan->arena, bool, plan->rent_count - rents);
    struct row_map empty;
    money_t charge = 0;

    *ret_ready = 0;
    row_map_init(&empty, plan->arena);
    for (uint32_t i = from; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        if (place->fresh) {
            const uint32_t offer = plan->rents[place->target].offer;
            const msec_t setup = catalogue_type_of(view->catalogue, offer)->setup_ms;
            const msec_t boot = catalogue_boot_ms(view->catalogue, offer);

            if (is_seen[place->target - rents])
                continue;
            is_seen[place->target - rents] = true;
            charge += money_for(
                price_for(view, offer, place->task),
                billing_paid_span(&view->catalogue->offers[offer].billing, setup + HOURS_SEEN_MS));
            *ret_ready = boot > *ret_ready ? boot : *ret_ready;
        } else if (view->instance.task_count[place->target] == 0 &&
                   !row_map_has(&empty, place->target)) {
            const uint32_t offer = view->instance.offer[place->target];

            row_map_set(&empty, place->target, 1);
            charge += money_for(price_for(view, offer, place->task), HOURS_SEEN_MS);
        }
    }
    return charge;
}

/* What leaving the first 'machines' for the plan's places from 'from' on saves, less what it costs; 0 or less: it is not worth it. */
static money_t weigh(struct repack *repack, uint32_t machines, uint32_t from, uint32_t rents)
{
    const struct view *view = repack->view;
    msec_t ready;
    const money_t there = charge_for_places(repack, from, rents, &ready);
    money_t keep = 0;
    money_t move = 0;

    for (uint32_t i = 0; i < machines; i++) {
        const uint32_t instance = repack->sources[i].instance;
        const uint32_t first = view->instance.first_task[instance];
        const money_t price = price_for(view, view->instance.offer[instance], first);
        const msec_t paid = lease_left(view, instance);
        msec_t leave = 0;

        TASK_EACH(task, view, first)
        {
            const msec_t time = time_to_leave(view, task);

            leave = time > leave ? time : leave;
            move += money_for(reservation_price(view, task), standstill(view, task));
        }
        keep += money_for(price, paid < HOURS_SEEN_MS ? HOURS_SEEN_MS - paid : 0);
        move += money_for(price, ready + leave > paid ? ready + leave - paid : 0);
    }

    const money_t saved = keep - there - move;
    const money_t tenth = (money_t)(SAVED_LEAST * (double)keep);

    repack->saving = keep - there;
    repack->cost = move;
    return saved >= (tenth > move ? tenth : move) ? saved - move : 0;
}

/* Put the tasks of the first 'machines' elsewhere. Returns what that gains; 0: it is not worth it, or not all find a place. */
static money_t try_set(struct repack *repack, uint32_t machines)
{
    const struct view *view = repack->view;
    struct plan *plan = repack->plan;
    const uint32_t places = plan->place_count;
    const uint32_t rents = plan->rent_count;
    struct batches batches;
    uint32_t most = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < machines; i++)
        most += view->instance.task_count[repack->sources[i].instance];

    uint32_t *tasks = ARENA_ARRAY(plan->arena, uint32_t, most);

    for (uint32_t i = 0; i < machines; i++) {
        runtime_bins_remove(repack->bins, repack->sources[i].instance);
        TASK_EACH(task, view, view->instance.first_task[repack->sources[i].instance])
        {
            tasks[count++] = task;
        }
    }
    assert(count == most);
    batches_build_of(&batches, view, tasks, count, plan->arena);
    fill_kept(repack, &batches);
    rent_value(&batches, repack->bins, &repack->options->limits, 0, 0, NULL, plan);
    if (plan->place_count - places < count)
        return 0;
    return weigh(repack, machines, places, rents);
}

static void take_back(struct repack *repack, uint32_t places, uint32_t rents, uint32_t waits)
{
    repack->plan->place_count = places;
    repack->plan->rent_count = rents;
    repack->plan->wait_count = waits;
    runtime_bins_rollback(repack->bins);
}

static struct outcome find_best(struct repack *repack)
{
    struct plan *plan = repack->plan;
    const uint32_t places = plan->place_count;
    const uint32_t rents = plan->rent_count;
    const uint32_t waits = plan->wait_count;
    const msec_t wake_at = plan->wake_at;
    struct outcome best = { 0, 0 };
    uint32_t machines = 1;

    for (uint32_t last = 0; last < repack->count; last = machines, machines += (machines + 1) / 2) {
        const uint32_t set = machines < repack->count ? machines : repack->count;

        runtime_bins_mark(repack->bins);

        const money_t gain = try_set(repack, set);

        if (gain > best.gain)
            best = (struct outcome){ set, gain };
        take_back(repack, places, rents, waits);
        plan->wake_at = wake_at;
    }
    return best;
}

static void carry_out(struct repack *repack, uint32_t machines)
{
    const struct view *view = repack->view;
    struct plan *plan = repack->plan;
    const uint32_t places = plan->place_count;

    runtime_bins_mark(repack->bins);
    (void)try_set(repack, machines);
    for (uint32_t i = places; i < plan->place_count; i++)
        plan->places[i].why.code = REASON_REPACKED;
    plan_share_saving(plan->places + places, plan->place_count - places, repack->saving,
                      repack->cost);
    for (uint32_t i = 0; i < machines; i++) {
        const uint32_t instance = repack->sources[i].instance;

        plan_release(
            plan, instance,
            plan_because(REASON_REPACKED, view->offer_price[view->instance.offer[instance]]));
    }
}

/* All that the decision goes by, in a number. */
static uint64_t digest(const struct repack *repack)
{
    const struct view *view = repack->view;
    uint64_t sum = map_mix(map_mix(repack->count) ^ view->catalogue->changes);

    for (uint32_t i = 0; i < repack->count; i++)
        sum = map_mix(sum ^ repack->sources[i].id);
    INSTANCE_EACH(instance, view)
    {
        if (!view_is_open(view, instance) ||
            runtime_bins_lasts(repack->bins, instance) < RUNTIME_HORIZON_MS)
            continue;

        const struct res free = runtime_bins_free(repack->bins, instance);

        sum = map_mix(sum ^ view->instance.id[instance]);
        for (int kind = 0; kind < RES_KINDS; kind++)
            sum = map_mix(sum ^ (uint64_t)free.amount[kind]);
    }
    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++)
        sum = map_mix(sum ^ (uint64_t)view->offer_price[offer] ^
                      (uint64_t)reservation_is_open(view, offer) << 62 ^
                      map_mix((uint64_t)view->offer_lasts[offer]));
    return sum != 0 ? sum : 1;
}

void repack_run(struct runtime_bins *bins, const struct repack_options *options,
                struct repack_memory *memory, struct plan *plan)
{
    struct repack repack = {
        .view = bins->view,
        .bins = bins,
        .options = options,
        .plan = plan,
    };

    list_services(&repack);
    if (is_early(&repack))
        return;
    choose_sources(&repack);
    if (repack.count == 0)
        return;

    const uint64_t sum = digest(&repack);

    if (memory != NULL && memory->dull == sum)
        return;

    const struct outcome best = find_best(&repack);

    if (best.machines > 0)
        carry_out(&repack, best.machines);
    else if (memory != NULL)
        memory->dull = sum;
}
