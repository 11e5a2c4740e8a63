/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: announced, placed, queued, stopped, put back, ended. */
#include "engine/engine_adapter.h"
#include "engine/slurm/test/engine_world.h"

TEST(a_job_is_announced_once_with_what_it_asks_for)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    line(&world, waits);

    heard(&world, "arrived 12x1\n");
    assert_int_equal(world.last.job.estimate_ms, 600000);
    assert_int_equal(world.last.job.arrived_at, 1794716000000);
    assert_string_equal(names_text(&world.users, world.last.job.user), "ann");
    const struct res *demand = shape_demand_on(&world.shapes, world.last.job.shape, 0);

    assert_int_equal(demand->amount[RES_CPU], 2000);
    assert_int_equal(demand->amount[RES_MEM], 300);
    finish(&world);
}

TEST(only_jobs_that_say_so_may_be_moved)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 name=a state=pending requeue=1 user_comment=x,stint:move");
    assert_false(world.last.job.fixed);
    line(&world, "job id=13 name=a state=pending requeue=0 user_comment=stint:move");
    assert_true(world.last.job.fixed);
    line(&world, "job id=14 name=a state=pending requeue=1 user_comment=stint:moves");
    assert_true(world.last.job.fixed);
    finish(&world);
}

TEST(a_placed_job_starts_runs_and_finishes)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    heard(&world, "arrived 12x1\n");
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(&world, "done key=1");
    line(&world, runs);
    line(&world, "started job=12 run=0 nodes=st-7 start=1794717000");
    heard(&world, "started 12 key 5\n");

    world.now += 60000;
    line(&world, "job id=12 user=ann name=a state=completed run=0 nodes=st-7 start=1794717000 "
                 "end=1794717030 " ASKS);
    line(&world, "ended job=12 state=completed exit=0 signal=0 run=0 nodes=st-7 end=1794717030");
    heard(&world, "finished 12\n");
    assert_int_equal(world.last.at, 1794717030000);
    line(&world, "job-gone job=12");
    heard(&world, "");
    assert_int_equal(slurm_engine_find(world.engine, "12"), 0);
    finish(&world);
}

TEST(news_within_two_seconds_happens_now)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    world.now = EPOCH + 1300;
    line(&world, runs);

    assert_int_equal(world.last.kind, ENGINE_TASK_STARTED);
    assert_int_equal(world.last.at, EPOCH + 1300);
    finish(&world);
}

TEST(a_job_that_started_and_ended_between_two_looks_is_told_as_both)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    world.heard[0] = '\0';
    line(&world, "job id=12 user=ann name=a state=completed run=0 nodes=st-7 start=1794717000 "
                 "end=1794717000 " ASKS);
    line(&world, "started job=12 run=0 nodes=st-7 start=1794717000");
    line(&world, "ended job=12 state=completed run=0 nodes=st-7 end=1794717000");

    heard(&world, "started 12 key 5\nfinished 12\n");
    finish(&world);
}

TEST(a_job_that_may_not_run_is_not_announced_until_it_may)
{
    static const char *const not [] = {
        "job id=12 name=a state=pending run=0 hold=user " ASKS,
        "job id=12 name=a state=pending run=0 hold=admin " ASKS,
        "job id=12 name=a state=pending run=0 hold=gate depend=afterok:3(unfulfilled) " ASKS,
        "job id=12 name=a state=pending run=0 hold=gate begin=1794717100 " ASKS,
        "job id=12 name=a state=sleeping run=0 hold=gate " ASKS,
    };
    struct world world;

    meet(&world);
    for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++) {
        line(&world, not [i]);
        heard(&world, "");
    }
    line(&world, waits);
    heard(&world, "arrived 12x1\n");
    line(&world, not [0]);
    heard(&world, "withdrawn 12\n");
    line(&world, waits);
    heard(&world, "arrived 12x1\n");
    finish(&world);
}

