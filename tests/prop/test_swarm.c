/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole loop, again and again, in small random worlds with faults: the controller that spends
 * money in production, any policy, and behind the ports machines that are refused, slow or lost and
 * news that is late or comes twice. In the later seeds it also meets limits, news is lost permanently,
 * and now and then the controller is thrown away and another takes over: still all work is done once,
 * nothing is left running, and the bills that all of them booked are those of the cloud.
 *
 * Two thirds of the worlds are wide: there are zones, work that may run on some offers only, wants a machine for
 * itself, has to stay in one zone or market, or has no end that anybody knows, and offers come and go.
 *
 * Where there are no faults the decisions must also be good, whatever the policy and its options: a run
 * is held against the cheaper of the same world with a machine for every task and, where the policy has
 * the option, with the same policy that clears nothing. How much more it may cost, how often a task may be
 * stopped by plans and how much longer jobs may wait on average is in a table below, policy by policy: a
 * little above the worst that was seen, which every run prints. The worlds are hard (jobs of seconds on
 * machines that are billed by the hour, interference that the policy does not know, options drawn at
 * random), so most runs are far below: on average 'stint' costs 0.6 of a machine per task.
 * In wide worlds they must be good with faults, too: see share_of.
 *
 *     test_swarm          all seeds, as the build runs it
 *     test_swarm SEED     that one, and what came of it
 *     test_swarm A B      those, in brief
 *
 * Each seed is announced on stderr before it runs, so that the last line names the one that
 * stopped the program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/test/check.h"
#include "plan_judge.h"
#include "random_world.h"
#include "sim/work_bound.h"

enum {
    PLAIN_SEEDS = 2000,  /* one controller, told everything */
    NARROW_SEEDS = 3500, /* more trouble; the rest are wide, and every other one has trouble too */
    SEEDS = 10000,
    BOUND_NODES = 3000, /* of a search that often stops before its end: the bound must hold */
    STEPS_MAX = 400000, /* of one run; the longest takes a tenth of it */
    SECONDS_MAX = 600,  /* of the whole program, should a single step never return */
    FAULT_TEXT_SIZE = 128,
};

/* What went on in one run, besides the simulator's own result. */
struct watch {
    struct random_world *world;
    uint64_t digest;        /* of all plans */
    uint64_t stops;         /* of tasks that ran, by plans */
    uint64_t gang_restarts; /* because a part of them is placed again */
    uint64_t cleared;       /* machines */
    uint32_t most_stops;    /* of one task */
    uint64_t repriced;      /* machines that were left for their price */
    uint64_t changes;       /* of the catalogue */
    uint64_t newcomers;     /* machines that were rented of an offer that was not there at first */
    uint32_t first_offers;
    uint64_t promised;          /* machines that were rented for services */
    uint64_t endless;           /* tasks without an end that ran at a decision */
    uint64_t waits[WAIT_RULES]; /* tasks that waited at a decision, by the rule */
    bool stocks;                /* the policy may rent for nobody in particular */
    bool probes;                /* a single machine may be, to see whether machines become ready */
    char fault[FAULT_TEXT_SIZE];
};

struct outcome {
    bool is_wide;
    bool has_faults;
    int rc;
    struct error error;
    struct sim_result result;
    struct watch watch;
    const struct policy *policy;
    money_t reference;       /* what it costs another way, where there are no faults */
    struct sim_result alone; /* with a machine for every task */
    double reference_wait;   /* of the jobs, then */
};

static struct outcome outcomes[SEEDS + 1]; /* by seed */

/*
 * Watching.
 */

static void digest(struct watch *watch, uint64_t value)
{
    watch->digest = map_mix(watch->digest ^ value);
}

static void digest_plan(struct watch *watch, const struct view *view, const struct plan *plan)
{
    digest(watch, (uint64_t)view->now);
    for (uint32_t i = 0; i < plan->rent_count; i++)
        digest(watch, plan->rents[i].offer);
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        digest(watch, view->task.id[place->task]);
        digest(watch, place->fresh ? place->target : view->instance.id[place->target]);
    }
    for (uint32_t i = 0; i < plan->release_count; i++)
        digest(watch, view->instance.id[plan->releases[i].instance]);
}

/* Whether an earlier place of the plan is of the same job. */
static bool job_seen(const struct view *view, const struct plan *plan, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (view->task.job[plan->places[i].task] == view->task.job[plan->places[index].task])
            return true;
    }
    return false;
}

