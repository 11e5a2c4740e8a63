/* SPDX-License-Identifier: Apache-2.0 */
/* Machines whose image or settings are not those of new ones: which are replaced, when, and what becomes of what runs there. */
#include "control/test/doubles.h"

enum { AFTER_MS = 3600000 };

static void outdated_stage(struct stage *stage, uint32_t percent, msec_t after_ms)
{
    stage_init(stage);
    stage->config.replace_percent = percent;
    stage->config.replace_after_ms = after_ms;
    stage_restart(stage);
}

static void service(struct stage *stage, uint64_t task, bool fixed)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1000 + task,
                                                        .first_task_id = task,
                                                        .task_count = 1,
                                                        .fixed = fixed,
                                                        .estimate_ms = MSEC_NEVER } });
}

static void outdated(struct stage *stage, uint64_t instance, bool is_outdated)
{
    stage_cloud(stage, (struct cloud_event){ .kind = CLOUD_OUTDATED,
                                             .instance = instance,
                                             .is_outdated = is_outdated });
}

static enum instance_state state_of(struct stage *stage, uint64_t instance)
{
    const struct view *view = stage_view(stage);

    return (enum instance_state)view->instance.state[view_find_instance(view, instance)];
}

static void decide(struct stage *stage)
{
    stage_decide(stage, (struct script){ 0 });
}

TEST(a_service_leaves_an_outdated_machine_when_its_replacement_is_ready)
{
    struct stage stage;

    outdated_stage(&stage, 10, 0);
    service(&stage, 1, false);
    stage_job(&stage, 2, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_decide(&stage, (struct script){ .places = { { .task = 2, .instance = machine } },
                                          .place_count = 1 });
    stage_started(&stage, 2);
    stage.seen = stage.act_count;
    outdated(&stage, machine, true);
    assert_true(controller_wants_decision(stage.controller));
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY); /* until a decision is made */

    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1 });
    const uint64_t other = stage_instance(&stage, 0);

    stage_acts(&stage, "rent %" PRIu64 " of 0; ", other);
    assert_int_equal(state_of(&stage, machine), INSTANCE_DRAINING);
    assert_int_equal(stage_where(&stage, 2), machine); /* it has an end */
    stage_running(&stage, other);
    stage.seen = stage.act_count;
    stage_ready(&stage, other);
    stage_acts(&stage, "stop 1; ");
    stage_stopped(&stage, 1);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", other);
    stage_started(&stage, 1);
    stage_finished(&stage, 2);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    assert_int_equal(controller_outdated(stage.controller).all, 1);
    stage_gone_now(&stage, machine);
    assert_int_equal(controller_outdated(stage.controller).all, 0);
    assert_int_equal(controller_stats(stage.controller)->replaced, 1);
    stage_done(&stage);
}

static void place_two_on_first(struct stage *stage, const uint64_t *machine)
{
    stage_decide(stage, (struct script){ .places = { { .task = 9, .instance = machine[0] } },
                                         .place_count = 1 });
    stage_started(stage, 9);
}

/* Twenty percent of five: one at a time, that with the fewest tasks first, then the oldest; the next when it is gone. */
TEST(so_many_are_replaced_at_a_time)
{
    uint64_t machine[5];
    struct stage stage;

    outdated_stage(&stage, 20, 0);
    for (uint32_t i = 0; i < 5; i++) {
        stage_job(&stage, i + 1, 1, false);
        machine[i] = stage_launch(&stage, i + 1, 0);
    }
    stage_job(&stage, 9, 1, false);
    place_two_on_first(&stage, machine);
    for (uint32_t i = 0; i < 4; i++)
        outdated(&stage, machine[i], true);
    decide(&stage);
    decide(&stage);
    assert_int_equal(controller_outdated(stage.controller).all, 4);
    assert_int_equal(controller_outdated(stage.controller).replaced, 1);
    assert_int_equal(state_of(&stage, machine[1]), INSTANCE_DRAINING);

    stage_finished(&stage, 2);
    decide(&stage); /* it was returned, and is still paid for */
    assert_int_equal(controller_outdated(stage.controller).replaced, 1);
    stage_gone_now(&stage, machine[1]);
    assert_true(controller_wants_decision(stage.controller));
    decide(&stage);
    assert_int_equal(state_of(&stage, machine[2]), INSTANCE_DRAINING);
    assert_int_equal(controller_outdated(stage.controller).replaced, 1);
    assert_int_equal(state_of(&stage, machine[0]), INSTANCE_READY);

    stage.config.replace_percent = 100; /* a reload */
    controller_tune(stage.controller, &stage.config);
    decide(&stage);
    assert_int_equal(controller_outdated(stage.controller).replaced, 3);
    assert_int_equal(state_of(&stage, machine[4]), INSTANCE_READY); /* not outdated */
    stage_done(&stage);
}

TEST(a_young_one_is_left_alone_until_it_is_old_enough)
{
    struct stage stage;

    outdated_stage(&stage, 10, AFTER_MS);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];

    outdated(&stage, machine, true);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY);
    assert_int_equal(controller_next_wake(stage.controller), from + AFTER_MS);
    stage.now = from + AFTER_MS - 2000;
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_DRAINING);
    stage_done(&stage);
}

TEST(one_that_is_current_again_stays)
{
    struct stage stage;

    outdated_stage(&stage, 10, 0);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    outdated(&stage, machine, true);
    outdated(&stage, machine, false);
    outdated(&stage, machine, false);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY);
    assert_int_equal(controller_outdated(stage.controller).all, 0);
    stage_done(&stage);
}

