/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stories of lines and events: what stint-slurm says goes in, what the controller hears and what is
 * asked of stint-slurm comes out, both as short texts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_engine.h"

enum { TEXT_SIZE = 1 << 16 };

#define EPOCH ((msec_t)1794717000000) /* when the stories play */

struct world {
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct slurm_engine *engine;
    struct engine_port port;
    msec_t now;
    char heard[TEXT_SIZE]; /* events */
    char sent[TEXT_SIZE];  /* lines */
    uint64_t events;
    struct engine_event last;
    uint64_t tasks[64]; /* announced, in order */
    uint32_t task_count;
};

static void put(char *text, const char *more, size_t size)
{
    const size_t used = strlen(text);

    if (used + size + 1 < TEXT_SIZE) {
        memcpy(text + used, more, size);
        text[used + size] = '\0';
    }
}

static void on_event(void *context, const struct engine_event *event)
{
    static const char *const words[] = { "arrived", "withdrawn", "ready", "lost-node",
                                         "started", "found",     "rate",  "stopped",
                                         "lost",    "finished",  "listed" };
    struct world *world = context;
    char label[SLURM_LABEL_SIZE] = "";
    char text[256];
    const uint64_t task = event->kind <= ENGINE_JOB_WITHDRAWN ? event->job.id : event->task;

    world->events++;
    world->last = *event;
    if (task != 0)
        (void)slurm_engine_label(world->engine, task, label, sizeof(label));
    int length = snprintf(text, sizeof(text), "%s", words[event->kind]);

    if (label[0] != '\0')
        length += snprintf(text + length, sizeof(text) - (size_t)length, " %s", label);
    if (event->kind == ENGINE_JOB_ARRIVED) {
        length += snprintf(text + length, sizeof(text) - (size_t)length, "x%" PRIu32,
                           event->job.task_count);
        for (uint32_t i = 0; i < event->job.task_count && world->task_count < 64; i++)
            world->tasks[world->task_count++] = event->job.first_task_id + i;
    }
    if (event->instance != 0)
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, " on %" PRIu64, event->instance);
    if (event->key >> 63 != 0)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " key own");
    else if (event->key != 0)
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, " key %" PRIu64, event->key);
    text[length++] = '\n';
    put(world->heard, text, (size_t)length);
}

static void on_send(void *context, const char *lines, size_t size)
{
    struct world *world = context;

    put(world->sent, lines, size);
}

