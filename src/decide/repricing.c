/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/repricing.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "decide/lease.h"
#include "decide/reservation.h"
#include "decide/risk.h"
#include "decide/runtime_bins.h"

enum {
    CHANGES_SEEN = 64,     /* of prices, when it is summed up what was overpaid */
    DOUBLINGS_MAX = 30,    /* of what must have been overpaid */
    MEMO = 256,            /* cheapest offers that are remembered: a power of two */
    LEAST_MOVE_MS = 60000, /* no move is so easy that it does not cost as much as this */
    MANY_MACHINES = 64,    /* of an offer: from so many on they are not looked at in vain */
};

#define RUNTIME_MOST (MSEC_PER_HOUR * 24 * 365) /* nobody knows what comes after that */
#define SAVED_LEAST  0.1                        /* of what it costs to keep the machine */

/* A machine, what runs there, and where that could be instead. Costs in micro-dollars. */
struct dear {
    uint32_t instance;
    uint32_t to;             /* offer */
    uint32_t stops;          /* the most that one of its tasks was stopped */
    msec_t remaining;        /* until its last task ends */
    msec_t since;            /* its first task runs */
    msec_t stop_ms;          /* until all its tasks stand still and are saved */
    msec_t start_ms;         /* until they run again on a machine that is ready */
    struct risk_stake here;  /* what is at stake on it, */
    struct risk_stake there; /* and when its tasks were saved and moved */
    double keep;             /* to keep it */
    double move;             /* what is spent on the move alone */
    double saved;            /* by leaving it */
    double overpaid;         /* so far */
    double gap;              /* what is overpaid in an hour now */
    struct dear *next;       /* of the same group */
};

/* The cheapest offer for a kind of machine. */
struct memo {
    uint32_t from; /* offer + 1; 0: nothing is here */
    uint32_t bin;
    uint64_t tasks;
    uint32_t to;
};

static const struct risk_stake most_at_stake = { .redo = (double)RUNTIME_MOST,
                                                 .restart = (double)MSEC_PER_HOUR };

struct repricing {
    const struct view *view;
    const struct machine_index *index;
    struct plan *plan;
    struct row_map *uses;
    msec_t changed; /* when a price changed last */
    struct row_map
        known; /* per instance that was looked at: 1 if it is not dear, else in 'dears', + 2 */
    struct dear **dears;
    uint32_t dear_count;
    uint32_t dear_room;
    struct row_map joined;    /* per instance: it is in a group */
    struct row_map gang_seen; /* per job */
    struct memo memo[MEMO];
};

/* An offer as it is compared with others. */
struct rate {
    double least;   /* what an hour of it costs where nothing is at stake, */
    double most;    /* and where most is */
    msec_t changed; /* its price or its risk, last; 0: never */
    bool is_open;
};

/* Machines that are left together or not at all. */
struct group {
    struct dear *first;
    struct dear *last;
    uint32_t stops;
    msec_t pause_ms; /* for which a gang of theirs stands still */
    double keep;
    double move;
    double saved;
    double overpaid;
    double gap;
};

static double charge(double per_hour, msec_t span)
{
    return span > 0 ? per_hour * (double)span / (double)MSEC_PER_HOUR : 0;
}

/* What runs on the machine, by shape. Returns how many different ones there are. */
static uint32_t count_shapes(const struct view *view, uint32_t instance, struct shape_count *ret)
{
    uint32_t count = 0;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        uint32_t i = 0;

        while (i < count && ret[i].shape != view->task.shape[task])
            i++;
        if (i == count)
            ret[count++] = (struct shape_count){ .shape = view->task.shape[task] };
        ret[i].count++;
    }
    return count;
}

/* The offer of machines no smaller on which its work costs least, with what it takes to set one up. */
static uint32_t cheapest_for(const struct repricing *repricing, const struct dear *dear)
{
    const struct view *view = repricing->view;
    struct shape_count *shapes = ARENA_ARRAY(repricing->plan->arena, struct shape_count,
                                             view->instance.task_count[dear->instance]);
    const uint32_t count = count_shapes(view, dear->instance, shapes);
    double least = HUGE_VAL;
    uint32_t best = OFFER_NONE;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        const struct machine_type *type = catalogue_type_of(view->catalogue, offer);
        const double cost =
            charge(risk_price(view, offer, dear->there), dear->remaining + type->setup_ms);

        if (cost >= least || offer == view->instance.offer[dear->instance] ||
            !reservation_is_open(view, offer) || reservation_is_doubtful(view, offer) ||
            !res_fits(view_capacity(view, dear->instance), &type->capacity) ||
            !reservation_offer_holds(view, offer, shapes, count))
            continue;
        best = offer;
        least = cost;
    }
    return best;
}

