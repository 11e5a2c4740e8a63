/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds whose machines are taken away, each five times: without a word, 30 s after a notice, and two minutes
 * after it; and an hour on average after they came to be at risk, which is said or not (a rebalance recommendation). Whatever the policy, its options and the form of the work:
 *
 *   - every task completes, once; nothing is left running; the ledger adds up;
 *   - nothing starts on a machine after the notice;
 *   - less work is lost with notices than without, and less with longer ones, in sum over all worlds (in a single
 *     one the runs part at the first loss, so that others are lost); and it costs no more;
 *   - less than half of the work is lost where it is said which machines are at risk, in sum. (It does not cost less: such machines
 *     take no new work, and much of the work here ends within minutes.)
 *
 *     test_revocations          all seeds
 *     test_revocations A B      those, one line each
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/test/check.h"
#include "random_world.h"

enum { SEEDS = 2000, WAYS = 5, STEPS_MAX = 400000 };

struct way {
    const char *name;
    msec_t notice_ms;
    bool is_at_risk; /* before it is taken, */
    bool is_told;    /* and that is said */
};

static const struct way ways[WAYS] = {
    { .name = "no notice" },
    { .name = "notice of 30 s", .notice_ms = 30 * MSEC_PER_SEC },
    { .name = "notice of 120 s", .notice_ms = 120 * MSEC_PER_SEC },
    { .name = "at risk, not told", .is_at_risk = true },
    { .name = "at risk, told", .is_at_risk = true, .is_told = true },
};

struct sums {
    msec_t lost_work_ms;
    uint64_t lost; /* machines, at or before their end */
    uint64_t noticed;
    uint64_t at_risk;
    money_t cost;
    double jct_hours;
};

static uint64_t seeds[2] = { 1, SEEDS };
static struct sums sums[WAYS];
static uint64_t failures;

/* What takes longest must have a chance to end. */
static msec_t longest(const struct trace *trace)
{
    msec_t ret = 60 * MSEC_PER_SEC;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        if (trace->jobs[i].work_ms > ret)
            ret = trace->jobs[i].work_ms;
    }
    return ret;
}

/* Faults of its own: machines are taken, and all news comes at once. */
static void draw(struct random_world *world, uint64_t seed, const struct way *way)
{
    struct rng rng;

    if (seed % 2 == 0)
        random_world_draw(world, seed);
    else
        random_world_draw_wide(world, seed);
    rng_init(&rng, seed, 77);

    const msec_t mean = random_between(&rng, 4, 16) * longest(&world->trace);

    world->config.faults = (struct sim_faults){
        .lose_mean_ms = way->is_at_risk ? 0 : mean,
        .notice_ppm = way->notice_ms > 0 ? 1000000 : 0,
        .notice_ms = way->notice_ms,
        .risk_mean_ms = way->is_at_risk ? mean : 0,
        .risk_lasts_ms = way->is_at_risk ? MSEC_PER_HOUR : 0,
        .risk_is_silent = !way->is_told,
    };
    world->config.max_steps = STEPS_MAX;
}

static void complain(uint64_t seed, const struct way *way, const char *what)
{
    failures++;
    (void)fprintf(stderr, "seed %" PRIu64 ", %s: %s\n", seed, way->name, what);
}

static void judge(uint64_t seed, const struct way *way, const struct random_world *world,
                  const struct sim_result *result)
{
    if (result->completions != world->trace.task_total)
        complain(seed, way, "a task was lost, or done twice");
    if (result->left_running != 0)
        complain(seed, way, "machines are left running");
    if (!result->ledger_agrees)
        complain(seed, way, "the ledger does not add up");
    if (result->doomed_starts != 0)
        complain(seed, way, "work starts on a machine that will be taken");
}

static void run(uint64_t seed, uint32_t way)
{
    struct random_world world;
    struct sim_result result;
    struct error error;

    draw(&world, seed, &ways[way]);
    if (simulation_run(&world.config, &result, &error) < 0) {
        complain(seed, &ways[way], error.text);
    } else {
        judge(seed, &ways[way], &world, &result);
        sums[way].lost_work_ms += result.lost_work_ms;
        sums[way].lost += result.stats.lost;
        sums[way].noticed += result.stats.noticed;
        sums[way].at_risk += result.stats.at_risk;
        sums[way].cost += result.cost;
        sums[way].jct_hours += result.jct_hours;
    }
    random_world_done(&world);
}

static void print_sums(void)
{
    for (uint32_t way = 0; way < WAYS; way++)
        (void)printf("# %s: %" PRId64 " s of work lost, %" PRIu64
                     " machines taken with work or unused time, %" PRIu64 " notices, %" PRIu64
                     " at risk, %.2f dollars, %.3f h per job\n",
                     ways[way].name, sums[way].lost_work_ms / MSEC_PER_SEC, sums[way].lost,
                     sums[way].noticed, sums[way].at_risk, (double)sums[way].cost / 1e6,
                     sums[way].jct_hours / (double)(seeds[1] - seeds[0] + 1));
}

TEST(no_task_is_lost_and_nothing_starts_after_a_notice)
{
    for (uint64_t seed = seeds[0]; seed <= seeds[1]; seed++) {
        for (uint32_t way = 0; way < WAYS; way++)
            run(seed, way);
    }
    print_sums();
    assert_int_equal(failures, 0);
}

TEST(longer_notices_lose_less_work)
{
    assert_true(sums[0].lost_work_ms > 0 && sums[1].noticed > 0 && sums[2].noticed > 0);
    assert_true(sums[1].lost_work_ms <= sums[0].lost_work_ms);
    assert_true(sums[2].lost_work_ms <= sums[1].lost_work_ms);
    assert_true(sums[2].cost <= sums[0].cost);
}

TEST(less_is_lost_where_it_is_said_which_machines_are_at_risk)
{
    assert_true(sums[3].at_risk == 0 && sums[3].lost > 0 && sums[4].at_risk > 0);
    assert_true(2 * sums[4].lost_work_ms < sums[3].lost_work_ms);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(no_task_is_lost_and_nothing_starts_after_a_notice),
        RUN(longer_notices_lose_less_work),
        RUN(less_is_lost_where_it_is_said_which_machines_are_at_risk),
    };

    if (argc == 3) {
        seeds[0] = strtoull(argv[1], NULL, 10);
        seeds[1] = strtoull(argv[2], NULL, 10);
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
