/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/service_pools.h"

#include <string.h>

#include "decide/test/yard.h"

/* Three types on demand, each on the spot market for a third. */
enum { A_SAFE, B_SAFE, C_SAFE, A_SPOT, B_SPOT, C_SPOT, OFFERS };

struct town {
    struct yard yard;
    struct interruptions learned;
    struct service_pools pools;
    uint32_t was_pool_of[256];
    uint32_t task;
};

static void lasts(struct town *town, double hours)
{
    for (uint32_t i = A_SPOT; i < OFFERS; i++)
        town->yard.view.offer_lasts[i] = (msec_t)(hours * YARD_HOUR);
}

/* A service of one task a machine, and two shapes of other work: of a whole machine and of a half. */
static void town_init(struct town *town, uint32_t tasks, double availability)
{
    struct yard *yard = &town->yard;

    yard_init(yard);
    for (uint32_t i = 0; i < 3; i++)
        (void)yard_type(yard, "m", 4, 16, 0, 1.0 + 0.1 * i);
    for (uint32_t i = 0; i < 3; i++)
        (void)yard_offer(yard, i, 0.30 + 0.01 * i);
    for (uint32_t i = 0; i < 3; i++)
        yard->catalogue.types[i].setup_ms = YARD_MINUTE;
    (void)yard_shape(yard, 4, 8, 0);
    (void)yard_shape(yard, 2, 4, 0);
    yard_open(yard);

    const struct job_spec spec = {
        .id = yard->next_id++,
        .first_task_id = 5000,
        .task_count = tasks,
        .short_ppb = (uint32_t)((1 - availability) * (double)SHARE_ALL_PPB + 0.5),
        .estimate_ms = MSEC_NEVER,
    };

    (void)view_add_job(&yard->view, &spec);
    reservation_update(&yard->view);
    town->task = view_find_task(&yard->view, 5000);
    memset(town->was_pool_of, 0xff, sizeof(town->was_pool_of));
    interruptions_init(&town->learned, &yard->catalogue);
    lasts(town, 100);
}

static void town_done(struct town *town)
{
    interruptions_done(&town->learned);
    yard_done(&town->yard);
}

/* What is decided; the plan is the yard's. */
static void decide(struct town *town)
{
    const struct service_question question = { .view = &town->yard.view,
                                               .learned = &town->learned,
                                               .was_pool_of = town->was_pool_of,
                                               .arena = &town->yard.arena };

    service_pools_decide(&question, &town->pools);
    town->yard.plan = town->pools.plan;
}

static uint32_t rents_of(const struct town *town, uint32_t offer)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < town->yard.plan.rent_count; i++)
        count += town->yard.plan.rents[i].offer == offer;
    return count;
}

static void leave(struct view *view, uint32_t task)
{
    if (view->task.state[task] == TASK_RUNNING)
        view_mark_stopped(view, task, view->now);
    view_unbind(view, task);
}

/* Rent and place all that is planned; machines are ready at once, tasks run. */
static void carry_out(struct town *town)
{
    struct yard *yard = &town->yard;
    uint32_t rows[256];

    for (uint32_t i = 0; i < yard->plan.rent_count; i++)
        rows[i] = yard_machine(yard, yard->plan.rents[i].offer);
    for (uint32_t i = 0; i < yard->plan.suspend_count; i++)
        leave(&yard->view, yard->plan.suspends[i].task);
    for (uint32_t i = 0; i < yard->plan.place_count; i++) {
        const struct plan_place *place = &yard->plan.places[i];

        if (yard->view.task.instance[place->task] != ROW_NONE)
            leave(&yard->view, place->task);
        yard_run(yard, place->task, place->fresh ? rows[place->target] : place->target);
    }
    for (uint32_t i = 0; i < yard->view.instance.count; i++)
        town->was_pool_of[i] = 0; /* the service is the first job */
    view_check(&yard->view);
}

static void lose(struct town *town, uint32_t offer)
{
    struct view *view = &town->yard.view;
    uint32_t next;

    for (uint32_t row = view->instance.first; row != ROW_NONE; row = next) {
        next = view->instance.next[row];
        if (view->instance.offer[row] != offer)
            continue;
        while (view->instance.first_task[row] != ROW_NONE)
            leave(view, view->instance.first_task[row]);
        view_remove_instance(view, row);
    }
}

static uint32_t waiting_of_service(const struct town *town)
{
    const struct view *view = &town->yard.view;
    uint32_t count = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        count += view->job.short_ppb[view->task.job[task]] > 0;
    }
    return count;
}

