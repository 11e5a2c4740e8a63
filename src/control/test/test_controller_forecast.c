/* SPDX-License-Identifier: Apache-2.0 */
/* How long jobs are expected to run: by their limits, and by history as far as it reaches. */
#include "control/test/doubles.h"

enum { ADA = 1, BOB = 2, WRAP = 1, TRAIN = 2 };

static const msec_t twelve_hours = 12 * MSEC_PER_HOUR;

static void stage_learning(struct stage *stage)
{
    stage_init(stage);
    stage->config.estimates = ESTIMATES_LEARNED;
    stage_restart(stage);
}

static void stage_submit(struct stage *stage, uint64_t task, uint32_t user, uint32_t name,
                         msec_t limit_ms)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1000 + task,
                                                        .first_task_id = task,
                                                        .task_count = 1,
                                                        .user = user,
                                                        .name = name,
                                                        .estimate_ms = limit_ms } });
}

static const struct forecast *forecast_of(const struct stage *stage, uint64_t task)
{
    const struct view *view = stage_view(stage);

    return controller_forecast(stage->controller, view->task.job[view_find_task(view, task)]);
}

static void stage_short_job(struct stage *stage, uint64_t task)
{
    stage_submit(stage, task, ADA, WRAP, 600000);
    stage_launch(stage, task, 0);
    stage->now += 2000; /* and one more until it is heard */
    stage_finished(stage, task);
}

TEST(two_short_jobs_make_no_job_of_others_short)
{
    struct stage stage;

    stage_learning(&stage);
    stage_short_job(&stage, 1);
    stage_short_job(&stage, 2);
    stage_submit(&stage, 3, BOB, TRAIN, twelve_hours);
    stage_submit(&stage, 4, BOB, WRAP, twelve_hours);
    stage_submit(&stage, 5, ADA, TRAIN, twelve_hours);

    const struct view *view = stage_view(&stage);

    for (uint64_t task = 3; task <= 5; task++)
        assert_true(view->task.estimate_ms[view_find_task(view, task)] > MSEC_PER_HOUR);
    assert_int_equal(forecast_of(&stage, 3)->runtime_ms, twelve_hours);
    assert_int_equal(forecast_of(&stage, 3)->source, FORECAST_BY_LIMIT);
    assert_int_equal(forecast_of(&stage, 4)->source, FORECAST_BY_NAME);
    assert_int_equal(forecast_of(&stage, 4)->history.samples, 2);
    assert_int_equal(forecast_of(&stage, 5)->source, FORECAST_BY_USER);
    stage_done(&stage);
}

TEST(a_new_limit_makes_a_new_forecast)
{
    struct stage stage;

    stage_learning(&stage);
    stage_submit(&stage, 1, BOB, TRAIN, twelve_hours);
    stage_engine(&stage,
                 (struct engine_event){
                     .kind = ENGINE_JOB_CHANGED,
                     .changes = CHANGE_ESTIMATE,
                     .job = { .id = 1001, .first_task_id = 1, .estimate_ms = MSEC_PER_HOUR } });
    assert_int_equal(forecast_of(&stage, 1)->runtime_ms, MSEC_PER_HOUR);
    assert_int_equal(forecast_of(&stage, 1)->limit_ms, MSEC_PER_HOUR);
    stage_done(&stage);
}

TEST(a_job_of_which_nothing_was_known_is_judged_again_as_others_of_its_user_end)
{
    struct stage stage;

    stage_learning(&stage);
    for (uint64_t task = 11; task <= 50; task++)
        stage_submit(&stage, task, ADA, WRAP, 600000);
    stage_submit(&stage, 60, BOB, TRAIN, 600000);
    stage_submit(&stage, 61, ADA, WRAP, -1);

    const struct view *view = stage_view(&stage);

    assert_int_equal(view->job.unknowns,
                     41); /* what has no limit has nothing to be unknown beside */
    stage_short_job(&stage, 1);
    assert_int_equal(forecast_of(&stage, 11)->runtime_ms,
                     42426); /* sqrt(600 s x 3 s): one run is half of what it takes */
    for (uint64_t task = 2; task <= 4; task++)
        stage_short_job(&stage, task);

    /* Sixteen at a time. */
    for (uint64_t task = 11; task <= 42; task++) {
        const uint32_t row = view_find_task(view, task);

        assert_int_equal(view->task.estimate_ms[row], 3000);
        assert_false(view->job.unknown[view->task.job[row]]);
    }
    assert_int_equal(view->task.estimate_ms[view_find_task(view, 60)], 600000);
    assert_true(view->job.unknown[view->task.job[view_find_task(view, 60)]]);

    /* Those that end are not looked for any more. */
    for (uint64_t task = 43; task <= 50; task++) {
        stage_launch(&stage, task, 0);
        stage.now += 2000;
        stage_finished(&stage, task);
    }
    assert_int_equal(view->job.unknowns, 1);
    stage_done(&stage);
}

TEST(lost_work_is_no_runtime)
{
    struct stage stage;
    const msec_t run_ms = 50000;

    stage_learning(&stage);
    for (uint64_t task = 1; task <= 3; task++) {
        stage_submit(&stage, task, ADA, TRAIN, twelve_hours);
        stage_launch(&stage, task, 0);
        stage.now += 10 * run_ms;
        stage_lost(&stage, task);
        stage.now += 10 * MSEC_PER_HOUR; /* until it may be placed again */
        stage_launch(&stage, task, 0);
        stage.now += run_ms - 1000;
        stage_finished(&stage, task);
    }
    stage_submit(&stage, 4, ADA, TRAIN, twelve_hours);
    assert_int_equal(forecast_of(&stage, 4)->source, FORECAST_BY_USER_NAME);
    assert_int_equal(forecast_of(&stage, 4)->runtime_ms, run_ms);
    stage_done(&stage);
}

CHECK_MAIN(RUN(two_short_jobs_make_no_job_of_others_short), RUN(a_new_limit_makes_a_new_forecast),
           RUN(a_job_of_which_nothing_was_known_is_judged_again_as_others_of_its_user_end),
           RUN(lost_work_is_no_runtime))
