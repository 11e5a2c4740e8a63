/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_scale [TASKS...] - what time and memory cost as the number of tasks grows.
 *
 * Simulates bench_world.h for each policy below and each number of tasks (10,000, 100,000 and
 * 1,000,000 if none is given), prints a table, and exits with 1 if a limit is broken:
 *
 *   1. time grows no worse than n log n: time / (n log2 n) is at most GROWTH_MAX times what it is
 *      for the smallest number. The allowance is for caches, which hold everything for the smallest
 *      number and little for the largest, and for neighbours who use them too. tests/bench.sh holds
 *      the growth of instructions, which know neither, to a closer limit.
 *   2. memory stays below BYTES_PER_TASK_MAX, where there are enough tasks to outweigh the rest.
 *
 * Each run is a process of its own, so that its memory is its own too. All sizes take turns, short
 * runs are repeated, and of each size the fastest counts: the one that was least disturbed.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_world.h"
#include "cli/report_table.h"

enum { SIZES_MAX = 8, TURNS = 2, REPEATS_MAX = 10, BYTES_PER_TASK_MAX = 1024, MANY_TASKS = 100000 };

#define GROWTH_MAX 6.0

static const struct policy *const measured[] = { &policy_task_per_instance, &policy_stratus };

/* What one run came to. */
struct outcome {
    double seconds;
    double bytes; /* at the most, above what an empty process has */
    uint32_t instances_peak;
};

static void note_instances(void *context, const struct view *view, const struct plan *plan)
{
    uint32_t *peak = context;
    const uint32_t now = view->instance.living + plan->rent_count;

    if (now > *peak)
        *peak = now;
}

