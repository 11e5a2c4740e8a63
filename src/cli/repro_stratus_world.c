/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/progress.h"
#include "cli/repro_spot.h"
#include "cli/repro_stratus.h"
#include "trace/csv.h"
#include "trace/input_file.h"

/*
 * The trace. A row is a job of equal tasks; memory is a share of the largest machine.
 */

enum { LARGEST_MIB = 256 * 1024, MEMORY_STEP_MIB = 64, SHARE_DIGITS = 9 };

static const int64_t share_unit = 1000000000;

/* A shape for each amount of CPUs and memory. A checkpoint is all of the memory, at 160 Mbit/s. */
static uint32_t add_shape(struct trace *trace, int64_t milli_cpu, int64_t mib)
{
    const struct shape_demand demand = { FAMILY_NONE, { { milli_cpu, mib, 0 } } };
    char name[64];
    const struct shape_spec spec = {
        .name = name,
        .workload = "task",
        .delays = { .upload_ms = mib * 1024 * 1024 * 8 / 160000 },
        .demands = &demand,
        .demand_count = 1,
    };

    (void)snprintf(name, sizeof(name), "%lldm-%lldMi", (long long)milli_cpu, (long long)mib);
    return shapes_add(&trace->shapes, &spec);
}

static int add_job(struct trace *trace, const struct csv *csv, struct error *reterr)
{
    int64_t arrival = 0;
    int64_t work = 0;
    int64_t cpu = 0;
    int64_t share = 0;
    int64_t tasks = 0;
    int rc = repro_get_number(csv, "submit_time", 3, 0, LIMIT_TIME_MS, &arrival, reterr);

    if (rc == 0)
        rc = repro_get_number(csv, "duration", 3, 0, LIMIT_TIME_MS, &work, reterr);
    if (rc == 0)
        rc = repro_get_number(csv, "cpu", 3, 1, 64000, &cpu, reterr);
    if (rc == 0)
        rc = repro_get_number(csv, "memory", SHARE_DIGITS, 0, share_unit, &share, reterr);
    if (rc == 0)
        rc = repro_get_number(csv, "instances_num", 0, 1, LIMIT_TASKS - trace->task_total, &tasks,
                              reterr);
    if (rc != 0)
        return rc;

    const int64_t steps = LARGEST_MIB / MEMORY_STEP_MIB;
    const int64_t mib = (share * steps + share_unit / 2) / share_unit * MEMORY_STEP_MIB;
    const struct trace_job job = {
        .id = trace->job_count,
        .name = names_add(&trace->names, "", 0),
        .user = names_add(&trace->users, "", 0),
        .shape = add_shape(trace, cpu, mib),
        .task_count = (uint32_t)tasks,
        .arrival_ms = arrival,
        .work_ms = work,
        .estimate_ms = -1,
    };

    trace_add_job(trace, &job);
    return 0;
}

static int read_rows(struct trace *trace, const struct input_file *file, struct error *reterr)
{
    struct csv csv;
    int rc = csv_open(&csv, file->text, file->length, reterr);

    if (rc != 0)
        return rc;
    while ((rc = csv_next(&csv, reterr)) == 1) {
        rc = add_job(trace, &csv, reterr);
        if (rc != 0)
            break;
    }
    csv_close(&csv);
    return rc;
}

/* So many jobs, taken from all of the trace at equal distances; 0: all. */
static void keep_spread(struct trace *trace, uint32_t jobs)
{
    const uint64_t all = trace->job_count;

    if (jobs == 0 || jobs >= all)
        return;
    trace->task_total = 0;
    for (uint32_t i = 0; i < jobs; i++) {
        trace->jobs[i] = trace->jobs[i * all / jobs];
        trace->task_total += trace->jobs[i].task_count;
    }
    trace->job_count = jobs;
}

static int read_trace(struct trace *trace, uint32_t jobs, bool is_spread, struct error *reterr)
{
    static const char *const name = "alibaba-batch-2017/jobs.csv.zst";
    struct input_file file = { 0 };
    int rc = repro_read_data(name, &file, reterr);

    if (rc != 0)
        return rc;
    rc = read_rows(trace, &file, reterr);
    input_file_done(&file);
    if (rc != 0)
        return error_prefix(reterr, rc, name);
    trace_sort(trace);
    if (is_spread)
        keep_spread(trace, jobs);
    else
        trace_keep_first(trace, jobs);
    return 0;
}

