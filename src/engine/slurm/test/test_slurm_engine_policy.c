/* SPDX-License-Identifier: Apache-2.0 */
/* What Slurm's policy keeps from being announced, and what its answer to a placement does. */
#include "engine/slurm/test/engine_world.h"

#define WAITS      "user=ann name=a state=pending run=0 hold=gate " ASKS
#define PLACED     "user=ann name=a state=pending run=0 hold=none "
#define MINUTES(n) ((msec_t)(n)*60000)

static void after(struct world *world, msec_t ms)
{
    world->now += ms;
    tick(world);
}

static struct slurm_wait wait_of(struct world *world, const char *label)
{
    return slurm_engine_wait(world->engine, slurm_engine_find(world->engine, label));
}

TEST(a_job_with_a_bar_is_not_announced_before_it_is_lifted)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 bar=PartitionTimeLimit bar_text=too%20long " WAITS);
    tick(&world);
    heard(&world, "");
    const struct slurm_wait wait = wait_of(&world, "12");

    assert_int_equal(wait.kind, SLURM_WAIT_POLICY);
    assert_string_equal(wait.word, "PartitionTimeLimit");
    assert_string_equal(wait.reason, "too long");
    line(&world, "job id=12 " WAITS);
    heard(&world, "arrived 12x1\n");
    finish(&world);
}

TEST(a_bar_that_comes_later_takes_a_placement_back)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 " WAITS);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    world.heard[0] = '\0';
    line(&world, "job id=12 bar=PartitionDown bar_text=down " PLACED ASKS);
    heard(&world, "withdrawn 12\n");
    sent(&world, "hold key=2 jobs=12\n");
    /* It was faster: it runs, and is told. */
    line(&world, runs);
    heard(&world, "arrived 12x1\nfound 12 on 7 key own\n");
    finish(&world);
}

