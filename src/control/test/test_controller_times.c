/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller makes of times that cannot be.
 */
#include "control/controller.h"

#include "base/limits.h"
#include "base/test/check.h"
#include "control/test/doubles.h"

enum { FOUND_KEY = 900 };

static const msec_t odd_times[] = {
    INT64_MIN,        INT64_MIN + 1,     -MSEC_PER_HOUR, -2,        -1, 0, 1, LIMIT_TIME_MS,
    INT64_MAX - 1000, LIMIT_TIME_MS + 1, INT64_MAX - 1,  INT64_MAX,
};

enum { ODD_TIMES = sizeof(odd_times) / sizeof(odd_times[0]) };

static msec_t launched_at(const struct stage *stage, uint64_t task)
{
    const struct view *view = stage_view(stage);

    return view->task.launched_at[view_find_task(view, task)];
}

static msec_t billed_from(const struct stage *stage, uint64_t instance)
{
    const struct view *view = stage_view(stage);

    return view->instance.billed_from[view_find_instance(view, instance)];
}

static msec_t arrived_at(const struct stage *stage, uint64_t job)
{
    const struct view *view = stage_view(stage);

    return view->job.arrived_at[view_find_job(view, job)];
}

/* A machine that is ready, with task 1 on it. */
static uint64_t a_machine(struct stage *stage)
{
    stage_job(stage, 1, 1, false);
    return stage_launch(stage, 1, 0);
}

TEST(a_task_that_starts_in_the_future_has_just_started)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage);

    stage_job(&stage, 2, 1, false);
    stage_found(&stage, 2, machine, stage.now + 6000, FOUND_KEY);
    assert_int_equal(launched_at(&stage, 2), stage.now);
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(view_executed(stage_view(&stage), view_find_task(stage_view(&stage), 2)),
                     1000);
    stage_done(&stage);
}

TEST(no_task_has_run_since_before_its_job_arrived)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage);

    stage_engine(&stage,
                 (struct engine_event){
                     .kind = ENGINE_JOB_ARRIVED,
                     .job = { .id = 7, .first_task_id = 2, .task_count = 1, .arrived_at = 4321 } });
    stage_found(&stage, 2, machine, 4320, FOUND_KEY);
    assert_int_equal(launched_at(&stage, 2), 4321);
    stage_done(&stage);
}

TEST(a_start_that_was_long_ago_is_believed)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage);

    stage_engine(&stage, (struct engine_event){
                             .kind = ENGINE_JOB_ARRIVED,
                             .job = { .id = 7, .first_task_id = 2, .task_count = 1 },
                         });
    stage_found(&stage, 2, machine, 12, FOUND_KEY);
    assert_int_equal(launched_at(&stage, 2), 12);
    stage_done(&stage);
}

TEST(a_job_arrives_by_now_and_not_before_time_began)
{
    struct stage stage;

    stage_init(&stage);
    for (uint64_t i = 0; i < ODD_TIMES; i++)
        stage_engine(&stage, (struct engine_event){
                                 .kind = ENGINE_JOB_ARRIVED,
                                 .job = { .id = i + 1,
                                          .first_task_id = i,
                                          .task_count = 1,
                                          .arrived_at = odd_times[i],
                                          .estimate_ms = odd_times[i] },
                             });
    assert_int_equal(arrived_at(&stage, 1), 0);
    assert_int_equal(arrived_at(&stage, ODD_TIMES), stage.now);
    stage_done(&stage);
}

TEST(an_estimate_beyond_all_limits_means_work_without_an_end)
{
    struct stage stage;

    stage_init(&stage);
    stage_engine(&stage, (struct engine_event){
                             .kind = ENGINE_JOB_ARRIVED,
                             .job = { .id = 1,
                                      .first_task_id = 1,
                                      .task_count = 1,
                                      .estimate_ms = LIMIT_TIME_MS + 1 },
                         });

    const struct view *view = stage_view(&stage);

    assert_int_equal(view->task.estimate_ms[view_find_task(view, 1)], MSEC_NEVER);
    stage_done(&stage);
}

