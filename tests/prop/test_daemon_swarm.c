/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole daemon, again and again, in small random worlds with trouble: daemon_world.h.
 *
 *     test_daemon_swarm                    the seeds of the build, as a test
 *     test_daemon_swarm --seeds A B        the seeds from A to B, and what failed
 *     test_daemon_swarm --seed N --trace   that one, with all that was said
 *
 * Trouble comes singly and in pairs; the seed's number says which, so that 277 seeds in a row have met
 * every pair.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/test/check.h"
#include "daemon_world.h"

#ifndef SWARM_SEEDS
#define SWARM_SEEDS 554
#endif

static char folder[64];

static uint32_t failed_count[JUDGES];
static uint64_t first_failed[JUDGES];
static uint64_t all_bounds; /* that were judged */
static uint64_t ruled_spot; /* first starts of jobs that ask for a market */
static uint64_t ruled_safe;
static uint32_t happened[FAULT_KINDS];
static uint64_t all_failed;

static void describe(uint64_t seed, const struct daemon_outcome *out)
{
    for (int judge = 0; judge < JUDGES; judge++) {
        if (!out->failed[judge])
            continue;
        (void)printf("# seed %" PRIu64 " (", seed);
        for (int kind = 0; kind < FAULT_KINDS; kind++) {
            if ((out->faults >> kind & 1) != 0)
                (void)printf("%s ", daemon_fault_name((enum daemon_fault)kind));
        }
        (void)printf("): %s: %s\n", daemon_judge_name((enum daemon_judge)judge), out->text[judge]);
    }
}

static void run(uint64_t seed, uint32_t telling, bool traces, struct daemon_outcome *out)
{
    bool any = false;

    daemon_world_run(seed, folder, traces, telling, out);
    for (int judge = 0; judge < JUDGES; judge++) {
        if (!out->failed[judge])
            continue;
        any = true;
        if (failed_count[judge]++ == 0)
            first_failed[judge] = seed;
    }
    all_failed += any;
    all_bounds += out->bounds;
    ruled_spot += out->ruled_spot;
    ruled_safe += out->ruled_safe;
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        happened[kind] += out->happened[kind];
}

static double seconds(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static int run_range(uint64_t from, uint64_t to)
{
    struct daemon_outcome out;
    const double begin = seconds();
    uint64_t jobs = 0, starts = 0, machines = 0, kills = 0, turns = 0, lines = 0, ms = 0;
    int64_t worst = 0;

    for (uint64_t seed = from; seed <= to; seed++) {
        run(seed, 0, false, &out);
        describe(seed, &out);
        (void)fflush(stdout);
        jobs += out.jobs;
        starts += out.starts;
        machines += out.machines;
        kills += out.kills;
        turns += out.turns;
        lines += out.lines;
        ms += (uint64_t)out.virtual_ms;
        worst = out.worst_idle_ms > worst ? out.worst_idle_ms : worst;
    }
    (void)printf("# %" PRIu64 " seeds in %.1f s, %" PRIu64 " failed: %" PRIu64
                 " submissions, %" PRIu64 " starts, %" PRIu64 " machines, %" PRIu64
                 " kills, %" PRIu64 " turns, %" PRIu64 " lines, %" PRIu64
                 " h of the world, longest without work %" PRId64 " s\n",
                 to - from + 1, seconds() - begin, all_failed, jobs, starts, machines, kills, turns,
                 lines, ms / 3600000, worst / 1000);
    for (int judge = 0; judge < JUDGES; judge++)
        (void)printf("# %-10s %u\n", daemon_judge_name((enum daemon_judge)judge),
                     failed_count[judge]);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        (void)printf("# %s %u%s", daemon_fault_name((enum daemon_fault)kind), happened[kind],
                     kind + 1 == FAULT_KINDS ? "\n" : "");
    return all_failed > 0;
}

/*
 * As a test.
 */

static int run_all(void **state)
{
    struct daemon_outcome out;

    (void)state;
    for (uint64_t seed = 1; seed <= SWARM_SEEDS; seed++) {
        run(seed, ~0U, false, &out);
        describe(seed, &out);
    }
    return 0;
}

static void check_judge(enum daemon_judge judge)
{
    if (failed_count[judge] > 0)
        fail_msg("%u seeds, the first is %" PRIu64 "; see: test_daemon_swarm --seed %" PRIu64
                 " --trace",
                 failed_count[judge], first_failed[judge], first_failed[judge]);
}

TEST(never_more_machines_or_dollars_than_the_limits)
{
    check_judge(JUDGE_LIMIT);
}

TEST(no_key_rents_two_things)
{
    check_judge(JUDGE_KEY);
}

TEST(no_job_starts_again_that_lost_no_node)
{
    check_judge(JUDGE_RESTART);
}

TEST(no_machine_is_given_back_under_a_job)
{
    check_judge(JUDGE_UNDER_JOB);
}

TEST(every_job_completes_once)
{
    check_judge(JUDGE_LOST_JOB);
}

TEST(nothing_is_left_over)
{
    check_judge(JUDGE_LEFT_OVER);
}

TEST(the_bills_are_the_clouds_to_the_micro_dollar)
{
    check_judge(JUDGE_BOOKS);
}

TEST(no_machine_is_paid_for_without_work_for_long)
{
    check_judge(JUDGE_IDLE);
}

TEST(every_run_ends)
{
    check_judge(JUDGE_STUCK);
}

TEST(machines_never_cost_less_than_the_bound_says)
{
    check_judge(JUDGE_BOUND);
    assert_true(all_bounds > SWARM_SEEDS);
}

TEST(no_job_starts_in_a_market_that_its_comment_forbids)
{
    check_judge(JUDGE_MARKET);
    assert_true(ruled_spot > 0 && ruled_safe > 0);
}

TEST(no_order_fails_the_check_at_the_gate)
{
    check_judge(JUDGE_ORDERS);
}

TEST(every_job_gets_as_many_nodes_as_it_asks_for)
{
    check_judge(JUDGE_NODES);
}

TEST(the_daemon_starts_after_every_crash)
{
    check_judge(JUDGE_START);
}

TEST(every_job_is_in_the_ledger)
{
    check_judge(JUDGE_CHARGES);
}

TEST(every_kind_of_trouble_was_met)
{
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        if (happened[kind] == 0)
            fail_msg("%s never happened", daemon_fault_name((enum daemon_fault)kind));
    }
}

