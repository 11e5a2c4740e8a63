/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of lines and events: what stint-kubernetes says goes in, what the controller hears and what is asked of
 * stint-kubernetes comes out, both as short texts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/test/check.h"
#include "engine/kubernetes/kube_engine.h"
#include "model/catalogue.h"
#include "model/shape.h"

enum { TEXT_SIZE = 1 << 14 };

struct world {
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct kube_engine *engine;
    struct engine_port port;
    msec_t now;
    char heard[TEXT_SIZE];
    char sent[TEXT_SIZE];
    uint64_t tasks[16]; /* announced, in order */
    uint32_t task_count;
    struct engine_event last;
};

static void put(char *text, const char *more, size_t size)
{
    const size_t used = strlen(text);

    assert_true(used + size + 1 < TEXT_SIZE);
    memcpy(text + used, more, size);
    text[used + size] = '\0';
}

static void on_event(void *context, const struct engine_event *event)
{
    static const char *const words[] = { "arrived", "withdrawn", "ready", "lost-node", "left",
                                         "started", "found",     "rate",  "stopped",   "lost",
                                         "ended",   "listed",    "kept",  "changed",   "left-job" };
    struct world *world = context;
    char text[256];
    char label[128] = "";

    if (event->task != 0)
        (void)kube_engine_label(world->engine, event->task, label, sizeof(label));
    if (event->kind == ENGINE_JOB_ARRIVED)
        world->tasks[world->task_count++ % 16] = event->job.first_task_id;
    (void)snprintf(text, sizeof(text), "%s%s%s", words[event->kind], label[0] != '\0' ? " " : "",
                   strchr(label, '/') != NULL ? label : "");
    put(world->heard, text, strlen(text));
    if (event->kind == ENGINE_JOB_ARRIVED)
        (void)snprintf(text, sizeof(text), " x%" PRIu32, event->job.task_count);
    else if (event->instance != 0)
        (void)snprintf(text, sizeof(text), " on %" PRIu64, event->instance);
    else
        text[0] = '\0';
    put(world->heard, text, strlen(text));
    put(world->heard, "\n", 1);
    world->last = *event;
}

static void on_send(void *context, const char *lines, size_t size)
{
    struct world *world = context;

    put(world->sent, lines, size);
}