TEST(none_is_replaced_if_the_configuration_says_so)
{
    struct stage stage;

    outdated_stage(&stage, 0, 0);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    outdated(&stage, machine, true);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY);
    assert_int_equal(controller_outdated(stage.controller).all, 1);
    stage_done(&stage);
}

TEST(none_is_replaced_while_nothing_may_be_rented)
{
    struct stage stage;

    outdated_stage(&stage, 10, 0);
    service(&stage, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage.config.max_instances = 1;
    controller_tune(stage.controller, &stage.config);
    outdated(&stage, machine, true);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY);
    stage.config.max_instances = 2;
    controller_tune(stage.controller, &stage.config);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_DRAINING);
    stage_done(&stage);
}

TEST(work_without_an_end_that_must_not_be_moved_keeps_its_machine)
{
    struct stage stage;

    outdated_stage(&stage, 10, 0);
    service(&stage, 1, true);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    outdated(&stage, machine, true);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY);
    assert_int_equal(controller_outdated(stage.controller).held, 1);
    assert_int_equal(controller_outdated(stage.controller).replaced, 0);
    stage_finished(&stage, 1);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_RETURNED);
    stage_done(&stage);
}

/* A disruption budget, say. */
TEST(a_stop_that_is_refused_is_asked_for_again)
{
    struct stage stage;

    outdated_stage(&stage, 10, 0);
    service(&stage, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    outdated(&stage, machine, true);
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1 });
    const uint64_t other = stage_instance(&stage, 0);

    stage_running(&stage, other);
    stage_ready(&stage, other);
    stage.seen = stage.act_count;
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_KEPT,
                                                .task = 1,
                                                .key = stage_key(&stage, ACT_STOP, 1),
                                                .until = stage.now + 60000 });
    decide(&stage);
    stage_no_acts(&stage);
    stage.now = controller_next_wake(stage.controller) - 1000;
    decide(&stage);
    stage_acts(&stage, "stop 1; ");
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; place 1 on %" PRIu64 "; give back %" PRIu64 "; ",
               machine, other, machine);
    stage_done(&stage);
}

/* Whatever the reason was for which it was to be stopped before. */
TEST(a_machine_whose_service_was_refused_a_stop_waits_its_time)
{
    struct stage stage;

    outdated_stage(&stage, 10, 0);
    service(&stage, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_decide(&stage, (struct script){ .suspends = { 1 }, .suspend_count = 1 });
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_KEPT,
                                                .task = 1,
                                                .key = stage_key(&stage, ACT_STOP, 1),
                                                .until = stage.now + 60000 });
    const msec_t until = stage.now - 1000 + 60000;

    outdated(&stage, machine, true);
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY);
    assert_int_equal(controller_outdated(stage.controller).held, 0); /* not for ever */
    assert_int_equal(controller_next_wake(stage.controller), until);
    stage.now = until;
    decide(&stage);
    assert_int_equal(state_of(&stage, machine), INSTANCE_DRAINING);
    stage_done(&stage);
}

TEST(a_gang_without_an_end_keeps_its_machines)
{
    struct stage stage;

    outdated_stage(&stage, 100, 0);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                .job = { .id = 1001,
                                                         .first_task_id = 1,
                                                         .task_count = 2,
                                                         .gang = true,
                                                         .estimate_ms = MSEC_NEVER } });
    stage_decide(&stage,
                 (struct script){ .rents = { 0, 0 },
                                  .rent_count = 2,
                                  .places = { { .task = 1, .rent = 0 }, { .task = 2, .rent = 1 } },
                                  .place_count = 2 });
    for (uint32_t i = 0; i < 2; i++)
        stage_running(&stage, stage_instance(&stage, i));
    for (uint32_t i = 0; i < 2; i++)
        stage_ready(&stage, stage_instance(&stage, i));
    stage_started(&stage, 1);
    stage_started(&stage, 2);
    outdated(&stage, stage_instance(&stage, 0), true);
    outdated(&stage, stage_instance(&stage, 1), true);
    decide(&stage);
    assert_int_equal(controller_outdated(stage.controller).held, 2);
    assert_int_equal(controller_outdated(stage.controller).replaced, 0);
    stage_done(&stage);
}

/* After a restart the list tells it again. */
TEST(a_machine_that_is_found_may_be_outdated)
{
    struct stage stage;

    outdated_stage(&stage, 10, AFTER_MS);
    stage.now = 10 * (msec_t)AFTER_MS;
    stage_audit(&stage);
    stage_machine_found(&stage, 7, 1000, 0);
    outdated(&stage, 7, true);
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_job(&stage, 1, 1, false);
    stage_found(&stage, 1, 7, 2000, 3);
    stage_ready(&stage, 7);
    stage_listed(&stage, ACT_LIST_WORK);
    decide(&stage);
    assert_int_equal(state_of(&stage, 7), INSTANCE_DRAINING);
    assert_int_equal(stage_where(&stage, 1), 7);
    stage_done(&stage);
}

CHECK_MAIN(RUN(a_service_leaves_an_outdated_machine_when_its_replacement_is_ready),
           RUN(so_many_are_replaced_at_a_time),
           RUN(a_young_one_is_left_alone_until_it_is_old_enough),
           RUN(one_that_is_current_again_stays), RUN(none_is_replaced_if_the_configuration_says_so),
           RUN(none_is_replaced_while_nothing_may_be_rented),
           RUN(work_without_an_end_that_must_not_be_moved_keeps_its_machine),
           RUN(a_stop_that_is_refused_is_asked_for_again),
           RUN(a_machine_whose_service_was_refused_a_stop_waits_its_time),
           RUN(a_gang_without_an_end_keeps_its_machines),
           RUN(a_machine_that_is_found_may_be_outdated))
