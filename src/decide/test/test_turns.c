/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines of 4 CPUs that cost a dollar an hour, and tasks that each fill one or half of one. The policy puts a task
 * where there is room, and rents a machine where there is none.
 */
#include "decide/turns.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { START = 1000 };

struct scene {
    struct yard yard;
    uint32_t offer;
    uint32_t whole; /* a shape that fills a machine */
    uint32_t half;
    struct allowance left;
    struct turns turns;
    uint32_t held;           /* a task, or ROW_NONE */
    uint32_t kept;           /* a machine, or ROW_NONE */
    struct slot_queue *told; /* what the policy is told with the last plan, or NULL */
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){ .held = ROW_NONE, .kept = ROW_NONE };
    yard_init(&scene->yard);
    scene->offer = yard_type(&scene->yard, "std", 4, 16, 0, 1.0);
    scene->whole = yard_shape(&scene->yard, 4, 8, 0);
    scene->half = yard_shape(&scene->yard, 2, 8, 0);
    yard_open(&scene->yard);
    scene->yard.view.now = START;
    scene->left = (struct allowance){ .instances = UINT64_MAX,
                                      .price_per_hour = ALLOWANCE_ANY,
                                      .first_charge = ALLOWANCE_ANY,
                                      .grows = true };
}

static bool is_held(const void *context, uint32_t task)
{
    return ((const struct scene *)context)->held == task;
}

static bool stays(const void *context, uint32_t instance)
{
    return ((const struct scene *)context)->kept == instance;
}

/* First fit, in the order of the waiting list: onto machines that there are, then onto new ones. A gang has all
 * its places, as any number of machines may be rented. */
static void first_fit(const void *context, const struct slot_queue *queue, struct plan *ret)
{
    const struct scene *scene = context;
    const struct view *view = &scene->yard.view;
    const struct plan_reason why = plan_because(REASON_FITS_KEPT, 0);

    if (scene->told != NULL)
        *scene->told = queue != NULL ? *queue : (struct slot_queue){ 0 };

    struct res *used = ARENA_ARRAY(ret->arena, struct res, view->instance.count);
    int64_t *free = ARENA_ARRAY(ret->arena, int64_t, view->task.count);

    for (uint32_t i = 0; i < view->instance.count; i++)
        used[i] = view->instance.used[i];
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const struct res *demand = shape_demand_on(view->shapes, view->task.shape[task], 0);
        uint32_t target = ROW_NONE;

        INSTANCE_EACH(instance, view)
        {
            struct res sum = used[instance];

            res_add(&sum, demand);
            if (target == ROW_NONE && res_fits(&sum, view_capacity(view, instance)))
                target = instance;
        }
        if (target != ROW_NONE) {
            res_add(&used[target], demand);
            plan_place_kept(ret, task, target, why);
            continue;
        }
        for (target = 0; target < ret->rent_count && free[target] < demand->amount[0];)
            target++;
        if (target == ret->rent_count)
            free[plan_rent(ret, scene->offer, why)] = 4000;
        free[target] -= demand->amount[0];
        plan_place_fresh(ret, task, target, why);
    }
}

static void decide(struct scene *scene)
{
    const struct turns_config config = {
        .view = &scene->yard.view,
        .arena = &scene->yard.arena,
        .allowance = &scene->left,
        .plan = first_fit,
        .is_held = is_held,
        .stays = stays,
        .context = scene,
    };

    turns_decide(&config, &scene->yard.plan, &scene->turns);
    view_check(&scene->yard.view);
}

/* A machine on which a task runs for so long. */
static uint32_t busy(struct scene *scene, uint32_t shape, msec_t length)
{
    const uint32_t machine = yard_machine(&scene->yard, scene->offer);
    const uint32_t task = yard_task_for(&scene->yard, shape, length);

    yard_run(&scene->yard, task, machine);
    return machine;
}

/* Whether it has a place that is not to be dropped. */
static bool is_served(const struct scene *scene, uint32_t task)
{
    const struct yard *yard = &scene->yard;

    for (uint32_t i = 0; i < yard->plan.place_count; i++) {
        if (yard->plan.places[i].task == task)
            return !turns_forbids(&scene->turns, &yard->view, &yard->plan, &yard->plan.places[i]);
    }
    return false;
}

