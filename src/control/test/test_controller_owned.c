/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that are owned: two of 4 CPUs, which the scripted policy does not know of. Each task takes one CPU. */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

enum { FIRST = 1, FULL = 8 };

#define OWN_A OWNED_ID_FIRST
#define OWN_B (OWNED_ID_FIRST + 1)

static void begin(struct stage *stage, money_t price)
{
    stage_init(stage);

    const uint32_t offer =
        catalogue_add_owned(&stage->catalogue, stage->catalogue.offers[0].type, price);

    controller_destroy(stage->controller);
    stage->controller = controller_create(&stage->config);
    controller_own(stage->controller, OWN_A, offer, 0, false);
    controller_own(stage->controller, OWN_B, offer, 0, false);
}

static void begin_ready(struct stage *stage)
{
    begin(stage, 0);
    stage_ready(stage, OWN_A);
    stage_ready(stage, OWN_B);
}

/* A job of so many single tasks with a rule. */
static void job(struct stage *stage, uint64_t first, uint32_t tasks, struct burst_rule burst)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = 1000 + first,
                                                        .first_task_id = first,
                                                        .task_count = tasks,
                                                        .arrived_at = stage->now,
                                                        .burst = burst,
                                                        .estimate_ms = -1 } });
}

static enum controller_limit limit_of(const struct stage *stage, uint64_t task)
{
    return controller_wait_of(stage->controller, view_find_task(stage_view(stage), task)).limit;
}

TEST(nothing_runs_there_before_the_engine_has_them)
{
    struct stage stage;

    begin(&stage, 0);
    stage_job(&stage, FIRST, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage_ready(&stage, OWN_B);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", OWN_B);
    stage_done(&stage);
}

TEST(they_are_used_first_whatever_the_policy_says)
{
    struct stage stage;

    begin_ready(&stage);
    stage_job(&stage, FIRST, FULL + 1, false);
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = FIRST + FULL } },
                                          .place_count = 1 });
    assert_int_equal(stage_where(&stage, FIRST), OWN_A);
    assert_int_equal(stage_where(&stage, FIRST + FULL - 1), OWN_B);
    assert_int_equal(stage_where(&stage, FIRST + FULL), stage_instance(&stage, 0));
    stage_done(&stage);
}

TEST(they_stay_when_they_are_empty_and_when_all_drains)
{
    struct stage stage;

    begin_ready(&stage);
    stage_job(&stage, FIRST, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_started(&stage, FIRST);
    stage_finished(&stage, FIRST);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ 0 });
    assert_true(controller_is_idle(stage.controller));
    controller_drain(stage.controller, stage.now);
    stage_no_acts(&stage);
    assert_int_equal(stage_view(&stage)->instance.living, 2);
    stage_done(&stage);
}

TEST(who_waits_for_them_is_not_rented_for_until_its_time)
{
    struct stage stage;

    begin_ready(&stage);
    job(&stage, FIRST, FULL, (struct burst_rule){ 0 });
    stage_decide(&stage, (struct script){ 0 });
    stage.seen = stage.act_count;
    job(&stage, 101, 1, (struct burst_rule){ .after_ms = 60000 });

    const msec_t from = stage_view(&stage)->job.arrived_at[view_find_job(stage_view(&stage), 1101)];

    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    assert_int_equal(limit_of(&stage, 101), LIMIT_BURST);
    assert_int_equal(controller_next_wake(stage.controller), from + 60000);
    stage.now = from + 60000;
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = 101 } },
                                          .place_count = 1 });
    stage_acts(&stage, "rent %" PRIu64 " of 0; ", stage_instance(&stage, 0));
    stage_done(&stage);
}

TEST(limits_do_not_count_them)
{
    struct stage stage;

    begin_ready(&stage);
    stage.config.max_instances = 1;
    stage.config.max_price_per_hour = STAGE_PRICE;
    controller_tune(stage.controller, &stage.config);
    stage_job(&stage, FIRST, FULL + 1, false);
    stage_decide(&stage, (struct script){ .rents = { 0 },
                                          .rent_count = 1,
                                          .places = { { .task = FIRST + FULL } },
                                          .place_count = 1 });
    assert_int_equal(stage_where(&stage, FIRST + FULL), stage_instance(&stage, 0));
    assert_int_equal(limit_of(&stage, FIRST + FULL), LIMIT_NONE);
    stage_done(&stage);
}

TEST(one_that_is_lost_is_used_again_when_it_is_back)
{
    struct stage stage;

    begin_ready(&stage);
    stage_job(&stage, FIRST, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_started(&stage, FIRST);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = OWN_A });
    assert_int_equal(stage_state(&stage, FIRST), TASK_WAITING);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "place 1 on %" PRIu64 "; ", OWN_B);
    stage_ready(&stage, OWN_A);
    stage_job(&stage, 11, 4, false);
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(stage_where(&stage, 11), OWN_A);
    stage_done(&stage);
}

TEST(a_list_of_the_cloud_says_nothing_of_them)
{
    struct stage stage;

    begin_ready(&stage);
    for (int i = 0; i < 4; i++) {
        stage.now += 600000;
        stage_audit(&stage);
        stage_listed(&stage, ACT_LIST_MACHINES);
        stage_ready(&stage, OWN_A);
        stage_ready(&stage, OWN_B);
        stage_listed(&stage, ACT_LIST_WORK);
    }
    assert_int_equal(controller_missing(stage.controller), 0);
    stage.seen = stage.act_count;
    stage_job(&stage, FIRST, FULL, false);
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(stage_where(&stage, FIRST + FULL - 1), OWN_B);
    stage_done(&stage);
}

TEST(their_price_is_split_among_those_who_run_there)
{
    struct stage stage;

    begin(&stage, STAGE_PRICE); /* a micro-dollar in a millisecond */
    stage_ready(&stage, OWN_A);

    const msec_t ready = stage.now;

    stage_job(&stage, FIRST, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_started(&stage, FIRST);

    const msec_t started = stage.now;

    stage_finished(&stage, FIRST);

    const msec_t ended = stage.now;

    controller_disown(stage.controller, OWN_A, ended + 5000);
    controller_disown(stage.controller, OWN_B, ended + 5000);

    const struct ledger_sums *sums = &ledger_totals(controller_ledger(stage.controller))->sums;

    assert_int_equal(sums->bill, 2 * (ended + 5000));
    assert_int_equal(sums->work, ended - started);
    assert_int_equal(sums->boot, ready + ended + 5000); /* the second was never ready */
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    stage_done(&stage);
}

CHECK_MAIN(RUN(nothing_runs_there_before_the_engine_has_them),
           RUN(they_are_used_first_whatever_the_policy_says),
           RUN(they_stay_when_they_are_empty_and_when_all_drains),
           RUN(who_waits_for_them_is_not_rented_for_until_its_time), RUN(limits_do_not_count_them),
           RUN(one_that_is_lost_is_used_again_when_it_is_back),
           RUN(a_list_of_the_cloud_says_nothing_of_them),
           RUN(their_price_is_split_among_those_who_run_there))
