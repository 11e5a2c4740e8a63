/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "base/test/check.h"

TEST(a_seed_gives_the_same_numbers_and_streams_differ)
{
    struct rng a, b, other;
    int same = 0;

    rng_init(&a, 42, 1);
    rng_init(&b, 42, 1);
    rng_init(&other, 42, 2);
    for (int i = 0; i < 100; i++) {
        const uint64_t drawn = rng_next(&a);

        assert_true(drawn == rng_next(&b));
        same += drawn == rng_next(&other);
    }
    assert_int_equal(same, 0);
}

TEST(bounded_numbers_are_even)
{
    struct rng rng;
    int seen[7] = { 0 };

    rng_init(&rng, 1, 0);
    for (int i = 0; i < 70000; i++)
        seen[rng_below(&rng, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_in_range(seen[i], 9600, 10400);
}

TEST(exponential_numbers_have_their_mean)
{
    struct rng rng;
    double sum = 0;

    rng_init(&rng, 1, 0);
    for (int i = 0; i < 100000; i++)
        sum += rng_exponential(&rng, 1200.0);
    assert_in_range((int)(sum / 100000), 1180, 1220);
}

CHECK_MAIN(RUN(a_seed_gives_the_same_numbers_and_streams_differ), RUN(bounded_numbers_are_even),
           RUN(exponential_numbers_have_their_mean))
