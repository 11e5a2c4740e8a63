/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint repro SYSTEM - measure a published system on its own data, beside what its paper says.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/repro_all.h"
#include "cli/repro_coaster.h"
#include "cli/repro_eva.h"
#include "cli/repro_pools.h"
#include "cli/repro_sec.h"
#include "cli/repro_stratus.h"
#include "cli/verb.h"
#include "cli/verb_options.h"

static const char doc[] =
    "Reproduce a published system's results on its own data, beside the figures of its paper."
    "\vExamples:\n"
    "  stint repro all --policy stint --workload small --workload short\n"
    "  stint repro coaster --policy stint --seeds 1\n"
    "  stint repro eva\n"
    "  stint repro eva --interference permuted --policy eva -o json\n"
    "  stint repro eva --policy stint --wait-price 20\n"
    "  stint repro eva --figure 4 --svg figure4.svg\n"
    "\n"
    "SYSTEM is one of\n"
    "  all      the yardstick: every policy on the examples and on the traces found\n"
    "           here. Columns: cost, gap to the bound (0.1 is 10 %), mean and 99th\n"
    "           percentile of the delay, moves\n"
    "  coaster  Ogden and Guo, \"CloudCoaster: Transient-aware Bursty Datacenter\n"
    "           Workload Scheduling\": short jobs beside long ones on two windows of\n"
    "           the Yahoo trace (section 4, table 1, figures 1 and 3). Figure 4 has\n"
    "           boot times and losses, 5 other cluster sizes, 6 Google's trace\n"
    "  eva      Chang and Venkataraman, \"Eva: Cost-Efficient Cloud-Based Cluster\n"
    "           Scheduling\", EuroSys'25: five policies and stint on 6,274 jobs\n"
    "           (table 14, figures 4 to 8)\n"
    "  pools    Ambati and Irwin, \"Optimizing the Cost of Executing Mixed\n"
    "           Interactive and Batch Workloads on Transient VMs\", SIGMETRICS'19\n"
    "           (TR-Kubernetes): seven rules on the authors' 302 offers (figures 6,\n"
    "           7, 14 and 17), and promised against actual capacity on other\n"
    "           prices (figure 15)\n"
    "  sec      Niu et al., \"Building Semi-Elastic Virtual Clusters for\n"
    "           Cost-Effective HPC Cloud Resource Provisioning\", TPDS'16: eleven\n"
    "           modes and stint on 84,893 jobs of SDSC DataStar (section 8.2,\n"
    "           figures 4 to 8)\n"
    "  stratus  Chung, Park and Ganger, \"Stratus: cost-aware container scheduling\n"
    "           in the public cloud\", SoCC'18: Stratus and three rivals on 2.55\n"
    "           million tasks of an Alibaba cluster, since the paper's traces are\n"
    "           private (figures 4, 7 and 8)\n"
    "\n"
    "Values of --vary for eva:\n"
    "  delays=FACTOR        scale the delays of moves\n"
    "  arrivals=FACTOR      scale the arrivals\n"
    "  half=1 or 2          take one half of the trace\n"
    "  redraw=1             reorder the jobs, by --seed\n"
    "  multi-gpu=SHARE      jobs on several GPUs\n"
    "  multi-task=SHARE     jobs with several tasks\n"
    "  noise=SHARE          noise in the rates reported by tasks\n"
    "  drift=DAYS           pairs of workloads take over the rates of others\n"
    "  durations=NAME       alibaba2023 or philly\n"
    "  spot=1               prices and losses of spot machines\n"
    "Values of --vary for stratus:\n"
    "  market=2015          spot machines, lost when their price exceeds on-demand\n"
    "  day=0 to 151         the day of that market\n"
    "  rounds=events        decide after each event\n"
    "  estimates=learned    learn the runtimes\n"
    "\n"
    "The data is public and separate from Stint. docs/research/data.md has the addresses. "
    "Stint looks in $STINT_DATA, then in ../shared/data.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 data missing, 4 a figure differs from the"
    " expected one (--check).";

enum { SEEDS_MAX = 10000, WAIT_PRICE_MAX = 1000000 };

enum key {
    KEY_FIGURE = 256,
    KEY_INTERFERENCE,
    KEY_JOBS,
    KEY_SEED,
    KEY_SEEDS,
    KEY_SVG,
    KEY_CHECK,
    KEY_WORKLOAD,
    KEY_LIMIT,
    KEY_FIXED,
    KEY_WAIT_PRICE,
    KEY_VARY
};

