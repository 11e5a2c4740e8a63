/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/rng.h"
#include "cli/progress.h"
#include "cli/repro_eva.h"
#include "trace/catalogue_file.h"
#include "trace/doc.h"
#include "trace/input_file.h"
#include "trace/jobs_csv.h"
#include "trace/matrix_csv.h"

#define UNMEASURED_RATE 0.95 /* of pairs that the matrix has no number for, and of unseen pairs */

static int read_catalogue(struct catalogue *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = repro_read_data("eva/ec2_config_virt.json", &file, reterr);

    if (rc == 0)
        rc = catalogue_file_read(file.text, file.length, ret, reterr);
    input_file_done(&file);
    return rc;
}

static int read_trace(const struct catalogue *catalogue, struct trace *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = repro_read_data("eva/pai_full.csv", &file, reterr);

    if (rc == 0)
        rc = jobs_csv_read(file.text, file.length, &catalogue->families, ret, reterr);
    input_file_done(&file);
    return rc;
}

/*
 * A job of the artifact is a whole number of iterations: what does not make a full one is lost. The
 * rates are in the workload catalogue.
 */
static double iterations_per_second(const struct doc_node *workloads, const char *name)
{
    const struct doc_node *workload = doc_find(workloads, name);
    const struct doc_node *tasks = workload != NULL ? doc_find(workload, "tasks") : NULL;
    const struct doc_node *rate =
        tasks != NULL && tasks->first != NULL ? doc_find(tasks->first, "full_throughput") : NULL;

    return rate != NULL && rate->text != NULL ? strtod(rate->text, NULL) : 0;
}

static void cut_to_iterations(struct trace *trace, const struct doc_node *workloads)
{
    for (uint32_t i = 0; i < trace->job_count; i++) {
        struct trace_job *job = &trace->jobs[i];
        const struct shape *shape = &trace->shapes.rows[job->shape];
        const double rate =
            iterations_per_second(workloads, names_text(&trace->shapes.workloads, shape->workload));

        if (rate <= 0)
            continue;

        const double iterations = floor((double)job->work_ms / (double)MSEC_PER_SEC * rate);

        /* A little less than the quotient, so that 12430.0000000001 s are 12430. */
        job->work_ms = (msec_t)ceil(iterations / rate * (double)MSEC_PER_SEC - 1e-6);
    }
}

static int read_iterations(struct trace *trace, struct error *reterr)
{
    struct input_file file = { 0 };
    const struct doc_node *workloads = NULL;
    struct arena arena;
    int rc = repro_read_data("eva/workload_catalog.json", &file, reterr);

    arena_init(&arena);
    if (rc == 0)
        rc = doc_parse(file.text, file.length, &arena, &workloads, reterr);
    if (rc == 0)
        cut_to_iterations(trace, workloads);
    arena_done(&arena);
    input_file_done(&file);
    return rc;
}

/* The order of names in which the artifact's generator may have listed groups of three and more;
 * "order A" of docs/research/eva.md. */
static const char *const order_a[] = { "gpt2", "a3c", "resnet18", "cyclegan", "sage",
                                       "seq",  "vit", "openfoam", "gcn",      NULL };

/* The workloads of which its table has groups of up to 25. */
static const char *const in_large_groups[] = { "gcn", "a3c", "openfoam", "seq", NULL };

static void drift(struct contention *contention, const struct eva_variation *variation)
{
    struct rng rng;

    rng_init(&rng, variation->seed, 15);
    contention_drift(contention, llround(variation->drift_days * 24) * MSEC_PER_HOUR, &rng);
}

static int read_contention(struct eva_world *world, const struct eva_variation *variation,
                           struct error *reterr)
{
    struct input_file file = { 0 };
    struct colocation_matrix matrix;
    const struct names *workloads = &world->trace.shapes.workloads;
    int rc;

    if (variation->pair_rate > 0) {
        contention_init_uniform(&world->contention, workloads->count, variation->pair_rate);
        return 0;
    }
    rc = repro_read_data("eva/contention_matrix.csv", &file, reterr);
    if (rc == 0)
        rc = matrix_csv_read(file.text, file.length, UNMEASURED_RATE, &matrix, reterr);
    input_file_done(&file);
    if (rc != 0)
        return rc;
    contention_init_matrix(&world->contention, workloads, &matrix, UNMEASURED_RATE);
    if (variation->permuted)
        contention_permute(&world->contention, workloads, &matrix, order_a, in_large_groups);
    else if (variation->drift_days > 0)
        drift(&world->contention, variation);
    colocation_matrix_done(&matrix);
    return 0;
}

/*
 * How the figures vary the trace.
 */

static void scale_delays(struct trace *trace, double factor)
{
    for (uint32_t i = 0; i < trace->shapes.count; i++) {
        struct shape_delays *delays = &trace->shapes.rows[i].delays;

        delays->fetch_ms = llround((double)delays->fetch_ms * factor / 1000) * MSEC_PER_SEC;
        delays->build_ms = llround((double)delays->build_ms * factor / 1000) * MSEC_PER_SEC;
        delays->init_ms = llround((double)delays->init_ms * factor / 1000) * MSEC_PER_SEC;
        delays->upload_ms = llround((double)delays->upload_ms * factor / 1000) * MSEC_PER_SEC;
    }
}

