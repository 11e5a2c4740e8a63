/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/simulation.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "base/mem.h"
#include "sim/work_bound.h"
#include "sim/world.h"

enum { SWEEP_LEAST = 4096 }; /* events on a timeline that is worth sweeping */

/*
 * The beginning and the end.
 */

static void fill_tasks(struct world *world)
{
    const struct trace *trace = world->config->trace;
    uint32_t task = 0;

    world->first_task = mem_alloc(trace->job_count, sizeof(*world->first_task));
    world->tasks = mem_alloc(trace->task_total, sizeof(*world->tasks));
    world->slowest = mem_alloc(2 * (size_t)trace->task_total, sizeof(*world->slowest));
    for (size_t i = 0; i < 2 * (size_t)trace->task_total; i++)
        world->slowest[i] = RATE_NONE;
    world->task_count = trace->task_total;
    for (uint32_t job = 0; job < trace->job_count; job++) {
        world->first_task[job] = task;
        for (uint32_t i = 0; i < trace->jobs[job].task_count; i++, task++) {
            const int64_t work = (int64_t)RATE_FULL_PPM * trace->jobs[job].work_ms;

            world->tasks[task] = (struct world_task){
                .job = job,
                .machine = WORLD_NONE,
                .left = work,
                .saved = work,
            };
        }
    }
    assert(task == trace->task_total);
}

static void world_init(struct world *world, const struct sim_config *config)
{
    const struct controller_config control = {
        .policy = config->policy,
        .catalogue = config->catalogue,
        .shapes = &config->trace->shapes,
        .engine = { .ops = &sim_engine_ops, .self = world },
        .cloud = { .ops = &sim_cloud_ops, .self = world },
        .estimates =
            config->estimates == SIM_ESTIMATES_LEARNED ? ESTIMATES_LEARNED : ESTIMATES_GIVEN,
        .default_estimate_ms = MSEC_PER_HOUR,
        .refused_block_ms = 300 * MSEC_PER_SEC,
        .round_ms = config->round_ms,
        .notice_ms = config->faults.notice_ppm > 0 ? config->faults.notice_ms : 0,
        .notice_ppm = config->faults.notice_ppm,
        .default_rate = config->default_rate,
        .profile = { .rate =
                         config->contention != NULL ? contention_pairs(config->contention) : NULL,
                     .count = config->contention != NULL ? config->contention->count : 0 },
        .short_pool = config->short_pool,
        .max_instances = config->control.max_instances,
        .max_price_per_hour = config->control.max_price_per_hour,
        .caps = config->control.caps,
        .queue_ahead_ms = config->control.queue_ahead_ms,
        .queue_ahead_most = config->control.queue_ahead_most,
        .boot_timeout_ms = config->control.boot_timeout_ms,
        .place_retry_ms = config->control.place_retry_ms,
    };

    *world = (struct world){
        .config = config,
        .control = control,
        .sweep_at = SWEEP_LEAST,
        .machine_free = WORLD_NONE,
        .news_free = WORLD_NONE,
    };
    for (uint32_t i = 0; i < POLICY_OPTIONS_MAX; i++)
        world->control.option[i] = config->option[i];
    timeline_init(&world->timeline);
    map_init(&world->machine_by_id);
    rng_init(&world->rng_cloud, config->seed, 1);
    rng_init(&world->rng_news, config->seed, 2);
    rng_init(&world->rng_estimates, config->seed, 3);
    rng_init(&world->rng_rates, config->seed, 5);
    fill_tasks(world);
    sim_services_init(world);
    sim_owned_begin(world);
    sim_restart_init(world);
}

static void world_done(struct world *world)
{
    controller_destroy(world->controller);
    sim_restart_done(world);
    timeline_done(&world->timeline);
    map_done(&world->machine_by_id);
    for (uint32_t i = 0; i < world->machine_count; i++)
        mem_free(world->machines[i].built);
    mem_free(world->machines);
    mem_free(world->tasks);
    mem_free(world->first_task);
    mem_free(world->services);
    mem_free(world->slowest);
    mem_free(world->news);
    mem_free(world->parts);
    mem_free(world->part_rates);
}

/*
 * The loop.
 */

static void arrive(struct world *world, uint32_t index)
{
    const struct engine_event event = world_arrival(world, index);

    world->tasks_arrived += event.job.task_count;
    world->jobs_arrived = index + 1;
    sim_restart_arm(world);
    sim_news_engine(world, &event);
}

