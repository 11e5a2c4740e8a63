/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay_run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/progress.h"

/* What the simulation calls back with. */
struct context {
    struct progress progress;
    const struct trace *trace;
    money_t *user_cost;
    msec_t *waits;
    uint32_t wait_count;
};

static void on_progress(void *pointer, uint32_t done, uint32_t total)
{
    struct context *context = pointer;

    progress_step(&context->progress, done, total);
}

static void on_settled(void *pointer, const struct view *view, uint32_t task, struct ledger_due due)
{
    struct context *context = pointer;
    const uint32_t user = view->job.user[view->task.job[task]];

    assert(user < context->trace->users.count);
    context->user_cost[user] += due.cost;
}

static void on_job_done(void *pointer, uint32_t job, msec_t jct_ms)
{
    struct context *context = pointer;
    const msec_t work_ms = context->trace->jobs[job].work_ms;

    assert(context->wait_count < context->trace->job_count);
    context->waits[context->wait_count++] = jct_ms > work_ms ? jct_ms - work_ms : 0;
}

/* Spread 'bill' over the users by what they owe already; the roundings go to whose turn it is. */
static void spread(money_t *user_cost, uint32_t count, money_t bill)
{
    money_t sum = 0;
    money_t owed = 0; /* by the users so far */
    money_t paid = 0; /* of the bill, for that */

    for (uint32_t i = 0; i < count; i++)
        sum += user_cost[i];
    for (uint32_t i = 0; sum > 0 && i < count; i++) {
        owed += user_cost[i];

        const money_t part = mul_div(owed, bill, sum);

        user_cost[i] = part - paid;
        paid = part;
    }
}

/* Whether all work was done, all machines went back and all money is accounted for. */
static bool adds_up(const struct policy *policy, const struct trace *trace,
                    const struct sim_result *result)
{
    bool good = true;

    if (result->completions != trace->task_total || result->jobs != trace->job_count) {
        fprintf(stderr, "check: %s: %" PRIu64 " of %u tasks completed\n", policy->name,
                result->completions, trace->task_total);
        good = false;
    }
    if (result->left_running > 0) {
        fprintf(stderr, "check: %s: %" PRIu64 " machines were left running\n", policy->name,
                result->left_running);
        good = false;
    }
    if (!result->ledger_agrees) {
        fprintf(stderr,
                "check: %s: the ledger says %" PRId64 " micro-dollars, the cloud's bills %" PRId64
                "\n",
                policy->name, result->cost, result->billed);
        good = false;
    }
    if (result->cost < result->work_bound) {
        fprintf(stderr,
                "check: %s: costs %" PRId64 " micro-dollars, less than the bound %" PRId64 "\n",
                policy->name, result->cost, result->work_bound);
        good = false;
    }
    return good;
}

int replay_run(const struct replay_input *input, const struct replay_rhythm *rhythm,
               const struct policy *policy, struct replay_run *ret, struct error *reterr)
{
    const struct trace *trace = &input->trace;
    struct replay_run run = {
        .policy = policy,
        .user_cost = mem_alloc(trace->users.count, sizeof(*run.user_cost)),
    };
    struct context context = {
        .trace = trace,
        .user_cost = run.user_cost,
        .waits = mem_alloc(trace->job_count, sizeof(*context.waits)),
    };
    struct sim_config config = {
        .trace = trace,
        .catalogue = &input->catalogue,
        .policy = policy,
        .round_ms = rhythm->interval_ms,
        .settle_ms = rhythm->settle_ms,
        .tick_ms = 1,
        .estimates = rhythm->estimates,
        .default_rate = 0.95,
        .seed = 1,
        .work_bound = input->work_bound,
        .owned = input->owned,
        .owned_count = input->owned_count,
        .burst = rhythm->burst,
        .on_progress = on_progress,
        .on_settled = on_settled,
        .on_job_done = on_job_done,
        .context = &context,
    };

    policy_defaults(policy, config.option);
    progress_start(&context.progress, policy->name);

    const int rc = simulation_run(&config, &run.result, reterr);

    progress_end(&context.progress);
    if (rc == 0) {
        run.waits = wait_stats_of(context.waits, context.wait_count);
        run.adds_up = adds_up(policy, trace, &run.result);
        spread(run.user_cost, trace->users.count, run.result.cost);
    }
    mem_free(context.waits);
    if (rc < 0) {
        replay_run_done(&run);
        return rc;
    }
    *ret = run;
    return 0;
}

void replay_run_done(struct replay_run *run)
{
    mem_free(run->user_cost);
    *run = (struct replay_run){ 0 };
}
