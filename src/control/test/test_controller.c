/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promises of controller.h and engine_port.h, one by one, between test doubles.
 */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

/*
 * Renting and placing.
 */

TEST(what_a_plan_rents_is_asked_for_at_once)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    stage_decide(&stage, (struct script){ .rents = { 0, 1 },
                                          .rent_count = 2,
                                          .places = { { .task = 1 }, { .task = 2, .rent = 1 } },
                                          .place_count = 2 });

    stage_acts(&stage, "rent 1 of 0; rent 2 of 1; ");
    assert_int_equal(stage_where(&stage, 1), 1);
    assert_int_equal(stage_where(&stage, 2), 2);
    stage_done(&stage);
}

TEST(a_machine_is_admitted_when_it_runs_and_its_tasks_placed_when_it_is_ready)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 7, 1, false);
    (void)stage_move(&stage, 7, 0);
    stage_acts(&stage, "rent 1 of 0; ");

    stage_running(&stage, 1);
    stage_acts(&stage, "admit 1; ");
    stage_ready(&stage, 1);
    stage_acts(&stage, "place 7 on 1; ");
    assert_int_equal(stage_state(&stage, 7), TASK_BOUND);
    stage_started(&stage, 7);
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 7), TASK_RUNNING);
    stage_done(&stage);
}

TEST(a_task_for_a_machine_that_is_ready_is_placed_at_once)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    stage_put(&stage, 2, machine);

    stage_acts(&stage, "place 2 on %" PRIu64 "; ", machine);
    stage_done(&stage);
}

TEST(a_job_without_an_estimate_gets_the_default)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const struct view *view = stage_view(&stage);

    assert_int_equal(view->task.estimate_ms[view_find_task(view, 1)], STAGE_ESTIMATE_MS);
    stage_done(&stage);
}

TEST(arrivals_ends_and_losses_want_a_decision_and_a_decision_ends_that)
{
    struct stage stage;

    stage_init(&stage);
    assert_false(controller_wants_decision(stage.controller));
    stage_job(&stage, 1, 2, false);
    assert_true(controller_wants_decision(stage.controller));
    (void)stage_launch(&stage, 1, 0);
    stage_decide(&stage, (struct script){ 0 });
    assert_false(controller_wants_decision(stage.controller));
    stage_lost(&stage, 1);
    assert_true(controller_wants_decision(stage.controller));
    (void)stage_launch(&stage, 1, 0);
    stage_decide(&stage, (struct script){ 0 });
    stage_finished(&stage, 1);
    assert_true(controller_wants_decision(stage.controller));
    stage_done(&stage);
}

TEST(machines_of_one_offer_and_request_are_asked_for_in_one_call)
{
    struct stage stage;

    stage_init(&stage);
    stage_decide(&stage, (struct script){ .rents = { 0, 0, 0, 1, 0 }, .rent_count = 5 });

    stage_acts(&stage, "rent 1 of 0; rent 2 of 0; rent 3 of 0; rent 4 of 1; rent %d of 0; ", 5);
    assert_int_equal(stage.acts[0].together, 3);
    assert_int_equal(stage.acts[3].together, 1);
    assert_int_equal(stage.acts[4].together, 1);
    stage_done(&stage);
}

TEST(a_drain_lets_go_of_all_that_is_empty_and_of_nothing_else)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);
    stage_decide(&stage, (struct script){ .rents = { 1 }, .rent_count = 1 });
    const uint64_t empty = stage_instance(&stage, 0);
    stage.seen = stage.act_count;
    controller_drain(stage.controller, stage.now);
    controller_drain(stage.controller, stage.now);

    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", empty, empty);
    stage_done(&stage);
}

/*
 * Moving.
 */

