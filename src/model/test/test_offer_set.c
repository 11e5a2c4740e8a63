/* SPDX-License-Identifier: Apache-2.0 */
#include "model/offer_set.h"

#include <stdio.h>
#include <string.h>

#include "base/test/check.h"

/* Three types of two families in two zones and two markets: 12 offers. */
enum { TYPES = 3, PER_TYPE = 4 };

static void fill_catalogue(struct catalogue *catalogue, uint32_t types)
{
    static const char *const names[] = { "c7i.large", "p4d.24xlarge", "p5.48xlarge" };
    static const char *const families[] = { "c7i", "p4d", "p5" };

    for (uint32_t i = catalogue->type_count; i < types; i++) {
        const struct machine_type type = { .setup_ms = 0 };
        const uint32_t index = catalogue_add_type(catalogue, names[i], families[i], &type);

        for (uint32_t k = 0; k < PER_TYPE; k++) {
            static const struct price_change price = { 0 };
            const struct offer offer = { .type = index,
                                         .market = k < 2 ? MARKET_ON_DEMAND : MARKET_SPOT,
                                         .billing = { .step_ms = 1000 },
                                         .price = { &price, 1 } };

            (void)catalogue_add_offer(catalogue, k % 2 == 0 ? "us-east-1a" : "us-east-1b", &offer);
        }
    }
}

struct stage {
    struct catalogue catalogue;
    struct offer_sets sets;
};

static void stage_init(struct stage *stage)
{
    catalogue_init(&stage->catalogue);
    fill_catalogue(&stage->catalogue, TYPES);
    offer_sets_init(&stage->sets);
    catalogue_add_word(&stage->catalogue, 1, "gpu=a100");
    catalogue_add_word(&stage->catalogue, 2, "gpu=h100");
    catalogue_add_word(&stage->catalogue, 2, "fast");
    catalogue_add_word(&stage->catalogue, 0, "fast");
    offer_sets_bind(&stage->sets, &stage->catalogue);
}

static void stage_done(struct stage *stage)
{
    offer_sets_done(&stage->sets);
    catalogue_done(&stage->catalogue);
}

/* The offers of the set as digits of a number: bit i is offer i. */
static uint32_t members(const struct stage *stage, uint32_t set)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < stage->catalogue.offer_count; i++)
        bits |= (uint32_t)offer_sets_has(&stage->sets, set, i) << i;
    return bits;
}

TEST(expressions_are_evaluated_for_each_offer)
{
    static const struct {
        const char *text;
        uint32_t offers;
    } cases[] = {
        { "", 0xfff },
        { "cloud", 0xfff },
        { "nobody", 0 },
        { "c7i", 0x00f },
        { "c7i.large", 0x00f },
        { "us-east-1b", 0xaaa },
        { "spot", 0xccc },
        { "zone=us-east-1b", 0xaaa },
        { "market=on-demand", 0x333 },
        { "zone=spot", 0 },
        { "type=c7i", 0 },
        { "family=c7i", 0x00f },
        { "gpu=a100", 0x0f0 },
        { "gpu=h100|gpu=a100", 0xff0 },
        { "gpu=p4d", 0x0f0 },
        { "fast", 0xf0f },
        { "!fast", 0x0f0 },
        { "fast&!spot", 0x303 },
        { "!!spot", 0xccc },
        { "c7i|p5&spot", 0xc0f },
        { "(c7i|p5)&spot", 0xc0c },
        { "[c7i|p5],spot", 0xc0c },
        { "!(c7i|p5)", 0x0f0 },
        { "!(c7i&!(spot|us-east-1b))", 0xffe },
        { "c7i*2&spot", 0x00c },
    };
    struct stage stage;

    stage_init(&stage);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t set = offer_sets_add(&stage.sets, cases[i].text);

        if (members(&stage, set) != cases[i].offers)
            print_message("%s\n", cases[i].text);
        assert_int_equal(members(&stage, set), cases[i].offers);
        assert_string_equal(offer_sets_text(&stage.sets, set), cases[i].text);
        assert_int_equal(offer_sets_add(&stage.sets, cases[i].text), set);
    }
    stage_done(&stage);
}

TEST(what_is_no_expression_is_told)
{
    static const char *const bad[] = { "&",   "a&", "|a",   "(a",  "a)",   "a|(b", "()",
                                       "a!b", "!",  "a&&b", "a*&", "a b(", "[a)]" };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (offer_text_is_valid(bad[i]))
            print_message("%s\n", bad[i]);
        assert_false(offer_text_is_valid(bad[i]));
    }
    assert_true(offer_text_is_valid("a*2"));
    assert_true(offer_text_is_valid("[a)")); /* either bracket closes */
}

TEST(an_expression_may_be_too_long_or_too_deep)
{
    char text[OFFER_TEXT_MAX + 2];

    memset(text, 'a', sizeof(text));
    text[OFFER_TEXT_MAX + 1] = '\0';
    assert_false(offer_text_is_valid(text));
    text[OFFER_TEXT_MAX] = '\0';
    assert_true(offer_text_is_valid(text));

    for (int depth = 1; depth <= OFFER_DEPTH_MAX + 1; depth++) {
        memset(text, '(', (size_t)depth);
        text[depth] = 'a';
        memset(text + depth + 1, ')', (size_t)depth);
        text[2 * depth + 1] = '\0';
        assert_int_equal(offer_text_is_valid(text), depth <= OFFER_DEPTH_MAX);
    }
}

TEST(sets_follow_a_catalogue_that_grows)
{
    struct stage stage;

    catalogue_init(&stage.catalogue);
    fill_catalogue(&stage.catalogue, 1);
    offer_sets_init(&stage.sets);
    const uint32_t spot = offer_sets_add(&stage.sets, "spot"); /* before there is a catalogue */

    offer_sets_bind(&stage.sets, &stage.catalogue);
    assert_int_equal(members(&stage, spot), 0x00c);
    fill_catalogue(&stage.catalogue, 2);
    offer_sets_bind(&stage.sets, &stage.catalogue);
    assert_int_equal(members(&stage, spot), 0x0cc);
    fill_catalogue(&stage.catalogue, 3);
    assert_int_equal(members(&stage, offer_sets_add(&stage.sets, "p5")), 0xf00);
    assert_int_equal(members(&stage, spot), 0xccc);
    stage_done(&stage);
}

CHECK_MAIN(RUN(expressions_are_evaluated_for_each_offer), RUN(what_is_no_expression_is_told),
           RUN(an_expression_may_be_too_long_or_too_deep), RUN(sets_follow_a_catalogue_that_grows))