/*
 * The machines: the m4 family, on demand or at spot prices; or what there are prices of in 2015.
 */

static const struct {
    const char *name;
    int64_t cpus;
} m4[] = {
    { "m4.large", 2 },    { "m4.xlarge", 4 },    { "m4.2xlarge", 8 },
    { "m4.4xlarge", 16 }, { "m4.10xlarge", 40 }, { "m4.16xlarge", 64 },
};

enum { TYPES = sizeof(m4) / sizeof(m4[0]), MICRO_PER_CPU_HOUR = 50000 };

static const int64_t window_s = 24 * (int64_t)3600;
static const struct billing_rule to_the_millisecond = { .step_ms = 1 };

static void add_types(struct catalogue *catalogue, int64_t billed_boot_s)
{
    for (uint32_t i = 0; i < TYPES; i++) {
        const struct machine_type type = {
            .capacity = { { m4[i].cpus * 1000, m4[i].cpus * 4 * 1024, 0 } },
            .acquire_ms = (STRATUS_BOOT_S - billed_boot_s) * MSEC_PER_SEC,
            .setup_ms = billed_boot_s * MSEC_PER_SEC,
        };

        (void)catalogue_add_type(catalogue, m4[i].name, "m4", &type);
    }
}

static void add_on_demand(struct catalogue *catalogue)
{
    for (uint32_t i = 0; i < TYPES; i++) {
        const struct price_change change = { 0, m4[i].cpus * MICRO_PER_CPU_HOUR };
        const struct offer offer = { .type = i,
                                     .billing = to_the_millisecond,
                                     .price = { &change, 1 } };

        (void)catalogue_add_offer(catalogue, NULL, &offer);
    }
}

/* Of 2015, the same in all zones. */
static const struct {
    const char *name;
    const char *family;
    int64_t cpus;
    int64_t mib;
    money_t on_demand;
} types_2015[] = {
    { "m3.medium", "m3", 1, 3840, 70000 },       { "r3.large", "r3", 2, 15616, 175000 },
    { "c3.xlarge", "c3", 4, 7680, 210000 },      { "g2.2xlarge", "g2", 8, 15360, 650000 },
    { "d2.8xlarge", "d2", 36, 249856, 5520000 },
};

/* Each also on demand: its price is what is bid for spot machines of the type. */
static void add_2015(struct catalogue *catalogue, int64_t billed_boot_s)
{
    for (uint32_t i = 0; i < sizeof(types_2015) / sizeof(types_2015[0]); i++) {
        const struct machine_type type = {
            .capacity = { { types_2015[i].cpus * 1000, types_2015[i].mib, 0 } },
            .acquire_ms = (STRATUS_BOOT_S - billed_boot_s) * MSEC_PER_SEC,
            .setup_ms = billed_boot_s * MSEC_PER_SEC,
        };
        const struct price_change change = { 0, types_2015[i].on_demand };
        const struct offer offer = { .type = i,
                                     .billing = to_the_millisecond,
                                     .price = { &change, 1 } };

        (void)catalogue_add_type(catalogue, types_2015[i].name, types_2015[i].family, &type);
        (void)catalogue_add_offer(catalogue, NULL, &offer);
    }
}

/* Who bids the price on demand loses a machine when the spot price rises above it, two minutes after a notice. */
static const struct sim_faults taken_by_price = {
    .market = { .bid_ppm = 1000000 },
    .notice_ppm = 1000000,
    .notice_ms = 120 * MSEC_PER_SEC,
};

static int add_spot(struct catalogue *catalogue, const struct stratus_setting *setting,
                    struct error *reterr)
{
    const struct repro_spot spot = { .from = setting->spot_from,
                                     .is_2015 = setting->is_2015,
                                     .window_s = window_s,
                                     .billing = to_the_millisecond };

    return repro_spot_add(catalogue, &spot, reterr);
}

int stratus_world_load(struct stratus_world *world, const struct stratus_setting *setting,
                       struct error *reterr)
{
    int rc = 0;

    catalogue_init(&world->catalogue);
    trace_init(&world->trace);
    world->by_events = setting->by_events;
    world->is_learned = setting->is_learned;
    world->faults = setting->is_2015 ? taken_by_price : (struct sim_faults){ 0 };
    if (setting->is_2015)
        add_2015(&world->catalogue, setting->billed_boot_s);
    else
        add_types(&world->catalogue, setting->billed_boot_s);
    if (setting->spot_from > 0)
        rc = add_spot(&world->catalogue, setting, reterr);
    else
        add_on_demand(&world->catalogue);
    if (rc == 0)
        rc = read_trace(&world->trace, setting->jobs, setting->is_2015, reterr);
    if (rc != 0)
        stratus_world_done(world);
    return rc;
}

