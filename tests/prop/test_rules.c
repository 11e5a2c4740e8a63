/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of jobs for markets, in random worlds: whatever the policy, the faults and the catalogue,
 *
 *  1. no task that waits is given a machine of a market that its job's rules forbid at that moment, as worked out
 *     here from the trace;
 *  2. spot first, where no spot machine can be had: each such job starts after its time is over, and then as soon as
 *     with a rule for machines on demand;
 *  3. work with a deadline that leaves time for one loss ends in time though every spot machine is lost after minutes
 *     without a notice, with a machine for every task and true estimates; unless it was left on a spot machine at the
 *     last because a restart would have taken longer than the rest of its run, or must be in one market;
 *
 * and still all work is done once, nothing is left running, and the books are right.
 *
 *     test_rules          all seeds, as the build runs it
 *     test_rules SEED     that one
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/test/check.h"
#include "decide/market_rules.h"
#include "plan_judge.h"
#include "random_world.h"

enum { SEEDS = 1000, STEPS_MAX = 400000 };

static const msec_t minute = 60 * MSEC_PER_SEC;

struct watch {
    struct random_world *world;
    uint64_t seed;
    bool is_free;       /* the rules are not kept: what they would have changed */
    uint64_t spot;      /* tasks that were given a spot machine by a rule */
    uint64_t safe;      /* and another one */
    uint64_t deadlines; /* that kept one off spot machines */
    uint64_t late;      /* jobs after their deadline */
    uint64_t in_time;
    uint64_t excused;   /* jobs that were at risk, in time or not */
    bool *is_excused;   /* each job that was left on a spot machine at the last */
    msec_t *started_at; /* of each job: when its first task was given a machine */
};

/*
 * Rules for a world.
 */

static struct job_rules draw_rules(const struct trace_job *job, struct rng *rng)
{
    struct job_rules rules = { .market = (enum market_rule)rng_below(rng, 3) };

    if (rules.market == MARKET_RULE_SPOT && rng_below(rng, 2) == 0)
        rules.spot_for_ms = random_between(rng, 1, 20 * minute);
    if (rng_below(rng, 3) == 0)
        rules.deadline = job->arrival_ms + 1 + random_between(rng, 0, 4 * (job->work_ms + minute));
    return rules;
}

static bool holds(const struct random_world *world, uint32_t shape, bool is_spot)
{
    for (uint32_t i = 0; i < world->catalogue.offer_count; i++) {
        if ((world->catalogue.offers[i].market == MARKET_SPOT) == is_spot &&
            shape_fits_offer(&world->trace.shapes, shape, &world->catalogue, i))
            return true;
    }
    return false;
}

/* Two of three jobs, as far as there are machines for them. */
static void add_rules(struct random_world *world, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, 110);
    for (uint32_t i = 0; i < world->trace.job_count; i++) {
        struct trace_job *job = &world->trace.jobs[i];
        const struct job_rules rules = draw_rules(job, &rng);
        const bool needs_safe =
            rules.market != MARKET_RULE_SPOT || rules.spot_for_ms > 0 || rules.deadline > 0;

        if (!job_has_rules(&rules) || (needs_safe && !holds(world, job->shape, false)) ||
            (rules.market == MARKET_RULE_SPOT && !holds(world, job->shape, true)))
            continue;
        job->rules = rules;
        job->shape = shapes_by_market(&world->trace.shapes, job->shape);
    }
}

/*
 * What is allowed, from the trace.
 */

enum allowed { BOTH, ONLY_SPOT, ONLY_SAFE };

/* What the task should run once more if its machine is lost, as far as the decision knows. */
static msec_t to_run(const struct view *view, uint32_t job)
{
    msec_t most = 0;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const msec_t left = view->task.estimate_ms[task] - view->task.saved_ms[task];

        most = left > most ? left : most;
    }
    return most;
}

static enum allowed allowed_now(const struct watch *watch, const struct view *view, uint32_t job)
{
    const struct trace_job *of = &watch->world->trace.jobs[view->job.id[job]];
    const msec_t estimate = view->task.estimate_ms[view->job.first_task[job]];

