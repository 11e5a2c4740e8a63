/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/repricing.h"

#include "decide/test/yard.h"

#define SECOND ((msec_t)1000)
#define HOUR   ((msec_t)YARD_HOUR)

enum { DEMAND, SPOT };   /* offers of one type with 4 CPUs, then what a test adds */
enum { WHOLE, QUARTER }; /* shapes: of the type's machine */

static const struct price_change risen[] = { { 0, 30000 }, { HOUR, 600000 } };

static uint32_t add_offer(struct yard *yard, uint32_t type, const struct price_change *changes,
                          uint32_t count)
{
    const struct offer offer = {
        .type = type,
        .market = MARKET_SPOT,
        .billing = BILLING_PER_SECOND,
        .price = { changes, count },
    };

    return catalogue_add_offer(&yard->catalogue, NULL, &offer);
}

/* On demand for 18 cents, in the spot market for these; half a minute until it runs, another until it takes
 * work; ten seconds for each part of a stop and of a start. */
static void price_yard_init(struct yard *yard, const struct price_change *changes, uint32_t count)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 4, 16, 0, 0.18);
    (void)add_offer(yard, 0, changes, count);
    yard->catalogue.types[0].acquire_ms = 30 * SECOND;
    yard->catalogue.types[0].setup_ms = 30 * SECOND;
    (void)yard_shape(yard, 4, 8, 0);
    (void)yard_shape(yard, 1, 2, 0);
    yard_delays(yard, (struct shape_delays){ .fetch_ms = 10 * SECOND,
                                             .init_ms = 10 * SECOND,
                                             .kill_ms = 10 * SECOND,
                                             .upload_ms = 10 * SECOND });
}

/* A task of 20 hours that runs alone there from now on. */
static uint32_t long_task(struct yard *yard, uint32_t shape, uint32_t offer)
{
    const uint32_t task = yard_running(yard, shape, offer);

    yard->view.task.estimate_ms[task] = 20 * HOUR;
    return task;
}

/* Decide again at that moment, at its prices. Returns how many machines are left. */
static uint32_t decide_at(struct yard *yard, msec_t now)
{
    struct view *view = &yard->view;
    struct machine_index index;
    struct row_map uses;

    view->now = now;
    for (uint32_t i = 0; i < yard->catalogue.offer_count; i++)
        view->offer_price[i] = price_at(&yard->catalogue.offers[i].price, now);
    reservation_forget(view);
    reservation_update(view);
    plan_init(&yard->plan, &yard->arena);
    machine_index_init(&index, RUNTIME_PAID, true, &yard->arena);
    machine_index_absorb(&index, view);
    row_map_init(&uses, &yard->arena);
    repricing_run(&index, &yard->plan, &uses);
    for (uint32_t i = 0; i < view->instance.count; i++)
        assert_int_equal(row_map_get(&uses, i) == USE_LEFT, yard_releases(yard, i));
    return yard->plan.release_count;
}

/* It costs a minute of the old machine to move, one cent: as much is overpaid in 1/42 hours. */
TEST(a_machine_is_left_when_as_much_was_overpaid_as_the_move_costs)
{
    const msec_t enough = HOUR + HOUR / 42;
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    const uint32_t task = long_task(&yard, WHOLE, SPOT);

    assert_int_equal(decide_at(&yard, HOUR - 1), 0);
    assert_true(yard.plan.wake_at == MSEC_NEVER);
    assert_int_equal(decide_at(&yard, HOUR), 0);
    assert_in_range(yard.plan.wake_at, enough, enough + 2);
    assert_int_equal(decide_at(&yard, enough - 2), 0);

    assert_int_equal(decide_at(&yard, enough + 2), 1);
    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, DEMAND);
    assert_int_equal(yard.plan.rents[0].why.code, REASON_PRICE_ROSE);
    assert_int_equal(yard.plan.rents[0].why.passed_offer, SPOT);
    assert_int_equal(yard.plan.rents[0].why.passed_over, 600000);
    yard_check_fresh(&yard, task, 0);
    assert_int_equal(yard.plan.place_count, 1);
    yard_done(&yard);
}

