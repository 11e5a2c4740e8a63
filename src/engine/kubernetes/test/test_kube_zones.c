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

/* The zone that a pod is for: '1' to '3', '*' for any; 0: the pod is left to the scheduler. */
static char zone_of(struct world *world, const char *uid, const char *more)
{
    char text[512];
    uint32_t shape;
    int count = 0;
    char found = 0;

    world->shape = UINT32_MAX;
    (void)snprintf(
        text, sizeof(text),
        "pod space=a name=p%s uid=%s owner=r kind=ReplicaSet cpu=1000 mem=1024 accel=0 %s", uid,
        uid, more);
    line(world, text);
    settle(world);
    shape = world->shape;
    for (uint32_t i = 0; i < 3 && shape != UINT32_MAX; i++) {
        if (!shape_fits_offer(&world->shapes, shape, &world->catalogue, i))
            continue;
        count++;
        found = (char)('1' + (int)i);
    }
    return count > 1 ? '*' : found;
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

CHECK_MAIN(RUN(each_pod_goes_to_the_zone_that_has_the_fewest_of_its_group),
           RUN(a_zone_that_the_pod_cannot_be_in_is_none), RUN(a_pod_that_runs_counts_where_it_is))
