/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that a plan stops so that they wait again. */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

static void suspend(struct stage *stage, uint64_t task)
{
    stage_decide(stage, (struct script){ .suspends = { task }, .suspend_count = 1 });
}

TEST(a_task_is_stopped_and_waits_and_starts_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage.seen = stage.act_count;
    suspend(&stage, 1);
    stage_acts(&stage, "stop 1; ");
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    stage_stopped(&stage, 1);
    stage_no_acts(&stage);
    assert_int_equal(stage_view(&stage)->task.waiting_count, 1);
    assert_int_equal(stage_view(&stage)->task.stops[0], 1);
    stage_put(&stage, 1, machine);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", machine);
    stage_started(&stage, 1);
    stage_finished(&stage, 1);
    assert_int_equal(stage_view(&stage)->task.living, 0);
    assert_int_equal(controller_stats(stage.controller)->suspended, 1);
    stage_done(&stage);
}

static enum plan_wait_rule rule_of(const struct stage *stage, uint64_t task)
{
    return controller_wait_of(stage->controller, view_find_task(stage_view(stage), task)).rule;
}

TEST(it_waits_because_it_yielded_until_something_else_is_decided)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    assert_int_equal(rule_of(&stage, 1), WAIT_NONE);
    suspend(&stage, 1);
    assert_int_equal(rule_of(&stage, 1), WAIT_YIELDED);
    stage_stopped(&stage, 1);
    assert_int_equal(rule_of(&stage, 1), WAIT_YIELDED);
    stage_put(&stage, 1, machine);
    assert_int_equal(rule_of(&stage, 1), WAIT_NONE);
    stage_done(&stage);
}

TEST(it_may_be_placed_again_while_it_still_stops)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage.seen = stage.act_count;
    suspend(&stage, 1);
    stage_put(&stage, 1, machine);
    stage_acts(&stage, "stop 1; ");
    stage_stopped(&stage, 1);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", machine);
    stage_done(&stage);
}

TEST(its_place_can_be_given_to_another_in_the_same_plan)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_job(&stage, 2, 1, false);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .suspends = { 1 },
                                          .suspend_count = 1,
                                          .places = { { .task = 2, .instance = machine } },
                                          .place_count = 1 });
    assert_int_equal(stage_where(&stage, 2), machine);
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    stage_done(&stage);
}

TEST(a_task_that_the_engine_keeps_is_not_suspended_and_its_place_not_given_away)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    suspend(&stage, 1);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_KEPT,
                                                .task = 1,
                                                .key = stage_key(&stage, ACT_STOP, 1),
                                                .until = stage.now + 60000 });
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_where(&stage, 1), machine);
    stage.seen = stage.act_count;
    suspend(&stage, 1);
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage.now += 60000;
    suspend(&stage, 1);
    stage_acts(&stage, "stop 1; ");
    stage_done(&stage);
}

TEST(nobody_is_suspended_for_a_place_that_a_limit_forbids)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.max_instances = 1;
    controller_tune(stage.controller, &stage.config);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);
    stage_job(&stage, 2, 1, false);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .suspends = { 1 },
                                          .suspend_count = 1,
                                          .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 2 } },
                                          .place_count = 1 });
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_state(&stage, 2), TASK_WAITING);
    stage_no_acts(&stage);
    stage_done(&stage);
}

CHECK_MAIN(RUN(a_task_is_stopped_and_waits_and_starts_again),
           RUN(it_waits_because_it_yielded_until_something_else_is_decided),
           RUN(it_may_be_placed_again_while_it_still_stops),
           RUN(its_place_can_be_given_to_another_in_the_same_plan),
           RUN(a_task_that_the_engine_keeps_is_not_suspended_and_its_place_not_given_away),
           RUN(nobody_is_suspended_for_a_place_that_a_limit_forbids))
