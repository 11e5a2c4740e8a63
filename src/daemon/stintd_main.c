/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stintd - the daemon. Reads its configuration and hands over.
 */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/daemon.h"
#include "daemon/daemon_check.h"

#ifndef STINT_VERSION
#define STINT_VERSION "unknown"
#endif

enum { STOPPED = 0, FAILED = 1, WRONG_USAGE = 2 };

struct arguments {
    const char *path;
    bool check;
};

enum { OPTION_CHECK = 0x100 };

static const struct argp_option options[] = {
    { "config", 'c', "FILE", 0, "The configuration (default: /etc/stint/stint.conf)", 0 },
    { "check", OPTION_CHECK, NULL, 0, "Check the configuration, and exit", 0 },
    { 0 },
};

static error_t take_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'c':
        arguments->path = value;
        break;
    case OPTION_CHECK:
        arguments->check = true;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option: did you mean -c %s?", value, value);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp usage = {
    .options = options,
    .parser = take_option,
    .doc =
        "stintd rents machines for waiting jobs, places the jobs, and returns idle machines.\v"
        "Exit codes: 0 stopped on request, or --check found no error, 1 failed, 2 wrong usage or "
        "configuration. See stintd(8) and stint.conf(5).",
};

int main(int argc, char **argv)
{
    struct arguments arguments = { .path = "/etc/stint/stint.conf" };
    struct conf conf = { 0 };
    struct error error = { "" };

    (void)setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
    argp_program_version = "stintd " STINT_VERSION;
    argp_err_exit_status = WRONG_USAGE;
    if (argp_parse(&usage, argc, argv, 0, NULL, &arguments) != 0)
        return WRONG_USAGE;
    if (conf_load(arguments.path, &conf, &error) < 0 || daemon_check(&conf, &error) < 0) {
        fprintf(stderr, "stintd: %s\n", error.text);
        conf_done(&conf);
        return WRONG_USAGE;
    }
    if (arguments.check) {
        printf("%s: good; mode %s, policy %s\n", arguments.path, conf_mode_word(conf.mode),
               conf.policy->name);
        if (daemon_check_note(&conf) != NULL)
            printf("%s: note: %s\n", arguments.path, daemon_check_note(&conf));
        conf_done(&conf);
        return STOPPED;
    }
    if (daemon_run(arguments.path, &conf, &error) < 0) {
        fprintf(stderr, "stintd: %s\n", error.text);
        return FAILED;
    }
    return STOPPED;
}
