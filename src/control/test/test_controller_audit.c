/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller makes of lists: a new process takes over the world of the last one, and news
 * that was lost is made up for.
 */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

static const struct controller_stats *stats_of(const struct stage *stage)
{
    return controller_stats(stage->controller);
}

static enum instance_state machine_state(const struct stage *stage, uint64_t instance)
{
    const uint32_t row = view_find_instance(stage_view(stage), instance);

    return row == ROW_NONE ? INSTANCE_FREE
                           : (enum instance_state)stage_view(stage)->instance.state[row];
}

/* An audit in which nothing is named but what 'tell' tells. */
TEST(the_first_audit_asks_for_work_when_the_machines_are_known)
{
    struct stage stage;

    stage_init(&stage);
    stage_audit(&stage);
    stage_acts(&stage, "list machines; ");
    assert_false(controller_is_audited(stage.controller));
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_acts(&stage, "list work; ");
    assert_false(controller_is_audited(stage.controller));
    stage_listed(&stage, ACT_LIST_WORK);
    assert_true(controller_is_audited(stage.controller));
    assert_int_equal(stats_of(&stage)->audits, 1);
    stage_audit(&stage);
    stage_acts(&stage, "list machines; list work; ");
    assert_true(controller_is_audited(stage.controller));
    stage_done(&stage);
}

TEST(the_end_of_a_list_that_was_not_asked_for_is_late)
{
    struct stage stage;

    stage_init(&stage);
    stage_audit(&stage);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_LISTED, .key = 99 });
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_LISTED, .key = 99 });
    assert_int_equal(stats_of(&stage)->late_events, 2);
    assert_false(controller_is_audited(stage.controller));
    stage_done(&stage);
}

/* Two machines, one ready with two tasks that run, one that boots for a third. */
struct takeover {
    uint64_t ready;
    uint64_t booting;
    uint64_t key1;
    uint64_t key2;
    msec_t ready_from;
    msec_t booting_from;
};

static struct takeover set_scene(struct stage *stage)
{
    struct takeover scene = { 0 };

    stage_job(stage, 1, 2, false);
    stage_job(stage, 3, 1, false);
    stage_decide(stage, (struct script){
                            .rents = { 0, 1 },
                            .rent_count = 2,
                            .places = { { .task = 1 }, { .task = 2 }, { .task = 3, .rent = 1 } },
                            .place_count = 3 });
    scene.ready = stage_instance(stage, 1);
    scene.booting = stage_instance(stage, 0);
    stage_running(stage, scene.ready);
    scene.ready_from = stage->now;
    stage_running(stage, scene.booting);
    scene.booting_from = stage->now;
    stage_ready(stage, scene.ready);
    stage_started(stage, 1);
    stage_started(stage, 2);
    scene.key1 = stage_key(stage, ACT_PLACE, 1);
    scene.key2 = stage_key(stage, ACT_PLACE, 2);
    stage->seen = stage->act_count;
    return scene;
}

static void tell_scene(struct stage *stage, const struct takeover *scene)
{
    stage_audit(stage);
    stage_machine_found(stage, scene->ready, scene->ready_from, 0);
    stage_machine_found(stage, scene->booting, scene->booting_from, 1);
    stage_listed(stage, ACT_LIST_MACHINES);
    stage_job(stage, 1, 2, false);
    stage_job(stage, 3, 1, false);
    stage_ready(stage, scene->ready);
    stage_found(stage, 1, scene->ready, 20000, scene->key1);
    stage_found(stage, 2, scene->ready, 21000, scene->key2);
    stage_listed(stage, ACT_LIST_WORK);
}

