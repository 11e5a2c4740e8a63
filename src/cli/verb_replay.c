/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint replay - what would a cluster's own history have cost under other policies?
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "cli/replay_input.h"
#include "cli/replay_report.h"
#include "cli/replay_run.h"
#include "cli/replay_threads.h"
#include "cli/verb.h"
#include "cli/verb_options.h"
#include "trace/number.h"
#include "trace/owned_doc.h"

enum { POLICIES_MAX = 32 };

static const char *const default_policies[] = { "task-per-instance", "stratus", "eva", "stint" };

enum { DEFAULT_POLICIES = sizeof(default_policies) / sizeof(default_policies[0]) };

static const char doc[] =
    "Replay a cluster's own history on rented machines, under several policies. The answer "
    "compares costs, users and waiting times.\vExamples:\n"
    "  stint replay --sacct examples/sacct.txt -c examples/machines.yaml\n"
    "  stint replay --sacct october.txt.gz -c machines.yaml --paid 48210.77\n"
    "  stint replay --sacct oct.txt -c all.yaml --owned std.16=8@0.25 --burst 10m\n"
    "  stint replay --swf SDSC-DS-2004-2.1-cln.swf.gz -c machines.yaml -p eva\n"
    "\n"
    "The history is Slurm's accounting (docs/reference/files/sacct.md has the sacct command),"
    " a log in the Standard Workload Format (swf.md), or a table of jobs (jobs-csv.md). Files"
    " may end in .gz or .zst. The catalogue lists the machines to rent (catalogue.md). Your "
    "data stays on this computer.\n"
    "\n"
    "Jobs arrive as they did and run as long as they did, also on shared machines. Stint "
    "learns runtimes as the history proceeds, unless --estimates says otherwise. Spot offers "
    "need --spot. A replay loses no spot machines, so they look better than they are. Running"
    " jobs stay in place, as under the daemon, unless --move gives the time to save one.\n"
    "\n"
    "Words in the answer:\n"
    "  always-on     a fixed cluster around the clock\n"
    "  reserved      the same at the catalogue's reserved prices\n"
    "  power-saving  Slurm's power saving\n"
    "  bound         lower bound: every plan costs at least this much\n"
    "  wait          time from submission to end, minus the runtime: queue, boot,\n"
    "                moves\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 4 a check failed (--check).";

enum key {
    KEY_SACCT = 256,
    KEY_SWF,
    KEY_JOBS,
    KEY_PAID,
    KEY_INTERVAL,
    KEY_SETTLE,
    KEY_MOVE,
    KEY_SUSPEND,
    KEY_ESTIMATES,
    KEY_DEMAND,
    KEY_PROCESSORS,
    KEY_SPOT,
    KEY_OWNED,
    KEY_BURST,
    KEY_USERS,
    KEY_CHECK,
};

static const struct argp_option argp_options[] = {
    { NULL, 0, NULL, 0, "The history (one of):", 1 },
    { "sacct", KEY_SACCT, "FILE", 0, "Output of `sacct --parsable2`", 1 },
    { "swf", KEY_SWF, "FILE", 0, "A log in the Standard Workload Format", 1 },
    { "jobs", KEY_JOBS, "FILE", 0, "A table of jobs, as CSV", 1 },
    { NULL, 0, NULL, 0, "The machines:", 2 },
    { "catalogue", 'c', "FILE", 0, "Machines to rent, as YAML or JSON", 2 },
    { "spot", KEY_SPOT, NULL, 0, "Use spot offers too", 2 },
    { "owned", KEY_OWNED, "TYPE=N[@DOLLARS]", 0,
      "N owned machines of this type: used first, always kept, at so many dollars an hour "
      "(default 0). Repeatable",
      2 },
    { "burst", KEY_BURST, "WHEN", 0,
      "Rent for jobs after they have waited so long for owned machines, such as 10m, or never "
      "(default: at once)",
      2 },
    { NULL, 0, NULL, 0, "How to replay:", 3 },
    { "policy", 'p', "NAME", 0,
      "Replay under this policy (default: task-per-instance, stratus, eva, stint). Repeatable", 3 },
    { "interval", KEY_INTERVAL, "TIME", 0,
      "Decide at this interval, such as 5m, instead of after each event", 3 },
    { "settle", KEY_SETTLE, "TIME", 0,
      "Decide so long after an event, to see the events right behind it (default 5s)", 3 },
    { "estimates", KEY_ESTIMATES, "FROM", 0,
      "Source of runtimes: learned from earlier jobs (default), user: the time limits, exact: "
      "the real ones",
      3 },
    { "move", KEY_MOVE, "TIME", 0,
      "With --sacct and --swf: allow moves of running jobs, where saving one takes so long "
      "(default: never)",
      3 },
    { "suspend", KEY_SUSPEND, "TIME", 0,
      "Power saving returns an empty node after so long (SuspendTime; default 10m)", 3 },
    { "demand", KEY_DEMAND, "WHICH", 0,
      "With --sacct: use what a job requested (default), or what it was allocated", 3 },
    { "instance-processors", KEY_PROCESSORS, "N", 0,
      "With --swf: processors of one machine (default 16)", 3 },
    { NULL, 0, NULL, 0, "The answer:", 4 },
    { "paid", KEY_PAID, "DOLLARS", 0, "The amount of the real invoice, to compare with", 4 },
    { "users", KEY_USERS, NULL, 0,
      "List all users instead of the ten with the highest cost. With -o csv: users instead of "
      "policies",
      4 },
    { "output", 'o', "FORMAT", 0, "table (default), wide, json, yaml or csv", 4 },
    VERB_SORT_OPTION,
    VERB_HTML_OPTION,
    VERB_MD_OPTION,
    { "check", KEY_CHECK, NULL, 0,
      "Exit with 4 unless all work is done, all machines are returned, the ledger agrees with "
      "the bills and every policy costs at least the bound",
      4 },
    { 0 },
};

