/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/rent_value.h"

#include "decide/test/minute_yard.h"

static void rent_with(struct yard *yard, msec_t paid_wait, double doubt, money_t machine_cost)
{
    const struct wait_limits limits = { .paid_wait = paid_wait };
    struct batches batches;
    struct runtime_bins bins;

    minute_yard_bins(yard, &bins);
    batches_build(&batches, &yard->view, &yard->arena);
    rent_value(&batches, &bins, &limits, doubt, machine_cost, NULL, &yard->plan);
}

static void rent_doubting(struct yard *yard, msec_t paid_wait, double doubt)
{
    rent_with(yard, paid_wait, doubt, 0);
}

static void rent(struct yard *yard, msec_t paid_wait)
{
    rent_doubting(yard, paid_wait, 0);
}

TEST(tasks_share_a_machine_of_which_they_use_all)
{
    struct yard yard;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 5, YARD_HOUR);
    rent(&yard, 0);

    assert_int_equal(yard.plan.place_count, 5);
    assert_int_equal(yard.plan.rent_count, 3); /* 2 + 2 + 1: no large machine for five */
    assert_int_equal(yard.plan.rents[0].offer, TWO);
    assert_int_equal(yard.plan.rents[0].why.code, REASON_BEST_VALUE);
    assert_int_equal(yard.plan.rents[0].why.passed_offer, EIGHT);

    /* Two tasks for a dollar, or five for four. */
    const struct plan_reason *why = &yard.plan.rents[0].why;

    assert_int_equal(why->chosen, YARD_USD(1));
    assert_int_equal(why->passed_over, YARD_USD(1.6)); /* for two of the five */
    yard_done(&yard);
}

/* Two tasks for a dollar, or five for four: they are worth as much if each machine costs another dollar. */
TEST(where_each_machine_costs_something_beside_its_price_fewer_and_larger_ones_are_rented)
{
    for (int cents = 0; cents <= 150; cents += 75) {
        struct yard yard;

        minute_yard_init(&yard);
        minute_yard_tasks(&yard, ONE_CPU, 5, YARD_HOUR);
        rent_with(&yard, 0, 0, YARD_USD(0.01) * cents);

        assert_int_equal(yard.plan.place_count, 5);
        assert_int_equal(yard.plan.rent_count, cents < 100 ? 3 : 1);
        assert_int_equal(yard.plan.rents[0].offer, cents < 100 ? TWO : EIGHT);
        yard_done(&yard);
    }
}

TEST(a_machine_that_there_is_costs_nothing_beside_its_price)
{
    struct yard yard;

    minute_yard_init(&yard);
    (void)yard_machine(&yard, EIGHT);
    minute_yard_tasks(&yard, ONE_CPU, 2, YARD_HOUR);
    rent_with(&yard, 0, 0, YARD_USD(100));

    assert_int_equal(yard.plan.rent_count, 0);
    yard_done(&yard);
}

/* Two, eight and sixteen CPUs; of the last each costs 2 % more. */
static uint32_t rented_of_three(uint32_t tasks, msec_t runtime, double dollars_of_eight)
{
    struct yard yard;
    uint32_t offer;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 2, 8, 0, 0.2);
    (void)yard_type(&yard, "a", 8, 32, 0, dollars_of_eight);
    (void)yard_type(&yard, "a", 16, 64, 0, 1.632);
    (void)yard_shape(&yard, 1, 4, 0);
    for (uint32_t i = 0; i < tasks; i++)
        (void)yard_task_for(&yard, 0, runtime);
    rent(&yard, 0);
    offer = yard.plan.rents[0].offer;
    yard_done(&yard);
    return offer;
}

TEST(services_get_the_largest_machine_of_those_that_are_as_good)
{
    enum { SMALLEST, LARGER };

    assert_int_equal(rented_of_three(16, MSEC_NEVER, 0.807), LARGER);
    assert_int_equal(rented_of_three(16, MSEC_NEVER, 0.809), SMALLEST); /* 1.1 % more */
    assert_int_equal(rented_of_three(7, MSEC_NEVER, 0.8), SMALLEST);    /* it would not be full */
    assert_int_equal(rented_of_three(16, YARD_HOUR, 0.807), SMALLEST);
}

