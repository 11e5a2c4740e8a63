/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/runtimes.h"

#include <string.h>

#include "base/limits.h"
#include "base/rng.h"
#include "base/test/check.h"

enum { GROUPS = 4096, DEFAULT_MS = 60000, SEED = 20181011 };

static struct runtime_traits work(uint32_t user, uint32_t name)
{
    return (struct runtime_traits){
        .name = name,
        .user = user,
        .shape = RUNTIME_UNKNOWN,
        .tasks = RUNTIME_UNKNOWN,
        .hour = RUNTIME_UNKNOWN,
        .limit = RUNTIME_UNKNOWN,
    };
}

/* Each run arrives when the one before has ended. */
static void learn(struct runtimes *runtimes, struct runtime_traits traits, msec_t runtime_ms)
{
    runtimes_learn(runtimes, &traits, runtime_ms, runtimes->learned);
}

static struct runtime_estimate estimate(const struct runtimes *runtimes,
                                        struct runtime_traits traits)
{
    return runtimes_estimate(runtimes, &traits);
}

static msec_t between(struct rng *rng, msec_t least, msec_t most)
{
    return least + (msec_t)rng_below(rng, (uint64_t)(most - least + 1));
}

TEST(without_history_the_default_is_given_and_said_to_be_one)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);

    const struct runtime_estimate got = estimate(&runtimes, work(1, 2));

    assert_int_equal(got.runtime_ms, DEFAULT_MS);
    assert_int_equal(got.samples, 0);
    assert_int_equal(got.seen, 0);
    runtimes_done(&runtimes);
}

TEST(names_that_always_run_alike_are_estimated_exactly)
{
    static const msec_t runtimes_ms[] = {
        0, 1, 7, 999, 86400001, LIMIT_TIME_MS / 3, LIMIT_TIME_MS
    };
    enum { COUNT = sizeof(runtimes_ms) / sizeof(runtimes_ms[0]) };
    struct runtimes runtimes;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);

    for (uint32_t run = 0; run < 40; run++) {
        for (uint32_t name = 0; name < COUNT; name++)
            learn(&runtimes, work(run % 3, name), runtimes_ms[name]);
    }

    for (uint32_t name = 0; name < COUNT; name++) {
        const struct runtime_estimate got = estimate(&runtimes, work(RUNTIME_UNKNOWN, name));

        assert_true(got.runtime_ms == runtimes_ms[name]);
        assert_int_equal(got.kind, RUNTIME_BY_NAME);
        assert_int_equal(got.samples, 40);
    }
    runtimes_done(&runtimes);
}

TEST(the_first_run_of_its_kind_is_an_estimate_already)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);
    learn(&runtimes, work(1, 2), 5000);

    const struct runtime_estimate same = estimate(&runtimes, work(1, 2));
    const struct runtime_estimate other = estimate(&runtimes, work(3, 4));

    assert_int_equal(same.runtime_ms, 5000);
    assert_int_equal(same.kind, RUNTIME_BY_USER_NAME);
    assert_int_equal(same.error_ppm, 500000);
    assert_int_equal(other.runtime_ms, 5000);
    assert_int_equal(other.kind, RUNTIME_BY_NOTHING);
    runtimes_done(&runtimes);
}

TEST(work_of_unknown_traits_is_judged_by_all_runs)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);
    learn(&runtimes, work(1, 1), 3000);
    learn(&runtimes, work(RUNTIME_UNKNOWN, RUNTIME_UNKNOWN), 3000);

    const struct runtime_estimate got = estimate(&runtimes, work(RUNTIME_UNKNOWN, RUNTIME_UNKNOWN));

    assert_int_equal(got.kind, RUNTIME_BY_NOTHING);
    assert_int_equal(got.samples, 2);
    runtimes_done(&runtimes);
}

/*
 * Whatever user 1 runs takes 100 s, and name 8 takes 900 s whoever runs it. What user 2 runs takes
 * any time, and so does name 7. All by strangers, so that no user has run either name.
 */
