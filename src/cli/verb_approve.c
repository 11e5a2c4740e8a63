/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint approve, stint reject - in the mode advise: the word that an action waits for.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/operator.h"
#include "cli/verb.h"

enum { PATH_SIZE = 64, ID_DIGITS = 19 };

static const char approve_doc[] =
    "Approve actions that wait in mode advise. Without an ID, list them.\vExamples:\n"
    "  stint approve\n"
    "  stint approve 31 32\n"
    "  stint approve all\n"
    "\n"
    "Exit codes: 0 done, 1 no such action, or no answer from the daemon, 2 wrong usage.";

static const char reject_doc[] =
    "Reject actions that wait in mode advise. Stint treats a rejected machine as refused by "
    "the cloud, and looks for another one. Without an ID, list the actions.\vExample:\n"
    "  stint reject 31\n"
    "\n"
    "Exit codes: 0 done, 1 no such action, or no answer from the daemon, 2 wrong usage.";

struct arguments {
    struct daemon_options daemon;
    int first; /* argument that is an ID */
    int count;
};

static bool is_id(const char *text)
{
    const size_t length = strlen(text);

    return strcmp(text, "all") == 0 ||
           (length > 0 && length <= ID_DIGITS && strspn(text, "0123456789") == length);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): argp says what it is */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->daemon;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->first = state->next;
        arguments->count = state->argc - state->next;
        for (int i = state->next; i < state->argc; i++) {
            if (!is_id(state->argv[i]))
                argp_error(state, "'%s' must be the number of a proposal, or 'all'",
                           state->argv[i]);
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct report_column columns[] = {
    { .key = "id", .heading = "id", .kind = REPORT_INTEGER },
    { .key = "at", .heading = "since (UTC)", .kind = REPORT_TEXT },
    { .key = "act", .heading = "act", .kind = REPORT_TEXT },
    { .key = "subject", .heading = "what", .kind = REPORT_TEXT },
    { .key = "detail", .heading = "where", .kind = REPORT_TEXT },
    { .key = "price_usd_per_hour", .heading = "$/h", .kind = REPORT_MONEY, .digits = 3 },
    { .key = "why", .heading = "why", .kind = REPORT_TEXT },
};

static int list(const struct daemon_options *options, const char *verb)
{
    struct error error = { "" };
    json_t *answer = NULL;
    const json_t *proposal;
    size_t i;
    int code;

    if (daemon_get(options, "/v1/proposals", &answer, &error) < 0)
        return verb_fail(verb, &error);

    const json_t *proposals = json_object_get(answer, "proposals");

    if (options->format == OUTPUT_JSON) {
        code = print_json(verb, answer);
    } else if (options->format == OUTPUT_TABLE && json_array_size(proposals) == 0) {
        (void)puts("Nothing waits for approval.");
        code = EXIT_DONE;
    } else {
        struct report_table *table =
            report_table_create("proposals", columns, sizeof(columns) / sizeof(columns[0]));
        struct legend legend = { .count = 0 };

        json_array_foreach(proposals, i, proposal)
        {
            report_table_add_integer(table, field_integer(proposal, "id", 0));
            report_table_add_text(table, time_words(field_integer(proposal, "at", -1)).text);
            report_table_add_text(table, field_word(proposal, "act"));
            report_table_add_text(table, field_word(proposal, "subject"));
            report_table_add_text(table, field_text(proposal, "detail"));
            report_table_add_money(table, field_money(proposal, "price_microdollars_per_hour"));
            report_table_add_text(table, options->format == OUTPUT_TABLE
                                             ? legend_mark(&legend, field_word(proposal, "why"))
                                             : field_text(proposal, "why"));
        }
        code = print_sorted(verb, table, options);
        legend_print(&legend, "Why:", stdout);
    }
    json_decref(answer);
    return code;
}

static int answer_one(const struct daemon_options *options, const char *verb, const char *id,
                      int64_t *changed)
{
    struct error error = { "" };
    json_t *answer = NULL;
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "/v1/proposals/%s/%s", id, verb);
    if (daemon_post(options, path, &answer, &error) < 0)
        return verb_fail(verb, &error);
    *changed += field_integer(answer, "changed", 0);
    json_decref(answer);
    return EXIT_DONE;
}

static int decide(char *name, const char *verb, const char *doc, int argc, char **argv)
{
    const struct argp_child children[] = { { &daemon_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .parser = parse, .args_doc = "[ID...|all]", .doc = doc, .children = children
    };
    struct arguments arguments = { 0 };
    int64_t changed = 0;
    bool is_answered = false;
    int code = EXIT_DONE;

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;
    if (arguments.count == 0)
        return list(&arguments.daemon, verb);
    for (int i = 0; i < arguments.count; i++) {
        const int one = answer_one(&arguments.daemon, verb, argv[arguments.first + i], &changed);

        if (one != EXIT_DONE)
            code = one;
        else
            is_answered = true;
    }
    if (is_answered)
        (void)printf("%" PRId64 " %s.\n", changed,
                     strcmp(verb, "approve") == 0 ? "approved" : "rejected");
    return code;
}

static int run_approve(int argc, char **argv)
{
    static char name[] = "stint approve";

    return decide(name, "approve", approve_doc, argc, argv);
}

static int run_reject(int argc, char **argv)
{
    static char name[] = "stint reject";

    return decide(name, "reject", reject_doc, argc, argv);
}

const struct verb verb_approve = {
    .name = "approve",
    .summary = "approve actions that wait in mode advise",
    .run = run_approve,
};

const struct verb verb_reject = {
    .name = "reject",
    .summary = "reject actions that wait in mode advise",
    .run = run_reject,
};
