/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/batches.h"

#include "decide/test/minute_yard.h"

TEST(equal_tasks_are_one_batch_and_the_longest_come_first)
{
    struct yard yard;
    struct batches batches;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 2, 5 * SECOND);
    minute_yard_tasks(&yard, ONE_CPU, 1, 9 * SECOND);
    minute_yard_tasks(&yard, ONE_CPU, 1, 5 * SECOND);
    minute_yard_tasks(&yard, EIGHT_CPUS, 1, 5 * SECOND);
    batches_build(&batches, &yard.view, &yard.arena);

    assert_int_equal(batches.count, 3);
    assert_int_equal(batches.rows[0].runtime, 9 * SECOND);
    assert_int_equal(batches.rows[1].shape, EIGHT_CPUS); /* of equal length, the dearer one */
    assert_int_equal(batches.rows[2].left, 3);
    assert_int_equal(batches.rows[2].shape, ONE_CPU);
    yard_done(&yard);
}

TEST(tasks_that_differ_by_less_than_a_sixteenth_are_one_batch_as_long_as_the_longest)
{
    struct yard yard;
    struct batches batches;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 1, 16384);
    minute_yard_tasks(&yard, ONE_CPU, 1, 16384 + 1023);
    minute_yard_tasks(&yard, ONE_CPU, 1, 16384 + 1024);
    batches_build(&batches, &yard.view, &yard.arena);

    assert_int_equal(batches.count, 2);
    assert_int_equal(batches.rows[0].runtime, 16384 + 1024);
    assert_int_equal(batches.rows[1].runtime, 16384 + 1023);
    assert_int_equal(batches.rows[1].left, 2);
    yard_done(&yard);
}

TEST(tasks_are_taken_from_both_ends)
{
    struct yard yard;
    struct batches batches;

    minute_yard_init(&yard);
    const uint32_t first = yard_job(&yard, ONE_CPU, 3, false);
    batches_build(&batches, &yard.view, &yard.arena);

    assert_int_equal(batch_take_first(&batches.rows[0]), first);
    assert_int_equal(batch_take_last(&batches.rows[0]), first + 2);
    assert_int_equal(batches.rows[0].left, 1);
    assert_int_equal(batches.rows[0].tasks[0], first + 1);
    yard_done(&yard);
}

TEST(within_a_batch_tasks_are_in_the_order_of_arrival_however_they_wait)
{
    struct yard yard;
    struct batches batches;

    minute_yard_init(&yard);
    const uint32_t first = yard_job(&yard, ONE_CPU, 3, false);
    const uint32_t mixed[] = { first + 2, first, first + 1 };

    view_show_waiting(&yard.view, NULL, 0);
    view_show_waiting(&yard.view, mixed, 3);
    batches_build(&batches, &yard.view, &yard.arena);

    assert_int_equal(batches.count, 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(batches.rows[0].tasks[i], first + i);
    yard_done(&yard);
}

/* More than the first table holds. */
TEST(many_batches_are_told_apart)
{
    enum { MANY = 500 };

    struct yard yard;
    struct batches batches;
    uint32_t tasks = 0;

    minute_yard_init(&yard);
    for (uint32_t i = 0; i < MANY; i++) {
        const msec_t runtime = (msec_t)16 << (i % 250 / 16);

        minute_yard_tasks(&yard, i < MANY / 2 ? ONE_CPU : EIGHT_CPUS, 2,
                          runtime + runtime / 16 * (i % 250 % 16));
    }
    batches_build(&batches, &yard.view, &yard.arena);

    assert_int_equal(batches.count, MANY);
    for (uint32_t i = 0; i < batches.count; i++) {
        assert_int_equal(batches.rows[i].left, 2);
        assert_true(i == 0 || batches.rows[i - 1].runtime > batches.rows[i].runtime ||
                    batches.rows[i - 1].shape > batches.rows[i].shape);
        tasks += batches.rows[i].left;
    }
    assert_int_equal(tasks, yard.view.task.waiting_count);
    yard_done(&yard);
}

static const struct res *demand_of(const struct yard *yard, const struct batch *batch)
{
    return shape_demand_at(&yard->shapes, batch->shape, &yard->catalogue, 0);
}

TEST(jobs_that_are_spread_are_batches_of_their_own_and_fit_once)
{
    struct yard yard;
    struct batches batches;
    const struct res plenty = { { 64000, 65536, 0 } };

    minute_yard_init(&yard);
    (void)yard_spread_job(&yard, ONE_CPU, 3);
    (void)yard_spread_job(&yard, ONE_CPU, 3);
    (void)yard_job(&yard, ONE_CPU, 3, true);
    batches_build(&batches, &yard.view, &yard.arena);

    assert_int_equal(batches.count, 3);
    assert_int_equal(batch_fit(&batches.rows[0], demand_of(&yard, &batches.rows[0]), &plenty), 1);
    assert_int_equal(batch_fit(&batches.rows[2], demand_of(&yard, &batches.rows[2]), &plenty), 3);
    assert_true(batches.rows[2].together);
    yard_done(&yard);
}

TEST(a_gang_that_nothing_can_be_rented_for_is_left_out)
{
    struct yard yard;
    struct batches batches;

    minute_yard_init(&yard);
    (void)yard_job(&yard, ONE_CPU, 2, true);
    (void)yard_task(&yard, ONE_CPU);
    yard.view.offer_blocked_until[TWO] = 1;
    yard.view.offer_blocked_until[EIGHT] = 1;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    batches_build(&batches, &yard.view, &yard.arena);

    assert_int_equal(batches.count, 1);
    assert_int_equal(batches.rows[0].left, 1);
    yard_done(&yard);
}

TEST(alone_a_short_task_pays_the_minimum_and_a_long_one_its_setup)
{
    struct yard yard;
    struct batches batches;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 1, 3599 * SECOND);
    minute_yard_tasks(&yard, ONE_CPU, 1, 5 * SECOND);
    batches_build(&batches, &yard.view, &yard.arena);

    assert_int_equal((money_t)batch_alone_charge(&yard.view, &batches.rows[0]), 1000000);
    assert_int_equal((money_t)batch_alone_charge(&yard.view, &batches.rows[1]), 1000000 / 60);
    yard_done(&yard);
}

CHECK_MAIN(RUN(equal_tasks_are_one_batch_and_the_longest_come_first),
           RUN(tasks_that_differ_by_less_than_a_sixteenth_are_one_batch_as_long_as_the_longest),
           RUN(tasks_are_taken_from_both_ends),
           RUN(within_a_batch_tasks_are_in_the_order_of_arrival_however_they_wait),
           RUN(many_batches_are_told_apart),
           RUN(jobs_that_are_spread_are_batches_of_their_own_and_fit_once),
           RUN(a_gang_that_nothing_can_be_rented_for_is_left_out),
           RUN(alone_a_short_task_pays_the_minimum_and_a_long_one_its_setup))