TEST(a_move_stops_first_and_places_when_the_target_is_ready)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);
    const uint64_t target = stage_move(&stage, 1, 1);

    stage_acts(&stage, "rent %" PRIu64 " of 1; stop 1; ", target);
    assert_int_equal(stage_where(&stage, 1), target);
    stage_stopped(&stage, 1);
    stage_no_acts(&stage);
    stage_running(&stage, target);
    stage_acts(&stage, "admit %" PRIu64 "; ", target);
    stage_ready(&stage, target);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", target);
    assert_int_equal(controller_stats(stage.controller)->migrations, 1);
    assert_int_equal(controller_stats(stage.controller)->evicted[EVICTED_BY_MOVE], 1);
    stage_done(&stage);
}

TEST(a_move_to_a_ready_target_places_when_it_has_stopped)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    (void)stage_launch(&stage, 1, 0);
    const uint64_t target = stage_launch(&stage, 2, 0);
    stage_put(&stage, 1, target);

    stage_acts(&stage, "stop %d; ", 1);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", target);
    stage_done(&stage);
}

TEST(two_tasks_can_change_places)
{
    struct stage stage;

    stage_init(&stage);
    for (uint64_t task = 1; task <= 8; task++)
        stage_job(&stage, task, 1, false);
    const uint64_t left = stage_launch(&stage, 1, 0);
    const uint64_t right = stage_launch(&stage, 5, 0);
    for (uint64_t task = 2; task <= 4; task++)
        stage_put(&stage, task, left);
    for (uint64_t task = 6; task <= 8; task++)
        stage_put(&stage, task, right);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .places = { { .task = 1, .instance = right },
                                                      { .task = 5, .instance = left } },
                                          .place_count = 2 });

    stage_acts(&stage, "stop 1; stop %d; ", 5);
    stage_stopped(&stage, 5);
    stage_acts(&stage, "place 5 on %" PRIu64 "; ", left);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", right);
    stage_done(&stage);
}

TEST(a_task_that_finishes_before_it_has_stopped_is_not_placed_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);
    const uint64_t target = stage_move(&stage, 1, 1);
    stage_finished(&stage, 1);
    stage.seen = stage.act_count;

    stage_running(&stage, target);
    stage_ready(&stage, target);

    stage_acts(&stage, "admit %" PRIu64 "; ", target);
    assert_int_equal(stage_view(&stage)->task.living, 0);
    stage_done(&stage);
}

TEST(a_task_lost_on_its_way_out_goes_on_to_its_target)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    (void)stage_launch(&stage, 1, 0);
    const uint64_t target = stage_launch(&stage, 2, 0);
    stage_put(&stage, 1, target);
    stage.seen = stage.act_count;
    stage_lost(&stage, 1);

    stage_acts(&stage, "place 1 on %" PRIu64 "; ", target);
    assert_int_equal(stage_where(&stage, 1), target);
    stage_done(&stage);
}

TEST(a_task_that_is_lost_waits_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    stage_lost(&stage, 1);

    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), 0);
    stage_put(&stage, 1, machine);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", machine);
    assert_int_equal(controller_stats(stage.controller)->evicted[EVICTED_BY_ENGINE], 1);
    stage_done(&stage);
}

/*
 * Gangs.
 */

/* A gang of the tasks 1 and 2, each launched on a machine of its own; the other's id in 'ret'. */
static uint64_t launch_gang(struct stage *stage, bool gang, uint64_t *ret)
{
    stage_job(stage, 1, 2, gang);

    const uint64_t first = stage_launch(stage, 1, 0);

    stage_decide(stage, (struct script){ .rents = { 0 },
                                         .rent_count = 1,
                                         .places = { { .task = 2 } },
                                         .place_count = 1 });
    *ret = stage_instance(stage, 0);
    stage_running(stage, *ret);
    stage_ready(stage, *ret);
    if (gang) { /* the first had to stop, as a part of its gang was placed again */
        stage_stopped(stage, 1);
        stage_started(stage, 1);
    }
    stage_started(stage, 2);
    stage->seen = stage->act_count;
    return first;
}

