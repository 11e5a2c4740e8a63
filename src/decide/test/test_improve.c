/* SPDX-License-Identifier: Apache-2.0 */
/* What the search for better places says of tasks that it leaves waiting, and what it asks for before anything moves. */
#include "decide/improve.h"

#include "decide/test/minute_yard.h"

/* Search for a place of the one task that waits, if any; an hour of its work is worth so many micro-dollars. */
static void search(struct yard *yard, const struct pairs *pairs, uint32_t task, double worth)
{
    const double work_price[] = { worth, worth };
    const struct improve_input input = {
        .view = &yard->view,
        .pairs = pairs,
        .work_price = work_price,
        .work_price_count = 2,
        .mean_price = worth,
        .options = { .waiting = 0.1,
                     .ageing = 0.05,
                     .grace_ms = MSEC_PER_HOUR,
                     .grace_share = 0.02,
                     .triples = 8,
                     .work = 1000000,
                     .suspends = true },
        .waiting = &task,
        .waiting_count = task != ROW_NONE ? 1 : 0,
    };
    struct row_map uses;

    row_map_init(&uses, &yard->arena);
    plan_init(&yard->plan, &yard->arena);
    improve(&input, &yard->plan, &uses);
}

TEST(who_is_worth_less_than_a_machine_costs_waits_and_says_so)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);

    const uint32_t task = yard_task_for(&yard, ONE_CPU, 5 * MSEC_PER_HOUR);

    search(&yard, &pairs, task, 100000); /* a tenth of a dollar, and the machine costs one */
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.wait_count, 1);

    const struct plan_wait *wait = &yard.plan.waits[0];

    assert_int_equal(wait->task, task);
    assert_int_equal(wait->rule, WAIT_WORTH);
    assert_string_equal(plan_wait_word(wait->rule), "worth");
    assert_int_equal(wait->rent_offer, TWO);
    assert_int_equal(wait->rent_cost, YARD_USD(1.0));
    assert_int_equal(wait->wait_cost, 209999);   /* with the price of waiting */
    assert_true(yard.plan.wake_at < MSEC_NEVER); /* it is worth more by then */
    pairs_done(&pairs);
    yard_done(&yard);
}

/* What it says to wait for the task costs; 0: it does not wait. */
static money_t wait_cost(struct yard *yard, const struct pairs *pairs, uint32_t task)
{
    search(yard, pairs, task, 100000);
    assert_int_equal(yard->plan.place_count + yard->plan.wait_count, 1);
    return yard->plan.wait_count > 0 ? yard->plan.waits[0].wait_cost : 0;
}

TEST(who_ends_soon_does_not_wait_by_choice)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);

    const uint32_t long_one = yard_task_for(&yard, ONE_CPU, 10 * MSEC_PER_HOUR);
    const uint32_t short_one = yard_task_for(&yard, ONE_CPU, 2 * MSEC_PER_HOUR);
    const uint32_t brief_one = yard_task_for(&yard, ONE_CPU, MSEC_PER_HOUR / 8);

    assert_true(wait_cost(&yard, &pairs, long_one) > 0);
    assert_true(wait_cost(&yard, &pairs, short_one) > wait_cost(&yard, &pairs, long_one));
    assert_int_equal(wait_cost(&yard, &pairs, brief_one), 0);
    pairs_done(&pairs);
    yard_done(&yard);
}

TEST(to_wait_costs_less_where_jobs_keep_arriving_and_more_at_night)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);

    const uint32_t task = yard_task_for(&yard, ONE_CPU, 5 * MSEC_PER_HOUR);
    const money_t alone = wait_cost(&yard, &pairs, task);

    for (uint32_t i = 0; i < 23; i++)
        (void)yard_task_for(&yard, ONE_CPU, 5 * MSEC_PER_HOUR);

    const money_t busy = wait_cost(&yard, &pairs, task);

    yard.view.now += 5 * MSEC_PER_HOUR;

    const money_t night = wait_cost(&yard, &pairs, task);

    assert_true(busy < alone && busy < 160000);
    assert_int_equal(night, alone + 20000); /* and it is late by four hours more than it may be */
    pairs_done(&pairs);
    yard_done(&yard);
}

TEST(who_is_worth_more_gets_its_machine_and_does_not_wait)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);
    search(&yard, &pairs, yard_task_for(&yard, ONE_CPU, 5 * MSEC_PER_HOUR), 4000000);
    assert_int_equal(yard.plan.place_count, 1);
    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.wait_count, 0);
    pairs_done(&pairs);
    yard_done(&yard);
}

