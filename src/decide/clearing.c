/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/clearing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decide/lease.h"
#include "decide/reservation.h"
#include "decide/risk.h"
#include "decide/row_map.h"
#include "decide/stay.h"

/* The kinds that machines of the catalogue have, by the most of each, where somebody asks for them. */
static struct res kinds_there_are(const struct catalogue *catalogue,
                                  const struct clearing_options *options)
{
    struct res most = { 0 };

    for (uint32_t type = 0; options->rule == CLEARING_ALWAYS && type < catalogue->type_count;
         type++) {
        for (int kind = 0; kind < RES_PRICED; kind++) {
            const int64_t amount = catalogue->types[type].capacity.amount[kind];

            most.amount[kind] = amount > most.amount[kind] ? amount : most.amount[kind];
        }
    }
    return most;
}

static bool has_every_kind(const struct res *capacity, const struct res *kinds)
{
    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (capacity->amount[kind] <= 0 && kinds->amount[kind] > 0)
            return false;
    }
    return true;
}

/* Whether there is something to be gained, some time. */
static bool is_under_used(const struct view *view, uint32_t instance,
                          const struct clearing_options *options, const struct res *kinds)
{
    if (!view_is_open(view, instance) || view->instance.task_count[instance] == 0 ||
        view->instance.under_half_since[instance] == MSEC_NEVER)
        return false;
    if (options->rule == CLEARING_ALWAYS && !has_every_kind(view_capacity(view, instance), kinds))
        return false;
    if (view->instance.task_count[instance] == 1) {
        const uint32_t task = view->instance.first_task[instance];

        if (view->shape_offer[view->task.shape[task]] == view->instance.offer[instance])
            return false;
    }
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->job.fixed[view->task.job[task]])
            return false;
    }
    return true;
}

/* Whether all that is on the instance has arrived there, and nothing of its jobs is on its way. */
static bool is_settled(const struct view *view, uint32_t instance)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (!view_job_is_settled(view, view->task.job[task]))
            return false;
    }
    return true;
}

/* When its tasks may be moved. Where nobody asks whether a move pays, those that were moved stay for a while. */
static msec_t rested_at(const struct view *view, uint32_t instance,
                        const struct clearing_options *options)
{
    msec_t at = 0;

    if (options->rule != CLEARING_ALWAYS)
        return at;
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const msec_t until = stay_until(view, task, 1);

        at = until > at ? until : at;
    }
    return at;
}

static bool is_candidate(const struct view *view, uint32_t instance,
                         const struct clearing_options *options, const struct res *kinds,
                         struct plan *plan)
{
    if (!is_under_used(view, instance, options, kinds))
        return false;

    const msec_t rested = rested_at(view, instance, options);
    const msec_t under = view->instance.under_half_since[instance] + options->after;
    const msec_t due = rested > under ? rested : under;

    if (due <= view->now && is_settled(view, instance))
        return true;

    /* That a task has started is no reason to decide: so look again for it, too. */
    const msec_t look = due > view->now ? due : view->now + options->after;

    if (look > view->now && look < plan->wake_at)
        plan->wake_at = look;
    return false;
}

struct dear {
    uint32_t instance;
    double price_per_use;
    uint64_t id;
};

static int compare_dear(const void *left, const void *right)
{
    const struct dear *a = left;
    const struct dear *b = right;

    if (a->price_per_use > b->price_per_use)
        return -1;
    if (a->price_per_use < b->price_per_use)
        return 1;
    return (a->id > b->id) - (a->id < b->id);
}

static struct dear dear_of(const struct view *view, uint32_t instance)
{
    const double use =
        res_dominant_share(&view->instance.used[instance], view_capacity(view, instance));
    const double price = (double)view->offer_price[view->instance.offer[instance]];

    return (struct dear){
        .instance = instance,
        .price_per_use = use > 0 ? price / use : price * 1e9,
        .id = view->instance.id[instance],
    };
}

/* In the order of 'dear'. */
static uint32_t sort_dear(struct dear *dear, uint32_t count, uint32_t *ret)
{
    if (count > 0)
        qsort(dear, count, sizeof(*dear), compare_dear);
    for (uint32_t i = 0; i < count; i++)
        ret[i] = dear[i].instance;
    return count;
}

uint32_t clearing_candidates(const struct view *view, const struct clearing_options *options,
                             struct plan *plan, uint32_t **ret)
{
    if (options->rule == CLEARING_NEVER)
        return 0;

