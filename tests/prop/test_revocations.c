/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds whose machines are taken away, each three times: without a word, 30 s after a notice, and two minutes
 * after it. Whatever the policy, its options and the form of the work:
 *
 *   - every task completes, once; nothing is left running; the ledger adds up;
 *   - nothing starts on a machine after the notice;
 *   - less work is lost with notices than without, and less with longer ones, in sum over all worlds (in a single
 *     one the runs part at the first loss, so that others are lost); and it costs no more.
 *
 *     test_revocations          all seeds
 *     test_revocations A B      those, one line each
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/test/check.h"
#include "random_world.h"

enum { SEEDS = 1000, WAYS = 3, STEPS_MAX = 400000 };

static const msec_t notices[WAYS] = { 0, 30 * MSEC_PER_SEC, 120 * MSEC_PER_SEC };

struct sums {
    msec_t lost_work_ms;
    uint64_t lost; /* machines, at or before their end */
    uint64_t noticed;
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
static void draw(struct random_world *world, uint64_t seed, msec_t notice_ms)
{
    struct rng rng;

    if (seed % 2 == 0)
        random_world_draw(world, seed);
    else
        random_world_draw_wide(world, seed);
    rng_init(&rng, seed, 77);
    world->config.faults = (struct sim_faults){
        .lose_mean_ms = random_between(&rng, 4, 16) * longest(&world->trace),
        .notice_ppm = notice_ms > 0 ? 1000000 : 0,
        .notice_ms = notice_ms,
    };
    world->config.max_steps = STEPS_MAX;
}

static void complain(uint64_t seed, msec_t notice_ms, const char *what)
{
    failures++;
    (void)fprintf(stderr, "seed %" PRIu64 ", notice of %" PRId64 " ms: %s\n", seed, notice_ms,
                  what);
}

static void judge(uint64_t seed, msec_t notice_ms, const struct random_world *world,
                  const struct sim_result *result)
{
    if (result->completions != world->trace.task_total)
        complain(seed, notice_ms, "a task was lost, or done twice");
    if (result->left_running != 0)
        complain(seed, notice_ms, "machines are left running");
    if (!result->ledger_agrees)
        complain(seed, notice_ms, "the ledger does not add up");
    if (result->doomed_starts != 0)
        complain(seed, notice_ms, "work starts on a machine that will be taken");
}

static void run(uint64_t seed, uint32_t way)
{
    struct random_world world;
    struct sim_result result;
    struct error error;

    draw(&world, seed, notices[way]);
    if (simulation_run(&world.config, &result, &error) < 0) {
        complain(seed, notices[way], error.text);
    } else {
        judge(seed, notices[way], &world, &result);
        sums[way].lost_work_ms += result.lost_work_ms;
        sums[way].lost += result.stats.lost;
        sums[way].noticed += result.stats.noticed;
        sums[way].cost += result.cost;
        sums[way].jct_hours += result.jct_hours;
    }
    random_world_done(&world);
}

static void print_sums(void)
{
    for (uint32_t way = 0; way < WAYS; way++)
        (void)printf("# notice of %3" PRId64 " s: %" PRId64 " s of work lost, %" PRIu64
                     " machines taken with work or unused time, %" PRIu64 " notices, %.2f dollars, "
                     "%.3f h per job\n",
                     notices[way] / MSEC_PER_SEC, sums[way].lost_work_ms / MSEC_PER_SEC,
                     sums[way].lost, sums[way].noticed, (double)sums[way].cost / 1e6,
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(no_task_is_lost_and_nothing_starts_after_a_notice),
        RUN(longer_notices_lose_less_work),
    };

    if (argc == 3) {
        seeds[0] = strtoull(argv[1], NULL, 10);
        seeds[1] = strtoull(argv[2], NULL, 10);
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
