/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint: the least money for what is known, without keeping anybody waiting for long.
 *
 * What it takes from where:
 *  - tasks go to machines that end when they do, as in Stratus, where a machine lasts at least as long
 *    as it is paid for; one that would have to last longer for a task must be worth it;
 *  - room that comes free soon is waited for, where a new machine would not be faster, or where the
 *    time is paid for anyway;
 *  - what is rented does the most work for what it will be charged: setup, steps and minimum counted;
 *  - a machine goes back when nothing runs there and the time that is paid for ends, as in SEC;
 *  - work that may be moved is moved off machines that are mostly idle, as in Stratus, and off those
 *    whose price has risen above that of others, where either pays.
 * A gang gets room for all its tasks or for none.
 */
#include "base/mem.h"
#include "decide/batches.h"
#include "decide/clearing.h"
#include "decide/lease.h"
#include "decide/machine_index.h"
#include "decide/rent_value.h"
#include "decide/repricing.h"
#include "decide/room_soon.h"
#include "decide/row_map.h"
#include "decide/runtime_bins.h"
#include "decide/stuck_gangs.h"
#include "policy/policy.h"

enum option {
    OPT_WAIT_LIMIT,
    OPT_PAID_WAIT,
    OPT_MARGIN,
    OPT_CLEAR,
    OPT_CLEAR_AFTER,
    OPT_REPRICE,
    OPT_COUNT
};

static const struct policy_option options[OPT_COUNT] = {
    [OPT_WAIT_LIMIT] = { .name = "wait_limit",
                         .help =
                             "a task waits no longer than this for room that comes free, and no "
                             "longer than a new machine takes; 0: as long as that",
                         .kind = OPTION_DURATION,
                         .normal = 0 },
    [OPT_PAID_WAIT] = { .name = "paid_wait",
                        .help = "but so long if it then ends in time that is paid for anyway",
                        .kind = OPTION_DURATION,
                        .normal = 60 * MSEC_PER_SEC },
    [OPT_MARGIN] = { .name = "margin",
                     .help = "give an idle machine back this long before its next step is billed",
                     .kind = OPTION_DURATION,
                     .normal = MSEC_PER_SEC },
    [OPT_CLEAR] = { .name = "clear",
                    .help = "move work off under-used machines where that pays for itself",
                    .kind = OPTION_BOOL,
                    .normal = 1 },
    [OPT_CLEAR_AFTER] = { .name = "clear_after",
                          .help = "how long a machine must have been under-used",
                          .kind = OPTION_DURATION,
                          .normal = 180 * MSEC_PER_SEC },
    [OPT_REPRICE] = { .name = "reprice",
                      .help = "move work off machines whose price has risen above that of others "
                              "where that pays for itself",
                      .kind = OPTION_BOOL,
                      .normal = 1 },
};

struct run {
    const struct policy_input *in;
    const struct view *view;
    struct runtime_bins bins;
    struct batches batches;
    struct plan *plan;
    struct row_map uses; /* enum machine_use, per instance */
};

static void put(struct run *run, uint32_t task, uint32_t target, enum plan_reason_code code)
{
    const struct view *view = run->view;
    const uint32_t shape = view->task.shape[task];
    struct plan_reason why = plan_because(code, view->offer_price[view->instance.offer[target]]);

    if (view->shape_offer[shape] != OFFER_NONE) {
        why.passed_offer = view->shape_offer[shape];
        why.passed_over = view->shape_price[shape];
    }
    runtime_bins_assign(&run->bins, task, target);
    plan_place_kept(run->plan, task, target, why);
}

/* Whether the machine may last longer for the batch's sake: that costs no more than new machines for
 * those of the batch that it holds. */
static bool is_worth_lasting(const struct run *run, const struct batch *batch, uint32_t instance)
{
    const struct view *view = run->view;
    const msec_t more = batch->runtime - runtime_bins_lasts(&run->bins, instance);

    if (more <= 0 || view->shape_offer[batch->shape] == OFFER_NONE)
        return true;

    const struct res free = runtime_bins_free(&run->bins, instance);
    const double fit = batch_fit(batch, view_shape_demand(view, batch->shape, instance), &free);
    const double cost = (double)view->offer_price[view->instance.offer[instance]] * (double)more /
                        (double)MSEC_PER_HOUR;

    return cost <= fit * batch_alone_charge(view, batch);
}

/* A machine that there is for a task of the batch, or ROW_NONE. */
static uint32_t find_kept(const struct run *run, const struct batch *batch,
                          enum plan_reason_code *ret_why)
{
    static const enum plan_reason_code order[] = { REASON_SAME_BIN, REASON_LONGER_BIN,
                                                   REASON_SHORTER_BIN };

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        const uint32_t found = runtime_bins_find_in(&run->bins, batch->tasks[0], order[i]);