static void learn_two_habits(struct runtimes *runtimes)
{
    struct rng rng;

    rng_init(&rng, SEED, 1);
    for (uint32_t run = 0; run < 200; run++) {
        const uint32_t fresh = 1000 + run;

        learn(runtimes, work(1, fresh), 100000);
        learn(runtimes, work(2, fresh), between(&rng, 1000, 2000000));
        learn(runtimes, work(fresh, 7), between(&rng, 1000, 2000000));
        learn(runtimes, work(fresh, 8), 900000);
    }
}

TEST(a_regular_user_of_an_irregular_name_is_judged_by_the_user)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);
    learn_two_habits(&runtimes);

    const struct runtime_estimate got = estimate(&runtimes, work(1, 7));

    assert_int_equal(got.kind, RUNTIME_BY_USER);
    assert_int_equal(got.runtime_ms, 100000);
    runtimes_done(&runtimes);
}

TEST(an_irregular_user_of_a_regular_name_is_judged_by_the_name)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);
    learn_two_habits(&runtimes);

    const struct runtime_estimate got = estimate(&runtimes, work(2, 8));

    assert_int_equal(got.kind, RUNTIME_BY_NAME);
    assert_int_equal(got.runtime_ms, 900000);
    runtimes_done(&runtimes);
}

TEST(a_fresh_group_is_trusted_as_its_kind_has_earned)
{
    struct runtimes runtimes;
    struct rng rng;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);
    rng_init(&rng, SEED, 2);

    /* Names tell all and users nothing; then comes a name that ran only once. */
    for (uint32_t run = 0; run < 300; run++) {
        const uint32_t name = (uint32_t)rng_below(&rng, 30);

        learn(&runtimes, work((uint32_t)rng_below(&rng, 5), name), 1000 << (name % 12));
    }
    learn(&runtimes, work(99, 500), 77000);

    const struct runtime_estimate got = estimate(&runtimes, work(3, 500));

    assert_int_equal(got.kind, RUNTIME_BY_NAME);
    assert_int_equal(got.samples, 1);
    assert_int_equal(got.runtime_ms, 77000);
    runtimes_done(&runtimes);
}

TEST(outliers_make_the_median_win_over_the_mean)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);

    for (uint32_t run = 0; run < 100; run++)
        learn(&runtimes, work(1, 1), run % 7 == 3 ? 500000 : 1000 + run % 3);

    const struct runtime_estimate got = estimate(&runtimes, work(1, 1));

    assert_int_equal(got.estimator, RUNTIME_MEDIAN);
    assert_in_range(got.runtime_ms, 1000, 1002);
    runtimes_done(&runtimes);
}

TEST(drift_makes_the_last_value_win)
{
    struct runtimes runtimes;
    msec_t runtime_ms = 10000;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);

    for (uint32_t run = 0; run < 60; run++) {
        learn(&runtimes, work(1, 1), runtime_ms);
        runtime_ms += runtime_ms / 20;
    }

    const struct runtime_estimate got = estimate(&runtimes, work(1, 1));

    assert_int_equal(got.estimator, RUNTIME_LAST);
    assert_in_range(got.runtime_ms, runtime_ms * 94 / 100, runtime_ms);
    runtimes_done(&runtimes);
}

TEST(even_noise_makes_a_mean_win_over_the_last_value)
{
    struct runtimes runtimes;
    struct rng rng;
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);
    rng_init(&rng, SEED, 3);

    for (uint32_t run = 0; run < 400; run++)
        learn(&runtimes, work(1, 1), between(&rng, 50000, 150000));

    const struct runtime_estimate got = estimate(&runtimes, work(1, 1));

    assert_int_not_equal(got.estimator, RUNTIME_LAST);
    assert_in_range(got.runtime_ms, 80000, 120000);
    runtimes_done(&runtimes);
}

