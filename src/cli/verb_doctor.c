/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint doctor - what is wrong, and what to do about it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/conf_findings.h"
#include "cli/operator.h"
#include "cli/verb.h"
#include "control/ports/findings.h"

#define CONF_PATH "/etc/stint/stint.conf"

enum { KEY_OFFLINE = 0x100, KEY_CLOUD };

static const char doc[] =
    "Find problems, and say what to do about each. doctor checks the configuration and its "
    "files as the daemon would, and asks the daemon about leaked machines, stuck nodes, jobs "
    "too large for every machine and the like. With --cloud it also checks keys and rights at"
    " the cloud. Problems that ended within the last ten minutes are listed at the end. Nothing is "
    "rented.\vExamples:\n"
    "  stint doctor\n"
    "  stint doctor -c ./stint.conf --offline\n"
    "  stint doctor --cloud\n"
    "\n"
    "Each finding has an address in the documentation with more about it.\n"
    "\n"
    "Exit codes: 0 only warnings and notes, or no finding, 1 the check failed, 2 wrong usage,"
    " 3 there are errors.";

static const struct argp_option options[] = {
    { "config", 'c', "FILE", 0, "The configuration to check (default: " CONF_PATH ")", 0 },
    { "cloud", KEY_CLOUD, NULL, 0, "Check keys and rights at the cloud too (about ten requests)",
      0 },
    { "offline", KEY_OFFLINE, NULL, 0, "Skip the daemon", 0 },
    { 0 },
};

struct arguments {
    struct daemon_options daemon;
    const char *path;
    bool offline;
    bool cloud;
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp says what it is */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->daemon;
        return 0;
    case 'c':
        arguments->path = arg;
        return 0;
    case KEY_CLOUD:
        arguments->cloud = true;
        return 0;
    case KEY_OFFLINE:
        arguments->offline = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The configuration. 'conf' is filled if it is good. */
static bool look_at_conf(const struct arguments *arguments, struct conf *conf,
                         struct findings *findings)
{
    const char *path = arguments->path != NULL ? arguments->path : CONF_PATH;
    const struct finding_sink sink = findings_sink(findings);
    struct error error = { "" };

    if (arguments->path == NULL && access(path, F_OK) != 0) {
        finding_tell(&sink,
                     &(struct finding_case){ FINDING_CONFIGURATION, .subject = path,
                                             .severity = "note",
                                             .advice = "Name your configuration with -c." },
                     "the usual configuration file is missing");
        return false;
    }

    const int rc = conf_load(path, conf, &error);

