/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The brake: what is rented while machines prove bad.
 */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

static const struct controller_stats *stats_of(const struct stage *stage)
{
    return controller_stats(stage->controller);
}

static enum controller_limit limit_of(const struct stage *stage, uint64_t task)
{
    return controller_wait_of(stage->controller, view_find_task(stage_view(stage), task)).limit;
}

/* Three machines for tasks 1, 2 and 3. */
static const struct script three = {
    .rents = { 0, 1, 0 },
    .rent_count = 3,
    .places = { { .task = 1 }, { .task = 2, .rent = 1 }, { .task = 3, .rent = 2 } },
    .place_count = 3,
};

static void tune(struct stage *stage)
{
    controller_tune(stage->controller, &stage->config);
}

enum { BOOT_MS = 60000 };

static void boot_scene(struct stage *stage, uint32_t tasks, bool gang)
{
    stage_init(stage);
    stage->config.boot_timeout_ms = BOOT_MS;
    tune(stage);
    stage_job(stage, 1, tasks, gang);
}

/* Nothing that was asked for becomes ready. */
static void wait_in_vain(struct stage *stage)
{
    stage->now += 2 * BOOT_MS;
    stage_decide(stage, (struct script){ .rent_count = 0 });
    stage->seen = stage->act_count;
}

static msec_t blocked_for(const struct stage *stage, uint32_t offer)
{
    return stage_view(stage)->offer_blocked_until[offer] - stage->now;
}

TEST(an_offer_of_which_nothing_becomes_ready_is_left_alone_twice_as_long_each_time)
{
    static const msec_t length[] = { 300000, 600000, 1200000, 2400000, 3600000, 3600000 };
    struct stage stage;

    boot_scene(&stage, 1, false);
    for (uint32_t i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
        (void)stage_move(&stage, 1, 0);
        wait_in_vain(&stage);
        assert_int_equal(blocked_for(&stage, 0), length[i]);
        stage.now += length[i];
    }

    /* One that becomes ready is the end of it. */
    stage_gone(&stage, stage_launch(&stage, 1, 0), 5000, 6000);
    (void)stage_move(&stage, 1, 0);
    wait_in_vain(&stage);
    assert_int_equal(blocked_for(&stage, 0), STAGE_BLOCK_MS);
    stage_done(&stage);
}

TEST(machines_that_were_asked_for_together_are_one_failure_of_their_offer)
{
    struct stage stage;

    boot_scene(&stage, 3, false);
    stage_decide(&stage, three); /* two of offer 0, one of offer 1 */
    wait_in_vain(&stage);
    assert_int_equal(stats_of(&stage)->boot_timeouts, 3);
    assert_int_equal(blocked_for(&stage, 0), STAGE_BLOCK_MS);
    assert_int_equal(blocked_for(&stage, 1), STAGE_BLOCK_MS);
    stage_done(&stage);
}

TEST(when_three_machines_did_not_become_ready_one_is_tried_at_a_time)
{
    struct stage stage;

    boot_scene(&stage, 3, false);
    stage_decide(&stage, three);
    assert_int_equal(controller_failed_boots(stage.controller), 0);
    wait_in_vain(&stage);
    assert_int_equal(controller_failed_boots(stage.controller), 3);

    stage_decide(&stage, three);
    const uint64_t probe = stage_instance(&stage, 0);

    stage_acts(&stage, "rent %" PRIu64 " of 0; ", probe);
    assert_int_equal(stage_where(&stage, 1), probe);
    assert_int_equal(limit_of(&stage, 1), LIMIT_NONE);
    assert_int_equal(limit_of(&stage, 2), LIMIT_PROBE);
    assert_int_equal(limit_of(&stage, 3), LIMIT_PROBE);
    assert_int_equal(stats_of(&stage)->unproven, 2);
    assert_int_equal(stats_of(&stage)->limited, 0); /* none that somebody has set */

    /* While it is on its way, nothing else is asked for, and it is not let go of. */
    stage_finished(&stage, 1);
    stage_decide(&stage, (struct script){ .rents = { 1 },
                                          .rent_count = 1,
                                          .places = { { .task = 2 } },
                                          .place_count = 1,
                                          .releases = { probe },
                                          .release_count = 1 });
    stage_no_acts(&stage);

    stage_running(&stage, probe);
    stage_ready(&stage, probe);
    assert_true(controller_wants_decision(stage.controller));
    assert_int_equal(controller_failed_boots(stage.controller), 0);
    stage_decide(&stage, (struct script){ .rents = { 0, 1 },
                                          .rent_count = 2,
                                          .places = { { .task = 2 }, { .task = 3, .rent = 1 } },
                                          .place_count = 2 });
    assert_int_equal(stats_of(&stage)->rented, 3 + 1 + 2);
    stage_done(&stage);
}

