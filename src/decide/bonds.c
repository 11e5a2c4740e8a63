/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/bonds.h"

#include <assert.h>

/* Whether 'a' is to be preferred to 'b', which comes before it. */
static bool is_better(const struct view *view, uint32_t a, uint32_t b)
{
    const bool is_open = view->shape_offer[a] != OFFER_NONE;

    if (is_open != (view->shape_offer[b] != OFFER_NONE))
        return is_open;
    if (is_open)
        return view->shape_price[a] < view->shape_price[b];
    return view->shape_price[a] != 0 && /* 0: no machine holds it */
           (view->shape_price[b] == 0 || view->shape_price[a] < view->shape_price[b]);
}

static uint32_t best_variant(const struct view *view, uint32_t base)
{
    const struct shape *row = &view->shapes->rows[base];
    const uint32_t *variants = view->shapes->variants + row->variant_first;
    uint32_t best = variants[0];

    for (uint32_t i = 1; i < row->variant_count; i++) {
        if (is_better(view, variants[i], best))
            best = variants[i];
    }
    return best;
}

/* The variant of a task of the job that has a place, or SHAPE_NONE. */
static uint32_t variant_in_use(const struct view *view, uint32_t job)
{
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        if (view->task.instance[task] != ROW_NONE)
            return view->task.shape[task];
    }
    return SHAPE_NONE;
}

void bonds_update(struct view *view)
{
    assert(view->shapes_priced == view->shapes->count);
    if (view->shapes->variant_count == 0)
        return;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t base = view->shapes->rows[view->task.shape[task]].variant_of;

        if (base == SHAPE_NONE)
            continue;

        const uint32_t in_use = variant_in_use(view, view->task.job[task]);

        view_set_variant(view, task, in_use != SHAPE_NONE ? in_use : best_variant(view, base));
    }
}
