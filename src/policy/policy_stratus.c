/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stratus: tasks that end together share a machine.
 *
 * Chung, Park and Ganger, "Stratus: cost-aware container scheduling in the public cloud", SoCC'18.
 * The defaults are the paper's; the options' other values are the reading of Eva's artifact, which
 * `stint repro eva` uses.
 */
#include <stdlib.h>

#include "decide/clearing.h"
#include "decide/reservation.h"
#include "decide/runtime_bins.h"
#include "decide/scale_out.h"
#include "decide/stuck_gangs.h"
#include "policy/policy.h"

enum option {
    OPT_RUNTIME,
    OPT_GROUPS,
    OPT_UNIT,
    OPT_CLEAR,
    OPT_CLEAR_AFTER,
    OPT_RELEASE,
    OPT_COUNT
};

static const char *const runtime_choices[] = { "remaining", "total", NULL };
static const char *const group_choices[] = { "list", "bins", NULL };
static const char *const unit_choices[] = { "kind", "machine", NULL };
static const char *const clear_choices[] = { "checked", "always", "never", NULL };
static const char *const release_choices[] = { "round", "at-once", NULL };

static const struct policy_option options[OPT_COUNT] = {
    [OPT_RUNTIME] = { .name = "runtime",
                      .help = "align tasks by what remains of their runtime, or by all of it",
                      .kind = OPTION_CHOICE,
                      .normal = RUNTIME_REMAINING,
                      .choices = runtime_choices },
    [OPT_GROUPS] = { .name = "groups",
                     .help = "new machines are shared within one runtime bin, or along the list",
                     .kind = OPTION_CHOICE,
                     .normal = 1,
                     .choices = group_choices },
    [OPT_UNIT] = { .name = "unit",
                   .help = "count a resource in units of the least amount of its kind, or of the "
                           "cheapest machine",
                   .kind = OPTION_CHOICE,
                   .normal = UNIT_PER_KIND,
                   .choices = unit_choices },
    [OPT_CLEAR] = { .name = "clear",
                    .help = "clear under-used machines if it pays, always, or never",
                    .kind = OPTION_CHOICE,
                    .normal = CLEARING_CHECKED,
                    .choices = clear_choices },
    [OPT_CLEAR_AFTER] = { .name = "clear_after",
                          .help = "how long a machine must have been under-used",
                          .kind = OPTION_DURATION,
                          .normal = 180 * MSEC_PER_SEC },
    [OPT_RELEASE] = { .name = "release",
                      .help =
                          "give an empty machine back in the next round if nothing needs it, or "
                          "as soon as its last task ends",
                      .kind = OPTION_CHOICE,
                      .normal = 0,
                      .choices = release_choices },
};

struct long_task {
    struct scale_out_task task;
    msec_t runtime;
    uint64_t order;
};

static int compare_long(const void *left, const void *right)
{
    const struct long_task *a = left;
    const struct long_task *b = right;

    if (a->runtime != b->runtime)
        return a->runtime > b->runtime ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* The waiting tasks but for those of stuck gangs, longest first. */
static uint32_t list_waiting(const struct view *view, enum runtime_rule rule,
                             struct long_task *tasks)
{
    uint32_t count = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const msec_t runtime = runtime_of_task(view, task, rule);

        if (stuck_gangs_has(view, task))
            continue;
        tasks[count++] = (struct long_task){
            .task = { .task = task, .bin = runtime_bin(runtime) },
            .runtime = runtime,
            .order = view->task.order[task],
        };
    }
    if (count > 0)
        qsort(tasks, count, sizeof(*tasks), compare_long);
    return count;
}

/* Pack waiting tasks onto what runs, and rent for the rest. */
static void place_waiting(struct runtime_bins *bins, const struct clearing_options *how,
                          struct plan *plan)
{
    const struct view *view = bins->view;
    struct long_task *waiting =
        ARENA_ARRAY(plan->arena, struct long_task, view->task.waiting_count);
    struct scale_out_task *rest =
        ARENA_ARRAY(plan->arena, struct scale_out_task, view->task.waiting_count);
    const uint32_t count = list_waiting(view, how->runtime, waiting);
    uint32_t homeless = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t task = waiting[i].task.task;
        enum plan_reason_code why;
        const uint32_t target = runtime_bins_find(bins, task, &why);

        if (target == ROW_NONE) {
            rest[homeless++] = waiting[i].task;
            continue;
        }
        runtime_bins_assign(bins, task, target);
        plan_place_kept(plan, task, target,
                        plan_because(why, view->offer_price[view->instance.offer[target]]));
    }
    (void)scale_out(view, rest, homeless, how->scale_out, REASON_BEST_SCORE, plan);
}

/* Empty instances that got nothing in this round. */
static void release_empty(const struct runtime_bins *bins, struct plan *plan)
{
    const struct view *view = bins->view;

    EMPTY_EACH(instance, view)
    {
        if (view_is_open(view, instance) && runtime_bins_is_untouched(bins, instance))
            plan_release(
                plan, instance,
                plan_because(REASON_EMPTY, view->offer_price[view->instance.offer[instance]]));
    }
}

static void decide(const struct policy_input *in, struct plan *ret)
{
    const struct view *view = in->view;
    const struct clearing_options how = {
        .rule = (enum clearing_rule)in->option[OPT_CLEAR],
        .after = in->option[OPT_CLEAR_AFTER],
        .runtime = (enum runtime_rule)in->option[OPT_RUNTIME],
        .scale_out = { .within_bins = in->option[OPT_GROUPS] != 0,
                       .unit = (enum scale_out_unit)in->option[OPT_UNIT] },
    };
    uint32_t *cleared = NULL;
    const uint32_t cleared_count = clearing_candidates(view, &how, ret, &cleared);
    struct runtime_bins bins;

    ret->when_empty = in->option[OPT_RELEASE] != 0 ? EMPTY_GOES : EMPTY_STAYS;
    if (view->task.waiting_count == 0 && cleared_count == 0) {
        policy_release_empty(view, ret);
        return;
    }

    runtime_bins_build(&bins, view, how.runtime, in->arena);
    stuck_gangs_place(&bins, ret);
    place_waiting(&bins, &how, ret);
    clearing_run(&bins, &how, cleared, cleared_count, ret);
    release_empty(&bins, ret);
}

const struct policy policy_stratus = {
    .name = "stratus",
    .summary = "aligns tasks that end together, clears machines that are mostly idle",
    .options = options,
    .option_count = OPT_COUNT,
    .decide = decide,
};
