/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that are spread over zones: what the controller hears of them. */
#include "engine/kubernetes/test/kube_stage.h"

/* Zones z1, z2 and z3, with machines of one kind. */
static void begin_zones(struct world *world)
{
    begin(world);
    (void)catalogue_add_offer(&world->catalogue, "z2", &world->catalogue.offers[0]);
    (void)catalogue_add_offer(&world->catalogue, "z3", &world->catalogue.offers[0]);
    shapes_bind(&world->shapes, &world->catalogue);
}

/* The zones of the job that arrived last. */
static char found_zone(const struct world *world)
{
    const uint32_t shape = world->shape;
    int count = 0;
    char found = 0;

    for (uint32_t i = 0; i < 3 && shape != UINT32_MAX; i++) {
        if (!shape_fits_offer(&world->shapes, shape, &world->catalogue, i))
            continue;
        count++;
        found = (char)('1' + (int)i);
    }
    return count > 1 ? '*' : found;
}

/* The zone that a pod is for: '1' to '3', '*' for any; 0: the pod is left to the scheduler. */
static char zone_of(struct world *world, const char *uid, const char *more)
{
    char text[512];

    world->shape = UINT32_MAX;
    (void)snprintf(
        text, sizeof(text),
        "pod space=a name=p%s uid=%s owner=r kind=ReplicaSet cpu=1000 mem=1024 accel=0 %s", uid,
        uid, more);
    line(world, text);
    for (int i = 0; i < 6 && world->shape == UINT32_MAX; i++)
        settle(world);
    return found_zone(world);
}

TEST(each_pod_goes_to_the_zone_that_has_the_fewest_of_its_group)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", "state=waiting zones=7"), '1');
    assert_int_equal(zone_of(&world, "2", "state=waiting zones=7"), '2');
    assert_int_equal(zone_of(&world, "3", "state=waiting zones=7"), '3');
    assert_int_equal(zone_of(&world, "4", "state=waiting zones=7"), '1');
    /* Another group has a count of its own, and what is not spread has none. */
    assert_int_equal(zone_of(&world, "5", "state=waiting zones=8"), '1');
    assert_int_equal(zone_of(&world, "6", "state=waiting"), '*');
    /* One that is gone leaves its zone. */
    line(&world, "gone uid=2");
    assert_int_equal(zone_of(&world, "7", "state=waiting zones=7"), '2');
    assert_int_equal(zone_of(&world, "8", "state=waiting zones=7"), '2');
    end(&world);
}

TEST(a_zone_that_the_pod_cannot_be_in_is_none)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", "state=waiting zones=7 needs=!zone=z2"), '1');
    assert_int_equal(zone_of(&world, "2", "state=waiting zones=7 needs=!zone=z2"), '3');
    assert_int_equal(zone_of(&world, "3", "state=waiting zones=7 needs=!zone=z2"), '1');
    assert_int_equal(zone_of(&world, "4", "state=waiting zones=7 needs=zone=z9"), 0);
    end(&world);
}

/* As after a restart of the daemon. */
TEST(a_pod_that_runs_counts_where_it_is)
{
    struct world world;

    begin_zones(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    assert_int_equal(zone_of(&world, "1", "state=running slot=st-17 zones=7 zone=z1"), '1');
    assert_int_equal(zone_of(&world, "2", "state=waiting zones=7"), '2');
    assert_int_equal(zone_of(&world, "3", "state=waiting zones=7"), '3');
    /* One whose node is not known may be anywhere, as may one in a zone that is no more in the catalogue. */
    assert_int_equal(zone_of(&world, "4", "state=running slot=st-17 zones=7"), '*');
    assert_int_equal(zone_of(&world, "5", "state=running slot=st-17 zones=7 zone=old"), '*');
    assert_int_equal(zone_of(&world, "6", "state=waiting zones=7"), '1');
    end(&world);
}

#define APART "state=waiting zones=7 rule=apart"

/* What a pod that is held has no zone for has no job either. */
TEST(each_zone_has_one_of_those_that_keep_apart_and_the_others_wait)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", APART), '1');
    assert_int_equal(zone_of(&world, "2", APART " needs=!zone=z2"), '3');
    assert_int_equal(zone_of(&world, "3", APART " needs=zone=z3"), 0);
    assert_int_equal(zone_of(&world, "4", APART), '2');
    assert_int_equal(zone_of(&world, "5", APART), 0);
    assert_null(strstr(world.sent, "release"));
    /* The first that can have the zone that is free again has it. */
    world.shape = UINT32_MAX;
    line(&world, "gone uid=4");
    settle(&world);
    settle(&world);
    assert_int_equal(found_zone(&world), '2');
    world.shape = UINT32_MAX;
    line(&world, "gone uid=2");
    settle(&world);
    settle(&world);
    assert_int_equal(found_zone(&world), '3');
    assert_null(strstr(world.sent, "release"));
    end(&world);
}