static void count_stops(struct watch *watch, const struct view *view, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->suspend_count; i++)
        watch->stops += view->task.state[plan->suspends[i].task] == TASK_RUNNING;
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const uint32_t task = plan->places[i].task;
        const uint32_t job = view->task.job[task];

        if (!view->job.gang[job]) {
            watch->stops += view->task.state[task] == TASK_RUNNING;
        } else if (view->job.tasks_running[job] > 0 && !job_seen(view, plan, i)) {
            watch->stops += view->job.tasks_running[job];
            watch->gang_restarts++;
        }
    }
}

/* NULL: every task that still waits has a rule by which it does, and what is waited for is there. */
static const char *judge_reasons(struct watch *watch, const struct view *view,
                                 const struct plan *plan)
{
    bool *is_placed = mem_alloc(view->task.count, sizeof(*is_placed));
    const char *wrong = NULL;

    for (uint32_t i = 0; i < plan->place_count; i++)
        is_placed[plan->places[i].task] = true;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const bool has_rule = plan->wait_rule[task] != WAIT_NONE;

        watch->waits[plan->wait_rule[task]]++;
        if (!is_placed[task] && !has_rule)
            wrong = "a task waits for no reason";
        if (is_placed[task] && has_rule)
            wrong = "a task waits and is placed";
    }
    for (uint32_t i = 0; i < plan->wait_count; i++) {
        const struct plan_wait *wait = &plan->waits[i];

        if (plan->wait_rule[wait->task] != wait->rule)
            wrong = "a task waits by two rules";
        if (wait->until < view->now)
            wrong = "a task waits until a time that is over";
        if (wait->target != UINT32_MAX &&
            (wait->fresh ? wait->target >= plan->rent_count : !view_is_open(view, wait->target)))
            wrong = "a task waits for a machine that is not there";
    }
    mem_free(is_placed);
    return wrong;
}

static void watch_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct watch *watch = context;
    const char *wrong;

    view_check(view);
    wrong = plan_judge(view, plan, watch->stocks || (watch->probes && plan->rent_count == 1));
    if (wrong == NULL)
        wrong = judge_reasons(watch, view, plan);
    if (wrong != NULL && watch->fault[0] == 0) {
        (void)snprintf(watch->fault, sizeof(watch->fault), "at %" PRId64 " ms: %s", view->now,
                       wrong);
        (void)fprintf(stderr, "%s\n", watch->fault); /* it may not get further than this */
    }
    for (uint32_t task = 0; task < view->task.count; task++) {
        if (view->task.state[task] != TASK_FREE && view->task.stops[task] > watch->most_stops)
            watch->most_stops = view->task.stops[task];
        watch->endless +=
            view->task.state[task] == TASK_RUNNING && view->task.estimate_ms[task] == MSEC_NEVER;
    }
    for (uint32_t i = 0; i < plan->rent_count; i++) {
        watch->newcomers += plan->rents[i].offer >= watch->first_offers;
        watch->promised += plan->rents[i].why.code >= REASON_PROMISED &&
                           plan->rents[i].why.code <= REASON_PROMISED_BEST;
    }
    digest_plan(watch, view, plan);
    count_stops(watch, view, plan);
    for (uint32_t i = 0; i < plan->release_count; i++) {
        watch->cleared += plan->releases[i].why.code == REASON_CLEARED;
        watch->repriced += plan->releases[i].why.code == REASON_PRICE_ROSE;
    }
}

static void draw(struct random_world *world, uint64_t seed)
{
    if (seed <= NARROW_SEEDS)
        random_world_draw(world, seed);
    else
        random_world_draw_wide(world, seed);
    if (seed > NARROW_SEEDS ? seed / 2 % 2 == 0 : seed > PLAIN_SEEDS)
        random_world_trouble(world, seed);
}

static msec_t change_catalogue(void *context, msec_t now)
{
    struct watch *watch = context;

    watch->changes++;
    return random_world_change(watch->world, now);
}

