/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint reconcile - what the cloud charged, against the books: forecast, ledger, bill, and why they differ.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/bill_compare.h"
#include "cli/operator.h"
#include "cli/state_path.h"
#include "cli/verb.h"
#include "trace/input_file.h"

enum { KEY_STATE = 0x100, KEY_CLUSTER, KEY_REGION, MARK_SIZE = 128, DAY_SIZE = 10 };

static const char args_doc[] = "BILL";

static const char doc[] =
    "Compare a bill of the cloud with the books of stintd, and explain every difference.\v"
    "Examples:\n"
    "  stint reconcile cur-2026-11.csv.gz\n"
    "  stint reconcile focus.csv --state /var/backups/stint-november.db -o json\n"
    "\n"
    "BILL is a Cost and Usage Report or a FOCUS table, as CSV, also compressed "
    "(docs/reference/files/bill-csv.md). It needs the cost allocation tags stint:cluster and "
    "stint:key. The books come from the state file, also while the daemon runs. The forecast "
    "is the time of each machine at its price when it was rented. The causes add up to the "
    "difference between ledger and bill. Lines without our tag count only for machines of the"
    " books that are absent from the tagged lines.\n"
    "\n"
    "Exit codes: 0 done, 1 a file cannot be read, 2 wrong usage.";

static const struct argp_option options[] = {
    { "config", 'c', "FILE", 0,
      "The stint.conf with the key 'state' (default: " STATE_CONF_PATH ")", 0 },
    { "state", KEY_STATE, "FILE", 0, "The state file itself", 0 },
    { "cluster", KEY_CLUSTER, "NAME", 0, "The value of the tag (default: from the state file)", 0 },
    { "region", KEY_REGION, "NAME", 0, "The region of the machines (default: likewise)", 0 },
    { "output", 'o', "FORMAT", 0, "table (default), wide, json, yaml or csv", 0 },
    { 0 },
};

struct arguments {
    const char *bill;
    const char *conf;
    const char *state;
    const char *cluster;
    const char *region;
    enum output_format format;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct error error = { "" };

