/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forecast.h - how long a job will run: its time limit, corrected by history as far as that reaches.
 *
 * Two short runs of another user say next to nothing of a job with a limit of twelve hours. So a forecast
 * begins with the time limit, and runs of the past move it towards what they took:
 *
 *     forecast = limit * (history / limit) ^ weight
 *
 * Sources:    runs of the same user and name, of the same name, of the same user; the one with the highest
 *             confidence, of equal ones the first. Other work is no source where the job has a limit. A job
 *             without one begins with the default of the configuration, and any work is its last source.
 * Weight:     runs / reach, at most 1. The reach is 2 runs of the same user and name, 4 of the same user with the same limit,
 *             else 16. Runs of
 *             the same name by others, or of another name by the same user with another limit, never count for
 *             more than half where there is a limit. A source whose past estimates were off by more than a
 *             factor of two counts less: by (1 - error) / (1 - 1/2), see runtimes.h for the error.
 *             Of a job without a limit, the first run of the same name or user counts in full: there is nothing
 *             better; other work counts by sixteenths.
 * Confidence: weight x (1 - error): how far history decided, and how good its estimates were; 0 if the
 *             limit or the default stands alone.
 * Measured:   on eight logs of the Parallel Workloads Archive (the first 30,000 jobs each), the mean error is 0.37 to 0.50, 0.42 on
 *             average; that of limits alone is 0.53 to 0.91. With reaches of 3 and 16 it was 0.44: then 9 % of the runs
 *             took more than four times what was forecast, now 10 %, and 19 % less than a quarter, now 16 %.
 * Promises:   between the limit and what history says; pure, and the same to the bit.
 * Bounds:     as runtimes_estimate.
 */
#ifndef STINT_LEARN_FORECAST_H
#define STINT_LEARN_FORECAST_H

#include "learn/runtimes.h"

enum {
    FORECAST_REACH_SAME = 2,   /* runs of the same user and name that count in full */
    FORECAST_REACH_USER = 4,   /* of the same user with the same limit */
    FORECAST_REACH_OTHER = 16, /* of any other source */
    FORECAST_WORDS_SIZE = 256,
    FORECAST_HALF_PPM = 500000, /* where history has half a say */
};

enum forecast_source {
    FORECAST_BY_DEFAULT,   /* neither a limit nor history */
    FORECAST_BY_LIMIT,     /* no history that reaches */
    FORECAST_BY_USER_NAME, /* history, of the same user and name */
    FORECAST_BY_NAME,
    FORECAST_BY_USER,
    FORECAST_BY_OTHERS,
    FORECAST_SOURCES,
};

struct forecast {
    msec_t runtime_ms;
    msec_t limit_ms; /* -1: none was given */
    enum forecast_source source;
    uint32_t weight_ppm; /* of history; 0 without */
    uint32_t confidence_ppm;
    struct runtime_estimate history; /* 'samples' 0: none that reaches */
};

/* 'limit_ms' is the time limit of the job; -1: it has none. Work without an end has no forecast: the
 * limit must not be MSEC_NEVER. */
struct forecast forecast_runtime(const struct runtimes *runtimes,
                                 const struct runtime_traits *traits, msec_t limit_ms);

/* One word for programs: "limit", "user-and-name". */
const char *forecast_source_word(enum forecast_source source);

/*
 * Where it comes from, for people: "time limit of 12:00:00, and for 12 % the median of 2 earlier runs of the same name;
 * confidence 6 %". 'size' should be FORECAST_WORDS_SIZE; what does not fit is cut.
 */
void forecast_words(const struct forecast *forecast, char *ret, size_t size);

#endif