static void on_say(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static void line(struct world *world, const char *text)
{
    char buf[1024];

    (void)snprintf(buf, sizeof(buf), "%s", text);
    kube_engine_line(world->engine, world->now, buf, strlen(buf));
}

static void begin_as(struct world *world, bool observes)
{
    const struct price_change price = { 0, 100000 };
    const struct machine_type machine = { .capacity = { .amount = { 4000, 8192, 0 } } };

    *world = (struct world){ .now = 1000000 };
    catalogue_init(&world->catalogue);
    const struct offer offer = {
        .type = catalogue_add_type(&world->catalogue, "c1.big", "c1", &machine),
        .billing = { 1000, 60000 },
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(&world->catalogue, "z1", &offer);
    shapes_init(&world->shapes);
    shapes_bind(&world->shapes, &world->catalogue);
    names_init(&world->users);
    names_init(&world->job_names);
    world->engine = kube_engine_create(&(struct engine_config){
        .catalogue = &world->catalogue,
        .shapes = &world->shapes,
        .users = &world->users,
        .job_names = &world->job_names,
        .node_prefix = "st-",
        .start_timeout_ms = 60000,
        .observes = observes,
        .on_event = on_event,
        .on_send = on_send,
        .on_say = on_say,
        .context = world,
    });
    world->port = kube_engine_port(world->engine);
    kube_engine_connected(world->engine, world->now);
    line(world, "hello protocol=1");
    line(world, "sync what=nodes");
    line(world, "synced what=nodes");
    line(world, "sync what=pods");
    line(world, "synced what=pods");
    assert_string_equal(world->sent,
                        observes ? "hello protocol=1 observes=1\n" : "hello protocol=1\n");
    world->sent[0] = '\0';
}

static void begin(struct world *world)
{
    begin_as(world, false);
}

static void end(struct world *world)
{
    kube_engine_destroy(world->engine);
    shapes_done(&world->shapes);
    names_done(&world->users);
    names_done(&world->job_names);
    catalogue_done(&world->catalogue);
}

/* What was heard, and what was sent, since the last time. */
static void expect(struct world *world, const char *heard, const char *sent)
{
    kube_engine_flush(world->engine, world->now);
    if (kube_engine_next_wake(world->engine) <= world->now)
        kube_engine_tick(world->engine, world->now);
    assert_string_equal(world->heard, heard);
    assert_string_equal(world->sent, sent);
    world->heard[0] = '\0';
    world->sent[0] = '\0';
}

/* No pod has come for a moment: those that came are announced. */
static void settle(struct world *world)
{
    world->now += 1000;
    kube_engine_tick(world->engine, world->now);
}

#define LEFT "text=Stint%20leaves%20this%20pod%20to%20kube-scheduler:%20"
#define POD  "space=a name=p uid=u1 owner=j kind=Job cpu=1000 mem=1024 accel=0"

TEST(a_pod_is_placed_runs_and_ends)
{
    struct world world;

    begin(&world);
    line(&world, "pod " POD " state=waiting");
    settle(&world);
    expect(&world, "arrived x1\n", "");
    assert_int_equal(world.last.job.estimate_ms, -1);
    assert_true(world.last.job.fixed);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    expect(&world, "ready on 17\n", "");
    assert_int_equal(world.last.capacity.amount[RES_CPU], 3900);
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    expect(&world, "", "place key=1 space=a name=p uid=u1 slot=st-17\n");
    line(&world, "done key=1");
    line(&world, "pod " POD " state=placed slot=st-17");
    line(&world, "pod " POD " state=running slot=st-17");
    expect(&world, "started a/p on 17\n", "");
    assert_int_equal(world.last.key, 5);
    line(&world, "pod " POD " state=ended slot=st-17");
    expect(&world, "ended a/p\n", "");
    line(&world, "pod " POD " state=ended slot=st-17");
    line(&world, "gone uid=u1");
    expect(&world, "", "");
    end(&world);
}

/* What keeps it away from machines has changed: the same pod is another job, with other needs. */
TEST(a_pod_that_is_told_anew_arrives_again)
{
    struct world world;
    uint32_t shape;

    begin(&world);
    line(&world, "pod " POD " state=waiting");
    settle(&world);
    expect(&world, "arrived x1\n", "");
    shape = world.last.job.shape;
    line(&world, "gone uid=u1");
    line(&world, "pod " POD " state=waiting needs=!(zone=z2)");
    expect(&world, "left-job a/p\n", "");
    settle(&world);
    expect(&world, "arrived x1\n", "");
    assert_int_not_equal(world.last.job.shape, shape);
    line(&world, "gone uid=u1");
    line(&world, "pod " POD " state=waiting needs=!(zone=z1)");
    expect(&world, "left-job a/p\n",
           "release key=1 space=a name=p uid=u1 " LEFT
           "no%20machine%20of%20the%20catalogue%20can%20hold%20it\n");
    end(&world);
}

#define OTHER(number) \
    "space=a name=q" number " uid=v" number " owner=j kind=Job cpu=500 mem=512 accel=0"

/* The kubelet would refuse the third: it is refused before, and the machine has no room for it. */
TEST(a_machine_takes_as_many_pods_as_its_node_does)
{
    struct world world;

    begin(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0 pods=2");
    line(&world, "pod " POD " state=waiting");
    line(&world, "pod " OTHER("1") " state=waiting");
    line(&world, "pod " OTHER("2") " state=waiting");
    settle(&world);
    expect(&world, "ready on 17\narrived x1\narrived x1\narrived x1\n", "");
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    expect(&world, "", "place key=1 space=a name=p uid=u1 slot=st-17\n");
    world.port.ops->place(world.port.self, 6, world.tasks[1], 17);
    world.port.ops->place(world.port.self, 7, world.tasks[2], 17);
    expect(&world, "ready on 17\nlost a/q2\n", "place key=2 space=a name=q1 uid=v1 slot=st-17\n");
    assert_int_equal(world.last.key, 7);

    /* It has what the two request, until one has left. */
    line(&world, "pod " POD " state=running slot=st-17");
    line(&world, "pod " OTHER("1") " state=running slot=st-17");
    world.port.ops->list(world.port.self, 9);
    expect(
        &world,
        "started a/p on 17\nstarted a/q1 on 17\narrived x1\narrived x1\narrived x1\nready on 17\n"
        "found a/p on 17\nfound a/q1 on 17\nlisted\n",
        "");
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0 pods=2");
    expect(&world, "", "");
    line(&world, "pod " POD " state=ended slot=st-17");
    expect(&world, "ended a/p\nready on 17\n", "");
    assert_int_equal(world.last.capacity.amount[RES_CPU], 3900);
    world.port.ops->place(world.port.self, 8, world.tasks[2], 17);
    expect(&world, "ready on 17\n", "place key=3 space=a name=q2 uid=v2 slot=st-17\n");
    assert_int_equal(world.last.capacity.amount[RES_CPU], 1000);
    assert_int_equal(world.last.capacity.amount[RES_MEM], 1024);

    /* A placement that the API server refuses, or that is taken back, counts no more. */
    line(&world, "refused key=3 code=409 text=no");
    expect(&world, "lost a/q2\nready on 17\n", "");
    assert_int_equal(world.last.capacity.amount[RES_CPU], 3900);
    end(&world);
}

/* Pods of DaemonSets have come after it was ready. */
TEST(what_a_node_has_may_change)
{
    struct world world;

    begin(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0 pods=110");
    expect(&world, "ready on 17\n", "");
    line(&world, "node slot=st-17 name=n1 state=up cpu=3400 mem=7000 accel=0 pods=108");
    expect(&world, "ready on 17\n", "");
    assert_int_equal(world.last.capacity.amount[RES_CPU], 3400);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3400 mem=7000 accel=0 pods=107");
    expect(&world, "", "");
    end(&world);
}

TEST(a_machine_leaves_when_nothing_is_on_it_whoever_s_it_is)
{
    struct world world;

    begin(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    line(&world, "pod " POD " state=running slot=st-17");
    expect(&world, "ready on 17\narrived x1\nfound a/p on 17\n", "");
    world.port.ops->retire(world.port.self, 17);
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "");
    line(&world, "pod " POD " state=ended slot=st-17");
    kube_engine_tick(world.engine, world.now);
    expect(&world, "ended a/p\n", "room key=1 name=n1\n");
    line(&world, "done key=1 pods=1");
    world.now += 5000;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "room key=2 name=n1\n");
    line(&world, "done key=2 pods=0");
    expect(&world, "left on 17\n", "");
    end(&world);
}

TEST(a_budget_that_allows_nothing_keeps_the_task)
{
    struct world world;

    begin(&world);
    line(&world, "pod " POD " state=running slot=st-3");
    expect(&world, "arrived x1\nfound a/p on 3\n", "");
    world.port.ops->stop(world.port.self, 9, world.tasks[0]);
    expect(&world, "", "evict key=1 space=a name=p uid=u1\n");
    line(&world, "refused key=1 code=429 text=budget");
    expect(&world, "kept a/p\n", "");
    world.port.ops->stop(world.port.self, 10, world.tasks[0]);
    expect(&world, "", "evict key=2 space=a name=p uid=u1\n");
    line(&world, "done key=2");
    line(&world, "gone uid=u1");
    expect(&world, "stopped a/p\nleft-job a/p\n", "");
    end(&world);
}

TEST(what_is_not_understood_or_too_large_is_left_to_the_scheduler)
{
    struct world world;

    begin(&world);
    line(&world, "pod " POD " state=waiting strange=devices");
    expect(&world, "", "release key=1 space=a name=p uid=u1 " LEFT "devices\n");
    line(&world, "gone uid=u1");
    line(&world,
         "pod space=a name=q uid=u2 owner=j kind=Job cpu=64000 mem=1 accel=0 state=waiting");
    expect(&world, "",
           "release key=2 space=a name=q uid=u2 " LEFT
           "no%20machine%20of%20the%20catalogue%20can%20hold%20it\n");
    line(&world, "pod space=a name=r uid=u3 cpu=1 mem=1 accel=0 state=waiting");
    expect(&world, "", "release key=3 space=a name=r uid=u3 " LEFT "it%20has%20no%20controller\n");
    end(&world);
}

/* One event when it has waited for half a minute, and one when that is over; none on pods that wait less. */
TEST(a_pod_that_waits_long_is_told_so)
{
    struct world world;

    begin(&world);
    line(&world, "pod " POD " state=waiting");
    settle(&world);
    expect(&world, "arrived x1\n", "");
    assert_int_equal(kube_engine_next_wake(world.engine), world.now + 29000);
    world.now += 28999;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "");
    world.now += 1;
    kube_engine_tick(world.engine, world.now);
    expect(
        &world, "",
        "note key=1 space=a name=p uid=u1 text=Stint%20has%20no%20machine%20for%20this%20pod%20yet,%20after%2030%20s;"
        "%20`stint%20explain%20a/p`%20says%20why\n");
    assert_int_equal(kube_engine_next_wake(world.engine), MSEC_NEVER);
    line(&world, "done key=1");
    world.now += 60000;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "");
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    expect(
        &world, "",
        "place key=2 space=a name=p uid=u1 slot=st-17 text=After%2090%20s%20Stint%20placed%20it%20on%20st-17\n");
    end(&world);
}

TEST(a_gang_waits_for_all_its_pods_and_is_placed_together)
{
    static const char *const pod =
        "pod space=a name=g%d uid=g%d owner=j kind=Job group=o gang=2 cpu=1000 "
        "mem=1024 accel=0 state=%s";
    uint64_t tasks[2];
    uint64_t machines[2] = { 1, 2 };
    struct world world;
    char text[256];

    begin(&world);
    (void)snprintf(text, sizeof(text), pod, 1, 1, "waiting");
    line(&world, text);
    expect(&world, "", "");
    (void)snprintf(text, sizeof(text), pod, 2, 2, "waiting");
    line(&world, text);
    settle(&world);
    expect(&world, "arrived x2\n", "");
    assert_true(world.last.job.gang);
    tasks[0] = world.tasks[0];
    tasks[1] = world.tasks[0] + 1;
    world.port.ops->place(world.port.self, 5, tasks[0], machines[0]);
    expect(&world, "", "");
    world.port.ops->cancel(world.port.self, 6, tasks[0]);
    kube_engine_tick(world.engine, world.now);
    expect(&world, "stopped a/g1\n", "");
    world.port.ops->place(world.port.self, 7, tasks[0], machines[0]);
    world.port.ops->place(world.port.self, 8, tasks[1], machines[1]);
    expect(
        &world, "",
        "place key=1 space=a name=g1 uid=g1 slot=st-1\nplace key=2 space=a name=g2 uid=g2 slot=st-2\n");
    line(&world, "gone uid=g2");
    expect(&world, "lost a/g2\nwithdrawn\n", "");
    (void)snprintf(text, sizeof(text), pod, 3, 3, "waiting");
    line(&world, text);
    settle(&world);
    expect(&world, "arrived x2\n", "");
    end(&world);
}

TEST(a_placement_that_the_scheduler_ignores_is_given_up)
{
    struct world world;

    begin(&world);
    line(&world, "pod " POD " state=waiting");
    settle(&world);
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    expect(&world, "arrived x1\n", "place key=1 space=a name=p uid=u1 slot=st-17\n");
    line(&world, "pod " POD " state=placed slot=st-17");
    world.now += 61000;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "delete key=2 space=a name=p uid=u1\n");
    line(&world, "gone uid=u1");
    expect(&world, "lost a/p\nleft-job a/p\n", "");
    end(&world);
}

