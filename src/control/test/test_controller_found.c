/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller makes of tasks that run elsewhere than it asked, of machines that the engine
 * loses, of jobs that are withdrawn.
 */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

enum { FOUND_KEY = 900 };

static const struct controller_stats *stats_of(const struct stage *stage)
{
    return controller_stats(stage->controller);
}

static enum instance_state machine_state(const struct stage *stage, uint64_t instance)
{
    return (enum instance_state)stage_view(stage)
        ->instance.state[view_find_instance(stage_view(stage), instance)];
}

/* A machine of the offer that is ready, with task 100 on it. */
static uint64_t a_machine(struct stage *stage, uint32_t offer)
{
    const uint64_t task = 100 + stage->act_count;

    stage_job(stage, task, 1, false);

    const uint64_t machine = stage_launch(stage, task, offer);

    return machine;
}

TEST(a_task_that_waits_and_is_found_runs_there)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 0);

    stage_job(&stage, 1, 1, false);
    stage_found(&stage, 1, machine, stage.now - 500, FOUND_KEY);
    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stats_of(&stage)->found, 1);
    assert_int_equal(stats_of(&stage)->late_events, 0);
    assert_true(controller_wants_decision(stage.controller));

    /* Again: a mention. */
    stage_found(&stage, 1, machine, stage.now - 1500, FOUND_KEY);
    assert_int_equal(stats_of(&stage)->found, 1);

    /* Another key from now on. */
    stage_found(&stage, 1, machine, stage.now - 2500, FOUND_KEY + 1);
    stage_task(&stage, ENGINE_TASK_LOST, 1, FOUND_KEY);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_task(&stage, ENGINE_TASK_LOST, 1, FOUND_KEY + 1);
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    stage_done(&stage);
}

TEST(a_task_that_is_found_elsewhere_is_not_where_it_was_thought)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 0);

    stage_job(&stage, 1, 1, false);

    const uint64_t thought = stage_launch(&stage, 1, 1);

    stage_found(&stage, 1, machine, stage.now + 500, FOUND_KEY);
    assert_int_equal(stage_where(&stage, 1), machine);
    stage_release(&stage, thought); /* nothing is there */
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", thought, thought);
    stage_finished(&stage, 1);
    stage_gone_now(&stage, thought);
    stage_done(&stage);
}

static void ran_unheard(struct stage *stage, uint64_t task, uint64_t machine, msec_t from)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                               .task = task,
                                               .instance = machine,
                                               .key = FOUND_KEY + task,
                                               .started_at = from,
                                               .ended_at = stage->now });
}

/* Both begin and end while nobody listens; they share the machine with one more, and each pays a third. */
TEST(what_ran_and_ended_unheard_is_charged_for_its_time)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 0);
    const msec_t since = stage.now;
    const money_t before = stage.settled;

    stage.now += MSEC_PER_HOUR;
    stage_job(&stage, 1, 1, false);
    stage_job(&stage, 2, 1, false);
    ran_unheard(&stage, 1, machine, since);
    ran_unheard(&stage, 2, machine, since);
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    stage_finished(&stage, 1);

    const money_t third = stage.settled - before;

    stage_finished(&stage, 2);
    assert_in_range(third, STAGE_PRICE / 3, STAGE_PRICE / 3 + STAGE_PRICE / 360);
    assert_in_range(stage.settled - before - third, STAGE_PRICE / 3,
                    STAGE_PRICE / 3 + STAGE_PRICE / 360);
    assert_int_equal(view_find_task(stage_view(&stage), 1), ROW_NONE);
    assert_int_equal(controller_stats(stage.controller)->caught_up, 2);
    stage_done(&stage);
}

/* Nothing was heard of its start; and no second time where it was. */
TEST(what_ended_with_a_word_of_where_it_ran_is_charged_once)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 0);
    const msec_t since = stage.now;
    const money_t before = stage.settled;

    stage.now += MSEC_PER_HOUR;
    for (uint64_t task = 1; task <= 2; task++) {
        stage_job(&stage, task, 1, false);
        if (task == 2)
            ran_unheard(&stage, task, machine, since);
        stage_engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_FINISHED,
                                                    .task = task,
                                                    .instance = machine,
                                                    .started_at = since });
        assert_int_equal(view_find_task(stage_view(&stage), task), ROW_NONE);
    }
    assert_int_equal(controller_stats(stage.controller)->caught_up, 2);
    assert_in_range(stage.settled - before, 1, STAGE_PRICE + STAGE_PRICE / 100);
    stage_done(&stage);
}