        if (found == ROW_NONE || !is_worth_lasting(run, batch, found))
            continue;
        *ret_why = order[i];
        if (runtime_bins_is_untouched(&run->bins, found) &&
            run->view->instance.task_count[found] == 0 &&
            batch->runtime <= runtime_bins_lasts(&run->bins, found))
            *ret_why = REASON_PAID_TIME;
        return found;
    }
    return ROW_NONE;
}

static void fill_kept(struct run *run)
{
    for (uint32_t i = 0; i < run->batches.count; i++) {
        struct batch *batch = &run->batches.rows[i];

        while (batch->left > 0) {
            enum plan_reason_code why = REASON_SAME_BIN;
            const uint32_t target = find_kept(run, batch, &why);

            if (target == ROW_NONE)
                break;
            put(run, batch_take_first(batch), target, why);
        }
    }
}

/* Machines that this plan has given work, or that it gives back already, are no matter of leases. */
static void note_placed(struct run *run)
{
    for (uint32_t i = 0; i < run->plan->place_count; i++) {
        if (!run->plan->places[i].fresh)
            row_map_set(&run->uses, run->plan->places[i].target, USE_PLACED);
    }
}

/* Leave machines that have become too dear: nothing is placed there, and they are not cleared. Returns
 * how many of 'cleared' remain. */
static uint32_t leave_dear(struct run *run, const struct machine_index *index, uint32_t *cleared,
                           uint32_t count)
{
    uint32_t remain = 0;

    if (run->in->option[OPT_REPRICE] != 0)
        repricing_run(index, run->plan, &run->uses);
    for (uint32_t i = 0; i < count; i++) {
        if (!row_map_has(&run->uses, cleared[i]))
            cleared[remain++] = cleared[i];
    }
    return remain;
}

static void close_left(struct run *run)
{
    for (uint32_t i = 0; i < run->plan->release_count; i++)
        runtime_bins_remove(&run->bins, run->plan->releases[i].instance);
}

static void decide_by(struct run *run, struct machine_index *index)
{
    const struct policy_input *in = run->in;
    const struct wait_limits limits = {
        .boot_wait = in->option[OPT_WAIT_LIMIT],
        .paid_wait = in->option[OPT_PAID_WAIT],
    };
    const struct clearing_options clearing = {
        .rule = in->option[OPT_CLEAR] != 0 ? CLEARING_PAYS : CLEARING_NEVER,
        .after = in->option[OPT_CLEAR_AFTER],
        .runtime = RUNTIME_PAID,
        .scale_out = { .within_bins = true, .unit = UNIT_PER_KIND },
    };
    uint32_t *cleared = NULL;
    uint32_t cleared_count = clearing_candidates_of(index, &clearing, run->plan, &cleared);

    row_map_init(&run->uses, in->arena);
    cleared_count = leave_dear(run, index, cleared, cleared_count);
    if (run->view->task.waiting_count > 0 || cleared_count > 0) {
        runtime_bins_begin(&run->bins, index, in->arena);
        close_left(run);
        batches_build(&run->batches, run->view, in->arena);
        stuck_gangs_place(&run->bins, run->plan);
        fill_kept(run);
        room_soon(&run->batches, &run->bins, &limits, run->plan, &run->uses);
        rent_value(&run->batches, &run->bins, &limits, run->plan);
        clearing_run(&run->bins, &clearing, cleared, cleared_count, run->plan);
        runtime_bins_end(&run->bins);
    }
    note_placed(run);
    lease_release_late(run->view, in->option[OPT_MARGIN], &run->uses, run->plan);
}

/* The memory is an index of the view's machines. */
static void *memory_create(void)
{
    struct machine_index *index = mem_alloc(1, sizeof(*index));

    machine_index_init(index, RUNTIME_PAID, true, NULL);
    return index;
}

static void memory_destroy(void *memory)
{
    machine_index_done(memory);
    mem_free(memory);
}

static void decide(const struct policy_input *in, struct plan *ret)
{
    struct run run = { .in = in, .view = in->view, .plan = ret };
    struct machine_index fresh;
    struct machine_index *index = in->memory;

    if (index == NULL) {
        machine_index_init(&fresh, RUNTIME_PAID, true, in->arena);
        index = &fresh;
    }
    machine_index_absorb(index, in->view);
    decide_by(&run, index);
}

const struct policy policy_stint = {
    .name = "stint",
    .summary = "most work for what will be charged: uses paid time, waits for room that comes soon",
    .options = options,
    .option_count = OPT_COUNT,
    .decide = decide,
    .memory_create = memory_create,
    .memory_destroy = memory_destroy,
};
