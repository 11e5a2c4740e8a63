/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/repack.h"

#include "decide/test/yard.h"

static const struct repack_options options = { .after = 3 * YARD_MINUTE };

/* Types of 4, 8, 16 and 32 CPUs at one price for a CPU; tasks of 1 CPU and of 8. */
enum { FOUR, EIGHT, SIXTEEN, THIRTY_TWO };
enum { SMALL_TASK, WIDE_TASK };

static void init(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 4, 16, 0, 0.4);
    (void)yard_type(yard, "a", 8, 32, 0, 0.8);
    (void)yard_type(yard, "a", 16, 64, 0, 1.6);
    (void)yard_type(yard, "a", 32, 128, 0, 3.2);
    (void)yard_shape(yard, 1, 4, 0);
    (void)yard_shape(yard, 8, 32, 0);
}

static uint32_t services(struct yard *yard, uint32_t offer, uint32_t shape, uint32_t tasks)
{
    const uint32_t machine = yard_machine(yard, offer);

    for (uint32_t i = 0; i < tasks; i++)
        yard_run(yard, yard_task_for(yard, shape, MSEC_NEVER), machine);
    yard->view.instance.has_shrunk[machine] = true;
    return machine;
}

static void run_with(struct yard *yard, struct repack_memory *memory)
{
    struct runtime_bins bins;

    runtime_bins_build(&bins, &yard->view, RUNTIME_PAID, &yard->arena);
    repack_run(&bins, &options, memory, &yard->plan);
}

static void run_after(struct yard *yard, msec_t time)
{
    yard->view.now += time;
    run_with(yard, NULL);
}

TEST(where_no_task_has_ended_nothing_is_moved_for_half_an_hour)
{
    struct yard yard;

    init(&yard);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t machine = services(&yard, SIXTEEN, SMALL_TASK, 9);

        yard.view.instance.has_shrunk[machine] = false;
    }
    run_after(&yard, 30 * YARD_MINUTE - 1);
    assert_int_equal(yard.plan.rent_count, 0);
    run_after(&yard, 10 * YARD_MINUTE);
    assert_true(yard.plan.rent_count > 0);
    yard_done(&yard);
}

/* None of them can be emptied into another, and each is used by more than half. */
TEST(machines_that_are_used_by_more_than_half_are_left_together)
{
    struct yard yard;
    uint32_t machines[4];

    init(&yard);
    for (uint32_t i = 0; i < 4; i++)
        machines[i] = services(&yard, SIXTEEN, SMALL_TASK, 9);
    run_after(&yard, 10 * YARD_MINUTE);

    money_t rented = 0;

    for (uint32_t i = 0; i < yard.plan.rent_count; i++)
        rented += yard.view.offer_price[yard.plan.rents[i].offer];
    money_t left = 0;

    for (uint32_t i = 0; i < 4; i++)
        left += yard_releases(&yard, machines[i]) ? YARD_USD(1.6) : 0;
    assert_true(left > 0);
    assert_true(4 * YARD_USD(1.6) - left + rented <=
                YARD_USD(4.0)); /* 36 CPUs cost 3.60 at the least */
    assert_int_equal(yard.plan.places[0].why.code, REASON_REPACKED);
    yard_done(&yard);
}

TEST(tasks_go_to_room_that_there_is_for_nothing)
{
    struct yard yard;

    init(&yard);
    const uint32_t few = services(&yard, SIXTEEN, SMALL_TASK, 3);
    const uint32_t most = services(&yard, SIXTEEN, SMALL_TASK, 13);

    run_after(&yard, 10 * YARD_MINUTE);
    assert_int_equal(yard.plan.rent_count, 0);
    assert_int_equal(yard.plan.place_count, 3);
    assert_int_equal(yard.plan.places[0].target, most);
    assert_true(yard_releases(&yard, few));
    assert_int_equal(yard.plan.release_count, 1);
    yard_done(&yard);
}

