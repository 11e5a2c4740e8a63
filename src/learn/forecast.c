/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/forecast.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PPM = 1000000, LIMIT_TEXT = 48, WEIGHT_BITS = 20 };

static const double half = 0.5;

#define KIND(name) (1U << RUNTIME_BY_##name)

/* What each source compares by; see forecast.h for the order. */
static const struct {
    enum forecast_source source;
    uint32_t kinds;
    uint32_t reach;
    double most; /* weight, where there is a limit */
} tiers[] = {
    { FORECAST_BY_USER_NAME, KIND(USER_NAME_LIMIT) | KIND(USER_NAME_TASKS) | KIND(USER_NAME),
      FORECAST_REACH_SAME, 1.0 },
    { FORECAST_BY_NAME, KIND(NAME_SHAPE) | KIND(NAME_HOUR) | KIND(NAME), FORECAST_REACH_OTHER,
      0.5 },
    { FORECAST_BY_USER, KIND(USER_TASKS_LIMIT) | KIND(USER_LIMIT), FORECAST_REACH_USER, 1.0 },
    { FORECAST_BY_USER, KIND(USER_TASKS) | KIND(USER_SHAPE) | KIND(USER), FORECAST_REACH_OTHER,
      0.5 },
    { FORECAST_BY_OTHERS, KIND(SHAPE) | KIND(NOTHING), FORECAST_REACH_OTHER, 0.0 },
};

enum { TIERS = sizeof(tiers) / sizeof(tiers[0]) };

static double weight_of(const struct runtime_estimate *history, uint32_t tier, bool has_limit)
{
    const double error = (double)history->error_ppm / PPM;
    const bool is_all_there_is = !has_limit && tiers[tier].source != FORECAST_BY_OTHERS;
    const double reached =
        is_all_there_is ? (double)history->samples : (double)history->samples / tiers[tier].reach;
    const double trust = error > half ? (1.0 - error) / half : 1.0;
    const double most = has_limit ? tiers[tier].most : 1.0;
    const double weight = (reached < 1.0 ? reached : 1.0) * trust;

    return weight < most ? weight : most;
}

/* 'base' to the power of a weight in [0, 1), by square roots: they are exact, so time does not depend on a libm. */
static double power(double base, double weight)
{
    double root = base;
    double result = 1.0;

    for (uint32_t bit = 0; bit < WEIGHT_BITS && weight > 0.0; bit++) {
        root = sqrt(root);
        weight *= 2.0;
        if (weight >= 1.0) {
            weight -= 1.0;
            result *= root;
        }
    }
    return result;
}

/* Between the two, by factors; a time of zero counts as a millisecond. */
static msec_t between(msec_t limit_ms, msec_t history_ms, double weight)
{
    const double from = limit_ms > 0 ? (double)limit_ms : 1.0;
    const double to = history_ms > 0 ? (double)history_ms : 1.0;

    return weight >= 1.0 ? history_ms : (msec_t)(from * power(to / from, weight) + half);
}

static uint32_t in_ppm(double part)
{
    return (uint32_t)(part * PPM + half);
}

/* What would be said by the source, if it has a run; how long that is, is left to be worked out of 'ret_weight'. */
static struct forecast by_tier(const struct forecast *start, const struct runtimes *runtimes,
                               const struct runtime_traits *traits, uint32_t tier,
                               double *ret_weight)
{
    struct forecast forecast = *start;

    forecast.history = runtimes_estimate_by(runtimes, traits, tiers[tier].kinds);

    const double weight = weight_of(&forecast.history, tier, start->limit_ms >= 0);
    const double error = (double)forecast.history.error_ppm / PPM;

    forecast.source = tiers[tier].source;
    forecast.weight_ppm = in_ppm(weight);
    forecast.confidence_ppm = in_ppm(weight * (1.0 - error));
    *ret_weight = weight;
    return forecast;
}

struct forecast forecast_runtime(const struct runtimes *runtimes,
                                 const struct runtime_traits *traits, msec_t limit_ms)
{
    const bool has_limit = limit_ms >= 0;
    const struct forecast start = {
        .runtime_ms = has_limit ? limit_ms : runtimes->default_ms,
        .limit_ms = has_limit ? limit_ms : -1,
        .source = has_limit ? FORECAST_BY_LIMIT : FORECAST_BY_DEFAULT,
        .history = { .error_ppm = PPM, .seen = runtimes->learned },
    };
    struct forecast best = start;
    double best_weight = 0.0;

    assert(limit_ms != MSEC_NEVER);
    for (uint32_t tier = 0; tier < TIERS; tier++) {
        double weight;

        /* No confidence is above the weight: what cannot be the best is not looked up. */
        if (in_ppm(has_limit ? tiers[tier].most : 1.0) <= best.confidence_ppm)
            continue;

        const struct forecast forecast = by_tier(&start, runtimes, traits, tier, &weight);

        if (forecast.confidence_ppm > best.confidence_ppm) {
            best = forecast;
            best_weight = weight;
        }
    }
    if (best.confidence_ppm > 0)
        best.runtime_ms = between(start.runtime_ms, best.history.runtime_ms, best_weight);
    return best;
}

const char *forecast_source_word(enum forecast_source source)
{
    static const char *const words[FORECAST_SOURCES] = {
        [FORECAST_BY_DEFAULT] = "default",
        [FORECAST_BY_LIMIT] = "limit",
        [FORECAST_BY_USER_NAME] = "user-and-name",
        [FORECAST_BY_NAME] = "name",
        [FORECAST_BY_USER] = "user",
        [FORECAST_BY_OTHERS] = "others",
    };

    assert(source < FORECAST_SOURCES);
    return words[source];
}

/* "12:00:00", as Slurm writes limits. */
static void limit_words(const struct forecast *forecast, char *ret, size_t size)
{
    const int64_t seconds = forecast->limit_ms / MSEC_PER_SEC;

    if (forecast->limit_ms < 0)
        (void)snprintf(ret, size, "no time limit");
    else
        (void)snprintf(ret, size, "time limit of %" PRId64 ":%02d:%02d", seconds / 3600,
                       (int)(seconds / 60 % 60), (int)(seconds % 60));
}

void forecast_words(const struct forecast *forecast, char *ret, size_t size)
{
    const unsigned percent = (forecast->weight_ppm + PPM / 200) / (PPM / 100);
    const unsigned confidence = (forecast->confidence_ppm + PPM / 200) / (PPM / 100);
    char limit[LIMIT_TEXT];
    char history[RUNTIME_WORDS_SIZE];

    limit_words(forecast, limit, sizeof(limit));
    runtime_words(&forecast->history, history, sizeof(history));
    if (forecast->history.samples == 0)
        (void)snprintf(ret, size, "%s, without an earlier run%s", limit,
                       forecast->limit_ms < 0 ? ": the default" : "");
    else if (forecast->weight_ppm == PPM)
        (void)snprintf(ret, size, "%s; confidence %u %%", history, confidence);
    else
        (void)snprintf(ret, size, "%s, corrected by %u %% towards the %s; confidence %u %%", limit,
                       percent, history, confidence);
}
