/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller makes of news that comes twice or in the wrong order: a whole story with every
 * kind of event, told once and told twice, and the bills.
 */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

/*
 * Everything twice.
 */

enum { CHAPTERS = 8 };

static void digest(uint64_t *sum, uint64_t value)
{
    *sum = map_mix(*sum ^ value);
}

static void digest_tasks(const struct view *view, uint32_t first, uint64_t *sum)
{
    TASK_EACH(task, view, first)
    {
        digest(sum, view->task.id[task]);
        digest(sum, view->task.run_key[task]);
        digest(sum, view->task.rate_ppm[task]);
        digest(sum, view->task.launches[task]);
        digest(sum, view->task.stops[task]);
        digest(sum, (uint64_t)view->task.executed_ms[task]);
        digest(sum, (uint64_t)view->task.launched_at[task]);
        digest(sum, (uint64_t)view->task.bound_at[task]);
        digest(sum, view->task.state[task]);
        digest(sum, view->job.tasks_left[view->task.job[task]]);
        digest(sum, view->job.tasks_running[view->task.job[task]]);
    }
}

/* All that the controller knows and says, as one number. */
static uint64_t digest_stage(const struct stage *stage)
{
    const struct view *view = stage_view(stage);
    const struct ledger_totals *totals = ledger_totals(controller_ledger(stage->controller));
    uint64_t sum = 0;

    digest_tasks(view, view->task.waiting_first, &sum);
    INSTANCE_EACH(instance, view)
    {
        digest(&sum, view->instance.id[instance]);
        digest(&sum, view->instance.offer[instance]);
        digest(&sum, view->instance.state[instance]);
        digest(&sum, (uint64_t)view->instance.billed_from[instance]);
        digest(&sum, (uint64_t)view->instance.under_half_since[instance]);
        digest_tasks(view, view->instance.first_task[instance], &sum);
    }
    for (uint32_t i = 0; i < view->catalogue->offer_count; i++)
        digest(&sum, (uint64_t)view->offer_blocked_until[i]);
    digest(&sum, (uint64_t)totals->sums.bill);
    digest(&sum, (uint64_t)totals->sums.work);
    digest(&sum, (uint64_t)totals->settled);
    digest(&sum, totals->opened);
    digest(&sum, (uint64_t)controller_next_wake(stage->controller));
    digest(&sum, controller_wants_decision(stage->controller));
    digest(&sum, stage->act_count);
    return sum;
}

/* Arrivals, machines that come, tasks that start and tell their pace. */
static void tell_beginning(struct stage *stage)
{
    stage_job(stage, 1, 2, true);
    stage_job(stage, 10, 1, false);
    stage_decide(stage, (struct script){
                            .rents = { 0, 1 },
                            .rent_count = 2,
                            .places = { { .task = 1 }, { .task = 2 }, { .task = 10, .rent = 1 } },
                            .place_count = 3,
                        });
    for (uint32_t back = 2; back > 0; back--) {
        stage_running(stage, stage_instance(stage, back - 1));
        stage_ready(stage, stage_instance(stage, back - 1));
    }
    stage_started(stage, 1);
    stage_started(stage, 2);
    stage_started(stage, 10);
    for (uint64_t task = 1; task <= 2; task++)
        stage_engine(stage, (struct engine_event){ .kind = ENGINE_TASK_RATE,
                                                   .task = task,
                                                   .key = stage_key(stage, ACT_PLACE, task),
                                                   .rate_ppm = 900000 });
}

/* Task 10 moves to the first machine, the second goes back. */
static void tell_move(struct stage *stage)
{
    const uint64_t left = stage_instance(stage, 0);

    stage_decide(stage, (struct script){
                            .places = { { .task = 10, .instance = stage_instance(stage, 1) } },
                            .place_count = 1,
                            .releases = { left },
                            .release_count = 1,
                        });
    stage_stopped(stage, 10);
    stage_started(stage, 10);
    stage_gone_now(stage, left);
}

/* The first machine is to be taken away; it goes back when its tasks have left in three ways. */
static void tell_notice(struct stage *stage)
{
    const uint64_t machine = stage_instance(stage, 1);

    stage_cloud(stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = machine });
    stage_stopped(stage, 1);
    stage_lost(stage, 2);
    stage_stopped(stage, 10);
    stage_gone_now(stage, machine);
}