TEST(why_a_job_may_not_run_is_known)
{
    static const struct {
        const char *line;
        enum slurm_wait_kind kind;
    } rows[] = {
        { "job id=12 name=a state=pending run=0 hold=user " ASKS, SLURM_WAIT_USER_HOLD },
        { "job id=12 name=a state=pending run=0 hold=admin " ASKS, SLURM_WAIT_ADMIN_HOLD },
        { "job id=12 name=a state=pending run=0 hold=gate depend=afterok:3(unfulfilled) " ASKS,
          SLURM_WAIT_DEPENDENCY },
        { "job id=12 name=a state=pending run=0 hold=gate begin=1794717100 " ASKS,
          SLURM_WAIT_BEGIN },
        { waits, SLURM_WAIT_NONE },
    };
    struct world world;

    meet(&world);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        line(&world, rows[i].line);

        const struct slurm_wait wait =
            slurm_engine_wait(world.engine, slurm_engine_find(world.engine, "12"));

        assert_int_equal(wait.kind, rows[i].kind);
        assert_int_equal(wait.until, wait.kind == SLURM_WAIT_BEGIN ? 1794717100000 : MSEC_NEVER);
    }
    assert_int_equal(slurm_engine_wait(world.engine, 99).kind, SLURM_WAIT_NONE);
    finish(&world);
}

TEST(a_job_is_announced_when_its_time_comes)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 name=a state=pending run=0 hold=gate begin=1794717100 " ASKS);
    assert_int_equal(slurm_engine_next_wake(world.engine), 1794717100000);
    world.now = 1794717099999;
    tick(&world);
    heard(&world, "");
    world.now = 1794717100000;
    tick(&world);

    heard(&world, "arrived 12x1\n");
    assert_int_equal(slurm_engine_next_wake(world.engine), MSEC_NEVER);
    finish(&world);
}

TEST(the_two_minutes_after_a_requeue_are_not_waited_for)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 name=a state=pending run=1 hold=none begin=1794717121 " ASKS);

    heard(&world, "arrived 12x1\n");
    finish(&world);
}

TEST(each_task_of_an_array_is_a_job)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 array=12 tasks=0-4:2,7 name=a state=pending run=0 hold=gate " ASKS);
    heard(&world, "arrived 12_0x1\narrived 12_2x1\narrived 12_4x1\narrived 12_7x1\n");

    place(&world, 5, "12_2", 7);
    sent(&world, "place key=1 job=12_2 run=0 nodes=st-7\n");
    line(&world, "job id=12 array=12 tasks=0,4,7 name=a state=pending run=0 hold=gate " ASKS);
    line(&world,
         "job id=13 array=12 task=2 name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS);
    line(&world, "started job=13 run=0 nodes=st-7 start=1794717000");
    heard(&world, "started 12_2 key 5\n");
    stop(&world, 6, "12_2");
    sent(&world, "stop key=2 job=13 run=0 signal=USR1 grace_ms=500\n");
    assert_int_equal(slurm_engine_find(world.engine, "13"),
                     slurm_engine_find(world.engine, "12_2"));
    line(&world, "ended job=13 state=completed run=0 nodes=st-7 end=1794717000");
    heard(&world, "finished 12_2\n");
    finish(&world);
}

TEST(the_last_task_of_an_array_is_not_called_by_the_number_of_all)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 array=12 tasks=0-1 name=a state=pending run=0 hold=gate " ASKS);
    line(&world,
         "job id=13 array=12 task=0 name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS);
    line(&world, "job id=12 array=12 task=1 name=a state=pending run=0 hold=gate " ASKS);
    world.heard[0] = '\0';
    place(&world, 5, "12_1", 7);
    sent(&world, "place key=1 job=12_1 run=0 nodes=st-7\n");
    line(&world, "done key=1");
    stop(&world, 6, "12_1");
    sent(&world, "cancel key=2 job=12_1 run=0\n");
    finish(&world);
}

TEST(a_cancelled_array_ends_with_all_that_it_still_held)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 array=12 tasks=0-2 name=a state=pending run=0 hold=gate " ASKS);
    world.heard[0] = '\0';
    line(&world, "job id=12 array=12 tasks=0-2 name=a state=cancelled run=0 " ASKS);

    heard(&world, "finished 12_0\nfinished 12_1\nfinished 12_2\n");
    finish(&world);
}