static double processor_seconds(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double resident_bytes_peak(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static int run_here(const struct bench_spec *spec, struct outcome *ret, struct error *reterr)
{
    const double bytes_before = resident_bytes_peak();
    const uint32_t fair = 500000 / spec->task_count;
    const uint32_t repeats = fair < 1 ? 1 : fair > REPEATS_MAX ? REPEATS_MAX : fair;
    struct outcome outcome = { .seconds = HUGE_VAL };
    struct bench_world world;
    int rc = bench_world_init(&world, spec, reterr);

    if (rc != 0)
        return rc;
    world.config.on_plan = note_instances;
    world.config.context = &outcome.instances_peak;
    for (uint32_t i = 0; i < repeats && rc == 0; i++) {
        const double before = processor_seconds();
        struct sim_result result;

        rc = bench_world_run(&world, &result, reterr);
        outcome.seconds = fmin(outcome.seconds, processor_seconds() - before);
    }
    outcome.bytes = resident_bytes_peak() - bytes_before;
    bench_world_done(&world);
    *ret = outcome;
    return rc;
}

/* In the child: run, and send what it came to. Never returns. */
static void run_child(const struct bench_spec *spec, int out)
{
    struct outcome outcome;
    struct error error;

    if (run_here(spec, &outcome, &error) != 0) {
        fprintf(stderr, "bench_scale: %s\n", error.text);
        _exit(1);
    }
    _exit(write(out, &outcome, sizeof(outcome)) == (ssize_t)sizeof(outcome) ? 0 : 1);
}

static int run_apart(const struct bench_spec *spec, struct outcome *ret)
{
    int ends[2];
    int status = 1;

    if (pipe(ends) != 0)
        return -errno;

    const pid_t child = fork();

    if (child == 0)
        run_child(spec, ends[1]);
    (void)close(ends[1]);

    const bool heard = child > 0 && read(ends[0], ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);

    (void)close(ends[0]);
    if (child > 0)
        (void)waitpid(child, &status, 0);
    return heard && status == 0 ? 0 : -EIO;
}

static struct report_table *create_table(void)
{
    static const struct report_column columns[] = {
        { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
        { .key = "tasks", .heading = "tasks", .kind = REPORT_INTEGER },
        { .key = "peak_instances", .heading = "peak instances", .kind = REPORT_INTEGER },
        { .key = "seconds", .heading = "processor s", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "us_per_task", .heading = "us per task", .kind = REPORT_DECIMAL, .digits = 2 },
        { .key = "growth", .heading = "time/(n log n)", .kind = REPORT_DECIMAL, .digits = 2 },
        { .key = "peak_mib", .heading = "peak MiB", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "bytes_per_task", .heading = "bytes per task", .kind = REPORT_INTEGER },
    };

    return report_table_create("scale", columns, sizeof(columns) / sizeof(columns[0]));
}

static void add_row(struct report_table *table, const struct bench_spec *spec,
                    const struct outcome *outcome, double growth)
{
    const double tasks = (double)spec->task_count;

    report_table_add_text(table, spec->policy->name);
    report_table_add_integer(table, spec->task_count);
    report_table_add_integer(table, outcome->instances_peak);
    report_table_add_real(table, outcome->seconds);
    report_table_add_real(table, outcome->seconds / tasks * 1e6);
    report_table_add_real(table, growth);
    report_table_add_real(table, outcome->bytes / 1024 / 1024);
    report_table_add_integer(table, (int64_t)(outcome->bytes / tasks));
}

/* Whether both limits hold; says on standard error what does not. */
static bool within_limits(const struct bench_spec *spec, const struct outcome *outcome,
                          double growth)
{
    const double bytes = outcome->bytes / spec->task_count;
    bool good = true;

    if (growth > GROWTH_MAX) {
        fprintf(stderr,
                "bench_scale: %s, %u tasks: time/(n log n) is %.2f times that of the smallest "
                "number of tasks; the limit is %.2f\n",
                spec->policy->name, spec->task_count, growth, GROWTH_MAX);
        good = false;
    }
    if (spec->task_count >= MANY_TASKS && bytes >= BYTES_PER_TASK_MAX) {
        fprintf(stderr, "bench_scale: %s, %u tasks: %.0f bytes a task; the limit is %d\n",
                spec->policy->name, spec->task_count, bytes, BYTES_PER_TASK_MAX);
        good = false;
    }
    return good;
}

/* Of each size the fastest run of all turns. */
static int run_all(const struct policy *policy, const uint32_t *sizes, uint32_t count,
                   struct outcome *ret)
{
    for (uint32_t i = 0; i < count * TURNS; i++) {
        const struct bench_spec spec = { .policy = policy, .task_count = sizes[i % count] };
        struct outcome outcome = { 0 };

        if (run_apart(&spec, &outcome) != 0)
            return -EIO;
        if (i < count || outcome.seconds < ret[i % count].seconds)
            ret[i % count] = outcome;
    }
    return 0;
}

/* An exit status. */
static int measure(const uint32_t *sizes, uint32_t count, struct report_table *table)
{
    struct outcome outcomes[SIZES_MAX];
    int code = 0;

    for (size_t p = 0; p < sizeof(measured) / sizeof(measured[0]); p++) {
        double smallest = 0;

        if (run_all(measured[p], sizes, count, outcomes) != 0)
            return 1;
        for (uint32_t i = 0; i < count; i++) {
            const struct bench_spec spec = { .policy = measured[p], .task_count = sizes[i] };
            const double each = outcomes[i].seconds / (sizes[i] * log2(sizes[i]));

            if (i == 0)
                smallest = each;
            add_row(table, &spec, &outcomes[i], each / smallest);
            if (!within_limits(&spec, &outcomes[i], each / smallest))
                code = 1;
        }
    }
    return code;
}

int main(int argc, char **argv)
{
    uint32_t sizes[SIZES_MAX] = { 10000, 100000, 1000000 };
    const uint32_t count = argc > 1 ? (uint32_t)argc - 1 : 3;

    for (uint32_t i = 0; i < count && i < SIZES_MAX && argc > 1; i++)
        sizes[i] = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    for (uint32_t i = 0; i < count; i++) {
        if (count > SIZES_MAX || sizes[i] < 2) {
            fprintf(stderr, "usage: bench_scale [TASKS...], up to %d, each at least 2\n",
                    SIZES_MAX);
            return 2;
        }
    }

    struct report_table *table = create_table();
    const int code = measure(sizes, count, table);
    const bool written = report_table_write(table, OUTPUT_TABLE, stdout) == 0;

    report_table_destroy(table);
    return written ? code : 1;
}