TEST(a_tenth_must_be_saved)
{
    struct yard yard;

    init(&yard);
    (void)services(&yard, SIXTEEN, SMALL_TASK, 15);
    (void)services(&yard, SIXTEEN, SMALL_TASK, 15);
    run_after(&yard, 10 * YARD_MINUTE);
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(moves_that_cost_more_than_they_save_are_not_made)
{
    struct yard yard;

    init(&yard);
    (void)services(&yard, SIXTEEN, SMALL_TASK, 3);
    (void)services(&yard, SIXTEEN, SMALL_TASK, 13);
    yard_delays(&yard, (struct shape_delays){ .init_ms = 8 * YARD_HOUR });
    run_after(&yard, 10 * YARD_MINUTE);
    assert_int_equal(yard.plan.place_count, 0);
    yard_done(&yard);
}

TEST(work_that_ends_is_fixed_promised_or_moved_too_often_stays)
{
    enum { ENDS, FIXED, PROMISED, TIRED, CASES };

    for (int i = 0; i < CASES; i++) {
        struct yard yard;

        init(&yard);
        const uint32_t few = services(&yard, SIXTEEN, SMALL_TASK, 3);
        const uint32_t task = yard.view.instance.first_task[few];
        const uint32_t job = yard.view.task.job[task];

        (void)services(&yard, SIXTEEN, SMALL_TASK, 13);
        if (i == ENDS)
            yard.view.task.estimate_ms[task] = 5 * YARD_HOUR;
        yard_fix(&yard.view, job, i == FIXED);
        yard.view.job.short_ppb[job] = i == PROMISED ? 1000000 : 0;
        yard.view.task.stops[task] = i == TIRED ? 3 : 0;
        run_after(&yard, 10 * YARD_MINUTE);
        assert_false(yard_releases(&yard, few));
        if (i == TIRED) { /* for now */
            run_after(&yard, YARD_HOUR);
            assert_true(yard_releases(&yard, few));
        }
        yard_done(&yard);
    }
}

/* A cluster that shrinks is packed when it has shrunk. */
TEST(machines_wait_for_those_that_have_just_changed)
{
    struct yard yard;

    init(&yard);
    const uint32_t few = services(&yard, SIXTEEN, SMALL_TASK, 3);

    (void)services(&yard, SIXTEEN, SMALL_TASK, 13);
    run_after(&yard, YARD_MINUTE);
    assert_false(repack_has_any(&yard.view, &options, &yard.plan));
    assert_int_equal(yard.plan.wake_at, yard.view.now + 2 * YARD_MINUTE);
    assert_int_equal(yard.plan.place_count, 0);
    (void)services(&yard, SIXTEEN, SMALL_TASK, 5);
    run_after(&yard, 2 * YARD_MINUTE + 1);
    assert_true(repack_has_any(&yard.view, &options, &yard.plan));
    assert_int_equal(yard.plan.place_count, 0);
    run_after(&yard, YARD_MINUTE);
    assert_true(yard_releases(&yard, few));
    yard_done(&yard);
}

TEST(nobody_waits_for_long_where_others_always_change)
{
    struct yard yard;

    init(&yard);
    const uint32_t few = services(&yard, SIXTEEN, SMALL_TASK, 3);

    (void)services(&yard, SIXTEEN, SMALL_TASK, 13);
    yard.view.now += 6 * YARD_MINUTE - 1;
    (void)services(&yard, SIXTEEN, SMALL_TASK, 5);
    run_with(&yard, NULL);
    assert_false(yard_releases(&yard, few));
    run_after(&yard, 1);
    assert_true(yard_releases(&yard, few));
    yard_done(&yard);
}

/* What waits for nothing is not tried again; when something has changed, it is. */
TEST(what_gave_nothing_is_remembered_until_something_changes)
{
    struct repack_memory memory = { 0 };
    struct yard yard;

    init(&yard);
    const uint32_t few = services(&yard, THIRTY_TWO, WIDE_TASK, 3);

    for (uint32_t offer = FOUR; offer <= THIRTY_TWO; offer++)
        yard.view.offer_blocked_until[offer] = offer == THIRTY_TWO ? 0 : MSEC_NEVER;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    yard.view.now += 10 * YARD_MINUTE;
    run_with(&yard, &memory);
    assert_int_equal(yard.plan.place_count, 0);
    assert_true(memory.dull != 0);
    yard.view.offer_blocked_until[EIGHT] = 0;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    run_with(&yard, &memory);
    assert_true(yard_releases(&yard, few));
    assert_int_equal(yard.plan.rent_count, 3);
    yard_done(&yard);
}

CHECK_MAIN(RUN(where_no_task_has_ended_nothing_is_moved_for_half_an_hour),
           RUN(machines_that_are_used_by_more_than_half_are_left_together),
           RUN(tasks_go_to_room_that_there_is_for_nothing), RUN(a_tenth_must_be_saved),
           RUN(moves_that_cost_more_than_they_save_are_not_made),
           RUN(work_that_ends_is_fixed_promised_or_moved_too_often_stays),
           RUN(machines_wait_for_those_that_have_just_changed),
           RUN(nobody_waits_for_long_where_others_always_change),
           RUN(what_gave_nothing_is_remembered_until_something_changes))
