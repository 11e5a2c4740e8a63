/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint sim SCENARIO.yaml - simulate a scenario under its policies.
 */
#include <argp.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/explain_csv.h"
#include "cli/report_table.h"
#include "cli/sim_rows.h"
#include "cli/sim_runs.h"
#include "cli/verb.h"
#include "cli/verb_options.h"
#include "draw/digits.h"
#include "sim/scenario.h"
#include "trace/number.h"

enum { SEEDS_MAX = 10000 };

enum option_key {
    KEY_POLICY = 'p',
    KEY_OUTPUT = 'o',
    KEY_SEED = 's',
    KEY_SEEDS = 0x100,
    KEY_BASE,
    KEY_EXPLAIN,
    KEY_JOBS,
    KEY_CHECK,
    KEY_FIXED,
};

static const struct argp_option options[] = {
    { "policy", KEY_POLICY, "NAME", 0,
      "Run this policy alone: its label in the scenario, or its name for all of its entries "
      "there. The defaults are used for a policy outside of the scenario. Repeatable",
      0 },
    { "base", KEY_BASE, "NAME", 0, "The policy with cost 1 in 'cost norm.' (default: the first)",
      0 },
    { "seed", KEY_SEED, "N", 0, "Use this seed instead of the scenario's", 0 },
    { "seeds", KEY_SEEDS, "N", 0,
      "Run N seeds from the first on. Report each policy's mean and the spread of its cost", 0 },
    { "output", KEY_OUTPUT, "FORMAT", 0, "table (default), wide, json, yaml or csv", 0 },
    VERB_SORT_OPTION,
    VERB_HTML_OPTION,
    VERB_MD_OPTION,
    { "explain", KEY_EXPLAIN, "FILE", 0,
      "Write every decision and its reasons to FILE as CSV (-: standard output)", 0 },
    { "jobs", KEY_JOBS, "FILE", 0,
      "Write every job with the time from its arrival to its end to FILE as CSV (-: standard "
      "output)",
      0 },
    { "fixed", KEY_FIXED, NULL, 0, "No running task may be moved, whatever the trace says", 0 },
    { "check", KEY_CHECK, NULL, 0,
      "Exit with 4 unless, in every run, all tasks completed, all machines were returned, and "
      "the ledger agrees with the cloud's bills",
      0 },
    { NULL, 0, NULL, 0, NULL, 0 },
};

static const char doc[] =
    "Simulate a scenario under one or more policies, and compare their costs. A scenario has "
    "jobs, machines to rent, and faults.\vExamples:\n"
    "  stint sim examples/small.yaml\n"
    "  stint sim examples/faults.yaml --seeds 10 --check\n"
    "  stint sim examples/small.yaml --policy eva --explain why.csv\n"
    "\n"
    "The scenario is a YAML file with a trace and a catalogue. "
    "docs/reference/files/scenario.md lists every key, and examples/ has scenarios to begin "
    "with. The same scenario and seed always give the same answer.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 4 a check failed (--check).";

struct arguments {
    const char *path;
    const char *policies[SCENARIO_POLICIES_MAX];
    uint32_t policy_count;
    const char *base;
    const char *explain;
    const char *jobs;
    uint64_t seed;
    bool has_seed;
    uint32_t seeds;
    enum output_format format;
    bool check;
    bool fixed;
};

/*
 * The command line.
 */

