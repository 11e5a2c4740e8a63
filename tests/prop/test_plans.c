/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every policy, with any options, in views drawn at random: what it plans can be carried out, is the
 * same twice, leaves the view alone, and leaves nobody waiting whom a machine could be rented for. The later seeds have
 * zones, and work that may run on some offers only, wants a machine for itself or has to stay in one zone or market.
 *
 *     test_plans          all seeds, as the build runs it
 *     test_plans SEED     that one, for every policy
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/test/check.h"
#include "decide/bonds.h"
#include "decide/reservation.h"
#include "plan_judge.h"
#include "random_world.h"

enum { NARROW_SEEDS = 600, SEEDS = 1200, JOBS_MAX = 40, MACHINES_MAX = 25 };

struct scene {
    struct catalogue catalogue;
    struct shapes shapes;
    uint32_t rows[SHAPES_MAX]; /* those that jobs have */
    uint32_t row_count;
    struct view view;
    struct knowledge knowledge;
    struct arena arena;
    double *rates; /* of pairs, measured beforehand */
};

/* In every other world some work has no end, or none that anybody lives to see. */
static msec_t draw_estimate(uint64_t seed, uint64_t job, msec_t usual)
{
    const uint64_t dice = map_mix(seed ^ map_mix(job + 1));

    if (seed % 2 == 0 || dice % 4 > 0)
        return usual;
    return dice % 8 == 0 ? MSEC_NEVER : MSEC_NEVER - (msec_t)(dice >> 8 & 0xffff);
}

/* Whether tasks of the two may be of one job; they begin alike, as draw_bindings binds them so. */
static bool are_bound_alike(const struct shapes *shapes, const struct shape *a,
                            const struct shape *b)
{
    if (a->alike != b->alike || a->by_market != b->by_market ||
        (a->variant_count > 0) != (b->variant_count > 0))
        return false;
    if (a->variant_count == 0)
        return true;

    const struct shape *first = &shapes->rows[shapes->variants[a->variant_first]];
    const struct shape *other = &shapes->rows[shapes->variants[b->variant_first]];

    return first->zone == other->zone && first->market == other->market;
}

/* A third of the gangs has tasks of several shapes. */
static void draw_parts(const struct scene *scene, uint64_t seed, struct job_spec *spec)
{
    const uint64_t dice = map_mix(seed ^ map_mix(spec->id + 77));

    const uint32_t other = scene->rows[(dice >> 20) % scene->row_count];
    const struct shape *rows = scene->shapes.rows;

    if (!spec->gang || spec->task_count < 2 || dice % 3 > 0 ||
        !are_bound_alike(&scene->shapes, &rows[other], &rows[spec->shape]))
        return;
    spec->part_count = 2;
    spec->parts[0] =
        (struct job_part){ spec->shape, 1 + (uint32_t)(dice >> 8) % (spec->task_count - 1) };
    spec->parts[1] = (struct job_part){ other, spec->task_count - spec->parts[0].task_count };
}

static void draw_jobs(struct scene *scene, uint64_t seed, struct rng *rng)
{
    const int64_t count = random_between(rng, 0, JOBS_MAX);

    for (int64_t i = 0; i < count; i++) {
        struct job_spec spec = {
            .id = (uint64_t)i,
            .first_task_id = (uint64_t)i * 10,
            .user = (uint32_t)rng_below(rng, 3),
            .shape = scene->rows[rng_below(rng, scene->row_count)],
            .task_count = (uint32_t)random_between(rng, 1, 4),
            .gang = rng_below(rng, 2) == 0,
            .fixed = random_is_fixed(seed, (uint64_t)i),
            .spread = random_is_spread(seed, (uint64_t)i),
            .keeps = random_keeps(seed, (uint64_t)i, &scene->shapes.aparts),
            .estimate_ms =
                draw_estimate(seed, (uint64_t)i, random_between(rng, 0, 4 * MSEC_PER_HOUR)),
        };

        draw_parts(scene, seed, &spec);
        (void)view_add_job(&scene->view, &spec);
    }
}