TEST(work_that_must_not_be_moved_stays_with_all_that_shares_its_machine)
{
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    const uint32_t fixed = long_task(&yard, QUARTER, SPOT);
    const uint32_t other = yard_task_for(&yard, QUARTER, 20 * HOUR);
    yard_run(&yard, other, yard.view.task.instance[fixed]);

    assert_int_equal(decide_at(&yard, 2 * HOUR), 1);
    yard_fix(&yard.view, yard.view.task.job[fixed], true);
    assert_int_equal(decide_at(&yard, 2 * HOUR), 0);
    yard_done(&yard);
}

/* Of a task that has two minutes to go no move saves anything. */
TEST(a_machine_that_ends_soon_is_kept)
{
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    const uint32_t task = long_task(&yard, WHOLE, SPOT);

    yard.view.task.estimate_ms[task] = 2 * HOUR + 2 * (msec_t)YARD_MINUTE;
    assert_int_equal(decide_at(&yard, 2 * HOUR), 0);
    assert_true(yard.plan.wake_at == MSEC_NEVER);
    yard.view.task.estimate_ms[task] = 2 * HOUR + 20 * (msec_t)YARD_MINUTE;
    assert_int_equal(decide_at(&yard, 2 * HOUR), 1);
    yard_done(&yard);
}

TEST(work_without_an_end_leaves_a_dear_machine_too)
{
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    const uint32_t task = long_task(&yard, WHOLE, SPOT);

    yard.view.task.estimate_ms[task] = MSEC_NEVER;
    assert_int_equal(decide_at(&yard, HOUR), 0);
    assert_true(yard.plan.wake_at < 2 * HOUR);
    assert_int_equal(decide_at(&yard, 2 * HOUR), 1);
    yard_done(&yard);
}

TEST(a_machine_that_is_a_little_dearer_is_kept)
{
    static const struct price_change bit[] = { { 0, 30000 }, { HOUR, 190000 } };
    static const struct price_change more[] = { { 0, 30000 }, { HOUR, 220000 } };
    struct yard yard;

    price_yard_init(&yard, bit, 2);
    (void)long_task(&yard, WHOLE, SPOT);
    assert_int_equal(decide_at(&yard, 10 * HOUR), 0);
    yard_done(&yard);

    price_yard_init(&yard, more, 2);
    (void)long_task(&yard, WHOLE, SPOT);
    assert_int_equal(decide_at(&yard, 10 * HOUR), 1);
    yard_done(&yard);
}

/* Peaks of a minute each hour: what was overpaid is more than a move by the second one, but in between
 * more was saved. */
TEST(peaks_that_pass_move_nothing)
{
    struct price_change peaks[16];
    struct yard yard;

    for (size_t i = 0; i < 8; i++) {
        peaks[2 * i] = (struct price_change){ (msec_t)i * HOUR, 30000 };
        peaks[2 * i + 1] = (struct price_change){ (msec_t)(i + 1) * HOUR - YARD_MINUTE, 600000 };
    }
    price_yard_init(&yard, peaks, 16);
    (void)long_task(&yard, WHOLE, SPOT);
    for (msec_t now = 0; now < 8 * HOUR; now += 10 * SECOND)
        assert_int_equal(decide_at(&yard, now), 0);
    assert_int_equal(decide_at(&yard, 8 * HOUR), 0);
    assert_int_equal(decide_at(&yard, 9 * HOUR), 1); /* the last one stays */
    yard_done(&yard);
}

/* 40 seconds at each price are too short, but all of them are too high. */
TEST(what_was_overpaid_is_summed_over_changes_of_the_price)
{
    static const struct price_change restless[] = {
        { 0, 30000 },
        { HOUR, 600000 },
        { HOUR + 40 * SECOND, 590000 },
        { HOUR + 80 * SECOND, 600000 },
    };
    struct yard yard;

    price_yard_init(&yard, restless, 4);
    (void)long_task(&yard, WHOLE, SPOT);
    assert_int_equal(decide_at(&yard, HOUR + 80 * SECOND), 0);
    assert_int_equal(decide_at(&yard, HOUR + 90 * SECOND), 1);
    yard_done(&yard);
}

