/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds, as in test_swarm.c, in which some machines are owned: any policy, faults, lost news, controllers that
 * take over from each other. Of every decision it is held that
 *
 *  - no machine that is owned is returned, and none of their offers is rented;
 *  - nothing is rented for a task that would fit them, before its rule allows that;
 *  - where nothing else comes between the decision and the plan, nothing is rented for a task that they have room for.
 *
 * And of every run: all work is done once, nothing is left running, the books are the bills to the micro-dollar with what
 * the machines cost that are owned, and no run costs less than the bound. The same world with dearer machines of its own
 * costs more by just as much.
 *
 *     test_owned_worlds          all seeds, as the build runs it
 *     test_owned_worlds A B      those
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/test/check.h"
#include "decide/burst.h"
#include "plan_judge.h"
#include "random_world.h"
#include "sim/work_bound.h"

enum {
    SEEDS = 1000,
    FIRST_SEED = 20001, /* none of the swarm's */
    STEPS_MAX = 400000,
    BOUND_NODES = 3000,
};

struct watch {
    struct random_world *world;
    const char *fault;
    msec_t fault_at;
    uint64_t on_owned; /* places */
    uint64_t waited;   /* tasks that were kept waiting, counted in each decision */
    uint64_t rented;
    bool stocks;
};

/* The shape that a task has on machines of the offer, or SHAPE_NONE. */
static uint32_t shape_there(const struct view *view, uint32_t task, uint32_t offer)
{
    const uint32_t shape = view->task.shape[task];
    const uint32_t base = view->shapes->rows[shape].variant_of;

    return base == SHAPE_NONE ? shape : shape_variant_at(view->shapes, base, offer, false);
}

/* Whether the task would fit the machine if only 'used' were used of it. */
static bool fits(const struct view *view, uint32_t task, uint32_t instance, struct res used)
{
    const uint32_t shape = shape_there(view, task, view->instance.offer[instance]);
    const struct res *demand =
        shape != SHAPE_NONE ? view_shape_demand(view, shape, instance) : NULL;

    if (demand == NULL)
        return false;
    res_add(&used, demand);
    return res_fits(&used, view_capacity(view, instance));
}

/* A single task, which nothing but room keeps from a machine, and others that it must be apart from. */
static bool is_simple(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->task.instance[task] == ROW_NONE && view->job.task_count[job] == 1 &&
           view->job.short_ppb[job] == 0;
}

static struct res used_after(const struct view *view, const struct plan *plan, uint32_t instance)
{
    struct res used = view->instance.used[instance];

    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        if (!place->fresh && place->target == instance)
            res_add(&used, view_demand(view, place->task, instance));
    }
    return used;
}

/* Whether a task is there, or will be, that this one must be apart from. */
static bool is_too_near(const struct view *view, const struct plan *plan, uint32_t task,
                        uint32_t instance)
{
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        if (!place->fresh && place->target == instance && view_keep_apart(view, task, place->task))
            return true;
    }
    return view_has_apart(view, view->task.job[task]) &&
           view_apart_is_on(view, view->job.apart[view->task.job[task]], instance);
}

static const char *judge_rented(const struct watch *watch, const struct view *view,
                                const struct plan *plan, uint32_t task)
{
    const bool is_plain = watch->world->config.control.audit_ms == 0;

    INSTANCE_EACH(instance, view)
    {
        if (!view_is_owned(view, instance) || view->instance.state[instance] != INSTANCE_READY)
            continue;
        if (fits(view, task, instance, (struct res){ 0 }) && burst_from(view, task) > view->now)
            return "a machine is rented for a task before its rule allows it";
        if (is_plain && fits(view, task, instance, used_after(view, plan, instance)) &&
            !is_too_near(view, plan, task, instance))
            return "a machine is rented for a task that an owned one has room for";
    }
    return NULL;
}

static const char *judge(struct watch *watch, const struct view *view, const struct plan *plan)
{
    const char *wrong = plan_judge(view, plan, watch->stocks);

    for (uint32_t i = 0; i < plan->release_count && wrong == NULL; i++) {
        if (view_is_owned(view, plan->releases[i].instance))
            wrong = "a machine that is owned is given back";
    }
    for (uint32_t i = 0; i < plan->rent_count && wrong == NULL; i++) {
        if (view->catalogue->offers[plan->rents[i].offer].is_owned)
            wrong = "a machine is rented of an offer that is owned";
    }
    for (uint32_t i = 0; i < plan->place_count && wrong == NULL; i++) {
        const struct plan_place *place = &plan->places[i];

        if (place->fresh && is_simple(view, place->task))
            wrong = judge_rented(watch, view, plan, place->task);
        watch->on_owned += !place->fresh && view_is_owned(view, place->target);
    }
    return wrong;
}

static void on_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct watch *watch = context;
    const char *wrong = judge(watch, view, plan);

    view_check(view);
    watch->rented += plan->rent_count;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        watch->waited += burst_from(view, task) > view->now;
    }
    if (wrong != NULL && watch->fault == NULL) {
        watch->fault = wrong;
        watch->fault_at = view->now;
    }
}

static msec_t change_catalogue(void *context, msec_t now)
{
    return random_world_change(((struct watch *)context)->world, now);
}

