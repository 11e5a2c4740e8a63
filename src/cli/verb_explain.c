/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint explain JOB|INSTANCE - why is it where it is, or why does it wait.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "cli/operator.h"
#include "cli/verb.h"

static const char doc[] =
    "Explain why a job waits or runs where it does, or why a machine was rented and is kept. "
    "The answer includes the prices of the alternatives.\vExamples:\n"
    "  stint explain 12_3\n"
    "  stint explain st-17\n"
    "\n"
    "JOB is a job's name in the scheduler, such as 12, 12_3 (of an array) or 12.1 (a node of "
    "a gang). INSTANCE is a machine, such as st-17. Ended jobs and machines are explained as "
    "long as the books have them.\n"
    "\n"
    "Exit codes: 0 done, 1 no such job or machine, or no answer from the daemon, 2 wrong "
    "usage.";

struct arguments {
    struct daemon_options daemon;
    const char *subject;
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp says what it is */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->daemon;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->subject != NULL)
            argp_error(state, "one job or machine at a time, please");
        arguments->subject = arg;
        return 0;
    case ARGP_KEY_END:
        if (arguments->subject == NULL)
            argp_error(state, "which job or machine?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Jobs begin with a digit; should a machine do so, or the other way round, the other is asked for. */
static int ask(const struct arguments *arguments, json_t **ret, struct error *reterr)
{
    const bool is_job = isdigit((unsigned char)arguments->subject[0]) != 0;
    struct error second;
    const int rc = daemon_get_with(&arguments->daemon, "/v1/explain", is_job ? "job" : "instance",
                                   arguments->subject, ret, reterr);

    if (rc != -ENOENT)
        return rc;
    return daemon_get_with(&arguments->daemon, "/v1/explain", is_job ? "instance" : "job",
                           arguments->subject, ret, &second) == 0
               ? 0
               : rc;
}

static const struct report_column columns[] = {
    { .key = "at", .heading = "when (UTC)", .kind = REPORT_TEXT },
    { .key = "where", .heading = "where", .kind = REPORT_TEXT },
    { .key = "why", .heading = "why", .kind = REPORT_TEXT },
    { .key = "price_usd_per_hour", .heading = "$/h", .kind = REPORT_MONEY, .digits = 3 },
    { .key = "passed_over", .heading = "rather than", .kind = REPORT_TEXT },
    { .key = "passed_over_usd_per_hour", .heading = "at $/h", .kind = REPORT_MONEY, .digits = 3 },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* Rows for people name their reasons by number, see 'legend'; NULL: they have the sentences themselves. */
static void add_reasons(struct report_table *table, const json_t *reasons, struct legend *legend)
{
    const json_t *reason;
    size_t i;

    json_array_foreach(reasons, i, reason)
    {
        const char *why = field_word(reason, "why");

        report_table_add_text(table, time_words(field_integer(reason, "at", -1)).text);
        report_table_add_text(table, field_word(reason, "where"));
        report_table_add_text(table, legend != NULL ? legend_mark(legend, why) : why);
        report_table_add_money(table, field_money(reason, "chosen_microdollars_per_hour"));
        report_table_add_text(table, field_text(reason, "passed_over"));
        report_table_add_money(table, field_money(reason, "passed_over_microdollars_per_hour"));
    }
}

static int print_words(const json_t *answer, enum output_format format)
{
    static const char *const lists[] = { "reasons", "rented_because", "released_because" };
    struct report_table *table = report_table_create("reasons", columns, COLUMNS);
    const json_t *text = json_object_get(answer, "text");
    const json_t *line;
    struct legend legend = { .count = 0 };
    size_t count = 0;
    size_t i;

    for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
        add_reasons(table, json_object_get(answer, lists[list]),
                    format == OUTPUT_TABLE ? &legend : NULL);
        count += json_array_size(json_object_get(answer, lists[list]));
    }
    if (format == OUTPUT_TABLE) {
        json_array_foreach(text, i, line)
        {
            const char *words = json_string_value(line);

            print_folded(stdout, "", words != NULL ? words : "");
        }
        if (count == 0) {
            report_table_destroy(table);
            return EXIT_DONE;
        }
        (void)fputs("\nDecisions about it:\n\n", stdout);
    }

    const int code = print_table("explain", table, format);

    if (format == OUTPUT_TABLE)
        legend_print(&legend, "$/h are dollars per hour for the same tasks. Why:", stdout);
    return code;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint explain";
    const struct argp_child children[] = { { &daemon_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .parser = parse, .args_doc = "JOB|INSTANCE", .doc = doc, .children = children
    };
    struct arguments arguments = { 0 };
    struct error error = { "" };
    json_t *answer = NULL;

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;
    if (ask(&arguments, &answer, &error) < 0)
        return verb_fail("explain", &error);

    const int code = arguments.daemon.format == OUTPUT_JSON
                         ? print_json("explain", answer)
                         : print_words(answer, arguments.daemon.format);

    json_decref(answer);
    return code;
}

const struct verb verb_explain = {
    .name = "explain",
    .summary = "explain why a job waits or runs, or why a machine was rented",
    .run = run,
    .is_query = true,
};
