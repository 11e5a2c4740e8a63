/* SPDX-License-Identifier: Apache-2.0 */
/* The cloud says that it will take a machine: what becomes of what runs there, and of its replacement. */
#include "control/test/doubles.h"

enum { NOTICE_MS = 120000, MARGIN_MS = 5000 };

static void stage_notice(struct stage *stage, uint64_t instance, msec_t after)
{
    stage_cloud(stage, (struct cloud_event){ .kind = CLOUD_NOTICE,
                                             .instance = instance,
                                             .until = stage->now + 1000 + after });
}

/* A job of one task that says how long it takes, and perhaps must not be moved. */
static void stage_long_job(struct stage *stage, uint64_t task, msec_t estimate_ms, bool fixed)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1000 + task,
                                                        .first_task_id = task,
                                                        .task_count = 1,
                                                        .fixed = fixed,
                                                        .estimate_ms = estimate_ms } });
}

static void stage_wake(struct stage *stage)
{
    stage->now = controller_next_wake(stage->controller) - 1000;
    stage_decide(stage, (struct script){ 0 });
}

TEST(what_ends_before_the_machine_is_taken_goes_on)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, STAGE_ESTIMATE_MS + 10000);
    stage_acts(&stage, "retire %" PRIu64 "; ", machine); /* nothing follows it */
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_where(&stage, 1), machine);
    stage_finished(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_done(&stage);
}

TEST(what_should_have_ended_is_stopped_before_the_machine_is_taken)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, STAGE_ESTIMATE_MS + 10000);
    stage.seen = stage.act_count;
    const msec_t wake = controller_next_wake(stage.controller);

    assert_int_equal(wake, stage.now + STAGE_ESTIMATE_MS + 10000 - MARGIN_MS);
    stage.now = wake - 2000;
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "stop 1; ");
    assert_int_equal(controller_stats(stage.controller)->noticed, 1);
    stage_done(&stage);
}

TEST(a_deadline_in_the_past_is_now)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_cloud(&stage,
                (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine, .until = 1 });
    stage_acts(&stage, "stop 1; retire %" PRIu64 "; ", machine);
    assert_int_equal(stage_view(&stage)->instance.deadline[0], stage.now);
    stage_done(&stage);
}

TEST(what_does_not_end_in_time_runs_on_until_its_replacement_is_ready)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, NOTICE_MS);
    stage_acts(&stage, "retire %" PRIu64 "; ", machine);
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING); /* for the next decision */
    const uint64_t other = stage_move(&stage, 1, 1);

    stage_acts(&stage, "rent %" PRIu64 " of 1; ", other); /* and no stop */
    stage_decide(&stage, (struct script){ 0 });           /* nothing is rented twice */
    stage_running(&stage, other);
    stage_acts(&stage, "admit %" PRIu64 "; ", other);
    stage_ready(&stage, other);
    stage_acts(&stage, "stop %d; ", 1);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; place 1 on %" PRIu64 "; give back %" PRIu64 "; ",
               machine, other, machine);
    assert_int_equal(controller_stats(stage.controller)->rented, 2);
    assert_int_equal(controller_stats(stage.controller)->evicted[EVICTED_BY_NOTICE], 1);
    stage_done(&stage);
}

TEST(without_a_place_it_is_stopped_while_it_can_be_saved)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.stop_ms = 10000;
    stage.shapes.rows[0].delays = (struct shape_delays){ .kill_ms = 2000, .upload_ms = 3000 };
    stage_restart(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, NOTICE_MS);
    stage.seen = stage.act_count;
    const msec_t deadline = stage.now + NOTICE_MS;

    assert_int_equal(controller_next_wake(stage.controller), deadline - 15000 - MARGIN_MS);
    stage.now = deadline - 15000 - MARGIN_MS - 2000;
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "stop %d; ", 1);
    /* It has run all that time. */
    assert_true(stage_view(&stage)->task.executed_ms[0] >= NOTICE_MS - 20000);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_done(&stage);
}

