/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a plan is not carried out, and what is queued at the engine instead.
 */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

enum { FOUND_KEY = 900, RETRY_MS = 5000 };

static const struct controller_stats *stats_of(const struct stage *stage)
{
    return controller_stats(stage->controller);
}

static enum instance_state machine_state(const struct stage *stage, uint64_t instance)
{
    return (enum instance_state)stage_view(stage)
        ->instance.state[view_find_instance(stage_view(stage), instance)];
}

static enum controller_limit limit_of(const struct stage *stage, uint64_t task)
{
    return controller_wait_of(stage->controller, view_find_task(stage_view(stage), task)).limit;
}

static enum plan_wait_rule rule_of(const struct stage *stage, uint64_t task)
{
    return controller_wait_of(stage->controller, view_find_task(stage_view(stage), task)).rule;
}

static void tune(struct stage *stage)
{
    controller_tune(stage->controller, &stage->config);
}

/* Three machines for tasks 1, 2 and 3. */
static const struct script three = {
    .rents = { 0, 1, 0 },
    .rent_count = 3,
    .places = { { .task = 1 }, { .task = 2, .rent = 1 }, { .task = 3, .rent = 2 } },
    .place_count = 3,
};

TEST(rents_above_the_number_of_machines_are_dropped)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.max_instances = 2;
    tune(&stage);
    stage_job(&stage, 1, 3, false);
    stage_decide(&stage, three);
    stage_acts(&stage, "rent 1 of 0; rent 2 of 1; ");
    assert_int_equal(stage_where(&stage, 3), 0);
    assert_int_equal(stats_of(&stage)->limited, 1);
    assert_int_equal(limit_of(&stage, 2), LIMIT_NONE);
    assert_int_equal(limit_of(&stage, 3), LIMIT_INSTANCES);
    assert_int_equal(rule_of(&stage, 2), WAIT_NONE); /* it has a machine */
    assert_int_equal(rule_of(&stage, 3), WAIT_LIMIT);
    assert_false(controller_wants_decision(stage.controller));
    assert_int_equal(controller_next_wake(stage.controller), MSEC_NEVER);

    /* Room again: what was dropped is looked at again. */
    stage_running(&stage, 1);
    stage_ready(&stage, 1);
    stage_started(&stage, 1);
    stage_finished(&stage, 1);
    stage_release(&stage, 1);
    assert_false(controller_wants_decision(stage.controller));
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 3 } },
                                          .place_count = 1 });
    stage_gone_now(&stage, 1);
    assert_true(controller_wants_decision(stage.controller));
    stage_done(&stage);
}

TEST(rents_above_the_price_of_all_are_dropped)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.max_price_per_hour = (money_t)2 * STAGE_PRICE;
    tune(&stage);
    stage_job(&stage, 1, 3, false);
    stage_decide(&stage, three);
    assert_int_equal(stats_of(&stage)->rented, 2);
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 3 } },
                                          .place_count = 1 });
    assert_int_equal(stats_of(&stage)->rented, 2);
    assert_int_equal(stats_of(&stage)->limited, 2);
    assert_int_equal(limit_of(&stage, 3), LIMIT_PRICE);
    assert_int_equal(controller_price_per_hour(stage.controller), 2 * STAGE_PRICE);

    /* A decision that does not speak of it has not limited it. */
    stage_decide(&stage, (struct script){ .rent_count = 0 });
    assert_int_equal(limit_of(&stage, 3), LIMIT_NONE);
    stage_done(&stage);
}

TEST(nothing_is_rented_when_nothing_shall_be)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.rent_nothing = true;
    tune(&stage);
    stage_job(&stage, 1, 3, false);
    stage_decide(&stage, three);
    stage_no_acts(&stage);
    assert_int_equal(limit_of(&stage, 1), LIMIT_NO_RENT);
    stage_done(&stage);
}