TEST(a_gang_of_which_one_task_moves_restarts_as_a_whole)
{
    struct stage stage;
    uint64_t second;

    stage_init(&stage);
    (void)launch_gang(&stage, true, &second);
    const uint64_t target = stage_move(&stage, 1, 1);

    stage_acts(&stage, "rent %" PRIu64 " of 1; stop 1; stop 2; ", target);
    assert_int_equal(stage_state(&stage, 2), TASK_BOUND);
    stage_stopped(&stage, 2);
    stage_acts(&stage, "place 2 on %" PRIu64 "; ", second);
    stage_stopped(&stage, 1);
    stage_running(&stage, target);
    stage_ready(&stage, target);
    stage_acts(&stage, "admit %" PRIu64 "; place 1 on %" PRIu64 "; ", target, target);
    stage_done(&stage);
}

TEST(a_gang_of_which_one_task_was_lost_restarts_as_a_whole)
{
    struct stage stage;
    uint64_t second;

    stage_init(&stage);
    const uint64_t first = launch_gang(&stage, true, &second);
    stage_lost(&stage, 1);
    stage_no_acts(&stage);
    stage_put(&stage, 1, first);

    stage_acts(&stage, "stop 2; place 1 on %" PRIu64 "; ", first);
    stage_stopped(&stage, 2);
    stage_acts(&stage, "place 2 on %" PRIu64 "; ", second);
    stage_done(&stage);
}

TEST(tasks_of_one_job_that_are_no_gang_do_not_restart_each_other)
{
    struct stage stage;
    uint64_t second;

    stage_init(&stage);
    (void)launch_gang(&stage, false, &second);
    const uint64_t target = stage_move(&stage, 1, 1);

    stage_acts(&stage, "rent %" PRIu64 " of 1; stop 1; ", target);
    assert_int_equal(stage_state(&stage, 2), TASK_RUNNING);
    stage_done(&stage);
}

/*
 * Refusals.
 */

TEST(tasks_of_a_refused_machine_wait_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED, .instance = machine });

    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    assert_int_equal(controller_stats(stage.controller)->refused, 1);
    assert_int_equal(ledger_totals(controller_ledger(stage.controller))->sums.bill, 0);
    stage_done(&stage);
}

TEST(a_refused_offer_is_passed_over_until_its_block_ends)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(stage_view(&stage)->shape_offer[0], 0);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED, .instance = machine });
    const msec_t until = stage.now + STAGE_BLOCK_MS;

    assert_int_equal(controller_next_wake(stage.controller), until);
    controller_decide(stage.controller, until - 1);
    assert_int_equal(stage_view(&stage)->shape_offer[0], 1);
    controller_decide(stage.controller, until);
    assert_int_equal(stage_view(&stage)->shape_offer[0], 0);
    assert_int_equal(controller_next_wake(stage.controller), MSEC_NEVER);
    stage_done(&stage);
}

TEST(an_offer_that_will_be_refused_for_long_is_left_alone_for_so_long)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED,
                                              .instance = stage_move(&stage, 1, 0),
                                              .for_ms = MSEC_PER_HOUR });
    assert_int_equal(stage_view(&stage)->offer_blocked_until[0], stage.now + MSEC_PER_HOUR);
    stage_done(&stage);
}

TEST(late_news_of_a_refusal_does_not_end_a_later_block)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    const uint64_t early = stage_move(&stage, 1, 0);
    const uint64_t later = stage_move(&stage, 2, 0);
    const struct cloud_event late = { .kind = CLOUD_REFUSED, .at = stage.now, .instance = early };
    stage.now += 60000;
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED, .instance = later });
    const msec_t until = stage.now + STAGE_BLOCK_MS;
    controller_on_cloud(stage.controller, &late);

    assert_int_equal(stage_view(&stage)->offer_blocked_until[0], until);
    controller_decide(stage.controller, until - 1);
    assert_int_equal(stage_view(&stage)->shape_offer[0], 1);
    stage_done(&stage);
}

