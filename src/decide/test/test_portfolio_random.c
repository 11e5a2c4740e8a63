/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The portfolio against twins that do everything hour by hour and layer by layer, on small random
 * histories and classes. Two of three worlds have a price of money.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "base/test/check.h"
#include "decide/portfolio.h"
#include "model/interest.h"

#include <math.h>
#include <stdbool.h>

static bool is_near(double a, double b, double apart)
{
    return fabs(a - b) <= apart;
}

enum { HOURS_MAX = 120, PEAK_MAX = 12, ROUNDS = 3000, CLASSES = 6 };

struct world {
    struct rng rng;
    uint32_t usage[HOURS_MAX];
    struct commitment classes[CLASSES];
    struct portfolio_input input;
    struct arena arena;
};

/* Demand that wanders, jumps and falls silent. */
static void draw_usage(struct world *world)
{
    const uint32_t peak = 1 + (uint32_t)rng_below(&world->rng, PEAK_MAX);
    uint32_t level = (uint32_t)rng_below(&world->rng, peak + 1);

    for (uint32_t i = 0; i < world->input.hours; i++) {
        if (rng_below(&world->rng, 8) == 0)
            level = (uint32_t)rng_below(&world->rng, peak + 1);
        world->usage[i] = rng_below(&world->rng, 20) == 0 ? 0 : level;
    }
}

static void draw_classes(struct world *world)
{
    const money_t on_demand = 1000 + (money_t)rng_below(&world->rng, 1000);

    world->classes[0] = (struct commitment){ .name = "on demand", .per_used_hour = on_demand };
    for (uint32_t k = 1; k < CLASSES; k++) {
        const uint32_t term = 5 + (uint32_t)rng_below(&world->rng, 90);
        struct commitment *commitment = &world->classes[k];

        *commitment = (struct commitment){ .name = "reserved", .term_hours = term };
        commitment->upfront = (money_t)rng_below(&world->rng, (uint64_t)on_demand * term);
        if (rng_below(&world->rng, 2) == 0)
            commitment->per_used_hour = (money_t)rng_below(&world->rng, (uint64_t)on_demand);
        if (rng_below(&world->rng, 3) == 0)
            commitment->per_hour = (money_t)rng_below(&world->rng, (uint64_t)on_demand / 2);
    }
}

static void world_init(struct world *world, uint64_t seed)
{
    *world = (struct world){ .input = { .usage = world->usage, .classes = world->classes } };
    arena_init(&world->arena);
    rng_init(&world->rng, seed, 0);
    world->input.hours = 1 + (uint32_t)rng_below(&world->rng, HOURS_MAX);
    world->input.class_count = 1 + (uint32_t)rng_below(&world->rng, CLASSES);
    world->input.interval_hours = 1 + (uint32_t)rng_below(&world->rng, 15);
    draw_usage(world);
    draw_classes(world);
    world->input.interest_ppm =
        seed % 3 == 0 ? 0 : (uint32_t)(seed * 7919 % (INTEREST_MAX_PPM + 1));
    assert_true(portfolio_is_sound(&world->input));
}

static void draw_plan(struct world *world, struct portfolio_plan *ret)
{
    const uint32_t count = world->input.class_count > 1 ? (uint32_t)rng_below(&world->rng, 20) : 0;
    uint32_t hour = 0;

    *ret = (struct portfolio_plan){ 0 };
    ret->purchases = ARENA_ARRAY(&world->arena, struct portfolio_purchase, count);
    for (uint32_t i = 0; i < count; i++) {
        hour += world->input.interval_hours * (uint32_t)rng_below(&world->rng, 3);
        ret->purchases[ret->count++] = (struct portfolio_purchase){
            .hour = hour,
            .class_index = 1 + (uint32_t)rng_below(&world->rng, world->input.class_count - 1),
            .count = 1 + (uint32_t)rng_below(&world->rng, 5),
        };
    }
}

static bool is_running(const struct portfolio_input *input,
                       const struct portfolio_purchase *purchase, uint32_t hour)
{
    const uint32_t term = input->classes[purchase->class_index].term_hours;

    return purchase->hour <= hour && hour < purchase->hour + term;
}