TEST(a_habit_of_the_hour_is_found)
{
    struct runtimes runtimes;
    struct rng rng;
    struct runtime_traits traits = work(1, 1);
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);
    rng_init(&rng, SEED, 4);

    for (uint32_t run = 0; run < 600; run++) {
        traits.hour = (uint32_t)rng_below(&rng, 24);
        learn(&runtimes, traits, traits.hour < 12 ? 3600000 : 60000);
    }

    for (traits.hour = 0; traits.hour < 24; traits.hour++) {
        const struct runtime_estimate got = estimate(&runtimes, traits);

        assert_int_equal(got.kind, RUNTIME_BY_NAME_HOUR);
        assert_int_equal(got.runtime_ms, traits.hour < 12 ? 3600000 : 60000);
    }
    runtimes_done(&runtimes);
}

/* Bursts of six equal jobs that arrive together and end together, short and long in turn; returns
 * what error "the last run of the same name" is expected to have. */
static uint32_t error_of_last_in_bursts(bool by_arrival)
{
    struct runtimes runtimes;
    const struct runtime_traits traits = work(1, 1);
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);

    for (uint32_t burst = 0; burst < 50; burst++) {
        const uint64_t arrived = runtimes.learned;

        for (uint32_t job = 0; job < 6; job++)
            runtimes_learn(&runtimes, &traits, burst % 2 == 0 ? 1000 : 100000,
                           by_arrival ? arrived : RUNTIME_SEEN_ALL);
    }

    const struct runtime_estimate got =
        runtimes_candidate(&runtimes, &traits, RUNTIME_BY_NAME, RUNTIME_LAST);

    runtimes_done(&runtimes);
    return got.error_ppm;
}

TEST(an_estimate_is_judged_by_what_was_known_when_the_job_arrived)
{
    const uint32_t by_arrival = error_of_last_in_bursts(true);
    const uint32_t by_end = error_of_last_in_bursts(false);

    assert_in_range(by_arrival, 980000, 1000000);
    assert_in_range(by_end, 0, 300000);
}

TEST(one_time_names_cannot_wash_out_regular_ones)
{
    struct runtimes runtimes;
    struct rng rng;
    runtimes_init(&runtimes, DEFAULT_MS, RUNTIMES_GROUPS_MIN);
    rng_init(&rng, SEED, 7);
    learn(&runtimes, work(1, 1), 42000);

    /* Three new groups a run: in order of use alone, 64 would last for 20 runs. */
    for (uint32_t i = 0; i < 20000; i++) {
        learn(&runtimes, work(100 + i, 100 + i), between(&rng, 1000, 2000000));
        if (i % 100 == 0)
            learn(&runtimes, work(1, 1), 42000);
        assert_true(runtimes.count <= RUNTIMES_GROUPS_MIN);
    }

    const struct runtime_estimate got = estimate(&runtimes, work(1, 1));

    assert_int_equal(got.samples, 201);
    assert_int_equal(got.runtime_ms, 42000);
    assert_int_equal(runtimes.by_hash.count, RUNTIMES_GROUPS_MIN);
    assert_int_equal(runtimes.once.count + runtimes.again.count, RUNTIMES_GROUPS_MIN);
    runtimes_done(&runtimes);
}

TEST(habits_long_past_make_room_for_those_of_today)
{
    struct runtimes runtimes;
    runtimes_init(&runtimes, DEFAULT_MS, RUNTIMES_GROUPS_MIN);
    for (uint32_t run = 0; run < 200; run++)
        learn(&runtimes, work(1 + run % 20, 1 + run % 20), 1000 << run % 20);

    for (uint32_t run = 0; run < 200; run++)
        learn(&runtimes, work(100 + run % 20, 100 + run % 20), 1000 << run % 20);

    const struct runtime_estimate past = estimate(&runtimes, work(1, 1));
    const struct runtime_estimate today = estimate(&runtimes, work(105, 105));

    assert_int_equal(past.kind, RUNTIME_BY_NOTHING);
    assert_int_equal(today.kind, RUNTIME_BY_USER_NAME);
    assert_int_equal(today.runtime_ms, 1000 << 5);
    runtimes_done(&runtimes);
}

/*
 * A cluster of many habits: by the user, some names have their length, some people have theirs with
 * the odd run-away, some work depends on the hour, some grows. Everything varies by a tenth.
 */