static void describe(uint64_t seed)
{
    struct random_world world;
    const struct sim_faults *faults = &world.config.faults;

    draw(&world, seed);
    (void)printf("seed %" PRIu64 ": %s, round %" PRId64 ", settle %" PRId64 ", tick %" PRId64
                 ", %u jobs, %u tasks, %u offers\n",
                 seed, world.config.policy->name, world.config.round_ms, world.config.settle_ms,
                 world.config.tick_ms, world.trace.job_count, world.trace.task_total,
                 world.catalogue.offer_count);
    (void)printf("refuse %u, slow %u x %u, lose %" PRId64 ", notice %u by %" PRId64
                 ", duplicate %u, late %u by %" PRId64 "\n",
                 faults->refuse_ppm, faults->slow_ppm, faults->slow_factor, faults->lose_mean_ms,
                 faults->notice_ppm, faults->notice_ms, faults->duplicate_ppm, faults->late_ppm,
                 faults->late_ms);
    (void)printf("audit %" PRId64 ", restart %" PRId64 ", news lost %u, machines %u, price %" PRId64
                 ", queue %" PRId64 " x %u, boot %" PRId64 ", retry %" PRId64 "\n",
                 world.config.control.audit_ms, faults->restart_mean_ms, faults->lost_ppm,
                 world.config.control.max_instances, world.config.control.max_price_per_hour,
                 world.config.control.queue_ahead_ms, world.config.control.queue_ahead_most,
                 world.config.control.boot_timeout_ms, world.config.control.place_retry_ms);
    (void)fflush(stdout);
    random_world_done(&world);
}

/* The same policy that clears nothing; false: it has no such option. */
static bool keep_still(struct sim_config *config)
{
    const uint32_t clear = policy_find_option(config->policy, "clear");

    if (clear == UINT32_MAX)
        return false;

    const struct policy_option *option = &config->policy->options[clear];

    config->option[clear] = 0; /* no */
    while (option->kind == OPTION_CHOICE &&
           strcmp(option->choices[config->option[clear]], "never") != 0)
        config->option[clear]++;
    return true;
}

/* Run the world, which is fresh: it changes. */
static int run_world(struct random_world *world, struct outcome *of, struct sim_result *ret,
                     struct error *reterr)
{
    struct sim_config *config = &world->config;
    struct watch other = { .world = world };

    world->config.context = of != NULL ? &of->watch : &other;
    world->config.change_catalogue = world->changes_left > 0 ? change_catalogue : NULL;
    if (config->change_catalogue == NULL) /* else offers may come that it does not know of */
        config->work_bound =
            work_bound(config->trace, config->catalogue, config->contention, BOUND_NODES);
    config->max_steps = STEPS_MAX; /* a run that never ends is an error */
    return simulation_run(config, ret, reterr);
}

/* The other ways to run the world, of which none of this is watched. */
static void run_references(uint64_t seed, struct outcome *ret)
{
    struct random_world world;
    struct sim_result result;
    struct error error;

    ret->reference = INT64_MAX;
    draw(&world, seed);
    if (!world.has_faults && keep_still(&world.config) &&
        run_world(&world, NULL, &result, &error) == 0)
        ret->reference = result.cost;
    random_world_done(&world);
    draw(&world, seed);
    world.config.policy = &policy_task_per_instance;
    if (run_world(&world, NULL, &result, &error) == 0) {
        ret->reference = result.cost < ret->reference ? result.cost : ret->reference;
        ret->alone = result;
        ret->reference_wait = result.wait_seconds;
    }
    random_world_done(&world);
}

static void run_seed(uint64_t seed, struct outcome *ret)
{
    struct random_world world;

    *ret = (struct outcome){ 0 };
    draw(&world, seed);
    ret->is_wide = seed > NARROW_SEEDS;
    ret->has_faults = world.has_faults;
    ret->watch.world = &world;
    ret->watch.first_offers = world.catalogue.offer_count;
    ret->watch.stocks = world.config.policy == &policy_semi_elastic || world.has_promises;
    ret->watch.probes = world.config.control.boot_timeout_ms > 0;
    world.config.on_plan = watch_plan;
    ret->policy = world.config.policy;
    ret->rc = run_world(&world, ret, &ret->result, &ret->error);
    ret->watch.world = NULL;
    random_world_done(&world);
    if (!ret->has_faults || ret->is_wide)
        run_references(seed, ret);
}

/*
 * Judging.
 */

static bool same_double(double a, double b)
{
    uint64_t bits_a;
    uint64_t bits_b;

    memcpy(&bits_a, &a, sizeof(bits_a));
    memcpy(&bits_b, &b, sizeof(bits_b));
    return bits_a == bits_b;
}

