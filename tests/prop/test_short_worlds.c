/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds, as in test_swarm.c, in which spot machines stand ready for short jobs: any policy, faults, lost news,
 * controllers that take over from each other, owned machines in every other one. Of every decision it is held that only spot machines of the type
 * are rented for the pool, and only jobs that are short start there by its rule. And of every run: all work is done once, nothing
 * is left running, and the books are the bills to the micro-dollar.
 *
 *     test_short_worlds          all seeds, as the build runs it
 *     test_short_worlds A B      those
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"
#include "plan_judge.h"
#include "random_world.h"

enum {
    SEEDS = 1000,
    FIRST_SEED = 40001, /* none of the swarm's */
    STEPS_MAX = 400000,
};

struct watch {
    struct random_world *world;
    const char *fault;
    msec_t fault_at;
    uint64_t rented;
    uint64_t started;
    uint64_t pulled;
};

/* A spot offer's type, whose machines the pool has; false: there is none. */
static bool add_pool(struct random_world *world, uint64_t seed)
{
    static char machine[64]; /* a catalogue that grows may move its texts */
    const struct catalogue *catalogue = &world->catalogue;
    struct rng rng;

    rng_init(&rng, seed, 107);
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const uint32_t type = catalogue->offers[i].type;

        if (catalogue->offers[i].market != MARKET_SPOT)
            continue;
        (void)snprintf(machine, sizeof(machine), "%s",
                       names_text(&catalogue->names, catalogue->types[type].name));
        world->config.short_pool = (struct short_pool_rule){
            .machine = machine,
            .most = (uint32_t)random_between(&rng, 1, 6),
            .threshold_ppm = (uint32_t)random_between(&rng, 300000, 1000000),
            .longest_ms = random_between(&rng, MSEC_PER_SEC, MSEC_PER_HOUR),
            .pulls = random_between(&rng, 0, 1) == 1,
        };
        return true;
    }
    return false;
}

static bool is_of_pool(const struct watch *watch, const struct view *view, uint32_t offer)
{
    const struct offer *of = &view->catalogue->offers[offer];
    const char *name = names_text(&view->catalogue->names, view->catalogue->types[of->type].name);

    return of->market == MARKET_SPOT && strcmp(name, watch->world->config.short_pool.machine) == 0;
}

static const char *judge(struct watch *watch, const struct view *view, const struct plan *plan)
{
    const char *wrong = plan_judge(view, plan, true);

    for (uint32_t i = 0; i < plan->rent_count && wrong == NULL; i++) {
        if (plan->rents[i].why.code != REASON_SHORT_POOL)
            continue;
        watch->rented++;
        if (!is_of_pool(watch, view, plan->rents[i].offer))
            wrong = "another machine is rented for the pool";
    }
    for (uint32_t i = 0; i < plan->place_count && wrong == NULL; i++) {
        const struct plan_place *place = &plan->places[i];

        watch->pulled += place->why.code == REASON_SHORT_FIRST;
        if (place->why.code == REASON_SHORT_FIRST && !watch->world->config.short_pool.pulls)
            wrong = "a short job is pulled that must not be";
        if (place->why.code != REASON_SHORT_READY)
            continue;
        watch->started++;
        if (place->fresh || !is_of_pool(watch, view, view->instance.offer[place->target]))
            wrong = "a short job starts on a machine that is not of the pool";
        TASK_EACH(task, view, view->instance.first_task[place->target])
        {
            if (view->task.estimate_ms[task] == MSEC_NEVER)
                wrong = "a short job starts beside work without an end";
        }
    }
    return wrong;
}

static void on_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct watch *watch = context;
    const char *wrong = judge(watch, view, plan);

    view_check(view);
    if (wrong != NULL && watch->fault == NULL) {
        watch->fault = wrong;
        watch->fault_at = view->now;
    }
}

static msec_t change_catalogue(void *context, msec_t now)
{
    return random_world_change(((struct watch *)context)->world, now);
}

static bool draw(struct random_world *world, uint64_t seed)
{
    if (seed % 2 == 0)
        random_world_draw(world, seed);
    else
        random_world_draw_wide(world, seed);
    if (seed / 2 % 2 == 0)
        random_world_trouble(world, seed);
    if (seed / 4 % 2 == 0)
        random_world_own(world, seed);
    return add_pool(world, seed);
}

struct sums {
    uint64_t worlds;
    uint64_t rented;
    uint64_t started;
    uint64_t pulled;
    uint64_t restarts;
};

static void run_seed(uint64_t seed, struct sums *sums)
{
    struct random_world world;
    struct watch watch = { .world = &world };
    struct sim_result result;
    struct error error;

    if (!draw(&world, seed)) {
        random_world_done(&world);
        return;
    }
    world.config.context = &watch;
    world.config.on_plan = on_plan;
    world.config.max_steps = STEPS_MAX;
    world.config.change_catalogue = world.changes_left > 0 ? change_catalogue : NULL;
    if (simulation_run(&world.config, &result, &error) != 0)
        fail_msg("seed %" PRIu64 ": %s", seed, error.text);
    if (watch.fault != NULL)
        fail_msg("seed %" PRIu64 " at %" PRId64 " ms: %s", seed, watch.fault_at, watch.fault);
    if (result.completions != result.tasks || result.left_running != 0)
        fail_msg("seed %" PRIu64 ": not every task completed once, or machines are left", seed);
    if (result.cost != result.billed || !result.ledger_agrees)
        fail_msg("seed %" PRIu64 ": the ledger and the bills differ", seed);
    sums->worlds++;
    sums->rented += watch.rented;
    sums->started += watch.started;
    sums->pulled += watch.pulled;
    sums->restarts += result.restarts;
    random_world_done(&world);
}

static uint64_t from = FIRST_SEED;
static uint64_t to = FIRST_SEED + SEEDS;

TEST(short_jobs_start_on_machines_that_stand_ready_and_all_work_is_done)
{
    struct sums sums = { 0 };

    for (uint64_t seed = from; seed < to; seed++)
        run_seed(seed, &sums);
    (void)fprintf(stderr,
                  "%" PRIu64 " worlds, %" PRIu64 " machines rented to stand ready, %" PRIu64
                  " starts there, %" PRIu64 " before long work elsewhere, %" PRIu64
                  " controllers replaced\n",
                  sums.worlds, sums.rented, sums.started, sums.pulled, sums.restarts);
    if (to - from < SEEDS)
        return;
    assert_true(sums.worlds > SEEDS / 3); /* all of it was met */
    assert_true(sums.rented > SEEDS / 2);
    assert_true(sums.started > SEEDS / 2);
    assert_true(sums.pulled > SEEDS / 20);
    assert_true(sums.restarts > SEEDS / 20);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(short_jobs_start_on_machines_that_stand_ready_and_all_work_is_done),
    };

    if (argc == 3) {
        from = strtoull(argv[1], NULL, 10);
        to = strtoull(argv[2], NULL, 10) + 1;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
