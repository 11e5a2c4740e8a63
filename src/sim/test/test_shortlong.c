/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small clusters whose story can be told by hand, then random ones. A probe takes 1 ms and so does fetching
 * a task: on an idle server a task begins 2 ms after its job arrives.
 */
#include "sim/shortlong.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/test/check.h"

/* One short server and one for both, jobs above 20 s are long. */
static struct shortlong_config tiny(struct hybrid_trace *trace, const char *text)
{
    struct error error = { "" };

    if (hybrid_trace_read(text, strlen(text), trace, &error) < 0)
        fail_msg("%s", error.text);

    struct shortlong_config config = shortlong_eagle(trace);

    config.short_servers = 1;
    config.long_servers = 1;
    config.cutoff_ms = 20 * MSEC_PER_SEC;
    return config;
}

static struct shortlong_result run(const struct shortlong_config *config)
{
    struct shortlong_result result;

    shortlong_run(config, &result);
    return result;
}

TEST(short_tasks_wait_for_each_other_and_not_for_long_ones)
{
    struct hybrid_trace trace;
    const struct shortlong_config config = tiny(&trace, "0 1 100 100\n10 1 10 10\n11 1 5 5\n");
    struct shortlong_result result = run(&config);

    assert_int_equal(result.short_tasks, 2);
    assert_int_equal(result.short_in_long, 0);
    assert_int_equal(result.delays[0], 2);
    assert_int_equal(result.delays[1], 9003); /* begins at 20.003: the first ended at 20.002 */
    assert_int_equal(result.long_jobs, 1);
    assert_int_equal(result.long_sum_ms, 100002);
    assert_int_equal(result.end_ms, 100002);
    shortlong_result_done(&result);
    hybrid_trace_done(&trace);
}

TEST(the_job_with_the_least_work_left_goes_first)
{
    struct hybrid_trace trace;
    /* The server is busy until 16.002; then 4 s of one task go before 12 s of three. */
    const struct shortlong_config config =
        tiny(&trace, "0 1 1000 1000\n1 1 15 15\n2 3 4 4 4 4\n3 1 4 4\n");
    struct shortlong_result result = run(&config);

    assert_int_equal(result.delays[0], 2);
    assert_int_equal(result.delays[1], 13003); /* arrived at 3, begins at 16.003 */
    assert_int_equal(result.delays[2], 18004); /* arrived at 2, begins at 20.004 */
    assert_int_equal(result.delays[4], 26006);
    shortlong_result_done(&result);
    hybrid_trace_done(&trace);
}

TEST(nobody_is_passed_by_more_than_five_times_its_estimate)
{
    struct hybrid_trace trace;
    /* Ten tasks of 1 s have more work than one of 6 s, but may not be kept waiting for 6 s. */
    const struct shortlong_config config =
        tiny(&trace, "0 1 1000 1000\n1 1 15 15\n2 10 1 1 1 1 1 1 1 1 1 1 1\n3 1 6 6\n");
    struct shortlong_result result = run(&config);

    /* When the sixth of them has begun, 4 s are less than 6 s anyway. */
    assert_int_equal(result.delays[1], 14003);
    assert_int_equal(result.delays[11], 23013); /* the one of 6 s, at 26.013 */
    shortlong_result_done(&result);
    hybrid_trace_done(&trace);
}

#define BOUNDARY "0 1 30 30\n1 1 100 100\n15 1 20 20\n16 1 10 10\n"

TEST(a_waiting_short_task_starts_between_two_long_ones)
{
    struct hybrid_trace trace;
    struct shortlong_config config = tiny(&trace, BOUNDARY);
    struct shortlong_result without = run(&config);

    config.boundary_pull = true;

    struct shortlong_result with = run(&config);

    assert_int_equal(without.delays[1], 19003);            /* the short server is free at 35.002 */
    assert_int_equal(without.long_sum_ms, 30002 + 129003); /* the second ends at 130.003 */
    assert_int_equal(with.delays[1], 14003);               /* the first long task ends at 30.002 */
    assert_int_equal(with.long_sum_ms, 30002 + 139004);
    assert_int_equal(with.short_in_long, 1);
    shortlong_result_done(&without);
    shortlong_result_done(&with);
    hybrid_trace_done(&trace);
}

TEST(a_long_task_is_delayed_by_no_more_than_its_own_length)
{
    struct hybrid_trace trace;
    /* Two of the five jobs of 10 s start before the long task of 25 s; a third would make it 30 s. */
    struct shortlong_config config =
        tiny(&trace, "0 1 30 30\n1 1 25 25\n28 1 20 20\n29 1 10 10\n"
                     "29 1 10 10\n29 1 10 10\n29 1 10 10\n29 1 10 10\n");

    config.boundary_pull = true;

    struct shortlong_result result = run(&config);

    assert_int_equal(result.short_in_long, 2);
    assert_int_equal(result.long_sum_ms, 30002 + 74005); /* it begins at 50.005 */
    shortlong_result_done(&result);
    hybrid_trace_done(&trace);
}

TEST(an_idle_server_takes_what_waits_elsewhere)
{
    struct hybrid_trace trace;
    /* When its long task ends at 50.002, only the short server has probes of the twenty tasks. */
    struct shortlong_config config = tiny(
        &trace, "0 1 50 50\n1 20 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10\n");
    struct shortlong_result without = run(&config);

    config.idle_pull = true;

    struct shortlong_result with = run(&config);

    assert_int_equal(without.short_in_long, 0);
    assert_int_equal(with.short_in_long, 8); /* 15 are left at 50 s, and are shared */
    assert_true(with.delays[19] < without.delays[19] - 70 * MSEC_PER_SEC);
    assert_int_equal(with.long_sum_ms, without.long_sum_ms);
    shortlong_result_done(&without);
    shortlong_result_done(&with);
    hybrid_trace_done(&trace);
}