TEST(a_gang_that_needs_several_machines_does_not_keep_one_from_being_tried)
{
    const struct script two = { .rents = { 0, 1 },
                                .rent_count = 2,
                                .places = { { .task = 1 }, { .task = 2, .rent = 1 } },
                                .place_count = 2 };
    struct stage stage;

    boot_scene(&stage, 2, true);
    for (uint32_t i = 0; i < 2; i++) {
        stage_decide(&stage, two);
        wait_in_vain(&stage);
    }
    stage_decide(&stage, two);
    const uint64_t probe = stage_instance(&stage, 0);

    stage_acts(&stage, "rent %" PRIu64 " of 0; ", probe);
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(limit_of(&stage, 1), LIMIT_PROBE);
    stage_decide(&stage, two);
    stage_no_acts(&stage);
    stage_running(&stage, probe);
    stage_ready(&stage, probe);
    stage_decide(&stage, two);
    assert_int_equal(stats_of(&stage)->rented, 2 + 2 + 1 + 2);
    stage_done(&stage);
}

/* A prolog that fails: the engine puts the task back and closes the machine. */
static void fail_start(struct stage *stage, uint64_t task, uint64_t machine)
{
    stage_running(stage, machine);
    stage_ready(stage, machine);
    stage_started(stage, task);
    stage_lost(stage, task);
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = machine });
    stage_gone_now(stage, machine);
}

TEST(machines_on_which_nothing_starts_are_tried_one_at_a_time_with_growing_waits)
{
    struct stage stage;
    const struct script six = {
        .rents = { 0, 0, 0, 0, 0, 0 },
        .rent_count = 6,
        .places = { { .task = 1, .rent = 0 },
                    { .task = 2, .rent = 1 },
                    { .task = 3, .rent = 2 },
                    { .task = 4, .rent = 3 },
                    { .task = 5, .rent = 4 },
                    { .task = 6, .rent = 5 } },
        .place_count = 6,
    };

    boot_scene(&stage, 6, false);
    stage.config.starts_slowly = true;
    stage.config.place_retry_ms = 1;
    tune(&stage);
    stage_decide(&stage, six);
    assert_int_equal(stats_of(&stage)->rented, 4); /* nothing has proved good yet */

    const uint64_t last = stage_instance(&stage, 0);

    for (uint64_t i = 0; i < 4; i++)
        fail_start(&stage, 1 + i, last - 3 + i);
    assert_int_equal(controller_brake(stage.controller).failed_starts,
                     3); /* the fourth is no probe */
    stage_decide(&stage, six);
    assert_int_equal(stats_of(&stage)->rented, 4);
    assert_int_equal(controller_wait_of(stage.controller, 0).limit, LIMIT_PROBE);
    assert_true(controller_next_wake(stage.controller) > stage.now);

    /* Another process goes on where this one was. */
    stage.config.brake = controller_brake(stage.controller);
    stage_restart(&stage);
    for (uint64_t task = 1; task <= 6; task++)
        stage_job(&stage, task, 1, false);
    stage_decide(&stage, six);
    assert_int_equal(stats_of(&stage)->rented, 0);
    stage.now = controller_brake(stage.controller).not_before;
    stage_decide(&stage, six);
    assert_int_equal(stats_of(&stage)->rented, 1);

    /* It proves good: a task runs there to its end. */
    const uint64_t probe = stage_instance(&stage, 0);

    stage_running(&stage, probe);
    stage_ready(&stage, probe);
    stage_started(&stage, 1);
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(controller_brake(stage.controller).failed_starts, 3);
    assert_int_equal(controller_failed_starts(stage.controller), 3);
    assert_int_equal(controller_failed_boots(stage.controller), 0); /* they have booted */
    stage_finished(&stage, 1);
    assert_int_equal(controller_failed_starts(stage.controller), 0);
    assert_int_equal(controller_brake(stage.controller).failed_starts, 0);
    assert_true(controller_brake(stage.controller).is_proven);
    stage_done(&stage);
}