static msec_t draw_work(struct rng *rng, uint32_t run, struct runtime_traits *ret)
{
    const uint32_t user = (uint32_t)rng_below(rng, 24);
    const uint32_t name = (uint32_t)rng_below(rng, 12);
    const msec_t vary = between(rng, 900, 1100);

    *ret = (struct runtime_traits){
        .name = user % 4 == 1 ? 10000 + run : user % 8 * 100 + name,
        .user = user,
        .shape = (uint32_t)rng_below(rng, 5),
        .tasks = (uint32_t)rng_below(rng, 4),
        .hour = (uint32_t)rng_below(rng, 24),
        .limit = RUNTIME_UNKNOWN,
    };
    switch (user % 4) {
    case 0:
        return vary * (10 << (name % 8));
    case 1:
        return vary * (rng_below(rng, 12) == 0 ? 5000 : 40 + user * 10);
    case 2:
        return vary * (ret->hour < 8 ? 2000 : 50);
    default:
        return vary * (10 + run / 8);
    }
}

static void run_stream(struct runtimes *runtimes, uint64_t seed, struct runtime_estimate *ret,
                       uint32_t count)
{
    struct rng rng;

    rng_init(&rng, seed, 5);
    memset(ret, 0, count * sizeof(*ret));
    for (uint32_t run = 0; run < count; run++) {
        struct runtime_traits traits;
        const msec_t runtime_ms = draw_work(&rng, run, &traits);
        const struct runtime_estimate got = runtimes_estimate(runtimes, &traits);

        ret[run].runtime_ms = got.runtime_ms;
        ret[run].kind = got.kind;
        ret[run].estimator = got.estimator;
        ret[run].samples = got.samples;
        ret[run].error_ppm = got.error_ppm;
        ret[run].seen = got.seen;
        runtimes_learn(runtimes, &traits, runtime_ms, got.seen);
    }
}

TEST(equal_histories_give_equal_estimates_to_the_bit)
{
    enum { COUNT = 2000 };
    static struct runtime_estimate first[COUNT], second[COUNT];
    struct runtimes a, b;
    runtimes_init(&a, DEFAULT_MS, 256);
    runtimes_init(&b, DEFAULT_MS, 256);

    run_stream(&a, SEED, first, COUNT);
    run_stream(&b, SEED, second, COUNT);

    assert_memory_equal(first, second, sizeof(first));
    assert_memory_equal(a.of_kind, b.of_kind, sizeof(a.of_kind));
    runtimes_done(&a);
    runtimes_done(&b);
}

/* Sums over a stream: absolute errors and truths (their ratio is the NMAE), and relative errors. */
struct tally {
    double wrong_ms;
    double true_ms;
    double relative;
};

static void tally_add(struct tally *tally, msec_t estimate_ms, msec_t true_ms)
{
    const double e = (double)estimate_ms;
    const double t = (double)true_ms;

    tally->wrong_ms += e < t ? t - e : e - t;
    tally->true_ms += t;
    tally->relative += e < t ? 1 - e / t : 1 - t / e;
}

