/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of the spot offers on which a task of the service may run, the cheapest per task are looked at, a few of each type;
 * beside them the two cheapest that are not taken away, and what the service has machines of.
 *
 * Rates are rounded up, to four steps in each power of two: so the answer does not change with every hour that passes.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "decide/service_pools_private.h"

enum { OF_A_TYPE = 4, SAFE_OFFERS = 2 };

struct found {
    double unit_price;
    int64_t units;
    uint32_t offer;
    bool is_safe;
};

static int by_unit_price(const void *left, const void *right)
{
    const struct found *a = left;
    const struct found *b = right;

    if (a->unit_price < b->unit_price || a->unit_price > b->unit_price)
        return a->unit_price < b->unit_price ? -1 : 1;
    return a->offer < b->offer ? -1 : a->offer > b->offer;
}

static int64_t tasks_in(const struct res *demand, const struct res *room, int64_t most)
{
    int64_t least = most;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (demand->amount[kind] <= 0)
            continue;

        const int64_t fit = room->amount[kind] > 0 ? room->amount[kind] / demand->amount[kind] : 0;

        least = fit < least ? fit : least;
    }
    return least;
}

/* More than all of its tasks are of no use to it, nor is more than one on a machine if they must be apart. */
static int64_t most_units(const struct service *service)
{
    const struct view *view = service->all->view;

    return view_is_spread(view, service->job) ? 1 : view->job.tasks_left[service->job];
}

static int64_t units_of_offer(const struct service *service, uint32_t offer)
{
    const struct view *view = service->all->view;
    const struct res *demand =
        shape_demand_at(view->shapes, service->shape, view->catalogue, offer);

    if (demand == NULL)
        return 0;
    return tasks_in(demand, &catalogue_type_of(view->catalogue, offer)->capacity,
                    most_units(service));
}

bool service_may_stop(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return (!view->job.fixed[job] || view->job.yields[job]) && view->job.short_ppb[job] == 0 &&
           !(view->job.gang[job] && view->job.task_count[job] > 1);
}

int64_t service_units(const struct service *service, uint32_t instance)
{
    const struct view *view = service->all->view;
    const struct res *demand = view_shape_demand(view, service->shape, instance);
    const uint32_t apart = view->job.apart[service->job];
    struct res room = *view_capacity(view, instance);

    if (demand == NULL)
        return 0;
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const uint32_t job = view->task.job[task];

        if (job != service->job && view_aparts_meet(view, apart, view->job.apart[job]))
            return 0; /* none may be beside it */
        if (job != service->job && !service_may_stop(view, task))
            res_sub(&room, view_taken(view, task, instance));
    }
    return tasks_in(demand, &room, most_units(service));
}

/* Losses per hour; below 0: nobody knows. */
static double loss_rate(const struct service *service, uint32_t offer)
{
    const struct service_question *question = service->all->question;
    const struct view *view = question->view;
    struct interruption_rate rate;
    double most;

    if (view->catalogue->offers[offer].market != MARKET_SPOT)
        return 0;
    if (interruptions_rate(question->learned, offer, view->now, &rate))
        most = fmax(rate.mean, rate.high);
    else if (view->offer_lasts[offer] != MSEC_NEVER)
        most = (double)MSEC_PER_HOUR / (double)view->offer_lasts[offer];
    else
        return -1;
    return most > 0 ? exp2(ceil(4 * log2(most)) / 4) : 0;
}

/* From the loss of a machine until another one serves, at the longest: decided, started, and the task on it. */
static msec_t repair_time(const struct service *service, const struct found *found, uint32_t count)
{
    const struct view *view = service->all->view;
    const struct shape_delays *delays = &view->shapes->rows[service->shape].delays;
    msec_t longest = 0;

    for (uint32_t i = 0; i < count; i++) {
        const msec_t boot = catalogue_boot_ms(view->catalogue, found[i].offer);

        longest = boot > longest ? boot : longest;
    }
    return longest + delays->fetch_ms + delays->build_ms + delays->init_ms + view->round_ms;
}

/* Offers on which a task may run and of which enough is known, or not. */
static uint32_t find_offers(const struct service *service, const bool *is_used, bool is_known,
                            struct found *ret)
{
    const struct view *view = service->all->view;
    uint32_t count = 0;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        const struct offer *row = &view->catalogue->offers[offer];
        const bool can_rent = !row->is_former && view->offer_blocked_until[offer] <= view->now;

