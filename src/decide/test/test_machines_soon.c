/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/machines_soon.h"

#include "decide/machine_index.h"
#include "decide/test/yard.h"

#define MINUTE ((msec_t)60000)

enum { NODE };         /* the offer: billed by the hour, ready after two minutes */
enum { ALL, A_THIRD }; /* shapes: of a node */

static void nodes_init(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 16, 64, 0, 2.4);
    yard->catalogue.types[NODE].acquire_ms = MINUTE;
    yard->catalogue.types[NODE].setup_ms = MINUTE;
    yard->catalogue.offers[NODE].billing =
        (struct billing_rule){ .step_ms = YARD_HOUR, .minimum_ms = YARD_HOUR };
    (void)yard_shape(yard, 16, 64, 0);
    (void)yard_shape(yard, 5, 16, 0);
    yard_open(yard);
    yard->view.now = YARD_HOUR;
}

/* A node that is busy for so long. */
static uint32_t busy(struct yard *yard, msec_t runtime)
{
    const uint32_t machine = yard_machine(yard, NODE);

    yard_run(yard, yard_task_for(yard, ALL, runtime), machine);
    return machine;
}

/* A gang that arrived so long ago. */
static uint32_t gang(struct yard *yard, uint32_t tasks, msec_t waited)
{
    const uint32_t first = yard_job(yard, ALL, tasks, true);

    yard->view.job.arrived_at[yard->view.task.job[first]] = yard->view.now - waited;
    return first;
}

/* A job of one task that has just arrived. */
static uint32_t single(struct yard *yard, uint32_t shape, msec_t runtime)
{
    const uint32_t task = yard_task_for(yard, shape, runtime);

    yard->view.job.arrived_at[yard->view.task.job[task]] = yard->view.now;
    return task;
}

struct answer {
    struct row_map uses;
    struct row_map waits;
};

static struct answer ask_with(struct yard *yard, msec_t patience, const struct scarcity *scarcity)
{
    struct answer answer;

    row_map_init(&answer.uses, &yard->arena);
    row_map_init(&answer.waits, &yard->arena);
    machines_soon(&yard->view, patience, scarcity, &yard->plan, &answer.uses, &answer.waits);
    return answer;
}

static struct answer ask(struct yard *yard)
{
    return ask_with(yard, 5 * MINUTE, NULL);
}

/* Whether the task waits. */
static bool has(struct answer answer, uint32_t task)
{
    return row_map_has(&answer.waits, task);
}

TEST(a_job_waits_for_machines_that_come_free_and_says_so)
{
    struct yard yard;

    nodes_init(&yard);
    (void)yard_machine(&yard, NODE);
    const uint32_t last = busy(&yard, 7 * MINUTE); /* two of boot and five for a machine */
    const uint32_t job = gang(&yard, 2, 0);
    const struct answer answer = ask(&yard);

    assert_true(has(answer, job));
    assert_true(has(answer, job + 1));
    assert_int_equal(yard.plan.wait_count, 2);
    assert_int_equal(yard.plan.waits[0].rule, WAIT_MACHINES);
    assert_int_equal(yard.plan.waits[0].target, last);
    assert_int_equal(yard.plan.waits[0].offer, NODE);
    assert_int_equal(yard.plan.waits[0].expected, yard.view.now + 7 * MINUTE);
    assert_int_equal(yard.plan.waits[0].until, yard.view.now + 12 * MINUTE);
    assert_int_equal(yard.plan.wake_at, yard.view.now + 7 * MINUTE + 1);
    yard_done(&yard);
}

TEST(it_does_not_wait_for_longer_than_that_saves)
{
    struct yard yard;

    nodes_init(&yard);
    (void)yard_machine(&yard, NODE);
    (void)busy(&yard, 7 * MINUTE + 1);
    const uint32_t job = gang(&yard, 2, 0);

    assert_false(has(ask(&yard), job));
    assert_int_equal(yard.plan.wait_count, 0);
    yard_done(&yard);
}

TEST(who_needs_more_machines_waits_for_longer)
{
    struct yard yard;

    nodes_init(&yard);
    (void)busy(&yard, 12 * MINUTE);
    (void)busy(&yard, 12 * MINUTE);
    const uint32_t wide = gang(&yard, 2, 0);

    assert_true(has(ask(&yard), wide));
    yard_done(&yard);
}