/* The running purchase with a machine to spare that is cheapest to run, or NULL. */
static const struct portfolio_purchase *next_to_use(const struct portfolio_input *input,
                                                    const struct portfolio_plan *plan,
                                                    const uint32_t *taken, uint32_t hour)
{
    const struct portfolio_purchase *best = NULL;

    for (uint32_t i = 0; i < plan->count; i++) {
        const struct portfolio_purchase *each = &plan->purchases[i];
        const money_t price = input->classes[each->class_index].per_used_hour;

        if (!is_running(input, each, hour) || taken[i] == each->count)
            continue;
        if (best == NULL || price < input->classes[best->class_index].per_used_hour ||
            (price == input->classes[best->class_index].per_used_hour &&
             each->class_index < best->class_index))
            best = each;
    }
    return best;
}

/* The bill, one layer of one hour at a time. The upfront part inside is a double here. */
static void slow_bill(const struct portfolio_input *input, const struct portfolio_plan *plan,
                      struct portfolio_bill *ret, double *ret_pure)
{
    struct portfolio_bill bill = { .total = 0 };
    double pure = 0;

    for (uint32_t hour = 0; hour < input->hours; hour++) {
        uint32_t taken[64] = { 0 };

        for (uint32_t layer = 0; layer < input->usage[hour]; layer++) {
            const struct portfolio_purchase *use = next_to_use(input, plan, taken, hour);
            const uint32_t class_index = use != NULL ? use->class_index : 0;

            if (use != NULL)
                taken[use - plan->purchases]++;
            bill.of_class[class_index].used_hours++;
            bill.of_class[class_index].hourly += input->classes[class_index].per_used_hour;
        }
        for (uint32_t i = 0; i < plan->count; i++) {
            const struct portfolio_purchase *each = &plan->purchases[i];
            const struct commitment *commitment = &input->classes[each->class_index];

            if (!is_running(input, each, hour))
                continue;
            bill.of_class[each->class_index].idle_hours += each->count - taken[i];
            bill.of_class[each->class_index].hourly += commitment->per_hour * each->count;
            pure += (double)commitment_carried(commitment, input->interest_ppm).upfront *
                    each->count / commitment->term_hours;
            if (each->hour == hour) {
                bill.of_class[each->class_index].bought += each->count;
                bill.of_class[each->class_index].upfront += commitment->upfront * each->count;
            }
        }
    }
    for (uint32_t k = 0; k < input->class_count; k++) {
        bill.total += bill.of_class[k].upfront + bill.of_class[k].hourly;
        pure += (double)bill.of_class[k].hourly;
    }
    *ret = bill;
    *ret_pure = pure;
}

TEST(a_bill_is_what_counting_layer_by_layer_gives)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct world world;
        struct portfolio_plan plan;
        struct portfolio_bill bill;
        struct portfolio_bill slow;
        double slow_pure = 0;

        world_init(&world, seed);
        draw_plan(&world, &plan);
        portfolio_cost(&world.input, &plan, &bill);
        slow_bill(&world.input, &plan, &slow, &slow_pure);
        for (uint32_t k = 0; k < world.input.class_count; k++) {
            assert_int_equal(bill.of_class[k].bought, slow.of_class[k].bought);
            assert_int_equal(bill.of_class[k].used_hours, slow.of_class[k].used_hours);
            assert_int_equal(bill.of_class[k].idle_hours, slow.of_class[k].idle_hours);
            assert_int_equal(bill.of_class[k].upfront, slow.of_class[k].upfront);
            assert_int_equal(bill.of_class[k].hourly, slow.of_class[k].hourly);
        }
        assert_int_equal(bill.total, slow.total);
        /* Each purchase may be rounded up. */
        assert_true((double)bill.pure > slow_pure - 1);
        assert_true((double)bill.pure < slow_pure + plan.count + 1);
        arena_done(&world.arena);
    }
}

TEST(no_plan_goes_below_the_bound)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct world world;
        struct portfolio_plan plan;
        struct portfolio_bill bill;

        world_init(&world, seed);

        const money_t bound = portfolio_bound(&world.input, &world.arena);

        for (int i = 0; i < 20; i++) {
            draw_plan(&world, &plan);
            portfolio_cost(&world.input, &plan, &bill);
            assert_true(bound <= bill.pure);
        }
        arena_done(&world.arena);
    }
}

/* The number of layers that each class gets, one by one, straight from the hours. */
static void slow_desire(const struct portfolio_input *input, uint32_t now, uint64_t *ret)
{
    for (uint32_t layer = 0; layer < PEAK_MAX; layer++) {
        double least = (double)input->classes[0].per_used_hour;
        uint32_t best = 0;

        for (uint32_t k = 1; k < input->class_count; k++) {
            const struct commitment each =
                commitment_carried(&input->classes[k], input->interest_ppm);
            uint32_t used = 0;
            uint32_t hours = 0;

            for (uint32_t i = now; i < input->hours && i < now + each.term_hours; i++, hours++)
                used += input->usage[i] > layer;

            const double share = (double)hours / used;
            const double price = commitment_fixed_rate(&each) * share + (double)each.per_used_hour;

            if (used > 0 && price < least) {
                least = price;
                best = k;
            }
        }
        ret[best]++;
    }
}

