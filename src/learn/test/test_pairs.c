/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/pairs.h"

#include <math.h>

#include "base/rng.h"
#include "base/test/check.h"

enum { A, B, C, WORKLOADS };

static void check_near(double got, double want, double by)
{
    if (fabs(got - want) > by)
        fail_msg("%g is not %g, give or take %g", got, want, by);
}

TEST(nothing_reported_means_full_speed)
{
    struct pairs pairs;
    const struct pairs none = { 0 };
    const uint32_t beside = B;

    pairs_init(&pairs, 0.95);
    check_near(pairs_rate(&pairs, A, B), 1, 0);
    check_near(pairs_rate(&none, A, B), 1, 0);
    pairs_observe(&pairs, A, &beside, 1, 0.8);
    check_near(pairs_rate(&pairs, A, C), 0.95, 1e-12);
    check_near(pairs_rate(&pairs, B, A), 0.95, 1e-12); /* ordered */
    pairs_done(&pairs);
}

TEST(the_first_report_of_a_pair_is_nearly_believed)
{
    struct pairs pairs;
    const uint32_t beside = B;

    pairs_init(&pairs, 0.95);
    pairs_observe(&pairs, A, &beside, 1, 0.7);
    check_near(pairs_rate(&pairs, A, B), 0.7, 0.02);
    for (int i = 0; i < 10; i++)
        pairs_observe(&pairs, A, &beside, 1, 0.7);
    check_near(pairs_rate(&pairs, A, B), 0.7, 0.01);
    pairs_done(&pairs);
}

TEST(the_version_grows_when_a_rate_changes_and_not_otherwise)
{
    struct pairs pairs;
    const uint32_t beside = B;

    pairs_init(&pairs, 0.95);
    for (int i = 0; i < 20; i++)
        pairs_observe(&pairs, A, &beside, 1, 0.7);

    const uint64_t version = pairs.version;
    const double rate = pairs_rate(&pairs, A, B);

    pairs_observe(&pairs, A, &beside, 1, 0.7);
    assert_int_equal(pairs.version, version);
    check_near(pairs_rate(&pairs, A, B), rate, 0);
    for (int i = 0; i < 100; i++)
        pairs_observe(&pairs, A, &beside, 1, 0.9);
    assert_true(pairs.version > version);
    pairs_done(&pairs);
}

/* Groups of two to four, each report off by up to a tenth: every pair comes out within three hundredths. */
TEST(pairs_are_told_apart_from_noisy_reports_of_groups)
{
    static const double truth[WORKLOADS][WORKLOADS] = { { 0.9, 0.7, 0.95 },
                                                        { 0.85, 0.6, 1.0 },
                                                        { 1.0, 0.8, 0.75 } };
    struct pairs pairs;
    struct rng rng;

    pairs_init(&pairs, 0.95);
    rng_init(&rng, 5, 0);
    for (int i = 0; i < 3000; i++) {
        const uint32_t who = (uint32_t)rng_below(&rng, WORKLOADS);
        const uint32_t count = 1 + (uint32_t)rng_below(&rng, 3);
        uint32_t others[3];
        double rate = 0.9 + 0.2 * rng_unit(&rng);

        for (uint32_t k = 0; k < count; k++) {
            others[k] = (uint32_t)rng_below(&rng, WORKLOADS);
            rate *= truth[who][others[k]];
        }
        pairs_observe(&pairs, who, others, count, rate);
    }
    for (uint32_t a = 0; a < WORKLOADS; a++) {
        for (uint32_t b = 0; b < WORKLOADS; b++)
            check_near(pairs_rate(&pairs, a, b), truth[a][b], 0.03);
    }
    pairs_done(&pairs);
}

TEST(a_drift_is_followed)
{
    struct pairs pairs;
    const uint32_t beside = B;

    pairs_init(&pairs, 0.95);
    for (int i = 0; i < 1000; i++)
        pairs_observe(&pairs, A, &beside, 1, 0.9);
    for (int i = 0; i < 200; i++)
        pairs_observe(&pairs, A, &beside, 1, 0.6);
    check_near(pairs_rate(&pairs, A, B), 0.6, 0.02);
    pairs_done(&pairs);
}

TEST(rates_stay_within_their_bounds)
{
    struct pairs pairs;
    const uint32_t beside[2] = { B, B };

    pairs_init(&pairs, 0.95);
    for (int i = 0; i < 50; i++)
        pairs_observe(&pairs, A, beside, 2, 1e-9);
    assert_true(pairs_rate(&pairs, A, B) >= PAIRS_LEAST);
    for (int i = 0; i < 500; i++)
        pairs_observe(&pairs, A, beside, 2, 1);
    assert_true(pairs_rate(&pairs, A, B) <= 1);
    check_near(pairs_expected(&pairs, A, beside, 2), 1, 0.05);
    pairs_done(&pairs);
}

CHECK_MAIN(RUN(nothing_reported_means_full_speed),
           RUN(the_first_report_of_a_pair_is_nearly_believed),
           RUN(the_version_grows_when_a_rate_changes_and_not_otherwise),
           RUN(pairs_are_told_apart_from_noisy_reports_of_groups), RUN(a_drift_is_followed),
           RUN(rates_stay_within_their_bounds))
