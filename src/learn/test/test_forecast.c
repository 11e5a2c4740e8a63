/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/forecast.h"

#include <string.h>

#include "base/limits.h"
#include "base/rng.h"
#include "base/test/check.h"

enum { GROUPS = 4096, SEED = 20261116 };

static const msec_t default_ms = MSEC_PER_HOUR;
static const msec_t twelve_hours = 12 * MSEC_PER_HOUR;

static struct runtime_traits work(uint32_t user, uint32_t name, msec_t limit_ms)
{
    return (struct runtime_traits){
        .name = name,
        .user = user,
        .shape = 1,
        .tasks = 1,
        .hour = 9,
        .limit = limit_ms >= 0 ? (uint32_t)(limit_ms / MSEC_PER_SEC) : RUNTIME_UNKNOWN,
    };
}

static void learn(struct runtimes *runtimes, uint32_t runs, struct runtime_traits traits,
                  msec_t runtime_ms)
{
    for (uint32_t i = 0; i < runs; i++)
        runtimes_learn(runtimes, &traits, runtime_ms, runtimes->learned);
}

static struct forecast ask(const struct runtimes *runtimes, uint32_t user, uint32_t name,
                           msec_t limit_ms)
{
    const struct runtime_traits traits = work(user, name, limit_ms);

    return forecast_runtime(runtimes, &traits, limit_ms);
}

static void assert_words(const struct forecast *forecast, const char *words)
{
    char text[FORECAST_WORDS_SIZE];

    forecast_words(forecast, text, sizeof(text));
    assert_string_equal(text, words);
}

TEST(without_history_the_limit_is_believed)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, default_ms, GROUPS);

    const struct forecast limited = ask(&runtimes, 1, 1, twelve_hours);
    const struct forecast open = ask(&runtimes, 1, 1, -1);

    assert_int_equal(limited.runtime_ms, twelve_hours);
    assert_int_equal(limited.source, FORECAST_BY_LIMIT);
    assert_int_equal(limited.confidence_ppm, 0);
    assert_words(&limited, "time limit of 12:00:00, without an earlier run");
    assert_int_equal(open.runtime_ms, default_ms);
    assert_int_equal(open.source, FORECAST_BY_DEFAULT);
    assert_words(&open, "no time limit, without an earlier run: the default");
    runtimes_done(&runtimes);
}

TEST(two_short_jobs_of_one_user_make_nobody_elses_job_short)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, default_ms, GROUPS);

    learn(&runtimes, 2, work(1, 1, 600000), 3000);

    const struct forecast other = ask(&runtimes, 2, 2, twelve_hours);
    const struct forecast namesake = ask(&runtimes, 2, 1, twelve_hours);
    const struct forecast unlimited = ask(&runtimes, 2, 2, -1);

    assert_int_equal(other.runtime_ms, twelve_hours);
    assert_int_equal(other.source, FORECAST_BY_LIMIT);
    assert_true(namesake.runtime_ms > MSEC_PER_HOUR);
    assert_int_equal(namesake.source, FORECAST_BY_NAME);
    assert_true(unlimited.runtime_ms > default_ms / 4);
    assert_int_equal(unlimited.source, FORECAST_BY_OTHERS);
    runtimes_done(&runtimes);
}

TEST(however_many_short_runs_of_others_count_for_half_at_most)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, default_ms, GROUPS);

    learn(&runtimes, 1000, work(1, 1, 600000), 3000);

    const struct forecast namesake = ask(&runtimes, 2, 1, twelve_hours);

    /* sqrt(43,200 s x 3 s) = 360 s */
    assert_int_equal(namesake.runtime_ms, 360000);
    assert_int_equal(namesake.weight_ppm, 500000);
    runtimes_done(&runtimes);
}

