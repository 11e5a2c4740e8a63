/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/first_fit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decide/offer_classes.h"
#include "decide/pool.h"
#include "decide/spread.h"

/* What a machine may be, and what is left of it then. */
struct choice {
    uint32_t offer;
    struct res free;
};

/* Neighbours with the same content: the bins from 'first' on. */
struct group {
    uint32_t first;
    uint32_t count;
    uint32_t instance; /* a machine that there is, by itself; ROW_NONE: new ones */
    struct choice *choices;
    uint32_t choice_count;
};

struct fitter {
    const struct view *view;
    struct plan *plan;
    struct pool pool;
    struct group *groups; /* in the order of bins */
    uint32_t group_count;
    uint32_t groups_room;
    uint32_t bin_count;
    struct spread spread; /* the bins that got a task which must be apart from others */
    uint32_t *offers;     /* of those that all tasks see alike the cheapest open one */
    uint32_t offer_count;

    /* Of the kind that is placed now. */
    uint32_t kind;
    const struct res **demand; /* per offer of the catalogue; NULL: not there */
};

static uint32_t list_waiting(const struct view *view, uint32_t *ret)
{
    uint32_t count = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (view->shape_offer[view->task.shape[task]] != OFFER_NONE &&
            !view->job.mixed[view->task.job[task]])
            ret[count++] = task;
    }
    return count;
}

static void list_offers(struct fitter *fitter)
{
    struct offer_classes classes;

    offer_classes_init(&classes, fitter->view, fitter->plan->arena);
    for (uint32_t i = 0; i < fitter->pool.kind_count; i++)
        offer_classes_note(&classes, fitter->pool.kinds[i].kind.shape);
    offer_classes_make(&classes);
    fitter->offers = ARENA_ARRAY(fitter->plan->arena, uint32_t, classes.count);
    fitter->offer_count = offer_classes_cheapest(&classes, fitter->offers);
    fitter->demand =
        ARENA_ARRAY(fitter->plan->arena, const struct res *, fitter->view->catalogue->offer_count);
}

/* Room for another group at 'at', before those that are there. */
static struct group *insert_group(struct fitter *fitter, uint32_t at)
{
    if (fitter->group_count == fitter->groups_room) {
        const uint32_t room = 2 * fitter->groups_room + 64;
        struct group *groups = ARENA_ARRAY(fitter->plan->arena, struct group, room);

        if (fitter->group_count > 0)
            memcpy(groups, fitter->groups, fitter->group_count * sizeof(*groups));
        fitter->groups = groups;
        fitter->groups_room = room;
    }
    memmove(&fitter->groups[at + 1], &fitter->groups[at],
            (fitter->group_count - at) * sizeof(*fitter->groups));
    fitter->group_count++;
    return &fitter->groups[at];
}

static void list_machines(struct fitter *fitter)
{
    const struct view *view = fitter->view;

    INSTANCE_EACH(instance, view)
    {
        if (!view_is_open(view, instance))
            continue;

        struct group *group = insert_group(fitter, fitter->group_count);

        *group = (struct group){ .first = fitter->bin_count++,
                                 .count = 1,
                                 .instance = instance,
                                 .choices = ARENA_ARRAY(fitter->plan->arena, struct choice, 1),
                                 .choice_count = 1 };
        group->choices[0] = (struct choice){ .offer = view->instance.offer[instance],
                                             .free = view_free(view, instance) };
    }
}

/*
 * The order of the kinds.
 */

static const struct res *size_of(const struct fitter *fitter, uint32_t kind)
{
    const struct view *view = fitter->view;
    const uint32_t shape = fitter->pool.kinds[kind].kind.shape;

    return shape_demand_at(view->shapes, shape, view->catalogue, view->shape_offer[shape]);
}

static int compare_size(const void *left, const void *right, void *context)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    const struct res *size = size_of(context, a);
    const struct res *other = size_of(context, b);

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (size->amount[kind] != other->amount[kind])
            return size->amount[kind] > other->amount[kind] ? -1 : 1;
    }
    return (a > b) - (a < b);
}

/*
 * What fits.
 */

static uint32_t fit_count(const struct res *demand, const struct res *free, uint32_t most)
{
    int64_t count = most;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (demand->amount[kind] > free->amount[kind])
            return 0;
        if (demand->amount[kind] > 0 && free->amount[kind] / demand->amount[kind] < count)
            count = free->amount[kind] / demand->amount[kind];
    }
    return (uint32_t)count;
}

/* What a task of the kind takes of a machine of the group, if that is of the offer. */
static const struct res *demand_at(const struct fitter *fitter, const struct group *group,
                                   uint32_t offer)
{
    return group->instance == ROW_NONE
               ? fitter->demand[offer]
               : view_shape_demand(fitter->view, fitter->pool.kinds[fitter->kind].kind.shape,
                                   group->instance);
}