    /* Without the restart, which is the decision's own: by then it must have changed. */
    if (of->rules.deadline > 0 && estimate != MSEC_NEVER &&
        view->now > of->rules.deadline - to_run(view, job) * (of->fixed ? 2 : 1))
        return ONLY_SAFE;
    if (of->rules.deadline > 0 && view->now >= view->job.safe_from[job])
        return ONLY_SAFE;
    if (of->rules.market == MARKET_RULE_ANY)
        return BOTH;
    if (of->rules.market == MARKET_RULE_SAFE)
        return ONLY_SAFE;
    return of->rules.spot_for_ms == 0 || view->now < of->arrival_ms + of->rules.spot_for_ms
               ? ONLY_SPOT
               : ONLY_SAFE;
}

/* The rest of a job that must be in one market follows those that have a place. */
static bool is_bound_to_siblings(const struct view *view, uint32_t task)
{
    const uint32_t base = view->shapes->rows[view->task.shape[task]].variant_of;

    if (base == SHAPE_NONE || (view->shapes->rows[base].alike & ALIKE_MARKET) == 0)
        return false;
    for (uint32_t other = view->job.first_task[view->task.job[task]]; other != ROW_NONE;
         other = view->task.sibling[other]) {
        if (view->task.instance[other] != ROW_NONE)
            return true;
    }
    return false;
}

static void watch_place(struct watch *watch, const struct view *view, const struct plan *plan,
                        const struct plan_place *place)
{
    const uint32_t job = view->task.job[place->task];
    const uint64_t row = view->job.id[job];
    const uint32_t offer =
        place->fresh ? plan->rents[place->target].offer : view->instance.offer[place->target];
    const bool is_spot = view->catalogue->offers[offer].market == MARKET_SPOT;
    const enum allowed allowed = allowed_now(watch, view, job);

    if (view->task.instance[place->task] != ROW_NONE || is_bound_to_siblings(view, place->task))
        return;
    if (watch->started_at[row] < 0)
        watch->started_at[row] = view->now;
    if (!watch->is_free &&
        ((is_spot && allowed == ONLY_SAFE) || (!is_spot && allowed == ONLY_SPOT)))
        fail_msg("seed %" PRIu64 ": at %" PRId64 " a task of job %" PRIu64
                 " is given a machine of %s",
                 watch->seed, view->now, row, market_name(view->catalogue->offers[offer].market));
    watch->spot += allowed == ONLY_SPOT;
    watch->safe += allowed == ONLY_SAFE;
    watch->deadlines += watch->world->trace.jobs[row].rules.deadline > 0 && allowed == ONLY_SAFE;
}

/* What goes on where it is though its deadline would not stand a loss. */
static void watch_risk(struct watch *watch, const struct view *view)
{
    RULED_EACH(job, view)
    {
        for (uint32_t task = view->job.first_task[job];
             task != ROW_NONE && view->now >= view->job.safe_from[job];
             task = view->task.sibling[task]) {
            const uint32_t instance = view->task.instance[task];

            if (instance != ROW_NONE && !view->job.fixed[job] &&
                view->catalogue->offers[view->instance.offer[instance]].market == MARKET_SPOT)
                watch->is_excused[view->job.id[job]] = true;
        }
    }
}

static void watch_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct watch *watch = context;

    view_check(view);
    watch_risk(watch, view);
    for (uint32_t i = 0; i < plan->place_count; i++)
        watch_place(watch, view, plan, &plan->places[i]);
}

static void watch_job(void *context, uint32_t job, msec_t jct_ms)
{
    struct watch *watch = context;
    const struct trace_job *of = &watch->world->trace.jobs[job];

    if (of->rules.deadline == 0)
        return;
    watch->excused += watch->is_excused[job];
    if (of->arrival_ms + jct_ms > of->rules.deadline + watch->world->config.tick_ms)
        watch->late += !watch->is_excused[job];
    else
        watch->in_time++;
}

static msec_t change_catalogue(void *context, msec_t now)
{
    struct watch *watch = context;

    return random_world_change(watch->world, now);
}

static struct sim_result run(struct watch *watch)
{
    struct random_world *world = watch->world;
    struct sim_result result;
    struct error error = { "" };

    watch->started_at = calloc(world->trace.job_count, sizeof(*watch->started_at));
    watch->is_excused = calloc(world->trace.job_count, sizeof(*watch->is_excused));
    assert_non_null(watch->started_at);
    assert_non_null(watch->is_excused);
    for (uint32_t i = 0; i < world->trace.job_count; i++)
        watch->started_at[i] = -1;
    world->config.context = watch;
    world->config.on_plan = watch_plan;
    world->config.on_job_done = watch_job;
    world->config.change_catalogue = world->changes_left > 0 ? change_catalogue : NULL;
    world->config.max_steps = STEPS_MAX;
    if (simulation_run(&world->config, &result, &error) != 0)
        fail_msg("seed %" PRIu64 ": %s", watch->seed, error.text);
    if (result.completions != result.tasks || result.left_running != 0 ||
        result.cost != result.billed || !result.ledger_agrees)
        fail_msg("seed %" PRIu64 ": work, machines or books are not right at the end", watch->seed);
    free(watch->is_excused);
    return result;
}

