/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/topdown.h"

#include <assert.h>
#include <stdlib.h>

#include "decide/offer_classes.h"
#include "decide/reservation.h"

/* Instances that may be re-filled, by offer, those with most tasks first. */
struct reuse {
    uint32_t *instances;
    bool *used;
    uint32_t *next; /* per offer: its first place that may be unused, if it has any places */
    uint32_t count;
};

struct topdown {
    struct layout *layout;
    const struct view *view;
    struct reuse reuse;
    uint32_t *slot_of; /* instance row -> its place in reuse + 1 */
    uint32_t *on_here; /* per kind: tasks that are on the bin's instance already */
    bool penalise;
};

/* Context of a sort, which takes no pointer to const. */
struct reuse_order {
    const struct view *view;
};

static int compare_reuse(const void *left, const void *right, void *context)
{
    const struct view *view = ((const struct reuse_order *)context)->view;
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    if (view->instance.offer[a] != view->instance.offer[b])
        return view->instance.offer[a] < view->instance.offer[b] ? -1 : 1;
    if (view->instance.task_count[a] != view->instance.task_count[b])
        return view->instance.task_count[a] > view->instance.task_count[b] ? -1 : 1;
    return (view->instance.id[a] > view->instance.id[b]) -
           (view->instance.id[a] < view->instance.id[b]);
}

static void reuse_build(struct topdown *run, const uint32_t *reusable, uint32_t count)
{
    struct arena *arena = run->layout->arena;

    run->reuse.instances = ARENA_ARRAY(arena, uint32_t, count);
    run->reuse.used = ARENA_ARRAY(arena, bool, count);
    run->reuse.next = ARENA_ARRAY(arena, uint32_t, run->view->catalogue->offer_count);
    run->reuse.count = count;
    run->slot_of = ARENA_ARRAY(arena, uint32_t, run->view->instance.count);
    for (uint32_t i = 0; i < count; i++)
        run->reuse.instances[i] = reusable[i];
    struct reuse_order order = { .view = run->view };

    if (count > 0)
        qsort_r(run->reuse.instances, count, sizeof(uint32_t), compare_reuse, &order);
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t instance = run->reuse.instances[i];

        run->slot_of[instance] = i + 1;
        run->reuse.next[run->view->instance.offer[instance]] = i;
    }
}

/* The place of the first unused instance of the offer, or UINT32_MAX. */
static uint32_t reuse_next(struct topdown *run, uint32_t offer)
{
    struct reuse *reuse = &run->reuse;
    uint32_t place = reuse->next[offer];

    while (place < reuse->count && reuse->used[place] &&
           run->view->instance.offer[reuse->instances[place]] == offer)
        place++;
    reuse->next[offer] = place;
    return place < reuse->count && run->view->instance.offer[reuse->instances[place]] == offer
               ? place
               : UINT32_MAX;
}

/* How good it would be to add a task: worth first, then staying, then complementing what is free. */
struct appeal {
    double worth;
    bool stays;
    double alignment;
};

static bool is_better(const struct appeal *a, const struct appeal *b)
{
    if (a->worth > b->worth)
        return true;
    if (a->worth < b->worth)
        return false;
    if (a->stays != b->stays)
        return a->stays;
    return a->alignment > b->alignment;
}

/* The kind that is best to add to the bin, or UINT32_MAX. */
static uint32_t best_kind(const struct topdown *run, uint32_t index, struct appeal *ret)
{
    const struct layout_bin *bin = &run->layout->bins[index];
    const struct pool *pool = run->layout->pool;
    const struct res free = layout_free(run->layout, bin);
    const struct res *capacity = &catalogue_type_of(run->view->catalogue, bin->offer)->capacity;
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < pool->kind_count; i++) {
        if (pool->kinds[i].left == 0)
            continue;

        const struct worth_kind kind = pool->kinds[i].kind;
        const struct res *demand = layout_demand(run->layout, bin, kind.shape);

        if (demand == NULL || !res_fits(demand, &free) ||
            run->view->shape_offer[kind.shape] == OFFER_NONE ||
            !layout_may_join(run->layout, index, i))
            continue;

        const struct appeal appeal = {
            .worth = worth_of(run->layout->rules, &bin->group, &kind, run->penalise),
            .stays = run->on_here[i] > 0,
            .alignment = worth_alignment(demand, &free, capacity),
        };

        if (best == UINT32_MAX || is_better(&appeal, ret)) {
            best = i;
            *ret = appeal;
        }
    }
    return best;
}