/* Whether a task would move from a machine of its own to where another one stays. */
static bool is_joined(bool is_apart)
{
    struct yard yard;
    struct pairs pairs;
    uint32_t tasks[2];

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);
    for (uint32_t i = 0; i < 2; i++) {
        tasks[i] = is_apart ? yard_apart_task(&yard, ONE_CPU, 1) : yard_task(&yard, ONE_CPU);
        yard.view.task.estimate_ms[tasks[i]] = 50 * MSEC_PER_HOUR;
        yard_run(&yard, tasks[i], yard_machine(&yard, TWO));
    }
    yard_fix(&yard.view, yard.view.task.job[tasks[0]], true);
    yard.view.now += 2 * MSEC_PER_HOUR;
    search(&yard, &pairs, ROW_NONE, 4000000);

    const struct plan_place *place = yard_place_of(&yard, tasks[1]);
    const bool ret =
        place != NULL && !place->fresh && place->target == yard.view.task.instance[tasks[0]];

    pairs_done(&pairs);
    yard_done(&yard);
    return ret;
}

TEST(nobody_is_moved_to_where_one_stays_that_it_is_apart_from)
{
    assert_true(is_joined(false));
    assert_false(is_joined(true));
}

/*
 * Work that is late.
 */

TEST(who_is_late_does_not_wait_where_another_would)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 1);

    const uint32_t task = yard_task_for(&yard, ONE_CPU, 5 * MSEC_PER_HOUR);

    search(&yard, &pairs, task, 350000);
    assert_int_equal(yard.plan.wait_count, 1);
    assert_int_equal(yard.plan.waits[0].wait_cost, 734999);

    yard.view.now += 6 * MSEC_PER_HOUR;
    search(&yard, &pairs, task, 350000);
    assert_int_equal(yard.plan.wait_count, 1);
    assert_int_equal(yard.plan.waits[0].wait_cost,
                     822499); /* late by five hours more than it may be */

    yard.view.now += 15 * MSEC_PER_HOUR;
    search(&yard, &pairs, task, 350000);
    assert_int_equal(yard.plan.wait_count, 0);
    assert_int_equal(yard.plan.place_count, 1);
    pairs_done(&pairs);
    yard_done(&yard);
}

TEST(who_is_late_shares_its_machine_with_as_many_as_before)
{
    struct yard yard;
    struct pairs pairs;

    minute_yard_init(&yard);
    pairs_init(&pairs, 0.8);

    const uint32_t machine = yard_machine(&yard, TWO);
    const uint32_t tasks[] = { yard_task_for(&yard, ONE_CPU, 200 * MSEC_PER_HOUR),
                               yard_task_for(&yard, ONE_CPU, 200 * MSEC_PER_HOUR) };
    const uint32_t workload = yard.shapes.rows[ONE_CPU].workload;

    pairs_observe(&pairs, workload, &workload, 1, 0.8);
    yard.view.now += 100 * MSEC_PER_HOUR;
    yard_run(&yard, tasks[0], machine);
    yard_run(&yard, tasks[1], machine);
    search(&yard, &pairs, ROW_NONE, 700000);
    assert_int_equal(yard.plan.rent_count, 0);
    assert_int_equal(yard.plan.place_count, 0);
    assert_int_equal(yard.plan.suspend_count, 0);

    search(&yard, &pairs, ROW_NONE, 4000000); /* a machine for each pays */
    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.place_count, 1);
    pairs_done(&pairs);
    yard_done(&yard);
}

/*
 * Spot machines that may be refused.
 */

struct spot {
    struct yard yard;
    struct pairs pairs;
    uint32_t on_demand;
    uint32_t cheap; /* the same machine in the spot market */
    uint32_t task;
    uint32_t machine; /* on demand */
};

/* One task, which runs on demand or waits. */
static void spot_init(struct spot *spot, bool runs)
{
    yard_init(&spot->yard);
    spot->on_demand = yard_type(&spot->yard, "any", 2, 8, 0, 1.0);
    spot->cheap = yard_offer(&spot->yard, spot->on_demand, 0.3);
    spot->task = yard_task_for(&spot->yard, yard_shape(&spot->yard, 2, 4, 0), 20 * MSEC_PER_HOUR);
    pairs_init(&spot->pairs, 1);
    if (!runs)
        return;
    spot->machine = yard_machine(&spot->yard, spot->on_demand);
    yard_run(&spot->yard, spot->task, spot->machine);
}

static void spot_done(struct spot *spot)
{
    pairs_done(&spot->pairs);
    yard_done(&spot->yard);
}

