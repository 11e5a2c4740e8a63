/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/interruptions.h"

#include "base/rng.h"
#include "base/test/check.h"

enum {
    SAFE,
    NORTH_A,
    NORTH_B,
    SOUTH_A,
    OTHER,
    BANDED
}; /* offers; the last two of types of their own */

static const msec_t hour = MSEC_PER_HOUR;
static const msec_t week = 7 * 24 * MSEC_PER_HOUR;

struct shop {
    struct catalogue catalogue;
    struct interruptions learned;
};

static void add_offer(struct shop *shop, uint32_t type, const char *zone, enum market market,
                      struct interruption band)
{
    const struct price_change price = { 0, 1000000 };
    const struct offer offer = { .type = type,
                                 .market = market,
                                 .interruption = band,
                                 .billing = BILLING_PER_SECOND,
                                 .price = { &price, 1 } };

    (void)catalogue_add_offer(&shop->catalogue, zone, &offer);
}

static void shop_init(struct shop *shop)
{
    const struct machine_type type = { .capacity = { { 1000, 1024, 0 } } };
    const struct interruption none = { 0 };

    catalogue_init(&shop->catalogue);

    const uint32_t a = catalogue_add_type(&shop->catalogue, "a.large", "a", &type);
    const uint32_t b = catalogue_add_type(&shop->catalogue, "b.large", "b", &type);
    const uint32_t c = catalogue_add_type(&shop->catalogue, "c.large", "c", &type);

    add_offer(shop, a, NULL, MARKET_ON_DEMAND, none);
    add_offer(shop, a, "north-1a", MARKET_SPOT, none);
    add_offer(shop, a, "north-1b", MARKET_SPOT, none);
    add_offer(shop, a, "south-1a", MARKET_SPOT, none);
    add_offer(shop, b, "north-1a", MARKET_SPOT, none);
    add_offer(shop, c, "north-1a", MARKET_SPOT, (struct interruption){ 5, 15 });
    interruptions_init(&shop->learned, &shop->catalogue);
}

static void shop_done(struct shop *shop)
{
    interruptions_done(&shop->learned);
    catalogue_done(&shop->catalogue);
}

/* One machine after the other, each lost after 'span'; returns when the last one was. */
static msec_t lose(struct shop *shop, uint32_t offer, uint32_t count, msec_t from, msec_t span)
{
    for (uint32_t i = 0; i < count; i++) {
        interruptions_begin(&shop->learned, offer, from);
        from += span;
        interruptions_end(&shop->learned, offer, from, true);
    }
    return from;
}

static double hours(const struct shop *shop, uint32_t offer, msec_t now)
{
    return (double)interruptions_mean_ms(&shop->learned, offer, now) / (double)hour;
}

TEST(the_catalogue_counts_until_a_machine_is_lost)
{
    struct shop shop;

    shop_init(&shop);
    assert_int_equal(interruptions_mean_ms(&shop.learned, NORTH_A, 0), MSEC_NEVER);
    assert_int_equal(interruptions_mean_ms(&shop.learned, BANDED, 0),
                     interruption_mean_ms((struct interruption){ 5, 15 }));
    interruptions_begin(&shop.learned, NORTH_A, 0);
    interruptions_end(&shop.learned, NORTH_A, week, false);
    assert_int_equal(interruptions_mean_ms(&shop.learned, NORTH_A, week), MSEC_NEVER);
    shop_done(&shop);
}

TEST(after_twenty_losses_the_rate_is_known)
{
    struct shop shop;
    struct interruption_rate rate;

    shop_init(&shop);

    const msec_t now = lose(&shop, NORTH_A, 20, 0, 10 * hour);

    assert_true(hours(&shop, NORTH_A, now) > 9 && hours(&shop, NORTH_A, now) < 15);
    assert_true(interruptions_rate(&shop.learned, NORTH_A, now, &rate));
    assert_true(rate.low < 0.1 && rate.high > 0.07);
    assert_true(rate.low > 0.05 && rate.high < 0.15);
    shop_done(&shop);
}

