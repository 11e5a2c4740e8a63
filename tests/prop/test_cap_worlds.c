/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of accounts, users and the like, in small random worlds with every policy, half of them with faults and with
 * controllers that take over from each other. Each job is under up to three of five caps; from time to time the
 * budget of one is used up, and renewed. A judge that shares no code with the controller counts, for every plan:
 *
 *     no cap has more machines, or dearer ones, than its limit, unless it had before and the plan adds none;
 *     nothing of what waits starts under a budget that is used up;
 *
 * and every run ends with all its work done, so nobody waits for ever.
 *
 *     test_cap_worlds [SEED]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"
#include "model/caps.h"
#include "random_world.h"

enum { SEEDS = 1500, CAPS = 5, STEPS_MAX = 400000, MACHINES_MAX = 4096 };

struct watch {
    struct caps caps;
    struct rng rng;
    uint32_t renewals; /* of budgets that are left */
    uint64_t plans;
    uint64_t bound; /* plans at which a cap was at its limit */
    uint64_t spent; /* plans while a budget was used up and work of it waited */
    char fault[128];
};

static struct {
    uint64_t bound, spent, faulty;
} sums;

static bool is_under(const struct watch *watch, const struct view *view, uint32_t task,
                     uint32_t cap)
{
    const struct cap_set *set = &watch->caps.sets[view->job.caps[view->task.job[task]]];

    for (uint32_t i = 0; i < set->count; i++) {
        if (set->cap[i] == cap)
            return true;
    }
    return false;
}

static void complain(struct watch *watch, const struct view *view, const char *what, uint32_t cap)
{
    if (watch->fault[0] == '\0')
        (void)snprintf(watch->fault, sizeof(watch->fault), "at %" PRId64 " ms: cap %u: %s",
                       view->now, cap, what);
}

/* Machines of the cap, and their price: before the plan, and with all that it places. */
struct tally {
    uint32_t before, after;
    money_t price;
};

static struct tally tally(const struct watch *watch, const struct view *view,
                          const struct plan *plan, uint32_t cap)
{
    static bool fresh[MACHINES_MAX];
    struct tally all = { 0 };

    memset(fresh, 0, sizeof(fresh));
    INSTANCE_EACH(instance, view)
    {
        bool had = false;
        bool has = false;

        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            had = had || is_under(watch, view, task, cap);
        }
        for (uint32_t i = 0; i < plan->place_count; i++) {
            has = has || (!plan->places[i].fresh && plan->places[i].target == instance &&
                          is_under(watch, view, plan->places[i].task, cap));
        }
        all.before += had;
        all.after += had || has;
        if (had || has)
            all.price += view->offer_price[view->instance.offer[instance]];
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        if (!place->fresh || fresh[place->target] || !is_under(watch, view, place->task, cap))
            continue;
        fresh[place->target] = true;
        all.after++;
        all.price += view->offer_price[plan->rents[place->target].offer];
    }
    return all;
}

static void judge_spent(struct watch *watch, const struct view *view, const struct plan *plan,
                        uint32_t cap)
{
    bool waits = false;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        waits = waits || is_under(watch, view, task, cap);
    }
    watch->spent += waits;
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const uint32_t task = plan->places[i].task;

        if (view->task.instance[task] == ROW_NONE && is_under(watch, view, task, cap))
            complain(watch, view, "its budget is used up, and something starts", cap);
    }
}

static void watch_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct watch *watch = context;

    assert_true(plan->rent_count < MACHINES_MAX);
    watch->plans++;
    for (uint32_t cap = 0; cap < CAPS; cap++) {
        const struct cap *limit = &watch->caps.row[cap];
        const struct tally all = tally(watch, view, plan, cap);

        if (all.after > all.before && limit->max_instances > 0 && all.after > limit->max_instances)
            complain(watch, view, "too many machines", cap);
        if (all.after > all.before && limit->max_price_per_hour > 0 &&
            all.price > limit->max_price_per_hour)
            complain(watch, view, "too dear machines", cap);
        watch->bound += limit->max_instances > 0 && all.after >= limit->max_instances;
        if (limit->is_spent)
            judge_spent(watch, view, plan, cap);
    }
}