TEST(the_first_purchase_is_what_the_layers_ask_for)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        uint64_t desired[CLASSES] = { 0 };
        uint64_t bought[CLASSES] = { 0 };
        struct world world;
        struct portfolio_plan plan;

        world_init(&world, seed);
        portfolio_greedy(&world.input, &world.arena, &plan);
        slow_desire(&world.input, 0, desired);
        for (uint32_t i = 0; i < plan.count && plan.purchases[i].hour == 0; i++)
            bought[plan.purchases[i].class_index] = plan.purchases[i].count;
        for (uint32_t k = 1; k < world.input.class_count; k++)
            assert_int_equal(bought[k], desired[k]);
        arena_done(&world.arena);
    }
}

/*
 * All payments of a term, month by month, as they are worth today: in floating point, from the
 * definition.
 */
static double slow_worth(const struct commitment *each, double rate, const uint32_t *used,
                         uint32_t months)
{
    double sum = (double)each->upfront;

    for (uint32_t i = 0; i < months; i++) {
        const double due =
            (double)each->per_hour * INTEREST_MONTH_HOURS + (double)each->per_used_hour * used[i];

        sum += due * pow(1 + rate, -(double)(i + 1) / 12);
    }
    return sum;
}

/* One machine, used for 'busy' of every ten hours, so that all months are alike. */
static uint32_t *alike_months(uint32_t months, uint32_t busy)
{
    uint32_t *usage = mem_alloc((size_t)months * INTEREST_MONTH_HOURS, sizeof(*usage));

    for (uint32_t i = 0; i < months * INTEREST_MONTH_HOURS; i++)
        usage[i] = i % 10 < busy;
    return usage;
}

/* Whether the class that greedy bought first, or on demand, is the one that is worth least, up to
 * what rounding may turn around. */
static void check_choice(struct world *world, uint32_t months, uint32_t busy)
{
    uint32_t *usage = alike_months(months, busy);
    uint32_t used[48];
    struct portfolio_plan plan;
    double least = HUGE_VAL;

    for (uint32_t i = 0; i < months; i++)
        used[i] = INTEREST_MONTH_HOURS / 10 * busy;
    world->input.usage = usage;
    world->input.hours = world->input.interval_hours = months * INTEREST_MONTH_HOURS;
    portfolio_greedy(&world->input, &world->arena, &plan);

    const uint32_t chosen = plan.count > 0 ? plan.purchases[0].class_index : 0;
    const double rate = world->input.interest_ppm * 1e-6;

    for (uint32_t k = 0; k < world->input.class_count; k++)
        least = fmin(least, slow_worth(&world->classes[k], rate, used, months));

    const double worth = slow_worth(&world->classes[chosen], rate, used, months);

    assert_true(worth <= least * (1 + 1e-6));
    mem_free(usage);
}

TEST(of_one_term_the_least_payments_as_of_today_are_chosen)
{
    for (uint64_t seed = 0; seed < ROUNDS / 10; seed++) {
        struct world world;

        world_init(&world, seed);

        const uint32_t months = 1 + (uint32_t)rng_below(&world.rng, 36);
        const uint32_t hours = months * INTEREST_MONTH_HOURS;

        for (uint32_t k = 1; k < world.input.class_count; k++) {
            world.classes[k].term_hours = hours;
            world.classes[k].upfront = (money_t)rng_below(
                &world.rng, (uint64_t)world.classes[0].per_used_hour * hours / 2);
        }
        check_choice(&world, months, 1 + (uint32_t)rng_below(&world.rng, 10));
        arena_done(&world.arena);
    }
}

static money_t pure_cost(const struct portfolio_input *input, const struct portfolio_plan *plan)
{
    struct portfolio_bill bill;

    portfolio_cost(input, plan, &bill);
    return bill.pure;
}

TEST(greedy_lies_between_the_bound_and_on_demand)
{
    for (uint64_t seed = 0; seed < 20 * ROUNDS / 3; seed++) {
        const struct portfolio_plan none = { 0 };
        struct world world;
        struct portfolio_plan plan;

        world_init(&world, seed);
        portfolio_greedy(&world.input, &world.arena, &plan);

        const money_t cost = pure_cost(&world.input, &plan);

        assert_true(portfolio_bound(&world.input, &world.arena) <= cost);
        assert_true(cost <= pure_cost(&world.input, &none));
        arena_done(&world.arena);
    }
}