/* Every candidate alone, with all runs behind it where its group is empty, against our choice. */
static void compare_with_fixed(uint64_t seed, struct tally *ret_chosen, double *ret_nmae,
                               double *ret_relative)
{
    struct runtimes runtimes;
    struct rng rng;
    struct tally chosen = { 0 };
    struct tally fixed[RUNTIME_KINDS * RUNTIME_ESTIMATORS] = { { 0 } };
    runtimes_init(&runtimes, DEFAULT_MS, GROUPS);
    rng_init(&rng, seed, 5);

    for (uint32_t run = 0; run < 3000; run++) {
        struct runtime_traits traits;
        const msec_t runtime_ms = draw_work(&rng, run, &traits);
        const struct runtime_estimate got = runtimes_estimate(&runtimes, &traits);

        for (uint32_t i = 0; i < RUNTIME_KINDS * RUNTIME_ESTIMATORS; i++) {
            const enum runtime_estimator estimator = i % RUNTIME_ESTIMATORS;
            struct runtime_estimate said =
                runtimes_candidate(&runtimes, &traits, i / RUNTIME_ESTIMATORS, estimator);

            if (said.samples == 0)
                said = runtimes_candidate(&runtimes, &traits, RUNTIME_BY_NOTHING, estimator);
            tally_add(&fixed[i], said.runtime_ms, runtime_ms);
        }
        tally_add(&chosen, got.runtime_ms, runtime_ms);
        runtimes_learn(&runtimes, &traits, runtime_ms, got.seen);
    }

    *ret_chosen = chosen;
    *ret_nmae = 1e9;
    *ret_relative = 1e9;
    for (uint32_t i = 0; i < RUNTIME_KINDS * RUNTIME_ESTIMATORS; i++) {
        const double nmae = fixed[i].wrong_ms / fixed[i].true_ms;

        *ret_nmae = nmae < *ret_nmae ? nmae : *ret_nmae;
        *ret_relative = fixed[i].relative < *ret_relative ? fixed[i].relative : *ret_relative;
    }
    runtimes_done(&runtimes);
}

TEST(the_choice_beats_every_fixed_pair_by_relative_error_and_is_close_by_nmae)
{
    for (uint64_t seed = SEED; seed < SEED + 10; seed++) {
        struct tally chosen;
        double best_nmae;
        double best_relative;

        compare_with_fixed(seed, &chosen, &best_nmae, &best_relative);
        print_message("# seed %llu: NMAE %.3f, best fixed %.3f; relative %.3f, best fixed %.3f\n",
                      (unsigned long long)seed, chosen.wrong_ms / chosen.true_ms, best_nmae,
                      chosen.relative / 3000, best_relative / 3000);

        assert_true(chosen.wrong_ms / chosen.true_ms < best_nmae * 1.1);
        assert_true(chosen.relative < best_relative * 0.8);
    }
}

TEST(an_estimate_says_in_words_where_it_comes_from)
{
    static const struct {
        struct runtime_estimate estimate;
        const char *words;
    } cases[] = {
        { { .samples = 0 }, "without an earlier run" },
        { { .samples = 1, .kind = RUNTIME_BY_USER, .estimator = RUNTIME_LAST },
          "only earlier run by the same user" },
        { { .samples = 14, .kind = RUNTIME_BY_USER_NAME, .estimator = RUNTIME_MEDIAN },
          "median of 14 earlier runs of the same name by the same user" },
        { { .samples = 17, .kind = RUNTIME_BY_SHAPE, .estimator = RUNTIME_MEDIAN },
          "median of the last 16 runs of the same shape" },
        { { .samples = 17, .kind = RUNTIME_BY_NAME_HOUR, .estimator = RUNTIME_MEAN },
          "mean of 17 earlier runs of the same name at the same hour of the day" },
        { { .samples = 2, .kind = RUNTIME_BY_NOTHING, .estimator = RUNTIME_RECENT },
          "mean of the last 2 runs of any work" },
        { { .samples = 9, .kind = RUNTIME_BY_USER_TASKS, .estimator = RUNTIME_DECAYED },
          "decayed mean of 9 earlier runs with as many tasks by the same user" },
        { { .samples = 9, .kind = RUNTIME_BY_USER_LIMIT, .estimator = RUNTIME_LAST },
          "last run of the same time limit by the same user" },
    };

    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char words[RUNTIME_WORDS_SIZE];

        runtime_words(&cases[i].estimate, words, sizeof(words));
        assert_string_equal(words, cases[i].words);
    }
}

TEST(work_without_an_end_always_has_a_year_left)
{
    assert_int_equal(runtime_expected(MSEC_NEVER), RUNTIME_HORIZON_MS);
    assert_int_equal(runtime_remaining(MSEC_NEVER, 0), RUNTIME_HORIZON_MS);
    assert_int_equal(runtime_remaining(MSEC_NEVER, 5 * RUNTIME_HORIZON_MS), RUNTIME_HORIZON_MS);
}