TEST(a_pool_of_spot_machines_survives_the_loss_of_any_type)
{
    struct town town;

    town_init(&town, 6, 0.999);
    decide(&town);
    assert_int_equal(rents_of(&town, A_SAFE), 0);
    for (uint32_t offer = A_SPOT; offer < OFFERS; offer++)
        assert_true(town.yard.plan.rent_count - rents_of(&town, offer) >= 6);
    assert_true(town.yard.plan.rent_count <= 9); /* three times half of it */
    assert_int_equal(town.yard.plan.place_count, 6);
    assert_int_equal(town.yard.plan.rents[0].why.code, REASON_PROMISED);
    assert_int_equal(town.yard.plan.rents[0].why.passed_offer, A_SAFE);
    carry_out(&town);
    decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    assert_int_equal(town.yard.plan.place_count, 0);
    town_done(&town);
}

TEST(what_is_lost_goes_to_what_is_left_and_is_replaced)
{
    struct town town;

    town_init(&town, 6, 0.999);
    decide(&town);
    carry_out(&town);
    for (uint32_t round = 0; round < 6; round++) {
        lose(&town, A_SPOT + round % 3);
        decide(&town);
        for (uint32_t i = 0; i < town.yard.plan.place_count; i++)
            assert_false(town.yard.plan.places[i].fresh);
        carry_out(&town);
        assert_int_equal(waiting_of_service(&town), 0);
    }
    town_done(&town);
}

TEST(where_machines_are_lost_too_often_it_is_on_demand_and_says_so)
{
    struct town town;

    town_init(&town, 4, 0.9999);
    lasts(&town, 0.02);
    decide(&town);
    assert_int_equal(rents_of(&town, A_SAFE), 4);
    assert_int_equal(town.yard.plan.rent_count, 4);
    assert_int_equal(town.yard.plan.rents[0].why.code, REASON_PROMISED_SAFE);
    town_done(&town);
}

TEST(spot_offers_of_which_nothing_is_known_are_a_last_resort)
{
    struct town town;

    town_init(&town, 4, 0.99);
    for (uint32_t i = A_SPOT; i < OFFERS; i++)
        town.yard.view.offer_lasts[i] = MSEC_NEVER;
    decide(&town);
    assert_int_equal(rents_of(&town, A_SAFE), 4);
    for (uint32_t i = A_SAFE; i <= C_SAFE; i++)
        town.yard.catalogue.offers[i].is_former = true;
    decide(&town); /* unless there is nothing else */
    assert_int_equal(rents_of(&town, A_SPOT), 4);
    assert_int_equal(town.yard.plan.rent_count, 4);
    assert_int_equal(town.yard.plan.place_count, 4);
    assert_int_equal(town.yard.plan.rents[0].why.code, REASON_PROMISED_BEST);
    town_done(&town);
}

TEST(if_nothing_keeps_the_promise_the_best_there_is_is_rented)
{
    struct town town;

    town_init(&town, 4, 0.9999);
    lasts(&town, 0.02);
    for (uint32_t i = A_SAFE; i <= C_SAFE; i++)
        town.yard.view.offer_blocked_until[i] = MSEC_NEVER;
    decide(&town);
    assert_true(town.yard.plan.rent_count >= 4);
    assert_int_equal(town.yard.plan.place_count, 4);
    assert_int_equal(town.yard.plan.rents[0].why.code, REASON_PROMISED_BEST);
    town_done(&town);
}

TEST(experience_counts_more_than_the_catalogue)
{
    struct town town;

    town_init(&town, 4, 0.9999);
    lasts(&town, 1000);
    for (uint32_t offer = A_SPOT; offer < OFFERS; offer++) {
        for (int i = 0; i < 1000; i++) {
            interruptions_begin(&town.learned, offer, 0);
            interruptions_end(&town.learned, offer, 2 * YARD_MINUTE, true);
        }
    }
    decide(&town);
    assert_int_equal(rents_of(&town, A_SAFE), 4);
    town_done(&town);
}