    struct dear *dear = ARENA_ARRAY(plan->arena, struct dear, view->instance.living);
    const struct res kinds = kinds_there_are(view->catalogue, options);
    uint32_t count = 0;

    INSTANCE_EACH(instance, view)
    {
        if (is_candidate(view, instance, options, &kinds, plan))
            dear[count++] = dear_of(view, instance);
    }
    *ret = ARENA_ARRAY(plan->arena, uint32_t, count);
    return sort_dear(dear, count, *ret);
}

uint32_t clearing_candidates_of(const struct machine_index *index,
                                const struct clearing_options *options, struct plan *plan,
                                uint32_t **ret)
{
    const struct view *view = index->view;
    const struct res kinds = kinds_there_are(view->catalogue, options);
    struct room_place at = { INT64_MIN, 0 };
    const struct room_entry *entry;
    struct dear *dear;
    uint32_t most = 0;
    uint32_t count = 0;

    if (options->rule == CLEARING_NEVER)
        return 0;
    while ((entry = room_order_next(&index->under, at)) != NULL &&
           entry->at.key + options->after <= view->now) {
        at = (struct room_place){ entry->at.key, entry->at.tie + 1 };
        most++;
    }
    dear = ARENA_ARRAY(plan->arena, struct dear, most);
    at = (struct room_place){ INT64_MIN, 0 };
    while ((entry = room_order_next(&index->under, at)) != NULL) {
        at = (struct room_place){ entry->at.key, entry->at.tie + 1 };
        if (is_candidate(view, entry->row, options, &kinds, plan))
            dear[count++] = dear_of(view, entry->row);
        else if (entry->at.key + options->after > view->now &&
                 plan->wake_at <= entry->at.key + options->after)
            break; /* all others are due later */
    }
    *ret = ARENA_ARRAY(plan->arena, uint32_t, count);
    return sort_dear(dear, count, *ret);
}

/* The tasks of an instance, longest first. */
static struct scale_out_task *tasks_of(const struct runtime_bins *bins, uint32_t instance,
                                       struct arena *arena, uint32_t *ret_count)
{
    const struct view *view = bins->view;
    const enum runtime_rule rule = bins->index->rule;
    struct scale_out_task *tasks =
        ARENA_ARRAY(arena, struct scale_out_task, view->instance.task_count[instance]);
    uint32_t count = 0;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const msec_t runtime = runtime_of_task(view, task, rule);
        uint32_t i = count++;

        while (i > 0 && runtime_of_task(view, tasks[i - 1].task, rule) < runtime) {
            tasks[i] = tasks[i - 1];
            i--;
        }
        tasks[i] = (struct scale_out_task){ .task = task, .bin = runtime_bin(runtime) };
    }
    *ret_count = count;
    return tasks;
}

/*
 * What a move costs.
 */

/* A machine that must last longer because of a move that is tried, and how long it would have. */
struct stretch {
    uint32_t instance;
    msec_t lasts;
};

struct clearing {
    struct runtime_bins *bins;
    const struct clearing_options *options;
    struct plan *plan;
    struct row_map lasts; /* + 1, of instances that got tasks here: in 'lasting' */
    msec_t *lasting;      /* how long they last, from now, with all moves that are made */
    uint32_t lasting_count;
    uint32_t lasting_room;
    struct stretch *stretched;
    uint32_t stretched_count;
    uint32_t stretched_room;
};

/* What moves from one machine, and what was planned for it. */
struct move {
    uint32_t instance;
    const struct scale_out_task *tasks; /* the longest first */
    uint32_t count;
    uint32_t rents; /* of the plan: these, and those that follow, were added */
    uint32_t places;
    money_t limit;  /* CLEARING_PAYS: it must cost less than this, */
    money_t charge; /* and costs this */
};

static const struct shape_delays *delays_of(const struct view *view, uint32_t task)
{
    return &view->shapes->rows[view->task.shape[task]].delays;
}

/* Until the task has left. */
static msec_t time_to_leave(const struct view *view, uint32_t task)
{
    return delays_of(view, task)->kill_ms + delays_of(view, task)->upload_ms;
}

/* From then on, until it makes progress elsewhere. */
static msec_t time_to_arrive(const struct view *view, uint32_t task)
{
    const struct shape_delays *delays = delays_of(view, task);

    return delays->fetch_ms + delays->build_ms + delays->init_ms;
}