/* All its members are as wide as each other: there is nothing between them. */
static bool same_stats(const struct controller_stats *a, const struct controller_stats *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static bool same_result(const struct sim_result *a, const struct sim_result *b)
{
    return a->cost == b->cost && a->boot_cost == b->boot_cost && a->idle_cost == b->idle_cost &&
           a->work_bound == b->work_bound && a->ended_at == b->ended_at && a->jobs == b->jobs &&
           a->tasks == b->tasks && same_double(a->jct_hours, b->jct_hours) &&
           same_double(a->wait_seconds, b->wait_seconds) &&
           same_double(a->idle_hours, b->idle_hours) &&
           same_double(a->norm_throughput, b->norm_throughput) &&
           same_double(a->tasks_per_instance, b->tasks_per_instance) &&
           same_double(a->migrations_per_task, b->migrations_per_task) &&
           same_double(a->full_share, b->full_share) && same_stats(&a->stats, &b->stats) &&
           a->completions == b->completions && a->launches == b->launches &&
           a->billed == b->billed && a->kept_cost == b->kept_cost && a->time_cost == b->time_cost &&
           a->left_running == b->left_running && a->ledger_agrees == b->ledger_agrees;
}

/* Each returns NULL or what is wrong. */

static const char *judge_end(const struct outcome *of)
{
    return of->rc != 0 ? of->error.text : NULL;
}

static const char *judge_plans(const struct outcome *of)
{
    return of->watch.fault[0] != 0 ? of->watch.fault : NULL;
}

static const char *judge_completions(const struct outcome *of)
{
    return of->result.completions != of->result.tasks ? "not every task completed once" : NULL;
}

static const char *judge_leftovers(const struct outcome *of)
{
    return of->result.left_running != 0 ? "machines are left running" : NULL;
}

static const char *judge_ledger(const struct outcome *of)
{
    if (of->result.cost != of->result.billed)
        return "the ledger and the cloud's bills differ";
    return of->result.ledger_agrees ? NULL : "the ledger does not add up";
}

static const char *judge_quiet(const struct outcome *of)
{
    const struct controller_stats *stats = &of->result.stats;

    if (of->has_faults)
        return NULL;
    if (stats->late_events != 0)
        return "an event was late without a fault";
    return stats->refused + stats->lost != 0 ? "a machine was refused or lost without a fault"
                                             : NULL;
}

static const char *judge_launches(const struct outcome *of)
{
    const struct sim_result *result = &of->result;

    if (result->launches < result->tasks)
        return "a task completed without being launched";
    if (of->has_faults)
        return NULL;
    if (result->launches > result->tasks + of->watch.stops)
        return "a task was launched again though no plan stopped it";
    return result->stats.migrations > of->watch.stops ? "a migration stopped nothing" : NULL;
}

static const char *judge_bound(const struct outcome *of)
{
    return of->result.cost < of->result.work_bound ? "it cost less than the bound" : NULL;
}

/* What is good enough: see above. */
static const struct quality {
    const struct policy *policy;
    int cost_percent; /* of the reference */
    uint32_t stops;   /* of one task */
    double wait;      /* seconds more, on average */

    /* In wide worlds. */
    bool heeds_bill;    /* it goes by what is billed, and not by price and time alone */
    int plain_percent;  /* of a machine for every task, without faults */
    int faulty_percent; /* with faults */
    int mean_percent;   /* of all of them */
    double mean_wait;   /* seconds more, of all of them */
} qualities[] = {
    { &policy_task_per_instance, 100, 0, 0.001, false, 100, 100, 100, 0.001 },
    { &policy_hotspot, 100, 0, 0.001, false, 100, 190, 105, 10 },
    { &policy_fleet, 210, 0, 45, false, 280, 220, 80, 0 },
    { &policy_first_fit, 500, 0, 60, false, 250, 900, 95, 0 },
    { &policy_supercloud, 500, 0, 60, false, 250, 550, 90, 0 },
    { &policy_stratus, 500, 12, 220, false, 200, 260, 85, 0 },
    { &policy_eva, 280, 5, 120, false, 160, 400, 85, 0 },
    { &policy_synergy, 170, 0, 45, false, 250, 420, 85, 0 },
    { &policy_owl, 160, 14, 180, false, 150, 290, 95, 60 },
    { &policy_no_wait, 180, 0, 1, true, 160, 800, 105, 0 },
    { &policy_semi_elastic, 340, 0, 1600, true, 300, 650, 110, 200 },
    { &policy_stint, 560, 7, 200, true, 250, 800, 70, 0 },
};

static const struct quality *quality_of(const struct policy *policy)
{
    const struct quality *of = qualities;

    while (of->policy != policy)
        of++;
    return of;
}

static const char *judge_cost(const struct outcome *of)
{
    if (of->is_wide || of->has_faults || of->rc != 0)
        return NULL;
    return of->result.cost * 100 > of->reference * quality_of(of->policy)->cost_percent
               ? "it costs too much more than another way"
               : NULL;
}

/*
 * What a run of a wide world cost, as a part of what it costs with a machine for every task and the same faults.
 * Machines that were lost are left out of both: what they had done must be done again, by luck more of it or
 * less. Most policies of the literature know prices and nothing of the steps in which time is billed: where jobs of
 * seconds meet machines that are billed by the hour, how much of an hour is wasted says nothing about them,
 * and they are held to price and time.
 */
static double share_of(const struct outcome *of)
{
    const bool by_bill = quality_of(of->policy)->heeds_bill;
    const money_t alone = by_bill ? of->alone.kept_cost : of->alone.time_cost;
    const money_t cost = by_bill ? of->result.kept_cost : of->result.time_cost;

    return alone > 0 ? (double)cost / (double)alone : 0;
}

static const char *judge_share(const struct outcome *of)
{
    const struct quality *quality = quality_of(of->policy);
    const int percent = of->has_faults ? quality->faulty_percent : quality->plain_percent;

    return of->is_wide && of->rc == 0 && share_of(of) * 100 > percent + 1e-6
               ? "it costs too much more than a machine for every task"
               : NULL;
}

static const char *judge_moves(const struct outcome *of)
{
    return !of->has_faults && of->watch.most_stops > quality_of(of->policy)->stops
               ? "a task was stopped too often"
               : NULL;
}

static const char *judge_waits(const struct outcome *of)
{
    return !of->has_faults &&
                   of->result.wait_seconds > of->reference_wait + quality_of(of->policy)->wait
               ? "jobs wait too long"
               : NULL;
}

static void check_all(const char *(*judge)(const struct outcome *of))
{
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        const char *wrong = judge(&outcomes[seed]);

        if (wrong != NULL)
            fail_msg("seed %u: %s", seed, wrong);
    }
}

