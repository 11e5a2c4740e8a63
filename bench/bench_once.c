/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_once POLICY TASKS [PAIR_RATE [GANG_TASKS_MAX]] - one simulation and nothing else, for who
 * counts its instructions from outside (tests/bench.sh) or wants to see where the time goes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench_world.h"

static int run(const struct bench_spec *spec)
{
    struct bench_world world;
    struct sim_result result;
    struct error error;

    if (bench_world_init(&world, spec, &error) != 0) {
        fprintf(stderr, "bench_once: %s\n", error.text);
        return 1;
    }

    const clock_t before = clock();
    const int rc = bench_world_run(&world, &result, &error);
    const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;

    if (rc != 0)
        fprintf(stderr, "bench_once: %s\n", error.text);
    else
        printf("%s: %u tasks, %u instances rented, $%.6f, %.3f s\n", spec->policy->name,
               spec->task_count, (uint32_t)result.stats.rented,
               (double)result.cost / (double)MONEY_PER_USD, seconds);
    bench_world_done(&world);
    return rc != 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct bench_spec spec = { 0 };

    if (argc >= 3 && argc <= 5) {
        spec.policy = policy_find(argv[1]);
        spec.task_count = (uint32_t)strtoul(argv[2], NULL, 10);
        spec.pair_rate = argc > 3 ? strtod(argv[3], NULL) : 0;
        spec.gang_tasks_max = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
    }
    if (spec.policy == NULL || spec.task_count == 0) {
        fprintf(stderr, "usage: bench_once POLICY TASKS [PAIR_RATE [GANG_TASKS_MAX]]\n");
        return 2;
    }
    return run(&spec);
}