static void happen(struct world *world, const struct timeline_event *event)
{
    switch ((enum world_event)event->kind) {
    case WORLD_MACHINE_RUNS:
    case WORLD_MACHINE_AT_RISK:
    case WORLD_MACHINE_WARNED:
    case WORLD_MACHINE_LOST:
    case WORLD_MACHINE_ENDS:
    case WORLD_MACHINE_ABSENT:
    case WORLD_RENT_REFUSED:
        sim_cloud_event(world, event);
        break;
    case WORLD_MACHINE_READY:
    case WORLD_MACHINE_LEFT:
    case WORLD_TASK_LAUNCHED:
    case WORLD_TASK_BEGINS:
    case WORLD_TASK_HALTS:
    case WORLD_TASK_SAVED:
    case WORLD_TASK_COMPLETES:
    case WORLD_TASK_TOLD:
        sim_engine_event(world, event);
        break;
    case WORLD_NEWS:
        sim_news_deliver(world, event->who);
        break;
    case WORLD_QUEUE_SERVED:
        sim_engine_serve(world);
        break;
    case WORLD_MACHINES_LISTED:
        sim_cloud_list(world, event->id);
        break;
    case WORLD_WORK_LISTED:
        sim_engine_list(world, event->id);
        break;
    case WORLD_AUDIT:
    case WORLD_RESTART:
    case WORLD_CATALOGUE_CHANGES:
    case WORLD_RATES_DRIFT:
        sim_restart_event(world, event);
        break;
    }
}

static bool is_void(const void *context, const struct timeline_event *event)
{
    const struct world *world = context;

    switch ((enum world_event)event->kind) {
    case WORLD_MACHINE_RUNS:
    case WORLD_MACHINE_READY:
    case WORLD_MACHINE_AT_RISK:
    case WORLD_MACHINE_WARNED:
    case WORLD_MACHINE_LOST:
    case WORLD_MACHINE_ENDS:
        return world->machines[event->who].epoch != event->epoch;
    case WORLD_TASK_LAUNCHED:
    case WORLD_TASK_BEGINS:
    case WORLD_TASK_HALTS:
    case WORLD_TASK_SAVED:
        return world->tasks[event->who].epoch != event->epoch;
    case WORLD_TASK_COMPLETES:
        return world->tasks[event->who].unit_epoch != event->epoch;
    case WORLD_RENT_REFUSED:
    case WORLD_MACHINE_LEFT:
    case WORLD_MACHINE_ABSENT:
    case WORLD_NEWS:
    case WORLD_TASK_TOLD:
    case WORLD_QUEUE_SERVED:
    case WORLD_MACHINES_LISTED:
    case WORLD_WORK_LISTED:
    case WORLD_AUDIT:
    case WORLD_RESTART:
    case WORLD_CATALOGUE_CHANGES:
    case WORLD_RATES_DRIFT:
        return false;
    }
    return false;
}

/* Each change of a pace leaves an expectation behind that is void. Before they fill the timeline
 * they are taken out, whenever it has doubled: O(1) an event in the mean. */
static void sweep(struct world *world)
{
    if (world->timeline.count < world->sweep_at)
        return;
    timeline_sweep(&world->timeline, is_void, world);
    world->sweep_at = 2 * world->timeline.count;
    if (world->sweep_at < SWEEP_LEAST)
        world->sweep_at = SWEEP_LEAST;
}

/* When the controller decides next; MSEC_NEVER: not before something happens. */
struct rhythm {
    msec_t next;
    msec_t due; /* without rounds: when what happened has settled */
};

/* Nothing goes on and nobody waits: what is still on the timeline is void. */
static bool is_quiet(const struct world *world)
{
    return world->completions == world->tasks_arrived && world->machines_living == 0 &&
           world->news_pending == 0 && controller_is_idle(world->controller);
}

/* A controller that takes over looks before it decides. */
static bool may_decide(const struct world *world)
{
    return world->config->control.audit_ms == 0 || controller_is_audited(world->controller);
}

/* Whether something is under way, besides audits that will be. */
static bool is_busy(const struct world *world)
{
    return world->timeline.count > world->chores;
}

static void plan_next_round(const struct world *world, struct rhythm *rhythm, bool all_arrived)
{
    if (is_quiet(world) && all_arrived)
        rhythm->next = MSEC_NEVER;
    else if (rhythm->next == MSEC_NEVER)
        rhythm->next = msec_round_up(world->now + 1, world->config->round_ms);
}

static void plan_next_decision(const struct world *world, struct rhythm *rhythm)
{
    const msec_t wake = controller_next_wake(world->controller);

    if (!may_decide(world)) {
        rhythm->next = MSEC_NEVER;
        return;
    }
    if (!controller_wants_decision(world->controller))
        rhythm->due = MSEC_NEVER;
    else if (rhythm->due == MSEC_NEVER)
        rhythm->due = world->now + world->config->settle_ms;
    rhythm->next = wake < rhythm->due ? wake : rhythm->due;
    if (rhythm->next < world->now)
        rhythm->next = world->now; /* news of a refusal was so late that its block is over */
}

