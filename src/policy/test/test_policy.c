/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is common to all policies, and the little that a policy adds to the decisions it is made of.
 */
#include "policy/policy.h"

#include <string.h>

#include "base/test/check.h"
#include "decide/reservation.h"

/*
 * The table of policies.
 */

TEST(every_policy_is_found_by_its_name_and_no_other)
{
    for (uint32_t i = 0; i < policy_count; i++)
        assert_ptr_equal(policy_find(policies[i]->name), policies[i]);
    assert_null(policy_find("eva "));
    assert_null(policy_find(""));
}

TEST(every_policy_says_what_it_is)
{
    for (uint32_t i = 0; i < policy_count; i++) {
        assert_non_null(policies[i]->summary);
        assert_true(strlen(policies[i]->summary) > 10);
        assert_true(policies[i]->option_count <= POLICY_OPTIONS_MAX);
        for (uint32_t k = 0; k < policies[i]->option_count; k++)
            assert_true(strlen(policies[i]->options[k].help) > 10);
    }
}

TEST(every_option_is_found_by_its_name)
{
    for (uint32_t i = 0; i < policy_count; i++) {
        for (uint32_t k = 0; k < policies[i]->option_count; k++)
            assert_int_equal(policy_find_option(policies[i], policies[i]->options[k].name), k);
        assert_int_equal(policy_find_option(policies[i], "no such option"), UINT32_MAX);
    }
}

/* Whether the job may be moved, as if it had come so. */
static void fix(struct view *view, uint32_t job, bool is_fixed)
{
    view->job.movables += view->job.fixed[job];
    view->job.movables -= is_fixed;
    view->job.fixed[job] = is_fixed;
}

static uint32_t word_count(const struct policy_option *option)
{
    uint32_t count = 0;

    while (option->choices[count] != NULL)
        count++;
    return count;
}

TEST(every_default_is_a_value_that_its_option_can_have)
{
    for (uint32_t i = 0; i < policy_count; i++) {
        int64_t values[POLICY_OPTIONS_MAX] = { 0 };

        policy_defaults(policies[i], values);
        for (uint32_t k = 0; k < policies[i]->option_count; k++) {
            const struct policy_option *option = &policies[i]->options[k];

            assert_int_equal(values[k], option->normal);
            assert_true(values[k] >= 0);
            if (option->kind == OPTION_BOOL)
                assert_true(values[k] <= 1);
            if (option->kind == OPTION_CHOICE)
                assert_true(values[k] < word_count(option));
        }
    }
}

/*
 * A world: machines of 2 CPUs for 1 dollar and of 4 for 1.50, tasks of 2 CPUs.
 */

enum { SMALL, LARGE, HUGE };

struct place {
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    struct knowledge knowledge;
    struct arena arena;
    struct plan plan;
    uint64_t next_id;
};

static void add_machine_type(struct place *place, const char *name, int64_t cpus, money_t price)
{
    const struct price_change change = { 0, price };
    const struct machine_type type = { .capacity = { { cpus * 1000, 1024, 0 } } };
    const struct offer offer = {
        .type = catalogue_add_type(&place->catalogue, name, "family", &type),
        .billing = { .step_ms = MSEC_PER_HOUR, .minimum_ms = MSEC_PER_HOUR },
        .price = { &change, 1 },
    };

    (void)catalogue_add_offer(&place->catalogue, NULL, &offer);
}

static void place_init(struct place *place)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 2000, 0, 0 } } };
    const struct shape_spec spec = {
        .name = "half",
        .workload = "half",
        .demands = &demand,
        .demand_count = 1,
    };

    *place = (struct place){ .next_id = 1 };
    arena_init(&place->arena);
    catalogue_init(&place->catalogue);
    shapes_init(&place->shapes);
    add_machine_type(place, "small", 2, 1000000);
    add_machine_type(place, "large", 4, 1500000);
    (void)shapes_add(&place->shapes, &spec);
    view_init(&place->view, &place->catalogue, &place->shapes);
    colocation_init(&place->knowledge.colocation, 0.95);
    reservation_update(&place->view);
}