TEST(one_that_was_held_and_is_gone_has_no_zone)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", APART " needs=zone=z1"), '1');
    assert_int_equal(zone_of(&world, "2", APART " needs=zone=z1"), 0);
    line(&world, "gone uid=2");
    line(&world, "gone uid=1");
    settle(&world);
    settle(&world);
    assert_int_equal(world.shape, UINT32_MAX);
    assert_int_equal(zone_of(&world, "3", APART " needs=zone=z1"), '1');
    end(&world);
}

TEST(one_that_keeps_apart_counts_until_it_is_no_more)
{
    struct world world;

    begin_zones(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    assert_int_equal(zone_of(&world, "1", "state=waiting zones=7 rule=apart needs=zone=z1"), '1');
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    (void)zone_of(&world, "1", "state=running slot=st-17 zone=z1 zones=7 rule=apart needs=zone=z1");
    world.port.ops->stop(world.port.self, 6, world.tasks[0]);
    settle(&world);
    assert_non_null(strstr(world.sent, "evict key=2"));
    line(&world, "done key=2");
    assert_int_equal(zone_of(&world, "2", "state=waiting zones=7 rule=apart needs=zone=z1"), 0);
    assert_int_equal(kube_engine_find(world.engine, "a/p2"), 0);
    world.shape = UINT32_MAX;
    line(&world, "gone uid=1");
    settle(&world);
    settle(&world);
    assert_null(strstr(world.sent, "release"));
    /* It has the place of the first one. */
    assert_int_equal(kube_engine_find(world.engine, "a/p2"), world.tasks[0]);
    end(&world);
}

TEST(a_zone_that_other_pods_do_not_leave_to_it_is_not_had)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", APART " where=-,z1,z2,"), '3');
    assert_int_equal(zone_of(&world, "2", APART " where=-,z1,z2,"), 0);
    /* It may have another one by now; one that has a zone keeps it as long as it may. */
    assert_int_equal(zone_of(&world, "2", APART " where=-,z2,"), '1');
    assert_int_equal(zone_of(&world, "2", APART " where=-,z2,z3,"), 0);
    assert_int_equal(zone_of(&world, "2", APART " where=-,z1,"), '2');
    assert_int_equal(zone_of(&world, "2", APART " where=-,z1,z2,z3,"), 0);
    assert_int_equal(zone_of(&world, "2", APART), '1');
    /* Also one that is spread. A zone whose name begins like another one is another one. */
    assert_int_equal(zone_of(&world, "3", "state=waiting zones=8 where=-,z,z11,z2,"), '1');
    assert_int_equal(zone_of(&world, "4", "state=waiting zones=8 where=-,z,z11,z2,"), '3');
    end(&world);
}

TEST(a_spread_that_wants_more_zones_than_there_are_fills_each_up_to_its_skew)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", "state=waiting zones=7 least=4 skew=1"), '1');
    assert_int_equal(zone_of(&world, "2", "state=waiting zones=7 least=4 skew=1"), '2');
    assert_int_equal(zone_of(&world, "3", "state=waiting zones=7 least=4 skew=1"), '3');
    assert_int_equal(zone_of(&world, "4", "state=waiting zones=7 least=4 skew=1"), 0);
    assert_int_equal(zone_of(&world, "5", "state=waiting zones=7 least=4 skew=2"), '1');
    /* Only zones that can hold the pod are any. */
    assert_int_equal(zone_of(&world, "6", "state=waiting zones=8 least=3 skew=1"), '1');
    assert_int_equal(zone_of(&world, "7", "state=waiting zones=8 least=3 skew=1 needs=zone=z1"), 0);
    assert_int_equal(zone_of(&world, "8", "state=waiting zones=8 least=1 skew=1 needs=zone=z1"),
                     '1');
    for (char uid[] = "a"; uid[0] < 'h'; uid[0]++)
        assert_int_equal(zone_of(&world, uid, "state=waiting zones=9 least=3 skew=1"),
                         '1' + (uid[0] - 'a') % 3);
    end(&world);
}

#define NEAR "state=waiting zones=7 rule=near"