TEST(the_limit_of_an_array_is_kept)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 array=12 tasks=0-9%252 name=a state=pending run=0 hold=gate " ASKS);
    heard(&world, "arrived 12_0x1\narrived 12_1x1\n");
    assert_int_equal(slurm_engine_wait(world.engine, slurm_engine_find(world.engine, "12_2")).kind,
                     SLURM_WAIT_ARRAY_LIMIT);
    line(&world, "job id=13 array=12 task=0 name=a state=completed run=0 end=1794717000 " ASKS);
    heard(&world, "finished 12_0\narrived 12_2x1\n");
    line(&world, "job id=12 array=12 tasks=1-9%254 name=a state=pending run=0 hold=gate " ASKS);
    heard(&world, "arrived 12_3x1\narrived 12_4x1\n");
    finish(&world);
}

TEST(a_gang_is_sent_when_all_of_it_is_placed)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 name=a state=pending run=0 hold=gate node_count=3 cpus=5 mem_mib=300");
    heard(&world, "arrived 12.0x3\n");
    assert_true(world.last.job.gang);
    assert_true(world.last.job.spread);
    place(&world, 5, "12.0", 9);
    place(&world, 6, "12.2", 7);
    sent(&world, "");
    place(&world, 7, "12.1", 8);
    sent(&world, "place key=1 job=12 run=0 nodes=st-9,st-8,st-7\n");

    line(&world, "started job=12 run=0 nodes=st-[7-9] start=1794717000");
    heard(&world, "started 12.0 key 5\nstarted 12.1 key 7\nstarted 12.2 key 6\n");
    line(&world, "ended job=12 state=completed run=0 nodes=st-[7-9] end=1794717000");
    heard(&world, "finished 12.0\nfinished 12.1\nfinished 12.2\n");
    finish(&world);
}

/* The other components of the job 12: two nodes of four processors, and one with a GPU. */
#define PARTS                                                                 \
    "parts=part%20node_count=2%20cpus=8%20mem_mib=400%0Apart%20node_count=1%" \
    "20cpus=1%20gres_node=gres:gpu:1%0A"

static const char het_waits[] =
    "job id=12 het=12 name=a state=pending run=0 hold=gate node_count=1 cpus=2 mem_mib=300 "
    "backfill_s=30 " PARTS;

static void meet_with_timeout(struct world *world, msec_t start_timeout_ms)
{
    begin(world);
    slurm_engine_destroy(world->engine);
    struct slurm_engine_config config = config_of(world);

    config.start_timeout_ms = start_timeout_ms;
    begin_with(world, &config);
    connect_it(world);
    sent(world, "hello protocol=1\n");
}

TEST(the_components_of_a_heterogeneous_job_are_one_gang)
{
    struct world world;

    meet_with_timeout(&world, 60 * MSEC_PER_SEC);
    line(&world, het_waits);
    heard(&world, "arrived 12.0x4\n");
    const struct job_spec *job = &world.last.job;

    assert_true(job->gang && job->spread);
    assert_int_equal(job->part_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(job->parts[i].task_count, i == 1 ? 2 : 1);
    assert_int_equal(job->shape, job->parts[0].shape);
    assert_true(shape_fits_offer(&world.shapes, job->parts[0].shape, &world.catalogue, 0));
    assert_false(shape_fits_offer(&world.shapes, job->parts[1].shape, &world.catalogue, 0));
    assert_true(shape_fits_offer(&world.shapes, job->parts[1].shape, &world.catalogue, 1));
    assert_false(shape_fits_offer(&world.shapes, job->parts[2].shape, &world.catalogue, 1));
    place(&world, 5, "12.0", 9);
    place(&world, 6, "12.1", 4);
    place(&world, 7, "12.2", 8);
    sent(&world, "");
    place(&world, 8, "12+2", 6);
    sent(&world, "place key=1 job=12 run=0 nodes=st-9;st-4,st-8;st-6\n");
    line(&world, "started job=12 run=0 nodes=st-9,st-[4,8],st-6 start=1794717000");
    heard(&world,
          "started 12.0 key 5\nstarted 12.1 key 6\nstarted 12.2 key 7\nstarted 12.3 key 8\n");
    line(&world, "requeued job=12 run=1");
    heard(&world, "lost 12.0 key 5\nlost 12.1 key 6\nlost 12.2 key 7\nlost 12.3 key 8\n");
    finish(&world);
}

TEST(the_components_of_a_heterogeneous_job_that_runs_are_found_where_each_is)
{
    struct world world;

    meet_with_timeout(&world, 60 * MSEC_PER_SEC);
    line(&world, "job id=12 het=12 name=a state=running run=0 node_count=1 cpus=2 mem_mib=300 "
                 "nodes=st-9,st-[4,8],st-6 start=1794717000 backfill_s=30 " PARTS);
    heard(&world, "arrived 12.0x4\nfound 12.0 on 9 key own\nfound 12.1 on 4 key own\n"
                  "found 12.2 on 8 key own\nfound 12.3 on 6 key own\n");
    finish(&world);
}

TEST(a_heterogeneous_job_that_slurm_rarely_looks_at_passes_the_gate)
{
    struct world world;

    meet_with_timeout(&world, 59 * MSEC_PER_SEC);
    line(&world, het_waits);
    heard(&world, "");
    sent(&world, "release key=1 jobs=12\n");
    line(&world, "job id=12 het=12 name=a state=pending run=0 hold=none node_count=1 cpus=2 "
                 "backfill_s=30 " PARTS);
    sent(&world, "");
    finish(&world);
}

TEST(a_job_that_runs_elsewhere_than_placed_is_found)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    place(&world, 5, "12", 8);
    sent(&world, "place key=1 job=12 run=0 nodes=st-8\n");
    world.heard[0] = '\0';
    line(&world, runs);

    heard(&world, "found 12 on 7 key own\n");
    finish(&world);
}