TEST(after_each_stop_twice_as_much_must_have_been_overpaid)
{
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    const uint32_t task = long_task(&yard, WHOLE, SPOT);

    for (uint32_t stops = 0; stops < 6; stops++) {
        const msec_t enough = HOUR + (HOUR << stops) / 42;

        yard.view.task.stops[task] = stops;
        assert_int_equal(decide_at(&yard, HOUR), 0);
        assert_in_range(yard.plan.wake_at, enough, enough + 2);
        assert_int_equal(decide_at(&yard, enough - 2), 0);
        assert_int_equal(decide_at(&yard, enough + 2), 1);
    }
    yard.view.task.stops[task] = UINT32_MAX;
    assert_int_equal(decide_at(&yard, 10 * HOUR), 0);
    assert_true(yard.plan.wake_at == MSEC_NEVER);
    yard_done(&yard);
}

/* It began at these prices: there was a reason. */
TEST(where_no_price_has_changed_since_the_work_began_nothing_is_left)
{
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    yard_open(&yard);
    yard.view.now = 2 * HOUR;
    (void)long_task(&yard, WHOLE, SPOT);
    assert_int_equal(decide_at(&yard, 5 * HOUR), 0);
    yard_done(&yard);
}

/* So many machines: when they are left, if it is decided whenever a plan says so. 'ret_looks' is how often that is. */
static msec_t left_at(uint32_t machines, uint32_t *ret_looks)
{
    struct yard yard;
    msec_t now = HOUR;

    price_yard_init(&yard, risen, 2);
    for (uint32_t i = 0; i < machines; i++)
        (void)long_task(&yard, WHOLE, SPOT);
    for (*ret_looks = 1; decide_at(&yard, now) == 0; (*ret_looks)++) {
        assert_true(yard.plan.wake_at > now);
        assert_true(yard.plan.wake_at < 2 * HOUR);
        assert_true(*ret_looks < 10);
        now = yard.plan.wake_at;
    }
    assert_int_equal(yard.plan.release_count, machines);
    yard_done(&yard);
    return now;
}

/* From 64 on they are not looked at before one can have overpaid enough. */
TEST(many_machines_are_left_when_one_would_be)
{
    uint32_t looks;
    const msec_t one = left_at(1, &looks);

    assert_int_equal(left_at(63, &looks), one);
    assert_int_equal(looks, 2);
    assert_int_equal(left_at(64, &looks), one);
    assert_int_equal(looks, 2);
    assert_int_equal(left_at(200, &looks), one);
}

TEST(an_offer_that_is_blocked_is_no_place_to_go)
{
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    (void)long_task(&yard, WHOLE, SPOT);
    yard.view.offer_blocked_until[DEMAND] = 3 * HOUR;
    assert_int_equal(decide_at(&yard, 2 * HOUR), 0);
    assert_int_equal(decide_at(&yard, 3 * HOUR), 1);
    yard_done(&yard);
}

TEST(a_machine_is_left_too_when_another_has_become_cheaper)
{
    static const struct price_change fallen[] = { { 0, 600000 }, { HOUR, 30000 } };
    struct yard yard;

    price_yard_init(&yard, fallen, 2);
    (void)long_task(&yard, WHOLE, DEMAND);
    assert_int_equal(decide_at(&yard, HOUR), 0);
    assert_int_equal(decide_at(&yard, 2 * HOUR), 1);
    assert_int_equal(yard.plan.rents[0].offer, SPOT);
    yard_done(&yard);
}

