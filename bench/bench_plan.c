/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_plan [TASKS] - how long one decision takes: the plan for so many tasks that all wait at once
 * (1,000,000 if none is given), and the plan for one more job when all those run.
 *
 * Prints a table, and exits with 1 if the large plan takes more than US_PER_TASK_MAX microseconds a
 * task: an allowance for slow machines, not a goal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench_world.h"
#include "cli/report_table.h"

#define US_PER_TASK_MAX 20.0

static const struct policy *const measured[] = { &policy_task_per_instance, &policy_stratus,
                                                 &policy_stint };

/* The decisions of one simulation. A policy has no state, so there is one of these at a time. */
static struct {
    const struct policy *policy;
    double first_seconds; /* all tasks wait */
    double last_seconds;  /* those of the last job wait, all others run */
    uint32_t machines;    /* that the first plan rents */
} timed;

static double processor_seconds(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void decide(const struct policy_input *in, struct plan *ret)
{
    const double before = processor_seconds();
    const uint32_t waiting = in->view->task.waiting_count;

    timed.policy->decide(in, ret);
    if (in->view->now == 0) {
        timed.first_seconds = processor_seconds() - before;
        timed.machines = ret->rent_count;
    } else if (waiting > 0 && in->view->now >= BENCH_LAST_ARRIVAL_MS && timed.last_seconds <= 0) {
        timed.last_seconds = processor_seconds() - before;
    }
}

static int run(const struct bench_spec *spec, struct error *reterr)
{
    struct policy policy = *spec->policy;
    struct bench_world world;
    struct sim_result result;
    int rc = bench_world_init(&world, spec, reterr);

    if (rc != 0)
        return rc;
    timed.policy = spec->policy;
    timed.first_seconds = 0;
    timed.last_seconds = 0;
    policy.decide = decide;
    world.config.policy = &policy;

    /* Each task takes an arrival and four events of its own until it runs; then we know enough. */
    world.config.max_steps = 6 * (uint64_t)spec->task_count;
    rc = simulation_run(&world.config, &result, reterr);
    bench_world_done(&world);
    return rc == -ETIME ? 0 : rc;
}

static void add_row(struct report_table *table, const struct bench_spec *spec)
{
    report_table_add_text(table, spec->policy->name);
    report_table_add_integer(table, spec->task_count);
    report_table_add_integer(table, timed.machines);
    report_table_add_real(table, timed.first_seconds);
    report_table_add_real(table, timed.first_seconds / spec->task_count * 1e6);
    report_table_add_real(table, timed.last_seconds * 1e3);
}

static int measure(uint32_t task_count, struct report_table *table)
{
    int code = 0;

    for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]); i++) {
        const struct bench_spec spec = {
            .policy = measured[i],
            .task_count = task_count,
            .at_once = true,
        };
        struct error error;

        if (run(&spec, &error) != 0) {
            fprintf(stderr, "bench_plan: %s\n", error.text);
            return 1;
        }
        add_row(table, &spec);
        if (timed.first_seconds / task_count * 1e6 > US_PER_TASK_MAX) {
            fprintf(stderr, "bench_plan: %s takes more than %.0f us a task\n", spec.policy->name,
                    US_PER_TASK_MAX);
            code = 1;
        }
    }
    return code;
}

int main(int argc, char **argv)
{
    static const struct report_column columns[] = {
        { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
        { .key = "tasks", .heading = "tasks", .kind = REPORT_INTEGER },
        { .key = "machines", .heading = "machines", .kind = REPORT_INTEGER },
        { .key = "seconds", .heading = "plan for all, s", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "us_per_task", .heading = "us per task", .kind = REPORT_DECIMAL, .digits = 2 },
        { .key = "one_more_ms",
          .heading = "plan for one more, ms",
          .kind = REPORT_DECIMAL,
          .digits = 3 },
    };
    const uint32_t task_count = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;

    if (argc > 2 || task_count < 2) {
        fprintf(stderr, "usage: bench_plan [TASKS], at least 2\n");
        return 2;
    }

    struct report_table *table =
        report_table_create("plan", columns, sizeof(columns) / sizeof(columns[0]));
    const int code = measure(task_count, table);
    const bool written = report_table_write(table, OUTPUT_TABLE, stdout) == 0;

    report_table_destroy(table);
    return written ? code : 1;
}