TEST(a_job_that_runs_unasked_is_announced_and_found)
{
    struct world world;

    meet(&world);
    line(&world, runs);

    heard(&world, "arrived 12x1\nfound 12 on 7 key own\n");
    finish(&world);
}

TEST(a_job_on_machines_of_others_is_none_of_ours)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    heard(&world, "arrived 12x1\n");
    line(&world, "job id=12 name=a state=running run=0 nodes=big1 start=1794717000 " ASKS);
    heard(&world, "withdrawn 12\n");
    line(&world, "job id=13 name=a state=running run=0 nodes=st-[1-2],big1 start=1794717000 " ASKS);
    line(&world, "ended job=12 state=completed run=0 nodes=big1 end=1794717000");
    heard(&world, "");
    finish(&world);
}

TEST(what_ended_before_anybody_heard_of_it_is_not_told)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 name=a state=completed run=0 nodes=st-7 start=1 end=2 " ASKS);
    line(&world, "started job=12 run=0 nodes=st-7 start=1");
    line(&world, "ended job=12 state=completed run=0 nodes=st-7 end=2");

    heard(&world, "");
    finish(&world);
}

TEST(a_refused_placement_is_lost)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    world.heard[0] = '\0';
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(&world, "refused key=1 code=2014 text=no");
    heard(&world, "lost 12 key 5\n");
    line(&world, "refused key=1 code=2014 text=no");
    heard(&world, "");

    place(&world, 6, "12", 8);
    sent(&world, "place key=2 job=12 run=0 nodes=st-8\n");
    finish(&world);
}

TEST(a_refused_placement_that_was_to_be_stopped_has_stopped)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    world.heard[0] = '\0';
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    stop(&world, 6, "12");
    sent(&world, "cancel key=2 job=12 run=0\n");
    line(&world, "refused key=1 code=2014 text=no");

    heard(&world, "stopped 12 key 6\n");
    finish(&world);
}

TEST(a_requeued_job_is_lost_and_waits_again)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(&world, runs);
    world.heard[0] = '\0';
    line(&world, "job id=12 user=ann name=a state=pending run=1 hold=none begin=1794717121 "
                 "node_count=1 cpus=2 mem_mib=300 limit_s=600 requeue=1 submit=1794717000");
    line(&world, "requeued job=12 run=1");
    heard(&world, "lost 12 key 5\n");

    place(&world, 6, "12", 8);
    sent(&world, "place key=2 job=12 run=1 nodes=st-8\n");
    line(&world, "started job=12 run=1 nodes=st-8 start=1794717000");
    heard(&world, "started 12 key 6\n");
    finish(&world);
}

