/* SPDX-License-Identifier: Apache-2.0 */
/* Machines of 4 CPUs for a dollar an hour; tasks that need half of one wait, or run. */
#include "decide/scarcity.h"

#include "decide/test/yard.h"

struct scene {
    struct yard yard;
    struct caps caps;
    uint32_t offer;
    uint32_t shape;
    struct allowance allowance;
};

static void scene_init(struct scene *scene, uint32_t waiting)
{
    *scene = (struct scene){ .allowance = { .instances = UINT64_MAX,
                                            .price_per_hour = ALLOWANCE_ANY,
                                            .first_charge = ALLOWANCE_ANY,
                                            .grows = true } };
    yard_init(&scene->yard);
    scene->offer = yard_type(&scene->yard, "std", 4, 16, 0, 1.0);
    scene->shape = yard_shape(&scene->yard, 2, 8, 0);
    yard_open(&scene->yard);
    scene->yard.view.now = 1000;
    caps_init(&scene->caps);
    for (uint32_t i = 0; i < waiting; i++)
        (void)yard_task(&scene->yard, scene->shape);
}

static void scene_done(struct scene *scene)
{
    caps_done(&scene->caps);
    yard_done(&scene->yard);
}

static struct scarcity find(struct scene *scene)
{
    return scarcity_find(&scene->yard.view, &scene->allowance, &scene->caps, &scene->yard.arena);
}

/* A task that waits, under a limit of so many machines, or with its budget used up. */
static uint32_t capped_task(struct scene *scene, uint32_t instances, money_t price, bool is_spent)
{
    const uint32_t cap = caps_add(&scene->caps, &(struct cap){ instances, price, is_spent });
    const uint32_t task = yard_task(&scene->yard, scene->shape);

    scene->yard.view.job.caps[scene->yard.view.task.job[task]] = caps_set(&scene->caps, &cap, 1);
    return task;
}

static bool meets(struct scene *scene, uint32_t task)
{
    const struct scarcity found = find(scene);

    return scarcity_meets(&found, &scene->yard.view, task);
}

TEST(nothing_is_scarce_without_limits)
{
    struct scene scene;

    scene_init(&scene, 40);
    assert_false(find(&scene).of_all);
    assert_false(scarcity_meets(NULL, &scene.yard.view, scene.yard.view.task.waiting_first));
    scene_done(&scene);
}

TEST(machines_are_scarce_where_one_for_each_would_take_half_of_them)
{
    struct scene scene;

    scene_init(&scene, 4);
    scene.allowance.instances = 9;
    assert_false(find(&scene).of_all);
    scene.allowance.instances = 8;
    assert_true(find(&scene).of_all);
    (void)yard_machine(&scene.yard, scene.offer);
    scene.allowance.instances = 10;
    assert_false(find(&scene).of_all);
    scene.allowance.instances = 9; /* ten are allowed, one is there */
    assert_true(find(&scene).of_all);
    scene_done(&scene);

    scene_init(&scene, 0); /* and who runs is not to be put back where there are none */
    scene.allowance.instances = 1;
    assert_false(find(&scene).of_all);
    scene.allowance.instances = 0;
    assert_true(find(&scene).of_all);
    scene_done(&scene);
}

TEST(money_is_scarce_likewise)
{
    struct scene scene;

    scene_init(&scene, 4);
    (void)yard_machine(&scene.yard, scene.offer);
    scene.allowance.price_per_hour = YARD_USD(9.5);
    assert_false(find(&scene).of_all);
    scene.allowance.price_per_hour = YARD_USD(9);
    assert_true(find(&scene).of_all);
    scene.allowance.price_per_hour = ALLOWANCE_ANY;
    scene.allowance.first_charge = YARD_USD(1);
    assert_false(find(&scene).of_all);
    scene.allowance.first_charge = 0;
    assert_true(find(&scene).of_all);
    scene_done(&scene);
}

TEST(the_limit_of_an_account_binds_its_own_work_only)
{
    struct scene scene;

    scene_init(&scene, 10);

    const uint32_t free = scene.yard.view.task.waiting_first;
    const uint32_t few = capped_task(&scene, 2, 0, false);
    const uint32_t many = capped_task(&scene, 3, 0, false);
    const uint32_t poor = capped_task(&scene, 0, YARD_USD(2), false);
    const uint32_t rich = capped_task(&scene, 0, YARD_USD(2.5), false);
    const uint32_t spent = capped_task(&scene, 0, 0, true);

    assert_false(meets(&scene, free));
    assert_true(meets(&scene, few));
    assert_false(meets(&scene, many));
    assert_true(meets(&scene, poor));
    assert_false(meets(&scene, rich));
    assert_true(meets(&scene, spent));
    scene_done(&scene);
}

TEST(machines_that_an_account_has_count_once)
{
    struct scene scene;

    scene_init(&scene, 0);

    const uint32_t task = capped_task(&scene, 5, 0, false);
    const uint32_t machine = yard_machine(&scene.yard, scene.offer);
    const uint32_t set = scene.yard.view.job.caps[scene.yard.view.task.job[task]];

    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t other = yard_task(&scene.yard, scene.shape);

        scene.yard.view.job.caps[scene.yard.view.task.job[other]] = set;
        yard_run(&scene.yard, other, machine);
    }
    assert_false(meets(&scene, task)); /* two tasks on one machine, and one that waits */

    const uint32_t last = yard_task(&scene.yard, scene.shape);

    scene.yard.view.job.caps[scene.yard.view.task.job[last]] = set;
    assert_true(meets(&scene, task));
    scene_done(&scene);
}

CHECK_MAIN(RUN(nothing_is_scarce_without_limits),
           RUN(machines_are_scarce_where_one_for_each_would_take_half_of_them),
           RUN(money_is_scarce_likewise), RUN(the_limit_of_an_account_binds_its_own_work_only),
           RUN(machines_that_an_account_has_count_once))
