/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of plans is judged: a plan that breaks a rule is found out by that rule, and the same plan without the
 * fault is a good one.
 */
#include "plan_judge.h"

#include "base/test/check.h"

/* A machine of four CPUs in two zones, on demand, and in the first on the spot market. */
enum { A_DEMAND, B_DEMAND, A_SPOT, OFFERS };

/* One CPU; four; one that may run in zone b only; one in a zone for all of its job; the same for markets. */
enum { ONE, FOUR, IN_B, ONE_ZONE, ONE_MARKET, SHAPES };

struct scene {
    struct catalogue catalogue;
    struct shapes shapes;
    uint32_t shape[SHAPES];
    struct view view;
    struct arena arena;
    struct plan plan;
};

static void scene_init(struct scene *scene)
{
    static const struct {
        int64_t cpus;
        const char *offers;
        uint8_t alike;
    } kinds[SHAPES] = {
        [ONE] = { 1, NULL, 0 },
        [FOUR] = { 4, NULL, 0 },
        [IN_B] = { 1, "zone=b", 0 },
        [ONE_ZONE] = { 1, NULL, ALIKE_ZONE },
        [ONE_MARKET] = { 1, NULL, ALIKE_MARKET },
    };
    static const struct price_change price = { 0, 1000000 };
    const struct machine_type type = { .capacity = { { 4000, 8192, 0 } } };

    *scene = (struct scene){ .shape = { 0 } };
    catalogue_init(&scene->catalogue);
    (void)catalogue_add_type(&scene->catalogue, "m", "m", &type);
    for (uint32_t i = 0; i < OFFERS; i++) {
        const struct offer offer = { .market = i == A_SPOT ? MARKET_SPOT : MARKET_ON_DEMAND,
                                     .billing = { .step_ms = 1000 },
                                     .price = { &price, 1 } };

        (void)catalogue_add_offer(&scene->catalogue, i == B_DEMAND ? "b" : "a", &offer);
    }
    shapes_init(&scene->shapes);
    shapes_bind(&scene->shapes, &scene->catalogue);
    for (uint32_t i = 0; i < SHAPES; i++) {
        const struct shape_demand demand = { FAMILY_NONE, { { kinds[i].cpus * 1000, 1024, 0 } } };

        scene->shape[i] = shapes_add(&scene->shapes, &(struct shape_spec){
                                                         .name = "s",
                                                         .workload = "s",
                                                         .demands = &demand,
                                                         .demand_count = 1,
                                                         .offers = kinds[i].offers,
                                                         .alike = kinds[i].alike,
                                                     });
    }
    view_init(&scene->view, &scene->catalogue, &scene->shapes);
    arena_init(&scene->arena);
    plan_init(&scene->plan, &scene->arena);
}

static void scene_done(struct scene *scene)
{
    arena_done(&scene->arena);
    view_done(&scene->view);
    shapes_done(&scene->shapes);
    catalogue_done(&scene->catalogue);
}

/* A job with so many tasks: the row of the first, the others follow. */
static uint32_t job(struct scene *scene, uint32_t kind, uint32_t tasks, struct job_spec how)
{
    const uint32_t first = scene->view.task.count;

    how.id = first + 1;
    how.first_task_id = first + 1;
    how.shape = scene->shape[kind];
    how.task_count = tasks;
    how.estimate_ms = 1000;
    (void)view_add_job(&scene->view, &how);
    return first;
}

static uint32_t machine(struct scene *scene, uint32_t offer)
{
    return view_add_instance(&scene->view, scene->view.instance.count + 1, offer);
}

static void start(struct scene *scene, uint32_t task, uint32_t instance)
{
    view_bind(&scene->view, task, instance);
    view_mark_running(&scene->view, task, 0);
}

static void put(struct scene *scene, uint32_t task, uint32_t instance)
{
    plan_place_kept(&scene->plan, task, instance, plan_because(REASON_FITS_KEPT, 0));
}

static uint32_t rent(struct scene *scene, uint32_t offer)
{
    return plan_rent(&scene->plan, offer, plan_because(REASON_BEST_VALUE, 0));
}

static void put_fresh(struct scene *scene, uint32_t task, uint32_t rented)
{
    plan_place_fresh(&scene->plan, task, rented, plan_because(REASON_BEST_VALUE, 0));
}

/* What the judge says must be this, or nothing: NULL. */
static void finds(struct scene *scene, const char *fault)
{
    const char *found = plan_judge(&scene->view, &scene->plan, false);

    if (fault == NULL)
        assert_null(found);
    else
        assert_string_equal(found != NULL ? found : "nothing", fault);
    scene_done(scene);
}