static void draw(struct random_world *world, uint64_t seed)
{
    if (seed % 2 == 0)
        random_world_draw(world, seed);
    else
        random_world_draw_wide(world, seed);
    if (seed / 2 % 2 == 0)
        random_world_trouble(world, seed);
    random_world_own(world, seed);
}

static int run_world(struct random_world *world, struct watch *watch, struct sim_result *ret,
                     struct error *reterr)
{
    struct sim_config *config = &world->config;

    *watch = (struct watch){ .world = world,
                             .stocks = config->policy == &policy_semi_elastic ||
                                       world->has_promises || config->control.boot_timeout_ms > 0 };
    config->context = watch;
    config->on_plan = on_plan;
    config->max_steps = STEPS_MAX;
    config->change_catalogue = world->changes_left > 0 ? change_catalogue : NULL;
    if (config->change_catalogue == NULL)
        config->work_bound =
            work_bound(config->trace, config->catalogue, config->contention, BOUND_NODES);
    return simulation_run(config, ret, reterr);
}

static money_t owned_price(const struct random_world *world, msec_t span)
{
    money_t sum = 0;

    for (uint32_t i = 0; i < world->config.owned_count; i++) {
        const struct offer *offer = &world->catalogue.offers[world->owned[i].offer];

        sum += world->owned[i].count * billing_charge(&offer->billing, &offer->price, 0, span);
    }
    return sum;
}

static void check_result(uint64_t seed, const struct random_world *world, const struct watch *watch,
                         const struct sim_result *result)
{
    if (watch->fault != NULL)
        fail_msg("seed %" PRIu64 " at %" PRId64 " ms: %s", seed, watch->fault_at, watch->fault);
    if (result->completions != result->tasks)
        fail_msg("seed %" PRIu64 ": not every task completed once", seed);
    if (result->left_running != 0)
        fail_msg("seed %" PRIu64 ": machines are left running", seed);
    if (result->cost != result->billed || !result->ledger_agrees)
        fail_msg("seed %" PRIu64 ": the ledger and the bills differ", seed);
    if (result->owned_cost != owned_price(world, result->ended_at))
        fail_msg("seed %" PRIu64 ": owned machines cost another amount than they do", seed);
    if (result->cost < result->work_bound)
        fail_msg("seed %" PRIu64 ": it cost less than the bound", seed);
}

struct sums {
    uint64_t on_owned;
    uint64_t waited;
    uint64_t rented;
    uint64_t restarts;
    uint64_t none_rented; /* worlds */
    money_t owned_cost;
};

static void run_seed(uint64_t seed, struct sums *sums)
{
    struct random_world world;
    struct watch watch;
    struct sim_result result;
    struct error error;

    draw(&world, seed);
    if (run_world(&world, &watch, &result, &error) != 0)
        fail_msg("seed %" PRIu64 ": %s", seed, error.text);
    check_result(seed, &world, &watch, &result);
    sums->on_owned += watch.on_owned;
    sums->waited += watch.waited;
    sums->rented += watch.rented;
    sums->restarts += result.restarts;
    sums->none_rented += watch.rented == 0;
    sums->owned_cost += result.owned_cost;
    random_world_done(&world);
}

static uint64_t from = FIRST_SEED;
static uint64_t to = FIRST_SEED + SEEDS;

TEST(owned_machines_come_first_and_stay)
{
    struct sums sums = { 0 };

    for (uint64_t seed = from; seed < to; seed++)
        run_seed(seed, &sums);
    (void)fprintf(stderr,
                  "%" PRIu64 " places on owned machines, %" PRIu64 " waits for them, %" PRIu64
                  " machines rented, none in %" PRIu64 " worlds, %" PRIu64
                  " controllers replaced\n",
                  sums.on_owned, sums.waited, sums.rented, sums.none_rented, sums.restarts);
    if (to - from < SEEDS)
        return;
    assert_true(sums.on_owned > SEEDS); /* all of it was met */
    assert_true(sums.waited > SEEDS);
    assert_true(sums.rented > SEEDS);
    assert_true(sums.restarts > SEEDS / 10);
    assert_true(sums.owned_cost > 0);
}

/* What they cost is part of the bill, and changes nothing else. */
TEST(a_price_is_added_and_changes_no_decision)
{
    uint64_t checked = 0;

    for (uint64_t seed = from; seed < to && checked < 50; seed++) {
        struct random_world world;
        struct watch watch;
        struct sim_result free;
        struct sim_result paid;
        struct error error;

        for (int pass = 0; pass < 2; pass++) {
            draw(&world, seed);
            for (uint32_t i = 0; i < world.config.owned_count; i++)
                world.catalogue.owned_prices[world.owned[i].offer][0].per_hour =
                    pass == 0 ? 0 : 1000000;
            assert_int_equal(run_world(&world, &watch, pass == 0 ? &free : &paid, &error), 0);
            if (pass == 1 && paid.owned_cost != owned_price(&world, paid.ended_at))
                fail_msg("seed %" PRIu64 ": owned machines cost another amount", seed);
            random_world_done(&world);
        }
        assert_int_equal(free.owned_cost, 0);
        assert_int_equal(paid.ended_at, free.ended_at);
        assert_int_equal(paid.cost - paid.owned_cost, free.cost);
        checked++;
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(owned_machines_come_first_and_stay),
        RUN(a_price_is_added_and_changes_no_decision),
    };

    if (argc == 3) {
        from = strtoull(argv[1], NULL, 10);
        to = strtoull(argv[2], NULL, 10);
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
