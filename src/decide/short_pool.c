/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/short_pool.h"

#include "decide/risk.h"

/* One that is given up is followed by the next after so long; and if nothing else happens, the policy sees what is left of a
 * room that a task was pulled to. */
static const msec_t look_ms = 10 * MSEC_PER_SEC;

struct pool {
    const struct short_pool_question *of;
    const struct view *view;
    struct plan *plan;
    bool *is_in;
    struct short_partition_view seen;
    uint32_t *ready; /* machines of the pool that take work */
    struct res *room;
    uint32_t ready_count;
    uint32_t newest_idle; /* of the ready ones, or ROW_NONE */
};

static bool has_long(const struct pool *pool, uint32_t instance)
{
    TASK_EACH(task, pool->view, pool->view->instance.first_task[instance])
    {
        if (!pool->of->is_short[pool->view->task.job[task]])
            return true;
    }
    return false;
}

static bool is_of_type(const struct pool *pool, uint32_t offer)
{
    const struct offer *one = &pool->view->catalogue->offers[offer];

    return one->type == pool->of->type && one->market == MARKET_SPOT;
}

static void take_in(struct pool *pool, uint32_t instance)
{
    const struct view *view = pool->view;

    pool->is_in[instance] = true;
    if (view->instance.state[instance] != INSTANCE_READY) {
        pool->seen.booting++;
        return;
    }
    pool->seen.active++;
    pool->ready[pool->ready_count] = instance;
    pool->room[pool->ready_count++] = view_free(view, instance);
    if (view->instance.task_count[instance] == 0)
        pool->newest_idle = instance;
}

/* Which machines are of the pool, and what the rule asks of all. */
static void look(struct pool *pool)
{
    const struct view *view = pool->view;
    uint32_t count = 0;

    INSTANCE_EACH(instance, view)
    {
        const bool is_long = has_long(pool, instance);
        const bool is_open = view_is_open(view, instance) || view_is_owned(view, instance);
        const bool may_be = !is_long && is_of_type(pool, view->instance.offer[instance]) &&
                            pool->of->may_be[instance] &&
                            (!pool->of->is_scarce || view->instance.task_count[instance] > 0);

        if (may_be && is_open && count < pool->of->rule.most) {
            take_in(pool, instance);
            count++;
        } else if (may_be && view->instance.state[instance] == INSTANCE_DRAINING) {
            pool->seen.draining++;
        } else if (is_open) {
            pool->seen.fixed++;
            pool->seen.with_long += is_long;
        }
    }
}

/* A task that was lost or stopped goes where the policy sends it. */
static bool may_start(const struct short_pool_question *of, uint32_t task)
{
    const struct view *view = of->view;
    const uint32_t job = view->task.job[task];

    if (!of->is_short[job] || (of->is_held != NULL && of->is_held(of->context, task)))
        return false;
    return view->task.launches[task] == 0 && view->job.short_ppb[job] == 0 &&
           !view_has_apart(view, job) && (!view->job.gang[job] || view->job.task_count[job] == 1);
}

static void start(struct pool *pool, uint32_t task)
{
    const struct view *view = pool->view;

    for (uint32_t i = 0; i < pool->ready_count; i++) {
        const uint32_t instance = pool->ready[i];
        const struct res *taken = view_shape_demand(view, view->task.shape[task], instance);

        if (taken == NULL || !res_fits(taken, &pool->room[i]))
            continue;
        res_sub(&pool->room[i], taken);
        plan_place_kept(
            pool->plan, task, instance,
            plan_because(REASON_SHORT_READY, view->offer_price[view->instance.offer[instance]]));
        if (instance == pool->newest_idle)
            pool->newest_idle = ROW_NONE;
        return;
    }
}

/*
 * Short tasks that start before long ones elsewhere.
 */

enum { PULLS_SEEN = 1024 }; /* short tasks that are looked at for this in a decision */