TEST(within_the_allowance_the_plan_is_the_policys)
{
    struct scene scene;

    scene_init(&scene);
    (void)yard_task(&scene.yard, scene.whole);
    (void)yard_task(&scene.yard, scene.whole);
    scene.left.instances = 2;
    decide(&scene);
    assert_false(scene.turns.is_limited);
    assert_int_equal(scene.yard.plan.rent_count, 2);
    yard_done(&scene.yard);
}

TEST(a_machine_that_is_kept_makes_no_room_when_its_work_ends)
{
    struct scene scene;

    scene_init(&scene);
    scene.kept = busy(&scene, scene.whole, 10 * YARD_MINUTE);

    const uint32_t other = busy(&scene, scene.whole, 40 * YARD_MINUTE);
    const uint32_t first = yard_task(&scene.yard, scene.whole);

    scene.left.instances = 0;
    decide(&scene);
    assert_int_equal(scene.turns.first, first);
    assert_false(scene.turns.is_reserved[scene.kept]);
    assert_true(scene.turns.is_reserved[other]);
    assert_int_equal(scene.turns.starts_at, START + 40 * YARD_MINUTE);
    yard_done(&scene.yard);
}

/* Six that fill a machine and four that fill half of one wait for four machines of a dollar an hour. */
TEST(the_policy_is_told_who_waits_where_there_are_too_few_machines)
{
    for (uint64_t slots = 0; slots <= 12; slots += 4) {
        for (int grows = 0; grows < 2; grows++) {
            struct scene scene;
            struct slot_queue told = { 0 };
            const bool is_told = slots == 4 && grows;

            scene_init(&scene);
            scene.told = &told;
            scene.left.instances = slots > 0 ? slots : UINT64_MAX;
            scene.left.slots = slots;
            scene.left.grows = grows;
            for (int i = 0; i < 10; i++)
                (void)yard_task_for(&scene.yard, i < 6 ? scene.whole : scene.half, YARD_HOUR);
            decide(&scene);

            assert_int_equal(scene.turns.is_limited, slots == 4);
            assert_int_equal(told.tasks * 10, is_told ? 25 : 0);
            assert_int_equal(told.price, is_told ? YARD_USD(10) / 4 : 0);
            assert_int_equal(told.most, is_told ? YARD_USD(1.25) : 0); /* of 3.2 CPUs each */
            yard_done(&scene.yard);
        }
    }
}

TEST(those_that_came_first_are_served_first)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t late = yard_task(&scene.yard, scene.whole);
    const uint32_t early = yard_task(&scene.yard, scene.whole);

    scene.yard.view.job.arrived_at[scene.yard.view.task.job[late]] = 7;
    scene.left.instances = 1;
    decide(&scene);
    assert_true(scene.turns.is_limited);
    assert_int_equal(scene.turns.shortage, SHORT_OF_INSTANCES);
    assert_true(is_served(&scene, early));
    assert_false(is_served(&scene, late));
    assert_int_equal(scene.turns.first, late);
    assert_int_equal(scene.turns.of_task[early], TURN_NOW);
    yard_done(&scene.yard);
}

TEST(a_gang_waits_for_the_machines_that_end_first_and_nobody_behind_takes_them)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t one = busy(&scene, scene.half, 30 * YARD_MINUTE);
    const uint32_t two = busy(&scene, scene.half, 20 * YARD_MINUTE);
    const uint32_t three = busy(&scene, scene.half, 90 * YARD_MINUTE);
    const uint32_t gang = yard_job(&scene.yard, scene.whole, 2, true);
    const uint32_t lasting = yard_task_for(&scene.yard, scene.half, 60 * YARD_MINUTE);
    const uint32_t brief = yard_task_for(&scene.yard, scene.half, 10 * YARD_MINUTE);

    scene.left.instances = 0;
    decide(&scene);
    assert_false(is_served(&scene, gang));
    assert_int_equal(scene.turns.first, gang);
    assert_int_equal(scene.turns.lacking, 2);
    assert_int_equal(scene.turns.starts_at, START + 30 * YARD_MINUTE);
    assert_true(scene.turns.is_reserved[one]);
    assert_true(scene.turns.is_reserved[two]);
    assert_false(scene.turns.is_reserved[three]);
    assert_true(is_served(&scene, brief));

    /* It was put where the gang waits, for longer than that. */
    yard_check_kept(&scene.yard, lasting, one);
    assert_false(is_served(&scene, lasting));
    yard_done(&scene.yard);
}

