/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint ledger - what was spent, by whom or on what.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/operator.h"
#include "cli/verb.h"

enum { KEY_BY = 'b', PATH_SIZE = 64, ROWS_MAX = 10000 };

static const char doc[] =
    "Tell what was spent, by user, job, machine type or day. The rows add up to the bill, to the "
    "micro-dollar.\v"
    "'alone' is what the ended tasks would have cost with the cheapest machine each. By user and by "
    "job, what no task pays for is '(idle and boot)'. Days are those of UTC.\n"
    "\n"
    "Exit codes: 0 done, 1 the daemon cannot be asked, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  stint ledger\n"
    "  stint ledger --by day -o csv";

static const struct argp_option options[] = {
    { "by", KEY_BY, "WHAT", 0, "user (default), job, type or day", 0 },
    { 0 },
};

struct arguments {
    struct daemon_options daemon;
    const char *by;
};

static bool is_known(const char *by)
{
    static const char *const words[] = { "user", "job", "type", "day" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(by, words[i]) == 0)
            return true;
    }
    return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->daemon;
        return 0;
    case KEY_BY:
        if (!is_known(arg))
            argp_error(state, "--by is user, job, type or day, not '%s'", arg);
        arguments->by = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enum { NAME_COLUMN, USER_COLUMN, JOB_NAME_COLUMN, FIRST_NUMBER, COLUMNS = 7 };

/* What a machine's tasks would have cost alone is not known by machine type or day. */
static bool has_alone(const char *by)
{
    return strcmp(by, "type") != 0 && strcmp(by, "day") != 0;
}

static void fill_columns(const char *by, struct report_column *columns)
{
    static const struct report_column all[COLUMNS] = {
        [NAME_COLUMN] = { .key = "name", .heading = "name", .kind = REPORT_TEXT },
        [USER_COLUMN] = { .key = "user", .heading = "user", .kind = REPORT_TEXT },
        [JOB_NAME_COLUMN] = { .key = "job_name", .heading = "job name", .kind = REPORT_TEXT },
        { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 6 },
        { .key = "alone_usd", .heading = "alone $", .kind = REPORT_MONEY, .digits = 6 },
        { .key = "hours", .heading = "hours", .kind = REPORT_DECIMAL, .digits = 3 },
        { .key = "count", .heading = "tasks", .kind = REPORT_INTEGER },
    };

    memcpy(columns, all, sizeof(all));
    columns[NAME_COLUMN].heading = by;
    if (!has_alone(by))
        columns[COLUMNS - 1].heading = "machines";
}

static void add_row(struct report_table *table, const json_t *row, const char *by)
{
    report_table_add_text(table, field_word(row, "name"));
    if (strcmp(by, "job") == 0) {
        report_table_add_text(table, field_text(row, "user"));
        report_table_add_text(table, field_text(row, "job_name"));
    }
    report_table_add_money(table, field_money(row, "cost_microdollars"));
    report_table_add_money(table, has_alone(by) ? field_money(row, "alone_cost_microdollars")
                                                : MONEY_UNKNOWN);
    report_table_add_real(table, (double)field_integer(row, "ms", 0) / (double)MSEC_PER_HOUR);
    report_table_add_integer(table, field_integer(row, "count", 0));
}

/* All columns, or all but those that only jobs have. */
static struct report_table *make_table(const json_t *ledger, const char *by)
{
    const bool by_job = strcmp(by, "job") == 0;
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

static void print_total(const json_t *ledger)
{
    const json_t *total = json_object_get(ledger, "total");

    (void)printf("\nThe bill is %s: %s for work, %s for machines that stood idle, %s for those "
                 "that booted.\n",
                 money_words(field_money(total, "bill_microdollars"), 6).text,
                 money_words(field_money(total, "work_microdollars"), 6).text,
                 money_words(field_money(total, "idle_microdollars"), 6).text,
                 money_words(field_money(total, "boot_microdollars"), 6).text);
    (void)printf("With a machine for each of %" PRId64 " tasks that ended: %s; saved: %s.\n",
                 field_integer(total, "tasks", 0),
                 money_words(field_money(total, "alone_microdollars"), 6).text,
                 money_words(field_money(total, "savings_microdollars"), 6).text);
}

static int run(int argc, char **argv)
{
    static char name[] = "stint ledger";
    const struct argp_child children[] = { { &daemon_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    struct arguments arguments = { .by = "user" };
    struct error error = { "" };
    json_t *ledger = NULL;
    char path[PATH_SIZE];
    int code;

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;
    (void)snprintf(path, sizeof(path), "/v1/ledger?by=%s&limit=%d", arguments.by, ROWS_MAX);
    if (daemon_get(&arguments.daemon, path, &ledger, &error) < 0)
        return verb_fail("ledger", &error);
    if (arguments.daemon.format == OUTPUT_JSON) {
        code = print_json("ledger", ledger);
    } else {
        code = print_table("ledger", make_table(ledger, arguments.by), arguments.daemon.format);
        if (code == EXIT_DONE && arguments.daemon.format == OUTPUT_TABLE)
            print_total(ledger);
    }
    json_decref(ledger);
    return code;
}

const struct verb verb_ledger = {
    .name = "ledger",
    .summary = "what was spent, by user, job, machine type or day",
    .run = run,
};
