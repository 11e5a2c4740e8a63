/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/clearing.h"

#include <assert.h>
#include <stdlib.h>

#include "decide/reservation.h"

static bool has_every_kind(const struct res *capacity)
{
    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (capacity->amount[kind] <= 0)
            return false;
    }
    return true;
}

static bool is_candidate(const struct view *view, uint32_t instance,
                         const struct clearing_options *options)
{
    const msec_t since = view->instance.under_half_since[instance];

    if (!view_is_open(view, instance) || view->instance.task_count[instance] == 0 ||
        since == MSEC_NEVER || view->now - since < options->after)
        return false;
    if (options->rule == CLEARING_ALWAYS && !has_every_kind(view_capacity(view, instance)))
        return false;
    if (view->instance.task_count[instance] == 1) {
        const uint32_t task = view->instance.first_task[instance];

        if (view->shape_offer[view->task.shape[task]] == view->instance.offer[instance])
            return false;
    }
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (!view_job_may_move(view, view->task.job[task]))
            return false;
    }
    return true;
}

struct dear {
    uint32_t instance;
    double price_per_use;
    uint64_t id;
};

static int compare_dear(const void *left, const void *right)
{
    const struct dear *a = left;
    const struct dear *b = right;

    if (a->price_per_use > b->price_per_use)
        return -1;
    if (a->price_per_use < b->price_per_use)
        return 1;
    return (a->id > b->id) - (a->id < b->id);
}

uint32_t clearing_candidates(const struct view *view, const struct clearing_options *options,
                             uint32_t *ret, struct arena *arena)
{
    if (options->rule == CLEARING_NEVER)
        return 0;

    struct dear *dear = ARENA_ARRAY(arena, struct dear, view->instance.living);
    uint32_t count = 0;

    INSTANCE_EACH(instance, view)
    {
        if (!is_candidate(view, instance, options))
            continue;

        const double use =
            res_dominant_share(&view->instance.used[instance], view_capacity(view, instance));
        const double price = (double)view->offer_price[view->instance.offer[instance]];

        dear[count++] = (struct dear){
            .instance = instance,
            .price_per_use = use > 0 ? price / use : price * 1e9,
            .id = view->instance.id[instance],
        };
    }
    if (count > 0)
        qsort(dear, count, sizeof(*dear), compare_dear);
    for (uint32_t i = 0; i < count; i++)
        ret[i] = dear[i].instance;
    return count;
}

/* The tasks of an instance, longest first. */
static struct scale_out_task *tasks_of(const struct runtime_bins *bins, uint32_t instance,
                                       struct arena *arena, uint32_t *ret_count)
{
    const struct view *view = bins->view;
    struct scale_out_task *tasks =
        ARENA_ARRAY(arena, struct scale_out_task, view->instance.task_count[instance]);
    uint32_t count = 0;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const msec_t runtime = bins->slots[bins->slot_of_task[task]].runtime;
        uint32_t i = count++;

        while (i > 0 && bins->slots[bins->slot_of_task[tasks[i - 1].task]].runtime < runtime) {
            tasks[i] = tasks[i - 1];
            i--;
        }
        tasks[i] = (struct scale_out_task){ .task = task, .bin = runtime_bin(runtime) };
    }
    *ret_count = count;
    return tasks;
}

static msec_t migration_time(const struct view *view, uint32_t task)
{
    const struct shape_delays *delays = &view->shapes->rows[view->task.shape[task]].delays;

    return delays->kill_ms + delays->upload_ms + delays->fetch_ms + delays->build_ms +
           delays->init_ms;
}

/* How far the plan went, to be able to go back. */
struct plan_mark {
    uint32_t rents;
    uint32_t places;
};

/* Whether what was just planned for the instance's tasks is worth doing. */
static bool is_worth_it(const struct runtime_bins *bins, uint32_t instance,
                        const struct scale_out_task *tasks, money_t fresh, const struct plan *plan,
                        struct plan_mark mark)
{
    const struct view *view = bins->view;
    msec_t lost = migration_time(view, tasks[0].task);

    if (fresh >= view->offer_price[view->instance.offer[instance]])
        return false;
    for (uint32_t i = mark.rents; i < plan->rent_count; i++) {
        const struct machine_type *type = catalogue_type_of(view->catalogue, plan->rents[i].offer);

        if (i == mark.rents)
            lost += type->acquire_ms + type->setup_ms;
    }
    return bins->slots[bins->slot_of_task[tasks[0].task]].runtime > lost;
}

static void clear_one(struct runtime_bins *bins, const struct clearing_options *options,
                      uint32_t instance, struct plan *plan)
{
    const struct view *view = bins->view;
    const struct plan_mark mark = { .rents = plan->rent_count, .places = plan->place_count };
    const struct plan_reason why =
        plan_because(REASON_CLEARED, view->offer_price[view->instance.offer[instance]]);
    uint32_t count = 0;
    uint32_t homeless = 0;
    struct scale_out_task *tasks = tasks_of(bins, instance, plan->arena, &count);
    struct scale_out_task *rest = ARENA_ARRAY(plan->arena, struct scale_out_task, count);

    runtime_bins_mark(bins);
    runtime_bins_remove(bins, instance);
    for (uint32_t i = 0; i < count; i++) {
        enum plan_reason_code unused;
        const uint32_t target = runtime_bins_find(bins, tasks[i].task, &unused);

        if (target == ROW_NONE) {
            rest[homeless++] = tasks[i];
            continue;
        }
        runtime_bins_assign(bins, tasks[i].task, target);
        plan_place_kept(plan, tasks[i].task, target, why);
    }

    const money_t fresh = scale_out(view, rest, homeless, options->scale_out, REASON_CLEARED, plan);

    if (plan->place_count - mark.places < count ||
        (options->rule == CLEARING_CHECKED &&
         !is_worth_it(bins, instance, tasks, fresh, plan, mark))) {
        plan->rent_count = mark.rents;
        plan->place_count = mark.places;
        runtime_bins_rollback(bins);
        return;
    }
    plan_release(plan, instance, why);
}

void clearing_run(struct runtime_bins *bins, const struct clearing_options *options,
                  const uint32_t *candidates, uint32_t count, struct plan *plan)
{
    for (uint32_t i = 0; i < count; i++) {
        /* What was assigned to it meanwhile could not be taken back. */
        if (runtime_bins_is_untouched(bins, candidates[i]))
            clear_one(bins, options, candidates[i], plan);
    }
}