TEST(what_goes_to_a_machine_that_is_ready_moves_at_once)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    stage_long_job(&stage, 2, 3600000, false);
    const uint64_t other = stage_launch(&stage, 2, 0);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, NOTICE_MS);
    stage.seen = stage.act_count;
    stage_put(&stage, 1, other);
    stage_acts(&stage, "stop %d; ", 1);
    stage_done(&stage);
}

TEST(what_cannot_be_saved_in_time_or_must_not_be_moved_is_left_until_the_machine_is_gone)
{
    for (uint32_t fixed = 0; fixed < 2; fixed++) {
        struct stage stage;

        stage_init(&stage);
        stage.config.stop_ms = fixed ? 0 : NOTICE_MS + 1;
        stage_restart(&stage);
        stage_long_job(&stage, 1, 3600000, fixed);
        const uint64_t machine = stage_launch(&stage, 1, 0);

        stage_notice(&stage, machine, NOTICE_MS);
        stage_acts(&stage, "retire %" PRIu64 "; ", machine);
        assert_int_equal(stage_where(&stage, 1), machine);
        assert_int_equal(controller_next_wake(stage.controller), MSEC_NEVER);
        stage.now += NOTICE_MS;
        stage_decide(&stage, (struct script){ 0 });
        stage_no_acts(&stage);
        stage_gone_now(&stage, machine);
        stage_acts(&stage, "forget %" PRIu64 "; ", machine);
        assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
        assert_true(controller_wants_decision(stage.controller));
        stage_done(&stage);
    }
}

TEST(what_must_not_be_moved_is_left_alone_even_if_nobody_knows_when)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 3600000, true);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage_acts(&stage, "retire %" PRIu64 "; ", machine);
    stage_finished(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_done(&stage);
}

TEST(work_without_an_end_comes_before_other_work)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    stage_long_job(&stage, 2, MSEC_NEVER, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_put(&stage, 2, machine);
    stage_started(&stage, 2);
    stage_notice(&stage, machine, NOTICE_MS);
    const struct view *view = stage_view(&stage);

    assert_int_equal(view->task.id[view->task.waiting_first], 2);
    assert_int_equal(view->task.waiting_count, 2);
    stage_done(&stage);
}

/* At risk it may stay: only what would never leave goes, when its replacement is ready. */
TEST(work_without_an_end_leaves_a_machine_at_risk_when_its_replacement_is_ready)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, MSEC_NEVER, false);
    stage_long_job(&stage, 2, MSEC_NEVER, true);
    stage_long_job(&stage, 3, MSEC_PER_HOUR, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_decide(&stage, (struct script){ .places = { { .task = 2, .instance = machine },
                                                      { .task = 3, .instance = machine } },
                                          .place_count = 2 });
    stage_started(&stage, 2);
    stage_started(&stage, 3);
    stage.seen = stage.act_count;
    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_NOTICE, .instance = machine, .may_stay = true });
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_where(&stage, 2), machine);
    assert_int_equal(stage_where(&stage, 3), machine);
    stage.now += 10 * MSEC_PER_HOUR; /* nothing is to be had */
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1 });
    const uint64_t other = stage_instance(&stage, 0);

    stage_acts(&stage, "rent %" PRIu64 " of 0; ", other);
    stage_running(&stage, other);
    stage.seen = stage.act_count;
    stage_ready(&stage, other);
    stage_acts(&stage, "stop 1; ");
    stage_stopped(&stage, 1);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", other);
    stage_started(&stage, 1);
    assert_int_equal(stage_where(&stage, 2), machine);
    stage_done(&stage);
}

