/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/reservation.h"

#include "base/rng.h"
#include "decide/test/yard.h"

TEST(the_reservation_prices_of_table_3_are_those_of_the_paper)
{
    struct yard yard;

    yard_init_table3(&yard);
    reservation_update(&yard.view);

    assert_int_equal(yard.view.shape_price[TAU1], YARD_USD(12));
    assert_int_equal(yard.view.shape_price[TAU2], YARD_USD(3));
    assert_int_equal(yard.view.shape_price[TAU3], YARD_USD(0.8));
    assert_int_equal(yard.view.shape_price[TAU4], YARD_USD(0.4));
    assert_int_equal(yard.view.shape_offer[TAU1], IT1);
    assert_int_equal(yard.view.shape_offer[TAU4], IT4);
    yard_done(&yard);
}

TEST(equal_prices_go_to_the_offer_with_the_lower_index)
{
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 1, 1, 0, 0.1);
    const uint32_t first = yard_type(&yard, "a", 4, 4, 0, 0.5);
    (void)yard_type(&yard, "b", 8, 8, 0, 0.5);
    const uint32_t shape = yard_shape(&yard, 2, 2, 0);
    yard_open(&yard);
    reservation_update(&yard.view);

    assert_int_equal(yard.view.shape_offer[shape], first);
    yard_done(&yard);
}

TEST(a_demand_of_a_family_counts_on_that_family_only)
{
    struct yard yard;
    const struct shape_demand demands[] = { { FAMILY_NONE, { { 8000, 1024, 0 } } },
                                            { 1, { { 2000, 1024, 0 } } } };
    const struct shape_spec spec = {
        .name = "either",
        .workload = "either",
        .demands = demands,
        .demand_count = 2,
    };

    yard_init(&yard);
    (void)yard_type(&yard, "slow", 4, 8, 0, 0.2);
    const uint32_t fast = yard_type(&yard, "fast", 4, 8, 0, 0.3);
    const uint32_t shape = shapes_add(&yard.shapes, &spec);
    yard_open(&yard);
    reservation_update(&yard.view);

    assert_int_equal(yard.view.shape_offer[shape], fast);
    yard_done(&yard);
}

TEST(a_blocked_offer_is_passed_over_until_the_moment_its_block_ends)
{
    struct yard yard;

    yard_init_table3(&yard);
    yard.view.offer_blocked_until[IT4] = 5000;
    yard.view.now = 4999;
    reservation_update(&yard.view);
    assert_int_equal(yard.view.shape_offer[TAU4], IT3);
    yard.view.now = 5000;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);

    assert_int_equal(yard.view.shape_offer[TAU4], IT4);
    yard_done(&yard);
}

TEST(a_shape_whose_offers_are_all_blocked_has_no_offer_and_keeps_its_worth)
{
    struct yard yard;

    yard_init_table3(&yard);
    yard.view.offer_blocked_until[IT1] = 1;
    reservation_update(&yard.view);

    assert_int_equal(yard.view.shape_offer[TAU1], OFFER_NONE);
    assert_int_equal(yard.view.shape_price[TAU1], YARD_USD(12));
    yard_done(&yard);
}

TEST(a_shape_that_nothing_holds_has_no_offer_and_no_worth)
{
    struct yard yard;

    yard_init_table3(&yard);
    const uint32_t huge = yard_shape(&yard, 64, 1, 0);
    reservation_update(&yard.view);

    assert_int_equal(yard.view.shape_offer[huge], OFFER_NONE);
    assert_int_equal(yard.view.shape_price[huge], 0);
    yard_done(&yard);
}

TEST(only_new_shapes_are_priced_until_all_are_forgotten)
{
    struct yard yard;

    yard_init_table3(&yard);
    reservation_update(&yard.view);
    yard.view.offer_price[IT4] = YARD_USD(0.7);
    reservation_update(&yard.view);
    assert_int_equal(yard.view.shape_price[TAU4], YARD_USD(0.4));
    reservation_forget(&yard.view);
    reservation_update(&yard.view);

    assert_int_equal(yard.view.shape_price[TAU4], YARD_USD(0.7));
    yard_done(&yard);
}