TEST(a_stop_ends_with_the_requeue)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(&world, runs);
    world.heard[0] = '\0';
    stop(&world, 9, "12");
    sent(&world, "stop key=2 job=12 run=0 signal=USR1 grace_ms=500\n");
    line(&world, "done key=2 was=running");
    heard(&world, "");
    line(&world, "requeued job=12 run=1");

    heard(&world, "stopped 12 key 9\n");
    line(&world, "job id=12 name=a state=pending completing=1 run=1 hold=none " ASKS);
    sent(&world, "");
    line(&world, "job id=12 name=a state=pending run=1 hold=none begin=1794717121 " ASKS);
    sent(&world, "hold key=3 jobs=12\n");
    line(&world, "job id=12 name=a state=pending run=1 hold=gate " ASKS);
    sent(&world, "");
    finish(&world);
}

TEST(a_stop_of_what_does_not_run_yet_takes_it_back)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    world.heard[0] = '\0';
    place(&world, 5, "12", 7);
    stop(&world, 6, "12");
    assert_int_equal(slurm_engine_next_wake(world.engine), world.now);
    heard(&world, "");
    tick(&world);
    heard(&world, "stopped 12 key 6\n");
    sent(&world, "");

    place(&world, 7, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    stop(&world, 8, "12");
    sent(&world, "cancel key=2 job=12 run=0\n");
    line(&world, "done key=1");
    line(&world, "done key=2 was=waiting");
    heard(&world, "stopped 12 key 8\n");
    finish(&world);
}

/* Slurm starts it while it is being taken back: it runs on, and is told as running. */
TEST(a_cancel_of_what_runs_ends_nothing)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(&world, "done key=1");
    world.heard[0] = '\0';
    cancel(&world, 6, "12");
    sent(&world, "cancel key=2 job=12 run=0\n");
    line(&world, runs);
    heard(&world, "started 12 key 5\n");
    line(&world, "refused key=2 code=0 text=job%2012%20already%20runs%20on%20st-7");
    tick(&world);
    heard(&world, "found 12 on 7 key 5\n");

    cancel(&world, 8, "12"); /* and that is known already */
    sent(&world, "");
    tick(&world);
    heard(&world, "found 12 on 7 key 5\n");
    line(&world, "requeued job=12 run=1");
    heard(&world, "lost 12 key 5\n"); /* nobody stopped it */
    finish(&world);
}

TEST(a_queued_job_is_taken_back_when_slurm_has_said_so)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    queue(&world, 5, "12");
    sent(&world, "release key=1 jobs=12\n");
    line(&world, "done key=1 count=1 failed=0");
    world.heard[0] = '\0';
    cancel(&world, 6, "12");
    sent(&world, "cancel key=2 job=12 run=0\n");
    tick(&world);
    heard(&world, "");
    line(&world, "done key=2 was=waiting");
    heard(&world, "stopped 12 key 6\n");

    queue(&world, 7, "12"); /* this time Slurm is faster, and on another machine */
    sent(&world, "release key=3 jobs=12\n");
    cancel(&world, 8, "12");
    sent(&world, "cancel key=4 job=12 run=0\n");
    line(&world, "refused key=4 code=0 text=job%2012%20already%20runs%20on%20st-7");
    heard(&world, "");
    line(&world, runs);
    heard(&world, "found 12 on 7 key 7\n");
    finish(&world);
}

/* The controller asks again while the news is on its way: nothing is stopped, and it hears where the job runs. */
TEST(what_is_asked_for_while_it_runs_is_found_where_it_runs)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, waits);
    queue(&world, 5, "12");
    sent(&world, "release key=1 jobs=12\n");
    line(&world, "done key=1 count=1 failed=0");
    line(&world, runs);
    world.heard[0] = '\0';

    queue(&world, 6, "12");
    place(&world, 7, "12", 8);
    sent(&world, "");
    tick(&world);
    heard(&world, "found 12 on 7 key 6\nfound 12 on 7 key 7\n");
    world.now += 60000;
    tick(&world);
    heard(&world, "");
    line(&world, "requeued job=12 run=1");
    heard(&world, "lost 12 key 7\n");
    finish(&world);
}

