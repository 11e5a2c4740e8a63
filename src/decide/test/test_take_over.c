/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/take_over.h"

#include "decide/machine_index.h"
#include "decide/test/yard.h"

#define MINUTE ((msec_t)60000)

enum { NODE, OTHER }; /* offers: billed by the hour */
enum { ALL, A_HALF }; /* shapes: of a node */

static void nodes_init(struct yard *yard)
{
    yard_init(yard);
    for (uint32_t offer = NODE; offer <= OTHER; offer++) {
        (void)yard_type(yard, "a", 16, 64, 0, 2.4);
        yard->catalogue.offers[offer].billing =
            (struct billing_rule){ .step_ms = YARD_HOUR, .minimum_ms = YARD_HOUR };
    }
    (void)yard_shape(yard, 16, 64, 0);
    (void)yard_shape(yard, 8, 32, 0);
    yard_open(yard);
    yard->view.now = YARD_HOUR;
}

/* A node without work that is paid for so long. */
static uint32_t spare(struct yard *yard, msec_t paid)
{
    const uint32_t machine = yard_machine(yard, NODE);

    view_set_billed_from(&yard->view, machine, yard->view.now + paid - YARD_HOUR);
    return machine;
}

/* A machine that was asked for and should be there in five minutes. */
static uint32_t asked(struct yard *yard, uint32_t offer)
{
    const uint32_t machine = view_add_instance(&yard->view, yard->next_id++, offer);

    view_set_ready_expected(&yard->view, machine, yard->view.now + 5 * MINUTE);
    return machine;
}

/* A task of its own job on its way to the machine. */
static uint32_t bound(struct yard *yard, uint32_t shape, uint32_t machine)
{
    const uint32_t task = yard_task_for(yard, shape, YARD_HOUR);

    view_bind(&yard->view, task, machine);
    return task;
}

/* A gang on its way to so many nodes that were asked for. */
static uint32_t bound_gang(struct yard *yard, uint32_t tasks)
{
    const uint32_t task = yard_job(yard, ALL, tasks, true);

    for (uint32_t i = 0; i < tasks; i++)
        view_bind(&yard->view, task + i, asked(yard, NODE));
    return task;
}

static struct row_map ask(struct yard *yard)
{
    struct row_map uses;

    row_map_init(&uses, &yard->arena);
    take_over(&yard->view, &yard->plan, &uses);
    return uses;
}

static void check_untouched(struct yard *yard)
{
    (void)ask(yard);
    assert_int_equal(yard->plan.place_count, 0);
    assert_int_equal(yard->plan.release_count, 0);
    yard_done(yard);
}

TEST(work_goes_to_a_free_machine_and_what_was_asked_for_goes_back)
{
    struct yard yard;

    nodes_init(&yard);
    const uint32_t free = spare(&yard, MINUTE);
    const uint32_t coming = asked(&yard, NODE);
    const uint32_t one = bound(&yard, A_HALF, coming);
    const uint32_t two = bound(&yard, A_HALF, coming);
    const struct row_map uses = ask(&yard);

    yard_check_kept(&yard, one, free);
    yard_check_kept(&yard, two, free);
    assert_int_equal(yard.plan.release_count, 1);
    assert_int_equal(yard.plan.releases[0].instance, coming);
    assert_int_equal(row_map_get(&uses, free), USE_PLACED);
    assert_int_equal(row_map_get(&uses, coming), USE_LEFT);
    yard_done(&yard);
}

TEST(what_is_billed_already_is_kept)
{
    struct yard yard;

    nodes_init(&yard);
    (void)spare(&yard, MINUTE);
    const uint32_t coming = asked(&yard, NODE);

    (void)bound(&yard, ALL, coming);
    view_set_state(&yard.view, coming, INSTANCE_BOOTING);
    view_set_billed_from(&yard.view, coming, yard.view.now);
    check_untouched(&yard);
}

TEST(a_machine_of_another_offer_is_no_stand_in)
{
    struct yard yard;

    nodes_init(&yard);
    (void)spare(&yard, MINUTE);
    (void)bound(&yard, ALL, asked(&yard, OTHER));
    check_untouched(&yard);
}

TEST(a_machine_that_somebody_waits_for_is_left)
{
    struct yard yard;
    struct row_map uses;

    nodes_init(&yard);
    row_map_init(&uses, &yard.arena);
    row_map_set(&uses, spare(&yard, MINUTE), USE_EXPECTED);
    (void)bound(&yard, ALL, asked(&yard, NODE));
    take_over(&yard.view, &yard.plan, &uses);
    assert_int_equal(yard.plan.place_count, 0);
    yard_done(&yard);
}

TEST(a_task_that_the_plan_has_placed_is_left)
{
    struct yard yard;

    nodes_init(&yard);
    (void)spare(&yard, MINUTE);
    const uint32_t task = bound(&yard, ALL, asked(&yard, NODE));

    plan_place_kept(&yard.plan, task, yard_machine(&yard, OTHER),
                    plan_because(REASON_BETTER_PLACE, 0));
    (void)ask(&yard);
    assert_int_equal(yard.plan.place_count, 1);
    assert_int_equal(yard.plan.release_count, 0);
    yard_done(&yard);
}