/* For two days the loss of a day in 1,217 hours does not matter; here it is more than what is saved. */
TEST(a_market_that_interrupts_must_be_cheaper_by_what_would_be_lost)
{
    static const struct price_change fallen[] = { { 0, 600000 }, { HOUR, 120000 } };
    struct yard yard;

    price_yard_init(&yard, fallen, 2);
    yard.catalogue.offers[SPOT].interruption = (struct interruption){ 20, 100 };
    const uint32_t task = long_task(&yard, WHOLE, DEMAND);

    assert_int_equal(decide_at(&yard, 2 * HOUR), 1);
    yard.view.task.estimate_ms[task] = 1000 * HOUR;
    assert_int_equal(decide_at(&yard, 2 * HOUR), 0);
    yard_done(&yard);
}

/* From the first hour on machines of the spot market last for five hours, at the same price. */
static uint32_t left_when_losses_begin(msec_t checkpoint)
{
    static const struct price_change cheap[] = { { 0, 150000 } };
    struct yard yard;

    price_yard_init(&yard, cheap, 1);
    yard.shapes.rows[WHOLE].delays.checkpoint_ms = checkpoint;
    (void)long_task(&yard, WHOLE, SPOT);
    assert_int_equal(decide_at(&yard, HOUR), 0);
    yard.view.offer_lasts[SPOT] = 5 * HOUR;
    assert_int_equal(decide_at(&yard, HOUR + HOUR / 2),
                     0); /* not for that: nobody says it is new */
    yard.view.offer_risk_changed[SPOT] = HOUR;

    const uint32_t left = decide_at(&yard, HOUR + HOUR / 2);

    assert_true(left == 0 || yard.plan.rents[0].offer == DEMAND);
    assert_true(left == 0 || yard.plan.rents[0].why.code == REASON_RISK_ROSE);
    yard_done(&yard);
    return left;
}

TEST(a_machine_is_left_too_when_its_like_are_lost_more_often)
{
    assert_int_equal(left_when_losses_begin(0), 1);
    assert_int_equal(left_when_losses_begin(HOUR / 4), 0);
}

/* A task of 20 hours that has little to go loses all of them if its machine is lost now. */
TEST(what_was_done_and_not_saved_is_at_stake)
{
    static const struct price_change cheap[] = { { 0, 150000 } };

    for (int is_saved = 0; is_saved < 2; is_saved++) {
        struct yard yard;

        price_yard_init(&yard, cheap, 1);

        const uint32_t task = long_task(&yard, WHOLE, SPOT);

        yard.view.offer_lasts[SPOT] = 40 * HOUR;
        yard.view.offer_risk_changed[SPOT] = HOUR;
        yard.view.task.executed_ms[task] = 17 * HOUR; /* in an earlier launch */
        yard.view.task.saved_ms[task] = is_saved ? 17 * HOUR : 0;
        assert_int_equal(decide_at(&yard, HOUR + HOUR / 2), is_saved ? 0 : 1);
        yard_done(&yard);
    }
}

/* Whether one that is smaller would do is not asked: it would be asked at every end of a task. */
TEST(what_shares_a_machine_moves_to_one_that_is_no_smaller)
{
    static const struct price_change cheap[] = { { 0, 10000 } };
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    (void)yard_type(&yard, "a", 3, 16, 0, 0.02);
    (void)add_offer(&yard, 1, cheap, 1);
    const uint32_t one = long_task(&yard, QUARTER, SPOT);
    const uint32_t two = yard_task_for(&yard, QUARTER, 2 * HOUR);

    yard_run(&yard, two, yard.view.task.instance[one]);
    assert_int_equal(decide_at(&yard, HOUR + HOUR / 4), 1);
    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, DEMAND);
    assert_int_equal(yard.plan.place_count, 2);
    yard_check_fresh(&yard, one, 0);
    yard_check_fresh(&yard, two, 0);
    yard_done(&yard);
}