struct arguments {
    struct replay_source source;
    struct replay_rhythm rhythm;
    const struct policy *policies[POLICIES_MAX];
    uint32_t policy_count;
    money_t paid;
    msec_t suspend_ms;
    bool all_users;
    enum output_format format;
    bool check;
    bool demand_given;
    bool processors_given;
    bool move_given;
    bool settle_given;
};

/* ---- the command line ---- */

static void take_history(struct argp_state *state, enum replay_kind kind, const char *path)
{
    struct arguments *arguments = state->input;

    if (arguments->source.path != NULL)
        argp_error(state, "one history at a time: --sacct, --swf or --jobs");
    arguments->source.kind = kind;
    arguments->source.path = path;
}

static void take_policy(struct argp_state *state, const char *name)
{
    struct arguments *arguments = state->input;
    const struct policy *policy = policy_find(name);
    char known[1024] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < policy_count && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "",
                                 policies[i]->name);
    if (policy == NULL)
        argp_error(state, "there is no policy '%s'; there are: %s", name, known);
    for (uint32_t i = 0; i < arguments->policy_count; i++) {
        if (arguments->policies[i] == policy)
            return;
    }
    if (arguments->policy_count == POLICIES_MAX)
        argp_error(state, "there are more than %d policies", POLICIES_MAX);
    else
        arguments->policies[arguments->policy_count++] = policy;
}

static msec_t take_duration(struct argp_state *state, const char *option, const char *text,
                            msec_t min)
{
    msec_t value = 0;

    if (number_duration(text, strlen(text), &value) < 0 || value < min || value > LIMIT_TIME_MS)
        argp_error(state, "%s must be a length of time such as 30s or 5m, not '%s'", option, text);
    return value;
}

static money_t take_money(struct argp_state *state, const char *text)
{
    const bool sign = text[0] == '$';
    const char *number = sign ? text + 1 : text;
    money_t value = 0;

    if (number_nearest(number, strlen(number), 6, &value) < 0 || value <= 0)
        argp_error(state, "--paid must be an amount of dollars such as 48210.77, not '%s'", text);
    return value;
}

/* Which of 'words', which end in NULL; an error says all of them. */
static int take_choice(struct argp_state *state, const char *option, const char *text,
                       const char *const *words)
{
    char known[256] = "";
    size_t used = 0;

    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0)
            return i;
        if (used < sizeof(known))
            used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                     i > 0 ? " or " : "", words[i]);
    }
    argp_error(state, "%s must be %s, not '%s'", option, known, text);
    return 0;
}

static void take_estimates(struct argp_state *state, const char *text)
{
    static const char *const words[] = { "exact", "user", "learned", NULL };
    static const enum sim_estimates values[] = { SIM_ESTIMATES_ORACLE, SIM_ESTIMATES_USER,
                                                 SIM_ESTIMATES_LEARNED };
    struct arguments *arguments = state->input;

    arguments->rhythm.estimates = values[take_choice(state, "--estimates", text, words)];
}

