/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint: the least money for what is known, without keeping anybody waiting for long.
 *
 * What it takes from where:
 *  - tasks go to machines that end when they do, as in Stratus, where a machine lasts at least as long
 *    as it is paid for; one that would have to last longer for a task must be worth it;
 *  - room that comes free soon is waited for, where a new machine would not be faster, or where the
 *    time is paid for anyway; and so is a cheap offer that was refused, for a few minutes, where all others cost
 *    at least twice as much;
 *  - jobs that take whole machines wait until enough of them come free, the longer the more need not be rented;
 *  - work that waits for a machine which is not billed yet goes to one that has come free, and the other goes back;
 *  - what is rented does the most work for what it will be charged: setup, steps and minimum counted;
 *  - a machine goes back when nothing runs there and the time that is paid for ends, as in SEC; where decisions are
 *    made in rounds, in between them as well, unless a task waits for it or it is likely to be used;
 *  - work that may be moved is moved off machines that are mostly idle, as in Stratus, and off those
 *    whose price has risen above that of others, where either pays.
 * A gang gets room for all its tasks or for none.
 */
#include "base/mem.h"
#include "decide/batches.h"
#include "decide/blocked_wait.h"
#include "decide/clearing.h"
#include "decide/ends_soon.h"
#include "decide/improve.h"
#include "decide/lease.h"
#include "decide/machine_index.h"
#include "decide/machines_soon.h"
#include "decide/overrun.h"
#include "decide/place_reason.h"
#include "decide/rent_value.h"
#include "decide/rent_ways.h"
#include "decide/repack.h"
#include "decide/repricing.h"
#include "decide/room_soon.h"
#include "decide/row_map.h"
#include "decide/runtime_bins.h"
#include "decide/stuck_gangs.h"
#include "decide/take_over.h"
#include "decide/work_price.h"
#include "policy/policy.h"

enum option {
    OPT_WAIT_LIMIT,
    OPT_PAID_WAIT,
    OPT_MARGIN,
    OPT_CLEAR,
    OPT_CLEAR_AFTER,
    OPT_REPRICE,
    OPT_IMPROVE,
    OPT_IMPROVE_STEPS,
    OPT_WAITING,
    OPT_DOUBT,
    OPT_MACHINE_COST,
    OPT_HOUR_WAIT,
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
                    .help = "move work off under-used machines, and services to fewer or "
                            "cheaper ones, where that pays for itself",
                    .kind = OPTION_BOOL,
                    .normal = 1 },
    [OPT_CLEAR_AFTER] = { .name = "clear_after",
                          .help = "how long a machine must have been under-used, or one with "
                                  "services without a change",
                          .kind = OPTION_DURATION,
                          .normal = 180 * MSEC_PER_SEC },
    [OPT_REPRICE] = { .name = "reprice",
                      .help = "move work off machines whose price has risen above that of others "
                              "where that pays for itself",
                      .kind = OPTION_BOOL,
                      .normal = 1 },
    [OPT_IMPROVE] = { .name = "improve",
                      .help = "search for better places for work that may be moved, trying so many "
                              "groups of three machines at a time besides all pairs; 0: no search",
                      .kind = OPTION_COUNT,
                      .normal = 300 },
    [OPT_IMPROVE_STEPS] = { .name = "improve_steps",
                            .help =
                                "what the search may take in one decision, in millions of steps of about two "
                                "nanoseconds: where all pairs would take more than half of it, those that "
                                "promise most come first, and the others in turn in the next decisions",
                            .kind = OPTION_COUNT,
                            .normal = 25 },
    [OPT_WAITING] = { .name = "wait_price",
                      .help =
                          "what an hour of waiting costs, in percent of what an hour of work costs, and as much more for each "
                          "hour of delay; more for short tasks, and where jobs seldom arrive; 0: work that may be moved never "
                          "waits for a better place",
                      .kind = OPTION_COUNT,
                      .normal = 40 },
    [OPT_DOUBT] = { .name = "doubt",
                    .help =
                        "how much longer than expected work runs that runs on, in percent of the expected time: what must "
                        "not be moved shares machines only where that is cheaper even so",
                    .kind = OPTION_COUNT,
                    .normal = 200 },
    [OPT_MACHINE_COST] = { .name = "machine_cost",
                           .help =
                               "what each new machine costs beside its price, in thousandths of a "
                               "dollar: the more, the fewer and larger ones are rented",
                           .kind = OPTION_COUNT,
                           .normal = 0 },
    [OPT_HOUR_WAIT] = { .name = "hour_wait",
                        .help =
                            "a job whose tasks take a machine each waits so long, to save an hour of a machine, "
                            "until enough of those that there are come free",
                        .kind = OPTION_DURATION,
                        .normal = 300 * MSEC_PER_SEC },
};

/* Where so many wait, there is no time to look at each. */
enum { WAITING_SEEN_MOST = 4096, TRIPLES_MOST = 10000, STEPS_UNIT = 1000000, STEPS_MOST = 1000000 };

