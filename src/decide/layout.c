/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/layout.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "decide/reservation.h"

void layout_init(struct layout *layout, const struct worth_rules *rules, struct pool *pool,
                 struct arena *arena)
{
    *layout = (struct layout){ .arena = arena, .rules = rules, .pool = pool };
    spread_init(&layout->spread, rules->view, arena);
}

uint32_t layout_open(struct layout *layout, uint32_t offer, uint32_t instance)
{
    assert(instance != ROW_NONE || reservation_is_open(layout->rules->view, offer));
    if (layout->bin_count == layout->room) {
        const uint32_t room = layout->room > 0 ? layout->room * 2 : 32;
        struct layout_bin *bins = ARENA_ARRAY(layout->arena, struct layout_bin, room);

        if (layout->bin_count > 0)
            memcpy(bins, layout->bins, layout->bin_count * sizeof(*bins));
        layout->bins = bins;
        layout->room = room;
    }

    struct layout_bin *bin = &layout->bins[layout->bin_count];

    *bin = (struct layout_bin){
        .offer = offer,
        .instance = instance,
        .why = plan_because(REASON_SHARES_FRESH, layout->rules->view->offer_price[offer]),
    };
    worth_group_init(&bin->group, layout->arena);
    return layout->bin_count++;
}

static const struct machine_type *type_of(const struct layout *layout, const struct layout_bin *bin)
{
    return catalogue_type_of(layout->rules->view->catalogue, bin->offer);
}

static const struct res *capacity_of(const struct layout *layout, const struct layout_bin *bin)
{
    return bin->instance != ROW_NONE ? view_capacity(layout->rules->view, bin->instance)
                                     : &type_of(layout, bin)->capacity;
}

struct res layout_free(const struct layout *layout, const struct layout_bin *bin)
{
    return res_minus(capacity_of(layout, bin), &bin->used);
}

const struct res *layout_demand(const struct layout *layout, const struct layout_bin *bin,
                                uint32_t shape)
{
    const struct view *view = layout->rules->view;

    return shape_taken(view->shapes, shape, view->catalogue, bin->offer, capacity_of(layout, bin));
}

bool layout_may_join(const struct layout *layout, uint32_t bin, uint32_t kind)
{
    const uint32_t apart = layout->pool->kinds[kind].apart;

    return apart == ROW_NONE || !spread_has(&layout->spread, apart, bin);
}

void layout_keep(struct layout *layout, uint32_t bin, uint32_t task)
{
    const struct view *view = layout->rules->view;
    struct layout_bin *into = &layout->bins[bin];
    const uint32_t job = view->task.job[task];

    res_add(&into->used, layout_demand(layout, into, view->task.shape[task]));
    worth_group_add(&into->group, worth_kind_of(layout->rules, task));
    if (view_has_apart(view, job))
        spread_put(&layout->spread, view->job.apart[job], bin);
}

void layout_put(struct layout *layout, uint32_t bin, uint32_t entry)
{
    struct layout_bin *into = &layout->bins[bin];
    const struct pool_kind *kind = &layout->pool->kinds[layout->pool->entries[entry].kind];

    assert(layout_may_join(layout, bin, layout->pool->entries[entry].kind));
    res_add(&into->used, layout_demand(layout, into, kind->kind.shape));
    assert(res_fits(&into->used, capacity_of(layout, into)));
    worth_group_add(&into->group, kind->kind);
    if (kind->apart != ROW_NONE)
        spread_put(&layout->spread, kind->apart, bin);
    into->last_entry = entry;
    pool_take(layout->pool, entry, bin);
}

double layout_saving(const struct layout *layout)
{
    double worth = 0;
    money_t price = 0;

    for (uint32_t i = 0; i < layout->bin_count; i++) {
        worth += worth_of(layout->rules, &layout->bins[i].group, NULL, false);
        price += layout->rules->view->offer_price[layout->bins[i].offer];
    }
    price = (price + MONEY_PER_CENT / 2) / MONEY_PER_CENT * MONEY_PER_CENT;
    return worth - (double)price;
}

/*
 * What moving or launching costs: the time without progress, at the price of the work that stands
 * still. Parts of it are known only once they were seen: fetch and build after a first launch,
 * upload after a first stop.
 */
static double relaunch_cost(const struct view *view, uint32_t task, uint32_t tasks)
{
    const struct shape_delays *delays = &view->shapes->rows[view->task.shape[task]].delays;
    msec_t still = delays->init_ms;

    if (view->task.launches[task] > 0)
        still += delays->fetch_ms + delays->build_ms;
    if (view->task.stops[task] > 0)
        still += delays->upload_ms;
    return (double)reservation_price(view, task) * (double)tasks * (double)still /
           (double)MSEC_PER_HOUR;
}