/* A budget is used up, or all of them are renewed; in the end they are. */
static msec_t change_budgets(void *context, msec_t now)
{
    struct watch *watch = context;
    bool was_spent = false;

    for (uint32_t i = 0; i < CAPS; i++) {
        was_spent = was_spent || watch->caps.row[i].is_spent;
        watch->caps.row[i].is_spent = false;
    }
    if (!was_spent && watch->renewals == 0)
        return MSEC_NEVER;
    if (!was_spent) {
        watch->renewals--;
        watch->caps.row[rng_below(&watch->rng, CAPS)].is_spent = true;
    }
    return now + random_between(&watch->rng, 1, 20) * 60 * MSEC_PER_SEC;
}

static money_t dearest(const struct catalogue *catalogue)
{
    money_t most = 0;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        for (uint32_t k = 0; k < catalogue->offers[i].price.count; k++) {
            const money_t price = catalogue->offers[i].price.changes[k].per_hour;

            most = price > most ? price : most;
        }
    }
    return most;
}

/* A gang must fit below each limit. */
static void draw_caps(struct random_world *world, struct watch *watch)
{
    uint32_t gang = 1;

    caps_init(&watch->caps);
    for (uint32_t i = 0; i < world->trace.job_count; i++) {
        if (world->trace.jobs[i].gang && world->trace.jobs[i].task_count > gang)
            gang = world->trace.jobs[i].task_count;
    }
    for (uint32_t i = 0; i < CAPS; i++) {
        struct cap cap = { .max_instances = 0 };

        if (rng_below(&watch->rng, 3) > 0)
            cap.max_instances = gang + (uint32_t)rng_below(&watch->rng, 4);
        if (rng_below(&watch->rng, 3) == 0)
            cap.max_price_per_hour =
                dearest(&world->catalogue) * (gang + (money_t)rng_below(&watch->rng, 4));
        (void)caps_add(&watch->caps, &cap);
    }
    for (uint32_t i = 0; i < world->trace.job_count; i++) {
        uint32_t caps[CAPS];
        uint32_t count = 0;

        for (uint32_t k = 0; k < CAPS; k++) {
            if (count < 3 && rng_below(&watch->rng, 3) == 0)
                caps[count++] = k;
        }
        world->trace.jobs[i].caps = caps_set(&watch->caps, caps, count);
        world->trace.jobs[i].priority = (uint32_t)rng_below(&watch->rng, 3);
    }
}

static void run_seed(uint64_t seed)
{
    struct random_world world;
    struct watch watch = { .renewals = 3 };
    struct sim_result result = { 0 };
    struct error error = { "" };

    rng_init(&watch.rng, seed, 4711);
    random_world_draw(&world, seed);
    if (seed % 2 == 0)
        random_world_trouble(&world, seed);
    sums.faulty += seed % 2 == 0;
    draw_caps(&world, &watch);
    world.config.control.caps = &watch.caps;
    world.config.on_plan = watch_plan;
    world.config.change_catalogue = change_budgets;
    world.config.change_ms = 5 * 60 * MSEC_PER_SEC;
    world.config.context = &watch;
    world.config.max_steps = STEPS_MAX;
    const int rc = simulation_run(&world.config, &result, &error);

    if (watch.fault[0] != '\0')
        fail_msg("seed %" PRIu64 " (%s): %s", seed, world.config.policy->name, watch.fault);
    if (rc != 0)
        fail_msg("seed %" PRIu64 " (%s) does not end: %s", seed, world.config.policy->name,
                 error.text);
    sums.bound += watch.bound > 0;
    sums.spent += watch.spent > 0;
    caps_done(&watch.caps);
    random_world_done(&world);
}

TEST(no_cap_is_exceeded_and_every_run_ends)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_seed(seed);
}

/* Or the test above would show nothing. */
TEST(caps_and_budgets_bind_in_many_worlds)
{
    assert_true(sums.bound > SEEDS / 3);
    assert_true(sums.spent > SEEDS / 5);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(no_cap_is_exceeded_and_every_run_ends),
        RUN(caps_and_budgets_bind_in_many_worlds),
    };

    if (argc > 1) {
        run_seed(strtoull(argv[1], NULL, 10));
        return 0;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