/* Fill the bin as long as its worth does not fall; its entries stay in the pool until accepted. */
static double fill(struct topdown *run, uint32_t bin)
{
    struct pool *pool = run->layout->pool;
    double worth = 0;

    pool_count_on(pool, run->layout->bins[bin].instance, run->on_here);
    for (;;) {
        struct appeal appeal = { 0 };
        const uint32_t kind = best_kind(run, bin, &appeal);

        if (kind == UINT32_MAX || appeal.worth < worth)
            return worth;

        const uint32_t preferred = appeal.stays ? run->layout->bins[bin].instance : ROW_NONE;

        layout_put(run->layout, bin, pool_pick(pool, kind, preferred));
        if (appeal.stays)
            run->on_here[kind]--;
        worth = appeal.worth;
    }
}

/* Take the bin back: its tasks return to the pool. It is the last one. */
static void undo(struct topdown *run, uint32_t bin)
{
    struct pool *pool = run->layout->pool;

    assert(bin + 1 == run->layout->bin_count);
    for (uint32_t i = 0; i < pool->entry_count; i++) {
        if (pool->entries[i].bin != bin)
            continue;

        struct pool_kind *kind = &pool->kinds[pool->entries[i].kind];

        pool->entries[i].bin = UINT32_MAX;
        if (kind->apart != ROW_NONE)
            spread_drop(&run->layout->spread, kind->apart, bin);
        if (i < kind->cursor)
            kind->cursor = i;
        kind->left++;
        pool->left++;
    }
    run->layout->bin_count--;
}

static bool is_cheapest_alone(const struct topdown *run, const struct layout_bin *bin)
{
    return bin->group.size == 1 &&
           run->view->shape_offer[bin->group.members[0].kind.shape] == bin->offer;
}

/* Switch an accepted bin to the cheapest offer that holds its tasks. */
static bool shrink(struct topdown *run, struct layout_bin *bin)
{
    struct shape_count *shapes =
        ARENA_ARRAY(run->layout->arena, struct shape_count, bin->group.member_count);

    for (uint32_t i = 0; i < bin->group.member_count; i++)
        shapes[i] = (struct shape_count){ .shape = bin->group.members[i].kind.shape,
                                          .count = bin->group.members[i].count };

    const money_t price = run->view->offer_price[bin->offer];
    const uint32_t offer =
        reservation_cheapest_holding(run->view, shapes, bin->group.member_count, price);

    if (offer == OFFER_NONE)
        return false;
    bin->why = plan_because(REASON_SHARES_FRESH, run->view->offer_price[offer]);
    plan_reject(&bin->why, offer, bin->offer, price);
    bin->offer = offer;
    bin->instance = ROW_NONE;
    bin->used = (struct res){ 0 };
    for (uint32_t i = 0; i < bin->group.member_count; i++) {
        for (uint32_t n = 0; n < shapes[i].count; n++)
            res_add(&bin->used, layout_demand(run->layout, bin, shapes[i].shape));
    }
    return true;
}

/* The machine of the offer on which the entry's task is now, if it may be re-used. */
static uint32_t own_slot(const struct topdown *run, uint32_t entry, uint32_t offer)
{
    const uint32_t instance = run->view->task.instance[run->layout->pool->entries[entry].task];

    if (instance == ROW_NONE || run->view->instance.offer[instance] != offer)
        return UINT32_MAX;

    const uint32_t slot = run->slot_of[instance];

    return slot != 0 && !run->reuse.used[slot - 1] ? slot - 1 : UINT32_MAX;
}