TEST(what_was_learned_gives_endless_work_no_end)
{
    struct stage stage;
    const struct runtime_traits traits = { .name = 5, .user = 6, .tasks = 1 };

    stage_init(&stage);
    stage.config.estimates = ESTIMATES_LEARNED;
    stage_restart(&stage);
    for (int run = 0; run < 3; run++)
        controller_teach(stage.controller, &traits, 4000);
    for (uint64_t i = 1; i <= 2; i++)
        stage_engine(&stage,
                     (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                            .job = { .id = i,
                                                     .first_task_id = i,
                                                     .name = 5,
                                                     .user = 6,
                                                     .task_count = 1,
                                                     .estimate_ms = i == 1 ? MSEC_NEVER : -1 } });

    const struct view *view = stage_view(&stage);

    assert_int_equal(view->task.estimate_ms[view_find_task(view, 1)], MSEC_NEVER);
    assert_int_equal(view->task.estimate_ms[view_find_task(view, 2)], 4000);
    stage_done(&stage);
}

TEST(a_bill_by_a_clock_that_is_ahead_is_the_clouds_and_began_by_now)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_move(&stage, 1, 0);
    const msec_t from = stage.now + MSEC_PER_HOUR;

    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_RUNNING, .instance = machine, .billed_from = from });
    assert_int_equal(billed_from(&stage, machine), stage.now);
    stage_gone(&stage, machine, from, from + 777);
    assert_int_equal(stage.billed, 777);
    stage_done(&stage);
}

TEST(a_bill_that_begins_years_from_now_begins_now)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_move(&stage, 1, 0);

    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_RUNNING,
                                              .instance = machine,
                                              .billed_from = 10000 * MSEC_PER_HOUR });

    const msec_t began = stage.now;

    stage_gone(&stage, machine, 10000 * MSEC_PER_HOUR, 10001 * MSEC_PER_HOUR);
    assert_int_equal(stage.billed, stage.now - began);
    stage_done(&stage);
}

TEST(what_runs_is_billed_even_if_nobody_says_since_when)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_move(&stage, 1, 0);

    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_RUNNING, .instance = machine, .billed_from = -1 });
    assert_int_equal(billed_from(&stage, machine), stage.now);
    stage_done(&stage);
}

TEST(nobody_is_billed_since_long_before_he_asked)
{
    struct stage stage;

    stage_init(&stage);
    stage.now = 100000 * MSEC_PER_HOUR;
    stage_job(&stage, 1, 1, false);
    stage_move(&stage, 1, 0);

    const uint64_t machine = stage_instance(&stage, 0);
    const msec_t asked_at = stage.now;

    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_RUNNING, .instance = machine, .billed_from = 0 });
    assert_int_equal(billed_from(&stage, machine), asked_at);
    stage_done(&stage);
}

TEST(a_clock_of_the_cloud_that_is_a_little_behind_is_believed)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_move(&stage, 1, 0);

    const uint64_t machine = stage_instance(&stage, 0);
    const msec_t before = stage.now - 900;

    stage_cloud(&stage, (struct cloud_event){
                            .kind = CLOUD_RUNNING, .instance = machine, .billed_from = before });
    assert_int_equal(billed_from(&stage, machine), before);
    stage_done(&stage);
}

TEST(a_bill_that_ends_before_it_began_is_empty)
{
    struct stage stage;

    stage_init(&stage);

    const uint64_t machine = a_machine(&stage);

    stage_gone(&stage, machine, billed_from(&stage, machine), 5);
    assert_int_equal(stage.bills, 1);
    assert_int_equal(stage.billed, 0);
    stage_done(&stage);
}