static void place_done(struct place *place)
{
    view_check(&place->view);
    view_done(&place->view);
    colocation_done(&place->knowledge.colocation);
    shapes_done(&place->shapes);
    catalogue_done(&place->catalogue);
    arena_done(&place->arena);
}

static uint32_t add_task(struct place *place)
{
    const struct job_spec spec = {
        .id = place->next_id,
        .first_task_id = place->next_id,
        .task_count = 1,
        .estimate_ms = MSEC_PER_HOUR,
    };

    (void)view_add_job(&place->view, &spec);
    return view_find_task(&place->view, place->next_id++);
}

static uint32_t add_machine(struct place *place, uint32_t offer)
{
    const uint32_t row = view_add_instance(&place->view, place->next_id++, offer);

    view_set_state(&place->view, row, INSTANCE_READY);
    view_set_billed_from(&place->view, row, place->view.now);
    return row;
}

/* A task that runs alone on a new machine of the offer: its row. */
static uint32_t add_running(struct place *place, uint32_t offer)
{
    const uint32_t task = add_task(place);

    view_bind(&place->view, task, add_machine(place, offer));
    view_mark_running(&place->view, task, place->view.now);
    return task;
}

/* Decide with one option that is not at its default, if 'option' is not NULL. */
static void decide_with(struct place *place, const struct policy *policy, const char *option,
                        int64_t value)
{
    int64_t values[POLICY_OPTIONS_MAX] = { 0 };
    const struct policy_input input = {
        .view = &place->view,
        .knowledge = &place->knowledge,
        .option = values,
        .arena = &place->arena,
    };

    policy_defaults(policy, values);
    if (option != NULL)
        values[policy_find_option(policy, option)] = value;
    plan_init(&place->plan, &place->arena);
    policy_decide(policy, &input, &place->plan);
}

TEST(no_policy_plans_anything_where_there_is_nothing)
{
    for (uint32_t i = 0; i < policy_count; i++) {
        struct place place;

        place_init(&place);
        decide_with(&place, policies[i], NULL, 0);
        assert_int_equal(place.plan.rent_count, 0);
        assert_int_equal(place.plan.place_count, 0);
        assert_int_equal(place.plan.release_count, 0);
        place_done(&place);
    }
}

TEST(a_lone_task_on_its_cheapest_machine_is_left_alone_by_every_policy)
{
    for (uint32_t i = 0; i < policy_count; i++) {
        struct place place;

        place_init(&place);
        (void)add_running(&place, SMALL);
        decide_with(&place, policies[i], NULL, 0);
        assert_int_equal(place.plan.rent_count, 0);
        assert_int_equal(place.plan.place_count, 0);
        assert_int_equal(place.plan.release_count, 0);
        place_done(&place);
    }
}

/* A job of one task that keeps apart from the others of the kind. */
static uint32_t add_apart(struct place *place)
{
    const struct job_spec spec = {
        .id = place->next_id,
        .first_task_id = place->next_id,
        .task_count = 1,
        .apart = 5,
        .estimate_ms = MSEC_PER_HOUR,
    };

    (void)view_add_job(&place->view, &spec);
    return view_find_task(&place->view, place->next_id++);
}

/* A machine of twice the size of the large one. */
static uint32_t add_roomy(struct place *place)
{
    const struct res capacity = { { 8000, 0, 0 } };
    const uint32_t machine = add_machine(place, LARGE);

    view_set_capacity(&place->view, machine, &capacity);
    return machine;
}

static bool is_one_place(const struct plan_place *a, const struct plan_place *b)
{
    return a->fresh == b->fresh && a->target == b->target;
}

TEST(jobs_that_keep_apart_get_a_machine_each_from_every_policy)
{
    for (uint32_t i = 0; i < policy_count; i++) {
        struct place place;

        place_init(&place);
        (void)add_roomy(&place);
        for (int k = 0; k < 3; k++)
            (void)add_apart(&place);
        decide_with(&place, policies[i], NULL, 0);
        if (policies[i] != &policy_semi_elastic) /* the others are in its queue */
            assert_int_equal(place.plan.place_count, 3);
        for (uint32_t k = 0; k < place.plan.place_count; k++) {
            for (uint32_t other = 0; other < k; other++)
                assert_false(is_one_place(&place.plan.places[k], &place.plan.places[other]));
        }
        place_done(&place);
    }
}

