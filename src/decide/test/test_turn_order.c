/* SPDX-License-Identifier: Apache-2.0 */
/* The first of those that wait, held against a sort of all of them. */
#include "decide/turn_order.h"

#include <stdlib.h>

#include "base/rng.h"
#include "decide/test/yard.h"

enum { JOBS = 40 };

static void fill(struct yard *yard, struct rng *rng)
{
    yard_init(yard);
    (void)yard_type(yard, "std", 4, 16, 0, 1.0);
    const uint32_t shape = yard_shape(yard, 1, 1, 0);

    yard_open(yard);
    yard->view.now = 1000;
    for (uint32_t i = 0; i < JOBS; i++) {
        const uint32_t first = yard_job(yard, shape, 1 + (uint32_t)rng_below(rng, 3), false);
        const uint32_t job = yard->view.task.job[first];

        yard->view.job.priority[job] = (uint32_t)rng_below(rng, 5);
        yard->view.job.arrived_at[job] = (msec_t)rng_below(rng, 5);
    }
}

TEST(the_first_are_those_of_the_whole_queue)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct yard yard;
        struct rng rng;
        struct turn_rank all[JOBS * 3];
        uint32_t *first;
        uint32_t count = 0;

        rng_init(&rng, seed, 0);
        fill(&yard, &rng);
        TASK_EACH(task, &yard.view, yard.view.task.waiting_first)
        {
            all[count++] = turn_rank_of(&yard.view, task);
        }
        qsort(all, count, sizeof(*all), turn_compare);
        const uint32_t most = (uint32_t)rng_below(&rng, JOBS * 4);
        const uint32_t found = turn_first(&yard.view, most, &yard.arena, &first);

        assert_int_equal(found, most < count ? most : count);
        for (uint32_t i = 0; i < found; i++)
            assert_int_equal(first[i], all[i].task);
        yard_done(&yard);
    }
}

TEST(priority_comes_before_age_and_age_before_the_order_of_tasks)
{
    const struct turn_rank high = { .priority = 2, .arrived_at = 9 };
    const struct turn_rank old = { .priority = 1, .arrived_at = 1, .job = 5 };
    const struct turn_rank young = { .priority = 1, .arrived_at = 2, .job = 4 };
    const struct turn_rank later = { .priority = 1, .arrived_at = 2, .job = 4, .order = 1 };

    assert_true(turn_compare(&high, &old) < 0);
    assert_true(turn_compare(&old, &young) < 0);
    assert_true(turn_compare(&young, &later) < 0);
    assert_int_equal(turn_compare(&later, &later), 0);
}

/* Else a gang of higher priority waits for the machine that it holds, and it waits for the other's turn. */
TEST(the_rest_of_a_gang_that_holds_machines_comes_first)
{
    struct yard yard;
    uint32_t *first;

    yard_init(&yard);
    (void)yard_type(&yard, "std", 4, 16, 0, 1.0);
    const uint32_t shape = yard_shape(&yard, 1, 1, 0);

    yard_open(&yard);
    const uint32_t gang = yard_job(&yard, shape, 2, true);
    const uint32_t high = yard_job(&yard, shape, 3, true);
    const uint32_t instance = yard_machine(&yard, 0);

    yard.view.job.priority[yard.view.task.job[high]] = 9;
    assert_int_equal(turn_first(&yard.view, 1, &yard.arena, &first), 1);
    assert_int_equal(first[0], high);
    view_bind(&yard.view, gang, instance);
    assert_int_equal(turn_first(&yard.view, 1, &yard.arena, &first), 1);
    assert_int_equal(yard.view.task.job[first[0]], yard.view.task.job[gang]);
    yard_done(&yard);
}

CHECK_MAIN(RUN(the_first_are_those_of_the_whole_queue),
           RUN(priority_comes_before_age_and_age_before_the_order_of_tasks),
           RUN(the_rest_of_a_gang_that_holds_machines_comes_first))