struct pulls {
    uint32_t *shorts; /* tasks that wait, in their order; ROW_NONE: placed */
    uint32_t short_count;
    uint32_t *longs; /* shapes of long tasks that wait */
    uint32_t long_count;
    msec_t *slack; /* per shape: how long the one of its tasks that bears least may be passed */
};

/* How long it may be kept waiting from now on. */
static msec_t slack_of(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];
    const msec_t waited = view->now - view->job.arrived_at[job];

    if (view->task.estimate_ms[task] == MSEC_NEVER || view->job.deadline[job] != MSEC_NEVER)
        return 0;
    return view->task.estimate_ms[task] - waited;
}

static bool is_placed(const struct plan *plan, const uint32_t *next, uint32_t task)
{
    return *next < plan->place_count && plan->places[*next].task == task;
}

static void list_waiting(const struct pool *pool, struct pulls *pulls)
{
    const struct view *view = pool->view;
    const struct short_pool_question *of = pool->of;
    bool *is_known = ARENA_ARRAY(pool->plan->arena, bool, view->shapes->count);
    uint32_t next = 0; /* of the places, which are in the order of the tasks */

    pulls->shorts = ARENA_ARRAY(pool->plan->arena, uint32_t, PULLS_SEEN);
    pulls->longs = ARENA_ARRAY(pool->plan->arena, uint32_t, view->shapes->count);
    pulls->slack = ARENA_ARRAY(pool->plan->arena, msec_t, view->shapes->count);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t shape = view->task.shape[task];

        if (is_placed(pool->plan, &next, task)) {
            next++;
        } else if (may_start(of, task)) {
            if (pulls->short_count < PULLS_SEEN)
                pulls->shorts[pulls->short_count++] = task;
        } else if (!of->is_short[view->task.job[task]] &&
                   (of->is_held == NULL || !of->is_held(of->context, task))) {
            const msec_t slack = slack_of(view, task);

            if (!is_known[shape])
                pulls->longs[pulls->long_count++] = shape;
            if (!is_known[shape] || slack < pulls->slack[shape])
                pulls->slack[shape] = slack;
            is_known[shape] = true;
        }
    }
}

/* Whether a long task waits for the room. */
static bool is_sought(const struct view *view, const struct pulls *pulls, uint32_t instance,
                      const struct res *room)
{
    for (uint32_t i = 0; i < pulls->long_count; i++) {
        const struct res *taken = view_shape_demand(view, pulls->longs[i], instance);

        if (taken != NULL && res_fits(taken, room))
            return true;
    }
    return false;
}

/* Whether the short task keeps long ones from starting there, all of which bear it. */
static bool may_pass(const struct view *view, const struct pulls *pulls, uint32_t task,
                     uint32_t instance, const struct res *room)
{
    struct res rest = *room;
    bool any = false;

    res_sub(&rest, view_shape_demand(view, view->task.shape[task], instance));
    for (uint32_t i = 0; i < pulls->long_count; i++) {
        const uint32_t shape = pulls->longs[i];
        const struct res *taken = view_shape_demand(view, shape, instance);

        if (taken == NULL || !res_fits(taken, room) || res_fits(taken, &rest))
            continue;
        any = true;
        if (!short_partition_may_pass(view->task.estimate_ms[task], pulls->slack[shape], 0))
            return false;
    }
    return any;
}

static void pull_to(struct pool *pool, struct pulls *pulls, uint32_t instance)
{
    const struct view *view = pool->view;
    struct res room = view_free(view, instance);

    if (!is_sought(view, pulls, instance, &room))
        return;
    for (uint32_t i = 0; i < pulls->short_count; i++) {
        const uint32_t task = pulls->shorts[i];

        if (task == ROW_NONE)
            continue;

        const struct res *taken = view_shape_demand(view, view->task.shape[task], instance);

        if (taken == NULL || !res_fits(taken, &room) ||
            !may_pass(view, pulls, task, instance, &room))
            continue;
        res_sub(&room, taken);
        pulls->shorts[i] = ROW_NONE;
        plan_place_kept(
            pool->plan, task, instance,
            plan_because(REASON_SHORT_FIRST, view->offer_price[view->instance.offer[instance]]));
        if (view->now + look_ms <
            pool->plan->wake_at) /* what is left of the room is the policy's */
            pool->plan->wake_at = view->now + look_ms;
    }
}

