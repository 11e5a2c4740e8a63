/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of spread.h against a plain table, and that each way to pack heeds it. That every plan of
 * every policy does is for tests/prop.
 */
#include "decide/spread.h"

#include "base/rng.h"
#include "decide/best_fit.h"
#include "decide/first_fit.h"
#include "decide/fresh_fill.h"
#include "decide/runtime_bins.h"
#include "decide/scale_out.h"
#include "decide/test/yard.h"
#include "decide/tight_fit.h"
#include "decide/topdown.h"

enum { JOBS = 20, MACHINES = 30, STEPS = 5000 };

/* What a number of the test stands for: jobs by themselves, and sets of marks. */
static void make_numbers(struct aparts *aparts, uint32_t *ret)
{
    static const struct apart_mark marks[][2] = {
        { { 1, APART_HAS }, { 2, APART_SHUNS } }, { { 1, APART_SHUNS }, { 2, APART_HAS } },
        { { 2, APART_HAS }, { 3, APART_BOTH } },  { { 3, APART_SHUNS }, { 4, APART_HAS } },
        { { 1, APART_BOTH }, { 1, APART_HAS } },
    };

    for (uint32_t i = 0; i < JOBS; i++)
        ret[i] = i < sizeof(marks) / sizeof(marks[0]) ? aparts_add(aparts, marks[i], 2) : i;
}

TEST(random_histories_agree_with_a_plain_table)
{
    static uint32_t there[JOBS][MACHINES];
    struct shapes shapes;
    const struct view view = { .shapes = &shapes };
    uint32_t number[JOBS];
    struct arena arena;
    struct spread spread;
    struct rng rng;

    arena_init(&arena);
    rng_init(&rng, 1, 0);
    shapes_init(&shapes);
    make_numbers(&shapes.aparts, number);
    spread_init(&spread, &view, &arena);
    for (int i = 0; i < STEPS; i++) {
        const uint32_t job = (uint32_t)rng_below(&rng, JOBS);
        const uint32_t machine = (uint32_t)rng_below(&rng, MACHINES);

        bool expected = false;

        for (uint32_t other = 0; other < JOBS; other++)
            expected = expected || (there[other][machine] > 0 &&
                                    aparts_meet(&shapes.aparts, number[job], number[other]));
        assert_int_equal(spread_has(&spread, number[job], machine), expected);
        if (there[job][machine] > 0 && rng_below(&rng, 2) == 0) {
            spread_drop(&spread, number[job], machine);
            there[job][machine]--;
        } else {
            spread_put(&spread, number[job], machine); /* also beside what it must be apart from */
            there[job][machine]++;
        }
    }
    shapes_done(&shapes);
    arena_done(&arena);
}

/* Machines of 8 CPUs, tasks of 2. */
static void init_eights(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 8, 64, 0, 1.0);
    (void)yard_shape(yard, 2, 1, 0);
}

TEST(runtime_bins_pass_over_machines_that_have_a_sibling_until_it_is_taken_back)
{
    struct yard yard;
    struct runtime_bins bins;
    enum plan_reason_code why;

    init_eights(&yard);
    const uint32_t first = yard_spread_job(&yard, 0, 3);
    const uint32_t tasks[] = { first + 1, first + 2 };
    const uint32_t taken = yard_machine(&yard, 0);
    const uint32_t open = yard_machine(&yard, 0);
    yard_run(&yard, first, taken);
    runtime_bins_build(&bins, &yard.view, RUNTIME_REMAINING, &yard.arena);

    assert_int_equal(runtime_bins_find(&bins, tasks[0], &why), open);
    runtime_bins_mark(&bins);
    runtime_bins_assign(&bins, tasks[0], open);
    assert_int_equal(runtime_bins_find(&bins, tasks[1], &why), ROW_NONE);
    runtime_bins_rollback(&bins);
    assert_int_equal(runtime_bins_find(&bins, tasks[1], &why), open);
    yard_done(&yard);
}

TEST(scale_out_gives_each_task_of_the_job_a_machine_that_others_share)
{
    struct yard yard;

    init_eights(&yard);
    const uint32_t pair = yard_spread_job(&yard, 0, 2);
    const uint32_t other = yard_job(&yard, 0, 2, false);
    const struct scale_out_task tasks[] = {
        { .task = pair }, { .task = other }, { .task = pair + 1 }, { .task = other + 1 }
    };
    (void)scale_out(&yard.view, tasks, 4, (struct scale_out_options){ .unit = UNIT_PER_KIND },
                    REASON_BEST_SCORE, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2);
    yard_check_fresh(&yard, pair, 0);
    yard_check_fresh(&yard, other, 0);
    yard_check_fresh(&yard, pair + 1, 1);
    yard_check_fresh(&yard, other + 1, 1);
    yard_done(&yard);
}

/* The largest machine is tried first and holds a task of the job and the other one, but is not worth
 * its price; the large one then gets the same two. */
