/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound against the optimum, which is found by trying every way to put a few tasks together.
 */
#include "decide/bound.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { TASKS_MAX = 5, ROUNDS = 2000 };

/* So many tasks of each of the given shapes, at once. */
static money_t bound_of(const struct yard *yard, const uint32_t *shapes, uint32_t count)
{
    struct bound_demand demands[TASKS_MAX];

    for (uint32_t i = 0; i < count; i++)
        demands[i] = (struct bound_demand){ .shape = shapes[i], .amount = 1.0 };
    return bound_cost(&yard->catalogue, &yard->shapes, yard->view.offer_price, demands, count);
}

/* The cheapest machine that holds all tasks of the group 'which'; MONEY_UNKNOWN: none does. */
static money_t group_price(const struct yard *yard, const uint32_t *shapes, const uint32_t *group,
                           uint32_t count, uint32_t which)
{
    struct shape_count members[TASKS_MAX];
    uint32_t size = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (group[i] == which)
            members[size++] = (struct shape_count){ .shape = shapes[i], .count = 1 };
    }
    if (size == 0)
        return 0;

    const uint32_t offer = reservation_cheapest_holding(&yard->view, members, size, MONEY_UNKNOWN);

    return offer != OFFER_NONE ? yard->view.offer_price[offer] : MONEY_UNKNOWN;
}

/* The next way to give each task one of 'count' groups; false after the last. */
static bool next_grouping(uint32_t *group, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (++group[i] < count)
            return true;
        group[i] = 0;
    }
    return false;
}

/* What the cheapest way to run them all costs, by trying each. */
static money_t optimum(const struct yard *yard, const uint32_t *shapes, uint32_t count)
{
    uint32_t group[TASKS_MAX] = { 0 };
    money_t best = MONEY_UNKNOWN;

    do {
        money_t sum = 0;

        for (uint32_t which = 0; which < count && sum < best; which++) {
            const money_t price = group_price(yard, shapes, group, count, which);

            sum = price == MONEY_UNKNOWN ? MONEY_UNKNOWN : sum + price;
        }
        if (sum < best)
            best = sum;
    } while (next_grouping(group, count));
    return best;
}

static void draw_market(struct yard *yard, struct rng *rng)
{
    static const char *const families[] = { "a", "b" };
    const uint64_t types = 1 + rng_below(rng, 4);

    yard_init(yard);
    (void)yard_type(yard, "a", 16, 64, 4, 1.0 + 9 * rng_unit(rng)); /* it holds every task */
    for (uint64_t i = 1; i < types; i++)
        (void)yard_type(yard, families[rng_below(rng, 2)], 1 + (int64_t)rng_below(rng, 16),
                        1 + (int64_t)rng_below(rng, 64), (int64_t)rng_below(rng, 5),
                        0.1 + 5 * rng_unit(rng));
    for (uint32_t i = 0; i < 3; i++) {
        const struct shape_demand demands[] = {
            { FAMILY_NONE,
              { { (int64_t)rng_below(rng, 16000), (int64_t)rng_below(rng, 65536),
                  (int64_t)rng_below(rng, 4000) } } },
            { 1, { { (int64_t)rng_below(rng, 8000), (int64_t)rng_below(rng, 32768), 0 } } },
        };
        char name[16];
        const struct shape_spec spec = {
            .name = name,
            .workload = name,
            .demands = demands,
            .demand_count = 1 + (uint32_t)rng_below(rng, 2),
        };

        (void)snprintf(name, sizeof(name), "s%u", i);
        (void)shapes_add(&yard->shapes, &spec);
    }
    yard_open(yard);
}

TEST(no_way_to_run_a_few_tasks_costs_less_than_the_bound)
{
    uint32_t sharp = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct rng rng;
        struct yard yard;
        uint32_t shapes[TASKS_MAX];
        const uint32_t count = 1 + (uint32_t)(seed % TASKS_MAX);

        rng_init(&rng, seed, 0);
        draw_market(&yard, &rng);
        for (uint32_t i = 0; i < count; i++)
            shapes[i] = (uint32_t)rng_below(&rng, yard.shapes.count);

        const money_t bound = bound_of(&yard, shapes, count);
        const money_t best = optimum(&yard, shapes, count);

        if (bound > best)
            fail_msg("seed %" PRIu64 ": the bound is %" PRId64 ", the optimum %" PRId64, seed,
                     bound, best);
        sharp += bound * 2 > best;
        yard_done(&yard);
    }
    assert_true(sharp > ROUNDS / 4); /* it says something, and not only zero */
}

TEST(the_bound_is_met_where_machines_can_be_filled_to_the_brim)
{
    struct yard yard;
    const uint32_t shapes[] = { 0, 0, 0, 0 };

    yard_init(&yard);
    (void)yard_type(&yard, "a", 4, 64, 0, 0.5);
    (void)yard_type(&yard, "a", 1, 64, 0, 0.2);
    (void)yard_shape(&yard, 1, 1, 0);
    yard_open(&yard);

    assert_int_equal(optimum(&yard, shapes, 4), YARD_USD(0.5));
    assert_in_range(bound_of(&yard, shapes, 4), YARD_USD(0.5) - 1, YARD_USD(0.5));
    yard_done(&yard);
}

TEST(the_bound_is_the_price_where_each_task_fills_its_machine)
{
    struct yard yard;
    const uint32_t shapes[] = { TAU2, TAU2, TAU2 };

    yard_init_table3(&yard);

    /* A task of one accelerator and 4 CPUs fills the second type; four fill the first. */
    assert_int_equal(optimum(&yard, shapes, 3), YARD_USD(9));
    assert_in_range(bound_of(&yard, shapes, 3), YARD_USD(9) - 1, YARD_USD(9));
    yard_done(&yard);
}

TEST(half_the_work_has_half_the_bound)
{
    struct yard yard;
    const struct bound_demand whole = { .shape = TAU2, .amount = 10.0 };
    const struct bound_demand half = { .shape = TAU2, .amount = 5.0 };

    yard_init_table3(&yard);
    const money_t all = bound_cost(&yard.catalogue, &yard.shapes, yard.view.offer_price, &whole, 1);

    assert_in_range(bound_cost(&yard.catalogue, &yard.shapes, yard.view.offer_price, &half, 1),
                    all / 2 - 1, all / 2 + 1);
    yard_done(&yard);
}

TEST(nothing_and_what_nothing_holds_are_bound_by_nothing)
{
    struct yard yard;

    yard_init_table3(&yard);
    const uint32_t huge = yard_shape(&yard, 640, 1, 0);

    assert_int_equal(bound_of(&yard, NULL, 0), 0);
    assert_int_equal(bound_of(&yard, &huge, 1), 0);
    yard_done(&yard);
}

CHECK_MAIN(RUN(no_way_to_run_a_few_tasks_costs_less_than_the_bound),
           RUN(the_bound_is_met_where_machines_can_be_filled_to_the_brim),
           RUN(the_bound_is_the_price_where_each_task_fills_its_machine),
           RUN(half_the_work_has_half_the_bound),
           RUN(nothing_and_what_nothing_holds_are_bound_by_nothing))