/* Four that were asked for together fail in one moment: that is no reason to wait for longer than for three. */
TEST(the_wait_doubles_with_each_probe_that_fails)
{
    const struct script four = { .rents = { 0, 0, 0, 0 },
                                 .rent_count = 4,
                                 .places = { { .task = 1, .rent = 0 },
                                             { .task = 2, .rent = 1 },
                                             { .task = 3, .rent = 2 },
                                             { .task = 4, .rent = 3 } },
                                 .place_count = 4 };
    struct stage stage;

    boot_scene(&stage, 4, false);
    stage.config.starts_slowly = true;
    tune(&stage);
    stage_decide(&stage, four);
    for (msec_t wait = 60000; wait <= 240000; wait *= 2) {
        wait_in_vain(&stage);
        assert_int_equal(controller_brake(stage.controller).not_before, stage.now + wait);
        stage.now += wait;
        stage_decide(&stage, four); /* one of them */
    }
    assert_int_equal(stats_of(&stage)->boot_timeouts, 4 + 2);
    assert_int_equal(stats_of(&stage)->rented, 4 + 3);
    stage_done(&stage);
}

/* Where to be ready is proof, the first one ends the slow start; starts that fail bring it back. */
TEST(a_machine_that_is_ready_is_proof_where_the_engine_says_so)
{
    for (int proves = 0; proves < 2; proves++) {
        struct stage stage;

        boot_scene(&stage, 6, false);
        stage.config.starts_slowly = true;
        stage.config.ready_proves = proves == 1;
        stage.config.place_retry_ms = 1;
        tune(&stage);

        const uint64_t first = stage_launch(&stage, 1, 0);

        assert_int_equal(controller_brake(stage.controller).is_proven, proves);
        stage_decide(&stage, (struct script){ .rents = { 0, 0, 0, 0, 0 }, .rent_count = 5 });
        assert_int_equal(stats_of(&stage)->rented, proves == 1 ? 6 : 4);
        stage_lost(&stage, 1);
        stage_engine(&stage, (struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = first });
        assert_int_equal(controller_brake(stage.controller).failed_starts, 1);
        stage_done(&stage);
    }
}

TEST(a_machine_that_is_lost_with_its_tasks_or_whose_task_runs_proves_nothing_bad)
{
    struct stage stage;

    boot_scene(&stage, 2, false);
    stage.config.starts_slowly = true;
    stage.config.place_retry_ms = 1;
    tune(&stage);

    const uint64_t taken = stage_launch(&stage, 1, 0);

    stage_gone_now(&stage, taken); /* by the cloud */
    assert_int_equal(controller_brake(stage.controller).failed_starts, 0);

    const uint64_t good = stage_launch(&stage, 2, 0);

    stage.now += 10 * MSEC_PER_SEC;
    stage_decide(&stage, (struct script){ 0 });
    assert_true(controller_brake(stage.controller).is_proven);
    stage_lost(&stage, 2);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = good });
    assert_int_equal(controller_brake(stage.controller).failed_starts, 0);
    stage_done(&stage);
}

TEST(an_offer_that_was_blocked_when_a_drain_began_is_asked_for_after_it)
{
    struct stage stage;

    boot_scene(&stage, 1, false);
    stage.config.refused_block_ms = BOOT_MS;
    tune(&stage);
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1 });
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED,
                                              .instance = stage_instance(&stage, 0) });
    stage_decide(&stage, (struct script){ .rent_count = 0 });

    const msec_t until = controller_next_wake(stage.controller);

    assert_true(until < MSEC_NEVER);
    controller_drain(stage.controller, stage.now);
    assert_int_equal(controller_next_wake(stage.controller), until);
    stage.now = until;
    controller_drain(stage.controller, stage.now);
    assert_int_equal(controller_next_wake(stage.controller), MSEC_NEVER);
    stage_done(&stage);
}

TEST(a_drain_waits_for_no_machine)
{
    struct stage stage;

    boot_scene(&stage, 1, false);
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1 });
    assert_true(controller_next_wake(stage.controller) < MSEC_NEVER);
    controller_drain(stage.controller, stage.now);

    assert_int_equal(controller_next_wake(stage.controller), MSEC_NEVER);
    stage_done(&stage);
}

