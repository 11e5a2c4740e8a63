/* SPDX-License-Identifier: Apache-2.0 */
/* Machines, lists, and links that break. */
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"
#include "engine/slurm/test/engine_world.h"

TEST(a_machine_is_ready_when_its_node_takes_work)
{
    struct world world;

    meet(&world);
    world.port.ops->admit(world.port.self, 7);
    line(&world, "node name=st-7 state=joining drain=0");
    line(&world, "node name=st-7 state=up drain=1");
    line(&world, "node name=big7 state=up drain=0");
    line(&world, "node name=st-007 state=up drain=0");
    heard(&world, "");
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "node name=st-7 state=up drain=0 cpus=4");
    heard(&world, "ready on 7\n");

    line(&world, "node name=st-8 state=up drain=0");
    heard(&world, "ready on 8\n");
    world.port.ops->admit(world.port.self, 8);
    tick(&world);
    heard(&world, "ready on 8\n");
    finish(&world);
}

TEST(a_machine_that_is_down_for_long_is_lost)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "node name=st-7 state=down drain=0");
    world.heard[0] = '\0';
    world.now += 14999;
    tick(&world);
    heard(&world, "");
    world.now += 1;
    assert_int_equal(slurm_engine_next_wake(world.engine), world.now);
    tick(&world);
    heard(&world, "lost-node on 7\n");
    line(&world, "node name=st-7 state=up drain=0");
    heard(&world, "ready on 7\n");
    finish(&world);
}

TEST(a_restart_of_slurmctld_loses_no_machine)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "node name=st-7 state=down drain=0");
    world.heard[0] = '\0';
    world.now += 10000;
    line(&world, "controller state=lost text=x");
    assert_false(slurm_engine_is_up(world.engine));
    world.now += 60000;
    tick(&world);
    line(&world, "controller state=back");
    world.now += 14000;
    tick(&world);
    heard(&world, "");
    line(&world, "node name=st-7 state=up drain=0");
    world.now += 60000;
    tick(&world);
    heard(&world, "");
    finish(&world);
}

TEST(a_drained_machine_is_closed_and_lost_only_when_nothing_runs_there)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, runs);
    world.heard[0] = '\0';
    line(&world, "node name=st-7 state=up drain=1");
    assert_int_equal(slurm_engine_next_wake(world.engine), world.now);
    tick(&world);
    heard(&world, "lost-node on 7 for new work\n");
    line(&world, "node name=st-7 state=up drain=0");
    heard(&world, "ready on 7\n");
    line(&world, "node name=st-7 state=up drain=1");
    tick(&world);
    heard(&world, "lost-node on 7 for new work\n");
    world.now += 30000;
    tick(&world);
    heard(&world, "");
    line(&world, "ended job=12 state=completed run=0 nodes=st-7 end=1794717001");
    world.now += 30000;
    tick(&world);
    heard(&world, "finished 12\nlost-node on 7\n");
    finish(&world);
}

/* A ping was missed: Slurm itself waits for SlurmdTimeout. */
TEST(a_silent_machine_with_jobs_is_left_alone_until_slurm_gives_it_up)
{
    struct world world;

    meet(&world);
    world.port.ops->list(world.port.self, 40);
    line(&world, "list key=1 what=nodes silence_s=60");
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "node name=st-8 state=up drain=0");
    line(&world, runs);
    line(&world, "node name=st-7 state=up drain=1");
    tick(&world);
    world.now += 100000; /* as long as it is only drained does not count */
    line(&world, "node name=st-7 state=silent drain=1");
    line(&world, "node name=st-8 state=silent drain=0");
    world.heard[0] = '\0';
    world.now += 15000;
    tick(&world);
    heard(&world, "lost-node on 8\n"); /* nothing runs there */
    world.now += 44999;
    tick(&world);
    heard(&world, "");
    line(&world, "node name=st-7 state=up drain=0");
    heard(&world, "ready on 7\n");
    line(&world, "node name=st-7 state=silent drain=0");
    world.now += 30000;
    tick(&world);
    heard(&world, "lost-node on 7 for new work\n");
    line(&world, "node name=st-7 state=down drain=0"); /* that is Slurm's word */
    tick(&world);
    heard(&world, "lost-node on 7\n");
    finish(&world);
}