TEST(a_new_process_takes_over_the_world_of_the_last)
{
    struct stage stage;

    stage_init(&stage);

    const struct takeover scene = set_scene(&stage);
    const uint64_t next = controller_next_key(stage.controller);

    stage_restart(&stage);
    assert_int_equal(controller_next_key(stage.controller), next);
    tell_scene(&stage, &scene);
    stage_acts(&stage, "list machines; admit %" PRIu64 "; admit %" PRIu64 "; list work; ",
               scene.ready, scene.booting);
    assert_int_equal(stats_of(&stage)->adopted, 2);
    assert_int_equal(stats_of(&stage)->late_events, 0);
    assert_int_equal(stage_where(&stage, 1), scene.ready);
    assert_int_equal(stage_where(&stage, 2), scene.ready);
    assert_int_equal(stage_where(&stage, 3), 0);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    assert_int_equal(stage_state(&stage, 2), TASK_RUNNING);
    assert_int_equal(machine_state(&stage, scene.ready), INSTANCE_READY);
    assert_int_equal(machine_state(&stage, scene.booting), INSTANCE_BOOTING);

    /* It goes on where the last one was: the machine that boots is used, none is rented. */
    stage_put(&stage, 3, scene.booting);
    stage_ready(&stage, scene.booting);
    stage_acts(&stage, "place 3 on %" PRIu64 "; ", scene.booting);
    assert_true(stage_key(&stage, ACT_PLACE, 3) >= next);
    stage_started(&stage, 3);
    for (uint64_t task = 1; task <= 3; task++)
        stage_finished(&stage, task);
    stage_decide(&stage,
                 (struct script){ .releases = { scene.ready, scene.booting }, .release_count = 2 });
    stage_gone_now(&stage, scene.ready);
    stage_gone_now(&stage, scene.booting);
    assert_true(controller_is_idle(stage.controller));
    assert_int_equal(stage.bills, 2);
    assert_int_equal(stage.billed, ledger_totals(controller_ledger(stage.controller))->sums.bill);
    stage_done(&stage);
}

TEST(events_about_a_task_that_was_found_carry_its_key)
{
    struct stage stage;

    stage_init(&stage);

    const struct takeover scene = set_scene(&stage);

    stage_restart(&stage);
    tell_scene(&stage, &scene);
    stage_task(&stage, ENGINE_TASK_LOST, 1, scene.key2);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_task(&stage, ENGINE_TASK_LOST, 1, scene.key1);
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    stage_done(&stage);
}

TEST(a_task_that_was_found_pays_from_when_it_started)
{
    struct stage stage;

    stage_init(&stage);

    const struct takeover scene = set_scene(&stage);
    const msec_t started = scene.ready_from + 500;

    stage_restart(&stage);
    stage_audit(&stage);
    stage_machine_found(&stage, scene.ready, scene.ready_from, 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_job(&stage, 1, 2, false);
    stage_ready(&stage, scene.ready);
    stage_found(&stage, 1, scene.ready, started, scene.key1);
    stage_listed(&stage, ACT_LIST_WORK);
    stage_finished(&stage, 1);
    assert_int_equal(stage.settled, stage.now - started);
    stage_done(&stage);
}

TEST(the_books_go_on_where_the_last_process_left_them)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t key = stage_key(&stage, ACT_PLACE, 1);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];
    const msec_t started = stage_view(&stage)->task.launched_at[0];

    stage_job(&stage, 2, 1, false);
    stage_put(&stage, 2, machine); /* a second task cuts the time of the first */
    stage_started(&stage, 2);
    assert_true(
        controller_take_changed_account(stage.controller, &stage.kept_instance, &stage.kept));
    assert_true(controller_take_changed_due(stage.controller, &stage.owing_task, &stage.owed));
    assert_int_equal(stage.kept_instance, machine);
    assert_int_equal(stage.owing_task, 1);
    assert_int_equal(stage.owed.cost, stage.now - started);
    assert_int_equal(stage.kept.sums.boot + stage.kept.sums.idle, started - from);
    assert_false(
        controller_take_changed_account(stage.controller, &stage.kept_instance, &stage.kept));

    /* While nobody looks, the second task ends; what is open since the last cut is the first's. */
    stage_restart(&stage);
    stage_audit(&stage);
    stage_machine_found(&stage, machine, from, 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_job(&stage, 1, 1, false);
    stage_ready(&stage, machine);
    stage_found(&stage, 1, machine, started, key);
    stage_listed(&stage, ACT_LIST_WORK);
    stage_finished(&stage, 1);
    assert_int_equal(stage.settled, stage.now - started);
    stage_release(&stage, machine);
    stage_gone_now(&stage, machine);
    assert_int_equal(stage.billed, stage.now - from);
    stage_done(&stage);
}