TEST(machines_that_fail_beside_one_that_becomes_ready_stop_nothing)
{
    const struct script four = { .rents = { 0, 0, 0, 0 },
                                 .rent_count = 4,
                                 .places = { { .task = 1 },
                                             { .task = 2, .rent = 1 },
                                             { .task = 3, .rent = 2 },
                                             { .task = 4, .rent = 3 } },
                                 .place_count = 4 };
    struct stage stage;

    boot_scene(&stage, 4, false);
    stage_decide(&stage, four);
    stage_running(&stage, stage_instance(&stage, 0));
    stage_ready(&stage, stage_instance(&stage, 0));
    wait_in_vain(&stage);
    assert_int_equal(stats_of(&stage)->boot_timeouts, 3);
    assert_int_equal(controller_failed_boots(stage.controller), 0);
    stage_done(&stage);
}

/*
 * Machines of an earlier process.
 */

/* It was asked for long ago; with 'was_ready' it took work. */
static void inherit_scene(struct stage *stage, bool was_ready)
{
    boot_scene(stage, 1, false);
    stage->now += 10 * BOOT_MS;
    stage->kept_instance = was_ready ? 40 : 0;
    stage->kept = (struct ledger_account){ .from = 600, .until = 700, .is_ready = true };
    controller_remember(stage->controller, 40, 0, 500, stage->now);
}

/* Lists that name the job alone, and the machine if 'is_named'; then what is due is decided. */
static void hear_lists(struct stage *stage, bool is_named)
{
    stage_audit(stage);
    if (is_named)
        stage_machine_found(stage, 40, 600, 0);
    stage_listed(stage, ACT_LIST_MACHINES);
    stage_job(stage, 1, 1, false);
    stage_listed(stage, ACT_LIST_WORK);
    for (int i = 0; i < 2; i++)
        stage_decide(stage, (struct script){ .rent_count = 0 });
    assert_true(controller_next_wake(stage->controller) > stage->now);
}

static uint8_t state_of_40(const struct stage *stage)
{
    const struct view *view = stage_view(stage);

    return view->instance.state[view_find_instance(view, 40)];
}

static void assert_no_failed_boot(const struct stage *stage)
{
    assert_int_equal(stats_of(stage)->boot_timeouts, 0);
    assert_int_equal(controller_brake(stage->controller).failed_boots, 0);
    assert_int_equal(stage_view(stage)->offer_blocked_until[0], 0);
}

TEST(a_machine_that_was_ready_before_a_restart_has_not_failed_to_boot)
{
    for (int is_named = 0; is_named < 2; is_named++) {
        struct stage stage;

        inherit_scene(&stage, true);
        hear_lists(&stage, is_named == 1); /* and the engine does not know its node yet */
        assert_int_equal(state_of_40(&stage), is_named ? INSTANCE_BOOTING : INSTANCE_REQUESTED);
        assert_no_failed_boot(&stage);
        stage.now += BOOT_MS / 2;
        hear_lists(&stage, true);
        stage_ready(&stage, 40);
        assert_int_equal(state_of_40(&stage), INSTANCE_READY);
        stage_done(&stage);
    }
}

TEST(a_machine_that_was_ready_before_a_restart_and_never_answers_goes_back)
{
    struct stage stage;

    inherit_scene(&stage, true);
    hear_lists(&stage, true);
    stage.now += 2 * BOOT_MS;
    hear_lists(&stage, true);
    assert_int_equal(state_of_40(&stage), INSTANCE_RETURNED);
    assert_int_equal(stats_of(&stage)->nodes_lost, 1);
    assert_no_failed_boot(&stage);
    stage_done(&stage);
}

/* The cloud's lists lack them, and the engine does not know their nodes: two are enough, and then there is nothing to doubt. */
TEST(machines_that_went_before_a_restart_have_not_failed_to_boot)
{
    for (int was_ready = 0; was_ready < 2; was_ready++) {
        struct stage stage;

        inherit_scene(&stage, was_ready == 1);
        for (uint64_t id = 41; id < 45; id++)
            controller_remember(stage.controller, id, 0, 500, stage.now);
        hear_lists(&stage, false);
        assert_int_equal(state_of_40(&stage), INSTANCE_REQUESTED);
        assert_true(controller_doubts(stage.controller));
        hear_lists(&stage, false);
        assert_int_equal(state_of_40(&stage), INSTANCE_RETURNED);
        assert_int_equal(stats_of(&stage)->vanished, 5);
        assert_no_failed_boot(&stage);
        hear_lists(&stage, false);
        assert_false(controller_doubts(stage.controller));
        stage_done(&stage);
    }
}