/* 'machines' at a time, each replaced when it is lost, as they are every 'mean' on average. */
static void live(struct shop *shop, uint32_t machines, msec_t mean, msec_t until, struct rng *rng)
{
    msec_t now = 0;

    for (uint32_t i = 0; i < machines; i++)
        interruptions_begin(&shop->learned, NORTH_A, 0);
    for (;;) {
        now += (msec_t)rng_exponential(rng, (double)mean / machines) + 1;
        if (now > until)
            return;
        interruptions_end(&shop->learned, NORTH_A, now, true);
        interruptions_begin(&shop->learned, NORTH_A, now);
    }
}

/* In how many of 400 worlds the truth, a loss in 100 machine-hours, lies between the bounds. */
static uint32_t count_within(uint32_t machines, msec_t until)
{
    uint32_t within = 0;
    struct rng rng;

    rng_init(&rng, 5, 5);
    for (uint32_t world = 0; world < 400; world++) {
        struct shop shop;
        struct interruption_rate rate = { 0 };

        shop_init(&shop);
        live(&shop, machines, 100 * hour, until, &rng);
        assert_true(interruptions_rate(&shop.learned, NORTH_A, until, &rate));
        within += rate.low < 0.01 && rate.high > 0.01;
        shop_done(&shop);
    }
    return within;
}

/* Four times in five; more often where much has faded, as that is counted as less than it was. */
TEST(the_bounds_hold_as_often_as_they_say)
{
    const uint32_t fresh = count_within(50, 40 * hour);
    const uint32_t faded = count_within(5, 10 * week);

    if (fresh < 300 || fresh > 340)
        fail_msg("%u of 400", fresh);
    if (faded < 320)
        fail_msg("%u of 400", faded);
}

TEST(machines_that_live_are_counted_too)
{
    struct shop alone;
    struct shop many;

    shop_init(&alone);
    shop_init(&many);
    for (int i = 0; i < 50; i++)
        interruptions_begin(&many.learned, NORTH_A, 0);
    (void)lose(&alone, NORTH_A, 1, 0, 10 * hour);
    (void)lose(&many, NORTH_A, 1, 0, 10 * hour);
    assert_true(hours(&many, NORTH_A, 10 * hour) > 8 * hours(&alone, NORTH_A, 10 * hour));
    shop_done(&alone);
    shop_done(&many);
}

TEST(experience_is_shared_within_a_type_and_more_so_within_a_region)
{
    struct shop shop;

    shop_init(&shop);

    const msec_t now = lose(&shop, NORTH_A, 20, 0, 10 * hour);
    const double own = hours(&shop, NORTH_A, now);
    const double near = hours(&shop, NORTH_B, now);
    const double far = hours(&shop, SOUTH_A, now);

    assert_true(own < near && near < far && far < 100);
    assert_int_equal(interruptions_mean_ms(&shop.learned, OTHER, now), MSEC_NEVER);
    assert_int_equal(interruptions_mean_ms(&shop.learned, SAFE, now), MSEC_NEVER);
    shop_done(&shop);
}

TEST(what_was_seen_fades)
{
    struct shop shop;

    shop_init(&shop);

    const msec_t now = lose(&shop, NORTH_A, 20, 0, 10 * hour);
    const double soon = hours(&shop, NORTH_A, now + week);
    const double late = hours(&shop, NORTH_A, now + 6 * week);

    assert_true(soon > hours(&shop, NORTH_A, now) && late > 3 * soon);
    shop_done(&shop);
}

/* Calm machines bring it down faster than time alone. */
TEST(calm_is_learned_as_well)
{
    struct shop shop;

    shop_init(&shop);

    const msec_t now = lose(&shop, NORTH_A, 5, 0, 10 * hour);
    const double unused = hours(&shop, NORTH_A, now + week);

    for (int i = 0; i < 10; i++)
        interruptions_begin(&shop.learned, NORTH_A, now);
    assert_true(hours(&shop, NORTH_A, now + week) > 5 * unused);
    shop_done(&shop);
}

TEST(on_demand_nothing_is_learned)
{
    struct shop shop;

    shop_init(&shop);
    assert_int_equal(interruptions_mean_ms(&shop.learned, SAFE, lose(&shop, SAFE, 5, 0, hour)),
                     MSEC_NEVER);
    shop_done(&shop);
}