TEST(a_second_audit_of_the_same_world_changes_nothing)
{
    struct stage stage;

    stage_init(&stage);

    const struct takeover scene = set_scene(&stage);

    tell_scene(&stage, &scene);
    tell_scene(&stage, &scene);
    stage_acts(&stage, "list machines; list work; list machines; list work; ");
    assert_int_equal(stage_where(&stage, 1), scene.ready);
    assert_int_equal(stage_where(&stage, 3), scene.booting);
    assert_int_equal(stats_of(&stage)->late_events, 0);
    assert_int_equal(stats_of(&stage)->found, 0);
    stage_done(&stage);
}

TEST(a_key_above_the_counter_is_never_used_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_audit(&stage);
    stage_machine_found(&stage, 500, -1, 0);
    assert_int_equal(controller_next_key(stage.controller), 501);
    stage_listed(&stage, ACT_LIST_MACHINES);
    assert_int_equal(machine_state(&stage, 500), INSTANCE_REQUESTED);
    stage_done(&stage);
}

TEST(a_machine_of_no_known_offer_or_outside_a_list_is_left_alone)
{
    struct stage stage;

    stage_init(&stage);
    stage_machine_found(&stage, 7, 1000, 0);
    assert_int_equal(stats_of(&stage)->late_events, 1);
    stage_audit(&stage);
    stage_machine_found(&stage, 7, 1000, OFFER_NONE);
    stage_machine_found(&stage, 8, 1000, 2);
    assert_int_equal(stats_of(&stage)->strangers, 2);
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    stage_done(&stage);
}

TEST(a_machine_that_ended_while_nobody_looked_is_billed_once)
{
    struct stage stage;
    const struct cloud_event gone = {
        .kind = CLOUD_GONE, .instance = 7, .billed_from = 100, .billed_to = 900, .offer = 1
    };

    stage_init(&stage);
    stage.settled_instance = 8;
    stage_audit(&stage);
    stage_cloud(&stage, gone);
    assert_int_equal(stage.bills, 1);
    assert_int_equal(stage.billed, 800);
    stage_cloud(&stage, gone);
    stage_cloud(&stage,
                (struct cloud_event){
                    .kind = CLOUD_GONE, .instance = 8, .billed_from = 100, .billed_to = 900 });
    assert_int_equal(stage.bills, 1);
    assert_true(controller_is_idle(stage.controller));
    stage_done(&stage);
}

/* The cloud's lists of so many days, two a day, name the machine as gone or do not. */
static void audit_for_days(struct stage *stage, uint32_t days, const struct cloud_event *gone)
{
    for (uint32_t i = 0; i < 2 * days; i++) {
        stage->now += 12 * MSEC_PER_HOUR;
        stage_audit(stage);
        if (gone != NULL)
            stage_cloud(stage, *gone);
        stage_listed(stage, ACT_LIST_MACHINES);
        stage_listed(stage, ACT_LIST_WORK);
    }
}

TEST(a_bill_that_ended_is_known_for_as_long_as_anybody_speaks_of_it)
{
    struct stage stage;
    const struct cloud_event gone = {
        .kind = CLOUD_GONE, .instance = 7, .billed_from = 100, .billed_to = 900, .offer = 1
    };

    stage_init(&stage);
    audit_for_days(&stage, 6, &gone);
    assert_int_equal(stage.bills, 1);
    stage_done(&stage);
}

TEST(a_bill_that_nobody_has_spoken_of_for_days_is_forgotten)
{
    struct stage stage;
    const struct cloud_event gone = {
        .kind = CLOUD_GONE, .instance = 7, .billed_from = 100, .billed_to = 900, .offer = 1
    };

    stage_init(&stage);
    stage_audit(&stage);
    stage_cloud(&stage, gone);
    audit_for_days(&stage, 1, NULL);
    stage_cloud(&stage, gone);
    assert_int_equal(stage.bills, 1);
    audit_for_days(&stage, 3, NULL);
    stage_cloud(&stage, gone);
    assert_int_equal(stage.bills, 2); /* who keeps books knows better: see 'is_settled' */
    stage_done(&stage);
}

