/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/short_pool.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { ON_DEMAND, SPOT, JOBS_MOST = 128, MACHINES_MOST = 128 };

struct town {
    struct yard yard;
    bool is_short[JOBS_MOST];
    const bool *is_in;
    bool may_be[MACHINES_MOST];
    struct short_pool_question question;
};

/* Machines of four CPUs for a dollar, or 30 cents on the spot market; tasks take two. */
static void town_init(struct town *town)
{
    struct yard *yard = &town->yard;

    *town = (struct town){ 0 };
    for (uint32_t i = 0; i < MACHINES_MOST; i++)
        town->may_be[i] = true;
    yard_init(yard);
    (void)yard_type(yard, "a", 4, 16, 0, 1.0);
    (void)yard_offer(yard, ON_DEMAND, 0.3);
    (void)yard_shape(yard, 2, 4, 0);
    yard_open(yard);
    town->question = (struct short_pool_question){ .view = &yard->view,
                                                   .is_short = town->is_short,
                                                   .may_be = town->may_be,
                                                   .longest_ms = 10 * YARD_MINUTE,
                                                   .rule = { 3, 950000, true } };
}

static uint32_t town_task(struct town *town, bool is_short)
{
    const uint32_t task = yard_task(&town->yard, 0);

    town->is_short[town->yard.view.task.job[task]] = is_short;
    return task;
}

/* So many machines on demand, each with a long task. */
static void town_work(struct town *town, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        yard_run(&town->yard, town_task(town, false), yard_machine(&town->yard, ON_DEMAND));
}

static void town_decide(struct town *town)
{
    plan_init(&town->yard.plan, &town->yard.arena);
    town->is_in = short_pool_decide(&town->question, &town->yard.plan);
}

static void town_done(struct town *town)
{
    yard_done(&town->yard);
}

TEST(machines_are_rented_on_the_spot_market_as_long_work_asks_for_them)
{
    struct town town;

    town_init(&town);
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    town_work(&town, 19); /* 19 of 20 are 0.95 */
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 1);
    assert_int_equal(town.yard.plan.rents[0].offer, SPOT);
    (void)yard_machine(&town.yard, SPOT);
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    town_work(&town, 1);
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 1);
    town_done(&town);
}

TEST(what_is_not_worth_its_risk_or_refused_is_not_rented)
{
    struct town town;

    town_init(&town);
    town_work(&town, 1);
    town.yard.view.offer_lasts[SPOT] = 3 * YARD_MINUTE;
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    town.yard.view.offer_lasts[SPOT] = YARD_HOUR;
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 1);
    town.yard.view.offer_blocked_until[SPOT] = 1;
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    town_done(&town);
}

TEST(short_tasks_start_there_while_there_is_room_and_long_ones_never)
{
    struct town town;
    uint32_t tasks[3];

    town_init(&town);
    town_work(&town, 1);
    const uint32_t machine = yard_machine(&town.yard, SPOT);
    const uint32_t longer = town_task(&town, false);

    for (int i = 0; i < 3; i++)
        tasks[i] = town_task(&town, true);
    town_decide(&town);
    assert_true(town.is_in[machine]);
    assert_null(yard_place_of(&town.yard, longer));
    yard_check_kept(&town.yard, tasks[0], machine);
    yard_check_kept(&town.yard, tasks[1], machine);
    assert_null(yard_place_of(&town.yard, tasks[2])); /* the policy's */
    town_done(&town);
}

TEST(a_task_that_must_be_apart_from_others_is_left_to_the_policy)
{
    struct town town;

    town_init(&town);
    town_work(&town, 1);
    (void)yard_machine(&town.yard, SPOT);
    const uint32_t task = yard_apart_task(&town.yard, 0, 1);
    town.is_short[town.yard.view.task.job[task]] = true;
    town_decide(&town);
    assert_null(yard_place_of(&town.yard, task));
    town_done(&town);
}

TEST(a_task_that_was_lost_is_left_to_the_policy)
{
    struct town town;

    town_init(&town);
    (void)yard_machine(&town.yard, SPOT);
    const uint32_t task = town_task(&town, true);

    town.yard.view.task.launches[task] = 1;
    town_decide(&town);
    assert_null(yard_place_of(&town.yard, task));
    town_done(&town);
}