    if (rc < 0) {
        finding_tell(&sink,
                     &(struct finding_case){
                         FINDING_CONFIGURATION, .subject = "configuration", .severity = "error",
                         .advice = rc == -ENOENT ? "Name the file with -c."
                                                 : "Correct it. stint.conf(5) lists every key." },
                     "%s", error.text);
        return false;
    }
    conf_findings(conf, findings);
    if (arguments->offline && conf->mode == CONF_SHADOW) /* else the daemon says so */
        finding_tell(&sink, &(struct finding_case){ FINDING_SHADOW, .subject = "mode" },
                     "shadow, so Stint decides and records, and changes nothing");
    return true;
}

/* 'ret_past' is a list of what ended of late, to be released. */
static void look_at_daemon(const struct arguments *arguments, struct findings *findings,
                           json_t **ret_past)
{
    struct error error = { "" };
    json_t *answer = NULL;
    const json_t *item;
    size_t i;
    const int rc = daemon_get(&arguments->daemon, "/v1/doctor", &answer, &error);

    if (rc < 0) {
        const struct finding_sink sink = findings_sink(findings);

        finding_tell(
            &sink,
            &(struct finding_case){ FINDING_DAEMON, .subject = daemon_place(&arguments->daemon),
                                    .severity = rc == -ECONNREFUSED ? "warning" : "error" },
            "%s", error.text);
        return;
    }
    json_array_foreach(json_object_get(answer, "findings"), i, item)
        findings_add(findings, &(struct finding){
                                   .severity = field_word(item, "severity"),
                                   .kind = field_word(item, "kind"),
                                   .subject = field_word(item, "subject"),
                                   .text = field_word(item, "text"),
                                   .advice = field_word(item, "advice"),
                                   .address = field_text(item, "address"),
                               });
    *ret_past = json_incref(json_object_get(answer, "resolved"));
    json_decref(answer);
}

static const struct report_column columns[] = {
    { .key = "severity", .heading = "severity", .kind = REPORT_TEXT },
    { .key = "kind", .heading = "kind", .kind = REPORT_TEXT },
    { .key = "subject", .heading = "subject", .kind = REPORT_TEXT },
    { .key = "text", .heading = "what is wrong", .kind = REPORT_TEXT },
    { .key = "advice", .heading = "what to do", .kind = REPORT_TEXT },
    { .key = "address", .heading = "documentation", .kind = REPORT_TEXT },
};

static int print_rows(const struct findings *findings, enum output_format format)
{
    struct report_table *table =
        report_table_create("findings", columns, sizeof(columns) / sizeof(columns[0]));

    for (uint32_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->rows[i];

        report_table_add_text(table, finding->severity);
        report_table_add_text(table, finding->kind);
        report_table_add_text(table, finding->subject);
        report_table_add_text(table, finding->text);
        report_table_add_text(table, finding->advice);
        report_table_add_text(table, finding->address != NULL ? finding->address : "");
    }
    return print_table("doctor", table, format);
}

/* For people: sentences do not fit into columns. */
static void print_words(const struct findings *findings)
{
    const int severity_width = 8;
    const uint32_t errors = findings_errors(findings);

    for (uint32_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->rows[i];

        print_clean(stdout, finding->severity);
        (void)printf("%*s ", severity_width - (int)strlen(finding->severity), "");
        print_clean(stdout, finding->subject);
        (void)fputs(": ", stdout);
        print_clean(stdout, finding->text);
        (void)fputs("\n         -> ", stdout);
        print_clean(stdout, finding->advice);
        if (finding->address != NULL) {
            (void)fputs("\n         See ", stdout);
            print_clean(stdout, finding->address);
        }
        (void)putchar('\n');
    }
    if (findings->count == 0)
        (void)puts("Nothing is wrong.");
    else
        (void)printf("%u error%s, %u other finding%s.\n", errors, errors == 1 ? "" : "s",
                     findings->count - errors, findings->count - errors == 1 ? "" : "s");
}

/* A fault may heal before anybody looks. */
static void print_past(const json_t *past)
{
    const json_t *item;
    size_t i;

    if (json_array_size(past) > 0)
        (void)puts("\nResolved within the last ten minutes:");
    json_array_foreach(past, i, item)
    {
        const msec_t since = field_integer(item, "since", -1);
        const msec_t until = field_integer(item, "until", -1);

        print_clean(stdout, field_word(item, "kind"));
        (void)putchar(' ');
        print_clean(stdout, field_word(item, "subject"));
        (void)printf(": from %s UTC, for about %s\n", time_words(since).text,
                     span_words(until - since).text);
    }
}

static int examine(struct arguments *arguments)
{
    struct findings findings;
    json_t *past = NULL;
    struct conf conf = { 0 };
    int code = EXIT_DONE;

    findings_init(&findings);

    const bool good = look_at_conf(arguments, &conf, &findings);
    const char *named = getenv("STINT_SOCKET");

    if (good && arguments->daemon.socket == NULL && (named == NULL || named[0] == 0))
        arguments->daemon.socket = conf.http.socket;
    if (good && arguments->cloud)
        cloud_findings(&conf, &findings);
    if (!arguments->offline)
        look_at_daemon(arguments, &findings, &past);
    if (arguments->daemon.format == OUTPUT_TABLE) {
        print_words(&findings);
        print_past(past);
    } else {
        code = print_rows(&findings, arguments->daemon.format);
    }
    json_decref(past);
    if (code == EXIT_DONE && findings_errors(&findings) > 0)
        code = EXIT_FINDINGS;
    if (good)
        conf_done(&conf);
    findings_done(&findings);
    return code;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint doctor";
    const struct argp_child children[] = { { &daemon_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    struct arguments arguments = { 0 };

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;
    return examine(&arguments);
}

const struct verb verb_doctor = {
    .name = "doctor",
    .summary = "find problems, and say what to do about them",
    .run = run,
    .is_query = true,
};