TEST(other_work_runs_on_the_excess_and_stops_when_the_service_needs_it)
{
    struct town town;
    uint32_t on_excess = 0;

    town_init(&town, 6, 0.999);
    decide(&town);
    carry_out(&town);
    for (uint32_t i = 0; i < 12; i++)
        (void)yard_task(&town.yard, 1);
    decide(&town);

    const uint32_t excess = town.yard.view.instance.living - 6;

    for (uint32_t i = 0; i < town.yard.plan.place_count; i++)
        on_excess += town.yard.plan.places[i].why.code == REASON_EXCESS;
    assert_true(excess > 0);
    assert_int_equal(on_excess, excess * 2 < 12 ? excess * 2 : 12);
    assert_int_equal(town.yard.plan.rent_count, 0);
    carry_out(&town);
    lose(&town, town.yard.view.instance.offer[town.yard.view.task.instance[town.task]]);

    const uint32_t homeless = waiting_of_service(&town);

    assert_true(homeless > 0);
    decide(&town);
    assert_true(town.yard.plan.suspend_count > 0);
    assert_int_equal(town.yard.plan.suspends[0].why.code, REASON_SERVICE_NEEDS);
    carry_out(&town);
    assert_int_equal(waiting_of_service(&town), 0);
    town_done(&town);
}

static void add_spares(struct town *town, uint32_t count)
{
    struct view *view = &town->yard.view;

    view->job.kin[view->task.job[town->task]] = 7;
    for (uint32_t i = 0; i < count; i++)
        view->job.kin[view->task.job[yard_task_for(&town->yard, 0, MSEC_NEVER)]] = 7;
}

static uint32_t running(const struct town *town)
{
    const struct view *view = &town->yard.view;
    uint32_t count = 0;

    INSTANCE_EACH(instance, view)
    {
        count += view->instance.task_count[instance];
    }
    return count;
}

/* With as many spares as the pool has room for, the loss of any type leaves as many as were promised. */
TEST(spares_take_the_room_that_the_pool_has_beyond_the_promise)
{
    for (uint32_t offer = A_SPOT; offer < OFFERS; offer++) {
        struct town town;

        town_init(&town, 6, 0.999);
        decide(&town);

        const uint32_t machines = town.yard.plan.rent_count;

        assert_true(machines > 6);
        add_spares(&town, machines - 6 + 2);
        decide(&town);
        assert_int_equal(town.yard.plan.rent_count, machines);
        assert_int_equal(town.yard.plan.place_count, machines); /* two are left to the policy */
        carry_out(&town);
        decide(&town);
        assert_int_equal(town.yard.plan.rent_count, 0);
        assert_int_equal(town.yard.plan.place_count, 0);
        lose(&town, offer);
        assert_true(running(&town) >= 6);
        decide(&town);
        assert_int_equal(town.yard.plan.suspend_count, 0);
        assert_true(town.yard.plan.rent_count > 0);
        carry_out(&town);
        assert_int_equal(waiting_of_service(&town), 0);
        town_done(&town);
    }
}

TEST(other_work_makes_room_for_spares)
{
    struct town town;

    town_init(&town, 6, 0.999);
    decide(&town);
    carry_out(&town);
    for (uint32_t i = 0; i < 12; i++)
        (void)yard_task(&town.yard, 1);
    decide(&town);
    carry_out(&town);

    const uint32_t excess = town.yard.view.instance.living - 6;

    add_spares(&town, excess);
    decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    assert_int_equal(town.yard.plan.place_count, excess);
    assert_true(town.yard.plan.suspend_count >= excess);
    town_done(&town);
}

TEST(what_may_not_be_stopped_is_no_excess_and_makes_no_room)
{
    struct town town;

    town_init(&town, 2, 0.999);
    decide(&town);
    carry_out(&town);

    const uint32_t task = yard_task(&town.yard, 1);
    const uint32_t gang = yard_job(&town.yard, 1, 2, true);

    yard_fix(&town.yard.view, town.yard.view.task.job[task], true);
    decide(&town);
    assert_null(yard_place_of(&town.yard, task));
    assert_null(yard_place_of(&town.yard, gang));
    EMPTY_EACH(machine, &town.yard.view)
    {
        yard_run(&town.yard, task, machine); /* the engine has put it there */
        break;
    }
    decide(&town);
    assert_int_equal(town.yard.plan.suspend_count, 0);
    assert_true(town.yard.plan.rent_count > 0); /* in the place of the one that it has taken */
    town_done(&town);
}

TEST(fixed_work_that_yields_runs_on_the_excess_and_is_stopped_too)
{
    struct town town;
    uint32_t on_excess = 0;

    town_init(&town, 6, 0.999);
    decide(&town);
    carry_out(&town);
    for (uint32_t i = 0; i < 12; i++) {
        const uint32_t task = yard_task(&town.yard, 1);

        yard_fix(&town.yard.view, town.yard.view.task.job[task], true);
        town.yard.view.job.yields[town.yard.view.task.job[task]] = true;
    }
    decide(&town);
    for (uint32_t i = 0; i < town.yard.plan.place_count; i++)
        on_excess += town.yard.plan.places[i].why.code == REASON_EXCESS;
    assert_true(on_excess > 0);
    carry_out(&town);
    lose(&town, town.yard.view.instance.offer[town.yard.view.task.instance[town.task]]);
    decide(&town);
    assert_true(town.yard.plan.suspend_count > 0);
    carry_out(&town);
    assert_int_equal(waiting_of_service(&town), 0);
    town_done(&town);
}

