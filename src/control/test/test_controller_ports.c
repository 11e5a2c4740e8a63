/* SPDX-License-Identifier: Apache-2.0 */
/* What the ports can say besides: the room of a node, the deadline of a notice, that a stop is refused, a gang that
 * is placed as one, a job that changes. */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

/*
 * The room of a node.
 */

static void stage_ready_with(struct stage *stage, uint64_t instance, int64_t cpus)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_NODE_READY,
                                               .instance = instance,
                                               .has_capacity = true,
                                               .capacity = { { cpus * 1000, 1024, 0 } } });
}

/* Two tasks on a new machine of the offer, which is billed and not ready: its id. */
static uint64_t stage_two_on(struct stage *stage, uint32_t offer)
{
    stage_decide(stage, (struct script){ .rents = { offer },
                                         .rent_count = 1,
                                         .places = { { .task = 1 }, { .task = 2 } },
                                         .place_count = 2 });
    stage_running(stage, stage_instance(stage, 0));
    stage->seen = stage->act_count;
    return stage_instance(stage, 0);
}

static void what_the_engine_says_of_a_nodes_room_holds(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 2, false);

    const uint64_t machine = stage_two_on(&stage, 0);

    stage_ready_with(&stage, machine, 3);
    stage_acts(&stage, "place 1 on %" PRIu64 "; place 2 on %" PRIu64 "; ", machine, machine);
    assert_int_equal(view_capacity(stage_view(&stage), 0)->amount[RES_CPU], 3000);
    stage_done(&stage);
}

static void what_the_engine_does_not_know_of_a_node_the_type_says(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 2, false);

    const uint64_t machine = stage_two_on(&stage, 0);
    const struct res *type = &catalogue_type_of(stage_view(&stage)->catalogue, 0)->capacity;

    stage_engine(&stage,
                 (struct engine_event){ .kind = ENGINE_NODE_READY,
                                        .instance = machine,
                                        .has_capacity = true,
                                        .capacity = { { 3000, ENGINE_AS_TYPE, 0, 0, 7 } } });
    assert_int_equal(view_capacity(stage_view(&stage), 0)->amount[RES_CPU], 3000);
    assert_int_equal(view_capacity(stage_view(&stage), 0)->amount[RES_MEM], type->amount[RES_MEM]);
    assert_int_equal(view_capacity(stage_view(&stage), 0)->amount[RES_VOLUMES], 7);
    stage_done(&stage);
}

static void a_task_that_does_not_fit_a_smaller_node_waits_again(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 2, false);

    const uint64_t machine = stage_two_on(&stage, 0);

    stage_ready_with(&stage, machine, 1);
    assert_int_equal(stage_where(&stage, 1) + stage_where(&stage, 2), machine); /* one of them */
    assert_true(controller_wants_decision(stage.controller));
    assert_int_equal(stage_view(&stage)->offer_blocked_until[0], 0);
    stage_done(&stage);
}

static void an_offer_whose_machines_hold_nothing_they_are_rented_for_is_left_alone(void **state)
{
    struct stage stage;
    msec_t blocked = 0;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t machine = stage_two_on(&stage, 0);

        stage_ready_with(&stage, machine, 0);
        assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
        assert_int_equal(stage_view(&stage)->offer_blocked_until[0] - stage.now,
                         (msec_t)STAGE_BLOCK_MS << i); /* longer each time */
        blocked = stage_view(&stage)->offer_blocked_until[0];
        stage.now = blocked;
    }
    stage_no_acts(&stage);
    stage_done(&stage);
}

static void what_runs_on_a_node_that_shrinks_goes_on(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_ready_with(&stage, machine, 0);
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_ready_with(&stage, machine, -5); /* nonsense counts as nothing */
    assert_int_equal(view_capacity(stage_view(&stage), 0)->amount[RES_CPU], 0);
    stage_done(&stage);
}

/*
 * A stop that is refused.
 */

static void stage_kept(struct stage *stage, uint64_t task, msec_t after)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_TASK_KEPT,
                                               .task = task,
                                               .key = stage_key(stage, ACT_STOP, task),
                                               .until = stage->now + 1000 + after });
}