TEST(the_same_seed_goes_the_same_way_to_the_line)
{
    struct daemon_outcome one;
    struct daemon_outcome two;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        daemon_world_run(seed, folder, false, 0, &one);
        daemon_world_run(seed, folder, false, 0, &two);
        assert_int_equal(one.digest, two.digest);
    }
}

static int test(void)
{
    const struct CMUnitTest tests[] = {
        RUN(never_more_machines_or_dollars_than_the_limits),
        RUN(no_key_rents_two_things),
        RUN(no_job_starts_again_that_lost_no_node),
        RUN(no_machine_is_given_back_under_a_job),
        RUN(every_job_completes_once),
        RUN(nothing_is_left_over),
        RUN(the_bills_are_the_clouds_to_the_micro_dollar),
        RUN(no_machine_is_paid_for_without_work_for_long),
        RUN(every_run_ends),
        RUN(machines_never_cost_less_than_the_bound_says),
        RUN(no_job_starts_in_a_market_that_its_comment_forbids),
        RUN(no_order_fails_the_check_at_the_gate),
        RUN(every_job_gets_as_many_nodes_as_it_asks_for),
        RUN(the_daemon_starts_after_every_crash),
        RUN(every_job_is_in_the_ledger),
        RUN(every_kind_of_trouble_was_met),
        RUN(the_same_seed_goes_the_same_way_to_the_line),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, run_all, NULL);
}

static int run_one(uint64_t seed, bool traces)
{
    struct daemon_outcome out;

    run(seed, ~0U, traces, &out);
    describe(seed, &out);
    (void)printf("# seed %" PRIu64 ": %u submissions, %u starts, %u machines, %u kills, %" PRIu64
                 " turns, %" PRId64 " s\n",
                 seed, out.jobs, out.starts, out.machines, out.kills, out.turns,
                 out.virtual_ms / 1000);
    return all_failed > 0;
}

int main(int argc, char **argv)
{
    int rc;

    (void)snprintf(folder, sizeof(folder), "/tmp/stint-swarm-XXXXXX");
    if (access("/dev/shm", W_OK) == 0)
        (void)snprintf(folder, sizeof(folder), "/dev/shm/stint-swarm-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    if (argc >= 3 && strcmp(argv[1], "--seed") == 0)
        rc = run_one(strtoull(argv[2], NULL, 10), argc > 3 && strcmp(argv[3], "--trace") == 0);
    else if (argc == 4 && strcmp(argv[1], "--seeds") == 0)
        rc = run_range(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    else
        rc = test();
    (void)rmdir(folder);
    return rc;
}