TEST(a_rent_that_the_budget_does_not_pay_the_minimum_of_is_not_made)
{
    struct stage stage;

    stage_init(&stage);

    const struct view *view = stage_view(&stage);
    const money_t two = controller_first_charge(view->catalogue, 0, view->now) +
                        controller_first_charge(view->catalogue, 1, view->now);

    assert_true(two > 0);
    controller_set_budget(stage.controller, true, two);
    stage_job(&stage, 1, 3, false);
    stage_decide(&stage, three);
    stage_acts(&stage, "rent 1 of 0; rent 2 of 1; ");
    assert_int_equal(limit_of(&stage, 2), LIMIT_NONE);
    assert_int_equal(limit_of(&stage, 3), LIMIT_BUDGET);
    stage_done(&stage);
}

TEST(a_budget_that_is_spent_or_there_again_is_decided_about)
{
    static const struct script nothing = { .rent_count = 0 };
    struct stage stage;

    stage_init(&stage);
    stage_decide(&stage, nothing);
    assert_false(controller_wants_decision(stage.controller));
    controller_set_budget(stage.controller, true, 10);
    assert_false(controller_wants_decision(stage.controller));
    controller_set_budget(stage.controller, true, 0);
    assert_true(controller_wants_decision(stage.controller));
    stage_decide(&stage, nothing);
    controller_set_budget(stage.controller, true, -5);
    assert_false(controller_wants_decision(stage.controller));
    controller_set_budget(stage.controller, false, 0);
    assert_true(controller_wants_decision(stage.controller));
    stage_done(&stage);
}

TEST(a_gang_is_dropped_as_a_whole_and_the_next_gets_its_room)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.max_instances = 1;
    tune(&stage);
    stage_job(&stage, 1, 2, true);
    stage_job(&stage, 3, 1, false);
    stage_decide(&stage, three);
    stage_acts(&stage, "rent 1 of 0; ");
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_where(&stage, 2), 0);
    assert_int_equal(stage_where(&stage, 3), 1);

    /* The first of the gang would have had its machine: it waits for the other. */
    assert_int_equal(limit_of(&stage, 1), LIMIT_INSTANCES);
    assert_int_equal(limit_of(&stage, 2), LIMIT_INSTANCES);
    assert_int_equal(rule_of(&stage, 1), WAIT_LIMIT);
    assert_int_equal(rule_of(&stage, 2), WAIT_LIMIT);
    assert_int_equal(limit_of(&stage, 3), LIMIT_NONE);
    stage_done(&stage);
}

TEST(a_gang_is_dropped_with_its_places_on_machines_that_there_are)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 5, 1, false);

    const uint64_t machine = stage_launch(&stage, 5, 1);

    stage.config.max_instances = 1;
    tune(&stage);
    stage_job(&stage, 1, 2, true);
    stage_decide(&stage,
                 (struct script){ .rents = { 0 },
                                  .rent_count = 1,
                                  .places = { { .task = 1, .instance = machine }, { .task = 2 } },
                                  .place_count = 2 });
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), 0);
    stage_done(&stage);
}

TEST(a_gang_that_no_limit_allows_leaves_its_room_to_the_next)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 9, 1, false);

    const uint64_t machine = stage_launch(&stage, 9, 0);

    stage.config.max_instances = 2;
    tune(&stage);
    stage_job(&stage, 1, 3, true);
    stage_job(&stage, 4, 2, true);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .rents = { 1, 1, 1, 1 },
                                          .rent_count = 4,
                                          .places = { { .task = 1, .rent = 0 },
                                                      { .task = 2, .rent = 1 },
                                                      { .task = 3, .rent = 2 },
                                                      { .task = 4, .instance = machine },
                                                      { .task = 5, .rent = 3 } },
                                          .place_count = 5 });
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_where(&stage, 2), 0);
    assert_int_equal(stage_where(&stage, 4), machine);
    assert_int_not_equal(stage_where(&stage, 5), 0);
    stage_done(&stage);
}

