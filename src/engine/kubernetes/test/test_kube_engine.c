/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of lines and events: what stint-kubernetes says goes in, what the controller hears and what is asked of
 * stint-kubernetes comes out, both as short texts. */
#include "engine/kubernetes/test/kube_stage.h"

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

static uint64_t kin_of_job(struct world *world, const char *text, const char *heard)
{
    line(world, text);
    settle(world);
    expect(world, heard, "");
    return world->last.job.kin;
}

static uint64_t kin_of(struct world *world, const char *text)
{
    return kin_of_job(world, text, "arrived x1\n");
}

TEST(pods_of_one_job_are_kin_and_replicas_are_not)
{
    struct world world;
    uint64_t kin;

    begin(&world);
    kin = kin_of(&world, "pod " POD " state=waiting");
    assert_true(kin != 0);
    assert_true(kin_of(&world, "pod space=a name=q uid=u2 owner=j kind=Job cpu=1000 mem=1024 "
                               "accel=0 state=waiting") == kin);
    assert_true(kin_of(&world, "pod space=a name=r uid=u3 owner=k kind=Job cpu=1000 mem=1024 "
                               "accel=0 state=waiting") != kin);
    assert_true(kin_of(&world, "pod space=a name=s uid=u4 owner=j kind=ReplicaSet cpu=1000 "
                               "mem=1024 accel=0 state=waiting") == 0);
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

/* Whoever owns it: its work would be lost. */
TEST(a_pod_with_an_end_is_fixed_and_a_replica_is_not)
{
    struct world world;

    begin(&world);
    line(&world,
         "pod space=a name=s uid=u1 owner=s kind=SparkApplication cpu=100 mem=64 accel=0 ends=1 "
         "state=waiting");
    settle(&world);
    expect(&world, "arrived x1\n", "");
    assert_true(world.last.job.fixed);
    assert_int_equal(world.last.job.estimate_ms, -1);
    line(&world,
         "pod space=a name=r uid=u2 owner=r kind=ReplicaSet cpu=100 mem=64 accel=0 state=waiting");
    settle(&world);
    expect(&world, "arrived x1\n", "");
    assert_false(world.last.job.fixed);
    assert_int_equal(world.last.job.estimate_ms, MSEC_NEVER);
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

/* A new machine has less for pods: the second DaemonSet is for other machines. */
TEST(what_daemons_will_take_of_a_new_machine_is_told_when_it_changes)
{
    struct world world;

    begin(&world);
    line(&world, "overhead cpu=100 mem=200 accel=0");
    line(&world, "overhead cpu=1000 mem=2000 accel=0 needs=type=other");
    line(&world, "overhead cpu=50 mem=64 accel=0 volumes=1 needs=zone=z1");
    assert_int_equal(world.taken_count, 0);
    line(&world, "overheads");
    assert_int_equal(world.taken_count, 1);
    assert_int_equal(world.taken.amount[RES_CPU], 150);
    assert_int_equal(world.taken.amount[RES_MEM], 264);
    assert_int_equal(world.taken.amount[RES_PODS], 2);
    assert_int_equal(world.taken.amount[RES_VOLUMES], 1);
    line(&world, "overhead cpu=100 mem=200 accel=0");
    line(&world, "overhead cpu=50 mem=64 accel=0 volumes=1");
    line(&world, "overheads");
    assert_int_equal(world.taken_count, 1);
    line(&world, "overheads");
    assert_int_equal(world.taken_count, 2);
    assert_int_equal(world.taken.amount[RES_PODS], 0);
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
    expect(&world, "ready on 17\n", "");
    assert_int_equal(world.last.capacity.amount[RES_PODS], 107);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3400 mem=7000 accel=0 pods=107");
    expect(&world, "", "");
    end(&world);
}

/* Before its drivers have begun the type says it. */
TEST(a_node_says_how_many_volumes_it_attaches_or_its_type_does)
{
    struct world world;

    begin(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0 pods=110");
    expect(&world, "ready on 17\n", "");
    assert_true(world.last.capacity.amount[RES_VOLUMES] == ENGINE_AS_TYPE);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0 pods=110 volumes=8");
    expect(&world, "ready on 17\n", "");
    assert_int_equal(world.last.capacity.amount[RES_VOLUMES], 8);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0 pods=110 volumes=8");
    expect(&world, "", "");
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0 pods=110 volumes=0");
    expect(&world, "ready on 17\n", "");
    assert_int_equal(world.last.capacity.amount[RES_VOLUMES], 0);
    end(&world);
}

TEST(a_pod_asks_for_its_volumes_and_is_left_if_no_machine_attaches_as_many)
{
    struct world world;
    const struct shape *shape;

    begin(&world);
    line(&world, "pod " POD " volumes=25 state=waiting");
    settle(&world);
    expect(&world, "arrived x1\n", "");
    shape = &world.shapes.rows[world.shape];
    assert_int_equal(world.shapes.demands[shape->demand_first].res.amount[RES_VOLUMES], 25);
    line(&world, "pod " OTHER("1") " volumes=26 state=waiting");
    settle(&world);
    expect(&world, "",
           "release key=1 space=a name=q1 uid=v1 " LEFT
           "no%20machine%20of%20the%20catalogue%20can%20hold%20it\n");
    end(&world);
}

/* The one that is to leave detaches its volumes first. */
TEST(a_placement_waits_for_volumes_to_be_detached)
{
    struct world world;

    begin(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0 volumes=4");
    line(&world, "pod " OTHER("1") " volumes=3 state=running slot=st-17");
    line(&world, "pod " POD " volumes=2 state=waiting");
    settle(&world);
    expect(&world, "ready on 17\narrived x1\nfound a/q1 on 17\narrived x1\n", "");
    world.port.ops->place(world.port.self, 5, world.tasks[1], 17);
    expect(&world, "", "");
    line(&world, "pod " OTHER("1") " state=ended slot=st-17");
    expect(&world, "ended a/q1\n", "place key=1 space=a name=p uid=u1 slot=st-17\n");
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
    assert_true(kube_engine_next_wake(world.engine) <= world.now); /* it costs by the second */
    kube_engine_tick(world.engine, world.now);
    expect(&world, "ended a/p\n", "room key=1 name=n1\n");
    assert_true(kube_engine_next_wake(world.engine) > world.now);
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
    assert_int_equal(kube_engine_next_wake(world.engine), world.now + 60000);
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

static const char *reason = "";

static int explain(void *context, uint64_t task, char *buf, size_t size)
{
    (void)context;
    (void)task;
    return snprintf(buf, size, "%s", reason);
}

TEST(why_a_pod_waits_is_told_when_it_changes_and_not_too_often)
{
    struct world world;

    begin_with(&world, false, explain);
    reason = "the limit is reached";
    line(&world, "pod " POD " state=waiting");
    settle(&world);
    world.now += 29000;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "arrived x1\n",
           "note key=1 space=a name=p uid=u1 text=After%2030%20s:%20the%20limit%20is%20reached;%20"
           "`stint%20explain%20a/p`%20has%20the%20details\n");
    reason = "the budget is spent";
    world.now += 59999;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "");
    world.now += 1;
    kube_engine_tick(world.engine, world.now);
    assert_non_null(strstr(world.sent, "text=After%2090%20s:%20the%20budget%20is%20spent;"));
    world.sent[0] = '\0';
    world.now += 60000;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "");
    line(&world, "pod space=a name=g uid=g owner=j kind=Job group=o gang=3 cpu=1 mem=1 accel=0 "
                 "state=waiting");
    world.now += 30000;
    kube_engine_tick(world.engine, world.now);
    assert_non_null(
        strstr(world.sent, "2%20of%20the%203%20pods%20of%20its%20gang%20are%20missing"));
    end(&world);

    begin_with(&world, true, explain); /* in mode shadow nothing is written */
    line(&world, "pod " POD " state=waiting");
    settle(&world);
    world.now += 60000;
    kube_engine_tick(world.engine, world.now);
    assert_string_equal(world.sent, "");
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

#define WEB                                                                              \
    "owner=web-1 kind=ReplicaSet group=service/a/web/ capacity=3 short=1000000 cpu=1000" \
    " mem=1024 accel=0"
#define WEB_POD(name, state) "pod space=a name=" name " uid=" name " " WEB " state=" state

static void up(struct world *world, uint64_t machine)
{
    char text[128];

    (void)snprintf(text, sizeof(text),
                   "node slot=st-%" PRIu64 " name=n%" PRIu64 " state=up cpu=3900 mem=8000 accel=0",
                   machine, machine);
    world->port.ops->admit(world->port.self, machine);
    line(world, text);
}

/* Three tasks, whatever pods there are: a placement waits for the pod, and a pod goes where the one before it was to go. */
TEST(a_service_has_its_tasks_without_pods_too)
{
    struct world world;
    uint64_t task;

    begin(&world);
    line(&world, WEB_POD("w1", "waiting"));
    settle(&world);
    expect(&world, "arrived x3\n", "");
    assert_false(world.last.job.gang);
    assert_false(world.last.job.fixed);
    assert_int_equal(world.last.job.short_ppb, 1000000);
    task = world.tasks[0];
    up(&world, 17);
    expect(&world, "ready on 17\n", "");
    world.port.ops->place(world.port.self, 5, task, 17);
    world.port.ops->place(world.port.self, 6, task + 1, 17);
    expect(&world, "", "place key=1 space=a name=w1 uid=w1 slot=st-17\n");
    line(&world, WEB_POD("w2", "waiting"));
    expect(&world, "", "place key=2 space=a name=w2 uid=w2 slot=st-17\n");
    line(&world, WEB_POD("w2", "running") " slot=st-17");
    expect(&world, "started a/w2 on 17\n", "");
    assert_int_equal(world.last.key, 6);
    line(&world, "gone uid=w2"); /* somebody has deleted it, and no machine is to blame */
    expect(&world, "lost a/w2\n", "");
    assert_true(world.last.is_faultless);
    world.port.ops->place(world.port.self, 7, task + 1, 17);
    expect(&world, "", "");
    world.port.ops->cancel(world.port.self, 8, task + 1);
    expect(&world, "stopped a/web/1\n", "");
    end(&world);
}

TEST(when_a_node_vanishes_the_seats_of_a_service_are_free_at_once)
{
    struct world world;
    uint64_t task;

    begin(&world);
    line(&world, WEB_POD("w1", "waiting"));
    settle(&world);
    up(&world, 17);
    up(&world, 18);
    task = world.tasks[0];
    world.port.ops->place(world.port.self, 5, task, 17);
    line(&world, WEB_POD("w1", "running") " slot=st-17");
    expect(&world, "arrived x3\nready on 17\nready on 18\nstarted a/w1 on 17\n",
           "place key=1 space=a name=w1 uid=w1 slot=st-17\n");
    line(&world, "node slot=st-17 name=n17 state=gone cpu=0 mem=0 accel=0");
    expect(&world, "lost-node on 17\n", "delete key=2 space=a name=w1 uid=w1\n");
    world.port.ops->place(world.port.self, 6, task, 18);
    line(&world, "gone uid=w1");
    expect(&world, "", "");
    line(&world, WEB_POD("w2", "waiting"));
    expect(&world, "", "place key=3 space=a name=w2 uid=w2 slot=st-18\n");
    line(&world, WEB_POD("w2", "placed") " slot=st-18");
    line(&world, "node slot=st-18 name=n18 state=gone cpu=0 mem=0 accel=0");
    expect(&world, "lost-node on 18\n", "delete key=4 space=a name=w2 uid=w2\n");
    end(&world);
}

/* Three seats on 17, and beyond the capacity one pod on 17, two on 18 and one that waits. */
static void begin_spares(struct world *world)
{
    begin(world);
    up(world, 17);
    up(world, 18);
    line(world, "sync what=pods");
    line(world, WEB_POD("w1", "running") " slot=st-17");
    line(world, WEB_POD("w2", "running") " slot=st-17");
    line(world, WEB_POD("w3", "running") " slot=st-17");
    line(world, WEB_POD("w4", "running") " slot=st-18");
    line(world, WEB_POD("w5", "waiting"));
    line(world, WEB_POD("w6", "running") " slot=st-18");
    line(world, WEB_POD("w7", "running") " slot=st-17");
    line(world, "synced what=pods");
    expect(
        world,
        "ready on 17\nready on 18\narrived x3\nfound a/w1 on 17\nfound a/w2 on 17\nfound a/w3 on "
        "17\narrived x1\nfound a/w4 on 18\narrived x1\narrived x1\nfound a/w6 on 18\narrived "
        "x1\nfound a/w7 on 17\n",
        "");
}

static const char *const taken_seats =
    "left-job a/w6\nfound a/w6 on 18\nleft-job a/w4\nfound a/w4 on 18\nleft-job a/w5\n";

TEST(when_a_node_vanishes_pods_beyond_the_capacity_that_run_take_its_seats)
{
    struct world world;

    begin_spares(&world);
    line(&world, "node slot=st-17 name=n17 state=gone cpu=0 mem=0 accel=0");
    kube_engine_tick(world.engine, world.now);
    assert_memory_equal(world.heard, "lost-node on 17\n", 16);
    memmove(world.heard, world.heard + 16, strlen(world.heard + 16) + 1);
    expect(&world, taken_seats,
           "delete key=1 space=a name=w1 uid=w1\ndelete key=2 space=a name=w2 uid=w2\n"
           "delete key=3 space=a name=w3 uid=w3\n");
    world.port.ops->place(world.port.self, 5, world.tasks[0] + 2,
                          18); /* where w5 is, which waits */
    line(&world, "gone uid=w1");
    line(&world, "gone uid=w2");
    line(&world, "gone uid=w3");
    expect(&world, "", "place key=4 space=a name=w5 uid=w5 slot=st-18\n");
    line(&world, WEB_POD("w8", "waiting"));
    settle(&world);
    expect(&world, "arrived x1\n", ""); /* in place of w1, and beyond the capacity */
    end(&world);
}

/* The controller knew it first, and has planned for the seats: who runs has them all the same. */
TEST(when_a_machine_is_forgotten_pods_beyond_the_capacity_take_its_seats_too)
{
    struct world world;

    begin_spares(&world);
    world.port.ops->forget(world.port.self, 17);
    world.port.ops->place(world.port.self, 5, world.tasks[0], 18);
    assert_string_equal(world.heard, "");
    assert_true(kube_engine_next_wake(world.engine) <= world.now);
    kube_engine_tick(world.engine, world.now);
    assert_string_equal(world.heard, taken_seats);
    assert_int_equal(kube_engine_find(world.engine, "a/w6"), world.tasks[0]);
    assert_int_equal(kube_engine_find(world.engine, "a/w4"), world.tasks[0] + 1);
    assert_true(kube_engine_next_wake(world.engine) > world.now);
    end(&world);
}

/* The cloud has said so before the API server has. */
TEST(when_a_machine_is_forgotten_the_seats_of_a_service_are_free_too)
{
    struct world world;

    begin(&world);
    line(&world, WEB_POD("w1", "waiting"));
    settle(&world);
    up(&world, 17);
    up(&world, 18);
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    kube_engine_flush(world.engine, world.now);
    line(&world, WEB_POD("w1", "running") " slot=st-17");
    world.heard[0] = '\0';
    world.sent[0] = '\0';
    world.port.ops->forget(world.port.self, 17);
    world.port.ops->place(world.port.self, 6, world.tasks[0], 18);
    expect(&world, "", "delete key=2 space=a name=w1 uid=w1\n");
    line(&world, "gone uid=w1");
    line(&world, WEB_POD("w2", "waiting"));
    expect(&world, "", "place key=3 space=a name=w2 uid=w2 slot=st-18\n");
    end(&world);
}

/* Of a rollout, say. */
TEST(pods_beyond_the_capacity_have_no_promise_until_there_is_a_seat)
{
    struct world world;

    begin(&world);
    up(&world, 17);
    up(&world, 18);
    line(&world, "sync what=pods");
    line(&world, WEB_POD("w1", "running") " slot=st-17");
    line(&world, WEB_POD("w2", "running") " slot=st-17");
    line(&world, WEB_POD("w3", "running") " slot=st-17");
    line(&world, "synced what=pods");
    world.heard[0] = '\0';
    line(&world, WEB_POD("w4", "waiting"));
    settle(&world);
    expect(&world, "arrived x1\n", "");
    assert_int_equal(world.last.job.short_ppb, 0);
    world.port.ops->place(world.port.self, 5, world.last.job.first_task_id, 18);
    line(&world, WEB_POD("w4", "running") " slot=st-18");
    expect(&world, "started a/w4 on 18\n", "place key=1 space=a name=w4 uid=w4 slot=st-18\n");
    line(&world, "gone uid=w2");
    expect(&world, "lost a/w2\nleft-job a/w4\nfound a/w4 on 18\n", "");
    assert_int_equal(world.last.task, world.tasks[0] + 1);
    end(&world);
}

TEST(pods_beyond_the_capacity_are_kin_of_those_that_have_a_seat)
{
    struct world world;
    uint64_t kin;

    begin(&world);
    kin = kin_of_job(&world, WEB_POD("w1", "waiting"), "arrived x3\n");
    line(&world, WEB_POD("w2", "waiting"));
    line(&world, WEB_POD("w3", "waiting"));
    assert_true(kin != 0);
    assert_true(kin_of_job(&world, WEB_POD("w4", "waiting"), "arrived x1\n") == kin);
    end(&world);
}

TEST(a_service_without_pods_ends_after_a_while)
{
    struct world world;

    begin(&world);
    line(&world, WEB_POD("w1", "waiting"));
    settle(&world);
    line(&world, "gone uid=w1");
    world.now += 29000;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "arrived x3\n", "");
    world.now += 1000;
    assert_true(kube_engine_next_wake(world.engine) <= world.now);
    kube_engine_tick(world.engine, world.now);
    expect(&world, "withdrawn\n", "");
    line(&world, WEB_POD("w2", "waiting"));
    settle(&world);
    expect(&world, "arrived x3\n", "");
    end(&world);
}

TEST(a_job_of_low_priority_yields)
{
    struct world world;

    begin(&world);
    line(&world, "pod " POD " yields=1 state=waiting");
    settle(&world);
    assert_true(world.last.job.yields);
    assert_true(world.last.job.fixed);
    line(&world, "pod space=a name=q uid=u2 owner=j kind=Job cpu=1000 mem=1024 accel=0 yields=1 "
                 "keep=1 state=waiting");
    settle(&world);
    assert_false(world.last.job.yields);
    end(&world);
}

TEST(a_placement_waits_for_room_that_a_pod_is_to_leave)
{
    struct world world;

    begin(&world);
    up(&world, 17);
    line(&world, "pod " POD " yields=1 state=waiting");
    settle(&world);
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    line(&world, "pod " POD " state=running slot=st-17");
    line(&world,
         "pod space=a name=q uid=u2 owner=j kind=ReplicaSet cpu=3000 mem=1 accel=0 state=waiting");
    settle(&world);
    world.heard[0] = '\0';
    world.sent[0] = '\0';
    world.port.ops->stop(world.port.self, 6, world.tasks[0]);
    world.port.ops->place(world.port.self, 7, world.tasks[1], 17);
    expect(&world, "", "evict key=2 space=a name=p uid=u1 grace=2\n");
    kube_engine_tick(world.engine, world.now);
    expect(&world, "", "");
    line(&world, "gone uid=u1");
    expect(&world, "stopped a/p\nleft-job a/p\n", "place key=3 space=a name=q uid=u2 slot=st-17\n");
    end(&world);
}

TEST(pods_of_a_service_wait_for_batch_that_is_evicted_for_them)
{
    struct world world;
    uint64_t service;

    begin(&world);
    up(&world, 17);
    up(&world, 18);
    line(&world, WEB_POD("w1", "waiting"));
    line(&world, "pod " POD " yields=1 state=waiting");
    line(
        &world,
        "pod space=a name=q uid=u2 owner=j kind=Job cpu=1000 mem=1024 accel=0 yields=1 state=waiting");
    settle(&world);
    service = world.tasks[0];
    world.port.ops->place(world.port.self, 5, service, 18);
    world.port.ops->place(world.port.self, 6, world.tasks[1], 17);
    world.port.ops->place(world.port.self, 7, world.tasks[2], 17);
    kube_engine_flush(world.engine, world.now);
    line(&world, WEB_POD("w1", "running") " slot=st-18");
    line(&world, "pod " POD " state=running slot=st-17");
    line(
        &world,
        "pod space=a name=q uid=u2 owner=j kind=Job cpu=1000 mem=1024 accel=0 yields=1 state=running slot=st-17");
    line(&world, "node slot=st-18 name=n18 state=gone cpu=0 mem=0 accel=0");
    world.heard[0] = '\0';
    world.sent[0] = '\0';
    world.port.ops->stop(world.port.self, 8, world.tasks[1]);
    world.port.ops->stop(world.port.self, 9, world.tasks[2]);
    for (uint32_t i = 0; i < 3; i++)
        world.port.ops->place(world.port.self, 10 + i, service + i, 17);
    kube_engine_flush(world.engine, world.now);
    line(&world, "gone uid=w1");
    line(&world, WEB_POD("w2", "waiting"));
    line(&world, WEB_POD("w3", "waiting"));
    line(&world, WEB_POD("w4", "waiting"));
    world.sent[0] = '\0';
    kube_engine_flush(world.engine, world.now);
    assert_string_equal(world.sent, "place key=7 space=a name=w2 uid=w2 slot=st-17\n");
    line(&world, "gone uid=u1");
    kube_engine_flush(world.engine, world.now);
    assert_non_null(strstr(world.sent, "name=w3"));
    assert_null(strstr(world.sent, "name=w4"));
    line(&world, "gone uid=u2");
    kube_engine_flush(world.engine, world.now);
    assert_non_null(strstr(world.sent, "name=w4"));
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
            "pod space=a name=p%d uid=w%d owner=j%d kind=Job cpu=1 mem=1 accel=0 state=waiting", i,
            i, i);
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

/* The controller has not created all of them yet. */
TEST(where_a_controller_is_slow_pods_are_waited_for_longer)
{
    struct world world;

    begin(&world);
    line(&world, "pod space=a name=p uid=u1 owner=j kind=Job cpu=1 mem=1 accel=0 state=waiting");
    assert_int_equal(kube_engine_next_wake(world.engine), world.now + 1000);
    settle(&world);
    expect(&world, "arrived x1\n", "");
    world.now += 1000; /* the second one: two seconds after the first, which waits */
    line(&world, "pod space=a name=q uid=u2 owner=j kind=Job cpu=1 mem=1 accel=0 state=waiting");
    assert_int_equal(kube_engine_next_wake(world.engine), world.now + 4000);
    world.now += 2500;
    line(&world, "pod space=a name=r uid=u3 owner=j kind=Job cpu=1 mem=1 accel=0 state=waiting");
    assert_int_equal(kube_engine_next_wake(world.engine), world.now + 5000);
    settle(&world);
    expect(&world, "arrived x1\narrived x1\n", "");
    world.now += 60000; /* what was slow then is forgotten */
    kube_engine_tick(world.engine, world.now);
    line(&world, "pod space=a name=s uid=u4 owner=j kind=Job cpu=1 mem=1 accel=0 state=waiting");
    assert_int_equal(kube_engine_next_wake(world.engine), world.now + 1000);
    end(&world);
}

/* After ten seconds those that have come are announced. If another one comes within the next second, it is announced ten seconds later at the latest. */
TEST(while_pods_keep_coming_more_are_expected)
{
    struct world world;
    char text[256];

    begin(&world);
    for (int i = 0; i <= 20; i++) {
        (void)snprintf(text, sizeof(text),
                       "pod space=a name=p%d uid=u%d owner=r kind=ReplicaSet cpu=1 mem=1 accel=0 "
                       "state=waiting",
                       i, i);
        line(&world, text);
        kube_engine_tick(world.engine, world.now);
        world.now += i < 20 ? 500 : 0;
    }
    assert_int_equal(world.task_count, 21);
    assert_int_equal(world.last.job.more_until, world.now + 11000);
    line(&world, "pod space=a name=q uid=q owner=r kind=ReplicaSet cpu=1 mem=1 accel=0 "
                 "state=waiting");
    settle(&world);
    assert_int_equal(world.task_count, 22);
    assert_int_equal(world.last.job.more_until, 0);
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
           RUN(pods_of_one_job_are_kin_and_replicas_are_not),
           RUN(a_pod_that_is_told_anew_arrives_again),
           RUN(a_machine_takes_as_many_pods_as_its_node_does),
           RUN(a_pod_with_an_end_is_fixed_and_a_replica_is_not),
           RUN(what_daemons_will_take_of_a_new_machine_is_told_when_it_changes),
           RUN(what_a_node_has_may_change),
           RUN(a_node_says_how_many_volumes_it_attaches_or_its_type_does),
           RUN(a_pod_asks_for_its_volumes_and_is_left_if_no_machine_attaches_as_many),
           RUN(a_placement_waits_for_volumes_to_be_detached),
           RUN(a_machine_leaves_when_nothing_is_on_it_whoever_s_it_is),
           RUN(a_budget_that_allows_nothing_keeps_the_task),
           RUN(what_is_not_understood_or_too_large_is_left_to_the_scheduler),
           RUN(a_pod_that_waits_long_is_told_so),
           RUN(why_a_pod_waits_is_told_when_it_changes_and_not_too_often),
           RUN(a_gang_waits_for_all_its_pods_and_is_placed_together),
           RUN(a_service_has_its_tasks_without_pods_too),
           RUN(when_a_node_vanishes_the_seats_of_a_service_are_free_at_once),
           RUN(when_a_node_vanishes_pods_beyond_the_capacity_that_run_take_its_seats),
           RUN(when_a_machine_is_forgotten_pods_beyond_the_capacity_take_its_seats_too),
           RUN(when_a_machine_is_forgotten_the_seats_of_a_service_are_free_too),
           RUN(pods_beyond_the_capacity_have_no_promise_until_there_is_a_seat),
           RUN(pods_beyond_the_capacity_are_kin_of_those_that_have_a_seat),
           RUN(a_service_without_pods_ends_after_a_while), RUN(a_job_of_low_priority_yields),
           RUN(a_placement_waits_for_room_that_a_pod_is_to_leave),
           RUN(pods_of_a_service_wait_for_batch_that_is_evicted_for_them),
           RUN(a_placement_that_the_scheduler_ignores_is_given_up),
           RUN(what_was_asked_before_the_pipe_broke_is_asked_again),
           RUN(pods_that_come_together_are_announced_together),
           RUN(where_a_controller_is_slow_pods_are_waited_for_longer),
           RUN(while_pods_keep_coming_more_are_expected), RUN(a_list_has_all_there_is))
