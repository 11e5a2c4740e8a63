/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint top - machines and jobs, live on a terminal; printed once where there is none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/operator.h"
#include "cli/present.h"
#include "cli/status_lines.h"
#include "cli/top_screen.h"
#include "cli/verb.h"
#include "draw/blocks.h"

enum {
    ROWS_PLAIN = 20, /* of each list, where there is no terminal */
    ROWS_MAX = 10000,
    BAR_SIZE = 64,
    KEY_SORT = 0x1100,
    KEY_FILTER,
    KEY_COLOUR,
    KEY_ONCE,
};

static const char doc[] =
    "Watch machines and jobs: load, waiting jobs and costs. On a terminal the view is live, "
    "with sorting, a filter and details. Press ? for the keys, and q to quit. Elsewhere it is"
    " printed once.\vExamples:\n"
    "  stint top\n"
    "  stint top --sort -cost --filter alice\n"
    "\n"
    "Columns:\n"
    "  machines  machine, type, market, state, age, load, cpu, mem, tasks,\n"
    "            per_hour, bill\n"
    "  jobs      job, user, name, state, age, ran, expected, tasks, machine, cost\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon, 2 wrong usage.";

static const struct argp_option options[] = {
    { "sort", KEY_SORT, "COLUMN", 0, "Sort by this column (-COLUMN: largest first)", 0 },
    { "filter", KEY_FILTER, "WORDS", 0, "Show only rows with all of these words", 0 },
    { "color", KEY_COLOUR, "WHEN", 0,
      "auto (default: color unless NO_COLOR is set), always or never", 0 },
    { "once", KEY_ONCE, NULL, 0, "Print once, also on a terminal", 0 },
    { 0 },
};

struct arguments {
    struct daemon_options daemon;
    struct top_setup setup;
    bool once;
};

static bool parse_sort(const char *key, struct top_setup *setup)
{
    const bool descending = key[0] == '-';
    bool any = false;

    for (int view = 0; view < TOP_VIEWS; view++) {
        const int column = top_column((enum top_view)view, key + descending);

        if (column < 0)
            continue;
        setup->order[view] = (struct top_order){ column, descending };
        setup->view = any ? setup->view : (enum top_view)view;
        any = true;
    }
    return any;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): argp says what it is */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->daemon;
        return 0;
    case KEY_SORT:
        if (!parse_sort(arg, &arguments->setup))
            argp_error(state, "there is no column '%s'; `stint top --help` names them", arg);
        return 0;
    case KEY_FILTER:
        arguments->setup.filter = arg;
        return 0;
    case KEY_COLOUR:
        if (!present_colour(arg, true, &arguments->setup.colour))
            argp_error(state, "--color is auto, always or never, not '%s'", arg);
        return 0;
    case KEY_ONCE:
        arguments->once = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- printed ---- */

static void add_cell(struct report_table *table, const struct top_column *column,
                     const struct top_cell *cell)
{
    char bar[BAR_SIZE] = "";

    if (column->kind == TOP_SHARE) {
        FILE *out = fmemopen(bar, sizeof(bar), "w");

        if (out != NULL) {
            blocks_bar(out, cell->key == TOP_UNKNOWN ? 0 : (double)cell->key / TOP_SHARE_ALL,
                       TOP_BAR, false);
            (void)fclose(out);
        }
    }
    report_table_add_text(table, column->kind == TOP_SHARE ? bar : cell->text);
}

static struct report_table *make_table(const struct top_list *list)
{
    const struct top_format *format = top_format(list->view);
    struct report_column columns[TOP_COLUMNS_MAX];

    for (uint32_t i = 0; i < format->column_count; i++)
        columns[i] = (struct report_column){
            .key = format->columns[i].key,
            .heading = format->columns[i].heading,
            .kind = REPORT_TEXT,
            .align = format->columns[i].kind == TOP_NUMBER ? REPORT_ALIGN_RIGHT : REPORT_ALIGN_LEFT,
        };

    struct report_table *table = report_table_create(format->key, columns, format->column_count);

    for (uint32_t row = 0; row < list->shown_count && row < ROWS_PLAIN; row++) {
        for (uint32_t i = 0; i < format->column_count; i++)
            add_cell(table, &format->columns[i], &list->rows[list->shown[row]].cells[i]);
    }
    return table;
}

static int print_list(const struct arguments *arguments, enum top_view view, struct error *reterr)
{
    const struct top_setup *setup = &arguments->setup;
    const bool whole = setup->filter[0] != 0 || setup->order[view].column != TOP_UNSORTED;
    struct top_list list;
    char limit[16];
    json_t *answer = NULL;

    (void)snprintf(limit, sizeof(limit), "%d", whole ? ROWS_MAX : ROWS_PLAIN);

    int rc = daemon_get_with(&arguments->daemon, top_format(view)->path, "limit", limit, &answer,
                             reterr);

    if (rc < 0)
        return rc;
    top_list_init(&list, view);
    top_list_read(&list, answer);
    json_decref(answer);
    top_list_arrange(&list, setup->order[view], setup->filter);

    struct report_table *table = make_table(&list);
    const int64_t found = setup->filter[0] != 0 ? list.shown_count : list.total;

    (void)putchar('\n');
    rc = report_table_write(table, OUTPUT_TABLE, stdout);
    if (found > ROWS_PLAIN)
        (void)printf("and %" PRId64 " more %s\n", found - ROWS_PLAIN, top_format(view)->key);
    report_table_destroy(table);
    top_list_done(&list);
    return rc;
}

static int print_once(const struct arguments *arguments, struct error *reterr)
{
    json_t *status = NULL;
    int rc = daemon_get(&arguments->daemon, "/v1/status", &status, reterr);

    if (rc < 0)
        return rc;
    status_line_who(stdout, status);
    status_line_work(stdout, status);
    (void)fputs("machines ", stdout);
    status_line_machines(stdout, status);
    (void)fputs("bill ", stdout);
    status_line_money(stdout, status);
    json_decref(status);
    rc = print_list(arguments, TOP_MACHINES, reterr);
    return rc < 0 ? rc : print_list(arguments, TOP_JOBS, reterr);
}

static int run(int argc, char **argv)
{
    static char name[] = "stint top";
    const struct argp_child children[] = { { &daemon_rowless_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    struct arguments arguments = {
        .daemon = { .no_csv = true },
        .setup = { .order = { { TOP_UNSORTED, false }, { TOP_UNSORTED, false } }, .filter = "" },
    };
    struct error error = { "" };

    arguments.setup.daemon = &arguments.daemon;
    (void)present_colour("auto", true, &arguments.setup.colour);
    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;
    if (arguments.daemon.format != OUTPUT_TABLE) {
        (void)error_set(&error, -EINVAL,
                        "this is for people; `stint status -o json` is for programs");
        (void)verb_fail("top", &error);
        return EXIT_USAGE;
    }
    if (!arguments.once && isatty(STDOUT_FILENO) && top_screen(&arguments.setup) == 0)
        return EXIT_DONE;
    if (print_once(&arguments, &error) < 0)
        return verb_fail("top", &error);
    return EXIT_DONE;
}

const struct verb verb_top = {
    .name = "top",
    .summary = "watch machines and jobs in the terminal",
    .run = run,
    .has_colour = true,
};