TEST(a_good_plan_is_good)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t task = job(&scene, ONE, 4, (struct job_spec){ .gang = true });
    const uint32_t there = machine(&scene, A_DEMAND);
    const uint32_t fresh = rent(&scene, A_SPOT);

    for (uint32_t i = 0; i < 3; i++)
        put(&scene, task + i, there);
    put_fresh(&scene, task + 3, fresh);
    finds(&scene, NULL);
}

TEST(a_task_has_one_place_on_a_machine_that_is_open)
{
    struct scene scene;

    scene_init(&scene);
    uint32_t task = job(&scene, ONE, 1, (struct job_spec){ .id = 0 });
    uint32_t there = machine(&scene, A_DEMAND);

    put(&scene, task, there);
    put(&scene, task, there);
    finds(&scene, "it places a task twice");

    scene_init(&scene);
    task = job(&scene, ONE, 1, (struct job_spec){ .id = 0 });
    there = machine(&scene, A_DEMAND);
    view_set_state(&scene.view, there, INSTANCE_DRAINING);
    put(&scene, task, there);
    finds(&scene, "it places a task on a machine that is not open");
}

TEST(a_machine_holds_what_it_can_and_what_may_run_there)
{
    struct scene scene;

    scene_init(&scene);
    uint32_t there = machine(&scene, A_DEMAND);

    put(&scene, job(&scene, ONE, 1, (struct job_spec){ .id = 0 }), there);
    put(&scene, job(&scene, FOUR, 1, (struct job_spec){ .id = 0 }), there);
    finds(&scene, "it overfills a machine");

    scene_init(&scene);
    there = machine(&scene, A_DEMAND);
    put(&scene, job(&scene, IN_B, 1, (struct job_spec){ .id = 0 }), there);
    finds(&scene, "it places a task where it may not run");

    scene_init(&scene);
    there = machine(&scene, B_DEMAND);
    put(&scene, job(&scene, IN_B, 1, (struct job_spec){ .id = 0 }), there);
    finds(&scene, NULL);
}

TEST(what_is_fixed_or_on_its_way_is_not_moved)
{
    struct scene scene;

    scene_init(&scene);
    uint32_t task = job(&scene, ONE, 1, (struct job_spec){ .fixed = true });

    start(&scene, task, machine(&scene, A_DEMAND));
    put(&scene, task, machine(&scene, A_DEMAND));
    finds(&scene, "it moves a task of a job that is fixed");

    scene_init(&scene);
    task = job(&scene, ONE, 1, (struct job_spec){ .id = 0 });
    view_bind(&scene.view, task, machine(&scene, A_DEMAND));
    put(&scene, task, machine(&scene, A_DEMAND));
    finds(&scene, "it moves a task of a job that is on its way");
}

/* A task on its way to a machine that was asked for goes to one of the offer that is ready. */
static uint32_t take_over(struct scene *scene, uint32_t offer)
{
    const uint32_t task = job(scene, ONE, 1, (struct job_spec){ .fixed = true });
    const uint32_t coming = machine(scene, A_DEMAND);
    const uint32_t ready = machine(scene, offer);

    view_bind(&scene->view, task, coming);
    view_set_state(&scene->view, ready, INSTANCE_READY);
    put(scene, task, ready);
    return coming;
}

TEST(what_waits_for_a_machine_that_is_not_billed_may_go_to_one_like_it)
{
    struct scene scene;

    scene_init(&scene);
    (void)take_over(&scene, A_DEMAND);
    finds(&scene, NULL);

    scene_init(&scene);
    (void)take_over(&scene, A_SPOT);
    finds(&scene, "it moves a task of a job that is on its way");

    scene_init(&scene);
    view_set_billed_from(&scene.view, take_over(&scene, A_DEMAND), 0);
    finds(&scene, "it moves a task of a job that is on its way");
}

TEST(gangs_are_whole_and_spread_jobs_apart)
{
    struct scene scene;

    scene_init(&scene);
    uint32_t task = job(&scene, ONE, 2, (struct job_spec){ .gang = true });

    put(&scene, task, machine(&scene, A_DEMAND));
    finds(&scene, "it places a gang in part");

    scene_init(&scene);
    task = job(&scene, ONE, 2, (struct job_spec){ .spread = true });
    const uint32_t there = machine(&scene, A_DEMAND);

    put(&scene, task, there);
    put(&scene, task + 1, there);
    finds(&scene, "it puts two tasks that must be apart onto one machine");

    scene_init(&scene);
    const uint32_t one = job(&scene, ONE, 1, (struct job_spec){ .apart = 3 });
    const uint32_t other = job(&scene, ONE, 1, (struct job_spec){ .apart = 3 });
    const uint32_t both = machine(&scene, A_DEMAND);

    put(&scene, one, both);
    put(&scene, other, both);
    finds(&scene, "it puts two tasks that must be apart onto one machine");
}