static void take_demand(struct argp_state *state, const char *text)
{
    static const char *const words[] = { "requested", "allocated", NULL };
    struct arguments *arguments = state->input;

    arguments->demand_given = true;
    arguments->source.demand = take_choice(state, "--demand", text, words) == 0
                                   ? SACCT_DEMAND_REQUESTED
                                   : SACCT_DEMAND_ALLOCATED;
}

static void take_processors(struct argp_state *state, const char *text)
{
    struct arguments *arguments = state->input;
    uint64_t value = 0;

    if (number_id(text, strlen(text), &value) < 0 || value < 1 ||
        value > SWF_PROCESSORS_PER_INSTANCE_MAX)
        argp_error(state, "--instance-processors must be a whole number from 1 to %d, not '%s'",
                   SWF_PROCESSORS_PER_INSTANCE_MAX, text);
    arguments->processors_given = true;
    arguments->source.swf.processors_per_instance = (uint32_t)value;
}

/* "c7i.4xlarge=4", "c7i.4xlarge=4@0.20". */
static void take_owned(struct argp_state *state, const char *text)
{
    struct replay_source *source = &((struct arguments *)state->input)->source;
    const size_t type = strcspn(text, "=");
    const char *number = text[type] == '=' ? text + type + 1 : "";
    const size_t digits = strcspn(number, "@");
    const char *price = number[digits] == '@' ? number + digits + 1 : "0";
    uint64_t count = 0;
    money_t per_hour = 0;

    if (type == 0 || number_id(number, digits, &count) < 0 || count > OWNED_MACHINES_MAX ||
        number_nearest(price, strlen(price), 6, &per_hour) < 0 || per_hour < 0)
        argp_error(state,
                   "--owned must be a type and a number of machines, with or without dollars per "
                   "hour, such as c7i.4xlarge=4 or c7i.4xlarge=4@0.20, not '%s'",
                   text);
    if (source->owned_count == REPLAY_OWNED_MAX)
        argp_error(state, "there are more than %d --owned", REPLAY_OWNED_MAX);
    else
        source->owned[source->owned_count++] = (struct replay_owned){
            .type = text, .length = type, .count = (uint32_t)count, .per_hour = per_hour
        };
}

static void check_whole(struct argp_state *state)
{
    const struct arguments *arguments = state->input;

    if (arguments->source.path == NULL)
        argp_error(state, "which history? Give --sacct, --swf or --jobs");
    if (arguments->source.catalogue_path == NULL)
        argp_error(state, "which machines? Give --catalogue, such as examples/machines.yaml");
    if (arguments->demand_given && arguments->source.kind != REPLAY_SACCT)
        argp_error(state, "--demand goes with --sacct only");
    if (arguments->rhythm.interval_ms > 0 && arguments->settle_given)
        argp_error(state, "--interval or --settle: one is instead of the other");
    if (arguments->processors_given && arguments->source.kind != REPLAY_SWF)
        argp_error(state, "--instance-processors goes with --swf only");
    if (arguments->rhythm.burst.after_ms > 0 && arguments->source.owned_count == 0)
        argp_error(state, "--burst goes with --owned only");
    if (arguments->move_given && arguments->source.kind == REPLAY_JOBS)
        argp_error(state, "--move goes with --sacct and --swf; a table of jobs says it itself");
}