static uint64_t whole_number(const struct argp_state *state, const char *option, const char *text,
                             uint64_t min, uint64_t max)
{
    uint64_t value = 0;

    if (number_id(text, strlen(text), &value) < 0 || value < min || value > max)
        argp_error(state, "%s must be a whole number from %" PRIu64 " to %" PRIu64 ", not '%s'",
                   option, min, max, text);
    return value;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct error error = { "" };

    switch (key) {
    case KEY_POLICY:
        if (arguments->policy_count == SCENARIO_POLICIES_MAX)
            argp_error(state, "there are more than %d policies", SCENARIO_POLICIES_MAX);
        else
            arguments->policies[arguments->policy_count++] = text;
        return 0;
    case KEY_BASE:
        arguments->base = text;
        return 0;
    case KEY_SEED:
        arguments->seed = whole_number(state, "--seed", text, 0, INT64_MAX);
        arguments->has_seed = true;
        return 0;
    case KEY_SEEDS:
        arguments->seeds = (uint32_t)whole_number(state, "--seeds", text, 1, SEEDS_MAX);
        return 0;
    case KEY_OUTPUT:
        if (output_format_parse(text, &arguments->format, &error) < 0)
            argp_error(state, "%s", error.text);
        return 0;
    case KEY_EXPLAIN:
        arguments->explain = text;
        return 0;
    case KEY_JOBS:
        arguments->jobs = text;
        return 0;
    case KEY_FIXED:
        arguments->fixed = true;
        return 0;
    case KEY_CHECK:
        arguments->check = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->path != NULL)
            argp_error(state, "one scenario at a time, not '%s' too", text);
        arguments->path = text;
        return 0;
    case ARGP_KEY_END:
        if (arguments->path == NULL)
            argp_error(state, "which scenario? Name its YAML file, such as examples/small.yaml");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/*
 * Which policies.
 */

/* One policy of the comparison and what came out. */
struct contender {
    struct scenario_policy policy;
    struct sim_mean mean;
};

struct contest {
    struct contender *contenders;
    uint32_t count;
    uint32_t room;
    const struct contender *base;
};

/* A label stands for one entry. A name that is no label stands for all entries of the policy. */
static bool is_called(const struct scenario_policy *policy, const char *name, bool by_label)
{
    return strcmp(by_label ? policy->label : policy->policy->name, name) == 0;
}

static void take(struct contest *contest, const struct scenario_policy *policy)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        if (is_called(&contest->contenders[i].policy, policy->label, true))
            return;
    }
    MEM_ROOM(contest->contenders, contest->room, contest->count + 1);
    contest->contenders[contest->count++] = (struct contender){ .policy = *policy };
}

/* Whether the scenario has any. */
static bool take_listed(struct contest *contest, const struct scenario *scenario, const char *name,
                        bool by_label)
{
    bool found = false;

    for (uint32_t i = 0; i < scenario->policy_count; i++) {
        if (!is_called(&scenario->policies[i], name, by_label))
            continue;
        take(contest, &scenario->policies[i]);
        found = true;
    }
    return found;
}

static int take_named(struct contest *contest, const struct scenario *scenario, const char *name,
                      struct error *reterr)
{
    if (take_listed(contest, scenario, name, true) || take_listed(contest, scenario, name, false))
        return 0;

    const struct policy *policy = policy_find(name);

    if (policy == NULL)
        return error_set(reterr, -EINVAL,
                         "there is no policy '%s', and no such label in the scenario; there are: "
                         "%s",
                         name, scenario_policy_names().text);

    const struct scenario_policy plain = scenario_policy_plain(policy);

    take(contest, &plain);
    return 0;
}

static int choose_base(struct contest *contest, const char *name, struct error *reterr)
{
    assert(contest->count > 0);
    contest->base = &contest->contenders[0];
    if (name == NULL)
        return 0;
    for (int by_label = 1; by_label >= 0; by_label--) {
        for (uint32_t i = 0; i < contest->count; i++) {
            if (!is_called(&contest->contenders[i].policy, name, by_label != 0))
                continue;
            contest->base = &contest->contenders[i];
            return 0;
        }
    }
    return error_set(reterr, -EINVAL,
                     "--base %s: the policy is missing from this run; add --policy %s", name, name);
}

static int choose_policies(struct contest *contest, const struct scenario *scenario,
                           const struct arguments *arguments, struct error *reterr)
{
    for (uint32_t i = 0; i < arguments->policy_count; i++) {
        const int rc = take_named(contest, scenario, arguments->policies[i], reterr);

        if (rc < 0)
            return rc;
    }
    for (uint32_t i = 0; arguments->policy_count == 0 && i < scenario->policy_count; i++)
        take(contest, &scenario->policies[i]);
    return choose_base(contest, arguments->base, reterr);
}

/*
 * The answer.
 */

/* Whether the mean job takes minutes under the best policy. */
static bool has_short_jobs(const struct contest *contest)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        if (contest->contenders[i].mean.result.jct_hours < 0.1)
            return true;
    }
    return false;
}