TEST(work_leaves_a_machine_at_risk_if_more_would_be_lost_than_the_move_costs)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 10 * MSEC_PER_HOUR, false);
    stage_long_job(&stage, 2, 2 * 60 * MSEC_PER_SEC, false); /* ends soon */
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t its = stage_launch(&stage, 2, 0);

    stage.seen = stage.act_count;
    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_NOTICE, .instance = machine, .may_stay = true });
    stage_cloud(&stage,
                (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = its, .may_stay = true });
    stage_no_acts(&stage); /* both run on */
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_where(&stage, 2), its);

    const uint64_t other = stage_move(&stage, 1, 1);

    stage_running(&stage, other);
    stage.seen = stage.act_count;
    stage_ready(&stage, other);
    stage_acts(&stage, "stop 1; ");
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; place 1 on %" PRIu64 "; give back %" PRIu64 "; ",
               machine, other, machine);
    stage_done(&stage);
}

TEST(a_machine_that_is_gone_early_sends_what_waited_to_its_place)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, NOTICE_MS);
    const uint64_t other = stage_move(&stage, 1, 1);

    stage_lost(&stage, 1); /* the engine speaks first */
    stage_gone_now(&stage, machine);
    assert_int_equal(stage_where(&stage, 1), other);
    stage_running(&stage, other);
    stage.seen = stage.act_count;
    stage_ready(&stage, other);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", other);
    assert_int_equal(controller_stats(stage.controller)->places_lost, 0);
    stage_done(&stage);
}

TEST(a_list_that_names_it_where_it_lingers_changes_nothing)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t key = stage_key(&stage, ACT_PLACE, 1);

    stage_notice(&stage, machine, NOTICE_MS);
    const uint64_t other = stage_move(&stage, 1, 1);

    stage.seen = stage.act_count;
    stage_found(&stage, 1, machine, stage.now, key);
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), other);
    stage_done(&stage);
}

TEST(it_may_end_while_its_replacement_boots)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, NOTICE_MS);
    const uint64_t other = stage_move(&stage, 1, 1);

    stage.seen = stage.act_count;
    stage_finished(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_release(&stage, other);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", other, other);
    stage_done(&stage);
}

TEST(a_replacement_counts_in_the_limit_with_what_it_replaces)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.max_instances = 1;
    stage_restart(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, NOTICE_MS);
    stage.seen = stage.act_count;
    (void)stage_move(&stage, 1, 1);
    stage_no_acts(&stage); /* no room for another, and it runs on */
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    stage_wake(&stage);
    stage_acts(&stage, "stop %d; ", 1);
    stage_stopped(&stage, 1);
    stage_gone_now(&stage, machine);
    stage.seen = stage.act_count;
    stage_acts(&stage, "%s", "");
    const uint64_t other = stage_move(&stage, 1, 1);

    stage_acts(&stage, "rent %" PRIu64 " of 1; ", other);
    stage_done(&stage);
}

/* Two tasks of a gang, each on a machine of its own; returns that of the second. */
static uint64_t stage_gang(struct stage *stage, uint64_t *ret_first)
{
    stage_init_gangs(stage);
    stage_job(stage, 1, 2, true);
    stage_decide(stage, (struct script){ .rents = { 0, 0 },
                                         .rent_count = 2,
                                         .places = { { .task = 1 }, { .task = 2, .rent = 1 } },
                                         .place_count = 2 });
    for (uint32_t back = 0; back < 2; back++) {
        stage_running(stage, stage_instance(stage, back));
        stage_ready(stage, stage_instance(stage, back));
    }
    stage_started(stage, 1);
    stage_started(stage, 2);
    stage->seen = stage->act_count;
    *ret_first = stage_instance(stage, 1);
    return stage_instance(stage, 0);
}

