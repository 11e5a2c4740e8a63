/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of jobs for markets: what changes with time, without other news. */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

enum { SPOT_OFFER = 2, RULED_JOB = 1001 };

/* A third offer, which is spot, and jobs whose market may change. */
static uint32_t rules_init(struct stage *stage)
{
    stage_init(stage);
    stage_add_offer(stage, "spot", 4);
    stage->catalogue.offers[SPOT_OFFER].market = MARKET_SPOT;
    shapes_bind(&stage->shapes, &stage->catalogue);

    const uint32_t shape = shapes_by_market(&stage->shapes, 0);

    stage_restart(stage);
    return shape;
}

static void ruled_job(struct stage *stage, uint32_t shape, bool is_fixed, struct job_rules rules)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                               .job = { .id = RULED_JOB,
                                                        .first_task_id = 1,
                                                        .shape = shape,
                                                        .task_count = 1,
                                                        .fixed = is_fixed,
                                                        .arrived_at = stage->now,
                                                        .estimate_ms = MSEC_PER_HOUR,
                                                        .rules = rules } });
}

static bool may_run(const struct stage *stage, uint32_t offer)
{
    const struct view *view = stage_view(stage);

    return shape_fits_offer(view->shapes, view->task.shape[view_find_task(view, 1)],
                            view->catalogue, offer);
}

/* After a restart all that is known is where it runs: a move must not bring it to another market. */
TEST(a_task_that_is_found_keeps_to_the_market_of_its_rule)
{
    struct stage stage;
    const uint32_t shape = rules_init(&stage);

    ruled_job(&stage, shape, false, (struct job_rules){ .market = MARKET_RULE_SAFE });

    const uint64_t machine = stage_launch(&stage, 1, 0);

    stage_finished(&stage, 1);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                .job = { .id = RULED_JOB + 1,
                                                         .first_task_id = 2,
                                                         .shape = shape,
                                                         .task_count = 1,
                                                         .arrived_at = stage.now,
                                                         .estimate_ms = MSEC_PER_HOUR,
                                                         .rules.market = MARKET_RULE_SAFE } });
    stage_found(&stage, 2, machine, stage.now, 4711);

    const struct view *view = stage_view(&stage);
    const uint32_t task = view_find_task(view, 2);

    assert_int_equal(view->task.state[task], TASK_RUNNING);
    assert_int_equal(view->shapes->rows[view->task.shape[task]].market, SHAPE_MARKET_SAFE);
    assert_false(
        shape_fits_offer(view->shapes, view->task.shape[task], view->catalogue, SPOT_OFFER));
    stage_done(&stage);
}

TEST(a_timer_wakes_the_controller_and_changes_the_market)
{
    struct stage stage;
    const uint32_t shape = rules_init(&stage);
    const msec_t until = stage.now + 60000;

    ruled_job(&stage, shape, false,
              (struct job_rules){ .market = MARKET_RULE_SPOT, .spot_for_ms = 60000 });
    stage_decide(&stage, (struct script){ 0 });
    assert_true(may_run(&stage, SPOT_OFFER) && !may_run(&stage, 0));
    assert_int_equal(controller_next_wake(stage.controller), until);
    stage.now = until - 1000;
    stage_decide(&stage, (struct script){ 0 });
    assert_true(may_run(&stage, 0) && may_run(&stage, 1) && !may_run(&stage, SPOT_OFFER));
    assert_true(controller_next_wake(stage.controller) == MSEC_NEVER);
    stage_done(&stage);
}

/* A job that runs on a spot machine and has an hour to go; its deadline is in two. */
static uint64_t run_on_spot(struct stage *stage, bool is_fixed)
{
    const uint32_t shape = rules_init(stage);

    ruled_job(stage, shape, is_fixed,
              (struct job_rules){ .deadline = stage->now + 3 * MSEC_PER_HOUR });
    const uint64_t machine = stage_launch(stage, 1, SPOT_OFFER);

    stage->seen = stage->act_count;
    return machine;
}

/* It will take longer than was thought. */
static void expect(struct stage *stage, msec_t estimate_ms)
{
    stage_engine(stage,
                 (struct engine_event){
                     .kind = ENGINE_JOB_CHANGED,
                     .changes = CHANGE_ESTIMATE,
                     .job = { .id = RULED_JOB, .first_task_id = 1, .estimate_ms = estimate_ms } });
}

TEST(work_leaves_a_spot_machine_when_a_loss_would_make_it_late)
{
    struct stage stage;

    (void)run_on_spot(&stage, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    assert_true(controller_next_wake(stage.controller) <= 2 * MSEC_PER_HOUR + 1000);
    expect(&stage, 4 * MSEC_PER_HOUR);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "stop 1; ");
    assert_int_equal(stage_state(&stage, 1), TASK_WAITING);
    assert_true(!may_run(&stage, SPOT_OFFER) && may_run(&stage, 0));
    stage_stopped(&stage, 1);
    assert_int_equal(controller_stats(stage.controller)->left_spot, 1);
    stage_done(&stage);
}

TEST(it_stays_if_nothing_else_may_be_rented)
{
    struct stage stage;

    (void)run_on_spot(&stage, false);
    stage.config.rent_nothing = true;
    controller_tune(stage.controller, &stage.config);
    expect(&stage, 4 * MSEC_PER_HOUR);
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 1), TASK_RUNNING);
    stage_done(&stage);
}

TEST(work_that_must_not_be_stopped_goes_on)
{
    struct stage stage;

    (void)run_on_spot(&stage, true);
    expect(&stage, 4 * MSEC_PER_HOUR);
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage_done(&stage);
}

CHECK_MAIN(RUN(a_task_that_is_found_keeps_to_the_market_of_its_rule),
           RUN(a_timer_wakes_the_controller_and_changes_the_market),
           RUN(work_leaves_a_spot_machine_when_a_loss_would_make_it_late),
           RUN(it_stays_if_nothing_else_may_be_rented), RUN(work_that_must_not_be_stopped_goes_on))