/* The other family is cheapest, for those that may run there. */
TEST(what_may_not_run_in_a_family_does_not_move_there)
{
    for (int choosy = 0; choosy < 2; choosy++) {
        const struct shape_demand picky = { 0, { { 4000, 8192, 0 } } };
        const struct shape_spec spec = {
            .name = "picky",
            .workload = "picky",
            .demands = &picky,
            .demand_count = 1,
        };
        struct yard yard;

        price_yard_init(&yard, risen, 2);
        const uint32_t other = yard_type(&yard, "b", 4, 16, 0, 0.05);
        const uint32_t shape = choosy != 0 ? shapes_add(&yard.shapes, &spec) : WHOLE;

        (void)long_task(&yard, shape, SPOT);
        assert_int_equal(decide_at(&yard, 2 * HOUR), 1);
        assert_int_equal(yard.plan.rents[0].offer, choosy != 0 ? DEMAND : other);
        yard_done(&yard);
    }
}

/* Two machines are left for one restart of the gang. */
TEST(the_machines_of_a_gang_are_left_together)
{
    struct yard yard;

    price_yard_init(&yard, risen, 2);
    const uint32_t first = yard_job(&yard, WHOLE, 2, true);

    for (uint32_t i = 0; i < 2; i++) {
        yard_run(&yard, first + i, yard_machine(&yard, SPOT));
        yard.view.task.estimate_ms[first + i] = 20 * HOUR;
    }
    assert_int_equal(decide_at(&yard, HOUR + 80 * SECOND), 0);
    assert_int_equal(decide_at(&yard, HOUR + 90 * SECOND), 2);
    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.place_count, 2);

    /* Either of them has too little to gain from a restart, and has been stopped too often. */
    yard.view.task.stops[first + 1] = 8;
    assert_int_equal(decide_at(&yard, HOUR + 90 * SECOND), 0);
    yard_done(&yard);
}

/* While one moves, the other stands still for 80 s on a machine of 100 dollars an hour: 2.22 dollars. */
TEST(the_rest_of_a_gang_that_stands_still_is_counted)
{
    for (int gang = 0; gang < 2; gang++) {
        struct yard yard;

        price_yard_init(&yard, risen, 2);
        (void)yard_type(&yard, "b", 4, 16, 8, 100.0);
        const uint32_t first = yard_job(&yard, WHOLE, 2, gang != 0);

        yard_run(&yard, first, yard_machine(&yard, SPOT));
        yard_run(&yard, first + 1, yard_machine(&yard, 2));
        for (uint32_t i = 0; i < 2; i++)
            yard.view.task.estimate_ms[first + i] = 7 * HOUR;

        /* What there is to gain are 6 x 42 cents. The second machine is dear too, but no price of its own
         * or of where it could go has changed. */
        assert_int_equal(decide_at(&yard, HOUR + HOUR / 4), gang != 0 ? 0 : 1);
        yard_done(&yard);
    }
}

CHECK_MAIN(RUN(a_machine_is_left_when_as_much_was_overpaid_as_the_move_costs),
           RUN(work_that_must_not_be_moved_stays_with_all_that_shares_its_machine),
           RUN(a_machine_that_ends_soon_is_kept),
           RUN(work_without_an_end_leaves_a_dear_machine_too),
           RUN(a_machine_that_is_a_little_dearer_is_kept), RUN(peaks_that_pass_move_nothing),
           RUN(what_was_overpaid_is_summed_over_changes_of_the_price),
           RUN(after_each_stop_twice_as_much_must_have_been_overpaid),
           RUN(where_no_price_has_changed_since_the_work_began_nothing_is_left),
           RUN(many_machines_are_left_when_one_would_be),
           RUN(an_offer_that_is_blocked_is_no_place_to_go),
           RUN(a_machine_is_left_too_when_another_has_become_cheaper),
           RUN(a_market_that_interrupts_must_be_cheaper_by_what_would_be_lost),
           RUN(a_machine_is_left_too_when_its_like_are_lost_more_often),
           RUN(what_was_done_and_not_saved_is_at_stake),
           RUN(what_shares_a_machine_moves_to_one_that_is_no_smaller),
           RUN(what_may_not_run_in_a_family_does_not_move_there),
           RUN(the_machines_of_a_gang_are_left_together),
           RUN(the_rest_of_a_gang_that_stands_still_is_counted))
