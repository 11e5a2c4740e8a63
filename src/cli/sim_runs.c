/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sim_runs.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "cli/explain_csv.h"
#include "cli/progress.h"
#include "draw/csv_text.h"

/* What the simulation calls back with. */
struct run_context {
    struct progress progress;
    struct explain_csv explain;
    FILE *jobs;
};

static void on_progress(void *context, uint32_t done, uint32_t total)
{
    struct run_context *run = context;

    progress_step(&run->progress, done, total);
}

static void on_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct run_context *run = context;

    explain_csv_plan(&run->explain, view, plan);
}

void sim_runs_jobs_header(FILE *out)
{
    (void)fputs("policy,seed,job,tasks,gang,arrived_s,completed_s,hours\n", out);
}

static void on_job_done(void *context, uint32_t job, msec_t jct_ms)
{
    enum { SECOND_DIGITS = 3, HOUR_DIGITS = 4 };

    const struct run_context *run = context;
    const struct trace_job *row = &run->explain.trace->jobs[job];

    csv_text(run->jobs, run->explain.policy);
    (void)fprintf(run->jobs, ",%" PRIu64 ",%" PRIu64 ",%u,%d,%.*f,%.*f,%.*f\n", run->explain.seed,
                  row->id, row->task_count, row->gang, SECOND_DIGITS,
                  (double)row->arrival_ms / MSEC_PER_SEC, SECOND_DIGITS,
                  (double)(row->arrival_ms + jct_ms) / MSEC_PER_SEC, HOUR_DIGITS,
                  (double)jct_ms / MSEC_PER_HOUR);
}

static double seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whether all work was done, all machines went back and all money is accounted for. */
static bool adds_up(const struct scenario_policy *policy, uint64_t seed, const struct trace *trace,
                    const struct sim_result *result)
{
    bool good = true;

    if (result->completions != trace->task_total || result->jobs != trace->job_count) {
        fprintf(stderr, "check: %s, seed %" PRIu64 ": %" PRIu64 " of %u tasks completed\n",
                policy->label, seed, result->completions, trace->task_total);
        good = false;
    }
    if (result->left_running > 0) {
        fprintf(stderr, "check: %s, seed %" PRIu64 ": %" PRIu64 " machines were left running\n",
                policy->label, seed, result->left_running);
        good = false;
    }
    if (!result->ledger_agrees) {
        fprintf(stderr,
                "check: %s, seed %" PRIu64 ": the ledger says %" PRId64 " micro-dollars, the "
                "cloud's bills %" PRId64 "\n",
                policy->label, seed, result->cost, result->billed);
        good = false;
    }
    return good;
}

/* A sum becomes a mean. */
static money_t mean_money(money_t sum, uint32_t count)
{
    return (sum + count / 2) / count;
}

static uint64_t mean_count(uint64_t sum, uint32_t count)
{
    return (sum + count / 2) / count;
}

static void add(struct sim_mean *mean, const struct sim_result *result, double seconds)
{
    struct sim_result *sum = &mean->result;

    mean->seconds += seconds;
    mean->cost_min =
        mean->runs == 0 || result->cost < mean->cost_min ? result->cost : mean->cost_min;
    mean->cost_max = result->cost > mean->cost_max ? result->cost : mean->cost_max;
    mean->runs++;
    sum->cost += result->cost;
    sum->boot_cost += result->boot_cost;
    sum->idle_cost += result->idle_cost;
    sum->work_bound += result->work_bound;
    sum->ended_at += result->ended_at;
    sum->served_ms += result->served_ms;
    sum->short_ms += result->short_ms;
    sum->jobs = result->jobs;
    sum->tasks = result->tasks;
    sum->jct_hours += result->jct_hours;
    sum->slowest_hours += result->slowest_hours;
    sum->wait_seconds += result->wait_seconds;
    sum->idle_hours += result->idle_hours;
    sum->norm_throughput += result->norm_throughput;
    sum->tasks_per_instance += result->tasks_per_instance;
    sum->migrations_per_task += result->migrations_per_task;
    sum->full_share += result->full_share;
    sum->stats.rented += result->stats.rented;
    sum->stats.weighed += result->stats.weighed;
    sum->stats.refused += result->stats.refused;
    sum->stats.lost += result->stats.lost;
}

static void divide(struct sim_mean *mean)
{
    const uint32_t count = mean->runs;
    struct sim_result *sum = &mean->result;

    assert(count > 0);
    mean->seconds /= count;
    sum->cost = mean_money(sum->cost, count);
    sum->boot_cost = mean_money(sum->boot_cost, count);
    sum->idle_cost = mean_money(sum->idle_cost, count);
    sum->work_bound = mean_money(sum->work_bound, count);
    sum->ended_at /= count;
    sum->served_ms /= count;
    sum->short_ms /= count;
    sum->jct_hours /= count;
    sum->slowest_hours /= count;
    sum->wait_seconds /= count;
    sum->idle_hours /= count;
    sum->norm_throughput /= count;
    sum->tasks_per_instance /= count;
    sum->migrations_per_task /= count;
    sum->full_share /= count;
    sum->stats.rented = mean_count(sum->stats.rented, count);
    sum->stats.refused = mean_count(sum->stats.refused, count);
    sum->stats.lost = mean_count(sum->stats.lost, count);
}

static int run_one(const struct sim_runs *runs, const struct scenario_policy *policy,
                   struct sim_mean *mean, struct error *reterr)
{
    struct sim_config config = loaded_scenario_config(runs->loaded, policy);
    struct run_context context = {
        .explain = { .out = runs->explain,
                     .trace = config.trace,
                     .policy = policy->label,
                     .seed = config.seed },
        .jobs = runs->jobs,
    };
    struct sim_result result;
    const double began = seconds_now();

    config.on_progress = on_progress;
    config.on_plan = runs->explain != NULL ? on_plan : NULL;
    config.on_job_done = runs->jobs != NULL ? on_job_done : NULL;
    config.context = &context;
    progress_start(&context.progress, policy->label);

    const int rc = simulation_run(&config, &result, reterr);

    progress_end(&context.progress);
    if (rc < 0)
        return rc;
    if (!adds_up(policy, config.seed, config.trace, &result))
        mean->failed_checks++;
    add(mean, &result, seconds_now() - began);
    return 0;
}

int sim_runs_policy(const struct sim_runs *runs, const struct scenario_policy *policy,
                    struct sim_mean *ret, struct error *reterr)
{
    struct sim_mean mean = { 0 };

    assert(runs->seed_count > 0);
    for (uint32_t i = 0; i < runs->seed_count; i++) {
        int rc = loaded_scenario_reseed(runs->loaded, runs->first_seed + i, reterr);

        if (rc == 0)
            rc = run_one(runs, policy, &mean, reterr);
        if (rc < 0)
            return rc;
    }
    divide(&mean);
    *ret = mean;
    return 0;
}