static bool has_services(const struct contest *contest)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        if (contest->contenders[i].mean.result.served_ms > 0)
            return true;
    }
    return false;
}

static int print_rows(const struct contest *contest, const struct arguments *arguments,
                      const struct scenario *scenario, uint64_t first_seed)
{
    const bool spread = arguments->seeds > 1;
    const unsigned what = (spread ? (unsigned)SIM_ROWS_SPREAD : 0) |
                          (has_services(contest) ? (unsigned)SIM_ROWS_SERVICES : 0);
    struct report_table *table = sim_rows_create(scenario->name, what, has_short_jobs(contest));

    report_table_note_integer(table, "seed", (int64_t)first_seed);
    if (spread)
        report_table_note_integer(table, "seeds", arguments->seeds);
    for (uint32_t i = 0; i < contest->count; i++) {
        const struct contender *contender = &contest->contenders[i];
        const struct sim_row row = {
            .policy = contender->policy.label,
            .result = &contender->mean.result,
            .base_cost = contest->base->mean.result.cost,
            .seconds = contender->mean.seconds,
            .cost_min = contender->mean.cost_min,
            .cost_max = contender->mean.cost_max,
        };

        sim_rows_add(table, &row, what);
    }

    const int rc = report_table_write(table, arguments->format, stdout);

    report_table_destroy(table);
    return rc;
}

static double percent(money_t part, money_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* "23.3 hours", "4.5 minutes", "12.0 seconds". */
static struct digits long_span(msec_t span)
{
    const bool is_hours = span >= MSEC_PER_HOUR;
    const bool is_minutes = !is_hours && span >= 60 * MSEC_PER_SEC;
    const msec_t unit = is_hours ? MSEC_PER_HOUR : is_minutes ? 60 * MSEC_PER_SEC : MSEC_PER_SEC;
    struct digits text = digits_of_real((double)span / (double)unit, 1, DIGITS_GROUPED);
    const size_t used = strlen(text.text);

    (void)snprintf(text.text + used, sizeof(text.text) - used, " %s",
                   is_hours     ? "hours"
                   : is_minutes ? "minutes"
                                : "seconds");
    return text;
}

static void print_summary(const struct contest *contest, const struct trace *trace)
{
    assert(contest->count > 0);

    const struct contender *best = &contest->contenders[0];
    const msec_t span = trace->jobs[trace->job_count - 1].arrival_ms;

    for (uint32_t i = 1; i < contest->count; i++) {
        if (contest->contenders[i].mean.result.cost < best->mean.result.cost)
            best = &contest->contenders[i];
    }

    const struct sim_result *result = &best->mean.result;

    printf("\n%s jobs with %s tasks arrive within %s; the last ends after %s.\n",
           digits_of_fixed(trace->job_count, 0, 0, DIGITS_GROUPED).text,
           digits_of_fixed(trace->task_total, 0, 0, DIGITS_GROUPED).text, long_span(span).text,
           long_span(result->ended_at).text);
    printf("Cheapest: %s, $%s; of it, %s %% is for booting machines and %s %% for idle "
           "machines.\n",
           best->policy.label, digits_of_fixed(result->cost, 6, 2, DIGITS_GROUPED).text,
           digits_of_real(percent(result->boot_cost, result->cost), 1, DIGITS_PLAIN).text,
           digits_of_real(percent(result->idle_cost, result->cost), 1, DIGITS_PLAIN).text);
}

static int print_answer(const struct contest *contest, const struct arguments *arguments,
                        const struct loaded_scenario *loaded, uint64_t first_seed,
                        struct error *reterr)
{
    int rc = print_rows(contest, arguments, &loaded->scenario, first_seed);

    if (rc == 0 && arguments->format == OUTPUT_TABLE) {
        print_summary(contest, &loaded->trace);
        if (fflush(stdout) != 0)
            rc = -errno;
    }
    if (rc < 0)
        return error_set(reterr, rc, "the answer cannot be written: %s", strerror(-rc));
    return 0;
}

/*
 * The runs.
 */

static int open_csv(const char *path, void (*header)(FILE *out), FILE **ret, struct error *reterr)
{
    if (path == NULL)
        return 0;

    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");

    if (file == NULL) {
        const int failure = errno;

        return error_set(reterr, -failure, "%s: cannot be written: %s", path, strerror(failure));
    }
    header(file);
    *ret = file;
    return 0;
}

static int close_csv(FILE *file, const char *path, struct error *reterr)
{
    if (file == NULL)
        return 0;

    const bool failed = fflush(file) != 0 || ferror(file);

    if (file != stdout)
        (void)fclose(file);
    return failed ? error_set(reterr, -EIO, "%s: cannot be written", path) : 0;
}

static int run_contest(struct contest *contest, struct loaded_scenario *loaded,
                       const struct arguments *arguments, struct error *reterr)
{
    struct sim_runs runs = {
        .loaded = loaded,
        .first_seed = arguments->has_seed ? arguments->seed : loaded->scenario.run.seed,
        .seed_count = arguments->seeds,
    };
    int rc = open_csv(arguments->explain, explain_csv_header, &runs.explain, reterr);

    if (rc == 0)
        rc = open_csv(arguments->jobs, sim_runs_jobs_header, &runs.jobs, reterr);

    for (uint32_t i = 0; rc == 0 && i < contest->count; i++)
        rc = sim_runs_policy(&runs, &contest->contenders[i].policy, &contest->contenders[i].mean,
                             reterr);

    const int explained = close_csv(runs.explain, arguments->explain, rc == 0 ? reterr : NULL);

    rc = rc == 0 ? explained : rc;

    const int closed = close_csv(runs.jobs, arguments->jobs, rc == 0 ? reterr : NULL);

    rc = rc == 0 ? closed : rc;
    if (rc == 0)
        rc = print_answer(contest, arguments, loaded, runs.first_seed, reterr);
    return rc;
}

static bool all_add_up(const struct contest *contest)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        if (contest->contenders[i].mean.failed_checks > 0)
            return false;
    }
    return true;
}

