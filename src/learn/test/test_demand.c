/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "base/test/check.h"
#include "learn/demand.h"

#include <math.h>
#include <stdbool.h>

static bool is_near(double a, double b, double apart)
{
    return fabs(a - b) <= apart;
}

static const double close_to = 1e-9;

TEST(nothing_seen_is_nothing_expected)
{
    struct demand demand;

    demand_init(&demand, &DEMAND_DEFAULTS);

    assert_true(is_near(demand_forecast(&demand, 5), 0, 0));
    assert_true(is_near(demand_forecast_mean(&demand, 156), 0, 0));
    assert_true(is_near(demand_seen_mean(&demand), 0, 0));
}

TEST(what_is_steady_stays)
{
    struct demand demand;

    demand_init(&demand, &DEMAND_PARABOLA);
    for (int i = 0; i < 20; i++)
        demand_observe(&demand, 42);

    assert_true(is_near(demand_forecast(&demand, 0), 42, close_to));
    assert_true(is_near(demand_forecast(&demand, 156), 42, close_to));
}

TEST(a_line_is_continued)
{
    struct demand demand;

    demand_init(&demand, &DEMAND_PARABOLA);
    for (int i = 0; i < 200; i++)
        demand_observe(&demand, 10 + 3.0 * i);

    assert_true(is_near(demand_forecast(&demand, 1), 10 + 3.0 * 200, 0.5));
    assert_true(is_near(demand_forecast(&demand, 50), 10 + 3.0 * 249, 10));
}

TEST(the_forecast_is_the_parabola_when_nothing_damps_it)
{
    const struct demand demand = {
        .options = DEMAND_PARABOLA, .level = 7, .trend = 2, .change = 0.5, .count = 1, .sum = 7
    };

    for (uint32_t t = 0; t < 100; t++)
        assert_true(is_near(demand_forecast(&demand, t), 7 + 2.0 * t + 0.25 * t * t, close_to));
}

TEST(the_equations_are_those_of_the_paper)
{
    struct demand demand = {
        .options = DEMAND_PARABOLA, .level = 10, .trend = 2, .change = 1, .count = 3, .sum = 30
    };

    /* All errors so far were to this side, so that all three factors are at their quickest. */
    demand.error = 1;
    demand.distance = 1;
    demand_observe(&demand, 20);

    /* alpha = 1, beta = 1, gamma = 2/3. */
    assert_true(is_near(demand.level, 20, close_to));
    assert_true(is_near(demand.trend, 10, close_to));
    assert_true(is_near(demand.change, 2.0 / 3 * 8 + 1.0 / 3, close_to));
}

TEST(no_forecast_is_above_the_mean_or_below_zero)
{
    struct rng rng;
    struct demand demand;

    rng_init(&rng, 7, 0);
    for (int round = 0; round < 50; round++) {
        demand_init(&demand, &DEMAND_DEFAULTS);
        for (int i = 0; i < 60; i++) {
            demand_observe(&demand, rng_exponential(&rng, 1 + i * rng_unit(&rng)));
            for (uint32_t ahead = 0; ahead < 160; ahead += 7) {
                const double forecast = demand_forecast(&demand, ahead);

                assert_true(forecast >= 0 && forecast <= demand_seen_mean(&demand));
            }
        }
    }
}

TEST(noise_does_not_swing_up)
{
    struct rng rng;
    struct demand demand;

    rng_init(&rng, 1, 0);
    demand_init(&demand, &DEMAND_PARABOLA);
    for (int i = 0; i < 5000; i++) {
        demand_observe(&demand, 100 * rng_unit(&rng));
        assert_true(demand.level > -300 && demand.level < 400);
    }
}

TEST(the_mean_of_forecasts_is_their_mean)
{
    struct demand demand;

    demand_init(&demand, &(struct demand_options){ .tracking = 0.2, .damping = 0.8 });
    for (int i = 0; i < 10; i++)
        demand_observe(&demand, i * i);

    double sum = 0;

    for (uint32_t ahead = 1; ahead <= 52; ahead++)
        sum += demand_forecast(&demand, ahead);
    assert_true(is_near(demand_forecast_mean(&demand, 52), sum / 52, close_to));
}

TEST(a_damped_trend_comes_to_rest)
{
    const struct demand demand = {
        .options = { .tracking = 0.2, .damping = 0.5 }, .level = 10, .trend = 4, .count = 1
    };

    assert_true(is_near(demand_forecast(&demand, 1), 12, close_to));
    assert_true(is_near(demand_forecast(&demand, 1000), 14, close_to));
}

CHECK_MAIN(RUN(nothing_seen_is_nothing_expected), RUN(what_is_steady_stays),
           RUN(a_line_is_continued), RUN(the_forecast_is_the_parabola_when_nothing_damps_it),
           RUN(the_equations_are_those_of_the_paper),
           RUN(no_forecast_is_above_the_mean_or_below_zero), RUN(noise_does_not_swing_up),
           RUN(the_mean_of_forecasts_is_their_mean), RUN(a_damped_trend_comes_to_rest))
