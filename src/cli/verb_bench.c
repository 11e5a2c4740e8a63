/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint bench change|plan - how long a decision takes on a large cluster that is made up.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/line.h"
#include "base/mem.h"
#include "cli/bench_cluster.h"
#include "cli/bench_plan.h"
#include "cli/report_table.h"
#include "cli/verb.h"
#include "cli/verb_options.h"
#include "decide/reservation.h"
#include "policy/policy.h"

enum option_key {
    KEY_MACHINES = 'm',
    KEY_OUTPUT = 'o',
    KEY_POLICY = 'p',
    KEY_TASKS = 't',
    KEY_CHANGES = 'c',
    KEY_ROUNDS = 'r',
    KEY_SHAPES = 0x100,
    KEY_TYPES,
    KEY_RUNNING,
    KEY_LIMIT,
};

static const struct argp_option options[] = {
    { "machines", KEY_MACHINES, "N", 0, "change: number of machines (default: 100,000)", 0 },
    { "tasks", KEY_TASKS, "N", 0, "number of tasks (default: 1,000,000)", 0 },
    { "changes", KEY_CHANGES, "N", 0, "change: changes per round (default: 1,000)", 0 },
    { "rounds", KEY_ROUNDS, "N", 0, "change: number of rounds; the median counts (default: 5)", 0 },
    { "shapes", KEY_SHAPES, "N", 0, "kinds of tasks (default: 30)", 0 },
    { "types", KEY_TYPES, "N", 0, "machine types (default: 24)", 0 },
    { "running", KEY_RUNNING, "N", 0, "plan: tasks that run already (default: none)", 0 },
    { "limit", KEY_LIMIT, "SECONDS", 0,
      "plan: skip a plan after so many seconds of processor time (default: 60)", 0 },
    { "policy", KEY_POLICY, "NAME", 0,
      "policy to measure (default: stint; plan: stint, eva and first-fit-decreasing)", 0 },
    { "output", KEY_OUTPUT, "FORMAT", 0, "table (default), wide, json, yaml or csv", 0 },
    VERB_SORT_OPTION,
    { NULL, 0, NULL, 0, NULL, 0 },
};

static const char text[] =
    "Measure decision times on a large, synthetic cluster. 'change' measures the next plan of"
    " a full cluster after some changes: arrivals, ends, a lost machine, a price. 'plan' "
    "measures plans for waiting tasks, for several policies side by side, and their cost "
    "above the lower bound.\vExamples:\n"
    "  stint bench change --machines 100000 --tasks 1000000 --changes 1000 -o json\n"
    "  stint bench plan --tasks 1000000 --shapes 1000 --types 800\n"
    "\n"
    "Times are processor time of one core, excluding the creation of the cluster.\n"
    "  fresh                 the same plan by a policy without memory\n"
    "  gap                   cost above the bound: 0.03 is 3 %\n"
    "  eva                   Eva's algorithm as published\n"
    "  first-fit-decreasing  Karpenter's algorithm\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.";

enum { ROUNDS_MAX = 1000 };

struct arguments {
    bool has_act;
    bool is_plan;
    struct bench_spec spec;
    uint32_t running;
    uint32_t limit_s;
    uint32_t changes;
    uint32_t rounds;
    const struct policy *policy; /* NULL: those that are the default */
    enum output_format format;
};

static void take_word(const struct argp_state *state, const char *word, struct arguments *arguments)
{
    if (arguments->has_act)
        argp_error(state, "one of change and plan, not '%s' too", word);
    else if (strcmp(word, "change") != 0 && strcmp(word, "plan") != 0)
        argp_error(state, "change or plan, not '%s'", word);
    arguments->has_act = true;
    arguments->is_plan = strcmp(word, "plan") == 0;
}