TEST(a_task_that_is_found_on_a_machine_that_boots_makes_it_ready)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_job(&stage, 2, 1, false);
    (void)stage_move(&stage, 2, 0);

    const uint64_t machine = stage_instance(&stage, 0);

    stage_running(&stage, machine);
    stage.seen = stage.act_count;
    stage_found(&stage, 1, machine, stage.now, FOUND_KEY);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
    stage_acts(&stage, "place 2 on %" PRIu64 "; ", machine);
    stage_done(&stage);
}

TEST(who_is_on_the_way_gives_way_the_newest_first)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 0); /* room for three more */

    stage_job(&stage, 1, 3, false);
    stage_job(&stage, 10, 1, false);
    stage_decide(&stage, (struct script){ .places = { { .task = 1, .instance = machine },
                                                      { .task = 2, .instance = machine },
                                                      { .task = 3, .instance = machine } },
                                          .place_count = 3 });
    stage_started(&stage, 3);
    stage.seen = stage.act_count;
    stage_found(&stage, 10, machine, stage.now, FOUND_KEY);
    stage_acts(&stage, "cancel 2; ");
    assert_int_equal(stage_where(&stage, 10), machine);
    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(stage_where(&stage, 2), 0);
    assert_int_equal(stage_where(&stage, 3), machine);
    stage_cancelled(&stage, 2);
    stage_no_acts(&stage);
    stage_done(&stage);
}

static void spread_job(struct stage *stage, uint64_t first, uint32_t tasks)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1000 + first,
                                                        .first_task_id = first,
                                                        .task_count = tasks,
                                                        .spread = true,
                                                        .estimate_ms = -1 } });
}

TEST(a_task_that_is_found_beside_one_of_its_job_that_is_spread_runs_on)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 1);

    spread_job(&stage, 1, 3);
    stage_put(&stage, 1, machine);
    stage.seen = stage.act_count;
    stage_found(&stage, 2, machine, stage.now, FOUND_KEY);
    stage_acts(&stage, "cancel 1; "); /* it was only on the way */
    assert_int_equal(stage_where(&stage, 2), machine);
    stage_found(&stage, 3, machine, stage.now, FOUND_KEY + 1);
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 3), machine);
    assert_int_equal(stage_state(&stage, 3), TASK_RUNNING);
    stage_done(&stage);
}

TEST(a_task_that_is_found_beside_one_that_it_is_apart_from_runs_on)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 1);

    for (uint64_t task = 1; task <= 3; task++)
        stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                    .job = { .id = 1000 + task,
                                                             .first_task_id = task,
                                                             .task_count = 1,
                                                             .apart = 7,
                                                             .estimate_ms = -1 } });
    stage_put(&stage, 1, machine);
    stage.seen = stage.act_count;
    stage_found(&stage, 2, machine, stage.now, FOUND_KEY);
    stage_acts(&stage, "cancel 1; "); /* it was only on the way */
    assert_int_equal(stage_where(&stage, 2), machine);
    view_check(stage_view(&stage));
    stage_found(&stage, 3, machine, stage.now, FOUND_KEY + 1);
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 3), TASK_RUNNING);
    view_check(stage_view(&stage));
    stage_done(&stage);
}

static void now_apart(struct stage *stage, uint64_t task)
{
    stage_engine(stage, (struct engine_event){
                            .kind = ENGINE_JOB_CHANGED,
                            .changes = CHANGE_APART,
                            .job = { .id = 1000 + task, .first_task_id = task, .apart = 7 } });
}

TEST(what_is_on_its_way_goes_elsewhere_once_it_must_be_apart_from_what_runs_there)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 1);

    for (uint64_t task = 1; task <= 3; task++)
        stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                    .job = { .id = 1000 + task,
                                                             .first_task_id = task,
                                                             .task_count = 1,
                                                             .estimate_ms = -1 } });
    stage_found(&stage, 1, machine, stage.now, FOUND_KEY);
    stage_put(&stage, 2, machine);
    stage.seen = stage.act_count;
    now_apart(&stage, 1);
    stage_no_acts(&stage); /* the other one is of no group yet */
    now_apart(&stage, 2);
    stage_acts(&stage, "cancel 2; ");
    view_check(stage_view(&stage));
    /* What runs beside it runs on. */
    stage_found(&stage, 3, machine, stage.now, FOUND_KEY + 1);
    now_apart(&stage, 3);
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_state(&stage, 3), TASK_RUNNING);
    assert_true(stage_view(&stage)->instance.crowded[0]);
    view_check(stage_view(&stage));
    stage_done(&stage);
}