/* How long the task stands still if the machine that it goes to takes 'ready' to be ready. */
static msec_t standstill(const struct view *view, uint32_t task, msec_t ready)
{
    const msec_t leave = time_to_leave(view, task);

    return (leave > ready ? leave : ready) + time_to_arrive(view, task);
}

/* The paper's question. */
static bool lasts_longer_than_move(const struct clearing *clearing, const struct move *move,
                                   money_t fresh)
{
    const struct view *view = clearing->bins->view;
    const uint32_t longest = move->tasks[0].task;
    msec_t lost = time_to_leave(view, longest) + time_to_arrive(view, longest);

    if (fresh >= view->offer_price[view->instance.offer[move->instance]])
        return false;
    if (clearing->plan->rent_count > move->rents)
        lost += catalogue_boot_ms(view->catalogue, clearing->plan->rents[move->rents].offer);
    return runtime_of_task(view, longest, clearing->bins->index->rule) > lost;
}

/* What a loss undoes of the task once it was moved: what it did since then. */
static struct risk_stake stake_there(const struct view *view, uint32_t task)
{
    return risk_stake_of(view, view->task.shape[task],
                         runtime_of_task(view, task, RUNTIME_REMAINING),
                         view->job.fixed[view->task.job[task]]);
}

static double work_of(const struct view *view, uint32_t task)
{
    return (double)(runtime_of_task(view, task, RUNTIME_REMAINING) + 1) *
           (double)(reservation_price(view, task) + 1);
}

/* What is charged for the instance from now on if it is kept for 'busy', and what that costs in losses. */
static money_t charge_for(const struct view *view, uint32_t instance, msec_t busy,
                          struct risk_stake stake)
{
    return money_for((money_t)risk_price(view, view->instance.offer[instance], stake),
                     lease_until(view, instance, busy));
}

/* How long the instance lasts, from now, with all moves that are made. */
static msec_t lasts_of(const struct clearing *clearing, uint32_t instance)
{
    const uint32_t known = row_map_get(&clearing->lasts, instance);

    return known > 0 ? clearing->lasting[known - 1] : runtime_bins_lasts(clearing->bins, instance);
}

static void set_lasts(struct clearing *clearing, uint32_t instance, msec_t lasts)
{
    uint32_t known = row_map_get(&clearing->lasts, instance);

    if (known == 0) {
        if (clearing->lasting_count == clearing->lasting_room) {
            const uint32_t room = clearing->lasting_room > 0 ? clearing->lasting_room * 2 : 32;
            msec_t *more = ARENA_ARRAY(clearing->plan->arena, msec_t, room);

            if (clearing->lasting_count > 0)
                memcpy(more, clearing->lasting, clearing->lasting_count * sizeof(*more));
            clearing->lasting = more;
            clearing->lasting_room = room;
        }
        known = ++clearing->lasting_count;
        row_map_set(&clearing->lasts, instance, known);
    }
    clearing->lasting[known - 1] = lasts;
}

/* The instance must last until 'until' from now, for a task of that stake: what that adds to its charge. */
static money_t stretch(struct clearing *clearing, uint32_t instance, msec_t until,
                       struct risk_stake stake)
{
    const struct view *view = clearing->bins->view;
    const msec_t lasts = lasts_of(clearing, instance);

    if (until <= lasts)
        return 0;
    if (clearing->stretched_count == clearing->stretched_room) {
        const uint32_t room = clearing->stretched_room > 0 ? clearing->stretched_room * 2 : 32;
        struct stretch *more = ARENA_ARRAY(clearing->plan->arena, struct stretch, room);

        if (clearing->stretched_count > 0)
            memcpy(more, clearing->stretched, clearing->stretched_count * sizeof(*more));
        clearing->stretched = more;
        clearing->stretched_room = room;
    }
    clearing->stretched[clearing->stretched_count++] = (struct stretch){ instance, lasts };
    set_lasts(clearing, instance, until);
    return charge_for(view, instance, until, stake) - charge_for(view, instance, lasts, stake);
}

static void take_back_stretches(struct clearing *clearing)
{
    while (clearing->stretched_count > 0) {
        const struct stretch *last = &clearing->stretched[--clearing->stretched_count];

        set_lasts(clearing, last->instance, last->lasts);
    }
}