TEST(an_offer_that_is_refused_for_ever_does_not_overflow_time)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_move(&stage, 1, 0);
    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED,
                                              .instance = stage_instance(&stage, 0),
                                              .for_ms = INT64_MAX });
    assert_int_equal(stage_view(&stage)->offer_blocked_until[0], stage.now + LIMIT_TIME_MS);
    stage_done(&stage);
}

TEST(time_does_not_go_back)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    controller_decide(stage.controller, stage.now + 5000);
    controller_decide(stage.controller, stage.now);
    assert_int_equal(stage_view(&stage)->now, stage.now + 5000);
    controller_drain(stage.controller, 0);
    assert_int_equal(stage_view(&stage)->now, stage.now + 5000);
    stage_done(&stage);
}

TEST(no_event_is_later_than_the_clock_says)
{
    struct stage stage;

    stage_init(&stage);
    controller_tell_time(stage.controller, 5000);
    controller_on_engine(
        stage.controller,
        &(struct engine_event){
            .kind = ENGINE_JOB_ARRIVED,
            .at = LIMIT_TIME_MS,
            .job = { .id = 1, .first_task_id = 1, .task_count = 1, .arrived_at = LIMIT_TIME_MS },
        });
    assert_int_equal(stage_view(&stage)->now, 5000);
    assert_int_equal(arrived_at(&stage, 1), 5000);
    stage_done(&stage);
}

TEST(a_machine_that_was_remembered_was_not_asked_for_before_time_began)
{
    struct stage stage;

    stage_init(&stage);
    controller_remember(stage.controller, 70, 0, INT64_MIN, stage.now);
    controller_remember(stage.controller, 71, 0, INT64_MAX, stage.now);

    const struct view *view = stage_view(&stage);

    assert_int_equal(view->instance.rented_at[view_find_instance(view, 70)], 0);
    assert_int_equal(view->instance.rented_at[view_find_instance(view, 71)], stage.now);
    stage_done(&stage);
}

/* An event of the kind about task 1, on the machine or on its way there. */
static struct engine_event engine_event(const struct stage *stage, enum engine_event_kind kind,
                                        uint64_t machine, uint64_t key)
{
    struct engine_event event = {
        .kind = kind,
        .task = 1,
        .instance = machine,
        .key = key,
        .job = { .id = 1001, .first_task_id = 1, .task_count = 1 },
    };

    if (kind == ENGINE_JOB_ARRIVED)
        event.job.id = 4711, event.job.first_task_id = 4711;
    if (kind == ENGINE_LISTED)
        event.key = stage->acts[stage->act_count - 1].key;
    return event;
}

/* Whatever was said, a decision and the end of the machine can follow. */
static void go_on(struct stage *stage, uint64_t machine)
{
    view_check(stage_view(stage));
    ledger_check(controller_ledger(stage->controller));
    controller_decide(stage->controller, stage->now);
    controller_on_cloud(stage->controller, &(struct cloud_event){ .kind = CLOUD_GONE,
                                                                  .at = stage->now,
                                                                  .instance = machine,
                                                                  .billed_from = 1000,
                                                                  .billed_to = stage->now });
    assert_true(controller_stats(stage->controller)->instance_ms >= 0);
    assert_true(controller_stats(stage->controller)->bound_task_ms >= 0);
    assert_true(stage->billed >= 0);
}

/* Task 1 is on its way to a machine, or runs there; then the engine says something at an odd time. */
static void hear_engine(enum engine_event_kind kind, msec_t at, msec_t other, bool runs)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_move(&stage, 1, 0);

    const uint64_t machine = stage_instance(&stage, 0);

    stage_running(&stage, machine);
    stage_ready(&stage, machine);

    const uint64_t key = stage_key(&stage, ACT_PLACE, 1);

    if (runs)
        stage_started(&stage, 1);
    if (kind == ENGINE_TASK_STOPPED)
        stage_move(&stage, 1, 1);
    stage_audit(&stage);
    stage_listed(&stage, ACT_LIST_MACHINES);

    struct engine_event event = engine_event(
        &stage, kind, machine,
        kind == ENGINE_TASK_STOPPED ? stage_key(&stage, runs ? ACT_STOP : ACT_CANCEL, 1) : key);

    event.at = at;
    event.started_at = other;
    event.job.arrived_at = other;
    event.job.estimate_ms = other;
    controller_on_engine(stage.controller, &event);
    go_on(&stage, machine);
    stage_done(&stage);
}

