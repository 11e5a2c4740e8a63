/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/room_soon.h"

#include "decide/test/minute_yard.h"

static const struct wait_limits limits = { .paid_wait = 60 * SECOND };
static const struct life_odds odds; /* nothing was learned */

/* A small machine that has been billed for 'billed' and is full for 'busy' more. */
static uint32_t full(struct yard *yard, msec_t billed, msec_t busy)
{
    const uint32_t machine = yard_machine(yard, TWO);

    view_set_billed_from(&yard->view, machine, yard->view.now - billed);
    yard_run(yard, yard_task_for(yard, ONE_CPU, busy), machine);
    yard_run(yard, yard_task_for(yard, ONE_CPU, busy), machine);
    return machine;
}

/* How many of the tasks that wait find no room soon. */
static uint32_t left_over(struct yard *yard, const struct wait_limits *how, bool *expected)
{
    struct batches batches;
    struct runtime_bins bins;
    struct row_map uses;
    uint32_t left = 0;

    row_map_init(&uses, &yard->arena);
    minute_yard_bins(yard, &bins);
    batches_build(&batches, &yard->view, &yard->arena);
    room_soon(&batches, &bins, how, &odds, &yard->plan, &uses);
    for (uint32_t i = 0; i < batches.count; i++)
        left += batches.rows[i].left;
    expected[0] = row_map_get(&uses, 0) == USE_EXPECTED;
    return left;
}

static void init_later(struct yard *yard)
{
    minute_yard_init(yard);
    yard->view.now = YARD_HOUR;
}

/* A task whose job arrived so long ago. */
static void waiting_for(struct yard *yard, msec_t waited, msec_t runtime)
{
    const uint32_t task = yard_task_for(yard, ONE_CPU, runtime);

    yard->view.job.arrived_at[yard->view.task.job[task]] = yard->view.now - waited;
}

TEST(room_that_comes_before_a_machine_would_boot_is_waited_for)
{
    struct yard yard;
    bool expected[1] = { false };

    init_later(&yard);
    (void)full(&yard, 300 * SECOND, 2 * SECOND);
    waiting_for(&yard, 0, 600 * SECOND);
    waiting_for(&yard, 0, 600 * SECOND);
    waiting_for(&yard, 0, 600 * SECOND);

    assert_int_equal(left_over(&yard, &limits, expected), 1); /* there are two places */
    assert_true(expected[0]);
    yard_done(&yard);
}

/* So many tasks of ten minutes wait, and a large machine, which costs as much as four small ones, has nothing else to do in a second. */
static uint32_t left_by_large(uint32_t count, bool fixed, double doubt)
{
    const struct wait_limits how = { .paid_wait = 60 * SECOND, .doubt = doubt };
    struct yard yard;
    bool expected[1] = { false };
    uint32_t machine;
    uint32_t left;

    init_later(&yard);
    machine = yard_machine(&yard, EIGHT);
    view_set_billed_from(&yard.view, machine, yard.view.now - 300 * SECOND);
    yard_run(&yard, yard_task_for(&yard, EIGHT_CPUS, SECOND), machine);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t task = yard_task_for(&yard, ONE_CPU, 600 * SECOND);

        yard.view.job.arrived_at[yard.view.task.job[task]] = yard.view.now;
        yard_fix(&yard.view, yard.view.task.job[task], fixed);
    }
    left = left_over(&yard, &how, expected);
    yard_done(&yard);
    return left;
}

TEST(nobody_waits_for_a_machine_that_would_last_for_longer_than_that_is_worth)
{
    assert_int_equal(left_by_large(3, false, 0), 3);
    assert_int_equal(left_by_large(4, false, 0), 0); /* all or none: one by one none would pay */
    assert_int_equal(left_by_large(4, true, 0), 0);
}

TEST(work_that_may_run_on_and_must_not_be_moved_waits_for_less)
{
    assert_int_equal(left_by_large(8, true, 0), 0);
    assert_int_equal(left_by_large(8, true, 2), 8);
    assert_int_equal(left_by_large(8, false, 2), 0);
}

/* A machine takes two seconds: room that is free in one can be used in one, or with the next decision. */
TEST(in_rounds_room_is_there_with_the_first_decision_after_it_comes_free)
{
    static const msec_t rounds[] = { 0, 2 * SECOND, 3 * SECOND };
    static const msec_t starts[] = { 1 * SECOND, 2 * SECOND, MSEC_NEVER };

    for (uint32_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
        struct yard yard;
        bool expected[1] = { false };

        init_later(&yard);
        yard.view.round_ms = rounds[i];
        (void)full(&yard, 300 * SECOND, 1 * SECOND);
        waiting_for(&yard, 0, 600 * SECOND);

        assert_int_equal(left_over(&yard, &limits, expected), starts[i] == MSEC_NEVER);
        assert_int_equal(yard.plan.wait_count, starts[i] != MSEC_NEVER);
        if (yard.plan.wait_count > 0)
            assert_int_equal(yard.plan.waits[0].expected, yard.view.now + starts[i]);
        yard_done(&yard);
    }
}

