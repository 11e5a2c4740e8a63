/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "decide/portfolio.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

static bool is_near(double a, double b, double apart)
{
    return fabs(a - b) <= apart;
}

enum {
    YEAR = 8760,
    HOURS = 3 * YEAR,
    CLASSES = 6,
    LIGHT_1Y = 1,
    MEDIUM_1Y,
    HEAVY_1Y,
    LIGHT_3Y,
    MEDIUM_3Y,
};

/* The prices of 2012 for a cluster compute instance. */
static const struct commitment classes[CLASSES] = {
    { .name = "on demand", .per_used_hour = 2400000 },
    { .name = "1y light", .term_hours = YEAR, .upfront = 1762000000, .per_used_hour = 904000 },
    { .name = "1y medium", .term_hours = YEAR, .upfront = 4146000000, .per_used_hour = 540000 },
    { .name = "1y heavy", .term_hours = YEAR, .upfront = 5000000000, .per_hour = 361000 },
    { .name = "3y light", .term_hours = HOURS, .upfront = 2710000000, .per_used_hour = 884000 },
    { .name = "3y medium", .term_hours = HOURS, .upfront = 6300000000, .per_used_hour = 527000 },
};

struct world {
    uint32_t usage[HOURS];
    struct portfolio_input input;
    struct arena arena;
};

static struct world *world_create(uint32_t hours)
{
    struct world *world = mem_alloc(1, sizeof(*world));

    world->input = (struct portfolio_input){
        .usage = world->usage, .hours = hours, .classes = classes, .class_count = CLASSES
    };
    arena_init(&world->arena);
    return world;
}

static void world_destroy(struct world *world)
{
    arena_done(&world->arena);
    mem_free(world);
}

/* 'count' machines for the first 'busy' of every 100 hours. */
static void world_add(struct world *world, uint32_t count, uint32_t busy)
{
    for (uint32_t i = 0; i < world->input.hours; i++)
        world->usage[i] += i % 100 < busy ? count : 0;
}

static uint64_t bought_of(const struct portfolio_plan *plan, uint32_t class_index)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < plan->count; i++)
        count += plan->purchases[i].class_index == class_index ? plan->purchases[i].count : 0;
    return count;
}

TEST(each_layer_gets_the_class_that_its_use_deserves)
{
    struct world *world = world_create(HOURS);
    struct portfolio_plan plan;

    world_add(world, 10, 100);
    world_add(world, 7, 50);
    world_add(world, 5, 20);
    world_add(world, 3, 5);
    portfolio_greedy(&world->input, &world->arena, &plan);

    assert_int_equal(plan.count, 2);
    assert_int_equal(bought_of(&plan, MEDIUM_3Y), 17);
    assert_int_equal(bought_of(&plan, LIGHT_3Y), 5);
    world_destroy(world);
}

TEST(a_demand_of_one_year_is_not_bought_for_three)
{
    struct world *world = world_create(HOURS);
    struct portfolio_plan plan;

    for (uint32_t i = 0; i < YEAR; i++)
        world->usage[i] = 4;
    portfolio_greedy(&world->input, &world->arena, &plan);

    assert_int_equal(bought_of(&plan, HEAVY_1Y), 4);
    assert_int_equal(bought_of(&plan, MEDIUM_3Y) + bought_of(&plan, LIGHT_3Y), 0);
    world_destroy(world);
}

TEST(what_ends_is_bought_anew)
{
    struct world *world = world_create(HOURS);
    struct portfolio_plan plan;

    world->input.class_count = 4; /* one year only */
    world_add(world, 6, 100);
    portfolio_greedy(&world->input, &world->arena, &plan);

    /* Bought at starts of weeks, so that the second year begins a week late at most. */
    assert_int_equal(plan.count, 3);
    assert_int_equal(bought_of(&plan, HEAVY_1Y), 18);
    assert_int_equal(plan.purchases[1].hour, 53 * 168);
    world_destroy(world);
}