TEST(a_silent_machine_with_jobs_is_lost_if_slurm_never_gives_it_up)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, runs);
    line(&world, "node name=st-7 state=silent drain=0");
    world.heard[0] = '\0';
    world.now += 299999;
    tick(&world);
    heard(&world, "lost-node on 7 for new work\n");
    world.now += 1000;
    tick(&world);
    heard(&world, "lost-node on 7\n");
    finish(&world);
}

TEST(a_node_is_removed_until_it_is_gone)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    world.port.ops->forget(world.port.self, 7);
    sent(&world, "down key=1 nodes=st-7 text=stint:%20returned\ndelete key=2 nodes=st-7\n");
    line(&world, "done key=1");
    line(&world, "node name=st-7 state=down drain=0");
    line(&world, "refused key=2 code=2016 text=busy");
    sent(&world, "");
    world.now += 1000;
    tick(&world);
    sent(&world, "delete key=3 nodes=st-7\n"); /* it is down already */
    line(&world, "done key=3");
    line(&world, "node-gone name=st-7");
    assert_int_equal(slurm_engine_next_wake(world.engine), MSEC_NEVER);

    line(&world, "node name=st-7 state=up drain=0"); /* it was booting still */
    sent(&world, "down key=4 nodes=st-7 text=stint:%20returned\ndelete key=5 nodes=st-7\n");
    finish(&world);
}

TEST(a_machine_leaves_when_nothing_is_allocated_there)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    world.port.ops->admit(world.port.self, 7);
    tick(&world);
    world.heard[0] = '\0';
    world.port.ops->retire(world.port.self, 7);
    sent(&world, "drain key=1 nodes=st-7 text=stint:%20leaving\n");
    line(&world, "done key=1");
    tick(&world);
    heard(&world, "");
    line(&world, "node name=st-7 state=up drain=1 busy=1 reason=stint:%20leaving"); /* somebody's */
    tick(&world);
    heard(&world, "");
    line(&world, "node name=st-7 state=up drain=1 reason=stint:%20leaving");
    tick(&world);
    heard(&world, "left on 7\n");
    sent(&world, "");
    world.port.ops->retire(world.port.self, 7); /* asked again, it is told again */
    tick(&world);
    heard(&world, "left on 7\n");
    finish(&world);
}

/* Whoever drained it may resume it while the machine goes back, and a job would start there. */
TEST(a_node_that_an_operator_has_drained_is_drained_for_stint_too)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=1 reason=bad%20disk");
    world.port.ops->admit(world.port.self, 7);
    tick(&world);
    world.heard[0] = '\0';
    world.port.ops->retire(world.port.self, 7);
    sent(&world, "drain key=1 nodes=st-7 text=stint:%20leaving\n");
    tick(&world);
    heard(&world, "");
    line(&world, "done key=1");
    line(
        &world,
        "node name=st-7 state=up drain=1 reason=bad%20disk"); /* a Slurm that keeps the first reason */
    tick(&world);
    heard(&world, "left on 7\n");
    line(&world, "node name=st-7 state=up drain=0");
    world.now += 5000;
    tick(&world);
    sent(&world, "drain key=2 nodes=st-7 text=stint:%20leaving\n");
    finish(&world);
}

