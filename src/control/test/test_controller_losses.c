/* SPDX-License-Identifier: Apache-2.0 */
/* What machines that are taken away cost in lost work, and what was expected. A millisecond costs a micro-dollar. */
#include "control/test/doubles.h"

enum { LASTS_MS = 100000, BOOT_MS = 1000 };

static void stage_spot(struct stage *stage)
{
    stage_init(stage);
    stage->catalogue.offers[0].market = MARKET_SPOT;
}

static void stage_promise_notice(struct stage *stage, uint32_t ppm)
{
    stage->config.notice_ms = 120 * MSEC_PER_SEC;
    stage->config.notice_ppm = ppm;
    stage_restart(stage);
}

/* As if an earlier process had seen so many losses that nothing new counts: machines last for LASTS_MS. */
static void stage_know(struct stage *stage)
{
    const struct interruption_memory memory = {
        .losses_micro = INT64_C(1000000000000),
        .machine_ms = INT64_C(1000000) * LASTS_MS,
        .at = stage->now,
    };

    assert_true(controller_resume_risk(stage->controller, 0, &memory));
}

static void stage_job_for(struct stage *stage, uint64_t task, bool fixed)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1000 + task,
                                                        .first_task_id = task,
                                                        .task_count = 1,
                                                        .fixed = fixed,
                                                        .estimate_ms = 3600000 } });
}

/* Alone on a machine of four, a task pays all of it. Returns when the run began. */
static msec_t stage_run(struct stage *stage, uint64_t task, bool fixed, uint64_t *ret_machine)
{
    stage_job_for(stage, task, fixed);
    *ret_machine = stage_launch(stage, task, 0);
    return stage->now;
}

static const struct controller_stats *stats_of(const struct stage *stage)
{
    return controller_stats(stage->controller);
}

TEST(what_a_machine_had_done_is_lost_with_it_and_its_boot)
{
    for (uint32_t engine_first = 0; engine_first < 2; engine_first++) {
        struct stage stage;
        uint64_t machine;

        stage_spot(&stage);
        const msec_t began = stage_run(&stage, 1, true, &machine);

        stage.now += 20000;
        if (engine_first)
            stage_lost(&stage, 1);
        const msec_t ended = stage.now + (engine_first ? 0 : 1000);

        stage_gone_now(&stage, machine);
        assert_int_equal(stats_of(&stage)->taken, 1);
        assert_int_equal(stats_of(&stage)->lost_cost, ended - began + BOOT_MS);
        assert_int_equal(stats_of(&stage)->expected_loss, 0); /* nobody knew that it could be */
        stage_done(&stage);
    }
}

TEST(what_is_saved_is_not_lost)
{
    struct stage stage;
    uint64_t machine;

    stage_spot(&stage);
    (void)stage_run(&stage, 1, false, &machine);
    stage.now += 20000;
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage_stopped(&stage, 1);
    stage_gone_now(&stage, machine);
    assert_int_equal(stats_of(&stage)->taken, 1);
    assert_int_equal(stats_of(&stage)->notice_saved, 1);
    assert_int_equal(stats_of(&stage)->notice_lost, 0);
    assert_int_equal(stats_of(&stage)->lost_cost, BOOT_MS);
    stage_done(&stage);
}

TEST(a_run_that_the_engine_loses_is_none_of_the_clouds)
{
    struct stage stage;
    uint64_t machine;

    stage_spot(&stage);
    (void)stage_run(&stage, 1, true, &machine);
    stage_lost(&stage, 1);
    stage_release(&stage, machine);
    stage_gone_now(&stage, machine);
    assert_int_equal(stats_of(&stage)->taken, 0);
    assert_int_equal(stats_of(&stage)->lost_cost, 0);
    stage_done(&stage);
}

TEST(a_machine_on_demand_counts_in_neither)
{
    struct stage stage;
    uint64_t machine;

    stage_init(&stage);
    (void)stage_run(&stage, 1, true, &machine);
    stage_gone_now(&stage, machine);
    assert_int_equal(stats_of(&stage)->taken, 0);
    assert_int_equal(stats_of(&stage)->lost_cost, 0);
    stage_done(&stage);
}

/* c * r / 2M of the run, and b * r / M of the boot, within a rounding of each. */
TEST(each_run_and_each_boot_was_expected_to_lose_by_its_length)
{
    struct stage stage;
    uint64_t machine;

    stage_spot(&stage);
    stage_know(&stage);
    const msec_t began = stage_run(&stage, 1, true, &machine);
    const msec_t billed = stage_view(&stage)->instance.billed_from[0];

    stage.now += 20000;
    stage_finished(&stage, 1);
    const msec_t run = stage.now - began;
    const msec_t lasts = stage_view(&stage)->offer_lasts[0];

    assert_in_range(lasts, LASTS_MS * 99 / 100, LASTS_MS * 101 / 100);
    assert_in_range(stats_of(&stage)->expected_loss, run * run / 2 / lasts - 1,
                    run * run / 2 / lasts + 1);
    stage_release(&stage, machine);
    stage_gone_now(&stage, machine);
    const money_t sum = run * run / 2 / lasts + BOOT_MS * (stage.now - billed) / lasts;

    assert_in_range(stats_of(&stage)->expected_loss, sum - 2, sum + 2);
    assert_int_equal(stats_of(&stage)->lost_cost, 0);
    stage_done(&stage);
}