TEST(nothing_lasts_for_more_than_a_year)
{
    assert_int_equal(runtime_expected(RUNTIME_HORIZON_MS + 1), RUNTIME_HORIZON_MS);
    assert_int_equal(runtime_expected(RUNTIME_HORIZON_MS - 1), RUNTIME_HORIZON_MS - 1);
    assert_int_equal(runtime_remaining(MSEC_NEVER - 1, 7), RUNTIME_HORIZON_MS);
    assert_int_equal(runtime_remaining(5, 2 * RUNTIME_HORIZON_MS), RUNTIME_HORIZON_MS);
}

TEST(past_its_estimate_a_task_has_run_half_of_its_life)
{
    static const struct {
        msec_t estimate_ms, executed_ms, remaining_ms;
    } cases[] = {
        { 1000, 0, 1000 },    { 1000, 999, 1 }, { 1000, 1000, 1000 },
        { 1000, 5000, 5000 }, { 0, 0, 1 },      { 0, 30, 30 },
    };

    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(runtime_remaining(cases[i].estimate_ms, cases[i].executed_ms),
                         cases[i].remaining_ms);
}

TEST(an_oracle_without_noise_tells_the_truth)
{
    assert_int_equal(runtime_oracle(0, 0, NULL), 0);
    assert_int_equal(runtime_oracle(123456, 0, NULL), 123456);
    assert_true(runtime_oracle(LIMIT_TIME_MS, 0, NULL) == LIMIT_TIME_MS);
}

TEST(a_noisy_oracle_is_too_long_as_often_as_too_short_and_keeps_its_bound)
{
    struct rng rng, same;
    uint32_t longer = 0;
    uint32_t far = 0;
    rng_init(&rng, SEED, 6);
    rng_init(&same, SEED, 6);

    for (uint32_t i = 0; i < 10000; i++) {
        const msec_t got = runtime_oracle(600000, 1000000, &rng);

        assert_int_equal(got, runtime_oracle(600000, 1000000, &same));
        assert_in_range(got, 300000, 1200000);
        longer += got > 600000;
        far += got < 400000 || got > 900000;
    }
    assert_in_range(longer, 4800, 5200);
    assert_in_range(far, 4800, 5200);
    assert_int_equal(runtime_oracle(0, 1000000, &rng), 0);
    assert_in_range(runtime_oracle(1, UINT32_MAX, &rng), 1, 5000);
}

CHECK_MAIN(RUN(work_without_an_end_always_has_a_year_left), RUN(nothing_lasts_for_more_than_a_year),
           RUN(without_history_the_default_is_given_and_said_to_be_one),
           RUN(names_that_always_run_alike_are_estimated_exactly),
           RUN(the_first_run_of_its_kind_is_an_estimate_already),
           RUN(work_of_unknown_traits_is_judged_by_all_runs),
           RUN(a_regular_user_of_an_irregular_name_is_judged_by_the_user),
           RUN(an_irregular_user_of_a_regular_name_is_judged_by_the_name),
           RUN(a_fresh_group_is_trusted_as_its_kind_has_earned),
           RUN(outliers_make_the_median_win_over_the_mean), RUN(drift_makes_the_last_value_win),
           RUN(even_noise_makes_a_mean_win_over_the_last_value), RUN(a_habit_of_the_hour_is_found),
           RUN(an_estimate_is_judged_by_what_was_known_when_the_job_arrived),
           RUN(one_time_names_cannot_wash_out_regular_ones),
           RUN(habits_long_past_make_room_for_those_of_today),
           RUN(equal_histories_give_equal_estimates_to_the_bit),
           RUN(the_choice_beats_every_fixed_pair_by_relative_error_and_is_close_by_nmae),
           RUN(an_estimate_says_in_words_where_it_comes_from),
           RUN(past_its_estimate_a_task_has_run_half_of_its_life),
           RUN(an_oracle_without_noise_tells_the_truth),
           RUN(a_noisy_oracle_is_too_long_as_often_as_too_short_and_keeps_its_bound))