/* Whether the machines of the group have a task that those of the kind must be apart from. */
static bool has_apart(const struct fitter *fitter, const struct group *group, uint32_t apart)
{
    return spread_has(&fitter->spread, apart, group->first) ||
           (group->instance != ROW_NONE && view_apart_is_on(fitter->view, apart, group->instance));
}

/* How many tasks of the kind a machine of the group can get. */
static uint32_t room_in(const struct fitter *fitter, const struct group *group)
{
    const struct pool_kind *kind = &fitter->pool.kinds[fitter->kind];
    uint32_t most = 0;

    if (kind->apart != ROW_NONE && has_apart(fitter, group, kind->apart))
        return 0;
    for (uint32_t i = 0; i < group->choice_count; i++) {
        const struct choice *choice = &group->choices[i];
        const struct res *demand = demand_at(fitter, group, choice->offer);
        const uint32_t count = demand != NULL ? fit_count(demand, &choice->free, kind->left) : 0;

        most = count > most ? count : most;
    }
    return kind->alone && most > 1 ? 1 : most;
}

/* Every machine of the group gets so many tasks of the kind: what it may still be. */
static void narrow(struct fitter *fitter, struct group *group, uint32_t each)
{
    struct choice *kept = ARENA_ARRAY(fitter->plan->arena, struct choice, group->choice_count);
    uint32_t count = 0;

    for (uint32_t i = 0; i < group->choice_count; i++) {
        const struct choice *choice = &group->choices[i];
        const struct res *demand = demand_at(fitter, group, choice->offer);

        if (demand == NULL || fit_count(demand, &choice->free, each) < each)
            continue;
        kept[count] = *choice;
        for (int kind = 0; kind < RES_KINDS; kind++)
            kept[count].free.amount[kind] -= each * demand->amount[kind];
        count++;
    }
    assert(count > 0);
    group->choices = kept;
    group->choice_count = count;
}

/* Give 'each' tasks of the kind to each of the first 'bins' machines of the group; the others become a group of
 * their own behind it. */
static void give(struct fitter *fitter, uint32_t at, uint32_t bins, uint32_t each)
{
    const uint32_t apart = fitter->pool.kinds[fitter->kind].apart;
    struct group *group = &fitter->groups[at];

    if (bins < group->count) {
        const struct group whole = *group;
        struct group *rest = insert_group(fitter, at + 1);

        group = &fitter->groups[at];
        *rest = whole;
        rest->first += bins;
        rest->count -= bins;
        group->count = bins;
    }
    narrow(fitter, group, each);
    for (uint32_t bin = 0; bin < bins; bin++) {
        for (uint32_t i = 0; i < each; i++)
            pool_take(&fitter->pool, pool_pick(&fitter->pool, fitter->kind, ROW_NONE),
                      group->first + bin);
        if (apart != ROW_NONE)
            spread_put(&fitter->spread, apart, group->first + bin);
    }
}

/* Fill the group, from its first machine on; how many groups it has become. */
static uint32_t fill(struct fitter *fitter, uint32_t at)
{
    const struct pool_kind *kind = &fitter->pool.kinds[fitter->kind];
    const uint32_t count = fitter->groups[at].count;
    const uint32_t before = fitter->group_count;
    const uint32_t each = room_in(fitter, &fitter->groups[at]);

    if (each == 0)
        return 1;

    const uint32_t full = kind->left / each < count ? kind->left / each : count;

    if (full > 0)
        give(fitter, at, full, each);
    if (kind->left > 0 && full < count)
        give(fitter, at + (full > 0 ? 1 : 0), 1, kind->left);
    return 1 + fitter->group_count - before;
}

static bool has_accelerators(const struct fitter *fitter, uint32_t offer)
{
    return catalogue_type_of(fitter->view->catalogue, offer)->capacity.amount[RES_ACCEL] > 0;
}

/* Whether the kind uses no accelerator and finds a machine that has none. */
static bool is_plain(const struct fitter *fitter)
{
    for (uint32_t i = 0; i < fitter->offer_count; i++) {
        const uint32_t offer = fitter->offers[i];
        const struct res *demand = fitter->demand[offer];

        if (demand != NULL && !has_accelerators(fitter, offer) &&
            res_fits(demand, &catalogue_type_of(fitter->view->catalogue, offer)->capacity))
            return true;
    }
    return false;
}