TEST(a_machine_that_outlived_its_bill_is_given_back)
{
    struct stage stage;

    stage_init(&stage);
    stage.settled_instance = 8; /* by an earlier process */
    stage_machine_found(&stage, 8, 100, 0);
    assert_int_equal(stats_of(&stage)->late_events, 1); /* no list is under way */
    for (uint32_t times = 1; times <= 2; times++) {
        stage_audit(&stage);
        stage.seen = stage.act_count;
        stage_machine_found(&stage, 8, 100, 0);
        stage_acts(&stage, times == 1 ? "retire %d; give back 8; " : "give back %d; ", 8);
        stage_listed(&stage, ACT_LIST_MACHINES);
        assert_int_equal(stats_of(&stage)->outlived, 1);
        assert_int_equal(stage_view(&stage)->instance.living, 1); /* it counts until it is gone */
    }
    stage_gone(&stage, 8, 100, 900);
    assert_true(controller_is_idle(stage.controller));
    assert_int_equal(stage.bills, 0);
    stage_done(&stage);
}

/* Both lists of one audit, some time after the last one; the engine names 'vouched' as ready. */
static void audit_empty(struct stage *stage, msec_t later, uint64_t vouched)
{
    stage->now += later;
    stage_audit(stage);
    stage_listed(stage, ACT_LIST_MACHINES);
    for (uint64_t job = 1; job <= 2; job++)
        stage_job(stage, job, 1, false);
    if (vouched != 0)
        stage_ready(stage, vouched);
    stage_listed(stage, ACT_LIST_WORK);
}

TEST(a_machine_that_one_list_does_not_name_is_only_missing)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    audit_empty(&stage, 0, 0);
    assert_int_equal(controller_missing(stage.controller), 1);
    assert_false(controller_doubts(stage.controller));
    assert_int_equal(stats_of(&stage)->vanished, 0);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
    assert_int_equal(stage_view(&stage)->instance.living, 1); /* it counts */
    stage_audit(&stage);
    stage_machine_found(&stage, machine, 4000, 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    assert_int_equal(controller_missing(stage.controller), 0);
    stage_done(&stage);
}

TEST(a_machine_whose_node_answers_is_never_gone_because_lists_lack_it)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    for (uint32_t i = 0; i < 50; i++)
        audit_empty(&stage, 60 * MSEC_PER_SEC, machine);
    assert_int_equal(controller_missing(stage.controller), 1);
    assert_int_equal(stats_of(&stage)->vanished, 0);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
    stage_done(&stage);
}

TEST(a_machine_that_no_witness_has_seen_is_given_back_and_counts_until_that_is_confirmed)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_move(&stage, 1, 0);

    stage_running(&stage, machine); /* it boots, so no engine can vouch for it */
    audit_empty(&stage, 0, 0);
    audit_empty(&stage, 1000, 0);
    assert_int_equal(machine_state(&stage, machine),
                     INSTANCE_BOOTING); /* two lists, but too soon */
    stage.seen = stage.act_count;
    audit_empty(&stage, 60 * MSEC_PER_SEC, 0);
    stage_acts(&stage, "list machines; list work; retire %" PRIu64 "; give back %" PRIu64 "; ",
               machine, machine);
    assert_int_equal(stats_of(&stage)->vanished, 1);
    assert_int_equal(stage_where(&stage, 1), 0);
    assert_int_equal(stage_view(&stage)->instance.living, 1);
    stage_gone(&stage, machine, -1, 0); /* the cloud knows no such machine, nor its bill */
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    assert_int_equal(stage.bills, 1);
    stage_done(&stage);
}

TEST(a_request_is_given_back_when_lists_do_not_name_it_for_long)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_move(&stage, 1, 0);

    audit_empty(&stage, 0, 0);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_REQUESTED);
    audit_empty(&stage, 60 * MSEC_PER_SEC, 0);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_RETURNED);
    assert_int_equal(stage_where(&stage, 1), 0);
    stage_gone(&stage, machine, -1, 0);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_FREE);
    assert_int_equal(stage.bills, 0);
    stage_done(&stage);
}