TEST(what_it_has_waited_counts)
{
    struct yard yard;

    nodes_init(&yard);
    (void)yard_machine(&yard, NODE);
    (void)busy(&yard, 7 * MINUTE);
    const uint32_t patient = gang(&yard, 2, 5 * MINUTE);

    assert_true(has(ask(&yard), patient)); /* twelve minutes for two machines */
    yard.view.job.arrived_at[yard.view.task.job[patient]]--;
    assert_false(has(ask(&yard), patient));
    yard_done(&yard);
}

TEST(who_could_start_at_once_does_not_wait_and_has_its_machines)
{
    struct yard yard;

    nodes_init(&yard);
    (void)yard_machine(&yard, NODE);
    (void)busy(&yard, MINUTE);
    const uint32_t wide = gang(&yard, 2, 0);
    const uint32_t narrow = single(&yard, ALL, YARD_HOUR);
    const struct answer answer = ask(&yard);

    assert_false(has(answer, narrow));
    assert_false(has(answer, wide)); /* the narrow one has one for an hour */
    yard_done(&yard);
}

TEST(a_machine_is_waited_for_by_one_job_after_another)
{
    struct yard yard;

    nodes_init(&yard);
    (void)busy(&yard, MINUTE);
    const uint32_t first = single(&yard, ALL, 5 * MINUTE);
    const uint32_t second = single(&yard, ALL, 5 * MINUTE);
    const uint32_t third = single(&yard, ALL, 5 * MINUTE);
    const struct answer answer = ask(&yard);

    assert_true(has(answer, first));
    assert_true(has(answer, second)); /* after six minutes */
    assert_false(has(answer, third)); /* after eleven */
    yard_done(&yard);
}

TEST(where_time_is_billed_by_the_second_nobody_waits_for_longer_than_a_boot)
{
    struct yard yard;

    nodes_init(&yard);
    yard.catalogue.offers[NODE].billing =
        (struct billing_rule){ .step_ms = 1000, .minimum_ms = MINUTE };
    (void)busy(&yard, 2 * MINUTE + 8 * 1000);
    const uint32_t job = single(&yard, ALL, YARD_HOUR);

    /* 61 seconds are paid for at the least: worth five seconds, or ten, of waiting. */
    assert_false(has(ask(&yard), job));
    assert_true(has(ask_with(&yard, 10 * MINUTE, NULL), job));
    yard_done(&yard);
}

TEST(tasks_that_share_machines_and_who_may_meet_a_limit_are_left_alone)
{
    struct yard yard;
    const struct scarcity scarce = { .of_all = true };

    nodes_init(&yard);
    (void)busy(&yard, MINUTE);
    const uint32_t part = single(&yard, A_THIRD, YARD_HOUR);

    assert_false(has(ask(&yard), part));
    const uint32_t whole = single(&yard, ALL, YARD_HOUR);

    assert_false(has(ask_with(&yard, 5 * MINUTE, &scarce), whole));
    assert_true(has(ask(&yard), whole));
    yard_done(&yard);
}

TEST(machines_that_are_left_and_work_without_an_end_are_not_waited_for)
{
    struct yard yard;
    struct answer answer;

    nodes_init(&yard);
    const uint32_t endless = busy(&yard, MINUTE);
    const uint32_t left = busy(&yard, MINUTE);
    const uint32_t job = single(&yard, ALL, YARD_HOUR);

    yard.view.task.estimate_ms[yard.view.instance.first_task[endless]] = MSEC_NEVER;
    row_map_init(&answer.uses, &yard.arena);
    row_map_init(&answer.waits, &yard.arena);
    row_map_set(&answer.uses, left, USE_LEFT);
    machines_soon(&yard.view, 5 * MINUTE, NULL, &yard.plan, &answer.uses, &answer.waits);
    assert_false(has(answer, job));
    assert_true(has(ask(&yard), job)); /* where it is not left */
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_job_waits_for_machines_that_come_free_and_says_so),
           RUN(it_does_not_wait_for_longer_than_that_saves),
           RUN(who_needs_more_machines_waits_for_longer), RUN(what_it_has_waited_counts),
           RUN(who_could_start_at_once_does_not_wait_and_has_its_machines),
           RUN(a_machine_is_waited_for_by_one_job_after_another),
           RUN(where_time_is_billed_by_the_second_nobody_waits_for_longer_than_a_boot),
           RUN(tasks_that_share_machines_and_who_may_meet_a_limit_are_left_alone),
           RUN(machines_that_are_left_and_work_without_an_end_are_not_waited_for))
