/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint report - what the cluster cost, to pass around.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/operator.h"
#include "cli/usage_report.h"
#include "cli/verb.h"
#include "trace/number.h"

enum { KEY_SINCE = 0x2000, KEY_HTML, KEY_MD, PATH_SIZE = 96 };

static const char doc[] =
    "Write a report of the cluster's costs: over time, by market, by user and by machine "
    "type, with the savings, their baseline, and the costs left out. The output is a "
    "shareable HTML page, Markdown, or both (default: Markdown on standard output).\vExamples:\n"
    "  stint report --since 7d --html week.html\n"
    "  stint report --since 30d --md month.md\n"
    "\n"
    "In mode shadow the whole report is a forecast, and says so.\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon or a file cannot be written, 2 wrong "
    "usage.";

static const struct argp_option options[] = {
    { "since", KEY_SINCE, "SPAN", 0, "Period before now, such as 12h or 7d (default 24h)", 0 },
    { "html", KEY_HTML, "FILE", 0, "Write the report to FILE as HTML", 0 },
    { "md", KEY_MD, "FILE", 0, "Write the report to FILE as Markdown", 0 },
    { 0 },
};

struct arguments {
    struct daemon_options daemon;
    msec_t span;
    const char *html;
    const char *md;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->daemon;
        return 0;
    case KEY_SINCE:
        if (number_duration(arg, strlen(arg), &arguments->span) < 0 ||
            arguments->span < MSEC_PER_SEC)
            argp_error(state, "--since is a span of time such as 12h or 7d, not '%s'", arg);
        return 0;
    case KEY_HTML:
        arguments->html = arg;
        return 0;
    case KEY_MD:
        arguments->md = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int write_file(const char *path, void (*write)(const struct usage_report *, FILE *),
                      const struct usage_report *report, struct error *reterr)
{
    FILE *out = fopen(path, "we");

    if (out == NULL)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    write(report, out);

    const bool failed = ferror(out) != 0;

    if (fclose(out) != 0 || failed)
        return error_set(reterr, -EIO, "%s: cannot be written", path);
    return 0;
}

struct answers {
    json_t *status;
    json_t *history;
    json_t *types;
    json_t *doctor;
};

static int ask(const struct arguments *arguments, struct answers *ret, struct error *reterr)
{
    const struct daemon_options *daemon = &arguments->daemon;
    char path[PATH_SIZE];
    int rc = daemon_get(daemon, "/v1/status", &ret->status, reterr);

    if (rc < 0)
        return rc;

    const msec_t now = field_integer(ret->status, "now", 0);

    (void)snprintf(path, sizeof(path), "/v1/history?since=%" PRId64,
                   now > arguments->span ? now - arguments->span : 0);
    rc = daemon_get(daemon, path, &ret->history, reterr);
    if (rc == 0)
        rc = daemon_get(daemon, "/v1/ledger?by=type", &ret->types, reterr);
    if (rc == 0)
        rc = daemon_get(daemon, "/v1/doctor", &ret->doctor, reterr);
    return rc;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint report";
    const struct argp_child children[] = { { &daemon_rowless_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    struct arguments arguments = { .daemon = { .no_csv = true }, .span = 24 * MSEC_PER_HOUR };
    struct answers answers = { .status = NULL };
    struct error error = { "" };

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;

    int rc = ask(&arguments, &answers, &error);
    const struct usage_report report = { answers.status, answers.history, answers.types,
                                         answers.doctor };

    if (rc == 0 && arguments.html != NULL)
        rc = write_file(arguments.html, usage_report_html, &report, &error);
    if (rc == 0 && arguments.md != NULL)
        rc = write_file(arguments.md, usage_report_md, &report, &error);
    if (rc == 0 && arguments.daemon.format == OUTPUT_JSON)
        rc = print_json("report", answers.history);
    else if (rc == 0 && arguments.html == NULL && arguments.md == NULL)
        usage_report_md(&report, stdout);
    json_decref(answers.status);
    json_decref(answers.history);
    json_decref(answers.types);
    json_decref(answers.doctor);
    return rc < 0 ? verb_fail("report", &error) : EXIT_DONE;
}

const struct verb verb_report = {
    .name = "report",
    .summary = "write a report of the costs as HTML or Markdown",
    .run = run,
};