TEST(one_that_runs_keeps_its_machine_from_others_that_it_is_apart_from)
{
    for (uint32_t i = 0; i < policy_count; i++) {
        struct place place;

        place_init(&place);
        const uint32_t machine = add_roomy(&place);
        const uint32_t running = add_apart(&place);
        view_bind(&place.view, running, machine);
        view_mark_running(&place.view, running, place.view.now);
        const uint32_t task = add_apart(&place);
        decide_with(&place, policies[i], NULL, 0);

        const bool moves = place.plan.place_count > 1; /* then there is room for the other one */

        for (uint32_t k = 0; k < place.plan.place_count && !moves; k++) {
            assert_int_equal(place.plan.places[k].task, task);
            assert_true(place.plan.places[k].fresh);
        }
        if (moves)
            assert_false(is_one_place(&place.plan.places[0], &place.plan.places[1]));
        place_done(&place);
    }
}

TEST(empty_machines_that_are_open_are_let_go)
{
    struct place place;

    place_init(&place);
    const uint32_t empty = add_machine(&place, LARGE);
    (void)add_running(&place, SMALL);
    view_set_state(&place.view, add_machine(&place, SMALL), INSTANCE_DRAINING);
    plan_init(&place.plan, &place.arena);
    policy_release_empty(&place.view, &place.plan);

    assert_int_equal(place.plan.release_count, 1);
    assert_int_equal(place.plan.releases[0].instance, empty);
    assert_int_equal(place.plan.releases[0].why.code, REASON_EMPTY);
    place_done(&place);
}

TEST(task_per_instance_rents_the_cheapest_machine_for_each_task)
{
    struct place place;

    place_init(&place);
    (void)add_machine(&place, SMALL); /* not even an empty one is used */
    (void)add_task(&place);
    (void)add_task(&place);
    decide_with(&place, &policy_task_per_instance, NULL, 0);

    assert_int_equal(place.plan.rent_count, 2);
    assert_int_equal(place.plan.rents[0].offer, SMALL);
    assert_int_equal(place.plan.place_count, 2);
    assert_int_equal(place.plan.release_count, 1);
    place_done(&place);
}

TEST(task_per_instance_lets_a_task_wait_whose_offers_are_refused)
{
    struct place place;

    place_init(&place);
    (void)add_task(&place);
    place.view.offer_blocked_until[SMALL] = 1;
    place.view.offer_blocked_until[LARGE] = 1;
    reservation_forget(&place.view);
    reservation_update(&place.view);
    decide_with(&place, &policy_task_per_instance, NULL, 0);

    assert_int_equal(place.plan.rent_count, 0);
    assert_int_equal(place.plan.place_count, 0);
    place_done(&place);
}

TEST(stratus_uses_an_empty_machine_before_it_rents_and_keeps_it)
{
    struct place place;

    place_init(&place);
    const uint32_t empty = add_machine(&place, LARGE);
    const uint32_t spare = add_machine(&place, SMALL);
    const uint32_t task = add_task(&place);
    decide_with(&place, &policy_stratus, NULL, 0);

    assert_int_equal(place.plan.rent_count, 0);
    assert_int_equal(place.plan.place_count, 1);
    assert_int_equal(place.plan.places[0].task, task);
    assert_int_equal(place.plan.places[0].target, empty); /* most room */
    assert_int_equal(place.plan.release_count, 1);
    assert_int_equal(place.plan.releases[0].instance, spare);
    place_done(&place);
}

