/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory [FIRST LAST] - random worlds under policies that have a memory: every decision is made twice, with what
 * was kept and from nothing, and both plans are the same, to the bit. Half of the worlds have controllers that take
 * over from each other, lost news and limits. The seeds are FIRST to LAST, if they are given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"
#include "decide/machine_index.h"
#include "policy/policy.h"
#include "random_world.h"

enum { STEPS_MAX = 1000000 };

static struct {
    uint64_t first, last;
    uint64_t seed;
    uint64_t decisions;
    uint64_t kept; /* with a memory that was not new */
} swarm = { .first = 1, .last = 400 };

static bool is_same_reason(const struct plan_reason *a, const struct plan_reason *b)
{
    return a->code == b->code && a->chosen == b->chosen && a->passed_over == b->passed_over &&
           a->passed_offer == b->passed_offer;
}

static bool is_same_wait(const struct plan_wait *a, const struct plan_wait *b)
{
    return a->task == b->task && a->rule == b->rule && a->fresh == b->fresh &&
           a->target == b->target && a->offer == b->offer && a->rent_offer == b->rent_offer &&
           a->expected == b->expected && a->until == b->until && a->rent_cost == b->rent_cost &&
           a->wait_cost == b->wait_cost;
}

static bool is_same_plan(const struct plan *a, const struct plan *b)
{
    if (a->rent_count != b->rent_count || a->place_count != b->place_count ||
        a->release_count != b->release_count || a->wake_at != b->wake_at ||
        a->wait_count != b->wait_count)
        return false;
    for (uint32_t i = 0; i < a->rent_count; i++) {
        if (a->rents[i].offer != b->rents[i].offer || a->rents[i].request != b->rents[i].request ||
            !is_same_reason(&a->rents[i].why, &b->rents[i].why))
            return false;
    }
    for (uint32_t i = 0; i < a->place_count; i++) {
        if (a->places[i].task != b->places[i].task || a->places[i].fresh != b->places[i].fresh ||
            a->places[i].target != b->places[i].target ||
            !is_same_reason(&a->places[i].why, &b->places[i].why))
            return false;
    }
    for (uint32_t i = 0; i < a->release_count; i++) {
        if (a->releases[i].instance != b->releases[i].instance ||
            !is_same_reason(&a->releases[i].why, &b->releases[i].why))
            return false;
    }
    for (uint32_t i = 0; i < a->wait_count; i++) {
        if (!is_same_wait(&a->waits[i], &b->waits[i]))
            return false;
    }
    return true;
}

static void decide_twice(const struct policy_input *in, struct plan *ret)
{
    const struct machine_index *index = in->memory;
    struct policy_input fresh = *in;
    struct plan plan;

    assert_non_null(index);
    swarm.decisions++;
    swarm.kept += index->view == in->view && index->read >= in->view->changes.begin;
    plan_init(&plan, in->arena);
    policy_stint.decide(in, ret);
    machine_index_check(index);
    fresh.memory = NULL;
    policy_stint.decide(&fresh, &plan);
    if (!is_same_plan(ret, &plan))
        fail_msg("seed %u, at %lld ms: the plan is another one without what was kept",
                 (unsigned)swarm.seed, (long long)in->view->now);
}

static void run_seed(uint64_t seed, bool trouble)
{
    struct policy twice = policy_stint;
    struct random_world world;
    struct sim_result result;
    struct error error = { 0 };

    swarm.seed = seed;
    twice.decide = decide_twice;
    random_world_draw(&world, seed);
    if (trouble)
        random_world_trouble(&world, seed);
    if (world.config.policy != &policy_stint)
        policy_defaults(&policy_stint, world.config.option);
    world.config.option[policy_find_option(&policy_stint, "improve")] = 300;
    world.config.option[policy_find_option(&policy_stint, "improve_steps")] = seed % 5 < 2 ? 1 : 25;
    world.config.option[policy_find_option(&policy_stint, "wait_price")] = seed % 3 == 0 ? 50 : 0;
    world.config.policy = &twice;
    world.config.max_steps = STEPS_MAX; /* decisions that never end are an error, too */
    if (simulation_run(&world.config, &result, &error) != 0)
        fail_msg("seed %u: %s", (unsigned)seed, error.text);
    random_world_done(&world);
}

TEST(a_plan_is_the_same_with_and_without_a_memory)
{
    for (uint64_t seed = swarm.first; seed <= swarm.last; seed++)
        run_seed(seed, seed % 2 == 0);
    (void)fprintf(stderr, "%llu decisions, %llu of them with what was kept\n",
                  (unsigned long long)swarm.decisions, (unsigned long long)swarm.kept);
    assert_true(swarm.kept > swarm.decisions / 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { RUN(a_plan_is_the_same_with_and_without_a_memory) };

    if (argc == 3) {
        swarm.first = strtoull(argv[1], NULL, 10);
        swarm.last = strtoull(argv[2], NULL, 10);
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
