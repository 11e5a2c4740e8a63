/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each run is a process of its own, so that one that takes too long can be ended and the others go on.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/progress.h"
#include "cli/replay_baseline.h"
#include "cli/repro_all.h"
#include "cli/verb.h"

/* What a run came to; it is sent through a pipe as it is. */
struct outcome {
    money_t cost;
    money_t bound;
    double mean_s; /* of a job's time beside its work */
    double p99_s;
    double moves; /* per task */
    double seconds;
    bool adds_up; /* all work is done, all machines are back, and the books agree */
};

struct watch {
    struct progress progress;
    const struct trace *trace;
    msec_t *delay; /* of each job that is done */
    uint32_t count;
};

static void on_progress(void *context, uint32_t done, uint32_t total)
{
    struct watch *watch = context;

    progress_step(&watch->progress, done, total);
}

static void on_job_done(void *context, uint32_t job, msec_t jct_ms)
{
    struct watch *watch = context;
    const msec_t work_ms = watch->trace->jobs[job].work_ms;

    watch->delay[watch->count++] = jct_ms > work_ms ? jct_ms - work_ms : 0;
}

static int compare_time(const void *left, const void *right)
{
    const msec_t a = *(const msec_t *)left;
    const msec_t b = *(const msec_t *)right;

    return (a > b) - (a < b);
}

/* Mean and 99th percentile, in seconds. */
static void sum_up(struct watch *watch, struct outcome *ret)
{
    const uint64_t rank = ((uint64_t)watch->count * 99 + 99) / 100; /* from 1 on */
    double sum = 0;

    if (watch->count == 0)
        return;
    qsort(watch->delay, watch->count, sizeof(*watch->delay), compare_time);
    for (uint32_t i = 0; i < watch->count; i++)
        sum += (double)watch->delay[i];
    ret->mean_s = sum / watch->count / (double)MSEC_PER_SEC;
    ret->p99_s = (double)watch->delay[rank - 1] / (double)MSEC_PER_SEC;
}

static int run(const struct all_workload *workload, const struct all_world *world,
               const struct policy *policy, struct outcome *ret, struct error *reterr)
{
    struct watch watch = {
        .trace = world->trace,
        .delay = mem_alloc(world->trace->job_count, sizeof(*watch.delay)),
    };
    struct sim_config config = world->run;
    struct sim_result result;
    char what[128];
    const clock_t began = clock();

    config.policy = policy;
    policy_defaults(policy, config.option);
    if (workload->tune != NULL)
        workload->tune(policy, config.option);
    config.on_progress = on_progress;
    config.on_job_done = on_job_done;
    config.context = &watch;
    (void)snprintf(what, sizeof(what), "%s: %s", workload->name, policy->name);
    progress_start(&watch.progress, what);

    const int rc = simulation_run(&config, &result, reterr);

    progress_end(&watch.progress);
    if (rc == 0) {
        *ret = (struct outcome){
            .cost = result.cost,
            .bound = result.work_bound,
            .moves = result.migrations_per_task,
            .seconds = (double)(clock() - began) / CLOCKS_PER_SEC,
            .adds_up = result.ledger_agrees && result.left_running == 0 &&
                       result.completions == world->trace->task_total &&
                       result.cost >= result.work_bound,
        };
        sum_up(&watch, ret);
    }
    mem_free(watch.delay);
    return rc;
}

/* In the process of its own; the outcome goes into the pipe. */
static void run_within(const struct all_workload *workload, const struct all_world *world,
                       const struct policy *policy, uint32_t limit_s, int out)
{
    const struct rlimit limit = { .rlim_cur = limit_s, .rlim_max = limit_s };
    struct outcome outcome;
    struct error error = { "" };

    (void)setrlimit(RLIMIT_CPU, &limit);
    if (run(workload, world, policy, &outcome, &error) != 0) {
        fprintf(stderr, "stint repro: %s: %s: %s\n", workload->name, policy->name, error.text);
        _exit(EXIT_FAILED);
    }
    _exit(write(out, &outcome, sizeof(outcome)) == sizeof(outcome) ? EXIT_DONE : EXIT_FAILED);
}

enum verdict { RUN_DONE, RUN_TOO_LONG, RUN_FAILED };

