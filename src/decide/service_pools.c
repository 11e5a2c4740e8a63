/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool is the machines on which tasks of the service are, and those that were kept for it before. If they keep the
 * promise, no more are rented; if they do not, what the cheapest pool has beyond them: first machines of these offers on
 * which nothing runs, then new ones, without those that are not needed after all. What the promise does not need is let
 * go, the dearest first, and only where machines that are ready now keep it without.
 *
 * Where the cheapest pool would cost less than four fifths, it is rented beside the old one; when it is ready the tasks
 * move there.
 */
#include "decide/service_pools.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decide/service_pools_private.h"

struct ranked_job {
    uint32_t priority;
    msec_t arrived_at;
    uint64_t id;
    uint32_t job;
};

static int by_rank(const void *left, const void *right)
{
    const struct ranked_job *a = left;
    const struct ranked_job *b = right;

    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->arrived_at != b->arrived_at)
        return a->arrived_at < b->arrived_at ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static uint32_t rank_jobs(const struct view *view, struct arena *arena, struct ranked_job **ret)
{
    uint32_t count = 0;

    *ret = ARENA_ARRAY(arena, struct ranked_job, view->job.promised);
    for (uint32_t job = 0; job < view->job.count; job++) {
        if (view->job.used[job] && view->job.short_ppb[job] > 0)
            (*ret)[count++] =
                (struct ranked_job){ view->job.priority[job], view->job.arrived_at[job],
                                     view->job.id[job], job };
    }
    qsort(*ret, count, sizeof(**ret), by_rank);
    return count;
}

/*
 * Which machines there are.
 */

static void join(struct service *service, uint32_t instance)
{
    struct services *all = service->all;
    const struct view *view = all->view;
    const uint32_t at = service_find_offer(service, view->instance.offer[instance]);

    all->ret->pool_of[instance] = service->job;
    all->left[instance] = view_free(view, instance);
    service->members[service->member_count++] = instance;
    if (at == SERVICE_NO_OFFER || service_units(service, instance) < service->offers[at].capacity)
        return;
    service->machines[at]++;
    service->ready[at] += view->instance.state[instance] == INSTANCE_READY;
}

/* Machines that belong to the pool already; of each offer of the catalogue, whether there are any. */
static uint32_t find_own(const struct service *service, uint32_t *ret, bool *is_used)
{
    const struct services *all = service->all;
    const struct view *view = all->view;
    uint32_t count = 0;

    INSTANCE_EACH(instance, view)
    {
        if (!view_is_open(view, instance) || all->ret->pool_of[instance] != ROW_NONE ||
            (all->question->was_pool_of[instance] != service->job &&
             !view_job_is_on(view, service->job, instance)))
            continue;
        ret[count++] = instance;
        is_used[view->instance.offer[instance]] = true;
    }
    return count;
}

static bool holds(const struct service *service, const uint32_t *machines)
{
    const struct promise promise = service_promise(service, service->count);

    return service->count > 0 && promise_judge(&promise, machines, service->all->arena).holds;
}

static money_t price_of(const struct service *service, const uint32_t *machines)
{
    const struct promise promise = service_promise(service, service->count);

    return promise_price(&promise, machines);
}

/* The cheapest pool of what can be rented; false: none holds, and it is the best there is. */
static bool plan_target(struct service *service)
{
    const struct promise promise = service_promise(service, service->rentable);

    bool is_kept;

    memset(service->target, 0, sizeof(service->target));
    if (service->rentable == 0)
        return false;
    if (service_recall(service, &is_kept))
        return is_kept;

    struct promise_pool pool = promise_k_of_n(&promise, service->all->arena);

    promise_improve(&promise, &pool, service->all->arena);
    memcpy(service->target, pool.machines, service->rentable * sizeof(*pool.machines));
    service_remember(service, pool.verdict.holds);
    return pool.verdict.holds;
}

/*
 * What it lacks.
 */

/* Machines of the target's offers on which nothing is. */
static void adopt_empty(struct service *service)
{
    const struct services *all = service->all;
    const struct view *view = all->view;

    EMPTY_EACH(instance, view)
    {
        const uint32_t at = service_find_offer(service, view->instance.offer[instance]);

        if (at != SERVICE_NO_OFFER && service->machines[at] < service->target[at] &&
            view_is_open(view, instance) && all->ret->pool_of[instance] == ROW_NONE &&
            service_units(service, instance) >= service->offers[at].capacity)
            join(service, instance);
    }
}

/* Take machines that are not needed off what is to be rented, the dearest per task first. */
static void spare(const struct service *service, uint32_t *more)
{
    uint32_t together[SERVICE_OFFERS_ROOM];

    for (uint32_t i = 0; i < service->count; i++)
        together[i] = service->machines[i] + more[i];
    if (!holds(service, together))
        return;
    for (uint32_t i = service->rentable; i-- > 0;) {
        while (more[i] > 0) {
            together[i]--;
            if (!holds(service, together)) {
                together[i]++;
                break;
            }
            more[i]--;
        }
    }
}

static struct plan_reason reason_of(const struct service *service, uint32_t at, bool can_hold)
{
    const struct promise_offer *offer = &service->offers[at];
    struct plan_reason why = plan_because(REASON_PROMISED, offer->price);