TEST(what_was_asked_before_the_pipe_broke_is_asked_again)
{
    struct world world;

    begin(&world);
    line(&world, "pod " POD " state=waiting");
    settle(&world);
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    expect(&world, "arrived x1\n", "place key=1 space=a name=p uid=u1 slot=st-17\n");
    kube_engine_disconnected(world.engine, world.now);
    assert_false(kube_engine_is_up(world.engine));
    kube_engine_connected(world.engine, world.now);
    line(&world, "hello protocol=1");
    line(&world, "sync what=nodes");
    line(&world, "synced what=nodes");
    line(&world, "sync what=pods");
    line(&world, "pod " POD " state=waiting");
    line(&world,
         "pod space=a name=q uid=u2 owner=j kind=ReplicaSet cpu=1 mem=1 accel=0 state=waiting");
    line(&world, "synced what=pods");
    assert_int_equal(world.last.job.estimate_ms, MSEC_NEVER);
    assert_false(world.last.job.fixed);
    expect(&world, "arrived x1\n",
           "hello protocol=1\nplace key=2 space=a name=p uid=u1 slot=st-17\n");
    line(&world, "sync what=pods");
    line(&world, "synced what=pods");
    expect(&world, "lost a/p\nleft-job a/p\nleft-job a/q\n", "");
    end(&world);
}

