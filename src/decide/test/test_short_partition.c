/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/short_partition.h"

#include "base/rng.h"
#include "base/test/check.h"

static const struct short_partition_rule strict = { .most = 120,
                                                    .threshold_ppm = 950000,
                                                    .strict = true };
static const struct short_partition_rule loose = { .most = 120, .threshold_ppm = 950000 };

/* The cluster of the paper: 40 short servers and 3,920 for both. */
static struct short_partition_view paper(uint32_t with_long, uint32_t booting, uint32_t active,
                                         uint32_t draining)
{
    return (struct short_partition_view){ with_long, 3960, booting, active, draining };
}

TEST(servers_are_requested_until_the_ratio_falls_to_the_threshold)
{
    const struct short_partition_view at = paper(3762, 0, 0, 0); /* 0.95 of 3,960 */
    const struct short_partition_view above = paper(3763, 0, 0, 0);
    const struct short_partition_view far_above = paper(3800, 10, 10, 0);

    assert_int_equal(short_partition_step(&strict, &at), 0);
    assert_int_equal(short_partition_step(&strict, &above),
                     2); /* 3763 / 3962 is below, / 3961 not */
    assert_int_equal(short_partition_step(&strict, &far_above), 20);
}

TEST(no_more_than_the_most_are_alive)
{
    const struct short_partition_view full = paper(3920, 100, 0, 15);

    assert_int_equal(short_partition_step(&strict, &full), 5);
    assert_int_equal(short_partition_step(&loose, &full), 20);
}

TEST(one_leaves_at_a_time_and_only_one_that_is_active)
{
    const struct short_partition_view calm = paper(1000, 0, 50, 3);
    const struct short_partition_view booting = paper(1000, 50, 0, 0);

    assert_int_equal(short_partition_step(&strict, &calm), -1);
    assert_int_equal(short_partition_step(&strict, &booting), 0);
}

TEST(a_strict_rule_keeps_what_it_would_request_again)
{
    const struct short_partition_view edge = paper(3800, 0, 40, 0); /* exactly 0.95 */

    assert_int_equal(short_partition_step(&strict, &edge), 0);
    assert_int_equal(short_partition_step(&loose, &edge), -1);
}

TEST(a_threshold_of_nothing_asks_for_all_there_may_be)
{
    const struct short_partition_rule rule = { .most = 7, .strict = true };
    const struct short_partition_view busy = paper(1, 0, 0, 0);
    const struct short_partition_view empty = paper(0, 0, 2, 0);

    assert_int_equal(short_partition_step(&rule, &busy), 7);
    assert_int_equal(short_partition_step(&rule, &empty), -1);
}

/* Brute force: the fewest servers with which the ratio, as a fraction, is at most the threshold. */
static uint64_t fewest_servers(uint64_t with_long, uint64_t ppm)
{
    uint64_t servers = 0;

    while (with_long * SHORT_PARTITION_PPM > ppm * servers)
        servers++;
    return servers;
}

TEST(random_clusters_agree_with_counting_up)
{
    struct rng rng;

    rng_init(&rng, 5, 0);
    for (int i = 0; i < 20000; i++) {
        const struct short_partition_rule rule = {
            .most = (uint32_t)rng_below(&rng, 30),
            .threshold_ppm = 1 + (uint32_t)rng_below(&rng, SHORT_PARTITION_PPM),
            .strict = true,
        };
        struct short_partition_view view = {
            .with_long = (uint32_t)rng_below(&rng, 40),
            .fixed = 40,
            .booting = (uint32_t)rng_below(&rng, 8),
            .active = (uint32_t)rng_below(&rng, 8),
            .draining = (uint32_t)rng_below(&rng, 8),
        };
        const uint64_t need = fewest_servers(view.with_long, rule.threshold_ppm);
        const uint64_t total = (uint64_t)view.fixed + view.booting + view.active;
        const uint64_t alive = (uint64_t)view.booting + view.active + view.draining;
        const int64_t step = short_partition_step(&rule, &view);

        if (step > 0) {
            assert_true(alive + (uint64_t)step <= rule.most);
            assert_true(total + (uint64_t)step == need || alive + (uint64_t)step == rule.most);
        } else if (step < 0) {
            assert_int_equal(step, -1);
            view.active--;
            view.draining++;
            assert_true(short_partition_step(&rule, &view) <= 0);
        } else {
            assert_true(need > total ? alive >= rule.most : view.active == 0 || need == total);
        }
    }
}

TEST(a_job_is_short_by_its_limit_or_by_a_history_that_is_trusted)
{
    static const struct {
        struct short_partition_job job;
        bool is_short;
    } cases[] = {
        { { 90000, MSEC_NEVER, 0 }, true },
        { { 90001, MSEC_NEVER, 0 }, false },
        { { MSEC_NEVER, 90000, 0 }, true },
        { { MSEC_NEVER, 90001, 0 }, false },
        { { MSEC_NEVER, 45000, 500000 }, true }, /* may take twice as long */
        { { MSEC_NEVER, 45001, 500000 }, false },
        { { 90000, 90000, 900000 }, true }, /* the limit holds, whatever history says */
        { { 100000, 60000, 200000 }, true },
        { { MSEC_NEVER, 0, 1000000 }, false }, /* nothing is known then */
        { { MSEC_NEVER, MSEC_NEVER, 0 }, false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (short_partition_admits(90000, &cases[i].job) != cases[i].is_short)
            fail_msg("case %zu", i);
    }
}

TEST(a_budget_buys_more_of_what_is_cheaper)
{
    assert_int_equal(short_partition_budget(40, 3), 120);
    assert_int_equal(short_partition_budget(UINT32_MAX, 2), UINT32_MAX);
}

CHECK_MAIN(RUN(servers_are_requested_until_the_ratio_falls_to_the_threshold),
           RUN(no_more_than_the_most_are_alive),
           RUN(one_leaves_at_a_time_and_only_one_that_is_active),
           RUN(a_strict_rule_keeps_what_it_would_request_again),
           RUN(a_threshold_of_nothing_asks_for_all_there_may_be),
           RUN(random_clusters_agree_with_counting_up),
           RUN(a_job_is_short_by_its_limit_or_by_a_history_that_is_trusted),
           RUN(a_budget_buys_more_of_what_is_cheaper))
