/* SPDX-License-Identifier: Apache-2.0 */
/* Offers that come, go and come back while the controller runs. */
#include "control/test/doubles.h"

enum { MANY = 300 };

/* So many offers like the first one that the catalogue's table moves. */
static void add_offers(struct stage *stage, money_t per_hour)
{
    const struct price_change price = { 0, per_hour };

    for (uint32_t i = 0; i < MANY; i++) {
        struct offer offer = stage->catalogue.offers[0];

        offer.price = (struct price_series){ &price, 1 };
        (void)catalogue_add_offer(&stage->catalogue, NULL, &offer);
    }
    shapes_bind(&stage->shapes, &stage->catalogue);
    controller_catalogue_changed(stage->controller);
}

TEST(an_offer_that_comes_and_is_cheaper_is_the_cheapest_from_then_on)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(stage_view(&stage)->shape_offer[0], 0);

    const uint32_t first = stage.catalogue.offer_count;

    add_offers(&stage, 1);
    assert_true(controller_wants_decision(stage.controller));
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(stage_view(&stage)->shape_offer[0], first);
    assert_int_equal(stage_view(&stage)->offer_price[first], 1);
    stage_done(&stage);
}

TEST(an_offer_that_is_former_is_passed_over_until_it_comes_back)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);
    stage.catalogue.offers[0].is_former = true;
    controller_catalogue_changed(stage.controller);
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(stage_view(&stage)->shape_offer[0], 1);
    stage.catalogue.offers[0].is_former = false;
    controller_catalogue_changed(stage.controller);
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(stage_view(&stage)->shape_offer[0], 0);
    stage_done(&stage);
}

TEST(a_machine_that_is_rented_is_billed_as_before_when_offers_come)
{
    struct stage stage;

    stage_init(&stage);
    stage_job(&stage, 1, 1, false);

    const uint64_t machine = stage_launch(&stage, 1, 0);
    const struct view *view = stage_view(&stage);
    const msec_t from = view->instance.billed_from[view_find_instance(view, machine)];

    add_offers(&stage, 1);
    stage.now += MSEC_PER_HOUR;
    stage_finished(&stage, 1);
    stage_release(&stage, machine);

    stage_gone_now(&stage, machine);

    const money_t charge = billing_charge(&stage.catalogue.offers[0].billing,
                                          &stage.catalogue.offers[0].price, from, stage.now);

    assert_true(charge > 0);
    assert_int_equal(ledger_totals(controller_ledger(stage.controller))->sums.bill, charge);
    stage_done(&stage);
}

CHECK_MAIN(RUN(an_offer_that_comes_and_is_cheaper_is_the_cheapest_from_then_on),
           RUN(an_offer_that_is_former_is_passed_over_until_it_comes_back),
           RUN(a_machine_that_is_rented_is_billed_as_before_when_offers_come))