TEST(who_runs_on_demand_asks_for_a_cheaper_machine_and_runs_on)
{
    struct spot spot;

    spot_init(&spot, true);
    search(&spot.yard, &spot.pairs, ROW_NONE, 1200000);
    assert_int_equal(spot.yard.plan.rent_count, 1);
    assert_int_equal(spot.yard.plan.rents[0].offer, spot.cheap);
    assert_int_equal(spot.yard.plan.rents[0].why.code, REASON_ASKED_FIRST);
    assert_int_equal(spot.yard.plan.place_count, 0);
    assert_int_equal(spot.yard.plan.release_count, 0);
    assert_int_equal(spot.yard.plan.suspend_count, 0);
    spot_done(&spot);
}

TEST(what_was_asked_for_is_neither_asked_for_again_nor_moved_to_before_it_is_there)
{
    struct spot spot;

    spot_init(&spot, true);

    const uint32_t asked = view_add_instance(&spot.yard.view, 1000, spot.cheap);

    search(&spot.yard, &spot.pairs, ROW_NONE, 1200000);
    assert_int_equal(spot.yard.plan.rent_count, 0);
    assert_int_equal(spot.yard.plan.place_count, 0);

    view_set_state(&spot.yard.view, asked, INSTANCE_READY);
    view_set_billed_from(&spot.yard.view, asked, spot.yard.view.now);
    search(&spot.yard, &spot.pairs, ROW_NONE, 1200000);
    assert_int_equal(spot.yard.plan.place_count, 1);
    assert_int_equal(spot.yard.plan.places[0].target, asked);
    assert_false(spot.yard.plan.places[0].fresh);
    assert_int_equal(spot.yard.plan.release_count, 1);
    assert_int_equal(spot.yard.plan.releases[0].instance, spot.machine);
    spot_done(&spot);
}

TEST(work_that_must_not_move_asks_for_nothing)
{
    struct spot spot;

    spot_init(&spot, true);
    yard_fix(&spot.yard.view, spot.yard.view.task.job[spot.task], true);
    search(&spot.yard, &spot.pairs, ROW_NONE, 1200000);
    assert_int_equal(spot.yard.plan.rent_count, 0);
    assert_int_equal(spot.yard.plan.place_count, 0);
    spot_done(&spot);
}

TEST(who_waits_does_not_count_on_an_offer_that_was_refused_time_and_again)
{
    struct spot spot;

    spot_init(&spot, false);
    search(&spot.yard, &spot.pairs, spot.task, 1200000);
    assert_int_equal(spot.yard.plan.rent_count, 1);
    assert_int_equal(spot.yard.plan.rents[0].offer, spot.cheap);

    spot.yard.view.offer_doubted_until[spot.cheap] = spot.yard.view.now + 1;
    search(&spot.yard, &spot.pairs, spot.task, 1200000);
    assert_int_equal(spot.yard.plan.rent_count, 1);
    assert_int_equal(spot.yard.plan.rents[0].offer, spot.on_demand);
    assert_int_equal(spot.yard.plan.place_count, 1);
    spot_done(&spot);
}

TEST(who_would_wait_by_choice_asks_for_what_was_refused_meanwhile)
{
    struct spot spot;

    spot_init(&spot, false);
    spot.yard.view.offer_doubted_until[spot.cheap] = spot.yard.view.now + 1;
    search(&spot.yard, &spot.pairs, spot.task, 400000); /* less than it costs on demand */
    assert_int_equal(spot.yard.plan.rent_count, 1);
    assert_int_equal(spot.yard.plan.rents[0].offer, spot.cheap);
    assert_int_equal(spot.yard.plan.place_count, 1);
    assert_int_equal(spot.yard.plan.wait_count, 0);
    spot_done(&spot);
}

CHECK_MAIN(RUN(who_is_worth_less_than_a_machine_costs_waits_and_says_so),
           RUN(who_ends_soon_does_not_wait_by_choice),
           RUN(to_wait_costs_less_where_jobs_keep_arriving_and_more_at_night),
           RUN(who_is_worth_more_gets_its_machine_and_does_not_wait),
           RUN(nobody_is_moved_to_where_one_stays_that_it_is_apart_from),
           RUN(who_is_late_does_not_wait_where_another_would),
           RUN(who_is_late_shares_its_machine_with_as_many_as_before),
           RUN(who_runs_on_demand_asks_for_a_cheaper_machine_and_runs_on),
           RUN(what_was_asked_for_is_neither_asked_for_again_nor_moved_to_before_it_is_there),
           RUN(work_that_must_not_move_asks_for_nothing),
           RUN(who_waits_does_not_count_on_an_offer_that_was_refused_time_and_again),
           RUN(who_would_wait_by_choice_asks_for_what_was_refused_meanwhile))