/* One machine is refused, the other comes; then task 10 fails on it once. */
static void tell_refusal(struct stage *stage)
{
    stage_decide(stage, (struct script){
                            .rents = { 0, 1 },
                            .rent_count = 2,
                            .places = { { .task = 1 }, { .task = 2 }, { .task = 10, .rent = 1 } },
                            .place_count = 3,
                        });

    const uint64_t machine = stage_instance(stage, 1);

    stage_cloud(
        stage, (struct cloud_event){ .kind = CLOUD_REFUSED, .instance = stage_instance(stage, 0) });
    stage_running(stage, machine);
    stage_ready(stage, machine);
    stage_started(stage, 1);
    stage_started(stage, 2);
    stage_put(stage, 10, machine);
    stage_started(stage, 10);
    stage_lost(stage, 10);
    stage_put(stage, 10, machine);
}

/* That machine is lost without a word before. */
static void tell_loss(struct stage *stage)
{
    stage_gone_now(stage, stage_instance(stage, 1));
    stage_lost(stage, 1);
}

static void tell_restart(struct stage *stage)
{
    stage_decide(stage, (struct script){
                            .rents = { 1 },
                            .rent_count = 1,
                            .places = { { .task = 1 }, { .task = 2 }, { .task = 10 } },
                            .place_count = 3,
                        });
    stage_running(stage, stage_instance(stage, 0));
    stage_ready(stage, stage_instance(stage, 0));
    stage_started(stage, 10);
    stage_started(stage, 1);
    stage_started(stage, 2);
}

static void tell_ends(struct stage *stage)
{
    stage_finished(stage, 1);
    stage_finished(stage, 10);
    stage_finished(stage, 2);
}

static void tell_return(struct stage *stage)
{
    const uint64_t machine = stage_instance(stage, 0);

    stage_release(stage, machine);
    stage_gone_now(stage, machine);
}

/* The whole story; how things stand after each chapter. */
static void tell_all(struct stage *stage, uint64_t *digests)
{
    void (*const chapters[CHAPTERS])(struct stage * stage) = {
        tell_beginning, tell_move,    tell_notice, tell_refusal,
        tell_loss,      tell_restart, tell_ends,   tell_return,
    };

    for (uint32_t i = 0; i < CHAPTERS; i++) {
        chapters[i](stage);
        digests[i] = digest_stage(stage);
    }
}

TEST(every_event_that_is_heard_twice_changes_nothing_more)
{
    struct stage once;
    struct stage twice;
    uint64_t told_once[CHAPTERS];
    uint64_t told_twice[CHAPTERS];

    stage_init(&once);
    tell_all(&once, told_once);
    stage_init(&twice);
    twice.more_times = 1;
    tell_all(&twice, told_twice);

    assert_true(controller_is_idle(once.controller));
    assert_int_equal(controller_stats(once.controller)->late_events, 1); /* the loss of task 1 */
    assert_true(controller_stats(twice.controller)->late_events > 20);
    for (uint32_t i = 0; i < CHAPTERS; i++) {
        if (told_once[i] != told_twice[i])
            fail_msg("chapter %u ends otherwise", i);
    }
    assert_int_equal(once.act_count, twice.act_count);
    assert_memory_equal(once.acts, twice.acts, once.act_count * sizeof(*once.acts));
    stage_done(&once);
    stage_done(&twice);
}

TEST(every_act_has_a_key_of_its_own)
{
    struct stage stage;
    uint64_t digests[CHAPTERS];
    struct map seen;

    stage_init(&stage);
    tell_all(&stage, digests);

    map_init(&seen);
    for (uint32_t i = 0; i < stage.act_count; i++) {
        const struct act *act = &stage.acts[i];
        const uint64_t key = act->kind == ACT_RENT ? act->instance : act->key;

        if (act->kind != ACT_RENT && act->kind != ACT_PLACE && act->kind != ACT_STOP)
            continue;
        assert_int_not_equal(key, 0);
        assert_int_equal(map_get(&seen, key), MAP_NONE);
        map_put(&seen, key, 1);
    }
    map_done(&seen);
    stage_done(&stage);
}

