/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of runtime_bins.h: by hand, then against a twin that looks at every instance. Where the
 * rules leave a choice the twin accepts any answer that they allow.
 */
#include "decide/runtime_bins.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { SECOND = 1000 };

/*
 * By hand. Machines of 8 CPUs; tasks of 2.
 */

static void init_eights(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 8, 64, 0, 1.0);
    (void)yard_shape(yard, 2, 1, 0);
}

/* A machine with 'tasks' tasks that run for 'seconds' more. */
static uint32_t busy(struct yard *yard, uint32_t tasks, msec_t seconds)
{
    const uint32_t machine = yard_machine(yard, 0);

    for (uint32_t i = 0; i < tasks; i++)
        yard_run(yard, yard_task_for(yard, 0, seconds * SECOND), machine);
    return machine;
}

/* Where the bins put a task of so many seconds, and why. */
static uint32_t find(struct yard *yard, msec_t seconds, enum plan_reason_code *ret_why)
{
    const uint32_t task = yard_task_for(yard, 0, seconds * SECOND);
    struct runtime_bins bins;

    runtime_bins_build(&bins, &yard->view, RUNTIME_REMAINING, &yard->arena);
    return runtime_bins_find(&bins, task, ret_why);
}

TEST(bins_are_powers_of_two_of_seconds)
{
    assert_int_equal(runtime_bin(-5), 0);
    assert_int_equal(runtime_bin(999), 0);
    assert_int_equal(runtime_bin(1000), 1);
    assert_int_equal(runtime_bin(1999), 1);
    assert_int_equal(runtime_bin(2000), 2);
    assert_int_equal(runtime_bin(16 * SECOND - 1), 4);
    assert_int_equal(runtime_bin(16 * SECOND), 5);
    assert_int_equal(runtime_bin(32 * SECOND - 1), 5);
    assert_int_equal(runtime_bin((msec_t)1 << 50), 41);
}

TEST(a_task_past_its_estimate_is_taken_to_be_half_way)
{
    struct yard yard;

    init_eights(&yard);
    const uint32_t task = yard_task_for(&yard, 0, 100 * SECOND);
    yard_run(&yard, task, yard_machine(&yard, 0));
    yard.view.now = 30 * SECOND;
    assert_int_equal(runtime_of_task(&yard.view, task, RUNTIME_REMAINING), 70 * SECOND);
    assert_int_equal(runtime_of_task(&yard.view, task, RUNTIME_TOTAL), 100 * SECOND);
    yard.view.now = 250 * SECOND;

    assert_int_equal(runtime_of_task(&yard.view, task, RUNTIME_REMAINING), 250 * SECOND);
    assert_int_equal(runtime_of_task(&yard.view, task, RUNTIME_TOTAL), 100 * SECOND);
    yard_done(&yard);
}

TEST(in_its_own_bin_a_task_goes_where_the_end_is_closest_to_its_own)
{
    struct yard yard;
    enum plan_reason_code why;

    init_eights(&yard);
    (void)busy(&yard, 1, 16);
    const uint32_t below = busy(&yard, 1, 21);
    const uint32_t above = busy(&yard, 1, 26);
    (void)busy(&yard, 1, 31);

    assert_int_equal(find(&yard, 23, &why), below);
    assert_int_equal(why, REASON_SAME_BIN);
    assert_int_equal(find(&yard, 24, &why), above);
    yard_done(&yard);
}

TEST(a_full_machine_is_passed_over)
{
    struct yard yard;
    enum plan_reason_code why;

    init_eights(&yard);
    (void)busy(&yard, 4, 24);
    const uint32_t farther = busy(&yard, 3, 31);

    assert_int_equal(find(&yard, 24, &why), farther);
    yard_done(&yard);
}

TEST(of_the_nearest_longer_bin_the_one_with_most_room_is_taken)
{
    struct yard yard;
    enum plan_reason_code why;

    init_eights(&yard);
    (void)busy(&yard, 1, 200); /* more room, but farther away */
    (void)busy(&yard, 3, 40);
    const uint32_t roomy = busy(&yard, 2, 60);
    (void)busy(&yard, 1, 4); /* shorter bins come last */

    assert_int_equal(find(&yard, 20, &why), roomy);
    assert_int_equal(why, REASON_LONGER_BIN);
    yard_done(&yard);
}