TEST(every_run_ends)
{
    check_all(judge_end);
}

TEST(every_plan_can_be_carried_out)
{
    check_all(judge_plans);
}

TEST(every_task_completes_exactly_once)
{
    check_all(judge_completions);
}

TEST(nothing_is_left_running)
{
    check_all(judge_leftovers);
}

TEST(the_ledger_agrees_with_the_cloud_to_the_micro_dollar)
{
    check_all(judge_ledger);
}

TEST(without_faults_nothing_is_late_refused_or_lost)
{
    check_all(judge_quiet);
}

TEST(without_faults_only_what_a_plan_stopped_is_launched_again)
{
    check_all(judge_launches);
}

TEST(nothing_costs_less_than_the_bound)
{
    check_all(judge_bound);
}

/* Of all wide worlds of a policy. */
struct summary {
    double mean_share;
    double worst[2]; /* without faults, with them */
    double mean_wait;
    uint32_t runs;
};

static struct summary sum_up(const struct policy *policy)
{
    struct summary sum = { 0 };

    for (uint32_t seed = NARROW_SEEDS + 1; seed <= SEEDS; seed++) {
        const struct outcome *of = &outcomes[seed];
        const double share = of->policy == policy && of->rc == 0 ? share_of(of) : 0;
        double *worst = &sum.worst[of->has_faults];

        if (share <= 0)
            continue;
        sum.runs++;
        sum.mean_share += share;
        sum.mean_wait += of->result.wait_seconds - of->alone.wait_seconds;
        *worst = share > *worst ? share : *worst;
    }
    sum.mean_share /= sum.runs > 0 ? sum.runs : 1;
    sum.mean_wait /= sum.runs > 0 ? sum.runs : 1;
    return sum;
}

static void check_summary(const struct quality *quality)
{
    const struct summary sum = sum_up(quality->policy);

    (void)fprintf(
        stderr,
        "%s: %u wide worlds, mean x %.3f, worst x %.3f, with faults x %.3f; mean wait %.1f s more\n",
        quality->policy->name, sum.runs, sum.mean_share, sum.worst[0], sum.worst[1], sum.mean_wait);
    assert_true(sum.runs > 100);
    if (sum.mean_share * 100 > quality->mean_percent + 1e-6)
        fail_msg("%s costs too much on average", quality->policy->name);
    if (sum.mean_wait > quality->mean_wait)
        fail_msg("jobs wait too long on average under %s", quality->policy->name);
}