TEST(what_has_been_refused_for_some_time_is_doubted_for_as_long_until_it_is_granted)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED,
                                              .instance = stage_move(&stage, 1, 0) });
    assert_true(stage_view(&stage)->offer_doubted_until[0] <=
                stage.now); /* it may be an accident */
    const msec_t first = stage.now;

    stage.now += 600000;
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED,
                                              .instance = stage_move(&stage, 1, 0) });
    assert_int_equal(stage_view(&stage)->offer_doubted_until[0], stage.now + (stage.now - first));
    stage.now += 10 * MSEC_PER_HOUR;
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED,
                                              .instance = stage_move(&stage, 1, 0) });
    assert_int_equal(stage_view(&stage)->offer_doubted_until[0], stage.now + MSEC_PER_HOUR);

    stage_running(&stage, stage_move(&stage, 1, 0));
    assert_int_equal(stage_view(&stage)->offer_doubted_until[0], 0);
    stage_done(&stage);
}

TEST(a_task_on_the_way_to_a_refused_machine_waits_when_it_has_stopped)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t target = stage_move(&stage, 1, 1);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED, .instance = target });
    stage.seen = stage.act_count;
    stage_put(&stage, 1, machine);
    stage_no_acts(&stage);
    stage_stopped(&stage, 1);

    stage_acts(&stage, "place 1 on %" PRIu64 "; ", machine);
    stage_done(&stage);
}

/*
 * Losses and notices.
 */

TEST(tasks_of_a_lost_machine_wait_again_when_the_engine_speaks_first)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    stage_lost(&stage, 1);
    stage_gone(&stage, machine, 5000, 20000);

    stage_acts(&stage, "forget %" PRIu64 "; ", machine);
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    assert_int_equal(controller_stats(stage.controller)->late_events, 0);
    stage_done(&stage);
}

TEST(tasks_of_a_lost_machine_wait_again_when_the_cloud_speaks_first)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    stage_gone(&stage, machine, 5000, 20000);
    assert_int_equal(stage_where(&stage, 1), 0);
    const uint64_t target = stage_launch(&stage, 1, 0);
    const uint64_t key = stage_view(&stage)->task.run_key[view_find_task(stage_view(&stage), 1)];
    stage_task(&stage, ENGINE_TASK_LOST, 1, key - 2); /* of the first placement, at last */

    assert_int_equal(stage_where(&stage, 1), target);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(controller_stats(stage.controller)->lost, 1);
    assert_int_equal(controller_stats(stage.controller)->late_events, 1);
    assert_int_equal(controller_stats(stage.controller)->evicted[EVICTED_BY_LOSS], 1);
    stage_done(&stage);
}

TEST(a_task_leaving_a_lost_machine_goes_to_its_target)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t target = stage_launch(&stage, 2, 0);
    stage_put(&stage, 1, target);
    stage.seen = stage.act_count;
    stage_gone(&stage, machine, 5000, 20000);

    stage_acts(&stage, "forget %" PRIu64 "; place 1 on %" PRIu64 "; ", machine, target);
    stage_started(&stage, 1);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_done(&stage);
}

TEST(tasks_bound_for_a_machine_that_never_came_wait_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_gone(&stage, machine, -1, 0);

    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    assert_int_equal(ledger_totals(controller_ledger(stage.controller))->opened, 0);
    stage_done(&stage);
}

TEST(a_notice_stops_all_tasks_and_the_machine_goes_back_when_the_last_has_left)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    stage_put(&stage, 2, machine);
    stage_started(&stage, 2);
    stage.seen = stage.act_count;
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });

    stage_acts(&stage, "stop 1; stop 2; retire %" PRIu64 "; ", machine);
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_where(&stage, 2), 0);
    assert_true(controller_wants_decision(stage.controller));
    stage_stopped(&stage, 2);
    stage_no_acts(&stage);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    assert_int_equal(controller_stats(stage.controller)->noticed, 1);
    assert_int_equal(controller_stats(stage.controller)->evicted[EVICTED_BY_NOTICE], 2);
    assert_int_equal(controller_stats(stage.controller)->evicted[EVICTED_BY_MOVE], 0);
    stage_done(&stage);
}