static error_t parse_history(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case KEY_SACCT:
        take_history(state, REPLAY_SACCT, arg);
        return 0;
    case KEY_SWF:
        take_history(state, REPLAY_SWF, arg);
        return 0;
    case KEY_JOBS:
        take_history(state, REPLAY_JOBS, arg);
        return 0;
    case 'c':
        arguments->source.catalogue_path = arg;
        return 0;
    case KEY_SPOT:
        arguments->source.spot = true;
        return 0;
    case KEY_OWNED:
        take_owned(state, arg);
        return 0;
    case KEY_BURST:
        arguments->rhythm.burst.after_ms =
            strcmp(arg, "never") == 0 ? MSEC_NEVER : take_duration(state, "--burst", arg, 0);
        return 0;
    case KEY_DEMAND:
        take_demand(state, arg);
        return 0;
    case KEY_MOVE:
        arguments->source.move_ms =
            strcmp(arg, "never") == 0 ? -1 : take_duration(state, "--move", arg, 0);
        arguments->move_given = true;
        return 0;
    case KEY_SUSPEND:
        arguments->suspend_ms = take_duration(state, "--suspend", arg, 0);
        return 0;
    case KEY_PROCESSORS:
        take_processors(state, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct error error = { "" };

    switch (key) {
    case 'p':
        take_policy(state, arg);
        return 0;
    case KEY_PAID:
        arguments->paid = take_money(state, arg);
        return 0;
    case KEY_INTERVAL:
        arguments->rhythm.interval_ms = take_duration(state, "--interval", arg, 1);
        return 0;
    case KEY_SETTLE:
        arguments->rhythm.settle_ms = take_duration(state, "--settle", arg, 0);
        arguments->settle_given = true;
        return 0;
    case KEY_ESTIMATES:
        take_estimates(state, arg);
        return 0;
    case KEY_USERS:
        arguments->all_users = true;
        return 0;
    case 'o':
        if (output_format_parse(arg, &arguments->format, &error) < 0)
            argp_error(state, "%s", error.text);
        return 0;
    case KEY_CHECK:
        arguments->check = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is too much: name the history by --sacct, --swf or --jobs", arg);
        return 0;
    case ARGP_KEY_END:
        check_whole(state);
        return 0;
    default:
        return parse_history(key, arg, state);
    }
}

/* ---- the replay ---- */

static int answer(const struct arguments *arguments, const struct replay_input *input,
                  const struct replay_run *runs, const struct replay_baseline *baselines,
                  struct error *reterr)
{
    const struct replay_report report = {
        .source = &arguments->source,
        .input = input,
        .runs = runs,
        .run_count = arguments->policy_count,
        .baselines = baselines,
        .suspend_ms = arguments->suspend_ms,
        .estimates = arguments->rhythm.estimates,
        .paid = arguments->paid,
        .all_users = arguments->all_users,
        .format = arguments->format,
    };
    const int rc = replay_report_write(&report, stdout);

    if (rc < 0)
        return error_set(reterr, rc, "the answer cannot be written: %s", strerror(-rc));
    return 0;
}

static bool all_add_up(const struct replay_run *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!runs[i].adds_up)
            return false;
    }
    return true;
}

static int replay(const struct arguments *arguments)
{
    struct replay_run runs[POLICIES_MAX] = { 0 };
    struct replay_baseline baselines[REPLAY_BASELINES];
    struct replay_input input;
    struct error error = { "" };
    int code = EXIT_DONE;

    if (replay_input_load(&arguments->source, &input, &error) < 0)
        return verb_fail("replay", &error);

    const struct replay_all all = {
        .input = &input,
        .rhythm = &arguments->rhythm,
        .chosen = arguments->policies,
        .count = arguments->policy_count,
        .runs = runs,
        .suspend_ms = arguments->suspend_ms,
        .baselines = baselines,
    };

    if (replay_run_all(&all, &error) < 0 || answer(arguments, &input, runs, baselines, &error) < 0)
        code = verb_fail("replay", &error);
    else if (arguments->check && !all_add_up(runs, arguments->policy_count))
        code = EXIT_DIFFERS;
    for (uint32_t i = 0; i < arguments->policy_count; i++)
        replay_run_done(&runs[i]);
    replay_input_done(&input);
    return code;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint replay";
    const struct argp argp = { .options = argp_options, .parser = parse, .doc = doc };
    struct arguments arguments = {
        .source = { .swf = swf_options_default(), .move_ms = -1 },
        .rhythm = { .settle_ms = 5 * MSEC_PER_SEC, .estimates = SIM_ESTIMATES_LEARNED },
        .paid = MONEY_UNKNOWN,
        .suspend_ms = 600 * MSEC_PER_SEC,
    };

    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;
    if (arguments.policy_count == 0) {
        for (; arguments.policy_count < DEFAULT_POLICIES; arguments.policy_count++)
            arguments.policies[arguments.policy_count] =
                policy_find(default_policies[arguments.policy_count]);
    }
    return replay(&arguments);
}

const struct verb verb_replay = {
    .name = "replay",
    .summary = "replay your own job history under several policies",
    .run = run,
    .has_rows = true,
    .report_title = "What the past would have cost",
    .baseline =
        "The same jobs under each policy, arriving when they did and running as long as they "
        "did. 'of first' divides a cost by that of the first policy; 'saved $' is against the "
        "invoice that --paid names; 'as it was' is how long jobs really waited.",
    .not_counted =
        "Storage, network traffic, taxes, discounts granted afterwards, work of "
        "administrators, and that jobs which share a machine may slow each other down. Spot "
        "machines, where included, are never taken away in a replay.",
};
