/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint ledger - what was spent, by whom or on what. It asks the daemon, or reads its file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/bill_export.h"
#include "cli/operator.h"
#include "cli/period.h"
#include "cli/state_path.h"
#include "cli/verb.h"
#include "serve/ledger_json.h"

enum {
    KEY_BY = 'b',
    KEY_SINCE = 0x100,
    KEY_UNTIL,
    KEY_APPORTION,
    KEY_STATE,
    KEY_FOCUS,
    KEY_USAGE,
    PATH_SIZE = 192,
    ROWS_MAX = 10000,
    MARK_SIZE = 128,
};

static const char doc[] =
    "Show costs by user, job, account, partition, QOS, machine type, market, day or month. "
    "The rows add up to the bill, to the micro-dollar.\vExamples:\n"
    "  stint ledger\n"
    "  stint ledger --by account --since 2026-11 --until 2026-12 --apportion\n"
    "  stint ledger --by day -o csv --state /var/lib/stint/stint.db\n"
    "  stint ledger --since 2026-11 --focus november.csv\n"
    "  stint ledger --usage usage.csv && stint commit usage.csv\n"
    "\n"
    "Words in the answer:\n"
    "  alone            cost of the finished tasks if each had its own cheapest\n"
    "                   machine; empty until a task has finished\n"
    "  (idle and boot)  machine time unused by tasks. --apportion divides it among\n"
    "                   the other rows in proportion to their cost\n"
    "  (unassigned)     the rest of a period, since machines and tasks spread their\n"
    "                   costs over different times\n"
    "\n"
    "Within a period, a machine's cost counts evenly over its billed time, and a task's cost "
    "evenly over its time on machines, back from its end. Days are in UTC.\n"
    "\n"
    "--state reads the file instead of asking the daemon, also while it runs. --focus and "
    "--usage always read the file. For rented machines it has the last booked amount.\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon, 2 wrong usage.";

static const struct argp_option options[] = {
    { "by", KEY_BY, "WHAT", 0,
      "user (default), job, account, partition, qos, type, market, day or month", 0 },
    { "since", KEY_SINCE, "WHEN", 0, "Start: 2026-11-15, 2026-11, or 7d ago", 0 },
    { "until", KEY_UNTIL, "WHEN", 0, "End, exclusive", 0 },
    { "apportion", KEY_APPORTION, NULL, 0, "Divide boot and idle time among the other rows", 0 },
    { "config", 'c', "FILE", 0,
      "The stint.conf with the key 'state' (default: " STATE_CONF_PATH ")", 1 },
    { "state", KEY_STATE, "FILE", 0, "Read this state file instead of asking the daemon", 1 },
    { "focus", KEY_FOCUS, "FILE", 0,
      "Write machine costs as FOCUS 1.0, one row per machine and day", 1 },
    { "usage", KEY_USAGE, "FILE", 0, "Write machines by hour and type, for stint commit", 1 },
    { 0 },
};

struct arguments {
    struct daemon_options daemon;
    struct store_query query;
    const char *conf;
    const char *state;
    const char *focus;
    const char *usage;
};