TEST(of_a_quota_as_many_are_announced_as_it_leaves)
{
    struct world world;

    meet(&world);
    line(&world, "quota name=lic:m max=2 used=1 reason=Licenses text=taken");
    line(&world, "job id=14 draws=lic:m%3D1 priority=1 " WAITS);
    line(&world, "job id=12 draws=lic:m%3D1 priority=1 " WAITS);
    line(&world, "job id=13 draws=lic:m%3D1 priority=9 " WAITS);
    heard(&world, "");
    tick(&world);
    heard(&world, "arrived 13x1\n");
    assert_int_equal(wait_of(&world, "12").kind, SLURM_WAIT_POLICY);
    assert_string_equal(wait_of(&world, "12").word, "Licenses");

    /* It starts: nothing is left. It ends: the older one of the others. */
    line(&world, "quota name=lic:m max=2 used=2 reason=Licenses text=taken");
    line(&world, "job id=13 user=ann name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS);
    tick(&world);
    heard(&world, "found 13 on 7 key own\n");
    line(&world, "quota name=lic:m max=2 used=1 reason=Licenses text=taken");
    line(&world, "ended job=13 state=completed run=0 nodes=st-7");
    tick(&world);
    heard(&world, "finished 13\narrived 12x1\n");
    finish(&world);
}

TEST(who_is_over_a_quota_is_withdrawn_after_a_little)
{
    struct world world;

    meet(&world);
    line(&world, "quota name=a:jobs max=2 used=0 reason=AssocMaxJobsLimit text=few");
    line(&world, "job id=12 draws=a:jobs%3D1 " WAITS);
    line(&world, "job id=13 draws=a:jobs%3D1 " WAITS);
    tick(&world);
    heard(&world, "arrived 12x1\narrived 13x1\n");
    place(&world, 5, "13", 7);
    sent(&world, "place key=1 job=13 run=0 nodes=st-7\n");
    line(&world, "quota name=a:jobs max=1 used=0 reason=AssocMaxJobsLimit text=few");
    after(&world, 4000);
    heard(&world, "");
    after(&world, 6000);
    heard(&world, "withdrawn 12\n"); /* the one that was placed stays */
    sent(&world, "");
    line(&world, "quota name=a:jobs max=0 used=0 reason=AssocMaxJobsLimit text=few");
    tick(&world);
    after(&world, 6000);
    heard(&world, "withdrawn 13\n");
    sent(&world, "hold key=2 jobs=13\n");
    finish(&world);
}

TEST(what_runs_counted_twice_between_two_looks_withdraws_nobody)
{
    struct world world;

    meet(&world);
    line(&world, "quota name=a:jobs max=1 used=0 reason=AssocMaxJobsLimit text=few");
    line(&world, "job id=12 draws=a:jobs%3D1 " WAITS);
    tick(&world);
    world.heard[0] = '\0';
    line(&world, "quota name=a:jobs max=1 used=1 reason=AssocMaxJobsLimit text=few");
    after(&world, 500);
    line(&world, runs);
    heard(&world, "found 12 on 7 key own\n");
    after(&world, 20000);
    heard(&world, "");
    finish(&world);
}

TEST(an_array_draws_for_each_of_its_tasks)
{
    struct world world;

    meet(&world);
    line(&world, "quota name=a:cpu max=5 used=0 reason=AssocGrpCpuLimit text=few");
    line(&world, "job id=12 array=12 tasks=0-9 draws=a:cpu%3D2 " WAITS);
    tick(&world);
    heard(&world, "arrived 12_0x1\narrived 12_1x1\n");
    finish(&world);
}

TEST(an_array_that_runs_few_at_a_time_takes_no_more_of_a_quota)
{
    struct world world;

    meet(&world);
    line(&world, "quota name=a:cpu max=5 used=0 reason=AssocGrpCpuLimit text=few");
    line(&world, "job id=12 array=12 tasks=0-9%251 draws=a:cpu%3D2 " WAITS);
    line(&world, "job id=30 draws=a:cpu%3D2 " WAITS);
    tick(&world);
    heard(&world, "arrived 12_0x1\narrived 30x1\n");
    finish(&world);
}

/* A job that was placed, and Slurm's word on it. */
static void placed_with(struct world *world, const char *reason)
{
    char text[512];

    meet(world);
    line(world, waits);
    place(world, 5, "12", 7);
    sent(world, "place key=1 job=12 run=0 nodes=st-7\n");
    (void)snprintf(text, sizeof(text), "job id=12 reason=%s " PLACED ASKS, reason);
    line(world, text);
    tick(world);
    world->heard[0] = '\0';
}

TEST(a_placement_that_slurm_refuses_is_taken_back_and_not_tried_again_at_once)
{
    struct world world;

    placed_with(&world, "MaxCpuPerAccount");
    heard(&world, "");
    after(&world, 6000);
    heard(&world, "withdrawn 12\n");
    sent(&world, "hold key=2 jobs=12\n");
    line(&world, waits);
    after(&world, MINUTES(9));
    heard(&world, "");
    const struct slurm_wait wait = wait_of(&world, "12");

    assert_int_equal(wait.kind, SLURM_WAIT_REFUSED);
    assert_string_equal(wait.word, "MaxCpuPerAccount");
    after(&world, MINUTES(1));
    heard(&world, "arrived 12x1\n");

    /* The same again: twice as long. */
    place(&world, 6, "12", 8);
    sent(&world, "place key=3 job=12 run=0 nodes=st-8\n");
    line(&world, "job id=12 reason=MaxCpuPerAccount " PLACED ASKS);
    tick(&world);
    after(&world, 6000);
    heard(&world, "withdrawn 12\n");
    line(&world, waits);
    after(&world, MINUTES(19));
    heard(&world, "");
    after(&world, MINUTES(1));
    heard(&world, "arrived 12x1\n");
    finish(&world);
}

TEST(a_refusal_is_forgotten_when_something_about_the_job_changes)
{
    struct world world;

    placed_with(&world, "PartitionTimeLimit");
    after(&world, 6000);
    heard(&world, "withdrawn 12\n");
    line(&world, "job id=12 user=ann name=a state=pending run=0 hold=gate node_count=1 cpus=2 "
                 "mem_mib=300 limit_s=300 requeue=1 submit=1794716000");
    heard(&world, "arrived 12x1\n");
    finish(&world);
}

TEST(a_reason_of_the_past_is_not_believed)
{
    struct world world;

    placed_with(&world, "AssocGrpCpuLimit");
    after(&world, 2000);
    line(&world, "job id=12 reason=None " PLACED ASKS);
    after(&world, 2000);
    after(&world, 20000);
    heard(&world, "");
    line(&world, runs);
    heard(&world, "started 12 key 5\n");
    finish(&world);
}

TEST(a_start_that_never_comes_is_given_up)
{
    struct world world;

    placed_with(&world, "Resources");
    after(&world, MINUTES(3) - 2000);
    heard(&world, "");
    after(&world, 2000);
    heard(&world, "lost 12 key 5\n");
    sent(&world, "hold key=2 jobs=12\n");
    finish(&world);
}

TEST(after_five_failed_starts_a_job_is_held_until_its_user_lets_it_go)
{
    struct world world;
    uint64_t key = 100;

    placed_with(&world, "Resources");
    for (int i = 0; i < 4; i++) {
        after(&world, MINUTES(3));
        world.sent[0] = '\0';
        place(&world, ++key, "12", 7);
        slurm_engine_flush(world.engine, world.now);
        line(&world, "job id=12 reason=Resources " PLACED ASKS);
        tick(&world);
        heard(&world, i == 0   ? "lost 12 key 5\n"
                      : i == 1 ? "lost 12 key 101\n"
                      : i == 2 ? "lost 12 key 102\n"
                               : "lost 12 key 103\n");
    }
    world.sent[0] = '\0';
    after(&world, MINUTES(3));
    heard(&world, "lost 12 key 104\n");
    sent(&world,
         "hold key=10 jobs=12\ngive-up key=11 job=12 "
         "text=stint:%20held%20after%205%20failed%20starts,%20last:%20Resources%20for%20180%20s\n");
    line(&world, "job id=12 user=ann name=a state=pending run=0 hold=user " ASKS);
    heard(&world, "withdrawn 12\n");
    line(&world, waits);
    heard(&world, "arrived 12x1\n");
    place(&world, ++key, "12", 7);
    slurm_engine_flush(world.engine, world.now);
    world.sent[0] = '\0';
    line(&world, "job id=12 reason=Resources " PLACED ASKS);
    tick(&world);
    after(&world, MINUTES(3));
    heard(&world, "lost 12 key 105\n");
    sent(&world, "hold key=13 jobs=12\n"); /* the first of five again */
    finish(&world);
}

TEST(the_throttle_of_an_array_is_known_from_a_task_that_was_split_off)
{
    struct world world;

    meet(&world);
    line(&world, "job id=21 array=20 task=0 array_most=2 user=ann name=a state=running run=0 "
                 "nodes=st-7 start=1794717000 " ASKS);
    line(&world, "job id=20 array=20 tasks=1-9 array_most=2 " WAITS);
    heard(&world, "arrived 20_0x1\nfound 20_0 on 7 key own\narrived 20_1x1\n");
    finish(&world);
}

TEST(a_begin_in_the_far_future_is_waited_for)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 begin=4855759999 " WAITS);
    after(&world, MINUTES(60));
    heard(&world, "");
    assert_int_equal(wait_of(&world, "12").kind, SLURM_WAIT_BEGIN);
    finish(&world);
}

