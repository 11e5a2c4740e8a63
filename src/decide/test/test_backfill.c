/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "base/test/check.h"
#include "decide/backfill.h"

enum { HOUR = 3600000 };

TEST(jobs_start_in_order_while_there_is_room)
{
    struct backfill_job jobs[] = { { 2, HOUR, false }, { 3, HOUR, false }, { 1, HOUR, false } };

    const struct backfill_result got =
        backfill_easy(&(struct backfill_input){ .free = 6, .jobs = jobs, .job_count = 3 });

    assert_true(jobs[0].starts && jobs[1].starts && jobs[2].starts);
    assert_int_equal(got.top, 3);
    assert_int_equal(got.free_after, 0);
}

TEST(a_short_job_may_pass_one_that_waits_for_room)
{
    const struct backfill_end ends[] = { { 2 * HOUR, 4 } };
    struct backfill_job jobs[] = { { 5, HOUR, false }, { 2, HOUR, false } };

    const struct backfill_result got = backfill_easy(&(struct backfill_input){
        .free = 2, .ends = ends, .end_count = 1, .jobs = jobs, .job_count = 2 });

    assert_int_equal(got.reserved_at, 2 * HOUR);
    assert_false(jobs[0].starts);
    assert_true(jobs[1].starts);
}

TEST(a_long_job_may_not_take_what_the_first_will_need)
{
    const struct backfill_end ends[] = { { 2 * HOUR, 4 } };
    struct backfill_job jobs[] = { { 6, HOUR, false }, { 1, 3 * HOUR, false } };

    (void)backfill_easy(&(struct backfill_input){
        .free = 2, .ends = ends, .end_count = 1, .jobs = jobs, .job_count = 2 });

    assert_false(jobs[1].starts);
}

TEST(a_long_job_may_take_what_the_first_leaves_over)
{
    const struct backfill_end ends[] = { { 2 * HOUR, 4 } };
    struct backfill_job jobs[] = { { 5, HOUR, false },
                                   { 1, 3 * HOUR, false },
                                   { 1, 3 * HOUR, false } };

    (void)backfill_easy(&(struct backfill_input){
        .free = 2, .ends = ends, .end_count = 1, .jobs = jobs, .job_count = 3 });

    assert_true(jobs[1].starts);
    assert_false(jobs[2].starts);
}

TEST(a_job_larger_than_the_cluster_is_reserved_never)
{
    struct backfill_job jobs[] = { { 9, HOUR, false }, { 2, 100 * (msec_t)HOUR, false } };

    const struct backfill_result got =
        backfill_easy(&(struct backfill_input){ .free = 2, .jobs = jobs, .job_count = 2 });

    assert_true(got.reserved_at == MSEC_NEVER);
    assert_true(jobs[1].starts);
}

enum { ENDS = 12, JOBS = 10 };

/* A random moment of a random cluster. */
struct moment {
    struct backfill_end ends[ENDS];
    struct backfill_job jobs[JOBS];
    struct backfill_input in;
};

static void draw(struct moment *moment, struct rng *rng)
{
    msec_t at = 1000;

    for (int i = 0; i < ENDS; i++) {
        at += (msec_t)rng_below(rng, 500);
        moment->ends[i] = (struct backfill_end){ at, 1 + (uint32_t)rng_below(rng, 4) };
    }
    for (int i = 0; i < JOBS; i++)
        moment->jobs[i] = (struct backfill_job){ .size = 1 + (uint32_t)rng_below(rng, 12),
                                                 .runtime = 1 + (msec_t)rng_below(rng, 4000) };
    moment->in = (struct backfill_input){
        .now = 1000,
        .free = (uint32_t)rng_below(rng, 12),
        .ends = moment->ends,
        .end_count = (uint32_t)rng_below(rng, ENDS + 1),
        .jobs = moment->jobs,
        .job_count = (uint32_t)rng_below(rng, JOBS + 1),
    };
}

/* By brute force: machines that are free at 'at' if what started goes by its estimate. */
static uint32_t free_at(const struct moment *moment, uint32_t free_after, msec_t at)
{
    uint32_t free = free_after;

    for (uint32_t i = 0; i < moment->in.end_count; i++)
        free += moment->ends[i].at <= at ? moment->ends[i].count : 0;
    for (uint32_t i = 0; i < moment->in.job_count; i++) {
        if (moment->jobs[i].starts && moment->in.now + moment->jobs[i].runtime <= at)
            free += moment->jobs[i].size;
    }
    return free;
}

TEST(backfill_never_delays_the_reserved_start_of_the_first_job)
{
    struct rng rng;
    int reserved = 0;

    rng_init(&rng, 20261115, 0);
    for (int round = 0; round < 20000; round++) {
        struct moment moment;

        draw(&moment, &rng);

        const struct backfill_result got = backfill_easy(&moment.in);

        if (got.top == moment.in.job_count || got.reserved_at == MSEC_NEVER)
            continue;
        reserved++;
        assert_true(free_at(&moment, got.free_after, got.reserved_at) >= moment.jobs[got.top].size);
    }
    assert_true(reserved > 1000);
}

TEST(what_starts_never_needs_more_than_is_free)
{
    struct rng rng;

    rng_init(&rng, 20261116, 0);
    for (int round = 0; round < 20000; round++) {
        struct moment moment;
        uint32_t taken = 0;

        draw(&moment, &rng);

        const struct backfill_result got = backfill_easy(&moment.in);

        for (uint32_t i = 0; i < moment.in.job_count; i++)
            taken += moment.jobs[i].starts ? moment.jobs[i].size : 0;
        assert_int_equal(taken + got.free_after, moment.in.free);
    }
}

CHECK_MAIN(RUN(jobs_start_in_order_while_there_is_room),
           RUN(a_short_job_may_pass_one_that_waits_for_room),
           RUN(a_long_job_may_not_take_what_the_first_will_need),
           RUN(a_long_job_may_take_what_the_first_leaves_over),
           RUN(a_job_larger_than_the_cluster_is_reserved_never),
           RUN(backfill_never_delays_the_reserved_start_of_the_first_job),
           RUN(what_starts_never_needs_more_than_is_free))