static void a_task_whose_stop_is_refused_goes_on_where_it_is(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t other = stage_move(&stage, 1, 1);

    stage_acts(&stage, "rent %" PRIu64 " of 1; stop 1; ", other);
    stage_kept(&stage, 1, 60000);
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_view(&stage)->task.launches[0], 1);
    assert_int_equal(stage_view(&stage)->task.stops[0], 0);
    assert_int_equal(controller_stats(stage.controller)->stops_refused, 1);
    assert_true(controller_wants_decision(stage.controller));
    stage_finished(&stage, 1); /* and its events are heard */
    assert_true(controller_view(stage.controller)->task.living == 0);
    stage_done(&stage);
}

static void it_is_not_moved_again_before_the_engine_lets_it(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);

    const uint64_t other = stage_move(&stage, 1, 1);

    stage_kept(&stage, 1, 60000);

    const msec_t until = stage.now + 60000;

    stage.seen = stage.act_count;
    stage_put(&stage, 1, other);
    stage_no_acts(&stage);
    assert_int_equal(controller_next_wake(stage.controller), until);
    stage.now = until - 1000;
    stage_put(&stage, 1, other);
    stage_acts(&stage, "stop 1; ");
    stage_done(&stage);
}

static void on_a_machine_that_is_taken_the_stop_is_asked_for_again(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage_acts(&stage, "stop 1; retire %" PRIu64 "; ", machine);
    stage_kept(&stage, 1, 30000);
    stage_no_acts(&stage);
    assert_int_equal(controller_next_wake(stage.controller), stage.now + 30000);
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage.now += 29000;
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "stop 1; ");
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_done(&stage);
}

/* Task 1 runs on the machine whose id is returned, and has no end. */
static uint64_t launch_service(struct stage *stage)
{
    stage_init(stage);
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1001,
                                                        .first_task_id = 1,
                                                        .task_count = 1,
                                                        .estimate_ms = MSEC_NEVER } });
    return stage_launch(stage, 1, 0);
}

static void a_service_runs_on_until_its_new_machine_is_ready(void **state)
{
    struct stage stage;

    (void)state;

    const uint64_t machine = launch_service(&stage);
    const uint64_t other = stage_move(&stage, 1, 1);

    stage_acts(&stage, "rent %" PRIu64 " of 1; ", other);
    stage_release(&stage, machine);
    stage_running(&stage, other);
    stage.seen = stage.act_count;
    stage_ready(&stage, other);
    stage_acts(&stage, "stop 1; ");
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; place 1 on %" PRIu64 "; give back %" PRIu64 "; ",
               machine, other, machine);
    stage_done(&stage);
}

/* Where it goes was decided: the room there stays its own. */
static void the_stop_of_a_service_on_a_machine_that_was_let_go_is_asked_for_again(void **state)
{
    struct stage stage;

    (void)state;

    const uint64_t machine = launch_service(&stage);
    const uint64_t other = stage_move(&stage, 1, 1);

    stage_release(&stage, machine);
    stage_running(&stage, other);
    stage_ready(&stage, other);
    stage.seen = stage.act_count;
    stage_kept(&stage, 1, 30000);
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), other);
    assert_int_equal(controller_next_wake(stage.controller), stage.now + 30000);
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage.now += 29000;
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "stop 1; ");
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; place 1 on %" PRIu64 "; give back %" PRIu64 "; ",
               machine, other, machine);
    stage_done(&stage);
}

static void a_gang_of_which_one_stop_is_refused_is_not_moved(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 2, true);

    const uint64_t machine = stage_two_on(&stage, 0);

    stage_ready(&stage, machine);
    stage_started(&stage, 1);
    stage_started(&stage, 2);
    (void)stage_move(&stage, 1, 1); /* both are stopped */
    stage_kept(&stage, 1, 60000);
    stage_kept(&stage, 2, 60000);
    stage.seen = stage.act_count;
    stage_put(&stage, 1, stage_instance(&stage, 0));
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_state(&stage, 2), TASK_RUNNING);
    stage_done(&stage);
}

