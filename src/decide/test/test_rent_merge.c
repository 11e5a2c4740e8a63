/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/rent_merge.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { TWO, FOUR, EIGHT, SPOT_FOUR }; /* offers, by CPUs */
enum { ONE_CPU, THREE_CPUS };         /* shapes */

static void begin(struct yard *yard, double dollars_of_four)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 2, 8, 0, 1.0);
    (void)yard_type(yard, "a", 4, 16, 0, dollars_of_four);
    (void)yard_type(yard, "a", 8, 32, 0, 4.0);
    (void)yard_offer(yard, FOUR, 0.5);
    (void)yard_shape(yard, 1, 1, 0);
    (void)yard_shape(yard, 3, 1, 0);
    yard_open(yard);
}

/* A machine that the plan rents, with so many tasks of one CPU; the first task. */
static uint32_t rent(struct yard *yard, uint32_t offer, uint32_t tasks, msec_t runtime)
{
    const struct plan_reason why = plan_because(REASON_BEST_VALUE, yard->view.offer_price[offer]);
    const uint32_t target = plan_rent(&yard->plan, offer, why);
    uint32_t first = ROW_NONE;

    for (uint32_t i = 0; i < tasks; i++) {
        const uint32_t task = yard_task_for(yard, ONE_CPU, runtime);

        plan_place_fresh(&yard->plan, task, target, why);
        if (i == 0)
            first = task;
    }
    return first;
}

static void merge(struct yard *yard)
{
    rent_merge(&yard->view, 0, 0, &yard->plan);
}

TEST(two_machines_that_cost_as_much_as_one_for_both_become_that)
{
    struct yard yard;
    uint32_t a;
    uint32_t b;

    begin(&yard, 2.0);
    a = rent(&yard, TWO, 2, MSEC_NEVER);
    b = rent(&yard, TWO, 2, MSEC_NEVER);
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, FOUR);
    assert_int_equal(yard.plan.rents[0].why.chosen, YARD_USD(2));
    assert_int_equal(yard.plan.rents[0].why.passed_offer, TWO);
    yard_check_fresh(&yard, a, 0);
    yard_check_fresh(&yard, b, 0);
    yard_done(&yard);
}

TEST(what_would_cost_more_is_not_merged)
{
    struct yard yard;

    begin(&yard, 2.01);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, TWO);
    yard_done(&yard);
}

TEST(what_was_merged_is_merged_again)
{
    struct yard yard;

    begin(&yard, 2.0);
    for (int i = 0; i < 5; i++)
        (void)rent(&yard, TWO, 2, MSEC_NEVER);
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard_rent_price(&yard), YARD_USD(5));
    assert_int_equal(yard.plan.place_count, 10);
    yard_done(&yard);
}

TEST(two_that_are_half_full_become_one_as_large_as_each)
{
    struct yard yard;

    begin(&yard, 2.0);
    (void)rent(&yard, EIGHT, 4, MSEC_NEVER);
    (void)rent(&yard, EIGHT, 4, MSEC_NEVER);
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, EIGHT);
    yard_done(&yard);
}

TEST(work_that_ends_keeps_its_machine)
{
    struct yard yard;

    begin(&yard, 2.0);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    (void)rent(&yard, TWO, 2, YARD_HOUR);
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 2);
    yard_done(&yard);
}

TEST(tasks_that_keep_apart_stay_apart)
{
    struct yard yard;

    begin(&yard, 2.0);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t task = rent(&yard, TWO, 1, MSEC_NEVER);

        yard.view.job.apart[yard.view.task.job[task]] = 7;
    }
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 2);
    yard_done(&yard);
}

TEST(a_machine_that_others_wait_for_is_left)
{
    struct yard yard;
    struct plan_wait wait;

    begin(&yard, 2.0);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    wait = plan_wait_by(WAIT_SHARED, yard_task(&yard, ONE_CPU));
    wait.fresh = true;
    wait.target = 2;
    plan_let_wait(&yard.plan, &wait);
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.waits[0].target, 1); /* the same machine, which has moved up */
    assert_int_equal(yard.plan.rents[1].offer, TWO);
    yard_done(&yard);
}

TEST(spot_machines_neither_give_way_nor_take_over)
{
    struct yard yard;

    begin(&yard, 3.0); /* on the spot market it is half a dollar */
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    (void)rent(&yard, SPOT_FOUR, 2, MSEC_NEVER);
    (void)rent(&yard, SPOT_FOUR, 2, MSEC_NEVER);
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 4);
    yard_done(&yard);
}

TEST(an_offer_that_was_refused_just_now_is_passed_over)
{
    struct yard yard;

    begin(&yard, 2.0);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    yard.view.offer_blocked_until[FOUR] = yard.view.now + 1;
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 2);
    yard_done(&yard);
}