/* What the next plan does not say is not done any more. */
TEST(stratus_lets_emptied_machines_go_at_once_only_if_it_is_told_to)
{
    enum { ROUND, AT_ONCE };
    struct place place;

    place_init(&place);
    (void)add_running(&place, SMALL); /* nobody waits, nothing is cleared */
    decide_with(&place, &policy_stratus, NULL, 0);
    assert_int_equal(place.plan.when_empty, EMPTY_STAYS);
    decide_with(&place, &policy_stratus, "release", AT_ONCE);
    assert_int_equal(place.plan.when_empty, EMPTY_GOES);
    (void)add_task(&place);
    decide_with(&place, &policy_stratus, "release", AT_ONCE);
    assert_int_equal(place.plan.when_empty, EMPTY_GOES);
    decide_with(&place, &policy_stratus, "release", ROUND);
    assert_int_equal(place.plan.when_empty, EMPTY_STAYS);
    place_done(&place);
}

/* An empty large machine and a small one that is full; two tasks wait. */
static void decide_as_rival(struct place *place, const struct policy *policy)
{
    place_init(place);
    (void)add_machine(place, LARGE);
    (void)add_running(place, SMALL);
    (void)add_task(place);
    (void)add_task(place);
    decide_with(place, policy, NULL, 0);
    assert_int_equal(place->plan.place_count, 2);
    assert_int_equal(place->plan.when_empty, EMPTY_GOES);
}

TEST(hotspot_rents_for_each_task_alone)
{
    struct place place;

    decide_as_rival(&place, &policy_hotspot);
    assert_int_equal(place.plan.rent_count, 2);
    assert_int_equal(place.plan.rents[0].offer, SMALL);
    assert_int_equal(place.plan.release_count, 1);
    place_done(&place);
}

TEST(fleet_fills_what_there_is)
{
    struct place place;

    decide_as_rival(&place, &policy_fleet);
    assert_int_equal(place.plan.rent_count, 0);
    assert_int_equal(place.plan.release_count, 0);
    place_done(&place);
}

/* For 1.50 both have room on one that is large; the one that there is goes. */
TEST(supercloud_packs_onto_new_machines_alone)
{
    struct place place;

    decide_as_rival(&place, &policy_supercloud);
    assert_int_equal(place.plan.rent_count, 1);
    assert_int_equal(place.plan.rents[0].offer, LARGE);
    assert_int_equal(place.plan.release_count, 1);
    place_done(&place);
}

TEST(eva_without_throughput_shares_what_interference_would_keep_apart)
{
    struct place aware;
    struct place blind;

    place_init(&aware);
    (void)add_task(&aware);
    (void)add_task(&aware);
    colocation_observe(&aware.knowledge.colocation, 0, colocation_token(0), 0.5);
    decide_with(&aware, &policy_eva, NULL, 0);
    place_init(&blind);
    (void)add_task(&blind);
    (void)add_task(&blind);
    colocation_observe(&blind.knowledge.colocation, 0, colocation_token(0), 0.5);
    decide_with(&blind, &policy_eva, "throughput", 0);

    assert_int_equal(aware.plan.rent_count, 2);
    assert_int_equal(blind.plan.rent_count, 1);
    place_done(&aware);
    place_done(&blind);
}

TEST(eva_with_one_mode_only_does_not_weigh)
{
    enum { BOTH, FULL, PARTIAL };
    struct place place;

    place_init(&place);
    (void)add_running(&place, SMALL);
    (void)add_running(&place, SMALL);
    decide_with(&place, &policy_eva, "mode", PARTIAL);
    assert_int_equal(place.plan.kind, PLAN_PARTIAL);
    assert_int_equal(place.plan.place_count, 0);
    decide_with(&place, &policy_eva, "mode", FULL);
    assert_int_equal(place.plan.kind, PLAN_FULL);
    assert_int_equal(place.plan.place_count, 2);
    assert_int_equal(place.plan.full.total, 0); /* it was not compared with anything */
    place_done(&place);
}

TEST(owl_goes_by_the_profile_and_not_by_what_was_learned)
{
    struct place place;
    const double measured = 1.0;

    place_init(&place);
    (void)add_task(&place);
    (void)add_task(&place);
    colocation_observe(&place.knowledge.colocation, 0, colocation_token(0), 0.1);
    place.knowledge.profile = (struct pair_profile){ .rate = &measured, .count = 1 };
    decide_with(&place, &policy_owl, NULL, 0);

    assert_int_equal(place.plan.rent_count, 1);
    assert_int_equal(place.plan.rents[0].offer, LARGE);
    place_done(&place);
}