/* The machine of the offer on which exactly the tasks of the bin are together now, if it may be
 * re-used: its place, or UINT32_MAX. */
static uint32_t same_slot(const struct topdown *run, uint32_t bin, uint32_t offer)
{
    const struct pool *pool = run->layout->pool;
    const uint32_t slot = own_slot(run, run->layout->bins[bin].last_entry, offer);

    if (slot == UINT32_MAX)
        return UINT32_MAX;

    const uint32_t instance = run->reuse.instances[slot];

    if (run->view->instance.task_count[instance] != run->layout->bins[bin].group.size)
        return UINT32_MAX;
    TASK_EACH(task, run->view, run->view->instance.first_task[instance])
    {
        const uint32_t entry = pool->entry_of[task];

        if (entry == 0 || pool->entries[entry - 1].bin != bin)
            return UINT32_MAX;
    }
    return slot;
}

/* What all tasks that are left are worth, if none is slowed down; MONEY_UNKNOWN beside tasks that speed others up: nobody knows. */
static money_t worth_left(const struct topdown *run)
{
    const struct pool *pool = run->layout->pool;
    const struct colocation *colocation = run->layout->rules->colocation;
    money_t worth = 0;

    if (colocation != NULL && colocation->highest > 1)
        return MONEY_UNKNOWN;
    for (uint32_t i = 0; i < pool->kind_count; i++)
        worth += pool->kinds[i].left * run->view->shape_price[pool->kinds[i].kind.shape];
    return worth;
}

/* Whether a task that is left has this as its cheapest offer. */
static bool is_cheapest_of_some(const struct topdown *run, uint32_t offer)
{
    const struct pool *pool = run->layout->pool;

    for (uint32_t i = 0; i < pool->kind_count; i++) {
        if (pool->kinds[i].left > 0 && run->view->shape_offer[pool->kinds[i].kind.shape] == offer)
            return true;
    }
    return false;
}

/* Whether the tasks that are left are worth less than a machine of the offer: then no machine of it can be worth its price, nor
 * of it be the cheapest for one of them alone. As tasks only become fewer, it stays so. */
static bool is_beyond_all(const struct topdown *run, uint32_t offer, money_t worth)
{
    return worth < run->view->offer_price[offer] && !is_cheapest_of_some(run, offer);
}

/* One machine of the offer; false if there is none to be had or it was not worth its price. */
static bool pack_one(struct topdown *run, uint32_t offer)
{
    uint32_t slot = reuse_next(run, offer);
    const uint32_t instance = slot != UINT32_MAX ? run->reuse.instances[slot] : ROW_NONE;

    if (slot == UINT32_MAX && !reservation_is_open(run->view, offer))
        return false; /* it is on the list only for the machines that there are */

    const uint32_t index = layout_open(run->layout, offer, instance);
    const double worth = fill(run, index);
    struct layout_bin *bin = &run->layout->bins[index];

    if (bin->group.size == 0 ||
        (worth < (double)run->view->offer_price[offer] && !is_cheapest_alone(run, bin))) {
        undo(run, index);
        return false;
    }
    if (bin->group.size == 1)
        bin->why.code = REASON_CHEAPEST_ALONE;

    /* What would be put together again as it is now stays where it is. */
    const bool shrunk = shrink(run, bin);
    const uint32_t same = same_slot(run, index, bin->offer);

    if (shrunk || same != UINT32_MAX) {
        slot = same;
        bin->instance = same != UINT32_MAX ? run->reuse.instances[same] : ROW_NONE;
    }
    if (slot != UINT32_MAX)
        run->reuse.used[slot] = true;
    return true;
}

