/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When machines are taken away: by chance, by price, by a series; and what a scenario says of it.
 */
#include "sim/sim_losses.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "sim/scenario_losses.h"

enum { SAFE, NORTH, SOUTH }; /* offers of one type: on demand, and spot in two zones */

static const msec_t hour = MSEC_PER_HOUR;

static void init_catalogue(struct catalogue *catalogue)
{
    const struct price_change fixed = { 0, 1000000 };
    const struct price_change moving[] = {
        { 0, 300000 }, { 2 * hour, 1000000 }, { 3 * hour, 1000001 }, { 5 * hour, 400000 }
    };
    const struct machine_type type = { .capacity = { { 1000, 1024, 0 } } };
    struct offer offer = { .billing = BILLING_PER_SECOND, .price = { &fixed, 1 } };

    catalogue_init(catalogue);
    offer.type = catalogue_add_type(catalogue, "a.large", "a", &type);
    (void)catalogue_add_offer(catalogue, NULL, &offer);
    offer.market = MARKET_SPOT;
    offer.price = (struct price_series){ moving, 4 };
    (void)catalogue_add_offer(catalogue, "north", &offer);
    offer.price = (struct price_series){ moving, 1 };
    (void)catalogue_add_offer(catalogue, "south", &offer);
}

/* The mean time to a loss of machines that run at 'now', and the share that is never lost. */
static double mean_of(const struct sim_market *market, uint32_t offer, msec_t now, msec_t mean,
                      double *ret_never)
{
    enum { DRAWS = 20000 };
    struct rng rng;
    double sum = 0;
    uint32_t never = 0;

    rng_init(&rng, 1, 1);
    for (uint32_t i = 0; i < DRAWS; i++) {
        const msec_t at = sim_losses_by_chance(market, offer, now, mean, &rng);

        never += at == MSEC_NEVER;
        sum += at == MSEC_NEVER ? 0 : (double)(at - now);
    }
    *ret_never = (double)never / DRAWS;
    return never < DRAWS ? sum / (DRAWS - never) : 0;
}

static bool is_near(double measured, double expected)
{
    return measured > expected * 0.97 && measured < expected * 1.03;
}

TEST(a_rule_counts_for_its_offer_and_others_have_what_all_have)
{
    const struct sim_loss loss = { .offer = NORTH, .mean_ms = 10 * hour, .until = MSEC_NEVER };
    const struct sim_market market = { .losses = &loss, .loss_count = 1 };
    double never;

    assert_true(is_near(mean_of(&market, NORTH, 0, 50 * hour, &never), 10.0 * (double)hour));
    assert_true(is_near(mean_of(&market, SOUTH, 0, 50 * hour, &never), 50.0 * (double)hour));
    (void)mean_of(&market, SOUTH, 0, MSEC_NEVER, &never);
    assert_true(never >= 1);
}

/* 10 h on average for 10 h: 1/e live on, and are not lost then. */
TEST(a_rule_holds_for_its_time_only)
{
    const struct sim_loss loss = {
        .offer = NORTH, .mean_ms = 10 * hour, .from = 5 * hour, .until = 15 * hour
    };
    const struct sim_market market = { .losses = &loss, .loss_count = 1 };
    double never;
    struct rng rng;

    (void)mean_of(&market, NORTH, 0, MSEC_NEVER, &never);
    assert_true(is_near(never, 0.36788));
    (void)mean_of(&market, NORTH, 15 * hour, MSEC_NEVER, &never);
    assert_true(never >= 1);
    rng_init(&rng, 2, 2);
    for (int i = 0; i < 1000; i++) {
        const msec_t at = sim_losses_by_chance(&market, NORTH, 0, MSEC_NEVER, &rng);

        assert_true(at == MSEC_NEVER || (at >= 5 * hour && at < 15 * hour));
    }
}

TEST(the_first_rule_that_holds_counts)
{
    const struct sim_loss losses[] = {
        { .offer = NORTH, .mean_ms = 0, .from = 0, .until = 100 * hour },
        { .offer = NORTH, .mean_ms = hour, .from = 0, .until = MSEC_NEVER },
    };
    const struct sim_market market = { .losses = losses, .loss_count = 2 };
    double never;

    assert_true(is_near(mean_of(&market, NORTH, 0, MSEC_NEVER, &never), 101.0 * (double)hour));
    assert_true(never <= 0);
}