TEST(a_drain_that_does_not_last_is_asked_for_again)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    world.port.ops->retire(world.port.self, 7);
    sent(&world, "drain key=1 nodes=st-7 text=stint:%20leaving\n");
    line(&world, "refused key=1 code=1 text=no");
    sent(&world, "");
    world.now += 5000;
    tick(&world);
    sent(&world, "drain key=2 nodes=st-7 text=stint:%20leaving\n");
    line(&world, "done key=2");
    line(&world, "node name=st-7 state=up drain=0 busy=1"); /* an operator resumes it */
    sent(&world, "");
    world.now += 5000;
    tick(&world);
    sent(&world, "drain key=3 nodes=st-7 text=stint:%20leaving\n");
    finish(&world);
}

TEST(a_machine_has_left_when_slurm_says_that_it_does_not_know_it)
{
    struct world world;

    meet(&world);
    world.port.ops->retire(world.port.self, 7);
    tick(&world);
    heard(&world, ""); /* it may have joined since the last look, and work may have begun there */
    sent(&world, "drain key=1 nodes=st-7 text=stint:%20leaving\n");
    line(&world, "refused key=1 code=2018 text=no%20such%20node");
    tick(&world);
    heard(&world, "left on 7\n");
    sent(&world, "");

    line(&world, "node name=st-8 state=up drain=0 busy=1");
    world.heard[0] = '\0';
    world.port.ops->retire(world.port.self, 8);
    sent(&world, "drain key=2 nodes=st-8 text=stint:%20leaving\n");
    line(&world, "done key=2");
    line(&world, "node name=st-8 state=silent drain=1 busy=1");
    tick(&world);
    heard(&world, "");
    line(&world, "node name=st-8 state=down drain=1"); /* it died, and Slurm has seen to its jobs */
    tick(&world);
    heard(&world, "left on 8\n");
    finish(&world);
}

/* A job that may start anywhere would start on it in the moment between this answer and its end. */
TEST(a_machine_that_may_still_join_has_not_left_while_a_job_may_start_anywhere)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    queue(&world, 5, "12");
    sent(&world, "release key=1 jobs=12\n");
    line(&world, "done key=1");
    world.heard[0] = '\0';

    world.port.ops->retire(world.port.self, 7);
    sent(&world, "drain key=2 nodes=st-7 text=stint:%20leaving\n");
    line(&world, "refused key=2 code=2018 text=no%20such%20node");
    tick(&world);
    heard(&world, "");
    world.now += 1000;
    line(&world, "node name=st-7 state=up drain=0"); /* it joins, and is drained at once */
    sent(&world, "drain key=3 nodes=st-7 text=stint:%20leaving\n");
    line(&world, "done key=3");
    line(&world, "node name=st-7 state=up drain=1 reason=stint:%20leaving");
    tick(&world);
    heard(&world, "left on 7\n");

    world.port.ops->retire(world.port.self, 8);
    sent(&world, "drain key=4 nodes=st-8 text=stint:%20leaving\n");
    line(&world, "refused key=4 code=2018 text=no%20such%20node");
    world.now += 5000;
    tick(&world);
    sent(&world, "drain key=5 nodes=st-8 text=stint:%20leaving\n");
    heard(&world, "");
    world.now += 180000; /* it never comes */
    line(&world, "refused key=5 code=2018 text=no%20such%20node");
    tick(&world);
    heard(&world, "left on 8\n");
    finish(&world);
}

TEST(a_machine_that_is_being_resumed_has_not_left)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=1 reason=stint:%20leaving");
    world.port.ops->admit(world.port.self, 7);
    sent(&world, "resume key=1 nodes=st-7\n");
    world.port.ops->retire(world.port.self, 7);
    tick(&world);
    world.heard[0] = '\0';
    tick(&world);
    heard(&world, "");
    line(&world, "done key=1");
    world.now += 5000;
    tick(&world);
    sent(&world, "drain key=2 nodes=st-7 text=stint:%20leaving\n");
    line(&world, "done key=2");
    line(&world, "node name=st-7 state=up drain=1 busy=1 reason=stint:%20leaving");
    tick(&world);
    heard(&world, "");
    line(&world, "node name=st-7 state=up drain=1 reason=stint:%20leaving");
    tick(&world);
    heard(&world, "left on 7\n");
    finish(&world);
}