/* A minute is paid: after the 2 s of the boot, five tasks of 10 s follow each other on each of two CPUs
 * (the sixth would end a second late). */
TEST(in_the_minute_that_is_paid_short_tasks_follow_each_other)
{
    struct yard yard;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 10, 10 * SECOND);
    rent(&yard, 60 * SECOND);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, TWO);
    assert_int_equal(yard.plan.place_count, 2);
    assert_int_equal(yard.plan.wait_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(yard.plan.waits[i].rule, WAIT_SHARED);
        assert_true(yard.plan.waits[i].fresh);
        assert_int_equal(yard.plan.waits[i].target, 0);
        assert_int_equal(yard.plan.waits[i].until, yard.view.now + 60 * SECOND);
        assert_int_equal(yard.plan.waits[i].wait_cost, 0);
        assert_true(yard.plan.waits[i].rent_cost > 0);
    }
    yard_done(&yard);
}

TEST(who_may_not_wait_gets_a_machine_at_once)
{
    struct yard yard;

    minute_yard_init(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 10, 10 * SECOND);
    rent(&yard, 0);

    assert_int_equal(yard.plan.place_count, 10);
    yard_done(&yard);
}

TEST(a_gang_starts_at_once_whatever_could_follow)
{
    struct yard yard;

    minute_yard_init(&yard);
    (void)yard_job(&yard, ONE_CPU, 10, true);
    rent(&yard, 60 * SECOND);

    assert_int_equal(yard.plan.place_count, 10);
    yard_done(&yard);
}

TEST(the_tasks_of_a_spread_job_get_a_machine_each_and_share_it_with_others)
{
    struct yard yard;

    minute_yard_init(&yard);
    (void)yard_spread_job(&yard, ONE_CPU, 2);
    minute_yard_tasks(&yard, ONE_CPU, 2, YARD_HOUR);
    rent(&yard, 0);

    assert_int_equal(yard.plan.rent_count, 2);
    assert_int_equal(yard.plan.place_count, 4);
    yard_done(&yard);
}

/* Tasks of the job that have run for different times are of different batches. */
TEST(no_machine_gets_two_tasks_of_a_spread_job_that_were_stopped_at_different_times)
{
    struct yard yard;

    minute_yard_init(&yard);
    const uint32_t first = yard_spread_job(&yard, ONE_CPU, 2);
    yard.view.task.executed_ms[first] = SECOND;
    rent(&yard, 0);

    assert_int_equal(yard.plan.rent_count, 2);
    yard_done(&yard);
}

TEST(different_tasks_complement_each_other_on_one_machine)
{
    struct yard yard;

    minute_yard_init(&yard);
    const uint32_t hungry = yard_shape(&yard, 1, 7, 0);
    minute_yard_tasks(&yard, hungry, 8, YARD_HOUR);
    minute_yard_tasks(&yard, ONE_CPU, 8, YARD_HOUR);
    rent(&yard, 0);

    /* One of each fills 2 CPUs and 8 GiB; of a kind, the hungry ones would leave CPUs idle. */
    assert_int_equal(yard.plan.place_count, 16);
    assert_int_equal(yard_rent_price(&yard), YARD_USD(8.0));
    yard_done(&yard);
}

/* The type that is beaten has less, for more. */
TEST(an_offer_that_another_beats_is_not_rented)
{
    struct yard yard;

    minute_yard_init(&yard);
    yard.view.offer_price[TWO] = yard.view.offer_price[EIGHT];
    reservation_forget(&yard.view);
    minute_yard_tasks(&yard, ONE_CPU, 1, YARD_HOUR);
    rent(&yard, 0);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, EIGHT);
    assert_int_equal(yard.plan.rents[0].why.passed_offer, OFFER_NONE);
    yard_done(&yard);
}