/*
 * The properties.
 */

static uint64_t first_seed = 1;
static uint64_t last_seed = SEEDS;

/* Offers that come and go would leave some jobs without a machine of their market. */
TEST(no_task_starts_in_a_market_that_is_forbidden)
{
    uint64_t spot = 0;
    uint64_t safe = 0;
    uint64_t deadlines = 0;

    for (uint64_t seed = first_seed; seed <= last_seed; seed++) {
        struct random_world world;
        struct watch watch = { .world = &world, .seed = seed };

        random_world_draw_wide(&world, seed);
        if (seed % 2 == 0)
            random_world_trouble(&world, seed);
        world.changes_left = 0;
        add_rules(&world, seed);
        (void)run(&watch);
        spot += watch.spot;
        safe += watch.safe;
        deadlines += watch.deadlines;
        free(watch.started_at);
        random_world_done(&world);
    }
    (void)fprintf(stderr,
                  "# by a rule on spot %" PRIu64 ", on others %" PRIu64 " (by a deadline %" PRIu64
                  ")\n",
                  spot, safe, deadlines);
    assert_true(spot > 0 && safe > 0 && deadlines > 0);
}

/* All in one market, without spot machines that can be had; when each job was given its first machine. */
static msec_t *starts(uint64_t seed, msec_t later_ms, struct job_rules rules, uint32_t *ret_count)
{
    struct random_world world;
    struct watch watch = { .world = &world, .seed = seed };

    random_world_draw_wide(&world, seed);
    world.changes_left = 0;
    world.config.faults = (struct sim_faults){ 0 };
    world.config.policy = &policy_task_per_instance;
    policy_defaults(world.config.policy, world.config.option);
    world.config.settle_ms = 0;
    for (uint32_t i = 0; i < world.catalogue.offer_count; i++)
        world.catalogue.offers[i].is_former = world.catalogue.offers[i].market == MARKET_SPOT;
    for (uint32_t i = 0; i < world.trace.job_count; i++) {
        struct trace_job *job = &world.trace.jobs[i];

        job->arrival_ms += later_ms;
        if (!holds(&world, job->shape, false))
            continue;
        job->rules = rules;
        job->shape = shapes_by_market(&world.trace.shapes, job->shape);
    }
    *ret_count = 0;
    for (uint32_t i = 0; i < world.trace.job_count; i++) {
        if (!job_has_rules(&world.trace.jobs[i].rules)) { /* spot only, and there is none */
            random_world_done(&world);
            return NULL;
        }
    }
    (void)run(&watch);
    *ret_count = world.trace.job_count;
    random_world_done(&world);
    return watch.started_at;
}

TEST(what_gets_no_spot_machine_starts_on_demand_when_its_time_is_over)
{
    uint64_t jobs = 0;

    for (uint64_t seed = first_seed; seed <= last_seed; seed += 4) {
        const msec_t wait = 600 * MSEC_PER_SEC;
        const struct job_rules first = { .market = MARKET_RULE_SPOT, .spot_for_ms = wait };
        const struct job_rules never = { .market = MARKET_RULE_SAFE };
        uint32_t count;
        uint32_t other_count;
        msec_t *waited = starts(seed, 0, first, &count);
        msec_t *at_once = starts(seed, wait, never, &other_count);

        assert_int_equal(count, other_count);
        for (uint32_t i = 0; i < count; i++) {
            if (waited[i] != at_once[i])
                fail_msg("seed %" PRIu64 ": job %u starts at %" PRId64 " and not at %" PRId64, seed,
                         i, waited[i], at_once[i]);
        }
        jobs += count;
        free(waited);
        free(at_once);
    }
    (void)fprintf(stderr, "# jobs that started on demand: %" PRIu64 "\n", jobs);
    assert_true(jobs > 0);
}