TEST(steady_demand_costs_what_the_bound_says)
{
    struct world *world = world_create(YEAR);
    struct portfolio_plan plan;
    struct portfolio_bill bill;

    world_add(world, 10, 100);
    portfolio_greedy(&world->input, &world->arena, &plan);
    portfolio_cost(&world->input, &plan, &bill);

    const money_t bound = portfolio_bound(&world->input, &world->arena);

    /* Ten machines, a third of the upfront payment of each, and each hour. */
    assert_int_equal(bill.pure, 10 * (2100 * MONEY_PER_USD + (money_t)YEAR * 527000));
    assert_int_equal(bill.total, bill.pure + (money_t)10 * 4200 * MONEY_PER_USD);
    assert_in_range(bill.pure - bound, 0, 53);
    world_destroy(world);
}

TEST(heavy_use_is_paid_whether_used_or_not)
{
    const struct portfolio_purchase purchase = { .class_index = HEAVY_1Y, .count = 2 };
    const struct portfolio_plan plan = { .purchases = &(struct portfolio_purchase){ 0 },
                                         .count = 1 };
    struct world *world = world_create(100);
    struct portfolio_bill bill;

    *plan.purchases = purchase;
    world->usage[0] = 3;
    portfolio_cost(&world->input, &plan, &bill);

    assert_int_equal(bill.of_class[HEAVY_1Y].used_hours, 2);
    assert_int_equal(bill.of_class[HEAVY_1Y].idle_hours, 198);
    assert_int_equal(bill.of_class[HEAVY_1Y].hourly, 200 * 361000);
    assert_int_equal(bill.of_class[HEAVY_1Y].owed, (money_t)2 * 8660 * 361000);
    assert_int_equal(bill.of_class[HEAVY_1Y].idle, 198 * 361000 + 198 * 5000000000 / YEAR);
    assert_int_equal(bill.of_class[0].used_hours, 1);
    assert_int_equal(bill.of_class[0].hourly, 2400000);
    world_destroy(world);
}

TEST(without_demand_nothing_is_bought)
{
    struct world *world = world_create(YEAR);
    struct portfolio_plan plan;

    portfolio_greedy(&world->input, &world->arena, &plan);
    assert_int_equal(plan.count, 0);
    portfolio_online(&world->input, &PORTFOLIO_OUTLOOK_DEFAULTS, &world->arena, &plan);
    assert_int_equal(plan.count, 0);
    assert_int_equal(portfolio_bound(&world->input, &world->arena), 0);
    world_destroy(world);
}

TEST(an_empty_history_costs_nothing)
{
    struct world *world = world_create(0);
    struct portfolio_plan plan;
    struct portfolio_bill bill;

    portfolio_greedy(&world->input, &world->arena, &plan);
    portfolio_cost(&world->input, &plan, &bill);

    assert_int_equal(plan.count, 0);
    assert_int_equal(bill.total, 0);
    assert_int_equal(portfolio_bound(&world->input, &world->arena), 0);
    world_destroy(world);
}

TEST(online_buys_after_the_first_week_what_it_has_seen)
{
    struct world *world = world_create(YEAR);
    struct portfolio_plan plan;

    world_add(world, 10, 100);
    portfolio_online(&world->input, &PORTFOLIO_OUTLOOK_DEFAULTS, &world->arena, &plan);

    assert_int_equal(plan.count, 1);
    assert_int_equal(plan.purchases[0].hour, 168);
    assert_int_equal(plan.purchases[0].class_index, MEDIUM_3Y);
    assert_int_equal(plan.purchases[0].count, 10);
    world_destroy(world);
}

TEST(with_on_demand_alone_there_is_nothing_to_decide)
{
    struct world *world = world_create(YEAR);
    struct portfolio_plan plan;

    world->input.class_count = 1;
    world_add(world, 10, 100);
    portfolio_online(&world->input, &PORTFOLIO_OUTLOOK_DEFAULTS, &world->arena, &plan);

    assert_int_equal(plan.count, 0);
    world_destroy(world);
}

static struct portfolio_advice advice_of(struct world *world, const struct portfolio_holding *held,
                                         uint32_t held_count)
{
    const struct portfolio_question question = { .input = world->input,
                                                 .outlook = PORTFOLIO_OUTLOOK_DEFAULTS,
                                                 .held = held,
                                                 .held_count = held_count,
                                                 .fall_ppm = 250000 };
    struct portfolio_advice advice;

    portfolio_advise(&question, &world->arena, &advice);
    return advice;
}