TEST(top_down_packing_takes_a_try_back_as_if_it_had_not_been)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_type(&yard, "c7i", 8, 16, 0, 3.0);
    const uint32_t pair = yard_spread_job(&yard, HALF, 2);
    const uint32_t tasks[] = { pair, pair + 1, yard_task(&yard, HALF) };
    const struct worth_rules rules = { .view = &yard.view };
    struct pool pool;
    struct layout layout;
    layout_init(&layout, &rules, &pool, &yard.arena);
    pool_build(&pool, &rules, tasks, 3, &yard.arena);
    topdown_pack(&layout, NULL, 0, (struct topdown_options){ 0 });

    assert_int_equal(pool.kind_count, 2);
    assert_int_equal(pool.kinds[0].apart, yard.view.task.job[pair]);
    assert_int_equal(layout.bin_count, 2);
    assert_int_equal(layout.bins[0].offer, LARGE);
    assert_int_equal(layout.bins[0].group.size, 2);
    assert_int_equal(layout.bins[1].offer, SMALL);
    yard_done(&yard);
}

TEST(jobs_that_are_not_spread_are_one_kind)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t tasks[] = { yard_task(&yard, HALF), yard_task(&yard, HALF) };
    const struct worth_rules rules = { .view = &yard.view };
    struct pool pool;
    pool_build(&pool, &rules, tasks, 2, &yard.arena);

    assert_int_equal(pool.kind_count, 1);
    assert_int_equal(pool.kinds[0].apart, ROW_NONE);
    yard_done(&yard);
}

TEST(jobs_that_keep_apart_from_each_other_are_one_kind)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t tasks[] = { yard_apart_task(&yard, HALF, 1), yard_apart_task(&yard, HALF, 1),
                               yard_apart_task(&yard, HALF, 2) };
    const struct worth_rules rules = { .view = &yard.view };
    struct pool pool;
    pool_build(&pool, &rules, tasks, 3, &yard.arena);

    assert_int_equal(pool.kind_count, 2);
    assert_int_equal(pool.kinds[0].count, 2);
    assert_int_not_equal(pool.kinds[0].apart, pool.kinds[1].apart);
    yard_done(&yard);
}

TEST(runtime_bins_pass_over_machines_that_have_a_task_of_the_group)
{
    struct yard yard;
    struct runtime_bins bins;
    enum plan_reason_code why;

    init_eights(&yard);
    const uint32_t first = yard_apart_task(&yard, 0, 1);
    const uint32_t second = yard_apart_task(&yard, 0, 1);
    const uint32_t third = yard_apart_task(&yard, 0, 1);
    const uint32_t other = yard_apart_task(&yard, 0, 2);
    const uint32_t taken = yard_machine(&yard, 0);
    yard_run(&yard, first, taken);
    const uint32_t open = yard_machine(&yard, 0);
    runtime_bins_build(&bins, &yard.view, RUNTIME_REMAINING, &yard.arena);

    assert_int_equal(runtime_bins_find(&bins, second, &why), open);
    runtime_bins_mark(&bins);
    runtime_bins_assign(&bins, second, open);
    assert_int_equal(runtime_bins_find(&bins, third, &why), ROW_NONE);
    assert_int_not_equal(runtime_bins_find(&bins, other, &why), ROW_NONE);
    runtime_bins_rollback(&bins);
    assert_int_equal(runtime_bins_find(&bins, third, &why), open);
    yard_done(&yard);
}

static void pack_by_worth(const struct view *view, struct plan *ret)
{
    const struct worth_rules rules = { .view = view };

    best_fit(&rules, ret);
}

static void pack_by_score(const struct view *view, struct plan *ret)
{
    struct scale_out_task tasks[16];
    uint32_t count = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        tasks[count++] = (struct scale_out_task){ .task = task };
    }
    (void)scale_out(view, tasks, count, (struct scale_out_options){ .unit = UNIT_PER_KIND },
                    REASON_BEST_SCORE, ret);
}

/* Tasks of different shapes are of different kinds, and keep apart all the same. */
TEST(each_way_to_pack_keeps_a_group_of_several_shapes_apart)
{
    static void (*const ways[])(const struct view *, struct plan *) = { first_fit, fresh_fill,
                                                                        tight_fit, pack_by_worth,
                                                                        pack_by_score };

    for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
        struct yard yard;

        init_eights(&yard);
        (void)yard_shape(&yard, 1, 1, 0);
        const uint32_t running = yard_apart_task(&yard, 0, 1);
        const uint32_t machine = yard_machine(&yard, 0);
        yard_run(&yard, running, machine);
        for (uint32_t i = 0; i < 4; i++)
            (void)yard_apart_task(&yard, i % 2, 1);
        ways[way](&yard.view, &yard.plan);

        assert_int_equal(yard.plan.rent_count, 4);
        assert_int_equal(yard.plan.place_count, 4);
        for (uint32_t i = 0; i < 4; i++) {
            assert_true(yard.plan.places[i].fresh);
            for (uint32_t k = 0; k < i; k++)
                assert_int_not_equal(yard.plan.places[i].target, yard.plan.places[k].target);
        }
        yard_done(&yard);
    }
}

CHECK_MAIN(RUN(random_histories_agree_with_a_plain_table),
           RUN(runtime_bins_pass_over_machines_that_have_a_sibling_until_it_is_taken_back),
           RUN(scale_out_gives_each_task_of_the_job_a_machine_that_others_share),
           RUN(top_down_packing_takes_a_try_back_as_if_it_had_not_been),
           RUN(jobs_that_are_not_spread_are_one_kind),
           RUN(jobs_that_keep_apart_from_each_other_are_one_kind),
           RUN(runtime_bins_pass_over_machines_that_have_a_task_of_the_group),
           RUN(each_way_to_pack_keeps_a_group_of_several_shapes_apart))
