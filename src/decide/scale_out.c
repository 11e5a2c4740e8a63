/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scale_out.h"

#include <assert.h>
#include <math.h>

#include "decide/offer_classes.h"
#include "decide/reservation.h"

struct scaler {
    const struct view *view;
    uint32_t *offers; /* of each class the cheapest open one, in order of the classes */
    struct res *used; /* per entry of offers: what the group takes there */
    bool *holds;      /* per entry of offers */
    uint32_t offer_count;
    money_t alone;           /* what the tasks of the group cost with a machine for each */
    double unit[RES_PRICED]; /* 0: counts without limit */
};

static void list_offers(struct scaler *scaler, const struct scale_out_task *tasks, uint32_t count,
                        struct arena *arena)
{
    struct offer_classes classes;

    offer_classes_init(&classes, scaler->view, arena);
    for (uint32_t i = 0; i < count; i++)
        offer_classes_note(&classes, scaler->view->task.shape[tasks[i].task]);
    offer_classes_make(&classes);
    scaler->offers = ARENA_ARRAY(arena, uint32_t, classes.count);
    scaler->used = ARENA_ARRAY(arena, struct res, classes.count);
    scaler->holds = ARENA_ARRAY(arena, bool, classes.count);
    scaler->offer_count = offer_classes_cheapest(&classes, scaler->offers);
}

static const struct res *capacity_of(const struct scaler *scaler, uint32_t i)
{
    return &catalogue_type_of(scaler->view->catalogue, scaler->offers[i])->capacity;
}

static void find_units(struct scaler *scaler, enum scale_out_unit unit)
{
    money_t cheapest = MONEY_UNKNOWN;

    for (uint32_t i = 0; i < scaler->offer_count; i++) {
        const struct res *capacity = capacity_of(scaler, i);
        const money_t price = scaler->view->offer_price[scaler->offers[i]];
        const bool is_cheapest = price < cheapest;

        if (is_cheapest)
            cheapest = price;
        for (int kind = 0; kind < RES_PRICED; kind++) {
            const double amount = (double)capacity->amount[kind];
            double *least = &scaler->unit[kind];

            if (unit == UNIT_MACHINE ? is_cheapest : amount > 0 && (*least <= 0 || amount < *least))
                *least = amount;
        }
    }
}

/* The score of what is in 'used' on that offer. */
static double score(const struct scaler *scaler, uint32_t i)
{
    const struct res *capacity = capacity_of(scaler, i);
    double tightest = -1;
    int kind = 0;

    for (int k = 0; k < RES_PRICED; k++) {
        if (capacity->amount[k] <= 0)
            continue;

        const double share = (double)scaler->used[i].amount[k] / (double)capacity->amount[k];

        if (share > tightest) {
            tightest = share;
            kind = k;
        }
    }

    const money_t price = scaler->view->offer_price[scaler->offers[i]];

    if (scaler->unit[kind] <= 0 || price <= 0)
        return HUGE_VAL; /* nothing is better than what costs nothing */
    return (double)scaler->used[i].amount[kind] / scaler->unit[kind] / (double)price;
}

struct best {
    uint32_t size; /* of the group; 0: nothing holds even the first task */
    uint32_t offer;
    double score;
    uint32_t runner_up; /* the next best offer for the same group, or OFFER_NONE */
    double runner_up_score;
};

static const struct best nobody = {
    .offer = OFFER_NONE,
    .score = -1,
    .runner_up = OFFER_NONE,
    .runner_up_score = -1,
};