struct run {
    const struct policy_input *in;
    const struct view *view;
    struct runtime_bins bins;
    struct batches batches;
    struct plan *plan;
    const struct slot_price *slots; /* of machines, where there may be no more of them; or NULL */
    struct row_map uses;            /* enum machine_use, per instance */
    struct row_map searched;        /* tasks that wait and are left to the search */
    uint32_t *waiting;              /* the same as a list */
    uint32_t waiting_count;
    bool is_searched; /* what waits, as far as the search takes it */
};

/* What work costs, by the snapshot of that version. */
struct work_prices {
    uint64_t version; /* 0: nothing is known */
    double *of_shape;
    uint32_t count;
    double mean;
};

/* What is remembered: an index of the machines, which comes first, what the search found, and what there is to rent. */
struct memory {
    struct machine_index index;
    struct improve_memory improve;
    struct rent_ways_memory ways;
    struct repack_memory repack;
    struct work_prices prices;
};

static void put(struct run *run, uint32_t task, uint32_t target, enum plan_reason_code code)
{
    runtime_bins_assign(&run->bins, task, target);
    plan_place_kept(run->plan, task, target, place_reason(run->view, code, task, target));
}

static double doubt_of(const struct run *run)
{
    return slot_queue_doubt(run->in->slots, (double)run->in->option[OPT_DOUBT] / 100);
}

/* To wait for a machine where a limit binds, beside waiting for a better place, which saves something. */
static const double limit_waiting = 1.25;

static double waiting_of(const struct run *run)
{
    return (double)run->in->option[OPT_WAITING] / 100;
}

static money_t machine_cost_of(const struct run *run)
{
    return run->in->option[OPT_MACHINE_COST] * (MONEY_PER_USD / 1000);
}