TEST(empty_machines_go_back_for_a_gang_that_is_partly_above_a_limit)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 9, 1, false);

    const uint64_t machine = stage_launch(&stage, 9, 0);

    stage_finished(&stage, 9);
    stage.config.max_instances = 2;
    tune(&stage);
    stage_job(&stage, 1, 2, true);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .rents = { 1, 1 },
                                          .rent_count = 2,
                                          .places = { { .task = 1 }, { .task = 2, .rent = 1 } },
                                          .place_count = 2 });
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_not_equal(machine_state(&stage, machine), INSTANCE_READY);
    stage_done(&stage);
}

TEST(who_would_have_taken_the_room_of_a_move_is_dropped_with_it)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 4, false);
    stage_job(&stage, 10, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_decide(&stage, (struct script){ .places = { { .task = 2, .instance = machine },
                                                      { .task = 3, .instance = machine },
                                                      { .task = 4, .instance = machine } },
                                          .place_count = 3 });
    for (uint64_t task = 2; task <= 4; task++)
        stage_started(&stage, task);
    stage.seen = stage.act_count;
    stage.config.max_instances = 1;
    tune(&stage);
    stage_decide(&stage,
                 (struct script){ .rents = { 1 },
                                  .rent_count = 1,
                                  .places = { { .task = 10, .instance = machine }, { .task = 1 } },
                                  .place_count = 2 });
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(stage_where(&stage, 10), 0);
    stage_done(&stage);
}

TEST(who_would_come_to_where_one_of_its_job_stays_is_dropped)
{
    struct stage stage;

    stage_init(&stage);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                .job = { .id = 1001,
                                                         .first_task_id = 1,
                                                         .task_count = 2,
                                                         .spread = true,
                                                         .estimate_ms = -1 } });

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage.config.max_instances = 1;
    tune(&stage);
    stage_decide(&stage,
                 (struct script){ .rents = { 1 },
                                  .rent_count = 1,
                                  .places = { { .task = 2, .instance = machine }, { .task = 1 } },
                                  .place_count = 2 });
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 2), 0);
    stage_done(&stage);
}

/* A job of one task that keeps apart from the others of the kind. */
static void apart_job(struct stage *stage, uint64_t task)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1000 + task,
                                                        .first_task_id = task,
                                                        .task_count = 1,
                                                        .apart = 7,
                                                        .estimate_ms = STAGE_ESTIMATE_MS } });
}

TEST(who_would_come_to_where_one_stays_that_it_is_apart_from_is_dropped)
{
    struct stage stage;

    stage_init(&stage);
    apart_job(&stage, 1);
    apart_job(&stage, 2);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage.config.max_instances = 1;
    tune(&stage);
    stage_decide(&stage,
                 (struct script){ .rents = { 1 },
                                  .rent_count = 1,
                                  .places = { { .task = 2, .instance = machine }, { .task = 1 } },
                                  .place_count = 2 });
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 2), 0);
    stage_done(&stage);
}

TEST(a_machine_is_not_released_when_its_task_stays)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage.config.max_instances = 1;
    tune(&stage);
    stage_decide(&stage, (struct script){ .rents = { 1 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1,
                                          .releases = { machine },
                                          .release_count = 1 });
    stage_no_acts(&stage);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
    stage_done(&stage);
}

/*
 * Patience.
 */

TEST(a_task_that_was_lost_before_it_started_is_held_back_longer_each_time)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.place_retry_ms = RETRY_MS;
    tune(&stage);
    stage_job(&stage, 5, 1, false);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 5, 1);

    for (msec_t wait = RETRY_MS; wait <= (msec_t)2 * RETRY_MS; wait *= 2) {
        stage_put(&stage, 1, machine);
        stage_lost(&stage, 1);

        const msec_t until = stage.now + wait;

        stage.seen = stage.act_count;
        stage_put(&stage, 1, machine);
        stage_no_acts(&stage);
        assert_int_equal(controller_next_wake(stage.controller), until);
        assert_false(controller_wants_decision(stage.controller));
        stage.now = until - 1000;
    }
    stage_put(&stage, 1, machine);
    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(controller_next_wake(stage.controller), MSEC_NEVER);
    assert_int_equal(stats_of(&stage)->held_back, 2);
    stage_done(&stage);
}