static void old_news_of_a_refusal_changes_nothing(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);
    (void)stage_move(&stage, 1, 1);
    stage_kept(&stage, 1, 0);
    stage_kept(&stage, 1, 1000000); /* told twice */
    assert_int_equal(controller_stats(stage.controller)->stops_refused, 1);
    assert_int_equal(controller_stats(stage.controller)->late_events, 1);
    stage.now += 10000; /* one that says no time is asked again after a while */
    (void)stage_move(&stage, 1, 1);
    stage_stopped(&stage, 1);
    assert_int_equal(stage_state(&stage, 1), TASK_BOUND);
    stage_done(&stage);
}

/*
 * A gang as one action.
 */

/* Two tasks of a gang, each on a machine of its own, which are billed; the second machine's id. */
static uint64_t stage_gang(struct stage *stage)
{
    stage_init_gangs(stage);
    stage_job(stage, 1, 2, true);
    stage_decide(stage, (struct script){ .rents = { 0, 0 },
                                         .rent_count = 2,
                                         .places = { { .task = 1 }, { .task = 2, .rent = 1 } },
                                         .place_count = 2 });
    stage_running(stage, stage_instance(stage, 1));
    stage_running(stage, stage_instance(stage, 0));
    stage->seen = stage->act_count;
    return stage_instance(stage, 0);
}

static void a_gang_is_placed_in_one_act_when_all_of_it_can_start(void **state)
{
    struct stage stage;

    (void)state;

    const uint64_t second = stage_gang(&stage);

    stage_ready(&stage, second);
    stage_no_acts(&stage);
    stage_ready(&stage, second - 1);
    stage_acts(&stage,
               "place 2 on %" PRIu64 ", one of 2; "
               "place 1 on %" PRIu64 ", one of 2; ",
               second, second - 1);
    assert_int_equal(stage_key(&stage, ACT_PLACE, 1), stage_key(&stage, ACT_PLACE, 2));
    stage_started(&stage, 1);
    stage_started(&stage, 2);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_state(&stage, 2), TASK_RUNNING);
    assert_int_equal(controller_stats(stage.controller)->late_events, 0);
    stage_done(&stage);
}

static void a_gang_waits_for_the_machine_that_was_refused(void **state)
{
    struct stage stage;

    (void)state;

    const uint64_t second = stage_gang(&stage);

    stage_gone(&stage, second, -1, 0);
    stage_ready(&stage, second - 1);
    stage_acts(&stage, "forget %" PRIu64 "; ", second); /* and nothing starts */
    stage_put(&stage, 2, second - 1);
    stage_acts(&stage,
               "place 2 on %" PRIu64 ", one of 2; "
               "place 1 on %" PRIu64 ", one of 2; ",
               second - 1, second - 1);
    stage_done(&stage);
}

static void a_gang_that_moves_starts_as_one_when_all_of_it_has_stopped(void **state)
{
    struct stage stage;

    (void)state;

    const uint64_t second = stage_gang(&stage);

    stage_ready(&stage, second);
    stage_ready(&stage, second - 1);
    stage_started(&stage, 1);
    stage_started(&stage, 2);
    stage.seen = stage.act_count;
    stage_put(&stage, 1, second);
    stage_acts(&stage, "stop 1; stop 2; ");
    stage_stopped(&stage, 1);
    stage_no_acts(&stage);
    stage_stopped(&stage, 2);
    stage_acts(&stage,
               "place 2 on %" PRIu64 ", one of 2; "
               "place 1 on %" PRIu64 ", one of 2; ",
               second, second);
    stage_done(&stage);
}

static void a_gang_of_which_one_ends_instead_of_stopping_starts_without_it(void **state)
{
    struct stage stage;

    (void)state;

    const uint64_t second = stage_gang(&stage);

    stage_ready(&stage, second);
    stage_ready(&stage, second - 1);
    stage_started(&stage, 1);
    stage_started(&stage, 2);
    stage_put(&stage, 1, second);
    stage_stopped(&stage, 1);
    stage.seen = stage.act_count;
    stage_finished(&stage, 2);
    stage_acts(&stage, "place 1 on %" PRIu64 ", one of 1; ", second);
    stage_done(&stage);
}

