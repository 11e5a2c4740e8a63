/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/data_dir.h"
#include "cli/repro_all.h"
#include "cli/repro_sec.h"
#include "sim/work_bound.h"

enum { PATH_SIZE = 1024, BOUND_NODES = 16000000 };

/*
 * The examples. They are looked for in the source, and where the package puts them.
 */

static bool find_example(const char *file, char *ret, size_t size)
{
    static const char *const folders[] = { "examples", "/usr/share/doc/stint/examples" };

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        (void)snprintf(ret, size, "%s/%s", folders[i], file);
        if (access(ret, R_OK) == 0)
            return true;
    }
    return false;
}

static int load_example(const struct all_workload *workload, const struct repro_options *options,
                        struct all_world *ret, struct error *reterr)
{
    char path[PATH_SIZE];
    int rc;

    (void)options;
    if (!find_example(workload->file, path, sizeof(path)))
        return error_set(reterr, -ENOENT, "cannot find %s", path);
    rc = scenario_load(path, &ret->scenario, reterr);
    if (rc != 0)
        return rc;

    const struct scenario_policy plain = scenario_policy_plain(&policy_task_per_instance);

    ret->run = loaded_scenario_config(&ret->scenario, &plain);
    ret->trace = &ret->scenario.trace;
    return 0;
}

static void unload_example(struct all_world *world)
{
    loaded_scenario_done(&world->scenario);
}

/*
 * Eva's trace, as `stint repro eva` runs it.
 */

static int load_eva(const struct all_workload *workload, const struct repro_options *options,
                    struct all_world *ret, struct error *reterr)
{
    const struct eva_variation variation = { .jobs = options->jobs, .seed = options->seed };
    struct eva_world *eva = &ret->eva;
    const int rc = eva_world_load(eva, &variation, reterr);

    (void)workload;
    if (rc != 0)
        return rc;
    ret->run = (struct sim_config){
        .trace = &eva->trace,
        .catalogue = &eva->catalogue,
        .contention = &eva->contention,
        .round_ms = 300 * MSEC_PER_SEC,
        .tick_ms = MSEC_PER_SEC,
        .default_rate = 0.95,
        .seed = options->seed,
        .work_bound = work_bound(&eva->trace, &eva->catalogue, &eva->contention, BOUND_NODES),
    };
    ret->trace = &eva->trace;
    return 0;
}

static void unload_eva(struct all_world *world)
{
    eva_world_done(&world->eva);
}

static void tune_eva(const struct policy *policy, int64_t *option)
{
    struct eva_runner runner;

    eva_runner_init(&runner, policy);
    memcpy(option, runner.option, sizeof(runner.option));
}

/*
 * Logs of parallel computers: jobs on whole nodes of 16 processors that nobody may move. A node is billed by the second,
 * a minute at the least.
 */

static void add_nodes(struct catalogue *catalogue)
{
    const struct price_change price = { .at = 0, .per_hour = SEC_PRICE };
    const struct machine_type type = {
        .capacity = { { (int64_t)SEC_PROCESSORS_PER_INSTANCE * 1000, 0, 0 } },
        .acquire_ms = 30 * MSEC_PER_SEC,
        .setup_ms = 96 * MSEC_PER_SEC,
    };

    catalogue_init(catalogue);
    (void)catalogue_add_type(catalogue, "node", "node", &type);
    (void)catalogue_add_offer(catalogue, NULL,
                              &(struct offer){ .type = 0,
                                               .market = MARKET_ON_DEMAND,
                                               .billing = { .step_ms = 1000, .minimum_ms = 60000 },
                                               .price = { .changes = &price, .count = 1 } });
}

static int load_log(const struct all_workload *workload, const struct repro_options *options,
                    struct all_world *ret, struct error *reterr)
{
    struct trace *trace = &ret->log.trace;
    const int rc = sec_log_read(workload->file, SWF_ALPHA_ONE, &ret->log, reterr);