TEST(a_price_above_the_bid_takes_machines_and_there_are_none)
{
    const struct sim_market market = { .bid_ppm = 1000000 };
    struct catalogue catalogue;
    struct rng rng;

    init_catalogue(&catalogue);
    rng_init(&rng, 1, 1);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, NORTH, 0, &rng), 3 * hour);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, NORTH, 4 * hour, &rng), 4 * hour);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, NORTH, 5 * hour, &rng), MSEC_NEVER);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, SAFE, 0, &rng), MSEC_NEVER);
    assert_true(sim_losses_is_offered(&market, &catalogue, NORTH, 3 * hour - 1));
    assert_false(sim_losses_is_offered(&market, &catalogue, NORTH, 3 * hour));
    assert_true(sim_losses_is_offered(&market, &catalogue, NORTH, 5 * hour));
    catalogue_done(&catalogue);
}

TEST(without_a_bid_any_price_is_paid)
{
    const struct sim_market market = { 0 };
    struct catalogue catalogue;
    struct rng rng;

    init_catalogue(&catalogue);
    rng_init(&rng, 1, 1);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, NORTH, 0, &rng), MSEC_NEVER);
    assert_true(sim_losses_is_offered(&market, &catalogue, NORTH, 4 * hour));
    catalogue_done(&catalogue);
}

TEST(a_series_takes_all_when_it_falls_to_nothing_and_begins_again)
{
    static const uint32_t up[] = { 1, 1, 0, 1 };
    const struct sim_availability series = {
        .offer = NORTH, .step_ms = hour, .up = up, .count = 4
    };
    const struct sim_market market = { .series = &series, .series_count = 1 };
    struct catalogue catalogue;
    struct rng rng;

    init_catalogue(&catalogue);
    rng_init(&rng, 1, 1);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, NORTH, 0, &rng), 2 * hour);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, NORTH, 2 * hour + 1, &rng),
                     2 * hour + 1);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, NORTH, 3 * hour, &rng), 6 * hour);
    assert_false(sim_losses_is_offered(&market, &catalogue, NORTH, 2 * hour));
    assert_true(sim_losses_is_offered(&market, &catalogue, NORTH, 3 * hour));
    assert_int_equal(sim_losses_by_market(&market, &catalogue, SOUTH, 0, &rng), MSEC_NEVER);
    catalogue_done(&catalogue);
}

/* Of 4 one is left at 1 h, and 4 again at 2 h. */
TEST(where_a_part_is_lost_each_machine_is_with_that_chance)
{
    static const uint32_t up[] = { 4, 1 };
    const struct sim_availability series = {
        .offer = NORTH, .step_ms = hour, .up = up, .count = 2
    };
    const struct sim_market market = { .series = &series, .series_count = 1 };
    struct catalogue catalogue;
    uint32_t at_once = 0;
    struct rng rng;

    init_catalogue(&catalogue);
    rng_init(&rng, 1, 1);
    for (int i = 0; i < 10000; i++)
        at_once += sim_losses_by_market(&market, &catalogue, NORTH, 0, &rng) == hour;
    assert_true(is_near(at_once, 7500));
    catalogue_done(&catalogue);
}

TEST(a_series_that_never_falls_takes_nothing)
{
    static const uint32_t up[] = { 2, 2 };
    const struct sim_availability series = {
        .offer = NORTH, .step_ms = hour, .up = up, .count = 2
    };
    const struct sim_market market = { .series = &series, .series_count = 1 };
    struct catalogue catalogue;
    struct rng rng;

    init_catalogue(&catalogue);
    rng_init(&rng, 1, 1);
    assert_int_equal(sim_losses_by_market(&market, &catalogue, NORTH, 0, &rng), MSEC_NEVER);
    catalogue_done(&catalogue);
}

/*
 * The scenario.
 */

static int read_series(const char *text, const struct offer_pattern *of, struct sim_market *ret,
                       struct arena *arena, struct error *reterr)
{
    struct catalogue catalogue;

    init_catalogue(&catalogue);