static void scale_arrivals(struct trace *trace, double factor)
{
    for (uint32_t i = 0; i < trace->job_count; i++)
        trace->jobs[i].arrival_ms =
            llround((double)trace->jobs[i].arrival_ms / factor / 1000) * MSEC_PER_SEC;
}

/* A shape like 'shape' that needs 'gpus' accelerators, and as many times the CPUs and memory, up to
 * what a P3 machine has for each accelerator. */
static uint32_t widen(struct trace *trace, uint32_t shape, int64_t gpus)
{
    enum { CPU_PER_GPU = 8000, MIB_PER_GPU = 61 * 1024 };
    const struct shape like = trace->shapes.rows[shape];
    struct shape_demand demand = trace->shapes.demands[like.demand_first];
    char name[LIMIT_NAME];
    char workload[LIMIT_NAME];
    int64_t *amount = demand.res.amount;

    (void)snprintf(name, sizeof(name), "%s*%d", names_text(&trace->shapes.names, like.name),
                   (int)gpus);
    (void)snprintf(workload, sizeof(workload), "%s",
                   names_text(&trace->shapes.workloads, like.workload));
    amount[RES_ACCEL] = gpus * 1000;
    amount[RES_CPU] =
        gpus * (amount[RES_CPU] < CPU_PER_GPU ? amount[RES_CPU] : (int64_t)CPU_PER_GPU);
    amount[RES_MEM] =
        gpus * (amount[RES_MEM] < MIB_PER_GPU ? amount[RES_MEM] : (int64_t)MIB_PER_GPU);
    return shapes_add(&trace->shapes, &(struct shape_spec){ .name = name,
                                                            .workload = workload,
                                                            .delays = like.delays,
                                                            .demands = &demand,
                                                            .demand_count = 1 });
}

/* So that 'share' of all jobs need several accelerators, the rest of the accelerated ones one. */
static void draw_multi_gpu(struct trace *trace, double share, struct rng *rng)
{
    uint32_t accelerated = 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct shape *shape = &trace->shapes.rows[trace->jobs[i].shape];

        accelerated += trace->shapes.demands[shape->demand_first].res.amount[RES_ACCEL] > 0;
    }

    const double chance =
        accelerated > 0 ? share * (double)trace->job_count / (double)accelerated : 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct shape *shape = &trace->shapes.rows[trace->jobs[i].shape];
        const bool chosen = rng_unit(rng) < chance;
        const uint64_t which = rng_below(rng, 10);

        if (trace->shapes.demands[shape->demand_first].res.amount[RES_ACCEL] > 0 && chosen)
            trace->jobs[i].shape =
                widen(trace, trace->jobs[i].shape, which < 5 ? 2 : (which < 9 ? 4 : 8));
    }
}

static void draw_multi_task(struct trace *trace, double share, struct rng *rng)
{
    trace->task_total = 0;
    for (uint32_t i = 0; i < trace->job_count; i++) {
        const bool chosen = rng_unit(rng) < share;
        const uint64_t which = rng_below(rng, 2);

        if (chosen) {
            trace->jobs[i].task_count = which == 0 ? 2 : 4;
            trace->jobs[i].gang = true;
        }
        trace->task_total += trace->jobs[i].task_count;
    }
}

/* The first or the second half of the jobs; they arrive from the beginning on. */
static void keep_half(struct trace *trace, uint32_t half)
{
    const uint32_t first = trace->job_count / 2;

    if (half == 1 || first == 0) {
        trace_keep_first(trace, first);
        return;
    }

    const msec_t begin = trace->jobs[first].arrival_ms;

    trace->task_total = 0;
    for (uint32_t i = first; i < trace->job_count; i++) {
        struct trace_job *job = &trace->jobs[i - first];

        *job = trace->jobs[i];
        job->arrival_ms -= begin;
        trace->task_total += job->task_count;
    }
    trace->job_count -= first;
}

static void redraw(struct trace *trace, struct rng *rng)
{
    for (uint32_t i = trace->job_count; i > 1; i--) {
        struct trace_job *a = &trace->jobs[i - 1];
        struct trace_job *b = &trace->jobs[rng_below(rng, i)];
        const struct trace_job kept = *a;

        *a = *b;
        *b = kept;
        b->arrival_ms = a->arrival_ms;
        a->arrival_ms = kept.arrival_ms;
    }
}