    if (rc != 0)
        return rc;
    add_nodes(&ret->catalogue);
    trace_keep_first(trace, options->jobs);
    for (uint32_t i = 0; i < trace->job_count; i++)
        trace->jobs[i].fixed = true;
    ret->run = (struct sim_config){
        .trace = trace,
        .catalogue = &ret->catalogue,
        .settle_ms = MSEC_PER_SEC,
        .tick_ms = 1,
        .estimates = SIM_ESTIMATES_USER,
        .default_rate = 1,
        .seed = options->seed,
        .work_bound = work_bound(trace, &ret->catalogue, NULL, BOUND_NODES),
    };
    ret->trace = trace;
    return 0;
}

static void unload_log(struct all_world *world)
{
    swf_done(&world->log);
    catalogue_done(&world->catalogue);
}

/*
 * Short batch tasks, as `stint repro stratus` runs them, but not all of 31,756 jobs: eva would take an hour.
 */

enum { BATCH_JOBS = 5000 };

static int load_tasks(const struct repro_options *options, int64_t spot_from, struct all_world *ret,
                      struct error *reterr)
{
    const struct stratus_setting setting = { .billed_boot_s = STRATUS_BILLED_BOOT_S,
                                             .spot_from = spot_from,
                                             .jobs =
                                                 options->jobs > 0 ? options->jobs : BATCH_JOBS };
    struct stratus_world *stratus = &ret->stratus;
    const int rc = stratus_world_load(stratus, &setting, reterr);

    if (rc != 0)
        return rc;
    ret->run = (struct sim_config){
        .trace = &stratus->trace,
        .catalogue = &stratus->catalogue,
        .round_ms = 60 * MSEC_PER_SEC,
        .tick_ms = 1,
        .default_rate = 1,
        .seed = options->seed,
        .work_bound = work_bound(&stratus->trace, &stratus->catalogue, NULL, BOUND_NODES),
    };
    ret->trace = &stratus->trace;
    return 0;
}

static int load_batch(const struct all_workload *workload, const struct repro_options *options,
                      struct all_world *ret, struct error *reterr)
{
    (void)workload;
    return load_tasks(options, 0, ret, reterr);
}

/* At the spot prices of a day; no machine is lost. */
static int load_spot(const struct all_workload *workload, const struct repro_options *options,
                     struct all_world *ret, struct error *reterr)
{
    const int64_t day = 1706745600; /* 1 February 2024, Unix time */

    (void)workload;
    return load_tasks(options, day, ret, reterr);
}

static void unload_batch(struct all_world *world)
{
    stratus_world_done(&world->stratus);
}

const struct all_workload all_workloads[] = {
    { "small", "a small team: builds, tests, notebooks, training", "small.yaml", load_example,
      unload_example, NULL },
    { "interference", "training jobs that slow each other down", "interference.yaml", load_example,
      unload_example, NULL },
    { "gangs", "jobs on several machines at once", "gangs.yaml", load_example, unload_example,
      NULL },
    { "faults", "machines that are refused, slow and lost", "faults.yaml", load_example,
      unload_example, NULL },
    { "short", "jobs of seconds", "short.yaml", load_example, unload_example, NULL },
    { "eva", "ML training with interference, 6,274 jobs of a GPU cluster", "eva/pai_full.csv",
      load_eva, unload_eva, tune_eva },
    { "kth", "HPC batch on whole nodes, 28,476 jobs of KTH's SP2",
      "swf/KTH-SP2-1996-2.1-cln.swf.gz", load_log, unload_log, NULL },
    { "sdsc-ds", "HPC batch on whole nodes, 84,893 jobs of SDSC's DataStar",
      "swf/SDSC-DS-2004-2.1-cln.swf.gz", load_log, unload_log, NULL },
    { "alibaba-batch", "many short tasks, 5,000 jobs of a batch cluster",
      "alibaba-batch-2017/jobs.csv.zst", load_batch, unload_batch, NULL },
    { "alibaba-spot", "the same at spot prices, which change by zone and hour",
      "alibaba-batch-2017/jobs.csv.zst", load_spot, unload_batch, NULL },
};

const uint32_t all_workload_count = sizeof(all_workloads) / sizeof(all_workloads[0]);

bool all_is_there(const struct all_workload *workload)
{
    char path[PATH_SIZE];

    return workload->load == load_example ? find_example(workload->file, path, sizeof(path))
                                          : data_dir_path(workload->file, path, sizeof(path)) == 0;
}