static void tasks_that_are_no_gang_are_placed_one_by_one(void **state)
{
    struct stage stage;

    (void)state;
    stage_init_gangs(&stage);
    stage_job(&stage, 1, 2, false);

    const uint64_t machine = stage_two_on(&stage, 0);

    stage_ready(&stage, machine);
    stage_acts(&stage, "place 1 on %" PRIu64 "; place 2 on %" PRIu64 "; ", machine, machine);
    stage_done(&stage);
}

/*
 * A job that changes.
 */

/* The job of stage_job with that first task has had so many tasks by now. */
static void stage_change(struct stage *stage, uint64_t first, uint32_t tasks, msec_t estimate_ms,
                         uint32_t priority)
{
    stage_engine(stage, (struct engine_event){
                            .kind = ENGINE_JOB_CHANGED,
                            .changes = CHANGE_PRIORITY | CHANGE_TASKS |
                                       (estimate_ms >= 0 ? CHANGE_ESTIMATE : 0U),
                            .job = { .id = 1000 + first,
                                     .first_task_id = first,
                                     .task_count = tasks,
                                     .estimate_ms = estimate_ms,
                                     .priority = priority },
                        });
}

static void a_job_that_grows_has_more_tasks_that_wait(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_decide(&stage, (struct script){ 0 });
    stage_change(&stage, 1, 3, -1, 7);
    assert_true(controller_wants_decision(stage.controller));
    assert_int_equal(stage_view(&stage)->task.living, 3);
    assert_int_equal(stage_view(&stage)->job.priority[0], 7);
    assert_int_equal(stage_view(&stage)->job.tasks_left[0], 3);
    assert_int_equal(stage_state(&stage, 2), TASK_WAITING);
    assert_int_equal(stage_view(&stage)->task.estimate_ms[1], STAGE_ESTIMATE_MS);
    stage_put(&stage, 3, machine);
    stage_acts(&stage, "place 3 on %" PRIu64 "; ", machine);
    stage_done(&stage);
}

static void a_task_that_has_ended_does_not_come_back_with_late_news(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_change(&stage, 1, 2, -1, 0);
    stage_finished(&stage, 2);
    stage_change(&stage, 1, 2, -1, 0); /* told twice */
    assert_int_equal(stage_view(&stage)->task.living, 1);
    stage_change(&stage, 1, 3, -1, 0);
    assert_int_equal(view_find_task(stage_view(&stage), 2), ROW_NONE);
    assert_int_equal(stage_state(&stage, 3), TASK_WAITING);
    stage_done(&stage);
}

static void a_job_of_which_tasks_leave_shrinks(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 2, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_task(&stage, ENGINE_TASK_WITHDRAWN, 1, 0);
    stage_no_acts(&stage); /* the engine ends the run by itself */
    assert_int_equal(stage_view(&stage)->job.task_count[0], 1);
    assert_true(stage.settled > 0); /* it paid for its time */
    stage_release(&stage, machine);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_task(&stage, ENGINE_TASK_WITHDRAWN, 2, 0);
    assert_int_equal(stage_view(&stage)->job.living, 0);
    stage_job(&stage, 1, 2, false); /* late news of a job that is over */
    assert_int_equal(stage_view(&stage)->job.living, 0);
    stage_done(&stage);
}

static void a_job_that_changes_its_estimate_is_expected_to_end_by_it(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 2, false);
    stage_change(&stage, 1, 2, 5000, 0);
    assert_int_equal(stage_view(&stage)->task.estimate_ms[0], 5000);
    assert_int_equal(stage_view(&stage)->task.estimate_ms[1], 5000);
    stage_change(&stage, 1, 2, INT64_MAX, 0);
    assert_int_equal(stage_view(&stage)->task.estimate_ms[1], MSEC_NEVER);
    stage_done(&stage);
}

static void a_change_that_cannot_be_is_ignored(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_job(&stage, 2, 1, false);
    stage_change(&stage, 1, 2, 5000, 3); /* its second task would be the other job's */
    stage_change(&stage, 9, 2, 5000, 3); /* nobody knows it */
    stage_change(&stage, 2, UINT32_MAX, 5000, 3);
    assert_int_equal(stage_view(&stage)->task.living, 2);
    assert_int_equal(stage_view(&stage)->job.priority[0], 0);
    assert_int_equal(controller_stats(stage.controller)->late_events, 3);
    assert_int_equal(controller_stats(stage.controller)->jobs_changed, 0);
    stage_done(&stage);
}

