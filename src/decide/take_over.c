/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/take_over.h"

#include <stdlib.h>

#include "decide/lease.h"
#include "decide/machine_index.h"

enum { MACHINES_MOST = 4096 };

/* A machine without work. */
struct spare {
    msec_t paid; /* for so long, from now */
    uint64_t id;
    uint32_t instance;
    bool is_taken;
};

/* A gang, or a machine with tasks that start whenever they can. */
struct claim {
    uint64_t order; /* of its first task there */
    uint32_t gang;  /* the job, or ROW_NONE */
    uint32_t first; /* of its machines, by 'next' */
    uint32_t count; /* of them: what it lacks */
    msec_t
        rest_ready; /* when the other machines of the gang that it still waits for should be there, from now; 0: there are none */
};

/* A machine that was asked for. */
struct asked {
    uint32_t instance;
    uint32_t next;  /* of the same claim, or ROW_NONE */
    uint32_t spare; /* that is set aside for its work, or ROW_NONE */
};

struct taking {
    const struct view *view;
    struct plan *plan;
    struct row_map *uses;
    struct row_map placed; /* tasks that the plan has placed already */
    struct spare *spares;  /* paid for longest first */
    uint32_t spare_count;
    struct asked *asked;
    uint32_t asked_count;
    struct claim *claims;
    uint32_t claim_count;
};

static int compare_spares(const void *left, const void *right)
{
    const struct spare *a = left;
    const struct spare *b = right;

    if (a->paid != b->paid)
        return a->paid > b->paid ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static int compare_claims(const void *left, const void *right)
{
    const struct claim *a = left;
    const struct claim *b = right;

    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static void list_spares(struct taking *taking)
{
    const struct view *view = taking->view;
    uint32_t room = 0;

    EMPTY_EACH(instance, view)
    {
        room += view->instance.state[instance] == INSTANCE_READY;
        if (room == MACHINES_MOST)
            break;
    }
    taking->spares = ARENA_ARRAY(taking->plan->arena, struct spare, room);
    EMPTY_EACH(instance, view)
    {
        if (taking->spare_count == room)
            break;
        if (view->instance.state[instance] == INSTANCE_READY && !view->instance.crowded[instance] &&
            !row_map_has(taking->uses, instance) &&
            !view->catalogue->offers[view->instance.offer[instance]].is_owned)
            taking->spares[taking->spare_count++] = (struct spare){
                .paid = lease_left(view, instance),
                .id = view->instance.id[instance],
                .instance = instance,
            };
    }
}

/* The gang of the machine's tasks, or ROW_NONE; false: it is left alone. */
static bool may_be_left(const struct taking *taking, uint32_t instance, uint32_t *ret_gang)
{
    const struct view *view = taking->view;
    const uint32_t first = view->instance.first_task[instance];
    const uint32_t job = first != ROW_NONE ? view->task.job[first] : ROW_NONE;

    if (first == ROW_NONE || view->instance.state[instance] != INSTANCE_REQUESTED ||
        view->instance.billed_from[instance] >= 0 || row_map_has(taking->uses, instance))
        return false;
    TASK_EACH(task, view, first)
    {
        const uint32_t of = view->task.job[task];

        if (view->task.state[task] != TASK_BOUND || view->task.launches[task] > 0 ||
            view->task.estimate_ms[task] == MSEC_NEVER || row_map_has(&taking->placed, task) ||
            (of != job && (view->job.gang[of] || view->job.gang[job])))
            return false;
    }
    *ret_gang = view->job.gang[job] ? job : ROW_NONE;
    return true;
}

static void list_claims(struct taking *taking)
{
    const struct view *view = taking->view;
    const uint32_t room =
        view->instance.living < MACHINES_MOST ? view->instance.living : MACHINES_MOST;
    uint32_t seen = 0;
    uint32_t requested = 0; /* most of them are the newest: nobody looks beyond the last of them */
    struct row_map of_gang; /* its claim, + 1 */

    row_map_init(&of_gang, taking->plan->arena);
    taking->asked = ARENA_ARRAY(taking->plan->arena, struct asked, room);
    taking->claims = ARENA_ARRAY(taking->plan->arena, struct claim, room);
    for (uint32_t instance = view->instance.last;
         requested < view->instance.requested && seen < room;
         instance = view->instance.prev[instance], seen++) {
        uint32_t gang = ROW_NONE;

        requested += view->instance.state[instance] == INSTANCE_REQUESTED;
        if (!may_be_left(taking, instance, &gang))
            continue;

        uint32_t at = gang != ROW_NONE ? row_map_get(&of_gang, gang) : 0;

        if (at == 0) {
            taking->claims[taking->claim_count++] = (struct claim){
                .order = view->task.order[view->instance.first_task[instance]],
                .gang = gang,
                .first = ROW_NONE,
            };
            at = taking->claim_count;
            if (gang != ROW_NONE)
                row_map_set(&of_gang, gang, at);
        }

        struct claim *claim = &taking->claims[at - 1];

        taking->asked[taking->asked_count] =
            (struct asked){ .instance = instance, .next = claim->first, .spare = ROW_NONE };
        claim->first = taking->asked_count++;
        claim->count++;
    }
}

/* What else the gang waits for; false: it has no machines for some tasks, or those that are there already would start again. */
static bool look_at_rest(const struct taking *taking, struct claim *claim)
{
    const struct view *view = taking->view;

    if (claim->gang == ROW_NONE)
        return true;
    for (uint32_t task = view->job.first_task[claim->gang]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];
        uint32_t gang = ROW_NONE;

        if (view->task.state[task] == TASK_RUNNING && view->job.fixed[claim->gang])
            continue;
        if (view->task.state[task] != TASK_BOUND)
            return false;
        if (view->instance.state[instance] == INSTANCE_READY ||
            may_be_left(taking, instance, &gang))
            continue;

        const msec_t ready = view->instance.ready_expected[instance] - view->now;

        if (ready > claim->rest_ready)
            claim->rest_ready = ready;
    }
    return true;
}

/* A spare machine for the work of 'instance', or ROW_NONE; it is set aside. */
static uint32_t set_aside(struct taking *taking, uint32_t instance)
{
    const struct view *view = taking->view;

    for (uint32_t i = 0; i < taking->spare_count; i++) {
        const uint32_t spare = taking->spares[i].instance;

        if (!taking->spares[i].is_taken &&
            view->instance.offer[spare] == view->instance.offer[instance] &&
            res_fits(&view->instance.used[instance], &view->instance.capacity[spare])) {
            taking->spares[i].is_taken = true;
            return i;
        }
    }
    return ROW_NONE;
}

static void take(struct taking *taking, uint32_t instance, uint32_t spare)
{
    const struct view *view = taking->view;
    const uint32_t offer = view->instance.offer[spare];
    const money_t price = view->offer_price[offer];
    const msec_t least = billing_paid_span(&view->catalogue->offers[offer].billing,
                                           catalogue_type_of(view->catalogue, offer)->setup_ms);
    const uint32_t first = taking->plan->place_count;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        plan_place_kept(taking->plan, task, spare, plan_because(REASON_FITS_KEPT, price));
    }
    /* The other machine would be charged for its setup at the least. Nothing runs yet, so nothing is lost. */
    plan_share_saving(taking->plan->places + first, taking->plan->place_count - first,
                      money_for(price, least), 0);
    plan_release(taking->plan, instance, plan_because(REASON_EMPTY, price));
    row_map_set(taking->uses, spare, USE_PLACED);
    row_map_set(taking->uses, instance, USE_LEFT);
}