void stratus_world_done(struct stratus_world *world)
{
    trace_done(&world->trace);
    catalogue_done(&world->catalogue);
}

/*
 * Running.
 */

struct watch {
    struct progress progress;
    const struct stratus_world *world;
    double *latency; /* per job, against the runtime of its tasks */
    uint32_t done;
    double rented_mib_ms;
};

static void on_progress(void *context, uint32_t done, uint32_t total)
{
    progress_step(&((struct watch *)context)->progress, done, total);
}

static void on_billed(void *context, uint32_t offer, msec_t from, msec_t to)
{
    struct watch *watch = context;
    const struct machine_type *type = catalogue_type_of(&watch->world->catalogue, offer);

    watch->rented_mib_ms += (double)type->capacity.amount[RES_MEM] * (double)(to - from);
}

static void on_job_done(void *context, uint32_t job, msec_t jct_ms)
{
    struct watch *watch = context;
    const msec_t work = watch->world->trace.jobs[job].work_ms;

    watch->latency[watch->done++] = (double)jct_ms / (double)(work > 0 ? work : 1);
}

static int compare_real(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

static double work_mib_ms(const struct trace *trace)
{
    double sum = 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];
        const struct shape *shape = &trace->shapes.rows[job->shape];

        sum += (double)trace->shapes.demands[shape->demand_first].res.amount[RES_MEM] *
               (double)job->task_count * (double)job->work_ms;
    }
    return sum;
}

/* Set an option of the policy, if it has one of that name with choices, to the choice of that word. */
static void set_choice(struct sim_config *config, const char *option, const char *word)
{
    const uint32_t index = policy_find_option(config->policy, option);

    if (index == UINT32_MAX || config->policy->options[index].choices == NULL)
        return;
    for (int64_t i = 0; config->policy->options[index].choices[i] != NULL; i++) {
        if (strcmp(config->policy->options[index].choices[i], word) == 0)
            config->option[index] = i;
    }
}

static void measure(const struct stratus_world *world, struct watch *watch, struct stratus_run *ret)
{
    const uint32_t count = watch->done;

    qsort(watch->latency, count, sizeof(*watch->latency), compare_real);
    ret->latency_s = ret->result.jct_hours * 3600;
    ret->latency_p50 = count > 0 ? watch->latency[count / 2] : 0;
    ret->latency_p95 = count > 0 ? watch->latency[(uint64_t)count * 95 / 100] : 0;
    ret->memory_use =
        watch->rented_mib_ms > 0 ? work_mib_ms(&world->trace) / watch->rented_mib_ms : 0;
}

int stratus_world_run(const struct stratus_world *world, const struct stratus_runner *runner,
                      uint64_t seed, struct stratus_run *ret, struct error *reterr)
{
    struct watch watch = { .world = world };
    struct sim_config config = {
        .trace = &world->trace,
        .catalogue = &world->catalogue,
        .policy = runner->policy,
        .round_ms = world->by_events ? 0 : 60 * MSEC_PER_SEC,
        .settle_ms = MSEC_PER_SEC,
        .estimates = world->is_learned ? SIM_ESTIMATES_LEARNED : SIM_ESTIMATES_ORACLE,
        .tick_ms = 1,
        .noise_ppm = runner->noise_ppm,
        .noise_side = runner->noise_side,
        .default_rate = 1,
        .faults = world->faults,
        .seed = seed,
        .on_progress = on_progress,
        .on_billed = on_billed,
        .on_job_done = on_job_done,
        .context = &watch,
    };
    const clock_t began = clock();

    *ret = (struct stratus_run){ 0 };
    policy_defaults(runner->policy, config.option);
    set_choice(&config, "release", "at-once");
    set_choice(&config, "clear", runner->clears ? "checked" : "never");
    watch.latency = mem_alloc(world->trace.job_count, sizeof(*watch.latency));
    progress_start(&watch.progress, runner->label);

    const int rc = simulation_run(&config, &ret->result, reterr);

    progress_end(&watch.progress);
    ret->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    if (rc == 0)
        measure(world, &watch, ret);
    mem_free(watch.latency);
    return rc;
}
