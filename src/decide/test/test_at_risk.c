/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When work leaves a machine at risk. What it costs to stay is held against a calculation of its own: the moments at which the
 * machine may be lost, one by one.
 */
#include "decide/at_risk.h"

#include <math.h>

#include "base/rng.h"
#include "decide/test/yard.h"

static const msec_t minute = YARD_MINUTE;
static const msec_t hours = YARD_HOUR;

enum { DEMAND, SPOT }; /* offers of one type */
enum { STEPS = 20000, SEEDS = 500 };

/* A machine in the spot market with one task of that length, which began just now. Notices save nothing. */
static uint32_t risk_yard_init(struct yard *yard, double spot, msec_t runtime,
                               struct shape_delays delays)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 4, 16, 0, 1.0);
    (void)yard_offer(yard, DEMAND, spot);
    yard->catalogue.types[0].setup_ms = 2 * minute;
    (void)yard_shape(yard, 4, 8, 0);
    yard_delays(yard, delays);

    const uint32_t task = yard_running(yard, 0, SPOT);

    yard->view.task.estimate_ms[task] = runtime;
    return task;
}

static bool leaves(struct yard *yard, uint32_t task)
{
    return at_risk_should_leave(&yard->view, task, yard->view.task.instance[task]);
}

TEST(work_that_saves_nothing_leaves_if_much_of_it_is_left)
{
    struct yard yard;
    const uint32_t task = risk_yard_init(&yard, 0.3, 10 * hours, (struct shape_delays){ 0 });

    assert_true(leaves(&yard, task));
    yard.view.task.estimate_ms[task] = 5 * minute; /* 12 s would be lost on average */
    assert_false(leaves(&yard, task));
    yard_done(&yard);
}

TEST(work_that_must_not_be_moved_stays)
{
    struct yard yard;
    const uint32_t task = risk_yard_init(&yard, 0.3, 10 * hours, (struct shape_delays){ 0 });

    yard_fix(&yard.view, yard.view.task.job[task], true);
    assert_false(leaves(&yard, task));
    yard_done(&yard);
}

TEST(work_that_notices_save_stays)
{
    struct yard yard;
    const struct shape_delays delays = { .kill_ms = minute };
    const uint32_t task = risk_yard_init(&yard, 0.3, 10 * hours, delays);

    yard.view.notice_ms = 2 * minute;
    yard.view.notice_ppm = 1000000;
    assert_false(leaves(&yard, task));
    yard.view.notice_ppm = 0; /* they have never come in time */
    assert_true(leaves(&yard, task));
    yard.view.notice_ppm = 1000000;
    yard.shapes.rows[0].delays.upload_ms = 2 * minute; /* too late */
    assert_true(leaves(&yard, task));
    yard_done(&yard);
}

TEST(work_that_saves_itself_often_stays)
{
    struct yard yard;
    const struct shape_delays delays = { .kill_ms = minute, .checkpoint_ms = 2 * minute };
    const uint32_t task = risk_yard_init(&yard, 0.3, 10 * hours, delays);

    assert_false(leaves(&yard, task));
    yard.shapes.rows[0].delays.checkpoint_ms = hours;
    assert_true(leaves(&yard, task));
    yard_done(&yard);
}

TEST(a_replacement_that_costs_more_than_the_risk_is_not_rented)
{
    struct yard yard;
    const uint32_t task = risk_yard_init(&yard, 0.3, hours, (struct shape_delays){ 0 });

    assert_true(leaves(&yard, task));
    yard.view.offer_blocked_until[SPOT] = MSEC_NEVER; /* on demand: 70 cents more */
    assert_false(leaves(&yard, task));
    yard.view.offer_blocked_until[DEMAND] = MSEC_NEVER;
    assert_false(leaves(&yard, task));
    yard_done(&yard);
}