/* The same, once for all machines of a kind. */
static uint32_t find_offer(struct repricing *repricing, const struct dear *dear, uint64_t tasks)
{
    const struct memo key = {
        .from = repricing->view->instance.offer[dear->instance] + 1,
        .bin = runtime_bin(dear->remaining),
        .tasks = tasks,
    };
    struct memo *memo =
        &repricing->memo[map_mix(tasks + ((uint64_t)key.from << 8) + key.bin) % MEMO];

    if (memo->from != key.from || memo->bin != key.bin || memo->tasks != key.tasks) {
        *memo = key;
        memo->to = cheapest_for(repricing, dear);
    }
    return memo->to;
}

/* Note what the machine's tasks say of it. 'ret_tasks' tells their set from others. False: one of them
 * must stay. */
static bool look_at_tasks(const struct view *view, struct dear *dear, uint64_t *ret_tasks)
{
    struct risk_mix here = { 0 };
    struct risk_mix there = { 0 };

    *ret_tasks = 0;
    TASK_EACH(task, view, view->instance.first_task[dear->instance])
    {
        const struct shape_delays *delays = &view->shapes->rows[view->task.shape[task]].delays;
        const msec_t runtime = runtime_of_task(view, task, RUNTIME_REMAINING);
        const msec_t stop = delays->kill_ms + delays->upload_ms;
        const msec_t start = delays->fetch_ms + delays->build_ms + delays->init_ms;

        if (view->task.state[task] != TASK_RUNNING ||
            !view_job_may_move(view, view->task.job[task]))
            return false;
        if (view->task.launched_at[task] < dear->since)
            dear->since = view->task.launched_at[task];
        if (runtime > dear->remaining)
            dear->remaining = runtime;
        if (view->task.stops[task] > dear->stops)
            dear->stops = view->task.stops[task];
        if (stop > dear->stop_ms)
            dear->stop_ms = stop;
        if (start > dear->start_ms)
            dear->start_ms = start;
        *ret_tasks += map_mix(view->task.shape[task]);

        const double work = (double)(runtime + 1) * (double)(reservation_price(view, task) + 1);

        risk_mix_add(&here, risk_stake_here(view, task, runtime, false), work);
        risk_mix_add(&there, risk_stake_of(view, view->task.shape[task], runtime, false), work);
    }
    if (dear->remaining > RUNTIME_MOST)
        dear->remaining = RUNTIME_MOST;
    dear->here = risk_mix_stake(&here);
    dear->there = risk_mix_stake(&there);
    return true;
}

/* The most that was overpaid from some moment on until now. What was saved before that does not count:
 * it is no reason to go on overpaying. */
static double overpaid_on(const struct view *view, const struct dear *dear, uint32_t from_offer)
{
    const struct price_series *mine = &view->catalogue->offers[from_offer].price;
    const struct price_series *other = &view->catalogue->offers[dear->to].price;
    const double mine_factor = risk_factor(view, from_offer, dear->here);
    const double other_factor = risk_factor(view, dear->to, dear->there);
    msec_t at = view->now;
    double sum = 0;
    double most = 0;

    for (uint32_t i = 0; i < CHANGES_SEEN && at > dear->since; i++) {
        const msec_t mine_from = price_last_change(mine, at - 1);
        const msec_t other_from = price_last_change(other, at - 1);
        msec_t from = mine_from > other_from ? mine_from : other_from;

        if (from < dear->since)
            from = dear->since;
        sum += charge((double)price_at(mine, from) * mine_factor -
                          (double)price_at(other, from) * other_factor,
                      at - from);
        if (sum > most)
            most = sum;
        at = from;
    }
    return most;
}

/* What it costs to leave the machine, and to keep it. */
static void weigh(const struct view *view, struct dear *dear)
{
    const uint32_t from = view->instance.offer[dear->instance];
    const struct offer *to = &view->catalogue->offers[dear->to];
    const msec_t setup = view->catalogue->types[to->type].setup_ms;
    const double here = risk_price(view, from, dear->here);
    const double there = risk_price(view, dear->to, dear->there);
    const msec_t paid = lease_left(view, dear->instance);
    const double least = charge((double)view->offer_price[from], LEAST_MOVE_MS);

    dear->gap = here - there;
    dear->keep = charge(here, dear->remaining - paid);
    dear->move = charge((double)view->offer_price[from], dear->stop_ms) +
                 charge(there, setup + dear->start_ms);
    dear->saved =
        dear->keep - charge((double)view->offer_price[from], dear->stop_ms - paid) -
        charge(there, billing_paid_span(&to->billing, setup + dear->start_ms + dear->remaining));
    if (dear->move < least)
        dear->move = least;
    dear->overpaid = overpaid_on(view, dear, from);
}