/* One second after the last one, and ten after the first one however many come; one that runs is no news to wait for. */
TEST(pods_that_come_together_are_announced_together)
{
    struct world world;
    char text[256];

    begin(&world);
    const msec_t first = world.now;

    for (int i = 0; world.now < first + 10000; i++, world.now += 900) {
        (void)snprintf(
            text, sizeof(text),
            "pod space=a name=p%d uid=w%d owner=j kind=Job cpu=1 mem=1 accel=0 state=waiting", i,
            i);
        line(&world, text);
        kube_engine_tick(world.engine, world.now);
        assert_string_equal(world.heard, "");
        assert_int_equal(kube_engine_next_wake(world.engine),
                         world.now < first + 9000 ? world.now + 1000 : first + 10000);
    }
    kube_engine_tick(world.engine, first + 10000);
    assert_int_equal(world.task_count, 12);
    world.heard[0] = '\0';
    world.now = first + 10000;
    line(&world, "pod space=a name=q uid=v1 owner=j kind=Job cpu=1 mem=1 accel=0 state=waiting");
    line(&world, "pod space=a name=r uid=v2 owner=j kind=Job cpu=1 mem=1 accel=0 state=waiting");
    line(&world, "gone uid=v1");
    line(&world, "pod " POD " state=running slot=st-3");
    expect(&world, "arrived x1\nfound a/p on 3\n", "");
    settle(&world);
    expect(&world, "arrived x1\n", "");
    end(&world);
}

