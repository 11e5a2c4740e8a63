/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/bonds.h"

#include "decide/test/yard.h"

/* One type in two zones, on demand and spot: "b" is cheaper on demand, "a" has the cheaper spot. */
enum { A_DEMAND, B_DEMAND, A_SPOT, B_SPOT };

static void zones_init(struct yard *yard)
{
    static const struct {
        const char *zone;
        enum market market;
        double dollars;
    } offers[] = {
        [A_DEMAND] = { "a", MARKET_ON_DEMAND, 2.0 },
        [B_DEMAND] = { "b", MARKET_ON_DEMAND, 1.9 },
        [A_SPOT] = { "a", MARKET_SPOT, 0.5 },
        [B_SPOT] = { "b", MARKET_SPOT, 0.6 },
    };
    const struct machine_type type = { .capacity = { { 4000, 8192, 0 } } };

    yard_init(yard);
    (void)catalogue_add_type(&yard->catalogue, "m", "m", &type);
    for (uint32_t i = 0; i < 4; i++) {
        const struct price_change price = { 0, YARD_USD(offers[i].dollars) };
        const struct offer offer = { .type = 0,
                                     .market = offers[i].market,
                                     .billing = BILLING_PER_SECOND,
                                     .price = { &price, 1 } };

        (void)catalogue_add_offer(&yard->catalogue, offers[i].zone, &offer);
    }
    shapes_bind(&yard->shapes, &yard->catalogue);
}

static uint32_t alike_shape(struct yard *yard, uint8_t alike, const char *offers)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 4000, 1024, 0 } } };
    const struct shape_spec spec = { .name = "alike",
                                     .workload = "alike",
                                     .demands = &demand,
                                     .demand_count = 1,
                                     .offers = offers,
                                     .alike = alike };

    return shapes_add(&yard->shapes, &spec);
}

static void update(struct yard *yard)
{
    for (uint32_t i = 0; i < 4; i++)
        yard->view.offer_price[i] = price_at(&yard->catalogue.offers[i].price, yard->view.now);
    reservation_forget(&yard->view);
    reservation_update(&yard->view);
    bonds_update(&yard->view);
}

/* The offers that the task may run on, bit by bit. */
static uint32_t places(const struct yard *yard, uint32_t task)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < 4; i++)
        bits |= (uint32_t)shape_fits_offer(&yard->shapes, yard->view.task.shape[task],
                                           &yard->catalogue, i)
                << i;
    return bits;
}

TEST(a_job_goes_to_the_zone_or_market_with_the_cheapest_machine)
{
    static const struct {
        uint8_t alike;
        const char *offers;
        uint32_t places;
    } cases[] = {
        { ALIKE_ZONE, NULL, 1 << A_DEMAND | 1 << A_SPOT },
        { ALIKE_MARKET, NULL, 1 << A_SPOT | 1 << B_SPOT },
        { ALIKE_ZONE | ALIKE_MARKET, NULL, 1 << A_SPOT },
        { ALIKE_ZONE, "on-demand", 1 << B_DEMAND },
        { ALIKE_MARKET, "b", 1 << B_SPOT },
        { ALIKE_ZONE, "!a", 1 << B_DEMAND | 1 << B_SPOT },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct yard yard;

        zones_init(&yard);
        const uint32_t shape = alike_shape(&yard, cases[i].alike, cases[i].offers);
        const uint32_t task = yard_job(&yard, shape, 2, true);

        update(&yard);
        assert_int_equal(places(&yard, task), cases[i].places);
        assert_int_equal(places(&yard, task + 1), cases[i].places);
        yard_done(&yard);
    }
}

TEST(a_zone_of_which_nothing_is_to_be_had_is_passed_over)
{
    struct yard yard;

    zones_init(&yard);
    const uint32_t task = yard_job(&yard, alike_shape(&yard, ALIKE_ZONE, NULL), 2, true);

    yard.view.offer_blocked_until[A_SPOT] = MSEC_NEVER;
    update(&yard);
    assert_int_equal(places(&yard, task), 1 << B_DEMAND | 1 << B_SPOT);
    yard.view.offer_blocked_until[B_SPOT] = MSEC_NEVER;
    yard.view.offer_blocked_until[B_DEMAND] = MSEC_NEVER;
    update(&yard);
    assert_int_equal(places(&yard, task), 1 << A_DEMAND | 1 << A_SPOT);
    yard.view.offer_blocked_until[A_DEMAND] = MSEC_NEVER;
    update(&yard); /* nothing at all: the cheapest for what it would be worth */
    assert_int_equal(places(&yard, task), 1 << A_DEMAND | 1 << A_SPOT);
    yard_done(&yard);
}

TEST(those_that_wait_go_where_the_others_are)
{
    struct yard yard;

    zones_init(&yard);
    const uint32_t task = yard_job(&yard, alike_shape(&yard, ALIKE_ZONE, NULL), 3, true);
    const uint32_t machine = view_add_instance(&yard.view, 77, B_DEMAND);

    view_bind_found(&yard.view, task + 1, machine); /* the engine has put it there */
    assert_false(yard.view.instance.crowded[machine]);
    assert_int_equal(yard.view.instance.used[machine].amount[RES_CPU], 4000);
    update(&yard);
    assert_int_equal(places(&yard, task), 1 << B_DEMAND | 1 << B_SPOT);
    assert_int_equal(places(&yard, task + 2), 1 << B_DEMAND | 1 << B_SPOT);
    view_unbind(&yard.view, task + 1);
    update(&yard);
    assert_int_equal(places(&yard, task + 1), 1 << A_DEMAND | 1 << A_SPOT);
    yard_done(&yard);
}

TEST(zones_that_come_later_have_variants_too)
{
    struct yard yard;
    const struct price_change price = { 0, YARD_USD(0.1) };
    const struct offer offer = { .billing = BILLING_PER_SECOND, .price = { &price, 1 } };

    zones_init(&yard);
    const uint32_t shape = alike_shape(&yard, ALIKE_ZONE, NULL);

    assert_int_equal(yard.shapes.rows[shape].variant_count, 2);
    const uint32_t fresh = catalogue_add_offer(&yard.catalogue, "c", &offer);

    shapes_bind(&yard.shapes, &yard.catalogue);
    assert_int_equal(yard.shapes.rows[shape].variant_count, 3);
    assert_int_equal(shape_variant_at(&yard.shapes, shape, fresh, false), yard.shapes.count - 1);
    assert_int_equal(alike_shape(&yard, ALIKE_ZONE, NULL), shape);
    yard_open(&yard);
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_job_goes_to_the_zone_or_market_with_the_cheapest_machine),
           RUN(a_zone_of_which_nothing_is_to_be_had_is_passed_over),
           RUN(those_that_wait_go_where_the_others_are),
           RUN(zones_that_come_later_have_variants_too))
