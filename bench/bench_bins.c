/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_bins [MACHINES [SHAPES]] - how long it takes to find that there is no room: so many machines (100,000), half of which
 * lack CPUs and half memory, and a task of each of so many shapes (1,000) that waits. Built once, then searched for
 * each of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "decide/runtime_bins.h"

enum { CPUS = 32, GIB = 128, NAME_SIZE = 32 };

static double processor_seconds(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static uint32_t add_shape(struct shapes *shapes, int64_t milli_cpus, int64_t mib)
{
    const struct shape_demand demand = { FAMILY_NONE, { { milli_cpus, mib, 0 } } };
    char name[NAME_SIZE];
    const struct shape_spec spec = {
        .name = name, .workload = "bench", .demands = &demand, .demand_count = 1
    };

    (void)snprintf(name, sizeof(name), "shape%u", shapes->count);
    return shapes_add(shapes, &spec);
}

static uint32_t add_task(struct view *view, uint32_t shape, uint64_t id, msec_t estimate)
{
    const struct job_spec job = {
        .id = id, .first_task_id = id, .shape = shape, .task_count = 1, .estimate_ms = estimate
    };

    (void)view_add_job(view, &job);
    return view_find_task(view, id);
}

/* Each machine runs one task, for between a minute and a day, which leaves little of one kind. */
static void fill(struct view *view, uint32_t machines, const uint32_t *wide)
{
    for (uint32_t i = 0; i < machines; i++) {
        const uint32_t instance = view_add_instance(view, i + 1, 0);
        const msec_t runtime = (1 + (msec_t)i * 7919 % 1440) * 60 * MSEC_PER_SEC;

        view_set_state(view, instance, INSTANCE_READY);
        view_bind(view, add_task(view, wide[i % 2], i + 1, runtime), instance);
    }
}

int main(int argc, char **argv)
{
    const uint32_t machines = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
    const uint32_t count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
    const struct machine_type type = { .capacity = { { CPUS * 1000, GIB * 1024, 0 } } };
    const struct price_change price = { 0, MONEY_PER_USD };
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    struct arena arena;
    struct runtime_bins bins;
    uint32_t found = 0;

    catalogue_init(&catalogue);
    shapes_init(&shapes);
    arena_init(&arena);

    const struct offer offer = { .type = catalogue_add_type(&catalogue, "type", "family", &type),
                                 .billing = BILLING_PER_SECOND,
                                 .price = { &price, 1 } };
    const uint32_t wide[] = { add_shape(&shapes, CPUS * 1000 - 500, 1024),
                              add_shape(&shapes, 1000, GIB * 1024 - 512) };

    (void)catalogue_add_offer(&catalogue, NULL, &offer);
    view_init(&view, &catalogue, &shapes);
    fill(&view, machines, wide);

    uint32_t *tasks = ARENA_ARRAY(&arena, uint32_t, count);

    for (uint32_t i = 0; i < count; i++)
        tasks[i] = add_task(&view, add_shape(&shapes, 1000 + i, 2048 + (int64_t)i * 7),
                            machines + 1 + (uint64_t)i, (1 + (msec_t)i) * 60 * MSEC_PER_SEC);

    const double began = processor_seconds();

    runtime_bins_build(&bins, &view, RUNTIME_REMAINING, &arena);

    const double built = processor_seconds();

    for (uint32_t i = 0; i < count; i++) {
        enum plan_reason_code why;

        found += runtime_bins_find(&bins, tasks[i], &why) != ROW_NONE;
    }
    printf("%u machines, %u shapes: built in %.1f ms, searched in %.2f ms, %u found\n", machines,
           count, (built - began) * 1e3, (processor_seconds() - built) * 1e3, found);
    arena_done(&arena);
    view_done(&view);
    shapes_done(&shapes);
    catalogue_done(&catalogue);
    return found == 0 ? 0 : 1;
}