TEST(three_runs_of_the_same_user_and_name_are_believed_in_full)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, default_ms, GROUPS);

    learn(&runtimes, 1, work(1, 1, twelve_hours), 3000000);

    const struct forecast once = ask(&runtimes, 1, 1, twelve_hours);

    learn(&runtimes, 2, work(1, 1, twelve_hours), 3000000);

    const struct forecast thrice = ask(&runtimes, 1, 1, twelve_hours);

    assert_true(once.runtime_ms > 3000000 && once.runtime_ms < twelve_hours);
    assert_true(once.confidence_ppm < thrice.confidence_ppm);
    assert_int_equal(thrice.runtime_ms, 3000000);
    assert_int_equal(thrice.source, FORECAST_BY_USER_NAME);
    runtimes_done(&runtimes);
}

TEST(a_source_that_was_always_wrong_counts_less)
{
    struct runtimes runtimes;
    struct rng rng;
    runtimes_init(&runtimes, default_ms, GROUPS);

    rng_init(&rng, SEED, 1);
    for (uint32_t i = 0; i < 64; i++)
        learn(&runtimes, 1, work(1, 1, twelve_hours), rng_below(&rng, 2) == 0 ? 1000 : 30000000);

    const struct forecast wild = ask(&runtimes, 1, 1, twelve_hours);

    assert_true(wild.weight_ppm < 990000);
    assert_true(wild.confidence_ppm < 500000);
    runtimes_done(&runtimes);
}

TEST(a_forecast_lies_between_the_limit_and_history)
{
    struct runtimes runtimes;
    struct rng rng;
    runtimes_init(&runtimes, default_ms, GROUPS);

    rng_init(&rng, SEED, 2);
    for (uint32_t i = 0; i < 2000; i++) {
        const msec_t limit_ms = (msec_t)rng_below(&rng, 100000000);
        const uint32_t user = (uint32_t)rng_below(&rng, 5);
        const uint32_t name = (uint32_t)rng_below(&rng, 7);
        const struct forecast got = ask(&runtimes, user, name, limit_ms);
        const msec_t history = got.history.samples > 0 ? got.history.runtime_ms : limit_ms;

        assert_in_range(got.runtime_ms + 1, history < limit_ms ? history : limit_ms,
                        (history > limit_ms ? history : limit_ms) + 2);
        assert_true(got.confidence_ppm <= got.weight_ppm);
        learn(&runtimes, 1, work(user, name, limit_ms),
              (msec_t)rng_below(&rng, (uint64_t)limit_ms + 1));
    }
    runtimes_done(&runtimes);
}

TEST(the_words_name_source_and_confidence)
{
    const struct forecast moved = {
        .limit_ms = twelve_hours,
        .source = FORECAST_BY_NAME,
        .weight_ppm = 125000,
        .confidence_ppm = 62500,
        .history = { .samples = 2, .kind = RUNTIME_BY_NAME, .estimator = RUNTIME_MEDIAN },
    };
    const struct forecast full = {
        .limit_ms = twelve_hours,
        .source = FORECAST_BY_USER_NAME,
        .weight_ppm = 1000000,
        .confidence_ppm = 900000,
        .history = { .samples = 14, .kind = RUNTIME_BY_USER_NAME, .estimator = RUNTIME_MEDIAN },
    };

    assert_words(
        &moved,
        "time limit of 12:00:00, corrected by 13 % towards the median of 2 earlier runs of the "
        "same name; confidence 6 %");
    assert_words(&full,
                 "median of 14 earlier runs of the same name by the same user; confidence 90 %");
}

CHECK_MAIN(RUN(without_history_the_limit_is_believed),
           RUN(two_short_jobs_of_one_user_make_nobody_elses_job_short),
           RUN(however_many_short_runs_of_others_count_for_half_at_most),
           RUN(three_runs_of_the_same_user_and_name_are_believed_in_full),
           RUN(a_source_that_was_always_wrong_counts_less),
           RUN(a_forecast_lies_between_the_limit_and_history),
           RUN(the_words_name_source_and_confidence))
