/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/offer_classes.h"

#include <stdio.h>

#include "base/rng.h"
#include "decide/test/yard.h"

enum { TYPES = 3, PER_TYPE = 4 };

/* Three types in two zones and two markets. */
static void market_init(struct yard *yard)
{
    static const struct price_change price = { 0, 1000000 };

    yard_init(yard);
    for (uint32_t i = 0; i < TYPES; i++) {
        const uint32_t first = yard_type(yard, (const char *[]){ "c", "m", "r" }[i], 4, 8, 0, 1.0);

        yard->catalogue.offers[first].zone =
            names_add(&yard->catalogue.names, "east", sizeof("east") - 1);
        for (uint32_t k = 1; k < PER_TYPE; k++) {
            const struct offer offer = { .type = yard->catalogue.offers[first].type,
                                         .market = k < 2 ? MARKET_ON_DEMAND : MARKET_SPOT,
                                         .billing = BILLING_PER_SECOND,
                                         .price = { &price, 1 } };

            (void)catalogue_add_offer(&yard->catalogue, k % 2 == 0 ? "east" : "west", &offer);
        }
    }
    shapes_bind(&yard->shapes, &yard->catalogue);
}

static uint32_t shape_of(struct yard *yard, const char *offers)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 1000, 1024, 0 } } };
    const struct shape_spec spec = {
        .name = "s", .workload = "s", .demands = &demand, .demand_count = 1, .offers = offers
    };

    return shapes_add(&yard->shapes, &spec);
}

TEST(without_constraints_a_class_is_a_type)
{
    struct yard yard;
    struct offer_classes classes;

    market_init(&yard);
    const uint32_t any = shape_of(&yard, NULL);

    (void)shape_of(&yard, "spot"); /* it is no part of the work at hand */
    yard_open(&yard);
    offer_classes_init(&classes, &yard.view, &yard.arena);
    offer_classes_note(&classes, any);
    offer_classes_make(&classes);
    assert_int_equal(classes.count, TYPES);
    for (uint32_t i = 0; i < yard.catalogue.offer_count; i++)
        assert_int_equal(offer_class(&classes, i), i / PER_TYPE);
    assert_true(offer_classes_imply(&classes, 0, 2));
    yard_done(&yard);
}

/* Offers are of one class where type and all sets agree; one implies another where no set tells. */
static void check(const struct yard *yard, const struct offer_classes *classes,
                  const uint32_t *shapes, uint32_t count)
{
    const struct offer_sets *sets = &yard->shapes.sets;

    for (uint32_t a = 0; a < yard->catalogue.offer_count; a++) {
        assert_true(offer_class(classes, a) < classes->count);
        for (uint32_t b = 0; b < yard->catalogue.offer_count; b++) {
            bool same = yard->catalogue.offers[a].type == yard->catalogue.offers[b].type;
            bool implied = true;

            for (uint32_t i = 0; i < count; i++) {
                const uint32_t set = yard->shapes.rows[shapes[i]].offers;
                const bool has_a = offer_sets_has(sets, set, a);
                const bool has_b = offer_sets_has(sets, set, b);

                same = same && has_a == has_b;
                implied = implied && (!has_a || has_b);
            }
            assert_int_equal(offer_class(classes, a) == offer_class(classes, b), same);
            assert_int_equal(offer_classes_imply(classes, a, b), implied);
        }
    }
}

TEST(classes_are_what_no_set_of_the_work_tells_apart)
{
    static const char *const words[] = { "c", "m", "spot", "east", "west", "r", "on-demand" };

    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct yard yard;
        struct offer_classes classes;
        struct rng rng;
        uint32_t shapes[6];
        const uint32_t count = (uint32_t)(seed % 7 == 0 ? 0 : seed % 6 + 1);

        rng_init(&rng, seed, 0);
        market_init(&yard);
        for (uint32_t i = 0; i < count; i++) {
            char text[64];

            (void)snprintf(text, sizeof(text), "%s%s%c%s", rng_below(&rng, 3) == 0 ? "!" : "",
                           words[rng_below(&rng, 7)], "&|"[rng_below(&rng, 2)],
                           words[rng_below(&rng, 7)]);
            shapes[i] = shape_of(&yard, text);
        }
        yard_open(&yard);
        offer_classes_init(&classes, &yard.view, &yard.arena);
        for (uint32_t i = 0; i < count; i++)
            offer_classes_note(&classes, shapes[i]);
        offer_classes_make(&classes);
        check(&yard, &classes, shapes, count);
        yard_done(&yard);
    }
}

CHECK_MAIN(RUN(without_constraints_a_class_is_a_type),
           RUN(classes_are_what_no_set_of_the_work_tells_apart))