static msec_t take_moment(struct argp_state *state, const char *option, const char *text)
{
    msec_t at = 0;

    if (period_moment(text, period_now(), &at) < 0)
        argp_error(state, "%s is " PERIOD_WORDS ", not '%s'", option, text);
    return at;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->daemon;
        return 0;
    case KEY_BY:
        arguments->query.by = store_by_find(arg);
        if (arguments->query.by == STORE_BYS)
            argp_error(state, "--by is %s, not '%s'", store_by_words(), arg);
        return 0;
    case KEY_SINCE:
        arguments->query.period.since = take_moment(state, "--since", arg);
        return 0;
    case KEY_UNTIL:
        arguments->query.period.until = take_moment(state, "--until", arg);
        return 0;
    case KEY_APPORTION:
        arguments->query.is_apportioned = true;
        return 0;
    case 'c':
        arguments->conf = arg;
        return 0;
    case KEY_STATE:
        arguments->state = arg;
        return 0;
    case KEY_FOCUS:
        arguments->focus = arg;
        return 0;
    case KEY_USAGE:
        arguments->usage = arg;
        return 0;
    case ARGP_KEY_END:
        if (arguments->query.period.since >= arguments->query.period.until)
            argp_error(state, "--since must be before --until");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The table. ---------------------------------------------------------------------------------- */

enum { NAME_COLUMN, USER_COLUMN, JOB_NAME_COLUMN, FIRST_NUMBER, COLUMNS = 8 };

static void fill_columns(enum store_by by, struct report_column *columns)
{
    static const struct report_column all[COLUMNS] = {
        [NAME_COLUMN] = { .key = "name", .heading = "name", .kind = REPORT_TEXT },
        [USER_COLUMN] = { .key = "user", .heading = "user", .kind = REPORT_TEXT },
        [JOB_NAME_COLUMN] = { .key = "job_name", .heading = "job name", .kind = REPORT_TEXT },
        { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 6 },
        { .key = "overhead_usd", .heading = "of it idle $", .kind = REPORT_MONEY, .digits = 6 },
        { .key = "alone_usd", .heading = "alone $", .kind = REPORT_MONEY, .digits = 6 },
        { .key = "hours", .heading = "hours", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "count", .heading = "tasks", .kind = REPORT_INTEGER },
    };

    memcpy(columns, all, sizeof(all));
    columns[NAME_COLUMN].heading = store_by_word(by);
    if (!store_by_payer(by))
        columns[COLUMNS - 1].heading = "machines";
}

/* What is not by one of those that the rows are by. */
static bool is_rest(const char *name)
{
    return strcmp(name, "(others)") == 0 || strcmp(name, "(idle and boot)") == 0 ||
           strcmp(name, "(unassigned)") == 0;
}

static void add_row(struct report_table *table, const json_t *row, enum store_by by)
{
    const bool by_payer = store_by_payer(by);
    const char *name = field_word(row, "name");
    const money_t alone = by_payer ? field_money(row, "alone_cost_microdollars") : MONEY_UNKNOWN;

    if (is_rest(name))
        report_table_add_rest(table, name);
    else
        report_table_add_text(table, name);
    if (by == STORE_BY_JOB) {
        report_table_add_text(table, field_text(row, "user"));
        report_table_add_text(table, field_text(row, "job_name"));
    }
    report_table_add_money(table, field_money(row, "cost_microdollars"));
    report_table_add_money(table,
                           by_payer ? field_money(row, "overhead_microdollars") : MONEY_UNKNOWN);
    report_table_add_money(table, alone != 0 ? alone : MONEY_UNKNOWN); /* it is of what has ended */
    report_table_add_real(table, (double)field_integer(row, "ms", 0) / (double)MSEC_PER_HOUR);
    report_table_add_integer(table, field_integer(row, "count", 0));
}

/* All columns, or all but those that only jobs have. */
static struct report_table *make_table(const json_t *ledger, enum store_by by)
{
    const bool by_job = by == STORE_BY_JOB;
    struct report_column columns[COLUMNS];
    const json_t *row;
    size_t i;

    fill_columns(by, columns);
    if (!by_job)
        memmove(&columns[USER_COLUMN], &columns[FIRST_NUMBER],
                (COLUMNS - FIRST_NUMBER) * sizeof(columns[0]));

    struct report_table *table =
        report_table_create("ledger", columns, by_job ? COLUMNS : COLUMNS - 2);

    json_array_foreach(json_object_get(ledger, "rows"), i, row) add_row(table, row, by);
    return table;
}

/* In the mode shadow nothing was rented: it is what would have been. */
static void print_total(const json_t *ledger)
{
    const json_t *total = json_object_get(ledger, "total");
    const char *mode = field_text(ledger, "mode");
    const bool is_shadow = mode != NULL && strcmp(mode, "shadow") == 0;
    const money_t bill = field_money(total, "bill_microdollars");
    const money_t owed = field_money(total, "owed_microdollars");
    const money_t committed = field_money(total, "committed_microdollars");

    (void)printf("\n%s: %s (%s for work, %s for idle machines, %s for booting machines).\n",
                 is_shadow ? "Forecast bill" : "Bill", money_words(bill, 6).text,
                 money_words(field_money(total, "work_microdollars"), 6).text,
                 money_words(field_money(total, "idle_microdollars"), 6).text,
                 money_words(field_money(total, "boot_microdollars"), 6).text);
    if (bill == MONEY_UNKNOWN || owed == MONEY_UNKNOWN)
        return;
    (void)printf("Baseline: one machine per task would have cost %s for the %" PRId64
                 " finished tasks.\n",
                 money_words(field_money(total, "alone_microdollars"), 6).text,
                 field_integer(total, "tasks", 0));
    (void)printf("%s: %s against that baseline. Counted are the bill without unfinished tasks "
                 "(%s)\nand %s that the rented machines owe even if they are returned now.\n",
                 is_shadow ? "Forecast saving" : "Saved",
                 money_words(field_money(total, "savings_microdollars"), 6).text,
                 money_words(bill - owed, 6).text,
                 money_words(committed != MONEY_UNKNOWN ? committed : 0, 6).text);
}

/* Where it comes from. ------------------------------------------------------------------------ */

static int ask_daemon(const struct arguments *arguments, json_t **ret, struct error *reterr)
{
    const struct store_query *query = &arguments->query;
    char path[PATH_SIZE];
    int used = snprintf(path, sizeof(path), "/v1/ledger?by=%s&limit=%d", store_by_word(query->by),
                        ROWS_MAX);

    if (query->is_apportioned)
        used += snprintf(path + used, sizeof(path) - (size_t)used, "&apportion=yes");
    if (query->period.since != INT64_MIN)
        used += snprintf(path + used, sizeof(path) - (size_t)used, "&since=%" PRId64,
                         query->period.since);
    if (query->period.until != INT64_MAX)
        (void)snprintf(path + used, sizeof(path) - (size_t)used, "&until=%" PRId64,
                       query->period.until);
    return daemon_get(&arguments->daemon, path, ret, reterr);
}

static int open_books(const struct arguments *arguments, struct store **ret, bool *ret_shadow,
                      struct error *reterr)
{
    char path[STORE_PATH_ROOM];
    const int rc = state_path(arguments->conf, arguments->state, path, ret_shadow, reterr);

    return rc < 0 ? rc : store_open_books(path, ret, reterr);
}

static int read_file(const struct arguments *arguments, json_t **ret, struct error *reterr)
{
    struct store *store = NULL;
    bool is_shadow = false;
    const int rc = open_books(arguments, &store, &is_shadow, reterr);

    if (rc < 0)
        return rc;
    *ret = ledger_json(store, &arguments->query, is_shadow ? "shadow" : NULL, reterr);
    store_close(store);
    return *ret != NULL ? 0 : -EIO;
}

/* Exports. ------------------------------------------------------------------------------------ */

static int write_focus(const struct arguments *arguments, struct store *store, FILE *out,
                       struct error *reterr)
{
    char cluster[MARK_SIZE];
    char cloud[MARK_SIZE];
    char region[MARK_SIZE];
    char account[MARK_SIZE];

    store_marked(store, MARK_CLUSTER, cluster, sizeof(cluster));
    store_marked(store, MARK_CLOUD, cloud, sizeof(cloud));
    store_marked(store, MARK_REGION, region, sizeof(region));
    store_marked(store, MARK_ACCOUNT, account, sizeof(account));

    const struct bill_names names = {
        .cluster = cluster[0] != '\0' ? cluster : "stint",
        .provider = cloud[0] != '\0' ? cloud : "unknown",
        .region = region[0] != '\0' ? region : NULL,
        .account = account[0] != '\0' ? account : NULL,
    };

    return bill_export_focus(store, &arguments->query.period, &names, out, reterr);
}

static int write_export(const struct arguments *arguments, struct store *store, const char *path,
                        struct error *reterr)
{
    FILE *out = fopen(path, "we");

    if (out == NULL)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));

    int rc = arguments->focus != NULL
                 ? write_focus(arguments, store, out, reterr)
                 : bill_export_usage(store, &arguments->query.period, out, reterr);
    const bool failed = ferror(out) != 0;

    if ((fclose(out) != 0 || failed) && rc == 0)
        rc = error_set(reterr, -EIO, "%s: cannot be written", path);
    return rc;
}

