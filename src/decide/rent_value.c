/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/rent_value.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decide/crowd.h"
#include "decide/lease.h"
#include "decide/place_reason.h"
#include "decide/rent_merge.h"
#include "decide/rent_trial.h"
#include "decide/reservation.h"
#include "decide/resource_price.h"

enum {
    PROBES = 64,         /* batches that may have nothing left are passed over, up to so many */
    NEAR = 4,            /* the first of the window, where there is enough to choose from: */
    ENOUGH = 128,        /* so many batches that run about as long */
    VERY_MANY = 1 << 17, /* of so many batches the window is filled again only */
    MISSING = 16,        /* when more than so many of it have nothing left */
    SORTED_FOR = 16,     /* batches from which on it pays to sort the ways by what they are worth */
    MANY_BATCHES = 256,  /* from so many on there are few ways to get a machine, */
    MANY_WAYS = 16,      /* and of so many not all are tried each time, */
    ALL_AGAIN = 16,      /* but every sixteenth time */
};

#define NEARLY 0.94 /* of the best value: who had that is tried each time */
/* A bound on a value is rounded by less. */
#define ROUNDING 1e-9
/* Of the best value: for services the largest machine that has that is rented. */
#define AS_GOOD 0.99
#define RATIO_MOST \
    1000.0 /* so many times as good as the second best: that costs nothing, or the other does nothing */

struct renter {
    struct batches *batches;
    const struct view *view;
    struct runtime_bins *bins;
    struct plan *plan;
    struct rent_ways ways;
    bool has_idle;
    uint32_t *idle;             /* per offer: the empty machine with most time paid, + 1; 0: none */
    uint32_t first;             /* batch that may have tasks left */
    struct trial_window window; /* batches that are looked at */
    double *values;             /* per way */
    struct resource_price worth; /* of what tasks take */
    const struct way **by_share; /* ways, the best first; NULL: they are not sorted */
    double *batch_worth;         /* of a task of each batch, per hour; below 0: not looked at yet */
    bool *is_contender; /* per way: it was nearly the best; NULL: all are tried each time */
    uint32_t tried;     /* how often a machine was chosen */
    msec_t crowd_until; /* see crowd.h; below 0: not looked at yet */
};

static const struct batch *batch_of(const struct renter *renter, uint32_t row)
{
    return renter->window.rows[row].batch;
}

/* Below 0: the machines of 'a' have more for their price. No two ways are equal. */
static int by_falling_share(const struct way *a, const struct way *b)
{
    if (a->share > b->share)
        return -1;
    if (a->share < b->share)
        return 1;
    return (a->rivals->offer > b->rivals->offer) - (a->rivals->offer < b->rivals->offer);
}

static int compare_shares(const void *left, const void *right)
{
    return by_falling_share(*(const struct way *const *)left, *(const struct way *const *)right);
}

static void sort_by_share(struct renter *renter)
{
    renter->by_share = ARENA_ARRAY(renter->plan->arena, const struct way *, renter->ways.count);
    for (uint32_t i = 0; i < renter->ways.count; i++)
        renter->by_share[i] = &renter->ways.rows[i];
    qsort(renter->by_share, renter->ways.count, sizeof(*renter->by_share), compare_shares);
}

/* The most that machines which may run the shape have for their price. */
static double best_share(const struct renter *renter, uint32_t shape)
{
    const struct view *view = renter->view;
    const struct way *best = NULL;

    for (uint32_t i = 0; i < renter->ways.count && (renter->by_share == NULL || best == NULL);
         i++) {
        const struct way *way =
            renter->by_share != NULL ? renter->by_share[i] : &renter->ways.rows[i];

        if (way->share > 0 && (best == NULL || by_falling_share(way, best) < 0) &&
            shape_fits_offer(view->shapes, shape, view->catalogue, way->rivals->offer))
            best = way;
    }
    return best != NULL ? best->share : 0;
}