static void draw_machines(struct scene *scene, struct rng *rng)
{
    static const enum instance_state states[] = {
        INSTANCE_REQUESTED, INSTANCE_BOOTING, INSTANCE_READY,    INSTANCE_READY,
        INSTANCE_READY,     INSTANCE_READY,   INSTANCE_DRAINING, INSTANCE_RETURNED,
    };
    struct view *view = &scene->view;
    const int64_t count = random_between(rng, 0, MACHINES_MAX);

    for (int64_t i = 0; i < count; i++) {
        const uint32_t offer = (uint32_t)rng_below(rng, scene->catalogue.offer_count);
        const uint32_t row = view_add_instance(view, 1000 + (uint64_t)i, offer);

        view_set_state(view, row, states[rng_below(rng, 8)]);
        if (view->instance.state[row] != INSTANCE_REQUESTED)
            view_set_billed_from(view, row, view->now);
    }
}

static bool has_room(const struct view *view, uint32_t task, uint32_t machine)
{
    const struct res *demand = view_demand(view, task, machine);
    const struct res room = view_free(view, machine);

    return view_is_open(view, machine) && demand != NULL && res_fits(demand, &room) &&
           !(view_has_apart(view, view->task.job[task]) &&
             view_apart_is_on(view, view->job.apart[view->task.job[task]], machine));
}

/* Bind most tasks to where they fit; most of those on ready machines run. */
static void draw_bindings(struct scene *scene, struct rng *rng)
{
    struct view *view = &scene->view;

    for (uint32_t task = 0; task < view->task.count; task++) {
        if (view->instance.count == 0 || rng_below(rng, 4) == 0)
            continue;

        const uint32_t machine = (uint32_t)rng_below(rng, view->instance.count);

        if (!has_room(view, task, machine))
            continue;
        view_bind(view, task, machine);
        if (view->instance.state[machine] == INSTANCE_READY && rng_below(rng, 8) > 0)
            view_mark_running(view, task, view->now);
    }
}

static void draw_knowledge(struct scene *scene, struct rng *rng)
{
    struct knowledge *knowledge = &scene->knowledge;
    const uint32_t workloads = scene->shapes.workloads.count;

    colocation_init(&knowledge->colocation, (double)random_between(rng, 700, 1000) / 1000);
    for (uint32_t i = 0; i < scene->shapes.count; i++)
        colocation_observe(&knowledge->colocation, i,
                           colocation_token((uint32_t)rng_below(rng, scene->shapes.count)),
                           (double)random_between(rng, 300, 1000) / 1000);
    for (int64_t i = random_between(rng, 0, 9); i > 0; i--)
        tempo_event(&knowledge->tempo, random_between(rng, 0, MSEC_PER_HOUR));
    if (rng_below(rng, 2) == 0)
        tempo_full(&knowledge->tempo);
    scene->rates = mem_alloc((size_t)workloads * workloads, sizeof(double));
    for (uint32_t i = 0; i < workloads * workloads; i++)
        scene->rates[i] = (double)random_between(rng, 500, 1000) / 1000;
    knowledge->profile = (struct pair_profile){ .rate = scene->rates, .count = workloads };
}

static void scene_init(struct scene *scene, uint64_t seed)
{
    struct rng rng;
    struct rng needs;

    rng_init(&rng, seed, 7);
    *scene = (struct scene){ 0 };
    arena_init(&scene->arena);
    catalogue_init(&scene->catalogue);
    shapes_init(&scene->shapes);
    random_catalogue(&scene->catalogue, &rng);
    rng_init(&needs, seed, 9);
    if (seed > NARROW_SEEDS)
        random_zones(&scene->catalogue, &needs);
    scene->row_count = random_shapes_needing(&scene->shapes, &scene->catalogue, &rng,
                                             seed > NARROW_SEEDS ? &needs : NULL, scene->rows);
    view_init(&scene->view, &scene->catalogue, &scene->shapes);
    draw_jobs(scene, seed, &rng);
    draw_machines(scene, &rng);
    draw_bindings(scene, &rng);
    scene->view.now = random_between(&rng, 0, 2 * MSEC_PER_HOUR);
    for (uint32_t i = 0; i < scene->catalogue.offer_count; i++) {
        scene->view.offer_price[i] = price_at(&scene->catalogue.offers[i].price, scene->view.now);
        if (rng_below(&rng, 8) == 0)
            scene->view.offer_blocked_until[i] = scene->view.now + 1;
    }
    draw_knowledge(scene, &rng);
    reservation_update(&scene->view);
    bonds_update(&scene->view);
}

