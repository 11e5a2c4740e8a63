/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scale_out.h"

#include "decide/test/yard.h"

static const struct scale_out_options along_the_list = { .unit = UNIT_PER_KIND };
static const struct scale_out_options in_bins = { .unit = UNIT_PER_KIND, .within_bins = true };
static const struct scale_out_options by_machine = { .unit = UNIT_MACHINE };

/* Rent for all tasks that wait, in the order of arrival. */
static money_t rent_with(struct yard *yard, struct scale_out_options options)
{
    struct scale_out_task tasks[16];
    uint32_t count = 0;

    TASK_EACH(task, &yard->view, yard->view.task.waiting_first)
    {
        tasks[count++] = (struct scale_out_task){ .task = task };
    }
    return scale_out(&yard->view, tasks, count, options, REASON_BEST_SCORE, &yard->plan);
}

/*
 * The example of the Stratus paper (SoCC'18, section 3.3): a group that asks for 4 CPUs and 1 GiB,
 * here two tasks, on a machine of 8 CPUs and 16 GiB. CPUs are its tightest resource, and the
 * smallest machine has 2 of them: the group counts 2. On the small machine one of the two tasks
 * counts 1. At 1 dollar for the small machine the large one is better below 2 dollars.
 */
static uint32_t rents_of_the_example(double dollars)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "m", 2, 4, 0, 1.0);
    (void)yard_type(&yard, "m", 8, 16, 0, dollars);
    (void)yard_job(&yard, yard_shape(&yard, 2, 1, 0), 2, false);
    (void)rent_with(&yard, along_the_list);

    const uint32_t rents = yard.plan.rent_count;

    yard_done(&yard);
    return rents;
}

TEST(a_group_that_counts_two_is_rented_a_machine_for_less_than_two_small_ones)
{
    assert_int_equal(rents_of_the_example(1.99), 1);
    assert_int_equal(rents_of_the_example(2.01), 2);
}

TEST(of_equal_scores_the_smaller_group_and_the_earlier_type_win)
{
    assert_int_equal(rents_of_the_example(2.0), 2);
}

TEST(the_price_of_all_rents_is_returned)
{
    struct yard yard;

    yard_init_table3(&yard);
    for (uint32_t shape = TAU1; shape <= TAU4; shape++)
        (void)yard_task(&yard, shape);
    const money_t price = rent_with(&yard, along_the_list);

    assert_int_equal(price, yard_rent_price(&yard));
    assert_true(price > 0);
    assert_int_equal(yard.plan.place_count, 4);
    yard_done(&yard);
}

TEST(a_group_never_exceeds_its_machine)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_job(&yard, HALF, 5, false);
    (void)rent_with(&yard, along_the_list);

    assert_int_equal(yard.plan.rent_count, 3);
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    assert_int_equal(yard.plan.rents[1].offer, LARGE);
    assert_int_equal(yard.plan.rents[2].offer, SMALL);
    yard_done(&yard);
}

TEST(with_bins_only_tasks_that_end_together_share)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t first = yard_job(&yard, HALF, 3, false);
    const struct scale_out_task tasks[] = { { .task = first, .bin = 9 },
                                            { .task = first + 1, .bin = 8 },
                                            { .task = first + 2, .bin = 8 } };
    (void)scale_out(&yard.view, tasks, 3, in_bins, REASON_BEST_SCORE, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2);
    yard_check_fresh(&yard, first, 0);
    yard_check_fresh(&yard, first + 1, 1);
    yard_check_fresh(&yard, first + 2, 1);
    yard_done(&yard);
}

/* Two tasks of 1 CPU and 8 GiB. On the first type memory is tight, and counts in units of 8 GiB. */
TEST(the_tightest_resource_of_the_group_on_that_machine_counts)
{
    struct yard yard;

    yard_init(&yard);
    const uint32_t lean = yard_type(&yard, "c", 16, 8, 0, 1.0);
    const uint32_t rich = yard_type(&yard, "r", 4, 64, 0, 1.2);
    (void)yard_job(&yard, yard_shape(&yard, 1, 8, 0), 2, false);
    (void)rent_with(&yard, along_the_list);

    /* 1 / 1.0 for one task on the lean machine; on the rich one CPUs are tight: 2 of 4 / 1.2. */
    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, lean);
    assert_int_equal(yard.plan.rents[1].offer, lean);
    assert_int_equal(yard.plan.rents[0].why.passed_offer, rich);
    yard_done(&yard);
}