TEST(no_machine_is_rented_for_a_task_that_is_held_back)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.place_retry_ms = RETRY_MS;
    tune(&stage);
    stage_job(&stage, 5, 1, false);
    stage_job(&stage, 1, 1, false);
    stage_put(&stage, 1, stage_launch(&stage, 5, 1));
    stage_lost(&stage, 1);
    stage.seen = stage.act_count;
    (void)stage_move(&stage, 1, 0);
    stage_no_acts(&stage);
    stage_done(&stage);
}

TEST(a_machine_on_which_nothing_starts_is_given_back)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.place_retry_ms = 1;
    tune(&stage);
    stage_job(&stage, 5, 1, false);
    stage_job(&stage, 1, 4, false);

    const uint64_t machine = stage_launch(&stage, 5, 1);

    for (uint64_t task = 1; task <= 3; task++) {
        assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
        stage_put(&stage, task, machine);
        if (task == 3)
            stage_put(&stage, 4, machine);
        stage_lost(&stage, task);
    }
    assert_int_equal(machine_state(&stage, machine), INSTANCE_DRAINING);
    assert_int_equal(stage_where(&stage, 5), machine); /* what runs there may end */
    assert_int_equal(stage_where(&stage, 4), 0);
    stage_cancelled(&stage, 4);
    stage_finished(&stage, 5);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_RETURNED);
    assert_int_equal(stats_of(&stage)->bad_machines, 1);
    stage_done(&stage);
}

/* Its node has as many pods as it takes, say. */
TEST(a_placement_that_nobody_is_to_blame_for_is_tried_again_and_closes_no_machine)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.place_retry_ms = RETRY_MS;
    tune(&stage);
    stage_job(&stage, 5, 1, false);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 5, 1);

    for (int i = 0; i < 5; i++) {
        stage_put(&stage, 1, machine);
        stage_engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_LOST,
                                                    .task = 1,
                                                    .key = stage_key(&stage, ACT_PLACE, 1),
                                                    .is_faultless = true });

        const msec_t until = stage.now + RETRY_MS; /* never later than that */

        stage.seen = stage.act_count;
        stage_put(&stage, 1, machine);
        stage_no_acts(&stage);
        assert_int_equal(controller_next_wake(stage.controller), until);
        stage.now = until - 1000;
    }
    assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
    assert_int_equal(stats_of(&stage)->bad_machines, 0);
    assert_int_equal(stats_of(&stage)->places_lost, 0);
    stage_done(&stage);
}

/* A prolog that fails wherever it runs, say. */
TEST(a_task_that_is_lost_as_soon_as_it_runs_is_held_back_longer_each_time)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.place_retry_ms = RETRY_MS;
    tune(&stage);
    stage_job(&stage, 1, 1, false);
    for (msec_t wait = RETRY_MS; wait <= (msec_t)4 * RETRY_MS; wait *= 2) {
        (void)stage_launch(&stage, 1, 1);
        stage_lost(&stage, 1);
        assert_int_equal(controller_wait_of(stage.controller, 0).not_before, stage.now + wait);
        stage.now += wait;
    }
    (void)stage_launch(&stage, 1, 1);
    stage.now += 60 * MSEC_PER_SEC; /* this run lasts, so the next failure is the first again */
    stage_lost(&stage, 1);
    assert_true(controller_wait_of(stage.controller, 0).not_before < stage.now);
    stage_put(&stage, 1, stage_instance(&stage, 0));
    stage_lost(&stage, 1);
    assert_int_equal(controller_wait_of(stage.controller, 0).not_before, stage.now + RETRY_MS);
    assert_int_equal(controller_wait_of(stage.controller, 0).losses, 1);
    stage_done(&stage);
}

