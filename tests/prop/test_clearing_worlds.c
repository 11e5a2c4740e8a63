/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work is moved off under-used machines to save money. So 'stint' is run with clearing and without it in
 * small random worlds, and the bills are compared. Nothing goes wrong there, prices stay as they are and
 * tasks do not disturb each other. Each world is run in two ways:
 *
 *     closed    all jobs come at once, and how long they run is known
 *     open      jobs keep arriving, and in most worlds runtimes are guessed
 *
 * A move can turn out badly in either, if a task takes longer to start than was thought, ends earlier, or
 * if the next job could have used the machine; but seldom, and all together must save money.
 *
 *     test_clearing_worlds          all seeds, as the build runs it
 *     test_clearing_worlds --list   each seed's number of machines cleared, bill with and bill without
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "random_world.h"

enum { SEEDS = 2000, STEPS_MAX = 400000 };

enum way { WAY_CLOSED, WAY_OPEN, WAY_COUNT };

struct bills {
    money_t with;
    money_t without;
    uint64_t cleared; /* machines */
    int rc;
};

static struct bills bills[WAY_COUNT][SEEDS + 1]; /* by seed */

static void count_cleared(void *context, const struct view *view, const struct plan *plan)
{
    struct bills *of = context;

    (void)view;
    for (uint32_t i = 0; i < plan->release_count; i++)
        of->cleared += plan->releases[i].why.code == REASON_CLEARED;
}

static void draw(struct random_world *world, uint64_t seed, enum way way)
{
    struct sim_config *config = &world->config;

    random_world_draw(world, seed);
    for (uint32_t i = 0; i < world->catalogue.offer_count; i++)
        world->catalogue.offers[i].price.count = 1;
    config->faults = (struct sim_faults){ 0 };
    config->contention = NULL;
    config->round_ms = 0;
    config->policy = &policy_stint;
    policy_defaults(config->policy, config->option);
    config->option[policy_find_option(config->policy, "improve")] =
        0; /* it clears in its own way */
    config->max_steps = STEPS_MAX;
    if (way != WAY_CLOSED)
        return;
    for (uint32_t i = 0; i < world->trace.job_count; i++)
        world->trace.jobs[i].arrival_ms = 0;
    config->estimates = SIM_ESTIMATES_ORACLE;
    config->noise_ppm = 0;
}

static money_t run(struct sim_config *config, bool clear, int *ret_rc)
{
    struct sim_result result = { 0 };
    struct error error;

    config->option[policy_find_option(config->policy, "clear")] = clear;
    *ret_rc |= simulation_run(config, &result, &error);
    return result.cost;
}

static void run_seed(uint64_t seed, enum way way, struct bills *ret)
{
    struct random_world world;

    *ret = (struct bills){ 0 };
    draw(&world, seed, way);
    world.config.on_plan = count_cleared;
    world.config.context = ret;
    ret->with = run(&world.config, true, &ret->rc);
    ret->without = run(&world.config, false, &ret->rc);
    random_world_done(&world);
}

static uint32_t count_cleared_worlds(enum way way)
{
    uint32_t worlds = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        worlds += bills[way][seed].cleared > 0;
    return worlds;
}

/* How many cost a tenth more with clearing. */
static uint32_t count_worse_worlds(enum way way)
{
    uint32_t worlds = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        worlds += bills[way][seed].with > bills[way][seed].without / 10 * 11;
    return worlds;
}

/* What all worlds together cost with clearing, in thousandths of what they cost without. */
static int64_t thousandths(enum way way)
{
    money_t with = 0;
    money_t without = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        with += bills[way][seed].with;
        without += bills[way][seed].without;
    }
    return mul_div(with, 1000, without);
}

TEST(every_run_ends)
{
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        if (bills[WAY_CLOSED][seed].rc != 0 || bills[WAY_OPEN][seed].rc != 0)
            fail_msg("seed %u does not end", seed);
    }
}

TEST(machines_are_cleared_in_many_worlds)
{
    assert_true(count_cleared_worlds(WAY_CLOSED) > SEEDS / 4);
    assert_true(count_cleared_worlds(WAY_OPEN) > SEEDS / 4);
}

/* It was 961 and 952 when this was written. */
TEST(clearing_saves_money_in_the_sum)
{
    assert_true(thousandths(WAY_CLOSED) <= 980);
    assert_true(thousandths(WAY_OPEN) <= 980);
}

/* It was 2, the worst of them 1.18 times as dear. */
TEST(it_hardly_ever_costs_a_tenth_where_everything_is_known)
{
    assert_true(count_worse_worlds(WAY_CLOSED) <= SEEDS / 400);
}

/* It was 17, the worst of them 1.70 times as dear. */
TEST(it_seldom_costs_a_tenth_where_the_future_is_not_known)
{
    assert_true(count_worse_worlds(WAY_OPEN) <= SEEDS / 60);
}

int main(int argc, char **argv)
{
    static const char *const words[WAY_COUNT] = { "closed", "open" };
    const bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    const struct CMUnitTest tests[] = {
        RUN(every_run_ends),
        RUN(machines_are_cleared_in_many_worlds),
        RUN(clearing_saves_money_in_the_sum),
        RUN(it_hardly_ever_costs_a_tenth_where_everything_is_known),
        RUN(it_seldom_costs_a_tenth_where_the_future_is_not_known),
    };

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        for (enum way way = WAY_CLOSED; way < WAY_COUNT; way++) {
            struct bills *of = &bills[way][seed];

            run_seed(seed, way, of);
            if (list)
                (void)printf("# %u %s %" PRIu64 " %" PRId64 " %" PRId64 "\n", seed, words[way],
                             of->cleared, of->with, of->without);
        }
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