TEST(pods_that_must_be_near_each_other_are_in_one_zone)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", NEAR " needs=!zone=z1"), '2');
    assert_int_equal(zone_of(&world, "2", NEAR), '2');
    assert_int_equal(zone_of(&world, "3", NEAR " where=+,z2,"), '2');
    /* That the first one is bound changes nothing for those that are there already. */
    world.heard[0] = '\0';
    assert_int_equal(zone_of(&world, "2", NEAR " where=+,z2,"), 0);
    assert_string_equal(world.heard, "");
    /* Where others are bound, and it may be. */
    assert_int_equal(zone_of(&world, "4", NEAR " where=+,z1,z3, needs=!zone=z1"), '3');
    assert_int_equal(zone_of(&world, "2", NEAR " where=+,z3,"), '3');
    assert_int_equal(zone_of(&world, "5", NEAR), '2');
    /* One that cannot be where the others are waits: if it came first, these could not be bound. */
    assert_int_equal(zone_of(&world, "6", NEAR " needs=zone=z1"), 0);
    assert_int_equal(zone_of(&world, "6", NEAR " needs=zone=z1 where=+,z1,z2,"), '1');
    assert_int_equal(zone_of(&world, "7", NEAR " where=+,z1,z2,z3,"), '2');
    end(&world);
}

TEST(a_pod_waits_for_those_that_it_must_be_near)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", NEAR " where=+,"), 0);
    assert_int_equal(zone_of(&world, "2", NEAR " where=+,z1, needs=!zone=z1"), 0);
    assert_null(strstr(world.sent, "release"));
    assert_int_equal(zone_of(&world, "1", NEAR " where=+,z3,"), '3');
    assert_int_equal(zone_of(&world, "1", NEAR " where=+,"), 0);
    world.sent[0] = '\0';
    world.now += 60000;
    kube_engine_tick(world.engine, world.now);
    assert_non_null(strstr(world.sent, "its%20pod%20affinity%20matches%20no%20pod%20in%20a"));
    end(&world);
}

TEST(a_pod_whose_gate_is_being_opened_keeps_its_zone)
{
    struct world world;

    begin_zones(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    assert_int_equal(zone_of(&world, "1", APART), '1');
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    kube_engine_flush(world.engine, world.now);
    assert_non_null(strstr(world.sent, "place key=1"));
    world.heard[0] = '\0';
    assert_int_equal(zone_of(&world, "1", APART " where=-,z1,"), 0);
    assert_null(strstr(world.heard, "lost"));
    end(&world);

    /* Not yet: it goes to another one. */
    begin_zones(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    assert_int_equal(zone_of(&world, "1", APART), '1');
    world.port.ops->place(world.port.self, 5, world.tasks[0], 17);
    assert_int_equal(zone_of(&world, "1", APART " where=-,z1,"), '2');
    assert_non_null(strstr(world.heard, "lost"));
    end(&world);
}

/* As when its requirements are not those of an earlier version. */
TEST(a_pod_that_is_left_and_has_a_slot_is_in_its_zone)
{
    struct world world;

    begin_zones(&world);
    world.port.ops->admit(world.port.self, 17);
    line(&world, "node slot=st-17 name=n1 state=up cpu=3900 mem=8000 accel=0");
    (void)zone_of(&world, "1", "state=running slot=st-17 zone=z1 zones=7 rule=apart strange=odd");
    assert_int_equal(zone_of(&world, "2", APART), '2');
    line(&world, "gone uid=1");
    assert_int_equal(zone_of(&world, "3", APART), '1');
    end(&world);
}

TEST(an_event_says_why_a_pod_that_is_held_waits)
{
    struct world world;

    begin_zones(&world);
    assert_int_equal(zone_of(&world, "1", "state=waiting zones=7 rule=apart needs=zone=z1"), '1');
    assert_int_equal(zone_of(&world, "2", "state=waiting zones=7 rule=apart needs=zone=z1"), 0);
    world.sent[0] = '\0';
    world.now += 60000;
    kube_engine_tick(world.engine, world.now);
    assert_non_null(
        strstr(world.sent, "%20s:%20anti-affinity%20excludes%20it%20from%20every%20zone"));
    end(&world);
}

CHECK_MAIN(RUN(each_pod_goes_to_the_zone_that_has_the_fewest_of_its_group),
           RUN(a_zone_that_the_pod_cannot_be_in_is_none), RUN(a_pod_that_runs_counts_where_it_is),
           RUN(each_zone_has_one_of_those_that_keep_apart_and_the_others_wait),
           RUN(one_that_was_held_and_is_gone_has_no_zone),
           RUN(one_that_keeps_apart_counts_until_it_is_no_more),
           RUN(a_zone_that_other_pods_do_not_leave_to_it_is_not_had),
           RUN(a_spread_that_wants_more_zones_than_there_are_fills_each_up_to_its_skew),
           RUN(pods_that_must_be_near_each_other_are_in_one_zone),
           RUN(a_pod_waits_for_those_that_it_must_be_near),
           RUN(a_pod_whose_gate_is_being_opened_keeps_its_zone),
           RUN(a_pod_that_is_left_and_has_a_slot_is_in_its_zone),
           RUN(an_event_says_why_a_pod_that_is_held_waits))