    switch (key) {
    case 'c':
        arguments->conf = arg;
        return 0;
    case KEY_STATE:
        arguments->state = arg;
        return 0;
    case KEY_CLUSTER:
        arguments->cluster = arg;
        return 0;
    case KEY_REGION:
        arguments->region = arg;
        return 0;
    case 'o':
        if (output_format_parse(arg, &arguments->format, &error) < 0)
            argp_error(state, "%s", error.text);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->bill != NULL)
            argp_error(state, "one bill at a time");
        arguments->bill = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which bill? Name its CSV file");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static struct report_table *make_table(const struct reconciliation *found)
{
    static const struct report_column columns[] = {
        { .key = "what", .heading = "what", .kind = REPORT_TEXT },
        { .key = "usd", .heading = "$", .kind = REPORT_MONEY, .digits = 6 },
        { .key = "lines", .heading = "lines", .kind = REPORT_INTEGER },
    };
    struct report_table *table =
        report_table_create("reconciliation", columns, sizeof(columns) / sizeof(columns[0]));

    report_table_add_text(table, "forecast: price when rented, times time");
    report_table_add_money(table, found->forecast);
    report_table_add_integer(table, 0);
    report_table_add_text(table, "ledger");
    report_table_add_money(table, found->ledger);
    report_table_add_integer(table, 0);
    for (int i = 0; i < RECONCILE_CAUSES; i++) {
        if (found->lines[i] == 0)
            continue;
        report_table_add_text(table, reconcile_cause_text((enum reconcile_cause)i));
        report_table_add_money(table, found->cause[i]);
        report_table_add_integer(table, (int64_t)found->lines[i]);
    }
    report_table_add_text(table, "bill: lines with our tag");
    report_table_add_money(table, found->bill);
    report_table_add_integer(table, (int64_t)found->ours);
    return table;
}

static money_t sum_of_causes(const struct reconciliation *found)
{
    money_t sum = 0;

    for (int i = 0; i < RECONCILE_CAUSES; i++)
        sum += found->cause[i];
    return sum;
}

/* What machines cost on the bill, whatever tag they have. */
static money_t machines_of(const struct reconciliation *found)
{
    return found->ledger + found->cause[CAUSE_PRICE] + found->cause[CAUSE_TIME] +
           found->cause[CAUSE_ROUNDING] + found->cause[CAUSE_NOT_BILLED];
}

static double percent_off(money_t money, money_t of)
{
    return of != 0 ? 100.0 * (double)(money - of) / (double)of : 0.0;
}

static void print_summary(const struct reconciliation *found)
{
    const money_t machines = machines_of(found);

    (void)printf("\nFrom %.*s until %.*s (UTC): ", DAY_SIZE, time_words(found->period.since).text,
                 DAY_SIZE, time_words(found->period.until).text);
    (void)printf("our machines cost %s on the bill; the forecast was %.2f %% off, the ledger "
                 "%.2f %%.\n",
                 money_words(machines, 6).text, percent_off(found->forecast, machines),
                 percent_off(found->ledger, machines));
    (void)printf("Unexplained: %s. %" PRIu64 " lines of others were left out.\n",
                 money_words(found->bill - found->ledger - sum_of_causes(found), 6).text,
                 found->others);
}

static json_t *make_json(const struct reconciliation *found)
{
    json_t *causes = json_object();

    for (int i = 0; i < RECONCILE_CAUSES; i++)
        json_object_set_new(causes, reconcile_cause_word((enum reconcile_cause)i),
                            json_integer(found->cause[i]));
    return json_pack(
        "{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:I}", "since", (json_int_t)found->period.since,
        "until", (json_int_t)found->period.until, "forecast_microdollars",
        (json_int_t)found->forecast, "ledger_microdollars", (json_int_t)found->ledger,
        "bill_microdollars", (json_int_t)found->bill, "machines_microdollars",
        (json_int_t)machines_of(found), "unexplained_microdollars",
        (json_int_t)(found->bill - found->ledger - sum_of_causes(found)), "causes_microdollars",
        causes, "lines", (json_int_t)found->ours, "lines_of_others", (json_int_t)found->others);
}

static int print_found(const struct arguments *arguments, const struct reconciliation *found)
{
    if (arguments->format == OUTPUT_JSON) {
        json_t *json = make_json(found);
        const int code = print_json("reconcile", json);

        json_decref(json);
        return code;
    }

    const int code = print_table("reconcile", make_table(found), arguments->format);

    if (code == EXIT_DONE && arguments->format == OUTPUT_TABLE)
        print_summary(found);
    return code;
}

static int compare(const struct arguments *arguments, const struct bill *bill,
                   struct reconciliation *ret, struct error *reterr)
{
    char path[STORE_PATH_ROOM];
    char cluster[MARK_SIZE];
    char region[MARK_SIZE];
    struct store *store = NULL;
    bool is_shadow = false;
    int rc = state_path(arguments->conf, arguments->state, path, &is_shadow, reterr);

    if (rc == 0)
        rc = store_open_books(path, &store, reterr);
    if (rc < 0)
        return rc;
    store_marked(store, MARK_CLUSTER, cluster, sizeof(cluster));
    store_marked(store, MARK_REGION, region, sizeof(region));
    if (arguments->cluster != NULL)
        (void)snprintf(cluster, sizeof(cluster), "%s", arguments->cluster);
    if (arguments->region != NULL)
        (void)snprintf(region, sizeof(region), "%s", arguments->region);
    rc = cluster[0] == '\0'
             ? error_set(reterr, -EINVAL, "%s does not name its cluster: give --cluster", path)
             : bill_compare(store, bill, cluster, region[0] != '\0' ? region : NULL, ret, reterr);
    store_close(store);
    return rc;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint reconcile";
    const struct argp argp = {
        .options = options, .parser = parse, .args_doc = args_doc, .doc = doc
    };
    struct arguments arguments = { .format = OUTPUT_TABLE };
    struct reconciliation found = { 0 };
    struct input_file file = { 0 };
    struct bill bill = { .lines = NULL };
    struct error error = { "" };

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;

    int rc = input_file_read(arguments.bill, &file, &error);

    if (rc == 0) {
        rc = bill_csv_read(file.text, file.length, &bill, &error);
        if (rc < 0)
            (void)error_prefix(&error, rc, arguments.bill);
    }
    if (rc == 0)
        rc = compare(&arguments, &bill, &found, &error);
    input_file_done(&file);
    bill_done(&bill);
    return rc < 0 ? verb_fail("reconcile", &error) : print_found(&arguments, &found);
}

const struct verb verb_reconcile = {
    .name = "reconcile",
    .summary = "compare a bill of the cloud with the books",
    .run = run,
};