TEST(a_task_whose_machine_is_taken_away_is_not_held_back)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.place_retry_ms = RETRY_MS;
    tune(&stage);
    stage_job(&stage, 1, 1, false);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE,
                                              .instance = stage_launch(&stage, 1, 1) });
    stage_lost(&stage, 1);
    assert_int_equal(controller_wait_of(stage.controller, 0).not_before, 0);
    stage_gone_now(&stage, stage_launch(&stage, 1, 1));
    stage_lost(&stage, 1);
    assert_int_equal(controller_wait_of(stage.controller, 0).not_before, 0);
    assert_int_equal(stats_of(&stage)->places_lost, 0);
    stage_done(&stage);
}

TEST(a_machine_on_which_every_run_is_lost_at_once_is_given_back)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.place_retry_ms = 1;
    tune(&stage);
    stage_job(&stage, 1, 6, false);

    const uint64_t machine = stage_launch(&stage, 1, 1);

    stage_finished(&stage, 1);
    for (uint64_t task = 2; task <= 5; task++) {
        assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
        stage_put(&stage, task, machine);
        stage_started(&stage, task);
        if (task == 3)
            stage_finished(&stage, task); /* the row starts over */
        else
            stage_lost(&stage, task);
    }
    stage_put(&stage, 6, machine);
    stage_started(&stage, 6);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
    stage_lost(&stage, 6);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_RETURNED);
    stage_done(&stage);
}

TEST(a_machine_that_is_not_ready_in_time_is_given_back_and_its_offer_left_alone)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.boot_timeout_ms = 60000;
    tune(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_move(&stage, 1, 0);

    const uint64_t machine = stage_instance(&stage, 0);
    const msec_t due = stage.now + 60000;

    assert_int_equal(controller_next_wake(stage.controller), due);
    stage_running(&stage, machine);
    stage.seen = stage.act_count;
    controller_decide(stage.controller, due - 1);
    stage_no_acts(&stage);
    controller_decide(stage.controller, due);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_view(&stage)->offer_blocked_until[0], due + STAGE_BLOCK_MS);
    assert_int_equal(stats_of(&stage)->boot_timeouts, 1);
    assert_true(controller_next_wake(stage.controller) > due);
    stage_done(&stage);
}

TEST(a_machine_that_was_not_asked_for_yet_is_not_late)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.boot_timeout_ms = 60000;
    tune(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_move(&stage, 1, 0);

    const uint64_t machine = stage_instance(&stage, 0);
    const msec_t due = stage.now + 60000;

    stage.seen = stage.act_count;
    controller_rent_waits(stage.controller, machine, due);
    controller_decide(stage.controller, due);
    stage_no_acts(&stage);
    assert_int_equal(controller_next_wake(stage.controller), due + 60000);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_REQUESTED);
    assert_int_equal(stats_of(&stage)->boot_timeouts, 0);
    stage_done(&stage);
}

TEST(a_rent_that_is_withdrawn_is_planned_anew_at_once)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.boot_timeout_ms = 60000;
    tune(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_move(&stage, 1, 0);
    stage.seen = stage.act_count;
    controller_rent_withdrawn(stage.controller, stage_instance(&stage, 0), stage.now);

    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    assert_int_equal(stage_view(&stage)->offer_blocked_until[0], 0);
    assert_true(controller_wants_decision(stage.controller));
    stage_done(&stage);
}

TEST(a_machine_that_runs_is_not_withdrawn)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_move(&stage, 1, 0);

    const uint64_t machine = stage_instance(&stage, 0);

    stage_running(&stage, machine);
    controller_rent_withdrawn(stage.controller, machine, stage.now);
    assert_int_equal(stage_where(&stage, 1), machine);
    stage_done(&stage);
}

/*
 * Queued at the engine.
 */

static uint64_t queue_scene(struct stage *stage)
{
    stage_init(stage);
    stage->config.queue_ahead_ms = STAGE_ESTIMATE_MS;
    stage->config.queue_ahead_most = 2;
    tune(stage);
    stage_job(stage, 50, 1, false);

    const uint64_t machine = stage_launch(stage, 50, 0);

    return machine;
}