double layout_migration(const struct layout *layout, const struct layout_costs *costs)
{
    const struct view *view = layout->rules->view;
    bool *gang_counted = ARENA_ARRAY(layout->arena, bool, view->job.count);
    double cost = 0;

    for (uint32_t i = 0; i < layout->pool->entry_count; i++) {
        const struct pool_entry *entry = &layout->pool->entries[i];
        const uint32_t job = view->task.job[entry->task];

        if (entry->bin == UINT32_MAX ||
            (view->task.instance[entry->task] != ROW_NONE &&
             layout->bins[entry->bin].instance == view->task.instance[entry->task]))
            continue;
        if (!view->job.gang[job]) {
            cost += relaunch_cost(view, entry->task, 1);
        } else if (!gang_counted[job]) {
            gang_counted[job] = true;
            cost += relaunch_cost(view, entry->task, view->job.tasks_left[job]);
        }
    }
    for (uint32_t i = 0; i < layout->bin_count; i++) {
        if (layout->bins[i].instance == ROW_NONE)
            cost += (double)view->offer_price[layout->bins[i].offer] *
                    (double)costs->per_instance_ms / (double)MSEC_PER_HOUR;
    }
    return cost;
}

static void plan_releases(const struct layout *layout, struct plan *plan)
{
    const struct view *view = layout->rules->view;
    bool *in_layout = ARENA_ARRAY(layout->arena, bool, view->instance.count);

    for (uint32_t i = 0; i < layout->bin_count; i++) {
        if (layout->bins[i].instance != ROW_NONE && layout->bins[i].group.size > 0)
            in_layout[layout->bins[i].instance] = true;
    }
    INSTANCE_EACH(instance, view)
    {
        if (in_layout[instance] || !view_is_open(view, instance))
            continue;
        plan_release(plan, instance,
                     plan_because(view->instance.task_count[instance] == 0 ? REASON_EMPTY
                                                                           : REASON_NOT_WORTH_PRICE,
                                  view->offer_price[view->instance.offer[instance]]));
    }
}

/* A gang of which a task found no machine, as none can be rented for it now, waits as a whole. */
static void withdraw_partial_gangs(struct layout *layout)
{
    const struct view *view = layout->rules->view;
    bool *partial = NULL;

    for (uint32_t i = 0; i < layout->pool->entry_count; i++) {
        const struct pool_entry *entry = &layout->pool->entries[i];
        const uint32_t job = view->task.job[entry->task];

        if (entry->bin != UINT32_MAX || !view->job.gang[job])
            continue;
        if (partial == NULL)
            partial = ARENA_ARRAY(layout->arena, bool, view->job.count);
        partial[job] = true;
    }
    for (uint32_t i = 0; partial != NULL && i < layout->pool->entry_count; i++) {
        struct pool_entry *entry = &layout->pool->entries[i];

        if (entry->bin == UINT32_MAX || !partial[view->task.job[entry->task]])
            continue;
        layout->bins[entry->bin].group.size--;
        entry->bin = UINT32_MAX;
    }
}

void layout_to_plan(struct layout *layout, enum plan_reason_code moved, struct plan *plan)
{
    const struct view *view = layout->rules->view;

    withdraw_partial_gangs(layout);

    uint32_t *rent_of = ARENA_ARRAY(layout->arena, uint32_t, layout->bin_count);

    for (uint32_t i = 0; i < layout->bin_count; i++) {
        if (layout->bins[i].instance == ROW_NONE && layout->bins[i].group.size > 0)
            rent_of[i] = plan_rent(plan, layout->bins[i].offer, layout->bins[i].why);
    }
    for (uint32_t i = 0; i < layout->pool->entry_count; i++) {
        const struct pool_entry *entry = &layout->pool->entries[i];
        const uint32_t now_on = view->task.instance[entry->task];

        if (entry->bin == UINT32_MAX)
            continue; /* nothing can hold it: it waits */

        const struct layout_bin *bin = &layout->bins[entry->bin];
        struct plan_reason why = bin->why;

        if (now_on != ROW_NONE)
            why.code = moved;
        if (bin->instance == ROW_NONE)
            plan_place_fresh(plan, entry->task, rent_of[entry->bin], why);
        else if (bin->instance != now_on)
            plan_place_kept(plan, entry->task, bin->instance, why);
    }
    plan_releases(layout, plan);
}
