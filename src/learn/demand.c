/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With d the level, v the trend, a its change, m what was observed:
 *
 *     d' = alpha m         + (1 - alpha) (d + v + a / 2)
 *     v' = beta (d' - d)   + (1 - beta)  (v + a)
 *     a' = gamma (v' - v)  + (1 - gamma) a
 *     forecast of t ahead: d + v t + a t^2 / 2
 *
 * alpha is |smoothed error| / smoothed |error|. Left to find themselves in the same way, beta and
 * gamma come out too quick for a slow alpha, and level and trend swing each other up. So they
 * follow from alpha as they do in a filter whose memory fades evenly, where the weight of an
 * observation falls by theta per interval: alpha = 1 - theta^3, and the others belong to it.
 *
 * Damped by f, the i-th interval ahead adds f^i of what it would add to the parabola, v + a (i -
 * 1/2); for f = 1 the sum is the parabola again.
 */
#include "learn/demand.h"

#include <assert.h>
#include <math.h>

static const double error_least = 1e-12; /* below, there is nothing to learn from it */

void demand_init(struct demand *demand, const struct demand_options *options)
{
    assert(options->tracking > 0 && options->tracking <= 1);
    assert(options->damping >= 0 && options->damping <= 1);
    *demand = (struct demand){ .options = *options };
}

/* Learn from an error, and say how much of it to believe. */
static double learn_from(struct demand *demand, double error)
{
    const double tracking = demand->options.tracking;

    demand->error += tracking * (error - demand->error);
    demand->distance += tracking * (fabs(error) - demand->distance);
    if (demand->distance < error_least)
        return tracking;
    return fmin(1, fabs(demand->error) / demand->distance);
}

void demand_observe(struct demand *demand, double level)
{
    assert(isfinite(level));
    assert(level >= 0);

    demand->sum += level;
    if (demand->count++ == 0) {
        demand->level = level;
        return;
    }

    const double expected = demand->level + demand->trend + demand->change / 2;
    const double alpha = learn_from(demand, level - expected);
    const double theta = cbrt(1 - alpha);
    const double beta = fmin(1, 1.5 * (1 - theta * theta) / (1 + theta + theta * theta));
    const double gamma = (1 - theta) / (1.5 * (1 + theta));

    const double next = alpha * level + (1 - alpha) * expected;
    const double trend =
        beta * (next - demand->level) + (1 - beta) * (demand->trend + demand->change);

    demand->change = gamma * (trend - demand->trend) + (1 - gamma) * demand->change;
    demand->trend = trend;
    demand->level = next;
}

double demand_seen_mean(const struct demand *demand)
{
    return demand->count > 0 ? demand->sum / demand->count : 0;
}

static double bounded(const struct demand *demand, double value)
{
    if (demand->options.is_capped)
        value = fmin(value, demand_seen_mean(demand));
    return fmax(0, value);
}

/* What interval 'ahead' adds to the one before; 'weight' is the damping to the power of 'ahead'. */
static double growth(const struct demand *demand, uint32_t ahead, double weight)
{
    return weight * (demand->trend + demand->change * (ahead - 0.5));
}

double demand_forecast(const struct demand *demand, uint32_t ahead)
{
    double value = demand->level;
    double weight = 1;

    for (uint32_t i = 1; i <= ahead; i++) {
        weight *= demand->options.damping;
        value += growth(demand, i, weight);
    }
    return bounded(demand, value);
}

double demand_forecast_mean(const struct demand *demand, uint32_t count)
{
    double value = demand->level;
    double weight = 1;
    double sum = 0;

    assert(count > 0);
    for (uint32_t i = 1; i <= count; i++) {
        weight *= demand->options.damping;
        value += growth(demand, i, weight);
        sum += bounded(demand, value);
    }
    return sum / count;
}