TEST(a_list_that_lacks_many_machines_is_doubted_and_nothing_is_rented)
{
    struct stage stage;
    uint64_t machines[4];

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_job(&stage, 2, 1, false);
    for (uint32_t i = 0; i < 4; i++) {
        stage_decide(&stage, (struct script){ .rents = { 0 }, .rent_count = 1 });
        machines[i] = stage_instance(&stage, 0);
        stage_running(&stage, machines[i]);
    }
    audit_empty(&stage, 0, 0);
    assert_true(controller_doubts(stage.controller));
    assert_int_equal(controller_missing(stage.controller), 4);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .rents = { 1 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1 });
    stage_no_acts(&stage);
    assert_int_equal(controller_wait_of(stage.controller, 0).limit, LIMIT_DOUBT);
    for (uint32_t i = 0; i < 5; i++)
        audit_empty(&stage, 60 * MSEC_PER_SEC, 0);
    assert_int_equal(stats_of(&stage)->vanished, 0); /* five minutes of it */

    stage_audit(&stage);
    for (uint32_t i = 0; i < 3; i++)
        stage_machine_found(&stage, machines[i], 4000, 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    assert_false(controller_doubts(stage.controller));
    assert_true(controller_wants_decision(stage.controller));
    stage_done(&stage);
}

TEST(machines_that_somebody_else_rented_stop_all_renting_and_are_left_alone)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_job(&stage, 2, 1, false);
    stage_audit(&stage);
    stage_machine_found(&stage, 40, 100, 1); /* of an earlier process: taken over */
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_job(&stage, 1, 1, false);
    stage_job(&stage, 2, 1, false);
    stage_listed(&stage, ACT_LIST_WORK);
    assert_int_equal(stats_of(&stage)->adopted, 1);
    assert_int_equal(controller_rivals(stage.controller), 0);

    stage_audit(&stage);
    stage_machine_found(&stage, 40, 100, 1);
    stage_machine_found(&stage, 500, 100, 1); /* nobody here asked for that */
    assert_true(controller_waits_for_cloud(stage.controller) >= 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    assert_int_equal(controller_rivals(stage.controller), 1);
    assert_int_equal(controller_waits_for_cloud(stage.controller), -1);
    assert_int_equal(machine_state(&stage, 500), INSTANCE_FREE);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1 });
    stage_no_acts(&stage);
    assert_int_equal(controller_wait_of(stage.controller, 0).limit, LIMIT_RIVAL);

    stage_audit(&stage);
    stage_machine_found(&stage, 40, 100, 1);
    stage_listed(&stage, ACT_LIST_MACHINES);
    assert_int_equal(controller_rivals(stage.controller), 0);
    assert_true(controller_wants_decision(stage.controller));
    stage_done(&stage);
}

TEST(machines_of_an_earlier_process_count_before_anybody_is_asked)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.max_instances = 2;
    controller_tune(stage.controller, &stage.config);
    controller_remember(stage.controller, 40, 0, 500, stage.now);
    controller_remember(stage.controller, 41, 1, 600, stage.now);
    controller_remember(stage.controller, 41, 1, 600, stage.now);
    assert_int_equal(stage_view(&stage)->instance.living, 2);
    assert_int_equal(controller_next_key(stage.controller), 42);
    stage_job(&stage, 1, 1, false);
    audit_empty(&stage, 0, 40); /* the list is empty, but Slurm knows one of them */
    assert_int_equal(machine_state(&stage, 40), INSTANCE_READY);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 1 } },
                                          .place_count = 1 });
    stage_acts(&stage, "retire %d; give back 40; ",
               40); /* it makes room, and counts until it is gone */
    assert_int_equal(stats_of(&stage)->rented, 0);
    assert_int_equal(controller_wait_of(stage.controller, 0).limit, LIMIT_INSTANCES);
    stage_audit(&stage);
    stage_machine_found(&stage, 41, 700, 1);
    stage_acts(&stage, "list machines; list work; admit %d; ", 41);
    stage_done(&stage);
}