    if (!can_hold)
        why.code = REASON_PROMISED_BEST;
    else if (offer->is_safe)
        why.code = REASON_PROMISED_SAFE;
    for (uint32_t i = 0; i < service->rentable && !offer->is_safe; i++) {
        if (!service->offers[i].is_safe)
            continue;
        plan_reject(&why, service->offer_of[at], service->offer_of[i],
                    mul_div(service->offers[i].price, offer->capacity,
                            service->offers[i].capacity > 0 ? service->offers[i].capacity : 1));
        break;
    }
    return why;
}

static void rent(struct service *service, bool is_short, bool can_hold)
{
    struct services *all = service->all;
    uint32_t more[SERVICE_OFFERS_ROOM] = { 0 };

    for (uint32_t i = 0; i < service->rentable; i++) {
        if (service->target[i] > service->machines[i])
            more[i] = service->target[i] - service->machines[i];
    }
    if (is_short)
        spare(service, more);
    for (uint32_t i = 0; i < service->rentable; i++) {
        for (uint32_t n = 0; n < more[i]; n++)
            (void)plan_rent_with(&all->ret->plan, service->offer_of[i], service->job,
                                 reason_of(service, i, can_hold));
    }
}

static void complete(struct service *service)
{
    const bool is_short = !holds(service, service->machines);
    const bool can_hold = plan_target(service);
    const money_t now = price_of(service, service->machines);
    const money_t then = price_of(service, service->target);

    service->rent_first = service->all->ret->plan.rent_count;
    service->leaves_dear = !is_short && can_hold && then < now / 5 * 4;
    if (!is_short && !service->leaves_dear)
        return;
    adopt_empty(service);
    rent(service, is_short, can_hold);
}

/*
 * What it does not need.
 */

/* How many of each offer the promise does not need of those that are ready, the dearest first. */
static void find_spare(const struct service *service, uint32_t *ret)
{
    uint32_t kept[SERVICE_OFFERS_ROOM];

    memset(ret, 0, service->count * sizeof(*ret));
    memcpy(kept, service->ready, sizeof(kept));
    if (!holds(service, kept))
        return;
    for (bool is_beyond = true;; is_beyond = false) { /* what the target does not have goes first */
        for (uint32_t i = service->count; i-- > 0;) {
            while (kept[i] > (is_beyond ? service->target[i] : 0)) {
                kept[i]--;
                if (!holds(service, kept)) {
                    kept[i]++;
                    break;
                }
                ret[i]++;
            }
        }
        if (!is_beyond)
            return;
    }
}

/* Whether a machine of the pool that is not needed can leave it: its tasks, if any, are to move. */
static bool may_leave(const struct service *service, uint32_t instance)
{
    const struct view *view = service->all->view;

    if (view->instance.state[instance] != INSTANCE_READY)
        return false;
    return !view_job_is_on(view, service->job, instance) ||
           (service->leaves_dear && view_job_may_move(view, service->job));
}

static void let_go(struct service *service)
{
    struct services *all = service->all;
    const struct view *view = all->view;
    uint32_t spare_of[SERVICE_OFFERS_ROOM];
    uint32_t kept = 0;

    find_spare(service, spare_of);
    for (int with_tasks = 0; with_tasks <= 1; with_tasks++) {
        kept = 0;
        for (uint32_t i = 0; i < service->member_count; i++) {
            const uint32_t instance = service->members[i];
            const uint32_t at = service_find_offer(service, view->instance.offer[instance]);
            const bool has_tasks = view_job_is_on(view, service->job, instance);

            if (at != SERVICE_NO_OFFER && spare_of[at] > 0 && has_tasks == with_tasks &&
                may_leave(service, instance)) {
                spare_of[at]--;
                if (!has_tasks)
                    all->ret->pool_of[instance] = ROW_NONE;
                continue;
            }
            service->members[kept++] = instance;
        }
        service->member_count = kept;
    }
}

static void decide_service(struct services *all, uint32_t job)
{
    const struct view *view = all->view;
    struct service service = {
        .all = all,
        .job = job,
        .shape = view->task.shape[view->job.first_task[job]],
        .members = ARENA_ARRAY(all->arena, uint32_t, view->instance.living),
    };
    uint32_t *own = ARENA_ARRAY(all->arena, uint32_t, view->instance.living);
    bool *is_used = ARENA_ARRAY(all->arena, bool, view->catalogue->offer_count);
    const uint32_t own_count = find_own(&service, own, is_used);

    service_list_offers(&service, is_used);
    for (uint32_t i = 0; i < own_count; i++)
        join(&service, own[i]);
    complete(&service);
    let_go(&service);
    service_place_tasks(&service);
}

void service_pools_decide(const struct service_question *question, struct service_pools *ret)
{
    const struct view *view = question->view;
    struct services all = {
        .question = question, .view = view, .arena = question->arena, .ret = ret
    };
    struct ranked_job *jobs;

    assert(view->job.promised > 0);
    plan_init(&ret->plan, question->arena);
    ret->pool_of = ARENA_ARRAY(question->arena, uint32_t, view->instance.count);
    memset(ret->pool_of, 0xff, view->instance.count * sizeof(*ret->pool_of));
    all.left = ARENA_ARRAY(question->arena, struct res, view->instance.count);
    all.is_suspended = ARENA_ARRAY(question->arena, bool, view->task.count);

    const uint32_t count = rank_jobs(view, question->arena, &jobs);

    for (uint32_t i = 0; i < count; i++)
        decide_service(&all, jobs[i].job);
    service_fill_excess(&all);
}
