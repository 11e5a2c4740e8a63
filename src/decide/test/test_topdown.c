/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/topdown.h"

#include "decide/test/yard.h"

/* Pack all tasks that there are, machines included, and write the plan. */
static void pack(struct yard *yard, const struct colocation *colocation, bool penalise)
{
    const struct view *view = &yard->view;
    const struct worth_rules rules = {
        .view = view,
        .colocation = colocation,
        .siblings = penalise,
    };
    uint32_t *tasks = ARENA_ARRAY(&yard->arena, uint32_t, view->task.count);
    uint32_t *machines = ARENA_ARRAY(&yard->arena, uint32_t, view->instance.count);
    uint32_t machine_count = 0;
    struct pool pool;
    struct layout layout;

    for (uint32_t i = 0; i < view->task.count; i++)
        tasks[i] = i;
    INSTANCE_EACH(instance, view)
    {
        machines[machine_count++] = instance;
    }
    layout_init(&layout, &rules, &pool, &yard->arena);
    pool_build(&pool, &rules, tasks, view->task.count, &yard->arena);
    topdown_pack(&layout, machines, machine_count,
                 (struct topdown_options){ .penalise = penalise });
    layout_to_plan(&layout, REASON_REPACKED, &yard->plan);
}

TEST(the_tasks_of_table_3_cost_12_8_dollars_an_hour)
{
    struct yard yard;

    yard_init_table3(&yard);
    for (uint32_t shape = TAU1; shape <= TAU4; shape++)
        (void)yard_task(&yard, shape);
    pack(&yard, NULL, false);

    assert_int_equal(yard_rent_price(&yard), YARD_USD(12.8));
    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, IT1);
    assert_int_equal(yard.plan.rents[1].offer, IT3);
    yard_check_fresh(&yard, TAU1, 0);
    yard_check_fresh(&yard, TAU2, 0);
    yard_check_fresh(&yard, TAU3, 1);
    yard_check_fresh(&yard, TAU4, 0);
    yard_done(&yard);
}

static void table3_with_rates(struct yard *yard, double rate1, double rate2)
{
    struct colocation colocation;

    yard_init_table3(yard);
    (void)yard_task(yard, TAU1);
    (void)yard_task(yard, TAU2);
    colocation_init(&colocation, 0.95);
    colocation_observe(&colocation, TAU1, colocation_token(TAU2), rate1);
    colocation_observe(&colocation, TAU2, colocation_token(TAU1), rate2);
    pack(yard, &colocation, false);
    colocation_done(&colocation);
}

TEST(tasks_1_and_2_share_a_machine_if_they_run_at_80_and_90_percent)
{
    struct yard yard;

    table3_with_rates(&yard, 0.8, 0.9);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, IT1);
    yard_done(&yard);
}

TEST(tasks_1_and_2_share_none_if_they_run_at_70_and_80_percent)
{
    struct yard yard;

    table3_with_rates(&yard, 0.7, 0.8);

    assert_int_equal(yard_rent_price(&yard), YARD_USD(15));
    yard_check_fresh(&yard, TAU1, 0);
    yard_check_fresh(&yard, TAU2, 1);
    yard_done(&yard);
}

/* Two tasks worth 2 dollars share a machine of 1.50; a third of 0.10 would slow them to 1.80. */
TEST(a_task_that_would_lower_the_worth_is_not_added)
{
    struct yard yard;
    struct colocation colocation;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 2, 4, 0, 1.0);
    (void)yard_type(&yard, "a", 5, 10, 0, 1.5);
    (void)yard_type(&yard, "a", 1, 1, 0, 0.1);
    const uint32_t half = yard_shape(&yard, 2, 4, 0);
    const uint32_t first = yard_job(&yard, half, 2, false);
    const uint32_t little = yard_task(&yard, yard_shape(&yard, 1, 1, 0));
    colocation_init(&colocation, 0.9);
    colocation_observe(&colocation, half, colocation_token(half), 1.0);
    pack(&yard, &colocation, false);

    assert_int_equal(yard_rent_price(&yard), YARD_USD(1.6));
    yard_check_fresh(&yard, first, 0);
    yard_check_fresh(&yard, first + 1, 0);
    yard_check_fresh(&yard, little, 1);
    colocation_done(&colocation);
    yard_done(&yard);
}

TEST(what_fits_a_cheaper_machine_shrinks_to_it_and_the_plan_says_what_was_passed_over)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 2, 4, 0, 1.0);
    const uint32_t medium = yard_type(&yard, "a", 4, 8, 0, 1.5);
    const uint32_t large = yard_type(&yard, "a", 8, 16, 0, 2.0);
    const uint32_t shape = yard_shape(&yard, 2, 4, 0);
    (void)yard_job(&yard, shape, 2, false);
    pack(&yard, NULL, false);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, medium);
    assert_int_equal(yard.plan.rents[0].why.chosen, YARD_USD(1.5));
    assert_int_equal(yard.plan.rents[0].why.passed_over, YARD_USD(2));
    assert_int_equal(yard.plan.rents[0].why.passed_offer, large);
    yard_done(&yard);
}

