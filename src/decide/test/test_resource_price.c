/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/resource_price.h"

#include <math.h>

#include "base/rng.h"
#include "base/test/check.h"

static const struct resource_offer shop[] = {
    { .capacity = { { 4000, 8192, 0 } }, .price = 100 },
    { .capacity = { { 4000, 32768, 0 } }, .price = 140 },
    { .capacity = { { 8000, 65536, 1000 } }, .price = 1000 },
};

TEST(a_single_offer_is_worth_what_it_costs)
{
    const struct resource_price price = resource_price(shop, 1, (double[]){ 4000, 1, 0 });

    assert_true(fabs(resource_worth(&price, &shop[0].capacity) - 100) < 1e-6);
    assert_true(price.of[RES_ACCEL] <= 0);
}

TEST(where_both_are_wanted_both_kinds_of_machines_are_worth_their_price)
{
    const struct resource_price price = resource_price(shop, 2, (double[]){ 8000, 40960, 0 });

    assert_true(fabs(resource_worth(&price, &shop[0].capacity) - 100) < 1e-6);
    assert_true(fabs(resource_worth(&price, &shop[1].capacity) - 140) < 1e-6);
}

TEST(what_nobody_wants_or_has_is_worth_nothing)
{
    const struct resource_price unwanted = resource_price(shop, 3, (double[]){ 1, 0, 0 });
    const struct resource_price nowhere = resource_price(shop, 2, (double[]){ 1, 1, 1 });
    const struct resource_price nothing = resource_price(shop, 0, (double[]){ 1, 1, 1 });

    assert_true(unwanted.of[RES_MEM] <= 0 && unwanted.of[RES_CPU] > 0);
    assert_true(nowhere.of[RES_ACCEL] <= 0 && nowhere.of[RES_CPU] + nowhere.of[RES_MEM] > 0);
    assert_true(nothing.of[RES_CPU] <= 0);
}

/* Whatever prices are drawn and brought down until no offer is worth more than it costs: they give no more. */
TEST(no_other_prices_make_more_of_what_is_wanted)
{
    enum { OFFERS = 12, SEEDS = 300, TRIES = 400 };

    struct rng rng;

    rng_init(&rng, 1, 0);
    for (int seed = 0; seed < SEEDS; seed++) {
        struct resource_offer offers[OFFERS];
        double wanted[RES_PRICED];
        double worth = 0;

        for (int kind = 0; kind < RES_PRICED; kind++)
            wanted[kind] = (double)rng_below(&rng, 1000000);
        for (int i = 0; i < OFFERS; i++) {
            const bool has_accel = i == 0 || rng_below(&rng, 3) == 0;

            offers[i] = (struct resource_offer){
                .capacity = { { (int64_t)rng_below(&rng, 64000) + 1000,
                                (int64_t)rng_below(&rng, 500000) + 1000,
                                has_accel ? 1000 * ((int64_t)rng_below(&rng, 8) + 1) : 0 } },
                .price = (double)rng_below(&rng, 1000000) + 1000,
            };
        }

        const struct resource_price price = resource_price(offers, OFFERS, wanted);

        for (int i = 0; i < OFFERS; i++)
            assert_true(resource_worth(&price, &offers[i].capacity) <= offers[i].price * 1.0000001);
        for (int kind = 0; kind < RES_PRICED; kind++) {
            assert_true(price.of[kind] >= 0);
            worth += price.of[kind] * wanted[kind];
        }
        for (int try = 0; try < TRIES; try++) {
            struct resource_price other;
            double most = 0;
            double other_worth = 0;

            /* Near the answer, or anywhere. */
            for (int kind = 0; kind < RES_PRICED; kind++)
                other.of[kind] = (try % 2 == 0 ? price.of[kind] : 1) *
                                 (double)(rng_below(&rng, 2000) + (try % 2 == 0 ? 9000 : 0));
            for (int i = 0; i < OFFERS; i++) {
                const double now = resource_worth(&other, &offers[i].capacity) / offers[i].price;

                most = now > most ? now : most;
            }
            for (int kind = 0; kind < RES_PRICED && most > 0; kind++)
                other_worth += other.of[kind] / most * wanted[kind];
            if (other_worth > worth * 1.000001)
                fail_msg("seed %d: %.9g is worth less than %.9g", seed, worth, other_worth);
        }
    }
}

CHECK_MAIN(RUN(a_single_offer_is_worth_what_it_costs),
           RUN(where_both_are_wanted_both_kinds_of_machines_are_worth_their_price),
           RUN(what_nobody_wants_or_has_is_worth_nothing),
           RUN(no_other_prices_make_more_of_what_is_wanted))
