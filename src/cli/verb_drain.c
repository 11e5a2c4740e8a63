/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint drain, stint reload - a word to the daemon.
 */
#include <stdio.h>

#include "cli/operator.h"
#include "cli/verb.h"

enum { KEY_OFF = 0x100 };

static const char drain_doc[] =
    "Stop renting machines and return each one as soon as it is empty. Running jobs finish. "
    "The setting survives a restart of stintd; `stint drain --off' ends it.\vExamples:\n"
    "  stint drain\n"
    "  stint drain --off\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon, 2 wrong usage.";

static const char reload_doc[] =
    "Read the configuration again, as SIGHUP does. If it has an error, the daemon keeps the "
    "old one, and this command prints the error.\vExample:\n"
    "  stint reload\n"
    "\n"
    "Exit codes: 0 done, 1 the configuration has an error, or no answer from the daemon, 2 "
    "wrong usage.";

static const struct argp_option drain_options[] = {
    { "off", KEY_OFF, NULL, 0, "Resume renting", 0 },
    { 0 },
};

struct arguments {
    struct daemon_options daemon;
    bool off;
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp says what it is */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->daemon;
        return 0;
    case KEY_OFF:
        arguments->off = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Say it, and print the answer as JSON if that was asked for; else the caller has words. */
static int tell(const struct daemon_options *options, const char *verb, const char *path,
                json_t **ret)
{
    struct error error = { "" };

    if (daemon_post(options, path, ret, &error) < 0)
        return verb_fail(verb, &error);
    return options->format == OUTPUT_JSON ? print_json(verb, *ret) : EXIT_DONE;
}

static int run_drain(int argc, char **argv)
{
    static char name[] = "stint drain";
    const struct argp_child children[] = { { &daemon_rowless_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .options = drain_options, .parser = parse, .doc = drain_doc, .children = children
    };
    struct arguments arguments = { .daemon = { .no_csv = true } };
    json_t *answer = NULL;

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;

    const int code =
        tell(&arguments.daemon, "drain", arguments.off ? "/v1/drain?off=1" : "/v1/drain", &answer);

    if (code == EXIT_DONE && arguments.daemon.format == OUTPUT_TABLE)
        (void)puts(json_is_true(json_object_get(answer, "draining"))
                       ? "Stint rents nothing more and returns empty machines."
                       : "Machines are rented again.");
    json_decref(answer);
    return code;
}

static int run_reload(int argc, char **argv)
{
    static char name[] = "stint reload";
    const struct argp_child children[] = { { &daemon_rowless_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = { .parser = parse, .doc = reload_doc, .children = children };
    struct arguments arguments = { .daemon = { .no_csv = true } };
    json_t *answer = NULL;

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;

    const int code = tell(&arguments.daemon, "reload", "/v1/reload", &answer);

    if (code == EXIT_DONE && arguments.daemon.format == OUTPUT_TABLE) {
        (void)fputs("The configuration was read again: ", stdout);
        print_clean(stdout, field_word(answer, "text"));
        (void)fputs(".\n", stdout);
    }
    json_decref(answer);
    return code;
}

const struct verb verb_drain = {
    .name = "drain",
    .summary = "stop renting, and return empty machines",
    .run = run_drain,
};

const struct verb verb_reload = {
    .name = "reload",
    .summary = "read the configuration again",
    .run = run_reload,
};