static void take_number(const struct argp_state *state, const char *word, uint32_t most,
                        uint32_t *ret)
{
    uint64_t number;

    if (line_number(word, most, &number) < 0 || number == 0)
        argp_error(state, "'%s' is no whole number from 1 to %u", word, most);
    else
        *ret = (uint32_t)number;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct error error = { "" };

    switch (key) {
    case KEY_MACHINES:
        take_number(state, arg, 1000000, &arguments->spec.machines);
        return 0;
    case KEY_TASKS:
        take_number(state, arg, 10000000, &arguments->spec.tasks);
        return 0;
    case KEY_SHAPES:
        take_number(state, arg, 1000000, &arguments->spec.shapes);
        return 0;
    case KEY_TYPES:
        take_number(state, arg, 20000, &arguments->spec.types);
        return 0;
    case KEY_RUNNING:
        take_number(state, arg, 10000000, &arguments->running);
        return 0;
    case KEY_LIMIT:
        take_number(state, arg, 86400, &arguments->limit_s);
        return 0;
    case KEY_CHANGES:
        take_number(state, arg, 1000000, &arguments->changes);
        return 0;
    case KEY_ROUNDS:
        take_number(state, arg, ROUNDS_MAX, &arguments->rounds);
        return 0;
    case KEY_POLICY:
        arguments->policy = policy_find(arg);
        if (arguments->policy == NULL)
            argp_error(state, "there is no policy '%s'; stint sim --help names them", arg);
        return 0;
    case KEY_OUTPUT:
        if (output_format_parse(arg, &arguments->format, &error) < 0)
            argp_error(state, "%s", error.text);
        return 0;
    case ARGP_KEY_ARG:
        take_word(state, arg, arguments);
        return 0;
    case ARGP_KEY_END:
        if (!arguments->has_act)
            argp_error(state, "what to measure: change or plan?");
        else if (arguments->is_plan && arguments->running > arguments->spec.tasks)
            argp_error(state, "no more tasks run than there are");
        else if (!arguments->is_plan && arguments->spec.tasks < arguments->spec.machines)
            argp_error(state, "no fewer tasks than machines");
        else if (!arguments->is_plan && arguments->changes > arguments->spec.tasks)
            argp_error(state, "no more changes than tasks");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static double processor_ms(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

/* What a decision came to. */
struct timed {
    double ms;
    money_t price; /* of what is rented, for an hour */
    struct plan plan;
};

static struct timed decide(const struct arguments *arguments, struct bench_cluster *cluster,
                           void *memory, struct arena *arena)
{
    struct knowledge knowledge = { 0 };
    int64_t option[POLICY_OPTIONS_MAX];
    struct timed timed;
    const struct policy_input input = {
        .view = &cluster->view,
        .knowledge = &knowledge,
        .option = option,
        .arena = arena,
        .memory = memory,
    };

    policy_defaults(arguments->policy, option);
    colocation_init(&knowledge.colocation, 0.95);
    plan_init(&timed.plan, arena);

    const double before = processor_ms();

    reservation_update(&cluster->view);
    policy_decide(arguments->policy, &input, &timed.plan);
    timed.ms = processor_ms() - before;
    timed.price = 0;
    for (uint32_t i = 0; i < timed.plan.rent_count; i++)
        timed.price += cluster->view.offer_price[timed.plan.rents[i].offer];
    colocation_done(&knowledge.colocation);
    return timed;
}

/* The decision that is measured; apart from the others, so that a profiler can tell it from them by its name. */
static __attribute__((noinline)) struct timed next_plan(const struct arguments *arguments,
                                                        struct bench_cluster *cluster, void *memory,
                                                        struct arena *arena)
{
    return decide(arguments, cluster, memory, arena);
}

static int compare_ms(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *ms, uint32_t count)
{
    qsort(ms, count, sizeof(*ms), compare_ms);
    return ms[count / 2];
}

static void add_row(struct report_table *table, const struct arguments *arguments,
                    const struct timed *timed, double ms, double fresh_ms, double most_ms)
{
    const struct plan *plan = &timed->plan;

    report_table_add_text(table, arguments->policy->name);
    report_table_add_integer(table, arguments->spec.machines);
    report_table_add_integer(table, arguments->spec.tasks);
    report_table_add_integer(table, arguments->changes);
    report_table_add_integer(table, plan->rent_count);
    report_table_add_integer(table, plan->place_count);
    report_table_add_money(table, timed->price);
    report_table_add_real(table, ms);
    report_table_add_real(table, most_ms);
    report_table_add_real(table, fresh_ms);
}

static void measure_change(const struct arguments *arguments, struct bench_cluster *cluster,
                           struct report_table *table)
{
    void *memory = policy_memory_create(arguments->policy);
    double *ms = mem_alloc(arguments->rounds, sizeof(*ms));
    struct arena arena;
    struct timed timed;

    arena_init(&arena);
    timed =
        decide(arguments, cluster, memory, &arena); /* from now on there is something to remember */
    bench_cluster_apply(cluster, &timed.plan);
    for (uint32_t i = 0; i < arguments->rounds; i++) {
        bench_cluster_change(cluster, arguments->changes);
        arena_reset(&arena);
        timed = next_plan(arguments, cluster, memory, &arena);
        ms[i] = timed.ms;
        if (i + 1 < arguments->rounds)
            bench_cluster_apply(cluster, &timed.plan);
    }

    const struct timed fresh = decide(arguments, cluster, NULL, &arena);
    const double middle = median(ms, arguments->rounds);

    add_row(table, arguments, &timed, middle, fresh.ms, ms[arguments->rounds - 1]);
    policy_memory_destroy(arguments->policy, memory);
    mem_free(ms);
    arena_done(&arena);
}

static int run(int argc, char **argv)
{
    static const struct argp argp = { options, parse, "change|plan", text, NULL, NULL, NULL };
    static const struct report_column columns[] = {
        { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
        { .key = "machines", .heading = "machines", .kind = REPORT_INTEGER },
        { .key = "tasks", .heading = "tasks", .kind = REPORT_INTEGER },
        { .key = "changes", .heading = "changes", .kind = REPORT_INTEGER },
        { .key = "rents", .heading = "rents", .kind = REPORT_INTEGER },
        { .key = "places", .heading = "places", .kind = REPORT_INTEGER },
        { .key = "price", .heading = "$/h", .kind = REPORT_MONEY, .digits = 2 },
        { .key = "milliseconds", .heading = "plan, ms", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "slowest_ms", .heading = "slowest, ms", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "fresh_ms", .heading = "fresh, ms", .kind = REPORT_DECIMAL, .digits = 3 },
    };
    struct arguments arguments = {
        .spec = { .machines = 100000, .tasks = 1000000, .shapes = 30, .types = 24 },
        .changes = 1000,
        .rounds = 5,
        .limit_s = 60,
    };
    static char name[] = "stint bench";
    struct bench_cluster cluster;

    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;
    if (arguments.is_plan)
        return bench_plan(&(struct bench_plan_spec){ .tasks = arguments.spec.tasks,
                                                     .running = arguments.running,
                                                     .shapes = arguments.spec.shapes,
                                                     .types = arguments.spec.types,
                                                     .limit_s = arguments.limit_s,
                                                     .policy = arguments.policy,
                                                     .format = arguments.format });
    if (arguments.policy == NULL)
        arguments.policy = &policy_stint;

    struct report_table *table =
        report_table_create("bench", columns, sizeof(columns) / sizeof(columns[0]));

    bench_cluster_init(&cluster, &arguments.spec);
    measure_change(&arguments, &cluster, table);
    bench_cluster_done(&cluster);

    const bool written = report_table_write(table, arguments.format, stdout) == 0;

    report_table_destroy(table);
    return written ? EXIT_DONE : EXIT_FAILED;
}

const struct verb verb_bench = {
    .name = "bench",
    .summary = "measure decision times on a large, synthetic cluster",
    .run = run,
    .has_rows = true,
    .sort_columns =
        "policy, machines, tasks, changes, rents, places, price, milliseconds, "
        "slowest_ms, fresh_ms, seconds, waiting, cost_usd_per_hour, bound_usd_per_hour, "
        "gap, bytes_per_task, note",
};