static void a_gang_does_not_wait_for_a_task_that_has_left_it(void **state)
{
    struct stage stage;

    (void)state;

    const uint64_t second = stage_gang(&stage);

    stage_ready(&stage, second - 1);
    stage_no_acts(&stage);
    stage_task(&stage, ENGINE_TASK_WITHDRAWN, 2, 0);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", second - 1);
    stage_done(&stage);
}

/*
 * A policy that remembers.
 */

static int memories; /* that live */

static void *remembering_create(void)
{
    memories++;
    return &memories;
}

static void remembering_destroy(void *memory)
{
    assert_ptr_equal(memory, &memories);
    memories--;
}

static void remembering_decide(const struct policy_input *in, struct plan *ret)
{
    assert_ptr_equal(in->memory, &memories);
    scripted_decide(in, ret);
}

static void a_policys_memory_is_never_handed_to_another(void **state)
{
    static const struct policy remembering = {
        .name = "remembering",
        .summary = "answers like the scripted one",
        .decide = remembering_decide,
        .memory_create = remembering_create,
        .memory_destroy = remembering_destroy,
    };
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage.config.policy = &remembering;
    controller_tune(stage.controller, &stage.config);
    assert_int_equal(memories, 1);
    stage_decide(&stage, (struct script){ 0 });
    controller_tune(stage.controller, &stage.config); /* the same keeps it */
    assert_int_equal(memories, 1);
    stage.config.policy = &scripted_policy;
    controller_tune(stage.controller, &stage.config);
    assert_int_equal(memories, 0);
    stage.config.policy = &remembering;
    controller_tune(stage.controller, &stage.config);
    stage_done(&stage);
    assert_int_equal(memories, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_engine_says_of_a_nodes_room_holds),
        cmocka_unit_test(what_the_engine_does_not_know_of_a_node_the_type_says),
        cmocka_unit_test(a_task_that_does_not_fit_a_smaller_node_waits_again),
        cmocka_unit_test(an_offer_whose_machines_hold_nothing_they_are_rented_for_is_left_alone),
        cmocka_unit_test(what_runs_on_a_node_that_shrinks_goes_on),
        cmocka_unit_test(a_task_whose_stop_is_refused_goes_on_where_it_is),
        cmocka_unit_test(it_is_not_moved_again_before_the_engine_lets_it),
        cmocka_unit_test(on_a_machine_that_is_taken_the_stop_is_asked_for_again),
        cmocka_unit_test(a_service_runs_on_until_its_new_machine_is_ready),
        cmocka_unit_test(the_stop_of_a_service_on_a_machine_that_was_let_go_is_asked_for_again),
        cmocka_unit_test(a_gang_of_which_one_stop_is_refused_is_not_moved),
        cmocka_unit_test(old_news_of_a_refusal_changes_nothing),
        cmocka_unit_test(a_gang_is_placed_in_one_act_when_all_of_it_can_start),
        cmocka_unit_test(a_gang_waits_for_the_machine_that_was_refused),
        cmocka_unit_test(a_gang_that_moves_starts_as_one_when_all_of_it_has_stopped),
        cmocka_unit_test(a_gang_of_which_one_ends_instead_of_stopping_starts_without_it),
        cmocka_unit_test(tasks_that_are_no_gang_are_placed_one_by_one),
        cmocka_unit_test(a_job_that_grows_has_more_tasks_that_wait),
        cmocka_unit_test(a_task_that_has_ended_does_not_come_back_with_late_news),
        cmocka_unit_test(a_job_of_which_tasks_leave_shrinks),
        cmocka_unit_test(a_job_that_changes_its_estimate_is_expected_to_end_by_it),
        cmocka_unit_test(a_change_that_cannot_be_is_ignored),
        cmocka_unit_test(a_gang_does_not_wait_for_a_task_that_has_left_it),
        cmocka_unit_test(a_policys_memory_is_never_handed_to_another),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