TEST(without_a_longer_one_the_nearest_shorter_bin_is_taken_and_promoted)
{
    struct yard yard;
    enum plan_reason_code why;

    init_eights(&yard);
    (void)busy(&yard, 1, 2);
    const uint32_t near = busy(&yard, 3, 10);
    const uint32_t far = busy(&yard, 2, 5);
    const uint32_t first = yard_task_for(&yard, 0, 20 * SECOND);
    const uint32_t second = yard_task_for(&yard, 0, 20 * SECOND);
    struct runtime_bins bins;
    runtime_bins_build(&bins, &yard.view, RUNTIME_REMAINING, &yard.arena);

    assert_int_equal(runtime_bins_find(&bins, first, &why), near);
    assert_int_equal(why, REASON_SHORTER_BIN);
    runtime_bins_assign(&bins, first, near);
    assert_int_equal(runtime_bins_find(&bins, second, &why), far); /* the first is full now */
    runtime_bins_assign(&bins, second, far);
    assert_int_equal(runtime_bin(runtime_bins_lasts(&bins, far)), 5);
    yard_done(&yard);
}

TEST(a_machine_that_is_removed_takes_no_task_until_it_is_rolled_back)
{
    struct yard yard;
    enum plan_reason_code why;

    init_eights(&yard);
    const uint32_t machine = busy(&yard, 1, 20);
    const uint32_t task = yard_task_for(&yard, 0, 20 * SECOND);
    struct runtime_bins bins;
    runtime_bins_build(&bins, &yard.view, RUNTIME_REMAINING, &yard.arena);
    runtime_bins_mark(&bins);
    runtime_bins_remove(&bins, machine);
    assert_int_equal(runtime_bins_find(&bins, task, &why), ROW_NONE);
    runtime_bins_rollback(&bins);

    assert_int_equal(runtime_bins_find(&bins, task, &why), machine);
    yard_done(&yard);
}

TEST(a_machine_is_untouched_until_it_gets_a_task_that_may_ask_for_nothing)
{
    struct yard yard;

    init_eights(&yard);
    const uint32_t machine = busy(&yard, 0, 0);
    const uint32_t task = yard_task(&yard, yard_shape(&yard, 0, 0, 0));
    struct runtime_bins bins;
    runtime_bins_build(&bins, &yard.view, RUNTIME_REMAINING, &yard.arena);
    runtime_bins_mark(&bins);
    assert_true(runtime_bins_is_untouched(&bins, machine));
    runtime_bins_assign(&bins, task, machine);
    assert_false(runtime_bins_is_untouched(&bins, machine));
    runtime_bins_rollback(&bins);

    assert_true(runtime_bins_is_untouched(&bins, machine));
    yard_done(&yard);
}

TEST(with_no_machine_there_is_no_answer)
{
    struct yard yard;
    enum plan_reason_code why;

    init_eights(&yard);
    yard_open(&yard);

    assert_int_equal(find(&yard, 20, &why), ROW_NONE);
    yard_done(&yard);
}

/*
 * The twin: of each machine what is free, how long it is busy and whether it is out.
 */

enum { MACHINES_MAX = 24, PENDING_MAX = 40, ROUNDS = 300 };

struct twin {
    const struct view *view;
    struct res free[MACHINES_MAX];
    msec_t runtime[MACHINES_MAX];
    bool out[MACHINES_MAX];
    uint32_t count; /* machines, by row */
};

static int64_t room_of(const struct res *free)
{
    return free->amount[RES_CPU] + free->amount[RES_ACCEL] + free->amount[RES_MEM] * 1000 / 1024;
}

static bool twin_fits(const struct twin *twin, uint32_t machine, uint32_t task)
{
    const struct res *demand = view_demand(twin->view, task, machine);

    return !twin->out[machine] && demand != NULL && res_fits(demand, &twin->free[machine]);
}

/* The rule by which the twin would place the task, and the bin that it looks at. */
static bool twin_rule(const struct twin *twin, uint32_t task, msec_t runtime, uint32_t *ret_bin,
                      enum plan_reason_code *ret_why)
{
    const uint32_t own = runtime_bin(runtime);
    uint32_t longer = UINT32_MAX;
    uint32_t shorter = UINT32_MAX;