TEST(a_machine_that_only_joins_has_not_left)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=joining drain=0");
    world.port.ops->retire(world.port.self, 7);
    sent(&world, "drain key=1 nodes=st-7 text=stint:%20leaving\n");
    tick(&world);
    heard(&world, "");
    line(&world, "done key=1");
    line(&world, "node name=st-7 state=up drain=1 busy=1"); /* work began in between */
    tick(&world);
    heard(&world, "");
    line(&world, "node name=st-7 state=up drain=1");
    tick(&world);
    heard(&world, "left on 7\n");
    finish(&world);
}

/* An earlier process drained it and ended before it was returned. */
TEST(a_machine_that_was_about_to_leave_is_resumed_when_it_is_admitted)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=1 reason=stint:%20leaving");
    line(&world, "node name=st-8 state=up drain=1 reason=bad%20disk");
    sent(&world, "");
    world.port.ops->admit(world.port.self, 7);
    world.port.ops->admit(world.port.self, 8);
    sent(&world, "resume key=1 nodes=st-7\n");
    line(&world, "done key=1");
    line(&world, "node name=st-7 state=up drain=0");
    heard(&world, "ready on 7\n");
    finish(&world);
}

TEST(a_machine_that_never_joined_needs_no_removal)
{
    struct world world;

    meet(&world);
    world.port.ops->forget(world.port.self, 7);
    sent(&world, "");
    finish(&world);
}

/* A list that names these nodes and no job. */
static void list_nodes(struct world *world, const char *nodes)
{
    const uint64_t key = world->engine->asks.first_key;
    char text[64];

    world->port.ops->list(world->port.self, 40);
    slurm_engine_flush(world->engine, world->now);
    line(world, "list key=0 what=nodes");
    if (*nodes != '\0')
        line(world, nodes);
    for (uint64_t i = key; i < key + 2; i++) {
        (void)snprintf(text, sizeof(text), "done key=%" PRIu64, i);
        line(world, text);
    }
}

TEST(a_machine_that_is_gone_is_known_for_an_hour_and_then_its_row_is_used_again)
{
    struct world world;

    meet(&world);
    world.port.ops->admit(world.port.self, 6); /* it never comes, and is waited for */
    for (uint64_t machine = 7; machine <= 8; machine++) {
        world.port.ops->admit(world.port.self, machine);
        line(&world,
             machine == 7 ? "node name=st-7 state=up drain=0" : "node name=st-8 state=up drain=0");
        world.port.ops->forget(world.port.self, machine);
        slurm_engine_flush(world.engine, world.now);
    }
    line(&world, "done key=1");
    line(&world, "done key=2");
    line(&world, "done key=3");
    line(&world, "done key=4");
    line(&world, "node-gone name=st-7");
    world.now += 3599999;
    list_nodes(&world, "node name=st-8 state=down drain=1");
    assert_int_equal(world.engine->by_instance.count, 3);
    world.now += 1;
    list_nodes(&world, "node name=st-8 state=down drain=1");
    assert_int_equal(world.engine->by_instance.count, 2);
    assert_int_equal(world.engine->node_count, 3);

    world.heard[0] = '\0';
    world.port.ops->admit(world.port.self, 9);
    line(&world, "node name=st-9 state=up drain=0");
    heard(&world, "ready on 9\n");
    assert_int_equal(world.engine->node_count, 3);
    world.now += 3600000;
    list_nodes(&world, "node name=st-9 state=up drain=0");
    world.now += 3600000;
    list_nodes(&world, "node name=st-9 state=up drain=0");
    assert_int_equal(world.engine->by_instance.count, 2); /* 6 and 9 */
    finish(&world);
}