/* It was asked for a moment before the restart, and may come yet. */
TEST(a_machine_that_was_asked_for_just_before_a_restart_has_its_time)
{
    struct stage stage;

    boot_scene(&stage, 1, false);
    controller_remember(stage.controller, 40, 0, stage.now, stage.now);
    for (int i = 0; i < 3; i++)
        hear_lists(&stage, false);
    assert_int_equal(state_of_40(&stage), INSTANCE_REQUESTED);
    assert_no_failed_boot(&stage);
    stage_done(&stage);
}

/* Nobody knows whether it was ready. */
TEST(a_machine_that_is_late_after_a_restart_has_a_minute_to_be_heard_of)
{
    for (int is_heard = 0; is_heard < 2; is_heard++) {
        struct stage stage;

        inherit_scene(&stage, false);

        const msec_t began = stage.now;

        hear_lists(&stage, true);
        assert_int_equal(state_of_40(&stage), INSTANCE_BOOTING);
        assert_no_failed_boot(&stage);
        assert_int_equal(controller_next_wake(stage.controller), began + 60000);
        stage.now = began + 59999 - 1000; /* a decision takes a second */
        stage_decide(&stage, (struct script){ .rent_count = 0 });
        assert_no_failed_boot(&stage);
        if (is_heard == 1)
            stage_ready(&stage, 40);
        stage.now = began + 60000 - 1000;
        stage_decide(&stage, (struct script){ .rent_count = 0 });
        assert_int_equal(stats_of(&stage)->boot_timeouts, is_heard == 1 ? 0 : 1);
        assert_int_equal(controller_brake(stage.controller).failed_boots, is_heard == 1 ? 0 : 1);
        stage_done(&stage);
    }
}

/* It was there when the cloud was asked, and is gone before the engine has said what it knows. */
TEST(a_machine_that_goes_before_the_engine_was_asked_has_not_failed_to_boot)
{
    for (int is_asked = 0; is_asked < 2; is_asked++) {
        struct stage stage;

        inherit_scene(&stage, false);
        stage_audit(&stage);
        stage_machine_found(&stage, 40, 600, 0);
        stage_listed(&stage, ACT_LIST_MACHINES);
        if (is_asked == 1)
            stage_listed(&stage, ACT_LIST_WORK);
        stage_gone(&stage, 40, 600, stage.now);
        assert_int_equal(controller_brake(stage.controller).failed_boots, is_asked);
        stage_done(&stage);
    }
}

CHECK_MAIN(RUN(an_offer_of_which_nothing_becomes_ready_is_left_alone_twice_as_long_each_time),
           RUN(machines_that_were_asked_for_together_are_one_failure_of_their_offer),
           RUN(when_three_machines_did_not_become_ready_one_is_tried_at_a_time),
           RUN(a_gang_that_needs_several_machines_does_not_keep_one_from_being_tried),
           RUN(machines_on_which_nothing_starts_are_tried_one_at_a_time_with_growing_waits),
           RUN(the_wait_doubles_with_each_probe_that_fails),
           RUN(a_machine_that_is_ready_is_proof_where_the_engine_says_so),
           RUN(a_machine_that_is_lost_with_its_tasks_or_whose_task_runs_proves_nothing_bad),
           RUN(an_offer_that_was_blocked_when_a_drain_began_is_asked_for_after_it),
           RUN(a_drain_waits_for_no_machine),
           RUN(machines_that_fail_beside_one_that_becomes_ready_stop_nothing),
           RUN(a_machine_that_was_ready_before_a_restart_has_not_failed_to_boot),
           RUN(a_machine_that_was_ready_before_a_restart_and_never_answers_goes_back),
           RUN(machines_that_went_before_a_restart_have_not_failed_to_boot),
           RUN(a_machine_that_was_asked_for_just_before_a_restart_has_its_time),
           RUN(a_machine_that_is_late_after_a_restart_has_a_minute_to_be_heard_of),
           RUN(a_machine_that_goes_before_the_engine_was_asked_has_not_failed_to_boot))
