/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/ends_soon.h"

#include "decide/room_soon.h"
#include "decide/test/minute_yard.h"

/* Of a hundred runs each tenth ends in each of the first octaves. */
static struct life_table some_learned(void)
{
    struct life_table table = { 0 };

    for (int i = 0; i < 100; i++)
        life_table_learn(&table, ((msec_t)1 << i / 10) * SECOND);
    return table;
}

static const struct life_table nothing_learned;

/* A task of unknown runtime with a limit of ten minutes. */
static uint32_t unknown_task(struct yard *yard)
{
    const uint32_t task = yard_task(yard, ONE_CPU);

    view_set_estimate(&yard->view, yard->view.task.job[task], 600 * SECOND, true);
    return task;
}

/* So many of them run, on small machines. */
static void unknown_running(struct yard *yard, uint32_t count)
{
    uint32_t machine = ROW_NONE;

    for (uint32_t i = 0; i < count; i++) {
        if (i % 2 == 0)
            machine = yard_machine(yard, TWO);
        yard_run(yard, unknown_task(yard), machine);
    }
}

static struct expected_ends ends_of(struct yard *yard, msec_t horizon)
{
    const struct life_table lives = some_learned();
    const struct life_odds odds = ends_odds(&yard->view, &lives);

    return ends_soon(&yard->view, &odds, horizon, &yard->arena);
}

TEST(of_many_some_end_soon)
{
    struct yard yard;

    minute_yard_init(&yard);
    unknown_running(&yard, 100);
    yard.view.now = 4 * SECOND;

    const struct expected_ends ends = ends_of(&yard, 60 * SECOND);

    assert_true(ends.count > 2 && ends.count < 100);
    assert_true(ends.rows[0].at < 10 * SECOND);
    for (uint32_t i = 1; i < ends.count; i++)
        assert_true(ends.rows[i - 1].at <= ends.rows[i].at && ends.rows[i].at <= 60 * SECOND);
    yard_done(&yard);
}

TEST(the_longer_they_have_run_the_later_the_next_ends)
{
    struct yard yard;

    minute_yard_init(&yard);
    unknown_running(&yard, 20);
    yard.view.now = 4 * SECOND;

    const msec_t young = ends_of(&yard, 300 * SECOND).rows[0].at;

    yard.view.now = 70 * SECOND;

    const msec_t old = ends_of(&yard, 300 * SECOND).rows[0].at;

    assert_true(old > 4 * young);
    yard_done(&yard);
}

TEST(the_youngest_is_taken_to_be_the_next)
{
    struct yard yard;

    minute_yard_init(&yard);
    unknown_running(&yard, 20);
    yard.view.now = 100 * SECOND;

    const uint32_t machine = yard_machine(&yard, TWO);
    const uint32_t late = unknown_task(&yard);

    yard_run(&yard, late, machine);
    yard.view.now += 3 * SECOND;
    assert_int_equal(ends_of(&yard, 300 * SECOND).rows[0].task, late);
    yard_done(&yard);
}

TEST(what_waits_for_its_machine_ends_so_much_later)
{
    struct yard yard;

    minute_yard_init(&yard);
    unknown_running(&yard, 40);

    const msec_t now = ends_of(&yard, 300 * SECOND).rows[0].at;
    struct yard booting;

    minute_yard_init(&booting);
    for (uint32_t i = 0; i < 40; i++) {
        const uint32_t machine = yard_machine(&booting, TWO);

        booting.view.instance.ready_expected[machine] = booting.view.now + 30 * SECOND;
        view_bind(&booting.view, unknown_task(&booting), machine);
    }

    const struct expected_ends later = ends_of(&booting, 300 * SECOND);

    assert_true(later.count > 0 && later.rows[0].at > 30 * SECOND);
    assert_true(later.rows[0].at <= 30 * SECOND + now);
    yard_done(&yard);
    yard_done(&booting);
}