static struct portfolio_question question_of(const struct world *world, uint32_t fall_ppm)
{
    return (struct portfolio_question){ .input = world->input,
                                        .outlook = PORTFOLIO_OUTLOOK_DEFAULTS,
                                        .fall_ppm = fall_ppm };
}

/* Each rate is the mean of hours of its own, so that it may be rounded differently. */
static void check_rates(const struct portfolio_rates *rates)
{
    assert_true(rates->least <= rates->with + 1);
    assert_true(rates->least <= rates->best + 1);
    assert_true(rates->least <= rates->on_demand + 1);
    assert_int_equal(rates->without, rates->on_demand);
}

TEST(an_advice_is_consistent)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct world world;
        struct portfolio_advice advice;
        uint32_t bought = 0;

        world_init(&world, seed);

        const struct portfolio_question question =
            question_of(&world, (uint32_t)rng_below(&world.rng, 1000001));

        portfolio_advise(&question, &world.arena, &advice);
        check_rates(&advice.expected);
        check_rates(&advice.fallen);
        assert_int_equal(advice.expected.with, advice.expected.best);
        assert_true(advice.expected_mean <= advice.seen_mean + 1e-9);
        for (uint32_t k = 1; k < world.input.class_count; k++) {
            const struct portfolio_advice_line *line = &advice.of_class[k];

            bought += line->buy;
            assert_true(line->busy >= 0 && line->busy <= 1);
            assert_true(line->busy_fallen <= line->busy + 1e-9);
        }
        if (bought == 0)
            assert_int_equal(advice.expected.with, advice.expected.on_demand);
        arena_done(&world.arena);
    }
}

/* The cost of a machine-hour that is expected, counted on the hours of the past themselves. */
TEST(what_is_expected_without_a_forecast_is_the_past)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct portfolio_purchase purchases[CLASSES];
        struct portfolio_plan plan = { .purchases = purchases };
        struct world world;
        struct portfolio_advice advice;

        world_init(&world, seed);
        world.input.interval_hours = world.input.hours;
        for (uint32_t k = 1; k < world.input.class_count; k++)
            world.classes[k].term_hours = world.input.hours;
        if (!portfolio_is_sound(&world.input))
            continue;

        const struct portfolio_question question = question_of(&world, 0);

        portfolio_advise(&question, &world.arena, &advice);
        for (uint32_t k = 1; k < world.input.class_count; k++)
            purchases[plan.count++] =
                (struct portfolio_purchase){ .class_index = k, .count = advice.of_class[k].buy };

        const double hourly = (double)pure_cost(&world.input, &plan) / world.input.hours;

        assert_true(is_near((double)advice.expected.with, hourly, 1 + CLASSES));
        assert_true(is_near((double)advice.expected.least,
                            (double)portfolio_bound(&world.input, &world.arena) / world.input.hours,
                            1));
        arena_done(&world.arena);
    }
}

TEST(online_does_not_see_the_future)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct world world;
        struct portfolio_plan before;
        struct portfolio_plan after;

        world_init(&world, seed);
        portfolio_online(&world.input, &PORTFOLIO_OUTLOOK_DEFAULTS, &world.arena, &before);

        const uint32_t now = (uint32_t)rng_below(&world.rng, world.input.hours);

        for (uint32_t i = now; i < world.input.hours; i++)
            world.usage[i] = (uint32_t)rng_below(&world.rng, 1000);
        portfolio_online(&world.input, &PORTFOLIO_OUTLOOK_DEFAULTS, &world.arena, &after);
        for (uint32_t i = 0; i < before.count && before.purchases[i].hour <= now; i++) {
            assert_true(i < after.count);
            assert_memory_equal(&before.purchases[i], &after.purchases[i],
                                sizeof(before.purchases[i]));
        }
        arena_done(&world.arena);
    }
}

CHECK_MAIN(RUN(a_bill_is_what_counting_layer_by_layer_gives), RUN(no_plan_goes_below_the_bound),
           RUN(the_first_purchase_is_what_the_layers_ask_for),
           RUN(of_one_term_the_least_payments_as_of_today_are_chosen),
           RUN(greedy_lies_between_the_bound_and_on_demand), RUN(an_advice_is_consistent),
           RUN(what_is_expected_without_a_forecast_is_the_past),
           RUN(online_does_not_see_the_future))