/* When all machines that take tasks in are ready, from now. */
static msec_t time_to_ready(const struct clearing *clearing, const struct move *move)
{
    const struct view *view = clearing->bins->view;
    const struct plan *plan = clearing->plan;
    msec_t ready = 0;

    for (uint32_t i = move->rents; i < plan->rent_count; i++) {
        const msec_t boot = catalogue_boot_ms(view->catalogue, plan->rents[i].offer);

        ready = boot > ready ? boot : ready;
    }
    for (uint32_t i = move->places; i < plan->place_count; i++) {
        const uint32_t target = plan->places[i].target;

        if (plan->places[i].fresh || view->instance.state[target] == INSTANCE_READY)
            continue;

        const msec_t boot = view->instance.ready_expected[target] - view->now;

        ready = boot > ready ? boot : ready;
    }
    return ready;
}

/* What is charged for the plan's rent, where 'until' from now the last task ends. */
static money_t charge_for_rent(const struct view *view, uint32_t offer, msec_t until,
                               struct risk_stake stake)
{
    const msec_t busy = until - catalogue_type_of(view->catalogue, offer)->acquire_ms;

    return money_for((money_t)risk_price(view, offer, stake),
                     billing_paid_span(&view->catalogue->offers[offer].billing, busy));
}

/* What is charged for machines that take the tasks in. */
static money_t charge_for_targets(struct clearing *clearing, const struct move *move, msec_t ready)
{
    const struct view *view = clearing->bins->view;
    const struct plan *plan = clearing->plan;
    const uint32_t rents = plan->rent_count - move->rents;
    msec_t *busy = ARENA_ARRAY(plan->arena, msec_t, rents);
    struct risk_mix *mix = ARENA_ARRAY(plan->arena, struct risk_mix, rents);
    money_t charge = 0;

    for (uint32_t i = move->places; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];
        const msec_t until = runtime_of_task(view, place->task, RUNTIME_REMAINING) +
                             standstill(view, place->task, ready);

        const struct risk_stake stake = stake_there(view, place->task);

        if (!place->fresh) {
            charge += stretch(clearing, place->target, until, stake);
            continue;
        }
        const uint32_t rent = place->target - move->rents;

        busy[rent] = until > busy[rent] ? until : busy[rent];
        risk_mix_add(&mix[rent], stake, work_of(view, place->task));
    }
    for (uint32_t i = 0; i < rents; i++)
        charge += charge_for_rent(view, plan->rents[move->rents + i].offer, busy[i],
                                  risk_mix_stake(&mix[i]));
    return charge;
}

/* What is charged for the machines of the task's gang while it stands still, or 'most' if it is no less. */
static money_t charge_for_gang(struct clearing *clearing, uint32_t task, msec_t ready, money_t most)
{
    const struct view *view = clearing->bins->view;
    const msec_t still = standstill(view, task, ready);
    money_t charge = 0;

    for (uint32_t sibling = view->job.first_task[view->task.job[task]];
         sibling != ROW_NONE && charge < most; sibling = view->task.sibling[sibling]) {
        const uint32_t instance = view->task.instance[sibling];

        if (instance == view->task.instance[task])
            continue; /* it moves as well */
        if (!view_is_open(view, instance))
            return most; /* it could not start there again */
        charge +=
            stretch(clearing, instance, runtime_of_task(view, sibling, RUNTIME_REMAINING) + still,
                    stake_there(view, sibling));
    }
    return charge;
}

/* What a move may cost: two thirds of what is not charged for the machine that is cleared. */
static money_t limit_of(const struct clearing *clearing, const struct move *move)
{
    const struct view *view = clearing->bins->view;
    struct risk_mix mix = { 0 };
    msec_t leave = 0;

    for (uint32_t i = 0; i < move->count; i++) {
        const uint32_t task = move->tasks[i].task;
        const msec_t time = time_to_leave(view, task);
        const msec_t left = runtime_of_task(view, task, RUNTIME_REMAINING);

        leave = time > leave ? time : leave;
        risk_mix_add(&mix, risk_stake_here(view, task, left, false), work_of(view, task));
    }

    const struct risk_stake stake = risk_mix_stake(&mix);
    const money_t saved =
        charge_for(view, move->instance, lasts_of(clearing, move->instance), stake) -
        charge_for(view, move->instance, leave, stake);

    return saved - saved / 3;
}

static bool pays(struct clearing *clearing, struct move *move)
{
    const struct view *view = clearing->bins->view;
    const msec_t ready = time_to_ready(clearing, move);
    money_t charge = charge_for_targets(clearing, move, ready);

    for (uint32_t i = 0; i < move->count && charge < move->limit; i++) {
        const uint32_t task = move->tasks[i].task;
        const uint32_t job = view->task.job[task];

        /* Those of one gang end together, so they are neighbours. */
        if (view->job.gang[job] && (i == 0 || view->task.job[move->tasks[i - 1].task] != job))
            charge += charge_for_gang(clearing, task, ready, move->limit - charge);
    }
    move->charge = charge;
    return charge < move->limit;
}