static void plan_next(const struct world *world, struct rhythm *rhythm, bool all_arrived)
{
    if (world->config->round_ms > 0)
        plan_next_round(world, rhythm, all_arrived);
    else
        plan_next_decision(world, rhythm);
}

/* Nothing is going on before the next job comes: no need to decide every round until then. */
static void skip_empty_rounds(const struct world *world, struct rhythm *rhythm, msec_t arrival)
{
    if (world->config->round_ms > 0 && !is_busy(world) && controller_is_idle(world->controller) &&
        arrival > world->now)
        rhythm->next = msec_round_up(arrival, world->config->round_ms);
}

/* All is done but for machines that the policy would keep for ever: let them go. */
static bool drain(struct world *world, msec_t arrival)
{
    if (arrival != MSEC_NEVER || is_busy(world) || !may_decide(world) ||
        controller_view(world->controller)->task.living > 0 ||
        controller_is_idle(world->controller))
        return false;
    controller_drain(world->controller, world->now);
    return true;
}

static void decide(struct world *world, msec_t arrival)
{
    if (may_decide(world))
        controller_decide(world->controller, world->now);
    if (world->config->round_ms > 0)
        (void)drain(world, arrival);
}

static void forget_void(struct world *world)
{
    if (!is_quiet(world) || !may_decide(world))
        return;
    timeline_reset(&world->timeline);
    sim_restart_disarm(world);
}

static bool is_late(const struct world *world)
{
    const struct trace *trace = world->config->trace;

    return world->config->give_up_ms > 0 && trace->job_count > 0 &&
           world->now - trace->jobs[trace->job_count - 1].arrival_ms > world->config->give_up_ms;
}

static bool may_go_on(const struct world *world, uint64_t step)
{
    const uint64_t limit = world->config->max_steps;

    return (limit == 0 || step < limit) && !is_late(world);
}

/* Whether it came to its end within the steps and the time that it was given. */
static bool run(struct world *world)
{
    const struct trace *trace = world->config->trace;
    struct rhythm rhythm = {
        .next = world->config->round_ms > 0 ? 0 : MSEC_NEVER,
        .due = MSEC_NEVER,
    };
    uint32_t arrived = 0;

    for (uint64_t step = 0; may_go_on(world, step); step++) {
        const msec_t arrival =
            arrived < trace->job_count ? trace->jobs[arrived].arrival_ms : MSEC_NEVER;

        forget_void(world);
        sweep(world);
        if (arrival != MSEC_NEVER)
            skip_empty_rounds(world, &rhythm, arrival);

        const bool job_first = arrival != MSEC_NEVER && arrival <= rhythm.next &&
                               timeline_precedes(&world->timeline, arrival, RANK_ARRIVAL);
        const bool decision_first = !job_first && rhythm.next != MSEC_NEVER &&
                                    timeline_precedes(&world->timeline, rhythm.next, RANK_DECISION);

        if (job_first) {
            world->now = arrival;
            arrive(world, arrived++);
        } else if (decision_first) {
            world->now = rhythm.next;
            rhythm.next = MSEC_NEVER;
            decide(world, arrival);
        } else if (world->timeline.count > 0) {
            const struct timeline_event event = timeline_take(&world->timeline);

            world->now = event.at;
            happen(world, &event);
        } else if (!drain(world, arrival)) {
            return true;
        }
        plan_next(world, &rhythm, arrived == trace->job_count);
    }
    return false;
}

/* News of the last bills may be lost: one more look at all. */
static void close_books(struct world *world)
{
    if (world->config->control.audit_ms == 0)
        return;
    controller_audit(world->controller, world->now);
    while (world->timeline.count > 0) {
        const struct timeline_event event = timeline_take(&world->timeline);

        happen(world, &event);
    }
}

/*
 * The result.
 */

/* What tasks owed to an earlier controller, which the last one never heard of. */
static money_t owed_in_the_end(const struct world *world)
{
    money_t sum = 0;

    for (uint32_t task = 0; task < world->task_count && world->restarts > 0; task++)
        sum += world->owed[task].cost;
    return sum;
}

