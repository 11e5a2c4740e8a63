/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/stuck_gangs.h"

#include "decide/reservation.h"
#include "decide/row_map.h"

bool stuck_gangs_has(const struct view *view, uint32_t task)
{
    return view->job.gang[view->task.job[task]] && !reservation_has_offer(view, task);
}

static void place_gang(struct runtime_bins *bins, uint32_t job, struct plan *plan)
{
    const struct view *view = bins->view;
    const uint32_t mark = plan->place_count;

    runtime_bins_mark(bins);
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        enum plan_reason_code why;

        if (view->task.state[task] != TASK_WAITING)
            continue;

        const uint32_t target = runtime_bins_find(bins, task, &why);

        if (target == ROW_NONE) {
            runtime_bins_rollback(bins);
            plan->place_count = mark;
            return;
        }
        runtime_bins_assign(bins, task, target);
        plan_place_kept(plan, task, target,
                        plan_because(why, view->offer_price[view->instance.offer[target]]));
    }
}

void stuck_gangs_place(struct runtime_bins *bins, struct plan *plan)
{
    const struct view *view = bins->view;
    struct row_map seen;

    row_map_init(&seen, plan->arena);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t job = view->task.job[task];

        if (!stuck_gangs_has(view, task) || row_map_has(&seen, job))
            continue;
        row_map_set(&seen, job, 1);
        place_gang(bins, job, plan);
    }
}