TEST(a_change_of_priority_leaves_all_else_as_it_was)
{
    struct stage stage;

    stage_init(&stage);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                .job = { .id = 1001,
                                                         .first_task_id = 1,
                                                         .task_count = 2,
                                                         .spread = true,
                                                         .estimate_ms = MSEC_PER_HOUR } });

    const uint32_t apart = stage_view(&stage)->job.apart[0];
    const msec_t estimate = stage_view(&stage)->task.estimate_ms[0];

    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_CHANGED,
                                                .changes = CHANGE_PRIORITY,
                                                .job = { .id = 1001, .priority = 9 } });
    assert_int_equal(stage_view(&stage)->job.priority[0], 9);
    assert_int_not_equal(apart, APART_NONE);
    assert_int_equal(stage_view(&stage)->job.apart[0], apart);
    assert_int_equal(stage_view(&stage)->task.estimate_ms[0], estimate);
    assert_int_equal(stage_view(&stage)->task.living, 2);
    stage_done(&stage);
}

TEST(a_task_that_runs_where_there_is_no_room_runs_on)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 0);

    stage_job(&stage, 1, 3, false);
    stage_job(&stage, 10, 1, false);
    stage_decide(&stage, (struct script){ .places = { { .task = 1, .instance = machine },
                                                      { .task = 2, .instance = machine },
                                                      { .task = 3, .instance = machine } },
                                          .place_count = 3 });
    for (uint64_t task = 1; task <= 3; task++)
        stage_started(&stage, task);
    stage.seen = stage.act_count;
    stage_found(&stage, 10, machine, stage.now, FOUND_KEY);
    stage_no_acts(&stage);
    assert_int_equal(stats_of(&stage)->misfits, 1);
    assert_int_equal(stage_where(&stage, 10), machine);
    assert_int_equal(stage_state(&stage, 10), TASK_RUNNING);
    view_check(stage_view(&stage));
    stage_finished(&stage, 1);
    assert_false(stage_view(&stage)->instance.crowded[0]);
    stage_finished(&stage, 10);
    stage_done(&stage);
}

TEST(a_task_that_is_found_on_a_machine_on_its_way_out_runs_to_its_end)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage, 0);

    stage_job(&stage, 1, 1, false);
    stage_found(&stage, 1, 12345, stage.now, FOUND_KEY);
    stage_found(&stage, 77, machine, stage.now, FOUND_KEY);
    stage_found(&stage, 1, machine, stage.now, 0);
    assert_int_equal(stats_of(&stage)->late_events, 3);

    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_NOTICE, .instance = machine, .may_stay = true });
    stage.seen = stage.act_count;
    stage_found(&stage, 1, machine, stage.now, FOUND_KEY);
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_finished(&stage, 100);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_DRAINING);
    stage_finished(&stage, 1);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_RETURNED);
    stage_done(&stage);
}

TEST(what_was_said_of_a_task_before_it_left_is_old_news)
{
    struct stage stage;
    struct engine_event old = { .kind = ENGINE_TASK_FOUND, .task = 1, .key = FOUND_KEY };

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    old.instance = stage_launch(&stage, 1, 0);
    old.at = stage.now;
    stage_lost(&stage, 1);
    controller_on_engine(stage.controller, &old);
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    assert_int_equal(stats_of(&stage)->late_events, 1);
    stage_done(&stage);
}

TEST(tasks_of_a_machine_that_the_engine_lost_wait_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_put(&stage, 2, machine);
    stage.seen = stage.act_count;
    for (uint32_t i = 0; i < 2; i++)
        stage_engine(&stage,
                     (struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = machine });
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_where(&stage, 2), 0);
    assert_int_equal(stats_of(&stage)->nodes_lost, 1);
    assert_int_equal(stats_of(&stage)->late_events, 1);
    stage_gone_now(&stage, machine);
    assert_int_equal(stage.billed, ledger_totals(controller_ledger(stage.controller))->sums.bill);
    stage_done(&stage);
}

static void close_machine(struct stage *stage, uint64_t machine)
{
    stage_engine(stage, (struct engine_event){
                            .kind = ENGINE_NODE_LOST, .instance = machine, .runs_on = true });
}