static const struct argp_option argp_options[] = {
    { "figure", KEY_FIGURE, "N", 0,
      "Measure a figure instead of the table: 1, 3, 4, 5 or 6 of coaster; 6, 7, 14, 15 or 17 of"
      " pools; 4 to 8 of the others",
      0 },
    { "interference", KEY_INTERFERENCE, "HOW", 0,
      "eva: matrix, as published (default); permuted, as the artifact's generator can misread "
      "it; or one throughput for all pairs, such as 0.9",
      0 },
    { "wait-price", KEY_WAIT_PRICE, "PERCENT", 0,
      "eva: the price of an hour of waiting under stint (wait_price in "
      "docs/reference/files/scenario.md)",
      0 },
    { "vary", KEY_VARY, "WHAT=VALUE,...", 0, "eva, stratus: change the trace, as listed below", 0 },
    { "policy", 'p', "NAME", 0, "Only this policy or mode. Repeatable", 0 },
    { "jobs", KEY_JOBS, "N", 0, "Only the first N jobs", 0 },
    { "workload", KEY_WORKLOAD, "NAME", 0, "all: only this workload. Repeatable", 0 },
    { "fixed", KEY_FIXED, NULL, 0, "all: no running task may be moved", 0 },
    { "limit", KEY_LIMIT, "SECONDS", 0,
      "all: leave out runs beyond so much processor time (default 600)", 0 },
    { "seed", KEY_SEED, "N", 0, "Seed of random draws (default 1)", 0 },
    { "seeds", KEY_SEEDS, "N", 0, "coaster: the mean of N seeds, from --seed on (default 5)", 0 },
    { "output", 'o', "FORMAT", 0, "table (default), wide, json, yaml or csv", 0 },
    VERB_SORT_OPTION,
    { "svg", KEY_SVG, "FILE", 0, "With --figure: draw it", 0 },
    { "check", KEY_CHECK, NULL, 0, "Exit with 4 unless the table is as expected", 0 },
    { 0 },
};

/* What can be reproduced. */
static const struct system {
    const char *name;
    const char *(*row)(uint32_t index); /* of the table */
    int (*table)(const struct repro_options *options);
    int (*figure)(const struct repro_options *options);
} systems[] = {
    { "all", repro_all_name, repro_all_table, NULL },
    { "coaster", repro_coaster_name, repro_coaster_table, repro_coaster_figure },
    { "eva", repro_eva_name, repro_eva_table, repro_eva_figure },
    { "pools", repro_pools_name, repro_pools_table, repro_pools_figure },
    { "sec", repro_sec_name, repro_sec_table, repro_sec_figure },
    { "stratus", repro_stratus_name, repro_stratus_table, repro_stratus_figure },
};

enum { SYSTEMS = sizeof(systems) / sizeof(systems[0]) };

static const struct system *find_system(const char *name)
{
    for (int i = 0; i < SYSTEMS; i++) {
        if (strcmp(name, systems[i].name) == 0)
            return &systems[i];
    }
    return NULL;
}

struct system_names {
    char text[128];
};

/* All of them, with commas between. */
static struct system_names system_names(void)
{
    struct system_names names = { "" };
    size_t used = 0;

    for (int i = 0; i < SYSTEMS && used < sizeof(names.text); i++)
        used += (size_t)snprintf(names.text + used, sizeof(names.text) - used, "%s%s",
                                 i > 0 ? ", " : "", systems[i].name);
    return names;
}

struct arguments {
    struct repro_options options;
    const char *system;
};

static uint64_t parse_count(struct argp_state *state, const char *text, uint64_t max)
{
    char *end = NULL;

    errno = 0;

    const unsigned long long value = strtoull(text, &end, 10);

    if (errno != 0 || *text < '0' || *text > '9' || *end != 0 || value > max)
        argp_error(state, "'%s' is not a whole number up to %llu", text, (unsigned long long)max);
    return value;
}

static void check_policies(const struct argp_state *state, const struct system *system)
{
    const struct arguments *arguments = state->input;
    const struct repro_options *options = &arguments->options;
    char known[512] = "";
    size_t used = 0;

    for (uint32_t i = 0; system->row(i) != NULL && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "",
                                 system->row(i));
    for (uint32_t i = 0; i < options->policy_count; i++) {
        uint32_t row = 0;

        while (system->row(row) != NULL && strcmp(system->row(row), options->policies[i]) != 0)
            row++;
        if (system->row(row) == NULL)
            argp_error(state, "there is no policy '%s'; there are: %s", options->policies[i],
                       known);
    }
}

/* Whether the figure has numbers that can be checked. */
static bool has_check(const struct system *system, uint32_t figure)
{
    if (system->table == repro_pools_table)
        return figure == 15 || figure == 17;
    return system->table == repro_sec_table && (figure == 7 || figure == 8);
}

