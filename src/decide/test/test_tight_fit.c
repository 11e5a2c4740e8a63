/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/tight_fit.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { BOX, BARE };    /* 4 CPUs and 16 GiB for 1 dollar, 4 CPUs and 4 GiB for 2 */
enum { MEMORY, CPUS }; /* 1 CPU and 4 GiB, 2 CPUs and 1 GiB */

static void init(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 4, 16, 0, 1.0);
    (void)yard_type(yard, "a", 4, 4, 0, 2.0);
    (void)yard_shape(yard, 1, 4, 0);
    (void)yard_shape(yard, 2, 1, 0);
    yard_open(yard);
}

static void run_several(struct yard *yard, uint32_t shape, uint32_t count, uint32_t machine)
{
    for (uint32_t i = 0; i < count; i++)
        yard_run(yard, yard_task(yard, shape), machine);
}

TEST(the_machine_with_least_memory_to_spare_is_taken)
{
    struct yard yard;

    init(&yard);
    run_several(&yard, MEMORY, 1, yard_machine(&yard, BOX));
    const uint32_t tight = yard_machine(&yard, BOX);
    run_several(&yard, MEMORY, 3, tight);
    const uint32_t task = yard_task(&yard, MEMORY);
    tight_fit(&yard.view, &yard.plan);

    yard_check_kept(&yard, task, tight);
    assert_int_equal(yard.plan.rent_count, 0);
    yard_done(&yard);
}

TEST(a_machine_that_lacks_cpus_is_passed_over)
{
    struct yard yard;

    init(&yard);
    run_several(&yard, CPUS, 2, yard_machine(&yard, BARE)); /* 2 GiB are free, no CPU is */
    const uint32_t other = yard_machine(&yard, BOX);
    const uint32_t task = yard_task(&yard, CPUS);
    tight_fit(&yard.view, &yard.plan);

    yard_check_kept(&yard, task, other);
    yard_done(&yard);
}

TEST(the_cheapest_machine_is_rented_where_there_is_no_room_and_shared)
{
    struct yard yard;

    init(&yard);
    run_several(&yard, MEMORY, 4, yard_machine(&yard, BOX));
    const uint32_t first = yard_job(&yard, MEMORY, 5, false);
    tight_fit(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, BOX);
    yard_check_fresh(&yard, first, 0);
    yard_check_fresh(&yard, first + 3, 0);
    yard_check_fresh(&yard, first + 4, 1);
    yard_done(&yard);
}

TEST(empty_machines_are_used_or_let_go)
{
    struct yard yard;

    init(&yard);
    const uint32_t used = yard_machine(&yard, BARE);
    const uint32_t spare = yard_machine(&yard, BOX);
    const uint32_t task = yard_task(&yard, MEMORY);
    tight_fit(&yard.view, &yard.plan);

    yard_check_kept(&yard, task, used);
    assert_int_equal(yard.plan.release_count, 1);
    assert_true(yard_releases(&yard, spare));
    yard_done(&yard);
}

TEST(a_job_that_is_spread_gets_a_machine_for_each_task)
{
    struct yard yard;

    init(&yard);
    const uint32_t machine = yard_machine(&yard, BOX);
    const uint32_t first = yard_spread_job(&yard, MEMORY, 3);
    yard_run(&yard, first, machine);
    const uint32_t empty = yard_machine(&yard, BOX);
    tight_fit(&yard.view, &yard.plan);

    yard_check_kept(&yard, first + 1, empty);
    yard_check_fresh(&yard, first + 2, 0);
    yard_done(&yard);
}

TEST(a_gang_that_nothing_can_be_rented_for_waits)
{
    struct yard yard;

    init(&yard);
    (void)yard_machine(&yard, BOX);
    (void)yard_job(&yard, MEMORY, 5, true);
    yard.view.offer_blocked_until[BOX] = 1;
    yard.view.offer_blocked_until[BARE] = 1;
    reservation_forget(&yard.view);
    reservation_update(&yard.view);
    tight_fit(&yard.view, &yard.plan);

    assert_int_equal(yard.plan.place_count, 0);
    yard_done(&yard);
}

/* A machine as a search without an index sees it. */
struct naive {
    struct res free;
    bool fresh;
    uint32_t target;
};

static uint32_t naive_find(const struct naive *machines, uint32_t count, const struct res *demand)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        if (res_fits(demand, &machines[i].free) &&
            (best == UINT32_MAX ||
             machines[i].free.amount[RES_MEM] < machines[best].free.amount[RES_MEM]))
            best = i;
    }
    return best;
}

static void compare_with_naive(uint64_t seed)
{
    enum { MACHINES = 12, TASKS = 60, SHAPES = 4 };
    struct naive machines[MACHINES + TASKS];
    uint32_t tasks[TASKS];
    uint32_t count = 0;
    uint32_t rents = 0;
    struct yard yard;
    struct rng rng;

    rng_init(&rng, seed, 0);
    yard_init(&yard);
    (void)yard_type(&yard, "a", 8, 24, 0, 1.0);
    for (uint32_t i = 0; i < SHAPES; i++)
        (void)yard_shape(&yard, 1 + (int64_t)rng_below(&rng, 4), 1 + (int64_t)rng_below(&rng, 9),
                         0);
    yard_open(&yard);
    for (uint32_t i = 0; i < MACHINES; i++) {
        const uint32_t row = yard_machine(&yard, 0);

        yard_run(&yard, yard_task(&yard, (uint32_t)rng_below(&rng, SHAPES)), row);
        machines[count++] = (struct naive){ view_free(&yard.view, row), false, row };
    }
    for (uint32_t i = 0; i < TASKS; i++)
        tasks[i] = yard_task(&yard, (uint32_t)rng_below(&rng, SHAPES));
    tight_fit(&yard.view, &yard.plan);
    for (uint32_t i = 0; i < TASKS; i++) {
        const struct res *demand =
            shape_demand_at(&yard.shapes, yard.view.task.shape[tasks[i]], &yard.catalogue, 0);
        uint32_t at = naive_find(machines, count, demand);

        if (at == UINT32_MAX) {
            at = count++;
            machines[at] = (struct naive){ yard.catalogue.types[0].capacity, true, rents++ };
        }
        res_sub(&machines[at].free, demand);
        yard_check_place(&yard, tasks[i], machines[at].fresh, machines[at].target);
    }
    assert_int_equal(yard.plan.rent_count, rents);
    yard_done(&yard);
}

TEST(it_finds_what_a_search_of_all_machines_finds)
{
    for (uint64_t seed = 1; seed <= 200; seed++)
        compare_with_naive(seed);
}

CHECK_MAIN(RUN(the_machine_with_least_memory_to_spare_is_taken),
           RUN(a_machine_that_lacks_cpus_is_passed_over),
           RUN(the_cheapest_machine_is_rented_where_there_is_no_room_and_shared),
           RUN(empty_machines_are_used_or_let_go),
           RUN(a_job_that_is_spread_gets_a_machine_for_each_task),
           RUN(a_gang_that_nothing_can_be_rented_for_waits),
           RUN(it_finds_what_a_search_of_all_machines_finds))