static void scene_done(struct scene *scene)
{
    view_done(&scene->view);
    colocation_done(&scene->knowledge.colocation);
    mem_free(scene->rates);
    shapes_done(&scene->shapes);
    catalogue_done(&scene->catalogue);
    arena_done(&scene->arena);
}

static void decide(struct scene *scene, const struct policy *policy, const int64_t *option,
                   struct plan *ret)
{
    const struct policy_input input = {
        .view = &scene->view,
        .knowledge = &scene->knowledge,
        .option = option,
        .arena = &scene->arena,
    };

    plan_init(ret, &scene->arena);
    policy_decide(policy, &input, ret);
}

static uint64_t digest_of(const struct plan *plan)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < plan->rent_count; i++)
        sum = map_mix(sum ^ plan->rents[i].offer);
    for (uint32_t i = 0; i < plan->place_count; i++) {
        sum = map_mix(sum ^ plan->places[i].task);
        sum = map_mix(sum ^ plan->places[i].target ^ ((uint64_t)plan->places[i].fresh << 40));
    }
    for (uint32_t i = 0; i < plan->release_count; i++)
        sum = map_mix(sum ^ plan->releases[i].instance);
    return sum;
}

/* Whether there is an open offer for the task, and for the rest of its gang. */
static bool may_be_rented_for(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    TASK_EACH(other, view, view->task.waiting_first)
    {
        if ((other == task || (view->job.gang[job] && view->task.job[other] == job)) &&
            view->shape_offer[view->task.shape[other]] == OFFER_NONE)
            return false;
    }
    return true;
}

/* Of the policies that start work at once: nobody waits for whom there is an open offer. */
static const char *judge_waiting(const struct view *view, const struct plan *plan)
{
    TASK_EACH(task, view, view->task.waiting_first)
    {
        bool placed = !may_be_rented_for(view, task);

        for (uint32_t i = 0; i < plan->place_count && !placed; i++)
            placed = plan->places[i].task == task;
        if (!placed)
            return "a task waits that a machine could be rented for";
    }
    return NULL;
}

/* What is wrong with a wait for machines that come free, or NULL. */
static const char *judge_machines(const struct view *view, const struct plan *plan,
                                  const struct plan_wait *wait)
{
    if (wait->until < view->now || wait->expected > wait->until)
        return "a task waits for machines for longer than that is worth";
    const msec_t soonest = view->now + 60 * MSEC_PER_SEC;

    return plan->wake_at > (wait->expected + 1 > soonest ? wait->expected + 1 : soonest)
               ? "nobody will look whether the machines came"
               : NULL;
}

/* The wait of the task for machines that come free, or NULL. */
static const struct plan_wait *wait_for_machines(const struct plan *plan, uint32_t task)
{
    for (uint32_t i = 0; i < plan->wait_count; i++) {
        if (plan->waits[i].task == task && plan->waits[i].rule == WAIT_MACHINES)
            return &plan->waits[i];
    }
    return NULL;
}

/* The policy stint lets a task wait for room that comes soon, no longer than a new machine would take or
 * than it was told, and asks to look again then. The arrivals of all jobs are at 0 here. */
static const char *judge_patience(const struct view *view, const int64_t *option,
                                  const struct plan *plan)
{
    const int64_t boot_wait = option[policy_find_option(&policy_stint, "wait_limit")];
    const int64_t paid_wait = option[policy_find_option(&policy_stint, "paid_wait")];

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t offer = view->shape_offer[view->task.shape[task]];
        bool placed = !may_be_rented_for(view, task);

        for (uint32_t i = 0; i < plan->place_count && !placed; i++)
            placed = plan->places[i].task == task;
        if (placed)
            continue;

        const struct plan_wait *wait = wait_for_machines(plan, task);

        if (wait != NULL) {
            const char *wrong = judge_machines(view, plan, wait);

            if (wrong != NULL)
                return wrong;
            continue;
        }

        const struct machine_type *type = catalogue_type_of(view->catalogue, offer);
        const msec_t boot =
            boot_wait > 0 ? boot_wait : machine_type_acquire_ms(type, 1) + type->setup_ms;

        if (view->now > (boot > paid_wait ? boot : paid_wait))
            return "a task has waited too long, and still does";
        if (plan->wake_at == MSEC_NEVER)
            return "a task waits and nobody will look again";
    }
    return NULL;
}

