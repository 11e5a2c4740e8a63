/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owned machines of 4 CPUs that cost nothing, and one with an accelerator; rented ones of 4 CPUs for a dollar an hour.
 */
#include "decide/owned_first.h"

#include "decide/burst.h"
#include "decide/test/yard.h"

struct scene {
    struct yard yard;
    uint32_t rented;
    uint32_t owned;
    uint32_t owned_accel;
    uint32_t whole;  /* shapes: a machine, */
    uint32_t half;   /* half of one, */
    uint32_t accel;  /* half of one and the accelerator, */
    uint32_t larger; /* more than any machine has that is owned */
    uint32_t machines[4];
    uint32_t machine_count;
    uint32_t held;
    struct owned_first first;
};

static void scene_init(struct scene *scene)
{
    struct yard *yard = &scene->yard;

    *scene = (struct scene){ .held = ROW_NONE };
    yard_init(yard);
    scene->rented = yard_type(yard, "std", 4, 16, 0, 1.0);
    (void)yard_type(yard, "std", 8, 32, 1, 4.0);
    scene->owned =
        catalogue_add_owned(&yard->catalogue, yard->catalogue.offers[scene->rented].type, 0);
    scene->owned_accel = catalogue_add_owned(
        &yard->catalogue,
        catalogue_add_type(&yard->catalogue, "own-gpu", "own-gpu",
                           &(struct machine_type){ .capacity = { { 4000, 16 * 1024, 1000 } } }),
        0);
    scene->whole = yard_shape(yard, 4, 8, 0);
    scene->half = yard_shape(yard, 2, 8, 0);
    scene->accel = yard_shape(yard, 2, 8, 1);
    scene->larger = yard_shape(yard, 8, 8, 0);
    yard_open(yard);
    yard->view.offer_blocked_until[scene->owned] = MSEC_NEVER; /* as the controller does */
    yard->view.offer_blocked_until[scene->owned_accel] = MSEC_NEVER;
}

static uint32_t own(struct scene *scene, uint32_t offer)
{
    const uint32_t row = yard_machine(&scene->yard, offer);

    scene->machines[scene->machine_count++] = row;
    return row;
}

static bool is_held(const void *context, uint32_t task)
{
    return ((const struct scene *)context)->held == task;
}

static void decide(struct scene *scene)
{
    const struct owned_question question = { .view = &scene->yard.view,
                                             .machines = scene->machines,
                                             .machine_count = scene->machine_count,
                                             .arena = &scene->yard.arena,
                                             .is_held = is_held,
                                             .context = scene };

    owned_first(&question, &scene->first);
    scene->yard.plan = scene->first.plan;
}

static void set_burst(struct scene *scene, uint32_t task, msec_t after, double waiting_hour)
{
    const uint32_t job = scene->yard.view.task.job[task];

    scene->yard.view.job.burst_after[job] = after;
    scene->yard.view.job.waiting_hour[job] = YARD_USD(waiting_hour);
}

static void check_waits(const struct scene *scene, uint32_t task, bool waits)
{
    const struct owned_first *first = &scene->first;
    const uint32_t *list = waits ? first->waiting : first->left;
    const uint32_t count = waits ? first->waiting_count : first->left_count;

    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == task)
            return;
    }
    fail_msg("task %u is not in the list", task);
}

TEST(what_fits_goes_to_owned_machines_and_the_rest_to_the_policy)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t machine = own(&scene, scene.owned);
    const uint32_t half = yard_task(&scene.yard, scene.half);
    const uint32_t whole = yard_task(&scene.yard, scene.whole);
    const uint32_t other = yard_task(&scene.yard, scene.half);
    const uint32_t large = yard_task(&scene.yard, scene.larger);

    decide(&scene);
    yard_check_kept(&scene.yard, half, machine);
    yard_check_kept(&scene.yard, other, machine);
    assert_int_equal(scene.yard.plan.place_count, 2);
    assert_int_equal(scene.first.left_count, 2);
    check_waits(&scene, whole, false);
    check_waits(&scene, large, false);
    assert_int_equal(scene.first.plan.places[0].why.code, REASON_OWNED);
    assert_int_equal(scene.first.plan.places[0].why.passed_over, YARD_USD(1.0));
    yard_done(&scene.yard);
}

TEST(accelerators_are_left_for_those_who_need_them)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t with = own(&scene, scene.owned_accel);
    const uint32_t plain = own(&scene, scene.owned);
    const uint32_t half = yard_task(&scene.yard, scene.half);
    const uint32_t accel = yard_task(&scene.yard, scene.accel);
    const uint32_t whole = yard_task(&scene.yard, scene.whole);

    decide(&scene);
    yard_check_kept(&scene.yard, half, plain);
    yard_check_kept(&scene.yard, accel, with);
    assert_null(yard_place_of(&scene.yard, whole));
    yard_done(&scene.yard);
}

TEST(the_highest_priority_is_first)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t machine = own(&scene, scene.owned);
    const uint32_t first = yard_task(&scene.yard, scene.whole);
    const uint32_t second = yard_task(&scene.yard, scene.whole);

    scene.yard.view.job.priority[scene.yard.view.task.job[second]] = 7;
    decide(&scene);
    yard_check_kept(&scene.yard, second, machine);
    assert_null(yard_place_of(&scene.yard, first));
    yard_done(&scene.yard);
}