/* New machines for the tasks that are left: of any offer that is for them, at first. */
static void open_group(struct fitter *fitter)
{
    const bool plain = is_plain(fitter);
    const struct pool_kind *kind = &fitter->pool.kinds[fitter->kind];
    struct group *group = insert_group(fitter, fitter->group_count);

    *group = (struct group){ .first = fitter->bin_count,
                             .instance = ROW_NONE,
                             .choices = ARENA_ARRAY(fitter->plan->arena, struct choice,
                                                    fitter->offer_count) };
    for (uint32_t i = 0; i < fitter->offer_count; i++) {
        const struct res *capacity =
            &catalogue_type_of(fitter->view->catalogue, fitter->offers[i])->capacity;

        if (!plain || !has_accelerators(fitter, fitter->offers[i]))
            group->choices[group->choice_count++] =
                (struct choice){ .offer = fitter->offers[i], .free = *capacity };
    }

    const uint32_t each = room_in(fitter, group);

    assert(each > 0); /* it fits the cheapest machine that holds it */
    group->count = (kind->left + each - 1) / each;
    fitter->bin_count += group->count;
    (void)fill(fitter, fitter->group_count - 1);
}

static void place_kind(struct fitter *fitter, uint32_t which)
{
    const struct view *view = fitter->view;
    const struct pool_kind *kind = &fitter->pool.kinds[which];

    fitter->kind = which;
    for (uint32_t i = 0; i < fitter->offer_count; i++) {
        const uint32_t offer = fitter->offers[i];

        fitter->demand[offer] =
            shape_demand_at(view->shapes, kind->kind.shape, view->catalogue, offer);
    }
    for (uint32_t at = 0; at < fitter->group_count && kind->left > 0;)
        at += fill(fitter, at);
    if (kind->left > 0)
        open_group(fitter);
    assert(kind->left == 0);
}

/*
 * The plan.
 */

static uint32_t cheapest(const struct fitter *fitter, const struct group *group)
{
    const money_t *price = fitter->view->offer_price;
    uint32_t best = group->choices[0].offer;

    for (uint32_t i = 1; i < group->choice_count; i++) {
        if (price[group->choices[i].offer] < price[best])
            best = group->choices[i].offer;
    }
    return best;
}

static void write_plan(struct fitter *fitter)
{
    const struct view *view = fitter->view;
    uint32_t *target = ARENA_ARRAY(fitter->plan->arena, uint32_t, fitter->bin_count);
    bool *is_fresh = ARENA_ARRAY(fitter->plan->arena, bool, fitter->bin_count);
    bool *is_used = ARENA_ARRAY(fitter->plan->arena, bool, view->instance.count);
    struct plan_reason *why =
        ARENA_ARRAY(fitter->plan->arena, struct plan_reason, fitter->bin_count);

    for (uint32_t i = 0; i < fitter->group_count; i++) {
        const struct group *group = &fitter->groups[i];
        const uint32_t offer = cheapest(fitter, group);

        for (uint32_t bin = group->first; bin < group->first + group->count; bin++) {
            is_fresh[bin] = group->instance == ROW_NONE;
            why[bin] = plan_because(is_fresh[bin] ? REASON_SHARES_FRESH : REASON_FITS_KEPT,
                                    view->offer_price[offer]);
            target[bin] =
                is_fresh[bin] ? plan_rent(fitter->plan, offer, why[bin]) : group->instance;
        }
    }
    for (uint32_t i = 0; i < fitter->pool.entry_count; i++) {
        const struct pool_entry *entry = &fitter->pool.entries[i];

        if (is_fresh[entry->bin]) {
            plan_place_fresh(fitter->plan, entry->task, target[entry->bin], why[entry->bin]);
        } else {
            plan_place_kept(fitter->plan, entry->task, target[entry->bin], why[entry->bin]);
            is_used[target[entry->bin]] = true;
        }
    }
    EMPTY_EACH(instance, view)
    {
        if (view_is_open(view, instance) && !is_used[instance])
            plan_release(
                fitter->plan, instance,
                plan_because(REASON_EMPTY, view->offer_price[view->instance.offer[instance]]));
    }
}

void first_fit(const struct view *view, struct plan *ret)
{
    const struct worth_rules rules = { .view = view };
    uint32_t *waiting = ARENA_ARRAY(ret->arena, uint32_t, view->task.waiting_count);
    struct fitter fitter = { .view = view, .plan = ret };

    assert(view->shapes_priced == view->shapes->count);
    pool_build(&fitter.pool, &rules, waiting, list_waiting(view, waiting), ret->arena);
    spread_init(&fitter.spread, view, ret->arena);
    list_offers(&fitter);
    list_machines(&fitter);

    uint32_t *kinds = ARENA_ARRAY(ret->arena, uint32_t, fitter.pool.kind_count);

    for (uint32_t i = 0; i < fitter.pool.kind_count; i++)
        kinds[i] = i;
    if (fitter.pool.kind_count > 0)
        qsort_r(kinds, fitter.pool.kind_count, sizeof(*kinds), compare_size, &fitter);
    for (uint32_t i = 0; i < fitter.pool.kind_count; i++)
        place_kind(&fitter, kinds[i]);
    write_plan(&fitter);
}