TEST(tasks_without_an_end_and_those_that_have_run_are_left)
{
    struct yard yard;

    nodes_init(&yard);
    (void)spare(&yard, MINUTE);
    (void)spare(&yard, MINUTE);
    const uint32_t endless = bound(&yard, ALL, asked(&yard, NODE));
    const uint32_t lost = bound(&yard, ALL, asked(&yard, NODE));

    yard.view.task.estimate_ms[endless] = MSEC_NEVER;
    yard.view.task.launches[lost] = 1;
    check_untouched(&yard);
}

TEST(a_gang_that_can_start_takes_all_that_it_lacks)
{
    struct yard yard;

    nodes_init(&yard);
    (void)spare(&yard, MINUTE);
    (void)spare(&yard, MINUTE);
    const uint32_t gang = bound_gang(&yard, 2);

    (void)ask(&yard);
    assert_int_equal(yard.plan.place_count, 2);
    assert_non_null(yard_place_of(&yard, gang));
    assert_non_null(yard_place_of(&yard, gang + 1));
    assert_int_equal(yard.plan.release_count, 2);
    yard_done(&yard);
}

TEST(a_gang_that_lacks_more_holds_only_what_is_paid_for_until_then)
{
    struct yard yard;

    nodes_init(&yard);
    (void)spare(&yard, 5 * MINUTE - 1);
    const uint32_t longer = spare(&yard, 5 * MINUTE);

    (void)bound_gang(&yard, 3);
    (void)ask(&yard);
    assert_int_equal(yard.plan.place_count, 1);
    assert_int_equal(yard.plan.places[0].target, longer);
    assert_int_equal(yard.plan.release_count, 1);
    yard_done(&yard);
}

TEST(what_a_gang_does_not_hold_is_there_for_others)
{
    struct yard yard;

    nodes_init(&yard);
    const uint32_t brief = spare(&yard, MINUTE);

    (void)bound_gang(&yard, 2);
    (void)ask(&yard);
    assert_int_equal(yard.plan.place_count, 0);

    const uint32_t coming_alone = asked(&yard, NODE);
    const uint32_t single = bound(&yard, ALL, coming_alone);

    (void)ask(&yard);
    assert_int_equal(yard.plan.place_count, 1);
    yard_check_kept(&yard, single, brief);
    assert_int_equal(yard.plan.releases[0].instance, coming_alone);
    yard_done(&yard);
}

TEST(who_lacks_the_fewest_comes_first)
{
    struct yard yard;

    nodes_init(&yard);
    (void)bound_gang(&yard, 2);
    const uint32_t single = bound(&yard, ALL, asked(&yard, NODE));

    (void)spare(&yard, YARD_HOUR);
    (void)ask(&yard);
    assert_int_equal(yard.plan.place_count, 1);
    assert_int_equal(yard.plan.places[0].task, single);
    yard_done(&yard);
}

/* A gang of three, of which one task is on a node that is ready and runs already, and one on a node that is billed. */
static uint32_t begun_gang(struct yard *yard, bool fixed)
{
    const uint32_t gang = yard_job(yard, ALL, 3, true);
    const uint32_t booting = asked(yard, NODE);

    yard_fix(&yard->view, yard->view.task.job[gang], fixed);
    yard_run(yard, gang, yard_machine(yard, NODE));
    view_set_state(&yard->view, booting, INSTANCE_BOOTING);
    view_set_billed_from(&yard->view, booting, yard->view.now);
    view_bind(&yard->view, gang + 1, booting);
    view_bind(&yard->view, gang + 2, asked(yard, NODE));
    return gang + 2;
}

TEST(a_gang_waits_for_its_other_machines_too)
{
    struct yard yard;

    nodes_init(&yard);
    (void)spare(&yard, 4 * MINUTE);
    const uint32_t last = begun_gang(&yard, true);

    (void)ask(&yard);
    assert_int_equal(yard.plan.place_count, 0);

    const uint32_t longer = spare(&yard, 6 * MINUTE);

    (void)ask(&yard);
    assert_int_equal(yard.plan.place_count, 1);
    yard_check_kept(&yard, last, longer);
    yard_done(&yard);
}

TEST(a_gang_that_would_start_again_is_left)
{
    struct yard yard;

    nodes_init(&yard);
    (void)spare(&yard, 6 * MINUTE);
    (void)begun_gang(&yard, false);
    check_untouched(&yard);
}

CHECK_MAIN(RUN(work_goes_to_a_free_machine_and_what_was_asked_for_goes_back),
           RUN(what_is_billed_already_is_kept), RUN(a_machine_of_another_offer_is_no_stand_in),
           RUN(a_machine_that_somebody_waits_for_is_left),
           RUN(a_task_that_the_plan_has_placed_is_left),
           RUN(tasks_without_an_end_and_those_that_have_run_are_left),
           RUN(a_gang_that_can_start_takes_all_that_it_lacks),
           RUN(a_gang_that_lacks_more_holds_only_what_is_paid_for_until_then),
           RUN(what_a_gang_does_not_hold_is_there_for_others),
           RUN(who_lacks_the_fewest_comes_first), RUN(a_gang_waits_for_its_other_machines_too),
           RUN(a_gang_that_would_start_again_is_left))
