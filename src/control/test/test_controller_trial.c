/* SPDX-License-Identifier: Apache-2.0 */
/* What would be decided if a job came: the same that is decided when it comes, and nothing is changed by asking. */
#include "control/test/doubles.h"

static struct job_spec job_of(uint64_t first, uint32_t tasks, msec_t at)
{
    return (struct job_spec){ .id = 1000 + first,
                              .first_task_id = first,
                              .task_count = tasks,
                              .estimate_ms = 3600000,
                              .arrived_at = at };
}

/* The offer that the task is bound to, or OFFER_NONE. */
static uint32_t offer_of(const struct view *view, uint64_t task)
{
    const uint32_t row = view_find_task(view, task);
    const uint32_t instance = view->task.instance[row];

    return instance == ROW_NONE ? OFFER_NONE : view->instance.offer[instance];
}

static void stage_stint(struct stage *stage)
{
    stage_init(stage);
    stage->config.policy = &policy_stint;
    policy_defaults(&policy_stint, stage->config.option);
    stage_restart(stage);
}

static void arrive(struct stage *stage, const struct job_spec *spec)
{
    controller_on_engine(
        stage->controller,
        &(struct engine_event){ .kind = ENGINE_JOB_ARRIVED, .at = stage->now, .job = *spec });
}

TEST(a_trial_says_what_the_decision_will_say)
{
    for (uint32_t tasks = 1; tasks <= 12; tasks++) {
        struct stage stage;
        struct shapes shapes;

        stage_stint(&stage);

        const struct job_spec before = job_of(1, 5, stage.now);
        const struct job_spec spec = job_of(100, tasks, stage.now);

        arrive(&stage, &before);
        controller_decide(stage.controller, stage.now);
        shapes_copy(&shapes, &stage.shapes);

        struct controller_trial *trial =
            controller_try(stage.controller, &shapes, &spec, stage.now);

        arrive(&stage, &spec);
        controller_decide(stage.controller, stage.now);
        for (uint32_t i = 0; i < tasks; i++)
            assert_int_equal(offer_of(controller_trial_view(trial), 100 + i),
                             offer_of(stage_view(&stage), 100 + i));
        assert_int_equal(controller_trial_view(trial)->instance.living,
                         stage_view(&stage)->instance.living);
        view_check(controller_trial_view(trial));
        controller_trial_destroy(trial);
        shapes_done(&shapes);
        stage_done(&stage);
    }
}

TEST(a_trial_changes_nothing_and_asks_for_nothing)
{
    struct stage stage;
    struct shapes shapes;

    stage_stint(&stage);
    arrive(&stage, &(struct job_spec){ .id = 1001, .first_task_id = 1, .task_count = 3 });
    controller_decide(stage.controller, stage.now);
    shapes_copy(&shapes, &stage.shapes);

    const uint32_t acts = stage.act_count;
    const uint64_t key = controller_next_key(stage.controller);
    const struct job_spec spec = job_of(100, 20, stage.now);
    struct controller_trial *trial =
        controller_try(stage.controller, &shapes, &spec, stage.now + 5000);

    assert_true(controller_trial_view(trial)->instance.living >
                stage_view(&stage)->instance.living);
    assert_int_equal(controller_trial_forecast(trial)->runtime_ms, 3600000);
    controller_trial_destroy(trial);
    shapes_done(&shapes);
    assert_int_equal(stage.act_count, acts);
    assert_int_equal(controller_next_key(stage.controller), key);
    assert_int_equal(stage_view(&stage)->task.living, 3);
    assert_int_equal(stage_view(&stage)->now, stage.now);
    view_check(stage_view(&stage));
    controller_check(stage.controller);
    stage_done(&stage);
}

TEST(a_trial_says_which_limit_the_job_would_meet)
{
    struct stage stage;
    struct shapes shapes;

    stage_stint(&stage);
    stage.config.max_instances = 1;
    stage_restart(&stage);
    arrive(&stage, &(struct job_spec){ .id = 1001, .first_task_id = 1, .task_count = 8 });
    controller_decide(stage.controller, stage.now);
    shapes_copy(&shapes, &stage.shapes);

    const struct job_spec spec = job_of(100, 1, stage.now);
    struct controller_trial *trial = controller_try(stage.controller, &shapes, &spec, stage.now);
    const struct view *view = controller_trial_view(trial);
    const uint32_t task = view->job.first_task[controller_trial_job(trial)];

    assert_int_equal(view->task.instance[task], ROW_NONE);
    assert_int_equal(controller_trial_wait(trial, task).limit, LIMIT_INSTANCES);
    controller_trial_destroy(trial);
    shapes_done(&shapes);
    stage_done(&stage);
}

CHECK_MAIN(RUN(a_trial_says_what_the_decision_will_say),
           RUN(a_trial_changes_nothing_and_asks_for_nothing),
           RUN(a_trial_says_which_limit_the_job_would_meet))