TEST(whoever_is_behind_may_have_room_on_machines_that_nobody_waits_for)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t lasting = busy(&scene, scene.half, 90 * YARD_MINUTE);

    (void)busy(&scene, scene.whole, 20 * YARD_MINUTE);

    const uint32_t first = yard_task(&scene.yard, scene.whole);
    const uint32_t behind = yard_task_for(&scene.yard, scene.half, 5 * (msec_t)YARD_HOUR);

    scene.left.instances = 0;
    decide(&scene);
    assert_int_equal(scene.turns.first, first);
    assert_int_equal(scene.turns.starts_at, START + 20 * YARD_MINUTE);
    assert_true(is_served(&scene, behind));
    yard_check_kept(&scene.yard, behind, lasting);
    yard_done(&scene.yard);
}

TEST(what_no_end_of_machines_makes_possible_holds_up_nobody)
{
    struct scene scene;

    scene_init(&scene);
    (void)busy(&scene, scene.whole, YARD_HOUR);

    const uint32_t gang = yard_job(&scene.yard, scene.whole, 3, true);
    const uint32_t behind = yard_task_for(&scene.yard, scene.whole, 5 * (msec_t)YARD_HOUR);

    scene.left.instances = 1;
    decide(&scene);
    assert_false(is_served(&scene, gang));
    assert_true(is_served(&scene, behind));
    assert_int_equal(scene.turns.of_task[gang], TURN_LATER);
    assert_int_equal(scene.turns.of_task[behind], TURN_NOW);
    yard_done(&scene.yard);
}

TEST(what_is_held_is_passed_over)
{
    struct scene scene;

    scene_init(&scene);

    const uint32_t held = yard_task(&scene.yard, scene.whole);
    const uint32_t next = yard_task(&scene.yard, scene.whole);
    const uint32_t gang = yard_job(&scene.yard, scene.half, 3, true);

    scene.held = held;
    scene.left.instances = 1;
    decide(&scene);
    assert_true(is_served(&scene, next));
    assert_false(is_served(&scene, held));

    /* With one task of a gang all of it is. */
    scene.held = gang + 1;
    scene.left.instances = 2;
    decide(&scene);
    assert_true(is_served(&scene, held));
    assert_true(is_served(&scene, next));
    assert_false(is_served(&scene, gang));
    assert_false(is_served(&scene, gang + 2));
    yard_done(&scene.yard);
}

TEST(a_price_and_a_charge_limit_like_a_number)
{
    struct scene scene;

    scene_init(&scene);
    (void)busy(&scene, scene.whole, YARD_HOUR);

    const uint32_t first = yard_task(&scene.yard, scene.whole);
    const uint32_t second = yard_task(&scene.yard, scene.whole);

    scene.left.price_per_hour = YARD_USD(1.5);
    decide(&scene);
    assert_true(is_served(&scene, first));
    assert_false(is_served(&scene, second));
    assert_int_equal(scene.turns.shortage, SHORT_OF_PRICE);
    assert_int_equal(scene.turns.first, second);

    scene.left.price_per_hour = ALLOWANCE_ANY;
    scene.left.first_charge = 0;
    decide(&scene);
    assert_int_equal(scene.turns.shortage, SHORT_OF_CHARGE);
    assert_int_equal(scene.turns.first, ROW_NONE); /* nothing that ends makes it cheaper */
    yard_done(&scene.yard);
}

/* In any world: those whose turn it is come before all others in the queue, what they need is
 * within the allowance, and the view is as it was. */
static void check_random(struct scene *scene, struct rng *rng)
{
    const struct view *view = &scene->yard.view;
    uint32_t before[128];
    uint32_t count = 0;
    uint32_t seen = 0;
    uint32_t rents = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        before[count++] = task;
    }
    scene->left.instances = rng_below(rng, 6);
    decide(scene);
    assert_int_equal(view->task.waiting_count, count);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        assert_int_equal(task, before[seen++]);
    }
    if (!scene->turns.is_limited)
        return;

    bool *serves = ARENA_ARRAY(&scene->yard.arena, bool, scene->yard.plan.rent_count);
    msec_t latest = -1;

    for (uint32_t i = 0; i < scene->yard.plan.place_count; i++) {
        const struct plan_place *place = &scene->yard.plan.places[i];

        if (scene->turns.of_task[place->task] == TURN_NOW && place->fresh)
            serves[place->target] = true;
    }
    for (uint32_t i = 0; i < scene->yard.plan.rent_count; i++)
        rents += serves[i];
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const msec_t arrived = view->job.arrived_at[view->task.job[task]];

        if (scene->turns.of_task[task] == TURN_NOW && arrived > latest)
            latest = arrived;
    }
    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (scene->turns.of_task[task] == TURN_BEHIND)
            assert_true(view->job.arrived_at[view->task.job[task]] >= latest);
    }
    assert_true(rents <= scene->left.instances);
}