TEST(what_the_plan_had_before_stays_as_it_is)
{
    struct yard yard;
    uint32_t first;
    uint32_t last;

    begin(&yard, 2.0);
    first = rent(&yard, TWO, 2, MSEC_NEVER);
    (void)rent(&yard, TWO, 2, MSEC_NEVER);
    last = rent(&yard, TWO, 2, MSEC_NEVER);
    rent_merge(&yard.view, 1, 2, &yard.plan);

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.rents[0].offer, TWO);
    assert_int_equal(yard.plan.rents[1].offer, FOUR);
    yard_check_fresh(&yard, first, 0);
    yard_check_fresh(&yard, last, 1);
    yard_done(&yard);
}

/* What the tasks of the plan's rent take. */
static struct res taken(const struct yard *yard, uint32_t target)
{
    struct res sum = { { 0 } };

    for (uint32_t i = 0; i < yard->plan.place_count; i++) {
        const struct plan_place *place = &yard->plan.places[i];

        if (place->target == target)
            res_add(&sum, shape_demand_at(&yard->shapes, yard->view.task.shape[place->task],
                                          &yard->catalogue, yard->plan.rents[target].offer));
    }
    return sum;
}

/* By looking at every offer. */
static bool could_be_one(const struct yard *yard, uint32_t a, uint32_t b)
{
    const money_t both = yard->view.offer_price[yard->plan.rents[a].offer] +
                         yard->view.offer_price[yard->plan.rents[b].offer];
    const money_t more = yard->view.offer_price[yard->plan.rents[a].offer] >
                                 yard->view.offer_price[yard->plan.rents[b].offer]
                             ? yard->view.offer_price[yard->plan.rents[a].offer]
                             : yard->view.offer_price[yard->plan.rents[b].offer];
    struct res sum = taken(yard, a);
    const struct res other = taken(yard, b);

    res_add(&sum, &other);
    for (uint32_t i = 0; i < SPOT_FOUR; i++) {
        if (yard->view.offer_price[i] >= more && yard->view.offer_price[i] <= both &&
            res_fits(&sum, &catalogue_type_of(&yard->catalogue, i)->capacity))
            return true;
    }
    return false;
}

TEST(nothing_is_lost_or_dearer_and_no_two_are_left_that_could_be_one)
{
    struct rng rng;

    rng_init(&rng, 1, 0);
    for (int turn = 0; turn < 200; turn++) {
        const uint32_t machines = 2 + (uint32_t)rng_below(&rng, 12);
        struct yard yard;
        money_t before;
        uint32_t places;

        begin(&yard, 1.5 + 0.25 * (double)rng_below(&rng, 4));
        for (uint32_t i = 0; i < machines; i++) {
            const uint32_t offer = (uint32_t)rng_below(&rng, SPOT_FOUR);

            (void)rent(&yard, offer, 1 + (uint32_t)rng_below(&rng, UINT64_C(2) << offer),
                       MSEC_NEVER);
        }
        before = yard_rent_price(&yard);
        places = yard.plan.place_count;
        merge(&yard);

        assert_true(yard_rent_price(&yard) <= before);
        assert_int_equal(yard.plan.place_count, places);
        for (uint32_t i = 0; i < yard.plan.rent_count; i++) {
            const struct res sum = taken(&yard, i);

            assert_true(res_fits(
                &sum, &catalogue_type_of(&yard.catalogue, yard.plan.rents[i].offer)->capacity));
            for (uint32_t j = 0; j < i; j++)
                assert_false(could_be_one(&yard, i, j));
        }
        yard_done(&yard);
    }
}

TEST(many_machines_are_merged_in_parts)
{
    struct yard yard;

    begin(&yard, 2.0);
    for (int i = 0; i < 200; i++)
        (void)rent(&yard, TWO, 2, MSEC_NEVER);
    merge(&yard);

    assert_int_equal(yard.plan.rent_count, 50);
    assert_int_equal(yard_rent_price(&yard), YARD_USD(200));
    yard_done(&yard);
}

CHECK_MAIN(RUN(two_machines_that_cost_as_much_as_one_for_both_become_that),
           RUN(what_would_cost_more_is_not_merged), RUN(what_was_merged_is_merged_again),
           RUN(two_that_are_half_full_become_one_as_large_as_each),
           RUN(work_that_ends_keeps_its_machine), RUN(tasks_that_keep_apart_stay_apart),
           RUN(a_machine_that_others_wait_for_is_left),
           RUN(spot_machines_neither_give_way_nor_take_over),
           RUN(an_offer_that_was_refused_just_now_is_passed_over),
           RUN(what_the_plan_had_before_stays_as_it_is),
           RUN(nothing_is_lost_or_dearer_and_no_two_are_left_that_could_be_one),
           RUN(many_machines_are_merged_in_parts))