TEST(an_empty_machine_that_is_paid_for_is_used_before_a_new_one)
{
    struct yard yard;

    minute_yard_init(&yard);
    const uint32_t machine = yard_machine(&yard, TWO);
    minute_yard_tasks(&yard, ONE_CPU, 2, YARD_HOUR);
    rent(&yard, 0);

    assert_int_equal(yard.plan.rent_count, 0);
    assert_int_equal(yard.plan.place_count, 2);
    assert_int_equal(yard.plan.places[0].target, machine);
    assert_int_equal(yard.plan.places[0].why.code, REASON_BEST_VALUE); /* a minute is paid */
    yard_done(&yard);
}

TEST(a_task_that_nothing_holds_is_left_and_stops_nobody)
{
    struct yard yard;

    minute_yard_init(&yard);
    const uint32_t giant = yard_shape(&yard, 100, 1, 0);
    minute_yard_tasks(&yard, giant, 1, 2 * (msec_t)YARD_HOUR);
    minute_yard_tasks(&yard, ONE_CPU, 1, YARD_HOUR);
    rent(&yard, 0);

    assert_int_equal(yard.plan.place_count, 1);
    assert_int_equal(yard.plan.rent_count, 1);
    yard_done(&yard);
}

/* TWO, on demand for a dollar, and in the spot market for so much. */
static void spot_yard_init(struct yard *yard, double spot, struct interruption interruption)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 2, 8, 0, 1.0);

    const uint32_t offer = yard_offer(yard, TWO, spot);

    yard->catalogue.types[0].setup_ms = YARD_MINUTE;
    yard->catalogue.offers[offer].interruption = interruption;
    (void)yard_shape(yard, 1, 1, 0);
    yard_open(yard);
}

static uint32_t first_rented(double spot, struct interruption interruption, msec_t runtime)
{
    struct yard yard;

    spot_yard_init(&yard, spot, interruption);
    minute_yard_tasks(&yard, ONE_CPU, 2, runtime);
    rent(&yard, 0);
    assert_int_equal(yard.plan.rent_count, 1);

    const uint32_t offer = yard.plan.rents[0].offer;

    yard_done(&yard);
    return offer;
}

/* In two days 60 % a month are 1.97 % on average, and the machine's time is lost half: a day in
 * 1,217 hours, 2 % of the price. */
TEST(a_spot_machine_must_be_cheaper_by_the_work_that_is_expected_to_be_lost)
{
    static const struct interruption often = { 20, 100 };
    static const struct interruption rare = { 0, 5 };
    const msec_t two_days = 48 * (msec_t)YARD_HOUR;

    assert_int_equal(first_rented(0.99, often, two_days), TWO);
    assert_int_equal(first_rented(0.97, often, two_days), TWO + 1);
    assert_int_equal(first_rented(0.99, rare, two_days), TWO + 1);
    assert_int_equal(first_rented(0.99, often, YARD_HOUR), TWO + 1);
}

/* The same machines at the same prices: the loss of a thousand hours costs more than the market saves,
 * that of one does not. */
TEST(each_runtime_has_its_own_market_whatever_else_waits)
{
    static const struct interruption often = { 20, 100 };
    struct yard yard;

    spot_yard_init(&yard, 0.8, often);

    const uint32_t whole = yard_shape(&yard, 2, 8, 0);

    minute_yard_tasks(&yard, whole, 3, YARD_HOUR);
    minute_yard_tasks(&yard, whole, 2, 1000 * (msec_t)YARD_HOUR);
    rent(&yard, 0);

    assert_int_equal(yard.plan.rent_count, 5);
    for (uint32_t i = 0; i < yard.plan.place_count; i++) {
        const uint32_t task = yard.plan.places[i].task;
        const bool is_short = yard.view.task.estimate_ms[task] == YARD_HOUR;

        assert_int_equal(yard.plan.rents[yard.plan.places[i].target].offer,
                         is_short ? TWO + 1 : TWO);
    }
    assert_int_equal(yard.plan.place_count, 5);
    yard_done(&yard);
}

/* The cheapest for an hour, one that is interrupted half as often for 300, on demand for 2,000; and one
 * that another beats for every runtime. */