TEST(short_tasks_that_wait_are_queued_up_to_a_number)
{
    struct stage stage;
    const uint64_t machine = queue_scene(&stage);

    stage_job(&stage, 1, 2, true); /* a gang is not */
    stage_job(&stage, 3, 1, true); /* a gang of one is a task */
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                .job = { .id = 9,
                                                         .first_task_id = 9,
                                                         .task_count = 1,
                                                         .estimate_ms = STAGE_ESTIMATE_MS + 1 } });
    stage_job(&stage, 4, 2, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "queue 3; queue 4; ");
    assert_int_equal(rule_of(&stage, 3), WAIT_ENGINE);
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    assert_int_equal(controller_queued(stage.controller), 2);
    stage_found(&stage, 4, machine, stage.now, FOUND_KEY);
    assert_int_equal(controller_queued(stage.controller), 1);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "queue 5; ");
    stage_finished(&stage, 5);
    stage_engine(&stage,
                 (struct engine_event){ .kind = ENGINE_JOB_WITHDRAWN, .job = { .id = 1003 } });
    assert_int_equal(controller_queued(stage.controller), 0);
    stage_done(&stage);
}

TEST(a_task_that_must_be_apart_from_those_of_other_jobs_is_not_queued)
{
    struct stage stage;

    (void)queue_scene(&stage);
    apart_job(&stage, 1);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                .job = { .id = 1002,
                                                         .first_task_id = 2,
                                                         .task_count = 1,
                                                         .spread = true,
                                                         .estimate_ms = STAGE_ESTIMATE_MS } });
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "queue 2; "); /* it is the only one of its job */
    stage_done(&stage);
}

TEST(nothing_is_queued_where_no_machine_could_run_it)
{
    struct stage stage;
    const uint64_t machine = queue_scene(&stage);

    stage_finished(&stage, 50);
    stage_release(&stage, machine);
    stage_job(&stage, 1, 1, false);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage_done(&stage);
}

TEST(a_queued_task_is_the_engines_and_no_plan_places_it)
{
    struct stage stage;
    const uint64_t machine = queue_scene(&stage);

    stage_job(&stage, 1, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "queue 1; ");
    stage_put(&stage, 1, machine);
    stage_no_acts(&stage);
    assert_int_equal(stage_where(&stage, 1), 0);

    const uint64_t fresh = stage_move(&stage, 1, 1);

    stage_acts(&stage, "rent %" PRIu64 " of 1; ", fresh);
    assert_int_equal(controller_queued(stage.controller), 1);
    stage_running(&stage, fresh);
    stage_ready(&stage, fresh);
    stage_acts(&stage, "admit %" PRIu64 "; ", fresh); /* the engine starts it there by itself */
    assert_int_equal(controller_queued(stage.controller), 1);
    assert_int_equal(stage_where(&stage, 1), 0);
    stage_found(&stage, 1, fresh, stage.now, FOUND_KEY);
    assert_int_equal(controller_queued(stage.controller), 0);
    assert_int_equal(stage_where(&stage, 1), fresh);
    stage_done(&stage);
}

TEST(a_queued_task_that_the_engine_overlooks_is_taken_back_and_placed)
{
    struct stage stage;
    const uint64_t machine = queue_scene(&stage);

    stage_job(&stage, 1, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "queue 1; ");
    stage_finished(&stage, 50); /* now the machine is empty */
    stage_put(&stage, 1, machine);
    stage_no_acts(&stage);
    assert_true(controller_next_wake(stage.controller) <= stage.now + 5000);
    stage.now += 5000;
    stage_put(&stage, 1, machine);
    stage_acts(&stage, "cancel 1; ");
    stage_put(&stage, 1, machine); /* not before the engine has let go of it */
    stage_no_acts(&stage);
    stage_cancelled(&stage, 1);
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", machine);
    stage_started(&stage, 1);
    assert_int_equal(stage_where(&stage, 1), machine);
    stage_done(&stage);
}

