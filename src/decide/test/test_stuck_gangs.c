/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/stuck_gangs.h"

#include "decide/best_fit.h"
#include "decide/test/yard.h"

/* A gang of three that takes a CPU each, machines of two CPUs that cannot be rented any more, and so
 * many of them that run. */
struct scene {
    struct yard yard;
    uint32_t gang;
    struct runtime_bins bins;
};

static void set_up(struct scene *scene, uint32_t machines)
{
    struct yard *yard = &scene->yard;

    yard_init(yard);
    const uint32_t offer = yard_type(yard, "node", 2, 2, 0, 1.0);
    scene->gang = yard_job(yard, yard_shape(yard, 1, 1, 0), 3, true);
    for (uint32_t i = 0; i < machines; i++)
        (void)yard_machine(yard, offer);
    yard->view.offer_blocked_until[offer] = YARD_HOUR;
    reservation_forget(&yard->view);
    reservation_update(&yard->view);

    runtime_bins_build(&scene->bins, &yard->view, RUNTIME_REMAINING, &yard->arena);
}

TEST(a_gang_that_finds_room_for_all_is_placed)
{
    struct scene scene;
    set_up(&scene, 2);

    stuck_gangs_place(&scene.bins, &scene.yard.plan);

    assert_true(stuck_gangs_has(&scene.yard.view, scene.gang));
    assert_int_equal(scene.yard.plan.place_count, 3);
    yard_done(&scene.yard);
}

TEST(a_gang_that_finds_room_for_a_part_is_not_placed_and_takes_no_room)
{
    struct scene scene;
    set_up(&scene, 1);

    stuck_gangs_place(&scene.bins, &scene.yard.plan);

    assert_int_equal(scene.yard.plan.place_count, 0);
    INSTANCE_EACH(instance, &scene.yard.view)
    {
        assert_true(runtime_bins_is_untouched(&scene.bins, instance));
    }
    yard_done(&scene.yard);
}

TEST(a_layout_places_no_part_of_a_gang_and_keeps_no_machine_for_it)
{
    struct scene scene;
    set_up(&scene, 1);

    best_fit(&(struct worth_rules){ .view = &scene.yard.view }, &scene.yard.plan);

    assert_int_equal(scene.yard.plan.place_count, 0);
    assert_int_equal(scene.yard.plan.release_count, 1);
    yard_done(&scene.yard);
}

CHECK_MAIN(RUN(a_gang_that_finds_room_for_all_is_placed),
           RUN(a_gang_that_finds_room_for_a_part_is_not_placed_and_takes_no_room),
           RUN(a_layout_places_no_part_of_a_gang_and_keeps_no_machine_for_it))
