/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_world.h"

#include <errno.h>
#include <stdio.h>

#include "trace/synthetic.h"

enum { SIZES = 5, CPU_SHAPES = 18, ACCEL_SHAPES = 12, SHAPES = CPU_SHAPES + ACCEL_SHAPES };
enum { GANG_PPM = 30000, GANG_TASKS_MAX = 16 };

#define HORIZON_MS  (60 * MSEC_PER_HOUR)
#define ROUND_MS    (300 * MSEC_PER_SEC)
#define WORK_MIN_MS (600 * MSEC_PER_SEC)
#define WORK_MAX_MS (8 * MSEC_PER_HOUR)

/* Machines of one family differ by size only, and cost in proportion but for a small surcharge on
 * the larger ones, so that neither the smallest nor the largest is always right. */
struct family {
    const char *name;
    int64_t cpu; /* of the smallest, in cores */
    int64_t gib;
    int64_t accel;
    int64_t sizes[SIZES]; /* times the smallest */
    money_t price;        /* per hour, of the smallest */
};

static const struct family families[] = {
    { "general", 2, 8, 0, { 1, 2, 4, 16, 48 }, 100000 },
    { "compute", 2, 4, 0, { 1, 2, 4, 16, 48 }, 85000 },
    { "accel", 8, 64, 1, { 1, 2, 4, 6, 8 }, 1000000 },
};

enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

static void add_type(struct catalogue *catalogue, const struct family *family, int size)
{
    const int64_t times = family->sizes[size];
    const struct machine_type type = {
        .capacity = { { family->cpu * times * 1000, family->gib * times * 1024,
                        family->accel * times * 1000 } },
        .acquire_ms = 30 * MSEC_PER_SEC,
        .setup_ms = 90 * MSEC_PER_SEC,
        .release_ms = 5 * MSEC_PER_SEC,
    };
    const struct price_change price = { .per_hour = family->price * times * (100 + size) / 100 };
    char name[32];

    (void)snprintf(name, sizeof(name), "%s.%d", family->name, (int)times);

    const struct offer offer = {
        .type = catalogue_add_type(catalogue, name, family->name, &type),
        .market = MARKET_ON_DEMAND,
        .billing = BILLING_PER_SECOND,
        .price = { .changes = &price, .count = 1 },
    };

    (void)catalogue_add_offer(catalogue, NULL, &offer);
}

static void fill_catalogue(struct catalogue *catalogue)
{
    catalogue_init(catalogue);
    for (int i = 0; i < FAMILIES; i++) {
        for (int size = 0; size < SIZES; size++)
            add_type(catalogue, &families[i], size);
    }
}

/* What makes up the thirty shapes; their texts and demands must outlive synthetic_draw. */
struct mix {
    struct synthetic_shape shapes[SHAPES];
    struct shape_demand demands[SHAPES];
    char names[SHAPES][24];
    char workloads[SHAPES][24];
};

static void add_shape(struct mix *mix, int i, struct res res, uint32_t weight)
{
    (void)snprintf(mix->names[i], sizeof(mix->names[i]), "shape-%d", i);
    (void)snprintf(mix->workloads[i], sizeof(mix->workloads[i]), "workload-%d", i / 3);
    mix->demands[i] = (struct shape_demand){ .family = FAMILY_NONE, .res = res };
    mix->shapes[i] = (struct synthetic_shape){
        .spec = { .name = mix->names[i],
                  .workload = mix->workloads[i],
                  .delays = { .fetch_ms = 5 * MSEC_PER_SEC,
                              .build_ms = 20 * MSEC_PER_SEC,
                              .init_ms = 10 * MSEC_PER_SEC,
                              .kill_ms = 1 * MSEC_PER_SEC,
                              .upload_ms = 5 * MSEC_PER_SEC },
                  .demands = &mix->demands[i],
                  .demand_count = 1 },
        .weight = weight,
    };
}

static void fill_mix(struct mix *mix)
{
    static const int64_t cores[] = { 500, 1000, 2000, 4000, 8000, 16000 };
    static const int64_t mib_per_core[] = { 1024, 3072, 6144 };
    static const int64_t accels[] = { 500, 1000, 2000, 4000 };
    static const int64_t cores_per_accel[] = { 2000, 4000, 8000 };
    int i = 0;

    for (int c = 0; c < 6; c++) {
        for (int m = 0; m < 3; m++)
            add_shape(mix, i++, (struct res){ { cores[c], mib_per_core[m] * cores[c] / 1000, 0 } },
                      (uint32_t)(12 - 2 * c));
    }
    for (int a = 0; a < 4; a++) {
        for (int c = 0; c < 3; c++) {
            const int64_t cpu = cores_per_accel[c] * accels[a] / 1000;

            add_shape(mix, i++, (struct res){ { cpu, cpu * 4096 / 1000, accels[a] } },
                      (uint32_t)(5 - a) / 2 + 1);
        }
    }
}

int bench_world_init(struct bench_world *world, const struct bench_spec *spec, struct error *reterr)
{
    const uint32_t gang_max = spec->gang_tasks_max > 0 ? spec->gang_tasks_max : GANG_TASKS_MAX;
    struct mix mix;
    const struct synthetic_spec draw = {
        .seed = 1,
        .task_count = spec->task_count,
        .horizon_ms = spec->at_once ? 1 : HORIZON_MS,
        .work_min_ms = WORK_MIN_MS,
        .work_max_ms = WORK_MAX_MS,
        .gang_ppm = GANG_PPM * GANG_TASKS_MAX / gang_max,
        .gang_tasks_max = gang_max,
        .user_count = 100,
        .mix = mix.shapes,
        .mix_count = SHAPES,
    };

    *world = (struct bench_world){ 0 };
    fill_mix(&mix);

    const int rc = synthetic_draw(&draw, &world->trace, reterr);

    if (rc != 0)
        return rc;
    if (spec->at_once)
        world->trace.jobs[world->trace.job_count - 1].arrival_ms = BENCH_LAST_ARRIVAL_MS;
    fill_catalogue(&world->catalogue);
    world->config = (struct sim_config){
        .trace = &world->trace,
        .catalogue = &world->catalogue,
        .policy = spec->policy,
        .round_ms = ROUND_MS,
        .tick_ms = MSEC_PER_SEC,
        .estimates = SIM_ESTIMATES_ORACLE,
        .default_rate = 0.95,
        .seed = 1,
    };
    policy_defaults(spec->policy, world->config.option);
    if (spec->pair_rate > 0) {
        contention_init_uniform(&world->contention, world->trace.shapes.workloads.count,
                                spec->pair_rate);
        world->config.contention = &world->contention;
    }
    return 0;
}

void bench_world_done(struct bench_world *world)
{
    if (world->config.contention != NULL)
        contention_done(&world->contention);
    catalogue_done(&world->catalogue);
    trace_done(&world->trace);
}

int bench_world_run(const struct bench_world *world, struct sim_result *ret, struct error *reterr)
{
    struct sim_result result;
    const int rc = simulation_run(&world->config, &result, reterr);

    if (rc != 0)
        return rc;
    if (result.completions != world->trace.task_total || result.left_running != 0 ||
        !result.ledger_agrees)
        return error_set(reterr, -EIO,
                         "%s: of %u tasks %u completed, %u machines are left, and "
                         "the books %s",
                         world->config.policy->name, world->trace.task_total,
                         (uint32_t)result.completions, (uint32_t)result.left_running,
                         result.ledger_agrees ? "agree" : "do not agree");
    *ret = result;
    return 0;
}