TEST(a_machine_that_an_earlier_process_was_giving_back_takes_no_work)
{
    struct stage stage;

    stage_init(&stage);
    controller_remember(stage.controller, 40, 0, 500, stage.now);
    controller_remember_return(stage.controller, 40);
    controller_remember_return(stage.controller, 41); /* nobody knows that one */
    stage_acts(&stage, "retire %d; give back 40; ", 40);
    stage_audit(&stage);
    stage_machine_found(&stage, 40, 700, 0);
    stage_acts(&stage, "list machines; give back %d; ", 40); /* not admitted */
    stage_done(&stage);
}

TEST(what_was_asked_for_after_the_list_is_not_judged_by_it)
{
    struct stage stage;

    stage_init(&stage);
    stage_audit(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_listed(&stage, ACT_LIST_WORK);
    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_done(&stage);
}

TEST(a_list_makes_up_for_lost_news_of_a_machine)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_move(&stage, 1, 0);

    const uint64_t machine = stage_instance(&stage, 0);

    stage_audit(&stage);
    stage_machine_found(&stage, machine, 4000, 0);
    assert_int_equal(machine_state(&stage, machine), INSTANCE_BOOTING);
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_job(&stage, 1, 1, false);
    stage_ready(&stage, machine);
    stage_listed(&stage, ACT_LIST_WORK);
    stage_acts(&stage,
               "rent %" PRIu64 " of 0; list machines; admit %" PRIu64 "; list work; "
               "place 1 on %" PRIu64 "; ",
               machine, machine, machine);
    stage_done(&stage);
}

TEST(a_machine_that_was_given_back_and_is_still_there_is_given_back_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];

    stage_finished(&stage, 1);
    stage_audit(&stage);
    stage_release(&stage, machine); /* after this list was asked for */
    stage_machine_found(&stage, machine, from, 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_listed(&stage, ACT_LIST_WORK);
    stage_acts(&stage, "list machines; retire %" PRIu64 "; give back %" PRIu64 "; list work; ",
               machine, machine);
    stage_audit(&stage);
    stage_machine_found(&stage, machine, from, 0);
    stage_machine_found(&stage, machine, from, 0);
    stage_acts(&stage, "list machines; list work; give back %" PRIu64 "; ", machine);
    stage_done(&stage);
}

TEST(a_job_that_a_list_does_not_name_has_ended)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];
    const msec_t started = stage_view(&stage)->task.launched_at[0];

    stage_audit(&stage);
    stage_machine_found(&stage, machine, from, 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_ready(&stage, machine);
    stage_listed(&stage, ACT_LIST_WORK);
    assert_int_equal(stage_view(&stage)->job.living, 0);
    assert_int_equal(stats_of(&stage)->jobs_vanished, 1);
    assert_int_equal(stage.settled, stage.now - started);
    stage_job(&stage, 1, 1, false); /* old news */
    assert_int_equal(stage_view(&stage)->job.living, 0);
    stage_done(&stage);
}

/* Slurm that has lost its state gives its numbers out again. */
TEST(a_job_that_is_over_and_that_a_later_list_names_is_another_one)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];

    stage_audit(&stage);
    stage_machine_found(&stage, machine, from, 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_finished(&stage, 1);
    stage_job(&stage, 1, 1, false); /* the list is older than that */
    stage_ready(&stage, machine);
    stage_listed(&stage, ACT_LIST_WORK);
    assert_int_equal(stage_view(&stage)->job.living, 0);
    stage_job(&stage, 1, 1, false); /* and this may be late news */
    assert_int_equal(stage_view(&stage)->job.living, 0);

    stage_audit(&stage);
    stage_machine_found(&stage, machine, from, 0);
    stage_listed(&stage, ACT_LIST_MACHINES);
    stage_job(&stage, 1, 1, false);
    assert_int_equal(stage_view(&stage)->job.living, 1);
    stage_ready(&stage, machine);
    stage_listed(&stage, ACT_LIST_WORK);
    assert_int_equal(stage_view(&stage)->job.living, 1);
    stage_put(&stage, 1, machine);
    stage_started(&stage, 1);
    stage_finished(&stage, 1);
    stage_job(&stage, 1, 1, false);
    assert_int_equal(stage_view(&stage)->job.living, 0);
    stage_done(&stage);
}