/* What a task costs alone on the small machine. */
static money_t alone(const struct yard *yard, msec_t runtime)
{
    const msec_t setup = catalogue_type_of(&yard->catalogue, TWO)->setup_ms;

    return money_for(yard->view.offer_price[TWO],
                     billing_paid_span(&yard->catalogue.offers[TWO].billing, setup + runtime));
}

TEST(who_waits_for_room_says_for_what_how_long_and_what_a_machine_would_cost)
{
    struct yard yard;
    bool expected[1] = { false };

    init_later(&yard);
    (void)full(&yard, 300 * SECOND, 1 * SECOND);
    waiting_for(&yard, 0, 600 * SECOND);
    assert_int_equal(left_over(&yard, &limits, expected), 0);

    const struct plan_wait *wait = &yard.plan.waits[0];

    assert_int_equal(yard.plan.wait_count, 1);
    assert_int_equal(wait->task, 2);
    assert_int_equal(wait->rule, WAIT_ROOM);
    assert_false(wait->fresh);
    assert_int_equal(wait->target, 0);
    assert_int_equal(wait->expected, yard.view.now + 1 * SECOND);
    assert_int_equal(wait->until, yard.view.now + 2 * SECOND); /* a machine takes as long */
    assert_int_equal(wait->rent_offer, TWO);
    assert_int_equal(wait->rent_cost, alone(&yard, 600 * SECOND));
    assert_int_equal(wait->wait_cost, money_for(yard.view.offer_price[TWO], 600 * SECOND));
    yard_done(&yard);
}

TEST(who_waits_in_paid_time_pays_nothing_more)
{
    struct yard yard;
    bool expected[1] = { false };

    init_later(&yard);
    (void)full(&yard, 0, 10 * SECOND);
    waiting_for(&yard, 5 * SECOND, 10 * SECOND);
    assert_int_equal(left_over(&yard, &limits, expected), 0);
    assert_int_equal(yard.plan.wait_count, 1);
    assert_int_equal(yard.plan.waits[0].rule, WAIT_PAID_ROOM);
    assert_int_equal(yard.plan.waits[0].expected, yard.view.now + 10 * SECOND);
    assert_int_equal(yard.plan.waits[0].until, yard.view.now + 55 * SECOND);
    assert_int_equal(yard.plan.waits[0].rent_cost, alone(&yard, 10 * SECOND));
    assert_int_equal(yard.plan.waits[0].wait_cost, 0);
    yard_done(&yard);
}

TEST(room_that_comes_later_is_not_waited_for_beyond_paid_time)
{
    struct yard yard;
    bool expected[1] = { false };

    init_later(&yard);
    (void)full(&yard, 300 * SECOND, 3 * SECOND);
    waiting_for(&yard, 0, 5 * SECOND);

    assert_int_equal(left_over(&yard, &limits, expected), 1);
    assert_false(expected[0]);
    yard_done(&yard);
}

TEST(tasks_queue_behind_each_other_in_paid_time)
{
    struct yard yard;
    bool expected[1] = { false };

    init_later(&yard);
    (void)full(&yard, 0, 10 * SECOND); /* 50 s are paid after that: two places, five times */
    for (int i = 0; i < 11; i++)
        waiting_for(&yard, 0, 10 * SECOND);

    assert_int_equal(left_over(&yard, &limits, expected), 1);
    yard_done(&yard);
}

TEST(who_has_waited_longer_is_promised_less_and_the_plan_wakes_before_it_is_too_long)
{
    struct yard yard;
    bool expected[1] = { false };

    init_later(&yard);
    (void)full(&yard, 0, 10 * SECOND);
    waiting_for(&yard, 51 * SECOND, 10 * SECOND);
    waiting_for(&yard, 49 * SECOND, 10 * SECOND);
    assert_int_equal(left_over(&yard, &limits, expected), 1);

    assert_int_equal(yard.plan.wake_at, yard.view.now + 11 * SECOND + 1);
    yard_done(&yard);
}