TEST(whatever_time_an_event_of_the_engine_brings_the_books_stay_sound)
{
    for (int kind = ENGINE_JOB_ARRIVED; kind <= ENGINE_LISTED; kind++) {
        for (int i = 0; i < ODD_TIMES * ODD_TIMES; i++) {
            hear_engine((enum engine_event_kind)kind, odd_times[i / ODD_TIMES],
                        odd_times[i % ODD_TIMES], true);
            hear_engine((enum engine_event_kind)kind, odd_times[i / ODD_TIMES],
                        odd_times[i % ODD_TIMES], false);
        }
    }
}

/* A machine was asked for, or runs with task 1 on it, or is not known. */
static void hear_cloud(enum cloud_event_kind kind, const msec_t *times, int phase)
{
    struct stage stage;
    uint64_t machine = 99;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    if (phase == 1)
        machine = stage_move(&stage, 1, 0);
    else if (phase == 2)
        machine = stage_launch(&stage, 1, 0);
    stage_audit(&stage);
    controller_on_cloud(stage.controller,
                        &(struct cloud_event){ .kind = kind,
                                               .at = times[0],
                                               .instance = machine,
                                               .key = stage.acts[stage.act_count - 1].key,
                                               .billed_from = times[1],
                                               .billed_to = times[2],
                                               .for_ms = times[2] });
    go_on(&stage, machine);
    stage_done(&stage);
}

TEST(whatever_time_an_event_of_the_cloud_brings_the_books_stay_sound)
{
    for (int kind = CLOUD_RUNNING; kind <= CLOUD_LISTED; kind++) {
        for (int i = 0; i < ODD_TIMES * ODD_TIMES * ODD_TIMES; i++) {
            const msec_t times[] = { odd_times[i % ODD_TIMES], odd_times[i / ODD_TIMES % ODD_TIMES],
                                     odd_times[i / ODD_TIMES / ODD_TIMES] };

            for (int phase = 0; phase < 3; phase++)
                hear_cloud((enum cloud_event_kind)kind, times, phase);
        }
    }
}

CHECK_MAIN(RUN(a_task_that_starts_in_the_future_has_just_started),
           RUN(no_task_has_run_since_before_its_job_arrived),
           RUN(a_start_that_was_long_ago_is_believed),
           RUN(a_job_arrives_by_now_and_not_before_time_began),
           RUN(an_estimate_beyond_all_limits_means_work_without_an_end),
           RUN(what_was_learned_gives_endless_work_no_end),
           RUN(a_bill_by_a_clock_that_is_ahead_is_the_clouds_and_began_by_now),
           RUN(a_bill_that_begins_years_from_now_begins_now),
           RUN(what_runs_is_billed_even_if_nobody_says_since_when),
           RUN(nobody_is_billed_since_long_before_he_asked),
           RUN(a_clock_of_the_cloud_that_is_a_little_behind_is_believed),
           RUN(a_bill_that_ends_before_it_began_is_empty),
           RUN(an_offer_that_is_refused_for_ever_does_not_overflow_time),
           RUN(time_does_not_go_back), RUN(no_event_is_later_than_the_clock_says),
           RUN(a_machine_that_was_remembered_was_not_asked_for_before_time_began),
           RUN(whatever_time_an_event_of_the_engine_brings_the_books_stay_sound),
           RUN(whatever_time_an_event_of_the_cloud_brings_the_books_stay_sound))