TEST(of_a_few_nothing_is_said)
{
    struct yard yard;
    struct batches batches;

    minute_yard_init(&yard);
    unknown_running(&yard, 8);
    for (uint32_t i = 0; i < 7; i++)
        (void)unknown_task(&yard);
    yard.view.now = 4 * SECOND;
    batches_build(&batches, &yard.view, &yard.arena);

    const struct life_odds odds = ends_odds(&yard.view, &nothing_learned);

    ends_expect(&odds, &batches);
    assert_int_equal(batches.rows[0].runtime, 600 * SECOND);
    assert_int_equal(ends_of(&yard, 300 * SECOND).count, 0);
    yard_done(&yard);
}

TEST(work_of_known_runtime_is_not_spoken_of)
{
    struct yard yard;

    minute_yard_init(&yard);
    yard_run(&yard, yard_task_for(&yard, ONE_CPU, 600 * SECOND), yard_machine(&yard, TWO));
    yard.view.now = 4 * SECOND;
    assert_int_equal(ends_of(&yard, 300 * SECOND).count, 0);
    yard_done(&yard);
}

TEST(those_that_wait_run_as_long_as_half_of_them_do)
{
    struct yard yard;
    struct batches batches;

    minute_yard_init(&yard);
    for (uint32_t i = 0; i < 16; i++)
        (void)unknown_task(&yard);
    minute_yard_tasks(&yard, EIGHT_CPUS, 1, 600 * SECOND);
    batches_build(&batches, &yard.view, &yard.arena);

    const struct life_odds odds = ends_odds(&yard.view, &nothing_learned);

    ends_expect(&odds, &batches);
    assert_int_equal(batches.count, 2);
    for (uint32_t i = 0; i < batches.count; i++)
        assert_int_equal(batches.rows[i].runtime,
                         batches.rows[i].unknown ? 32 * SECOND : 600 * SECOND);
    yard_done(&yard);
}

/* How many of 'count' tasks of unknown runtime wait for the room of a hundred that run. */
static uint32_t waiting_among(uint32_t count, bool are_known)
{
    struct yard yard;
    struct batches batches;
    struct runtime_bins bins;
    struct row_map uses;
    const struct wait_limits limits = { .paid_wait = 60 * SECOND };

    minute_yard_init(&yard);
    unknown_running(&yard, 100);
    yard.view.now = 4 * SECOND;
    for (uint32_t i = 0; i < count; i++)
        (void)unknown_task(&yard);
    for (uint32_t job = 0; job < yard.view.job.count && are_known; job++)
        view_set_estimate(&yard.view, job, 600 * SECOND, false);
    row_map_init(&uses, &yard.arena);
    minute_yard_bins(&yard, &bins);
    batches_build(&batches, &yard.view, &yard.arena);

    const struct life_odds odds = ends_odds(&yard.view, &nothing_learned);

    ends_expect(&odds, &batches);
    room_soon(&batches, &bins, &limits, &odds, &yard.plan, &uses);

    const uint32_t waiting = yard.plan.wait_count;

    yard_done(&yard);
    return waiting;
}

TEST(some_wait_for_the_room_of_others)
{
    const uint32_t few = waiting_among(2, false);
    const uint32_t many = waiting_among(1000, false);

    assert_int_equal(few, 2);
    assert_true(many >= few && many < 200);
    assert_int_equal(waiting_among(2, true), 0);
}

CHECK_MAIN(RUN(of_many_some_end_soon), RUN(the_longer_they_have_run_the_later_the_next_ends),
           RUN(the_youngest_is_taken_to_be_the_next), RUN(of_a_few_nothing_is_said),
           RUN(work_of_known_runtime_is_not_spoken_of),
           RUN(what_waits_for_its_machine_ends_so_much_later),
           RUN(those_that_wait_run_as_long_as_half_of_them_do),
           RUN(some_wait_for_the_room_of_others))
