/* SPDX-License-Identifier: Apache-2.0 */
#include "model/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "base/test/check.h"

static const struct price_change price = { 0, 90000 };

static const struct offer on_demand = {
    .market = MARKET_ON_DEMAND,
    .billing = { 1000, 60000 },
    .price = { &price, 1 },
};

static uint32_t add_type(struct catalogue *catalogue, const char *name, const char *family,
                         int64_t cpu)
{
    const struct machine_type type = { .capacity = { { cpu, 4096, 0 } }, .setup_ms = 30000 };

    return catalogue_add_type(catalogue, name, family, &type);
}

static uint32_t find(const struct catalogue *catalogue, const char *name)
{
    return catalogue_find_type(catalogue, name, strlen(name));
}

TEST(a_type_is_found_by_its_name)
{
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    add_type(&catalogue, "c7i.large", "c7i", 2000);
    add_type(&catalogue, "c7i.xlarge", "c7i", 4000);

    assert_int_equal(find(&catalogue, "c7i.large"), 0);
    assert_int_equal(find(&catalogue, "c7i.xlarge"), 1);
    assert_int_equal(catalogue.types[1].capacity.amount[RES_CPU], 4000);
    assert_int_equal(catalogue.types[1].setup_ms, 30000);
    catalogue_done(&catalogue);
}

TEST(an_unknown_name_is_no_type)
{
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    assert_int_equal(find(&catalogue, "c7i.large"), UINT32_MAX);
    add_type(&catalogue, "c7i.large", "c7i", 2000);

    assert_int_equal(find(&catalogue, "c7i.larg"), UINT32_MAX);
    assert_int_equal(find(&catalogue, "c7i.large2"), UINT32_MAX);
    assert_int_equal(find(&catalogue, ""), UINT32_MAX);
    catalogue_done(&catalogue);
}

TEST(a_look_up_reads_no_more_than_the_given_length)
{
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    add_type(&catalogue, "p3", "p", 2000);

    assert_int_equal(catalogue_find_type(&catalogue, "p3.8xlarge", 2), 0);
    catalogue_done(&catalogue);
}

TEST(a_zone_or_family_is_not_a_type)
{
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    add_type(&catalogue, "c7i.large", "c7i", 2000);
    catalogue_add_offer(&catalogue, "us-east-1a", &on_demand);

    assert_int_equal(find(&catalogue, "us-east-1a"), UINT32_MAX);
    assert_int_equal(find(&catalogue, "c7i"), UINT32_MAX);
    catalogue_done(&catalogue);
}

TEST(types_of_one_family_share_its_number)
{
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    add_type(&catalogue, "c7i.large", "c7i", 2000);
    add_type(&catalogue, "p3.2xlarge", "p3", 8000);
    add_type(&catalogue, "c7i.xlarge", "c7i", 4000);

    assert_int_equal(catalogue.types[0].family, 0);
    assert_int_equal(catalogue.types[1].family, 1);
    assert_int_equal(catalogue.types[2].family, 0);
    assert_string_equal(names_text(&catalogue.families, 1), "p3");
    catalogue_done(&catalogue);
}

TEST(an_offer_leads_to_its_type)
{
    struct catalogue catalogue;
    struct offer offer = on_demand;

    catalogue_init(&catalogue);
    add_type(&catalogue, "c7i.large", "c7i", 2000);
    offer.type = add_type(&catalogue, "c7i.xlarge", "c7i", 4000);
    const uint32_t index = catalogue_add_offer(&catalogue, NULL, &offer);

    assert_ptr_equal(catalogue_type_of(&catalogue, index), &catalogue.types[1]);
    assert_string_equal(catalogue_offer_type_name(&catalogue, index), "c7i.xlarge");
    catalogue_done(&catalogue);
}

TEST(offers_in_one_zone_share_its_name_and_may_have_none)
{
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    add_type(&catalogue, "c7i.large", "c7i", 2000);
    catalogue_add_offer(&catalogue, "a", &on_demand);
    catalogue_add_offer(&catalogue, NULL, &on_demand);
    catalogue_add_offer(&catalogue, "a", &on_demand);

    assert_string_equal(names_text(&catalogue.names, catalogue.offers[0].zone), "a");
    assert_int_equal(catalogue.offers[1].zone, NAME_NONE);
    assert_int_equal(catalogue.offers[2].zone, catalogue.offers[0].zone);
    catalogue_done(&catalogue);
}

TEST(an_offer_keeps_its_own_copy_of_the_prices)
{
    struct price_change changes[] = { { 0, 100 }, { 1000, 200 } };
    struct offer offer = on_demand;
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    add_type(&catalogue, "c7i.large", "c7i", 2000);
    offer.price = (struct price_series){ changes, 2 };
    const uint32_t index = catalogue_add_offer(&catalogue, NULL, &offer);
    changes[1].per_hour = 999;

    assert_int_equal(price_at(&catalogue.offers[index].price, 5000), 200);
    catalogue_done(&catalogue);
}

