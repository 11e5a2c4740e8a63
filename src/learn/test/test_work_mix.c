/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/work_mix.h"

#include "base/test/check.h"

struct stall {
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    struct pairs pairs;
    struct work_mix mix;
    uint64_t next_id;
};

static void stall_init(struct stall *stall)
{
    static const struct price_change price = { 0, 1000000 };
    const struct machine_type type = { .capacity = { { 4000, 8192, 0 } } };
    const struct offer offer = { .billing = { .step_ms = 1000 }, .price = { &price, 1 } };

    *stall = (struct stall){ .next_id = 1 };
    catalogue_init(&stall->catalogue);
    (void)catalogue_add_type(&stall->catalogue, "m", "m", &type);
    (void)catalogue_add_offer(&stall->catalogue, "a", &offer);
    shapes_init(&stall->shapes);
    view_init(&stall->view, &stall->catalogue, &stall->shapes);
    pairs_init(&stall->pairs, 0.9);
}

static void stall_done(struct stall *stall)
{
    work_mix_done(&stall->mix);
    pairs_done(&stall->pairs);
    view_done(&stall->view);
    shapes_done(&stall->shapes);
    catalogue_done(&stall->catalogue);
}

static void arrive(struct stall *stall, const char *name, uint32_t tasks)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 1000, 1024, 0 } } };
    const uint32_t shape =
        shapes_add(&stall->shapes,
                   &(struct shape_spec){
                       .name = name, .workload = name, .demands = &demand, .demand_count = 1 });

    (void)view_add_job(&stall->view, &(struct job_spec){ .id = stall->next_id,
                                                         .first_task_id = stall->next_id,
                                                         .shape = shape,
                                                         .task_count = tasks });
    stall->next_id += tasks;
}

static void pass(struct stall *stall, double hours)
{
    stall->view.now += (msec_t)(hours * (double)MSEC_PER_HOUR);
    work_mix_update(&stall->mix, &stall->view, &stall->pairs);
}

TEST(nothing_is_taken_within_the_first_hour)
{
    struct stall stall;

    stall_init(&stall);
    arrive(&stall, "a", 3);
    pass(&stall, 0);
    pass(&stall, 0.9);
    assert_int_equal(stall.mix.taken.version, 0);
    pass(&stall, 0.2);
    assert_int_equal(stall.mix.taken.version, 1);
    stall_done(&stall);
}

TEST(amounts_are_in_proportion_to_the_tasks)
{
    struct stall stall;

    stall_init(&stall);
    arrive(&stall, "a", 3);
    arrive(&stall, "b", 1);
    pass(&stall, 0);
    for (int i = 0; i < 30; i++)
        pass(&stall, 1);
    assert_int_equal(stall.mix.taken.shapes, 2);
    assert_true(stall.mix.taken.amount[0] > 2.99 * stall.mix.taken.amount[1]);
    assert_true(stall.mix.taken.amount[0] < 3.01 * stall.mix.taken.amount[1]);
    assert_int_equal(stall.mix.taken.price[0], 1000000);
    stall_done(&stall);
}

TEST(a_snapshot_stands_for_a_day_unless_a_new_shape_comes)
{
    struct stall stall;
    const uint32_t beside = 0;

    stall_init(&stall);
    arrive(&stall, "a", 3);
    pass(&stall, 0);
    pass(&stall, 1);
    pairs_observe(&stall.pairs, 0, &beside, 1, 0.5);
    for (int i = 0; i < 20; i++)
        pass(&stall, 1);
    assert_int_equal(stall.mix.taken.version, 1);
    assert_true(stall.mix.taken.rate[0] > 0.99); /* as it was then */
    arrive(&stall, "b", 1);
    pass(&stall, 1);
    assert_int_equal(stall.mix.taken.version, 2);
    assert_true(stall.mix.taken.rate[0] < 0.6);
    for (int i = 0; i < 25; i++)
        pass(&stall, 1);
    assert_int_equal(stall.mix.taken.version, 3);
    stall_done(&stall);
}

CHECK_MAIN(RUN(nothing_is_taken_within_the_first_hour), RUN(amounts_are_in_proportion_to_the_tasks),
           RUN(a_snapshot_stands_for_a_day_unless_a_new_shape_comes))
