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
           RUN(the_number_of_machines_does_not_matter), RUN(unsound_input_is_told_apart))