TEST(with_faults_or_not_no_policy_costs_much_more_than_a_machine_for_every_task)
{
    check_all(judge_share);
}

TEST(on_average_every_policy_is_as_good_as_it_was)
{
    for (size_t i = 0; i < sizeof(qualities) / sizeof(qualities[0]); i++)
        check_summary(&qualities[i]);
}

/* The worst of each policy, for whoever tightens the table. */
static void print_worst(void)
{
    for (size_t i = 0; i < sizeof(qualities) / sizeof(qualities[0]); i++) {
        double cost = 0;
        double wait = 0;
        uint32_t stops = 0, runs = 0;

        for (uint32_t seed = 1; seed <= SEEDS; seed++) {
            const struct outcome *of = &outcomes[seed];

            if (of->is_wide || of->has_faults || of->policy != qualities[i].policy ||
                of->reference == 0)
                continue;

            const double ratio = (double)of->result.cost / (double)of->reference;
            const double more = of->result.wait_seconds - of->reference_wait;

            runs++;
            cost = ratio > cost ? ratio : cost;
            wait = more > wait ? more : wait;
            stops = of->watch.most_stops > stops ? of->watch.most_stops : stops;
        }
        (void)fprintf(stderr, "%s: worst of %u: cost x %.3f, %u stops, %.0f s of wait\n",
                      qualities[i].policy->name, runs, cost, stops, wait);
    }
}

TEST(without_faults_no_policy_costs_much_more_than_another_way)
{
    print_worst();
    check_all(judge_cost);
}

TEST(without_faults_no_task_is_stopped_often)
{
    check_all(judge_moves);
}

TEST(without_faults_no_policy_keeps_jobs_waiting_for_long)
{
    check_all(judge_waits);
}

TEST(the_same_seed_gives_the_same_plans_and_result_to_the_bit)
{
    for (uint32_t seed = 1; seed <= SEEDS; seed += 2) {
        struct outcome again;

        run_seed(seed, &again);
        if (again.watch.digest != outcomes[seed].watch.digest ||
            !same_result(&again.result, &outcomes[seed].result))
            fail_msg("seed %u: a second run differs", seed);
    }
}

/*
 * Seeds that once found a bug. They mean what they say only with random_world.c as it is: who changes
 * what is drawn there looks for others.
 */

static const char *(*const judges[])(const struct outcome *of) = {
    judge_end,      judge_plans, judge_completions, judge_leftovers, judge_ledger, judge_quiet,
    judge_launches, judge_bound, judge_cost,        judge_moves,     judge_waits,  judge_share,
};

static void check_seed(uint32_t seed)
{
    assert_true(seed <= SEEDS);
    for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
        const char *wrong = judges[i](&outcomes[seed]);

        if (wrong != NULL)
            fail_msg("seed %u: %s", seed, wrong);
    }
}

TEST(seed_17_top_down_packing_asks_for_no_refused_offer)
{
    check_seed(17);
}

TEST(seed_24_ends_although_void_events_lie_years_ahead)
{
    check_seed(24);
}

TEST(seed_38_stratus_keeps_the_machine_of_a_task_that_asks_for_nothing)
{
    check_seed(38);
}

TEST(seed_56_the_rate_of_a_task_that_stops_is_not_late)
{
    check_seed(56);
}

TEST(seed_268_eva_keeps_the_machine_of_a_task_that_has_no_offer_left)
{
    check_seed(268);
}

TEST(seed_434_owl_keeps_the_machine_of_a_task_that_has_no_offer_left)
{
    check_seed(434);
}

TEST(seed_1210_the_room_of_a_task_that_has_no_offer_left_is_given_to_nobody)
{
    check_seed(1210);
}

TEST(seed_1608_a_bill_ends_when_the_machine_was_lost_and_not_when_its_task_stopped)
{
    check_seed(1608);
}

TEST(seed_2125_a_plan_of_which_limits_leave_nothing_is_not_made_again_at_once)
{
    check_seed(2125);
}

TEST(seed_2628_semi_elastic_does_not_wait_for_the_end_of_a_gang_that_waits_itself)
{
    check_seed(2628);
}