TEST(machines_with_long_work_and_those_of_others_are_not_of_the_pool)
{
    struct town town;

    town_init(&town);
    const uint32_t busy = yard_machine(&town.yard, SPOT);
    const uint32_t promised = yard_machine(&town.yard, SPOT);
    const uint32_t safe = yard_machine(&town.yard, ON_DEMAND);

    yard_run(&town.yard, town_task(&town, false), busy);
    town.may_be[promised] = false;
    town_decide(&town);
    assert_false(town.is_in[busy]);
    assert_false(town.is_in[promised]);
    assert_false(town.is_in[safe]);
    town_done(&town);
}

TEST(an_idle_one_goes_when_long_work_has_ended_and_busy_ones_stay)
{
    struct town town;

    town_init(&town);
    const uint32_t busy = yard_machine(&town.yard, SPOT);
    const uint32_t idle = yard_machine(&town.yard, SPOT);

    yard_run(&town.yard, town_task(&town, true), busy);
    town_decide(&town);
    assert_int_equal(town.yard.plan.release_count, 1);
    assert_true(yard_releases(&town.yard, idle));
    assert_true(town.yard.plan.wake_at < MSEC_NEVER);
    town_done(&town);
}

TEST(nothing_stands_ready_while_others_wait_for_what_a_limit_allows)
{
    const struct allowance none = { .price_per_hour = ALLOWANCE_ANY,
                                    .first_charge = ALLOWANCE_ANY };
    const struct allowance little = { .instances = 9,
                                      .price_per_hour = YARD_USD(0.5),
                                      .first_charge = ALLOWANCE_ANY };
    struct town town;

    town_init(&town);
    town_work(&town, 60); /* asks for four */
    town.question.allowance = &none;
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    town.question.allowance = &little;
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 1);
    const uint32_t idle = yard_machine(&town.yard, SPOT);

    town.question.is_scarce = true;
    town_decide(&town);
    assert_int_equal(town.yard.plan.rent_count, 0);
    assert_false(town.is_in[idle]);
    town_done(&town);
}

/* Two CPUs are free on a machine on demand, and both a long task of two hours and a short one of ten minutes wait for them. */
static uint32_t town_contend(struct town *town, uint32_t *ret_long, uint32_t *ret_short)
{
    const uint32_t machine = yard_machine(&town->yard, ON_DEMAND);

    yard_run(&town->yard, town_task(town, false), machine);
    *ret_long = town_task(town, false);
    *ret_short = town_task(town, true);
    town->yard.view.task.estimate_ms[*ret_long] = 2 * YARD_HOUR;
    town->yard.view.task.estimate_ms[*ret_short] = 10 * YARD_MINUTE;
    town->question.may_pull = town->may_be;
    return machine;
}

TEST(a_short_task_is_pulled_before_a_long_one_that_waits_for_the_same_room)
{
    struct town town;
    uint32_t longer;
    uint32_t shorter;

    town_init(&town);
    const uint32_t machine = town_contend(&town, &longer, &shorter);

    town_decide(&town);
    yard_check_kept(&town.yard, shorter, machine);
    assert_int_equal(town.yard.plan.places[0].why.code, REASON_SHORT_FIRST);
    assert_int_equal(town.yard.plan.place_count, 1);
    assert_false(town.is_in[machine]);
    town.question.may_pull = NULL;
    town_decide(&town);
    assert_int_equal(town.yard.plan.place_count, 0);
    town.question.may_pull = town.may_be;
    town.may_be[machine] = false; /* a service's */
    town_decide(&town);
    assert_int_equal(town.yard.plan.place_count, 0);
    town_done(&town);
}

TEST(a_long_task_is_passed_for_no_longer_than_it_runs)
{
    struct town town;
    uint32_t longer;
    uint32_t shorter;

    town_init(&town);
    (void)town_contend(&town, &longer, &shorter);
    town.yard.view.now += 2 * YARD_HOUR - 10 * YARD_MINUTE;
    town_decide(&town);
    assert_int_equal(town.yard.plan.place_count, 1);
    town.yard.view.now += 1;
    town_decide(&town);
    assert_int_equal(town.yard.plan.place_count, 0);
    town_done(&town);
}

TEST(work_without_an_end_or_with_a_deadline_is_not_passed)
{
    struct town town;
    uint32_t longer;
    uint32_t shorter;

    town_init(&town);
    (void)town_contend(&town, &longer, &shorter);
    town.yard.view.task.estimate_ms[longer] = MSEC_NEVER;
    town_decide(&town);
    assert_int_equal(town.yard.plan.place_count, 0);
    town.yard.view.task.estimate_ms[longer] = 2 * YARD_HOUR;
    town.yard.view.job.deadline[town.yard.view.task.job[longer]] = 9 * (msec_t)YARD_HOUR;
    town_decide(&town);
    assert_int_equal(town.yard.plan.place_count, 0);
    town_done(&town);
}