TEST(a_job_that_is_over_is_forgotten_with_the_second_list)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_finished(&stage, 1);
    for (uint32_t lists = 0; lists < 2; lists++) {
        stage_job(&stage, 1, 1, false);
        assert_int_equal(stage_view(&stage)->job.living, 0);
        stage_audit(&stage);
        stage_listed(&stage, ACT_LIST_MACHINES);
        stage_listed(&stage, ACT_LIST_WORK);
    }
    stage_job(&stage, 1, 1, false);
    assert_int_equal(stage_view(&stage)->job.living, 1);
    stage_done(&stage);
}

static void audit_with_job(struct stage *stage, uint64_t machine, msec_t from)
{
    stage_audit(stage);
    stage_machine_found(stage, machine, from, 0);
    stage_listed(stage, ACT_LIST_MACHINES);
    stage_job(stage, 1, 1, false);
    stage_ready(stage, machine);
    stage_listed(stage, ACT_LIST_WORK);
}

TEST(a_task_that_is_thought_to_run_and_does_not_waits_again)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);

    audit_with_job(&stage, machine, stage_view(&stage)->instance.billed_from[0]);
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    assert_int_equal(stats_of(&stage)->tasks_missed, 1);
    stage_done(&stage);
}

/* A task that was asked to start on a machine that is ready, and has not. */
static uint64_t place_one(struct stage *stage)
{
    stage_job(stage, 1, 1, false);
    (void)stage_move(stage, 1, 0);

    const uint64_t machine = stage_instance(stage, 0);

    stage_running(stage, machine);
    stage_ready(stage, machine);
    return machine;
}

TEST(a_placement_that_comes_to_nothing_is_repeated_when_it_is_old)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = place_one(&stage);
    const uint64_t key = stage_key(&stage, ACT_PLACE, 1);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];

    for (uint32_t i = 0; i < 3; i++) /* absent again and again, but not for a minute */
        audit_with_job(&stage, machine, from);
    assert_int_equal(stage_key(&stage, ACT_PLACE, 1), key);
    stage.now += 60000;
    audit_with_job(&stage, machine, from);
    assert_int_not_equal(stage_key(&stage, ACT_PLACE, 1), key);
    assert_int_equal(stats_of(&stage)->asked_anew, 1);
    stage_started(&stage, 1);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_done(&stage);
}

TEST(a_placement_that_one_list_does_not_show_is_left_alone)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = place_one(&stage);
    const uint64_t key = stage_key(&stage, ACT_PLACE, 1);

    stage.now += 600000;
    audit_with_job(&stage, machine, stage_view(&stage)->instance.billed_from[0]);
    assert_int_equal(stage_key(&stage, ACT_PLACE, 1), key);
    stage_done(&stage);
}

TEST(a_stop_that_nobody_confirms_is_taken_as_done_when_the_task_is_not_there)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];
    const uint64_t target = stage_move(&stage, 1, 1);

    stage_running(&stage, target);
    stage_ready(&stage, target);
    for (uint32_t i = 0; i < 2; i++) {
        stage.now += 60000;
        stage_audit(&stage);
        stage_machine_found(&stage, machine, from, 0);
        stage_machine_found(&stage, target, from, 1);
        stage_listed(&stage, ACT_LIST_MACHINES);
        stage_job(&stage, 1, 1, false);
        stage_ready(&stage, machine);
        stage_ready(&stage, target);
        stage_listed(&stage, ACT_LIST_WORK);
    }
    stage.seen = stage.act_count - 1;
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", target);
    stage_done(&stage);
}

