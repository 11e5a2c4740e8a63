/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/best_fit.h"

#include "decide/layout.h"
#include "decide/reservation.h"

/* The bin where one more task of the kind is worth most per dollar; UINT32_MAX if none pays. */
static uint32_t best_bin(const struct layout *layout, struct worth_kind kind)
{
    const struct view *view = layout->rules->view;
    uint32_t best = UINT32_MAX;
    double best_ratio = 0;
    double best_alignment = 0;

    for (uint32_t i = 0; i < layout->bin_count; i++) {
        const struct layout_bin *bin = &layout->bins[i];
        const struct res free = layout_free(layout, bin);
        const struct res *demand = layout_demand(layout, bin, kind.shape);

        if (demand == NULL || !res_fits(demand, &free))
            continue;

        const double ratio = worth_of(layout->rules, &bin->group, &kind, false) /
                             (double)view->offer_price[bin->offer];

        if (ratio < 1.0 || ratio < best_ratio)
            continue;

        const double alignment = worth_alignment(
            demand, &free, &catalogue_type_of(view->catalogue, bin->offer)->capacity);

        if (ratio > best_ratio || alignment > best_alignment) {
            best = i;
            best_ratio = ratio;
            best_alignment = alignment;
        }
    }
    return best;
}

static void place(struct layout *layout, uint32_t entry)
{
    const struct view *view = layout->rules->view;
    const struct worth_kind kind = layout->pool->kinds[layout->pool->entries[entry].kind].kind;
    uint32_t bin = best_bin(layout, kind);

    if (bin != UINT32_MAX) {
        layout->bins[bin].why.code = REASON_FITS_KEPT;
    } else if (view->shape_offer[kind.shape] != OFFER_NONE) {
        bin = layout_open(layout, view->shape_offer[kind.shape], ROW_NONE);
        layout->bins[bin].why.code = REASON_CHEAPEST_ALONE;
    } else {
        return;
    }
    layout_put(layout, bin, entry);
}

void best_fit(const struct worth_rules *rules, struct plan *ret)
{
    const struct view *view = rules->view;
    struct arena *arena = ret->arena;
    uint32_t *tasks = ARENA_ARRAY(arena, uint32_t, view->task.waiting_count);
    uint32_t count = 0;
    struct pool pool;
    struct layout layout;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        tasks[count++] = task;
    }
    pool_build(&pool, rules, tasks, count, arena);
    layout_init(&layout, rules, &pool, arena);
    INSTANCE_EACH(instance, view)
    {
        if (!view_is_open(view, instance))
            continue;

        const uint32_t bin = layout_open(&layout, view->instance.offer[instance], instance);

        layout.bins[bin].used = view->instance.used[instance];
        worth_group_of(rules, instance, arena, &layout.bins[bin].group);
    }
    for (uint32_t i = 0; i < count; i++)
        place(&layout, pool.entry_of[tasks[i]] - 1);
    layout_to_plan(&layout, REASON_REPACKED, ret);
}