/* What resources are worth for all that waits. A task is counted with what it takes on its cheapest machine. */
static void find_worth(struct renter *renter, struct rent_ways_memory *memory)
{
    const struct view *view = renter->view;
    double wanted[RES_PRICED] = { 0 };

    for (uint32_t i = 0; i < renter->batches->count; i++) {
        const struct batch *batch = &renter->batches->rows[i];
        const uint32_t offer = view->shape_offer[batch->shape];

        if (batch->left == 0 || offer == OFFER_NONE)
            continue;

        const struct res *demand =
            shape_demand_at(view->shapes, batch->shape, view->catalogue, offer);

        for (int kind = 0; kind < RES_PRICED; kind++)
            wanted[kind] += (double)batch->left * (double)demand->amount[kind];
    }
    renter->worth = rent_ways_worth(&renter->ways, wanted, memory);
    for (uint32_t i = 0; i < renter->ways.count; i++) {
        const struct resource_offer *bundle = &renter->ways.bundles[i];

        renter->ways.rows[i].share =
            resource_worth(&renter->worth, &bundle->capacity) / bundle->price;
    }
    if (renter->batches->count >= SORTED_FOR)
        sort_by_share(renter);
    for (uint32_t i = 0; i < renter->batches->count; i++)
        renter->batch_worth[i] = -1;
}

static void list_idle(struct renter *renter)
{
    const struct view *view = renter->view;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++)
        renter->idle[offer] = 0;
    renter->has_idle = view->instance.empty_first != ROW_NONE;
    EMPTY_EACH(instance, view)
    {
        uint32_t *best = &renter->idle[view->instance.offer[instance]];

        if (view_is_open(view, instance) && runtime_bins_is_untouched(renter->bins, instance) &&
            (*best == 0 || lease_left(view, instance) > lease_left(view, *best - 1)))
            *best = instance + 1;
    }
}

/* What a task of the shape takes, if that is the same everywhere, else NULL. */
static const struct res *demand_everywhere(const struct shapes *shapes, uint32_t shape)
{
    const struct shape *row = &shapes->rows[shape];
    const struct shape_demand *demand = &shapes->demands[row->demand_first];

    return row->offers == OFFERS_ALL && !row->whole && row->demand_count == 1 &&
                   demand->family == FAMILY_NONE
               ? &demand->res
               : NULL;
}

static void note_fits(struct renter *renter)
{
    fit_mask_begin(&renter->window.fits);
    for (uint32_t i = 0; i < renter->window.row_count; i++)
        fit_mask_add(&renter->window.fits, i, renter->window.rows[i].demand);
    fit_mask_end(&renter->window.fits);
}

/* What an hour of a task of the shape is worth: what it takes, at the prices of resources. Where it may only run on
 * machines that have less for their price than others, as much more; but never more than it costs alone. */
static double worth_of(const struct renter *renter, uint32_t shape)
{
    const struct view *view = renter->view;
    const double alone = (double)view->shape_price[shape];

    if (view->shape_offer[shape] == OFFER_NONE)
        return 0;

    const double share = best_share(renter, shape);
    const double worth =
        resource_worth(&renter->worth, shape_demand_at(view->shapes, shape, view->catalogue,
                                                       view->shape_offer[shape]));

    return share > 0 && worth < alone * share ? worth / share : alone;
}

static void look_at(struct renter *renter, uint32_t batch)
{
    struct batch *row = &renter->batches->rows[batch];

    if (renter->batch_worth[batch] < 0)
        renter->batch_worth[batch] = worth_of(renter, row->shape);
    renter->window.rows[renter->window.row_count++] = (struct trial_row){
        .batch = row,
        .demand = demand_everywhere(renter->view->shapes, row->shape),
        .runtime = row->runtime,
        .worth = renter->batch_worth[batch],
        .left = row->left,
        .apart = row->apart,
        .fixed = row->fixed,
    };
    renter->window.left += row->left;
}