TEST(a_job_of_a_lost_machine_is_placed_when_slurm_has_put_it_back)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, runs);
    world.heard[0] = '\0';
    world.port.ops->forget(world.port.self, 7);
    place(&world, 6, "12", 8);
    sent(&world, "down key=1 nodes=st-7 text=stint:%20returned\n");
    line(&world, "done key=1");
    line(&world, "node name=st-7 state=down drain=0");
    line(&world, "requeued job=12 run=1");
    heard(&world, "");
    sent(&world, "place key=2 job=12 run=1 nodes=st-8\n");
    finish(&world);
}

TEST(a_node_that_died_with_work_on_it_is_deleted_once_slurm_has_given_it_up)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, runs);
    world.port.ops->forget(world.port.self, 7);
    sent(&world, "down key=1 nodes=st-7 text=stint:%20returned\n");
    line(&world, "done key=1");
    line(&world, "node name=st-7 state=down drain=0");
    line(&world, "requeued job=12 run=1");
    world.now += 24000;
    tick(&world);
    sent(&world, "");
    world.now += 1000;
    tick(&world);
    sent(&world, "delete key=2 nodes=st-7\n");
    world.heard[0] = '\0';
    finish(&world);
}

TEST(a_placement_that_comes_too_early_is_tried_again)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    world.heard[0] = '\0';
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(&world, "refused key=1 code=0 text=job%2012%20already%20runs%20on%20st-3");
    heard(&world, "");
    assert_int_equal(slurm_engine_next_wake(world.engine), world.now + 500);
    world.now += 500;
    tick(&world);
    sent(&world, "place key=2 job=12 run=0 nodes=st-7\n");
    for (int i = 3; i <= 8; i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "refused key=%d code=0 text=already%%20runs%%20on",
                       i - 1);
        line(&world, text);
        heard(&world, "");
        world.now += 500;
        tick(&world);
    }
    line(&world, "refused key=8 code=0 text=already%20runs%20on");
    heard(&world, "lost 12 key 5\n");
    finish(&world);
}

TEST(a_job_that_is_being_cleared_away_is_placed_afterwards)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 name=a state=pending completing=1 run=1 hold=none " ASKS);
    heard(&world, "arrived 12x1\n");
    place(&world, 5, "12", 7);
    sent(&world, "");
    line(&world, "job id=12 name=a state=pending run=1 hold=none " ASKS);
    sent(&world, "place key=1 job=12 run=1 nodes=st-7\n");
    finish(&world);
}

TEST(what_is_queued_is_released_together)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    line(&world, "job id=20 array=20 tasks=0-5 name=a state=pending run=0 hold=gate " ASKS);
    line(&world, "job id=30 name=a state=pending run=0 hold=gate " ASKS);
    world.heard[0] = '\0';
    queue(&world, 1, "20_5");
    queue(&world, 2, "12");
    queue(&world, 3, "20_1");
    queue(&world, 4, "20_2");
    queue(&world, 5, "30");
    sent(&world, "release key=1 jobs=12,20_[1-2,5],30\n");
    line(&world, "failed key=1 job=20_[1-2,5] code=2017 text=no");
    line(&world, "failed key=1 job=30 code=2017 text=no");
    line(&world, "done key=1 count=1 failed=2");
    heard(&world, "lost 20_1 key 3\nlost 20_2 key 4\nlost 20_5 key 1\nlost 30 key 5\n");
    line(&world, runs);
    heard(&world, "found 12 on 7 key 2\n");
    finish(&world);
}

TEST(a_queued_job_can_be_placed_after_all)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    world.heard[0] = '\0';
    queue(&world, 1, "12");
    sent(&world, "release key=1 jobs=12\n");
    place(&world, 2, "12", 7);
    sent(&world, "place key=2 job=12 run=0 nodes=st-7\n");
    line(&world, runs);
    heard(&world, "started 12 key 2\n");
    finish(&world);
}