TEST(tasks_waited_by_all_rules_but_a_price_of_waiting)
{
    static const enum plan_wait_rule seen[] = {
        WAIT_ROOM,  WAIT_PAID_ROOM, WAIT_SHARED, WAIT_OFFER, WAIT_QUEUE,   WAIT_NO_OFFER,
        WAIT_LIMIT, WAIT_BACK_OFF,  WAIT_ENGINE, WAIT_GANG,  WAIT_SERVICE, WAIT_MACHINES,
    };
    uint64_t waits[WAIT_RULES] = { 0 };

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        for (enum plan_wait_rule rule = WAIT_NONE; rule < WAIT_RULES; rule++)
            waits[rule] += outcomes[seed].watch.waits[rule];
    }
    for (enum plan_wait_rule rule = WAIT_ROOM; rule < WAIT_RULES; rule++)
        (void)fprintf(stderr, "waits by %s: %" PRIu64 "\n", plan_wait_word(rule), waits[rule]);
    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
        assert_true(waits[seen[i]] > 0);
}

TEST(every_rare_path_was_taken)
{
    uint64_t refused = 0, lost = 0, noticed = 0, late = 0, restarts = 0, cleared = 0, fulls = 0;
    uint64_t repriced = 0;
    uint64_t at_risk = 0;
    uint64_t changes = 0;
    uint64_t newcomers = 0;
    uint64_t endless = 0;
    uint64_t promised = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        const struct outcome *of = &outcomes[seed];

        refused += of->result.stats.refused;
        lost += of->result.stats.lost;
        noticed += of->result.stats.noticed;
        at_risk += of->result.stats.at_risk;
        late += of->result.stats.late_events;
        fulls += of->result.stats.fulls;
        restarts += of->watch.gang_restarts;
        cleared += of->watch.cleared;
        repriced += of->watch.repriced;
        changes += of->watch.changes;
        newcomers += of->watch.newcomers;
        endless += of->watch.endless;
        promised += of->watch.promised;
    }
    (void)fprintf(
        stderr,
        "refused %" PRIu64 ", lost %" PRIu64 ", noticed %" PRIu64 ", late %" PRIu64
        ", gang restarts %" PRIu64 ", cleared %" PRIu64 ", repriced %" PRIu64 ", fulls %" PRIu64
        ", changes of the catalogue %" PRIu64 ", rents of new offers %" PRIu64 "\n",
        refused, lost, noticed, late, restarts, cleared, repriced, fulls, changes, newcomers);

    assert_true(refused > 0);
    assert_true(lost > 0);
    assert_true(noticed > 0);
    assert_true(at_risk > 0);
    assert_true(late > 0);
    assert_true(restarts > 0);
    assert_true(cleared > 0);
    assert_true(repriced > 0);
    assert_true(fulls > 0);
    assert_true(changes > 1000);
    assert_true(newcomers > 1000);
    assert_true(endless > 1000);
    assert_true(promised > 1000);
}

TEST(every_kind_of_trouble_was_met)
{
    struct controller_stats sum = { 0 };
    uint64_t restarts = 0;

    for (uint32_t seed = PLAIN_SEEDS + 1; seed <= SEEDS; seed++) {
        const struct controller_stats *stats = &outcomes[seed].result.stats; /* of the last one */

        restarts += outcomes[seed].result.restarts;
        sum.adopted += stats->adopted;
        sum.vanished += stats->vanished;
        sum.jobs_vanished += stats->jobs_vanished;
        sum.found += stats->found;
        sum.tasks_missed += stats->tasks_missed;
        sum.asked_anew += stats->asked_anew;
        sum.boot_timeouts += stats->boot_timeouts;
        sum.held_back += stats->held_back;
        sum.limited += stats->limited;
        sum.queued += stats->queued;
    }
    (void)fprintf(
        stderr,
        "restarts %" PRIu64 ", adopted %" PRIu64 ", vanished %" PRIu64 ", jobs vanished %" PRIu64
        ", found %" PRIu64 ", missed %" PRIu64 ", asked anew %" PRIu64 ", boot timeouts %" PRIu64
        ", held back %" PRIu64 ", limited %" PRIu64 ", queued %" PRIu64 "\n",
        restarts, sum.adopted, sum.vanished, sum.jobs_vanished, sum.found, sum.tasks_missed,
        sum.asked_anew, sum.boot_timeouts, sum.held_back, sum.limited, sum.queued);
    assert_true(restarts > 1000);
    assert_true(sum.adopted > 1000);
    assert_true(sum.vanished > 0);
    assert_true(sum.jobs_vanished > 0);
    assert_true(sum.found > 1000);
    assert_true(sum.tasks_missed > 0);
    assert_true(sum.asked_anew > 0);
    assert_true(sum.boot_timeouts > 0);
    assert_true(sum.held_back > 0);
    assert_true(sum.limited > 1000);
    assert_true(sum.queued > 1000);
}

