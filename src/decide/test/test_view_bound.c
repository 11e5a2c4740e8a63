/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound of a view: what counts in it, and that machines which hold the tasks never cost less.
 */
#include "decide/view_bound.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { ROUNDS = 500, NODES = 1 << 20 };

static struct view_bound_answer bound_of(const struct yard *yard, bool is_of_all)
{
    return view_bound(&yard->view,
                      &(struct view_bound_spec){ .is_of_all = is_of_all, .node_most = NODES });
}

TEST(tasks_that_wait_count_only_in_the_bound_of_all)
{
    struct yard yard;

    yard_init_halves(&yard);

    const uint32_t first = yard_task(&yard, HALF);
    const uint32_t machine = yard_machine(&yard, LARGE);

    (void)yard_task(&yard, HALF);
    yard_run(&yard, first, machine);

    /* Half of the large one at 1.50. */
    const struct view_bound_answer placed = bound_of(&yard, false);
    const struct view_bound_answer all = bound_of(&yard, true);

    assert_int_equal(placed.tasks, 1);
    assert_in_range(placed.bound, YARD_USD(0.7499), YARD_USD(0.75));
    assert_int_equal(placed.cost, YARD_USD(1.5));
    assert_int_equal(all.tasks, 2);
    assert_in_range(all.bound, YARD_USD(1.4998), YARD_USD(1.5));
    yard_done(&yard);
}

TEST(machines_without_tasks_are_told_apart_and_those_given_back_left_out)
{
    struct yard yard;

    yard_init_halves(&yard);
    yard_run(&yard, yard_task(&yard, HALF), yard_machine(&yard, SMALL));
    (void)yard_machine(&yard, LARGE);
    view_set_state(&yard.view, yard_machine(&yard, LARGE), INSTANCE_RETURNED);

    const struct view_bound_answer answer = bound_of(&yard, false);

    assert_int_equal(answer.cost, YARD_USD(2.5));
    assert_int_equal(answer.empty, YARD_USD(1.5));
    yard_done(&yard);
}

TEST(whole_tasks_bound_higher_than_resources)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 8, 64, 0, 1.0);
    (void)yard_shape(&yard, 5, 8, 0); /* no two fit */
    yard_run(&yard, yard_task(&yard, 0), yard_machine(&yard, 0));

    const struct view_bound_answer answer = bound_of(&yard, false);

    assert_true(answer.is_finished);
    assert_in_range(answer.by_resources, YARD_USD(0.6249), YARD_USD(0.625));
    assert_in_range(answer.bound, YARD_USD(0.9999), YARD_USD(1.0));
    yard_done(&yard);
}

/* A core of the small machine costs 0.10, of the large one 0.11, memory in proportion: the large task pays for what it needs. */
TEST(a_large_task_pays_for_the_large_machine_it_needs)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "small", 4, 16, 0, 0.4);
    (void)yard_type(&yard, "small-with-more", 4, 32, 0, 0.6);
    (void)yard_type(&yard, "large", 16, 64, 0, 1.76);
    (void)yard_shape(&yard, 1, 4, 0);
    (void)yard_shape(&yard, 8, 32, 0);
    (void)yard_shape(&yard, 1, 8, 0);
    for (uint32_t i = 0; i < 12; i++)
        (void)yard_task(&yard, i % 3);

    const struct view_bound_answer answer =
        view_bound(&yard.view, &(struct view_bound_spec){ .is_of_all = true });

    /* 4 x 0.10 + 4 x 0.88 + 4 x 0.15. */
    assert_in_range(answer.by_resources, YARD_USD(4.5199), YARD_USD(4.52));
    assert_int_equal(answer.bound, answer.by_resources);
    yard_done(&yard);
}

/* Put tasks on machines at random, wherever there is room. */
static void draw(struct yard *yard, uint64_t seed)
{
    struct rng rng;
    uint32_t machines[8];

    rng_init(&rng, seed, 0);
    yard_init(yard);
    for (uint64_t i = 1 + rng_below(&rng, 4); i > 0; i--)
        (void)yard_type(yard, "a", 2 + (int64_t)rng_below(&rng, 14),
                        2 + (int64_t)rng_below(&rng, 60), (int64_t)rng_below(&rng, 3),
                        0.2 + 3 * rng_unit(&rng));
    for (uint64_t i = 1 + rng_below(&rng, 5); i > 0; i--)
        (void)yard_shape(yard, 1 + (int64_t)rng_below(&rng, 8), 1 + (int64_t)rng_below(&rng, 20),
                         (int64_t)rng_below(&rng, 2));
    for (uint32_t i = 0; i < 8; i++)
        machines[i] = yard_machine(yard, (uint32_t)rng_below(&rng, yard->catalogue.offer_count));
    for (uint32_t i = 0; i < 30; i++) {
        const uint32_t task = yard_task(yard, (uint32_t)rng_below(&rng, yard->shapes.count));
        const uint32_t machine = machines[rng_below(&rng, 8)];
        const struct res *demand = view_demand(&yard->view, task, machine);
        const struct res free = view_free(&yard->view, machine);

        if (demand != NULL && res_fits(demand, &free))
            yard_run(yard, task, machine);
    }
}

TEST(no_machines_that_hold_the_tasks_cost_less)
{
    uint32_t told = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct yard yard;

        draw(&yard, seed);

        const struct view_bound_answer answer = bound_of(&yard, false);

        assert_true(answer.bound >= answer.by_resources);
        assert_true(answer.bound <= answer.cost - answer.empty);
        told += answer.tasks > 0 && answer.bound > 0;
        yard_done(&yard);
    }
    assert_true(told > ROUNDS / 2);
}

TEST(pieces_of_any_size_end_with_the_same_answer)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const struct view_bound_spec spec = { .is_of_all = true, .node_most = 100 * seed };
        struct yard yard;

        draw(&yard, seed);

        const struct view_bound_answer whole = view_bound(&yard.view, &spec);
        struct view_bound *search = view_bound_begin(&yard.view, &spec);
        money_t last = 0;

        while (view_bound_go_on(search, 1 + seed % 30)) {
            assert_true(view_bound_so_far(search).bound >= last);
            last = view_bound_so_far(search).bound;
        }
        assert_int_equal(view_bound_so_far(search).bound, whole.bound);
        assert_int_equal(view_bound_so_far(search).is_finished, whole.is_finished);
        view_bound_destroy(search);
        yard_done(&yard);
    }
}

TEST(nothing_costs_nothing)
{
    struct yard yard;

    yard_init_halves(&yard);
    yard_open(&yard);

    const struct view_bound_answer answer = bound_of(&yard, true);

    assert_true(answer.is_finished);
    assert_int_equal(answer.bound, 0);
    assert_int_equal(answer.cost, 0);
    yard_done(&yard);
}

CHECK_MAIN(RUN(tasks_that_wait_count_only_in_the_bound_of_all),
           RUN(machines_without_tasks_are_told_apart_and_those_given_back_left_out),
           RUN(whole_tasks_bound_higher_than_resources),
           RUN(a_large_task_pays_for_the_large_machine_it_needs),
           RUN(no_machines_that_hold_the_tasks_cost_less),
           RUN(pieces_of_any_size_end_with_the_same_answer), RUN(nothing_costs_nothing))