    for (uint32_t i = 0; i < twin->count; i++) {
        const uint32_t bin = runtime_bin(twin->runtime[i]);

        if (!twin_fits(twin, i, task))
            continue;
        if (bin == own) {
            *ret_bin = own;
            *ret_why = REASON_SAME_BIN;
            return true;
        }
        if (bin > own && bin < longer)
            longer = bin;
        if (bin < own && (shorter == UINT32_MAX || bin > shorter))
            shorter = bin;
    }
    *ret_bin = longer != UINT32_MAX ? longer : shorter;
    *ret_why = longer != UINT32_MAX ? REASON_LONGER_BIN : REASON_SHORTER_BIN;
    return *ret_bin != UINT32_MAX;
}

static msec_t gap_of(const struct twin *twin, uint32_t machine, msec_t runtime)
{
    const msec_t gap = twin->runtime[machine] - runtime;

    return gap < 0 ? -gap : gap;
}

/* Whether no machine of the bin that fits is better than the answer. */
static bool is_best(const struct twin *twin, uint32_t task, msec_t runtime, uint32_t bin,
                    bool closest, uint32_t answer)
{
    if (!twin_fits(twin, answer, task) || runtime_bin(twin->runtime[answer]) != bin)
        return false;
    for (uint32_t i = 0; i < twin->count; i++) {
        if (!twin_fits(twin, i, task) || runtime_bin(twin->runtime[i]) != bin)
            continue;
        if (closest ? gap_of(twin, i, runtime) < gap_of(twin, answer, runtime)
                    : room_of(&twin->free[i]) > room_of(&twin->free[answer]))
            return false;
    }
    return true;
}

static void check_find(const struct runtime_bins *bins, const struct twin *twin, uint32_t task,
                       uint64_t seed)
{
    const msec_t runtime = runtime_of_task(twin->view, task, RUNTIME_REMAINING);
    enum plan_reason_code why;
    enum plan_reason_code want_why;
    uint32_t bin;
    const uint32_t answer = runtime_bins_find(bins, task, &why);

    if (!twin_rule(twin, task, runtime, &bin, &want_why)) {
        if (answer != ROW_NONE)
            fail_msg("seed %" PRIu64 ": a machine was found where none fits", seed);
        return;
    }
    if (answer == ROW_NONE)
        fail_msg("seed %" PRIu64 ": no machine was found", seed);
    if (why != want_why)
        fail_msg("seed %" PRIu64 ": it was found by another rule", seed);
    if (!is_best(twin, task, runtime, bin, want_why == REASON_SAME_BIN, answer))
        fail_msg("seed %" PRIu64 ": there is a better machine", seed);
}

static void twin_assign(struct twin *twin, uint32_t task, uint32_t machine)
{
    const msec_t runtime = runtime_of_task(twin->view, task, RUNTIME_REMAINING);

    res_sub(&twin->free[machine], view_demand(twin->view, task, machine));
    if (runtime > twin->runtime[machine])
        twin->runtime[machine] = runtime;
}

static msec_t draw_runtime(struct rng *rng)
{
    return (msec_t)rng_below(rng, (uint64_t)SECOND << rng_below(rng, 12));
}

static void draw_world(struct yard *yard, struct rng *rng)
{
    static const char *const families[] = { "a", "b" };

    yard_init(yard);
    for (uint32_t i = 0; i < 4; i++)
        (void)yard_type(yard, families[i % 2], 1 + (int64_t)rng_below(rng, 16),
                        1 + (int64_t)rng_below(rng, 64), (int64_t)rng_below(rng, 3), 1.0);
    for (uint32_t i = 0; i < 6; i++) {
        const struct shape_demand demands[] = {
            { i % 3 == 0 ? 0 : FAMILY_NONE,
              { { (int64_t)rng_below(rng, 4000), (int64_t)rng_below(rng, 9000),
                  (int64_t)rng_below(rng, 3) * 500 } } },
            { 1, { { (int64_t)rng_below(rng, 4000), (int64_t)rng_below(rng, 9000), 0 } } },
        };
        char name[16];
        const struct shape_spec spec = {
            .name = name,
            .workload = name,
            .demands = demands,
            .demand_count = 1 + (uint32_t)rng_below(rng, 2),
        };

        (void)snprintf(name, sizeof(name), "s%u", i);
        (void)shapes_add(&yard->shapes, &spec);
    }
    yard_open(yard);
    yard->view.now = 5000;
    for (uint64_t i = rng_below(rng, MACHINES_MAX); i > 0; i--)
        (void)yard_machine(yard, (uint32_t)rng_below(rng, 4));
}