TEST(a_kind_that_the_cheapest_machine_lacks_counts_without_limit)
{
    struct yard yard;

    yard_init_table3(&yard);
    (void)yard_task(&yard, TAU2); /* accelerators are tight wherever it fits */
    (void)rent_with(&yard, by_machine);

    assert_int_equal(yard.plan.rents[0].offer,
                     IT2); /* 1 of 1; on the first type CPUs are tighter */
    yard_done(&yard);
}

/* A task that asks for a hundredth of a CPU, or for all accelerators where there are some: the score would
 * rent the machine at ninety times the price, as it would be well used. */
TEST(no_machine_is_rented_that_costs_more_than_one_for_each_task)
{
    static const struct shape_demand demands[] = {
        { 0, { { 10, 0, 0 } } },
        { 1, { { 10, 0, 8000 } } },
    };
    const struct scale_out_options both[] = { along_the_list, by_machine };

    for (size_t i = 0; i < 2; i++) {
        struct yard yard;

        yard_init(&yard);
        const uint32_t cheap = yard_type(&yard, "c", 2, 4, 0, 0.1);
        const uint32_t dear = yard_type(&yard, "p", 2, 8, 8, 9.0);
        const uint32_t shape = shapes_add(&yard.shapes, &(struct shape_spec){ .name = "either",
                                                                              .workload = "either",
                                                                              .demands = demands,
                                                                              .demand_count = 2 });
        (void)yard_task(&yard, shape);
        (void)rent_with(&yard, both[i]);

        assert_int_equal(yard.plan.rent_count, 1);
        assert_int_equal(yard.plan.rents[0].offer, cheap);
        assert_int_equal(yard.plan.rents[0].why.passed_offer, dear);
        yard_done(&yard);
    }
}

TEST(what_costs_nothing_is_taken_even_for_a_task_that_asks_for_nothing)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 2, 4, 0, 1.0);
    const uint32_t reserved = yard_type(&yard, "a", 4, 8, 0, 0.0);
    (void)yard_task(&yard, yard_shape(&yard, 0, 0, 0));
    (void)yard_task(&yard, yard_shape(&yard, 2, 2, 0));
    (void)rent_with(&yard, along_the_list);

    assert_int_equal(yard.plan.place_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, reserved);
    assert_int_equal(yard_rent_price(&yard), 0);
    yard_done(&yard);
}

TEST(a_task_that_nothing_holds_is_left_out_and_stops_nobody)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t huge = yard_task(&yard, yard_shape(&yard, 64, 1, 0));
    const uint32_t fits = yard_task(&yard, HALF);

    assert_int_equal(rent_with(&yard, along_the_list), YARD_USD(1));
    assert_null(yard_place_of(&yard, huge));
    yard_check_fresh(&yard, fits, 0);
    yard_done(&yard);
}

TEST(of_one_type_the_cheapest_open_offer_is_rented)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t cheap = yard_offer(&yard, SMALL, 0.2);
    const uint32_t cheaper = yard_offer(&yard, SMALL, 0.1);
    (void)yard_task(&yard, HALF);
    yard.view.offer_blocked_until[cheaper] = 1;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    (void)rent_with(&yard, along_the_list);

    assert_int_equal(yard.plan.rents[0].offer, cheap);
    yard_done(&yard);
}

TEST(the_offer_passed_over_is_the_second_best_for_the_same_group)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_task(&yard, HALF);
    (void)rent_with(&yard, along_the_list);
    assert_int_equal(yard.plan.rents[0].why.passed_offer, LARGE);
    assert_int_equal(yard.plan.rents[0].why.passed_over, YARD_USD(1.5));
    yard_done(&yard);

    yard_init_halves(&yard);
    (void)yard_job(&yard, HALF, 2, false);
    (void)rent_with(&yard, along_the_list);
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    assert_int_equal(yard.plan.rents[0].why.passed_offer, OFFER_NONE); /* nothing else holds two */
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_group_that_counts_two_is_rented_a_machine_for_less_than_two_small_ones),
           RUN(of_equal_scores_the_smaller_group_and_the_earlier_type_win),
           RUN(the_price_of_all_rents_is_returned), RUN(a_group_never_exceeds_its_machine),
           RUN(with_bins_only_tasks_that_end_together_share),
           RUN(the_tightest_resource_of_the_group_on_that_machine_counts),
           RUN(a_kind_that_the_cheapest_machine_lacks_counts_without_limit),
           RUN(no_machine_is_rented_that_costs_more_than_one_for_each_task),
           RUN(what_costs_nothing_is_taken_even_for_a_task_that_asks_for_nothing),
           RUN(a_task_that_nothing_holds_is_left_out_and_stops_nobody),
           RUN(of_one_type_the_cheapest_open_offer_is_rented),
           RUN(the_offer_passed_over_is_the_second_best_for_the_same_group))