/* When the price of the offer changed last, or how long its machines last; 0: never. */
static msec_t last_change(const struct view *view, uint32_t offer)
{
    const msec_t price = price_last_change(&view->catalogue->offers[offer].price, view->now);
    const msec_t risk = view->offer_risk_changed[offer];

    return price > risk ? price : risk;
}

/* Whether another machine would be cheaper, and the price or the risk of one of the two has changed since the work began. */
static bool is_dear(struct repricing *repricing, struct dear *dear)
{
    const struct view *view = repricing->view;
    uint64_t tasks;

    if (view->instance.state[dear->instance] != INSTANCE_READY ||
        view->instance.task_count[dear->instance] == 0 || view->instance.crowded[dear->instance] ||
        !look_at_tasks(view, dear, &tasks) || repricing->changed <= dear->since)
        return false;
    dear->to = find_offer(repricing, dear, tasks);
    if (dear->to == OFFER_NONE)
        return false;

    const uint32_t from = view->instance.offer[dear->instance];

    if (last_change(view, from) <= dear->since && last_change(view, dear->to) <= dear->since)
        return false;
    weigh(view, dear);
    return dear->gap > 0 && dear->saved > 0;
}

/* What is known of the machine if it is dear, else NULL. */
static struct dear *dear_of(struct repricing *repricing, uint32_t instance)
{
    const uint32_t known = row_map_get(&repricing->known, instance);
    struct dear dear = { .instance = instance, .since = MSEC_NEVER };

    if (known > 0)
        return known > 1 ? repricing->dears[known - 2] : NULL;
    if (!is_dear(repricing, &dear)) {
        row_map_set(&repricing->known, instance, 1);
        return NULL;
    }
    if (repricing->dear_count == repricing->dear_room) {
        const uint32_t room = repricing->dear_room > 0 ? repricing->dear_room * 2 : 32;
        struct dear **more = ARENA_ARRAY(repricing->plan->arena, struct dear *, room);

        for (uint32_t i = 0; i < repricing->dear_count; i++)
            more[i] = repricing->dears[i];
        repricing->dears = more;
        repricing->dear_room = room;
    }

    struct dear *kept = ARENA_ARRAY(repricing->plan->arena, struct dear, 1);

    *kept = dear;
    repricing->dears[repricing->dear_count++] = kept;
    row_map_set(&repricing->known, instance, repricing->dear_count + 1);
    return kept;
}

static void join(struct repricing *repricing, struct group *group, struct dear *dear)
{
    const msec_t boot = catalogue_boot_ms(repricing->view->catalogue, dear->to);
    const msec_t pause = (boot > dear->stop_ms ? boot : dear->stop_ms) + dear->start_ms;

    row_map_set(&repricing->joined, dear->instance, 1);
    if (group->first == NULL)
        group->first = dear;
    else
        group->last->next = dear;
    group->last = dear;
    if (dear->stops > group->stops)
        group->stops = dear->stops;
    if (pause > group->pause_ms)
        group->pause_ms = pause;
    group->keep += dear->keep;
    group->move += dear->move;
    group->saved += dear->saved;
    group->overpaid += dear->overpaid;
    group->gap += dear->gap;
}

/* The other machines of a gang join, if they are dear; else their share of the gang stands still.
 * Returns what that share costs in an hour. */
static double join_gang(struct repricing *repricing, struct group *group, uint32_t job)
{
    const struct view *view = repricing->view;
    double idle = 0;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];

        assert(instance != ROW_NONE); /* a gang that may move is settled */
        if (row_map_has(&repricing->joined, instance))
            continue;

        struct dear *dear = dear_of(repricing, instance);

        if (dear != NULL)
            join(repricing, group, dear);
        else
            idle +=
                (double)view->offer_price[view->instance.offer[instance]] *
                res_dominant_share(view_taken(view, task, instance), view_capacity(view, instance));
    }
    return idle;
}