static void measure(const struct world *world, struct sim_result *ret)
{
    const struct trace *trace = world->config->trace;
    const struct ledger_totals *totals = ledger_totals(controller_ledger(world->controller));
    const struct controller_stats *stats = controller_stats(world->controller);
    const double jobs = world->jobs_done > 0 ? (double)world->jobs_done : 1;
    const double hour = (double)MSEC_PER_HOUR;
    const struct ledger_sums *sums = world->restarts > 0 ? &world->books : &totals->sums;

    *ret = (struct sim_result){
        .cost = sums->bill,
        .boot_cost = sums->boot,
        .idle_cost = sums->idle,
        .owned_cost = world->owned_cost,
        .ended_at = world->now,
        .jobs = world->jobs_done,
        .tasks = trace->task_total,
        .jct_hours = world->jct_sum_ms / jobs / hour,
        .slowest_hours = (double)world->jct_max_ms / hour,
        .wait_seconds = world->wait_sum_ms / jobs / (double)MSEC_PER_SEC,
        .idle_hours = world->idle_sum_ms / jobs / hour,
        .norm_throughput = world->throughput_sum / jobs,
        .tasks_per_instance =
            stats->instance_ms > 0 ? (double)stats->bound_task_ms / (double)stats->instance_ms : 0,
        .migrations_per_task =
            trace->task_total > 0 ? (double)stats->migrations / (double)trace->task_total : 0,
        .full_share = stats->weighed > 0 ? (double)stats->fulls / (double)stats->weighed : 0,
        .stats = *stats,
        .completions = world->completions,
        .launches = world->launches,
        .restarts = world->restarts,
        .billed = world->billed,
        .kept_cost = world->kept_cost,
        .lost_work_ms = world->lost_work_ms,
        .doomed_starts = world->doomed_starts,
        .time_cost = world->time_cost,
        .left_running = world->machines_living,
        .ledger_agrees = sums->bill == world->billed && totals->open == 0 &&
                         sums->work == world->settled + owed_in_the_end(world),
    };
}

/* The better one of what was known beforehand and what is found quickly. */
static money_t bound_of_work(const struct sim_config *config)
{
    const money_t quick = work_bound(config->trace, config->catalogue, config->contention, 0);

    return quick > config->work_bound ? quick : config->work_bound;
}

static int check_fits(const struct sim_config *config, struct error *reterr)
{
    const struct shapes *shapes = &config->trace->shapes;

    for (uint32_t shape = 0; shape < shapes->count; shape++) {
        bool fits = shapes->rows[shape].variant_of != SHAPE_NONE; /* one of several */

        for (uint32_t i = 0; i < config->catalogue->offer_count && !fits; i++)
            fits = shape_fits_offer(shapes, shape, config->catalogue, i);
        if (!fits)
            return error_set(reterr, -EINVAL,
                             "no machine of the catalogue holds a task of '%s'; add a larger type "
                             "or leave its jobs out",
                             names_text(&shapes->names, shapes->rows[shape].name));
    }
    return 0;
}

/* Whether a machine that is spot, or is not, holds a task of the shape. */
static bool fits_market(const struct sim_config *config, uint32_t shape, bool is_spot)
{
    for (uint32_t i = 0; i < config->catalogue->offer_count; i++) {
        if ((config->catalogue->offers[i].market == MARKET_SPOT) == is_spot &&
            shape_fits_offer(&config->trace->shapes, shape, config->catalogue, i))
            return true;
    }
    return false;
}

/* A job that its rules would let wait for ever. */
static int check_rules(const struct sim_config *config, struct error *reterr)
{
    for (uint32_t i = 0; i < config->trace->job_count; i++) {
        const struct trace_job *job = &config->trace->jobs[i];
        const bool is_spot = job->rules.market == MARKET_RULE_SPOT && job->rules.spot_for_ms == 0 &&
                             job->rules.deadline == 0;

        if (job_has_rules(&job->rules) && !fits_market(config, job->shape, is_spot))
            return error_set(reterr, -EINVAL,
                             "no %s machine of the catalogue holds a task of job %" PRIu64
                             "; add one, or change the job's market",
                             is_spot ? "spot" : "on-demand", job->id);
    }
    return 0;
}

int simulation_run(const struct sim_config *config, struct sim_result *ret, struct error *reterr)
{
    int rc = check_fits(config, reterr);
    struct world world;

    assert(config->tick_ms > 0);
    if (rc == 0)
        rc = check_rules(config, reterr);
    if (rc != 0)
        return rc;
    world_init(&world, config);
    if (run(&world)) {
        close_books(&world);
        sim_owned_end(&world);
        measure(&world, ret);
        ret->work_bound = bound_of_work(config);
        for (uint32_t job = 0; job < config->trace->job_count; job++) {
            ret->served_ms += world.services[job].served_ms;
            ret->short_ms += world.services[job].short_ms;
        }
    } else if (is_late(&world)) {
        rc = error_set(reterr, -ETIME,
                       "%u of %u jobs are not done long after the last one came: machines are lost "
                       "or refused so often, or tasks slow each other down so much, that this does "
                       "not end; make the faults or the interference milder",
                       config->trace->job_count - (uint32_t)world.jobs_done,
                       config->trace->job_count);
    } else {
        rc = error_set(reterr, -ETIME,
                       "not done after %" PRIu64 " steps: %" PRIu64 " of %u jobs at %" PRId64 " ms",
                       config->max_steps, world.jobs_done, config->trace->job_count, world.now);
    }
    world_done(&world);
    return rc;
}