TEST(synergy_leaves_what_runs_where_it_is)
{
    struct place place;

    place_init(&place);
    (void)add_running(&place, LARGE);
    (void)add_running(&place, LARGE);
    decide_with(&place, &policy_synergy, NULL, 0);

    assert_int_equal(place.plan.place_count, 0);
    assert_int_equal(place.plan.release_count, 0);
    place_done(&place);
}

/*
 * The policy 'stint', in the same world: an hour is paid at the least.
 */

TEST(stint_keeps_an_empty_machine_while_it_is_paid_for)
{
    struct place place;

    place_init(&place);
    (void)add_machine(&place, SMALL);
    place.view.now = MSEC_PER_HOUR / 2;
    decide_with(&place, &policy_stint, NULL, 0);
    assert_int_equal(place.plan.release_count, 0);
    assert_int_equal(place.plan.wake_at, MSEC_PER_HOUR - MSEC_PER_SEC);
    place.view.now = MSEC_PER_HOUR - MSEC_PER_SEC;
    decide_with(&place, &policy_stint, NULL, 0);

    assert_int_equal(place.plan.release_count, 1);
    place_done(&place);
}

/* The search leaves services alone, so it is clearing that moves them; what must not be moved stays. */
TEST(stint_moves_a_service_off_a_machine_that_is_little_used)
{
    for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
        struct place place;

        place_init(&place);
        add_machine_type(&place, "huge", 16, 6000000);
        view_done(&place.view);
        view_init(&place.view, &place.catalogue, &place.shapes);
        reservation_update(&place.view);
        const uint32_t task = add_running(&place, HUGE);
        place.view.task.estimate_ms[task] = MSEC_NEVER;
        fix(&place.view, place.view.task.job[task], is_fixed != 0);
        place.view.instance.has_shrunk[place.view.task.instance[task]] = true;
        decide_with(&place, &policy_stint, NULL, 0);
        assert_int_equal(place.plan.place_count, 0); /* not at once */
        place.view.now += 180 * MSEC_PER_SEC;
        decide_with(&place, &policy_stint, NULL, 0);

        assert_int_equal(place.plan.release_count, is_fixed ? 0 : 1);
        assert_int_equal(place.plan.place_count, is_fixed ? 0 : 1);
        assert_int_equal(place.plan.rent_count, is_fixed ? 0 : 1);
        if (!is_fixed)
            assert_int_equal(place.plan.rents[0].offer, SMALL);
        place_done(&place);
    }
}

TEST(stint_uses_paid_time_and_says_what_a_machine_alone_would_cost)
{
    struct place place;

    place_init(&place);
    const uint32_t machine = add_machine(&place, LARGE);
    const uint32_t task = add_task(&place);
    decide_with(&place, &policy_stint, NULL, 0);

    assert_int_equal(place.plan.rent_count, 0);
    assert_int_equal(place.plan.place_count, 1);
    assert_int_equal(place.plan.places[0].task, task);
    assert_int_equal(place.plan.places[0].target, machine);
    assert_int_equal(place.plan.places[0].why.code, REASON_PAID_TIME);
    assert_int_equal(place.plan.places[0].why.passed_offer, SMALL);
    assert_int_equal(place.plan.places[0].why.passed_over, 1000000);
    place_done(&place);
}

/* For another hour of a large machine a small one could be had: only if two use it, it lasts. */
TEST(stint_lets_a_machine_last_longer_only_where_that_is_cheaper)
{
    struct place place;

    place_init(&place);
    (void)add_running(&place, LARGE);
    const uint32_t longer = add_task(&place);
    place.view.task.estimate_ms[longer] = 100 * (msec_t)MSEC_PER_HOUR;
    fix(&place.view, place.view.task.job[longer], true); /* it could be moved later else */
    decide_with(&place, &policy_stint, NULL, 0);

    assert_int_equal(place.plan.rent_count, 1);
    assert_int_equal(place.plan.rents[0].offer, SMALL);
    place_done(&place);
}

/* Where work that must not be moved goes that is expected to run for a part of what a large machine lasts: does it need
 * another one? */