/* All machines that go with 'first'. */
static struct group gather(struct repricing *repricing, struct dear *first)
{
    const struct view *view = repricing->view;
    struct group group = { .first = NULL };
    double idle = 0;

    join(repricing, &group, first);
    for (const struct dear *dear = group.first; dear != NULL; dear = dear->next) {
        TASK_EACH(task, view, view->instance.first_task[dear->instance])
        {
            const uint32_t job = view->task.job[task];

            if (!view->job.gang[job] || view->job.tasks_left[job] < 2 ||
                row_map_has(&repricing->gang_seen, job))
                continue;
            row_map_set(&repricing->gang_seen, job, 1);
            idle += join_gang(repricing, &group, job);
        }
    }

    const double still = charge(idle, group.pause_ms);

    group.move += still;
    group.saved -= still;
    return group;
}

/* Whether to leave them now; if it is to be expected for later, the plan wakes for it. */
static bool pays(const struct repricing *repricing, const struct group *group)
{
    const uint32_t doublings = group->stops < DOUBLINGS_MAX ? group->stops : DOUBLINGS_MAX;
    const double missing = group->move * (double)(1U << doublings) - group->overpaid;
    const double tenth = group->keep * SAVED_LEAST;
    const double least = tenth > group->move ? tenth : group->move;
    const msec_t now = repricing->view->now;

    if (missing <= 0)
        return group->saved >= least;
    if (group->saved - missing >= least) {
        const msec_t wake = now + 1 + (msec_t)(missing / group->gap * (double)MSEC_PER_HOUR);

        if (wake < repricing->plan->wake_at)
            repricing->plan->wake_at = wake;
    }
    return false;
}

static void leave(struct repricing *repricing, const struct dear *dear)
{
    const struct view *view = repricing->view;
    const uint32_t from = view->instance.offer[dear->instance];
    const bool is_dearer = view->offer_price[from] > view->offer_price[dear->to];
    struct plan_reason why =
        plan_because(is_dearer ? REASON_PRICE_ROSE : REASON_RISK_ROSE, view->offer_price[dear->to]);

    plan_reject(&why, dear->to, from, view->offer_price[from]);

    const uint32_t rent = plan_rent(repricing->plan, dear->to, why);
    const uint32_t first = repricing->plan->place_count;

    TASK_EACH(task, view, view->instance.first_task[dear->instance])
    {
        plan_place_fresh(repricing->plan, task, rent, why);
    }
    plan_share_saving(repricing->plan->places + first, repricing->plan->place_count - first,
                      (money_t)llround(dear->saved + dear->move), (money_t)llround(dear->move));
    plan_release(repricing->plan, dear->instance, why);
    row_map_set(repricing->uses, dear->instance, USE_LEFT);
}

/*
 * Which machines to look at.
 */

/* When the price or the risk of any offer changed last; 0: never. */
static msec_t newest_change(const struct view *view)
{
    msec_t newest = 0;

    for (uint32_t i = 0; i < view->catalogue->offer_count; i++) {
        const msec_t changed = view->offer_risk_changed[i];

        newest = changed > newest ? changed : newest;
    }
    for (uint32_t i = 0; view->catalogue->has_moving_prices && i < view->catalogue->offer_count;
         i++) {
        const msec_t changed = last_change(view, i);

        newest = changed > newest ? changed : newest;
    }
    return newest;
}

static struct rate *list_rates(const struct view *view, struct arena *arena)
{
    struct rate *rates = ARENA_ARRAY(arena, struct rate, view->catalogue->offer_count);

    for (uint32_t i = 0; i < view->catalogue->offer_count; i++) {
        rates[i] = (struct rate){
            .least = (double)view->offer_price[i],
            .most = risk_price(view, i, most_at_stake),
            .changed = last_change(view, i),
            .is_open = reservation_is_open(view, i) && !reservation_is_doubtful(view, i),
        };
    }
    return rates;
}

/* Whether 'to' could be cheaper than 'from' for some task: it has the least at stake when it was saved for a move. */
static bool may_be_cheaper(const struct rate *from, const struct rate *to)
{
    const double almost = 1 - 1e-9;

    return to->is_open && (from->changed > 0 || to->changed > 0) && to->least * almost < from->most;
}

/* The most that any machine of 'from' can have overpaid by now, had it been one of 'to'. */
static double overpaid_at_most(const struct view *view, uint32_t from, uint32_t to)
{
    const struct dear any = { .to = to, .here = most_at_stake };

    return overpaid_on(view, &any, from) * (1 + 1e-9);
}