TEST(temporary_disk_space_that_no_machine_has_is_not_to_be_had)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 tmp_mib=10485760 " WAITS);
    heard(&world, "");
    assert_int_equal(wait_of(&world, "12").kind, SLURM_WAIT_UNHOLDABLE);
    line(&world, "job id=12 " WAITS);
    heard(&world, "arrived 12x1\n");
    finish(&world);
}

CHECK_MAIN(RUN(a_job_with_a_bar_is_not_announced_before_it_is_lifted),
           RUN(a_bar_that_comes_later_takes_a_placement_back),
           RUN(of_a_quota_as_many_are_announced_as_it_leaves),
           RUN(who_is_over_a_quota_is_withdrawn_after_a_little),
           RUN(what_runs_counted_twice_between_two_looks_withdraws_nobody),
           RUN(an_array_draws_for_each_of_its_tasks),
           RUN(an_array_that_runs_few_at_a_time_takes_no_more_of_a_quota),
           RUN(a_placement_that_slurm_refuses_is_taken_back_and_not_tried_again_at_once),
           RUN(a_refusal_is_forgotten_when_something_about_the_job_changes),
           RUN(a_reason_of_the_past_is_not_believed), RUN(a_start_that_never_comes_is_given_up),
           RUN(after_five_failed_starts_a_job_is_held_until_its_user_lets_it_go),
           RUN(the_throttle_of_an_array_is_known_from_a_task_that_was_split_off),
           RUN(a_begin_in_the_far_future_is_waited_for),
           RUN(temporary_disk_space_that_no_machine_has_is_not_to_be_had))