static void pull(struct pool *pool)
{
    const struct view *view = pool->view;
    struct pulls pulls = { 0 };

    list_waiting(pool, &pulls);
    if (pulls.short_count == 0 || pulls.long_count == 0)
        return;
    INSTANCE_EACH(instance, view)
    {
        if (view->instance.state[instance] == INSTANCE_READY && !pool->is_in[instance] &&
            !view->instance.crowded[instance] && pool->of->may_pull[instance])
            pull_to(pool, &pulls, instance);
    }
}

/* The cheapest spot offer of the type that can be had, or OFFER_NONE if it is not worth its risk. */
static uint32_t best_offer(const struct pool *pool)
{
    const struct view *view = pool->view;
    const struct risk_stake stake = { .redo = (double)pool->of->longest_ms };
    uint32_t best = OFFER_NONE;
    double least = 0;
    double safe = 0; /* the lowest price on demand; 0: there is none */

    for (uint32_t i = 0; i < view->offer_count; i++) {
        const struct offer *offer = &view->catalogue->offers[i];
        const double price = risk_price(view, i, stake);

        if (offer->type != pool->of->type || offer->is_former || offer->is_owned)
            continue;
        if (offer->market != MARKET_SPOT)
            safe = safe <= 0 || price < safe ? price : safe;
        else if (view->offer_blocked_until[i] <= view->now &&
                 (best == OFFER_NONE || price < least)) {
            best = i;
            least = price;
        }
    }
    return safe > 0 && least >= safe ? OFFER_NONE : best;
}

/* How many machines of the offer may be rented. */
static int64_t allowed(const struct pool *pool, uint32_t offer)
{
    const struct allowance *left = pool->of->allowance;
    int64_t most = INT64_MAX;

    if (pool->of->is_scarce || offer == OFFER_NONE)
        return 0;
    if (left == NULL)
        return most;
    most = left->instances < INT64_MAX ? (int64_t)left->instances : most;
    if (left->price_per_hour != ALLOWANCE_ANY && pool->view->offer_price[offer] > 0 &&
        left->price_per_hour / pool->view->offer_price[offer] < most)
        most = left->price_per_hour / pool->view->offer_price[offer];
    return most;
}

static void resize(struct pool *pool)
{
    const int64_t step = short_partition_step(&pool->of->rule, &pool->seen);

    if (step > 0) {
        const uint32_t offer = best_offer(pool);
        const int64_t most = allowed(pool, offer);

        for (int64_t i = 0; i < step && i < most; i++)
            (void)plan_rent(pool->plan, offer,
                            plan_because(REASON_SHORT_POOL, pool->view->offer_price[offer]));
    } else if (step < 0 && pool->newest_idle != ROW_NONE) {
        plan_release(pool->plan, pool->newest_idle, plan_because(REASON_EMPTY, 0));
        if (pool->view->now + look_ms < pool->plan->wake_at)
            pool->plan->wake_at = pool->view->now + look_ms;
    }
}

const bool *short_pool_decide(const struct short_pool_question *question, struct plan *plan)
{
    const struct view *view = question->view;
    const uint32_t most =
        question->rule.most < view->instance.count ? question->rule.most : view->instance.count;
    struct pool pool = {
        .of = question,
        .view = view,
        .plan = plan,
        .is_in = ARENA_ARRAY(plan->arena, bool, view->instance.count),
        .ready = ARENA_ARRAY(plan->arena, uint32_t, most),
        .room = ARENA_ARRAY(plan->arena, struct res, most),
        .newest_idle = ROW_NONE,
    };

    look(&pool);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (pool.ready_count > 0 && may_start(question, task))
            start(&pool, task);
    }
    if (question->may_pull != NULL)
        pull(&pool);
    resize(&pool);
    return pool.is_in;
}