TEST(a_queued_task_may_start_while_its_new_machine_boots)
{
    struct stage stage;
    const uint64_t machine = queue_scene(&stage);

    stage_job(&stage, 1, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    (void)stage_move(&stage, 1, 1);
    stage_found(&stage, 1, machine, stage.now, FOUND_KEY);
    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(controller_queued(stage.controller), 0);
    stage_done(&stage);
}

TEST(a_machine_that_a_queued_task_may_use_is_not_released)
{
    struct stage stage;
    const uint64_t machine = queue_scene(&stage);

    stage_job(&stage, 1, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_finished(&stage, 50);
    stage_release(&stage, machine);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
    stage_found(&stage, 1, machine, stage.now, FOUND_KEY);
    stage_finished(&stage, 1);
    stage_release(&stage, machine);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_RETURNED);
    stage_done(&stage);
}

/* Nothing is bound to it, so that a policy may take it for one that nobody needs. */
TEST(a_machine_that_was_rented_for_a_queued_task_is_not_released_while_it_boots)
{
    struct stage stage;

    (void)queue_scene(&stage);
    stage_job(&stage, 1, 1, false);
    stage_decide(&stage, (struct script){ 0 });

    const uint64_t fresh = stage_move(&stage, 1, 1);

    stage_release(&stage, fresh);
    assert_int_equal(machine_state(&stage, fresh), INSTANCE_REQUESTED);
    stage_running(&stage, fresh);
    stage_release(&stage, fresh);
    assert_int_equal(machine_state(&stage, fresh), INSTANCE_BOOTING);
    stage_done(&stage);
}

CHECK_MAIN(RUN(rents_above_the_number_of_machines_are_dropped),
           RUN(rents_above_the_price_of_all_are_dropped),
           RUN(nothing_is_rented_when_nothing_shall_be),
           RUN(a_rent_that_the_budget_does_not_pay_the_minimum_of_is_not_made),
           RUN(a_budget_that_is_spent_or_there_again_is_decided_about),
           RUN(a_gang_is_dropped_as_a_whole_and_the_next_gets_its_room),
           RUN(a_gang_is_dropped_with_its_places_on_machines_that_there_are),
           RUN(a_gang_that_no_limit_allows_leaves_its_room_to_the_next),
           RUN(empty_machines_go_back_for_a_gang_that_is_partly_above_a_limit),
           RUN(who_would_have_taken_the_room_of_a_move_is_dropped_with_it),
           RUN(who_would_come_to_where_one_of_its_job_stays_is_dropped),
           RUN(who_would_come_to_where_one_stays_that_it_is_apart_from_is_dropped),
           RUN(a_machine_is_not_released_when_its_task_stays),
           RUN(a_task_that_was_lost_before_it_started_is_held_back_longer_each_time),
           RUN(no_machine_is_rented_for_a_task_that_is_held_back),
           RUN(a_machine_on_which_nothing_starts_is_given_back),
           RUN(a_placement_that_nobody_is_to_blame_for_is_tried_again_and_closes_no_machine),
           RUN(a_task_that_is_lost_as_soon_as_it_runs_is_held_back_longer_each_time),
           RUN(a_task_whose_machine_is_taken_away_is_not_held_back),
           RUN(a_machine_on_which_every_run_is_lost_at_once_is_given_back),
           RUN(a_machine_that_is_not_ready_in_time_is_given_back_and_its_offer_left_alone),
           RUN(short_tasks_that_wait_are_queued_up_to_a_number),
           RUN(a_task_that_must_be_apart_from_those_of_other_jobs_is_not_queued),
           RUN(nothing_is_queued_where_no_machine_could_run_it),
           RUN(a_queued_task_is_the_engines_and_no_plan_places_it),
           RUN(a_queued_task_that_the_engine_overlooks_is_taken_back_and_placed),
           RUN(a_queued_task_may_start_while_its_new_machine_boots),
           RUN(a_machine_that_was_not_asked_for_yet_is_not_late),
           RUN(a_rent_that_is_withdrawn_is_planned_anew_at_once),
           RUN(a_machine_that_runs_is_not_withdrawn),
           RUN(a_machine_that_a_queued_task_may_use_is_not_released),
           RUN(a_machine_that_was_rented_for_a_queued_task_is_not_released_while_it_boots))