TEST(of_many_markets_those_count_that_are_cheapest_for_some_runtime)
{
    static const struct interruption often = { 20, 100 };
    static const msec_t runtime[] = { YARD_HOUR, 300 * (msec_t)YARD_HOUR,
                                      2000 * (msec_t)YARD_HOUR };
    static const uint32_t wanted[] = { TWO + 2, TWO + 3, TWO };
    struct yard yard;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 2, 8, 0, 1.0);
    (void)yard_offer(&yard, TWO, 0.82);
    (void)yard_offer(&yard, TWO, 0.8);
    (void)yard_offer(&yard, TWO, 0.83);
    yard.catalogue.offers[TWO + 1].interruption = often;
    yard.catalogue.offers[TWO + 2].interruption = often;
    yard.catalogue.offers[TWO + 3].interruption = (struct interruption){ 10, 50 };
    (void)yard_shape(&yard, 2, 8, 0);
    yard_open(&yard);
    for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++)
        minute_yard_tasks(&yard, 0, 1, runtime[i]);
    rent(&yard, 0);

    assert_int_equal(yard.plan.place_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct plan_place *place = &yard.plan.places[i];
        const msec_t estimate = yard.view.task.estimate_ms[place->task];
        const uint32_t kind = estimate == runtime[0] ? 0 : estimate == runtime[1] ? 1 : 2;

        assert_int_equal(yard.plan.rents[place->target].offer, wanted[kind]);
    }
    yard_done(&yard);
}

TEST(a_spot_machine_of_which_nothing_is_known_is_taken_at_its_price)
{
    static const struct interruption unknown = { 0, 0 };

    assert_int_equal(first_rented(0.999, unknown, 48 * (msec_t)YARD_HOUR), TWO + 1);
}

TEST(of_equal_types_the_one_that_is_interrupted_less_often_is_rented)
{
    struct yard yard;

    minute_yard_init(&yard);
    yard.view.offer_price[TWO] = yard.view.offer_price[EIGHT];
    yard.catalogue.types[TWO].capacity = yard.catalogue.types[EIGHT].capacity;
    yard.view.offer_lasts[TWO] = interruption_mean_ms((struct interruption){ 10, 15 });
    yard.view.offer_lasts[EIGHT] = interruption_mean_ms((struct interruption){ 5, 10 });
    reservation_forget(&yard.view);
    minute_yard_tasks(&yard, ONE_CPU, 8, YARD_HOUR);
    rent(&yard, 0);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, EIGHT);
    yard_done(&yard);
}

/* It has less to offer and is interrupted less often: nobody knows before it is tried. */
TEST(what_is_interrupted_less_often_is_not_beaten_by_what_is_larger)
{
    struct yard yard;

    minute_yard_init(&yard);
    yard.view.offer_price[TWO] = yard.view.offer_price[EIGHT];
    yard.view.offer_lasts[EIGHT] = interruption_mean_ms((struct interruption){ 20, 100 });
    reservation_forget(&yard.view);
    minute_yard_tasks(&yard, ONE_CPU, 1, YARD_HOUR);
    rent(&yard, 0);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, TWO);
    yard_done(&yard);
}

/* A hundred types with ever more memory, none of which is beaten by another. */
static void init_many_types(struct yard *yard)
{
    yard_init(yard);
    for (uint32_t i = 0; i < 100; i++) {
        const int64_t cpus = 2 << i % 4;
        const int64_t gib = cpus * (2 + i / 4);

        (void)yard_type(yard, "many", cpus, gib, 0, 0.04 * (double)cpus + 0.004 * (double)gib);
    }
    for (int64_t i = 0; i < 20; i++)
        (void)yard_shape(yard, 1 + i % 4, 1 + i, 0);
    yard_open(yard);
}

static bool is_cheapest_for(const struct view *view, uint32_t rented, const struct res *used)
{
    for (uint32_t offer = 0; offer < view->offer_count; offer++) {
        if (view->offer_price[offer] < view->offer_price[rented] &&
            res_fits(used, &catalogue_type_of(view->catalogue, offer)->capacity))
            return false;
    }
    return true;
}