/* What does not go together. */
static void check_options(const struct argp_state *state, const struct system *system)
{
    const struct arguments *arguments = state->input;
    const struct repro_options *options = &arguments->options;
    const bool is_coaster = system->table == repro_coaster_table;
    const bool is_eva = system->table == repro_eva_table;
    const bool is_all = system->table == repro_all_table;
    const struct {
        bool holds;
        const char *text;
    } objections[] = {
        { is_all && (options->figure != 0 || options->check),
          "all has neither figures nor --check" },
        { !is_all && (options->workload_count > 0 || options->limit_s > 0 || options->is_fixed),
          "--workload, --limit and --fixed go with all" },
        { options->svg != NULL && options->figure == 0, "--svg goes with --figure" },
        { options->policy_count > 0 && options->figure != 0,
          "--policy goes with the table, without --figure" },
        { options->interference != NULL && !is_eva, "--interference goes with eva" },
        { options->vary != NULL && ((!is_eva && system->table != repro_stratus_table) ||
                                    options->figure != 0 || options->check),
          "--vary goes with the tables of eva and stratus, without --check" },
        { options->wait_price != NULL && !is_eva, "--wait-price goes with eva" },
        { options->wait_price != NULL && options->check,
          "--check goes with the default options, without --wait-price" },
        { options->seeds > 0 && !is_coaster, "--seeds goes with coaster" },
        { options->check && options->jobs > 0,
          "--check goes with the whole trace, without --jobs" },
        { options->check && options->figure != 0 && !has_check(system, options->figure),
          "--check goes with the tables, with figures 7 and 8 of sec, and with 15 and 17 of pools" },
        { options->jobs > 0 && system->table == repro_pools_table,
          "--jobs needs a trace of jobs; pools has none" },
    };

    for (size_t i = 0; i < sizeof(objections) / sizeof(objections[0]); i++) {
        if (objections[i].holds)
            argp_error(state, "%s", objections[i].text);
    }
}

/* Nothing that was asked for is left undone silently. */
static void check_whole(const struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct repro_options *options = &arguments->options;
    const struct system *system = arguments->system != NULL ? find_system(arguments->system) : NULL;

    if (arguments->system == NULL)
        argp_error(state, "which system? There are: %s", system_names().text);
    else if (system == NULL)
        argp_error(state, "there is no system '%s'; there are: %s", arguments->system,
                   system_names().text);
    if (system == NULL)
        return;

    check_options(state, system);
    check_policies(state, system);
    if (options->interference == NULL)
        options->interference = "matrix";
    if (options->seeds == 0)
        options->seeds = 5;
    if (options->limit_s == 0)
        options->limit_s = 600;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct repro_options *options = &arguments->options;
    struct error error;

    switch (key) {
    case KEY_FIGURE:
        options->figure = (uint32_t)parse_count(state, arg, UINT32_MAX);
        return 0;
    case KEY_INTERFERENCE:
        options->interference = arg;
        return 0;
    case KEY_JOBS:
        options->jobs = (uint32_t)parse_count(state, arg, UINT32_MAX);
        return 0;
    case KEY_SEED:
        options->seed = parse_count(state, arg, UINT64_MAX);
        return 0;
    case KEY_SEEDS:
        options->seeds = (uint32_t)parse_count(state, arg, SEEDS_MAX);
        if (options->seeds == 0)
            argp_error(state, "--seeds takes at least 1");
        return 0;
    case KEY_WORKLOAD:
        if (options->workload_count == REPRO_POLICIES_MAX)
            argp_error(state, "too many workloads");
        options->workloads[options->workload_count++] = arg;
        return 0;
    case KEY_FIXED:
        options->is_fixed = true;
        return 0;
    case KEY_LIMIT:
        options->limit_s = (uint32_t)parse_count(state, arg, UINT32_MAX);
        return 0;
    case KEY_WAIT_PRICE:
        (void)parse_count(state, arg, WAIT_PRICE_MAX);
        options->wait_price = arg;
        return 0;
    case KEY_VARY:
        options->vary = arg;
        return 0;
    case KEY_SVG:
        options->svg = arg;
        return 0;
    case KEY_CHECK:
        options->check = true;
        return 0;
    case 'p':
        if (options->policy_count == REPRO_POLICIES_MAX)
            argp_error(state, "too many policies");
        options->policies[options->policy_count++] = arg;
        return 0;
    case 'o':
        if (output_format_parse(arg, &options->format, &error) != 0)
            argp_error(state, "%s", error.text);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->system != NULL)
            argp_error(state, "one system at a time, please");
        arguments->system = arg;
        return 0;
    case ARGP_KEY_END:
        check_whole(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run(int argc, char **argv)
{
    static char name[] = "stint repro";
    struct arguments arguments = { .options = { .seed = 1 } };
    const struct argp argp = {
        .options = argp_options, .parser = parse, .args_doc = "SYSTEM", .doc = doc
    };

    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;

    const struct system *system = find_system(arguments.system);

    return arguments.options.figure != 0 ? system->figure(&arguments.options)
                                         : system->table(&arguments.options);
}

const struct verb verb_repro = {
    .name = "repro",
    .summary = "reproduce a published system's results on its own data",
    .run = run,
    .has_rows = true,
};