TEST(a_machine_that_is_gone_before_its_tasks_have_stopped_is_not_given_back)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage_gone(&stage, machine, 5000, 20000);
    stage_stopped(&stage, 1);

    stage_acts(&stage, "stop 1; retire %" PRIu64 "; forget %" PRIu64 "; ", machine, machine);
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    stage_done(&stage);
}

TEST(a_notice_before_the_machine_runs_gives_it_back)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage.seen = stage.act_count;
    stage_running(&stage, machine);

    stage_no_acts(&stage); /* it is not admitted */
    assert_int_equal(stage_where(&stage, 1), 0);
    stage_done(&stage);
}

TEST(what_runs_on_a_machine_that_is_only_at_risk_goes_on)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const struct cloud_event notice = { .kind = CLOUD_NOTICE,
                                        .instance = machine,
                                        .may_stay = true };

    stage_put(&stage, 2, machine);
    stage.seen = stage.act_count;
    stage_cloud(&stage, notice);
    stage_cloud(&stage, notice);

    stage_acts(&stage, "cancel 2; "); /* it has not begun */
    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_false(view_is_open(stage_view(&stage), view_find_instance(stage_view(&stage), machine)));
    assert_true(controller_wants_decision(stage.controller));
    assert_int_equal(controller_stats(stage.controller)->at_risk, 1);
    assert_int_equal(controller_stats(stage.controller)->noticed, 0);
    stage_cancelled(&stage, 2);
    stage_no_acts(&stage);
    stage_finished(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_done(&stage);
}

TEST(a_machine_at_risk_is_cleared_when_it_is_certain_that_it_will_be_taken)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    stage.seen = stage.act_count;
    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_NOTICE, .instance = machine, .may_stay = true });
    stage_no_acts(&stage);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });

    stage_acts(&stage, "stop 1; retire %" PRIu64 "; ", machine);
    assert_int_equal(stage_where(&stage, 1), 0);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    assert_int_equal(controller_stats(stage.controller)->noticed, 1);
    stage_done(&stage);
}

TEST(a_gang_that_starts_again_leaves_the_machine_that_is_at_risk)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, true);
    stage_decide(&stage, (struct script){ .rents = { 0, 0 },
                                          .rent_count = 2,
                                          .places = { { .task = 1 }, { .task = 2, .rent = 1 } },
                                          .place_count = 2 });
    const uint64_t at_risk = stage_instance(&stage, 1);
    const uint64_t other = stage_instance(&stage, 0);

    for (uint32_t back = 0; back < 2; back++) {
        stage_running(&stage, stage_instance(&stage, back));
        stage_ready(&stage, stage_instance(&stage, back));
    }
    stage_started(&stage, 1);
    stage_started(&stage, 2);
    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_NOTICE, .instance = at_risk, .may_stay = true });
    stage.seen = stage.act_count;
    (void)stage_move(&stage, 2, 1); /* both stop, and 1 cannot start again where it was */
    stage_stopped(&stage, 1);

    assert_int_equal(stage_where(&stage, 1), 0);
    assert_true(controller_wants_decision(stage.controller));
    stage_put(&stage, 1, other);
    assert_int_equal(stage_where(&stage, 1), other);
    stage_done(&stage);
}

/*
 * Giving back.
 */

TEST(an_empty_machine_goes_back_at_once)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    stage_finished(&stage, 1);
    stage_no_acts(&stage);
    stage_release(&stage, machine);

    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    assert_false(controller_is_idle(stage.controller));
    stage_gone(&stage, machine, 5000, 20000);
    assert_true(controller_is_idle(stage.controller));
    assert_int_equal(controller_stats(stage.controller)->lost, 0);
    stage_done(&stage);
}