static enum verdict measure(const struct all_workload *workload, const struct all_world *world,
                            const struct policy *policy, uint32_t limit_s, struct outcome *ret)
{
    int ends[2];
    int status = 0;

    if (pipe(ends) < 0)
        return RUN_FAILED;

    const pid_t child = fork();

    if (child == 0) {
        (void)close(ends[0]);
        run_within(workload, world, policy, limit_s, ends[1]);
    }
    (void)close(ends[1]);

    const ssize_t size = child > 0 ? read(ends[0], ret, sizeof(*ret)) : 0;

    (void)close(ends[0]);
    if (child > 0)
        (void)waitpid(child, &status, 0);
    if (size == (ssize_t)sizeof(*ret))
        return RUN_DONE;
    return child > 0 && WIFSIGNALED(status) &&
                   (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)
               ? RUN_TOO_LONG
               : RUN_FAILED;
}

/*
 * The table.
 */

static const struct report_column columns[] = {
    { .key = "workload", .heading = "workload", .kind = REPORT_TEXT },
    { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
    { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "bound_usd", .heading = "bound $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "gap", .heading = "gap", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "delay_mean_s", .heading = "delay s", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "delay_p99_s", .heading = "p99 s", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "moves_per_task", .heading = "moves/ task", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "seconds", .heading = "run s", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "note", .heading = "note", .kind = REPORT_TEXT },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), FIGURES = COLUMNS - 3 };

/* Slurm's own, beside the policies. */
static const char power_saving[] = "power-saving";

const char *repro_all_name(uint32_t index)
{
    if (index == policy_count)
        return power_saving;
    return index < policy_count ? policies[index]->name : NULL;
}

static void add_figures(struct report_table *table, const struct outcome *outcome, money_t base)
{
    report_table_add_money(table, outcome->cost);
    if (base > 0)
        report_table_add_real(table, (double)outcome->cost / (double)base);
    else
        report_table_add_missing(table);
    report_table_add_money(table, outcome->bound);
    if (outcome->bound > 0)
        report_table_add_real(table,
                              (double)(outcome->cost - outcome->bound) / (double)outcome->bound);
    else
        report_table_add_missing(table);
    report_table_add_real(table, outcome->mean_s);
    if (outcome->p99_s >= 0)
        report_table_add_real(table, outcome->p99_s);
    else
        report_table_add_missing(table);
    report_table_add_real(table, outcome->moves);
    report_table_add_real(table, outcome->seconds);
    report_table_add_text(table, outcome->adds_up ? NULL : "does not add up");
}

static void add_row(struct report_table *table, const struct all_workload *workload,
                    const char *policy, const struct outcome *outcome, money_t base,
                    const char *note)
{
    report_table_add_text(table, workload->name);
    report_table_add_text(table, policy);
    if (note == NULL) {
        add_figures(table, outcome, base);
        return;
    }
    for (int i = 0; i < FIGURES; i++)
        report_table_add_missing(table);
    report_table_add_text(table, note);
}

/* Why Slurm's power saving cannot be compared there: its baseline knows no interference and no faults. NULL: it can. */
static const char *why_not_power_saving(const struct all_workload *workload,
                                        const struct all_world *world,
                                        const struct replay_baseline *baseline)
{
    if (world->run.contention != NULL)
        return "not comparable: it leaves interference out";
    if (strcmp(workload->name, "faults") == 0)
        return "not comparable: it leaves faults out";
    return baseline->cost != MONEY_UNKNOWN ? NULL : "no offer on demand";
}

/* Slurm's power saving on the same machines. */
static void add_power_saving(struct report_table *table, const struct all_workload *workload,
                             const struct all_world *world, money_t base, money_t bound)
{
    const msec_t suspend_ms = 600 * MSEC_PER_SEC; /* as `stint replay` has it */
    const struct replay_input input = { .trace = *world->trace,
                                        .catalogue = *world->run.catalogue };
    struct replay_baseline baselines[REPLAY_BASELINES];

    replay_baselines(&input, suspend_ms, baselines);
    for (int i = 0; i < REPLAY_BASELINES; i++) {
        const struct replay_baseline *baseline = &baselines[i];
        const struct outcome outcome = {
            .cost = baseline->cost,
            .bound = bound,
            .mean_s = (double)baseline->waits.mean_ms / (double)MSEC_PER_SEC,
            .p99_s = -1,
            .adds_up = true,
        };

        if (strcmp(baseline->name, power_saving) == 0)
            add_row(table, workload, power_saving, &outcome, base,
                    why_not_power_saving(workload, world, baseline));
    }
}

/* All policies on one workload, the first of which is the yardstick; whether all went well. */
static bool add_workload(struct report_table *table, const struct all_workload *workload,
                         const struct all_world *world, const struct repro_options *options)
{
    money_t base = 0;
    money_t bound = 0;
    bool good = true;

    for (uint32_t i = 0; i < policy_count; i++) {
        const bool is_wanted = repro_wants(options, policies[i]->name);
        struct outcome outcome = { 0 };
        char late[64];

        if (i > 0 && !is_wanted)
            continue;

        const enum verdict verdict =
            measure(workload, world, policies[i], options->limit_s, &outcome);

        (void)snprintf(late, sizeof(late), "not done within %u s", options->limit_s);
        if (i == 0) {
            base = outcome.cost;
            bound = outcome.bound;
        }
        if (is_wanted)
            add_row(table, workload, policies[i]->name, &outcome, base,
                    verdict == RUN_DONE       ? NULL
                    : verdict == RUN_TOO_LONG ? late
                                              : "failed");
        good &= verdict == RUN_TOO_LONG || (verdict == RUN_DONE && outcome.adds_up);
    }
    if (repro_wants(options, power_saving))
        add_power_saving(table, workload, world, base, bound);
    return good;
}

static bool wants_workload(const struct repro_options *options, const char *name)
{
    for (uint32_t i = 0; i < options->workload_count; i++) {
        if (strcmp(options->workloads[i], name) == 0)
            return true;
    }
    return options->workload_count == 0;
}

/* The workload as if all its jobs were fixed. Everything but the table of jobs is still that of the one that was loaded. */
static void fix(struct all_world *world)
{
    const struct trace *trace = world->trace;

    world->fixed = *trace;
    world->fixed.jobs = mem_alloc(trace->job_count, sizeof(*trace->jobs));
    memcpy(world->fixed.jobs, trace->jobs, trace->job_count * sizeof(*trace->jobs));
    trace_fix(&world->fixed);
    world->run.trace = world->trace = &world->fixed;
}

/* An exit code. */
static int run_workload(struct report_table *table, const struct all_workload *workload,
                        const struct repro_options *options)
{
    struct all_world world = { .trace = NULL };
    struct error error = { "" };

    if (!wants_workload(options, workload->name))
        return EXIT_DONE;
    if (!all_is_there(workload)) {
        fprintf(stderr, "stint repro: %s is left out: there is no %s (docs/research/data.md)\n",
                workload->name, workload->file);
        return options->workload_count > 0 ? EXIT_NO_DATA : EXIT_DONE;
    }

    const int rc = workload->load(workload, options, &world, &error);

    if (rc != 0)
        return repro_fail(rc, &error);

    if (options->is_fixed)
        fix(&world);

    const bool good = add_workload(table, workload, &world, options);

    world.run.trace = world.trace = NULL;
    if (options->is_fixed)
        mem_free(world.fixed.jobs);
    workload->unload(&world);
    return good ? EXIT_DONE : EXIT_DIFFERS;
}

static bool is_known(const char *name)
{
    for (uint32_t i = 0; i < all_workload_count; i++) {
        if (strcmp(all_workloads[i].name, name) == 0)
            return true;
    }
    return false;
}

int repro_all_table(const struct repro_options *options)
{
    int code = EXIT_DONE;

    for (uint32_t i = 0; i < options->workload_count; i++) {
        if (!is_known(options->workloads[i])) {
            fprintf(stderr,
                    "stint repro: there is no workload '%s'; there are:", options->workloads[i]);
            for (uint32_t k = 0; k < all_workload_count; k++)
                fprintf(stderr, "%s %s", k > 0 ? "," : "", all_workloads[k].name);
            fputc('\n', stderr);
            return EXIT_USAGE;
        }
    }

    struct report_table *table = report_table_create("all", columns, COLUMNS);

    for (uint32_t i = 0; i < all_workload_count; i++) {
        const int rc = run_workload(table, &all_workloads[i], options);

        if (code == EXIT_DONE)
            code = rc;
        if (rc == EXIT_DONE && all_is_there(&all_workloads[i]))
            report_table_note_text(table, all_workloads[i].name, all_workloads[i].what);
    }
    if (report_table_write(table, options->format, stdout) != 0)
        code = EXIT_FAILED;
    report_table_destroy(table);
    return code;
}