static void add_type(struct catalogue *catalogue, const char *name, const char *family,
                     struct res capacity)
{
    const struct price_change price = { 0, 100000 };
    const struct machine_type machine = { .capacity = capacity };
    const struct offer offer = {
        .type = catalogue_add_type(catalogue, name, family, &machine),
        .billing = { 1000, 60000 },
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(catalogue, "z1", &offer);
}

static const struct slurm_word gres_types[] = { { "g4dn", "t4" } };
static const struct slurm_word features[] = { { "m5.xlarge", "fast" } };

static struct slurm_engine_config config_of(struct world *world)
{
    return (struct slurm_engine_config){
        .catalogue = &world->catalogue,
        .shapes = &world->shapes,
        .users = &world->users,
        .job_names = &world->job_names,
        .features = features,
        .feature_count = 1,
        .gres_types = gres_types,
        .gres_type_count = 1,
        .stop_signal = "USR1",
        .stop_grace_ms = 500,
        .on_event = on_event,
        .on_send = on_send,
        .context = world,
    };
}

static void begin_with(struct world *world, const struct slurm_engine_config *config)
{
    world->engine = slurm_engine_create(config);
    world->port = slurm_engine_port(world->engine);
    world->now = EPOCH;
}

static void begin(struct world *world)
{
    memset(world, 0, sizeof(*world));
    catalogue_init(&world->catalogue);
    add_type(&world->catalogue, "m5.large", "m5", (struct res){ { 2000, 4000, 0 } });
    add_type(&world->catalogue, "m5.xlarge", "m5", (struct res){ { 4000, 8000, 0 } });
    add_type(&world->catalogue, "g4dn.xlarge", "g4dn", (struct res){ { 4000, 16000, 1000 } });
    shapes_init(&world->shapes);
    names_init(&world->users);
    names_init(&world->job_names);
    const struct slurm_engine_config config = config_of(world);

    begin_with(world, &config);
}

static void finish(struct world *world)
{
    slurm_engine_destroy(world->engine);
    names_done(&world->users);
    names_done(&world->job_names);
    shapes_done(&world->shapes);
    catalogue_done(&world->catalogue);
}

static void line(struct world *world, const char *text)
{
    char copy[4096];

    assert_true(strlen(text) + 1 < sizeof(copy));
    memcpy(copy, text, strlen(text) + 1);
    slurm_engine_line(world->engine, world->now, copy, strlen(text));
}

/* What was heard and sent so far is as expected; forget it. */
static void heard(struct world *world, const char *expected)
{
    assert_string_equal(world->heard, expected);
    world->heard[0] = '\0';
}

static void sent(struct world *world, const char *expected)
{
    slurm_engine_flush(world->engine, world->now);
    assert_string_equal(world->sent, expected);
    world->sent[0] = '\0';
}

static void tick(struct world *world)
{
    slurm_engine_tick(world->engine, world->now);
}

static void connect_it(struct world *world)
{
    slurm_engine_connected(world->engine, world->now);
    line(world, "hello protocol=1 stint=0.1.0 slurm=22.05.8");
}

static void meet(struct world *world)
{
    begin(world);
    connect_it(world);
    sent(world, "hello protocol=1\n");
}

static void place(struct world *world, uint64_t key, const char *label, uint64_t instance)
{
    world->port.ops->place(world->port.self, key, slurm_engine_find(world->engine, label),
                           instance);
}

static void queue(struct world *world, uint64_t key, const char *label)
{
    world->port.ops->queue(world->port.self, key, slurm_engine_find(world->engine, label));
}

static void stop(struct world *world, uint64_t key, const char *label)
{
    world->port.ops->stop(world->port.self, key, slurm_engine_find(world->engine, label));
}

#define ASKS "node_count=1 cpus=2 mem_mib=300 limit_s=600 requeue=1 submit=1794716000"

static const char waits[] = "job id=12 user=ann name=a state=pending run=0 hold=gate " ASKS;
static const char runs[] =
    "job id=12 user=ann name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS;

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

TEST(a_placement_that_slurm_will_not_carry_out_is_lost_and_held)
{
    struct world world;

    meet(&world);
    line(&world, waits);
    world.heard[0] = '\0';
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(&world,
         "job id=12 user=ann name=a state=pending run=0 hold=none reason=BadConstraints " ASKS);

    heard(&world, "lost 12 key 5\n");
    sent(&world, "hold key=2 jobs=12\n");
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
    sent(&world, "stop key=2 job=12 run=0 signal=USR1 grace_ms=500\n");
    line(&world, "done key=1");
    line(&world, "done key=2 was=waiting");
    heard(&world, "stopped 12 key 8\n");
    finish(&world);
}

TEST(a_job_of_a_lost_machine_is_placed_when_slurm_has_put_it_back)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, runs);
    world.heard[0] = '\0';
    world.port.ops->retire(world.port.self, 7);
    place(&world, 6, "12", 8);
    sent(&world, "down key=1 nodes=st-7 text=stint:%20given%20back\ndelete key=2 nodes=st-7\n");
    line(&world, "done key=1");
    line(&world, "requeued job=12 run=1");
    heard(&world, "");
    sent(&world, "place key=3 job=12 run=1 nodes=st-8\n");
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

TEST(a_drained_machine_is_lost_only_when_nothing_runs_there)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    line(&world, runs);
    line(&world, "node name=st-7 state=up drain=1");
    world.heard[0] = '\0';
    world.now += 30000;
    tick(&world);
    heard(&world, "");
    line(&world, "ended job=12 state=completed run=0 nodes=st-7 end=1794717001");
    world.now += 30000;
    tick(&world);
    heard(&world, "finished 12\nlost-node on 7\n");
    finish(&world);
}