TEST(where_there_is_room_for_both_the_policy_decides)
{
    struct town town;
    uint32_t longer;
    uint32_t shorter;

    town_init(&town);
    (void)town_contend(&town, &longer, &shorter);
    (void)yard_machine(&town.yard, ON_DEMAND); /* it has room for both, the other for one */
    town_decide(&town);
    assert_int_equal(town.yard.plan.place_count, 1);
    town.may_be[0] = false;
    town_decide(&town);
    assert_int_equal(town.yard.plan.place_count, 0);
    town_done(&town);
}

/* In any yard: at most 'most' of the pool and on their way to it, no long task on them, no machine overfull, and nothing is
 * released that a task was placed on. */
TEST(in_random_yards_the_promises_hold)
{
    uint32_t placed = 0;
    uint32_t pulled = 0;
    uint32_t rented = 0;
    uint32_t released = 0;
    struct rng rng;

    rng_init(&rng, 1, 1);
    for (uint32_t seed = 0; seed < 1000; seed++) {
        struct town town;

        town_init(&town);
        for (uint64_t i = rng_below(&rng, 12); i > 0; i--) {
            const uint32_t machine =
                yard_machine(&town.yard, rng_below(&rng, 2) == 0 ? SPOT : ON_DEMAND);

            for (uint64_t k = rng_below(&rng, 3); k > 0; k--)
                yard_run(&town.yard, town_task(&town, rng_below(&rng, 2) == 0), machine);
        }
        for (uint64_t i = rng_below(&rng, 8); i > 0; i--)
            (void)town_task(&town, rng_below(&rng, 2) == 0);
        town.question.may_pull = seed % 2 == 0 ? town.may_be : NULL;
        town_decide(&town);

        const struct plan *plan = &town.yard.plan;
        const struct view *view = &town.yard.view;
        int64_t cpus[MACHINES_MOST] = { 0 };
        uint32_t members = 0;

        for (uint32_t i = 0; i < view->instance.count; i++)
            members += town.is_in[i];
        assert_true(members + plan->rent_count <= 3);
        for (uint32_t i = 0; i < plan->place_count; i++) {
            const struct plan_place *place = &plan->places[i];

            assert_false(place->fresh);
            assert_int_equal(place->why.code,
                             town.is_in[place->target] ? REASON_SHORT_READY : REASON_SHORT_FIRST);
            pulled += !town.is_in[place->target];
            assert_true(town.is_short[view->task.job[place->task]]);
            assert_false(yard_releases(&town.yard, place->target));
            cpus[place->target] += 2000;
            assert_true(cpus[place->target] <= view_free(view, place->target).amount[RES_CPU]);
        }
        for (uint32_t i = 0; i < plan->release_count; i++) {
            assert_true(town.is_in[plan->releases[i].instance]);
            assert_int_equal(view->instance.task_count[plan->releases[i].instance], 0);
        }
        placed += plan->place_count;
        rented += plan->rent_count;
        released += plan->release_count;
        town_done(&town);
    }
    print_message("# %u placed, %u of them pulled, %u rented, %u released\n", placed, pulled,
                  rented, released);
    assert_true(placed > 100 && pulled > 100 && rented > 20 && released > 100);
}

CHECK_MAIN(RUN(machines_are_rented_on_the_spot_market_as_long_work_asks_for_them),
           RUN(what_is_not_worth_its_risk_or_refused_is_not_rented),
           RUN(short_tasks_start_there_while_there_is_room_and_long_ones_never),
           RUN(a_task_that_was_lost_is_left_to_the_policy),
           RUN(a_task_that_must_be_apart_from_others_is_left_to_the_policy),
           RUN(machines_with_long_work_and_those_of_others_are_not_of_the_pool),
           RUN(an_idle_one_goes_when_long_work_has_ended_and_busy_ones_stay),
           RUN(nothing_stands_ready_while_others_wait_for_what_a_limit_allows),
           RUN(a_short_task_is_pulled_before_a_long_one_that_waits_for_the_same_room),
           RUN(a_long_task_is_passed_for_no_longer_than_it_runs),
           RUN(work_without_an_end_or_with_a_deadline_is_not_passed),
           RUN(where_there_is_room_for_both_the_policy_decides),
           RUN(in_random_yards_the_promises_hold))