TEST(a_machine_that_would_be_lost_sooner_anyway_is_not_thought_better_of)
{
    struct yard yard;
    struct at_risk_costs hour;
    struct at_risk_costs sooner;
    const uint32_t task = risk_yard_init(&yard, 0.3, 2 * hours, (struct shape_delays){ 0 });
    const uint32_t there = yard.view.task.instance[task];

    assert_true(at_risk_weigh(&yard.view, task, there, &hour));
    yard.view.offer_lasts[SPOT] = 100 * hours;
    yard.view.offer_blocked_until[SPOT] = MSEC_NEVER; /* its own risk there is not in question */
    assert_true(at_risk_weigh(&yard.view, task, there, &hour));
    yard.view.offer_lasts[SPOT] = hours / 4;
    assert_true(at_risk_weigh(&yard.view, task, there, &sooner));
    assert_true(sooner.stay > hour.stay);
    yard_done(&yard);
}

/* Moment by moment, in dollars: it runs until it is lost or ends, and goes on elsewhere. */
static double stay_by_steps(const struct yard *yard, uint32_t task, double there)
{
    const struct view *view = &yard->view;
    const struct shape_delays *delays = &yard->shapes.rows[0].delays;
    const double lasts = (double)AT_RISK_LASTS_MS;
    const double remaining =
        (double)view->task.estimate_ms[task] - (double)view_executed(view, task);
    const double at_hand = (double)view_executed(view, task);
    const double stop = (double)(delays->kill_ms + delays->upload_ms);
    const double start = (double)(yard->catalogue.types[0].setup_ms + delays->fetch_ms);
    const double saved =
        view->notice_ms >= delays->kill_ms + delays->upload_ms ? (double)view->notice_ppm / 1e6 : 0;
    const double here = (double)view->offer_price[SPOT];
    const double step = remaining / STEPS;
    double lives = 1;
    double cost = 0;

    for (int i = 0; i < STEPS; i++) {
        const double ran = ((double)i + 0.5) * step;
        const double dies = lives * (1 - exp(-step / lasts));

        cost += (lives - dies / 2) * step * here;
        cost += dies * saved * stop * here;
        cost += dies * (start + remaining - ran + (1 - saved) * (at_hand + ran)) * there;
        lives -= dies;
    }
    return cost / (double)MSEC_PER_HOUR;
}

TEST(to_stay_costs_what_it_does_moment_by_moment)
{
    struct rng rng;

    rng_init(&rng, 7, 1);
    for (int seed = 0; seed < SEEDS; seed++) {
        struct yard yard;
        struct at_risk_costs costs;
        const struct shape_delays delays = {
            .kill_ms = (msec_t)rng_below(&rng, (uint64_t)(2 * minute)),
            .upload_ms = (msec_t)rng_below(&rng, (uint64_t)(2 * minute)),
            .fetch_ms = (msec_t)rng_below(&rng, (uint64_t)(5 * minute)),
        };
        const msec_t done = (msec_t)rng_below(&rng, (uint64_t)(3 * hours));
        const msec_t left = minute + (msec_t)rng_below(&rng, (uint64_t)(8 * hours));
        const uint32_t task = risk_yard_init(&yard, 0.3, done + left, delays);

        yard.view.now += done;
        yard.view.notice_ms = 2 * minute;
        yard.view.notice_ppm = (uint32_t)rng_below(&rng, 1000001);
        assert_true(at_risk_weigh(&yard.view, task, yard.view.task.instance[task], &costs));

        const double expected = stay_by_steps(&yard, task, (double)yard.view.offer_price[SPOT]);

        assert_true(fabs(costs.stay - expected) <= 1e-3 * expected);
        yard_done(&yard);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(work_that_saves_nothing_leaves_if_much_of_it_is_left),
        RUN(work_that_must_not_be_moved_stays),
        RUN(work_that_notices_save_stays),
        RUN(work_that_saves_itself_often_stays),
        RUN(a_replacement_that_costs_more_than_the_risk_is_not_rented),
        RUN(a_machine_that_would_be_lost_sooner_anyway_is_not_thought_better_of),
        RUN(to_stay_costs_what_it_does_moment_by_moment),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