TEST(a_node_is_removed_until_it_is_gone)
{
    struct world world;

    meet(&world);
    line(&world, "node name=st-7 state=up drain=0");
    world.port.ops->retire(world.port.self, 7);
    sent(&world, "down key=1 nodes=st-7 text=stint:%20given%20back\ndelete key=2 nodes=st-7\n");
    line(&world, "done key=1");
    line(&world, "node name=st-7 state=down drain=0");
    line(&world, "refused key=2 code=2016 text=busy");
    sent(&world, "");
    world.now += 1000;
    tick(&world);
    sent(&world, "down key=3 nodes=st-7 text=stint:%20given%20back\ndelete key=4 nodes=st-7\n");
    line(&world, "done key=3");
    line(&world, "done key=4");
    line(&world, "node-gone name=st-7");
    assert_int_equal(slurm_engine_next_wake(world.engine), MSEC_NEVER);

    line(&world, "node name=st-7 state=up drain=0"); /* it was booting still */
    sent(&world, "down key=5 nodes=st-7 text=stint:%20given%20back\ndelete key=6 nodes=st-7\n");
    finish(&world);
}

TEST(a_machine_that_never_joined_needs_no_removal)
{
    struct world world;

    meet(&world);
    world.port.ops->retire(world.port.self, 7);
    sent(&world, "");
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

static void keep_reason(void *context, uint64_t task, const char *reason)
{
    assert_true(task != 0);
    (void)snprintf(context, 256, "%s", reason);
}

static const char *reason_for(struct world *world, const char *asks, char *buf)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "job id=12 name=a state=pending run=0 hold=gate %s", asks);
    buf[0] = '\0';
    line(world, text);
    slurm_engine_each_unholdable(world->engine, keep_reason, buf);
    return buf;
}

TEST(what_no_machine_can_hold_is_not_announced_but_said)
{
    struct world world;
    char buf[256];

    meet(&world);
    assert_string_equal(reason_for(&world, "node_count=1 cpus=64 mem_mib=100", buf),
                        "no machine of the catalogue holds cpu64-mem100");
    assert_string_equal(reason_for(&world, "node_count=1 cpus=1 gres_node=gres:gpu:v100:1", buf),
                        "no machine of the catalogue holds cpu1-mem0-gpu1:v100");
    assert_non_null(strstr(reason_for(&world, "cpus=1 features=slow", buf), "slow"));
    assert_non_null(strstr(reason_for(&world, "cpus=1 features=a&(b", buf), "not understood"));
    assert_non_null(
        strstr(reason_for(&world, "cpus=1 gres_node=gres:nvme:1", buf), "other than gpu"));
    assert_non_null(strstr(reason_for(&world, "cpus=1 het=11", buf), "heterogeneous"));
    heard(&world, "");
    assert_string_equal(reason_for(&world, "cpus=1", buf), "");
    heard(&world, "arrived 12x1\n");
    finish(&world);
}

/* The types that hold the job that was announced last: l, x and g. */
static const char *types_of(struct world *world, const char *asks, char *buf)
{
    static int id = 100;
    char text[512];
    size_t used = 0;

    (void)snprintf(text, sizeof(text), "job id=%d name=a state=pending run=0 hold=gate %s", id++,
                   asks);
    world->last.kind = ENGINE_LISTED;
    line(world, text);
    for (uint32_t i = 0; i < 3 && world->last.kind == ENGINE_JOB_ARRIVED; i++) {
        if (shape_fits_type(&world->shapes, world->last.job.shape, &world->catalogue.types[i]))
            buf[used++] = "lxg"[i];
    }
    buf[used] = '\0';
    return buf;
}

