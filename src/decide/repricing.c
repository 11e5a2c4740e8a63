/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/repricing.h"

#include <assert.h>

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
};

#define RUNTIME_MOST (MSEC_PER_HOUR * 24 * 365) /* nobody knows what comes after that */
#define SAVED_LEAST  0.1                        /* of what it costs to keep the machine */

/* A machine, what runs there, and where that could be instead. Costs in micro-dollars. */
struct dear {
    uint32_t instance;
    uint32_t to;       /* offer */
    uint32_t stops;    /* the most that one of its tasks was stopped */
    msec_t remaining;  /* until its last task ends */
    msec_t since;      /* its first task runs */
    msec_t stop_ms;    /* until all its tasks stand still and are saved */
    msec_t start_ms;   /* until they run again on a machine that is ready */
    double keep;       /* to keep it */
    double move;       /* what is spent on the move alone */
    double saved;      /* by leaving it */
    double overpaid;   /* so far */
    double gap;        /* what is overpaid in an hour now */
    struct dear *next; /* of the same group */
};

/* The cheapest offer for a kind of machine. */
struct memo {
    uint32_t from; /* offer + 1; 0: nothing is here */
    uint32_t bin;
    uint64_t tasks;
    uint32_t to;
};

struct repricing {
    const struct view *view;
    struct plan *plan;
    bool *left;
    struct dear **dear; /* per instance, or NULL */
    bool *joined;       /* per instance: it is in a group */
    bool *gang_seen;    /* per job */
    struct memo memo[MEMO];
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
    double least = charge(risk_price(view, view->instance.offer[dear->instance], dear->remaining),
                          dear->remaining);
    uint32_t best = OFFER_NONE;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        const struct machine_type *type = catalogue_type_of(view->catalogue, offer);
        const double cost =
            charge(risk_price(view, offer, dear->remaining), dear->remaining + type->setup_ms);

        if (cost >= least || !reservation_is_open(view, offer) ||
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
    }
    if (dear->remaining > RUNTIME_MOST)
        dear->remaining = RUNTIME_MOST;
    return true;
}

/* The most that was overpaid from some moment on until now. What was saved before that does not count:
 * it is no reason to go on overpaying. */
static double overpaid(const struct view *view, const struct dear *dear)
{
    const struct price_series *mine =
        &view->catalogue->offers[view->instance.offer[dear->instance]].price;
    const struct price_series *other = &view->catalogue->offers[dear->to].price;
    const double mine_factor =
        risk_factor(view, view->instance.offer[dear->instance], dear->remaining);
    const double other_factor = risk_factor(view, dear->to, dear->remaining);
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
    const double here = risk_price(view, from, dear->remaining);
    const double there = risk_price(view, dear->to, dear->remaining);
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
    dear->overpaid = overpaid(view, dear);
}

/* Whether another machine would be cheaper, and one of the two prices has changed since the work began. */
static bool is_dear(struct repricing *repricing, struct dear *dear, msec_t changed)
{
    const struct view *view = repricing->view;
    uint64_t tasks;

    if (view->instance.state[dear->instance] != INSTANCE_READY ||
        view->instance.task_count[dear->instance] == 0 || view->instance.crowded[dear->instance] ||
        !look_at_tasks(view, dear, &tasks) || changed <= dear->since)
        return false;
    dear->to = find_offer(repricing, dear, tasks);
    if (dear->to == OFFER_NONE)
        return false;

    const struct offer *offers = view->catalogue->offers;
    const uint32_t from = view->instance.offer[dear->instance];

    if (price_last_change(&offers[from].price, view->now) <= dear->since &&
        price_last_change(&offers[dear->to].price, view->now) <= dear->since)
        return false;
    weigh(view, dear);
    return dear->gap > 0 && dear->saved > 0;
}

/* When a price changed last; 0: never. */
static msec_t last_change(const struct view *view)
{
    const struct catalogue *catalogue = view->catalogue;
    msec_t last = 0;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const msec_t change = price_last_change(&catalogue->offers[i].price, view->now);

        if (change > last)
            last = change;
    }
    return last;
}

/* The machine joins the group, with what only its own work costs. */
static void join(struct repricing *repricing, struct group *group, struct dear *dear)
{
    const struct machine_type *type = catalogue_type_of(repricing->view->catalogue, dear->to);
    const msec_t boot = type->acquire_ms + type->setup_ms;
    const msec_t pause = (boot > dear->stop_ms ? boot : dear->stop_ms) + dear->start_ms;

    repricing->joined[dear->instance] = true;
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
        if (repricing->joined[instance])
            continue;
        if (repricing->dear[instance] != NULL)
            join(repricing, group, repricing->dear[instance]);
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

            if (!view->job.gang[job] || view->job.tasks_left[job] < 2 || repricing->gang_seen[job])
                continue;
            repricing->gang_seen[job] = true;
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
    struct plan_reason why = plan_because(REASON_PRICE_ROSE, view->offer_price[dear->to]);

    why.passed_over = view->offer_price[from];
    why.passed_offer = from;

    const uint32_t rent = plan_rent(repricing->plan, dear->to, why);

    TASK_EACH(task, view, view->instance.first_task[dear->instance])
    {
        plan_place_fresh(repricing->plan, task, rent, why);
    }
    plan_release(repricing->plan, dear->instance, why);
    repricing->left[dear->instance] = true;
}

void repricing_run(const struct view *view, struct plan *plan, bool *left)
{
    const msec_t changed = last_change(view);

    if (changed == 0)
        return;

    struct repricing *repricing = ARENA_ARRAY(plan->arena, struct repricing, 1);

    repricing->view = view;
    repricing->plan = plan;
    repricing->left = left;
    repricing->dear = ARENA_ARRAY(plan->arena, struct dear *, view->instance.count);
    repricing->joined = ARENA_ARRAY(plan->arena, bool, view->instance.count);
    repricing->gang_seen = ARENA_ARRAY(plan->arena, bool, view->job.count);
    INSTANCE_EACH(instance, view)
    {
        struct dear dear = { .instance = instance, .since = MSEC_NEVER };

        if (!is_dear(repricing, &dear, changed))
            continue;
        repricing->dear[instance] = ARENA_ARRAY(plan->arena, struct dear, 1);
        *repricing->dear[instance] = dear;
    }
    INSTANCE_EACH(instance, view)
    {
        if (repricing->dear[instance] == NULL || repricing->joined[instance])
            continue;

        const struct group group = gather(repricing, repricing->dear[instance]);

        if (!pays(repricing, &group))
            continue;
        for (const struct dear *dear = group.first; dear != NULL; dear = dear->next)
            leave(repricing, dear);
    }
}