static int run_all(void **state)
{
    (void)state;
    (void)alarm(SECONDS_MAX);
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        (void)fprintf(stderr, "seed %u\n", seed);
        run_seed(seed, &outcomes[seed]);
    }
    return 0;
}

/* One seed, for whoever looks for what is wrong with it. */
static int run_one(uint64_t seed)
{
    struct outcome outcome;
    int bad = 0;

    describe(seed);
    run_seed(seed, &outcome);
    for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
        const char *wrong = judges[i](&outcome);

        if (wrong != NULL) {
            (void)printf("seed %" PRIu64 ": %s\n", seed, wrong);
            bad = 1;
        }
    }
    (void)printf("seed %" PRIu64 ": %" PRIu64 " decisions, %" PRIu64 " tasks, %" PRIu64
                 " launches, cost %" PRId64 ", billed %" PRId64 ", wait %.1f s against %.1f s\n",
                 seed, outcome.result.stats.decisions, outcome.result.tasks,
                 outcome.result.launches, outcome.result.cost, outcome.result.billed,
                 outcome.result.wait_seconds, outcome.reference_wait);
    return bad;
}

static int run_some(uint64_t from, uint64_t to)
{
    int bad = 0;

    for (uint64_t seed = from; seed <= to; seed++) {
        struct outcome outcome;

        run_seed(seed, &outcome);
        for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
            const char *wrong = judges[i](&outcome);

            if (wrong != NULL) {
                (void)printf("seed %" PRIu64 ": %s\n", seed, wrong);
                bad = 1;
            }
        }
    }
    return bad;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(every_run_ends),
        RUN(every_plan_can_be_carried_out),
        RUN(every_task_completes_exactly_once),
        RUN(nothing_is_left_running),
        RUN(the_ledger_agrees_with_the_cloud_to_the_micro_dollar),
        RUN(without_faults_nothing_is_late_refused_or_lost),
        RUN(without_faults_only_what_a_plan_stopped_is_launched_again),
        RUN(nothing_costs_less_than_the_bound),
        RUN(without_faults_no_policy_costs_much_more_than_another_way),
        RUN(without_faults_no_task_is_stopped_often),
        RUN(without_faults_no_policy_keeps_jobs_waiting_for_long),
        RUN(with_faults_or_not_no_policy_costs_much_more_than_a_machine_for_every_task),
        RUN(on_average_every_policy_is_as_good_as_it_was),
        RUN(the_same_seed_gives_the_same_plans_and_result_to_the_bit),
        RUN(seed_17_top_down_packing_asks_for_no_refused_offer),
        RUN(seed_24_ends_although_void_events_lie_years_ahead),
        RUN(seed_38_stratus_keeps_the_machine_of_a_task_that_asks_for_nothing),
        RUN(seed_56_the_rate_of_a_task_that_stops_is_not_late),
        RUN(seed_268_eva_keeps_the_machine_of_a_task_that_has_no_offer_left),
        RUN(seed_434_owl_keeps_the_machine_of_a_task_that_has_no_offer_left),
        RUN(seed_1210_the_room_of_a_task_that_has_no_offer_left_is_given_to_nobody),
        RUN(seed_1608_a_bill_ends_when_the_machine_was_lost_and_not_when_its_task_stopped),
        RUN(seed_2125_a_plan_of_which_limits_leave_nothing_is_not_made_again_at_once),
        RUN(seed_2628_semi_elastic_does_not_wait_for_the_end_of_a_gang_that_waits_itself),
        RUN(tasks_waited_by_all_rules_but_a_price_of_waiting),
        RUN(every_rare_path_was_taken),
        RUN(every_kind_of_trouble_was_met),
    };

    if (argc == 2)
        return run_one(strtoull(argv[1], NULL, 10));
    if (argc == 3)
        return run_some(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, run_all, NULL);
}