/* No machine that is rented gets more than it has, or could be a cheaper one. Returns what they cost for an hour. */
static money_t check_rents(struct yard *yard)
{
    const struct view *view = &yard->view;
    struct res *used = ARENA_ARRAY(&yard->arena, struct res, yard->plan.rent_count);

    for (uint32_t i = 0; i < yard->plan.place_count; i++) {
        const struct plan_place *place = &yard->plan.places[i];

        assert_true(place->fresh);
        res_add(&used[place->target],
                shape_demand_on(view->shapes, view->task.shape[place->task], 0));
        assert_true(res_fits(
            &used[place->target],
            &catalogue_type_of(view->catalogue, yard->plan.rents[place->target].offer)->capacity));
    }
    for (uint32_t i = 0; i < yard->plan.rent_count; i++)
        assert_true(is_cheapest_for(view, yard->plan.rents[i].offer, &used[i]));
    return yard_rent_price(yard);
}

/* So many that not all types are tried for each machine: it is 0.866 of what they cost alone, and would be 0.857 if all
 * were. */
TEST(where_very_much_waits_hardly_more_is_paid_than_if_all_types_were_tried)
{
    enum { SHAPES = 20, LENGTHS = 30, EACH = 3 };

    struct yard yard;
    money_t alone = 0;

    init_many_types(&yard);
    for (uint32_t i = 0; i < SHAPES * LENGTHS; i++)
        minute_yard_tasks(&yard, i % SHAPES, EACH,
                          (msec_t)(1 + i / SHAPES) * 10 * (msec_t)YARD_MINUTE);
    TASK_EACH(task, &yard.view, yard.view.task.waiting_first)
    {
        alone += reservation_price(&yard.view, task);
    }
    rent(&yard, 0);

    assert_int_equal(yard.plan.place_count, SHAPES * LENGTHS * EACH);
    assert_true(check_rents(&yard) * 1000 < alone * 875);
    yard_done(&yard);
}

/* Eight CPUs cost less than those of four small machines. */
static void make_large_cheap(struct yard *yard)
{
    minute_yard_init(yard);
    yard->view.offer_price[EIGHT] = YARD_USD(3.0);
    reservation_forget(&yard->view);
    reservation_update(&yard->view);
}

/* Each of eight jobs may be the one that runs on, and holds all of a large machine. */
TEST(jobs_that_must_not_be_moved_share_no_large_machine_if_their_runtimes_are_doubted)
{
    for (int doubts = 0; doubts < 2; doubts++) {
        struct yard yard;

        make_large_cheap(&yard);
        minute_yard_tasks(&yard, ONE_CPU, 8, YARD_HOUR);
        for (uint32_t job = 0; job < yard.view.job.count; job++)
            yard_fix(&yard.view, job, true);
        rent_doubting(&yard, 0, doubts * 2);

        assert_int_equal(yard.plan.place_count, 8);
        assert_int_equal(yard.plan.rent_count, doubts ? 4 : 1);
        assert_int_equal(yard.plan.rents[0].offer, doubts ? TWO : EIGHT);
        yard_done(&yard);
    }
}

TEST(what_may_be_moved_shares_a_large_machine_whatever_is_doubted)
{
    struct yard yard;

    make_large_cheap(&yard);
    minute_yard_tasks(&yard, ONE_CPU, 8, YARD_HOUR);
    rent_doubting(&yard, 0, 2);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, EIGHT);
    yard_done(&yard);
}

TEST(tasks_of_one_job_end_together_and_share_a_large_machine)
{
    struct yard yard;

    make_large_cheap(&yard);
    const uint32_t first = yard_job(&yard, ONE_CPU, 8, true);
    yard_fix(&yard.view, yard.view.task.job[first], true);
    rent_doubting(&yard, 0, 2);

    assert_int_equal(yard.plan.rent_count, 1);
    assert_int_equal(yard.plan.rents[0].offer, EIGHT);
    yard_done(&yard);
}

TEST(jobs_that_were_submitted_as_one_do_so_too)
{
    for (uint64_t kins = 1; kins <= 2; kins++) {
        struct yard yard;

        make_large_cheap(&yard);
        for (uint64_t i = 0; i < 8; i++) {
            const uint32_t task = yard_task_for(&yard, ONE_CPU, YARD_HOUR);
            const uint32_t job = yard.view.task.job[task];

            yard_fix(&yard.view, job, true);
            yard.view.job.kin[job] = 7 + i % kins;
        }
        rent_doubting(&yard, 0, 2);

        assert_int_equal(yard.plan.rent_count, kins == 1 ? 1 : 4);
        assert_int_equal(yard.plan.rents[0].offer, kins == 1 ? EIGHT : TWO);
        yard_done(&yard);
    }
}