TEST(a_list_has_all_there_is)
{
    struct world world;

    begin(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    line(&world, "pod " POD " state=running slot=st-17");
    expect(&world, "ready on 17\narrived x1\nfound a/p on 17\n", "");
    world.port.ops->list(world.port.self, 3);
    assert_int_equal(kube_engine_next_wake(world.engine), 0);
    kube_engine_tick(world.engine, world.now);
    expect(&world, "arrived x1\nready on 17\nfound a/p on 17\nlisted\n", "");
    assert_int_equal(kube_engine_find(world.engine, "a/p"), world.tasks[0]);
    line(&world, "node slot=st-17 name=n1 state=gone");
    expect(&world, "lost-node on 17\n", "");
    end(&world);
}

/* Opens no gate, not even of a pod that it does not understand: whoever looks on writes nothing. */
TEST(who_only_observes_asks_for_nothing)
{
    struct world world;

    begin_as(&world, true);
    line(&world, "pod " POD " state=waiting strange=claims");
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "");
    line(&world, "pod " POD " state=ended");
    end(&world);

    begin(&world);
    line(&world, "pod " POD " state=waiting strange=claims");
    kube_engine_tick(world.engine, world.now);
    assert_non_null(strstr(world.sent, "release key=1 "));
    end(&world);
}

CHECK_MAIN(RUN(who_only_observes_asks_for_nothing), RUN(a_pod_is_placed_runs_and_ends),
           RUN(a_pod_that_is_told_anew_arrives_again),
           RUN(a_machine_takes_as_many_pods_as_its_node_does), RUN(what_a_node_has_may_change),
           RUN(a_machine_leaves_when_nothing_is_on_it_whoever_s_it_is),
           RUN(a_budget_that_allows_nothing_keeps_the_task),
           RUN(what_is_not_understood_or_too_large_is_left_to_the_scheduler),
           RUN(a_pod_that_waits_long_is_told_so),
           RUN(a_gang_waits_for_all_its_pods_and_is_placed_together),
           RUN(a_placement_that_the_scheduler_ignores_is_given_up),
           RUN(what_was_asked_before_the_pipe_broke_is_asked_again),
           RUN(pods_that_come_together_are_announced_together), RUN(a_list_has_all_there_is))