        if (!can_rent && !is_used[offer])
            continue;

        const int64_t units = units_of_offer(service, offer);

        if (units > 0 && view->offer_price[offer] > 0 &&
            (!is_known || loss_rate(service, offer) >= 0))
            ret[count++] = (struct found){
                .unit_price = (double)view->offer_price[offer] / (double)units,
                .units = units,
                .offer = offer,
                .is_safe = row->market != MARKET_SPOT,
            };
    }
    if (count > 1)
        qsort(ret, count, sizeof(*ret), by_unit_price);
    return count;
}

static void take(struct service *service, const struct found *found, msec_t repair)
{
    const struct view *view = service->all->view;
    const double rate = loss_rate(service, found->offer);
    const double expected = rate * (double)repair / (double)MSEC_PER_HOUR;

    assert(service->count < SERVICE_OFFERS_ROOM);
    service->offer_of[service->count] = found->offer;
    service->offers[service->count++] = (struct promise_offer){
        .capacity = found->units,
        .price = view->offer_price[found->offer],
        .down = rate < 0 ? 1 : expected / (1 + expected),
        .is_safe = found->is_safe,
    };
}

uint32_t service_find_offer(const struct service *service, uint32_t offer)
{
    for (uint32_t i = 0; i < service->count; i++) {
        if (service->offer_of[i] == offer)
            return i;
    }
    return SERVICE_NO_OFFER;
}

/* What can be rented, the cheapest first. */
static void take_rentable(struct service *service, const struct found *found, uint32_t count,
                          msec_t repair)
{
    const struct view *view = service->all->view;
    uint8_t *of_type = ARENA_ARRAY(service->all->arena, uint8_t, view->catalogue->type_count);
    uint32_t of_market[2] = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        const struct offer *row = &view->catalogue->offers[found[i].offer];
        const uint32_t most = found[i].is_safe ? SAFE_OFFERS : SERVICE_OFFERS_MAX;

        if (row->is_former || view->offer_blocked_until[found[i].offer] > view->now ||
            of_market[found[i].is_safe] == most ||
            (!found[i].is_safe && of_type[row->type] == OF_A_TYPE))
            continue;
        of_type[row->type] += !found[i].is_safe;
        of_market[found[i].is_safe]++;
        take(service, &found[i], repair);
    }
    service->rentable = service->count;
}

/* Offers of one type are lost together; if there is but one type, each offer by itself. */
static void number_types(struct service *service)
{
    const struct catalogue *catalogue = service->all->view->catalogue;
    uint32_t types[SERVICE_OFFERS_ROOM];
    uint32_t type_count = 0;

    for (uint32_t i = 0; i < service->count; i++) {
        const uint32_t type = catalogue->offers[service->offer_of[i]].type;
        uint32_t number = 0;

        while (number < type_count && (types[number] != type || service->offers[i].is_safe))
            number++;
        if (number == type_count)
            types[type_count++] = service->offers[i].is_safe ? UINT32_MAX : type;
        service->offers[i].type = number;
    }

    uint32_t spot_types = 0;

    for (uint32_t i = 0; i < type_count; i++)
        spot_types += types[i] != UINT32_MAX;
    for (uint32_t i = 0; spot_types < 2 && i < service->count; i++)
        service->offers[i].type = i;
}

void service_list_offers(struct service *service, const bool *is_used)
{
    const uint32_t offer_count = service->all->view->catalogue->offer_count;
    struct found *found = ARENA_ARRAY(service->all->arena, struct found, offer_count);
    uint32_t count = find_offers(service, is_used, true, found);

    if (count == 0) /* of what the service may run on nothing is known */
        count = find_offers(service, is_used, false, found);

    const msec_t repair = repair_time(service, found, count);

    service->count = 0;
    take_rentable(service, found, count, repair);
    for (uint32_t i = 0; i < count && service->count < SERVICE_OFFERS_ROOM; i++) {
        if (is_used[found[i].offer] &&
            service_find_offer(service, found[i].offer) == SERVICE_NO_OFFER)
            take(service, &found[i], repair);
    }
    number_types(service);
}

struct promise service_promise(const struct service *service, uint32_t count)
{
    const struct view *view = service->all->view;

    return (struct promise){
        .offers = service->offers,
        .count = count,
        .capacity = view->job.tasks_left[service->job],
        .short_most = (double)view->job.short_ppb[service->job] / (double)SHARE_ALL_PPB,
        .survives_types = true,
    };
}