TEST(names_of_jobs_are_kept_apart_up_to_a_number)
{
    struct world world;
    char name[32];

    meet(&world);
    line(&world, waits);
    for (uint32_t i = 0; i < SLURM_NAMES_MAX; i++)
        (void)names_add(&world.job_names, name,
                        (size_t)snprintf(name, sizeof(name), "name %" PRIu32, i));
    const uint32_t count = world.job_names.count;

    line(&world, "job id=13 name=new state=pending run=0 hold=gate " ASKS);
    assert_string_equal(names_text(&world.job_names, world.last.job.name), "...");
    line(&world, "job id=14 name=newer state=pending run=0 hold=gate " ASKS);
    line(&world, "job id=15 name=a state=pending run=0 hold=gate " ASKS);
    assert_string_equal(names_text(&world.job_names, world.last.job.name), "a");
    assert_int_equal(world.job_names.count, count + 1);
    finish(&world);
}

static void count_stray(void *context, uint64_t instance, bool is_up)
{
    uint64_t *sum = context;

    *sum += instance * (is_up ? 1 : 100);
}

TEST(nodes_that_nobody_admitted_are_strays)
{
    struct world world;
    uint64_t sum = 0;

    meet(&world);
    world.port.ops->admit(world.port.self, 7);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "node name=st-8 state=up drain=0");
    line(&world, "node name=st-9 state=down drain=0");
    slurm_engine_each_stray(world.engine, count_stray, &sum);

    assert_int_equal(sum, 908);
    finish(&world);
}

TEST(a_list_tells_everything_and_drops_what_it_does_not_name)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    line(&world, "job id=13 name=a state=pending run=0 hold=gate " ASKS);
    line(&world, "job id=14 name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "node name=st-8 state=up drain=0");
    world.heard[0] = '\0';
    world.port.ops->list(world.port.self, 40);
    sent(&world, "list key=1 what=nodes\nlist key=2 what=jobs\n");
    line(&world, "list key=1 what=nodes");
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "done key=1 count=1");
    line(&world, "list key=2 what=jobs");
    line(&world, waits);
    line(&world, "job id=14 name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS);
    heard(&world, "");
    line(&world, "done key=2 count=2");

    heard(&world, "finished 13\narrived 12x1\narrived 14x1\nready on 7\n"
                  "found 14 on 7 key own\nlisted key 40\n");
    finish(&world);
}

static bool is_booked(void *context, uint64_t task)
{
    const struct world *world = context;
    char label[SLURM_LABEL_SIZE];

    (void)slurm_engine_label(world->engine, task, label, sizeof(label));
    return strcmp(label, "15") == 0;
}

/* By the time of what happened, not by the order of the list; what the books have, and what ran elsewhere, is left out. */
TEST(the_first_list_tells_what_ran_and_ended_unheard)
{
    struct world world;
    struct slurm_engine_config config;

    begin(&world);
    slurm_engine_destroy(world.engine);
    config = config_of(&world);
    config.is_booked = is_booked;
    begin_with(&world, &config);
    connect_it(&world);
    world.sent[0] = '\0';
    world.port.ops->list(world.port.self, 40);
    sent(&world, "list key=1 what=nodes\nlist key=2 what=jobs\n");
    line(&world, "list key=1 what=nodes");
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "done key=1 count=1");
    line(&world, "list key=2 what=jobs");
    line(&world,
         "job id=13 name=a state=completed run=0 nodes=st-7 start=1794716900 end=1794716990 " ASKS);
    line(&world,
         "job id=14 name=a state=completed run=0 nodes=st-7 start=1794716910 end=1794716950 " ASKS);
    line(&world,
         "job id=15 name=a state=completed run=0 nodes=st-7 start=1794716910 end=1794716950 " ASKS);
    line(
        &world,
        "job id=16 name=a state=completed run=0 nodes=other1 start=1794716910 end=1794716950 " ASKS);
    world.heard[0] = '\0';
    line(&world, "done key=2 count=4");
    heard(&world, "arrived 13x1\nfound 13 on 7 key own\narrived 14x1\nfound 14 on 7 key own\n"
                  "finished 14\nfinished 13\nready on 7\nlisted key 40\n");

    world.port.ops->list(world.port.self, 41); /* they are known now */
    sent(&world, "list key=3 what=nodes\nlist key=4 what=jobs\n");
    line(&world, "list key=3 what=nodes");
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, "done key=3 count=1");
    line(&world, "list key=4 what=jobs");
    line(&world,
         "job id=13 name=a state=completed run=0 nodes=st-7 start=1794716900 end=1794716990 " ASKS);
    line(&world,
         "job id=17 name=a state=completed run=0 nodes=st-7 start=1794716900 end=1794716990 " ASKS);
    line(&world, "done key=4 count=2");
    heard(&world, "ready on 7\nlisted key 41\n");
    finish(&world);
}

