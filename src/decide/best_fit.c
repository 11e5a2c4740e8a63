/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/best_fit.h"

#include <string.h>

#include "base/mem.h"
#include "base/tournament.h"
#include "decide/layout.h"
#include "decide/reservation.h"

/* What one more task makes of a bin. */
struct fit {
    double ratio; /* worth per dollar */
    double alignment;
};

/* The bins of a layout as one kind sees them. */
struct fits {
    struct fit *of_bin;
    uint32_t room;
    struct tournament best;
};

static bool is_better(const void *context, uint32_t a, uint32_t b)
{
    const struct fit *of_bin = ((const struct fits *)context)->of_bin;

    if (of_bin[a].ratio > of_bin[b].ratio)
        return true;
    if (of_bin[a].ratio < of_bin[b].ratio)
        return false;
    return of_bin[a].alignment > of_bin[b].alignment;
}

/* Whether one more task of the kind fits the bin and makes it worth its price. */
static bool find_fit(const struct layout *layout, uint32_t index, uint32_t of, struct fit *ret)
{
    const struct view *view = layout->rules->view;
    const struct layout_bin *bin = &layout->bins[index];
    const struct worth_kind kind = layout->pool->kinds[of].kind;
    const struct res free = layout_free(layout, bin);
    const struct res *demand = layout_demand(layout, bin, kind.shape);

    if (demand == NULL || !res_fits(demand, &free) || !layout_may_join(layout, index, of))
        return false;

    const double ratio =
        worth_of(layout->rules, &bin->group, &kind, false) / (double)view->offer_price[bin->offer];

    if (ratio < 1.0)
        return false;
    *ret = (struct fit){
        .ratio = ratio,
        .alignment = worth_alignment(demand, &free,
                                     &catalogue_type_of(view->catalogue, bin->offer)->capacity),
    };
    return true;
}

static void make_room(struct fits *fits, uint32_t bin, struct arena *arena)
{
    const uint32_t room = mem_next_room(fits->room, bin + 1);
    struct fit *of_bin = ARENA_ARRAY(arena, struct fit, room);

    if (fits->room > 0)
        memcpy(of_bin, fits->of_bin, fits->room * sizeof(*of_bin));
    fits->of_bin = of_bin;
    fits->room = room;
}

/* The bin is new or has changed: see what it is to the kind now. */
static void update(struct fits *fits, const struct layout *layout, uint32_t bin, uint32_t kind)
{
    struct fit fit;

    if (!find_fit(layout, bin, kind, &fit)) {
        tournament_drop(&fits->best, bin);
        return;
    }
    if (bin >= fits->room)
        make_room(fits, bin, layout->arena);
    fits->of_bin[bin] = fit;
    tournament_enter(&fits->best, bin);
}

static void place(struct layout *layout, struct fits *fits, uint32_t entry)
{
    const struct view *view = layout->rules->view;
    const struct pool *pool = layout->pool;
    const uint32_t own = pool->entries[entry].kind;
    const uint32_t alone = view->shape_offer[pool->kinds[own].kind.shape];
    uint32_t bin = tournament_best(&fits[own].best);

    if (bin != TOURNAMENT_NONE) {
        layout->bins[bin].why.code = REASON_FITS_KEPT;
    } else if (alone != OFFER_NONE) {
        bin = layout_open(layout, alone, ROW_NONE);
        layout->bins[bin].why.code = REASON_CHEAPEST_ALONE;
    } else {
        return;
    }
    layout_put(layout, bin, entry);
    for (uint32_t kind = 0; kind < pool->kind_count; kind++) {
        if (pool->kinds[kind].left > 0)
            update(&fits[kind], layout, bin, kind);
    }
}

static struct fits *find_all_fits(const struct layout *layout)
{
    const struct pool *pool = layout->pool;
    struct fits *fits = ARENA_ARRAY(layout->arena, struct fits, pool->kind_count);

    for (uint32_t kind = 0; kind < pool->kind_count; kind++) {
        tournament_init(&fits[kind].best, layout->arena, is_better, &fits[kind]);
        for (uint32_t bin = 0; bin < layout->bin_count; bin++)
            update(&fits[kind], layout, bin, kind);
    }
    return fits;
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

        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            layout_keep(&layout, bin, task);
        }
    }

    struct fits *fits = find_all_fits(&layout);

    for (uint32_t i = 0; i < count; i++)
        place(&layout, fits, pool.entry_of[tasks[i]] - 1);
    layout_to_plan(&layout, REASON_REPACKED, ret);
}
