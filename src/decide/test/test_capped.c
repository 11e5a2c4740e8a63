/* SPDX-License-Identifier: Apache-2.0 */
/* Machines of 4 CPUs for a dollar an hour; what each account may have of them. */
#include "decide/capped.h"

#include "base/test/check.h"
#include "decide/test/yard.h"

enum { TASKS_MAX = 64 };

struct scene {
    struct yard yard;
    struct caps caps;
    uint32_t offer;
    uint32_t shape; /* half a machine */
    struct capped by[TASKS_MAX];
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){ .offer = 0 };
    yard_init(&scene->yard);
    scene->offer = yard_type(&scene->yard, "std", 4, 16, 0, 1.0);
    scene->shape = yard_shape(&scene->yard, 2, 8, 0);
    yard_open(&scene->yard);
    scene->yard.view.now = 1000;
    caps_init(&scene->caps);
    plan_init(&scene->yard.plan, &scene->yard.arena);
}

static void scene_done(struct scene *scene)
{
    caps_done(&scene->caps);
    yard_done(&scene->yard);
}

/* A set of one cap. */
static uint32_t cap(struct scene *scene, uint32_t instances, money_t price)
{
    const uint32_t number = caps_add(&scene->caps, &(struct cap){ instances, price, false });

    return caps_set(&scene->caps, &number, 1);
}

static uint32_t task_of(struct scene *scene, uint32_t set, uint32_t tasks, bool gang)
{
    const uint32_t first = yard_job(&scene->yard, scene->shape, tasks, gang);

    scene->yard.view.job.caps[scene->yard.view.task.job[first]] = set;
    return first;
}

static uint32_t rent(struct scene *scene)
{
    return plan_rent(&scene->yard.plan, scene->offer, plan_because(REASON_FITS_KEPT, 0));
}

static void put_fresh(struct scene *scene, uint32_t task, uint32_t target)
{
    plan_place_fresh(&scene->yard.plan, task, target, plan_because(REASON_FITS_KEPT, 0));
}

static void put_kept(struct scene *scene, uint32_t task, uint32_t target)
{
    plan_place_kept(&scene->yard.plan, task, target, plan_because(REASON_FITS_KEPT, 0));
}

static uint32_t find(struct scene *scene)
{
    return capped_find(&scene->yard.view, &scene->caps, &scene->yard.plan, &scene->yard.arena,
                       scene->by);
}

TEST(machines_count_and_not_tasks)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t set = cap(&scene, 1, 0);
    const uint32_t one = task_of(&scene, set, 1, false);
    const uint32_t two = task_of(&scene, set, 1, false);
    const uint32_t three = task_of(&scene, set, 1, false);
    const uint32_t free = task_of(&scene, 0, 1, false);
    const uint32_t first = rent(&scene);
    const uint32_t second = rent(&scene);

    put_fresh(&scene, free, second);
    put_fresh(&scene, three, second);
    put_fresh(&scene, one, first);
    put_fresh(&scene, two, first);
    assert_int_equal(find(&scene), 1);
    assert_int_equal(scene.by[three].reason, CAPPED_INSTANCES);
    assert_int_equal(scene.by[one].reason, CAPPED_NOT);
    assert_int_equal(scene.by[two].reason, CAPPED_NOT);
    assert_int_equal(scene.by[free].reason, CAPPED_NOT);
    scene_done(&scene);
}

TEST(what_it_has_already_counts)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t set = cap(&scene, 1, 0);
    const uint32_t machine = yard_machine(&scene.yard, scene.offer);
    const uint32_t other = yard_machine(&scene.yard, scene.offer);
    const uint32_t runs = task_of(&scene, set, 1, false);

    yard_run(&scene.yard, runs, machine);
    const uint32_t beside = task_of(&scene, set, 1, false);
    const uint32_t apart = task_of(&scene, set, 1, false);

    put_kept(&scene, apart, other);
    put_kept(&scene, beside, machine);
    assert_int_equal(find(&scene), 1);
    assert_int_equal(scene.by[apart].reason, CAPPED_INSTANCES);
    assert_int_equal(scene.by[beside].reason, CAPPED_NOT);
    scene_done(&scene);
}