/* A restart of a task of the shape at most: the slowest machine, two rounds, and all delays. */
static msec_t longest_restart(const struct random_world *world, uint32_t shape)
{
    const struct shape_delays *delays = &world->trace.shapes.rows[shape].delays;
    msec_t most = 0;

    for (uint32_t i = 0; i < world->catalogue.type_count; i++) {
        const struct machine_type *type = &world->catalogue.types[i];
        const msec_t boot = machine_type_acquire_ms(type, 1) + type->setup_ms;

        most = boot > most ? boot : most;
    }
    return most + 2 * (world->config.round_ms + world->config.tick_ms) + delays->fetch_ms +
           delays->build_ms + delays->init_ms + delays->kill_ms + delays->upload_ms;
}

/* A calm world but for its spot machines; every job that may run on demand has a deadline, some with little to spare. */
static void draw_deadlines(struct random_world *world, uint64_t seed, bool heeds)
{
    struct sim_config *config = &world->config;
    struct rng rng;

    random_world_draw_wide(world, seed);
    rng_init(&rng, seed, 111);
    world->changes_left = 0;
    config->faults = (struct sim_faults){ .lose_mean_ms = random_between(&rng, 5, 20) * minute,
                                          .lose_one_market = true,
                                          .lose_market = MARKET_SPOT };
    config->policy = &policy_task_per_instance;
    policy_defaults(config->policy, config->option);
    config->contention = NULL;
    config->estimates = SIM_ESTIMATES_ORACLE;
    config->noise_ppm = 0;
    config->settle_ms = 0;
    for (uint32_t i = 0; i < world->catalogue.type_count; i++)
        world->catalogue.types[i].boot_count = 0; /* as fast for many as for one */
    for (uint32_t i = 0; i < world->trace.job_count; i++) {
        struct trace_job *job = &world->trace.jobs[i];
        const msec_t restart = longest_restart(world, job->shape);
        const msec_t spare = random_between(&rng, 0, 2 * (job->work_ms + restart));

        job->estimate_ms = -1;
        job->gang = false; /* a gang stands still while a part of it is elsewhere */
        if (!holds(world, job->shape, false) ||
            (world->trace.shapes.rows[job->shape].alike & ALIKE_MARKET) != 0) {
            job->work_ms = job->work_ms < 2 * minute ? job->work_ms : 2 * minute;
            continue;
        }
        job->rules.deadline =
            job->arrival_ms + job->work_ms * (job->fixed ? 2 : 1) + 2 * restart + spare;
        if (heeds)
            job->shape = shapes_by_market(&world->trace.shapes, job->shape);
    }
}

/* Work that would hardly ever get through between two losses. */
static bool has_long_work(const struct random_world *world)
{
    for (uint32_t i = 0; i < world->trace.job_count; i++) {
        if (world->trace.jobs[i].work_ms > 2 * world->config.faults.lose_mean_ms)
            return true;
    }
    return false;
}

TEST(what_leaves_time_for_one_loss_ends_in_time)
{
    uint64_t in_time = 0;
    uint64_t left_spot = 0;
    uint64_t late_without = 0;
    uint64_t excused = 0;

    for (uint64_t seed = first_seed; seed <= last_seed; seed++) {
        for (int heeds = 0; heeds < 2; heeds++) {
            struct random_world world;
            struct watch watch = { .world = &world, .seed = seed, .is_free = heeds == 0 };
            struct sim_result result;

            draw_deadlines(&world, seed, heeds != 0);
            if (heeds == 0 && has_long_work(&world)) {
                random_world_done(&world);
                continue;
            }
            result = run(&watch);
            if (heeds != 0 && watch.late > 0)
                fail_msg("seed %" PRIu64 ": %" PRIu64 " jobs are late", seed, watch.late);
            excused += watch.excused;
            in_time += heeds != 0 ? watch.in_time : 0;
            late_without += heeds == 0 ? watch.late : 0;
            left_spot += result.stats.left_spot;
            free(watch.started_at);
            random_world_done(&world);
        }
    }
    (void)fprintf(stderr,
                  "# in time: %" PRIu64 ", runs that left a spot machine: %" PRIu64
                  ", at risk at the last: %" PRIu64 ", late without the rule: %" PRIu64 "\n",
                  in_time, left_spot, excused, late_without);
    assert_true(in_time > 0 && left_spot > 0 && late_without > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(no_task_starts_in_a_market_that_is_forbidden),
        RUN(what_gets_no_spot_machine_starts_on_demand_when_its_time_is_over),
        RUN(what_leaves_time_for_one_loss_ends_in_time),
    };

    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        last_seed = first_seed;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