TEST(constraints_and_accelerators_choose_the_machines)
{
    struct world world;
    char buf[8];

    meet(&world);
    assert_string_equal(types_of(&world, "cpus=1", buf), "lxg");
    assert_string_equal(types_of(&world, "cpus=4", buf), "xg");
    assert_string_equal(types_of(&world, "cpus=1 mem_mib=9000", buf), "g");
    assert_string_equal(types_of(&world, "cpus=1 features=m5", buf), "lx");
    assert_string_equal(types_of(&world, "cpus=1 features=m5|g4dn", buf), "lxg");
    assert_string_equal(types_of(&world, "cpus=1 features=m5&g4dn", buf), "");
    assert_string_equal(types_of(&world, "cpus=1 features=g4dn|m5&fast", buf), "xg");
    assert_string_equal(types_of(&world, "cpus=1 features=(g4dn|m5)&cloud&z1&on-demand", buf),
                        "lxg");
    assert_string_equal(types_of(&world, "cpus=1 features=spot", buf), "");
    assert_string_equal(types_of(&world, "cpus=1 features=fast", buf), "x");
    assert_string_equal(types_of(&world, "cpus=1 gres_node=gres:gpu:1", buf), "g");
    assert_string_equal(types_of(&world, "cpus=1 gres_node=gres:gpu:t4:1", buf), "g");
    assert_string_equal(types_of(&world, "node_count=2 cpus=2 gres_job=gres:gpu:2", buf), "g");
    assert_string_equal(types_of(&world, "node_count=1 cpus=2 gres_job=gres:gpu:2", buf), "");
    assert_string_equal(types_of(&world, "cpus=2 ntasks=2 gres_task=gres:gpu:1", buf), "");
    assert_string_equal(types_of(&world, "cpus=1 gres_socket=gres:gpu:1", buf), "g");
    finish(&world);
}

TEST(a_job_for_itself_takes_the_whole_machine)
{
    struct world world;
    char buf[8];

    meet(&world);
    assert_string_equal(types_of(&world, "cpus=1 mem_mib=100 exclusive=1", buf), "lxg");
    const struct res *demand = shape_demand_on(&world.shapes, world.last.job.shape, 0);

    assert_int_equal(demand->amount[RES_CPU], 2000);
    assert_int_equal(demand->amount[RES_MEM], 4000);
    assert_string_equal(types_of(&world, "cpus=3 mem_mib=0 mem_all=1", buf), "xg");
    demand = shape_demand_on(&world.shapes, world.last.job.shape, 0);
    assert_int_equal(demand->amount[RES_CPU], 4000);
    assert_int_equal(demand->amount[RES_MEM], 8000);
    finish(&world);
}

TEST(the_cost_is_written_once_and_summed)
{
    struct world world;

    meet(&world);
    line(&world, runs);
    line(&world, "ended job=12 state=completed run=0 nodes=st-7 end=1794717001");
    slurm_engine_cost(world.engine, slurm_engine_find(world.engine, "12"), 1000, "m5.large");
    slurm_engine_cost(world.engine, slurm_engine_find(world.engine, "12"), 1000234, "m5.large");
    sent(&world, "");
    world.now = slurm_engine_next_wake(world.engine);
    tick(&world);
    sent(&world, "comment key=1 job=12 text=stint:%20$1.001234%20on%20m5.large\n");
    line(&world, "refused key=1 code=2021 text=ended,%20and%20there%20is%20no%20accounting");
    slurm_engine_cost(world.engine, slurm_engine_find(world.engine, "12"), 5, "m5.large");
    world.now += 60000;
    tick(&world);
    sent(&world, "");
    finish(&world);
}

TEST(a_hundred_thousand_jobs_are_read_within_a_second)
{
    struct world world;
    struct timespec from;
    struct timespec to;
    char text[512];

    meet(&world);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 1; i <= 100000; i++) {
        const int length = snprintf(
            text, sizeof(text),
            "job id=%d uid=1000 user=u%d account=a name=job-%d partition=cloud state=pending run=0 "
            "hold=gate reason=BeginTime begin=1794716000 node_count=1 cpus=%d mem_mib=%d "
            "limit_s=600 requeue=1 submit=1794716000 ntasks=1 priority=4294901759",
            i, i % 50, i, i % 4 + 1, i % 10 * 100 + 100);

        slurm_engine_line(world.engine, world.now, text, (size_t)length);
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);

    assert_int_equal(world.events, 100000);
    assert_int_equal(slurm_engine_stats(world.engine).waiting, 100000);
    const double took =
        (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;

    print_message("# 100,000 lines: %.3f s\n", took);
    assert_true(took < 5); /* sanitizers included; 0.2 s without */
    finish(&world);
}