/* A machine is ready if something is found there, so that it is closed is told last. */
TEST(a_list_tells_closed_machines_after_what_runs_there)
{
    struct world world;

    meet(&world);
    world.port.ops->list(world.port.self, 40);
    sent(&world, "list key=1 what=nodes\nlist key=2 what=jobs\n");
    line(&world, "list key=1 what=nodes");
    line(&world, "node name=st-7 state=up drain=1");
    line(&world, "done key=1 count=1");
    line(&world, "list key=2 what=jobs");
    line(&world, runs);
    tick(&world);
    heard(&world, "arrived 12x1\nfound 12 on 7 key own\n");
    line(&world, "done key=2 count=1");
    heard(&world, "arrived 12x1\nfound 12 on 7 key own\nlost-node on 7 for new work\n"
                  "listed key 40\n");
    line(&world, "node name=st-7 state=up drain=0");
    heard(&world, "ready on 7\n");
    finish(&world);
}

TEST(a_list_waits_for_the_next_connection)
{
    struct world world;

    meet(&world);
    world.port.ops->list(world.port.self, 40);
    sent(&world, "list key=1 what=nodes\nlist key=2 what=jobs\n");
    line(&world, "list key=1 what=nodes");
    slurm_engine_disconnected(world.engine, world.now);
    world.port.ops->list(world.port.self, 41);
    sent(&world, "");
    connect_it(&world);
    sent(&world, "hello protocol=1\nlist key=3 what=nodes\nlist key=4 what=jobs\n");
    line(&world, "done key=3 count=0");
    line(&world, "done key=4 count=0");
    heard(&world, "listed key 40\nlisted key 41\n");
    finish(&world);
}

TEST(what_was_not_answered_is_asked_again)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    line(&world, "job id=13 name=a state=pending run=0 hold=gate " ASKS);
    place(&world, 5, "12", 7);
    place(&world, 6, "13", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\nplace key=2 job=13 run=0 nodes=st-7\n");
    line(&world, "done key=1");
    slurm_engine_disconnected(world.engine, world.now);
    world.heard[0] = '\0';
    connect_it(&world);
    sent(&world, "hello protocol=1\nplace key=2 job=13 run=0 nodes=st-7\n"
                 "list key=3 what=nodes\nlist key=4 what=jobs\n");
    line(&world, runs);
    heard(&world, "started 12 key 5\n");
    line(&world, "unsure key=2 code=1 text=x");
    line(&world, "controller state=lost text=x");
    line(&world, "controller state=back");
    sent(&world, "place key=2 job=13 run=0 nodes=st-7\n");
    finish(&world);
}