TEST(tasks_that_would_share_a_smaller_machine_as_they_do_now_stay)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 2, 4, 0, 1.0);
    const uint32_t medium = yard_type(&yard, "a", 4, 8, 0, 1.5);
    (void)yard_type(&yard, "a", 8, 16, 0, 2.0);
    const uint32_t shape = yard_shape(&yard, 2, 4, 0);
    const uint32_t machine = yard_machine(&yard, medium);
    yard_run(&yard, yard_task(&yard, shape), machine);
    yard_run(&yard, yard_task(&yard, shape), machine);
    pack(&yard, NULL, false);

    assert_int_equal(yard.plan.rent_count, 0);
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_machine_that_runs_is_filled_before_a_new_one_and_its_tasks_stay)
{
    struct yard yard;

    yard_init_table3(&yard);
    const uint32_t waits = yard_task(&yard, TAU2);
    const uint32_t runs = yard_task(&yard, TAU1);
    const uint32_t machine = yard_machine(&yard, IT1);
    yard_run(&yard, runs, machine);
    pack(&yard, NULL, false);

    assert_int_equal(yard.plan.rent_count, 0);
    assert_int_equal(yard.plan.place_count, 1);
    yard_check_kept(&yard, waits, machine);
    yard_done(&yard);
}

TEST(a_task_alone_stays_on_its_own_machine_though_an_earlier_one_waits)
{
    struct yard yard;

    yard_init_halves(&yard);
    yard_open(&yard);
    yard.view.offer_price[LARGE] = YARD_USD(2.5); /* sharing does not pay */
    const uint32_t waits = yard_task(&yard, HALF);
    (void)yard_running(&yard, HALF, SMALL);
    pack(&yard, NULL, false);

    assert_int_equal(yard.plan.place_count, 1);
    yard_check_fresh(&yard, waits, 0);
    assert_int_equal(yard.plan.rents[0].offer, SMALL);
    yard_done(&yard);
}

TEST(a_task_that_nothing_holds_waits)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t huge = yard_shape(&yard, 64, 1, 0);
    const uint32_t waits = yard_task(&yard, huge);
    const uint32_t fits = yard_task(&yard, HALF);
    pack(&yard, NULL, false);

    assert_null(yard_place_of(&yard, waits));
    yard_check_fresh(&yard, fits, 0);
    yard_done(&yard);
}

TEST(a_refused_offer_is_used_where_it_runs_but_not_rented)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t machine = yard_machine(&yard, LARGE);
    for (int i = 0; i < 4; i++)
        (void)yard_task(&yard, HALF);
    yard.view.offer_blocked_until[LARGE] = 1;
    pack(&yard, NULL, false);

    yard_check_kept(&yard, 0, machine);
    yard_check_kept(&yard, 1, machine);
    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, SMALL);
    assert_int_equal(yard.plan.rents[1].offer, SMALL);
    yard_done(&yard);
}

TEST(of_one_type_the_cheapest_offer_is_rented)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t spot = yard_offer(&yard, LARGE, 0.9);
    (void)yard_job(&yard, HALF, 2, false);
    pack(&yard, NULL, false);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, spot);
    yard_done(&yard);
}

/* Two tasks at 90 % are worth 1.80 and share a large machine; of a gang of four the slow-down of
 * each counts four times: 1.20 is less than the 1.50 of the machine. */
TEST(a_gang_shares_less_readily_if_penalised)
{
    struct yard plain;
    struct yard penalised;
    struct colocation colocation;

    colocation_init(&colocation, 0.9);
    yard_init_halves(&plain);
    (void)yard_job(&plain, HALF, 4, true);
    pack(&plain, &colocation, false);
    yard_init_halves(&penalised);
    (void)yard_job(&penalised, HALF, 4, true);
    pack(&penalised, &colocation, true);

    assert_int_equal(yard_rent_price(&plain), YARD_USD(3));
    assert_int_equal(yard_rent_price(&penalised), YARD_USD(4));
    colocation_done(&colocation);
    yard_done(&plain);
    yard_done(&penalised);
}

CHECK_MAIN(RUN(the_tasks_of_table_3_cost_12_8_dollars_an_hour),
           RUN(tasks_1_and_2_share_a_machine_if_they_run_at_80_and_90_percent),
           RUN(tasks_1_and_2_share_none_if_they_run_at_70_and_80_percent),
           RUN(a_task_that_would_lower_the_worth_is_not_added),
           RUN(what_fits_a_cheaper_machine_shrinks_to_it_and_the_plan_says_what_was_passed_over),
           RUN(tasks_that_would_share_a_smaller_machine_as_they_do_now_stay),
           RUN(a_machine_that_runs_is_filled_before_a_new_one_and_its_tasks_stay),
           RUN(a_task_alone_stays_on_its_own_machine_though_an_earlier_one_waits),
           RUN(a_task_that_nothing_holds_waits),
           RUN(a_refused_offer_is_used_where_it_runs_but_not_rented),
           RUN(of_one_type_the_cheapest_offer_is_rented),
           RUN(a_gang_shares_less_readily_if_penalised))