TEST(the_advice_for_steady_demand_is_plain)
{
    struct world *world = world_create(YEAR);

    world_add(world, 100, 100);

    const struct portfolio_advice advice = advice_of(world, NULL, 0);
    const struct portfolio_advice_line *line = &advice.of_class[MEDIUM_3Y];

    assert_int_equal(line->buy, 100);
    assert_true(is_near(line->busy, 1, 1e-9));
    assert_true(is_near(line->busy_fallen, 0.75, 1e-9));
    assert_int_equal(advice.upfront, 100 * 6300 * MONEY_PER_USD);
    assert_int_equal(advice.horizon_hours, HOURS);
    assert_int_equal(advice.expected.on_demand, 240 * MONEY_PER_USD);
    /* 6300 / 26280 + 0.527 = 0.766726 for each of them. */
    assert_int_equal(advice.expected.with, 76672603);
    assert_int_equal(advice.fallen.on_demand, 180 * MONEY_PER_USD);
    /* 100 are paid for, 75 are used: 25 upfront payments are regretted. */
    assert_int_equal(advice.fallen.with - advice.fallen.best, 5993151);
    assert_in_range(advice.break_even_ppm, 870000, 880000);
    world_destroy(world);
}

TEST(what_is_held_is_not_bought_again)
{
    const struct portfolio_holding held[] = {
        { .class_index = MEDIUM_3Y, .count = 30, .left_hours = 20000 },
        { .class_index = HEAVY_1Y, .count = 20, .left_hours = 100 },
    };
    struct world *world = world_create(YEAR);

    world_add(world, 100, 100);

    const struct portfolio_advice advice = advice_of(world, held, 2);

    assert_int_equal(advice.of_class[MEDIUM_3Y].buy, 50);
    assert_int_equal(advice.of_class[MEDIUM_3Y].held, 30);
    assert_int_equal(advice.of_class[HEAVY_1Y].held, 20);
    assert_int_equal(advice.of_class[HEAVY_1Y].layer, 0);
    assert_int_equal(advice.of_class[MEDIUM_3Y].layer, 20);
    assert_true(advice.expected.with < advice.expected.without);
    assert_true(advice.expected.without < advice.expected.on_demand);
    world_destroy(world);
}

TEST(what_is_held_with_little_time_left_counts_as_a_short_term)
{
    /* For 10 of its 20 machines a year is wanted, and three years with a month to go are a year. */
    const struct portfolio_holding held = { .class_index = MEDIUM_3Y,
                                            .count = 5,
                                            .left_hours = 700 };
    struct world *world = world_create(YEAR);
    struct portfolio_advice advice;

    world->input.class_count = 4; /* one year only, ... */
    world_add(world, 20, 100);
    advice = advice_of(world, NULL, 0);
    assert_int_equal(advice.of_class[HEAVY_1Y].buy, 20);

    world->input.class_count = CLASSES; /* ... and all */
    advice = advice_of(world, &held, 1);
    assert_int_equal(advice.of_class[MEDIUM_3Y].buy, 15);
    world_destroy(world);
}

TEST(the_number_of_machines_does_not_matter)
{
    struct world *small = world_create(YEAR);
    struct world *large = world_create(YEAR);

    world_add(small, 3, 100);
    world_add(small, 2, 30);
    world_add(large, 3000000, 100);
    world_add(large, 2000000, 30);

    const struct portfolio_advice few = advice_of(small, NULL, 0);
    const struct portfolio_advice many = advice_of(large, NULL, 0);

    for (uint32_t k = 1; k < CLASSES; k++)
        assert_int_equal((many.of_class[k].buy + 500000) / 1000000, few.of_class[k].buy);
    world_destroy(small);
    world_destroy(large);
}

/* Ten machines that are always used, and what else there is to buy for them, at this rate. */
static struct portfolio_advice advice_at(const struct commitment *offers, uint32_t count,
                                         uint32_t interest_ppm)
{
    struct world *world = world_create(YEAR);
    struct portfolio_advice advice;

    world->input.classes = offers;
    world->input.class_count = count;
    world->input.interest_ppm = interest_ppm;
    world_add(world, 10, 100);
    advice = advice_of(world, NULL, 0);
    world_destroy(world);
    return advice;
}

