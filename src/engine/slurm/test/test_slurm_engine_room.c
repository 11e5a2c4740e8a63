/* SPDX-License-Identifier: Apache-2.0 */
/* Room for jobs on several nodes: how many of their tasks are announced at a time. */
#include "engine/slurm/test/engine_world.h"

#define WAITS "name=a state=pending run=0 hold=gate cpus=3 mem_mib=300 submit=1794716000"

/* Room for eight tasks. */
static void meet_small(struct world *world)
{
    begin(world);
    slurm_engine_destroy(world->engine);
    struct slurm_engine_config config = config_of(world);

    config.gang_tasks_max = 8;
    begin_with(world, &config);
    connect_it(world);
    sent(world, "hello protocol=1\n");
}

static enum slurm_wait_kind wait_of(struct world *world, const char *label)
{
    return slurm_engine_wait(world->engine, slurm_engine_find(world->engine, label)).kind;
}

static void count_tasks(void *context, const struct engine_event *event)
{
    struct world *world = context;

    if (event->kind == ENGINE_JOB_ARRIVED)
        world->events += event->job.task_count;
}

TEST(one_line_of_a_user_is_not_millions_of_tasks)
{
    struct world world;

    begin(&world);
    slurm_engine_destroy(world.engine);
    struct slurm_engine_config config = config_of(&world);

    config.on_event = count_tasks;
    begin_with(&world, &config);
    connect_it(&world);
    line(&world, "job id=12 array=12 tasks=0-1000 node_count=4096 " WAITS);
    assert_int_equal(world.events, 1 << 20);
    assert_int_equal(wait_of(&world, "12_256"), SLURM_WAIT_ROOM);
    assert_int_equal(wait_of(&world, "12_1000"), SLURM_WAIT_ROOM);
    line(&world, "job id=13 node_count=1 " WAITS);
    assert_int_equal(world.events, (1 << 20) + 1);
    line(&world, "job id=12 array=12 tasks=0-1000 state=cancelled run=0");
    assert_int_equal(world.events, (1 << 20) + 1);
    finish(&world);
}

TEST(gangs_beyond_wait_in_the_order_in_which_they_came)
{
    struct world world;

    meet_small(&world);
    line(&world, "job id=12 node_count=3 " WAITS);
    line(&world, "job id=13 node_count=3 " WAITS);
    line(&world, "job id=14 node_count=4 " WAITS);
    line(&world, "job id=15 node_count=2 " WAITS);
    line(&world, "job id=16 node_count=1 " WAITS);
    heard(&world, "arrived 12.0x3\narrived 13.0x3\narrived 16x1\n");
    assert_int_equal(wait_of(&world, "13"), SLURM_WAIT_NONE);
    assert_int_equal(wait_of(&world, "14"), SLURM_WAIT_ROOM);
    assert_int_equal(wait_of(&world, "15"), SLURM_WAIT_ROOM);
    line(&world, "job id=15 node_count=2 " WAITS); /* told again, it does not overtake */
    heard(&world, "");
    line(&world, "ended job=12 state=cancelled run=0");
    heard(&world, "finished 12.0\nfinished 12.1\nfinished 12.2\narrived 14.0x4\n");
    line(&world, "job-gone job=13");
    heard(&world, "finished 13.0\nfinished 13.1\nfinished 13.2\narrived 15.0x2\n");
    finish(&world);
}

