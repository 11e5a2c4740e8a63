/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/slot_queue.h"

#include "decide/overrun.h"
#include "decide/rent_value.h"
#include "decide/test/minute_yard.h"

static struct slot_queue queue_of(const struct yard *yard, uint64_t slots)
{
    uint32_t tasks[64];
    uint32_t count = 0;

    TASK_EACH(task, &yard->view, yard->view.task.waiting_first)
    {
        tasks[count++] = task;
    }
    return slot_queue_of(&yard->view, tasks, count, slots);
}

TEST(an_hour_of_a_machine_is_worth_what_those_wait_for_who_wait_for_it)
{
    struct yard yard;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 20, YARD_HOUR);

    const struct slot_queue few = queue_of(&yard, 20);
    const struct slot_queue many = queue_of(&yard, 2);

    /* A task costs a dollar an hour alone, and eight fit on the largest machine. */
    assert_int_equal(slot_queue_hour(&few, 0.5), YARD_USD(0.5));
    assert_int_equal(slot_queue_hour(&many, 0.5), YARD_USD(5));
    assert_int_equal(slot_queue_hour(&many, 2), YARD_USD(8));
    assert_int_equal(slot_queue_hour(NULL, 2), 0);
    assert_int_equal(slot_queue_doubt(&many, 2.0) * 11, 2);
    assert_int_equal(slot_queue_doubt(NULL, 2.0), 2);
    yard_done(&yard);
}

TEST(who_can_have_no_machine_waits_for_none)
{
    struct yard yard;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 4, YARD_HOUR);
    yard.view.shape_offer[ONE_CPU] = OFFER_NONE;

    const struct slot_queue none = queue_of(&yard, 2);

    assert_int_equal(none.tasks, 0);
    assert_int_equal(slot_queue_hour(&none, 1), 0);
    yard_done(&yard);
}

/* Eight jobs that must not be moved; a large machine has as much for its price as small ones. */
static uint32_t rents_for_eight(uint64_t slots)
{
    struct yard yard;
    struct batches batches;
    struct runtime_bins bins;
    uint32_t rents;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 8, YARD_HOUR);
    for (uint32_t i = 0; i < yard.view.job.count; i++)
        yard_fix(&yard.view, i, true);

    const struct slot_queue queue = queue_of(&yard, slots > 0 ? slots : 1);
    const struct slot_queue *given = slots > 0 ? &queue : NULL;
    const struct wait_limits limits = {
        .slots = slot_price_of(&yard.view, given, 0.5, &yard.arena),
    };

    minute_yard_bins(&yard, &bins);
    batches_build(&batches, &yard.view, &yard.arena);
    rent_value(&batches, &bins, &limits, slot_queue_doubt(given, 2), 0, NULL, &yard.plan);
    assert_int_equal(yard.plan.place_count, 8);
    rents = yard.plan.rent_count;
    yard_done(&yard);
    return rents;
}

TEST(the_more_wait_for_each_machine_the_fewer_are_rented)
{
    assert_int_equal(rents_for_eight(0), 4);
    assert_int_equal(rents_for_eight(1000), 4);
    assert_int_equal(rents_for_eight(1), 1);
}

/* A machine whose work ends soon, and tasks that run longer: they may go there if it is worth its slot. */
static bool may_last(uint32_t offer, uint64_t slots)
{
    struct yard yard;
    struct batches batches;
    bool is;

    minute_yard_init(&yard);

    const uint32_t machine = yard_machine(&yard, offer);

    yard_run(&yard, yard_task_for(&yard, ONE_CPU, YARD_HOUR), machine);
    minute_yard_tasks(&yard, ONE_CPU, 16, (msec_t)2 * YARD_HOUR);

    const struct slot_queue queue = queue_of(&yard, slots > 0 ? slots : 1);
    const struct slot_price *price =
        slot_price_of(&yard.view, slots > 0 ? &queue : NULL, 0.5, &yard.arena);
    struct res free = *view_capacity(&yard.view, machine);

    res_sub(&free, &yard.view.instance.used[machine]);
    batches_build(&batches, &yard.view, &yard.arena);
    is = overrun_is_worth(
        &yard.view, &batches.rows[0],
        &(struct overrun_room){ .instance = machine, .free = &free, .lasts = YARD_HOUR }, 0, price);
    yard_done(&yard);
    return is;
}

TEST(a_small_machine_is_left_to_end_where_many_wait_for_its_slot)
{
    assert_true(may_last(TWO, 0));
    assert_true(may_last(TWO, 1000)); /* hardly anybody waits */
    assert_false(may_last(TWO, 2));
    assert_true(may_last(EIGHT, 2));
}

TEST(an_owned_machine_takes_no_slot)
{
    struct yard yard;

    minute_yard_init(&yard);
    yard.catalogue.offers[TWO].is_owned = true;
    minute_yard_tasks(&yard, ONE_CPU, 16, YARD_HOUR);

    const uint32_t machine = yard_machine(&yard, TWO);
    const struct slot_queue queue = queue_of(&yard, 2);
    const struct slot_price *price = slot_price_of(&yard.view, &queue, 0.5, &yard.arena);

    assert_false(slot_price_is_poor(price, &yard.view, ONE_CPU, machine));
    assert_false(slot_price_is_poor(NULL, &yard.view, ONE_CPU, machine));
    yard.catalogue.offers[TWO].is_owned = false;
    assert_true(slot_price_is_poor(price, &yard.view, ONE_CPU, machine));
    yard_done(&yard);
}

CHECK_MAIN(RUN(an_hour_of_a_machine_is_worth_what_those_wait_for_who_wait_for_it),
           RUN(who_can_have_no_machine_waits_for_none),
           RUN(the_more_wait_for_each_machine_the_fewer_are_rented),
           RUN(a_small_machine_is_left_to_end_where_many_wait_for_its_slot),
           RUN(an_owned_machine_takes_no_slot))