TEST(a_price_limits_likewise_and_the_highest_priority_comes_first)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t set = cap(&scene, 0, 2500000); /* two machines */
    uint32_t task[3];

    for (uint32_t i = 0; i < 3; i++) {
        task[i] = task_of(&scene, set, 1, false);
        put_fresh(&scene, task[i], rent(&scene));
    }
    scene.yard.view.job.priority[scene.yard.view.task.job[task[2]]] = 5;
    assert_int_equal(find(&scene), 1);
    assert_int_equal(scene.by[task[1]].reason, CAPPED_PRICE);
    assert_int_equal(scene.by[task[1]].cap, 0);
    scene_done(&scene);
}

TEST(a_gang_has_all_its_machines_or_none_and_others_may_have_them)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t set = cap(&scene, 2, 0);
    const uint32_t gang = task_of(&scene, set, 3, true);
    const uint32_t single = task_of(&scene, set, 1, false);

    const uint32_t job = scene.yard.view.task.job[gang];

    for (uint32_t task = scene.yard.view.job.first_task[job]; task != ROW_NONE;
         task = scene.yard.view.task.sibling[task])
        put_fresh(&scene, task, rent(&scene));
    put_fresh(&scene, single, rent(&scene));
    assert_int_equal(find(&scene), 3);
    assert_int_equal(scene.by[gang].reason, CAPPED_INSTANCES);
    assert_int_equal(scene.by[single].reason, CAPPED_NOT);
    scene_done(&scene);
}

TEST(all_caps_of_a_job_hold)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t account = caps_add(&scene.caps, &(struct cap){ .max_instances = 2 });
    const uint32_t user = caps_add(&scene.caps, &(struct cap){ .max_instances = 1 });
    const uint32_t both = caps_set(&scene.caps, (const uint32_t[]){ account, user }, 2);
    const uint32_t only = caps_set(&scene.caps, &account, 1);
    const uint32_t one = task_of(&scene, both, 1, false);
    const uint32_t two = task_of(&scene, both, 1, false);
    const uint32_t three = task_of(&scene, only, 1, false);

    put_fresh(&scene, one, rent(&scene));
    put_fresh(&scene, two, rent(&scene));
    put_fresh(&scene, three, rent(&scene));
    assert_int_equal(find(&scene), 1);
    assert_int_equal(scene.by[two].cap, user); /* what it was refused counts for nobody */
    scene_done(&scene);
}

TEST(one_above_a_limit_that_was_lowered_gets_no_further_machine)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t set = cap(&scene, 2, 0);
    uint32_t machine[2];

    for (uint32_t i = 0; i < 2; i++) {
        machine[i] = yard_machine(&scene.yard, scene.offer);
        const uint32_t task = task_of(&scene, set, 1, false);

        yard_run(&scene.yard, task, machine[i]);
    }
    scene.caps.row[0].max_instances = 1;
    const uint32_t beside = task_of(&scene, set, 1, false);
    const uint32_t apart = task_of(&scene, set, 1, false);

    put_kept(&scene, beside, machine[0]);
    put_fresh(&scene, apart, rent(&scene));
    assert_int_equal(find(&scene), 1);
    assert_int_equal(scene.by[apart].reason, CAPPED_INSTANCES);
    scene_done(&scene);
}

TEST(a_budget_that_is_used_up_keeps_what_waits_and_not_what_runs)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t set = cap(&scene, 0, 0);
    const uint32_t machine = yard_machine(&scene.yard, scene.offer);
    const uint32_t runs = task_of(&scene, set, 1, false);

    yard_run(&scene.yard, runs, machine);
    const uint32_t waits = task_of(&scene, set, 1, false);
    const uint32_t other = task_of(&scene, 0, 1, false);

    assert_int_equal(capped_spent(&scene.yard.view, &scene.caps, scene.by), 0);
    scene.caps.row[0].is_spent = true;
    assert_int_equal(capped_spent(&scene.yard.view, &scene.caps, scene.by), 1);
    assert_int_equal(scene.by[waits].reason, CAPPED_SPENT);
    assert_int_equal(scene.by[runs].reason, CAPPED_NOT);
    assert_int_equal(scene.by[other].reason, CAPPED_NOT);
    scene_done(&scene);
}

CHECK_MAIN(RUN(machines_count_and_not_tasks), RUN(what_it_has_already_counts),
           RUN(a_price_limits_likewise_and_the_highest_priority_comes_first),
           RUN(a_gang_has_all_its_machines_or_none_and_others_may_have_them),
           RUN(all_caps_of_a_job_hold),
           RUN(one_above_a_limit_that_was_lowered_gets_no_further_machine),
           RUN(a_budget_that_is_used_up_keeps_what_waits_and_not_what_runs))