TEST(one_that_may_not_run_any_more_lets_the_next_pass)
{
    struct world world;

    meet_small(&world);
    line(&world, "job id=12 node_count=6 " WAITS);
    line(&world, "job id=13 node_count=6 " WAITS);
    line(&world, "job id=14 node_count=6 " WAITS);
    line(&world, "job id=15 node_count=6 " WAITS);
    line(&world, "job id=16 node_count=2 " WAITS);
    heard(&world, "arrived 12.0x6\n");
    line(&world, "job id=13 name=a state=pending run=0 hold=user node_count=6 cpus=3");
    assert_int_equal(wait_of(&world, "13"), SLURM_WAIT_USER_HOLD);
    line(&world, "ended job=14 state=cancelled run=0");
    line(&world, "job id=15 name=a state=running run=0 nodes=other node_count=6 cpus=3");
    heard(&world, "arrived 16.0x2\n"); /* the others before it wait no more */
    line(&world, "job id=12 name=a state=pending run=0 hold=user node_count=6 cpus=3");
    heard(&world, "withdrawn 12.0\n");
    line(&world, "job id=13 node_count=6 " WAITS);
    heard(&world, "arrived 13.0x6\n");
    finish(&world);
}

TEST(what_runs_is_told_whether_there_is_room_or_not)
{
    struct world world;

    meet_small(&world);
    line(&world, "job id=12 node_count=8 " WAITS);
    line(&world, "job id=13 node_count=2 " WAITS);
    heard(&world, "arrived 12.0x8\n");
    line(&world, "job id=13 name=a state=running run=0 nodes=st-[7-8] start=1794717000 cpus=6");
    heard(&world, "arrived 13.0x2\nfound 13.0 on 7 key own\nfound 13.1 on 8 key own\n");
    line(&world, "ended job=13 state=completed run=0 end=1794717001");
    heard(&world, "finished 13.0\nfinished 13.1\n");
    finish(&world);
}

TEST(an_array_with_a_limit_goes_on_when_there_is_room)
{
    struct world world;

    meet_small(&world);
    line(&world, "job id=12 array=12 tasks=0-3%252 node_count=2 " WAITS);
    line(&world, "job id=20 node_count=4 " WAITS);
    heard(&world, "arrived 12_0.0x2\narrived 12_1.0x2\narrived 20.0x4\n");
    line(&world, "job id=21 node_count=4 " WAITS);
    line(&world, "job id=13 array=12 task=0 name=a state=cancelled run=0");
    heard(&world, "finished 12_0.0\nfinished 12_0.1\n");
    assert_int_equal(wait_of(&world, "12_2"), SLURM_WAIT_ROOM);
    assert_int_equal(wait_of(&world, "12_3"), SLURM_WAIT_ARRAY_LIMIT);
    line(&world, "ended job=20 state=cancelled run=0");
    world.heard[0] = '\0';
    line(&world, "job-gone job=21");
    heard(&world, "finished 21.0\nfinished 21.1\nfinished 21.2\nfinished 21.3\n");
    line(&world, "job id=14 array=12 task=1 name=a state=cancelled run=0");
    heard(&world, "finished 12_1.0\nfinished 12_1.1\narrived 12_3.0x2\n");
    finish(&world);
}

TEST(a_gang_that_changes_its_size_gives_back_what_it_had)
{
    struct world world;

    meet_small(&world);
    line(&world, "job id=12 array=12 tasks=0%251 node_count=6 " WAITS);
    line(&world, "job id=13 node_count=4 " WAITS);
    heard(&world, "arrived 12_0.0x6\n");
    line(&world, "job id=12 array=12 tasks=0%251 node_count=2 " WAITS);
    heard(&world, "withdrawn 12_0.0\narrived 13.0x4\narrived 12_0.0x2\n");
    line(&world, "job id=14 node_count=2 " WAITS);
    line(&world, "job id=15 node_count=2 " WAITS);
    heard(&world, "arrived 14.0x2\n");
    finish(&world);
}

CHECK_MAIN(RUN(one_line_of_a_user_is_not_millions_of_tasks),
           RUN(gangs_beyond_wait_in_the_order_in_which_they_came),
           RUN(one_that_may_not_run_any_more_lets_the_next_pass),
           RUN(what_runs_is_told_whether_there_is_room_or_not),
           RUN(an_array_with_a_limit_goes_on_when_there_is_room),
           RUN(a_gang_that_changes_its_size_gives_back_what_it_had))