static bool is_worth_it(struct clearing *clearing, struct move *move, money_t fresh)
{
    switch (clearing->options->rule) {
    case CLEARING_CHECKED:
        return lasts_longer_than_move(clearing, move, fresh);
    case CLEARING_PAYS:
        return pays(clearing, move);
    case CLEARING_ALWAYS:
    case CLEARING_NEVER:
        break;
    }
    return true;
}

/*
 * Clearing.
 */

/* Try to clear the instance: onto machines that there are as far as they have room, or onto new ones alone.
 * Whether it is done; else nothing has changed. */
static bool try_to_clear(struct clearing *clearing, struct move *move, bool onto_kept)
{
    struct runtime_bins *bins = clearing->bins;
    struct plan *plan = clearing->plan;
    const struct view *view = bins->view;
    const struct plan_reason why =
        plan_because(REASON_CLEARED, view->offer_price[view->instance.offer[move->instance]]);
    struct scale_out_task *rest = ARENA_ARRAY(plan->arena, struct scale_out_task, move->count);
    uint32_t homeless = 0;

    move->rents = plan->rent_count;
    move->places = plan->place_count;
    runtime_bins_mark(bins);
    runtime_bins_remove(bins, move->instance);
    for (uint32_t i = 0; i < move->count; i++) {
        const uint32_t task = move->tasks[i].task;
        enum plan_reason_code unused;
        const uint32_t target = onto_kept ? runtime_bins_find(bins, task, &unused) : ROW_NONE;

        if (target == ROW_NONE) {
            rest[homeless++] = move->tasks[i];
            continue;
        }
        set_lasts(clearing, target, lasts_of(clearing, target)); /* without it */
        runtime_bins_assign(bins, task, target);
        plan_place_kept(plan, task, target, why);
    }

    const money_t fresh =
        scale_out(view, rest, homeless, clearing->options->scale_out, REASON_CLEARED, plan);

    clearing->stretched_count = 0;
    if (plan->place_count - move->places < move->count || !is_worth_it(clearing, move, fresh)) {
        take_back_stretches(clearing);
        plan->rent_count = move->rents;
        plan->place_count = move->places;
        runtime_bins_rollback(bins);
        return false;
    }
    if (clearing->options->rule == CLEARING_PAYS)
        plan_share_saving(plan->places + move->places, plan->place_count - move->places,
                          move->limit + move->limit / 2, move->charge);
    plan_release(plan, move->instance, why);
    return true;
}

/* Whether new machines could be worth it: the longest task alone does not cost too much already. */
static bool may_rent(const struct view *view, const struct move *move)
{
    const uint32_t longest = move->tasks[0].task;
    const uint32_t shape = view->task.shape[longest];

    return view->shape_offer[shape] != OFFER_NONE &&
           money_for(view->shape_price[shape], runtime_of_task(view, longest, RUNTIME_REMAINING)) <
               move->limit;
}

static void clear_one(struct clearing *clearing, uint32_t instance)
{
    const struct view *view = clearing->bins->view;
    struct move move = { .instance = instance };

    move.tasks = tasks_of(clearing->bins, instance, clearing->plan->arena, &move.count);
    if (clearing->options->rule != CLEARING_PAYS) {
        (void)try_to_clear(clearing, &move, true);
        return;
    }
    move.limit = limit_of(clearing, &move);
    if (move.limit > 0 && (try_to_clear(clearing, &move, true) ||
                           (may_rent(view, &move) && try_to_clear(clearing, &move, false))))
        set_lasts(clearing, instance, MSEC_NEVER); /* who left it stretches it no more */
}

void clearing_run(struct runtime_bins *bins, const struct clearing_options *options,
                  const uint32_t *candidates, uint32_t count, struct plan *plan)
{
    struct clearing clearing = { .bins = bins, .options = options, .plan = plan };

    row_map_init(&clearing.lasts, plan->arena);
    for (uint32_t i = 0; i < count; i++) {
        /* What was assigned to it meanwhile could not be taken back. */
        if (runtime_bins_is_untouched(bins, candidates[i]))
            clear_one(&clearing, candidates[i]);
    }
}