static int export(const struct arguments *arguments)
{
    const char *path = arguments->focus != NULL ? arguments->focus : arguments->usage;
    struct error error = { "" };
    struct store *store = NULL;
    bool is_shadow = false;
    int rc = open_books(arguments, &store, &is_shadow, &error);

    if (rc == 0)
        rc = write_export(arguments, store, path, &error);
    store_close(store);
    return rc < 0 ? verb_fail("ledger", &error) : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint ledger";
    const struct argp_child children[] = { { &daemon_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    struct arguments arguments = { .query = { .period = STORE_ALWAYS, .most = ROWS_MAX } };
    struct error error = { "" };
    json_t *ledger = NULL;
    int code;

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;
    if (arguments.focus != NULL || arguments.usage != NULL)
        return export(&arguments);
    if ((arguments.state != NULL || arguments.conf != NULL
             ? read_file(&arguments, &ledger, &error)
             : ask_daemon(&arguments, &ledger, &error)) < 0)
        return verb_fail("ledger", &error);
    if (arguments.daemon.format == OUTPUT_JSON) {
        code = print_json("ledger", ledger);
    } else {
        code = print_sorted("ledger", make_table(ledger, arguments.query.by), &arguments.daemon);
        if (code == EXIT_DONE && arguments.daemon.format == OUTPUT_TABLE)
            print_total(ledger);
    }
    json_decref(ledger);
    return code;
}

const struct verb verb_ledger = {
    .name = "ledger",
    .summary = "show costs by user, job, account, machine type, day ...",
    .run = run,
    .is_query = true,
};