TEST(an_offer_that_comes_later_shares_what_was_learned)
{
    struct shop shop;

    shop_init(&shop);

    const msec_t now = lose(&shop, NORTH_A, 20, 0, 10 * hour);
    const double before = hours(&shop, NORTH_A, now);

    add_offer(&shop, 0, "north-1c", MARKET_SPOT, (struct interruption){ 0 });
    interruptions_catalogue_grew(&shop.learned);
    assert_true(hours(&shop, NORTH_A, now) >= before && hours(&shop, NORTH_A, now) <= before);
    assert_true(hours(&shop, BANDED + 1, now) > before && hours(&shop, BANDED + 1, now) < 100);
    shop_done(&shop);
}

TEST(what_is_saved_comes_back_and_nonsense_does_not)
{
    struct shop shop;
    struct shop again;
    struct interruption_memory memory = { 0 };

    shop_init(&shop);
    shop_init(&again);

    const msec_t now = lose(&shop, NORTH_A, 7, 0, 10 * hour);

    assert_false(interruptions_save(&shop.learned, NORTH_B, now, &memory));
    assert_true(interruptions_save(&shop.learned, NORTH_A, now, &memory));
    assert_true(interruptions_resume(&again.learned, NORTH_A, &memory));

    const double before = hours(&shop, NORTH_A, now + week);
    const double after = hours(&again, NORTH_A, now + week);

    assert_true(after > before * 0.99999 && after < before * 1.00001);
    memory.losses_micro = -1;
    assert_false(interruptions_resume(&again.learned, NORTH_A, &memory));
    memory.losses_micro = 1;
    memory.machine_ms = INT64_MAX;
    assert_false(interruptions_resume(&again.learned, NORTH_A, &memory));
    memory.machine_ms = 1;
    assert_false(interruptions_resume(&again.learned, SAFE, &memory));
    shop_done(&shop);
    shop_done(&again);
}

TEST(machines_that_live_through_a_restart_are_counted_once)
{
    struct shop shop;
    struct shop again;
    struct interruption_memory memory = { 0 };

    shop_init(&shop);
    shop_init(&again);
    interruptions_begin(&shop.learned, NORTH_A, 0);
    (void)lose(&shop, NORTH_A, 3, 0, 10 * hour);
    assert_true(interruptions_save(&shop.learned, NORTH_A, 40 * hour, &memory));
    assert_true(interruptions_resume(&again.learned, NORTH_A, &memory));
    interruptions_begin(&again.learned, NORTH_A, 0); /* as the cloud says since when it runs */

    const double through = hours(&shop, NORTH_A, 60 * hour);
    const double resumed = hours(&again, NORTH_A, 60 * hour);

    assert_true(resumed > through * 0.99999 && resumed < through * 1.00001);
    shop_done(&shop);
    shop_done(&again);
}

TEST(what_changed_is_handed_out_once)
{
    struct shop shop;

    shop_init(&shop);
    assert_int_equal(interruptions_take_changed(&shop.learned), OFFER_NONE);
    interruptions_begin(&shop.learned, NORTH_A, 0);
    interruptions_begin(&shop.learned, NORTH_A, hour);
    interruptions_begin(&shop.learned, SAFE, 0);
    assert_int_equal(interruptions_take_changed(&shop.learned), NORTH_A);
    assert_int_equal(interruptions_take_changed(&shop.learned), OFFER_NONE);
    (void)lose(&shop, SOUTH_A, 1, 0, hour);
    interruptions_mark_living(&shop.learned);
    assert_int_equal(interruptions_take_changed(&shop.learned), NORTH_A);
    assert_int_equal(interruptions_take_changed(&shop.learned), SOUTH_A);
    assert_int_equal(interruptions_take_changed(&shop.learned), OFFER_NONE);
    shop_done(&shop);
}

CHECK_MAIN(RUN(the_catalogue_counts_until_a_machine_is_lost),
           RUN(after_twenty_losses_the_rate_is_known), RUN(the_bounds_hold_as_often_as_they_say),
           RUN(machines_that_live_are_counted_too),
           RUN(experience_is_shared_within_a_type_and_more_so_within_a_region),
           RUN(what_was_seen_fades), RUN(calm_is_learned_as_well),
           RUN(on_demand_nothing_is_learned),
           RUN(an_offer_that_comes_later_shares_what_was_learned),
           RUN(what_is_saved_comes_back_and_nonsense_does_not),
           RUN(machines_that_live_through_a_restart_are_counted_once),
           RUN(what_changed_is_handed_out_once))