static int simulate(const struct arguments *arguments)
{
    struct contest contest = { 0 };
    struct loaded_scenario loaded;
    struct error error = { "" };
    int code = EXIT_DONE;

    if (scenario_load(arguments->path, &loaded, &error) < 0)
        return verb_fail("sim", &error);
    if (arguments->fixed)
        loaded_scenario_fix(&loaded);
    if (choose_policies(&contest, &loaded.scenario, arguments, &error) < 0) {
        (void)verb_fail("sim", &error);
        code = EXIT_USAGE;
    } else if (run_contest(&contest, &loaded, arguments, &error) < 0) {
        code = verb_fail("sim", &error);
    } else if (arguments->check && !all_add_up(&contest)) {
        code = EXIT_DIFFERS;
    }
    mem_free(contest.contenders);
    loaded_scenario_done(&loaded);
    return code;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint sim";
    const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "SCENARIO.yaml",
        .doc = doc,
    };
    struct arguments arguments = { .seeds = 1, .format = OUTPUT_TABLE };

    argp_err_exit_status = EXIT_USAGE;
    argv[0] = name;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;
    return simulate(&arguments);
}

const struct verb verb_sim = {
    .name = "sim",
    .summary = "simulate a scenario: jobs, machines, policies, faults",
    .run = run,
    .has_rows = true,
    .sort_columns = "policy, cost_usd, norm_cost, jct_hours, slowest_hours, tasks_per_instance, "
                    "norm_throughput, idle_hours, migrations_per_task, instances, full_share, "
                    "bound_share, seconds, short_seconds, availability, paper_norm_cost, "
                    "paper_jct_hours, cost_min_usd, cost_max_usd",
    .report_title = "What each policy would cost",
    .baseline =
        "A simulation of the scenario: every policy gets the same jobs, machines and prices. "
        "The first policy, or that of --base, is the baseline: 'cost norm.' is a cost divided by "
        "that of the baseline. 'bound/cost' compares with what no plan can go below.",
    .not_counted =
        "Storage, network traffic, taxes, discounts granted afterwards, and whatever the "
        "scenario does not describe.",
};
