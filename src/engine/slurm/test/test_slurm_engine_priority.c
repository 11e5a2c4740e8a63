/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's priority: when jobs get one, and that the controller hears of it. */
#include "engine/slurm/test/engine_world.h"

#define WAITS "user=ann name=a state=pending run=0 "
#define HELD  WAITS "hold=held-gate " ASKS
#define GATED WAITS "hold=gate " ASKS

static void after(struct world *world, msec_t ms)
{
    world->now += ms;
    world->heard[0] = '\0';
    tick(world);
}

TEST(a_job_that_still_waits_after_a_second_gets_its_hold_off)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 " HELD);
    heard(&world, "arrived 12x1\n");
    assert_int_equal(world.last.job.priority, 0);
    after(&world, 999);
    sent(&world, "");
    after(&world, 1);
    sent(&world, "unhold key=1 jobs=12\n");
    line(&world, "done key=1 count=1 failed=0");
    line(&world, "job id=12 priority=7000 " GATED);
    heard(&world, "changed 12 priority 7000\n");
    assert_int_equal(world.last.changes, CHANGE_PRIORITY);
    after(&world, 5000);
    sent(&world, "");
    finish(&world);
}

TEST(one_that_is_placed_by_then_needs_no_such_request)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 " HELD);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    after(&world, 2000);
    sent(&world, "");
    finish(&world);
}

TEST(an_array_is_one_request_and_so_is_a_number_of_jobs)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 array=12 tasks=0-4%252 array_most=2 " HELD);
    line(&world, "job id=13 " HELD);
    after(&world, 1000);
    sent(&world, "unhold key=1 jobs=12_[0-4],13\n");
    finish(&world);
}

TEST(the_youngest_of_many_come_first)
{
    struct world world;
    char text[256];

    meet(&world);
    for (int i = 0; i < 130; i++) {
        (void)snprintf(text, sizeof(text), "job id=%d %s", 100 + i, HELD);
        line(&world, text);
    }
    after(&world, 1000);
    assert_null(strstr(world.sent, "jobs=101,"));
    assert_non_null(strstr(world.sent, "jobs=102,103,"));
    world.sent[0] = '\0';
    after(&world, 1000);
    sent(&world, "unhold key=2 jobs=100,101\n");
    finish(&world);
}

TEST(one_that_waits_for_another_is_freed_at_once)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 depend=afterok:11 " HELD);
    heard(&world, "");
    after(&world, 0);
    sent(&world, "unhold key=1 jobs=12\n");
    finish(&world);
}

TEST(a_priority_that_changes_is_told_of_jobs_and_of_arrays)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 priority=5 " GATED);
    heard(&world, "arrived 12x1\n");
    assert_int_equal(world.last.job.priority, 5);
    line(&world, "priority id=12 value=9");
    heard(&world, "changed 12 priority 9\n");
    line(&world, "priority id=12 value=9"); /* no news */
    line(&world, "priority id=99 value=9"); /* nobody's */
    heard(&world, "");
    line(&world, "job id=20 array=20 tasks=1-2 priority=5 " GATED);
    line(&world, "job id=21 array=20 task=1 priority=5 " GATED);
    world.heard[0] = '\0';
    line(&world,
         "priority id=20 array=20 value=8"); /* the task with a record of its own is not meant */
    heard(&world, "changed 20_2 priority 8\n");
    line(&world, "priority id=21 value=3");
    heard(&world, "changed 20_1 priority 3\n");
    assert_int_equal(slurm_engine_stats(world.engine).bad_lines, 0);
    line(&world, "priority id=21");
    line(&world, "priority id=x value=3");
    line(&world, "priority id=21 value=-3");
    assert_int_equal(slurm_engine_stats(world.engine).bad_lines, 3);
    finish(&world);
}

/* A change of the priority takes nothing else away: ranks of one job on one machine never start. */
TEST(a_job_on_several_nodes_keeps_them_apart_when_its_priority_changes)
{
    struct world world;

    meet(&world);
    line(
        &world,
        "job id=12 priority=5 user=ann name=a state=pending run=0 hold=gate node_count=3 cpus=5 mem_mib=300");
    heard(&world, "arrived 12.0x3\n");
    assert_true(world.last.job.spread);
    line(&world, "priority id=12 value=9");
    heard(&world, "changed 12.0 priority 9\n");
    assert_int_equal(world.last.changes, CHANGE_PRIORITY);
    finish(&world);
}

TEST(what_runs_has_no_turn_to_wait_for)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 priority=5 " GATED);
    place(&world, 5, "12", 7);
    line(&world, runs);
    world.heard[0] = '\0';
    line(&world, "priority id=12 value=9");
    heard(&world, "");
    finish(&world);
}

CHECK_MAIN(RUN(a_job_that_still_waits_after_a_second_gets_its_hold_off),
           RUN(one_that_is_placed_by_then_needs_no_such_request),
           RUN(an_array_is_one_request_and_so_is_a_number_of_jobs),
           RUN(the_youngest_of_many_come_first), RUN(one_that_waits_for_another_is_freed_at_once),
           RUN(a_priority_that_changes_is_told_of_jobs_and_of_arrays),
           RUN(a_job_on_several_nodes_keeps_them_apart_when_its_priority_changes),
           RUN(what_runs_has_no_turn_to_wait_for))