TEST(every_machine_of_the_story_is_given_back_or_reported_gone_once)
{
    struct stage stage;
    uint64_t digests[CHAPTERS];
    uint32_t given_back = 0;

    stage_init(&stage);
    tell_all(&stage, digests);
    for (uint32_t i = 0; i < stage.act_count; i++)
        given_back += stage.acts[i].kind == ACT_GIVE_BACK;

    /* Five were asked for: one was refused, one lost, three went back. Events and decisions are a
     * second apart: the first ran for 17 of them, the second for 10, then 8 and 9. */
    assert_int_equal(controller_stats(stage.controller)->rented, 5);
    assert_int_equal(controller_stats(stage.controller)->refused, 1);
    assert_int_equal(controller_stats(stage.controller)->lost, 1);
    assert_int_equal(given_back, 3);
    assert_int_equal(ledger_totals(controller_ledger(stage.controller))->open, 0);
    assert_int_equal(ledger_totals(controller_ledger(stage.controller))->sums.bill,
                     17000 + 10000 + 8000 + 9000);
    stage_done(&stage);
}

/*
 * The bills. A micro-dollar is a millisecond.
 */

static const struct ledger_totals *books(const struct stage *stage)
{
    return ledger_totals(controller_ledger(stage->controller));
}

TEST(a_machine_that_is_gone_before_we_heard_that_it_runs_is_billed_right)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    stage_gone(&stage, machine, 2500, 2600);
    stage_running(&stage, machine);

    assert_int_equal(books(&stage)->sums.bill, 100);
    assert_int_equal(books(&stage)->opened, 1);
    assert_int_equal(books(&stage)->open, 0);
    assert_int_equal(stage_view(&stage)->instance.living, 0);
    assert_int_equal(controller_stats(stage.controller)->late_events, 1);
    stage_done(&stage);
}

TEST(a_task_pays_from_its_start_to_its_end)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const msec_t started = stage.now;
    stage.now += 7000;
    stage_finished(&stage, 1);
    const msec_t finished = stage.now;
    stage_release(&stage, machine);
    stage_gone(&stage, machine, started - 2000, finished + 500);

    assert_int_equal(stage.settled, finished - started);
    assert_int_equal(books(&stage)->sums.work, finished - started);
    assert_int_equal(books(&stage)->sums.boot, 1000);
    assert_int_equal(books(&stage)->sums.idle, 1000 + 500);
    stage_done(&stage);
}

TEST(a_task_that_is_stopped_pays_until_it_has_left)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    (void)stage_launch(&stage, 1, 0);
    const msec_t started = stage.now;
    (void)stage_move(&stage, 1, 1);
    stage.now += 4000; /* it saves what it has */
    stage_stopped(&stage, 1);

    assert_int_equal(books(&stage)->sums.work, stage.now - started);
    stage_done(&stage);
}

TEST(tasks_pay_from_their_start_though_the_news_that_the_machine_runs_comes_last)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_move(&stage, 1, 0);
    const struct cloud_event late = {
        .kind = CLOUD_RUNNING,
        .at = stage.now,
        .instance = machine,
        .billed_from = stage.now,
    };
    stage_ready(&stage, machine);
    stage_started(&stage, 1);
    const msec_t started = stage.now;
    controller_on_cloud(stage.controller, &late);
    stage_finished(&stage, 1);
    stage_release(&stage, machine);
    stage_gone(&stage, machine, late.billed_from, stage.now);

    assert_int_equal(books(&stage)->sums.boot, started - late.billed_from);
    assert_int_equal(stage.settled, 1000); /* from the start to the end */
    assert_int_equal(books(&stage)->sums.bill, stage.now - 1000 - late.billed_from);
    stage_done(&stage);
}

TEST(a_machine_that_was_lost_is_billed_until_then_though_its_tasks_stop_later)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    const uint64_t machine = stage_launch(&stage, 1, 0);
    const msec_t lost = stage.now + 100;
    (void)stage_move(&stage, 1, 1);
    stage_stopped(&stage, 1); /* the engine found nothing to stop */
    stage_gone(&stage, machine, lost - 2100, lost);

    assert_int_equal(books(&stage)->sums.bill, 2100);
    stage_done(&stage);
}

CHECK_MAIN(RUN(every_event_that_is_heard_twice_changes_nothing_more),
           RUN(every_act_has_a_key_of_its_own),
           RUN(every_machine_of_the_story_is_given_back_or_reported_gone_once),
           RUN(a_machine_that_is_gone_before_we_heard_that_it_runs_is_billed_right),
           RUN(a_task_pays_from_its_start_to_its_end),
           RUN(a_task_that_is_stopped_pays_until_it_has_left),
           RUN(tasks_pay_from_their_start_though_the_news_that_the_machine_runs_comes_last),
           RUN(a_machine_that_was_lost_is_billed_until_then_though_its_tasks_stop_later))