/* Runs that are expected to lose less than a micro-dollar each are expected to lose some together. */
TEST(small_expectations_add_up)
{
    enum { RUNS = 40 };
    const struct interruption_memory calm = {
        .losses_micro = INT64_C(1000000000),
        .machine_ms = INT64_C(1000) * 1250000,
        .at = 1000,
    };
    struct stage stage;
    double sum = 0;

    stage_spot(&stage);
    assert_true(controller_resume_risk(stage.controller, 0, &calm));
    for (uint64_t task = 1; task <= RUNS; task++) {
        uint64_t machine;
        const msec_t began = stage_run(&stage, task, true, &machine);

        stage_finished(&stage, task);
        const double run = (double)(stage.now - began);
        const double expected = run * run / 2 / (double)stage_view(&stage)->offer_lasts[0];

        assert_true(expected > 0 && expected < 1);
        sum += expected;
    }
    assert_true(sum > 10);
    assert_in_range(stats_of(&stage)->expected_loss, (money_t)sum - 1, (money_t)sum + 1);
    stage_done(&stage);
}

TEST(what_can_be_moved_is_expected_to_be_lost_only_without_notice)
{
    struct stage stage;
    uint64_t machine;

    stage_spot(&stage);
    stage_promise_notice(&stage, 500000);
    stage_know(&stage);
    const msec_t began = stage_run(&stage, 1, false, &machine);

    stage.now += 20000;
    stage_finished(&stage, 1);
    const msec_t run = stage.now - began;
    const money_t half = run * run / 4 / stage_view(&stage)->offer_lasts[0];

    assert_in_range(stats_of(&stage)->expected_loss, half - 1, half + 1);
    stage_done(&stage);
}

/* What the cloud promises counts as two runs. Work that must not be moved tells nothing. */
TEST(how_often_a_notice_comes_in_time_is_learned)
{
    struct stage stage;
    uint64_t machine;

    stage_spot(&stage);
    stage_promise_notice(&stage, 1000000);
    (void)stage_run(&stage, 1, true, &machine);
    stage_gone_now(&stage, machine);
    assert_int_equal(stage_view(&stage)->notice_ppm, 1000000);
    for (uint32_t i = 2; i <= 3; i++) {
        (void)stage_run(&stage, i, false, &machine);
        stage_gone_now(&stage, machine);
        assert_int_equal(stage_view(&stage)->notice_ppm, 2000000 / (1 + i));
    }
    (void)stage_run(&stage, 4, false, &machine);
    stage_finished(&stage, 4); /* before the notice */
    (void)stage_run(&stage, 5, false, &machine);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage_stopped(&stage, 5);
    stage_gone_now(&stage, machine);
    assert_int_equal(stage_view(&stage)->notice_ppm, 3000000 / 5);
    stage_done(&stage);
}

/* What earlier processes saw counts, as at most 200 runs. */
TEST(how_often_a_notice_comes_in_time_is_remembered)
{
    static const struct {
        uint64_t saved;
        uint64_t lost;
        uint32_t ppm;
    } known[] = {
        { 0, 0, 1000000 },
        { 3, 5, 500000 },
        { 0, 198, 10000 },
        { 300, 900, (2 + 50) * 1000000 / 202 },
        { UINT64_MAX, UINT64_MAX, (2 + 100) * 1000000 / 202 },
        { 0, UINT64_MAX, 2 * 1000000 / 202 },
        { UINT64_MAX, 0, 1000000 },
    };
    struct stage stage;
    uint64_t machine;

    stage_spot(&stage);
    stage_promise_notice(&stage, 1000000);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        controller_resume_notices(stage.controller, known[i].saved, known[i].lost);
        assert_int_equal(stage_view(&stage)->notice_ppm, known[i].ppm);
        assert_int_equal(stats_of(&stage)->notice_saved, 0);
    }
    controller_resume_notices(stage.controller, 0, 6);
    (void)stage_run(&stage, 1, false, &machine);
    stage_gone_now(&stage, machine);
    assert_int_equal(stage_view(&stage)->notice_ppm, 2 * 1000000 / 9);
    assert_int_equal(stats_of(&stage)->notice_lost, 1);
    stage_done(&stage);
}

/* Of 'ran' only what came after the last checkpoint is lost; expected is half of the time between two. */
TEST(what_a_checkpoint_has_kept_is_not_lost)
{
    enum { EVERY = 6000 };
    struct stage stage;
    uint64_t machine;

    stage_spot(&stage);
    stage_know(&stage);
    stage.shapes.rows[0].delays.checkpoint_ms = EVERY;
    const msec_t began = stage_run(&stage, 1, true, &machine);
    const msec_t billed = stage_view(&stage)->instance.billed_from[0];

    stage.now += 20000;
    const msec_t ran = stage.now + 1000 - began;
    const msec_t lasts = stage_view(&stage)->offer_lasts[0];

    stage_gone_now(&stage, machine);
    assert_int_equal(stats_of(&stage)->lost_cost, ran % EVERY + BOOT_MS);
    const money_t expected = ran * EVERY / 2 / lasts + BOOT_MS * (stage.now - billed) / lasts;

    assert_in_range(stats_of(&stage)->expected_loss, expected - 2, expected + 2);
    stage_done(&stage);
}

CHECK_MAIN(RUN(what_a_machine_had_done_is_lost_with_it_and_its_boot),
           RUN(what_is_saved_is_not_lost), RUN(a_run_that_the_engine_loses_is_none_of_the_clouds),
           RUN(a_machine_on_demand_counts_in_neither),
           RUN(each_run_and_each_boot_was_expected_to_lose_by_its_length),
           RUN(small_expectations_add_up),
           RUN(what_can_be_moved_is_expected_to_be_lost_only_without_notice),
           RUN(how_often_a_notice_comes_in_time_is_learned),
           RUN(how_often_a_notice_comes_in_time_is_remembered),
           RUN(what_a_checkpoint_has_kept_is_not_lost))