static uint32_t rents_beside(msec_t part, int64_t doubt)
{
    struct place place;

    place_init(&place);
    const uint32_t running = add_running(&place, LARGE);
    const uint32_t task = add_task(&place);
    place.view.task.estimate_ms[running] = 10 * (msec_t)MSEC_PER_HOUR;
    place.view.task.estimate_ms[task] = 10 * (msec_t)MSEC_PER_HOUR / part;
    fix(&place.view, place.view.task.job[running], true);
    fix(&place.view, place.view.task.job[task], true);
    decide_with(&place, &policy_stint, "doubt", doubt);

    const uint32_t rents = place.plan.rent_count;

    assert_int_equal(place.plan.place_count, 1);
    place_done(&place);
    return rents;
}

TEST(stint_puts_no_work_that_may_run_on_beside_other_on_an_expensive_machine)
{
    assert_int_equal(rents_beside(1, 0), 0);
    assert_int_equal(rents_beside(1, 200), 1);
    assert_int_equal(rents_beside(10, 200), 0); /* it hardly runs on for that long */
}

TEST(stint_starts_a_gang_that_nothing_can_be_rented_for_as_a_whole_or_not_at_all)
{
    struct place place;

    place_init(&place);
    (void)add_machine(&place, SMALL);
    const struct job_spec spec = {
        .id = 100,
        .first_task_id = 100,
        .task_count = 2,
        .gang = true,
        .estimate_ms = MSEC_PER_HOUR,
    };
    (void)view_add_job(&place.view, &spec);
    place.view.offer_blocked_until[SMALL] = MSEC_NEVER;
    place.view.offer_blocked_until[LARGE] = MSEC_NEVER;
    reservation_forget(&place.view);
    reservation_update(&place.view);
    decide_with(&place, &policy_stint, NULL, 0);
    assert_int_equal(place.plan.place_count, 0);
    (void)add_machine(&place, SMALL);
    decide_with(&place, &policy_stint, NULL, 0);

    assert_int_equal(place.plan.place_count, 2);
    place_done(&place);
}

CHECK_MAIN(RUN(every_policy_is_found_by_its_name_and_no_other), RUN(every_policy_says_what_it_is),
           RUN(every_option_is_found_by_its_name),
           RUN(every_default_is_a_value_that_its_option_can_have),
           RUN(no_policy_plans_anything_where_there_is_nothing),
           RUN(a_lone_task_on_its_cheapest_machine_is_left_alone_by_every_policy),
           RUN(jobs_that_keep_apart_get_a_machine_each_from_every_policy),
           RUN(one_that_runs_keeps_its_machine_from_others_that_it_is_apart_from),
           RUN(empty_machines_that_are_open_are_let_go),
           RUN(task_per_instance_rents_the_cheapest_machine_for_each_task),
           RUN(task_per_instance_lets_a_task_wait_whose_offers_are_refused),
           RUN(stratus_uses_an_empty_machine_before_it_rents_and_keeps_it),
           RUN(stratus_lets_emptied_machines_go_at_once_only_if_it_is_told_to),
           RUN(hotspot_rents_for_each_task_alone), RUN(fleet_fills_what_there_is),
           RUN(supercloud_packs_onto_new_machines_alone),
           RUN(eva_without_throughput_shares_what_interference_would_keep_apart),
           RUN(eva_with_one_mode_only_does_not_weigh),
           RUN(owl_goes_by_the_profile_and_not_by_what_was_learned),
           RUN(synergy_leaves_what_runs_where_it_is),
           RUN(stint_keeps_an_empty_machine_while_it_is_paid_for),
           RUN(stint_moves_a_service_off_a_machine_that_is_little_used),
           RUN(stint_uses_paid_time_and_says_what_a_machine_alone_would_cost),
           RUN(stint_lets_a_machine_last_longer_only_where_that_is_cheaper),
           RUN(stint_puts_no_work_that_may_run_on_beside_other_on_an_expensive_machine),
           RUN(stint_starts_a_gang_that_nothing_can_be_rented_for_as_a_whole_or_not_at_all))
