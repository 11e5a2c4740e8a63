/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work_bound.h"

#include "base/test/check.h"

enum { NODES = 100000 };

/* Two tasks of an hour, each half of a machine of the only type, whose lowest price is a dollar an hour. */
struct scene {
    struct catalogue catalogue;
    struct trace trace;
};

static void scene_init(struct scene *scene)
{
    const struct price_change prices[] = { { 0, 2000000 }, { 1000, 1000000 } };
    const struct machine_type type = { .capacity = { { 8000, 8192, 0 } } };
    const struct shape_demand demand = { FAMILY_NONE, { { 4000, 1024, 0 } } };
    const struct shape_spec spec = {
        .name = "half", .workload = "half", .demands = &demand, .demand_count = 1
    };

    catalogue_init(&scene->catalogue);
    trace_init(&scene->trace);

    const struct offer offer = { .type = catalogue_add_type(&scene->catalogue, "t", "t", &type),
                                 .billing = BILLING_PER_SECOND,
                                 .price = { prices, 2 } };
    (void)catalogue_add_offer(&scene->catalogue, NULL, &offer);

    const struct trace_job job = { .name = names_add(&scene->trace.names, "j", 1),
                                   .user = names_add(&scene->trace.users, "u", 1),
                                   .shape = shapes_add(&scene->trace.shapes, &spec),
                                   .task_count = 2,
                                   .work_ms = MSEC_PER_HOUR,
                                   .estimate_ms = -1 };

    trace_add_job(&scene->trace, &job);
}

static money_t bound_at(double rate, uint64_t node_most)
{
    struct scene scene;
    struct contention contention;

    scene_init(&scene);
    contention_init_uniform(&contention, 1, rate);

    const money_t bound = work_bound(&scene.trace, &scene.catalogue, &contention, node_most);

    contention_done(&contention);
    trace_done(&scene.trace);
    catalogue_done(&scene.catalogue);
    return bound;
}

TEST(work_costs_its_share_of_a_machine_at_the_lowest_price)
{
    assert_in_range(bound_at(1.0, 0), 999999, 1000000);
    assert_in_range(bound_at(1.0, NODES), 999999, 1000000);
}

TEST(interference_counts_where_there_are_steps_to_search)
{
    assert_in_range(bound_at(0.8, 0), 999999, 1000000);
    assert_in_range(bound_at(0.8, NODES), 1249800, 1250000); /* two task-hours, 1.6 an hour */
    assert_in_range(bound_at(0.4, NODES), 1999700, 2000000); /* alone is better */
}

TEST(nothing_is_known_where_tasks_speed_each_other_up)
{
    assert_int_equal(bound_at(1.2, 0), 0);
    assert_int_equal(bound_at(1.2, NODES), 0);
}

CHECK_MAIN(RUN(work_costs_its_share_of_a_machine_at_the_lowest_price),
           RUN(interference_counts_where_there_are_steps_to_search),
           RUN(nothing_is_known_where_tasks_speed_each_other_up))