TEST(a_limit_shortens_the_wait_for_room)
{
    struct yard yard;
    bool expected[1] = { false };
    const struct wait_limits strict = { .boot_wait = 1 * SECOND };

    init_later(&yard);
    (void)full(&yard, 0, 2 * SECOND);
    waiting_for(&yard, 0, 5 * SECOND);

    assert_int_equal(left_over(&yard, &strict, expected), 1);
    yard_done(&yard);
}

TEST(gangs_and_jobs_that_are_spread_do_not_wait)
{
    struct yard yard;
    bool expected[1] = { false };

    init_later(&yard);
    (void)full(&yard, 0, SECOND);
    yard.view.job.arrived_at[yard.view.task.job[yard_job(&yard, ONE_CPU, 2, true)]] = yard.view.now;
    yard.view.job.arrived_at[yard.view.task.job[yard_spread_job(&yard, ONE_CPU, 2)]] =
        yard.view.now;

    assert_int_equal(left_over(&yard, &limits, expected), 4);
    yard_done(&yard);
}

TEST(a_task_that_nothing_can_be_rented_for_waits_for_any_room)
{
    struct yard yard;
    bool expected[1] = { false };

    init_later(&yard);
    (void)full(&yard, 300 * SECOND, YARD_HOUR);
    waiting_for(&yard, YARD_HOUR, YARD_HOUR);
    yard.view.offer_blocked_until[TWO] = MSEC_NEVER;
    yard.view.offer_blocked_until[EIGHT] = MSEC_NEVER;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);

    assert_int_equal(left_over(&yard, &limits, expected), 0);
    assert_int_equal(yard.plan.wake_at, MSEC_NEVER);
    yard_done(&yard);
}

/* Room is given in the order of time, whatever tells when it comes: an end that is known, a task that has outlived its
 * estimate and is taken to be half way, one that has not started. */
TEST(the_room_that_comes_first_is_given_first)
{
    enum { KNOWN, OLD, BOUND, MACHINES };

    static const msec_t waits[MACHINES][MACHINES] = { { 1000, 1500, 1800 },
                                                      { 1500, 1000, 1800 },
                                                      { 1500, 1800, 1000 } };

    for (uint32_t first = 0; first < MACHINES; first++) {
        const msec_t *wait = waits[first];
        struct yard yard;
        struct batches batches;
        struct runtime_bins bins;
        struct row_map uses;

        init_later(&yard);
        for (uint32_t i = 0; i < MACHINES; i++) {
            const uint32_t machine = yard_machine(&yard, TWO);
            const uint32_t tasks[] = { yard_task_for(&yard, ONE_CPU, wait[i]),
                                       yard_task_for(&yard, ONE_CPU, YARD_HOUR) };

            view_bind(&yard.view, tasks[0], machine);
            if (i == KNOWN)
                view_mark_running(&yard.view, tasks[0], yard.view.now);
            if (i == OLD)
                view_mark_running(&yard.view, tasks[0], yard.view.now - wait[i]);
            yard_run(&yard, tasks[1], machine);
        }
        waiting_for(&yard, 0, YARD_HOUR);
        row_map_init(&uses, &yard.arena);
        minute_yard_bins(&yard, &bins);
        batches_build(&batches, &yard.view, &yard.arena);
        room_soon(&batches, &bins, &limits, &odds, &yard.plan, &uses);

        assert_int_equal(batches.rows[0].left, 0);
        for (uint32_t i = 0; i < MACHINES; i++)
            assert_int_equal(row_map_get(&uses, i), i == first ? USE_EXPECTED : USE_NONE);
        yard_done(&yard);
    }
}

CHECK_MAIN(RUN(in_rounds_room_is_there_with_the_first_decision_after_it_comes_free),
           RUN(the_room_that_comes_first_is_given_first),
           RUN(room_that_comes_before_a_machine_would_boot_is_waited_for),
           RUN(nobody_waits_for_a_machine_that_would_last_for_longer_than_that_is_worth),
           RUN(work_that_may_run_on_and_must_not_be_moved_waits_for_less),
           RUN(who_waits_for_room_says_for_what_how_long_and_what_a_machine_would_cost),
           RUN(who_waits_in_paid_time_pays_nothing_more),
           RUN(room_that_comes_later_is_not_waited_for_beyond_paid_time),
           RUN(tasks_queue_behind_each_other_in_paid_time),
           RUN(who_has_waited_longer_is_promised_less_and_the_plan_wakes_before_it_is_too_long),
           RUN(a_limit_shortens_the_wait_for_room), RUN(gangs_and_jobs_that_are_spread_do_not_wait),
           RUN(a_task_that_nothing_can_be_rented_for_waits_for_any_room))