/* Whether a machine of 'from', of which there are many, can have overpaid so much that it is left for 'to'. If it
 * cannot yet, the plan wakes for it. */
static bool can_pay(const struct repricing *repricing, const struct rate *rates, uint32_t from,
                    uint32_t to)
{
    const struct view *view = repricing->view;
    const double missing =
        charge((double)view->offer_price[from], LEAST_MOVE_MS) - overpaid_at_most(view, from, to);
    const double gap = rates[from].most - rates[to].least;

    if (missing <= 0)
        return true;
    if (gap > 0) {
        const msec_t wake = view->now + 1 + (msec_t)(missing / gap * (double)MSEC_PER_HOUR);

        if (wake < repricing->plan->wake_at)
            repricing->plan->wake_at = wake;
    }
    return false;
}

/* When a price changed last that could make somebody leave machines of 'from' now; 0: nobody has to be looked at. */
static msec_t last_reason(const struct repricing *repricing, const struct rate *rates,
                          uint32_t from)
{
    const struct view *view = repricing->view;
    const struct res *capacity = &catalogue_type_of(view->catalogue, from)->capacity;
    const bool many = repricing->index->offer_used[from] >= MANY_MACHINES;
    msec_t last = 0;

    for (uint32_t to = 0; to < view->catalogue->offer_count; to++) {
        const msec_t changed =
            rates[from].changed > rates[to].changed ? rates[from].changed : rates[to].changed;

        if (changed > last && may_be_cheaper(&rates[from], &rates[to]) &&
            res_fits(capacity, &catalogue_type_of(view->catalogue, to)->capacity) &&
            (!many || can_pay(repricing, rates, from, to)))
            last = changed;
    }
    return last;
}

struct suspect {
    uint64_t id;
    uint32_t instance;
};

static int compare_suspects(const void *left, const void *right)
{
    const struct suspect *a = left;
    const struct suspect *b = right;

    return (a->id > b->id) - (a->id < b->id);
}

/* The machines that have to be looked at, in the order of their ids. */
static uint32_t list_suspects(const struct repricing *repricing, const struct rate *rates,
                              struct suspect **ret)
{
    const struct view *view = repricing->view;
    const struct machine_index *index = repricing->index;
    msec_t *reasons = ARENA_ARRAY(repricing->plan->arena, msec_t, index->offer_count);
    uint32_t most = 0;
    uint32_t count = 0;

    for (uint32_t from = 0; from < index->offer_count; from++) {
        if (index->offer_used[from] == 0)
            continue;
        reasons[from] = last_reason(repricing, rates, from);
        if (reasons[from] > 0)
            most += index->offer_used[from];
    }
    *ret = ARENA_ARRAY(repricing->plan->arena, struct suspect, most);
    for (uint32_t from = 0; from < index->offer_count && most > 0; from++) {
        if (reasons[from] == 0)
            continue;
        for (uint32_t i = index->of_offer[from]; i != ROW_NONE; i = index->machines[i].next) {
            if (index->machines[i].since < reasons[from])
                (*ret)[count++] = (struct suspect){ view->instance.id[i], i };
        }
    }
    if (count > 0)
        qsort(*ret, count, sizeof(**ret), compare_suspects);
    return count;
}

void repricing_run(const struct machine_index *index, struct plan *plan, struct row_map *uses)
{
    struct suspect *suspects;

    assert(index->is_full);
    if (index->view->job.movables == 0)
        return;

    const msec_t changed = newest_change(index->view);

    if (changed == 0)
        return;

    const struct rate *rates = list_rates(index->view, plan->arena);

    struct repricing *repricing = ARENA_ARRAY(plan->arena, struct repricing, 1);

    repricing->view = index->view;
    repricing->index = index;
    repricing->plan = plan;
    repricing->uses = uses;
    repricing->changed = changed;
    row_map_init(&repricing->known, plan->arena);
    row_map_init(&repricing->joined, plan->arena);
    row_map_init(&repricing->gang_seen, plan->arena);

    const uint32_t count = list_suspects(repricing, rates, &suspects);

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t instance = suspects[i].instance;

        if (row_map_has(&repricing->joined, instance) || dear_of(repricing, instance) == NULL)
            continue;

        const struct group group = gather(repricing, dear_of(repricing, instance));

        if (!pays(repricing, &group))
            continue;
        for (const struct dear *dear = group.first; dear != NULL; dear = dear->next)
            leave(repricing, dear);
    }
}