TEST(a_transient_server_comes_with_the_long_task_and_leaves_with_it)
{
    struct hybrid_trace trace;
    struct shortlong_config config = tiny(&trace, "0 1 500 500\n");

    config.rule =
        (struct short_partition_rule){ .most = 5, .threshold_ppm = 400000, .strict = true };

    struct shortlong_result result = run(&config);

    assert_int_equal(result.ready_count, 1); /* 1 of 3 servers has long work then */
    assert_int_equal(result.peak, 1);
    assert_int_equal(result.life_max_ms, 500002 - 120000);
    assert_int_equal(result.up_ms, 380002);
    assert_int_equal(result.up_until_last_ms, 0); /* the only arrival is at 0 */
    shortlong_result_done(&result);
    hybrid_trace_done(&trace);
}

/* ---- random clusters ---- */

enum { JOBS = 60, WORLDS = 1000 };

static void draw_trace(struct hybrid_trace *trace, struct rng *rng)
{
    static char text[JOBS * 200];
    struct error error = { "" };
    size_t used = 0;
    uint64_t at = 0;

    for (int i = 0; i < JOBS; i++) {
        const bool is_long = rng_below(rng, 5) == 0;
        const uint64_t mean = is_long ? 100 + rng_below(rng, 400) : rng_below(rng, 60);
        const uint64_t tasks = 1 + rng_below(rng, 12);

        at += rng_below(rng, 30);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%d %d %d", (int)at, (int)tasks,
                                 (int)mean);
        for (uint64_t k = 0; k < tasks; k++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, " %d",
                                     (int)(mean + rng_below(rng, 20)));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "\n");
    }
    if (hybrid_trace_read(text, used, trace, &error) < 0)
        fail_msg("%s", error.text);
}

static struct shortlong_config draw_config(const struct hybrid_trace *trace, struct rng *rng)
{
    struct shortlong_config config = shortlong_eagle(trace);

    config.short_servers = 1 + (uint32_t)rng_below(rng, 4);
    config.long_servers = 1 + (uint32_t)rng_below(rng, 20);
    config.rule.most = (uint32_t)rng_below(rng, 10);
    config.rule.threshold_ppm = 200000 + (uint32_t)rng_below(rng, 700000);
    config.rule.strict = rng_below(rng, 2) == 0;
    config.boot_ms = 1 + (msec_t)rng_below(rng, 120000);
    config.mean_life_ms = rng_below(rng, 2) == 0 ? 0 : 1 + (msec_t)rng_below(rng, 600000);
    config.idle_pull = rng_below(rng, 2) == 0;
    config.boundary_pull = rng_below(rng, 2) == 0;
    config.seed = rng_next(rng);
    return config;
}

static void check_world(const struct shortlong_config *config,
                        const struct shortlong_result *result)
{
    uint32_t short_tasks = 0;
    int64_t work = 0;

    for (uint32_t i = 0; i < config->trace->job_count; i++) {
        if (config->trace->jobs[i].mean_ms <= config->cutoff_ms)
            short_tasks += config->trace->jobs[i].tasks;
    }
    for (uint32_t i = 0; i < config->trace->task_count; i++)
        work += config->trace->work_ms[i];
    assert_int_equal(result->short_tasks, short_tasks);
    assert_true(result->delays[0] >= 2);
    for (uint32_t i = 1; i < short_tasks; i++)
        assert_true(result->delays[i - 1] <= result->delays[i]);
    if (config->rule.strict)
        assert_true(result->peak <= config->rule.most);
    assert_true(config->mean_life_ms > 0 || result->lost_count == 0);
    assert_true(result->lost_count <= result->ready_count);
    assert_true(result->up_ms == result->life_sum_ms); /* whoever is up lives */
    assert_true(result->up_until_last_ms <= result->up_ms);

    /* No server does two things at once. */
    const int64_t servers = (int64_t)config->short_servers + config->long_servers;

    assert_true(work <= servers * (result->end_ms - result->first_ms) + result->up_ms);
}

TEST(random_clusters_run_every_task_and_keep_to_their_rules)
{
    struct rng rng;
    uint32_t lost = 0;
    uint32_t ready = 0;

    rng_init(&rng, 3, 0);
    for (int i = 0; i < WORLDS; i++) {
        struct hybrid_trace trace;

        draw_trace(&trace, &rng);

        const struct shortlong_config config = draw_config(&trace, &rng);
        struct shortlong_result result = run(&config);
        struct shortlong_result again = run(&config);

        check_world(&config, &result);
        assert_memory_equal(result.delays, again.delays,
                            result.short_tasks * sizeof(*result.delays));
        assert_int_equal(result.long_sum_ms, again.long_sum_ms);
        lost += result.lost_count;
        ready += result.ready_count;
        shortlong_result_done(&result);
        shortlong_result_done(&again);
        hybrid_trace_done(&trace);
    }
    assert_true(lost > 100); /* the worlds do what they are for */
    assert_true(ready > 1000);
}

CHECK_MAIN(RUN(short_tasks_wait_for_each_other_and_not_for_long_ones),
           RUN(the_job_with_the_least_work_left_goes_first),
           RUN(nobody_is_passed_by_more_than_five_times_its_estimate),
           RUN(a_waiting_short_task_starts_between_two_long_ones),
           RUN(a_long_task_is_delayed_by_no_more_than_its_own_length),
           RUN(an_idle_server_takes_what_waits_elsewhere),
           RUN(a_transient_server_comes_with_the_long_task_and_leaves_with_it),
           RUN(random_clusters_run_every_task_and_keep_to_their_rules))