/* Fill some of the room, and note what is left in the twin. */
static void draw_load(struct yard *yard, struct twin *twin, struct rng *rng)
{
    struct view *view = &yard->view;

    *twin = (struct twin){ .view = view, .count = view->instance.count };
    for (uint32_t machine = 0; machine < twin->count; machine++) {
        twin->free[machine] = view_free(view, machine);
        for (uint64_t n = rng_below(rng, 4); n > 0; n--) {
            const uint32_t task =
                yard_task_for(yard, (uint32_t)rng_below(rng, 6), draw_runtime(rng));

            if (!twin_fits(twin, machine, task))
                continue;
            yard_run(yard, task, machine);
            twin_assign(twin, task, machine);
        }
        if (rng_below(rng, 10) == 0) {
            view_set_state(view, machine, INSTANCE_DRAINING);
            twin->out[machine] = true;
        }
    }
}

static uint32_t list_waiting(const struct view *view, uint32_t *tasks)
{
    uint32_t count = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (count < PENDING_MAX)
            tasks[count++] = task;
    }
    return count;
}

/* Find a place for each task in turn, and mostly take it; now and then take a machine out, or take
 * back all that was done since a while ago. */
static void play(struct runtime_bins *bins, struct twin *twin, const uint32_t *tasks,
                 uint32_t count, struct rng *rng, uint64_t seed)
{
    struct twin marked = *twin;

    runtime_bins_mark(bins);
    for (uint32_t i = 0; i < count; i++) {
        enum plan_reason_code why;
        const uint64_t dice = rng_below(rng, 10);

        check_find(bins, twin, tasks[i], seed);

        const uint32_t answer = runtime_bins_find(bins, tasks[i], &why);

        if (answer != ROW_NONE && dice < 6) {
            runtime_bins_assign(bins, tasks[i], answer);
            twin_assign(twin, tasks[i], answer);
            const struct res free = runtime_bins_free(bins, answer);
            assert_memory_equal(&free, &twin->free[answer], sizeof(free));
        } else if (answer != ROW_NONE && dice < 7) {
            runtime_bins_remove(bins, answer);
            twin->out[answer] = true;
        } else if (dice < 8) {
            runtime_bins_rollback(bins);
            *twin = marked;
        } else if (dice < 9) {
            runtime_bins_mark(bins);
            marked = *twin;
        }
        for (uint32_t k = i; k < count; k++)
            check_find(bins, twin, tasks[k], seed);
    }
}

TEST(random_histories_agree_with_a_twin_that_looks_at_every_machine)
{
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct rng rng;
        struct yard yard;
        struct twin twin;
        struct runtime_bins bins;
        uint32_t tasks[PENDING_MAX];

        rng_init(&rng, seed, 0);
        draw_world(&yard, &rng);
        draw_load(&yard, &twin, &rng);
        for (uint64_t i = rng_below(&rng, PENDING_MAX); i > 0; i--)
            (void)yard_task_for(&yard, (uint32_t)rng_below(&rng, 6), draw_runtime(&rng));

        const uint32_t count = list_waiting(&yard.view, tasks);

        runtime_bins_build(&bins, &yard.view, RUNTIME_REMAINING, &yard.arena);
        play(&bins, &twin, tasks, count, &rng, seed);
        yard_done(&yard);
    }
}

CHECK_MAIN(RUN(bins_are_powers_of_two_of_seconds),
           RUN(a_task_past_its_estimate_is_taken_to_be_half_way),
           RUN(in_its_own_bin_a_task_goes_where_the_end_is_closest_to_its_own),
           RUN(a_full_machine_is_passed_over),
           RUN(of_the_nearest_longer_bin_the_one_with_most_room_is_taken),
           RUN(without_a_longer_one_the_nearest_shorter_bin_is_taken_and_promoted),
           RUN(a_machine_that_is_removed_takes_no_task_until_it_is_rolled_back),
           RUN(a_machine_is_untouched_until_it_gets_a_task_that_may_ask_for_nothing),
           RUN(with_no_machine_there_is_no_answer),
           RUN(random_histories_agree_with_a_twin_that_looks_at_every_machine))
