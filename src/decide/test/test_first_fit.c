/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First-fit decreasing by groups against the same by single tasks.
 */
#include "decide/first_fit.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { ROUNDS = 400, MACHINES = 3, TASKS_MAX = 60, BINS_MAX = TASKS_MAX + MACHINES };

TEST(a_machine_that_there_is_comes_first)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t machine = yard_machine(&yard, LARGE);
    const uint32_t task = yard_task(&yard, HALF);
    first_fit(&yard.view, &yard.plan);

    yard_check_kept(&yard, task, machine);
    assert_int_equal(yard.plan.rent_count, 0);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(a_new_machine_is_of_the_cheapest_type_that_holds_what_it_got)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t first = yard_job(&yard, HALF, 3, false);
    first_fit(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, LARGE);
    assert_int_equal(yard.plan.rents[1].offer, SMALL);
    yard_check_fresh(&yard, first + 1, 0);
    yard_check_fresh(&yard, first + 2, 1);
    yard_done(&yard);
}

TEST(tasks_of_a_job_that_is_spread_are_on_different_machines)
{
    struct yard yard;

    yard_init_halves(&yard);
    const uint32_t first = yard_spread_job(&yard, HALF, 2);
    const uint32_t other = yard_task(&yard, HALF);
    first_fit(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2);
    yard_check_fresh(&yard, first, 0);
    yard_check_fresh(&yard, first + 1, 1);
    yard_check_fresh(&yard, other, 0);
    yard_done(&yard);
}

TEST(machines_without_work_are_let_go)
{
    struct yard yard;

    yard_init_halves(&yard);
    (void)yard_machine(&yard, LARGE);
    reservation_update(&yard.view);
    first_fit(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.release_count, 1);
    yard_done(&yard);
}

/*
 * One task after another.
 */

struct bin {
    struct res used;
    uint32_t instance; /* ROW_NONE: a new one */
    bool is_plain;     /* of a type without accelerators */
};

static const struct res *demand_of(const struct yard *yard, uint32_t task)
{
    return shape_demand_on(&yard->shapes, yard->view.task.shape[task], FAMILY_NONE);
}

/* The cheapest offer that holds so much, or OFFER_NONE. */
static uint32_t cheapest(const struct yard *yard, const struct res *sum, bool is_plain)
{
    uint32_t best = OFFER_NONE;

    for (uint32_t i = 0; i < yard->catalogue.offer_count; i++) {
        const struct res *capacity = &catalogue_type_of(&yard->catalogue, i)->capacity;

        if (res_fits(sum, capacity) && !(is_plain && capacity->amount[RES_ACCEL] > 0) &&
            (best == OFFER_NONE || yard->view.offer_price[i] < yard->view.offer_price[best]))
            best = i;
    }
    return best;
}

static bool joins(const struct yard *yard, struct bin *bin, const struct res *demand)
{
    struct res sum = bin->used;

    res_add(&sum, demand);
    if (bin->instance != ROW_NONE ? !res_fits(&sum, view_capacity(&yard->view, bin->instance))
                                  : cheapest(yard, &sum, bin->is_plain) == OFFER_NONE)
        return false;
    bin->used = sum;
    return true;
}

/* Larger ones first; of equal ones the earlier. */
static bool comes_before(const struct yard *yard, uint32_t a, uint32_t b)
{
    const struct res *one = demand_of(yard, a);
    const struct res *two = demand_of(yard, b);

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (one->amount[kind] != two->amount[kind])
            return one->amount[kind] > two->amount[kind];
    }
    return a < b;
}

static void check_against_single_tasks(const struct yard *yard, uint32_t *tasks, uint32_t count)
{
    struct bin bins[BINS_MAX];
    uint32_t bin_count = 0;
    uint32_t kept = 0;

    INSTANCE_EACH(instance, &yard->view)
    {
        bins[bin_count++] =
            (struct bin){ .used = yard->view.instance.used[instance], .instance = instance };
    }
    kept = bin_count;
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t k = i; k > 0 && comes_before(yard, tasks[k], tasks[k - 1]); k--) {
            const uint32_t swap = tasks[k];

            tasks[k] = tasks[k - 1];
            tasks[k - 1] = swap;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct res *demand = demand_of(yard, tasks[i]);
        uint32_t bin = 0;

        if (cheapest(yard, demand, false) == OFFER_NONE) {
            assert_null(yard_place_of(yard, tasks[i]));
            continue;
        }
        while (bin < bin_count && !joins(yard, &bins[bin], demand))
            bin++;
        if (bin == bin_count)
            bins[bin_count++] =
                (struct bin){ .used = *demand,
                              .instance = ROW_NONE,
                              .is_plain = cheapest(yard, demand, true) != OFFER_NONE };
        yard_check_place(yard, tasks[i], bin >= kept,
                         bin >= kept ? bin - kept : bins[bin].instance);
    }
    assert_int_equal(yard->plan.rent_count, bin_count - kept);
    for (uint32_t i = kept; i < bin_count; i++)
        assert_int_equal(yard->view.offer_price[yard->plan.rents[i - kept].offer],
                         yard->view.offer_price[cheapest(yard, &bins[i].used, bins[i].is_plain)]);
}

TEST(groups_are_filled_as_single_machines_would_be)
{
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        uint32_t tasks[TASKS_MAX];
        uint32_t count = 0;
        struct yard yard;
        struct rng rng;

        rng_init(&rng, seed, 0);
        yard_init(&yard);
        for (uint64_t i = 1 + rng_below(&rng, 5); i > 0; i--)
            (void)yard_type(&yard, "a", 2 + (int64_t)rng_below(&rng, 20),
                            2 + (int64_t)rng_below(&rng, 60), (int64_t)rng_below(&rng, 3),
                            0.2 + 3 * rng_unit(&rng));
        for (uint64_t i = 1 + rng_below(&rng, 5); i > 0; i--)
            (void)yard_shape(&yard, (int64_t)(3 * i - rng_below(&rng, 3)), /* no two alike */
                             1 + (int64_t)rng_below(&rng, 20), (int64_t)rng_below(&rng, 2));
        for (uint64_t i = rng_below(&rng, MACHINES + 1); i > 0; i--)
            (void)yard_machine(&yard, (uint32_t)rng_below(&rng, yard.catalogue.offer_count));
        for (uint64_t i = rng_below(&rng, TASKS_MAX); i > 0; i--)
            tasks[count++] = yard_task(&yard, (uint32_t)rng_below(&rng, yard.shapes.count));
        yard_open(&yard);
        reservation_update(&yard.view);
        first_fit(&yard.view, &yard.plan);
        check_against_single_tasks(&yard, tasks, count);
        yard_done(&yard);
    }
}

CHECK_MAIN(RUN(a_machine_that_there_is_comes_first),
           RUN(a_new_machine_is_of_the_cheapest_type_that_holds_what_it_got),
           RUN(tasks_of_a_job_that_is_spread_are_on_different_machines),
           RUN(machines_without_work_are_let_go),
           RUN(groups_are_filled_as_single_machines_would_be))