TEST(a_stop_that_nobody_hears_is_repeated)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const uint64_t run_key = stage_key(&stage, ACT_PLACE, 1);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];

    (void)stage_move(&stage, 1, 1);

    const uint64_t target = stage_instance(&stage, 0);
    const uint64_t key = stage_key(&stage, ACT_STOP, 1);

    for (uint32_t i = 0; i < 2; i++) {
        stage.now += 60000;
        stage_audit(&stage);
        stage_machine_found(&stage, machine, from, 0);
        stage_machine_found(&stage, target, -1, 1);
        stage_listed(&stage, ACT_LIST_MACHINES);
        stage_job(&stage, 1, 1, false);
        stage_ready(&stage, machine);
        stage_found(&stage, 1, machine, 9000, run_key);
        stage_listed(&stage, ACT_LIST_WORK);
    }
    assert_int_not_equal(stage_key(&stage, ACT_STOP, 1), key);
    assert_int_equal(stage_where(&stage, 1), target);
    stage_done(&stage);
}

TEST(a_machine_that_the_engine_does_not_name_twice_takes_no_work)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const msec_t from = stage_view(&stage)->instance.billed_from[0];

    stage_finished(&stage, 1);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(machine_state(&stage, machine), INSTANCE_READY);
        stage_audit(&stage);
        stage_machine_found(&stage, machine, from, 0);
        stage_listed(&stage, ACT_LIST_MACHINES);
        stage_listed(&stage, ACT_LIST_WORK);
    }
    assert_int_equal(machine_state(&stage, machine), INSTANCE_RETURNED);
    stage_done(&stage);
}

CHECK_MAIN(RUN(the_first_audit_asks_for_work_when_the_machines_are_known),
           RUN(the_end_of_a_list_that_was_not_asked_for_is_late),
           RUN(a_new_process_takes_over_the_world_of_the_last),
           RUN(events_about_a_task_that_was_found_carry_its_key),
           RUN(a_task_that_was_found_pays_from_when_it_started),
           RUN(the_books_go_on_where_the_last_process_left_them),
           RUN(a_second_audit_of_the_same_world_changes_nothing),
           RUN(a_key_above_the_counter_is_never_used_again),
           RUN(a_machine_of_no_known_offer_or_outside_a_list_is_left_alone),
           RUN(a_machine_that_ended_while_nobody_looked_is_billed_once),
           RUN(a_bill_that_ended_is_known_for_as_long_as_anybody_speaks_of_it),
           RUN(a_bill_that_nobody_has_spoken_of_for_days_is_forgotten),
           RUN(a_machine_that_outlived_its_bill_is_given_back),
           RUN(a_machine_that_one_list_does_not_name_is_only_missing),
           RUN(a_machine_whose_node_answers_is_never_gone_because_lists_lack_it),
           RUN(a_machine_that_no_witness_has_seen_is_given_back_and_counts_until_that_is_confirmed),
           RUN(a_request_is_given_back_when_lists_do_not_name_it_for_long),
           RUN(a_list_that_lacks_many_machines_is_doubted_and_nothing_is_rented),
           RUN(machines_that_somebody_else_rented_stop_all_renting_and_are_left_alone),
           RUN(machines_of_an_earlier_process_count_before_anybody_is_asked),
           RUN(a_machine_that_an_earlier_process_was_giving_back_takes_no_work),
           RUN(what_was_asked_for_after_the_list_is_not_judged_by_it),
           RUN(a_list_makes_up_for_lost_news_of_a_machine),
           RUN(a_machine_that_was_given_back_and_is_still_there_is_given_back_again),
           RUN(a_job_that_a_list_does_not_name_has_ended),
           RUN(a_job_that_is_over_and_that_a_later_list_names_is_another_one),
           RUN(a_job_that_is_over_is_forgotten_with_the_second_list),
           RUN(a_task_that_is_thought_to_run_and_does_not_waits_again),
           RUN(a_placement_that_comes_to_nothing_is_repeated_when_it_is_old),
           RUN(a_placement_that_one_list_does_not_show_is_left_alone),
           RUN(a_stop_that_nobody_confirms_is_taken_as_done_when_the_task_is_not_there),
           RUN(a_stop_that_nobody_hears_is_repeated),
           RUN(a_machine_that_the_engine_does_not_name_twice_takes_no_work))