/* Add the task to the group on every offer that still holds it; whether any does. */
static bool grow_group(struct scaler *scaler, uint32_t task)
{
    const struct view *view = scaler->view;
    bool any = false;

    scaler->alone += reservation_price(view, task);
    for (uint32_t i = 0; i < scaler->offer_count; i++) {
        const struct res *demand = shape_demand_at(view->shapes, view->task.shape[task],
                                                   view->catalogue, scaler->offers[i]);

        if (!scaler->holds[i])
            continue;
        scaler->holds[i] = false;
        if (demand == NULL)
            continue;
        res_add(&scaler->used[i], demand);
        if (!res_fits(&scaler->used[i], capacity_of(scaler, i)))
            continue;
        scaler->holds[i] = true;
        any = true;
    }
    return any;
}

/* The best offer for the group as it is, among those that cost no more than a machine for each of its tasks.
 * The score alone does not say so: a task may ask for more where machines have more, and then seems to make
 * better use of a machine at fifty times the price. */
static struct best best_for(const struct scaler *scaler, uint32_t size)
{
    struct best best = nobody;

    best.size = size;
    for (uint32_t i = 0; i < scaler->offer_count; i++) {
        if (!scaler->holds[i])
            continue;

        const double points = score(scaler, i);
        const bool is_dear = scaler->view->offer_price[scaler->offers[i]] > scaler->alone;

        if (!is_dear && points > best.score) {
            best.runner_up = best.offer;
            best.runner_up_score = best.score;
            best.offer = scaler->offers[i];
            best.score = points;
        } else if (points > best.runner_up_score) {
            best.runner_up = scaler->offers[i];
            best.runner_up_score = points;
        }
    }
    return best;
}

/* Whether the last task of the group may share a machine with those before it. */
static bool is_apart(const struct view *view, const struct scale_out_task *tasks, uint32_t size)
{
    const uint32_t last = tasks[size - 1].task;

    if (!view_has_apart(view, view->task.job[last]))
        return true;
    for (uint32_t i = size - 1; i-- > 0;) {
        if (view_keep_apart(view, last, tasks[i].task))
            return false;
    }
    return true;
}

static struct best choose(struct scaler *scaler, const struct scale_out_task *tasks, uint32_t count,
                          bool within_bins)
{
    struct best best = nobody;

    scaler->alone = 0;
    for (uint32_t i = 0; i < scaler->offer_count; i++) {
        scaler->used[i] = (struct res){ 0 };
        scaler->holds[i] = true;
    }
    for (uint32_t size = 1; size <= count; size++) {
        if (within_bins && tasks[size - 1].bin != tasks[0].bin)
            break;
        if (!is_apart(scaler->view, tasks, size))
            break;
        if (!grow_group(scaler, tasks[size - 1].task))
            break;

        const struct best of_size = best_for(scaler, size);

        if (of_size.score > best.score)
            best = of_size;
    }
    return best;
}

money_t scale_out(const struct view *view, const struct scale_out_task *tasks, uint32_t count,
                  struct scale_out_options options, enum plan_reason_code why, struct plan *plan)
{
    struct scaler scaler = { .view = view };
    money_t price = 0;

    assert(view->shapes_priced == view->shapes->count);
    if (count == 0)
        return 0;
    list_offers(&scaler, tasks, count, plan->arena);
    find_units(&scaler, options.unit);
    for (uint32_t done = 0; done < count;) {
        const struct best best = choose(&scaler, tasks + done, count - done, options.within_bins);

        if (best.size == 0) {
            done++; /* nothing holds it: it waits */
            continue;
        }

        assert(best.size <= count - done);
        assert(reservation_is_open(view, best.offer));

        struct plan_reason reason = plan_because(REASON_BEST_SCORE, view->offer_price[best.offer]);

        if (best.runner_up != OFFER_NONE)
            plan_reject(&reason, best.offer, best.runner_up, view->offer_price[best.runner_up]);

        const uint32_t rent = plan_rent(plan, best.offer, reason);

        reason.code = why;
        for (uint32_t i = 0; i < best.size; i++)
            plan_place_fresh(plan, tasks[done + i].task, rent, reason);
        price += view->offer_price[best.offer];
        done += best.size;
    }
    assert(price >= 0);
    return price;
}