static void put_alone(struct topdown *run, uint32_t entry, uint32_t offer, uint32_t slot)
{
    const uint32_t instance = slot != UINT32_MAX ? run->reuse.instances[slot] : ROW_NONE;
    const uint32_t bin = layout_open(run->layout, offer, instance);

    run->layout->bins[bin].why.code = REASON_CHEAPEST_ALONE;
    if (slot != UINT32_MAX)
        run->reuse.used[slot] = true;
    layout_put(run->layout, bin, entry);
}

/* Each task that is left and has this as its cheapest offer gets a machine of its own: first those
 * that have one already, then the others. */
static void pack_alone(struct topdown *run, uint32_t offer)
{
    struct pool *pool = run->layout->pool;

    for (uint32_t k = 0; k < pool->kind_count; k++) {
        const struct pool_kind *kind = &pool->kinds[k];

        if (kind->left == 0 || run->view->shape_offer[kind->kind.shape] != offer)
            continue;
        for (uint32_t i = kind->first; i < kind->first + kind->count; i++) {
            const uint32_t slot = own_slot(run, i, offer);

            if (pool->entries[i].bin == UINT32_MAX && slot != UINT32_MAX)
                put_alone(run, i, offer, slot);
        }
        while (kind->left > 0)
            put_alone(run, pool_pick(pool, k, ROW_NONE), offer, reuse_next(run, offer));
    }
}

static int compare_offers(const void *left, const void *right, void *context)
{
    const money_t *price = context;
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    if (price[a] != price[b])
        return price[a] > price[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* The offers worth trying, by falling price: of each class the cheapest one that is open, and all
 * of which an instance may be re-used, if not beyond all work that there is. */
static uint32_t offers_by_price(const struct topdown *run, uint32_t *ret)
{
    const struct catalogue *catalogue = run->view->catalogue;
    const struct pool *pool = run->layout->pool;
    struct arena *arena = run->layout->arena;
    struct offer_classes classes;

    offer_classes_init(&classes, run->view, arena);
    for (uint32_t i = 0; i < pool->kind_count; i++)
        offer_classes_note(&classes, pool->kinds[i].kind.shape);
    offer_classes_make(&classes);

    bool *is_listed = ARENA_ARRAY(arena, bool, catalogue->offer_count);
    uint32_t *cheapest = ARENA_ARRAY(arena, uint32_t, classes.count);
    uint32_t count = offer_classes_cheapest(&classes, cheapest);

    for (uint32_t i = 0; i < count; i++)
        is_listed[cheapest[i]] = true;
    for (uint32_t i = 0; i < run->reuse.count; i++)
        is_listed[run->view->instance.offer[run->reuse.instances[i]]] = true;

    const money_t worth = worth_left(run);

    count = 0;
    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        if (is_listed[offer] && !is_beyond_all(run, offer, worth))
            ret[count++] = offer;
    }
    if (count > 0)
        qsort_r(ret, count, sizeof(*ret), compare_offers, run->view->offer_price);
    return count;
}

void topdown_pack(struct layout *layout, const uint32_t *reusable, uint32_t reusable_count,
                  struct topdown_options options)
{
    struct topdown run = {
        .layout = layout,
        .view = layout->rules->view,
        .penalise = options.penalise,
    };

    if (layout->pool->left == 0)
        return;
    reuse_build(&run, reusable, reusable_count);
    run.on_here = ARENA_ARRAY(layout->arena, uint32_t, layout->pool->kind_count);

    uint32_t *offers = ARENA_ARRAY(layout->arena, uint32_t, run.view->catalogue->offer_count);
    const uint32_t count = offers_by_price(&run, offers);

    for (uint32_t i = 0; i < count && layout->pool->left > 0; i++) {
        if (is_beyond_all(&run, offers[i], worth_left(&run)))
            continue;
        while (layout->pool->left > 0 && pack_one(&run, offers[i]))
            ;
        pack_alone(&run, offers[i]);
    }
}