TEST(an_empty_machine_of_the_right_kind_is_used_before_one_is_rented)
{
    struct town town;

    town_init(&town, 2, 0.999);
    decide(&town);

    const uint32_t wanted = town.yard.plan.rent_count;
    const uint32_t machine = yard_machine(&town.yard, town.yard.plan.rents[0].offer);

    decide(&town);
    assert_int_equal(town.yard.plan.rent_count, wanted - 1);
    assert_int_equal(town.pools.pool_of[machine], 0);
    town_done(&town);
}

TEST(when_the_market_calms_down_the_service_leaves_machines_on_demand)
{
    struct town town;

    town_init(&town, 4, 0.999);
    lasts(&town, 0.02);
    decide(&town);
    carry_out(&town);
    assert_int_equal(town.yard.view.instance.living, 4);
    lasts(&town, 100);
    decide(&town);
    assert_true(town.yard.plan.rent_count >= 4);
    assert_int_equal(town.yard.plan.place_count, 0); /* they are not ready yet */
    carry_out(&town);
    decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    carry_out(&town);
    decide(&town);
    INSTANCE_EACH(machine, &town.yard.view)
    {
        if (town.yard.view.instance.offer[machine] <= C_SAFE)
            assert_int_equal(town.pools.pool_of[machine], ROW_NONE);
    }
    assert_int_equal(waiting_of_service(&town), 0);
    town_done(&town);
}

TEST(tasks_that_must_be_apart_are)
{
    struct town town;

    town_init(&town, 3, 0.99);
    town.yard.view.job.apart[0] = 0;
    decide(&town);
    for (uint32_t i = 0; i < town.yard.plan.place_count; i++) {
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(town.yard.plan.places[i].target, town.yard.plan.places[k].target);
    }
    assert_int_equal(town.yard.plan.place_count, 3);
    town_done(&town);
}

TEST(a_service_is_apart_from_other_jobs_of_its_group)
{
    struct town town;

    town_init(&town, 1, 0.99);
    const uint32_t other = yard_apart_task(&town.yard, 1, 1);
    town.yard.view.task.shape[town.task] = 1; /* two fit */
    town.yard.view.job.apart[0] = town.yard.view.job.apart[town.yard.view.task.job[other]];
    const uint32_t machine = yard_machine(&town.yard, A_SAFE);
    yard_run(&town.yard, other, machine);
    town.was_pool_of[machine] = 0;
    for (uint32_t i = A_SPOT; i < OFFERS; i++)
        town.yard.view.offer_blocked_until[i] = MSEC_NEVER;
    reservation_forget(&town.yard.view);
    reservation_update(&town.yard.view);
    decide(&town);

    const struct plan_place *place = yard_place_of(&town.yard, town.task);

    assert_true(place != NULL && place->fresh);
    assert_int_equal(town.yard.plan.suspend_count, 0);
    carry_out(&town);
    town_done(&town);
}

CHECK_MAIN(RUN(a_pool_of_spot_machines_survives_the_loss_of_any_type),
           RUN(what_is_lost_goes_to_what_is_left_and_is_replaced),
           RUN(where_machines_are_lost_too_often_it_is_on_demand_and_says_so),
           RUN(spot_offers_of_which_nothing_is_known_are_a_last_resort),
           RUN(if_nothing_keeps_the_promise_the_best_there_is_is_rented),
           RUN(experience_counts_more_than_the_catalogue),
           RUN(other_work_runs_on_the_excess_and_stops_when_the_service_needs_it),
           RUN(spares_take_the_room_that_the_pool_has_beyond_the_promise),
           RUN(other_work_makes_room_for_spares),
           RUN(what_may_not_be_stopped_is_no_excess_and_makes_no_room),
           RUN(fixed_work_that_yields_runs_on_the_excess_and_is_stopped_too),
           RUN(an_empty_machine_of_the_right_kind_is_used_before_one_is_rented),
           RUN(when_the_market_calms_down_the_service_leaves_machines_on_demand),
           RUN(tasks_that_must_be_apart_are), RUN(a_service_is_apart_from_other_jobs_of_its_group))