enum { EIGHT_PERCENT = 80000 };

/*
 * $5,170 for a year is $0.590 an hour. $0.60 an hour is worth 0.6 * 8,404.386 = $5,042.63 today at
 * 8 % a year: less than $5,170.
 */
TEST(upfront_wins_without_interest_and_loses_at_8_percent)
{
    static const struct commitment offers[] = {
        { .name = "on demand", .per_used_hour = 1000000 },
        { .name = "no upfront", .term_hours = YEAR, .per_hour = 600000 },
        { .name = "all upfront", .term_hours = YEAR, .upfront = 5170000000 },
    };
    const struct portfolio_advice without = advice_at(offers, 3, 0);
    const struct portfolio_advice with = advice_at(offers, 3, EIGHT_PERCENT);

    assert_int_equal(without.of_class[2].buy, 10);
    assert_int_equal(without.upfront, 51700 * MONEY_PER_USD);
    assert_int_equal(with.of_class[1].buy, 10);
    assert_int_equal(with.of_class[2].buy, 0);
    assert_int_equal(with.upfront, 0);
    /* Without an upfront payment there is no interest: $0.60 for each of ten. */
    assert_int_equal(with.expected.with, 6000000);
}

/* $13,000 for three years is $0.495 an hour, and with interest (0.890092539) $0.556. */
TEST(a_longer_term_has_to_earn_its_interest)
{
    static const struct commitment offers[] = {
        { .name = "on demand", .per_used_hour = 1000000 },
        { .name = "1 year", .term_hours = YEAR, .per_hour = 550000 },
        { .name = "3 years", .term_hours = HOURS, .upfront = 13000000000 },
    };

    assert_int_equal(advice_at(offers, 3, 0).of_class[2].buy, 10);
    assert_int_equal(advice_at(offers, 3, EIGHT_PERCENT).of_class[1].buy, 10);
}

/* $5,170 is $5,388.757578 with the interest of its year: ten of them, over 8,760 hours. */
TEST(an_upfront_payment_is_borne_with_its_interest)
{
    static const struct commitment offers[] = {
        { .name = "on demand", .per_used_hour = 1000000 },
        { .name = "all upfront", .term_hours = YEAR, .upfront = 5170000000 },
    };
    struct portfolio_purchase purchase = { .class_index = 1, .count = 10 };
    const struct portfolio_plan plan = { .purchases = &purchase, .count = 1 };
    struct world *world = world_create(YEAR);
    struct portfolio_bill bill;

    world->input.classes = offers;
    world->input.class_count = 2;
    world->input.interest_ppm = EIGHT_PERCENT;
    world_add(world, 10, 100);
    portfolio_cost(&world->input, &plan, &bill);

    const struct portfolio_advice advice = advice_at(offers, 2, EIGHT_PERCENT);

    assert_int_equal(bill.total, 51700000000);
    assert_int_equal(bill.pure, 53887575780);
    assert_int_equal(advice.upfront, 51700000000);
    assert_int_equal(advice.expected.with, 6151550); /* 53,887.57578 / 8,760 */
    world_destroy(world);
}

/* A machine saves $730 a month, which is worth $725.33 in the first and $693.48 in the eighth. */
TEST(it_pays_back_when_discounted_savings_exceed_the_upfront_payment)
{
    struct commitment offers[] = {
        { .name = "on demand", .per_used_hour = 1000000 },
        { .name = "all upfront", .term_hours = YEAR, .upfront = 5700000000 },
    };

    assert_int_equal(advice_at(offers, 2, 0).of_class[1].payback_month, 8);
    assert_int_equal(advice_at(offers, 2, EIGHT_PERCENT).of_class[1].payback_month, 9);
    /* Partly upfront: the hourly price counts against what is saved. */
    offers[1].upfront = 2850000000;
    offers[1].per_hour = 500000;
    assert_int_equal(advice_at(offers, 2, EIGHT_PERCENT).of_class[1].buy, 10);
    assert_int_equal(advice_at(offers, 2, EIGHT_PERCENT).of_class[1].payback_month, 9);
    offers[1].upfront = 0;
    assert_int_equal(advice_at(offers, 2, EIGHT_PERCENT).of_class[1].payback_month, 1);
    offers[1].upfront = 8760000000; /* not worth it */
    assert_int_equal(advice_at(offers, 2, EIGHT_PERCENT).of_class[1].buy, 0);
    assert_int_equal(advice_at(offers, 2, EIGHT_PERCENT).of_class[1].payback_month, 0);
}