/* Two Jobs of so many pods of a CPU, and only large machines. */
static bool are_mixed(uint32_t each, double doubt)
{
    struct yard yard;
    uint64_t kin[2] = { 0 };
    bool mixed = false;

    yard_init(&yard);
    (void)yard_type(&yard, "a", 8, 32, 0, 4.0);
    (void)yard_shape(&yard, 1, 1, 0);
    yard_open(&yard);
    for (uint32_t i = 0; i < 2 * each; i++) {
        const uint32_t task = yard_task_for(&yard, ONE_CPU, YARD_HOUR);
        const uint32_t job = yard.view.task.job[task];

        yard_fix(&yard.view, job, true);
        yard.view.job.kin[job] = 7 + i / each;
    }
    rent_doubting(&yard, 0, doubt);
    assert_int_equal(yard.plan.place_count, 2 * each);
    assert_int_equal(yard.plan.rent_count, 2 * each > 8 ? 2 : 1);
    for (uint32_t i = 0; i < yard.plan.place_count; i++) {
        const struct plan_place *place = &yard.plan.places[i];
        const uint64_t of = yard.view.job.kin[yard.view.task.job[place->task]];

        mixed = mixed || (kin[place->target] != 0 && kin[place->target] != of);
        kin[place->target] = of;
    }
    yard_done(&yard);
    return mixed;
}

/* Of eight CPUs six are used alone, or all until the later of both ends. */
TEST(work_that_ends_together_has_a_machine_for_itself_if_it_fills_most_of_it)
{
    assert_true(are_mixed(6, 0));
    assert_false(are_mixed(6, 2));
    assert_true(are_mixed(4, 2)); /* else half of it would not be used */
}

CHECK_MAIN(
    RUN(tasks_share_a_machine_of_which_they_use_all),
    RUN(where_each_machine_costs_something_beside_its_price_fewer_and_larger_ones_are_rented),
    RUN(work_that_ends_together_has_a_machine_for_itself_if_it_fills_most_of_it),
    RUN(a_machine_that_there_is_costs_nothing_beside_its_price),
    RUN(services_get_the_largest_machine_of_those_that_are_as_good),
    RUN(in_the_minute_that_is_paid_short_tasks_follow_each_other),
    RUN(who_may_not_wait_gets_a_machine_at_once), RUN(a_gang_starts_at_once_whatever_could_follow),
    RUN(the_tasks_of_a_spread_job_get_a_machine_each_and_share_it_with_others),
    RUN(no_machine_gets_two_tasks_of_a_spread_job_that_were_stopped_at_different_times),
    RUN(different_tasks_complement_each_other_on_one_machine),
    RUN(an_offer_that_another_beats_is_not_rented),
    RUN(an_empty_machine_that_is_paid_for_is_used_before_a_new_one),
    RUN(a_task_that_nothing_holds_is_left_and_stops_nobody),
    RUN(a_spot_machine_must_be_cheaper_by_the_work_that_is_expected_to_be_lost),
    RUN(each_runtime_has_its_own_market_whatever_else_waits),
    RUN(of_many_markets_those_count_that_are_cheapest_for_some_runtime),
    RUN(a_spot_machine_of_which_nothing_is_known_is_taken_at_its_price),
    RUN(of_equal_types_the_one_that_is_interrupted_less_often_is_rented),
    RUN(what_is_interrupted_less_often_is_not_beaten_by_what_is_larger),
    RUN(where_very_much_waits_hardly_more_is_paid_than_if_all_types_were_tried),
    RUN(jobs_that_must_not_be_moved_share_no_large_machine_if_their_runtimes_are_doubted),
    RUN(what_may_be_moved_shares_a_large_machine_whatever_is_doubted),
    RUN(tasks_of_one_job_end_together_and_share_a_large_machine),
    RUN(jobs_that_were_submitted_as_one_do_so_too))
