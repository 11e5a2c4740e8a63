/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/fresh_fill.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decide/offer_classes.h"
#include "decide/pool.h"
#include "decide/reservation.h"
#include "decide/row_map.h"

struct filler {
    const struct view *view;
    struct plan *plan;
    struct pool pool;
    uint32_t *kinds; /* of the pool, the largest first; those of which some are left */
    uint32_t kind_count;
    uint32_t *offers; /* of those that all tasks see alike the cheapest open one */
    uint32_t offer_count;
    double unit[RES_PRICED]; /* the least that a machine has; 0: none has any */
    uint32_t *take;          /* per entry of kinds: how many the machine that is tried gets */
    uint32_t *best;          /* and the best of them */
    struct row_map has;   /* by mark: the last machine that was tried and got a task that has it */
    struct row_map shuns; /* and one that shuns it */
    uint32_t tried;       /* so many machines */
};

/* A machine with what it is filled with. */
struct fill {
    uint32_t offer; /* OFFER_NONE: nothing fits */
    double size;    /* of what it got */
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

static void list_offers(struct filler *filler)
{
    struct offer_classes classes;

    offer_classes_init(&classes, filler->view, filler->plan->arena);
    for (uint32_t i = 0; i < filler->pool.kind_count; i++)
        offer_classes_note(&classes, filler->pool.kinds[i].kind.shape);
    offer_classes_make(&classes);
    filler->offers = ARENA_ARRAY(filler->plan->arena, uint32_t, classes.count);
    filler->offer_count = offer_classes_cheapest(&classes, filler->offers);
}

/* What a task of the kind takes on the cheapest machine that holds it. */
static const struct res *demand_of(const struct filler *filler, uint32_t kind)
{
    const struct view *view = filler->view;
    const uint32_t shape = filler->pool.kinds[kind].kind.shape;

    return shape_demand_at(view->shapes, shape, view->catalogue, view->shape_offer[shape]);
}

static void find_units(struct filler *filler)
{
    for (uint32_t i = 0; i < filler->offer_count; i++) {
        const struct machine_type *type =
            catalogue_type_of(filler->view->catalogue, filler->offers[i]);

        for (int kind = 0; kind < RES_PRICED; kind++) {
            const double amount = (double)type->capacity.amount[kind];

            if (amount > 0 && (filler->unit[kind] <= 0 || amount < filler->unit[kind]))
                filler->unit[kind] = amount;
        }
    }
}

static double size_of(const struct filler *filler, const struct res *what)
{
    double size = 0;

    for (int kind = 0; kind < RES_PRICED; kind++) {
        const double amount = (double)what->amount[kind];

        if (filler->unit[kind] > 0 && amount / filler->unit[kind] > size)
            size = amount / filler->unit[kind];
    }
    return size;
}

static int compare_size(const void *left, const void *right, void *context)
{
    const double *size = context;
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    if (size[a] > size[b])
        return -1;
    if (size[a] < size[b])
        return 1;
    return (a > b) - (a < b);
}

static void sort_kinds(struct filler *filler)
{
    const uint32_t count = filler->pool.kind_count;
    double *size = ARENA_ARRAY(filler->plan->arena, double, count);

    filler->kinds = ARENA_ARRAY(filler->plan->arena, uint32_t, count);
    filler->take = ARENA_ARRAY(filler->plan->arena, uint32_t, count);
    filler->best = ARENA_ARRAY(filler->plan->arena, uint32_t, count);
    filler->kind_count = count;
    for (uint32_t i = 0; i < count; i++) {
        size[i] = size_of(filler, demand_of(filler, i));
        filler->kinds[i] = i;
    }
    if (count > 0)
        qsort_r(filler->kinds, count, sizeof(*filler->kinds), compare_size, size);
}

/* How many of 'left' such tasks fit. */
static uint32_t fit_count(const struct res *demand, const struct res *free, uint32_t left)
{
    int64_t most = left;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (demand->amount[kind] > 0 && free->amount[kind] / demand->amount[kind] < most)
            most = free->amount[kind] / demand->amount[kind];
    }
    return (uint32_t)most;
}

/* How many tasks of the kind the machine may get that is tried, if they fit. */
static uint32_t most_of(const struct filler *filler, const struct pool_kind *kind)
{
    struct apart_word room;
    const struct apart_word *words;
    const uint32_t count = aparts_words(&filler->view->shapes->aparts, kind->apart, &room, &words);

    for (uint32_t i = 0; i < count; i++) {
        if (((words[i].sides & APART_SHUNS) != 0 &&
             row_map_get(&filler->has, words[i].mark) == filler->tried) ||
            ((words[i].sides & APART_HAS) != 0 &&
             row_map_get(&filler->shuns, words[i].mark) == filler->tried))
            return 0;
    }
    return kind->alone && kind->left > 0 ? 1 : kind->left;
}