TEST(an_array_of_a_hundred_thousand_is_released_in_one_request)
{
    struct world world;
    char label[SLURM_LABEL_SIZE];

    meet(&world);
    line(&world, "job id=12 array=12 tasks=0-99999 name=a state=pending run=0 hold=gate " ASKS);
    assert_int_equal(world.events, 100000);
    for (uint64_t i = 0; i < 100000; i++) {
        (void)snprintf(label, sizeof(label), "12_%" PRIu64, i);
        queue(&world, i + 1, label);
    }
    sent(&world, "release key=1 jobs=12_[0-99999]\n");
    finish(&world);
}

CHECK_MAIN(
    RUN(a_job_is_announced_once_with_what_it_asks_for), RUN(a_placed_job_starts_runs_and_finishes),
    RUN(news_within_two_seconds_happens_now),
    RUN(a_job_that_started_and_ended_between_two_looks_is_told_as_both),
    RUN(a_job_that_may_not_run_is_not_announced_until_it_may),
    RUN(a_job_is_announced_when_its_time_comes),
    RUN(the_two_minutes_after_a_requeue_are_not_waited_for), RUN(each_task_of_an_array_is_a_job),
    RUN(a_cancelled_array_ends_with_all_that_it_still_held), RUN(the_limit_of_an_array_is_kept),
    RUN(a_gang_is_sent_when_all_of_it_is_placed),
    RUN(a_job_that_runs_elsewhere_than_placed_is_found),
    RUN(a_job_that_runs_unasked_is_announced_and_found),
    RUN(a_job_on_machines_of_others_is_none_of_ours),
    RUN(what_ended_before_anybody_heard_of_it_is_not_told), RUN(a_refused_placement_is_lost),
    RUN(a_placement_that_slurm_will_not_carry_out_is_lost_and_held),
    RUN(a_requeued_job_is_lost_and_waits_again), RUN(a_stop_ends_with_the_requeue),
    RUN(a_stop_of_what_does_not_run_yet_takes_it_back),
    RUN(a_job_of_a_lost_machine_is_placed_when_slurm_has_put_it_back),
    RUN(a_placement_that_comes_too_early_is_tried_again),
    RUN(a_job_that_is_being_cleared_away_is_placed_afterwards),
    RUN(what_is_queued_is_released_together), RUN(a_queued_job_can_be_placed_after_all),
    RUN(a_machine_is_ready_when_its_node_takes_work), RUN(a_machine_that_is_down_for_long_is_lost),
    RUN(a_restart_of_slurmctld_loses_no_machine),
    RUN(a_drained_machine_is_lost_only_when_nothing_runs_there),
    RUN(a_node_is_removed_until_it_is_gone), RUN(a_machine_that_never_joined_needs_no_removal),
    RUN(nodes_that_nobody_admitted_are_strays),
    RUN(a_list_tells_everything_and_drops_what_it_does_not_name),
    RUN(a_list_waits_for_the_next_connection), RUN(what_was_not_answered_is_asked_again),
    RUN(an_id_that_is_given_out_again_is_another_job), RUN(lines_that_make_no_sense_do_no_harm),
    RUN(nothing_is_read_before_the_hello), RUN(what_no_machine_can_hold_is_not_announced_but_said),
    RUN(constraints_and_accelerators_choose_the_machines),
    RUN(a_job_for_itself_takes_the_whole_machine), RUN(the_cost_is_written_once_and_summed),
    RUN(a_hundred_thousand_jobs_are_read_within_a_second),
    RUN(an_array_of_a_hundred_thousand_is_released_in_one_request))
