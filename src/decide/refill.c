/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/refill.h"

#include <assert.h>

#include "base/tournament.h"
#include "decide/reservation.h"

/* The best kind for one bin. */
struct choice {
    uint32_t kind; /* UINT32_MAX: nothing fits */
    double worth;
    bool stays;
    double alignment;
};

static bool is_better(const struct choice *a, const struct choice *b)
{
    if (b->kind == UINT32_MAX || a->kind == UINT32_MAX)
        return a->kind != UINT32_MAX && b->kind == UINT32_MAX;
    if (a->worth > b->worth)
        return true;
    if (a->worth < b->worth)
        return false;
    if (a->stays != b->stays)
        return a->stays;
    return a->alignment > b->alignment;
}

static struct choice choose(const struct layout *layout, uint32_t index, uint32_t *on_here)
{
    const struct layout_bin *bin = &layout->bins[index];
    const struct pool *pool = layout->pool;
    const struct view *view = layout->rules->view;
    const struct res free = layout_free(layout, bin);
    const struct res *capacity = &catalogue_type_of(view->catalogue, bin->offer)->capacity;
    struct choice best = { .kind = UINT32_MAX };

    pool_count_on(pool, bin->instance, on_here);
    for (uint32_t i = 0; i < pool->kind_count; i++) {
        const struct worth_kind kind = pool->kinds[i].kind;
        const struct res *demand = layout_demand(layout, bin, kind.shape);

        if (pool->kinds[i].left == 0 || demand == NULL || !res_fits(demand, &free) ||
            !layout_may_join(layout, index, i))
            continue;

        const struct choice choice = {
            .kind = i,
            .worth = worth_of(layout->rules, &bin->group, &kind, false),
            .stays = on_here[i] > 0,
            .alignment = worth_alignment(demand, &free, capacity),
        };

        if (is_better(&choice, &best))
            best = choice;
    }
    return best;
}

/* The bin is new or has changed: choose for it again. */
static void update(const struct layout *layout, uint32_t bin, struct choice *choices,
                   uint32_t *on_here, struct tournament *best)
{
    choices[bin] = choose(layout, bin, on_here);
    if (choices[bin].kind != UINT32_MAX)
        tournament_enter(best, bin);
    else
        tournament_drop(best, bin);
}

static bool beats(const void *context, uint32_t a, uint32_t b)
{
    const struct choice *choices = context;

    return is_better(&choices[a], &choices[b]);
}

void refill_pack(struct layout *layout)
{
    struct pool *pool = layout->pool;
    const uint32_t bins = layout->bin_count;
    uint32_t *on_here = ARENA_ARRAY(layout->arena, uint32_t, pool->kind_count);
    struct choice *choices = ARENA_ARRAY(layout->arena, struct choice, bins);
    struct tournament best;

    if (pool->left == 0)
        return;
    tournament_init(&best, layout->arena, beats, choices);
    for (uint32_t i = 0; i < bins; i++)
        update(layout, i, choices, on_here, &best);
    while (pool->left > 0) {
        const uint32_t bin = tournament_best(&best);

        if (bin == TOURNAMENT_NONE)
            return;

        const struct choice choice = choices[bin];
        const uint32_t prefer = choice.stays ? layout->bins[bin].instance : ROW_NONE;

        layout_put(layout, bin, pool_pick(pool, choice.kind, prefer));
        layout->bins[bin].why.code = REASON_FITS_KEPT;

        /* A choice goes stale with its bin, and with the last task of its kind. */
        if (pool->kinds[choice.kind].left > 0) {
            update(layout, bin, choices, on_here, &best);
            continue;
        }
        for (uint32_t i = 0; i < bins; i++) {
            if (choices[i].kind == choice.kind)
                update(layout, i, choices, on_here, &best);
        }
    }
}