TEST(the_cheapest_machine_for_several_shapes_holds_them_all)
{
    struct yard yard;
    const struct shape_count group[] = { { .shape = TAU2, .count = 2 },
                                         { .shape = TAU4, .count = 1 } };

    yard_init_table3(&yard);

    assert_int_equal(reservation_cheapest_holding(&yard.view, group, 2, MONEY_UNKNOWN), IT1);
    assert_int_equal(reservation_cheapest_holding(&yard.view, group, 2, YARD_USD(12)), OFFER_NONE);
    assert_int_equal(reservation_cheapest_holding(&yard.view, group + 1, 1, MONEY_UNKNOWN), IT4);
    assert_true(reservation_offer_holds(&yard.view, IT1, group, 2));
    assert_false(reservation_offer_holds(&yard.view, IT2, group, 2));
    yard_done(&yard);
}

/* Some types of a few families, offers at prices that are often equal, and shapes of which some take another amount
 * on one of the families. */
static void draw(struct yard *yard, struct rng *rng, uint32_t types, uint32_t offers,
                 uint32_t shapes)
{
    static const char *const families[] = { "a", "b", "c", "d" };

    yard_init(yard);
    for (uint32_t i = 0; i < types; i++)
        (void)yard_type(yard, families[rng_below(rng, 4)], 1 + (int64_t)rng_below(rng, 16),
                        1 + (int64_t)rng_below(rng, 64), (int64_t)rng_below(rng, 3),
                        0.1 * (double)(1 + rng_below(rng, 20)));
    while (yard->catalogue.offer_count < offers)
        (void)yard_offer(yard, (uint32_t)rng_below(rng, types),
                         0.1 * (double)(1 + rng_below(rng, 20)));
    for (uint32_t i = 0; i < shapes; i++) {
        const struct shape_demand demands[] = {
            { FAMILY_NONE,
              { { (int64_t)rng_below(rng, 18000), (int64_t)rng_below(rng, 70000),
                  (int64_t)rng_below(rng, 4000) } } },
            { (uint32_t)rng_below(rng, 2), { { (int64_t)rng_below(rng, 9000), 1024, 0 } } },
        };
        char name[32];
        const struct shape_spec spec = {
            .name = name,
            .workload = name,
            .demands = demands,
            .demand_count = 1 + (uint32_t)rng_below(rng, 2),
        };

        (void)snprintf(name, sizeof(name), "drawn%u", i);
        (void)shapes_add(&yard->shapes, &spec);
    }
    yard_open(yard);
}

TEST(many_shapes_at_once_have_the_prices_of_each_alone)
{
    uint32_t none = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rng rng;
        struct yard yard;

        rng_init(&rng, seed, 0);
        draw(&yard, &rng, 1 + (uint32_t)rng_below(&rng, 20), 40, 100);
        for (uint32_t i = 0; i < yard.catalogue.offer_count; i++) {
            if (rng_below(&rng, 3) == 0)
                yard.view.offer_blocked_until[i] = 1;
        }
        reservation_update(&yard.view);
        for (uint32_t shape = 0; shape < yard.shapes.count; shape++) {
            const struct shape_count one = { .shape = shape, .count = 1 };
            const uint32_t offer = reservation_cheapest_holding(&yard.view, &one, 1, MONEY_UNKNOWN);
            const money_t price = yard.view.shape_price[shape];

            assert_int_equal(yard.view.shape_offer[shape], offer);
            yard.view.now = 1; /* all blocks are over */

            const uint32_t worth = reservation_cheapest_holding(&yard.view, &one, 1, MONEY_UNKNOWN);

            yard.view.now = 0;
            if (offer != OFFER_NONE)
                assert_int_equal(price, yard.view.offer_price[offer]);
            else
                assert_int_equal(price, worth != OFFER_NONE ? yard.view.offer_price[worth] : 0);
            none += offer == OFFER_NONE;
        }
        yard_done(&yard);
    }
    assert_true(none > 1000);
}

CHECK_MAIN(RUN(the_reservation_prices_of_table_3_are_those_of_the_paper),
           RUN(equal_prices_go_to_the_offer_with_the_lower_index),
           RUN(a_demand_of_a_family_counts_on_that_family_only),
           RUN(a_blocked_offer_is_passed_over_until_the_moment_its_block_ends),
           RUN(a_shape_whose_offers_are_all_blocked_has_no_offer_and_keeps_its_worth),
           RUN(a_shape_that_nothing_holds_has_no_offer_and_no_worth),
           RUN(only_new_shapes_are_priced_until_all_are_forgotten),
           RUN(many_shapes_at_once_have_the_prices_of_each_alone),
           RUN(the_cheapest_machine_for_several_shapes_holds_them_all))