TEST(a_gang_has_places_for_all_or_none)
{
    struct scene scene;

    scene_init(&scene);
    (void)own(&scene, scene.owned);

    const uint32_t gang = yard_job(&scene.yard, scene.whole, 2, true);
    const uint32_t half = yard_task(&scene.yard, scene.half);

    set_burst(&scene, gang, MSEC_NEVER, 0);
    decide(&scene);
    assert_null(yard_place_of(&scene.yard, gang));
    yard_check_kept(&scene.yard, half, scene.machines[0]);
    check_waits(&scene, gang, false); /* it would not fit if the machine were empty */
    (void)own(&scene, scene.owned);
    decide(&scene);
    assert_int_equal(scene.yard.plan.place_count, 2); /* it came first */
    assert_null(yard_place_of(&scene.yard, half));
    yard_done(&scene.yard);
}

TEST(a_gang_that_is_spread_needs_a_machine_for_each_task)
{
    struct scene scene;

    scene_init(&scene);
    (void)own(&scene, scene.owned);

    const uint32_t gang = yard_spread_job(&scene.yard, scene.half, 2);

    decide(&scene);
    assert_int_equal(scene.yard.plan.place_count, 0);
    (void)own(&scene, scene.owned);
    decide(&scene);
    assert_int_equal(scene.yard.plan.place_count, 2);
    assert_int_not_equal(scene.yard.plan.places[0].target, scene.yard.plan.places[1].target);
    (void)gang;
    yard_done(&scene.yard);
}

TEST(jobs_that_keep_apart_need_a_machine_each)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t machine = own(&scene, scene.owned);
    const uint32_t one = yard_apart_task(&scene.yard, scene.half, 1);
    const uint32_t two = yard_apart_task(&scene.yard, scene.half, 1);

    decide(&scene);
    assert_int_equal(scene.yard.plan.place_count, 1);
    yard_check_kept(&scene.yard, one, machine);
    yard_run(&scene.yard, one, machine);
    decide(&scene);
    assert_int_equal(scene.yard.plan.place_count, 0);

    const uint32_t other = own(&scene, scene.owned);

    decide(&scene);
    yard_check_kept(&scene.yard, two, other);
    yard_done(&scene.yard);
}

TEST(who_is_held_takes_no_room)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t machine = own(&scene, scene.owned);
    const uint32_t first = yard_task(&scene.yard, scene.whole);
    const uint32_t second = yard_task(&scene.yard, scene.whole);

    scene.held = first;
    decide(&scene);
    yard_check_kept(&scene.yard, second, machine);
    assert_int_equal(scene.yard.plan.place_count, 1);
    yard_done(&scene.yard);
}

TEST(nothing_is_rented_before_the_rule_says_so)
{
    struct scene scene;

    scene_init(&scene);
    yard_run(&scene.yard, yard_task(&scene.yard, scene.whole), own(&scene, scene.owned));

    const uint32_t task = yard_task(&scene.yard, scene.half);
    const uint32_t large = yard_task(&scene.yard, scene.larger);

    set_burst(&scene, task, 10 * YARD_MINUTE, 0);
    set_burst(&scene, large, 10 * YARD_MINUTE, 0);
    scene.yard.view.now = 10 * YARD_MINUTE - 1;
    decide(&scene);
    check_waits(&scene, task, true);
    check_waits(&scene, large, false); /* no owned machine would ever hold it */
    assert_int_equal(scene.first.wake_at, 10 * YARD_MINUTE);
    scene.yard.view.now = 10 * YARD_MINUTE;
    decide(&scene);
    check_waits(&scene, task, false);
    assert_int_equal(scene.first.wake_at, MSEC_NEVER);
    yard_done(&scene.yard);
}

TEST(waiting_costs_as_much_as_a_machine_of_its_own)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t task = yard_task_for(&scene.yard, scene.half, 2 * YARD_HOUR);

    set_burst(&scene, task, 0, 0.50); /* $2 of machine, $0.50 an hour of waiting */
    assert_int_equal(burst_from(&scene.yard.view, task), 4 * YARD_HOUR);
    set_burst(&scene, task, 3 * YARD_HOUR, 0.50);
    assert_int_equal(burst_from(&scene.yard.view, task), 3 * YARD_HOUR);
    set_burst(&scene, task, MSEC_NEVER, 0.50);
    assert_int_equal(burst_from(&scene.yard.view, task), 4 * YARD_HOUR);
    set_burst(&scene, task, MSEC_NEVER, 0);
    assert_int_equal(burst_from(&scene.yard.view, task), MSEC_NEVER);
    set_burst(&scene, task, 0, 0);
    assert_int_equal(burst_from(&scene.yard.view, task), 0);
    yard_done(&scene.yard);
}

TEST(work_without_an_end_is_counted_as_a_day)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t task = yard_task_for(&scene.yard, scene.half, MSEC_NEVER);

    set_burst(&scene, task, 0, 24.0);
    assert_int_equal(burst_from(&scene.yard.view, task), YARD_HOUR);
    yard_done(&scene.yard);
}

CHECK_MAIN(RUN(what_fits_goes_to_owned_machines_and_the_rest_to_the_policy),
           RUN(accelerators_are_left_for_those_who_need_them), RUN(the_highest_priority_is_first),
           RUN(a_gang_has_places_for_all_or_none),
           RUN(a_gang_that_is_spread_needs_a_machine_for_each_task),
           RUN(jobs_that_keep_apart_need_a_machine_each), RUN(who_is_held_takes_no_room),
           RUN(nothing_is_rented_before_the_rule_says_so),
           RUN(waiting_costs_as_much_as_a_machine_of_its_own),
           RUN(work_without_an_end_is_counted_as_a_day))