TEST(a_released_machine_goes_back_once_when_its_last_task_has_left)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 3, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t target = stage_launch(&stage, 3, 0);
    stage_put(&stage, 2, machine);
    stage_started(&stage, 2);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .places = { { .task = 1, .instance = target },
                                                      { .task = 2, .instance = target } },
                                          .place_count = 2,
                                          .releases = { machine },
                                          .release_count = 1 });

    stage_acts(&stage, "stop 1; stop %d; ", 2);
    stage_finished(&stage, 2); /* it was faster */
    stage_no_acts(&stage);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; place 1 on %" PRIu64 "; give back %" PRIu64 "; ",
               machine, target, machine);
    stage_task(&stage, ENGINE_TASK_STOPPED, 1, stage_key(&stage, ACT_STOP, 1));
    stage_no_acts(&stage);
    stage_done(&stage);
}

TEST(a_machine_released_before_it_runs_goes_back_and_is_never_admitted)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = 999 });
    stage_finished(&stage, 1); /* by whatever way */
    stage.seen = stage.act_count;
    stage_release(&stage, machine);

    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_running(&stage, machine);
    stage_ready(&stage, machine);
    stage_no_acts(&stage);
    stage_done(&stage);
}

/*
 * Late events.
 */

TEST(a_start_of_an_earlier_placement_is_ignored)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t key = stage_key(&stage, ACT_PLACE, 1);
    stage_lost(&stage, 1);
    stage_put(&stage, 1, machine);
    stage_task(&stage, ENGINE_TASK_STARTED, 1, key);

    assert_int_equal(stage_state(&stage, 1), TASK_BOUND);
    assert_int_equal(controller_stats(stage.controller)->late_events, 1);
    stage_done(&stage);
}

TEST(a_task_that_started_before_its_cancel_arrived_runs_on_where_it_is)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_running(&stage, machine);
    stage_ready(&stage, machine);
    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_NOTICE, .instance = machine, .may_stay = true });
    stage.seen = stage.act_count;
    stage_started(&stage, 1);

    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_where(&stage, 1), machine);
    stage_finished(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    assert_int_equal(controller_stats(stage.controller)->evicted[EVICTED_BY_NOTICE], 0);
    assert_int_equal(controller_stats(stage.controller)->evicted[EVICTED_BY_MOVE], 0);
    stage_done(&stage);
}

TEST(a_task_that_is_to_go_elsewhere_and_started_first_is_not_killed)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_running(&stage, machine);
    stage_ready(&stage, machine);
    const uint64_t other = stage_move(&stage, 1, 1);

    stage.seen = stage.act_count;
    stage_started(&stage, 1);
    assert_int_equal(stage_where(&stage, 1), machine);
    stage_running(&stage, other);
    stage_ready(&stage, other);
    stage_acts(&stage, "admit %" PRIu64 "; ", other);
    stage_done(&stage);
}

TEST(a_machine_is_given_back_only_when_the_engine_has_nothing_there)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const struct engine_event left = { .kind = ENGINE_NODE_LEFT, .instance = machine };

    stage.keeps = true;
    stage_engine(&stage, left); /* nobody asked for that */
    stage_finished(&stage, 1);
    stage_release(&stage, machine);
    stage_acts(&stage, "retire %" PRIu64 "; ", machine);
    stage_job(&stage, 2, 1, false); /* the engine starts one there before it was told */
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                                .task = 2,
                                                .instance = machine,
                                                .started_at = stage.now,
                                                .key = (uint64_t)1 << 63 });
    stage_engine(&stage, left); /* older than that news */
    stage_no_acts(&stage);
    stage_finished(&stage, 2);
    stage_acts(&stage, "retire %" PRIu64 "; ", machine);
    stage_engine(&stage, left);
    stage_acts(&stage, "give back %" PRIu64 "; ", machine);
    stage_done(&stage);
}