static void vary(struct trace *trace, const struct eva_variation *variation)
{
    struct rng gpus;
    struct rng tasks;

    rng_init(&gpus, variation->seed, 11);
    rng_init(&tasks, variation->seed, 12);
    trace_keep_first(trace, variation->jobs);
    if (variation->redrawn) {
        struct rng jobs;

        rng_init(&jobs, variation->seed, 13);
        redraw(trace, &jobs);
    }
    if (variation->half > 0)
        keep_half(trace, variation->half);
    if (variation->delay_factor > 0)
        scale_delays(trace, variation->delay_factor);
    if (variation->rate_factor > 0)
        scale_arrivals(trace, variation->rate_factor);
    if (variation->multi_gpu_share > 0)
        draw_multi_gpu(trace, variation->multi_gpu_share, &gpus);
    if (variation->multi_task_share > 0)
        draw_multi_task(trace, variation->multi_task_share, &tasks);
}

int eva_world_load(struct eva_world *world, const struct eva_variation *variation,
                   struct error *reterr)
{
    int rc;

    *world = (struct eva_world){ .rate_noise_ppm = variation->rate_noise_ppm };
    catalogue_init(&world->catalogue);
    trace_init(&world->trace);
    arena_init(&world->arena);
    rc = read_catalogue(&world->catalogue, reterr);
    if (rc == 0)
        rc = read_trace(&world->catalogue, &world->trace, reterr);
    if (rc == 0)
        rc = read_iterations(&world->trace, reterr);
    if (rc == 0 && variation->durations != EVA_DURATIONS_OWN)
        rc = eva_draw_durations(&world->trace, variation->durations, variation->seed, reterr);
    world->on_demand_count = world->catalogue.offer_count;
    if (rc == 0 && variation->spot)
        rc = eva_add_spot(world, reterr);
    if (rc == 0) {
        vary(&world->trace, variation);
        rc = read_contention(world, variation, reterr);
    }
    if (rc != 0)
        eva_world_done(world);
    return rc;
}

void eva_world_done(struct eva_world *world)
{
    contention_done(&world->contention);
    trace_done(&world->trace);
    catalogue_done(&world->catalogue);
    arena_done(&world->arena);
}

/*
 * Running.
 */

void eva_runner_set(struct eva_runner *runner, const char *option, const char *value)
{
    const uint32_t index = policy_find_option(runner->policy, option);

    assert(index != UINT32_MAX);

    const struct policy_option *of = &runner->policy->options[index];

    if (of->kind != OPTION_CHOICE) {
        runner->option[index] = strtoll(value, NULL, 10);
        return;
    }
    for (int64_t i = 0; of->choices[i] != NULL; i++) {
        if (strcmp(of->choices[i], value) == 0) {
            runner->option[index] = i;
            return;
        }
    }
    assert(false && "the option has that word");
}

void eva_runner_init(struct eva_runner *runner, const struct policy *policy)
{
    *runner = (struct eva_runner){ .label = policy->name, .policy = policy };
    policy_defaults(policy, runner->option);
    if (policy == &policy_stratus) {
        /* The artifact's Stratus: it knows whole runtimes only and clears without asking. */
        eva_runner_set(runner, "runtime", "total");
        eva_runner_set(runner, "groups", "list");
        eva_runner_set(runner, "unit", "machine");
        eva_runner_set(runner, "clear", "always");
        eva_runner_set(runner, "clear_after", "0");
    } else if (policy == &policy_eva || policy == &policy_owl) {
        eva_runner_set(runner, "stay", "0"); /* the papers know no such rule */
    }
}

/* stint that searches for better places must know nothing in advance; else policies know runtimes as far as they use
 * them. */
static bool searches(const struct eva_runner *runner)
{
    const uint32_t index = policy_find_option(runner->policy, "improve");

    return index != UINT32_MAX && runner->option[index] != 0;
}

int eva_world_run(const struct eva_world *world, const struct eva_runner *runner, uint64_t seed,
                  struct sim_result *ret, double *ret_seconds, struct error *reterr)
{
    struct catalogue catalogue = world->catalogue; /* no more than a view of it */
    struct progress progress;
    struct sim_config config = {
        .trace = &world->trace,
        .catalogue = &catalogue,
        .contention = &world->contention,
        .policy = runner->policy,
        .round_ms = 300 * MSEC_PER_SEC,
        .tick_ms = MSEC_PER_SEC,
        .default_rate = UNMEASURED_RATE,
        .estimates = searches(runner) ? SIM_ESTIMATES_LEARNED : SIM_ESTIMATES_ORACLE,
        .seed = seed,
        .faults = { .rate_noise_ppm = world->rate_noise_ppm,
                    .market = world->market,
                    .notice_ppm = world->market.series_count > 0 ? 1000000 : 0,
                    .notice_ms = 120 * MSEC_PER_SEC },
        .work_bound = world->work_bound,
        .on_progress = progress_step,
        .context = &progress,
    };
    const clock_t began = clock();

    if (runner->on_demand_only)
        catalogue.offer_count = world->on_demand_count;
    for (uint32_t i = 0; i < POLICY_OPTIONS_MAX; i++)
        config.option[i] = runner->option[i];
    progress_start(&progress, runner->label);

    const int rc = simulation_run(&config, ret, reterr);

    progress_end(&progress);
    *ret_seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    return rc;
}