/* Each task is where it may be, but for its siblings: on 'first' and on a new machine of 'second'. */
static void part(struct scene *scene, uint32_t kind, uint32_t first, uint32_t second,
                 const char *fault)
{
    scene_init(scene);
    const uint32_t task = job(scene, kind, 2, (struct job_spec){ .gang = true });
    const uint32_t there = machine(scene, first);
    const uint32_t base = scene->shape[kind];

    view_set_variant(&scene->view, task, shape_variant_at(&scene->shapes, base, first, false));
    view_set_variant(&scene->view, task + 1, shape_variant_at(&scene->shapes, base, second, false));
    put(scene, task, there);
    put_fresh(scene, task + 1, rent(scene, second));
    finds(scene, fault);
}

TEST(jobs_that_must_be_in_one_zone_or_market_are)
{
    static const char fault[] = "it takes a job apart that is to stay in one zone or market";
    struct scene scene;

    part(&scene, ONE_ZONE, A_DEMAND, B_DEMAND, fault);
    part(&scene, ONE_ZONE, A_DEMAND, A_SPOT, NULL);
    part(&scene, ONE_MARKET, A_DEMAND, A_SPOT, fault);
    part(&scene, ONE_MARKET, A_DEMAND, B_DEMAND, NULL);
}

TEST(what_is_rented_is_open_and_used_and_what_is_released_empty)
{
    struct scene scene;

    scene_init(&scene);
    scene.view.offer_blocked_until[A_SPOT] = MSEC_NEVER;
    put_fresh(&scene, job(&scene, ONE, 1, (struct job_spec){ .id = 0 }), rent(&scene, A_SPOT));
    finds(&scene, "it asks for an offer that is blocked");

    scene_init(&scene);
    (void)rent(&scene, A_SPOT);
    finds(&scene, "it rents a machine for nobody");

    scene_init(&scene);
    const uint32_t there = machine(&scene, A_DEMAND);

    start(&scene, job(&scene, ONE, 1, (struct job_spec){ .id = 0 }), there);
    plan_release(&scene.plan, there, plan_because(REASON_EMPTY, 0));
    finds(&scene, "it releases a machine that holds tasks");
}

TEST(what_is_suspended_runs_may_be_stopped_and_is_whole)
{
    struct scene scene;

    scene_init(&scene);
    plan_suspend(&scene.plan, job(&scene, ONE, 1, (struct job_spec){ .id = 0 }),
                 plan_because(REASON_YIELDS, 0));
    finds(&scene, "it suspends a task that does not run");

    scene_init(&scene);
    uint32_t task = job(&scene, ONE, 1, (struct job_spec){ .fixed = true });

    start(&scene, task, machine(&scene, A_DEMAND));
    plan_suspend(&scene.plan, task, plan_because(REASON_YIELDS, 0));
    finds(&scene, "it suspends a task of a job that is fixed or on its way");

    for (uint32_t tasks = 1; tasks <= 2; tasks++) {
        scene_init(&scene);
        task = job(&scene, ONE, 2, (struct job_spec){ .gang = true });
        const uint32_t there = machine(&scene, A_DEMAND);

        start(&scene, task, there);
        start(&scene, task + 1, there);
        for (uint32_t i = 0; i < tasks; i++)
            plan_suspend(&scene.plan, task + i, plan_because(REASON_YIELDS, 0));
        finds(&scene, tasks == 1 ? "it suspends a gang in part" : NULL);
    }
}

TEST(what_is_suspended_leaves_room)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t task = job(&scene, FOUR, 1, (struct job_spec){ .id = 0 });
    const uint32_t there = machine(&scene, A_DEMAND);

    start(&scene, task, there);
    plan_suspend(&scene.plan, task, plan_because(REASON_YIELDS, 0));
    put(&scene, job(&scene, FOUR, 1, (struct job_spec){ .id = 0 }), there);
    finds(&scene, NULL);
}

CHECK_MAIN(RUN(a_good_plan_is_good), RUN(a_task_has_one_place_on_a_machine_that_is_open),
           RUN(a_machine_holds_what_it_can_and_what_may_run_there),
           RUN(what_is_fixed_or_on_its_way_is_not_moved),
           RUN(what_waits_for_a_machine_that_is_not_billed_may_go_to_one_like_it),
           RUN(gangs_are_whole_and_spread_jobs_apart),
           RUN(jobs_that_must_be_in_one_zone_or_market_are),
           RUN(what_is_rented_is_open_and_used_and_what_is_released_empty),
           RUN(what_is_suspended_runs_may_be_stopped_and_is_whole),
           RUN(what_is_suspended_leaves_room))