TEST(a_stop_of_an_earlier_act_is_ignored)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    const uint64_t first = stage_launch(&stage, 1, 0);
    const uint64_t second = stage_launch(&stage, 2, 0);
    stage_put(&stage, 1, second);
    const uint64_t key = stage_key(&stage, ACT_STOP, 1);
    stage_stopped(&stage, 1);
    stage_started(&stage, 1);
    stage_put(&stage, 1, first);
    stage.seen = stage.act_count;
    stage_task(&stage, ENGINE_TASK_STOPPED, 1, key);

    stage_no_acts(&stage);
    assert_int_equal(controller_stats(stage.controller)->late_events, 1);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", first);
    stage_done(&stage);
}

TEST(a_loss_of_an_earlier_placement_is_ignored)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    (void)stage_launch(&stage, 1, 0);
    const uint64_t second = stage_launch(&stage, 2, 0);
    const uint64_t key = stage_key(&stage, ACT_PLACE, 1);
    stage_put(&stage, 1, second);
    stage_stopped(&stage, 1);
    stage_started(&stage, 1);
    stage_task(&stage, ENGINE_TASK_LOST, 1, key);

    assert_int_equal(stage_where(&stage, 1), second);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_done(&stage);
}

TEST(a_loss_under_no_key_is_ignored)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_task(&stage, ENGINE_TASK_LOST, 1, 0); /* it was not even placed yet */

    assert_int_equal(stage_where(&stage, 1), machine);
    stage_done(&stage);
}

TEST(a_rate_counts_while_its_task_runs_and_is_no_late_event_while_it_stops)
{
    struct stage stage;
    struct engine_event rate = { .kind = ENGINE_TASK_RATE, .task = 1, .rate_ppm = 800000 };

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);
    rate.key = stage_key(&stage, ACT_PLACE, 1);
    const uint32_t row = view_find_task(stage_view(&stage), 1);

    stage_engine(&stage, rate);
    assert_int_equal(stage_view(&stage)->task.rate_ppm[row], 800000);
    (void)stage_move(&stage, 1, 1);
    stage_engine(&stage, rate);
    assert_int_equal(stage_view(&stage)->task.rate_ppm[row], RATE_NONE);
    assert_int_equal(controller_stats(stage.controller)->late_events, 0);
    stage_stopped(&stage, 1);
    stage_engine(&stage, rate);
    assert_int_equal(controller_stats(stage.controller)->late_events, 1);
    stage_done(&stage);
}

TEST(events_about_nobody_are_counted_and_ignored)
{
    struct stage stage;

    stage_init(&stage);
    stage_task(&stage, ENGINE_TASK_FINISHED, 55, 0);
    stage_task(&stage, ENGINE_TASK_STARTED, 55, 3);
    stage_ready(&stage, 55);
    stage_running(&stage, 55);
    stage_gone(&stage, 55, 0, 10);

    stage_no_acts(&stage);
    assert_int_equal(controller_stats(stage.controller)->late_events, 5);
    assert_int_equal(ledger_totals(controller_ledger(stage.controller))->sums.bill, 0);
    assert_true(controller_is_idle(stage.controller));
    stage_done(&stage);
}

TEST(a_job_that_is_over_does_not_arrive_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);
    stage_finished(&stage, 1);
    stage_job(&stage, 1, 1, false);

    assert_int_equal(stage_view(&stage)->task.living, 0);
    stage_done(&stage);
}

TEST(time_does_not_go_back_with_a_late_event)
{
    struct stage stage;
    const struct engine_event late = {
        .kind = ENGINE_JOB_ARRIVED,
        .at = 10,
        .job = { .id = 1, .first_task_id = 1, .task_count = 1 },
    };

    stage_init(&stage);
    stage_decide(&stage, (struct script){ 0 });
    controller_on_engine(stage.controller, &late);

    assert_int_equal(stage_view(&stage)->now, stage.now);
    stage_done(&stage);
}