TEST(in_random_worlds_the_queue_is_kept)
{
    uint32_t limited = 0;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct rng rng;
        struct scene scene;

        rng_init(&rng, seed, 0);
        scene_init(&scene);
        for (uint64_t i = rng_below(&rng, 5); i > 0; i--)
            (void)busy(&scene, rng_below(&rng, 2) == 0 ? scene.half : scene.whole,
                       (msec_t)(1 + rng_below(&rng, 100)) * YARD_MINUTE);
        for (uint64_t i = 1 + rng_below(&rng, 12); i > 0; i--) {
            const uint32_t tasks = 1 + (uint32_t)rng_below(&rng, 4);
            const uint32_t first =
                yard_job(&scene.yard, rng_below(&rng, 2) == 0 ? scene.half : scene.whole, tasks,
                         rng_below(&rng, 2) == 0);
            struct view *view = &scene.yard.view;

            view->job.arrived_at[view->task.job[first]] = (msec_t)rng_below(&rng, 1000);
        }
        check_random(&scene, &rng);
        limited += scene.turns.is_limited;
        yard_done(&scene.yard);
    }
    assert_true(limited > 100);
}

/* Whole machines, any priorities: exactly those are served before whom fewer than the allowance come, counted one by
 * one. Who is behind the first that waits would run beyond its start, and is not. */
TEST(under_a_limit_priority_decides_and_then_age)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct scene scene;
        struct rng rng;
        uint32_t tasks[20];

        rng_init(&rng, seed, 7);
        scene_init(&scene);
        (void)busy(&scene, scene.whole, YARD_MINUTE);
        scene.left.instances = 1 + rng_below(&rng, 10);
        for (uint32_t i = 0; i < 20; i++) {
            tasks[i] = yard_task(&scene.yard, scene.whole);
            const uint32_t job = scene.yard.view.task.job[tasks[i]];

            scene.yard.view.job.priority[job] = (uint32_t)rng_below(&rng, 6);
            scene.yard.view.job.arrived_at[job] = (msec_t)rng_below(&rng, 4);
        }
        decide(&scene);
        for (uint32_t i = 0; i < 20; i++) {
            const struct view *view = &scene.yard.view;
            const uint32_t mine = view->task.job[tasks[i]];
            uint32_t before = 0;

            for (uint32_t k = 0; k < 20; k++) {
                const uint32_t other = view->task.job[tasks[k]];
                const uint32_t more = view->job.priority[other];

                if (more != view->job.priority[mine])
                    before += more > view->job.priority[mine];
                else if (view->job.arrived_at[other] != view->job.arrived_at[mine])
                    before += view->job.arrived_at[other] < view->job.arrived_at[mine];
                else
                    before += k < i;
            }
            assert_int_equal(is_served(&scene, tasks[i]), before < scene.left.instances);
        }
        yard_done(&scene.yard);
    }
}

CHECK_MAIN(RUN(within_the_allowance_the_plan_is_the_policys),
           RUN(a_machine_that_is_kept_makes_no_room_when_its_work_ends),
           RUN(the_policy_is_told_who_waits_where_there_are_too_few_machines),
           RUN(those_that_came_first_are_served_first),
           RUN(a_gang_waits_for_the_machines_that_end_first_and_nobody_behind_takes_them),
           RUN(whoever_is_behind_may_have_room_on_machines_that_nobody_waits_for),
           RUN(what_no_end_of_machines_makes_possible_holds_up_nobody),
           RUN(what_is_held_is_passed_over), RUN(a_price_and_a_charge_limit_like_a_number),
           RUN(in_random_worlds_the_queue_is_kept),
           RUN(under_a_limit_priority_decides_and_then_age))