/* The machine that is tried gets a task of the kind. */
static void note_apart(struct filler *filler, const struct pool_kind *kind)
{
    struct apart_word room;
    const struct apart_word *words;
    const uint32_t count = aparts_words(&filler->view->shapes->aparts, kind->apart, &room, &words);

    for (uint32_t i = 0; i < count; i++) {
        if ((words[i].sides & APART_HAS) != 0)
            row_map_set(&filler->has, words[i].mark, filler->tried);
        if ((words[i].sides & APART_SHUNS) != 0)
            row_map_set(&filler->shuns, words[i].mark, filler->tried);
    }
}

/* Fill a machine of the offer; what it gets is in 'take'. */
static struct fill fill(struct filler *filler, uint32_t offer)
{
    const struct view *view = filler->view;
    const struct machine_type *type = catalogue_type_of(view->catalogue, offer);
    struct fill ret = { .offer = OFFER_NONE };
    struct res used = { 0 };
    struct res free = type->capacity;

    filler->tried++;
    for (uint32_t i = 0; i < filler->kind_count; i++) {
        const struct pool_kind *kind = &filler->pool.kinds[filler->kinds[i]];
        const struct res *demand =
            shape_demand_at(view->shapes, kind->kind.shape, view->catalogue, offer);
        const uint32_t most = most_of(filler, kind);

        filler->take[i] = demand != NULL ? fit_count(demand, &free, most) : 0;
        if (filler->take[i] == 0)
            continue;
        note_apart(filler, kind);
        for (int k = 0; k < RES_KINDS; k++)
            used.amount[k] += demand->amount[k] * filler->take[i];
        free = res_minus(&type->capacity, &used);
        ret.offer = offer;
    }
    ret.size = size_of(filler, &used);
    return ret;
}

/* Whether 'a' costs less for its size. */
static bool is_better(const struct filler *filler, const struct fill *a, const struct fill *b)
{
    if (a->offer == OFFER_NONE || b->offer == OFFER_NONE)
        return a->offer != OFFER_NONE;
    return (double)filler->view->offer_price[a->offer] * b->size <
           (double)filler->view->offer_price[b->offer] * a->size;
}

/* The best machine for the tasks that are left; what it gets is in 'best'. */
static struct fill choose(struct filler *filler)
{
    struct fill best = { .offer = OFFER_NONE };

    for (uint32_t i = 0; i < filler->offer_count; i++) {
        const struct fill tried = fill(filler, filler->offers[i]);

        if (!is_better(filler, &tried, &best))
            continue;
        best = tried;
        memcpy(filler->best, filler->take, filler->kind_count * sizeof(*filler->take));
    }
    return best;
}

static void rent(struct filler *filler, const struct fill *what)
{
    const struct plan_reason why =
        plan_because(REASON_BEST_SCORE, filler->view->offer_price[what->offer]);
    const uint32_t rent = plan_rent(filler->plan, what->offer, why);

    for (uint32_t i = 0; i < filler->kind_count; i++) {
        for (uint32_t k = 0; k < filler->best[i]; k++) {
            const uint32_t entry = pool_pick(&filler->pool, filler->kinds[i], ROW_NONE);

            plan_place_fresh(filler->plan, filler->pool.entries[entry].task, rent, why);
            pool_take(&filler->pool, entry, rent);
        }
    }
}

/* Kinds of which none is left need not be looked at. */
static void drop_finished(struct filler *filler)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < filler->kind_count; i++) {
        if (filler->pool.kinds[filler->kinds[i]].left > 0)
            filler->kinds[kept++] = filler->kinds[i];
    }
    filler->kind_count = kept;
}

void fresh_fill(const struct view *view, struct plan *ret)
{
    const struct worth_rules rules = { .view = view };
    uint32_t *waiting = ARENA_ARRAY(ret->arena, uint32_t, view->task.waiting_count);
    struct filler filler = { .view = view, .plan = ret };

    assert(view->shapes_priced == view->shapes->count);
    pool_build(&filler.pool, &rules, waiting, list_waiting(view, waiting), ret->arena);
    row_map_init(&filler.has, ret->arena);
    row_map_init(&filler.shuns, ret->arena);
    list_offers(&filler);
    find_units(&filler);
    sort_kinds(&filler);
    while (filler.pool.left > 0) {
        const struct fill best = choose(&filler);

        assert(best.offer != OFFER_NONE); /* each fits the cheapest machine that holds it */
        rent(&filler, &best);
        drop_finished(&filler);
    }
}