CHECK_MAIN(RUN(what_a_plan_rents_is_asked_for_at_once),
           RUN(a_machine_is_admitted_when_it_runs_and_its_tasks_placed_when_it_is_ready),
           RUN(a_task_for_a_machine_that_is_ready_is_placed_at_once),
           RUN(a_job_without_an_estimate_gets_the_default),
           RUN(arrivals_ends_and_losses_want_a_decision_and_a_decision_ends_that),
           RUN(machines_of_one_offer_and_request_are_asked_for_in_one_call),
           RUN(a_drain_lets_go_of_all_that_is_empty_and_of_nothing_else),
           RUN(a_move_stops_first_and_places_when_the_target_is_ready),
           RUN(a_move_to_a_ready_target_places_when_it_has_stopped),
           RUN(two_tasks_can_change_places),
           RUN(a_task_that_finishes_before_it_has_stopped_is_not_placed_again),
           RUN(a_task_lost_on_its_way_out_goes_on_to_its_target),
           RUN(a_task_that_is_lost_waits_again),
           RUN(a_gang_of_which_one_task_moves_restarts_as_a_whole),
           RUN(a_gang_of_which_one_task_was_lost_restarts_as_a_whole),
           RUN(tasks_of_one_job_that_are_no_gang_do_not_restart_each_other),
           RUN(tasks_of_a_refused_machine_wait_again),
           RUN(a_refused_offer_is_passed_over_until_its_block_ends),
           RUN(an_offer_that_will_be_refused_for_long_is_left_alone_for_so_long),
           RUN(late_news_of_a_refusal_does_not_end_a_later_block),
           RUN(what_has_been_refused_for_some_time_is_doubted_for_as_long_until_it_is_granted),
           RUN(a_task_on_the_way_to_a_refused_machine_waits_when_it_has_stopped),
           RUN(tasks_of_a_lost_machine_wait_again_when_the_engine_speaks_first),
           RUN(tasks_of_a_lost_machine_wait_again_when_the_cloud_speaks_first),
           RUN(a_task_leaving_a_lost_machine_goes_to_its_target),
           RUN(tasks_bound_for_a_machine_that_never_came_wait_again),
           RUN(a_notice_stops_all_tasks_and_the_machine_goes_back_when_the_last_has_left),
           RUN(a_machine_that_is_gone_before_its_tasks_have_stopped_is_not_given_back),
           RUN(a_notice_before_the_machine_runs_gives_it_back),
           RUN(what_runs_on_a_machine_that_is_only_at_risk_goes_on),
           RUN(a_machine_at_risk_is_cleared_when_it_is_certain_that_it_will_be_taken),
           RUN(a_gang_that_starts_again_leaves_the_machine_that_is_at_risk),
           RUN(an_empty_machine_goes_back_at_once),
           RUN(a_released_machine_goes_back_once_when_its_last_task_has_left),
           RUN(a_machine_released_before_it_runs_goes_back_and_is_never_admitted),
           RUN(a_start_of_an_earlier_placement_is_ignored),
           RUN(a_task_that_started_before_its_cancel_arrived_runs_on_where_it_is),
           RUN(a_task_that_is_to_go_elsewhere_and_started_first_is_not_killed),
           RUN(a_machine_is_given_back_only_when_the_engine_has_nothing_there),
           RUN(a_stop_of_an_earlier_act_is_ignored), RUN(a_loss_of_an_earlier_placement_is_ignored),
           RUN(a_loss_under_no_key_is_ignored),
           RUN(a_rate_counts_while_its_task_runs_and_is_no_late_event_while_it_stops),
           RUN(events_about_nobody_are_counted_and_ignored),
           RUN(a_job_that_is_over_does_not_arrive_again),
           RUN(time_does_not_go_back_with_a_late_event))
