/* SPDX-License-Identifier: Apache-2.0 */
/* Pods of services that are evicted to go to another machine, and those that follow them. */
#include "engine/kubernetes/test/kube_stage.h"

#define REPLICA "owner=web kind=ReplicaSet cpu=1000 mem=1024 accel=0"

/* A replica runs on 3 and was asked to leave it. */
static void evict_replica(struct world *world)
{
    begin(world);
    world->port.ops->admit(world->port.self, 17);
    line(world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    line(world, "pod space=a name=p uid=u1 " REPLICA " state=running slot=st-3");
    expect(world, "ready on 17\narrived x1\nfound a/p on 3\n", "");
    world->port.ops->stop(world->port.self, 9, world->tasks[0]);
    expect(world, "", "evict key=1 space=a name=p uid=u1\n");
}

/* The controller of the pods creates the next one before the first is gone. */
TEST(the_pod_that_follows_one_that_was_evicted_goes_where_that_was_to_go)
{
    struct world world;

    evict_replica(&world);
    line(&world, "done key=1");
    line(&world, "pod space=a name=q uid=u2 " REPLICA " state=waiting");
    expect(&world, "stopped a/p\n", "");
    world.port.ops->place(world.port.self, 11, world.tasks[0], 17);
    expect(&world, "", "place key=2 space=a name=q uid=u2 slot=st-17\n");
    line(&world, "gone uid=u1");
    line(&world, "pod space=a name=q uid=u2 " REPLICA " state=running slot=st-17");
    expect(&world, "started a/q on 17\n", "");
    assert_int_equal(world.task_count, 1); /* it is the same job */
    line(&world, "gone uid=u2");           /* and from now on one like any other */
    expect(&world, "left-job a/q\n", "");
    end(&world);
}

TEST(the_pod_that_follows_may_come_before_the_answer_and_after_the_placement)
{
    struct world world;

    evict_replica(&world);
    line(&world, "pod space=a name=q uid=u2 " REPLICA " state=waiting");
    line(&world, "done key=1");
    expect(&world, "stopped a/p\n", "");
    settle(&world);
    expect(&world, "", ""); /* it is not announced by itself */
    end(&world);

    evict_replica(&world);
    line(&world, "done key=1");
    line(&world, "gone uid=u1");
    expect(&world, "stopped a/p\n", "");
    world.port.ops->place(world.port.self, 11, world.tasks[0], 17);
    expect(&world, "", "");
    line(
        &world,
        "pod space=a name=other uid=u3 owner=db kind=ReplicaSet cpu=1000 mem=1024 accel=0 state=waiting");
    expect(&world, "", "");
    line(&world, "pod space=a name=q uid=u2 " REPLICA " state=waiting");
    expect(&world, "", "place key=2 space=a name=q uid=u2 slot=st-17\n");
    end(&world);
}

TEST(nobody_follows_a_pod_that_was_scaled_away_or_stays)
{
    struct world world;

    evict_replica(&world);
    line(&world, "done key=1");
    line(&world, "gone uid=u1");
    expect(&world, "stopped a/p\n", "");
    world.now += 30000;
    kube_engine_tick(world.engine, world.now);
    expect(&world, "withdrawn\n", "");
    end(&world);

    evict_replica(&world);
    line(&world, "refused key=1 code=429 text=budget");
    line(&world, "pod space=a name=q uid=u2 " REPLICA " state=waiting");
    settle(&world);
    expect(&world, "kept a/p\narrived x1\n", "");
    line(&world, "gone uid=u1");
    expect(&world, "left-job a/p\n", "");
    end(&world);
}

/* Without a budget nobody else would see to it. */
TEST(of_the_pods_of_a_controller_one_leaves_at_a_time)
{
    struct world world;

    evict_replica(&world);
    line(&world, "node slot=st-3 name=n3 state=up cpu=3900 mem=8000 accel=0");
    line(&world, "pod space=a name=q uid=u2 " REPLICA " state=running slot=st-3");
    line(&world, "pod space=a name=r uid=u3 owner=db kind=ReplicaSet cpu=1000 mem=1024 accel=0 "
                 "state=running slot=st-3");
    expect(&world, "arrived x1\nfound a/q on 3\narrived x1\nfound a/r on 3\n", "");
    world.port.ops->stop(world.port.self, 10, world.tasks[1]);
    world.port.ops->stop(world.port.self, 11, world.tasks[2]);
    expect(&world, "kept a/q\n", "evict key=2 space=a name=r uid=u3\n");
    assert_int_equal(world.last.until, world.now + 10000);
    line(&world, "done key=1");
    line(&world, "gone uid=u1");
    expect(&world, "stopped a/p\n", "");
    world.port.ops->stop(world.port.self, 12, world.tasks[1]);
    expect(&world, "kept a/q\n", ""); /* the one that follows has not come */
    line(&world, "pod space=a name=s uid=u4 " REPLICA " state=waiting");
    world.port.ops->place(world.port.self, 13, world.tasks[0], 17);
    expect(&world, "", "place key=3 space=a name=s uid=u4 slot=st-17\n");
    line(&world, "pod space=a name=s uid=u4 " REPLICA " state=running slot=st-17");
    expect(&world, "started a/s on 17\n", "");
    world.port.ops->stop(world.port.self, 14, world.tasks[1]);
    expect(&world, "", "evict key=4 space=a name=q uid=u2\n");
    world.port.ops->stop(world.port.self, 15, world.tasks[0]);
    world.port.ops->retire(world.port.self, 17); /* the cloud takes it: nobody is spared */
    expect(&world, "", "evict key=5 space=a name=s uid=u4\n");
    end(&world);
}

TEST(of_the_pods_of_a_controller_a_tenth_leaves_at_a_time)
{
    static const char *const names[] = { "a/p0", "a/p1", "a/p2" };
    struct world world;
    char text[256];

    begin(&world);
    world.port.ops->admit(world.port.self, 3);
    line(&world, "node slot=st-3 name=n3 state=up cpu=3900 mem=8000 accel=0");
    for (int i = 0; i < 21; i++) {
        (void)snprintf(text, sizeof(text),
                       "pod space=a name=p%d uid=u%d " REPLICA " state=running slot=st-3", i, i);
        line(&world, text);
    }
    line(&world, "pod space=a name=r uid=r owner=db kind=ReplicaSet cpu=1000 mem=1024 accel=0 "
                 "state=running slot=st-3");
    line(&world, "gone uid=u20"); /* 20 are left */
    world.heard[0] = '\0';
    for (uint32_t i = 0; i < 3; i++)
        world.port.ops->stop(world.port.self, 9 + i, kube_engine_find(world.engine, names[i]));
    expect(&world, "kept a/p2\n",
           "evict key=1 space=a name=p0 uid=u0\nevict key=2 space=a name=p1 uid=u1\n");
    line(&world, "refused key=2 code=429 text=budget");
    line(&world, "gone uid=u19"); /* of 19 one may leave, and one does */
    expect(&world, "kept a/p1\nleft-job a/p19\n", "");
    world.port.ops->stop(world.port.self, 20, kube_engine_find(world.engine, names[2]));
    expect(&world, "kept a/p2\n", "");
    end(&world);
}

/* Whichever they are, and in whatever order they came. */
TEST(of_several_that_wait_one_that_still_waits_follows)
{
    struct world world;

    evict_replica(&world);
    line(&world, "pod space=a name=q uid=u2 " REPLICA " state=waiting");
    line(&world, "pod space=a name=r uid=u3 " REPLICA " state=waiting");
    line(&world, "pod space=a name=s uid=u4 " REPLICA " state=waiting");
    line(&world, "gone uid=u3");
    line(&world, "pod space=a name=s uid=u4 " REPLICA " state=placed slot=st-17");
    line(&world, "done key=1");
    expect(&world, "stopped a/p\n", "");
    settle(&world);
    expect(&world, "arrived x1\n", ""); /* s alone */
    world.port.ops->place(world.port.self, 11, world.tasks[0], 17);
    expect(&world, "", "place key=2 space=a name=q uid=u2 slot=st-17\n");
    end(&world);
}

CHECK_MAIN(RUN(the_pod_that_follows_one_that_was_evicted_goes_where_that_was_to_go),
           RUN(the_pod_that_follows_may_come_before_the_answer_and_after_the_placement),
           RUN(nobody_follows_a_pod_that_was_scaled_away_or_stays),
           RUN(of_several_that_wait_one_that_still_waits_follows),
           RUN(of_the_pods_of_a_controller_one_leaves_at_a_time),
           RUN(of_the_pods_of_a_controller_a_tenth_leaves_at_a_time))