TEST(what_was_added_first_survives_growth)
{
    enum { MANY = 1000 };
    struct catalogue catalogue;
    char name[32];

    catalogue_init(&catalogue);
    for (uint32_t i = 0; i < MANY; i++) {
        struct offer offer = on_demand;
        const struct price_change own = { 0, i };

        (void)snprintf(name, sizeof(name), "type-%u", i);
        offer.type = add_type(&catalogue, name, "any", i);
        offer.price = (struct price_series){ &own, 1 };
        assert_int_equal(catalogue_add_offer(&catalogue, NULL, &offer), i);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "type-%u", i);
        assert_int_equal(find(&catalogue, name), i);
        assert_string_equal(catalogue_offer_type_name(&catalogue, i), name);
        assert_int_equal(catalogue_type_of(&catalogue, i)->capacity.amount[RES_CPU], i);
        assert_int_equal(price_at(&catalogue.offers[i].price, 0), i);
    }
    catalogue_done(&catalogue);
}

TEST(a_catalogue_is_empty_again_after_done)
{
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    add_type(&catalogue, "c7i.large", "c7i", 2000);
    catalogue_add_offer(&catalogue, "a", &on_demand);
    catalogue_done(&catalogue);

    assert_int_equal(catalogue.type_count, 0);
    assert_int_equal(catalogue.offer_count, 0);
    assert_int_equal(find(&catalogue, "c7i.large"), UINT32_MAX);
    catalogue_done(&catalogue);
}

TEST(each_market_has_its_word)
{
    assert_string_equal(market_name(MARKET_ON_DEMAND), "on-demand");
    assert_string_equal(market_name(MARKET_SPOT), "spot");
    assert_string_equal(market_name(MARKET_RESERVED), "reserved");
}

TEST(the_middle_of_the_band_is_the_share_that_is_interrupted_in_a_month)
{
    assert_int_equal(interruption_mean_ms((struct interruption){ 0, 100 }),
                     2 * 730 * MSEC_PER_HOUR);
    assert_int_equal(interruption_mean_ms((struct interruption){ 5, 15 }),
                     10 * 730 * MSEC_PER_HOUR);
    assert_int_equal(interruption_mean_ms((struct interruption){ 0, 0 }), MSEC_NEVER);
}

TEST(one_machine_boots_as_the_first_point_of_the_table_says)
{
    struct catalogue catalogue;
    const struct machine_type type = {
        .boot = { { 1, 40 * MSEC_PER_SEC }, { 10, 100 * MSEC_PER_SEC } },
        .boot_count = 2,
        .setup_ms = 5 * MSEC_PER_SEC,
    };

    catalogue_init(&catalogue);

    struct offer offer = on_demand;

    offer.type = catalogue_add_type(&catalogue, "a", "a", &type);

    const uint32_t row = catalogue_add_offer(&catalogue, NULL, &offer);

    assert_int_equal(catalogue.types[0].acquire_ms, 40 * MSEC_PER_SEC);
    assert_int_equal(catalogue_boot_ms(&catalogue, row), 45 * MSEC_PER_SEC);
    assert_int_equal(machine_type_acquire_ms(&catalogue.types[0], 10), 100 * MSEC_PER_SEC);
    catalogue_done(&catalogue);
}

TEST(a_type_that_does_not_say_how_many_volumes_it_attaches_has_what_the_engine_says)
{
    const struct machine_type says = { .capacity = { { 1000, 4096, 0, 0, 8 } } };
    struct catalogue catalogue;

    catalogue_init(&catalogue);
    (void)add_type(&catalogue, "a", "a", 1000);
    (void)catalogue_add_type(&catalogue, "b", "b", &says);
    catalogue_set_most(&catalogue, RES_VOLUMES, INT32_MAX);
    assert_int_equal(catalogue.types[0].capacity.amount[RES_VOLUMES], INT32_MAX);
    assert_int_equal(catalogue.types[1].capacity.amount[RES_VOLUMES], 8);
    assert_int_equal(catalogue.types[1].capacity.amount[RES_PODS], 0);
    catalogue_done(&catalogue);
}

CHECK_MAIN(RUN(the_middle_of_the_band_is_the_share_that_is_interrupted_in_a_month),
           RUN(a_type_is_found_by_its_name), RUN(an_unknown_name_is_no_type),
           RUN(a_look_up_reads_no_more_than_the_given_length), RUN(a_zone_or_family_is_not_a_type),
           RUN(types_of_one_family_share_its_number), RUN(an_offer_leads_to_its_type),
           RUN(offers_in_one_zone_share_its_name_and_may_have_none),
           RUN(an_offer_keeps_its_own_copy_of_the_prices),
           RUN(what_was_added_first_survives_growth), RUN(a_catalogue_is_empty_again_after_done),
           RUN(each_market_has_its_word),
           RUN(a_type_that_does_not_say_how_many_volumes_it_attaches_has_what_the_engine_says),
           RUN(one_machine_boots_as_the_first_point_of_the_table_says))