/* NULL, or what is wrong with the policy's plan for the seed. */
static const char *judge(const struct policy *policy, uint64_t seed)
{
    const bool stocks = policy == &policy_semi_elastic;
    const bool waits = stocks || policy == &policy_stint;
    struct scene scene;
    struct rng rng;
    struct plan first;
    struct plan second;
    int64_t option[POLICY_OPTIONS_MAX] = { 0 };
    const char *wrong;

    scene_init(&scene, seed);
    rng_init(&rng, seed, 8);
    random_options(policy, option, &rng);
    decide(&scene, policy, option, &first);
    view_check(&scene.view);
    wrong = plan_judge(&scene.view, &first, stocks);
    if (wrong == NULL && policy == &policy_stint)
        wrong = judge_patience(&scene.view, option, &first);
    if (wrong == NULL && !waits)
        wrong = judge_waiting(&scene.view, &first);
    decide(&scene, policy, option, &second);
    if (wrong == NULL && digest_of(&first) != digest_of(&second))
        wrong = "the same view gives two plans";
    scene_done(&scene);
    return wrong;
}

static void check_policy(const struct policy *policy)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const char *wrong = judge(policy, seed);

        if (wrong != NULL)
            fail_msg("%s, seed %" PRIu64 ": %s", policy->name, seed, wrong);
    }
}

TEST(every_plan_of_stint_can_be_carried_out)
{
    check_policy(&policy_stint);
}

TEST(every_plan_of_task_per_instance_can_be_carried_out)
{
    check_policy(&policy_task_per_instance);
}

TEST(every_plan_of_stratus_can_be_carried_out)
{
    check_policy(&policy_stratus);
}

TEST(every_plan_of_synergy_can_be_carried_out)
{
    check_policy(&policy_synergy);
}

TEST(every_plan_of_owl_can_be_carried_out)
{
    check_policy(&policy_owl);
}

TEST(every_plan_of_eva_can_be_carried_out)
{
    check_policy(&policy_eva);
}

TEST(every_plan_of_no_wait_can_be_carried_out)
{
    check_policy(&policy_no_wait);
}

TEST(every_plan_of_semi_elastic_can_be_carried_out)
{
    check_policy(&policy_semi_elastic);
}

TEST(every_plan_of_first_fit_decreasing_can_be_carried_out)
{
    check_policy(&policy_first_fit);
}

TEST(every_plan_of_hotspot_can_be_carried_out)
{
    check_policy(&policy_hotspot);
}

TEST(every_plan_of_fleet_can_be_carried_out)
{
    check_policy(&policy_fleet);
}

TEST(every_plan_of_supercloud_can_be_carried_out)
{
    check_policy(&policy_supercloud);
}

static int run_one(uint64_t seed)
{
    int bad = 0;

    for (uint32_t i = 0; i < policy_count; i++) {
        const char *wrong = judge(policies[i], seed);

        (void)printf("seed %" PRIu64 ", %s: %s\n", seed, policies[i]->name,
                     wrong != NULL ? wrong : "well");
        bad |= wrong != NULL;
    }
    return bad;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(every_plan_of_stint_can_be_carried_out),
        RUN(every_plan_of_task_per_instance_can_be_carried_out),
        RUN(every_plan_of_stratus_can_be_carried_out),
        RUN(every_plan_of_synergy_can_be_carried_out),
        RUN(every_plan_of_owl_can_be_carried_out),
        RUN(every_plan_of_eva_can_be_carried_out),
        RUN(every_plan_of_no_wait_can_be_carried_out),
        RUN(every_plan_of_semi_elastic_can_be_carried_out),
        RUN(every_plan_of_first_fit_decreasing_can_be_carried_out),
        RUN(every_plan_of_hotspot_can_be_carried_out),
        RUN(every_plan_of_fleet_can_be_carried_out),
        RUN(every_plan_of_supercloud_can_be_carried_out),
    };

    if (argc == 2)
        return run_one(strtoull(argv[1], NULL, 10));
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
