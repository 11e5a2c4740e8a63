/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_drivers.h"

#include "base/mem.h"
#include "base/test/check.h"

static void tell(struct kube_drivers *drivers, const char *name, int64_t limit)
{
    struct kube_object *node = mem_alloc(1, sizeof(*node));

    node->kind = KUBE_CSI_NODE;
    node->name = name;
    node->has_volume_limit = limit != KUBE_NO_LIMIT;
    node->volume_limit = limit;
    kube_drivers_node(drivers, false, node);
    mem_free(node);
}

TEST(a_node_without_drivers_has_no_limit)
{
    struct kube_drivers *drivers = kube_drivers_create();

    tell(drivers, "a", 25);
    tell(drivers, "b", KUBE_NO_LIMIT);
    assert_int_equal(kube_drivers_limit(drivers, "a"), 25);
    assert_int_equal(kube_drivers_limit(drivers, "b"), KUBE_NO_LIMIT);
    assert_int_equal(kube_drivers_limit(drivers, "c"), KUBE_NO_LIMIT);
    tell(drivers, "a", KUBE_NO_LIMIT); /* its driver has gone */
    assert_int_equal(kube_drivers_limit(drivers, "a"), KUBE_NO_LIMIT);
    kube_drivers_destroy(drivers);
}

TEST(what_was_known_holds_until_everything_is_listed_again)
{
    struct kube_drivers *drivers = kube_drivers_create();

    tell(drivers, "a", 25);
    tell(drivers, "b", 8);
    assert_true(kube_drivers_is_changed(drivers));
    kube_drivers_begin(drivers);
    tell(drivers, "a", 16);
    assert_int_equal(kube_drivers_limit(drivers, "a"), 25);
    kube_drivers_begin(drivers); /* the connection was lost */
    tell(drivers, "a", 16);
    kube_drivers_end(drivers);
    assert_true(kube_drivers_is_changed(drivers));
    assert_false(kube_drivers_is_changed(drivers));
    assert_int_equal(kube_drivers_limit(drivers, "a"), 16);
    assert_int_equal(kube_drivers_limit(drivers, "b"), KUBE_NO_LIMIT);
    kube_drivers_destroy(drivers);
}

TEST(a_limit_beyond_all_bounds_is_one_that_is_never_reached)
{
    struct kube_drivers *drivers = kube_drivers_create();

    tell(drivers, "a", INT64_MAX);
    assert_int_equal(kube_drivers_limit(drivers, "a"), INT32_MAX);
    kube_drivers_destroy(drivers);
}

CHECK_MAIN(RUN(a_node_without_drivers_has_no_limit),
           RUN(what_was_known_holds_until_everything_is_listed_again),
           RUN(a_limit_beyond_all_bounds_is_one_that_is_never_reached))
