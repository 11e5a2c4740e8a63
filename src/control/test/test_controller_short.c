/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that stand ready for short jobs: which jobs are short, by what is known of them. */
#include "control/test/doubles.h"

enum { ADA = 1, SHORT = 1, TRAIN = 2, READY_OFFER = 1 };

static const msec_t one_minute = 60 * MSEC_PER_SEC;
static const msec_t ten_minutes = 600 * MSEC_PER_SEC;

/* One large machine stands ready while a hundredth of all machines has long work. */
static void stage_pool(struct stage *stage)
{
    stage_init(stage);
    stage->catalogue.offers[READY_OFFER].market = MARKET_SPOT;
    stage->config.estimates = ESTIMATES_LEARNED;
    stage->config.short_pool = (struct short_pool_rule){
        .machine = "large",
        .most = 1,
        .threshold_ppm = 10000,
        .longest_ms = one_minute,
    };
    stage_restart(stage);
}

static void stage_run(struct stage *stage, uint64_t task, uint32_t name, msec_t limit_ms)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1000 + task,
                                                        .first_task_id = task,
                                                        .task_count = 1,
                                                        .user = ADA,
                                                        .name = name,
                                                        .estimate_ms = limit_ms } });
    (void)stage_launch(stage, task, 0);
}

static void stage_short_runs(struct stage *stage, uint32_t name, msec_t limit_ms, uint64_t count)
{
    for (uint64_t task = 1; task <= count; task++) {
        stage_run(stage, task, name, limit_ms);
        stage->now += 2000;
        stage_finished(stage, task);
    }
}

/* Whether a machine stands ready, by the next decision. */
static bool has_pool(struct stage *stage)
{
    const struct view *view = stage_view(stage);
    bool found = false;

    stage_decide(stage, (struct script){ 0 });
    INSTANCE_EACH(instance, view)
    {
        found |= view->instance.offer[instance] == READY_OFFER;
    }
    return found;
}

TEST(a_job_with_a_long_limit_is_long)
{
    struct stage stage;

    stage_pool(&stage);
    assert_false(has_pool(&stage));
    stage_run(&stage, 1, TRAIN, ten_minutes);
    assert_true(has_pool(&stage));
    stage_done(&stage);
}

TEST(other_short_jobs_of_the_user_make_it_no_short_one)
{
    for (uint64_t runs = 1; runs <= 40; runs++) {
        struct stage stage;

        stage_pool(&stage);
        stage_short_runs(&stage, SHORT, one_minute, runs);
        assert_false(has_pool(&stage));
        stage_run(&stage, 100, TRAIN, ten_minutes);
        assert_true(has_pool(&stage));
        stage_done(&stage);
    }
}

TEST(runs_of_the_same_name_do)
{
    struct stage stage;

    stage_pool(&stage);
    stage_short_runs(&stage, TRAIN, ten_minutes, 5);
    stage_run(&stage, 100, TRAIN, ten_minutes);
    assert_false(has_pool(&stage));
    stage_done(&stage);
}

CHECK_MAIN(RUN(a_job_with_a_long_limit_is_long),
           RUN(other_short_jobs_of_the_user_make_it_no_short_one), RUN(runs_of_the_same_name_do))