/* The end of the batches that run at least so long. */
static uint32_t end_of_longer(const struct renter *renter, msec_t least)
{
    const struct batch *rows = renter->batches->rows;
    uint32_t low = renter->first;
    uint32_t high = renter->batches->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (rows[middle].runtime >= least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The end of the batches that run about as long as the first that has tasks left: at least half as long, or closer to it where
 * that is enough to choose from. */
static uint32_t end_of_alike(const struct renter *renter)
{
    const msec_t longest = renter->batches->rows[renter->first].runtime;
    uint32_t end = renter->first;

    for (msec_t part = 16; part >= 2 && end - renter->first < ENOUGH; part /= 2)
        end = end_of_longer(renter, longest - longest / part);
    return end;
}

/* Fill the window with batches from 'from' to 'end', evenly. */
static void look_further(struct renter *renter, uint32_t from, uint32_t end)
{
    const uint64_t span = end - from;
    const uint32_t room = TRIAL_ROWS - renter->window.row_count;

    for (uint32_t i = 0; i < room; i++) {
        const uint32_t next = from + (uint32_t)(span * (i + 1) / room);
        uint32_t at = from + (uint32_t)(span * i / room);

        for (uint32_t probe = 0; at < next && probe < PROBES; probe++, at++) {
            if (renter->batches->rows[at].left > 0) {
                look_at(renter, at);
                break;
            }
        }
    }
}

/* Whether the batches that are looked at will do again, without those that have nothing left: there are very many others, the
 * first of all is among them, and few are missing. */
static bool look_again(struct renter *renter)
{
    uint32_t kept = 0;

    if (renter->batches->count < VERY_MANY)
        return false;
    renter->window.left = 0;
    for (uint32_t i = 0; i < renter->window.row_count; i++) {
        if (renter->window.rows[i].batch->left == 0)
            continue;
        renter->window.rows[kept] = renter->window.rows[i];
        renter->window.rows[kept].left = renter->window.rows[i].batch->left;
        renter->window.left += renter->window.rows[kept++].left;
    }
    renter->window.row_count = kept;
    return kept >= TRIAL_ROWS - MISSING &&
           renter->window.rows[0].batch == &renter->batches->rows[renter->first];
}

/* The first batches that have tasks left. Where more than these run about as long, most of the window is spread
 * over them: there are small ones then, to fill what large ones leave. */
static void look(struct renter *renter)
{
    const struct batches *batches = renter->batches;

    while (renter->first < batches->count && batches->rows[renter->first].left == 0)
        renter->first++;
    if (look_again(renter)) {
        note_fits(renter);
        return;
    }
    renter->window.row_count = 0;
    renter->window.left = 0;
    if (renter->first == batches->count)
        return;

    const uint32_t end = end_of_alike(renter);
    const uint32_t near = end - renter->first > TRIAL_ROWS ? NEAR : TRIAL_ROWS;
    uint32_t at = renter->first;

    for (; at < batches->count && renter->window.row_count < near; at++) {
        if (batches->rows[at].left > 0)
            look_at(renter, at);
    }
    if (near < TRIAL_ROWS && at < end)
        look_further(renter, at, end);
    note_fits(renter);
}

/* Of equal value the cheaper one, then the one that there is, then the earlier offer. */
static bool is_better(const struct view *view, const struct trial *a, const struct trial *b)
{
    if (a->value > b->value)
        return true;
    if (a->value < b->value)
        return false;
    return view->offer_price[a->offer] < view->offer_price[b->offer];
}

struct choice {
    struct trial best;
    uint32_t runner_up; /* offer, or OFFER_NONE */
    double runner_up_value;
    bool found;
};

/* Whether the machine holds the first batch. */
static bool consider(const struct renter *renter, struct trial *trial, struct choice *choice)
{
    if (!trial_fill(&renter->window, trial))
        return false;
    if (!choice->found || is_better(renter->view, trial, &choice->best)) {
        if (choice->found && choice->best.offer != trial->offer) {
            choice->runner_up = choice->best.offer;
            choice->runner_up_value = choice->best.value;
        }
        choice->best = *trial;
        choice->found = true;
    } else if (trial->offer != choice->best.offer && trial->value > choice->runner_up_value) {
        choice->runner_up = trial->offer;
        choice->runner_up_value = trial->value;
    }
    return true;
}

static void consider_idle(const struct renter *renter, struct choice *ret)
{
    *ret = (struct choice){ .runner_up = OFFER_NONE, .runner_up_value = -1 };
    for (uint32_t offer = 0; offer < renter->view->catalogue->offer_count && renter->has_idle;
         offer++) {
        if (renter->idle[offer] != 0) {
            struct trial trial;

            trial_begin_idle(&trial, renter->view, renter->idle[offer] - 1);
            (void)consider(renter, &trial, ret);
        }
    }
}

/* Among those that were nearly the best. False: it is time to try all, or one of them does not hold the first batch,
 * where others may be better. */
static bool choose_contender(struct renter *renter, struct choice *ret)
{
    if (renter->is_contender == NULL || renter->tried++ % ALL_AGAIN == 0)
        return false;
    consider_idle(renter, ret);
    for (uint32_t i = 0; i < renter->ways.count; i++) {
        renter->values[i] = 0;
        if (!renter->is_contender[i])
            continue;

        struct trial trial;

        trial_begin_fresh(&trial, renter->view, renter->ways.rows[i].rivals);
        if (!consider(renter, &trial, ret))
            return false;
        renter->values[i] = trial.value;
    }
    return ret->found;
}

/* Services have no end, so those of a large machine leave it no later than those of several small ones. Each machine costs something that is
 * not in its price: its boot, a system and daemons of its own, requests to the cloud and the engine. So of machines that are
 * as good, the one that costs most is rented: it does the most. */
static void prefer_large(const struct renter *renter, struct choice *choice)
{
    const struct view *view = renter->view;
    const struct way *largest = NULL;
    money_t most = view->offer_price[choice->best.offer];

    if (choice->best.instance != ROW_NONE || batch_of(renter, 0)->runtime < RUNTIME_HORIZON_MS)
        return;
    for (uint32_t i = 0; i < renter->ways.count; i++) {
        const struct way *way = &renter->ways.rows[i];

        if (renter->values[i] >= choice->best.value * AS_GOOD &&
            view->offer_price[way->rivals->offer] > most) {
            most = view->offer_price[way->rivals->offer];
            largest = way;
        }
    }
    if (largest == NULL)
        return;

    struct trial trial;

    trial_begin_fresh(&trial, view, largest->rivals);
    if (!trial_fill(&renter->window, &trial))
        return;
    choice->runner_up = choice->best.offer;
    choice->runner_up_value = choice->best.value;
    choice->best = trial;
}

/* All work that is looked at: what a machine can be worth at the most, times its charge. */
static double all_work(const struct renter *renter)
{
    double work = 0;

    for (uint32_t row = 0; row < renter->window.row_count; row++) {
        const struct batch *batch = batch_of(renter, row);

        work += (double)batch->left * (double)batch->runtime *
                (batch->fixed ? 1 + renter->window.doubt : 1) * renter->window.rows[row].worth /
                (double)MSEC_PER_HOUR;
    }
    return work;
}

/* Whether all 'work' on a machine that is charged for no more than its setup and the first batch would be worth less than the
 * best and the second best so far. */
static bool is_hopeless(const struct renter *renter, const struct way *way, double work,
                        const struct choice *choice)
{
    const msec_t setup = catalogue_type_of(renter->view->catalogue, way->rivals->offer)->setup_ms;
    const double charge =
        way->least * (double)(setup + batch_of(renter, 0)->runtime) / (double)MSEC_PER_HOUR;
    const double enough = charge * (1 - ROUNDING);

    return choice->found && work < choice->best.value * enough &&
           work < choice->runner_up_value * enough;
}

static void choose(struct renter *renter, struct choice *ret)
{
    const bool is_each_valued =
        renter->is_contender != NULL || batch_of(renter, 0)->runtime >= RUNTIME_HORIZON_MS;
    const double work = all_work(renter);

    if (choose_contender(renter, ret)) {
        prefer_large(renter, ret);
        return;
    }
    consider_idle(renter, ret);
    for (uint32_t i = 0; i < renter->ways.count; i++) {
        renter->values[i] = 0;
        if (!is_each_valued && is_hopeless(renter, &renter->ways.rows[i], work, ret))
            continue;

        struct trial trial;

        trial_begin_fresh(&trial, renter->view, renter->ways.rows[i].rivals);
        if (consider(renter, &trial, ret))
            renter->values[i] = trial.value;
    }
    for (uint32_t i = 0; i < renter->ways.count && renter->is_contender != NULL; i++)
        renter->is_contender[i] = renter->values[i] >= ret->best.value * NEARLY;
    if (ret->found)
        prefer_large(renter, ret);
}

/* What all tasks of the trial take; false: that differs from machine to machine. */
static bool sum_demands(const struct renter *renter, const struct trial *trial, struct res *ret)
{
    *ret = (struct res){ { 0 } };
    for (uint64_t rest = trial->used; rest != 0; rest &= rest - 1) {
        const uint32_t row = fit_first(rest);
        const struct res *demand = renter->window.rows[row].demand;

        if (trial->later[row] > 0 || demand == NULL)
            return false;
        for (int kind = 0; kind < RES_KINDS; kind++)
            ret->amount[kind] += demand->amount[kind] * (int64_t)trial->at_once[row];
    }
    return true;
}

/* The machine that holds all that would be done there for the least charge: another one may have stood for it, or it has less
 * that would be left over. */
static void settle(const struct renter *renter, struct choice *choice)
{
    const struct view *view = renter->view;
    const struct trial *tried = &choice->best;
    const uint32_t before = tried->offer;
    const msec_t runs = tried->busy - tried->ready;
    struct trial best = *tried;
    struct res sum;

    if (tried->instance != ROW_NONE || !sum_demands(renter, tried, &sum))
        return;

    const double first =
        trial_charge(&renter->window, tried, before, trial_stake(&renter->window, tried));
    double least = first;

    for (uint32_t i = 0; i < renter->ways.sized_count; i++) {
        const struct way *way = renter->ways.sized[i].way;

        if (way->least >= (double)view->offer_price[best.offer])
            break;
        if (!res_fits(&sum, &renter->ways.sized[i].capacity))
            continue;

        struct trial trial;

        trial_begin_fresh(&trial, view, way->rivals);
        trial.used = tried->used;
        memcpy(trial.at_once, tried->at_once, sizeof(trial.at_once));
        memcpy(trial.later, tried->later, sizeof(trial.later));
        trial.busy = trial.ready + runs;
        trial.held = tried->held;

        const double charge = trial_choose_offer(&renter->window, &trial);

        if (charge < least) {
            least = charge;
            best = trial;
        }
    }
    if (best.offer != before) {
        best.value = least > 0 ? tried->value * first / least : HUGE_VAL; /* the same work */
        choice->runner_up = before;
        choice->runner_up_value = tried->value;
        choice->best = best;
    }
}

/* How often the same machine can be filled in the same way. */
static uint32_t repeats(const struct renter *renter, const struct trial *trial)
{
    uint32_t most = trial->instance == ROW_NONE ? UINT32_MAX : 1;

    for (uint64_t rest = trial->used; rest != 0; rest &= rest - 1) {
        const uint32_t row = fit_first(rest);
        const uint32_t left = renter->window.rows[row].left;
        const uint32_t each = trial_count(trial, row);

        assert(each > 0);
        if (left / each < most)
            most = left / each;
    }
    assert(most > 0); /* else the same machine would be chosen for ever */
    assert(most < UINT32_MAX);
    return most;
}

/* Tasks of the batch wait for the machine: look again when the newest of them has waited too long. */
static void wake_for(const struct renter *renter, const struct batch *batch)
{
    const msec_t left = renter->window.limits->paid_wait - batch_waited(renter->view, batch);
    const msec_t at = renter->view->now + (left > 0 ? left : 0) + 1;

    if (at < renter->plan->wake_at)
        renter->plan->wake_at = at;
}

/* The newest task of the batch waits for the machine: in time that is paid for, so it costs nothing more. */
static void let_wait(const struct renter *renter, struct batch *batch, const struct trial *trial,
                     uint32_t target)
{
    const struct view *view = renter->view;
    const msec_t left = renter->window.limits->paid_wait - batch_waited(view, batch);
    struct plan_wait wait = batch_wait(view, batch, WAIT_SHARED, batch_take_last(batch));

    wait.fresh = trial->instance == ROW_NONE;
    wait.target = target;
    wait.offer = trial->offer;
    wait.until = view->now + (left > 0 ? left : 0);
    wait.wait_cost = 0;
    plan_let_wait(renter->plan, &wait);
}

/*
 * Why the machine. The second best may hold other work, so its price is that for the same work: if it does half as much for each
 * dollar, that is twice the price of what was chosen.
 */
static struct plan_reason reason_of(const struct view *view, const struct choice *choice)
{
    const struct trial *trial = &choice->best;
    const money_t price = view->offer_price[trial->offer];
    const double ratio = choice->runner_up_value > 0 ? trial->value / choice->runner_up_value : 0;
    struct plan_reason why =
        plan_because(ratio > 0 && ratio < 1 ? REASON_FEWER_MACHINES : REASON_BEST_VALUE, price);

    if (ratio > 0 && ratio < RATIO_MOST)
        plan_reject(&why, trial->offer, choice->runner_up, (money_t)llround((double)price * ratio));
    return why;
}

/* A machine that stands idle, for each of the tasks. */
static struct plan_reason reason_of_idle(const struct view *view, uint32_t task,
                                         const struct trial *trial)
{
    return place_reason(view, trial->busy > trial->paid ? REASON_BEST_VALUE : REASON_PAID_TIME,
                        task, trial->instance);
}

/* Do what was tried: place those that start at once, and let the others wait for it. */
static void carry_out(struct renter *renter, const struct choice *choice)
{
    const struct view *view = renter->view;
    const struct trial *trial = &choice->best;
    const bool fresh = trial->instance == ROW_NONE;
    const struct plan_reason why = reason_of(view, choice);
    uint32_t target = trial->instance;

    assert(!fresh || reservation_is_open(view, trial->offer));
    if (fresh)
        target = plan_rent(renter->plan, trial->offer, why);
    for (uint64_t rest = trial->used; rest != 0; rest &= rest - 1) {
        const uint32_t row = fit_first(rest);
        struct batch *batch = renter->window.rows[row].batch;

        for (uint32_t i = 0; i < trial->at_once[row]; i++) {
            const uint32_t task = batch_take_first(batch);

            if (fresh) {
                plan_place_fresh(renter->plan, task, target, why);
            } else {
                runtime_bins_assign(renter->bins, task, target);
                plan_place_kept(renter->plan, task, target, reason_of_idle(view, task, trial));
            }
        }
        if (trial->later[row] > 0)
            wake_for(renter, batch);
        for (uint32_t i = 0; i < trial->later[row]; i++)
            let_wait(renter, batch, trial, target);
    }
    if (!fresh)
        list_idle(renter);
}

/* Until when the services that would be on the machine wait for others rather than have it; at or before 'now': they do not. */
static msec_t crowd_of(struct renter *renter, const struct choice *choice)
{
    msec_t until;

    if (choice->best.instance != ROW_NONE || choice->best.value >= CROWD_WELL_USED ||
        batch_of(renter, 0)->runtime < RUNTIME_HORIZON_MS)
        return renter->view->now;
    if (renter->crowd_until < 0)
        renter->crowd_until = crowd_until(renter->view);
    until = renter->crowd_until;
    for (uint64_t rest = choice->best.used; rest != 0; rest &= rest - 1) {
        const struct batch *batch = batch_of(renter, fit_first(rest));

        if (batch->runtime >= RUNTIME_HORIZON_MS)
            until = crowd_patience(renter->view, batch, until, renter->window.limits->scarcity);
    }
    return until;
}

/* Nothing is rented for them now. */
static void leave_to_crowd(const struct renter *renter, const struct trial *trial, msec_t until)
{
    assert(trial->at_once[0] > 0); /* the first batch has services */
    for (uint64_t rest = trial->used; rest != 0; rest &= rest - 1) {
        const uint32_t row = fit_first(rest);
        struct batch *batch = renter->window.rows[row].batch;

        for (uint32_t i = 0; i < trial->at_once[row] && batch->runtime >= RUNTIME_HORIZON_MS; i++)
            crowd_wait(renter->view, batch, until, renter->plan);
    }
}

/* One machine after the other, until nothing is left. */
static void rent_each(struct renter *renter)
{
    for (;;) {
        struct choice choice;

        look(renter);
        if (renter->window.row_count == 0)
            return;
        choose(renter, &choice);
        if (!choice.found) {
            renter->first = (uint32_t)(renter->window.rows[0].batch - renter->batches->rows) +
                            1; /* nothing holds it: it waits */
            continue;
        }
        settle(renter, &choice);
        if (crowd_of(renter, &choice) > renter->view->now) {
            leave_to_crowd(renter, &choice.best, crowd_of(renter, &choice));
            continue;
        }
        for (uint32_t i = repeats(renter, &choice.best); i > 0; i--)
            carry_out(renter, &choice);
    }
}

void rent_value(struct batches *batches, struct runtime_bins *bins,
                const struct wait_limits *limits, double doubt, money_t machine_cost,
                struct rent_ways_memory *memory, struct plan *plan)
{
    const struct view *view = batches->view;
    const uint32_t first_rent = plan->rent_count;
    const uint32_t first_place = plan->place_count;
    struct renter renter = {
        .batches = batches,
        .view = view,
        .bins = bins,
        .window = { .view = view, .limits = limits, .doubt = doubt, .machine_cost = machine_cost },
        .plan = plan,
        .idle = ARENA_ARRAY(plan->arena, uint32_t, view->catalogue->offer_count),
        .batch_worth = ARENA_ARRAY(plan->arena, double, batches->count),
        .crowd_until = -1,
    };

    assert(limits->paid_wait >= 0);
    assert(machine_cost >= 0);
    assert(view->shapes_priced == view->shapes->count);
    look(&renter);
    if (renter.window.row_count == 0)
        return;
    rent_ways_list(&renter.ways, batches, batches->count >= MANY_BATCHES, memory, plan->arena);
    renter.window.has_risk = renter.ways.has_risk;
    renter.values = ARENA_ARRAY(plan->arena, double, renter.ways.count);
    if (batches->count >= MANY_BATCHES && renter.ways.count >= MANY_WAYS)
        renter.is_contender = ARENA_ARRAY(plan->arena, bool, renter.ways.count);
    find_worth(&renter, memory);
    list_idle(&renter);
    plan_expect_places(plan, batches_left(batches));
    rent_each(&renter);
    rent_merge(view, first_rent, first_place, plan);
}