TEST(an_id_that_is_given_out_again_is_another_job)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    const uint64_t first = world.last.job.id;

    line(&world,
         "job id=12 name=b state=pending run=0 hold=gate node_count=1 cpus=1 submit=1794716500");
    heard(&world, "arrived 12x1\nfinished 12\narrived 12x1\n");
    assert_true(world.last.job.id != first);
    assert_int_equal(slurm_engine_find(world.engine, "12"), world.last.job.id);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    world.port.ops->place(world.port.self, 6, first, 7);
    world.heard[0] = '\0';
    tick(&world);
    assert_int_equal(world.last.kind, ENGINE_TASK_LOST);
    assert_int_equal(world.last.task, first);
    finish(&world);
}

TEST(lines_that_make_no_sense_do_no_harm)
{
    static const char *const bad[] = {
        "",
        "job",
        "job id=0 state=pending",
        "job id=99999999999 state=pending",
        "job id=12 state=pending run=-1",
        "job id=12 array=12 tasks=5-2 state=pending",
        "job id=12 array=12 tasks=0-4194303 state=pending",
        "job id=12 array=12 tasks=, state=pending",
        "job id=12 array=12 tasks=1%25x state=pending",
        "job id=12 state=pending state=running",
        "started job=x",
        "started",
        "ended job=12 run=99999999999",
        "done key=77",
        "done key=x",
        "refused",
        "failed key=1 job=0",
        "failed key=1 job=12_[x",
        "node",
        "node-gone",
        "unsure key=0",
        "nonsense a=b",
        "hello protocol=2",
        "Hello",
    };
    struct world world;

    meet(&world);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        line(&world, bad[i]);
    slurm_engine_line(world.engine, world.now, NULL, SIZE_MAX);
    heard(&world, "");
    sent(&world, "");
    assert_true(slurm_engine_stats(world.engine).bad_lines > 10);
    line(&world, waits);
    heard(&world, "arrived 12x1\n");
    finish(&world);
}

TEST(nothing_is_read_before_the_hello)
{
    struct world world;

    begin(&world);
    slurm_engine_connected(world.engine, world.now);
    line(&world, waits);
    heard(&world, "");
    sent(&world, "");
    finish(&world);
}

CHECK_MAIN(
    RUN(a_machine_is_ready_when_its_node_takes_work), RUN(a_machine_that_is_down_for_long_is_lost),
    RUN(a_restart_of_slurmctld_loses_no_machine),
    RUN(a_drained_machine_is_closed_and_lost_only_when_nothing_runs_there),
    RUN(the_first_list_tells_what_ran_and_ended_unheard),
    RUN(a_list_tells_closed_machines_after_what_runs_there),
    RUN(a_silent_machine_with_jobs_is_left_alone_until_slurm_gives_it_up),
    RUN(a_silent_machine_with_jobs_is_lost_if_slurm_never_gives_it_up),
    RUN(a_node_is_removed_until_it_is_gone), RUN(a_machine_leaves_when_nothing_is_allocated_there),
    RUN(a_node_that_an_operator_has_drained_is_drained_for_stint_too),
    RUN(a_drain_that_does_not_last_is_asked_for_again),
    RUN(a_machine_has_left_when_slurm_says_that_it_does_not_know_it),
    RUN(a_machine_that_may_still_join_has_not_left_while_a_job_may_start_anywhere),
    RUN(a_machine_that_is_being_resumed_has_not_left), RUN(a_machine_that_only_joins_has_not_left),
    RUN(a_machine_that_was_about_to_leave_is_resumed_when_it_is_admitted),
    RUN(a_machine_that_never_joined_needs_no_removal),
    RUN(a_machine_that_is_gone_is_known_for_an_hour_and_then_its_row_is_used_again),
    RUN(names_of_jobs_are_kept_apart_up_to_a_number), RUN(nodes_that_nobody_admitted_are_strays),
    RUN(a_list_tells_everything_and_drops_what_it_does_not_name),
    RUN(a_list_waits_for_the_next_connection), RUN(what_was_not_answered_is_asked_again),
    RUN(an_id_that_is_given_out_again_is_another_job), RUN(lines_that_make_no_sense_do_no_harm),
    RUN(nothing_is_read_before_the_hello))