TEST(every_id_that_squeue_prints_names_its_job)
{
    static const char *const same[] = { "12", "12.batch", "12.extern", "11+1" };
    static const char *const none[] = { "",
                                        "x",
                                        "12_",
                                        "12_[",
                                        "12_[1",
                                        "12x",
                                        "12.",
                                        "12.x",
                                        "12+",
                                        "+1",
                                        "99999999999999999999",
                                        "12_[a]" };
    struct world world;

    meet(&world);
    line(&world, "job id=12 name=a state=pending account=physics qos=high partition=cloud");
    line(&world, "job id=20 array=20 tasks=3-9%253 name=b state=pending run=0 hold=gate " ASKS);

    const uint64_t job = slurm_engine_find(world.engine, "12");

    assert_int_not_equal(job, 0);
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        assert_int_equal(slurm_engine_find(world.engine, same[i]), job);
    assert_int_not_equal(slurm_engine_find(world.engine, "20_3"), 0);
    assert_int_equal(slurm_engine_find(world.engine, "20_[3-9%3]"),
                     slurm_engine_find(world.engine, "20_3"));
    assert_int_equal(slurm_engine_find(world.engine, "20"),
                     slurm_engine_find(world.engine, "20_3"));
    assert_int_equal(slurm_engine_find(world.engine, "20_[5,7]"),
                     slurm_engine_find(world.engine, "20_5"));
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(slurm_engine_find(world.engine, none[i]), 0);
    finish(&world);
}

TEST(a_job_is_charged_to_account_partition_and_qos)
{
    struct engine_payer payer;
    struct world world;

    meet(&world);
    line(&world, "job id=12 name=a state=pending account=physics qos=high partition=cloud");
    line(&world, "job id=13 name=a state=pending");
    assert_true(slurm_engine_payer(world.engine, slurm_engine_find(world.engine, "12"), &payer));
    assert_string_equal(payer.account, "physics");
    assert_string_equal(payer.partition, "cloud");
    assert_string_equal(payer.qos, "high");
    assert_true(slurm_engine_payer(world.engine, slurm_engine_find(world.engine, "13"), &payer));
    assert_null(payer.account);
    finish(&world);
}

CHECK_MAIN(RUN(every_id_that_squeue_prints_names_its_job),
           RUN(a_job_is_charged_to_account_partition_and_qos),
           RUN(a_job_is_announced_once_with_what_it_asks_for),
           RUN(only_jobs_that_say_so_may_be_moved), RUN(a_placed_job_starts_runs_and_finishes),
           RUN(news_within_two_seconds_happens_now),
           RUN(a_job_that_started_and_ended_between_two_looks_is_told_as_both),
           RUN(a_job_that_may_not_run_is_not_announced_until_it_may),
           RUN(why_a_job_may_not_run_is_known), RUN(a_job_is_announced_when_its_time_comes),
           RUN(the_two_minutes_after_a_requeue_are_not_waited_for),
           RUN(each_task_of_an_array_is_a_job),
           RUN(the_last_task_of_an_array_is_not_called_by_the_number_of_all),
           RUN(a_cancelled_array_ends_with_all_that_it_still_held),
           RUN(the_limit_of_an_array_is_kept), RUN(a_gang_is_sent_when_all_of_it_is_placed),
           RUN(the_components_of_a_heterogeneous_job_are_one_gang),
           RUN(the_components_of_a_heterogeneous_job_that_runs_are_found_where_each_is),
           RUN(a_heterogeneous_job_that_slurm_rarely_looks_at_passes_the_gate),
           RUN(a_job_that_runs_elsewhere_than_placed_is_found),
           RUN(a_job_that_runs_unasked_is_announced_and_found),
           RUN(a_job_on_machines_of_others_is_none_of_ours),
           RUN(what_ended_before_anybody_heard_of_it_is_not_told), RUN(a_refused_placement_is_lost),
           RUN(a_refused_placement_that_was_to_be_stopped_has_stopped),
           RUN(a_requeued_job_is_lost_and_waits_again), RUN(a_stop_ends_with_the_requeue),
           RUN(a_stop_of_what_does_not_run_yet_takes_it_back),
           RUN(a_cancel_of_what_runs_ends_nothing),
           RUN(a_queued_job_is_taken_back_when_slurm_has_said_so),
           RUN(what_is_asked_for_while_it_runs_is_found_where_it_runs),
           RUN(a_job_of_a_lost_machine_is_placed_when_slurm_has_put_it_back),
           RUN(a_node_that_died_with_work_on_it_is_deleted_once_slurm_has_given_it_up),
           RUN(a_placement_that_comes_too_early_is_tried_again),
           RUN(a_job_that_is_being_cleared_away_is_placed_afterwards),
           RUN(what_is_queued_is_released_together), RUN(a_queued_job_can_be_placed_after_all))