    const int rc =
        scenario_availability_read(of, text, strlen(text), &catalogue, arena, ret, reterr);

    catalogue_done(&catalogue);
    return rc;
}

TEST(a_measured_series_goes_to_the_offers_that_are_named)
{
    const struct offer_pattern spot = { .has_market = true, .market = MARKET_SPOT };
    const char *text = "{\"metadata\": {\"gap_seconds\": 195}, \"data\": [0, 1, 16]}";
    struct sim_market market = { 0 };
    struct error error = { "" };
    struct arena arena;

    arena_init(&arena);
    assert_int_equal(read_series(text, &spot, &market, &arena, &error), 0);
    assert_int_equal(market.series_count, 2);
    assert_int_equal(market.series[0].offer, NORTH);
    assert_int_equal(market.series[1].offer, SOUTH);
    assert_int_equal(market.series[1].step_ms, 195000);
    assert_int_equal(market.series[1].count, 3);
    assert_int_equal(market.series[1].up[2], 16);
    assert_int_equal(read_series(text, &spot, &market, &arena, &error), -EINVAL); /* twice */
    arena_done(&arena);
}

TEST(what_is_no_series_is_refused)
{
    static const char *const wrong[] = {
        "[1, 2]",
        "{data: [1]}",
        "{metadata: {}, data: [1]}",
        "{metadata: {gap_seconds: 0}, data: [1]}",
        "{metadata: {gap_seconds: 1}, data: []}",
        "{metadata: {gap_seconds: 1}, data: [-1]}",
        "{metadata: {gap_seconds: 1}, data: [x]}",
        "{metadata: {gap_seconds: 1}, data: 1}",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct offer_pattern any = { 0 };
        struct sim_market market = { 0 };
        struct error error = { "" };
        struct arena arena;

        arena_init(&arena);
        assert_int_equal(read_series(wrong[i], &any, &market, &arena, &error), -EINVAL);
        assert_int_equal(market.series_count, 0);
        assert_true(error.text[0] != 0);
        arena_done(&arena);
    }
}

TEST(a_rule_becomes_one_for_each_offer_and_must_have_one)
{
    struct scenario_loss loss = { .of = { .type = "a.large", .zone = "south", .line = 7 },
                                  .loss = { .mean_ms = hour, .until = MSEC_NEVER } };
    const struct scenario_losses losses = { .losses = &loss, .loss_count = 1, .bid_ppm = 5 };
    struct sim_market market = { 0 };
    struct catalogue catalogue;
    struct error error = { "" };
    struct arena arena;

    arena_init(&arena);
    init_catalogue(&catalogue);
    assert_int_equal(scenario_losses_resolve(&losses, &catalogue, &arena, &market, &error), 0);
    assert_int_equal(market.loss_count, 1);
    assert_int_equal(market.losses[0].offer, SOUTH);
    assert_int_equal(market.losses[0].mean_ms, hour);
    assert_int_equal(market.bid_ppm, 5);
    loss.of.zone = NULL;
    assert_int_equal(scenario_losses_resolve(&losses, &catalogue, &arena, &market, &error), 0);
    assert_int_equal(market.loss_count, 3);
    loss.of.zone = "west";
    assert_int_equal(scenario_losses_resolve(&losses, &catalogue, &arena, &market, &error),
                     -EINVAL);
    assert_non_null(strstr(error.text, "line 7: no offer of the catalogue"));
    catalogue_done(&catalogue);
    arena_done(&arena);
}

CHECK_MAIN(RUN(a_rule_counts_for_its_offer_and_others_have_what_all_have),
           RUN(a_rule_holds_for_its_time_only), RUN(the_first_rule_that_holds_counts),
           RUN(a_price_above_the_bid_takes_machines_and_there_are_none),
           RUN(without_a_bid_any_price_is_paid),
           RUN(a_series_takes_all_when_it_falls_to_nothing_and_begins_again),
           RUN(where_a_part_is_lost_each_machine_is_with_that_chance),
           RUN(a_series_that_never_falls_takes_nothing),
           RUN(a_measured_series_goes_to_the_offers_that_are_named),
           RUN(what_is_no_series_is_refused),
           RUN(a_rule_becomes_one_for_each_offer_and_must_have_one))