/* Demand that fell week by week is expected to go on falling, further than a term of three years
 * can bear: the year lies below, and above it nothing is left. */
TEST(what_demand_no_longer_uses_never_pays_back)
{
    static const struct commitment offers[] = {
        { .name = "on demand", .per_used_hour = 1000000 },
        { .name = "1 year", .term_hours = YEAR, .upfront = 4300000000 },
        { .name = "3 years", .term_hours = HOURS, .upfront = 9000000000 },
    };
    struct world *world = world_create(YEAR);

    world->input.classes = offers;
    world->input.class_count = 3;
    world->input.interest_ppm = EIGHT_PERCENT;
    for (uint32_t i = 0; i < YEAR; i++)
        world->usage[i] = 1000 - 900 * i / YEAR;

    const struct portfolio_advice advice = advice_of(world, NULL, 0);

    assert_true(advice.of_class[2].buy > 0);
    assert_int_equal(advice.of_class[2].payback_month, 0);
    world_destroy(world);
}

TEST(unsound_input_is_told_apart)
{
    static const uint32_t usage[2] = { 1, 2 };
    struct commitment two[2] = { classes[0], classes[1] };
    struct portfolio_input input = { .usage = usage, .hours = 2, .classes = two, .class_count = 2 };

    assert_true(portfolio_is_sound(&input));
    two[1].per_used_hour = 2400001; /* dearer than on demand */
    assert_false(portfolio_is_sound(&input));
    two[1] = classes[0]; /* on demand twice */
    assert_false(portfolio_is_sound(&input));
    two[1] = classes[1];
    two[1].upfront = -1;
    assert_false(portfolio_is_sound(&input));
    two[1].upfront = INT64_MAX / 8; /* times two machines, two terms */
    assert_false(portfolio_is_sound(&input));
    two[1] = classes[1];
    two[1].unit = COMMITMENT_DOLLAR;
    assert_false(portfolio_is_sound(&input));
    two[1] = classes[1];
    input.interest_ppm = 1000000;
    assert_true(portfolio_is_sound(&input));
    input.interest_ppm = 1000001;
    assert_false(portfolio_is_sound(&input));
    input.interest_ppm = 0;
    two[1].upfront = INT64_MAX / 25; /* times two machines, two terms: just enough, ... */
    assert_true(portfolio_is_sound(&input));
    input.interest_ppm = 1000000; /* ... but not with interest */
    assert_false(portfolio_is_sound(&input));
    input.class_count = 0;
    assert_false(portfolio_is_sound(&input));
}

CHECK_MAIN(RUN(each_layer_gets_the_class_that_its_use_deserves),
           RUN(a_demand_of_one_year_is_not_bought_for_three), RUN(what_ends_is_bought_anew),
           RUN(steady_demand_costs_what_the_bound_says), RUN(heavy_use_is_paid_whether_used_or_not),
           RUN(without_demand_nothing_is_bought), RUN(an_empty_history_costs_nothing),
           RUN(online_buys_after_the_first_week_what_it_has_seen),
           RUN(with_on_demand_alone_there_is_nothing_to_decide),
           RUN(the_advice_for_steady_demand_is_plain), RUN(what_is_held_is_not_bought_again),
           RUN(what_is_held_with_little_time_left_counts_as_a_short_term),
           RUN(the_number_of_machines_does_not_matter),
           RUN(upfront_wins_without_interest_and_loses_at_8_percent),
           RUN(a_longer_term_has_to_earn_its_interest),
           RUN(an_upfront_payment_is_borne_with_its_interest),
           RUN(it_pays_back_when_discounted_savings_exceed_the_upfront_payment),
           RUN(what_demand_no_longer_uses_never_pays_back), RUN(unsound_input_is_told_apart))
