/* SPDX-License-Identifier: Apache-2.0 */
/* When the simulated controller decides, and when a story is over. */
#include <errno.h>
#include <string.h>

#include "base/test/check.h"
#include "sim/simulation.h"
#include "trace/catalogue_file.h"
#include "trace/jobs_csv.h"

/* A machine whose price changes after a day. */
static const char catalogue_text[] = "types:\n"
                                     "  - name: a.1\n"
                                     "    cpu: 4\n"
                                     "    mem_gib: 8\n"
                                     "    boot: { acquire: 10s, setup: 20s, release: 5s }\n"
                                     "    price: [[0, 1], [1d, 2]]\n";

/* Two jobs of half an hour, the second after an hour. */
static const char jobs_text[] = "workload,arrival_s,duration_s,cpu,mem_gb\n"
                                "w,60,1800,2,4\n"
                                "w,3660,1800,2,4\n";

struct story {
    struct trace trace;
    struct catalogue catalogue;
    struct sim_config config;
};

static void story_init(struct story *story)
{
    *story = (struct story){ 0 };
    assert_int_equal(
        catalogue_file_read(catalogue_text, strlen(catalogue_text), &story->catalogue, NULL), 0);
    assert_int_equal(jobs_csv_read(jobs_text, strlen(jobs_text), &story->catalogue.families,
                                   &story->trace, NULL),
                     0);
    story->config = (struct sim_config){
        .trace = &story->trace,
        .catalogue = &story->catalogue,
        .policy = &policy_task_per_instance,
        .round_ms = 300 * MSEC_PER_SEC,
        .tick_ms = MSEC_PER_SEC,
        .default_rate = 0.95,
        .seed = 1,
    };
}

static void story_done(struct story *story)
{
    trace_done(&story->trace);
    catalogue_done(&story->catalogue);
}

static struct sim_result run(const struct story *story)
{
    struct sim_result result = { 0 };
    struct error error = { "" };

    if (simulation_run(&story->config, &result, &error) < 0)
        fail_msg("%s", error.text);
    return result;
}

TEST(a_job_is_decided_on_when_it_comes_though_a_price_changes_later)
{
    struct story story;
    story_init(&story);
    story.config.round_ms = 0;

    const struct sim_result result = run(&story);

    /* Acquire, set up, run; nobody waits for the price of tomorrow. */
    assert_int_equal(result.ended_at, (3660 + 10 + 20 + 1800 + 5) * MSEC_PER_SEC);
    story_done(&story);
}

TEST(with_events_a_decision_comes_as_long_after_them_as_was_said)
{
    struct story story;
    story_init(&story);
    story.config.round_ms = 0;
    story.config.settle_ms = 7 * MSEC_PER_SEC;

    const struct sim_result result = run(&story);

    assert_int_equal(result.ended_at, (3660 + 7 + 10 + 20 + 1800 + 7 + 5) * MSEC_PER_SEC);
    story_done(&story);
}

TEST(with_rounds_a_job_waits_for_the_next_multiple)
{
    struct story story;
    story_init(&story);

    const struct sim_result result = run(&story);

    /* It comes at 3660, is seen at 3900, ends at 5730 and is let go at 6000. */
    assert_int_equal(result.ended_at, (6000 + 5) * MSEC_PER_SEC);
    story_done(&story);
}

TEST(a_loss_that_was_due_after_the_end_does_not_prolong_the_story)
{
    struct story story;
    story_init(&story);
    const struct sim_result calm = run(&story);
    story.config.faults.lose_mean_ms = 10000 * MSEC_PER_HOUR;

    const struct sim_result result = run(&story);

    assert_int_equal(result.stats.lost, 0);
    assert_int_equal(result.ended_at, calm.ended_at);
    story_done(&story);
}

TEST(a_story_that_does_not_end_is_given_up)
{
    struct story story;
    struct sim_result result = { .jobs = 77 };
    struct error error = { "" };
    story_init(&story);
    story.config.faults.lose_mean_ms = 60 * MSEC_PER_SEC;
    story.config.give_up_ms = 1000 * MSEC_PER_HOUR;

    const int rc = simulation_run(&story.config, &result, &error);

    assert_int_equal(rc, -ETIME);
    assert_int_equal(result.jobs, 77);
    assert_non_null(strstr(error.text, "2 of 2 jobs"));
    story_done(&story);
}

CHECK_MAIN(RUN(a_job_is_decided_on_when_it_comes_though_a_price_changes_later),
           RUN(with_events_a_decision_comes_as_long_after_them_as_was_said),
           RUN(with_rounds_a_job_waits_for_the_next_multiple),
           RUN(a_loss_that_was_due_after_the_end_does_not_prolong_the_story),
           RUN(a_story_that_does_not_end_is_given_up))