TEST(a_gang_runs_on_as_a_whole_until_all_of_it_can_start_again)
{
    struct stage stage;
    uint64_t machine;
    const uint64_t second = stage_gang(&stage, &machine);

    stage_notice(&stage, machine, STAGE_ESTIMATE_MS - 10000);
    const uint64_t other = stage_move(&stage, 1, 1);

    stage_acts(&stage, "retire %" PRIu64 "; rent %" PRIu64 " of 1; ", machine, other);
    stage_running(&stage, other);
    stage.seen = stage.act_count;
    stage_ready(&stage, other);
    stage_acts(&stage, "stop 1; stop %d; ", 2);
    stage_stopped(&stage, 2);
    stage_no_acts(&stage);
    stage_stopped(&stage, 1);
    stage_acts(&stage,
               "retire %" PRIu64 "; place 2 on %" PRIu64 ", one of 2; place 1 on %" PRIu64
               ", one of 2; give back %" PRIu64 "; ",
               machine, second, other, machine);
    stage_done(&stage);
}

TEST(a_gang_whose_replacement_is_late_is_stopped_as_a_whole)
{
    struct stage stage;
    uint64_t machine;

    (void)stage_gang(&stage, &machine);
    stage_notice(&stage, machine, STAGE_ESTIMATE_MS - 10000);
    (void)stage_move(&stage, 1, 1);
    stage.seen = stage.act_count;
    stage_wake(&stage);
    stage_acts(&stage, "stop 1; stop %d; ", 2);
    stage_done(&stage);
}

TEST(a_gang_that_loses_its_machine_early_is_stopped_as_a_whole)
{
    struct stage stage;
    uint64_t machine;

    (void)stage_gang(&stage, &machine);
    stage_notice(&stage, machine, STAGE_ESTIMATE_MS - 10000);
    (void)stage_move(&stage, 1, 1);
    stage.seen = stage.act_count;
    stage_gone_now(&stage, machine);
    stage_acts(&stage, "forget %" PRIu64 "; stop 2; ", machine);
    stage_done(&stage);
}

TEST(a_notice_that_comes_again_may_change_the_deadline)
{
    struct stage stage;

    stage_init(&stage);
    stage_long_job(&stage, 1, 3600000, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_notice(&stage, machine, NOTICE_MS);
    stage_notice(&stage, machine, 30000);
    assert_int_equal(controller_next_wake(stage.controller), stage.now + 30000 - MARGIN_MS);
    assert_int_equal(controller_stats(stage.controller)->noticed, 1);
    stage.seen = stage.act_count;
    stage_wake(&stage);
    stage_acts(&stage, "stop %d; ", 1);
    stage_done(&stage);
}

CHECK_MAIN(RUN(what_ends_before_the_machine_is_taken_goes_on),
           RUN(what_should_have_ended_is_stopped_before_the_machine_is_taken),
           RUN(a_deadline_in_the_past_is_now),
           RUN(what_does_not_end_in_time_runs_on_until_its_replacement_is_ready),
           RUN(without_a_place_it_is_stopped_while_it_can_be_saved),
           RUN(what_goes_to_a_machine_that_is_ready_moves_at_once),
           RUN(what_cannot_be_saved_in_time_or_must_not_be_moved_is_left_until_the_machine_is_gone),
           RUN(what_must_not_be_moved_is_left_alone_even_if_nobody_knows_when),
           RUN(work_without_an_end_comes_before_other_work),
           RUN(work_without_an_end_leaves_a_machine_at_risk_when_its_replacement_is_ready),
           RUN(work_leaves_a_machine_at_risk_if_more_would_be_lost_than_the_move_costs),
           RUN(a_machine_that_is_gone_early_sends_what_waited_to_its_place),
           RUN(a_list_that_names_it_where_it_lingers_changes_nothing),
           RUN(it_may_end_while_its_replacement_boots),
           RUN(a_replacement_counts_in_the_limit_with_what_it_replaces),
           RUN(a_gang_runs_on_as_a_whole_until_all_of_it_can_start_again),
           RUN(a_gang_whose_replacement_is_late_is_stopped_as_a_whole),
           RUN(a_gang_that_loses_its_machine_early_is_stopped_as_a_whole),
           RUN(a_notice_that_comes_again_may_change_the_deadline))