/* When the work can begin, from now, with the machines that are set aside for it. */
static msec_t begin_with(const struct taking *taking, const struct claim *claim)
{
    const struct view *view = taking->view;
    msec_t begin = claim->rest_ready;

    for (uint32_t i = claim->first; claim->gang != ROW_NONE && i != ROW_NONE;
         i = taking->asked[i].next) {
        const msec_t ready = view->instance.ready_expected[taking->asked[i].instance] - view->now;

        if (taking->asked[i].spare == ROW_NONE && ready > begin)
            begin = ready;
    }
    return begin;
}

static void serve(struct taking *taking, struct claim *claim)
{
    if (!look_at_rest(taking, claim))
        return;
    for (uint32_t i = claim->first; i != ROW_NONE; i = taking->asked[i].next)
        taking->asked[i].spare = set_aside(taking, taking->asked[i].instance);

    const msec_t begin = begin_with(taking, claim);

    for (uint32_t i = claim->first; i != ROW_NONE; i = taking->asked[i].next) {
        const struct asked *asked = &taking->asked[i];

        if (asked->spare == ROW_NONE)
            continue;

        struct spare *spare = &taking->spares[asked->spare];

        if (begin > 0 && spare->paid < begin)
            spare->is_taken = false;
        else
            take(taking, asked->instance, spare->instance);
    }
}

void take_over(const struct view *view, struct plan *plan, struct row_map *uses)
{
    struct taking taking = { .view = view, .plan = plan, .uses = uses };

    if (view->instance.empty_first == ROW_NONE || view->instance.requested == 0)
        return;
    list_spares(&taking);
    if (taking.spare_count == 0)
        return;
    row_map_init(&taking.placed, plan->arena);
    for (uint32_t i = 0; i < plan->place_count; i++)
        row_map_set(&taking.placed, plan->places[i].task, 1);
    list_claims(&taking);
    if (taking.claim_count == 0)
        return;
    qsort(taking.spares, taking.spare_count, sizeof(*taking.spares), compare_spares);
    if (taking.claim_count > 1)
        qsort(taking.claims, taking.claim_count, sizeof(*taking.claims), compare_claims);
    for (uint32_t i = 0; i < taking.claim_count; i++)
        serve(&taking, &taking.claims[i]);
}
