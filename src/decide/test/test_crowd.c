/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/crowd.h"

#include "decide/rent_value.h"
#include "decide/test/minute_yard.h"

/* Machines of eight CPUs, and services of one each, which fill a machine if they are eight. It is ten seconds past. */
static void begin(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 8, 32, 0, 0.8);
    (void)yard_shape(yard, 1, 4, 0);
    yard_open(yard);
    yard->view.now = 10 * SECOND;
}

/* They arrived then, and more were expected until then. */
static uint32_t come(struct yard *yard, uint32_t count, msec_t at, msec_t more_until)
{
    uint32_t task = ROW_NONE;

    for (uint32_t i = 0; i < count; i++) {
        task = yard_task_for(yard, 0, MSEC_NEVER);
        yard->view.job.arrived_at[yard->view.task.job[task]] = at;
        yard->view.job.more_until[yard->view.task.job[task]] = more_until;
    }
    return task;
}

static void rent_under(struct yard *yard, const struct scarcity *scarcity)
{
    const struct wait_limits limits = { .scarcity = scarcity };
    struct batches batches;
    struct runtime_bins bins;

    minute_yard_bins(yard, &bins);
    batches_build(&batches, &yard->view, &yard->arena);
    rent_value(&batches, &bins, &limits, 0, 0, NULL, &yard->plan);
}

static void rent(struct yard *yard)
{
    rent_under(yard, NULL);
}

TEST(while_more_services_come_those_that_fill_no_machine_wait)
{
    struct yard yard;

    begin(&yard);
    (void)come(&yard, 9, 9 * SECOND, 20 * SECOND);
    rent(&yard);
    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.place_count, 8);
    assert_int_equal(yard.plan.wait_count, 1);
    assert_int_equal(yard.plan.waits[0].rule, WAIT_CROWD);
    assert_int_equal(yard.plan.waits[0].until, 20 * SECOND);
    assert_int_equal(yard.plan.wake_at, 20 * SECOND);
    yard_done(&yard);
}

TEST(when_no_more_is_expected_nobody_waits)
{
    struct yard yard;

    begin(&yard);
    (void)come(&yard, 9, 0, 10 * SECOND); /* it is past */
    rent(&yard);
    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.place_count, 9);
    yard_done(&yard);
}

/* Also if it goes to a machine that there is, or is decided together with others of which it was said before. */
TEST(the_last_that_came_says_whether_more_is_expected)
{
    struct yard yard;

    begin(&yard);
    (void)come(&yard, 9, 5 * SECOND, 20 * SECOND);
    (void)come(&yard, 1, 6 * SECOND, 0);
    rent(&yard);
    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.place_count, 10);
    yard_done(&yard);
}

TEST(nobody_waits_for_others_for_longer_than_half_a_minute)
{
    struct yard yard;

    begin(&yard);
    yard.view.now = 39 * SECOND;
    (void)come(&yard, 1, 10 * SECOND, 20 * SECOND);
    (void)come(&yard, 1, 38 * SECOND, 49 * SECOND);
    rent(&yard);
    assert_int_equal(yard.plan.wait_count, 2);
    assert_int_equal(yard.plan.wake_at, 40 * SECOND);
    yard.view.now = 40 * SECOND;
    rent(&yard);
    assert_int_equal(yard.plan.place_count, 2);
    yard_done(&yard);
}

TEST(work_that_has_an_end_waits_for_nobody)
{
    struct yard yard;
    uint32_t task;

    begin(&yard);
    (void)come(&yard, 1, 9 * SECOND, 20 * SECOND);
    task = yard_task_for(&yard, 0, YARD_HOUR);
    yard.view.job.arrived_at[yard.view.task.job[task]] = 9 * SECOND;
    yard.view.job.more_until[yard.view.task.job[task]] = 20 * SECOND;
    rent(&yard);
    assert_int_equal(yard.plan.wait_count, 1);
    assert_int_equal(yard.plan.place_count, 1);
    assert_int_equal(yard.plan.places[0].task, task);
    yard_done(&yard);
}

TEST(a_gang_of_services_waits_for_nobody)
{
    struct yard yard;
    uint32_t first;

    begin(&yard);
    first = yard_job(&yard, 0, 9, true);
    for (uint32_t i = 0; i < 9; i++)
        yard.view.task.estimate_ms[first + i] = MSEC_NEVER;
    yard.view.job.arrived_at[yard.view.task.job[first]] = 9 * SECOND;
    yard.view.job.more_until[yard.view.task.job[first]] = 20 * SECOND;
    rent(&yard);
    assert_int_equal(yard.plan.place_count, 9);
    yard_done(&yard);
}

TEST(where_a_limit_may_bind_nobody_waits)
{
    const struct scarcity none = { 0 };
    const struct scarcity binding = { .of_all = true };
    struct yard yard;

    begin(&yard);
    (void)come(&yard, 1, 9 * SECOND, 20 * SECOND);
    rent_under(&yard, &none);
    assert_int_equal(yard.plan.wait_count, 1);
    rent_under(&yard, &binding);
    assert_int_equal(yard.plan.place_count, 1);
    yard_done(&yard);
}

CHECK_MAIN(RUN(while_more_services_come_those_that_fill_no_machine_wait),
           RUN(when_no_more_is_expected_nobody_waits),
           RUN(the_last_that_came_says_whether_more_is_expected),
           RUN(nobody_waits_for_others_for_longer_than_half_a_minute),
           RUN(work_that_has_an_end_waits_for_nobody), RUN(a_gang_of_services_waits_for_nobody),
           RUN(where_a_limit_may_bind_nobody_waits))