static enum instance_state state_of(const struct stage *stage, uint64_t machine)
{
    const struct view *view = stage_view(stage);

    return (enum instance_state)view->instance.state[view_find_instance(view, machine)];
}

TEST(what_runs_on_a_machine_that_is_closed_goes_on_and_nothing_else_begins)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_put(&stage, 2, machine);
    stage.seen = stage.act_count;
    close_machine(&stage, machine);
    close_machine(&stage, machine);
    stage_acts(&stage, "cancel 2; ");
    assert_int_equal(state_of(&stage, machine), INSTANCE_DRAINING);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_where(&stage, 2), 0);
    stage_cancelled(&stage, 2);

    stage_ready(&stage, machine); /* it takes work again */
    assert_int_equal(state_of(&stage, machine), INSTANCE_READY);
    assert_true(controller_wants_decision(stage.controller));
    stage_put(&stage, 2, machine);
    stage_acts(&stage, "place 2 on %" PRIu64 "; ", machine);
    stage_started(&stage, 2);
    stage_finished(&stage, 2);

    close_machine(&stage, machine);
    stage_finished(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_ready(&stage, machine);
    assert_int_equal(state_of(&stage, machine), INSTANCE_RETURNED);
    stage_done(&stage);
}

/* Slurm drains the node at which a prolog failed, and puts the job back. */
TEST(a_task_that_is_lost_at_once_on_a_machine_that_was_closed_for_it_is_held_back)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.place_retry_ms = 7000;
    controller_tune(stage.controller, &stage.config);
    stage_job(&stage, 1, 1, false);
    close_machine(&stage, stage_launch(&stage, 1, 0));
    stage_lost(&stage, 1);
    assert_int_equal(controller_wait_of(stage.controller, 0).not_before, stage.now + 7000);
    stage_done(&stage);
}

TEST(a_closed_machine_that_will_be_taken_away_is_left_at_once)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    close_machine(&stage, machine);
    stage_no_acts(&stage);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage_acts(&stage, "stop 1; retire %" PRIu64 "; ", machine);
    stage_ready(&stage, machine);
    assert_int_equal(state_of(&stage, machine), INSTANCE_DRAINING);
    stage_stopped(&stage, 1);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage_no_acts(&stage);
    stage_done(&stage);
}

TEST(a_job_that_is_withdrawn_leaves_and_may_come_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 2, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    for (uint32_t i = 0; i < 2; i++)
        stage_engine(&stage,
                     (struct engine_event){ .kind = ENGINE_JOB_WITHDRAWN, .job = { .id = 1001 } });
    stage_no_acts(&stage);
    assert_int_equal(stage_view(&stage)->job.living, 0);
    assert_int_equal(stats_of(&stage)->jobs_withdrawn, 1);
    assert_int_equal(stats_of(&stage)->late_events, 1);
    stage_job(&stage, 1, 2, false);
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    stage_release(&stage, machine);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_done(&stage);
}

CHECK_MAIN(RUN(a_task_that_waits_and_is_found_runs_there),
           RUN(a_task_that_is_found_elsewhere_is_not_where_it_was_thought),
           RUN(what_ran_and_ended_unheard_is_charged_for_its_time),
           RUN(what_ended_with_a_word_of_where_it_ran_is_charged_once),
           RUN(a_task_that_is_found_on_a_machine_that_boots_makes_it_ready),
           RUN(who_is_on_the_way_gives_way_the_newest_first),
           RUN(a_task_that_is_found_beside_one_of_its_job_that_is_spread_runs_on),
           RUN(a_task_that_is_found_beside_one_that_it_is_apart_from_runs_on),
           RUN(what_is_on_its_way_goes_elsewhere_once_it_must_be_apart_from_what_runs_there),
           RUN(a_change_of_priority_leaves_all_else_as_it_was),
           RUN(a_task_that_runs_where_there_is_no_room_runs_on),
           RUN(a_task_that_is_found_on_a_machine_on_its_way_out_runs_to_its_end),
           RUN(what_was_said_of_a_task_before_it_left_is_old_news),
           RUN(tasks_of_a_machine_that_the_engine_lost_wait_again),
           RUN(what_runs_on_a_machine_that_is_closed_goes_on_and_nothing_else_begins),
           RUN(a_task_that_is_lost_at_once_on_a_machine_that_was_closed_for_it_is_held_back),
           RUN(a_closed_machine_that_will_be_taken_away_is_left_at_once),
           RUN(a_job_that_is_withdrawn_leaves_and_may_come_again))