static bool is_worth_lasting(const struct run *run, const struct batch *batch, uint32_t instance)
{
    const struct res free = runtime_bins_free(&run->bins, instance);
    const struct overrun_room room = {
        .instance = instance,
        .free = &free,
        .lasts = runtime_bins_lasts(&run->bins, instance),
    };

    return overrun_is_worth(run->view, batch, &room, doubt_of(run), run->slots);
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
    if (run->view->instance.living == 0)
        return; /* nor has anybody to look for one */
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

/* Machines that this plan has given work, or that it returns already, are no matter of leases, nor of the search. */
static void note_placed(struct run *run)
{
    for (uint32_t i = 0; i < run->plan->release_count; i++)
        row_map_set(&run->uses, run->plan->releases[i].instance, USE_LEFT);
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

static struct work_prices price_work(const struct policy_input *in)
{
    const struct work_snapshot *taken = &in->knowledge->work_mix.taken;
    struct memory *memory = in->memory;
    struct work_prices prices = { .version = taken->version, .count = taken->shapes };
    struct arena scratch;

    if (taken->version == 0)
        return prices;
    if (memory != NULL && memory->prices.version == taken->version)
        return memory->prices;
    if (memory == NULL)
        prices.of_shape = ARENA_ARRAY(in->arena, double, taken->shapes);
    else
        prices.of_shape =
            mem_resize(memory->prices.of_shape, taken->shapes, sizeof(*prices.of_shape));
    arena_init(&scratch);
    prices.mean =
        work_price(taken, in->view->catalogue, in->view->shapes, &scratch, prices.of_shape);
    arena_done(&scratch);
    if (memory != NULL)
        memory->prices = prices;
    return prices;
}

/* A crowd that arrives at once is placed by the fast rules, which see all of it; so is what arrives at many machines, of
 * which the search has no time to look at all. */
static void choose_searched(struct run *run)
{
    const struct view *view = run->view;
    uint32_t count = 0;

    row_map_init(&run->searched, run->in->arena);
    run->waiting = ARENA_ARRAY(run->in->arena, uint32_t, IMPROVE_WAITING_MOST);
    if (run->in->option[OPT_IMPROVE] == 0 || view->instance.living > IMPROVE_ARRIVALS_MOST ||
        view->task.waiting_count > WAITING_SEEN_MOST)
        return;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (!improve_takes(view, task))
            continue;
        if (count == IMPROVE_WAITING_MOST)
            return;
        run->waiting[count++] = task;
    }
    run->waiting_count = count;
    run->is_searched = true;
    for (uint32_t i = 0; i < count; i++)
        row_map_set(&run->searched, run->waiting[i], 1);
}

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

static void search_better(struct run *run, struct improve_memory *memory)
{
    if (run->in->option[OPT_IMPROVE] == 0 ||
        !improve_has_any(run->view, run->waiting_count, &run->uses))
        return; /* and it is not asked what work costs, which takes longer to find than all the rest */

    const double waiting = waiting_of(run);
    const struct work_prices prices = price_work(run->in);
    const struct improve_input input = {
        .view = run->view,
        .pairs = &run->in->knowledge->pairs,
        .work_price = prices.of_shape,
        .work_price_count = prices.count,
        .mean_price = prices.mean,
        .options = { .waiting = waiting,
                     .ageing = waiting,
                     .grace_ms = MSEC_PER_HOUR,
                     .grace_share = 0.02,
                     .triples = (uint32_t)at_most(run->in->option[OPT_IMPROVE], TRIPLES_MOST),
                     .work = (uint64_t)at_most(run->in->option[OPT_IMPROVE_STEPS], STEPS_MOST) *
                             STEPS_UNIT,
                     .suspends = waiting > 0 && run->is_searched },
        .scarcity = run->in->scarcity,
        .waiting = run->waiting,
        .waiting_count = run->waiting_count,
        .memory = memory,
    };

    improve(&input, run->plan, &run->uses);
}

static void decide_by(struct run *run, struct machine_index *index, struct memory *memory)
{
    const struct policy_input *in = run->in;
    const bool searches =
        in->option[OPT_IMPROVE] != 0 && run->view->instance.living <= IMPROVE_MACHINES_MOST;
    const struct wait_limits limits = {
        .boot_wait = in->option[OPT_WAIT_LIMIT],
        .paid_wait = in->option[OPT_PAID_WAIT],
        .doubt = doubt_of(run),
        .scarcity = in->scarcity,
        .slots = run->slots,
    };
    const struct clearing_options clearing = {
        .rule = in->option[OPT_CLEAR] != 0 && !searches ? CLEARING_PAYS : CLEARING_NEVER,
        .after = in->option[OPT_CLEAR_AFTER],
        .runtime = RUNTIME_PAID,
        .scale_out = { .within_bins = true, .unit = UNIT_PER_KIND },
    };
    const struct repack_options repack = { .after = in->option[OPT_CLEAR_AFTER], .limits = limits };
    const bool repacks =
        in->option[OPT_CLEAR] != 0 && searches && repack_has_any(run->view, &repack, run->plan);
    const struct life_odds odds = ends_odds(run->view, &in->knowledge->lives);
    uint32_t *cleared = NULL;
    uint32_t cleared_count = clearing_candidates_of(index, &clearing, run->plan, &cleared);

    row_map_init(&run->uses, in->arena);
    cleared_count = leave_dear(run, index, cleared, cleared_count);
    choose_searched(run);
    machines_soon(run->view, in->option[OPT_HOUR_WAIT], in->scarcity, run->plan, &run->uses,
                  &run->searched);
    if (run->view->task.waiting_count > run->waiting_count || cleared_count > 0 || repacks) {
        runtime_bins_begin(&run->bins, index, in->arena);
        close_left(run);
        batches_build_but(&run->batches, run->view, &run->searched, in->arena);
        ends_expect(&odds, &run->batches);
        stuck_gangs_place(&run->bins, run->plan);
        fill_kept(run);
        room_soon(&run->batches, &run->bins, &limits, &odds, run->plan, &run->uses);
        blocked_wait(&run->batches, run->plan);
        rent_value(&run->batches, &run->bins, &limits, doubt_of(run), machine_cost_of(run),
                   memory != NULL ? &memory->ways : NULL, run->plan);
        clearing_run(&run->bins, &clearing, cleared, cleared_count, run->plan);
        if (repacks)
            repack_run(&run->bins, &repack, memory != NULL ? &memory->repack : NULL, run->plan);
        runtime_bins_end(&run->bins);
    }
    note_placed(run);
    search_better(run, memory != NULL ? &memory->improve : NULL);
    take_over(run->view, run->plan, &run->uses);
    lease_release_late(run->view, in->option[OPT_MARGIN], &run->uses, run->plan);
    if (run->view->round_ms > 0)
        run->plan->when_empty = EMPTY_GOES_UNLESS_USED;
}

static void *memory_create(void)
{
    struct memory *memory = mem_alloc(1, sizeof(*memory));

    machine_index_init(&memory->index, RUNTIME_PAID, true, NULL);
    improve_memory_init(&memory->improve);
    rent_ways_memory_init(&memory->ways);
    return memory;
}

static void memory_destroy(void *memory)
{
    struct memory *mine = memory;

    machine_index_done(&mine->index);
    improve_memory_done(&mine->improve);
    rent_ways_memory_done(&mine->ways);
    mem_free(mine->prices.of_shape);
    mem_free(mine);
}

static void decide(const struct policy_input *in, struct plan *ret)
{
    struct run run = { .in = in, .view = in->view, .plan = ret };
    struct memory *memory = in->memory;
    struct machine_index fresh;
    struct machine_index *index = memory != NULL ? &memory->index : &fresh;

    if (memory == NULL)
        machine_index_init(&fresh, RUNTIME_PAID, true, in->arena);
    machine_index_absorb(index, in->view);
    run.slots = slot_price_of(in->view, in->slots, waiting_of(&run) * limit_waiting, in->arena);
    decide_by(&run, index, memory);
}

const struct policy policy_stint = {
    .name = "stint",
    .summary = "most work for what will be charged: uses paid time, waits for room that comes soon",
    .options = options,
    .option_count = OPT_COUNT,
    .learns_colocation = true,
    .learns_pairs = true,
    .decide = decide,
    .memory_create = memory_create,
    .memory_destroy = memory_destroy,
};
